//! A report in the form that people read, and the one that programs read.

mod trace;

use std::io::Write;

use serde::Serialize;
use vm_pmu::arch::registry::Part;

use crate::commands::decode::{self, Decoded};
use crate::dialect::select;
use crate::error::Error;
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::request::RunRequest;
use crate::text;
pub(crate) use trace::words;
pub use trace::{Change, Entry, changes, trace};

use crate::report::{Check, Count, Register, Report, Sample};
use crate::symbols::Place;

/// A report with its registers taken apart, for programs.
#[derive(Serialize)]
pub struct Whole<'a> {
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trace: Vec<Entry<'a>>,
    decoded_registers: Vec<OfThread>,
}

/// A decoded register of one thread.
#[derive(Serialize)]
struct OfThread {
    thread: usize,
    #[serde(flatten)]
    decoded: Decoded,
}

impl<'a> Whole<'a> {
    /// The report, and what its registers say.
    #[must_use]
    pub fn new(report: &'a Report) -> Whole<'a> {
        let part = select::part(&report.pmu).ok();
        let decoded = |register: &Register| Some(OfThread { thread: register.thread, decoded: take_apart(part?, register)? });
        Whole {
            // Its trace is shown with more.
            report: Report { trace: Vec::new(), ..report.clone() },
            trace: report.trace.iter().map(|entry| Entry::new(part, entry)).collect(),
            decoded_registers: report.registers.iter().filter_map(decoded).collect(),
        }
    }
}

fn take_apart(part: Part, register: &Register) -> Option<Decoded> {
    let description = select::register(part, &register.name).ok()?;
    Some(Decoded::new(part, description, register.value))
}

/// Shows all of a report; its last line is `PASS` or `FAIL`.
///
/// # Errors
/// The output cannot be written.
pub fn report(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    let guest = output.name(&report.guest);
    let head = format!("{guest} on {}, {} executed by {}{}", report.pmu, executed(report), report.engine, companion(report));
    output.line(2, &head)?;
    console(report, output)?;
    if !report.trace.is_empty() {
        writeln!(output, "\nRegister accesses and interrupts")?;
        trace(&report.pmu, &report.trace.iter().collect::<Vec<_>>(), true, |address| report.place(address), output)?;
    }
    counts(&report.counts, output)?;
    interrupts(report, output)?;
    remarks(report, output)?;
    samples(&report.samples, |address| report.place(address), output)?;
    checks(&report.checks, output)?;
    registers(report, output)?;
    writeln!(output)?;
    output.lines(text::wrap(&report.ending, output.width))?;
    positions(report, output)?;
    writeln!(output, "{}", output.verdict(report.passed))?;
    Ok(())
}

/// Shows where the threads were at the end, a line each.
fn positions(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    for position in &report.positions {
        let place = report.place(position.address).map_or_else(String::new, |place| format!(", {place}"));
        output.line(4, &format!("  CPU {} was at {:#x}{place}", position.thread, position.address))?;
    }
    Ok(())
}

/// What the companion made, for the first line.
fn companion(report: &Report) -> String {
    match report.companion.as_str() {
        "" => String::new(),
        "off" => "; no companion".to_owned(),
        made => format!("; the companion makes {made}"),
    }
}

/// How much was executed, in what is known of it.
fn executed(report: &Report) -> String {
    let (count, what) = report.cycles.map_or((report.instructions, "instruction"), |cycles| (cycles, "cycle"));
    counted(usize::try_from(count).unwrap_or(usize::MAX), what)
}

fn console(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    if report.console.trim().is_empty() {
        return Ok(());
    }
    writeln!(output, "\nThe guest's console")?;
    for line in report.console.trim_end().lines() {
        // A guest may write anything: what would move the cursor is shown as a dot.
        let line: String = line.chars().map(|letter| if letter.is_control() { '.' } else { letter }).collect();
        writeln!(output, "  | {line}")?;
    }
    Ok(())
}

/// Shows counts as a table: how many of what, where, and what drove the counter.
///
/// # Errors
/// The output cannot be written.
pub fn counts(counts: &[Count], output: &mut Output<'_>) -> Result<(), Error> {
    /// The least columns that are worth a column.
    const NARROW: usize = 32;
    if counts.is_empty() {
        return Ok(());
    }
    let numbers: Vec<String> = counts.iter().map(|count| grouped(count.count)).collect();
    let places: Vec<String> = counts.iter().map(|count| format!("{}/{}", count.thread, count.counter)).collect();
    let number = text::widest(numbers.iter().map(String::as_str)).max(12);
    let unit = text::widest(counts.iter().map(|count| count.unit.as_str())).max(4);
    let event = text::widest(counts.iter().map(|count| count.event.as_str())).max(5);
    let place = text::widest(places.iter().map(String::as_str)).max(TITLE_PLACE.len());
    // A longer event is folded.
    let event = event.min(output.width.saturating_sub(number + unit + place + 6));
    let left = number + unit + event + place + 8;
    let beside = left + NARROW <= output.width;
    let (title, indent) = if beside { ("driven by", left) } else { ("", number + unit + 6) };
    let head = format!("{:>number$}  {:<unit$}  {:<event$}  {TITLE_PLACE:>place$}  {title}", "count", "unit", "event");
    writeln!(output, "\n{}", head.trim_end())?;
    for ((count, number_text), place_text) in counts.iter().zip(&numbers).zip(&places) {
        let lead = format!("{number_text:>number$}  {:<unit$}  {:<event$}  {place_text:>place$}", count.unit, count.event);
        let mut lead = text::folded(&lead, 8, output.width);
        let last = lead.pop().unwrap_or_default();
        let driven = if count.driven_by.is_empty() { count.fidelity.clone() } else { format!("{}: {}", count.fidelity, count.driven_by) };
        output.lines(lead.into_iter().chain(text::hanging(&last, indent, &driven, output.width)))?;
    }
    Ok(())
}

/// The head of the column that says which counter it was: thread and counter.
const TITLE_PLACE: &str = "thr/ctr";

fn interrupts(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    if report.interrupts.is_empty() && report.delivered.is_empty() {
        return Ok(());
    }
    writeln!(output, "\nInterrupts at overflow")?;
    let requested = report.interrupts.iter().map(|one| (one.requested, format!("by counter {} of thread {}", one.counter, one.thread)));
    let taken = report.delivered.iter().map(|one| (one.taken, format!("taken by thread {}", one.thread)));
    let lines: Vec<(String, String)> = requested.chain(taken).map(|(count, what)| (grouped(count), what)).collect();
    let number = text::widest(lines.iter().map(|(count, _)| count.as_str()));
    for (count, what) in lines {
        writeln!(output, "  {count:>number$}  {what}")?;
    }
    Ok(())
}

/// Shows storms of interrupts, and what somebody would remark who reads how the guest used its PMU.
fn remarks(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    let lines = report.remarks();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(output, "\nHints")?;
    for line in lines {
        for line in text::hanging("  -", 4, &line, output.width) {
            writeln!(output, "{line}")?;
        }
    }
    Ok(())
}

/// The most places that the histogram of samples shows.
const PLACES: usize = 20;
/// The least columns of the longest bar beside the names of places.
const SHORTEST_BAR: usize = 8;

fn samples<'a>(samples: &[Sample], place: impl Fn(u64) -> Option<&'a Place>, output: &mut Output<'_>) -> Result<(), Error> {
    if samples.is_empty() {
        return Ok(());
    }
    // A guest's own name for a place comes before that of its file.
    let named = |sample: &Sample| match (sample.label.as_str(), place(sample.address)) {
        (label, None) => label.to_owned(),
        ("", Some(place)) => place.to_string(),
        (label, Some(place)) if place.symbol.as_deref() == Some(label) => place.to_string(),
        (label, Some(place)) => format!("{label}: {place}"),
    };
    let total: u64 = samples.iter().fold(0, |sum, sample| sum.saturating_add(sample.hits));
    let mut shown: Vec<&Sample> = samples.iter().collect();
    shown.sort_by_key(|sample| (std::cmp::Reverse(sample.hits), sample.address));
    let rest = shown.split_off(shown.len().min(PLACES));
    shown.sort_by_key(|sample| sample.address);
    writeln!(output, "\nWhere {} fell", counted(usize::try_from(total).unwrap_or(usize::MAX), "sample"))?;
    let addresses: Vec<String> = shown.iter().map(|sample| format!("{:#x}", sample.address)).collect();
    let hits: Vec<String> = shown.iter().map(|sample| grouped(sample.hits)).collect();
    let address = text::widest(addresses.iter().map(String::as_str));
    let hit = text::widest(hits.iter().map(String::as_str));
    let labels: Vec<String> = shown.iter().map(|sample| named(sample)).collect();
    let label = text::widest(labels.iter().map(String::as_str));
    let most = shown.iter().map(|sample| sample.hits).max().unwrap_or(0);
    // A place that leaves no room for a bar has its own line.
    let others = address + hit + 18;
    let is_beside = others + label + SHORTEST_BAR <= output.width;
    let gap = if label == 0 || !is_beside { 0 } else { label + 2 };
    let room = output.width.saturating_sub(others + gap).min(48);
    for (((sample, label_text), address_text), hit_text) in shown.iter().zip(&labels).zip(&addresses).zip(&hits) {
        let share = if total == 0 { 0.0 } else { sample.hits as f64 * 100.0 / total as f64 };
        let beside = if is_beside { label_text.as_str() } else { "" };
        let bar = text::bar(sample.hits, most, room);
        let line = format!("  {address_text:>address$}  {beside:<gap$}{hit_text:>hit$}  {share:5.1} %  {bar}");
        writeln!(output, "{}", line.trim_end())?;
        if !is_beside && !label_text.is_empty() {
            output.line(6, &format!("    {label_text}"))?;
        }
    }
    if !rest.is_empty() {
        let hits = rest.iter().fold(0u64, |sum, sample| sum.saturating_add(sample.hits));
        writeln!(output, "  and {} at {}", grouped(hits), counted(rest.len(), "other place"))?;
    }
    Ok(())
}

