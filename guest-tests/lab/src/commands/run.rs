//! `pmulab run`: runs guests and shows what they did.
//!
//! Engines and guests are behind [`Runner`]: the program is given one and knows nothing else of them.

mod arguments;
mod page;
mod timeline;
mod tracing;

use std::io::Write;
use std::path::Path;

use vm_pmu::Part;
use vm_pmu::die::MemoryMode;

pub use arguments::{CycleSource, McdramUse, RunArguments, Switch};
pub use page::PageArguments;
pub use timeline::{Drawn, FormName, TimelineArguments};
pub use tracing::{KindName, TraceArguments};

use crate::commands::format::Format;
use crate::commands::{FAILED, PASSED, USAGE, guest, metrics, render};
use crate::dialect::select;
use crate::error::Error;
use crate::interrupt;
use crate::number::counted;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::Report;
use crate::request::{Guest, RunRequest, Runner};
use crate::runner::{Cycles, Engine, Options};
use crate::suggest;

/// Runs guests: one is shown in full, several in a line each.
///
/// # Errors
/// A PMU, guest or engine is unknown, a lone guest could not be run, or the output cannot be written.
pub fn run(arguments: &RunArguments, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let mut requests = requests(arguments, runner)?;
    if !arguments.metrics.is_empty() {
        return metrics::run(&arguments.metrics, arguments.format, &requests, runner, output);
    }
    let alone = arguments.guests().all(|guest| guest != ALL);
    if !alone || requests.len() > 1 {
        check_several(arguments)?;
    }
    let drawn = arguments.drawing.begin(if alone { &mut requests } else { &mut [] })?;
    let watched = arguments.page.begin(if alone { &mut requests } else { &mut [] })?;
    match requests.as_slice() {
        [request] if alone => {
            let report = runner.run(request);
            let drawn = drawn.map(|drawn| drawn.end()).transpose()?;
            let report = report.map_err(|error| Error::usage(format!("{}: {error}", request.guest.title())))?;
            let page = watched.map(|watched| watched.end(&report, request, runner)).transpose()?;
            let kept = arguments.output.as_deref().map(|file| keep(file, &report, request)).transpose()?;
            match arguments.format {
                Format::Table => {
                    for line in drawn.into_iter().chain(page) {
                        output.line(2, &line)?;
                    }
                    render::report(&report, output)?;
                    if let Some(kept) = kept {
                        writeln!(output)?;
                        output.line(2, &kept)?;
                    }
                }
                Format::Json => output.json(&render::Whole::new(&report))?,
            }
            Ok(if report.passed { PASSED } else { FAILED })
        }
        requests => several(requests, arguments.format, runner, output),
    }
}

/// Refuses what is of one guest alone.
fn check_several(arguments: &RunArguments) -> Result<(), Error> {
    let of_one = [
        ("a recording is of one guest", arguments.output.is_some()),
        ("gdb runs one guest", arguments.gdb.is_some()),
        ("a timeline is of one run", arguments.drawing.timeline.is_some()),
        ("a page is of one run", arguments.page.report.is_some()),
        ("a trace is of one guest, or in JSON", arguments.tracing.is_wanted() && arguments.format == Format::Table),
    ];
    match of_one.into_iter().find(|(_, given)| *given) {
        Some((what, _)) => Err(Error::usage(format!("{what}: name one"))),
        None => Ok(()),
    }
}

/// Refuses options that the machine of a guest of `pmu` has nothing for.
fn check_machine(arguments: &RunArguments, pmu: &str, guest: &Guest) -> Result<(), Error> {
    let (is_power, is_file) = (pmu == POWER9, matches!(guest, Guest::File(_)));
    let of_power = "is for guests of power9";
    let wrong = [
        ("--chips", arguments.chips.is_some() && !matches!(pmu, "k8" | POWER9), "is for guests of k8 and power9"),
        ("--chips-per-group", arguments.chips_per_group.is_some() && !is_power, of_power),
        ("--buffered", arguments.buffered && !is_power, of_power),
        ("--big-endian", arguments.big_endian && !is_power, of_power),
        ("--big-endian", arguments.big_endian && is_file, "is for guests of this project, as a file says which it is"),
        ("--chips-per-group", arguments.chips_per_group.is_some() && is_file && arguments.chips.is_none(), "needs `--chips`"),
        ("--buffered", arguments.buffered && is_file && arguments.chips.is_none(), "needs `--chips`"),
    ];
    match wrong.into_iter().find(|(_, is_wrong, _)| *is_wrong) {
        Some((option, _, why)) => Err(Error::usage(format!("{}: `{option}` {why}", guest.title()))),
        None => Ok(()),
    }
}

/// Writes the recording of a run into a file; says what it has, in one line.
fn keep(file: &Path, report: &Report, request: &RunRequest) -> Result<String, Error> {
    let Some(mut recording) = report.recording.clone() else {
        return Err(Error::usage(format!("the engine {} does not record: leave out --output", request.engine)));
    };
    recording.litmus.title = format!("A recording of {}", report.guest);
    std::fs::write(file, recording.litmus.to_string())
        .map_err(|error| Error::usage(format!("{} cannot be written: {error}", file.display())))?;
    let mut line = format!("Recorded {} in {}", counted(recording.litmus.steps.len(), "statement"), file.display());
    if recording.is_cut {
        line.push_str(": there were more; --record-most sets how many are kept");
    }
    if recording.left_out != 0 {
        line.push_str(&format!("; left out: {} that a litmus file cannot state", counted(recording.left_out as usize, "call")));
    }
    Ok(line + ".")
}

