//! What is wrong with a litmus file, with the line and a mark below what is meant.

use std::io::Write;

use serde::Serialize;
use vm_pmu::litmus::ParseError;

use crate::text;

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// Its line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The first wrong character, from 1; 0 for the file as a whole.
    pub column: usize,
    /// How many characters are wrong.
    pub length: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Mistake {
    /// One of the file as a whole.
    pub(super) fn of_file(message: String) -> Mistake {
        Mistake { line: 0, column: 0, length: 0, message }
    }
}

impl From<ParseError> for Mistake {
    fn from(error: ParseError) -> Mistake {
        Mistake { line: error.line, column: error.column, length: error.length, message: error.message }
    }
}

/// Writes the mistakes of a file as compilers do: `FILE:LINE:COLUMN: MESSAGE`, then the line, then the mark.
pub(super) fn tell(file: &str, text: &str, mistakes: &[Mistake], errors: &mut dyn Write) {
    for mistake in mistakes {
        let Mistake { line, column, length, message } = mistake;
        // If this cannot be written, that cannot be reported either.
        let _ = match line {
            0 => writeln!(errors, "pmulab: {file}: {message}"),
            line => {
                let source = text.lines().nth(line - 1).unwrap_or_default();
                writeln!(errors, "pmulab: {file}:{line}:{column}: {message}\n{}", marked(*line, source, *column, *length))
            }
        };
    }
}

/// The line with its number, and carets below the wrong characters.
fn marked(number: usize, source: &str, column: usize, length: usize) -> String {
    let before: String = source.chars().take(column.saturating_sub(1)).collect();
    let wrong: String = source.chars().skip(column.saturating_sub(1)).take(length).collect();
    // Tabs stay tabs, so that the mark is below what it is about.
    let blank: String =
        before.chars().flat_map(|letter| if letter == '\t' { vec!['\t'] } else { vec![' '; text::columns(&letter.to_string())] }).collect();
    let carets = "^".repeat(text::columns(&wrong).max(1));
    format!("{number:>5} | {source}\n      | {blank}{carets}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_below_what_is_wrong() {
        assert_eq!(marked(5, "read PerfCtr9 = 1", 6, 8), "    5 | read PerfCtr9 = 1\n      |      ^^^^^^^^");
        assert_eq!(marked(12, "\tsaev", 2, 4), "   12 | \tsaev\n      | \t^^^^");
    }

    #[test]
    fn a_wide_letter_has_two_columns() {
        assert_eq!(marked(1, "漢 x", 3, 1), "    1 | 漢 x\n      |    ^");
    }
}
