//! The program `pmulab`: shows what the PMUs can do, at a prompt. One module a command.
//!
//! Everything is printed through one writer, so that tests see what a user sees. An error in what the user typed is one line with the
//! nearest names that would be right.

pub mod boot;
pub mod cli;
pub mod conformance;
pub mod decode;
pub mod demo;
pub mod difference;
pub mod encode;
pub mod explain;
pub mod format;
pub mod groups;
pub mod guest;
pub mod guests;
pub mod list;
pub mod litmus;
pub mod metrics;
pub mod new;
pub mod profile;
pub mod render;
pub mod replay;
pub mod run;
pub mod shell;
mod stack;
pub mod stat;
pub mod top;
mod usage;

use std::io::Write as _;

use clap::{CommandFactory as _, Parser};

use crate::error::Error;
use crate::output::Output;
use crate::request::Runner;
use cli::{Cli, Command};

/// The status of a run that showed what it should.
pub const PASSED: u8 = 0;
/// The status of a run that did not.
pub const FAILED: u8 = 1;
/// The status of a command that could not be carried out as it was given.
pub const USAGE: u8 = 2;

/// Carries out the command line `arguments` (the program's name first) and returns the exit status.
///
/// What the command shows goes to `output`; the one line about a mistake goes to `errors`.
pub fn main<I, T>(arguments: I, runner: &dyn Runner, output: &mut Output<'_>, errors: &mut dyn std::io::Write) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<std::ffi::OsString> + Clone,
{
    let status = match Cli::try_parse_from(arguments) {
        Ok(cli) => perform(&cli, runner, output, errors).and_then(|status| output.finish().map(|()| status)),
        Err(error) => return tell(&error, output, errors),
    };
    status.unwrap_or_else(|error| {
        let _ = output.finish();
        error.tell(errors);
        USAGE
    })
}

/// Prints help where it was asked for, and the line about what is wrong with a command line otherwise.
fn tell(error: &clap::Error, output: &mut Output<'_>, errors: &mut dyn std::io::Write) -> u8 {
    if error.use_stderr() {
        Error::usage(usage::line(error)).tell(errors);
    } else {
        // If the text cannot be written, that cannot be reported either.
        let _ = write!(output, "{}", error.render()).and_then(|()| output.flush());
    }
    u8::try_from(error.exit_code()).unwrap_or(USAGE)
}

fn perform(cli: &Cli, runner: &dyn Runner, output: &mut Output<'_>, errors: &mut dyn std::io::Write) -> Result<u8, Error> {
    match &cli.command {
        None => demo::demo(runner, output),
        Some(Command::Run(arguments)) => run::run(arguments, runner, output),
        Some(Command::Guests(arguments)) => guests::guests(arguments, runner, output),
        Some(Command::List(arguments)) => list::list(arguments, output),
        Some(Command::Explain(arguments)) => explain::explain(arguments, output),
        Some(Command::Decode(arguments)) => decode::decode(arguments, output),
        Some(Command::Encode(arguments)) => encode::encode(arguments, output),
        Some(Command::Metrics(arguments)) => metrics::metrics(arguments, output),
        Some(Command::Replay(arguments)) => replay::replay(arguments, output),
        Some(Command::Diff(arguments)) => difference::diff(arguments, output),
        Some(Command::Boot(arguments)) => boot::boot(arguments, output, errors),
        Some(Command::Conformance(arguments)) => conformance::conformance(arguments, output),
        Some(Command::New(arguments)) => new::new(arguments, output),
        Some(Command::Completions(arguments)) => shell::completions(arguments, &mut Cli::command(), output),
        Some(Command::Man(arguments)) => shell::man(arguments, Cli::command(), output),
        Some(Command::Record(arguments)) => profile::record(arguments, runner, output),
        Some(Command::Report(arguments)) => profile::report(arguments, output),
        Some(Command::Annotate(arguments)) => profile::annotate(arguments, output),
        Some(Command::Top(arguments)) => top::top(arguments, runner, output),
        Some(Command::Stat(arguments)) => stat::stat(arguments, runner, output),
        Some(Command::Litmus(arguments)) => litmus::litmus(arguments, output, errors),
    }
}
