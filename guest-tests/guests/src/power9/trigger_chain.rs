//! `trigger-chain`: counters that wait for PMC1, and counters that count another's overflows.

use vm_pmu::arch::power9::encode::{EventCode, Options, encode};
use vm_pmu::arch::power9::spr;

use super::FC;
use super::counting::{INSTRUCTIONS, check_counter, clear_counters, mmcr0, nops, pmc, repeat, run_latch};
use super::handler::{Handler, MMCR0, NEGATIVE, SIAR, bit, counter, external};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, R3, R14, R15, R16, R17, R18};

const NEGATIVE_ZERO: u64 = 0x8000_0000;

/// The first documented use: PMC1 starts the others without an alert; when one of them is negative, all freeze.
fn let_go_then_freeze(k: &mut Kernel, handler: &Handler, alert: bool) {
    let go = mmcr0(|m| {
        m.set_trigger(true);
        m.set_pmcjce(true);
        m.set_fcece(true);
        m.set_pmae(alert);
    });
    handler.begin(k, FC, [10, 7, 0, 0, 0, 0]);
    k.a.load(R14, go);
    external(k, true);
    let first = k.a.address();
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, 40);
    external(k, false);
    let after = mmcr0(|m| {
        m.set_fc(true);
        m.set_pmcjce(true);
        m.set_fcece(true);
        m.set_pmao(alert);
    });
    // PMC1 is negative with the tenth instruction; PMC2 counts seven more, and so do all.
    let right = [NEGATIVE_ZERO + 7, NEGATIVE_ZERO, 7, 7, 7, 7];
    let said = |what: &str| format!("PMC1 lets go, {}: {what}", if alert { "PMAE=1" } else { "PMAE=0" });
    Handler::check_taken(k, &said("interrupts"), u64::from(alert));
    if alert {
        handler.check(k, &said("MMCR0"), 0, MMCR0, after);
        handler.check(k, &said("SIAR"), 0, SIAR, first + 4 * 16);
        handler.check(k, &said("what was negative"), 0, NEGATIVE, bit(1) | bit(2));
        for (n, count) in (1..).zip(right) {
            handler.check(k, &said(&format!("PMC{n}")), 0, counter(n), count);
        }
    } else {
        k.a.mfspr(R3, spr::MMCR0);
        k.check_is(&said("MMCR0"), R3, after);
        for (n, count) in (1..).zip(right) {
            check_counter(k, &said(&format!("PMC{n}")), n, count);
        }
    }
}

/// The second: PMC1 starts the others and alerts, nothing freezes; they count until the handler reads them. FCECE does not act on the
/// condition that ends TRIGGER.
fn let_go_and_alert(k: &mut Kernel, handler: &Handler, fcece: bool) {
    handler.begin(k, FC, [10, 0, 0, 0, 0, 0]);
    k.a.load(
        R14,
        mmcr0(|m| {
            m.set_trigger(true);
            m.set_pmc1ce(true);
            m.set_pmae(true);
            m.set_fcece(fcece);
        }),
    );
    external(k, true);
    let first = k.a.address();
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, 20);
    external(k, false);
    let said = |what: &str| format!("PMC1 lets go and alerts, FCECE={}: {what}", u8::from(fcece));
    Handler::check_taken(k, &said("interrupts"), 1);
    handler.check(k, &said("SIAR"), 0, SIAR, first + 4 * 9);
    handler.check(
        k,
        &said("MMCR0"),
        0,
        MMCR0,
        mmcr0(|m| {
            m.set_pmc1ce(true);
            m.set_pmao(true);
            m.set_fcece(fcece);
        }),
    );
    handler.check(k, &said("PMC1"), 0, counter(1), NEGATIVE_ZERO + handler.instructions_before(1));
    for n in 2..=5 {
        handler.check(k, &said(&format!("PMC{n}")), 0, counter(n), handler.instructions_before(n));
    }
    // The taken interrupt is a cycle, and belongs to the state before it.
    handler.check(k, &said("PMC6"), 0, counter(6), handler.instructions_before(6) + 1);
}

/// Selects `upper`, which counts overflows, together with `lower`, and has both count `instructions` from the values given.
fn chained(k: &mut Kernel, codes: &[u64], values: &[(u16, u64)], go: u64, instructions: u64) {
    let codes: Vec<EventCode> = codes.iter().map(|code| EventCode::from_bits(*code)).collect();
    if let Ok(encoding) = encode(&codes, Options::default()) {
        k.write(spr::MMCR1, encoding.mmcr1);
    }
    clear_counters(k);
    for (n, value) in values {
        k.write(pmc(*n), *value);
    }
    k.a.load(R14, go);
    k.a.load(R15, FC);
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, instructions - 1);
    k.a.mtspr(spr::MMCR0, R15);
}

