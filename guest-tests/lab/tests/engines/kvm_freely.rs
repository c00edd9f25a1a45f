//! Guests that run freely on KVM, with cycles of the time-stamp counter. Where guests cannot run so on KVM, each test prints its name and
//! that it is skipped, in one line, and passes.

use std::io::Write;

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use vm_pmu::companion::Clock;
use vm_pmu_engines::kvm;
use vm_pmu_engines::x86::Image;
use vm_pmu_guests::runtime::{APIC_EOI, APIC_ICR, Kernel, USER_CODE, User, cell, here, own};
use vm_pmu_lab::report::{Action, Report};
use vm_pmu_lab::runner::{Cycles, Engine, Options, run, run_image};

fn options() -> Options {
    Options { engine: Engine::Kvm, cycles: Cycles::Tsc, seconds: 30, ..Options::default() }
}

/// Whether guests run freely here; if not, prints that `test` is skipped.
fn ready(test: &str) -> bool {
    match kvm::runs_freely() {
        Ok(()) => true,
        Err(reason) => {
            // Past the test harness, which hides what a passing test prints.
            let _ = writeln!(std::io::stderr(), "{test}: skipped, {reason}");
            false
        }
    }
}

/// A guest of `cpus` CPUs with the code of `build`.
fn guest(build: impl FnOnce(&mut Kernel) -> Result<(), IcedError>) -> Image {
    let image = (|| {
        let mut kernel = Kernel::new(Vec::new())?;
        build(&mut kernel)?;
        kernel.a.ret()?;
        kernel.finish()
    })();
    image.expect("it assembles")
}

fn run_built(image: &Image, cpus: usize, options: &Options) -> Report {
    run_image("k8", "built", image, cpus, Clock::Embedder, options).expect("it is there")
}

fn passes(test: &str, pmu: &str, guest: &str) {
    if ready(test) {
        let report = run(pmu, guest, &options()).expect("it is there");
        assert!(report.passed, "{}: {:?}", report.ending, report.checks);
        assert!(report.cycles.is_some_and(|cycles| cycles > 0));
        assert_eq!((report.instructions, report.companion.as_str()), (0, "off"));
        assert!(report.counts.iter().all(|count| count.fidelity == "approximate"), "{:?}", report.counts);
    }
}

#[test]
fn a_k8_counts_samples_and_halts_by_cycles() {
    passes("a_k8_counts_samples_and_halts_by_cycles", "k8", "clock");
}

#[test]
fn a_knights_landing_counts_samples_and_halts_by_cycles() {
    passes("a_knights_landing_counts_samples_and_halts_by_cycles", "knl", "clock");
}

#[test]
fn a_kernel_that_looks_for_the_pmu_finds_it() {
    passes("a_kernel_that_looks_for_the_pmu_finds_it", "knl", "probe");
}

#[test]
fn an_overflow_is_asked_for_once() {
    if ready("an_overflow_is_asked_for_once") {
        let report = run("k8", "clock", &Options { trace: vm_pmu_board::trace::Choice::first(1000), ..options() }).expect("it is there");
        let asked = report.interrupts.iter().map(|one| one.requested).sum::<u64>();
        // Four NMIs, one by vector, and those until one came in ring 3.
        assert!(asked >= 6, "{:?}", report.interrupts);
        let traced = report.trace.iter().filter(|one| matches!(one.action, Action::Interrupt { .. })).count() as u64;
        assert_eq!(traced, asked);
    }
}

/// How a guest for `pmu` ends, which is refused.
fn refused(test: &str, pmu: &str, guest: &str, right: &str) {
    if ready(test) {
        let report = run(pmu, guest, &options()).expect("it is there");
        assert!(!report.passed);
        let line = format!("`--cycles tsc` does not count {right}");
        assert!(report.ending.ends_with(&line), "{}", report.ending);
    }
}

#[test]
fn instructions_are_refused_when_the_guest_asks_for_them() {
    refused("instructions_are_refused_when_the_guest_asks_for_them", "k8", "overflow", "instructions_retired");
}

