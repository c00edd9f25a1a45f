//! `pmulab replay`: does again what was recorded.

pub mod traced;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use vm_pmu::litmus::{Failure, Litmus};

use crate::commands::format::Format;
use crate::commands::run::{TimelineArguments, TraceArguments};
use crate::commands::{FAILED, PASSED, litmus};
use crate::error::Error;
use crate::number::counted;
use crate::output::Output;

/// Arguments of `pmulab replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// A recording, or any litmus file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Cut the recording: begin with this line, or with the first line from there on that begins with this text
    #[arg(long, value_name = "LINE|TEXT")]
    pub from: Option<String>,
    /// Cut the recording: end before this line, or before the first line after the beginning that begins with this text
    #[arg(long, value_name = "LINE|TEXT")]
    pub to: Option<String>,
    /// Write the stretch into this file, as a program that begins with what the machine remembers there
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How many lines before the first difference are shown
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub context: usize,
    /// What is traced.
    #[command(flatten)]
    pub tracing: TraceArguments,
    /// What is drawn over time.
    #[command(flatten)]
    pub drawing: TimelineArguments,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Runs a recording and shows the first difference, or writes a stretch of it.
///
/// # Errors
/// The file cannot be read or written, or has no such lines.
pub fn replay(arguments: &ReplayArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let (whole, text) = litmus::read_with_text(&arguments.file)?;
    let name = arguments.file.display();
    let lines: Vec<&str> = text.lines().collect();
    let is_cut = arguments.from.is_some() || arguments.to.is_some();
    if arguments.output.is_some() && !is_cut {
        return Err(Error::usage("--output takes a stretch of the recording: say where it begins or ends with --from or --to"));
    }
    let from = place(&whole, &lines, arguments.from.as_deref(), 0)?.unwrap_or(0);
    let to = place(&whole, &lines, arguments.to.as_deref(), from + usize::from(arguments.from.is_some()))?.unwrap_or(whole.steps.len());
    if is_cut && from >= to {
        return Err(Error::usage("the stretch has no statement: --to must be behind --from"));
    }
    let program = if is_cut {
        match whole.span(from..to) {
            Ok(span) => span,
            Err(failure) => return differs(&failure, &whole, &lines, arguments.context, output),
        }
    } else {
        whole
    };
    if let Some(file) = &arguments.output {
        let refused = |error| Error::usage(format!("{} cannot be written: {error}", file.display()));
        std::fs::write(file, program.to_string()).map_err(refused)?;
    }
    let traced = traced::trace(&program, &arguments.tracing, &arguments.drawing)?;
    let status = if traced.replayed.difference.is_some() { FAILED } else { PASSED };
    if arguments.format == Format::Json {
        traced.json(name.to_string(), output)?;
        return Ok(status);
    }
    traced.show(output)?;
    match traced.replayed.difference {
        None => {
            let statements = counted(program.steps.len(), "statement");
            let checked = counted(traced.replayed.checked, "observation");
            output.line(2, &format!("{}: {statements} of {name} on {}, {checked}", output.good("the same"), program.part))?;
            Ok(PASSED)
        }
        // The lines of a stretch are not those of the file.
        Some(failure) if is_cut => {
            let printed = program.to_string();
            let numbered: Litmus = printed.parse().map_err(|error: vm_pmu::litmus::ParseError| Error::usage(error.to_string()))?;
            let failure = numbered.run().err().unwrap_or(failure);
            differs(&failure, &numbered, &printed.lines().collect::<Vec<_>>(), arguments.context, output)
        }
        Some(failure) => differs(&failure, &program, &lines, arguments.context, output),
    }
}

/// Shows a failure with the lines before it.
fn differs(failure: &Failure, program: &Litmus, lines: &[&str], before: usize, output: &mut Output<'_>) -> Result<u8, Error> {
    let place = program.steps.iter().position(|(line, _)| *line == failure.line);
    let done = place.map_or_else(String::new, |place| format!(" after {} that showed the same", counted(place, "statement")));
    output.line(2, &format!("{}{done}: {}", output.bad("the first difference"), failure.message))?;
    if failure.line == 0 {
        return Ok(FAILED);
    }
    writeln!(output)?;
    let first = failure.line.saturating_sub(before + 1);
    for (number, line) in lines.iter().enumerate().take(failure.line).skip(first) {
        let mark = if number + 1 == failure.line { output.bad(">") } else { " ".to_owned() };
        output.line(13, &format!("{mark} {:>7}  {line}", number + 1))?;
    }
    Ok(FAILED)
}

/// The number of the statement that a line or the beginning of a text names, from statement `least` on.
fn place(program: &Litmus, lines: &[&str], word: Option<&str>, least: usize) -> Result<Option<usize>, Error> {
    let Some(word) = word else { return Ok(None) };
    let text = |line: usize| lines.get(line.wrapping_sub(1)).map_or("", |text| text.trim());
    let is_it = |line: usize| word.parse::<usize>().map_or_else(|_| text(line).starts_with(word), |number| line >= number);
    let found = program.steps.iter().enumerate().skip(least).find(|(_, (line, _))| is_it(*line));
    match found {
        Some((place, _)) => Ok(Some(place)),
        None if word.parse::<usize>().is_ok() => {
            Err(Error::usage(format!("the recording has no statement in line {word} or behind: it has {} lines", lines.len())))
        }
        None => Err(Error::usage(format!(
            "no statement there begins with `{word}`: give a line's number, or its first words as they are in the file"
        ))),
    }
}
