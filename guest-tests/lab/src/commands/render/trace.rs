//! Register accesses and interrupts of a guest, a line each.

use std::io::Write;

use vm_pmu::arch::registry::Part;

use crate::commands::decode::Decoded;
use crate::dialect::select;
use crate::error::Error;
use crate::number::grouped;
use crate::output::Output;
use crate::report::{Action, Trace};
use crate::symbols::Place;
use crate::text;

/// Shows `trace`: after how many instructions, and what it was, in the words of `pmu`'s manual; and where, if `place` knows what lies there.
///
/// # Errors
/// The output cannot be written.
pub fn trace<'a>(pmu: &str, trace: &[&Trace], place: impl Fn(u64) -> Option<&'a Place>, output: &mut Output<'_>) -> Result<(), Error> {
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
        let indent = if beside + 24 > output.width { width + 6 } else { beside };
        for line in text::hanging(&lead, indent, &meaning, output.width) {
            writeln!(output, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// The head of the column that counts instructions.
const INSTRUCTION: &str = "instruction";

fn words(part: Option<Part>, action: &Action, address: u64) -> (String, String) {
    match action {
        Action::Write { register, value } => (format!("{register} := {value:#x}"), meaning(part, register, *value)),
        Action::Read { register, value } => (format!("{register} reads {value:#x}"), String::new()),
        Action::Interrupt => ("overflow: interrupt".to_owned(), format!("before the instruction at {address:#x}")),
    }
}

/// The event that a select names, or what a counter has left.
fn meaning(part: Option<Part>, register: &str, value: u64) -> String {
    let decoded = part.and_then(|part| Some(Decoded::new(part, select::register(part, register).ok()?, value)));
    match decoded {
        Some(Decoded { event: Some(event), .. }) if value != 0 => event,
        Some(decoded) if value != 0 => decoded.fields.first().map_or(String::new(), |field| field.meaning.clone()),
        _ => String::new(),
    }
}
