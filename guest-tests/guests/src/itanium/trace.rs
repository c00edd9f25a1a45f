//! `trace`: branches under every filter.

use crate::ia64::facts::Part;
use crate::ia64::trace;
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    trace::build(Part::Itanium, |_| {})
}
