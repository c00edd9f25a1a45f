//! The totals so far: one growing number per signal.

use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;

use super::cells::{COMMON, Layout};
use super::{Signal, Vocabulary};
use crate::atomic::AtomicU64;

/// One hardware thread's running totals, one cell per [`Signal`] that its part [has](Vocabulary).
///
/// The embedder owns the array and adds to it where it executes, inline in generated code if it wants to: the cells lie
/// [`CELLS_OFFSET`](Totals::CELLS_OFFSET) bytes from the start, 8 bytes each, in the order of [`Vocabulary::cell`]. A total never shrinks
/// and never wraps: at ten events a nanosecond, 64 bits last for decades. One thread of the host writes an array, any may read it, so a
/// cell is a relaxed atomic and an addition is a plain load and store.
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
pub struct Totals<C: ?Sized = [AtomicU64]> {
    layout: Layout,
    common: [AtomicU64; COMMON],
    own: C,
}

impl Totals<[AtomicU64; Vocabulary::Every.own_cells()]> {
    /// Totals of every signal, all zero.
    #[must_use]
    pub const fn new() -> Self {
        Totals::of(Vocabulary::Every)
    }
}

impl<const OWN: usize> Totals<[AtomicU64; OWN]> {
    /// Totals of the signals of `vocabulary`, all zero. `OWN` is its number of [own cells](Vocabulary::own_cells).
    #[must_use]
    pub const fn of(vocabulary: Vocabulary) -> Self {
        Totals { layout: vocabulary.layout(), common: [const { AtomicU64::new(0) }; COMMON], own: [const { AtomicU64::new(0) }; OWN] }
    }
}

impl Totals {
    /// The offset of the cells, in bytes from the start: for generated code.
    pub const CELLS_OFFSET: usize = core::mem::offset_of!(Totals<[AtomicU64; 0]>, common);

    /// Adds `amount` to the total of `signal` and returns the new total. Only the thread that owns the array may call it. A signal that the
    /// part does not have is ignored.
    #[inline(always)]
    pub fn add(&self, signal: Signal, amount: u64) -> u64 {
        self.cell(signal).map_or(0, |cell| {
            let total = cell.load(Relaxed).wrapping_add(amount);
            cell.store(total, Relaxed);
            total
        })
    }

    /// The total of `signal`.
    #[must_use]
    #[inline]
    pub fn get(&self, signal: Signal) -> u64 {
        self.cell(signal).map_or(0, |cell| cell.load(Relaxed))
    }

    #[inline]
    fn cell(&self, signal: Signal) -> Option<&AtomicU64> {
        match self.common.get(signal.index()) {
            None => self.own.get(self.layout.beyond_common(signal)),
            common => common,
        }
    }
}

impl<const OWN: usize> Deref for Totals<[AtomicU64; OWN]> {
    type Target = Totals;

    #[inline(always)]
    fn deref(&self) -> &Totals {
        self
    }
}

impl Default for Totals<[AtomicU64; Vocabulary::Every.own_cells()]> {
    fn default() -> Self {
        Totals::new()
    }
}
