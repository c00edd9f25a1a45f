//! `count`: instructions and cycles.

use vm_pmu::arch::montecito::Pmc;

use crate::engine::image::Image;
use crate::engine::itanium::assemble::{AssembleError, R4};
use crate::guests::ia64::Kernel;

/// IA64_INST_RETIRED.
const INSTRUCTIONS: u8 = 0x08;
/// CPU_OP_CYCLES.
const CYCLES: u8 = 0x12;

/// A user monitor at privilege level 0 of this event.
fn pmc(event: u8) -> u64 {
    let mut pmc = Pmc::default();
    pmc.set_plm(0b0001);
    pmc.set_es(event);
    pmc.set_ism(0b10);
    pmc.bits()
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    k.main();
    k.write_pmc(4, pmc(INSTRUCTIONS));
    k.write_pmc(10, pmc(CYCLES));
    k.write_pmd(4, 0);
    k.write_pmd(10, 0);
    k.user_monitors(true);
    k.nops(10);
    k.user_monitors(false);
    // Two behind sum, 30 in the bundles of no-operations, and rum.
    k.read_pmd(R4, 4);
    k.check_is("instructions", R4, 2 + 30 + 1);
    // A bundle is a cycle: the ten, and that of rum.
    k.read_pmd(R4, 10);
    k.check_is("cycles", R4, 11);
    k.end_main();
    k.finish()
}
