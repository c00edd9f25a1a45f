//! `urgency`: a thread that misses the third-level cache gives way to one that makes progress, and comes back with its data.

use crate::ia64::part::{MONTECITO, Monitor};
use crate::ia64::{CPU, Kernel};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::image::Image;

/// Memory that was never read: beyond all code and data.
const COLD: u64 = 0x80_0000;
/// Lines read, 128 bytes each.
const LINES: u64 = 200;
/// Bytes of a line.
const LINE: i64 = 128;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    const MISSES: &str = "L3_READS.DATA_READ.MISS";
    const SWITCHES: &str = "THREAD_SWITCH_EVENTS.L3MISS";
    let mut k = Kernel::new();
    let here = k.reserve(8);
    k.main();
    k.load_own(R16, CPU);
    k.a.put(cmp_eq(P1, P2, R16, R0));
    k.a.load(R17, COLD);
    k.barrier(here, 2);
    let first = k.a.label();
    k.a.put(br_cond(first).when(P1));
    // Thread 1 works where it misses nothing, and turns back after each turn of eight bundles.
    let again = k.a.mark();
    k.nops(6);
    k.a.put(hint(0));
    k.a.put(br_cond(again));
    k.a.here(first);
    let events = [(4, MISSES), (6, SWITCHES), (7, "THREAD_SWITCH_EVENTS.TIMER"), (8, MONTECITO.instructions)];
    // The first time code is cold too.
    for round in 0..2 {
        for (number, event) in events {
            k.write_pmc(number, MONTECITO.pmc(Monitor::of(event)));
            k.write_pmd(number, 0);
        }
        k.user_monitors(true);
        k.repeat(LINES, |k| k.a.put(ld8(R18, R17).post(LINE)));
        k.user_monitors(false);
        for (number, _) in events {
            k.write_pmc(number, MONTECITO.idle);
        }
        if round == 1 {
            k.read_pmd(R4, 4);
            k.check_is("lines that were missed", R4, LINES);
            k.read_pmd(R4, 6);
            k.check_is("turns to the other thread for them", R4, LINES);
            // 2, 2 and 3 of setting up the loop, 6 a turn, and rum.
            k.read_pmd(R4, 8);
            k.check_is("instructions", R4, 2 + 2 + 3 + 6 * LINES + 1);
        }
    }
    k.end_main();
    k.finish()
}
