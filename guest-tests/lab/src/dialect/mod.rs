//! What the commands must know of a particular PMU: how its registers select events.
//!
//! A new PMU is one module that implements [`Dialect`] and one line in [`of`].

pub mod boxes;
mod ia64;
mod itanium;
mod k8;
mod knl;
mod letters;
mod matching;
mod montecito;
pub mod names;
mod numbering;
mod power9;
pub mod sections;
pub mod select;
mod x86;

pub use numbering::Numbering;
pub use power9::{EDGES, FALLS, codes_of};

use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::{Model, RegisterDescription};
use vm_pmu::arch::registry::Part;

use crate::error::Error;
use names::Names;
use select::Request;

/// The note about an event that nothing in this project supplies.
fn unsupplied_note(fidelity: Fidelity) -> Option<&'static str> {
    match fidelity {
        Fidelity::Exact | Fidelity::Approximate => None,
        Fidelity::Embedder => Some("neither engine nor companion reports it: it counts only what the emulator reports"),
        Fidelity::Injected => Some("no signal drives it: it counts only what the emulator injects"),
    }
}

/// How the registers of one PMU select events.
pub trait Dialect: Sync {
    /// The short name of the manual, as written before the number of a section.
    fn manual(&self) -> &'static str;

    /// What a unit of the part is, for a heading.
    fn unit_title(&self, unit: &str) -> &'static str;

    /// The registers: those of a thread, and those that threads share, if there are any.
    fn registers(&self, part: Part) -> &'static [RegisterDescription] {
        part.build().registers()
    }

    /// Which bit of a register the manual calls bit 0.
    fn numbering(&self) -> Numbering {
        Numbering::FromLeast
    }

    /// The code of an event, where a code is more than a select and unit masks.
    fn code(&self, _event: &Entry) -> Option<u64> {
        None
    }

    /// The numbers of the counters that take an event.
    fn counters(&self, event: &Entry) -> Vec<u32> {
        (0..u32::BITS).filter(|counter| event.counters & 1 << counter != 0).collect()
    }

    /// The text in a table for an event that only `counters` can count.
    fn place(&self, counters: &[u32]) -> String {
        format!("counters {}", counters.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
    }

    /// What other tools call events.
    fn names(&self) -> Names {
        Names::NONE
    }

    /// The modifiers that an event takes, as [`encode`](Dialect::encode) has them.
    fn modifiers(&self, event: &Entry) -> &'static str;

    /// The name of the value of `field`, if it has one.
    fn label(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String>;

    /// The meaning of `field` while `register` holds `value`, in one line; empty if it has none.
    fn meaning(&self, register: &RegisterDescription, field: &Field, value: u64) -> String;

    /// The fields within a field of a register that its [`meaning`](Dialect::meaning) names, each with its own name.
    fn within(&self, _register: &RegisterDescription, _field: &Field) -> Vec<(String, Field)> {
        Vec::new()
    }

    /// What is wrong with bits of a reserved field that are not as they must be, or nothing; `None` where reserved bits read as zero.
    fn reserved(&self, _register: &RegisterDescription, _field: &Field, _value: u64) -> Option<String> {
        None
    }

    /// The event that `register` selects while it holds `value`, as [`encode`](Dialect::encode) takes it; several are separated by blanks.
    /// Nothing if it selects none.
    fn notation(&self, register: &RegisterDescription, value: u64) -> Option<String>;

    /// The register writes that count `requests` in the counters of `part`, in the order of the requests.
    ///
    /// All writes, one after the other, are the program. What several events share is written with the first of them, and what starts
    /// them with the last.
    ///
    /// # Errors
    /// A word is unknown, there are too few counters, or the events cannot be counted together.
    fn encode(&self, part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error>;
}

/// The dialect of each part: one line for each PMU.
#[must_use]
pub fn of(part: Part) -> &'static dyn Dialect {
    match part {
        Part::K8(_) => &k8::K8,
        Part::Knl(_) => &knl::Knl,
        Part::Power9(_) => &power9::Power9,
        Part::Itanium(_) => &itanium::Itanium,
        Part::Montecito(_) => &montecito::Montecito,
    }
}

/// How one event is counted.
#[derive(Clone, Debug)]
pub struct Programming {
    /// The event with everything spelt out, as [`encode`](Dialect::encode) takes it; nothing if that is no event.
    pub event: Option<String>,
    /// The number of its counter.
    pub counter: u32,
    /// The writes, in the order to do them in.
    pub writes: Vec<Write>,
    /// What is worth knowing about it, a line each.
    pub notes: Vec<String>,
    /// In which of several meanings its name was taken, and how to say another, a line each.
    pub warnings: Vec<String>,
}

/// A write to a register.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The register.
    pub register: &'static RegisterDescription,
    /// The value.
    pub value: u64,
}

/// The register writes that count each of `events` on `part`, by the names of the catalogue or [of other tools](names).
///
/// # Errors
/// An event, unit mask or modifier is unknown, or there are too few counters.
pub fn program(part: Part, events: &[impl AsRef<str>]) -> Result<Vec<Programming>, Error> {
    let taken = events.iter().map(|text| names::taken(part, text.as_ref())).collect::<Result<Vec<_>, _>>()?;
    let requests = taken.iter().map(|taken| Request::new(&taken.text)).collect::<Result<Vec<_>, _>>()?;
    let mut program = of(part).encode(part, &requests)?;
    for (programming, taken) in program.iter_mut().zip(taken.iter()) {
        programming.warnings.extend(taken.warnings.iter().cloned());
    }
    Ok(program)
}
