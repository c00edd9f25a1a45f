//! Montecito: PMC4-15 select for a counter each, PMC32-42 constrain and capture (Montecito manual, sections 3.3.2 to 3.3.10 and 4.15).

mod capture;
mod captures;
mod monitors;
mod program;
mod qualify;
mod selection;

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::montecito::{Pmc36, Pmc38, Pmc41};
use vm_pmu::arch::registry::Part;

use super::ia64::{self, counter_of, fields, words::Limits};
use super::{Dialect, Programming};
use crate::dialect::names::Names;
use crate::dialect::select::Request;
use crate::error::Error;

/// Montecito's dialect.
pub(super) struct Montecito;

/// What the part has.
const LIMITS: Limits = Limits { counters: 4..=15, bits: 47, threshold: 7, threads_and_states: true, ism: 0b10 };

/// What libpfm4 takes for cycles and for instructions; Linux had no event names for this part.
const GENERIC: &[(&str, &str)] = &[("cycles", "CPU_OP_CYCLES.ALL"), ("instructions", "IA64_INST_RETIRED.THIS")];
/// What libpfm4 calls events by other names than the manual.
const ALSO: &[(&str, &str)] =
    &[("BE_LOST_BW_DUE_TO_FE_IBFULL", "BE_LOST_BW_DUE_TO_FE:0x5"), ("IDEAL_BE_LOST_BW_DUE_TO_FE_IBFULL", "IDEAL_BE_LOST_BW_DUE_TO_FE:0x5")];

impl Dialect for Montecito {
    fn manual(&self) -> &'static str {
        "Montecito RM"
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
            pmu: |name| name.eq_ignore_ascii_case("montecito").then(String::new),
            generic: GENERIC,
            also: ALSO,
            family: ia64::names::family,
            ..Names::NONE
        }
    }

    fn modifiers(&self, _event: &Entry) -> &'static str {
        "u, k, plm=, pm, oi, ev, threshold=, pmc=, period=, code=, data=, opcode=, ear=, ism=, all, mesi="
    }

    fn label(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String> {
        counter_of(register, &LIMITS).and_then(|_| selection::label(field, value))
    }

    fn meaning(&self, register: &RegisterDescription, field: &Field, value: u64) -> String {
        let said = match (register.address, counter_of(register, &LIMITS)) {
            (_, Some(counter)) => selection::meaning(counter, field, value),
            (Address::Pmc(number), None) => monitors::meaning(number, field, value),
            (Address::Pmd(number), None) => captures::meaning(number, field, value),
            (Address::Ibr(number) | Address::Dbr(number), None) => fields::breakpoint(number, field, value),
            _ => None,
        };
        said.unwrap_or_else(|| if field.of(value) == 0 { String::new() } else { field.summary.trim().to_owned() })
    }

    fn reserved(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String> {
        let fixed = match register.address {
            Address::Pmc(36) => Pmc36::FIXED,
            Address::Pmc(38) => Pmc38::FIXED,
            Address::Pmc(41) => Pmc41::FIXED,
            // What is above a count reads as copies of its highest bit, and a write of it has no effect.
            Address::Pmd(4..=15) => return Some(String::new()),
            _ => return None,
        };
        let (wanted, is) = (field.of(fixed), field.of(value));
        let bits = if field.high == field.low { format!("bit {}", field.high) } else { format!("bits {}..{}", field.high, field.low) };
        Some(if wanted == is { String::new() } else { format!("{bits} must stay {wanted:#x}, and read so") })
    }

    fn notation(&self, register: &RegisterDescription, value: u64) -> Option<String> {
        counter_of(register, &LIMITS).and_then(|_| selection::notation(value))
    }

    fn encode(&self, part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        program::encode(part, requests)
    }
}
