//! `pmulab litmus`: runs litmus files, begins them and makes them smaller.

pub mod arguments;
mod begin;
mod find;
mod wrong;

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use vm_pmu::litmus::{Case, Litmus};

use crate::commands::format::Format;
use crate::commands::{FAILED, PASSED, USAGE};
use crate::error::Error;
use crate::files::{self, FileKind};
use crate::number::counted;
use crate::output::Output;
use crate::progress::Progress;
use arguments::{LitmusArguments, LitmusCommand};
pub use find::missing;
use wrong::Mistake;

/// What became of a program of a litmus file.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The path of the file.
    pub file: String,
    /// The PMU that it is about; nothing for a file that is not understood, as for all that the header says.
    pub pmu: Option<&'static str>,
    /// The rule.
    pub title: Option<String>,
    /// The section that states it.
    pub section: Option<String>,
    /// `ok`, `failed` or `not understood`.
    pub outcome: &'static str,
    /// How many expectations were met in a program that is `ok`.
    pub expectations: Option<usize>,
    /// The first expectation that was not met.
    pub failure: Option<Failed>,
    /// What is wrong with a file that is not understood.
    pub mistakes: Vec<Mistake>,
}

/// An expectation that was not met.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// Its line; 0 for the file as a whole.
    pub line: usize,
    /// What was observed, and what was expected.
    pub message: String,
}

/// Runs litmus files, one line for each program. A file that cannot be read or understood has its lines among the errors and the others still
/// run.
///
/// # Errors
/// A path leads nowhere, no file fits, or the output cannot be written.
pub fn litmus(arguments: &LitmusArguments, output: &mut Output<'_>, errors: &mut dyn Write) -> Result<u8, Error> {
    match &arguments.command {
        Some(LitmusCommand::Shrink { file }) => return shrink(file, output),
        Some(LitmusCommand::New(arguments)) => return begin::begin(arguments, output),
        None => {}
    }
    let sources = find::sources(&arguments.paths, &arguments.wanted)?;
    let mut progress = Progress::new("litmus files", sources.len());
    let (mut outcomes, mut checked) = (Vec::new(), 0);
    for (at, source) in sources.iter().enumerate() {
        progress.at(at, output)?;
        let outcome = source.run();
        checked += outcome.expectations.unwrap_or(0);
        progress.finish();
        if arguments.format == Format::Table {
            show(&outcome, source, arguments.failures, output, errors)?;
        }
        outcomes.push(outcome);
    }
    let count = |word: &str| outcomes.iter().filter(|outcome| outcome.outcome == word).count();
    let (passed, failed, wrong) = (count(OK), count(FAIL), count(WRONG));
    match arguments.format {
        Format::Json => {
            outcomes.retain(|outcome| !arguments.failures || outcome.outcome != OK);
            output.json(&outcomes)?;
        }
        Format::Table => {
            let files = find::files(&sources);
            let with = if files == sources.len() { String::new() } else { format!(" with {}", counted(sources.len(), "rule")) };
            let mut words = vec![format!("{}{with}: {passed} ok", counted(files, "litmus file")), format!("{failed} failed")];
            if wrong > 0 {
                words.push(format!("{wrong} not understood"));
            }
            writeln!(output, "{}; {}", words.join(", "), counted(checked, "expectation") + " met")?;
        }
    }
    Ok(match (wrong, failed) {
        (0, 0) => PASSED,
        (0, _) => FAILED,
        _ => USAGE,
    })
}

const OK: &str = "ok";
const FAIL: &str = "failed";
const WRONG: &str = "not understood";

fn show(outcome: &Outcome, source: &find::Source, failures: bool, output: &mut Output<'_>, errors: &mut dyn Write) -> Result<(), Error> {
    let (file, title) = (&outcome.file, outcome.title.as_deref().unwrap_or_default());
    match (&outcome.failure, outcome.outcome) {
        (_, WRONG) => {
            wrong::tell(file, source.text.as_deref().unwrap_or_default(), &outcome.mistakes, errors);
        }
        (Some(failure), _) => {
            let place = if failure.line == 0 { String::new() } else { format!("line {}: ", failure.line) };
            output.line(8, &format!("{}  {file}: {place}{}", output.bad("FAILED"), failure.message))?;
        }
        (None, _) if failures => {}
        (None, _) => output.line(8, &format!("{}      {file}: {title}", output.good("ok")))?,
    }
    Ok(())
}

/// The text of a litmus file or a recording; of a file of another kind, what it is and what is `right`.
fn text_of(file: &Path, right: &str) -> Result<String, String> {
    files::read_kind(file, Some(FileKind::Litmus), right).map_err(|error| error.to_string())
}

/// What a recording is, for those who name another file.
const RIGHT: &str = "recordings are what `pmulab run GUEST -o FILE` writes";

/// The program of a file, and its text.
pub(super) fn read_with_text(file: &Path) -> Result<(Litmus, String), Error> {
    let parsed = |text: String| match text.parse::<Litmus>() {
        Ok(litmus) => Ok((litmus, text)),
        Err(error) => Err(error.to_string()),
    };
    text_of(file, RIGHT).and_then(parsed).map_err(|error| Error::usage(format!("{}: {error}", file.display())))
}

/// The program of a file.
pub(super) fn read(file: &Path) -> Result<Litmus, Error> {
    read_with_text(file).map(|(litmus, _)| litmus)
}

/// Prints a smaller file, of the first program that fails or breaks the contract: in it the same expectation sees the same, or it still breaks
/// the contract.
fn shrink(file: &Path, output: &mut Output<'_>) -> Result<u8, Error> {
    if !file.exists() {
        return Err(missing(file));
    }
    let text = text_of(file, RIGHT);
    let cases = text.and_then(|text| Case::of_file(&text).map_err(|errors| errors.iter().take(1).map(ToString::to_string).collect()));
    let mut met = 0;
    for Case { litmus, .. } in cases.map_err(|why| Error::usage(format!("{}: {why}", file.display())))? {
        let small = match litmus.run() {
            Err(failure) => litmus.shrink(|smaller| smaller.run() == Err(failure.clone())),
            Ok(_) if litmus.try_contract().is_err() => litmus.shrink(|smaller| smaller.try_contract().is_err()),
            Ok(expectations) => {
                met += expectations;
                continue;
            }
        };
        write!(output, "{small}")?;
        return Ok(PASSED);
    }
    let met = counted(met, "expectation") + " met";
    Err(Error::usage(format!("{}: nothing fails in it: {met}, and all embedders see the same", file.display())))
}
