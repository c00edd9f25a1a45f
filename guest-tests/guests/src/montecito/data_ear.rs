//! `data-ear`: loads from every level, translations, and checks of advanced loads that fail.

use vm_pmu::arch::montecito::{Pmc40, Pmd33};

use crate::ia64::Kernel;
use crate::ia64::data_ear::{self, CAPTURED};
use crate::ia64::facts::Part;
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::image::Image;

const PART: Part = Part::Montecito;
/// How often each check is executed.
const TIMES: u64 = 6;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    data_ear::build(PART, alat)
}

/// Captures of checks at level 0.
fn alat(k: &mut Kernel) {
    let mut pmc = Pmc40::default();
    pmc.set_plm(0b0001);
    pmc.set_mode(0b10);
    pmc.set_ism(0b10);
    k.write_pmc(40, pmc.bits());
    k.write_pmc(4, PART.counter(CAPTURED, 0b0001, false));
    let data = k.reserve(64);
    check_loads(k, data);
    checks(k, data);
}

/// PMD33 after a check.
fn failed() -> u64 {
    let mut pmd = Pmd33::default();
    pmd.set_stat(0b01);
    pmd.bits()
}

/// A check load fails after a store to its address, and is captured with the address that it then loads.
fn check_loads(k: &mut Kernel, data: u64) {
    for (stored, captured) in [(data, TIMES), (data + 8, 0)] {
        k.write_pmd(4, 0);
        k.a.load(R16, data);
        k.a.load(R17, stored);
        let mut check = 0;
        k.repeat(TIMES, |k| {
            k.a.put(ld8_a(R20, R16));
            k.a.put(st8(R17, R0));
            check = k.a.address();
            k.a.bundle(Template::MMI_S, [nop(0), ld8_c_clr(R20, R16), nop(0)]);
        });
        k.read_pmd(R18, 4);
        k.check_is(if captured == 0 { "check loads that hold" } else { "check loads that fail" }, R18, captured);
        if captured != 0 {
            let values = [data, failed(), PART.captured_instruction(check, 1)];
            data_ear::check_registers(k, PART, "the last check load", values, false);
        }
    }
}

/// A check fails in the same way, and branches to the recovery code.
fn checks(k: &mut Kernel, data: u64) {
    for (stored, captured) in [(data, TIMES), (data + 8, 0)] {
        k.write_pmd(4, 0);
        k.a.load(R16, data);
        k.a.load(R17, stored);
        let mut check = 0;
        k.repeat(TIMES, |k| {
            let mend = k.a.label();
            k.a.put(ld8_a(R20, R16));
            k.a.put(st8(R17, R0));
            check = k.a.address();
            k.a.put(chk_a_clr(R20, mend));
            k.a.here(mend);
            k.nops(1);
        });
        k.read_pmd(R18, 4);
        k.check_is(if captured == 0 { "checks that hold" } else { "checks that fail" }, R18, captured);
        if captured != 0 {
            k.read_pmd(R18, 33);
            k.check_is("the last check: latency and source", R18, failed());
            k.read_pmd(R18, 36);
            k.check_is("the last check: instruction", R18, PART.captured_instruction(check, 0));
        }
    }
}
