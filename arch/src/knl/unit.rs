//! A counter and what it is connected to.

use super::WIDTH;
use super::counting::{Clock, Reach, Selection};
use super::registers::PerfEvtSel;
use crate::counter::{Counter, Gate, Tap};
use crate::feed::{Kind, Scope, Signal};
use crate::model::Occurrence;

/// A counter with its connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unit {
    pub(super) counter: Counter,
    pub(super) tap: Tap,
    pub(super) reach: Reach,
    /// The sources count how often a state is entered, so a stay of any length is one.
    pub(super) counts_entries: bool,
    /// The threads for which it counts at the moment, one bit each.
    pub(super) admitted: u32,
    /// How many events ago it wrapped to zero, until that is reported.
    pub(super) late: u64,
    /// It is enabled for edges: its detector follows the selection at every privilege level.
    pub(super) follows_edges: bool,
}

impl Unit {
    /// Whether anything counts at the moment.
    pub(super) fn counts(&self) -> bool {
        self.admitted != 0
    }

    /// Whether its connection is kept up to date: it counts, or it detects edges.
    pub(super) fn is_active(&self) -> bool {
        self.counts() || self.follows_edges
    }

    /// Whether it counts its own thread or core, as the thread's own totals report them.
    pub(super) fn is_near(&self) -> bool {
        matches!(self.reach, Reach::Own | Reach::Core)
    }

    /// The counter grows by `amount`. Returns whether it wrapped.
    pub(super) fn grow(&mut self, amount: u64) -> bool {
        amount != 0 && self.counter.add(amount, WIDTH) != 0
    }

    /// Connects it to what an event select chooses.
    pub(super) fn select(&mut self, selection: &Selection, clock: Clock) {
        self.reach = selection.reach();
        let clock = if self.reach == Reach::CoreClock { clock } else { Clock::Thread };
        self.counts_entries = selection.connect(&mut self.tap, clock);
    }

    /// Connects it to what fixed counter `number` counts.
    pub(super) fn fix(&mut self, number: usize, any_thread: bool, clock: Clock) {
        let signal = fixed(number);
        self.reach = match (any_thread, signal) {
            (false, _) => Reach::Own,
            (true, Signal::InstructionsRetired) => Reach::CoreSum,
            (true, _) => Reach::CoreClock,
        };
        let clock = if any_thread { clock } else { Clock::Thread };
        self.tap.rewire(Gate::Sum, Scope::Thread);
        self.tap.connect(clock.of(signal));
        self.counts_entries = false;
    }
}

impl Reach {
    /// Whether it counts what the threads of its core report.
    pub(super) fn is_of_core(self) -> bool {
        matches!(self, Reach::Core | Reach::CoreSum | Reach::CoreClock)
    }

    /// Whether it counts nothing for a thread that is halted.
    pub(super) fn is_clocked(self) -> bool {
        matches!(self, Reach::Own | Reach::CoreSum | Reach::CoreClock)
    }
}

/// What a fixed counter counts.
const fn fixed(number: usize) -> Signal {
    match number {
        0 => Signal::InstructionsRetired,
        1 => Signal::Cycles,
        _ => Signal::ReferenceCycles,
    }
}

/// How fixed counter `number` counts `occurrence`, if it does. Tools name such occurrences by event select 00h and unit masks from 1 up.
pub(super) fn fixed_admits(number: usize, occurrence: Occurrence) -> Option<Kind> {
    let is_own = occurrence.select == 0 && usize::try_from(occurrence.umask).is_ok_and(|umask| umask == number + 1);
    is_own.then(|| fixed(number).kind())
}

/// What a select connects its counter to: everything except the enables and the interrupt.
pub(super) fn connection(select: PerfEvtSel) -> (u8, u8, bool, bool, bool, u8) {
    (select.event_select(), select.umask(), select.e(), select.any_thread(), select.inv(), select.cmask())
}
