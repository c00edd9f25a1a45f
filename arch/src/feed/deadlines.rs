//! When something becomes visible to the guest.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Signal, Totals};

/// The total of each [`Signal`] at which the model must be serviced, one cell a signal in the order of [`Totals`].
///
/// An embedder compares after it has added: when a total has come to its deadline, it calls the model's service before the next
/// instruction. A signal without a deadline holds [`Deadlines::NEVER`].
///
/// A cell is the nearer of two wishes: the thread's own, and that of counters elsewhere whose scope covers this thread. They are
/// kept apart so that each can be changed alone. Reads are free for all; writers take turns (a lone thread, or a lock around the
/// topology).
///
/// ```
/// use vm_pmu_arch::feed::{Deadlines, Signal, Totals};
///
/// let (totals, deadlines) = (Totals::new(), Deadlines::new());
/// deadlines.set_own(Signal::Loads, 100);
/// totals.add(Signal::Loads, 99);
/// assert!(!deadlines.reached(Signal::Loads, &totals));
/// totals.add(Signal::Loads, 1);
/// assert!(deadlines.reached(Signal::Loads, &totals));
/// ```
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Deadlines {
    cells: [AtomicU64; Signal::COUNT],
    own: [AtomicU64; Signal::COUNT],
    wide: [AtomicU64; Signal::COUNT],
}

impl Deadlines {
    /// The deadline of a signal that nothing waits for.
    pub const NEVER: u64 = u64::MAX;

    /// No deadline for any signal.
    #[must_use]
    pub const fn new() -> Deadlines {
        Deadlines {
            cells: [const { AtomicU64::new(Deadlines::NEVER) }; Signal::COUNT],
            own: [const { AtomicU64::new(Deadlines::NEVER) }; Signal::COUNT],
            wide: [const { AtomicU64::new(Deadlines::NEVER) }; Signal::COUNT],
        }
    }

    /// The total of `signal` at which the model must be serviced.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, signal: Signal) -> u64 {
        read(&self.cells, signal)
    }

    /// Whether the total of `signal` has come to its deadline.
    #[must_use]
    #[inline(always)]
    pub fn reached(&self, signal: Signal, totals: &Totals) -> bool {
        totals.get(signal) >= self.get(signal)
    }

    /// How much more of `signal` may happen before the model must be serviced; [`Deadlines::NEVER`] when nothing waits for it.
    #[must_use]
    #[inline]
    pub fn distance(&self, signal: Signal, totals: &Totals) -> u64 {
        match self.get(signal) {
            Self::NEVER => Self::NEVER,
            deadline => deadline.saturating_sub(totals.get(signal)),
        }
    }

    /// Sets the thread's own deadline of `signal`, whatever it was.
    pub fn set_own(&self, signal: Signal, total: u64) {
        write(&self.own, signal, total);
        self.settle(signal);
    }

    /// The thread's own deadline of `signal`.
    #[must_use]
    pub fn own(&self, signal: Signal) -> u64 {
        read(&self.own, signal)
    }

    /// Sets the deadline of `signal` for counters elsewhere that cover this thread, whatever it was.
    pub fn set_wide(&self, signal: Signal, total: u64) {
        write(&self.wide, signal, total);
        self.settle(signal);
    }

    /// The deadline of `signal` for counters elsewhere that cover this thread.
    #[must_use]
    pub fn wide(&self, signal: Signal) -> u64 {
        read(&self.wide, signal)
    }

    fn settle(&self, signal: Signal) {
        write(&self.cells, signal, read(&self.own, signal).min(read(&self.wide, signal)));
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines::new()
    }
}

#[inline(always)]
fn read(row: &[AtomicU64; Signal::COUNT], signal: Signal) -> u64 {
    row.get(signal.index()).map_or(Deadlines::NEVER, |cell| cell.load(Relaxed))
}

fn write(row: &[AtomicU64; Signal::COUNT], signal: Signal, total: u64) {
    if let Some(cell) = row.get(signal.index()) {
        cell.store(total, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_of_own_and_wide_is_the_deadline() {
        let deadlines = Deadlines::new();
        deadlines.set_own(Signal::Loads, 50);
        deadlines.set_wide(Signal::Loads, 40);
        assert_eq!(deadlines.get(Signal::Loads), 40);
        deadlines.set_wide(Signal::Loads, Deadlines::NEVER);
        assert_eq!(deadlines.get(Signal::Loads), 50);
    }

    #[test]
    fn a_signal_nothing_waits_for_is_never_near() {
        let (deadlines, totals) = (Deadlines::new(), Totals::new());
        totals.add(Signal::Loads, u64::MAX - 1);
        assert!(!deadlines.reached(Signal::Loads, &totals));
        assert_eq!(deadlines.distance(Signal::Loads, &totals), Deadlines::NEVER);
    }
}
