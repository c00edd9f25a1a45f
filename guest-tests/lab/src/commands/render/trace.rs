//! What passed between a guest and its PMU, a line each, and what each write changed.

use std::io::Write;

use serde::Serialize;
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

use crate::commands::decode::{Decoded, DecodedField};
use crate::dialect::select;
use crate::error::Error;
use crate::number::grouped;
use crate::output::Output;
use crate::report::{Action, Check, Trace};
use crate::symbols::Place;
use crate::text;

/// A field that a write changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The manual's name.
    pub field: &'static str,
    /// Its bits, as the manual numbers them.
    pub bits: String,
    /// Its value before.
    pub before: u64,
    /// Its value as written.
    pub after: u64,
    /// What that says, or nothing.
    pub meaning: String,
    #[serde(skip)]
    shown: String,
}

impl Change {
    /// Its field, and the value before and after.
    #[must_use]
    pub fn shown(&self) -> String {
        self.shown.clone()
    }
}

/// An entry, with the fields that it changed, for programs.
#[derive(Serialize)]
pub struct Entry<'a> {
    #[serde(flatten)]
    entry: &'a Trace,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Vec<Change>>,
    /// The fields in which a register differs from what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    differs: Option<Vec<Change>>,
}

impl<'a> Entry<'a> {
    /// An entry of a guest of `part`.
    #[must_use]
    pub fn new(part: Option<Part>, entry: &'a Trace) -> Entry<'a> {
        Entry {
            entry,
            changed: part.and_then(|part| changes(part, &entry.action)),
            differs: part.and_then(|part| differences(part, &entry.action)),
        }
    }
}

/// The fields that a write of a known register changed; `None` of anything else. Reserved fields are left out.
#[must_use]
pub fn changes(part: Part, action: &Action) -> Option<Vec<Change>> {
    let Action::Write { register, before: Some(before), value, .. } = action else { return None };
    between(part, register, [*before, *value])
}

/// The fields in which a register is another behind a write than what was written.
fn differences(part: Part, action: &Action) -> Option<Vec<Change>> {
    let Action::Write { register, value, after: Some(after), .. } = action else { return None };
    between(part, register, [*value, *after])
}

/// The fields in which two values of a register differ.
fn between(part: Part, register: &str, values: [u64; 2]) -> Option<Vec<Change>> {
    let description = select::register(part, register).ok()?;
    let [old, new] = values.map(|value| Decoded::new(part, description, value));
    let pairs = old.fields.iter().zip(&new.fields).filter(|(old, new)| old.value != new.value && !new.reserved);
    let change = |(old, new): (&DecodedField, &DecodedField)| Change {
        field: new.name,
        bits: new.bits.clone(),
        before: old.value,
        after: new.value,
        meaning: new.meaning.clone(),
        shown: format!("{} {} → {}", new.name, old.digits(), new.digits()),
    };
    Some(pairs.map(change).collect())
}

/// Shows `trace`: after how many instructions, where, and what it was, in the words of `pmu`'s manual; with `changed`, also the fields that each
/// write changed; and where, if `place` knows what lies there.
///
/// # Errors
/// The output cannot be written.
pub fn trace<'a>(
    pmu: &str,
    trace: &[&Trace],
    changed: bool,
    place: impl Fn(u64) -> Option<&'a Place>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let part = select::part(pmu).ok();
    let several = trace.iter().any(|one| one.thread != 0);
    let instructions: Vec<String> = trace.iter().map(|one| grouped(one.instruction)).collect();
    let width = text::widest(instructions.iter().map(String::as_str)).max(INSTRUCTION.len());
    writeln!(output, "  {INSTRUCTION:>width$}  access or interrupt")?;
    for (one, instruction) in trace.iter().zip(&instructions) {
        let thread = if several { format!("CPU {}: ", one.thread) } else { String::new() };
        let (what, meaning) = words(part, &one.action, one.address);
        let meaning = match place(one.address) {
            Some(place) if meaning.is_empty() => format!("at {place}"),
            Some(place) => format!("{meaning}; at {place}"),
            None => meaning,
        };
        let lead = format!("  {instruction:>width$}  {thread}{what:<32}");
        let beside = text::columns(&lead) + 2;
        let below = width + 6;
        // A line leaves room for some words, and for the longest of them.
        let longest = text::widest(meaning.split_whitespace()).max(24);
        let indent = if beside + longest > output.width { below } else { beside };
        for line in text::hanging(&lead, indent, &meaning, output.width) {
            writeln!(output, "{}", line.trim_end())?;
        }
        let changes = part.filter(|_| changed).and_then(|part| changes(part, &one.action));
        for line in fields(part, &one.action, &changes.unwrap_or_default(), output.width - below) {
            writeln!(output, "{:below$}{line}", "")?;
        }
        // That bits which the register lacks are not there is no news.
        let differences = part.and_then(|part| differences(part, &one.action)).unwrap_or_default();
        if let Action::Write { after: Some(after), .. } = one.action
            && !differences.is_empty()
        {
            let lines = fields(part, &one.action, &differences, output.width - below - 4);
            writeln!(output, "{:below$}holds {after:#x} after it", "")?;
            for line in lines {
                writeln!(output, "{:below$}    {line}", "")?;
            }
        }
    }
    Ok(())
}

