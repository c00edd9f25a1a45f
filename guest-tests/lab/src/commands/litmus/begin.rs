//! `pmulab litmus new`: the beginning of a litmus file.

use std::fs::OpenOptions;
use std::io::{self, BufRead, IsTerminal, Write};

use vm_pmu::Part;
use vm_pmu::arch::registry::NAMES;
use vm_pmu::litmus::Litmus;

use super::arguments::NewArguments;
use crate::commands::PASSED;
use crate::dialect::select;
use crate::error::Error;
use crate::output::Output;

/// Writes a litmus file of what the arguments say, and of answers to what they leave out.
///
/// # Errors
/// The file is there already, there is no answer, a statement of the arguments is none, or the file cannot be written.
pub(super) fn begin(arguments: &NewArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let file = arguments.file.display();
    if arguments.file.exists() {
        return Err(Error::usage(format!("{file} is there already")));
    }
    let text = whole(arguments, &mut io::stdin().lock(), io::stdin().is_terminal(), output)?;
    let written =
        OpenOptions::new().write(true).create_new(true).open(&arguments.file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Error::usage(format!("cannot write {file}: {error}")))?;
    writeln!(output, "{file}: run it with `pmulab litmus {file}`")?;
    Ok(PASSED)
}

/// The text of the file. Questions are shown if somebody is there to read them.
fn whole(arguments: &NewArguments, answers: &mut dyn BufRead, shows: bool, output: &mut Output<'_>) -> Result<String, Error> {
    let mut asker = Asker { answers, shows, output };
    let part = match &arguments.pmu {
        Some(name) => select::part(name)?,
        None => {
            asker.ask(&format!("PMU ({})", NAMES.join(", ")), "--pmu", |answer| select::part(answer).map_err(|error| error.to_string()))?
        }
    };
    let line = |answer: &str| Ok(answer.to_owned());
    let title = match &arguments.title {
        Some(title) => title.clone(),
        None => asker.ask("The rule, in one line", "--title", line)?,
    };
    let section = match &arguments.section {
        Some(section) => section.clone(),
        None => asker.ask("The section that states it", "--section", line)?,
    };
    let header = format!("title: {}\npmu: {}\nsection: {}\n\n", one_line(&title), part.name(), one_line(&section));
    let mut statements = Vec::new();
    for statement in &arguments.statements {
        check(&header, statement).map_err(|why| Error::usage(format!("--statement: {why}")))?;
        statements.push(statement.clone());
    }
    if statements.is_empty() {
        asker.say("Statements, one a line; an empty line ends them")?;
        while let Some(statement) = asker.line("> ")?.filter(|line| !line.is_empty()) {
            match check(&header, &statement) {
                Ok(()) => statements.push(statement),
                // Somebody who is asked can answer again.
                Err(why) if shows => asker.say(&why)?,
                Err(why) => return Err(Error::usage(why)),
            }
        }
    }
    if statements.is_empty() {
        statements.extend(first(part));
    }
    Ok(format!("{header}{}\n", statements.join("\n")))
}

/// A statement that is true of every part that has just been reset: its first register is zero.
fn first(part: Part) -> Option<String> {
    let register = select::registers(part).first()?;
    Some(format!("read {} = 0      # replace this by what sets up the rule, and what must be observed", register.name))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a statement is one, behind this header.
fn check(header: &str, statement: &str) -> Result<(), String> {
    if statement.contains('\n') {
        return Err("a statement is one line".to_owned());
    }
    let wrong = Litmus::parse(&format!("{header}{statement}\n")).err().and_then(|errors| errors.into_iter().next());
    wrong.map_or(Ok(()), |error| Err(error.message))
}

struct Asker<'a, 'b> {
    answers: &'a mut dyn BufRead,
    shows: bool,
    output: &'a mut Output<'b>,
}

impl Asker<'_, '_> {
    fn say(&mut self, text: &str) -> Result<(), Error> {
        if self.shows {
            writeln!(self.output, "{text}")?;
        }
        Ok(())
    }

    /// The next line of answers; nothing at their end.
    fn line(&mut self, prompt: &str) -> Result<Option<String>, Error> {
        if self.shows {
            write!(self.output, "{prompt}")?;
            self.output.flush()?;
        }
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).map_err(|error| Error::usage(format!("cannot read an answer: {error}")))?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    }

    /// Asks until an answer will do.
    fn ask<T>(&mut self, question: &str, option: &str, take: impl Fn(&str) -> Result<T, String>) -> Result<T, Error> {
        while let Some(answer) = self.line(&format!("{question}: "))? {
            match take(&answer) {
                _ if answer.is_empty() => self.say("an answer is needed")?,
                Ok(taken) => return Ok(taken),
                Err(why) if self.shows => self.say(&why)?,
                Err(why) => return Err(Error::usage(why)),
            }
        }
        Err(Error::usage(format!("there is no answer: give {option}")))
    }
}
