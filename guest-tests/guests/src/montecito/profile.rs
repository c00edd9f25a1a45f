//! `profile`: where loads miss and where code loops, by samples of what was captured.

use crate::ia64::facts::Part;
use crate::ia64::profile;
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    profile::build(Part::Montecito)
}
