//! `gates`: changes of threads that are held up, for how long, and how long the thread had completed nothing before.

use crate::ia64::part::{MONTECITO, Monitor};
use crate::ia64::{CPU, Kernel};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::{PAL_ENTRY, PAL_HALT_LIGHT};
use vm_pmu_engines::image::Image;

/// Memory that was never read, of each thread: beyond all code and data.
const COLD: [u64; 2] = [0x80_0000, 0x140_0000];
/// Lines read, 128 bytes each. They take a quantum each twenty or so.
const LINES: u64 = 600;
/// Bytes of a line.
const LINE: i64 = 128;
/// Moves to a register behind each load: the last is not done when the miss is known.
const MOVES: usize = 8;
/// Hints to a thread that is halted.
const HINTS: u64 = 5;

/// Lines of code that thread 1 has not fetched before, each with a turn to thread 0 at its end.
const CODE: usize = 200;
/// Bundles of a line of code.
const BUNDLES: usize = 8;

/// The first six counters count both threads; the others are banked, and count their own.
const EVENTS: [&str; 12] = [
    "THREAD_SWITCH_GATED.ALL",
    "THREAD_SWITCH_GATED.PIPE",
    "THREAD_SWITCH_GATED.FWDPRO",
    "THREAD_SWITCH_CYCLE.TOTAL",
    "THREAD_SWITCH_CYCLE.ALL_GATED",
    "THREAD_SWITCH_EVENTS.ALL",
    "THREAD_SWITCH_GATED.LP",
    "THREAD_SWITCH_CYCLE.CRAB",
    "THREAD_SWITCH_CYCLE.ANYSTALL",
    "THREAD_SWITCH_STALL.GTE_4",
    "THREAD_SWITCH_STALL.GTE_16",
    "THREAD_SWITCH_STALL.GTE_64",
];

fn program(k: &mut Kernel) {
    for (number, event) in MONTECITO.counters().zip(EVENTS) {
        k.write_pmc(number, MONTECITO.pmc(Monitor::of(event).both_threads()));
        k.write_pmd(number, 0);
    }
}

/// Reads the counters into r17 to r28.
fn read(k: &mut Kernel) -> [Gr; 12] {
    let into = [R17, R18, R19, R20, R21, R22, R23, R24, R25, R26, R27, R28];
    for (number, register) in MONTECITO.counters().zip(into) {
        k.read_pmd(register, number);
        k.write_pmc(number, MONTECITO.idle);
    }
    into
}

/// Reads lines that no cache has, and uses each; moves to a register before and behind each load hold up the change that it asks for.
fn miss(k: &mut Kernel) {
    k.a.put(mov_to_ar_m(Ar::CCV, R0));
    k.a.put(ld8(R18, R17).post(LINE));
    for _ in 0..MOVES {
        k.a.put(mov_to_ar_m(Ar::CCV, R0));
    }
    k.a.put(mov(R18, R18));
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let (here, halts) = (k.reserve(8), k.reserve(8));
    k.main();
    k.load_own(R16, CPU);
    k.a.put(cmp_eq(P1, P2, R16, R0));
    k.barrier(here, 2);
    let first = k.a.label();
    k.a.put(br_cond(first).when(P1));
    second(&mut k, halts);
    k.a.here(first);
    k.a.load(R17, COLD[0]);
    program(&mut k);
    k.user_monitors(true);
    k.repeat(LINES, miss);
    k.user_monitors(false);
    let [all, moved, progress, total, gated, changes, halted, bus, stalled, after_4, after_16, after_64] = read(&mut k);
    k.check_is("nobody is halted", halted, 0);
    k.a.put(add(R29, moved, progress));
    k.check_same("what held up changes adds up", all, R29);
    k.check("moves held some up", moved, 1, LINES * 4);
    k.check("and threads that had completed nothing some", progress, 1, LINES);
    // Each change is fifteen cycles of the thread that comes.
    k.a.put(shladd(R29, changes, 4, R0));
    k.a.put(sub(R29, R29, changes));
    k.a.put(add(R29, R29, gated));
    k.check_same("cycles of changes", total, R29);
    k.check_same("cycles for moves are all that is known of the pipeline", bus, stalled);
    k.check("cycles for moves", bus, 1, 12 * LINES * 4);
    for (name, many, few) in [("16 cycles", after_4, after_16), ("64 cycles", after_16, after_64)] {
        k.a.put(sub(R29, many, few));
        k.check(&format!("no more changes after {name} than after fewer"), R29, 0, LINES * 4);
    }
    k.check("some after 64 cycles", after_64, 1, LINES * 4);
    // The other thread halts when it is asked to.
    k.a.load(R20, halts);
    k.a.put(st8_rel(R20, R13));
    let wait = k.a.mark();
    k.a.put(hint(0));
    k.a.put(ld8_acq(R22, R20));
    k.a.put(cmp_eq(P6, P7, R22, R0));
    k.a.put(br_cond(wait).when(P7));
    k.a.put(hint(0));
    program(&mut k);
    k.user_monitors(true);
    for _ in 0..HINTS {
        k.a.put(hint(0));
    }
    k.user_monitors(false);
    let [all, _, _, _, _, _, halted, ..] = read(&mut k);
    k.check("hints to a thread that is halted", halted, HINTS, HINTS);
    k.check_same("and nothing else", all, halted);
    k.end_main();
    k.finish()
}

/// Thread 1 comes to code that no cache has, and completes nothing before that is there. Then it misses until the cell at `halts` holds something, and halts for ever.
fn second(k: &mut Kernel, halts: u64) {
    k.a.load(R17, COLD[1]);
    k.a.load(R20, halts);
    while !(k.a.address() / 16).is_multiple_of(BUNDLES as u64) {
        k.nops(1);
    }
    for _ in 0..CODE {
        k.nops(BUNDLES - 1);
        k.a.put(hint(0));
    }
    let again = k.a.mark();
    miss(k);
    k.a.put(ld8_acq(R22, R20));
    k.a.put(cmp_eq(P6, P7, R22, R0));
    k.a.put(br_cond(again).when(P6));
    k.a.put(st8_rel(R20, R0));
    k.a.load(R28, PAL_HALT_LIGHT);
    k.a.load(R8, PAL_ENTRY);
    k.a.put(mov_to_br(B7, R8));
    k.a.put(br_call_reg(B0, B7));
}
