//! Where a command's text goes, and how wide it may be.

use std::io::{self, IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::error::Error;
use crate::text;

/// The width of text that goes to a file or a pipe.
pub const DEFAULT_WIDTH: usize = 80;
/// The least and the most columns of text on a terminal.
const TERMINAL_WIDTHS: (usize, usize) = (60, 120);

/// The destination of a command's text.
///
/// A reader that goes away (`pmulab list | head`) is no mistake: what is written afterwards is dropped, and the command ends with the
/// status that it would have had.
pub struct Output<'a> {
    writer: &'a mut dyn Write,
    /// The columns that text may take.
    pub width: usize,
    /// Whether text has colours.
    colours: bool,
    closed: bool,
}

impl<'a> Output<'a> {
    /// Output of the usual width.
    pub fn new(writer: &'a mut dyn Write) -> Output<'a> {
        Output { writer, width: DEFAULT_WIDTH, colours: false, closed: false }
    }

    /// Output to the terminal, as wide as it is within reason, and in colours unless NO_COLOR is set; of the usual width and without
    /// colours if standard output is none.
    pub fn to_terminal(writer: &'a mut dyn Write) -> Output<'a> {
        let width = terminal_size::terminal_size_of(io::stdout()).map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        Output {
            width: width.clamp(TERMINAL_WIDTHS.0, TERMINAL_WIDTHS.1),
            colours: io::stdout().is_terminal() && wants_colours(),
            ..Output::new(writer)
        }
    }

    /// The same output with or without colours.
    #[must_use]
    pub fn with_colours(self, colours: bool) -> Output<'a> {
        Output { colours, ..self }
    }

    /// A word for what is as it should be.
    #[must_use]
    pub fn good(&self, word: &str) -> String {
        self.dressed(word, AnsiColor::Green.on_default())
    }

    /// A word for what is not.
    #[must_use]
    pub fn bad(&self, word: &str) -> String {
        self.dressed(word, AnsiColor::Red.on_default().bold())
    }

    /// The name of what is spoken of.
    #[must_use]
    pub fn name(&self, word: &str) -> String {
        self.dressed(word, Style::new().bold())
    }

    fn dressed(&self, word: &str, style: Style) -> String {
        if self.colours { format!("{style}{word}{style:#}") } else { word.to_owned() }
    }

    /// The verdict on a run.
    #[must_use]
    pub fn verdict(&self, passed: bool) -> String {
        if passed { self.good("PASS") } else { self.bad("FAIL") }
    }

    /// Writes a line, folded where it is too wide; what follows begins at column `indent`.
    ///
    /// # Errors
    /// The text could not be written.
    pub fn line(&mut self, indent: usize, line: &str) -> io::Result<()> {
        self.lines(text::folded(line, indent, self.width))
    }

    /// Writes lines.
    ///
    /// # Errors
    /// The text could not be written.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| writeln!(self, "{line}"))
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

/// Whether the user wants colours on a terminal that has them (<https://no-color.org>).
#[must_use]
pub(crate) fn wants_colours() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_some_and(|terminal| terminal != "dumb")
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
    fn words_have_colours_only_where_they_are_wanted() {
        let mut text = Vec::new();
        assert_eq!(Output::new(&mut text).bad("FAILED"), "FAILED");
        // ECMA-48, SGR: 1 is bold, 31 red, 0 neither.
        let red = Output::new(&mut text).with_colours(true).bad("FAILED");
        assert_eq!(red, "\x1b[1m\x1b[31mFAILED\x1b[0m");
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let mut gone = Gone;
        let mut output = Output::new(&mut gone);
        assert!(writeln!(output, "dropped").is_ok());
        assert!(output.finish().is_ok());
    }
}