/// Shows what the guest checked, a line each.
///
/// # Errors
/// The output cannot be written.
pub fn checks(checks: &[Check], output: &mut Output<'_>) -> Result<(), Error> {
    if checks.is_empty() {
        return Ok(());
    }
    let passed = checks.iter().filter(|check| check.passed()).count();
    writeln!(output, "\nChecks: {passed} of {} passed", checks.len())?;
    let seen: Vec<String> = checks.iter().map(|check| value(check.seen)).collect();
    let width = text::widest(seen.iter().map(String::as_str));
    let right = text::widest(checks.iter().map(expected).collect::<Vec<_>>().iter().map(String::as_str));
    // What stands beside a name: the verdict, what was seen and what was expected.
    let room = output.width.saturating_sub(width + right + 26).max(LEAST_NAME);
    let name = text::widest(checks.iter().map(|check| check.name.as_str())).min(room);
    for (check, seen) in checks.iter().zip(&seen) {
        let word = if check.passed() { output.good("pass") } else { output.bad("FAIL") };
        let said = expected(check);
        let aligned = format!("  {word}  {}  seen {seen:>width$}, expected {said}", text::padded(&check.name, name));
        if text::columns(&aligned) <= output.width {
            writeln!(output, "{aligned}")?;
        } else {
            output.line(10, &format!("  {word}  {}  seen {seen}, expected {said}", check.name))?;
        }
    }
    Ok(())
}

