//! What holds up a change of the threads of a core, and what is known of it (Montecito manual, 2.4.1 and 4.13).

use serde::{Deserialize, Serialize};

use super::step::{Step, SwitchCause, Unit};

/// Cycles from a move to a control, application or indirect register until it is done.
const MOVE: u64 = 12;
/// Returns of data that are awaited at a time, for each thread.
const RETURNS: usize = 16;

/// What holds up a change of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gate {
    /// The other thread is halted. The change is given up.
    LowPower,
    /// A move to a register is not done.
    Pipeline,
    /// The thread in the foreground has not completed an instruction since it came.
    Progress,
}

/// A change that is held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// Why the threads will change.
    pub cause: SwitchCause,
    /// The cycle of the core at which it was wished.
    pub since: u64,
    /// What holds it up,
    pub gate: Gate,
    /// and until when, as far as that is known.
    pub until: u64,
}

/// What a core knows of the thread in the foreground and of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The cycle at which the thread in the foreground completed an instruction last.
    pub completed: u64,
    /// The cycle at which it came,
    pub arrived: u64,
    /// and the one at which it completed an instruction first since then.
    pub first: Option<u64>,
    /// The cycle at which its last move to a control, application or indirect register is done.
    pub moved: u64,
    /// The cycles at which data of each thread return for which it does not stand still.
    pub returns: [Vec<u64>; 2],
    /// The change that is held up.
    pub wish: Option<Wish>,
    /// The end of the quantum was held up because the other thread was halted.
    pub told: bool,
}

/// Whether an instruction moves to a control, application or indirect register through the control bus.
fn moves(step: &Step) -> bool {
    let (major, x3, x6) = (step.encoding >> 37, step.encoding >> 33 & 7, step.encoding >> 27 & 0x3F);
    step.predicate && step.unit == Unit::M && major == 1 && x3 == 0 && matches!(x6, 0x00..=0x05 | 0x2A | 0x2C)
}

impl Changes {
    /// The thread in the foreground executed `step`, at the end of which the clock is `clock`; it completed an instruction last so many cycles
    /// before, or with it.
    pub(crate) fn executed(&mut self, step: &Step, clock: u64, idle: Option<u64>) {
        let completed = clock.saturating_sub(idle.unwrap_or(0));
        if idle.is_none() || completed > self.arrived {
            self.completed = self.completed.max(completed);
            self.first = self.first.or(Some(completed));
        }
        if moves(step) {
            self.moved = clock + MOVE;
        }
    }

    /// Another thread comes to the foreground at `clock`.
    pub(crate) fn changed(&mut self, clock: u64) {
        let returns = std::mem::take(&mut self.returns);
        *self = Changes { completed: clock, arrived: clock, returns, ..Changes::default() };
    }

    /// Data of `thread` will return at `clock`. What has no place is not awaited.
    pub(crate) fn await_return(&mut self, thread: usize, clock: u64) {
        if let Some(returns) = self.returns.get_mut(thread)
            && returns.len() < RETURNS
        {
            returns.push(clock);
        }
    }

    /// Removes the first return of data of `thread` up to `clock`: when it was.
    pub(crate) fn returned(&mut self, thread: usize, clock: u64) -> Option<u64> {
        let returns = self.returns.get_mut(thread)?;
        let number = (0..returns.len()).filter(|number| returns[*number] <= clock).min_by_key(|number| returns[*number])?;
        Some(returns.remove(number))
    }

    /// Whether a change that is wished since cycle `since` is held up at `clock`: by what, and until when if that is known.
    pub(crate) fn held(&self, since: u64, clock: u64) -> Option<(Gate, u64)> {
        match self.first {
            None => Some((Gate::Progress, u64::MAX)),
            Some(first) if first > since => Some((Gate::Progress, first)),
            Some(_) if self.moved > clock => Some((Gate::Pipeline, self.moved)),
            Some(_) => None,
        }
    }

    /// The change that was held up, if nothing does any more: its cause, for how many cycles it was, and for how many by a move.
    pub(crate) fn freed(&mut self, clock: u64) -> Option<(SwitchCause, u64, u64)> {
        let wish = self.wish?;
        let until = if wish.gate == Gate::Progress { self.first? } else { wish.until };
        if until > clock {
            return None;
        }
        self.wish = None;
        let held = until.saturating_sub(wish.since);
        Some((wish.cause, held, if wish.gate == Gate::Pipeline { held } else { 0 }))
    }

    /// What was saved, with as many returns as are awaited at most.
    pub(crate) fn restored(&self) -> Changes {
        let mut changes = self.clone();
        changes.returns.iter_mut().for_each(|returns| returns.truncate(RETURNS));
        changes
    }
}
