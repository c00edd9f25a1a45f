//! What a word means, in the form that programs read.

use serde::Serialize;

use super::access::Access;

/// The place of what no counter counts.
pub(super) const POSTED: &str = "posted into memory";

/// What a word means.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Meaning {
    /// An event, or a unit mask of one.
    Event(EventMeaning),
    /// A register.
    Register(RegisterMeaning),
    /// A field of a register.
    Field(FieldMeaning),
    /// A signal.
    Signal(SignalMeaning),
    /// A metric.
    Metric(MetricMeaning),
    /// A value of an event select.
    Select(SelectMeaning),
}

/// A litmus file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tested {
    /// Its path within the suite.
    pub file: String,
    /// The rule that it checks.
    pub title: String,
    /// The section that it cites.
    pub section: String,
}

/// An event, or a unit mask of one.
#[derive(Clone, Debug, Serialize)]
pub struct EventMeaning {
    /// The PMU.
    pub pmu: &'static str,
    /// The unit of the part.
    pub unit: &'static str,
    /// Its name.
    pub name: &'static str,
    /// All that the word means, where that is more than this event: unit masks, as `encode` takes it.
    pub taken: Option<String>,
    /// Whether it has a counter that counts nothing else.
    pub fixed: bool,
    /// Its codes, each with the counters that take it.
    pub codes: Vec<Code>,
    /// What it counts.
    pub summary: &'static str,
    /// `events`, `cycles` or `bytes`.
    pub counts: &'static str,
    /// How nearly it counts what the part does.
    pub fidelity: &'static str,
    /// What drives it, and what reports that.
    pub driven_by: String,
    /// The signals.
    pub signals: Vec<&'static str>,
    /// How an approximate count differs.
    pub rule: Option<&'static str>,
    /// Its unit masks: number, name, summary.
    pub unit_masks: Vec<UnitMask>,
    /// What restricts it.
    pub restrictions: String,
    /// The modifiers that it takes.
    pub modifiers: &'static str,
    /// The manual and its section.
    pub section: String,
    /// What other tools call it, those of Linux first.
    pub names: Vec<String>,
    /// How perf selects it by its code; nothing where perf has no driver of the part.
    pub perf: Option<String>,
    /// The litmus files that select it.
    pub litmus: Vec<Tested>,
}

/// A code of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// The code, or the event select; what is posted has its offset.
    pub code: u64,
    /// The counters that take it, in words.
    pub place: String,
}

/// A unit mask.
#[derive(Clone, Debug, Serialize)]
pub struct UnitMask {
    /// Its number.
    pub umask: u32,
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub summary: &'static str,
}

/// A register.
#[derive(Clone, Debug, Serialize)]
pub struct RegisterMeaning {
    /// The PMU.
    pub pmu: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its address, as the command line takes it.
    pub address: String,
    /// Its address, in words.
    pub place: String,
    /// Its fields.
    pub fields: Vec<FieldRow>,
    /// Registers of the same layout.
    pub alike: Vec<&'static str>,
    /// Who may access it.
    pub access: Vec<Access>,
    /// Where it is described.
    pub section: &'static str,
    /// The litmus files that access it.
    pub litmus: Vec<Tested>,
}

/// A field in a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldRow {
    /// Its name.
    pub name: String,
    /// Its bits, as the manual numbers them.
    pub bits: String,
    /// What a write does: `read-write`, `read-only`, `reserved` or `must be zero`.
    pub access: &'static str,
    /// What it is.
    pub summary: &'static str,
}

/// A field.
#[derive(Clone, Debug, Serialize)]
pub struct FieldMeaning {
    /// The PMU.
    pub pmu: &'static str,
    /// The registers that have it.
    pub registers: Vec<&'static str>,
    /// The field.
    #[serde(flatten)]
    pub field: FieldRow,
    /// What a register that holds the field alone says of it.
    pub set: String,
    /// The mask of its bits in the register, in hexadecimal.
    pub mask: String,
    /// Where its register is described.
    pub section: &'static str,
    /// The litmus files that set it, or see it set.
    pub litmus: Vec<Tested>,
}

/// A signal.
#[derive(Clone, Debug, Serialize)]
pub struct SignalMeaning {
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub number: usize,
    /// What it counts.
    pub summary: &'static str,
    /// `event`, `state` or `level`.
    pub of: &'static str,
    /// What it drives on each PMU, and what reports it there.
    pub drives: Vec<Driven>,
    /// The litmus files that report it.
    pub litmus: Vec<Tested>,
}

/// What a signal drives on a PMU.
#[derive(Clone, Debug, Serialize)]
pub struct Driven {
    /// The PMU.
    pub pmu: &'static str,
    /// What reports the signal: `engine`, `companion`, or `embedder`.
    pub reported_by: String,
    /// The events and unit masks.
    pub events: Vec<&'static str>,
}

/// A metric.
#[derive(Clone, Debug, Serialize)]
pub struct MetricMeaning {
    /// The PMU.
    pub pmu: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub summary: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// The manual and its table.
    pub section: String,
}

/// A value of an event select.
#[derive(Clone, Debug, Serialize)]
pub struct SelectMeaning {
    /// The PMU.
    pub pmu: &'static str,
    /// The register that would hold it.
    pub register: &'static str,
    /// The value in hexadecimal.
    pub value: String,
    /// What it selects, as `encode` takes it.
    pub selects: String,
}

impl Meaning {
    /// A line about it: name and kind.
    #[must_use]
    pub fn heading(&self) -> String {
        match self {
            Meaning::Event(event) => {
                let codes: Vec<String> = event.codes.iter().map(|code| format!("{:#x}", code.code)).collect();
                let what = if event.unit_masks.is_empty() && event.name.contains('.') { "a unit mask" } else { "an event" };
                let code = match codes.len() {
                    _ if event.fixed => "on a fixed counter".to_owned(),
                    4.. => format!("{} codes", codes.len()),
                    _ => codes.join(", "),
                };
                format!("{}: {what} of {} ({}), {code}", event.name, event.pmu, event.unit)
            }
            Meaning::Register(register) if register.place == register.name => {
                format!("{}: a register of {}, {}", register.name, register.pmu, register.address)
            }
            Meaning::Register(register) => {
                format!("{}: a register of {}, {} ({})", register.name, register.pmu, register.place, register.address)
            }
            Meaning::Field(field) => {
                let (noun, bits) =
                    if field.field.bits.contains([':', '.']) { ("bits", &field.field.bits) } else { ("bit", &field.field.bits) };
                format!("{}: a field of {} of {}, {noun} {bits}", field.field.name, some(&field.registers, 4), field.pmu)
            }
            Meaning::Signal(signal) => format!("{}: a signal, number {}", signal.name, signal.number),
            Meaning::Metric(metric) => format!("{}: a metric of {}", metric.name, metric.pmu),
            Meaning::Select(select) => format!("{}: a value of {} of {}", select.value, select.register, select.pmu),
        }
    }
}

/// The first `most` of some names, and how many more there are.
#[must_use]
pub fn some(names: &[&str], most: usize) -> String {
    match names.len().checked_sub(most) {
        Some(more @ 1..) => format!("{} and {more} more", names[..most].join(", ")),
        _ => names.join(", "),
    }
}