/// The least columns for the names of checks beside their values.
const LEAST_NAME: usize = 24;

fn expected(check: &Check) -> String {
    if check.least == check.most { value(check.least) } else { format!("{} to {}", value(check.least), value(check.most)) }
}

/// A number that may be a count or the bits of a register.
fn value(number: u64) -> String {
    if number > u64::from(u32::MAX) { format!("{number:#x}") } else { grouped(number) }
}

fn registers(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    if report.registers.is_empty() {
        return Ok(());
    }
    let part = select::part(&report.pmu).ok();
    let mut threads: Vec<usize> = report.registers.iter().map(|register| register.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    for thread in &threads {
        let of = if threads.len() == 1 { String::new() } else { format!(" of thread {thread}") };
        writeln!(output, "\nRegisters{of} at the end")?;
        let own: Vec<&Register> = report.registers.iter().filter(|register| register.thread == *thread).collect();
        for register in own.iter().filter(|register| register.value != 0) {
            one_register(part, register, output)?;
        }
        let zero: Vec<&str> = own.iter().filter(|register| register.value == 0).map(|register| register.name.as_str()).collect();
        if !zero.is_empty() {
            for line in text::hanging("  zero:", 8, &zero.join(", "), output.width) {
                writeln!(output, "{line}")?;
            }
        }
    }
    Ok(())
}

fn one_register(part: Option<Part>, register: &Register, output: &mut Output<'_>) -> Result<(), Error> {
    let known = part.and_then(|part| Some((select::register(part, &register.name).ok()?, take_apart(part, register)?)));
    let Some((description, decoded)) = known else {
        output.line(4, &format!("  {} = {:#x}", register.name, register.value))?;
        return Ok(());
    };
    let heading = decode::heading(description, register.value);
    let is_shown = |field: &decode::DecodedField| field.value != 0;
    let mut rest = decoded.fields.iter().filter(|field| !field.reserved);
    match (rest.next(), rest.next(), &decoded.event) {
        // A register of one field is said in one line.
        (Some(field), None, _) if decoded.warnings.is_empty() => output.line(6, &format!("  {heading}   {}", field.meaning))?,
        (_, _, Some(event)) => {
            output.line(6, &format!("  {heading}   {event}"))?;
            decode::fields(&decoded, 4, is_shown, output)?;
        }
        _ => {
            writeln!(output, "  {heading}")?;
            decode::fields(&decoded, 4, is_shown, output)?;
        }
    }
    Ok(())
}

/// The columns of the lines that sum up several runs.
pub struct SummaryColumns {
    guest: usize,
    pmu: usize,
}

impl SummaryColumns {
    /// Columns wide enough for `requests`.
    #[must_use]
    pub fn new(requests: &[RunRequest]) -> SummaryColumns {
        let guest = requests.iter().map(|request| text::columns(&request.guest.title())).max().unwrap_or(0);
        SummaryColumns { guest, pmu: text::widest(requests.iter().map(|request| request.pmu.as_str())) }
    }

    /// Sums up one run, and says which checks failed.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn line(&self, report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
        let (guest, pmu) = (self.guest, self.pmu);
        let passed = report.checks.iter().filter(|check| check.passed()).count();
        let checks = format!("{passed} of {}", counted(report.checks.len(), "check"));
        let lead = format!(
            "{}  {:<guest$}  {:<pmu$}  {:>11} {}  {checks}",
            output.verdict(report.passed),
            report.guest,
            report.pmu,
            grouped(report.cycles.unwrap_or(report.instructions)),
            if report.cycles.is_some() { "cycles" } else { "instructions" }
        );
        // How a run ended is worth saying where it is not just that every check passed.
        let ending = if report.passed && !report.checks.is_empty() { "" } else { report.ending.as_str() };
        if ending.is_empty() || text::columns(&lead) + 2 + text::columns(ending) <= output.width {
            output.line(6, &format!("{lead}  {ending}"))?;
        } else {
            output.line(6, &lead)?;
            output.lines(text::wrap(ending, output.width - 6).into_iter().map(|line| format!("      {line}")))?;
        }
        for position in &report.positions {
            if let Some(place) = report.place(position.address) {
                output.line(8, &format!("      CPU {} was at {place}", position.thread))?;
            }
        }
        for check in report.checks.iter().filter(|check| !check.passed()) {
            output.line(8, &format!("      {}: seen {}, expected {}", check.name, value(check.seen), expected(check)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
