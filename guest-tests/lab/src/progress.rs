//! How far a long command is, on a line of the terminal.

use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

/// For how long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// For how long a line stays as it is.
const PAUSE: Duration = Duration::from_millis(100);

/// A line that says how much of many things is done. It is among the errors, only on a terminal, and only after a second.
#[derive(Debug)]
pub struct Progress {
    noun: &'static str,
    whole: usize,
    is_shown: bool,
    /// When the line may be shown next; never where there is no terminal.
    next: Option<Instant>,
}

impl Progress {
    /// Nothing done yet of `whole` things that are called `noun`.
    #[must_use]
    pub fn new(noun: &'static str, whole: usize) -> Progress {
        let next = io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Progress { noun, whole, is_shown: false, next }
    }

    /// So many are done. What `output` holds back is written first, so that the line stands below it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn at(&mut self, done: usize, output: &mut impl Write) -> io::Result<()> {
        if self.is_due() {
            output.flush()?;
            self.show(&format!("{done} of {} {}", self.whole, self.noun));
        }
        Ok(())
    }

    /// Shows `text`, if the line may be shown next.
    pub fn tell(&mut self, text: impl FnOnce() -> String) {
        if self.is_due() {
            self.show(&text());
        }
    }

    fn is_due(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    fn show(&mut self, text: &str) {
        self.next = Some(Instant::now() + PAUSE);
        self.is_shown = true;
        // A line that cannot be shown is no reason to stop.
        let _ = write!(io::stderr(), "\r{text}\x1b[K");
    }

    /// Takes the line away, before anything else is written.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
