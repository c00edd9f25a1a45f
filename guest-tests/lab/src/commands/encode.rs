//! `pmulab encode`: the register writes that count events.

use std::io::Write;

use serde::Serialize;
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::registry::Part;

use crate::commands::cli::{EncodeArguments, Format};
use crate::commands::groups::{self, EncodedGroup, Group};
use crate::commands::{PASSED, decode};
pub use crate::dialect::program;
use crate::dialect::select;
use crate::dialect::{self, Dialect, Programming};
use crate::error::Error;
use crate::output::Output;
use crate::text;

/// How one event is counted, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
pub struct Encoded {
    /// The PMU.
    pub pmu: &'static str,
    /// The event as it was asked for.
    pub asked: String,
    /// The event with everything spelt out.
    pub event: Option<String>,
    /// The number of its counter.
    pub counter: u32,
    /// The writes, in the order to do them in.
    pub writes: Vec<EncodedWrite>,
    /// What is worth knowing about it.
    pub notes: Vec<String>,
    /// In which of several meanings its name was taken, and how to say another.
    pub warnings: Vec<String>,
}

/// A write to a register.
#[derive(Clone, Debug, Serialize)]
pub struct EncodedWrite {
    /// The manual's name of the register.
    pub register: &'static str,
    /// Its address, as the command line takes it.
    pub address: String,
    /// The value.
    pub value: u64,
    /// The value in hexadecimal.
    pub hex: String,
    /// The fields that are not zero, in one line.
    pub fields: String,
}

/// Shows the register writes that count events.
///
/// # Errors
/// A PMU, revision, event, unit mask or modifier is unknown, there are too few counters, or the output cannot be written.
pub fn encode(arguments: &EncodeArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let part = select::revised(select::one_part(arguments.pmu.as_deref())?, arguments.revision.as_deref())?;
    if arguments.groups {
        return spread(part, arguments, output);
    }
    let programmings = program(part, &arguments.events).map_err(|error| match groups::conflict(part, &arguments.events) {
        Some(why) => Error::usage(format!("{why}; `--groups` spreads them")),
        None => error,
    })?;
    match arguments.format {
        Format::Json => {
            let encoded: Vec<Encoded> = programmings.iter().zip(&arguments.events).map(|(one, asked)| encoded(part, one, asked)).collect();
            output.json(&encoded)?;
        }
        Format::Table => table(part, &programmings, output)?,
    }
    Ok(PASSED)
}

fn table(part: Part, programmings: &[Programming], output: &mut Output<'_>) -> Result<(), Error> {
    for (index, programming) in programmings.iter().enumerate() {
        if index > 0 {
            writeln!(output)?;
        }
        show(part, programming, output)?;
    }
    Ok(())
}

/// Shows the writes of each group of events.
fn spread(part: Part, arguments: &EncodeArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let spread = groups::spread(part, &arguments.events)?;
    let asked =
        |group: &Group| group.members.iter().filter_map(|place| arguments.events.get(*place)).map(String::as_str).collect::<Vec<_>>();
    match arguments.format {
        Format::Json => {
            let groups = spread.iter().zip(1..).map(|(group, number)| EncodedGroup {
                group: number,
                apart: group.apart.clone(),
                events: group.program.iter().zip(asked(group)).map(|(one, asked)| encoded(part, one, asked)).collect(),
            });
            output.json(&groups.collect::<Vec<_>>())?;
        }
        Format::Table => {
            for (group, number) in spread.iter().zip(1..) {
                if number > 1 {
                    writeln!(output)?;
                }
                let head = format!("Group {number} of {}: {}", spread.len(), asked(group).join(", "));
                for line in text::wrap(&head, output.width) {
                    writeln!(output, "{line}")?;
                }
                let width = output.width.saturating_sub(2);
                for line in group.apart.iter().flat_map(|why| text::wrap(&format!("({why})"), width)) {
                    writeln!(output, "  {line}")?;
                }
                writeln!(output)?;
                table(part, &group.program, output)?;
            }
        }
    }
    Ok(PASSED)
}

fn encoded(part: Part, programming: &Programming, asked: &str) -> Encoded {
    let dialect = dialect::of(part);
    let writes = programming.writes.iter().map(|write| EncodedWrite {
        register: write.register.name,
        address: select::address_word(write.register.address),
        value: write.value,
        hex: format!("{:#x}", write.value),
        fields: explained(dialect, write),
    });
    Encoded {
        pmu: part.name(),
        asked: asked.to_owned(),
        event: programming.event.clone(),
        counter: programming.counter,
        writes: writes.collect(),
        notes: programming.notes.clone(),
        warnings: programming.warnings.clone(),
    }
}

/// Prints what one event needs.
///
/// # Errors
/// The output cannot be written.
pub fn show(part: Part, programming: &Programming, output: &mut Output<'_>) -> Result<(), Error> {
    if let (Some(event), true) = (&programming.event, programming.writes.is_empty()) {
        output.line(4, event)?;
    }
    for write in &programming.writes {
        writeln!(output, "{}", decode::heading(write.register, write.value))?;
        for line in text::wrap(&explained(dialect::of(part), write), output.width.saturating_sub(4)) {
            writeln!(output, "    {line}")?;
        }
    }
    for warning in &programming.warnings {
        for line in text::hanging("    warning:", 13, warning, output.width) {
            writeln!(output, "{line}")?;
        }
    }
    for note in &programming.notes {
        for line in text::hanging("    note:", 10, note, output.width) {
            writeln!(output, "{line}")?;
        }
    }
    Ok(())
}

/// The fields of a write that are not zero, in one line.
#[must_use]
pub fn explained(dialect: &dyn Dialect, write: &dialect::Write) -> String {
    let mut fields: Vec<&Field> = write.register.fields.iter().filter(|field| is_told(field, write.value)).collect();
    let numbering = dialect.numbering();
    fields.sort_by_key(|field| numbering.bit(field.low));
    let words = fields.iter().map(|field| {
        let value = field.of(write.value);
        match dialect.label(write.register, field, write.value) {
            Some(label) => format!("{}={value:#04x} ({label})", field.name),
            None if fields.len() == 1 => match dialect.meaning(write.register, field, write.value) {
                meaning if meaning.is_empty() => format!("{}={value:#x}", field.name),
                meaning => format!("{}: {meaning}", field.name),
            },
            None if field.high == field.low => field.name.to_owned(),
            None if value < 10 => format!("{}={value}", field.name),
            None => format!("{}={value:#x}", field.name),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Whether a field says anything; some reserved bits are always set.
fn is_told(field: &Field, value: u64) -> bool {
    field.of(value) != 0 && field.access != FieldAccess::Reserved && field.name != "Reserved"
}
