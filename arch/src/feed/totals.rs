//! The totals so far: one growing number per signal.

use core::sync::atomic::Ordering::Relaxed;

use super::Signal;
use crate::atomic::AtomicU64;

/// One hardware thread's running totals, one cell per [`Signal`].
///
/// The embedder owns the array and adds to it where it executes, inline in generated code if it wants to: cell `n` lies `8 * n` bytes
/// from the start. A total never shrinks and never wraps: at ten events a nanosecond, 64 bits last for decades. One thread of the host
/// writes an array, any may read it, so a cell is a relaxed atomic and an addition is a plain load and store.
///
/// ```
/// use vm_pmu_arch::feed::{Signal, Totals};
///
/// let totals = Totals::new();
/// totals.add(Signal::InstructionsRetired, 5);
/// totals.add(Signal::InstructionsRetired, 2);
/// assert_eq!(totals.get(Signal::InstructionsRetired), 7);
/// ```
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Totals {
    cells: [AtomicU64; Signal::COUNT],
}

impl Totals {
    /// Totals that are all zero.
    #[must_use]
    pub const fn new() -> Totals {
        Totals { cells: [const { AtomicU64::new(0) }; Signal::COUNT] }
    }

    /// Adds `amount` to the total of `signal` and returns the new total. Only the thread that owns the array may call it.
    #[inline(always)]
    pub fn add(&self, signal: Signal, amount: u64) -> u64 {
        self.cells.get(signal.index()).map_or(0, |cell| {
            let total = cell.load(Relaxed).wrapping_add(amount);
            cell.store(total, Relaxed);
            total
        })
    }

    /// The total of `signal`.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, signal: Signal) -> u64 {
        self.cells.get(signal.index()).map_or(0, |cell| cell.load(Relaxed))
    }
}

impl Default for Totals {
    fn default() -> Self {
        Totals::new()
    }
}