/// The six pairs: a carry out of 32 bits of the lower one is 1 for the upper one.
fn pairs(k: &mut Kernel) {
    const PAIRS: [(u64, u16, u64, u16); 6] = [
        (0x1_0010, 1, 0x4_0002, 4),
        (0x2_0010, 2, 0x1_0002, 1),
        (0x3_0010, 3, 0x2_0002, 2),
        (0x4_0010, 4, 0x3_0002, 3),
        (0x1_0024, 1, 0x5_00FA, 5),
        (0x3_0024, 3, 0x6_00F4, 6),
    ];
    for (code, upper, lower_code, lower) in PAIRS {
        let said = |what: &str| format!("PMC{upper} behind PMC{lower}: {what}");
        chained(k, &[code, lower_code], &[(lower, 0xFFFF_FFFC)], 0, 3);
        check_counter(k, &said("the lower one short of its end"), lower, 0xFFFF_FFFF);
        check_counter(k, &said("the upper one then"), upper, 0);
        chained(k, &[code, lower_code], &[(lower, 0xFFFF_FFFC), (upper, 6)], 0, 4);
        check_counter(k, &said("the lower one at its end"), lower, 0);
        check_counter(k, &said("the upper one then"), upper, 7);
        // The sign of the lower one is data: crossing it is no overflow.
        chained(k, &[code, lower_code], &[(lower, 0x7FFF_FFFE)], 0, 8);
        check_counter(k, &said("the lower one past its sign"), lower, 0x8000_0006);
        check_counter(k, &said("the upper one then"), upper, 0);
    }
}

/// Alerts of a chain: the lower one has none, the upper one has.
fn alerts(k: &mut Kernel) {
    let go = mmcr0(|m| {
        m.set_pmae(true);
        m.set_fcece(true);
        m.set_pmc1ce(true);
        m.set_pmcjce(true);
    });
    let pair = [0x2_0010, 0x1_0002];
    chained(k, &pair, &[(1, 0x7FFF_FFFE)], go, 8);
    check_counter(k, "a chained PMC1 with its sign set counts on", 1, 0x8000_0006);
    chained(k, &pair, &[(1, 0xFFFF_FFF0), (2, 0x7FFF_FFFF)], go, 40);
    check_counter(k, "PMC2 negative by a carry freezes: PMC1", 1, 0);
    check_counter(k, "PMC2 negative by a carry freezes: PMC2", 2, NEGATIVE_ZERO);
    check_counter(k, "PMC2 negative by a carry freezes: PMC5", 5, 16);
}

/// One counter of 128 bits: a carry through all four.
fn whole_chain(k: &mut Kernel) {
    let last = 0xFFFF_FFFF;
    chained(k, &[0x1_0002, 0x2_0010, 0x3_0010, 0x4_0010], &[(1, last), (2, last), (3, last), (4, 5)], 0, 3);
    for (n, right) in (1..).zip([2, 0, 0, 6]) {
        check_counter(k, &format!("a carry through PMC1 to PMC4: PMC{n}"), n, right);
    }
}

/// A counter of 64 bits of PMC1 and PMC2, read as it runs: the upper half twice, until both are the same.
fn wide(k: &mut Kernel) {
    const START: u64 = 0x12_FFFF_FE00;
    if let Ok(encoding) = encode(&[EventCode::from_bits(0x1_0002), EventCode::from_bits(0x2_0010)], Options::default()) {
        k.write(spr::MMCR1, encoding.mmcr1);
    }
    k.write(pmc(1), START & 0xFFFF_FFFF);
    k.write(pmc(2), START >> 32);
    k.a.load(R14, 0);
    k.a.mtspr(spr::MMCR0, R14);
    // 2, and 249 turns of 4.
    repeat(k, 249, |k| nops(k, 3));
    let again = k.a.mark();
    k.a.mfspr(R16, pmc(2));
    k.a.mfspr(R17, pmc(1));
    k.a.mfspr(R18, pmc(2));
    k.a.cmpld(CR0, R16, R18);
    k.a.bne(again);
    k.a.load(R15, FC);
    k.a.mtspr(spr::MMCR0, R15);
    k.a.sldi(R16, R16, 32);
    k.a.or(R16, R16, R17);
    // The mtspr, the loop, and the read of the upper half before the lower one was read.
    k.check_is("64 bits read on the way", R16, START + 1 + 2 + 249 * 4 + 1);
    // The upper half is now 0x13.
    k.check_is("their upper half", R18, 0x13);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let handler = Handler::new(&mut k, 1);
    k.main();
    run_latch(&mut k, true);
    k.write(spr::MMCR1, INSTRUCTIONS);
    let_go_then_freeze(&mut k, &handler, true);
    let_go_then_freeze(&mut k, &handler, false);
    let_go_and_alert(&mut k, &handler, false);
    let_go_and_alert(&mut k, &handler, true);
    pairs(&mut k);
    alerts(&mut k);
    whole_chain(&mut k);
    wide(&mut k);
    k.end_main();
    k.finish()
}
