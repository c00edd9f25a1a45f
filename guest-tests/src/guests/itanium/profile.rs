//! `profile`: where loads miss and where code loops, by samples of what was captured.

use crate::engine::image::Image;
use crate::engine::itanium::assemble::AssembleError;
use crate::guests::ia64::facts::Part;
use crate::guests::ia64::profile;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    profile::build(Part::Itanium)
}
