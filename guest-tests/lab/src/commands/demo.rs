//! The guided demonstration that runs when no command is given.

use std::collections::BTreeMap;
use std::io::Write;

use crate::commands::{FAILED, PASSED, render, stack};
use crate::error::Error;
use crate::number::grouped;
use crate::output::Output;
use crate::report::{Action, Report, Trace};
use crate::request::{Guest, RunRequest, Runner};
use crate::runner::Options;
use crate::text;
use vm_pmu_board::trace::Choice;

/// The guest that is interrupted, the one that samples itself, the one that misses caches, and the one whose cycles are divided.
const INTERRUPTED: &str = "overflow";
const SAMPLED: &str = "profile";
const MISSING: &str = "chase";
const WAITING: &str = "latency";

/// How many register accesses and interrupts are kept to choose from.
const KEPT: usize = 200;

/// The least instructions between an enabled counter and its overflow that make a good example.
const FAR: u64 = 50;

const BEGINNING: &str = "A bare-metal guest has just run on an emulated AMD Athlon 64. The emulator itself has no performance counters: \
    it reports to vm-pmu what it executes, and vm-pmu serves the guest's register accesses and requests its interrupts. This is how a \
    driver takes an interrupt after an exact number of instructions:";

const CHASE: &str = "A third guest follows a chain of pointers through every line of an array. The emulator has no caches; the companion \
    models those of the part, 64 KiB and 1 MiB, and reports their misses:";

const STACK: &str = "A guest of POWER9 loads from every level. The companion models the part's pipeline and gives each cycle one cause, as the part's \
    counters do:";

const NEXT: [(&str, &str); 8] = [
    ("pmulab run --pmu k8 overflow", "the whole report of the guest above"),
    ("pmulab run chase", "cache and memory events and their expected counts"),
    ("pmulab run --pmu power9 ebb", "another part: event-based branches on POWER9"),
    ("pmulab guests", "what the other guests do"),
    ("pmulab list --search cache", "the events, and what drives each of them"),
    ("pmulab encode --pmu k8 CPU_CLK_UNHALTED:k:int", "the register write that counts an event"),
    ("pmulab decode --pmu k8 PerfEvtSel0=0x530076", "the fields of a register value"),
    ("pmulab litmus guest-tests/litmus", "every rule of the manual, checked"),
];

/// Runs up to four guests and explains what they show.
///
/// # Errors
/// A guest could not be run, or the output cannot be written.
pub fn demo(runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let interrupted = run(runner, INTERRUPTED)?;
    writeln!(output, "vm-pmu: performance counters for guests of machines that have none\n")?;
    say(BEGINNING, output)?;
    writeln!(output)?;
    render::trace(&interrupted.pmu, &example(&interrupted.trace), false, |_| None, output)?;
    writeln!(output)?;
    say(&verdict(&interrupted), output)?;
    if let Ok(sampled) = run(runner, SAMPLED) {
        profile(&sampled, output)?;
    }
    if let Ok(missing) = run(runner, MISSING) {
        chase(&missing, output)?;
    }
    if let Ok(request) = request(runner, WAITING, "power9") {
        writeln!(output)?;
        say(STACK, output)?;
        writeln!(output)?;
        let cycles = stack::draw(&request, runner, output)?;
        writeln!(output)?;
        let all = "`pmulab run --pmu power9 latency -M CPI_Breakdown` divides them further.";
        say(&format!("That is {cycles:.2} cycles for each instruction; {all}"), output)?;
    }
    writeln!(output, "\nWhat to try next (`cargo run --release --` stands for `pmulab`):\n")?;
    let width = text::widest(NEXT.iter().map(|(command, _)| *command));
    for (command, purpose) in NEXT {
        output.lines(text::hanging(&format!("  {command}"), width + 4, purpose, output.width))?;
    }
    if !interrupted.passed {
        writeln!(output)?;
        say(&format!("This run did not show what it should: {}", interrupted.ending), output)?;
    }
    Ok(if interrupted.passed { PASSED } else { FAILED })
}

fn run(runner: &dyn Runner, name: &str) -> Result<Report, Error> {
    runner.run(&request(runner, name, "k8")?).map_err(|error| Error::usage(format!("{name}: {error}")))
}

