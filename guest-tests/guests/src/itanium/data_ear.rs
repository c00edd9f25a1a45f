//! `data-ear`: loads from every level, and translations.

use crate::ia64::data_ear;
use crate::ia64::facts::Part;
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    data_ear::build(Part::Itanium, |_| {})
}
