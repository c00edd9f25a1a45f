//! `pmulab conformance`: what of each part is tested, and what is not modelled.

pub mod arguments;

use std::io::Write;

use crate::commands::PASSED;
use crate::commands::format::Format;
use crate::conformance::{Conformance, Covered};
use crate::dialect::{self, select};
use crate::error::Error;
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::suite::Index;
use crate::text;
use arguments::ConformanceArguments;

/// The column at which what is said begins.
const INDENT: usize = 15;
/// The most names in a list that is not asked for in full.
const FEW: usize = 8;

/// Shows what of the parts is tested.
///
/// # Errors
/// The PMU is unknown, or the output cannot be written.
pub fn conformance(arguments: &ConformanceArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let parts = select::parts(arguments.pmu.as_deref())?;
    let found: Vec<Conformance> = parts.iter().map(|part| Conformance::of(&Index::of_suite(*part))).collect();
    if arguments.format == Format::Json {
        output.json(&found)?;
        return Ok(PASSED);
    }
    for (index, one) in found.iter().enumerate() {
        if index > 0 {
            writeln!(output)?;
        }
        summary(one, arguments.long, output)?;
        if arguments.pmu.is_some() || arguments.long {
            sections(one, output)?;
            rules(one, arguments.long, output)?;
        }
    }
    if arguments.pmu.is_none() && !arguments.long {
        writeln!(output)?;
        output.line(0, "With --pmu, also by sections of the manual; with --long, all names and rules.")?;
    }
    Ok(PASSED)
}

fn row(label: &str, said: &str, output: &mut Output<'_>) -> Result<(), Error> {
    for line in text::hanging(&format!("  {label}"), INDENT, said, output.width) {
        writeln!(output, "{line}")?;
    }
    Ok(())
}

fn summary(one: &Conformance, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    output.line(2, &format!("{}: {}", output.name(one.pmu), one.title))?;
    let files: usize = one.rules.iter().map(|cited| cited.rules.len()).sum();
    row("rules", &format!("{} with a litmus file, which cite {}", grouped(files as u64), counted(one.rules.len(), "source")), output)?;
    for (label, verb, covered) in [
        ("registers", "accessed", &one.registers),
        ("fields", "set, or seen set", &one.fields),
        ("selected", "of the events and unit masks", &one.selected),
    ] {
        row(label, &share(covered, verb, long), output)?;
    }
    let Conformance { fidelity, not_modelled, .. } = one;
    let words = format!(
        "{} exact, {} approximate, {} by an embedder, {} injected",
        grouped(fidelity.exact as u64),
        grouped(fidelity.approximate as u64),
        grouped(fidelity.embedder as u64),
        grouped(fidelity.injected as u64),
    );
    row("counted", &words, output)?;
    for (label, names) in [("by embedder", &not_modelled.embedder), ("injected", &not_modelled.injected)] {
        if !names.is_empty() {
            row(label, &some(names, long), output)?;
        }
    }
    Ok(())
}

/// How much is covered, and what is not.
fn share(covered: &Covered, verb: &str, long: bool) -> String {
    let missing = if covered.missing.is_empty() { String::new() } else { format!("; not {}", some(&covered.missing, long)) };
    format!("{} of {} {verb}{missing}", grouped(covered.covered as u64), grouped(covered.all as u64))
}

fn some(names: &[impl AsRef<str>], long: bool) -> String {
    let most = if long { usize::MAX } else { FEW };
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = names.len().checked_sub(most).filter(|more| *more > 0);
    format!("{}{}", shown.join(", "), more.map_or_else(String::new, |more| format!(" and {} more", grouped(more as u64))))
}

/// The events of each section of the manual.
fn sections(one: &Conformance, output: &mut Output<'_>) -> Result<(), Error> {
    let manual = select::part(one.pmu).map(|part| dialect::of(part).manual())?;
    // The columns of numbers.
    const NUMBERS: &str = "events  exact  approx.  embedder  injected  selected";
    let room = output.width.saturating_sub(NUMBERS.len() + 4);
    let width = text::widest(one.sections.iter().map(|section| section.section)).max(manual.len()).min(room);
    writeln!(output, "\n  {manual:<width$}  {NUMBERS}")?;
    for section in &one.sections {
        let counts = section.fidelity;
        let numbers = format!(
            "{:>6}  {:>5}  {:>7}  {:>8}  {:>8}  {:>8}",
            counts.all(),
            counts.exact,
            counts.approximate,
            counts.embedder,
            counts.injected,
            section.selected
        );
        let mut name = text::wrap(section.section, width);
        let last = name.pop().unwrap_or_default();
        output.lines(name.into_iter().map(|line| format!("  {line}")))?;
        writeln!(output, "  {}  {numbers}", text::padded(&last, width))?;
    }
    Ok(())
}

/// The rules of each source.
fn rules(one: &Conformance, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    writeln!(output, "\n  rules  source")?;
    for cited in &one.rules {
        for line in text::hanging(&format!("  {:>5}", cited.rules.len()), 9, &cited.section, output.width) {
            writeln!(output, "{line}")?;
        }
        for rule in cited.rules.iter().filter(|_| long) {
            for line in text::hanging("", 11, &format!("{} ({})", rule.title, rule.file), output.width) {
                writeln!(output, "{line}")?;
            }
        }
    }
    Ok(())
}
