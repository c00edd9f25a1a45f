//! `overflow`: alerts after exactly so many events, and what the handler finds.

use vm_pmu::arch::power9::{Mmcr0, Sier, spr};

use super::FC;
use super::counting::{INSTRUCTIONS, check_counter, clear_counters, counted, in_state, mmcr0, nops, repeat, run_latch};
use super::handler::{GOES_ON, Handler, MMCR0, NEGATIVE, SIAR, SIER, TAKEN, bit, counter, external};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, R3, R4, R5, R6, R12, R13, R14, R15, R16, R17};
use vm_pmu_engines::power::registers::msr;

/// MMCR1: PM_CYC (0x3001E) on PMC3, PM_INST_CMPL on the others.
const CYCLES_ON_PMC3: u64 = 0x0202_1E02;
/// MMCR1: PM_TB_BIT_TRANS (0x300F8) on PMC3, PM_INST_CMPL on the others.
const TRANSITIONS_ON_PMC3: u64 = 0x0202_F802;

/// What Linux starts a sampled event with: alerts, freeze at an alert, both conditions.
fn sampling(also: impl FnOnce(&mut Mmcr0)) -> u64 {
    mmcr0(|m| {
        m.set_pmae(true);
        m.set_fcece(true);
        m.set_pmc1ce(true);
        m.set_pmcjce(true);
        also(m);
    })
}

/// SIER in continuous sampling: MSR[HV, PR], and the TYPE of a fixed-point instruction, which no-ops and `mtspr` are.
fn sier(hypervisor: bool, problem: bool) -> u64 {
    let mut sier = Sier::default();
    sier.set_msr_hv(hypervisor);
    sier.set_msr_pr(problem);
    sier.set_kind(5);
    sier.bits()
}

/// MMCR0 as a handler sees it: the alert took PMAE back, and FCECE froze.
fn alerted(mmcr0: u64) -> u64 {
    let mut value = Mmcr0::of(mmcr0);
    value.set_pmae(false);
    value.set_pmao(true);
    value.set_fc(value.fcece());
    value.bits()
}

/// One alert after `period` instructions; the handler leaves the counters frozen.
fn once(k: &mut Kernel, handler: &Handler, period: u64) {
    let go = sampling(|_| {});
    handler.begin(k, FC, [period, 0, 0, 0, 0, 0]);
    k.a.load(R14, go);
    external(k, true);
    let first = k.a.address();
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, period + 5);
    external(k, false);
    let said = |what: &str| format!("after {period}: {what}");
    Handler::check_taken(k, &said("interrupts"), 1);
    // The mtspr that starts them is the first that is counted; every instruction has four bytes.
    handler.check(k, &said("SIAR"), 0, SIAR, first + 4 * (period - 1));
    handler.check(k, &said("the next instruction"), 0, GOES_ON, first + 4 * period);
    handler.check(k, &said("SIER"), 0, SIER, sier(true, false));
    handler.check(k, &said("MMCR0"), 0, MMCR0, alerted(go));
    handler.check(k, &said("what was negative"), 0, NEGATIVE, bit(1));
    handler.check(k, &said("PMC1"), 0, counter(1), 0x8000_0000);
    handler.check(k, &said("PMC2"), 0, counter(2), period);
}

/// The handler rearms: its instructions after its `mtspr` are counted in the next period.
fn again_and_again(k: &mut Kernel, handler: &Handler) {
    const PERIOD: u64 = 200;
    let go = sampling(|_| {});
    handler.begin(k, go, [PERIOD, 0, 0, 0, 0, 0]);
    k.a.load(R14, go);
    k.a.load(R15, FC);
    external(k, true);
    let first = k.a.address();
    let step = PERIOD - handler.tail;
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, PERIOD - 1 + 3 * step + 5);
    k.a.mtspr(spr::MMCR0, R15);
    external(k, false);
    Handler::check_taken(k, "rearmed: interrupts", 4);
    for index in 0..4 {
        handler.check(k, &format!("rearmed: SIAR of alert {index}"), index, SIAR, first + 4 * (PERIOD - 1 + index * step));
        handler.check(k, &format!("rearmed: PMC1 of alert {index}"), index, counter(1), 0x8000_0000);
        // It is never written and counts on: four whole periods.
        handler.check(k, &format!("rearmed: PMC2 of alert {index}"), index, counter(2), PERIOD * (index + 1));
    }
}

