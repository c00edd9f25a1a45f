//! `two-threads`: the threads of a core take turns; each has its own monitors, some of which count both.

use crate::ia64::part::{MONTECITO, Monitor};
use crate::ia64::{CPU, Kernel};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::{Config, PAL_ENTRY, PAL_HALT_LIGHT, SWITCH_CYCLES};
use vm_pmu_engines::image::Image;

/// Bundles of the work that thread 1 does when it is asked to.
const WORK: u64 = 20;
/// Bundles of thread 1 from one `hint @pause` to the next when it works: the branch back; three to find work; the work; the branch back;
/// one and two for each of three tasks that it does not find; and the hint.
const TURN: u64 = 1 + 3 + WORK + 1 + 7 + 1;
/// What thread 0 asks thread 1 for: work, to read its own counter, to watch thread 0 halt.
const DO_WORK: i64 = 1;
const CHECK_OWN: i64 = 2;
const WATCH_HALT: i64 = 3;
/// What PMD4 of thread 1 holds.
const HELD: u64 = 777;
/// The vector of monitors and timer.
const VECTOR: u8 = 0xEE;
/// Cycles until the timer.
const REST: i64 = 4000;

const HINTS: &str = "THREAD_SWITCH_EVENTS.HINT";
const TIME_OUTS: &str = "THREAD_SWITCH_EVENTS.TIMER";
const HALTS: &str = "THREAD_SWITCH_EVENTS.LP";
const SWITCHES: &str = "THREAD_SWITCH_EVENTS.ALL";

/// Programs a counter and its PMD.
fn program(k: &mut Kernel, number: u8, monitor: Monitor, holds: u64) {
    k.write_pmc(number, MONTECITO.pmc(monitor));
    k.write_pmd(number, holds);
}

/// Programs counters that hold 0.
fn program_all(k: &mut Kernel, monitors: &[(u8, Monitor, &str, u64)]) {
    for (number, monitor, _, _) in monitors {
        program(k, *number, *monitor, 0);
    }
}

/// Checks the counts, and leaves all counters idle.
fn check_all(k: &mut Kernel, name: &str, monitors: &[(u8, Monitor, &str, u64)]) {
    for (number, _, what, right) in monitors {
        check(k, &format!("{name}: {what}"), *number, *right);
    }
    for number in MONTECITO.counters() {
        k.write_pmc(number, MONTECITO.idle);
    }
    k.write_pmc(0, 0);
}

fn check(k: &mut Kernel, label: &str, number: u8, right: u64) {
    k.read_pmd(R9, number);
    k.check_is(label, R9, right);
}

fn own(event: &'static str) -> Monitor {
    Monitor::of(event)
}

fn both(event: &'static str) -> Monitor {
    Monitor::of(event).both_threads()
}

/// The cell that r20 points at holds what thread 1 is to do.
fn ask(k: &mut Kernel, what: i64) {
    k.a.put(mov_imm(R22, what));
    k.a.put(st8_rel(R20, R22));
}

/// Thread 0 turns to thread 1 until that has done what it was asked for.
fn wait(k: &mut Kernel) {
    let (again, over) = (k.a.mark(), k.a.label());
    k.a.put(ld8_acq(R22, R20));
    k.a.put(cmp_eq(P6, P7, R22, R0));
    k.a.put(br_cond(over).when(P6));
    k.a.put(hint(0));
    k.a.put(br_cond(again));
    k.a.here(over);
}

/// Thread 1 checks for a task whenever it runs, and turns to thread 0 if there is none.
fn second(k: &mut Kernel) {
    let (work, look, watch) = (k.a.label(), k.a.label(), k.a.label());
    let next = k.a.mark();
    k.a.put(ld8_acq(R22, R20));
    for (what, place) in [(DO_WORK, work), (CHECK_OWN, look), (WATCH_HALT, watch)] {
        k.a.put(cmp_eq_imm(P6, P7, what, R22));
        k.a.put(br_cond(place).when(P6));
    }
    k.a.put(hint(0));
    k.a.put(br_cond(next));
    k.a.here(work);
    k.a.put(st8_rel(R20, R0));
    k.nops(WORK as usize - 1);
    k.a.put(br_cond(next));
    k.a.here(look);
    check(k, "thread 1: PMD4 is its own", 4, HELD);
    k.read_pmc(R9, 0);
    k.check_is("thread 1: PMC0 is its own", R9, 0);
    k.a.put(st8_rel(R20, R0));
    k.a.put(br_cond(next));
    k.a.here(watch);
    let monitors = [(4, both(HALTS), "both threads' halts", 1), (5, own(HALTS), "its own", 0), (6, own(HINTS), "its hints", 1)];
    program_all(k, &monitors);
    k.user_monitors(true);
    k.a.put(hint(0));
    k.user_monitors(false);
    check_all(k, "the halt of thread 0", &monitors);
    k.a.put(st8_rel(R20, R0));
    k.a.put(br_cond(next));
}

