//! What guests for Itanium are built from, on the interpreter: results that follow from the architecture.

use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{isr, psr, vector};
use vm_pmu_engines::ia64::{Config, Exit, Limits, Machine, Unobserved};
use vm_pmu_guests::ia64::{CAUGHT_IFA, CPU, FRAME_IIP, Kernel, frame, own};
use vm_pmu_guests::protocol::{self, Check};

/// Runs a guest on this many cores of this many threads: how it ended, its checks, its console.
fn run_on(cores: usize, threads: usize, build: impl FnOnce(&mut Kernel)) -> (Exit, Vec<Check>, String) {
    let mut k = Kernel::new();
    build(&mut k);
    let image = k.finish().unwrap();
    let config = Config { cores, threads, ..Config::default() };
    let mut machine = Machine::new(&config, &image, |_| Unobserved).unwrap();
    let exit = machine.run(Limits::steps(1_000_000));
    let memory = machine.memory();
    let (checks, _) = protocol::read(|address, bytes| {
        for (at, byte) in (address..).zip(bytes) {
            *byte = memory.read(at, 1) as u8;
        }
        true
    });
    (exit, checks, String::from_utf8(machine.console()).unwrap())
}

const DONE: Exit = Exit::Status { cpu: 0, status: 0 };
const FAILED: Exit = Exit::Status { cpu: 0, status: 1 };

/// Runs a guest on one thread, whose checks must all be right.
fn run(build: impl FnOnce(&mut Kernel)) -> Vec<Check> {
    let (exit, checks, _) = run_on(1, 1, build);
    assert_eq!(exit, DONE, "{checks:#?}");
    checks
}

#[test]
fn checks_and_lines_are_reported() {
    let (exit, checks, console) = run_on(1, 1, |k| {
        k.main();
        k.a.load(R4, 6);
        k.a.load(R5, 7);
        k.a.put(setf_sig(F6, R4));
        k.a.put(setf_sig(F7, R5));
        k.a.put(xmpy_l(F6, F6, F7));
        k.a.put(getf_sig(R6, F6));
        k.check("six times seven", R6, 40, 42);
        k.check_same("the same", R6, R6);
        k.print("hello");
        k.end_main();
    });
    assert_eq!(exit, DONE);
    let said: Vec<_> = checks.iter().map(|check| (check.name.as_str(), check.seen, check.least, check.most)).collect();
    assert_eq!(said, [("six times seven", 42, 40, 42), ("the same", 42, 42, 42)]);
    assert_eq!(console, "hello\n");
}

#[test]
fn a_wrong_value_fails_the_guest() {
    for (least, most) in [(0, 41), (43, 50)] {
        let (exit, ..) = run_on(1, 1, |k| {
            k.main();
            k.a.load(R4, 42);
            k.check("too much or too little", R4, least, most);
            k.end_main();
        });
        assert_eq!(exit, FAILED);
    }
}

#[test]
fn loops_turn_as_often_as_they_say() {
    run(|k| {
        k.main();
        k.a.load(R4, 0);
        k.repeat(10, |k| k.a.put(adds(R4, 3, R4)));
        k.check_is("ten times three", R4, 30);
        k.repeat(1, |k| k.a.put(adds(R4, 3, R4)));
        k.check_is("once more", R4, 33);
        k.end_main();
    });
}

#[test]
fn user_code_runs_at_level_3_and_comes_back() {
    run(|k| {
        let user = k.a.label();
        k.a.here(user);
        // A privileged instruction at level 3.
        k.expect_fault(
            "user code reads a control register",
            mov_from_cr(R4, Cr::IVA),
            vector::GENERAL_EXCEPTION,
            isr::PRIVILEGED_OPERATION,
        );
        k.a.put(mov_from_psr_um(R5));
        k.a.load(R13, 0);
        k.system_call();
        k.a.put(adds(R5, 1, R5));
        k.system_call();
        k.main();
        k.a.put(mov(R6, R12));
        k.enter_user(user, psr::UP);
        k.check_is("the user mask in user code", R5, psr::UP);
        k.check_same("the stack", R12, R6);
        k.load_own(R4, CPU);
        k.check_is("the own area", R4, 0);
        k.a.put(mov_from_psr(R4));
        k.check_is("PSR in the kernel", R4, psr::IC);
        k.resume_user();
        k.check_is("behind the first break", R5, psr::UP + 1);
        k.end_main();
    });
}

