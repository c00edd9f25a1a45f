//! What keeps a text from being a litmus file.

use alloc::string::String;
use core::fmt;

/// Why a text is not a litmus file: the place and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The first of its characters that is wrong, from 1; 0 for the file as a whole.
    pub column: usize,
    /// How many characters are.
    pub length: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl ParseError {
    /// Says that a file lacks statements.
    pub(super) fn of_nothing() -> ParseError {
        let message = "there is no statement: a litmus file is a header and at least one".into();
        ParseError { line: 0, column: 0, length: 0, message }
    }

    /// Says what is wrong with a line. A message quotes the wrong words first, as they are in the line; otherwise the whole line is meant.
    pub(super) fn new(number: usize, line: &str, message: String) -> ParseError {
        let statement = without_comment(line).trim_end();
        let quoted = message.split('`').nth(1).filter(|quoted| !quoted.is_empty());
        let found = quoted.and_then(|quoted| Some((whole_words(statement, quoted)?, quoted)));
        let start = statement.len() - statement.trim_start().len();
        let (at, wrong) = found.unwrap_or((start, statement.trim_start()));
        let column = 1 + statement.get(..at).unwrap_or("").chars().count();
        ParseError { line: number, column, length: wrong.chars().count(), message }
    }
}

/// Where `words` begin in a line, neither before nor after a letter or a digit.
fn whole_words(line: &str, words: &str) -> Option<usize> {
    let is_apart = |at: &usize| {
        let before = line.get(..*at).and_then(|before| before.chars().next_back());
        let after = line.get(*at + words.len()..).and_then(|after| after.chars().next());
        ![before, after].into_iter().flatten().any(|letter| letter.is_alphanumeric() || letter == '_')
    };
    line.match_indices(words).map(|(at, _)| at).find(is_apart)
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => formatter.write_str(&self.message),
            line => write!(formatter, "line {line}: {}", self.message),
        }
    }
}

impl core::error::Error for ParseError {}

/// The line up to its comment: a `#` at its beginning or after a blank, unless a capital letter follows, as in `#GP`.
pub(super) fn without_comment(line: &str) -> &str {
    let begins = |at: usize| {
        let (before, after) = (line.get(..at).unwrap_or(""), line.get(at + 1..).unwrap_or(""));
        before.trim().is_empty()
            || (before.ends_with(char::is_whitespace) && !after.starts_with(|letter: char| letter.is_ascii_uppercase()))
    };
    let comment = line.match_indices('#').map(|(at, _)| at).find(|at| begins(*at));
    comment.and_then(|at| line.get(..at)).unwrap_or(line)
}
