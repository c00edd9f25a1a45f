//! The clock of what all CPUs of a machine share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The clock of the boxes outside the CPUs: the furthest to which any CPU has run and the boxes have counted.
///
/// Whichever CPU advances it, the boxes count before any CPU sees it. So a CPU that has run up to some cycle knows that the boxes have
/// counted every clock up to there, and that no such clock comes later, however long the host keeps another CPU waiting.
#[derive(Debug, Default)]
pub struct UntileClock {
    now: AtomicU64,
    /// Held by the CPU that advances the clock.
    moving: Mutex<()>,
}

impl UntileClock {
    /// A clock at zero.
    #[must_use]
    pub fn new() -> UntileClock {
        UntileClock::default()
    }

    /// How far it is.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Acquire)
    }

    /// Sets it to `now`, between two runs.
    ///
    /// ```
    /// use vm_pmu_board::x86::UntileClock;
    ///
    /// let clock = UntileClock::new();
    /// clock.set(100);
    /// assert_eq!(clock.now(), 100);
    /// ```
    pub fn set(&self, now: u64) {
        self.now.store(now, Ordering::Release);
    }

    /// A CPU ran from `start`, of its own clock, for so many cycles. If that advances the clock, `tick` gets by how many clocks, never 0,
    /// and has the boxes count them; it must not call this again.
    ///
    /// ```
    /// use vm_pmu_board::x86::UntileClock;
    ///
    /// let (clock, mut counted) = (UntileClock::new(), 0);
    /// clock.run(0, 5, |clocks| counted += clocks);
    /// clock.run(3, 4, |clocks| counted += clocks);
    /// clock.run(2, 4, |clocks| counted += clocks);
    /// assert_eq!((clock.now(), counted), (7, 7));
    /// // No CPU ran between 7 and 100.
    /// clock.run(100, 1, |clocks| counted += clocks);
    /// assert_eq!((clock.now(), counted), (101, 8));
    /// ```
    #[inline]
    pub fn run(&self, start: u64, cycles: u64, tick: impl FnOnce(u64)) {
        let end = start.saturating_add(cycles);
        if self.now() < end {
            let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
            // Another may have moved it meanwhile.
            let before = self.now();
            if before < end {
                let clocks = end - before.max(start);
                if clocks != 0 {
                    tick(clocks);
                }
                self.set(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::UntileClock;

    #[test]
    fn nobody_sees_the_clock_before_the_boxes_have_counted() {
        let clock = UntileClock::new();
        clock.set(10);
        clock.run(10, 5, |_| assert_eq!(clock.now(), 10));
        assert_eq!(clock.now(), 15);
    }

    #[test]
    fn whoever_has_run_up_to_a_cycle_finds_every_clock_up_to_there_counted() {
        let (clock, counted) = (UntileClock::new(), AtomicU64::new(0));
        let cpu = || {
            for start in 0..2_000 {
                clock.run(start, 1, |clocks| {
                    // The others have every chance to run meanwhile.
                    thread::yield_now();
                    counted.fetch_add(clocks, Ordering::Relaxed);
                });
                assert!(counted.load(Ordering::Relaxed) > start, "a clock before {start} is yet to be counted");
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(cpu);
            }
        });
        assert_eq!(counted.into_inner(), 2_000);
    }
}
