//! `pmulab run`: runs guests and shows what they did.
//!
//! Engines and guests are behind [`Runner`]: the program is given one and knows nothing else of them.

mod page;
mod timeline;
mod tracing;

use std::io::Write;
use std::path::{Path, PathBuf};

use vm_pmu::die::MemoryMode;

pub use page::PageArguments;
pub use timeline::{Drawn, FormName, TimelineArguments};
pub use tracing::{KindName, TraceArguments};

use crate::commands::cli::{CycleSource, Format, McdramUse, RunArguments, Switch};
use crate::commands::{FAILED, PASSED, USAGE, litmus, metrics, render};
use crate::dialect::select;
use crate::error::Error;
use crate::interrupt;
use crate::number::counted;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::Report;
use crate::request::{Guest, GuestInfo, RunRequest, Runner};
use crate::runner::{Cycles, Engine, Options};
use crate::suggest;

/// The PMU of a guest that comes as a file and says nothing.
const DEFAULT_PMU: &str = "k8";

/// Runs guests: one is shown in full, several in a line each.
///
/// # Errors
/// A PMU, guest or engine is unknown, a lone guest could not be run, or the output cannot be written.
pub fn run(arguments: &RunArguments, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let mut requests = requests(arguments, runner)?;
    if !arguments.metrics.is_empty() {
        return metrics::run(arguments, &requests, runner, output);
    }
    let alone = arguments.guests.iter().all(|guest| guest != ALL);
    let drawn = arguments.drawing.begin(if alone { &mut requests } else { &mut [] })?;
    let watched = arguments.page.begin(if alone { &mut requests } else { &mut [] })?;
    match requests.as_slice() {
        [request] if alone => {
            let report = runner.run(request);
            let drawn = drawn.map(|drawn| drawn.end()).transpose()?;
            let report = report.map_err(|error| Error::usage(format!("{}: {error}", request.guest.title())))?;
            let page = watched.map(|watched| watched.end(&report, request, runner)).transpose()?;
            let kept = arguments.record.as_deref().map(|file| keep(file, &report, request)).transpose()?;
            match arguments.format {
                Format::Table => {
                    for line in drawn.into_iter().chain(page) {
                        writeln!(output, "{line}")?;
                    }
                    render::report(&report, output)?;
                    kept.map_or(Ok(()), |kept| writeln!(output, "\n{kept}"))?;
                }
                Format::Json => output.json(&render::Whole::new(&report))?,
            }
            Ok(if report.passed { PASSED } else { FAILED })
        }
        _ if arguments.record.is_some() => Err(Error::usage("a recording is of one guest: name one with --guest")),
        requests => several(requests, arguments.format, runner, output),
    }
}

/// Writes the recording of a run into a file; says what it has, in one line.
fn keep(file: &Path, report: &Report, request: &RunRequest) -> Result<String, Error> {
    let Some(mut recording) = report.recording.clone() else {
        return Err(Error::usage(format!("the engine {} does not record: leave out --record", request.engine)));
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

/// What `--guest` takes for every guest.
const ALL: &str = "all";

fn requests(arguments: &RunArguments, runner: &dyn Runner) -> Result<Vec<RunRequest>, Error> {
    let pmu = arguments.pmu.as_deref().map(|name| select::part(name).map(|part| part.name())).transpose()?;
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
        cpus: arguments.cpus,
        chips: arguments.chips,
        chips_per_group: arguments.chips_per_group,
        buffered: arguments.buffered,
        memory_mode: match arguments.memory_mode {
            McdramUse::Cache => MemoryMode::Cache,
            McdramUse::Flat => MemoryMode::Flat,
            McdramUse::HybridQuarter => MemoryMode::HybridQuarter,
            McdramUse::HybridHalf => MemoryMode::HybridHalf,
        },
        recording: if arguments.record.is_some() { arguments.record_most } else { 0 },
        companion: arguments.companion == Switch::On,
        big_endian: arguments.big_endian,
        save_at: arguments.save_at,
        go_on_with: next.and_then(Engine::named),
        gdb: arguments.gdb.clone(),
        ..Options::default()
    };
    let request = |pmu: &str, guest| -> Result<RunRequest, Error> {
        let options = Options { trace: arguments.tracing.choice(pmu)?, ..options.clone() };
        Ok(RunRequest { pmu: pmu.to_owned(), guest, engine: arguments.engine.clone(), options })
    };
    let mut requests = Vec::new();
    for word in &arguments.guests {
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
        let (pmu, guest) = named(word, pmu, &guests)?;
        requests.push(request(&pmu, guest)?);
    }
    Ok(requests)
}

/// The guest that `word` is, the name of one of `guests` or the path of a file, and its PMU: `pmu` if that is given.
///
/// # Errors
/// There is no such guest or file, or it does not say which PMU.
pub(super) fn named(word: &str, pmu: Option<&str>, guests: &[GuestInfo]) -> Result<(String, Guest), Error> {
    let pmus: Vec<&str> = guests.iter().filter(|guest| guest.name == *word).map(|guest| guest.pmu.as_str()).collect();
    let guest = || Guest::Named(word.to_owned());
    match (pmus.as_slice(), pmu) {
        ([], _) => Ok((pmu.unwrap_or(DEFAULT_PMU).to_owned(), file(word, guests)?)),
        (pmus, Some(pmu)) if !pmus.contains(&pmu) => {
            Err(Error::usage(format!("guest `{word}` does not drive {pmu}: it drives {}", pmus.join(", "))))
        }
        (_, Some(pmu)) => Ok((pmu.to_owned(), guest())),
        ([only], None) => Ok(((*only).to_owned(), guest())),
        (pmus, None) => Err(Error::usage(format!("guest `{word}` drives {}: choose one with --pmu", pmus.join(", ")))),
    }
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

/// The file that a word which names no guest leads to.
fn file(word: &str, guests: &[GuestInfo]) -> Result<Guest, Error> {
    let path = PathBuf::from(word);
    if path.is_file() {
        return Ok(Guest::File(path));
    }
    if path.is_dir() {
        return Err(Error::usage(format!("`{word}` is a folder, not an ELF file")));
    }
    if word.contains(['/', '\\']) {
        return Err(litmus::missing(&path));
    }
    let otherwise = if guests.is_empty() { "this build has none" } else { "`pmulab guests` lists them" };
    let hint = suggest::did_you_mean(word, guests.iter().map(|guest| guest.name.as_str()), otherwise);
    Err(Error::usage(format!("no guest or file is called `{word}`{hint}")))
}
