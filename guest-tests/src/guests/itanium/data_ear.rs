//! `data-ear`: loads from every level, and translations.

use crate::engine::image::Image;
use crate::engine::itanium::assemble::AssembleError;
use crate::guests::ia64::data_ear;
use crate::guests::ia64::facts::Part;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    data_ear::build(Part::Itanium, |_| {})
}
