//! How far a turn is in which every CPU, or every core, runs once.

use serde::{Deserialize, Serialize};

/// How far a turn is in which every CPU of a POWER machine, or every core of an IA-64 one, runs once. A machine that stops in the middle of
/// a turn continues in the middle of it. The default is a turn that has not begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The clocks, in cycles, of those that have had their part of the turn, when it began for them; the others follow in their order.
    pub began: Vec<u64>,
    /// One of them did something.
    pub running: bool,
    /// Cycles until the first of those that wait could wake by itself, if one could.
    pub wake: Option<u64>,
    /// Cycles that elapsed on the one that ran longest.
    pub ran: u64,
}

impl Turn {
    /// It had its part, which began at `began`, and did something until its clock was `now`.
    #[inline]
    pub(crate) fn did(&mut self, began: u64, now: u64) {
        self.began.push(began);
        self.running = true;
        self.ran = self.ran.max(now.saturating_sub(began));
    }

    /// It has its part from `began` on and waits, for so many cycles if something can wake it.
    #[inline]
    pub(crate) fn waits(&mut self, began: u64, cycles: Option<u64>) {
        self.began.push(began);
        self.wake = [self.wake, cycles].into_iter().flatten().min();
    }

    /// The cycles of the turn when all have had their parts; `None` if nothing moves.
    #[inline]
    pub(crate) fn cycles(&self) -> Option<u64> {
        if self.running { Some(self.ran) } else { self.wake }
    }

    /// The next turn.
    #[inline]
    pub(crate) fn update(&mut self) {
        self.began.clear();
        (self.running, self.wake, self.ran) = (false, None, 0);
    }
}
