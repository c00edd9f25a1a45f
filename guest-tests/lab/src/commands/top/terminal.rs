//! The view on a terminal.

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use super::model::{Goal, Model};
use super::view::{self, Look};
use crate::held::Held;

/// Between two frames of a guest that runs.
const PAUSE: Duration = Duration::from_millis(100);

/// While nothing runs: only keys change what is shown.
const LONG: Duration = Duration::from_secs(3600);

/// Shows the guest until it is left.
///
/// # Errors
/// The terminal cannot be used.
pub(super) fn show(model: &mut Model, look: &Look, machine: &mut dyn Held) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let shown = frames(&mut terminal, model, look, machine);
    ratatui::try_restore()?;
    shown
}

fn frames(terminal: &mut DefaultTerminal, model: &mut Model, look: &Look, machine: &mut dyn Held) -> io::Result<()> {
    loop {
        terminal.draw(|frame| view::draw(model, look, frame.area(), frame.buffer_mut()))?;
        let wait = if model.goal.is_some_and(Goal::is_watched) {
            PAUSE
        } else if model.goal.is_some() {
            Duration::ZERO
        } else {
            LONG
        };
        if !event::poll(wait)? {
            model.advance(machine);
            continue;
        }
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            let interrupts = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
            if interrupts || model.press(key.code, machine) {
                return Ok(());
            }
            // What is asked for a number of steps is done at once, whatever key comes next.
            if model.goal.is_some_and(Goal::is_counted) {
                model.advance(machine);
            }
        }
    }
}
