//! One signal, followed for its own sake.

use crate::feed::{Feed, Scope, Signal, SignalSet};

/// The connection to one signal of the thread, or to none: a [`Tap`](super::Tap) without a gate, for what is no counter.
///
/// ```
/// use vm_pmu_arch::counter::Probe;
/// use vm_pmu_arch::feed::{Lone, Signal};
///
/// let thread = Lone::new();
/// let mut probe = Probe::at(Some(Signal::Stores), &thread);
/// thread.totals.add(Signal::Stores, 2);
/// assert_eq!(probe.fold(&thread), 2);
/// assert_eq!(probe.fold(&thread), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    signal: Option<Signal>,
    base: u64,
}

impl Probe {
    /// A probe that is connected to nothing.
    pub const SHUT: Probe = Probe { signal: None, base: 0 };

    /// Follows `signal` from now on.
    #[must_use]
    pub fn at(signal: Option<Signal>, feed: &impl Feed) -> Probe {
        Probe { signal, base: signal.map_or(0, |signal| feed.total(signal, Scope::Thread)) }
    }

    /// Brings the probe up to now and returns how much the signal grew.
    #[inline]
    pub fn fold(&mut self, feed: &impl Feed) -> u64 {
        let Some(signal) = self.signal else { return 0 };
        let total = feed.total(signal, Scope::Thread);
        total.wrapping_sub(core::mem::replace(&mut self.base, total))
    }

    /// Adds the signal to `set`.
    pub fn demand(&self, set: &mut SignalSet) {
        if let Some(signal) = self.signal {
            set.insert(signal);
        }
    }

    /// Asks to be serviced when the signal has grown by `remaining` since the last fold.
    pub fn arm(&self, feed: &impl Feed, remaining: Option<u64>) {
        if let (Some(signal), Some(remaining)) = (self.signal, remaining) {
            feed.arm(signal, Scope::Thread, self.base, remaining);
        }
    }

    /// Cancels what [`arm`](Probe::arm) asked for.
    pub fn disarm(&self, feed: &impl Feed) {
        if let Some(signal) = self.signal {
            feed.disarm(signal, Scope::Thread);
        }
    }
}
