//! What keeps a command from being carried out.

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
        let _ = match self {
            Error::Usage(message) => writeln!(errors, "pmulab: {message}"),
            Error::Output(error) => writeln!(errors, "pmulab: cannot write the output: {error}"),
        };
    }
}

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
