//! A wrong command line, said in one line: what is wrong, and what would be right.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::commands::cli::Cli;
use crate::suggest::{did_you_mean, there_are};

/// The line about `error`, without the program's name.
pub(super) fn line(error: &clap::Error) -> String {
    let told = |kind| strings(error.get(kind));
    let one = |kind| told(kind).join(" and ");
    let (argument, value) = (one(ContextKind::InvalidArg), one(ContextKind::InvalidValue));
    let command = command_of(error);
    let help = format!("`{command} --help` says what there is");
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => format!("`{argument}` needs a value{}", valid(&told(ContextKind::ValidValue))),
        ErrorKind::InvalidValue => {
            let values = told(ContextKind::ValidValue);
            let values = values.iter().map(String::as_str);
            format!("`{value}` is no value of `{argument}`{}", did_you_mean(&value, values.clone(), &there_are(values)))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map_or_else(String::new, |source| format!(": {}", one_line(&source.to_string())));
            format!("`{value}` is no value of `{argument}`{why}")
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let names = told(ContextKind::SuggestedArg);
            match names.first() {
                Some(name) => format!("`{command}` has no option `{argument}`: did you mean {name}?"),
                None => format!("`{command}` has no option `{argument}`; {help}"),
            }
        }
        ErrorKind::UnknownArgument => format!("`{command}` takes no further word, and `{argument}` is one; {help}"),
        ErrorKind::InvalidSubcommand => {
            let word = one(ContextKind::InvalidSubcommand);
            let commands = Cli::command();
            let names = commands.get_subcommands().map(clap::Command::get_name);
            format!("no command is called `{word}`{}", did_you_mean(&word, names, "`pmulab --help` lists them"))
        }
        ErrorKind::MissingRequiredArgument => format!("`{command}` needs {}", quoted(&told(ContextKind::InvalidArg))),
        ErrorKind::ArgumentConflict => match told(ContextKind::PriorArg).as_slice() {
            [] => format!("`{argument}` cannot be used with the other arguments; {help}"),
            [same] if *same == argument => format!("`{argument}` can be given once"),
            others => format!("`{argument}` cannot be used with {}", quoted(others)),
        },
        ErrorKind::TooManyValues => format!("`{argument}` takes no value `{value}`"),
        ErrorKind::NoEquals => format!("a value of `{argument}` follows `=`: write {}", argument.replace(['[', ']'], "")),
        // The first line says what is wrong.
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("{}; {help}", first.trim_start_matches("error: "))
        }
    }
}

/// What a context has, as texts.
fn strings(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

/// The program and the command that was given, out of the line about its usage.
fn command_of(error: &clap::Error) -> String {
    let usage = strings(error.get(ContextKind::Usage)).concat();
    let words = usage.trim_start_matches("Usage:").split_whitespace();
    let names: Vec<&str> = words.take_while(|word| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')).collect();
    match names.as_slice() {
        [program, rest @ ..] if !program.starts_with('-') => {
            let commands = rest.iter().take_while(|word| !word.starts_with('-'));
            std::iter::once(program).chain(commands).copied().collect::<Vec<_>>().join(" ")
        }
        _ => "pmulab".to_owned(),
    }
}

/// Which values there are, at the end of a line.
fn valid(values: &[String]) -> String {
    if values.is_empty() { String::new() } else { format!("; {}", there_are(values.iter().map(String::as_str))) }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn said(arguments: &[&str]) -> String {
        let error = Cli::try_parse_from([&["pmulab"], arguments].concat()).expect_err("the line is wrong");
        line(&error)
    }

    #[test]
    fn a_wrong_value_has_those_that_are_right() {
        assert_eq!(said(&["guests", "--format", "xml"]), "`xml` is no value of `--format <FORMAT>`; there are table and json");
        assert_eq!(said(&["guests", "--format", "jsn"]), "`jsn` is no value of `--format <FORMAT>`: did you mean json?");
        assert_eq!(said(&["guests", "--format"]), "`--format <FORMAT>` needs a value; there are table and json");
        assert_eq!(said(&["stat", "count", "-r", "0"]), "`0` is no value of `--repeat <COUNT>`: 0 is not in 1..=1000");
        assert_eq!(said(&["diff", "a", "b", "--most", "ten"]), "`ten` is no value of `--most <COUNT>`: invalid digit found in string");
    }

    #[test]
    fn an_unknown_option_or_command_has_the_nearest_one() {
        assert_eq!(said(&["guests", "--formt", "json"]), "`pmulab guests` has no option `--formt`: did you mean --format?");
        assert_eq!(said(&["guests", "-z"]), "`pmulab guests` has no option `-z`; `pmulab guests --help` says what there is");
        assert_eq!(said(&["guest"]), "no command is called `guest`: did you mean guests?");
        assert_eq!(said(&["frobnicate"]), "no command is called `frobnicate`; `pmulab --help` lists them");
        assert_eq!(
            said(&["diff", "a", "b", "c"]),
            "`pmulab diff` takes no further word, and `c` is one; `pmulab diff --help` says what there is"
        );
    }

    /// Every command and command of a command, by the words that lead to it.
    fn all(command: &clap::Command, words: &[&str]) -> Vec<(Vec<String>, clap::Command)> {
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        let below = inner.flat_map(|inner| all(inner, &[words, &[inner.get_name()]].concat()));
        std::iter::once((words.iter().map(|word| (*word).to_owned()).collect(), command.clone())).chain(below).collect()
    }

    #[test]
    fn every_command_refuses_in_one_line_that_names_it() {
        for (words, command) in all(&Cli::command(), &[]) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let line = said(&[&words[..], &["--no-such-option"]].concat());
            let whole = [&["pmulab"], &words[..]].concat().join(" ");
            assert!(line.starts_with(&format!("`{whole}` has no option `--no-such-option`")) && !line.contains('\n'), "{line}");
            for option in command.get_arguments().filter(|option| !option.get_possible_values().is_empty()) {
                let Some(long) = option.get_long().filter(|_| option.get_action().takes_values()) else { continue };
                let line = said(&[&words[..], &[&format!("--{long}"), "?"]].concat());
                let values: Vec<String> = option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
                assert!(values.iter().all(|value| line.contains(value)) && !line.contains('\n'), "{whole} --{long}: {line}");
            }
        }
    }

    #[test]
    fn every_command_that_shows_something_has_a_form_for_programs() {
        // These show something to people alone, or write files for others.
        const OTHERS: [&str; 5] = ["top", "boot", "new", "completions", "man"];
        for command in Cli::command().get_subcommands().filter(|command| !OTHERS.contains(&command.get_name())) {
            let format = command.get_arguments().find(|argument| argument.get_id() == "format");
            let values = format.map(|format| format.get_possible_values()).unwrap_or_default();
            assert!(values.iter().any(|value| value.get_name() == "json"), "{}", command.get_name());
        }
    }

    #[test]
    fn what_is_missing_or_excludes_each_other_is_named() {
        assert_eq!(said(&["decode"]), "`pmulab decode` needs `<REG=VALUE>...`");
        assert_eq!(said(&["diff", "a"]), "`pmulab diff` needs `<FILE>`");
        assert_eq!(said(&["report", "--folded", "--script"]), "`--folded` cannot be used with `--script`");
        assert_eq!(said(&["guests", "--format", "json", "--format", "json"]), "`--format <FORMAT>` can be given once");
        assert_eq!(said(&["litmus", "new"]), "`pmulab litmus new` needs `<FILE>`");
    }
}