#[test]
fn cycles_at_one_level_are_refused() {
    let right = "cycles at one level of privilege by PerfEvtSel0";
    let image = guest(|k| {
        k.main()?;
        // CPU_CLK_UNHALTED, USR, EN.
        k.wrmsr(0xC001_0000, 0x41_0076)
    });
    if ready("cycles_at_one_level_are_refused") {
        let report = run_built(&image, 1, &options());
        assert!(report.ending.contains(right), "{}", report.ending);
    }
}

#[test]
fn cycles_at_one_level_by_a_fixed_counter_are_refused() {
    let image = guest(|k| {
        k.main()?;
        // Fixed counter 1 at level 0, enabled.
        k.wrmsr(0x38D, 0x10)
    });
    if ready("cycles_at_one_level_by_a_fixed_counter_are_refused") {
        let report = run_image("knl", "built", &image, 1, Clock::Embedder, &options()).expect("it is there");
        assert!(report.ending.contains("cycles at one level of privilege by IA32_FIXED_CTR_CTRL"), "{}", report.ending);
    }
}

#[test]
fn single_cycles_are_refused() {
    let image = guest(|k| {
        k.main()?;
        // Edges of CPU_CLK_UNHALTED, every level, EN.
        k.wrmsr(0xC001_0000, 0x47_0076)
    });
    if ready("single_cycles_are_refused") {
        let report = run_built(&image, 1, &options());
        assert!(report.ending.contains("what happens in single cycles"), "{}", report.ending);
    }
}

#[test]
fn boxes_are_refused() {
    if ready("boxes_are_refused") {
        let report = run("knl", "untile-clocks", &options()).expect("it is there");
        assert!(report.ending.contains("what the boxes outside the cores do"), "{}", report.ending);
    }
}

#[test]
fn what_does_not_go_with_it_is_refused_before_it_starts() {
    let refused = |pmu, guest, options: Options| run(pmu, guest, &options).expect_err("it cannot be").to_string();
    assert_eq!(
        refused("k8", "clock", Options { engine: Engine::Interpreter, ..options() }),
        "cycles of the time-stamp counter: only a guest on KVM runs freely: add `--engine kvm`"
    );
    assert_eq!(
        refused("k8", "clock", Options { save_at: Some(5), ..options() }),
        "cycles of the time-stamp counter: a guest that runs freely cannot be saved after a number of steps: leave out `--save-at`"
    );
    assert_eq!(
        refused("k8", "chase", options()),
        "cycles of the time-stamp counter: the guest counts events that only the companion supplies: leave out `--cycles tsc`"
    );
}

#[test]
fn a_guest_without_an_end_is_given_up() {
    if ready("a_guest_without_an_end_is_given_up") {
        let image = guest(|k| {
            k.main()?;
            let mut again = k.a.create_label();
            here(&mut k.a, &mut again)?;
            k.a.jmp(again)
        });
        let report = run_built(&image, 1, &Options { seconds: 1, ..options() });
        assert_eq!((report.passed, report.ending.as_str()), (false, "not done after 1 s: --seconds allows more"));
    }
}

#[test]
fn a_cpu_that_halts_for_ever_ends_the_run() {
    if ready("a_cpu_that_halts_for_ever_ends_the_run") {
        let image = guest(|k| {
            k.main()?;
            k.a.cli()?;
            k.a.hlt()
        });
        let report = run_built(&image, 1, &options());
        assert_eq!(report.ending, "every CPU is halted with nothing to wake it");
    }
}

#[test]
fn an_exception_without_a_handler_is_told() {
    if ready("an_exception_without_a_handler_is_told") {
        let image = guest(|k| {
            k.main()?;
            k.a.xor(eax, eax)?;
            k.a.push(rax)?;
            k.a.push(rax)?;
            k.a.lidt(qword_ptr(rsp))?;
            k.a.ud2()
        });
        let report = run_built(&image, 1, &options());
        assert!(!report.passed);
        assert!(report.ending.contains("triple fault") || report.ending.contains("while delivering #DF"), "{}", report.ending);
    }
}