#[test]
fn expected_faults_are_counted_at_every_slot() {
    run(|k| {
        k.main();
        k.a.load(R4, 1 << 47);
        k.a.load(R5, 0);
        k.expect_faults();
        // A load without memory in slot 0, a break in slot 2: both are skipped, the rest is not.
        k.a.bundle(Template::MII_S, [ld8(R6, R4), adds(R5, 1, R5), break_(5)]);
        k.a.put(adds(R5, 1, R5));
        k.load_own(R7, CAUGHT_IFA);
        k.check_faults("two faults", 2, vector::BREAK, 0);
        k.check_is("what was not skipped", R5, 2);
        k.check_is("the address", R7, 1 << 47);
        k.end_main();
    });
}

#[test]
fn an_interruption_that_nothing_expects_ends_the_guest() {
    let (exit, checks, _) = run_on(1, 1, |k| {
        k.main();
        k.a.put(break_(5));
        k.end_main();
    });
    assert_eq!(exit, FAILED);
    assert_eq!(checks[0].seen, u64::from(vector::BREAK));
}

#[test]
fn a_handler_leaves_what_was_interrupted_as_it_was() {
    run(|k| {
        const INTERRUPT: u64 = 0x40;
        k.handler(vector::EXTERNAL_INTERRUPT);
        k.accept_interrupt(R16);
        k.check_is("the vector", R16, INTERRUPT);
        // Everything that handlers may change.
        for register in [R2, R3, R8, R9, R10, R11, R14, R15] {
            k.a.load(register, 77);
        }
        k.a.put(cmp_eq(P6, P7, R0, R0));
        k.a.put(mov_to_ar_i(Ar::LC, R0));
        k.a.load(R3, 1);
        k.store_own(own(0), R3);
        k.end_interrupt();
        k.end_handler();
        k.main();
        // A bank of one's own.
        k.a.load(R16, 1234);
        k.a.load(R8, 8);
        k.a.load(R15, 15);
        k.a.put(cmp_ne(P6, P7, R0, R0));
        k.interrupts_on();
        k.a.load(R2, 99);
        k.a.put(mov_to_ar_i(Ar::LC, R2));
        // The interval timer, 20 cycles from now.
        k.write_cr(Cr::ITV, INTERRUPT);
        k.a.put(mov_from_ar_m(R4, Ar::ITC));
        k.a.put(adds(R4, 20, R4));
        k.a.put(mov_to_cr(Cr::ITM, R4));
        k.nops(40);
        k.a.put(mov(R5, R0));
        k.a.put(adds(R5, 1, R5).when(P6));
        k.a.put(mov_from_ar_i(R7, Ar::LC));
        k.a.put(add(R6, R8, R15));
        k.check_is("r8 and r15", R6, 23);
        k.check_is("p6", R5, 0);
        k.check_is("LC", R7, 99);
        k.check_is("r16", R16, 1234);
        k.load_own(R4, own(0));
        k.check_is("the handler ran", R4, 1);
        k.end_main();
    });
}

#[test]
fn a_handler_may_change_where_and_with_what_the_program_goes_on() {
    run(|k| {
        k.handler(vector::GENERAL_EXCEPTION);
        // The bundle after, and 5 in r8.
        k.load_own(R9, FRAME_IIP);
        k.a.put(adds(R9, 16, R9));
        k.store_own(FRAME_IIP, R9);
        k.a.load(R9, 5);
        k.store_own(frame(8), R9);
        k.end_handler();
        k.main();
        // A reserved register.
        k.a.put(mov_imm(R4, 200));
        k.a.put(mov_from_ibr(R8, R4));
        k.check_is("r8", R8, 5);
        k.end_main();
    });
}

