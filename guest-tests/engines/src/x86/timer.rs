//! The local APIC timer, counting engine cycles.

use super::saved::TimerState;

/// One-shot and periodic count-down.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    pub(crate) initial: u32,
    pub(crate) divide: u32,
    // Cycle at which the current period started.
    start: u64,
    // The count that period started from.
    from: u32,
    /// Cycle at which the count reaches zero; `u64::MAX` when stopped.
    pub(crate) deadline: u64,
}

impl Timer {
    pub(crate) fn new() -> Self {
        Self { initial: 0, divide: 0, start: 0, from: 0, deadline: u64::MAX }
    }

    pub(crate) fn state(&self) -> TimerState {
        TimerState { initial: self.initial, divide: self.divide, start: self.start, from: self.from }
    }

    pub(crate) fn of(state: &TimerState) -> Self {
        let mut timer = Self { initial: state.initial, divide: state.divide, ..Self::new() };
        timer.arm(state.from, state.start);
        timer
    }

    /// Cycles a count: 2 for divide configuration 0000b up to 128, and 1 for 1011b.
    fn cycles_per_count(&self) -> u64 {
        let code = (self.divide & 3) | (self.divide >> 1 & 4);
        if code == 7 { 1 } else { 2 << code }
    }

    fn arm(&mut self, from: u32, start: u64) {
        self.from = from;
        self.start = start;
        self.deadline = if from == 0 { u64::MAX } else { start.saturating_add(u64::from(from) * self.cycles_per_count()) };
    }

    /// A write of the initial count: starts, or with 0 stops, the timer.
    pub(crate) fn start(&mut self, initial: u32, now: u64) {
        self.initial = initial;
        self.arm(initial, now);
    }

    /// A write of the divide configuration: the rest of the count goes on at the new rate.
    pub(crate) fn set_divide(&mut self, divide: u32, now: u64) {
        let left = self.current(now);
        self.divide = divide;
        self.arm(left, now);
    }

    /// The current count.
    pub(crate) fn current(&self, now: u64) -> u32 {
        if self.deadline == u64::MAX {
            return 0;
        }
        let gone = now.saturating_sub(self.start) / self.cycles_per_count();
        u64::from(self.from).saturating_sub(gone) as u32
    }

    /// Whether the count reached zero by `now`; a periodic timer starts again, with no drift.
    pub(crate) fn expire(&mut self, now: u64, periodic: bool) -> bool {
        if now < self.deadline {
            return false;
        }
        if periodic && self.initial != 0 {
            let period = u64::from(self.initial) * self.cycles_per_count();
            let whole = (now - self.deadline) / period;
            let start = self.deadline.saturating_add(whole * period);
            self.arm(self.initial, start);
        } else {
            self.arm(0, now);
        }
        true
    }
}
