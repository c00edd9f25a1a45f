//! `masked`: alerts while interrupts are disabled, and alerts that software makes.

use vm_pmu::arch::power9::{Mmcr0, spr};

use super::FC;
use super::counting::{INSTRUCTIONS, mmcr0, nops, pmc};
use super::handler::{GOES_ON, Handler, MMCR0, NEGATIVE, SIAR, bit, counter, external};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, R3, R5, R14, R15};

/// Alerts by PMC1, which freeze or do not.
fn alerting(fcece: bool) -> u64 {
    mmcr0(|m| {
        m.set_pmae(true);
        m.set_pmc1ce(true);
        m.set_pmcjce(true);
        m.set_fcece(fcece);
    })
}

/// MMCR0 after an alert that froze.
fn alerted() -> u64 {
    let mut value = Mmcr0::of(alerting(true));
    value.set_pmae(false);
    value.set_pmao(true);
    value.set_fc(true);
    value.bits()
}

/// PMAE is polled while MSR[EE]=0; then interrupts are enabled, and the alert is still there.
fn polled(k: &mut Kernel, handler: &Handler) {
    handler.begin(k, FC, [100, 0, 0, 0, 0, 0]);
    k.a.load(R14, alerting(true));
    let first = k.a.address();
    k.a.mtspr(spr::MMCR0, R14);
    let poll = k.a.mark();
    k.a.mfspr(R3, spr::MMCR0);
    // PMAE is bit 37, of which the upper half of a word has bit 5.
    k.a.andis_dot(R3, R3, 1 << (15 - 5));
    k.a.bne(poll);
    k.a.mfspr(R3, spr::MMCR0);
    k.check_is("polled: MMCR0", R3, alerted());
    Handler::check_taken(k, "polled: interrupts while EE=0", 0);
    // 33 turns of three after the mtspr: the branch of the last is the hundredth.
    k.a.mfspr(R5, spr::SIAR);
    k.check_is("polled: SIAR", R5, first + 4 * 3);
    external(k, true);
    let behind = k.a.address();
    external(k, false);
    Handler::check_taken(k, "polled: interrupts once EE=1", 1);
    handler.check(k, "polled: where it was taken", 0, GOES_ON, behind);
    handler.check(k, "polled: SIAR in the handler", 0, SIAR, first + 4 * 3);
    handler.check(k, "polled: MMCR0 in the handler", 0, MMCR0, alerted());
    handler.check(k, "polled: PMC2 in the handler", 0, counter(2), 100);
}

/// The alert is taken back before interrupts are enabled.
fn cleared(k: &mut Kernel, handler: &Handler) {
    handler.begin(k, FC, [10, 0, 0, 0, 0, 0]);
    k.a.load(R14, alerting(true));
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, 20);
    k.a.mfspr(R3, spr::MMCR0);
    k.check_is("cleared: MMCR0 before", R3, alerted());
    k.write(spr::MMCR0, FC);
    external(k, true);
    nops(k, 3);
    external(k, false);
    Handler::check_taken(k, "cleared: interrupts", 0);
}

/// A second condition while the first is pending is no second alert.
fn not_stacked(k: &mut Kernel, handler: &Handler) {
    handler.begin(k, FC, [5, 10, 0, 0, 0, 0]);
    k.a.load(R14, alerting(false));
    k.a.load(R15, FC | mmcr0(|m| m.set_pmao(true)));
    let first = k.a.address();
    k.a.mtspr(spr::MMCR0, R14);
    nops(k, 29);
    k.a.mtspr(spr::MMCR0, R15);
    external(k, true);
    nops(k, 3);
    external(k, false);
    Handler::check_taken(k, "two conditions: interrupts", 1);
    handler.check(k, "two conditions: what was negative", 0, NEGATIVE, bit(1) | bit(2));
    handler.check(k, "two conditions: SIAR is of the first", 0, SIAR, first + 4 * 4);
    // Nothing froze them: 30 instructions.
    handler.check(k, "two conditions: PMC1", 0, counter(1), 0x8000_0000 + 25);
    handler.check(k, "two conditions: PMC2", 0, counter(2), 0x8000_0000 + 20);
}

