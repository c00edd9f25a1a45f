//! `pal`: what firmware returns about the monitors, and what it does with them when it halts.

use super::Kernel;
use super::handler::VECTOR;
use super::part::{Facts, Monitor};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::{PAL_ENTRY, PAL_HALT_LIGHT, PAL_PERF_MON_INFO};
use vm_pmu_engines::image::Image;

/// Cycles until the timer wakes the processor.
const REST: i64 = 5000;
/// A procedure that does not exist.
const UNKNOWN: u64 = 200;

/// Calls procedure `index` with r29 as its argument: 2 and 2 bundles of setting up, then one of the branch.
fn call(k: &mut Kernel, index: u64) {
    k.a.load(R28, index);
    k.a.load(R8, PAL_ENTRY);
    k.a.put(mov_to_br(B7, R8));
    k.a.put(br_call_reg(B0, B7));
}

fn info(k: &mut Kernel, part: &Facts) {
    let buffer = k.reserve(128);
    k.a.load(R29, buffer);
    call(k, PAL_PERF_MON_INFO);
    k.a.put(mov(R4, R9));
    k.check_is("PAL_PERF_MON_INFO: status", R8, 0);
    // Pairs, width, the events of cycles and of instructions.
    let cycles = u64::from(part.event(part.cycles).select);
    let retired = u64::from(part.event(part.instructions).select);
    let pairs = u64::from(part.last) - 3;
    k.check_is("PAL_PERF_MON_INFO: pm_info", R4, pairs | u64::from(part.width) << 8 | cycles << 16 | retired << 24);
    let mask = |registers: &[super::part::Expected]| {
        let numbers = registers.iter().flat_map(|same| same.first..=same.last);
        numbers.fold(0u64, |mask, number| mask | 1 << number)
    };
    let counters = part.counters().fold(0u64, |mask, number| mask | 1 << number);
    let counts = |name| u64::from(part.event(name).counters) & counters;
    // PMC1 to 3 are there, though they have no bits.
    let words = [mask(part.pmcs) | 0b1110, mask(part.pmds), counts(part.cycles), counts(part.instructions)];
    for (number, right) in (0..).zip(words) {
        for word in 0..4 {
            k.a.load(R2, buffer + 8 * (4 * number + word));
            k.a.put(ld8(R4, R2));
            k.check_is(&format!("PAL_PERF_MON_INFO: mask {number}, word {word}"), R4, if word == 0 { right } else { 0 });
        }
    }
    k.a.put(mov(R29, R0));
    call(k, UNKNOWN);
    k.check_is("an unknown procedure: status", R8, u64::MAX);
}

/// Halts until the timer, with PMC0 as it is given; counters must not see it.
fn halt(k: &mut Kernel, part: &Facts, name: &str, pmc0: u64, counted: bool) {
    for (number, event) in [(4, part.instructions), (5, part.cycles)] {
        k.write_pmc(number, part.pmc(Monitor::of(event)));
        k.write_pmd(number, 0);
    }
    k.write_cr(Cr::ITV, VECTOR.into());
    k.write_pmc(0, pmc0);
    k.a.put(mov_from_ar_m(R16, Ar::ITC));
    k.a.put(adds(R17, REST, R16));
    k.a.put(mov_to_cr(Cr::ITM, R17));
    k.user_monitors(true);
    call(k, PAL_HALT_LIGHT);
    k.user_monitors(false);
    k.check_is(&format!("{name}: status"), R8, 0);
    k.a.put(mov_from_ar_m(R18, Ar::ITC));
    k.a.put(cmp_ltu(P6, P7, R18, R17));
    k.a.put(mov_imm(R4, 0).when(P6));
    k.a.put(mov_imm(R4, 1).when(P7));
    k.check_is(&format!("{name}: it was long"), R4, 1);
    k.read_pmc(R4, 0);
    k.check_is(&format!("{name}: PMC0"), R4, pmc0);
    // 2 after sum, 2 and 2 long ones, 3, 3 of the branch, and rum; the procedure has none. Four bundles, and that of rum.
    for (number, what, right) in [(4, "instructions", 2 + 2 + 2 + 3 + 3 + 1), (5, "cycles", 4 + 1)] {
        k.read_pmd(R4, number);
        k.check_is(&format!("{name}: {what}"), R4, if counted { right } else { 0 });
        k.write_pmc(number, part.idle);
    }
    k.write_pmc(0, 0);
    k.accept_interrupt(R4);
    k.check_is(&format!("{name}: what woke it"), R4, VECTOR.into());
    k.end_interrupt();
}

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    k.main();
    info(&mut k, part);
    halt(&mut k, part, "halt", 0, true);
    halt(&mut k, part, "halt with an overflow kept", 1 << 4, true);
    halt(&mut k, part, "halt while frozen", 1, false);
    k.end_main();
    k.finish()
}
