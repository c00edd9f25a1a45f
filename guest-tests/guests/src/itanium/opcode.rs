//! `opcode`: both matchers.

use crate::ia64::facts::Part;
use crate::ia64::opcode;
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    opcode::build(Part::Itanium, |_| {})
}
