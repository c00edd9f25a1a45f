//! `trace`: branches under every filter, and other changes of the flow.

use crate::ia64::facts::Part;
use crate::ia64::trace::{self, ALL, Entry, Filters};
use crate::ia64::{Kernel, VECTORS};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{psr, vector};
use vm_pmu_engines::image::Image;

const PART: Part = Part::Montecito;
/// No branch passes, but everything else does.
const NO_BRANCHES: Filters = Filters { tm: 0b00, ptm: 0b00, ppm: 0b00, brt: 0b00 };

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    trace::build(PART, |k| {
        returns(k);
        checks(k);
        faults(k);
    })
}

/// `rfi`, at level 0.
fn returns(k: &mut Kernel) {
    for (name, filters) in [("rfi", ALL), ("rfi, no branches", NO_BRANCHES)] {
        let back = k.a.label();
        PART.empty(k);
        PART.trace(k, 0b0001, filters);
        k.clear_state(psr::IC);
        k.a.put(mov_from_psr(R16));
        k.a.load(R17, psr::IC | psr::BN | psr::UP);
        k.a.put(or(R16, R16, R17));
        k.a.load_address(R17, back);
        k.a.put(mov_to_cr(Cr::IIP, R17));
        k.a.put(mov_to_cr(Cr::IPSR, R16));
        k.a.put(mov_to_cr(Cr::IFS, R0));
        k.a.put(srlz_d());
        k.user_monitors(true);
        let rfi_at = k.a.address();
        k.a.put(rfi());
        k.nops(1);
        k.a.here(back);
        let back_at = k.a.address();
        k.user_monitors(false);
        PART.check_entries(k, name, &[Entry::Other(rfi_at, 2), Entry::Target(back_at)]);
    }
}

/// A check that fails, at level 0; one that holds makes no entry.
fn checks(k: &mut Kernel) {
    let data = k.reserve(8);
    k.a.load(R16, data);
    for fails in [true, false] {
        let mend = k.a.label();
        PART.empty(k);
        PART.trace(k, 0b0001, NO_BRANCHES);
        k.a.put(ld8_a(R17, R16));
        if fails {
            k.a.put(invala());
        }
        k.user_monitors(true);
        let check = k.a.address();
        k.a.put(chk_a_clr(R17, mend));
        k.nops(1);
        k.a.here(mend);
        let mend_at = k.a.address();
        k.user_monitors(false);
        let entries = [Entry::Other(check, 0), Entry::Target(mend_at)];
        PART.check_entries(k, "a check", if fails { &entries } else { &[] });
    }
}

/// A fault of user code, of which nothing else is traced at level 0.
fn faults(k: &mut Kernel) {
    let (code, over) = (k.a.label(), k.a.label());
    k.a.put(br_cond(over));
    k.a.here(code);
    k.a.put(sum(psr::UP));
    k.nops(1);
    let fault = k.a.address();
    k.system_call();
    k.a.here(over);
    PART.empty(k);
    PART.trace(k, 0b1000, NO_BRANCHES);
    k.enter_user(code, 0);
    PART.check_entries(k, "a fault", &[Entry::Other(fault, 0), Entry::Target(VECTORS + u64::from(vector::BREAK))]);
}
