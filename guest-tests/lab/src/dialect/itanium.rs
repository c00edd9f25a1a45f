//! The first Itanium: PMC4-7 select for a counter each, PMC8-13 constrain and capture (Itanium manual, sections 6.2.2 to 6.2.8).

mod monitors;
mod program;
mod selection;

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

use super::ia64::{self, counter_of, fields, words::Limits};
use super::{Dialect, Programming};
use crate::dialect::names::Names;
use crate::dialect::select::Request;
use crate::error::Error;

/// The first Itanium's dialect.
pub(super) struct Itanium;

/// What the part has.
const LIMITS: Limits = Limits { counters: 4..=7, bits: 32, threshold: 7, threads_and_states: false, ism: 0b10 };

/// What libpfm4 takes for cycles and for instructions; Linux had no event names for this part.
const GENERIC: &[(&str, &str)] = &[("cycles", "CPU_CYCLES"), ("instructions", "IA64_INST_RETIRED")];
/// What libpfm4 calls events by other names than the manual.
const ALSO: &[(&str, &str)] = &[("BRANCH_NOT_TAKEN", "BRANCH_TAKEN_SLOT.NOT_TAKEN")];

impl Dialect for Itanium {
    fn manual(&self) -> &'static str {
        "Itanium RM"
    }

    fn unit_title(&self, unit: &str) -> &'static str {
        ia64::unit_title(unit)
    }

    fn place(&self, counters: &[u32]) -> String {
        match counters {
            [only] => format!("PMC{only}"),
            [first, .., last] => format!("PMC{first}-{last}"),
            [] => String::new(),
        }
    }

    fn names(&self) -> Names {
        Names {
            pmu: |name| name.eq_ignore_ascii_case("itanium").then(String::new),
            generic: GENERIC,
            also: ALSO,
            family: ia64::names::family,
            ..Names::NONE
        }
    }

    fn modifiers(&self, _event: &Entry) -> &'static str {
        "u, k, plm=, pm, oi, ev, threshold=, pmc=, period=, code=, data=, opcode=, ear=, ism="
    }

    fn label(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String> {
        counter_of(register, &LIMITS).and_then(|_| selection::label(field, value))
    }

    fn meaning(&self, register: &RegisterDescription, field: &Field, value: u64) -> String {
        let said = match (register.address, counter_of(register, &LIMITS)) {
            (_, Some(counter)) => selection::meaning(counter, field, value),
            (Address::Pmc(number), None) => monitors::setting(number, field, value),
            (Address::Pmd(number), None) => monitors::captured(number, field, value),
            (Address::Ibr(number) | Address::Dbr(number), None) => fields::breakpoint(number, field, value),
            _ => None,
        };
        said.unwrap_or_else(|| if field.of(value) == 0 { String::new() } else { field.summary.trim().to_owned() })
    }

    fn reserved(&self, register: &RegisterDescription, _field: &Field, _value: u64) -> Option<String> {
        // What is above a count reads as copies of its highest bit, and a write of it has no effect.
        matches!(register.address, Address::Pmd(4..=7)).then(String::new)
    }

    fn notation(&self, register: &RegisterDescription, value: u64) -> Option<String> {
        counter_of(register, &LIMITS).and_then(|_| selection::notation(value))
    }

    fn encode(&self, part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        program::encode(part, requests)
    }
}
