//! What words mean, for people.

use std::io::Write;

use super::Explained;
use super::meaning::{
    EventMeaning, FieldMeaning, Meaning, MetricMeaning, POSTED, RegisterMeaning, SelectMeaning, SignalMeaning, Tested, some,
};
use crate::error::Error;
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::text;

/// The column at which what is said of something begins.
const INDENT: usize = 14;
/// The most litmus files that are named if not all are asked for.
const FEW: usize = 4;
/// The most meanings of a word that are all shown in full.
const MOST: usize = 3;

/// Shows the meanings of words; where a word has many, a line each.
pub(super) fn table(explained: &[Explained], long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    let mut is_first = true;
    for one in explained {
        let brief = one.meanings.len() > MOST && !long;
        if brief {
            if !std::mem::take(&mut is_first) {
                writeln!(output)?;
            }
            writeln!(output, "`{}` has {}:", one.word, counted(one.meanings.len(), "meaning"))?;
        }
        for meaning in &one.meanings {
            if brief {
                paragraph(&meaning.heading(), output)?;
                continue;
            }
            if !std::mem::take(&mut is_first) {
                writeln!(output)?;
            }
            show(meaning, long, output)?;
        }
        if brief {
            for line in text::wrap(
                "Say which PMU with --pmu, the unit as UNIT::EVENT or the register as REGISTER.FIELD, or ask for all with --long.",
                output.width,
            ) {
                writeln!(output, "{line}")?;
            }
        }
    }
    Ok(())
}

fn show(meaning: &Meaning, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    for (index, line) in text::wrap(&meaning.heading(), output.width.saturating_sub(2)).into_iter().enumerate() {
        // The name stands before the first colon that a blank follows.
        let line = match line.split_once(": ").filter(|_| index == 0) {
            Some((name, rest)) => format!("{}: {rest}", output.name(name)),
            None => line,
        };
        writeln!(output, "{:indent$}{line}", "", indent = if index == 0 { 0 } else { 2 })?;
    }
    match meaning {
        Meaning::Event(event) => of_event(event, long, output),
        Meaning::Register(register) => of_register(register, long, output),
        Meaning::Field(field) => of_field(field, long, output),
        Meaning::Signal(signal) => of_signal(signal, long, output),
        Meaning::Metric(metric) => of_metric(metric, output),
        Meaning::Select(select) => of_select(select, output),
    }
}

/// A line with its label; nothing where there is nothing to say.
fn row(label: &str, said: &str, output: &mut Output<'_>) -> Result<(), Error> {
    if said.is_empty() {
        return Ok(());
    }
    for line in text::hanging(&format!("  {label}"), INDENT, said, output.width) {
        writeln!(output, "{line}")?;
    }
    Ok(())
}

fn paragraph(said: &str, output: &mut Output<'_>) -> Result<(), Error> {
    for line in text::wrap(said, output.width.saturating_sub(2)) {
        writeln!(output, "  {line}")?;
    }
    Ok(())
}

fn of_event(event: &EventMeaning, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    paragraph(event.summary, output)?;
    if let Some(taken) = &event.taken {
        row("that is", taken, output)?;
    }
    row("counts", &format!("{}, {}", event.counts, event.fidelity), output)?;
    row("driven by", &event.driven_by, output)?;
    row("rule", event.rule.unwrap_or_default(), output)?;
    let places: Vec<String> = match event.codes.as_slice() {
        [only] => vec![only.place.clone()],
        many => many.iter().map(|code| format!("{:#x} on {}", code.code, code.place)).collect(),
    };
    let offsets: Vec<String> = event.codes.iter().map(|code| format!("{:#x}", code.code)).collect();
    match event.codes.iter().all(|code| code.place == POSTED) {
        true => row("posted at", &offsets.join(", "), output)?,
        false => row("counted by", &places.join(", "), output)?,
    }
    row("restricted", &event.restrictions, output)?;
    let width = text::widest(event.unit_masks.iter().map(|mask| mask.name)).min(24);
    for (index, mask) in event.unit_masks.iter().enumerate() {
        let label = if index == 0 { "  unit masks" } else { "" };
        let lead = format!("{label:<INDENT$}:{:#04x} {:<width$}", mask.umask, mask.name);
        for line in text::hanging(&lead, INDENT + width + 8, mask.summary, output.width) {
            writeln!(output, "{line}")?;
        }
    }
    row("modifiers", event.modifiers, output)?;
    row("also called", &event.names.join(", "), output)?;
    row("perf", event.perf.as_deref().unwrap_or_default(), output)?;
    row("manual", &event.section, output)?;
    tests(&event.litmus, "select", long, output)
}

