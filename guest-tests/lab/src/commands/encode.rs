//! `pmulab encode`: the register writes that count events.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::registry::Part;

use crate::commands::format::Format;
use crate::commands::groups::{self, Group};
use crate::commands::{PASSED, decode};
pub use crate::dialect::program;
use crate::dialect::select;
use crate::dialect::{self, Dialect, Programming};
use crate::error::Error;
use crate::output::Output;
use crate::text;

/// Arguments of `pmulab encode`.
#[derive(Debug, Args)]
#[command(after_help = ENCODE_HELP)]
pub struct EncodeArguments {
    /// The PMU to program
    #[arg(long)]
    pub pmu: Option<String>,
    /// The revision of the part; the latest if left out
    #[arg(long, value_name = "LETTER")]
    pub revision: Option<String>,
    /// Spread events that cannot be counted together over groups that can
    #[arg(long)]
    pub groups: bool,
    /// What to count, one counter each in order
    #[arg(value_name = "EVENT[:UMASK...][:MODIFIER...]", required = true)]
    pub events: Vec<String>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

const ENCODE_HELP: &str = "\
An event is a name or alias from `pmulab list`, or its code as 0x76; a unit
mask is a name or 0x02. Without unit masks, all that the event has are counted.

Modifiers of k8:
  u, k, uk      count at levels above 0, at level 0, at both (the default)
  nouk          count at no level
  e, edge       count transitions instead of levels
  c=N, cmask=N  count clocks with at least N
  i, inv        with cmask: count clocks with fewer than N
  int           an overflow requests an interrupt
  pc            the pin toggles at overflow instead of at every increment
  noen          leave the counter disabled
  period=N      also set the counter so that it overflows after N

Modifiers of knl: those of k8 except pc, and
  any           count for every thread of the core
  pmc=N         in this general counter
  rsp=A+B       OFFCORE_RESP: the requests, by the names of table 1-1
Events of its boxes have the box before them, cha0::TOR_INSERTS.IRQ; in a box
int reports an overflow to the UBox, and a CHA takes tid=N, state=mes, opc0=N,
opc1=N, nc and isoc.

Modifiers of power9, whose codes may have every field of the manual's
figure 5-2 (0x34340401e0):
  u, k, h       count in problem, privileged, hypervisor state; all if none is
                given
  run           count while the run latch is set
  e, edge       count falling edges
  pmc=N         on this counter
  reload=N      RELOAD_QUAL, with its enable bit
  int, ebb      a negative counter alerts: by interrupt, by event-based branch
  period=N      set the counter so that it is negative after N

Examples:
  pmulab encode --pmu k8 CPU_CLK_UNHALTED:int:period=100000 PROBE:MISS:k
  pmulab encode --pmu knl BR_INST_RETIRED.CALL:u INST_RETIRED.ANY
  pmulab encode --pmu power9 PM_INST_CMPL:u:int:period=1000 PM_RUN_CYC";

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

/// A group in the form that programs read.
#[derive(Clone, Debug, Serialize)]
pub struct EncodedGroup {
    /// Its number, from 1.
    pub group: usize,
    /// Why the first of its events is not in an earlier group.
    pub apart: Option<String>,
    /// Its events.
    pub events: Vec<Encoded>,
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
