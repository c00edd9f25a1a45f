//! What one thread of a core brings to its collection.

use super::{Ldbar, Posts, THREAD_EVENTS};
use crate::event::Encoded;
use crate::feed::{Signal, Totals, Vocabulary};
use crate::model::Shared;
use crate::power9::selection::holds;
use crate::power9::{Msr, ThreadControl};

/// What decides which cells the events of a thread are posted to: [`Power9::thread_state`](super::super::Power9::thread_state).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadState {
    /// The MSR.
    pub machine_state: u64,
    /// [`ThreadControl`], with the run latch.
    pub control: u64,
    /// LDBAR.
    pub ldbar: Ldbar,
    /// The thread's number, and what is known of the core's other threads.
    pub shared: Shared,
}

impl Default for ThreadState {
    /// A thread alone on its core, with every bit of its registers clear.
    fn default() -> ThreadState {
        ThreadState { machine_state: 0, control: 0, ldbar: Ldbar::of(0), shared: Shared::ALONE }
    }
}

impl ThreadState {
    /// Whether the event counts in this state.
    fn admits(&self, event: Encoded) -> bool {
        let (msr, control) = (Msr::of(self.machine_state), ThreadControl::of(self.control));
        event.properties().lists.when.iter().all(|when| holds(*when, msr, control, self.shared))
    }
}

/// A number for each signal of a thread.
type Cells = [u64; Vocabulary::Power9.cells()];

/// The cell of each signal of a thread.
fn cells() -> impl Iterator<Item = (Signal, usize)> {
    Signal::all().filter_map(|signal| Some((signal, Vocabulary::Power9.cell(signal)?)))
}

/// By how much each signal of a thread has grown.
struct Growth(Cells);

impl Growth {
    /// How often the event occurred.
    fn of(&self, event: Encoded) -> u64 {
        let grown = |signal: &Signal| Vocabulary::Power9.cell(*signal).and_then(|cell| self.0.get(cell)).copied().unwrap_or(0);
        event.signals().iter().map(grown).fold(0, u64::saturating_add)
    }
}

/// One thread.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// The state that the thread is in; none while it is not followed.
    pub(super) state: Option<ThreadState>,
    /// The totals up to which it has been counted.
    bases: Cells,
    /// The memory that `owed` belongs to.
    pub(super) memory: u64,
    /// What is not yet in the thread's memory, in single events.
    pub(super) owed: [u64; THREAD_EVENTS],
}

impl Lane {
    pub(super) const fn new() -> Lane {
        Lane { state: None, bases: [0; Vocabulary::Power9.cells()], memory: 0, owed: [0; THREAD_EVENTS] }
    }

    /// The thread is no longer followed.
    pub(super) fn leave(&mut self) {
        self.state = None;
    }

    /// The thread is in `state` from now on.
    pub(super) fn follow(&mut self, state: ThreadState, totals: &Totals, core: &mut [u64]) {
        if self.state == Some(state) {
            return;
        }
        match self.state {
            Some(_) => self.fold(totals, core),
            None => self.skip(totals),
        }
        self.state = Some(state);
        if state.ldbar.accumulates() && state.ldbar.memory() != self.memory {
            // What was not posted belongs to memory that the thread no longer names.
            self.memory = state.ldbar.memory();
            self.owed = [0; THREAD_EVENTS];
        }
    }

    /// What has happened so far is not counted.
    pub(super) fn skip(&mut self, totals: &Totals) {
        for (signal, cell) in cells() {
            if let Some(base) = self.bases.get_mut(cell) {
                *base = totals.get(signal);
            }
        }
    }

    /// Counts up to now.
    pub(super) fn fold(&mut self, totals: &Totals, core: &mut [u64]) {
        let Some(state) = self.state else { return };
        let mut growth = Growth(self.bases);
        self.skip(totals);
        growth.0.iter_mut().zip(self.bases).for_each(|(grown, base)| *grown = base.wrapping_sub(*grown));
        count(Posts::Core, core, &state, &growth);
        if state.ldbar.accumulates() {
            count(Posts::Thread, &mut self.owed, &state, &growth);
        }
    }

    /// The thread's event of this index happened `amount` times.
    pub(super) fn inject(&mut self, index: usize, amount: u64) {
        let accumulates = self.accumulates();
        if let Some(owed) = self.owed.get_mut(index).filter(|_| accumulates) {
            *owed = owed.saturating_add(amount);
        }
    }

    /// Whether its events are posted: LDBAR says so.
    pub(super) fn accumulates(&self) -> bool {
        self.state.is_some_and(|state| state.ldbar.accumulates())
    }
}

/// Adds to what is owed to each event how often it occurred, if it counts in this state.
fn count(posts: Posts, owed: &mut [u64], state: &ThreadState, growth: &Growth) {
    for ((_, event), owed) in posts.events().zip(owed) {
        let amount = growth.of(event);
        if amount != 0 && state.admits(event) {
            *owed = owed.saturating_add(amount);
        }
    }
}