/// The changes of a register of several fields, as lines. A register of one field says all in its first line.
fn fields(part: Option<Part>, action: &Action, changes: &[Change], width: usize) -> Vec<String> {
    let description = action.register().and_then(|name| select::register(part?, name).ok());
    let reserved = |field: &&Field| matches!(field.access, FieldAccess::Reserved | FieldAccess::MustBeZero) || field.name == "Reserved";
    let single = |register: &RegisterDescription| register.fields.iter().filter(|field| !reserved(field)).count() < 2;
    if changes.is_empty() || description.is_none_or(single) {
        return Vec::new();
    }
    // A change is not broken: its blanks are put back when the line is full.
    const BLANK: &str = "\u{a0}";
    let words: Vec<String> = changes.iter().map(|change| change.shown.replace(' ', BLANK)).collect();
    text::wrap_unbroken(&words.join(", "), width).into_iter().map(|line| line.replace(BLANK, " ")).collect()
}

/// The head of the column that counts instructions.
const INSTRUCTION: &str = "instruction";

/// What passed, and what that says or where it was.
pub(crate) fn words(part: Option<Part>, action: &Action, address: u64) -> (String, String) {
    // A recording does not say where the guest was.
    let before = || if address == 0 { String::new() } else { format!("before the instruction at {address:#x}") };
    let refused =
        || if address == 0 { "refused: it faults".to_owned() } else { format!("refused: the instruction at {address:#x} faults") };
    match action {
        Action::Write { register, value, before, .. } => {
            let meaning = meaning(part, register, *value);
            let same = *before == Some(*value);
            (format!("{register} := {value:#x}"), if same && meaning.is_empty() { "as it was".to_owned() } else { meaning })
        }
        Action::Read { register, value } => (format!("{register} reads {value:#x}"), String::new()),
        Action::Fault { register, wrote: Some(value) } => (format!("{register} := {value:#x}"), refused()),
        Action::Fault { register, wrote: None } => (format!("{register} is read"), refused()),
        Action::Interrupt { counters } => (overflow(counters), before()),
        Action::Taken => ("the interrupt is taken".to_owned(), before()),
        Action::Freeze { frozen: true, written } => ("frozen".to_owned(), by(*written)),
        Action::Freeze { frozen: false, written } => ("no longer frozen".to_owned(), by(*written)),
        Action::Context { privilege, halted, foreground, process } => {
            let mut parts = vec![format!("privilege level {privilege}")];
            parts.extend(halted.then(|| "halted".to_owned()));
            parts.extend((!foreground).then(|| "in the background".to_owned()));
            (parts.join(", "), process.map_or(String::new(), |process| format!("{} {process:#x}", process_register(part))))
        }
        Action::Check { name, seen, least, most } => {
            let check = Check { name: name.clone(), seen: *seen, least: *least, most: *most };
            ("a check fails".to_owned(), format!("{name}: seen {}, expected {}", super::value(*seen), super::expected(&check)))
        }
    }
}

/// The register that names a process or an address space.
fn process_register(part: Option<Part>) -> &'static str {
    if matches!(part, Some(Part::Power9(_))) { "PIDR" } else { "CR3" }
}

fn overflow(counters: &[u32]) -> String {
    let numbers: Vec<String> = counters.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [] => "overflow: interrupt".to_owned(),
        [one] => format!("overflow of counter {one}: interrupt"),
        several => format!("overflow of counters {}: interrupt", several.join(", ")),
    }
}

fn by(written: bool) -> String {
    if written { "by the write".to_owned() } else { "by the PMU itself".to_owned() }
}

/// The event that a select names, or what a counter has left.
fn meaning(part: Option<Part>, register: &str, value: u64) -> String {
    let decoded = part.and_then(|part| Some(Decoded::new(part, select::register(part, register).ok()?, value)));
    match decoded {
        Some(Decoded { event: Some(event), .. }) if value != 0 => event,
        Some(decoded) if value != 0 && decoded.fields.iter().filter(|field| !field.reserved).count() == 1 => {
            decoded.fields.iter().find(|field| !field.reserved).map_or(String::new(), |field| field.meaning.clone())
        }
        _ => String::new(),
    }
}
