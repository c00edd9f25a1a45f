//! Every guest, on the interpreter.

use std::path::PathBuf;

use crate::elf::elf;
use iced_x86::code_asm::*;
use vm_pmu::companion::Clock;
use vm_pmu::die::MemoryMode;
use vm_pmu_engines::x86::{Image, PciFunction};
use vm_pmu_guests::protocol;
use vm_pmu_guests::runtime::{APIC, APIC_LVT_PERFORMANCE, Kernel, LVT_MASKED, LVT_NMI, USER_CODE, User, cell, here, own};
use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Options, RunError, run, run_image};

/// No guest needs as many steps.
fn options() -> Options {
    Options { limit: 3_000_000, ..Options::default() }
}

fn explain(report: &Report) -> String {
    let failed = report.checks.iter().filter(|check| !check.passed());
    let line =
        |check: &vm_pmu_lab::report::Check| format!("  {}: {:#x} not in {:#x}..={:#x}", check.name, check.seen, check.least, check.most);
    let lines: Vec<String> = failed.map(line).collect();
    format!("{}: {}\n{}", report.guest, report.ending, lines.join("\n"))
}

fn json(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

/// Runs a guest that only CPU 0 takes part in.
fn run_guest(name: &str, build: impl FnOnce(&mut Kernel)) -> Report {
    run_image("k8", name, &assemble(build), 1, Clock::Embedder, &options()).unwrap()
}

fn assemble(build: impl FnOnce(&mut Kernel)) -> Image {
    let mut kernel = Kernel::new(Vec::new()).unwrap();
    kernel.main().unwrap();
    build(&mut kernel);
    kernel.a.ret().unwrap();
    kernel.finish().unwrap()
}

#[test]
fn every_guest_passes_and_repeats_itself() {
    let mut failures = Vec::new();
    for guest in vm_pmu_guests::all() {
        let report = run(guest.pmu, guest.name, &options()).unwrap();
        if !report.passed {
            failures.push(explain(&report));
        }
        assert!(!report.checks.is_empty(), "{} checks nothing", guest.name);
        let again = run(guest.pmu, guest.name, &options()).unwrap();
        assert_eq!(json(&report), json(&again), "{} is not deterministic", guest.name);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_guest_passes_in_every_revision() {
    for guest in vm_pmu_guests::of("k8") {
        for revision in ["C", "D", "E"] {
            let report = run(guest.pmu, guest.name, &Options { revision: Some(revision.to_owned()), ..options() }).unwrap();
            assert!(report.passed, "revision {revision}: {}", explain(&report));
        }
    }
}

#[test]
fn guests_with_several_cpus_pass_in_parallel() {
    for guest in vm_pmu_guests::of("k8").filter(|guest| guest.cpus > 1) {
        for _ in 0..5 {
            let parallel = Options { parallel: true, limit: 100_000_000, ..Options::default() };
            let report = run(guest.pmu, guest.name, &parallel).unwrap();
            assert!(report.passed, "{}", explain(&report));
        }
    }
}

#[test]
fn boxes_beside_the_cpus_stand_guests_in_parallel() {
    // The others count clocks of CPUs that run in turn.
    for guest in ["cha-filter", "untile-eight-cpus", "untile-hostile"] {
        for _ in 0..3 {
            let parallel = Options { parallel: true, limit: 100_000_000, ..Options::default() };
            let report = run("knl", guest, &parallel).unwrap();
            assert!(report.passed, "{}", explain(&report));
        }
    }
}

#[test]
fn every_power_guest_passes_big_endian() {
    let mut failures = Vec::new();
    for guest in vm_pmu_guests::of("power9") {
        let report = run(guest.pmu, guest.name, &Options { big_endian: true, ..options() }).unwrap();
        if !report.passed {
            failures.push(explain(&report));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_a_nest_posted_is_in_the_report() {
    let report = run("power9", "nest-memory", &options()).unwrap();
    let posted = |event: &str| report.posted.iter().find(|posted| posted.event == event).map(|posted| (posted.chip, posted.count));
    // 4096 lines are flushed twice: two blocks of 64 bytes each, at eight ports; the first has lines that were cast out besides.
    for port in 1..8 {
        assert_eq!(posted(&format!("PM_MBA{port}_WRITE_BYTES")), Some((0, 2 * 4096 * 2 / 8)), "MBA {port}");
    }
    // There was no request for an atomic memory operation.
    assert_eq!(posted("PM_MCS01_AMO_OP_DISP_MC23_PORT01"), None);
    // Prescaled: whole steps of 256.
    assert!(posted("PM_PB_CYC").is_some_and(|(_, count)| count != 0 && count % 256 == 0));
}

#[test]
fn mcdram_as_memory_of_a_part_that_has_none_is_refused() {
    for part in ["k8", "power9", "itanium", "montecito"] {
        let image = vm_pmu_guests::named(part, "count").unwrap().image(true).unwrap();
        let options = Options { memory_mode: MemoryMode::Flat, ..options() };
        let refused = run_image(part, "count", &image, 1, Clock::Embedder, &options).unwrap_err();
        assert_eq!(refused.to_string(), format!("{part} has no MCDRAM: leave out `--memory-mode`"));
    }
}

#[test]
fn cpus_that_cannot_be_divided_among_chips_are_refused() {
    let image = vm_pmu_guests::named("power9", "count").unwrap().image(true).unwrap();
    let chips = |chips| run_image("power9", "count", &image, 3, Clock::Embedder, &Options { chips, ..options() });
    for number in [2, 4] {
        assert!(matches!(chips(number), Err(RunError::Firmware { .. })), "{number} chips");
    }
}

#[test]
fn a_wrong_expectation_fails() {
    let report = run_guest("wrong", |k| {
        k.wrmsr(0xC001_0004, 41).unwrap();
        k.rdmsr(0xC001_0004).unwrap();
        k.check_is("the answer", rax, 42).unwrap();
        k.print("so much for that").unwrap();
    });
    assert!(!report.passed);
    assert_eq!(report.ending, "1 of 1 checks failed, first `the answer`: 0x29 instead of 0x2a");
    assert_eq!(report.console, "so much for that\n");
}

#[test]
fn an_exception_that_nothing_expects_fails() {
    let report = run_guest("undefined", |k| k.a.ud2().unwrap());
    assert!(!report.passed);
    assert_eq!(report.checks[0].seen, 6, "{}", explain(&report));
    let report = run_guest("absent register", |k| k.rdmsr(0xC001_0008).unwrap());
    assert_eq!(report.checks[0].seen, 13, "{}", explain(&report));
    assert!(!report.passed);
}

#[test]
fn the_ledger_outlives_reloads_and_reprogramming() {
    let report = run("k8", "nmi-watchdog", &options()).unwrap();
    let watchdog = report.counts.iter().find(|count| count.counter == 0).unwrap();
    let clock = report.counts.iter().find(|count| count.counter == 1).unwrap();
    assert_eq!((watchdog.event.as_str(), watchdog.unit.as_str()), ("CPU_CLK_UNHALTED:uk", "cycles"));
    assert_eq!((watchdog.fidelity.as_str(), watchdog.driven_by.as_str()), ("exact", "cycles"));
    // Eleven reloads; both count the same clock, one of them for a little longer.
    assert_eq!(report.interrupts[0].requested, 11);
    assert!(watchdog.count > 55_000 && watchdog.count < clock.count, "{} of {}", watchdog.count, clock.count);
}

#[test]
fn the_ledger_names_what_was_selected() {
    let report = run_guest("names", |k| {
        for (n, select) in [(0, 0x0143_0724), (1, 0x00C6_00CD), (2, 0x0042_00D6), (3, 0x0041_FFF0)] {
            k.wrmsr(0xC001_0000 + n, select).unwrap();
        }
    });
    let names: Vec<&str> = report.counts.iter().map(|count| count.event.as_str()).collect();
    let locked = "LOCKED_OPS:EXECUTED:CYCLES_SPECULATIVE_PHASE:CYCLES_NON_SPECULATIVE_PHASE:uk:c=1";
    assert_eq!(names, [locked, "INTERRUPTS_MASKED_CYCLES:k:e:i", "DISPATCH_STALL_FOR_RESERVATION_STATION_FULL:k", "0xf0:0xff:u"]);
    assert!(
        report.counts[2].driven_by.starts_with("dispatch_stall_reservation_station_cycles (not known to this engine)"),
        "{}",
        report.counts[2].driven_by
    );
    assert_eq!(report.counts[3].fidelity, "injected");
    let last = report.registers.iter().find(|register| register.name == "PerfEvtSel3").unwrap();
    assert_eq!(last.value, 0x0041_FFF0);
}

#[test]
fn a_profile_hands_back_where_it_was() {
    let report = run("k8", "profile", &options()).unwrap();
    assert_eq!(report.samples.iter().map(|sample| sample.hits).sum::<u64>(), 618);
    let labels = ["alpha", "beta", "gamma"];
    for label in labels {
        assert!(report.samples.iter().any(|sample| sample.label == label), "{label}");
    }
    assert!(report.samples.iter().all(|sample| (USER_CODE..USER_CODE + 256).contains(&sample.address)));
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A guest from outside the project: it needs only the page of the report.
fn outsider() -> Vec<u8> {
    let mut a = CodeAssembler::new(64).unwrap();
    let mut label = a.create_label();
    let mut go = || -> Result<(), iced_x86::IcedError> {
        a.mov(ecx, 0xC001_0000u32)?;
        a.mov(eax, 0x0042_00C0)?;
        a.xor(edx, edx)?;
        a.wrmsr()?;
        a.nop()?;
        a.xor(ecx, ecx)?;
        a.rdpmc()?;
        // The WRMSR, NOP and XOR.
        a.mov(rbx, protocol::REPORT)?;
        a.mov(rcx, protocol::MAGIC)?;
        a.mov(qword_ptr(rbx), rcx)?;
        a.mov(qword_ptr(rbx + 8), 1)?;
        a.lea(rcx, ptr(label))?;
        a.mov(qword_ptr(rbx + 0x20), rcx)?;
        a.mov(qword_ptr(rbx + 0x28), rax)?;
        a.mov(qword_ptr(rbx + 0x30), 3)?;
        a.mov(qword_ptr(rbx + 0x38), 3)?;
        a.sub(eax, 3)?;
        a.out(0xF4, al)?;
        a.set_label(&mut label)?;
        a.db(b"instructions\0")
    };
    go().unwrap();
    a.assemble(0x10_0000).unwrap()
}

#[test]
fn an_elf_file_is_a_guest_too() {
    let path = file("outsider.elf", &elf(62, 0x10_0000, &outsider()));
    let report = run("k8", path.to_str().unwrap(), &options()).unwrap();
    assert!(report.passed, "{}", explain(&report));
    assert_eq!((report.checks.len(), report.checks[0].name.as_str()), (1, "instructions"));
}

#[test]
fn whatever_cannot_be_run_says_why_in_one_line() {
    let message = |error: RunError| {
        let message = error.to_string();
        assert!(!message.contains('\n') && !message.is_empty(), "{message}");
        message
    };
    let error = |pmu: &str, guest: &str, options: &Options| message(run(pmu, guest, options).unwrap_err());
    assert!(error("z80", "count", &options()).contains("no PMU `z80`"));
    assert!(error("k8", "cuont", &options()).contains("neither a guest for k8 nor a file"));
    assert!(error("k8", "/nowhere/guest.elf", &options()).contains("cannot be read"));
    let text = file("text.elf", b"not an executable");
    assert!(error("k8", text.to_str().unwrap(), &options()).contains("not an ELF file"));
    let x86 = file("x86.elf", &elf(62, 0x10_0000, &outsider()));
    for (pmu, right) in [("power9", "64-bit POWER (machine 21)"), ("itanium", "IA-64 (machine 50)"), ("montecito", "IA-64 (machine 50)")] {
        let expected = format!("an ELF file for x86-64 (machine 62): guests of this part are for {right}");
        assert!(error(pmu, x86.to_str().unwrap(), &options()).contains(&expected), "{pmu}");
    }
    let mut object = elf(62, 0x10_0000, &outsider());
    object[16] = 1;
    let object = file("object.elf", &object);
    assert!(error("k8", object.to_str().unwrap(), &options()).contains("not linked yet"));
    let revision = Options { revision: Some("Z".to_owned()), ..options() };
    assert!(error("k8", "count", &revision).contains("no revision `Z`"));
    let path = file("cpus.elf", &elf(62, 0x10_0000, &outsider()));
    for cpus in [0, 256, usize::MAX] {
        assert!(error("k8", path.to_str().unwrap(), &Options { cpus, ..options() }).contains("CPUs"));
    }
    let high = file("high.elf", &elf(62, 0xFFFF_FFFF_FFFF_F000, &outsider()));
    assert!(error("k8", high.to_str().unwrap(), &options()).contains("does not fit"));
}

#[test]
fn a_guest_that_never_ends_is_stopped() {
    let report = run_guest("endless", |k| {
        let mut again = k.a.create_label();
        k.a.set_label(&mut again).unwrap();
        k.a.jmp(again).unwrap();
    });
    assert!(!report.passed);
    assert_eq!(report.ending, "not done after 3,000,000 steps: --steps allows more");
}

#[test]
fn a_report_that_lies_is_read_within_bounds() {
    let report = run_guest("liar", |k| {
        k.a.mov(rax, -1i64).unwrap();
        for offset in [8, 16, 0x20] {
            k.a.mov(qword_ptr(protocol::REPORT + offset), rax).unwrap();
        }
        k.a.xor(eax, eax).unwrap();
        k.a.out(0xF4, al).unwrap();
    });
    assert_eq!(report.checks.len() as u64, protocol::MAX_CHECKS);
    assert_eq!(report.samples.len() as u64, protocol::MAX_SAMPLES);
    assert_eq!(report.checks[0].name, "number 0");
}

#[test]
fn instruction_fetches_are_one_for_each_aligned_piece_and_each_transfer() {
    let mut user = User::new().unwrap();
    let (mut entry, mut next) = (user.a.create_label(), user.a.create_label());
    user.a.set_label(&mut entry).unwrap();
    // Two pieces of 16; the JMP is in a third, which its target fetches anew.
    for _ in 0..32 {
        user.a.nop().unwrap();
    }
    user.a.jmp(next).unwrap();
    user.a.set_label(&mut next).unwrap();
    user.a.syscall().unwrap();
    let (code, [entry]) = user.finish([entry]).unwrap();
    let mut kernel = Kernel::new(code).unwrap();
    kernel.main().unwrap();
    kernel.wrmsr(0xC001_0000, 0x0041_0080).unwrap();
    kernel.enter_user(entry, 2).unwrap();
    kernel.rdpmc(0).unwrap();
    kernel.check_is("pieces", rax, 4).unwrap();
    kernel.a.ret().unwrap();
    let report = run_image("k8", "fetches", &kernel.finish().unwrap(), 1, Clock::Embedder, &options()).unwrap();
    assert!(report.passed, "{}", explain(&report));
}

#[test]
fn breakpoint_matches_count_once_a_step_though_not_enabled() {
    let report = run_guest("watcher", |k| {
        let buffer = k.reserve(64) as u32;
        let code: Result<(), IcedError> = (|| {
            let a = &mut k.a;
            a.mov(ebx, buffer)?;
            a.mov(dr0, rbx)?;
            a.mov(dr2, rbx)?;
            a.mov(eax, 0x0D0F_0000u32)?; // DR0: loads and stores of four bytes; DR2: stores of four
            a.mov(dr7, rax)
        })();
        code.unwrap();
        k.wrmsr(0xC001_0000, 0x0042_00DC).unwrap();
        k.wrmsr(0xC001_0001, 0x0042_00DE).unwrap();
        k.a.mov(eax, dword_ptr(rbx)).unwrap();
        k.a.inc(dword_ptr(rbx)).unwrap();
        k.a.mov(dword_ptr(rbx + 4), eax).unwrap();
        for (counter, name, right) in [(0, "DR0", 2), (1, "DR2", 1)] {
            k.rdmsr(0xC001_0004 + counter).unwrap();
            k.check_is(name, rax, right).unwrap();
        }
    });
    assert!(report.passed, "{}", explain(&report));
    assert_eq!(report.counts[0].driven_by, "breakpoint_matches0");
}

#[test]
fn every_cpu_asks_for_its_own_interrupts() {
    let report = run("k8", "two-cpus", &options()).unwrap();
    let requested: Vec<_> = report.interrupts.iter().map(|line| (line.thread, line.counter, line.requested)).collect();
    assert_eq!(requested, [(0, 0, 500), (1, 3, 700)]);
}

#[test]
fn shared_counters_that_stay_usable_are_noticed() {
    let report = run("k8", "northbridge", &Options { share_counters: true, ..options() }).unwrap();
    assert!(!report.passed, "the guest must see that counter 0 still counts");
}

#[test]
fn a_guest_that_selects_without_end_fills_no_memory() {
    let report = run_guest("selector", |k| {
        let mut again = k.a.create_label();
        k.a.mov(ebx, 6000).unwrap();
        k.a.set_label(&mut again).unwrap();
        k.a.mov(ecx, 0xC001_0000u32).unwrap();
        // Event C0h with the number in the unit mask and the counter mask.
        k.a.mov(eax, ebx).unwrap();
        k.a.shl(eax, 8).unwrap();
        k.a.and(eax, 0xFF00).unwrap();
        k.a.mov(edx, ebx).unwrap();
        k.a.shl(edx, 16).unwrap();
        k.a.and(edx, 0xFF00_0000u32 as i32).unwrap();
        k.a.or(eax, edx).unwrap();
        k.a.or(eax, 0x0042_00C0).unwrap();
        k.a.xor(edx, edx).unwrap();
        k.a.wrmsr().unwrap();
        k.a.dec(ebx).unwrap();
        k.a.jne(again).unwrap();
    });
    assert_eq!(report.counts.len(), 4097);
    assert_eq!(report.counts[4096].event, "further selections");
}

/// Runs a guest that all eight threads of a tile take part in.
fn run_tile(name: &str, build: impl FnOnce(&mut Kernel) -> Result<(), IcedError>) -> Report {
    let image = assemble(|k| build(k).unwrap());
    run_image("knl", name, &image, 8, Clock::Embedder, &options()).unwrap()
}

#[test]
fn eight_threads_start_and_meet_in_turn_and_in_parallel() {
    let image = assemble(|k| {
        let (met, numbers) = (k.reserve(8), k.reserve(8));
        let code: Result<(), IcedError> = (|| {
            k.a.mov(ecx, edi)?;
            k.a.mov(eax, 1)?;
            k.a.shl(eax, cl)?;
            k.a.lock().add(qword_ptr(numbers), rax)?;
            k.barrier(met, 8)?;
            let mut other = k.a.create_label();
            k.a.test(edi, edi)?;
            k.a.jne(other)?;
            k.a.mov(rax, qword_ptr(numbers))?;
            k.check_is("numbers 0 to 7, once each", rax, 0xFF)?;
            here(&mut k.a, &mut other)
        })();
        code.unwrap();
    });
    for pmu in ["k8", "knl"] {
        for parallel in [false, true] {
            let report = run_image(pmu, "meeting", &image, 8, Clock::Embedder, &Options { parallel, ..options() }).unwrap();
            assert!(report.passed, "{pmu}: {}", explain(&report));
        }
    }
}

#[test]
fn a_tile_shows_its_monitoring_and_its_topology() {
    let report = run_tile("cpuid", |k| {
        for (leaf, subleaf, eax_right, ebx_right) in [(0xA, 0, 0x0728_0203, 0), (0xB, 0, 2, 4), (0xB, 1, 3, 8)] {
            k.a.mov(eax, leaf)?;
            k.a.mov(ecx, subleaf)?;
            k.a.cpuid()?;
            k.a.mov(r12, rbx)?;
            k.check_is("EAX", rax, eax_right)?;
            k.check_is("EBX", r12, ebx_right)?;
        }
        // PDCM, and no DS.
        k.a.mov(eax, 1)?;
        k.a.cpuid()?;
        k.a.mov(r12, rdx)?;
        k.a.and(r12d, 1 << 21)?;
        k.a.and(ecx, 1 << 15)?;
        k.check_is("PDCM", rcx, 1 << 15)?;
        k.check_is("DS", r12, 0)
    });
    assert!(report.passed, "{}", explain(&report));
}

#[test]
fn on_knights_landing_a_delivered_interrupt_masks_the_counters_entry() {
    // As vector 50h and as NMI, by IA32_FIXED_CTR0 after 20 instructions.
    for (entry, vector) in [(0x50, 0x50), (LVT_NMI, 2)] {
        let mut kernel = Kernel::new(Vec::new()).unwrap();
        let code: Result<(), IcedError> = (|| {
            kernel.handler(vector)?;
            kernel.a.inc(cell(own(0)))?;
            kernel.a.iretq()?;
            kernel.main()?;
            kernel.apic(APIC_LVT_PERFORMANCE, entry)?;
            kernel.wrmsr(0x309, (1 << 40) - 20)?;
            kernel.wrmsr(0x38D, 0x9)?;
            kernel.wrmsr(0x38F, 1 << 32)?;
            kernel.a.sti()?;
            for _ in 0..30 {
                kernel.a.nop()?;
            }
            kernel.a.cli()?;
            kernel.rdmsr(0x38E)?;
            kernel.check_is("status", rax, 1 << 32)?;
            kernel.a.mov(eax, APIC)?;
            kernel.a.mov(eax, dword_ptr(rax + APIC_LVT_PERFORMANCE))?;
            kernel.check_is("entry", rax, u64::from(entry | LVT_MASKED))?;
            kernel.a.mov(rax, cell(own(0)))?;
            kernel.check_is("interrupts", rax, 1)?;
            kernel.a.ret()
        })();
        code.unwrap();
        let report = run_image("knl", "masking", &kernel.finish().unwrap(), 1, Clock::Embedder, &options()).unwrap();
        assert!(report.passed, "{}", explain(&report));
    }
}

#[test]
fn with_any_thread_instructions_of_a_core_add_up_and_its_cycles_count_once() {
    let report = run_tile("any-thread", |k| {
        let (met, over) = (k.reserve(8), k.reserve(8));
        k.barrier(met, 8)?;
        let mut other = k.a.create_label();
        k.a.test(edi, edi)?;
        k.a.jne(other)?;
        k.wrmsr(0x38D, 0x77)?;
        k.wrmsr(0x38F, 3 << 32)?;
        for _ in 0..40 {
            k.a.nop()?;
        }
        k.rdmsr(0x309)?;
        k.a.mov(r12, rax)?;
        k.rdmsr(0x30A)?;
        k.a.mov(r13, rax)?;
        k.a.mov(qword_ptr(over), 1)?;
        // The WRMSR, 40 NOPs and a MOV on each of four threads.
        k.check_is("instructions", r12, 4 * 42)?;
        // The same of one, and RDMSR, SHL, OR, MOV, MOV.
        k.check_is("cycles", r13, 47)?;
        k.a.ret()?;
        here(&mut k.a, &mut other)?;
        k.a.pause()?;
        k.a.cmp(qword_ptr(over), 1)?;
        k.a.jne(other)
    });
    assert!(report.passed, "{}", explain(&report));
}

#[test]
fn threads_that_a_machine_does_not_have_do_not_run() {
    // Half a core: what is counted at level 0 stops while both threads are in ring 3 or halted.
    let mut user = User::new().unwrap();
    let mut entry = user.a.create_label();
    user.a.set_label(&mut entry).unwrap();
    for _ in 0..50 {
        user.a.nop().unwrap();
    }
    user.a.syscall().unwrap();
    let (code, [entry]) = user.finish([entry]).unwrap();
    let mut kernel = Kernel::new(code).unwrap();
    let code: Result<(), IcedError> = (|| {
        kernel.main()?;
        // Core cycles of any thread, at level 0.
        kernel.wrmsr(0x38D, 0x50)?;
        kernel.wrmsr(0x38F, 1 << 33)?;
        kernel.enter_user(entry, 2)?;
        kernel.wrmsr(0x38F, 0)?;
        kernel.rdmsr(0x30A)?;
        kernel.check("cycles", rax, 5, 40)?;
        kernel.a.ret()
    })();
    code.unwrap();
    let report = run_image("knl", "alone", &kernel.finish().unwrap(), 1, Clock::Embedder, &options()).unwrap();
    assert!(report.passed, "{}", explain(&report));
}

#[test]
fn a_function_that_is_absent_reads_as_ones() {
    let report = run_tile("absent", |k| {
        let at = PciFunction { bus: 3, device: 8, function: 2 };
        k.pci_write(at, 0xD8, 0)?;
        k.pci_read(at, 0xD8)?;
        k.check_is("by ports", rax, 0xFFFF_FFFF)?;
        k.window_write(at, 0xB20, 0)?;
        k.window_read(at, 0xB20)?;
        k.check_is("through the window", rax, 0xFFFF_FFFF)
    });
    assert!(report.passed, "{}", explain(&report));
}