/// Runs guests and sums each up.
fn several(requests: &[RunRequest], format: Format, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let (mut ran, mut passed, mut failed, mut refused) = (0, 0, 0, 0);
    let mut reports = Vec::new();
    let columns = render::SummaryColumns::new(requests);
    let mut progress = Progress::new("guests", requests.len());
    for (at, request) in requests.iter().enumerate() {
        progress.at(at, output)?;
        let report = runner.run(request).unwrap_or_else(|error| {
            refused += 1;
            Report {
                guest: request.guest.title(),
                pmu: request.pmu.clone(),
                engine: request.engine.clone(),
                ending: format!("not run: {error}"),
                ..Report::default()
            }
        });
        if report.passed {
            passed += 1;
        } else {
            failed += 1;
        }
        progress.finish();
        ran += 1;
        match format {
            Format::Table => columns.line(&report, output)?,
            Format::Json => reports.push(report),
        }
        if interrupt::is_requested() {
            break;
        }
    }
    match format {
        Format::Table => writeln!(output, "\n{}: {passed} passed, {failed} failed", counted(ran, "guest"))?,
        Format::Json => output.json(&reports.iter().map(render::Whole::new).collect::<Vec<_>>())?,
    }
    Ok(match (refused, failed) {
        (0, 0) => PASSED,
        (0, _) => FAILED,
        _ => USAGE,
    })
}

/// The word for every guest.
const ALL: &str = "all";
/// The PMU of chips that are divided among groups and have buffers.
const POWER9: &str = "power9";

fn requests(arguments: &RunArguments, runner: &dyn Runner) -> Result<Vec<RunRequest>, Error> {
    let pmu = guest::part_named(arguments.pmu.as_deref())?;
    known_engine(&arguments.engine, runner)?;
    let next = arguments.go_on_with.as_deref();
    next.map_or(Ok(()), |engine| known_engine(engine, runner))?;
    let guests = runner.guests();
    let options = Options {
        parallel: arguments.parallel,
        limit: arguments.steps,
        cycles: match arguments.cycles {
            CycleSource::Engine => Cycles::Engine,
            CycleSource::Tsc => Cycles::Tsc,
        },
        seconds: arguments.seconds,
        revision: arguments.revision.clone(),
        cpus: arguments.cpus.unwrap_or(1),
        chips: arguments.chips.unwrap_or(0),
        chips_per_group: arguments.chips_per_group.unwrap_or(0),
        buffered: arguments.buffered,
        memory_mode: match arguments.memory_mode.unwrap_or_default() {
            McdramUse::Cache => MemoryMode::Cache,
            McdramUse::Flat => MemoryMode::Flat,
            McdramUse::HybridQuarter => MemoryMode::HybridQuarter,
            McdramUse::HybridHalf => MemoryMode::HybridHalf,
        },
        recording: if arguments.output.is_some() { arguments.record_most } else { 0 },
        companion: arguments.companion == Switch::On,
        big_endian: arguments.big_endian,
        save_at: arguments.save_at,
        go_on_with: next.and_then(Engine::named),
        gdb: arguments.gdb.clone(),
        ..Options::default()
    };
    let request = |pmu: &str, guest| -> Result<RunRequest, Error> {
        let given = [
            ("--cpus", arguments.cpus.is_some()),
            ("--chips", arguments.chips.is_some()),
            ("--memory-mode", arguments.memory_mode.is_some()),
        ];
        guest::for_files(&guest, pmu, &guests, &given)?;
        check_machine(arguments, pmu, &guest)?;
        if let Some(part) = Part::named(pmu) {
            select::revised(part, arguments.revision.as_deref())?;
        }
        let options = Options { trace: arguments.tracing.choice(pmu)?, ..options.clone() };
        Ok(RunRequest { pmu: pmu.to_owned(), guest, engine: arguments.engine.clone(), options })
    };
    let mut requests = Vec::new();
    for word in arguments.guests() {
        if word == ALL {
            let wanted = guests.iter().filter(|guest| match pmu {
                Some(pmu) => guest.pmu == pmu,
                None => [Some(arguments.engine.as_str()), next].into_iter().flatten().all(|engine| runner.executes(engine, &guest.pmu)),
            });
            let before = requests.len();
            for guest in wanted {
                requests.push(request(&guest.pmu, Guest::Named(guest.name.clone()))?);
            }
            if requests.len() == before {
                return Err(Error::usage("there is no guest to run"));
            }
            continue;
        }
        let (pmu, guest) = guest::named(word, pmu, &guests)?;
        requests.push(request(&pmu, guest)?);
    }
    Ok(requests)
}

/// Whether the runner has an engine of this name.
///
/// # Errors
/// It has none.
pub(super) fn known_engine(name: &str, runner: &dyn Runner) -> Result<(), Error> {
    let engines = runner.engines();
    if engines.contains(&name) {
        return Ok(());
    }
    if let Some(engine) = Engine::named(name) {
        return Err(Error::usage(format!("this build has no engine `{engine}`: build with `--features {engine}`")));
    }
    let otherwise = suggest::there_are(engines.iter().copied());
    let hint = suggest::did_you_mean(name, engines, &otherwise);
    Err(Error::usage(format!("no engine is called `{name}`{hint}")))
}
