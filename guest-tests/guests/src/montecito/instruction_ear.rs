//! `instruction-ear`: fetches from every level, and translations of code.

use crate::ia64::facts::Part;
use crate::ia64::instruction_ear;
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    instruction_ear::build(Part::Montecito)
}