/// Problem state alone is counted, so that the handler is no part of any period.
fn problem_state(k: &mut Kernel, handler: &Handler, state: u64, name: &str) {
    const PERIOD: u64 = 37;
    let go = sampling(|m| {
        m.set_fcs(true);
        m.set_fch(true);
    });
    handler.begin(k, go, [PERIOD, 0, 0, 0, 0, 0]);
    k.write(spr::MMCR0, go);
    let mut first = 0;
    in_state(k, state, |k| {
        first = k.a.address();
        nops(k, 5 * PERIOD + 7);
    });
    k.write(spr::MMCR0, FC);
    Handler::check_taken(k, &format!("{name}: interrupts"), 5);
    for index in 0..5 {
        let address = first + 4 * (PERIOD * (index + 1) - 1);
        handler.check(k, &format!("{name}: SIAR of alert {index}"), index, SIAR, address);
        handler.check(k, &format!("{name}: SIER of alert {index}"), index, SIER, sier(state & msr::HV != 0, true));
    }
    // The sled and the system call.
    check_counter(k, &format!("{name}: PMC3"), 3, 5 * PERIOD + 8);
}

/// Several counters with periods; which of them are negative at the first alert, and what all hold then.
fn several(k: &mut Kernel, handler: &Handler, label: &str, periods: [u64; 6], right: [u64; 6]) {
    handler.begin(k, FC, periods);
    k.a.load(R14, sampling(|_| {}));
    external(k, true);
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, 40);
    external(k, false);
    Handler::check_taken(k, &format!("{label}: interrupts"), 1);
    let negative = (1..).zip(right).filter(|(_, count)| count >> 31 != 0).fold(0, |bits, (n, _)| bits | bit(n));
    handler.check(k, &format!("{label}: what was negative"), 0, NEGATIVE, negative);
    for (n, count) in (1..).zip(right) {
        handler.check(k, &format!("{label}: PMC{n}"), 0, counter(n), count);
    }
}

/// A condition that is not enabled does nothing, and its counter counts on.
fn not_enabled(k: &mut Kernel, handler: &Handler) {
    handler.begin(k, FC, [10, 12, 0, 0, 0, 0]);
    k.a.load(
        R14,
        mmcr0(|m| {
            m.set_pmae(true);
            m.set_fcece(true);
            m.set_pmcjce(true);
        }),
    );
    external(k, true);
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, 40);
    external(k, false);
    Handler::check_taken(k, "PMC1CE=0: interrupts", 1);
    handler.check(k, "PMC1CE=0: PMC1 is beyond", 0, counter(1), 0x8000_0002);
    handler.check(k, "PMC1CE=0: PMC2", 0, counter(2), 0x8000_0000);
}

/// Transitions of bit 55 of the time base: every 512 ticks, and the engine has a tick every 8 cycles.
fn bit_55(k: &mut Kernel, handler: &Handler) {
    let go = mmcr0(|m| {
        m.set_pmae(true);
        m.set_tbee(true);
        m.set_tbsel(0b10);
    });
    handler.begin(k, go, [0; 6]);
    // Nothing freezes the cycles in PMC3; the handler reads it at a fixed distance from the alert.
    k.write(spr::MMCR1, CYCLES_ON_PMC3);
    clear_counters(k);
    k.a.load(R14, go);
    external(k, true);
    k.a.mtspr(spr::MMCR0, R14);
    let wait = k.a.mark();
    k.a.ld(R3, TAKEN, R13);
    k.a.cmpldi(CR0, R3, 4);
    k.a.blt(wait);
    k.write(spr::MMCR0, FC);
    external(k, false);
    for index in 0..4 {
        handler.check(k, &format!("bit 55: MMCR0 of alert {index}"), index, MMCR0, alerted(go));
        handler.check(k, &format!("bit 55: nothing negative at alert {index}"), index, NEGATIVE, 0);
    }
    for index in 0..3 {
        handler.entry(k, index, counter(3));
        k.a.mr(R6, R5);
        handler.entry(k, index + 1, counter(3));
        k.a.subf(R3, R6, R5);
        k.check_is(&format!("bit 55: cycles from alert {index} to the next"), R3, 512 * 8);
    }
}

