//! The clock of a core whose threads share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The clock of one core: the furthest to which any of its threads has run. The threads of a core hold clones of one.
///
/// A core is active in the cycles by which its clock advances. The thread that advances it adds them to its own totals, so the threads'
/// totals together are the core's, and no cycle counts twice. What a thread runs before the core's clock, another has run already. A halted
/// thread's clock goes on and leaves the core's where it is.
#[derive(Clone, Debug, Default)]
pub struct CoreClock(Arc<AtomicU64>);

impl CoreClock {
    /// A clock at zero.
    #[must_use]
    pub fn new() -> CoreClock {
        CoreClock::default()
    }

    /// How far it is.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets it to `now`: all its holders continue from there.
    ///
    /// ```
    /// use vm_pmu_board::x86::CoreClock;
    ///
    /// let clock = CoreClock::new();
    /// clock.set(100);
    /// assert_eq!((clock.now(), clock.run(98, 5)), (100, 3));
    /// ```
    pub fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }

    /// A thread ran from `start`, of its own clock, for so many cycles. Returns by how many the core's clock advanced.
    ///
    /// ```
    /// use vm_pmu_board::x86::CoreClock;
    ///
    /// let clock = CoreClock::new();
    /// assert_eq!(clock.run(0, 5), 5);
    /// assert_eq!(clock.run(3, 4), 2);
    /// // No thread ran between 7 and 100.
    /// assert_eq!(clock.run(100, 1), 1);
    /// ```
    #[inline]
    pub fn run(&self, start: u64, cycles: u64) -> u64 {
        let end = start.saturating_add(cycles);
        if self.0.load(Ordering::Relaxed) >= end {
            return 0;
        }
        let before = self.0.fetch_max(end, Ordering::Relaxed);
        end.saturating_sub(before.max(start))
    }
}
