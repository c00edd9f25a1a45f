//! Where a command's text goes, and how wide it may be.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::Error;

/// The width of text that goes to a file or a pipe.
const DEFAULT_WIDTH: usize = 100;

/// The destination of a command's text.
///
/// A reader that goes away (`pmulab list | head`) is no mistake: what is written afterwards is dropped, and the command ends with the
/// status that it would have had.
pub struct Output<'a> {
    writer: &'a mut dyn Write,
    /// The columns that text may take.
    pub width: usize,
    closed: bool,
}

impl<'a> Output<'a> {
    /// Output of the usual width.
    pub fn new(writer: &'a mut dyn Write) -> Output<'a> {
        Output { writer, width: DEFAULT_WIDTH, closed: false }
    }

    /// Output to the terminal, as wide as it is within reason; of the usual width if standard output is none.
    pub fn to_terminal(writer: &'a mut dyn Write) -> Output<'a> {
        let width = terminal_size::terminal_size_of(io::stdout()).map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        Output { width: width.clamp(72, 120), ..Output::new(writer) }
    }

    /// Writes `value` as indented JSON.
    ///
    /// # Errors
    /// The text could not be written.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer_pretty(&mut *self, value)?;
        writeln!(self)?;
        Ok(())
    }

    /// Passes on what is still held back.
    ///
    /// # Errors
    /// The text could not be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.flush()?;
        Ok(())
    }

    fn unless_closed<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let written = self.writer.write(bytes);
        self.unless_closed(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.writer.flush();
        self.unless_closed(flushed, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let mut gone = Gone;
        let mut output = Output::new(&mut gone);
        assert!(writeln!(output, "dropped").is_ok());
        assert!(output.finish().is_ok());
    }
}
