//! What guests share: stretches of code that are counted to the instruction.

use vm_pmu::arch::montecito::Pmc;

use crate::engine::itanium::assemble::*;
use crate::guests::itanium::Kernel;

/// Number of the first counter.
pub(super) const FIRST: u8 = 4;
/// Holds PMC0 with the freeze bit, in [`counted`].
const FREEZE: Gr = R7;

/// Privilege level 0, in PMC.plm.
pub(super) const KERNEL: u8 = 0b0001;
/// Privilege level 3, in PMC.plm.
pub(super) const USER: u8 = 0b1000;

/// What counts an event without unit mask, at these levels while PSR.up is set.
pub(super) fn selection(event: u8, levels: u8) -> Pmc {
    let mut pmc = Pmc::default();
    pmc.set_es(event);
    pmc.set_plm(levels);
    pmc.set_ism(0b10);
    pmc
}

/// Freezes the counters, programs them from PMC4 on, and clears them.
pub(super) fn program(k: &mut Kernel, selections: &[Pmc]) {
    k.write_pmc(0, 1);
    for (number, selection) in (FIRST..).zip(selections) {
        k.write_pmc(number, selection.bits());
        k.write_pmd(number, 0);
    }
    k.a.put(srlz_d());
}

/// Counts `body`, which keeps r7: the bundle that lets the counters go and those of `body`, and no more.
pub(super) fn counted(k: &mut Kernel, body: impl FnOnce(&mut Kernel)) {
    k.a.put(mov_imm(FREEZE, 1));
    k.a.put(mov_to_pmc(R0, R0));
    body(k);
    k.a.put(mov_to_pmc(R0, FREEZE));
    k.a.put(srlz_d());
}

/// Checks that a counter holds `right`.
pub(super) fn check_counter(k: &mut Kernel, label: &str, number: u8, right: u64) {
    k.read_pmd(R8, number);
    k.a.put(mov(R9, R8));
    k.check_is(label, R9, right);
}