/// Thread 1 has its turn; what it did counts where both threads are counted, whatever its own PSR.
fn turns(k: &mut Kernel) {
    let switch = u64::from(SWITCH_CYCLES);
    // 2 after sum, the hint's 3, and rum.
    let instructions = 2 + 3 + 1;
    // The hint's bundle, the switch that brings the thread back, and rum.
    let cycles = 1 + switch + 1;
    let monitors = [
        (4, own(MONTECITO.instructions), "instructions", instructions),
        (5, both(MONTECITO.instructions), "instructions of both", instructions + 3 * TURN),
        (6, own(MONTECITO.cycles), "cycles", cycles),
        (7, both(MONTECITO.cycles), "cycles of both", cycles + switch + TURN),
        (8, own(HINTS), "turns to the other thread", 1),
        (9, both(SWITCHES), "turns of both", 2),
        (10, own(MONTECITO.cycles), "cycles in a banked counter", cycles),
        (11, both(MONTECITO.instructions), "instructions in a banked counter, which has no all", instructions),
        (12, own(MONTECITO.nops), "no-operations in a banked counter", 2 + 2),
        (13, own(TIME_OUTS), "time-outs", 0),
    ];
    program_all(k, &monitors);
    // A turn with nothing to do, so that the quantum is fresh.
    k.a.put(hint(0));
    ask(k, DO_WORK);
    k.user_monitors(true);
    k.a.put(hint(0));
    k.user_monitors(false);
    check_all(k, "a turn", &monitors);
}

/// A counter of both threads overflows while its own thread is in the background: everything of this thread freezes, nothing of the
/// other's.
fn overflow(k: &mut Kernel) {
    program(k, 4, own(MONTECITO.instructions), 0);
    // 5 of thread 0 and 35 of thread 1, which has more than that to do.
    program(k, 5, both(MONTECITO.instructions).interrupting(), MONTECITO.before_overflow(40));
    program(k, 6, both(MONTECITO.cycles), 0);
    k.a.put(hint(0));
    ask(k, DO_WORK);
    k.user_monitors(true);
    k.a.put(hint(0));
    k.user_monitors(false);
    k.read_pmc(R9, 0);
    k.check_is("in the background: PMC0", R9, 1 << 5 | 1);
    // The 35th of thread 1 is the second of its twelfth bundle.
    let switch = u64::from(SWITCH_CYCLES);
    let rights = [(4, own(""), "own instructions", 2 + 3), (5, own(""), "what is over", 0), (6, own(""), "cycles", 1 + switch + 12)];
    check_all(k, "in the background", &rights);
    k.accept_interrupt(R9);
    k.check_is("in the background: IVR", R9, VECTOR.into());
    k.end_interrupt();
    ask(k, CHECK_OWN);
    wait(k);
}

/// The quantum runs out three times in three and a half of it; thread 1 turns back by hints.
fn time_outs(k: &mut Kernel) {
    let quantum = Config::default().quantum;
    let monitors = [
        (4, own(TIME_OUTS), "own", 3),
        (5, both(TIME_OUTS), "of both", 3),
        (6, own(HINTS), "own hints", 0),
        (7, both(HINTS), "hints of both", 3),
        (8, both(SWITCHES), "all", 6),
    ];
    program_all(k, &monitors);
    k.a.put(hint(0));
    k.user_monitors(true);
    // Turns of eight bundles.
    k.repeat(quantum * 7 / 2 / 8, |k| k.nops(7));
    k.user_monitors(false);
    check_all(k, "time-outs", &monitors);
}

/// Thread 1 watches this one halt.
fn halt(k: &mut Kernel) {
    k.write_cr(Cr::ITV, VECTOR.into());
    ask(k, WATCH_HALT);
    k.a.put(hint(0));
    k.a.put(mov_from_ar_m(R16, Ar::ITC));
    k.a.put(adds(R16, REST, R16));
    k.a.put(mov_to_cr(Cr::ITM, R16));
    k.a.load(R28, PAL_HALT_LIGHT);
    k.a.load(R8, PAL_ENTRY);
    k.a.put(mov_to_br(B7, R8));
    k.a.put(br_call_reg(B0, B7));
    k.accept_interrupt(R9);
    k.check_is("the halt: what woke it", R9, VECTOR.into());
    k.end_interrupt();
    wait(k);
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let (asked, here) = (k.reserve(8), k.reserve(8));
    k.main();
    k.a.load(R20, asked);
    k.load_own(R16, CPU);
    k.a.put(cmp_eq(P1, P2, R16, R0));
    program(&mut k, 4, own(MONTECITO.instructions).at(0), HELD);
    k.barrier(here, 2);
    let first = k.a.label();
    k.a.put(br_cond(first).when(P1));
    second(&mut k);
    k.a.here(first);
    // Thread 1 reaches its hint.
    k.a.put(hint(0));
    k.monitor_vector(VECTOR);
    turns(&mut k);
    ask(&mut k, CHECK_OWN);
    wait(&mut k);
    overflow(&mut k);
    time_outs(&mut k);
    halt(&mut k);
    k.end_main();
    k.finish()
}