/// PMAO written as 1 is an alert, at once or when interrupts are enabled.
fn by_software(k: &mut Kernel, handler: &Handler) {
    let fake = FC | mmcr0(|m| m.set_pmao(true));
    for enabled in [true, false] {
        handler.begin(k, FC, [0; 6]);
        k.a.load(R14, fake);
        external(k, enabled);
        k.a.mtspr(spr::MMCR0, R14);
        let mut behind = k.a.address();
        if !enabled {
            nops(k, 4);
            external(k, true);
            behind = k.a.address();
        }
        nops(k, 2);
        external(k, false);
        let said = |what: &str| format!("PMAO by software, EE={}: {what}", u8::from(enabled));
        Handler::check_taken(k, &said("interrupts"), 1);
        handler.check(k, &said("where it was taken"), 0, GOES_ON, behind);
        handler.check(k, &said("MMCR0"), 0, MMCR0, fake);
        handler.check(k, &said("nothing negative"), 0, NEGATIVE, 0);
    }
}

/// A negative value is a condition as long as it lasts: alerts that are enabled come at once, though nothing counts.
fn standing(k: &mut Kernel, handler: &Handler) {
    let go = alerting(true) | FC;
    // Enabled with PMC1 negative.
    handler.begin(k, FC, [0; 6]);
    k.write(pmc(1), 0x8000_0005);
    k.a.load(R14, go);
    external(k, true);
    k.a.mtspr(spr::MMCR0, R14);
    let behind = k.a.address();
    nops(k, 2);
    external(k, false);
    Handler::check_taken(k, "enabled with PMC1 negative: interrupts", 1);
    handler.check(k, "enabled with PMC1 negative: where", 0, GOES_ON, behind);
    handler.check(k, "enabled with PMC1 negative: PMC1", 0, counter(1), 0x8000_0005);
    handler.check(k, "enabled with PMC1 negative: MMCR0", 0, MMCR0, alerted());
    // PMC4 becomes negative by a write.
    handler.begin(k, FC, [0; 6]);
    k.a.load(R14, go);
    k.a.mtspr(spr::MMCR0, R14);
    k.a.load(R3, 0xFFFF_FFFF);
    external(k, true);
    k.a.mtspr(pmc(4), R3);
    let behind = k.a.address();
    nops(k, 2);
    external(k, false);
    Handler::check_taken(k, "PMC4 written negative: interrupts", 1);
    handler.check(k, "PMC4 written negative: where", 0, GOES_ON, behind);
    handler.check(k, "PMC4 written negative: what", 0, NEGATIVE, bit(4));
    // Without its bit it is no condition.
    handler.begin(k, FC, [0; 6]);
    k.write(pmc(1), 0x8000_0000);
    external(k, true);
    k.write(
        spr::MMCR0,
        FC | mmcr0(|m| {
            m.set_pmae(true);
            m.set_pmcjce(true);
        }),
    );
    nops(k, 2);
    external(k, false);
    Handler::check_taken(k, "PMC1 negative, PMC1CE=0: interrupts", 0);
    k.write(spr::MMCR0, FC);
}

/// A handler that writes every negative counter anew may enable alerts at once.
fn attended(k: &mut Kernel, handler: &Handler) {
    handler.begin(k, alerting(true) | FC, [0; 6]);
    k.a.load(R14, alerting(true) | FC);
    k.write(pmc(2), 0x8000_0000);
    k.a.mtspr(spr::MMCR0, R14);
    // PMC3 becomes negative while the alert of PMC2 is pending.
    k.write(pmc(3), 0x8000_0001);
    external(k, true);
    let behind = k.a.address();
    nops(k, 2);
    external(k, false);
    Handler::check_taken(k, "both written by the handler: interrupts", 1);
    handler.check(k, "both written by the handler: what", 0, NEGATIVE, bit(2) | bit(3));
    handler.check(k, "both written by the handler: where", 0, GOES_ON, behind);
    k.a.mfspr(R3, spr::MMCR0);
    k.check_is("both written by the handler: alerts stay enabled", R3, alerting(true) | FC);
    k.write(spr::MMCR0, FC);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let handler = Handler::new(&mut k, 1);
    k.main();
    k.write(spr::MMCR1, INSTRUCTIONS);
    polled(&mut k, &handler);
    cleared(&mut k, &handler);
    not_stacked(&mut k, &handler);
    by_software(&mut k, &handler);
    standing(&mut k, &handler);
    attended(&mut k, &handler);
    k.end_main();
    k.finish()
}
