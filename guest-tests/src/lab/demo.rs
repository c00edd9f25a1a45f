//! The guided demonstration that runs when no command is given.

use std::io::Write;

use super::dialect::{self, Write as RegisterWrite};
use super::error::Error;
use super::number::grouped;
use super::output::Output;
use super::run::{Guest, RunRequest, Runner};
use super::{FAILED, PASSED, decode, encode, render, select, text};
use crate::report::Report;

/// The guest that is shown.
const GUEST: &str = "overflow";

const BEGINNING: &str = "The guest below is a bare-metal program. It does what a profiling driver does: it loads a \
    counter with minus N, selects an event with the interrupt at overflow enabled, and goes on with its work. The PMU \
    is a device model; the interpreter that executes the guest only reports what it executed.";

const INTERRUPT: &str = "A counter that wraps to zero asks for its interrupt at that very event: not at the end of a \
    block of code, nor when a timer looks. So the guest can foretell what it must see, and checks it:";

const NEXT: [(&str, &str); 6] = [
    ("pmulab run --guest overflow", "the whole report, with the registers at the end"),
    ("pmulab run --guest all", "every guest, a line each"),
    ("pmulab guests", "what the other guests show"),
    ("pmulab list --search cache", "the events, and what drives each of them"),
    ("pmulab encode --pmu k8 CPU_CLK_UNHALTED:k:int", "the register write that counts an event"),
    ("pmulab decode --pmu k8 PerfEvtSel0=0x530076", "what a register value says"),
];

/// Runs the guest `overflow` and tells what happens.
///
/// # Errors
/// The guest could not be run, or the output cannot be written.
pub fn demo(runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let guests = runner.guests();
    let Some(guest) = guests.iter().find(|guest| guest.name == GUEST) else {
        let message = format!("this build has no guest `{GUEST}` to demonstrate with; `pmulab --help` shows what else there is");
        return Err(Error::usage(message));
    };
    let engine = runner.engines().first().copied().unwrap_or_default().to_owned();
    let request = RunRequest { pmu: guest.pmu.clone(), guest: Guest::Named(guest.name.clone()), engine };
    let report = runner.run(&request).map_err(|error| Error::usage(format!("{GUEST}: {error}")))?;
    writeln!(output, "vm-pmu: a performance counter that overflows at the very event\n")?;
    say(BEGINNING, output)?;
    programmed(&report, output)?;
    let requested = report.interrupts.iter().fold(0u64, |sum, one| sum.saturating_add(one.requested));
    let times = if requested == 1 { "once".to_owned() } else { format!("{} times", grouped(requested)) };
    writeln!(output, "\n2. A counter overflowed and interrupted it, {times}\n")?;
    say(INTERRUPT, output)?;
    render::checks(&report.checks, output)?;
    writeln!(output, "\n3. What was counted in {} instructions", grouped(report.instructions))?;
    render::counts(&report.counts, output)?;
    writeln!(output, "\nWhat to try next\n")?;
    let width = text::widest(NEXT.iter().map(|(command, _)| *command));
    for (command, purpose) in NEXT {
        writeln!(output, "  {command:<width$}  {purpose}")?;
    }
    if !report.passed {
        writeln!(output, "\nThis run did not show what it should: {}", report.ending)?;
    }
    Ok(if report.passed { PASSED } else { FAILED })
}

/// The registers that the guest programmed, as they stand at the end.
fn programmed(report: &Report, output: &mut Output<'_>) -> Result<(), Error> {
    let part = select::part(&report.pmu)?;
    let dialect = dialect::of(part);
    writeln!(output, "\n1. It programmed the counters of {}\n", part.catalogue().title)?;
    for register in report.registers.iter().filter(|register| register.thread == 0) {
        let Ok(description) = select::register(part, &register.name) else { continue };
        if dialect.notation(description, register.value).is_some() {
            writeln!(output, "  {}", decode::heading(description, register.value))?;
            let write = RegisterWrite { register: description, value: register.value };
            for line in text::wrap(&encode::explained(dialect, &write), output.width.saturating_sub(6)) {
                writeln!(output, "      {line}")?;
            }
        }
    }
    Ok(())
}

fn say(paragraph: &str, output: &mut Output<'_>) -> Result<(), Error> {
    for line in text::wrap(paragraph, output.width) {
        writeln!(output, "{line}")?;
    }
    Ok(())
}
