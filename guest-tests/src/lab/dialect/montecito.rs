//! Montecito: PMC4-15 select for a counter each (Montecito manual, sections 3.3.2 and 4.15).

use vm_pmu_arch::layout::Field;
use vm_pmu_arch::model::RegisterDescription;
use vm_pmu_arch::montecito::Revision;
use vm_pmu_arch::registry::Part;

use super::{Dialect, Programming};
use crate::lab::error::Error;
use crate::lab::select::Request;

/// Montecito's dialect.
pub(super) struct Montecito;

impl Dialect for Montecito {
    fn manual(&self) -> &'static str {
        "Montecito RM"
    }

    fn unit_title(&self, _unit: &str) -> &'static str {
        ""
    }

    fn revisions(&self) -> Vec<&'static str> {
        Revision::ALL.iter().map(|revision| revision.letter()).collect()
    }

    fn label(&self, _register: &RegisterDescription, _field: &Field, _value: u64) -> Option<String> {
        None
    }

    fn meaning(&self, _register: &RegisterDescription, _field: &Field, _value: u64) -> String {
        String::new()
    }

    fn notation(&self, _register: &RegisterDescription, _value: u64) -> Option<String> {
        None
    }

    fn encode(&self, _part: Part, _requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        Ok(Vec::new())
    }
}
