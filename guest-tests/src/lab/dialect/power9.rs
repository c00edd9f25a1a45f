//! POWER9: MMCR1 for all four counters together (POWER9 PMU User's Guide, section 5.15).

use vm_pmu_arch::layout::Field;
use vm_pmu_arch::model::RegisterDescription;
use vm_pmu_arch::registry::Part;

use super::{Dialect, Programming};
use crate::lab::error::Error;
use crate::lab::select::Request;

/// POWER9's dialect.
pub(super) struct Power9;

impl Dialect for Power9 {
    fn manual(&self) -> &'static str {
        "POWER9 PMU UG"
    }

    fn unit_title(&self, _unit: &str) -> &'static str {
        "what each thread of a core counts"
    }

    fn revisions(&self) -> Vec<&'static str> {
        vec!["2.3"]
    }

    fn label(&self, _register: &RegisterDescription, _field: &Field, _value: u64) -> Option<String> {
        None
    }

    fn meaning(&self, _register: &RegisterDescription, field: &Field, value: u64) -> String {
        if field.of(value) != 0 { field.summary.trim().to_owned() } else { String::new() }
    }

    fn notation(&self, _register: &RegisterDescription, _value: u64) -> Option<String> {
        None
    }

    fn encode(&self, _part: Part, _requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        Err(Error::usage("POWER9"))
    }
}
