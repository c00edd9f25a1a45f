//! `profile`: where loads miss, by samples of the data event-address registers.

use crate::engine::image::Image;
use crate::engine::itanium::assemble::AssembleError;
use crate::guests::ia64::facts::Part;
use crate::guests::ia64::profile;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    profile::build(Part::Itanium)
}