fn request(runner: &dyn Runner, name: &str, pmu: &str) -> Result<RunRequest, Error> {
    let guests = runner.guests();
    let Some(guest) = guests.iter().find(|guest| guest.name == name && guest.pmu == pmu) else {
        let message = format!("this build has no guest `{name}` to demonstrate with; `pmulab --help` shows what else there is");
        return Err(Error::usage(message));
    };
    let engine = runner.engines().first().copied().unwrap_or_default().to_owned();
    Ok(RunRequest {
        pmu: guest.pmu.clone(),
        guest: Guest::Named(guest.name.clone()),
        engine,
        options: Options { trace: Choice::first(KEPT), ..Options::default() },
    })
}

/// The first overflow that was not near: what led to it, itself, and what the guest did next.
fn example(trace: &[Trace]) -> Vec<&Trace> {
    let trace: Vec<&Trace> = trace.iter().filter(|one| one.action != Action::Taken).collect();
    let is_write = |one: &Trace| matches!(one.action, Action::Write { .. });
    let far = trace.windows(2).position(|pair| {
        is_write(pair[0])
            && matches!(pair[1].action, Action::Interrupt { .. })
            && pair[1].instruction.saturating_sub(pair[0].instruction) >= FAR
    });
    let from = far.map_or(0, |at| at.saturating_sub(1));
    trace.into_iter().skip(from).take(4).collect()
}

fn verdict(report: &Report) -> String {
    let requested = report.interrupts.iter().fold(0u64, |sum, one| sum.saturating_add(one.requested));
    let passed = report.checks.iter().filter(|check| check.passed()).count();
    format!(
        "The counter wraps with the last instruction that it has to count, and the interrupt comes before the next. In {} instructions the \
         guest had {} such interrupts, at many distances, as NMI and through a vector. It predicted every one of them: {passed} of its {} \
         checks passed.",
        grouped(report.instructions),
        grouped(requested),
        report.checks.len(),
    )
}

/// A profile by function, as a profiler shows it.
fn profile(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    let mut functions: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &report.samples {
        *functions.entry(sample.label.as_str()).or_default() += sample.hits;
    }
    let total: u64 = functions.values().sum();
    if total == 0 {
        return Ok(());
    }
    writeln!(output)?;
    say(&format!("Another guest profiles itself: it records where each of {} such interrupts occurred.", grouped(total)), output)?;
    writeln!(output)?;
    let mut rows: Vec<(&str, u64)> = functions.into_iter().collect();
    rows.sort_by_key(|(name, hits)| (std::cmp::Reverse(*hits), *name));
    let width = text::widest(rows.iter().map(|(name, _)| *name));
    let most = rows.first().map_or(1, |(_, hits)| *hits);
    for (name, hits) in rows {
        let share = hits as f64 * 100.0 / total as f64;
        writeln!(output, "  {name:<width$}  {share:5.1} %  {}", text::bar(hits, most, 40))?;
    }
    Ok(())
}

/// Misses by the size of what is walked through, out of what the guest checked.
fn chase(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    let seen = |size: &str, event: &str| {
        let (alone, first) = (format!("{size}: {event}"), format!("{size}: {event}, first pass"));
        report.checks.iter().find(|check| check.name == alone || check.name == first).map(|check| check.seen)
    };
    let sizes: Vec<&str> =
        ["2 KiB", "48 KiB", "512 KiB", "8 MiB"].into_iter().filter(|size| seen(size, "DATA_CACHE_MISSES").is_some()).collect();
    if sizes.is_empty() {
        return Ok(());
    }
    writeln!(output)?;
    say(CHASE, output)?;
    writeln!(output, "\n    array  data cache misses  lines from memory")?;
    for size in sizes {
        let count = |event| seen(size, event).map_or(String::new(), grouped);
        let (missed, memory) = (count("DATA_CACHE_MISSES"), count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE"));
        writeln!(output, "  {size:>7}  {missed:>17}  {memory:>17}")?;
    }
    Ok(())
}

fn say(paragraph: &str, output: &mut Output<'_>) -> Result<(), Error> {
    for line in text::wrap(paragraph, output.width) {
        writeln!(output, "{line}")?;
    }
    Ok(())
}
