//! Events not yet told to the totals.

use vm_pmu_arch::feed::{Demand, Signal, Totals};

/// Events since the totals were told last, by signal.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pending: [u64; Signal::COUNT],
    /// What somebody counts, and the companion makes.
    wanted: [Signal; Signal::COUNT],
    count: usize,
}

impl Tally {
    pub(super) const fn new() -> Tally {
        Tally { pending: [0; Signal::COUNT], wanted: [Signal::Cycles; Signal::COUNT], count: 0 }
    }

    /// Something happened `amount` times.
    #[inline(always)]
    pub(super) fn add(&mut self, signal: Signal, amount: u64) {
        if let Some(cell) = self.pending.get_mut(signal.index()) {
            *cell = cell.wrapping_add(amount);
        }
    }

    /// From now on these are told; what nobody asked for before is forgotten.
    pub(super) fn renew(&mut self, demand: &Demand, made: impl Fn(Signal) -> bool) {
        self.pending = [0; Signal::COUNT];
        self.count = 0;
        for signal in demand.signals().iter().filter(|signal| made(*signal)) {
            if let Some(place) = self.wanted.get_mut(self.count) {
                *place = signal;
                self.count += 1;
            }
        }
    }

    /// Whether anything is told at all.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How often something has happened that is not told yet.
    pub(super) fn get(&self, signal: Signal) -> u64 {
        self.pending.get(signal.index()).copied().unwrap_or(0)
    }

    /// Takes over what `other` keeps, whatever is told of it.
    pub(super) fn take_over(&mut self, other: &mut Tally) {
        for (cell, more) in self.pending.iter_mut().zip(&mut other.pending) {
            *cell = cell.wrapping_add(core::mem::take(more));
        }
    }

    /// What is told.
    pub(super) fn told(&self) -> &[Signal] {
        self.wanted.get(..self.count).unwrap_or(&[])
    }

    /// Tells the totals what happened.
    #[inline]
    pub(super) fn tell(&mut self, totals: &Totals) {
        for signal in self.wanted.get(..self.count).unwrap_or(&[]) {
            if let Some(cell) = self.pending.get_mut(signal.index())
                && *cell != 0
            {
                totals.add(*signal, *cell);
                *cell = 0;
            }
        }
    }
}