#[test]
fn ring_3_faults_where_it_may_not_be() {
    let jump = |target: u64, rights: u64, test: &str| {
        let mut user = User::new().expect("64 bits");
        user.a.mov(rax, target).expect("encodable");
        user.a.jmp(rax).expect("encodable");
        let (code, []) = user.finish([]).expect("it assembles");
        let image = (|| {
            let mut k = Kernel::new(code)?;
            k.handler(14)?;
            k.a.mov(r12, qword_ptr(rsp))?;
            k.check_is("the error code", r12, rights)?;
            k.a.mov(r12, cr2)?;
            k.check_is("the address", r12, target)?;
            k.a.mov(al, 0)?;
            k.a.out(0xF4, al)?;
            k.main()?;
            k.enter_user(USER_CODE, 2)?;
            k.finish()
        })();
        let image: Image = image.expect("it assembles");
        let report = run_built(&image, 1, &options());
        assert!(report.passed && report.checks.len() == 2, "{test}: {}: {:?}", report.ending, report.checks);
    };
    if ready("ring_3_faults_where_it_may_not_be") {
        // A page that is there: present, user, fetch. One that is not: user, fetch.
        jump(0x20_0000, 0x15, "the kernel's code");
        jump(0x80_0000_0000, 0x14, "what nothing is mapped at");
    }
}

const VECTOR: u8 = 0x70;
const ARRIVED: u32 = own(0);

/// Each of two CPUs counts for itself; one interrupts the other, which halts, and waits for its reply.
#[test]
fn cpus_count_for_themselves_and_interrupt_each_other() {
    let built = guest(|k| {
        let answer = k.reserve(8);
        k.handler(VECTOR)?;
        k.a.push(rax)?;
        k.a.inc(cell(ARRIVED))?;
        k.apic(APIC_EOI, 0)?;
        k.a.pop(rax)?;
        k.a.iretq()?;
        k.main()?;
        let [mut other, mut wait, mut rest, mut done] = [(); 4].map(|()| k.a.create_label());
        // CPU_CLK_UNHALTED, every level, EN.
        k.wrmsr(0xC001_0000, 0x43_0076)?;
        k.a.test(rdi, rdi)?;
        k.a.jne(other)?;
        // CPU 0: an interrupt for CPU 1, until it has replied.
        here(&mut k.a, &mut wait)?;
        k.apic(APIC_ICR + 0x10, 1 << 24)?;
        k.apic(APIC_ICR, 0x4000 | u32::from(VECTOR))?;
        k.a.pause()?;
        k.a.cmp(qword_ptr(answer), 0)?;
        k.a.je(wait)?;
        k.a.mov(r12, qword_ptr(answer))?;
        k.check("what the other CPU's counter said", r12, 1, i64::MAX as u64)?;
        k.rdpmc(0)?;
        k.a.mov(r12, rax)?;
        k.check("what the own counter says", r12, 1, i64::MAX as u64)?;
        k.a.jmp(done)?;
        here(&mut k.a, &mut other)?;
        here(&mut k.a, &mut rest)?;
        k.a.sti()?;
        k.a.hlt()?;
        k.a.cli()?;
        k.a.cmp(cell(ARRIVED), 0)?;
        k.a.je(rest)?;
        k.rdpmc(0)?;
        k.a.mov(qword_ptr(answer), rax)?;
        here(&mut k.a, &mut done)
    });
    if ready("cpus_count_for_themselves_and_interrupt_each_other") {
        let report = run_built(&built, 2, &options());
        assert!(report.passed, "{}: {:?}", report.ending, report.checks);
    }
}

#[test]
fn vector_registers_are_the_guests_own_at_both_levels() {
    if ready("vector_registers_are_the_guests_own_at_both_levels") {
        let image = guest(|k| {
            k.main()?;
            k.a.mov(rax, cr4)?;
            k.a.or(eax, 0x200)?;
            k.a.mov(cr4, rax)?;
            k.a.mov(rax, 0x0123_4567_89AB_CDEFu64)?;
            k.a.movq(xmm7, rax)?;
            k.rdpmc(0)?;
            k.a.movdqa(xmm3, xmm7)?;
            k.a.movq(r12, xmm3)?;
            k.a.mov(r13, 0x0123_4567_89AB_CDEFu64)?;
            k.check_same("what went through them", r12, r13)
        });
        let report = run_built(&image, 1, &options());
        assert!(report.passed, "{}: {:?}", report.ending, report.checks);
    }
}