#[test]
fn threads_meet_at_barriers_and_locks_keep_them_apart() {
    for (cores, threads) in [(1, 2), (2, 1), (2, 2)] {
        let all = (cores * threads) as u64;
        let (exit, checks, _) = run_on(cores, threads, |k| {
            let (first, last, lock, sum) = (k.reserve(8), k.reserve(8), k.reserve(8), k.reserve(8));
            k.main();
            k.barrier(first, all as i64);
            // Read, and much later written.
            k.a.load(R4, sum);
            for _ in 0..5 {
                k.lock(lock);
                k.a.put(ld8(R5, R4));
                k.nops(3);
                k.a.put(hint(0));
                k.a.put(adds(R5, 1, R5));
                k.a.put(st8(R4, R5));
                k.unlock(lock);
            }
            k.barrier(last, all as i64);
            k.a.put(ld8(R5, R4));
            k.check_is("the sum", R5, 5 * all);
            k.end_main();
        });
        assert_eq!(exit, DONE, "{cores} {threads}: {checks:#?}");
    }
}

#[test]
fn a_recursion_deeper_than_the_register_file_gets_its_registers_back() {
    run(|k| {
        // sum(n) = n + sum(n - 1), with n in a stacked register: eight a frame, of which sixteen frames are more than 96.
        let (sum, end) = (k.a.label(), k.a.label());
        k.a.here(sum);
        // In: r32. Locals r33 to r38; out: r39.
        k.a.put(alloc(R33, 1, 6, 1, 0));
        k.a.put(mov_from_br(R34, B0));
        k.a.put(mov(R4, R0));
        k.a.put(cmp_eq(P6, P7, R32, R0));
        k.a.put(br_cond(end).when(P6));
        k.a.put(adds(R39, -1, R32));
        k.a.put(br_call(B0, sum));
        k.a.put(add(R4, R4, R32));
        k.a.here(end);
        k.a.put(mov_to_ar_i(Ar::PFS, R33));
        k.a.put(mov_to_br(B0, R34));
        k.a.put(br_ret(B0));
        k.main();
        k.a.put(alloc(R5, 0, 0, 1, 0));
        k.a.load(R32, 40);
        k.a.put(br_call(B0, sum));
        // 40 * 41 / 2.
        k.check_is("the sum of 1 to 40", R4, 820);
        k.end_main();
    });
}

#[test]
fn monitor_registers_are_named_by_number() {
    // Nothing takes the place of the monitor: it reads 0, and accepts what is written.
    run(|k| {
        k.main();
        k.monitor_vector(0x30);
        k.write_pmc(0, 1);
        k.write_pmd(4, 2);
        k.write_ibr(7, 0x1230);
        k.write_dbr(6, 0x4560);
        k.privileged_monitors(true);
        k.user_monitors(true);
        k.a.put(mov_from_psr(R4));
        k.check_is("PSR", R4, psr::IC | psr::PP | psr::UP);
        k.privileged_monitors(false);
        k.user_monitors(false);
        k.a.put(mov_from_psr(R4));
        k.check_is("PSR without", R4, psr::IC);
        k.read_pmc(R4, 0);
        k.read_pmd(R5, 4);
        k.check_is("PMC0", R4, 0);
        k.check_is("PMD4", R5, 0);
        k.a.put(mov_imm(R4, 7));
        k.a.put(mov_from_ibr(R5, R4));
        k.check_is("IBR7", R5, 0x1230);
        k.a.put(mov_from_cr(R5, Cr::PMV));
        k.check_is("PMV", R5, 0x30);
        k.end_main();
    });
}
