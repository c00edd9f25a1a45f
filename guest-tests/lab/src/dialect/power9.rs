//! POWER9: MMCR1 selects for four counters, MMCR0, MMCR2 and MMCRA rule them all (POWER9 PMU User's Guide, section 5.15 and appendix A).

mod control;
mod names;
mod posted;
mod program;
mod sample;
mod selection;

use vm_pmu::arch::event::{Catalogue, Entry};
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::power9::Pmc;
use vm_pmu::arch::power9::encode::EventCode;
use vm_pmu::arch::registry::Part;

use super::{Dialect, Numbering, Programming};
use crate::dialect::names::Names;
use crate::dialect::select::Request;
use crate::error::Error;
use crate::number::grouped;

/// POWER9's dialect.
pub(super) struct Power9;

/// The value from which a counter is negative.
const NEGATIVE: u64 = 0x8000_0000;
/// The values that a counter can hold.
const COUNTER_RANGE: u64 = 1 << 32;

impl Dialect for Power9 {
    fn manual(&self) -> &'static str {
        "POWER9 PMU UG"
    }

    fn unit_title(&self, unit: &str) -> &'static str {
        match unit {
            "core" => "what each thread of a core counts",
            "nest" => "what a chip posts into memory; a select is the offset in its region",
            "core-imc" => "what a core posts into memory; a select is the offset",
            "thread-imc" => "what a thread posts into memory; a select is the offset",
            _ => "",
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::FromMost
    }

    fn code(&self, event: &Entry) -> Option<u64> {
        event.offset.is_none().then_some(event.select.into())
    }

    fn counters(&self, event: &Entry) -> Vec<u32> {
        match EventCode::from_bits(event.select.into()).pmc() {
            _ if event.offset.is_some() => Vec::new(),
            0 => vec![1, 2, 3, 4],
            pmc => vec![pmc.into()],
        }
    }

    fn place(&self, counters: &[u32]) -> String {
        match counters {
            [only] => format!("PMC{only}"),
            [first, .., last] => format!("PMC{first}-{last}"),
            [] => String::new(),
        }
    }

    fn names(&self) -> Names {
        names::NAMES
    }

    fn modifiers(&self, event: &Entry) -> &'static str {
        if event.offset.is_some() { "" } else { program::TAKES }
    }

    fn label(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String> {
        match plain_name(register) {
            "MMCR1" => selection::label(field, value),
            "MMCR2" => control::label(field, value),
            "SIER" => sample::label(field, value),
            _ => None,
        }
    }

    fn meaning(&self, register: &RegisterDescription, field: &Field, value: u64) -> String {
        let said = match plain_name(register) {
            "MMCR0" => control::mmcr0(field, value),
            "MMCR1" => selection::meaning(field, value),
            "MMCR2" => control::mmcr2(field, value),
            "MMCRA" => sample::mmcra(field, value),
            "SIER" => sample::sier(field, value),
            "IMC" => Some(matched(value)),
            name if name.starts_with("PMC") => counter(field, value),
            _ => None,
        };
        said.unwrap_or_else(|| if field.of(value) == 0 { String::new() } else { field.summary.trim().to_owned() })
    }

    fn within(&self, register: &RegisterDescription, field: &Field) -> Vec<(String, Field)> {
        if plain_name(register) == "MMCR2" { control::within(field) } else { Vec::new() }
    }

    fn notation(&self, register: &RegisterDescription, value: u64) -> Option<String> {
        if plain_name(register) == "MMCR1" { selection::notation(value) } else { None }
    }

    fn encode(&self, part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        program::encode(part, requests)
    }
}

/// The name of the register that an address of problem state leads to.
fn plain_name(register: &RegisterDescription) -> &'static str {
    register.name.strip_prefix('U').unwrap_or(register.name)
}

fn counter(field: &Field, value: u64) -> Option<String> {
    let count = Pmc::of(value & (COUNTER_RANGE - 1)).bits();
    Some(match (field.name, count >= NEGATIVE) {
        ("CTR_NEG", true) => "negative".to_owned(),
        ("CTRDATA", true) if count == NEGATIVE => "negative: at its overflow".to_owned(),
        ("CTRDATA", true) => format!("negative: {} beyond its overflow", grouped(count - NEGATIVE)),
        ("CTRDATA", false) if count > 0 => format!("{} more until it is negative", grouped(NEGATIVE - count)),
        _ => String::new(),
    })
}

/// The bits 0:31 of IMC are compared, 32:63 are what they must be.
fn matched(value: u64) -> String {
    match value >> 32 {
        0 => "no instruction is compared".to_owned(),
        mask => format!("instructions whose bits {mask:#010x} are {:#010x}", value & mask),
    }
}

/// What follows the name of an event for its falling edges, in formulas of metrics.
pub const EDGES: &str = ".EDGES";
/// The bit of a code that counts falling edges.
pub const FALLS: u64 = 1;

/// The codes of the event called `name`, any of which counts it; none where it is posted into memory. A name followed by [`EDGES`] has the
/// codes of the event's falling edges.
#[must_use]
pub fn codes_of(catalogue: &Catalogue, name: &str) -> Vec<EventCode> {
    let (name, falls) = name.strip_suffix(EDGES).map_or((name, 0), |name| (name, FALLS));
    let coded = catalogue.events().filter(|event| event.offset.is_none() && event.is_called(name));
    coded.map(|event| EventCode::from_bits(u64::from(event.select) | falls)).collect()
}
