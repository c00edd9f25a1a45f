//! `opcode`: both matchers.

use crate::engine::image::Image;
use crate::engine::itanium::assemble::AssembleError;
use crate::guests::ia64::facts::Part;
use crate::guests::ia64::opcode;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    opcode::build(Part::Itanium, |_| {})
}
