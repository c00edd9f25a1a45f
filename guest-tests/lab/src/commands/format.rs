//! What several commands take: forms of output, and numbers.

use clap::ValueEnum;

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}

/// A form of output that may be rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RowsFormat {
    /// For people.
    #[default]
    Table,
    /// An array of objects.
    Json,
    /// Comma-separated values with a header.
    Csv,
}

/// A number from 1 up.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number != 0).ok_or_else(|| "write a number from 1 up".to_owned())
}
