//! `halt`: cycles of a halt, counted where the firmware leaves the monitors alone.

use crate::ia64::Kernel;
use crate::ia64::part::{MONTECITO, Monitor};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::{PAL_ENTRY, PAL_HALT, PAL_HALT_LIGHT};
use vm_pmu_engines::image::Image;

/// The vector of the monitors.
const VECTOR: u8 = 0x40;
/// The vector of the interval timer.
const TIMER: u8 = 0x60;
/// The one counter of halted cycles.
const HALTED: u8 = 10;
/// The counter of those that run.
const RUNNING: u8 = 4;
const EVENTS: [(u8, &str); 2] = [(HALTED, "CPU_OP_CYCLES_HALTED"), (RUNNING, "CPU_OP_CYCLES.ALL")];

/// Halts in state 1, `rest` cycles at most from the bundle before the next, in which counting begins with the fourth.
fn rest(k: &mut Kernel, rest: i64, procedure: u64) {
    k.a.put(mov_from_ar_m(R16, Ar::ITC));
    k.a.put(adds(R17, rest, R16));
    k.a.put(mov_to_cr(Cr::ITM, R17));
    k.user_monitors(true);
    k.a.load(R29, 1);
    k.a.load(R28, procedure);
    k.a.load(R8, PAL_ENTRY);
    k.a.put(mov_to_br(B7, R8));
    k.a.put(br_call_reg(B0, B7));
    k.user_monitors(false);
}

/// PMD10 and PMD4 begin at zero, or so many before their overflow.
fn program(k: &mut Kernel, before: Option<u64>) {
    for (number, event) in EVENTS {
        let monitor = Monitor::of(event);
        let asks = before.filter(|_| number == HALTED);
        k.write_pmc(number, MONTECITO.pmc(if asks.is_some() { monitor.interrupting() } else { monitor }));
        k.write_pmd(number, asks.map_or(0, |before| MONTECITO.before_overflow(before)));
    }
}

fn check(k: &mut Kernel, name: &str, halted: u64, running: u64, woken_by: u8) {
    for (number, what, right) in [(HALTED, "halted cycles", halted), (RUNNING, "cycles that ran", running)] {
        k.read_pmd(R4, number);
        k.check_is(&format!("{name}: {what}"), R4, right);
    }
    k.accept_interrupt(R4);
    k.check_is(&format!("{name}: what woke it"), R4, woken_by.into());
    k.end_interrupt();
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    k.main();
    k.monitor_vector(VECTOR);
    k.write_cr(Cr::ITV, TIMER.into());
    // The timer is read in the first of nine bundles, then the procedure takes a cycle: the halt has ten cycles less. After sum five
    // bundles run, the procedure, and that of rum.
    for cycles in [5000, 8000] {
        program(&mut k, None);
        rest(&mut k, cycles, PAL_HALT);
        k.check_is("PAL_HALT: status", R8, 0);
        check(&mut k, &format!("PAL_HALT of {cycles}"), cycles as u64 - 10, 5 + 1 + 1, TIMER);
    }
    // The overflow wakes it, and stops the counts.
    program(&mut k, Some(1000));
    rest(&mut k, 5000, PAL_HALT);
    k.read_pmc(R4, 0);
    k.check_is("an overflow in the halt: PMC0", R4, 1 << HALTED | 1);
    check(&mut k, "an overflow in the halt", 0, 5 + 1, VECTOR);
    k.write_cr(Cr::ITM, 0);
    k.write_pmc(0, 0);
    // PAL_HALT_LIGHT freezes the monitors first.
    program(&mut k, None);
    rest(&mut k, 5000, PAL_HALT_LIGHT);
    check(&mut k, "PAL_HALT_LIGHT", 0, 5 + 1, TIMER);
    k.end_main();
    k.finish()
}