/// Transitions of bit 63: every 2 ticks, 16 cycles. Stretches that begin 33 cycles apart see the next one a cycle earlier each time.
fn bit_63(k: &mut Kernel, seen: u64) {
    const STRETCHES: i64 = 18;
    k.write(spr::MMCR1, CYCLES_ON_PMC3);
    k.a.load(R16, seen);
    k.a.load(
        R14,
        mmcr0(|m| {
            m.set_pmae(true);
            m.set_fcece(true);
            m.set_tbee(true);
            m.set_tbsel(0b11);
        }),
    );
    k.a.load(R12, 0);
    for stretch in 0..STRETCHES {
        let from = k.a.address();
        k.a.mtspr(spr::PMC1 + 2, R12);
        k.a.mtspr(spr::MMCR0, R14);
        nops(k, 20);
        k.a.mfspr(R3, spr::PMC1 + 2);
        k.a.std(R3, 8 * stretch, R16);
        while k.a.address() < from + 4 * 33 {
            k.a.nop();
        }
    }
    k.a.mfspr(R3, spr::MMCR0);
    k.check_is(
        "bit 63: PMAO and FC",
        R3,
        FC | mmcr0(|m| {
            m.set_pmao(true);
            m.set_fcece(true);
            m.set_tbee(true);
            m.set_tbsel(0b11);
        }),
    );
    k.write(spr::MMCR0, FC);
    for stretch in 0..STRETCHES {
        k.a.ld(R17, 8 * stretch, R16);
        k.check(&format!("bit 63: cycles to the transition in stretch {stretch}"), R17, 1, 16);
        if stretch > 0 {
            k.a.ld(R4, 8 * (stretch - 1), R16);
            k.a.subf(R3, R17, R4);
            k.a.andi_dot(R3, R3, 15);
            k.check_is(&format!("bit 63: less than in the stretch before {stretch}"), R3, 1);
        }
    }
}

/// PM_TB_BIT_TRANS counts the transitions of the chosen bit, with or without TBEE.
fn transitions(k: &mut Kernel) {
    k.write(spr::MMCR1, TRANSITIONS_ON_PMC3);
    // The mtspr, 2, 399 turns of 4, 1: 1600 cycles.
    counted(k, mmcr0(|m| m.set_tbsel(0b11)), |k| {
        repeat(k, 399, |k| nops(k, 3));
        nops(k, 1);
    });
    check_counter(k, "transitions of bit 63 in 1600 cycles", 3, 100);
    // The mtspr, 2, 1023 turns of 8, 5: 8192 cycles.
    counted(k, mmcr0(|m| m.set_tbsel(0b10)), |k| {
        repeat(k, 1023, |k| nops(k, 7));
        nops(k, 5);
    });
    check_counter(k, "transitions of bit 55 in 8192 cycles", 3, 2);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let seen = k.reserve(256);
    let handler = Handler::new(&mut k, 1);
    k.main();
    run_latch(&mut k, true);
    k.write(spr::MMCR1, INSTRUCTIONS);
    for period in [1, 2, 3, 10, 57] {
        once(&mut k, &handler, period);
    }
    again_and_again(&mut k, &handler);
    problem_state(&mut k, &handler, msr::PR, "problem, HV=0");
    problem_state(&mut k, &handler, msr::HV | msr::PR, "problem, HV=1");
    let negative = 0x8000_0000;
    // Those that are not negative count from 0, or are one short of it.
    several(&mut k, &handler, "PMC1 and PMC3", [10, 11, 10, 0, 0, 0], [negative, negative - 1, negative, 10, 10, 10]);
    several(&mut k, &handler, "PMC4", [0, 0, 0, 25, 26, 0], [25, 25, 25, negative, negative - 1, 25]);
    several(&mut k, &handler, "PMC5", [0, 0, 0, 0, 25, 0], [25, 25, 25, 25, negative, 25]);
    several(&mut k, &handler, "PMC6", [0, 0, 0, 0, 0, 9], [9, 9, 9, 9, 9, negative]);
    several(&mut k, &handler, "PMC5 and PMC6", [0, 0, 0, 0, 1, 1], [1, 1, 1, 1, negative, negative]);
    run_latch(&mut k, false);
    several(&mut k, &handler, "PMC5 without the run latch", [20, 0, 0, 0, 5, 0], [negative, 20, 20, 20, negative - 5, 0]);
    not_enabled(&mut k, &handler);
    bit_55(&mut k, &handler);
    bit_63(&mut k, seen);
    transitions(&mut k);
    k.end_main();
    k.finish()
}
