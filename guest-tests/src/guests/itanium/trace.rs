//! `trace`: branches under every filter.

use crate::engine::image::Image;
use crate::engine::itanium::assemble::AssembleError;
use crate::guests::ia64::facts::Part;
use crate::guests::ia64::trace;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    trace::build(Part::Itanium, |_| {})
}
