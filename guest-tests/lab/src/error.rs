//! What keeps a command from being carried out.

use std::fmt;
use std::io::{self, Write};

/// Why a command could not be carried out.
#[derive(Debug)]
pub enum Error {
    /// What was asked for does not exist or makes no sense: one line for the user.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
}

impl Error {
    /// A mistake of the user's, with the line about it.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::Usage(message.into())
    }

    /// Writes the line about it.
    pub fn tell(&self, errors: &mut dyn Write) {
        // If the line cannot be written, that cannot be reported either.
        let _ = writeln!(errors, "pmulab: {self}");
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message) => formatter.write_str(message),
            Error::Output(error) => write!(formatter, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::Output(error.into())
    }
}

impl From<csv::Error> for Error {
    fn from(error: csv::Error) -> Error {
        Error::Output(error.into())
    }
}
