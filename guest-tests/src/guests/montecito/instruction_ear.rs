//! `instruction-ear`: fetches from every level, and translations of code.

use crate::engine::image::Image;
use crate::engine::itanium::assemble::AssembleError;
use crate::guests::ia64::facts::Part;
use crate::guests::ia64::instruction_ear;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    instruction_ear::build(Part::Montecito)
}