fn of_register(register: &RegisterMeaning, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    let shown = || register.fields.iter().filter(|field| field.access != "reserved" && field.access != "kept without effect");
    let bits = text::widest(shown().map(|field| field.bits.as_str()));
    let names = text::widest(shown().map(|field| field.name.as_str()));
    for field in shown() {
        let access = if field.access == "read-write" { String::new() } else { format!(" ({})", field.access) };
        let lead = format!("  {:>bits$}  {:<names$}", field.bits, field.name);
        for line in text::hanging(&lead, bits + names + 6, &format!("{}{access}", field.summary), output.width) {
            writeln!(output, "{line}")?;
        }
    }
    row("laid out as", &some(&register.alike, 6), output)?;
    let who = text::widest(register.access.iter().map(|access| access.who.as_str())).min(30);
    for (index, access) in register.access.iter().enumerate() {
        let label = if index == 0 { "  access" } else { "" };
        for line in text::hanging(&format!("{label:<INDENT$}{:<who$}", access.who), INDENT + who + 2, &access.says, output.width) {
            writeln!(output, "{line}")?;
        }
    }
    row("manual", register.section, output)?;
    tests(&register.litmus, "access", long, output)
}

fn of_field(field: &FieldMeaning, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    paragraph(field.field.summary, output)?;
    row("if 1", &field.set, output)?;
    row("mask", &field.mask, output)?;
    row("access", field.field.access, output)?;
    row("manual", field.section, output)?;
    tests(&field.litmus, "set", long, output)
}

fn of_signal(signal: &SignalMeaning, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    paragraph(signal.summary, output)?;
    row("of kind", signal.of, output)?;
    for driven in &signal.drives {
        let most = if long { usize::MAX } else { 6 };
        let reported = if driven.reported_by.is_empty() { String::new() } else { format!(" (reported by {})", driven.reported_by) };
        row(driven.pmu, &format!("drives {}{reported}", some(&driven.events, most)), output)?;
    }
    if signal.drives.is_empty() {
        row("drives", "no event here", output)?;
    }
    tests(&signal.litmus, "report", long, output)
}

fn of_metric(metric: &MetricMeaning, output: &mut Output<'_>) -> Result<(), Error> {
    paragraph(metric.summary, output)?;
    row("formula", metric.formula, output)?;
    row("unit", metric.unit, output)?;
    row("manual", &metric.section, output)?;
    row("count it", &format!("pmulab metrics --pmu {} {}", metric.pmu, metric.name), output)
}

fn of_select(select: &SelectMeaning, output: &mut Output<'_>) -> Result<(), Error> {
    row("selects", &select.selects, output)?;
    row("fields", &format!("pmulab decode --pmu {} {}={}", select.pmu, select.register, select.value), output)
}

/// The rules whose litmus files do something to it.
fn tests(files: &[Tested], verb: &str, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    if files.is_empty() {
        let third = if verb.ends_with('s') { "es" } else { "s" };
        return row("litmus", &format!("no rule of the suite {verb}{third} it"), output);
    }
    let most = if long { usize::MAX } else { FEW };
    let verb = if files.len() == 1 { format!("{verb}{}", if verb.ends_with('s') { "es" } else { "s" }) } else { verb.to_owned() };
    row("litmus", &format!("{} {verb} it", counted(files.len(), "rule")), output)?;
    for file in files.iter().take(most) {
        row("", &format!("{}: {}", file.file, file.title), output)?;
    }
    if let Some(more) = files.len().checked_sub(most).filter(|more| *more > 0) {
        row("", &format!("and {} more: --long names them all", grouped(more as u64)), output)?;
    }
    Ok(())
}
