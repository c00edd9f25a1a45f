//! `pmulab run`: runs guests and shows what they did.
//!
//! Engines and guests are behind [`Runner`]: the program is given one and knows nothing else of them.

use std::io::Write;
use std::path::PathBuf;

use crate::commands::cli::{CycleSource, Format, RunArguments, Switch};
use crate::commands::{FAILED, PASSED, USAGE, litmus, metrics, render};
use crate::dialect::select;
use crate::error::Error;
use crate::number::counted;
use crate::output::Output;
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
    let requests = requests(arguments, runner)?;
    if !arguments.metrics.is_empty() {
        return metrics::run(arguments, &requests, runner, output);
    }
    match requests.as_slice() {
        [request] if arguments.guests.iter().all(|guest| guest != ALL) => {
            let report = runner.run(request).map_err(|error| Error::usage(format!("{}: {error}", request.guest.title())))?;
            match arguments.format {
                Format::Table => render::report(&report, output)?,
                Format::Json => output.json(&render::Whole::new(&report))?,
            }
            Ok(if report.passed { PASSED } else { FAILED })
        }
        requests => several(requests, arguments.format, runner, output),
    }
}

/// Runs guests and sums each up.
fn several(requests: &[RunRequest], format: Format, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let (mut passed, mut failed, mut refused) = (0, 0, 0);
    let mut reports = Vec::new();
    let columns = render::SummaryColumns::new(requests);
    for request in requests {
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
        match format {
            Format::Table => columns.line(&report, output)?,
            Format::Json => reports.push(report),
        }
    }
    match format {
        Format::Table => writeln!(output, "\n{}: {passed} passed, {failed} failed", counted(requests.len(), "guest"))?,
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
        trace: arguments.trace,
        companion: arguments.companion == Switch::On,
        big_endian: arguments.big_endian,
        save_at: arguments.save_at,
        go_on_with: next.and_then(Engine::named),
        ..Options::default()
    };
    let request = |pmu: &str, guest| RunRequest { pmu: pmu.to_owned(), guest, engine: arguments.engine.clone(), options: options.clone() };
    let mut requests = Vec::new();
    for word in &arguments.guests {
        if word == ALL {
            let wanted = guests.iter().filter(|guest| match pmu {
                Some(pmu) => guest.pmu == pmu,
                None => [Some(arguments.engine.as_str()), next].into_iter().flatten().all(|engine| runner.executes(engine, &guest.pmu)),
            });
            let before = requests.len();
            requests.extend(wanted.map(|guest| request(&guest.pmu, Guest::Named(guest.name.clone()))));
            if requests.len() == before {
                return Err(Error::usage("there is no guest to run"));
            }
            continue;
        }
        let (pmu, guest) = named(word, pmu, &guests)?;
        requests.push(request(&pmu, guest));
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
fn known_engine(name: &str, runner: &dyn Runner) -> Result<(), Error> {
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
