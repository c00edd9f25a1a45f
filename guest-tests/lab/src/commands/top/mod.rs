//! `pmulab top`: a live view of a guest's PMU.
//!
//! A [`Model`] is fed by steps and keys, [`draw`] draws it into a buffer, and the terminal is a thin loop around both.

mod arguments;
mod counters;
mod model;
mod terminal;
#[cfg(test)]
mod tests;
mod view;
mod watch;

pub use arguments::TopArguments;
pub use counters::Counter;
pub use model::{Goal, Model, Remembered, ThreadView};
pub use view::{Look, draw};

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::commands::{FAILED, PASSED, run};
use crate::error::Error;
use crate::held::{Drive, Driven, Driver, Held};
use crate::output::{self, Output};
use crate::request::{Guest, RunRequest, Runner};
use crate::runner::Options;
use crate::symbols::Symbols;
use vm_pmu_board::trace::Listener;
use watch::Watch;

/// Where the frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// To the terminal.
    Terminal,
    /// Into texts: so many, of that size.
    Frames(u32, Rect),
}

/// What came of the view.
#[derive(Default)]
struct Outcome {
    symbols: Symbols,
    frames: Vec<String>,
    ended: bool,
    error: Option<io::Error>,
}

/// Who runs the guest.
struct Top {
    watch: Arc<Watch>,
    title: String,
    every: u64,
    shown: Shown,
    outcome: Mutex<Outcome>,
}

impl fmt::Debug for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Top").field("title", &self.title).field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Top {
    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drive for Top {
    fn begin(&self, symbols: &Symbols) {
        self.outcome().symbols = symbols.clone();
    }

    fn drive(&self, machine: &mut dyn Held, steps: u64) -> Driven {
        let mut outcome = self.outcome();
        let named = (self.title.clone(), std::mem::take(&mut outcome.symbols));
        let mut model = Model::new(machine, Arc::clone(&self.watch), named, self.every, steps);
        match self.shown {
            Shown::Terminal => outcome.error = terminal::show(&mut model, &Look::new(output::wants_colours()), machine).err(),
            Shown::Frames(count, area) => {
                let look = Look::new(false).without_keys();
                while model.ended.is_none() && outcome.frames.len() < count as usize {
                    model.goal = Some(Goal::Steps(self.every));
                    model.message.clear();
                    model.advance(machine);
                    outcome.frames.push(text(&model, &look, area));
                }
            }
        }
        outcome.ended = model.ended.is_some();
        if outcome.ended { Driven::Ended } else { Driven::Killed("the view was left") }
    }
}

/// A frame as text, without what is blank at the ends of lines and below the last.
fn text(model: &Model, look: &Look, area: Rect) -> String {
    let mut buffer = Buffer::empty(area);
    draw(model, look, area, &mut buffer);
    let line = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned();
    let lines: Vec<String> = buffer.content().chunks(area.width.into()).map(line).collect();
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines[..used].join("\n")
}

/// The name of a guest, or of its file without the folder.
fn title(guest: &Guest) -> String {
    match guest {
        Guest::Named(name) => name.clone(),
        Guest::File(path) => path.file_name().map_or_else(|| guest.title(), |name| name.to_string_lossy().into_owned()),
    }
}

/// Shows a guest's PMU while the guest runs.
///
/// # Errors
/// A PMU or guest is unknown, the guest could not be run or not step by step, there is no terminal, or the output cannot be written.
pub fn top(arguments: &TopArguments, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    run::known_engine(&arguments.engine, runner)?;
    let (_, request) = arguments.guest.request(&arguments.engine, runner)?;
    let shown = match arguments.frames {
        Some(count) => Shown::Frames(count, Rect::new(0, 0, arguments.size.0, arguments.size.1)),
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => Shown::Terminal,
        None => return Err(Error::usage("there is no terminal to show the view on: add `--frames COUNT`, which prints frames as text")),
    };
    let watch = Arc::new(Watch::default());
    let outcome = Mutex::default();
    let top = Arc::new(Top { watch: Arc::clone(&watch), title: title(&request.guest), every: arguments.every, shown, outcome });
    let driven = Options { listener: Some(Listener(watch)), driver: Some(Driver(Arc::clone(&top) as Arc<_>)), ..request.options };
    let request = RunRequest { options: driven, ..request };
    let report = runner.run(&request).map_err(|why| Error::usage(format!("{}: {why}", request.guest.title())))?;
    let outcome = std::mem::take(&mut *top.outcome());
    if let Some(error) = outcome.error {
        return Err(Error::usage(format!("the terminal cannot show the view: {error}")));
    }
    for frame in &outcome.frames {
        writeln!(output, "{frame}\n")?;
    }
    if outcome.ended {
        writeln!(output, "{}", report.ending)?;
    }
    Ok(if report.passed || !outcome.ended { PASSED } else { FAILED })
}
