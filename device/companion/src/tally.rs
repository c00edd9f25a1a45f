//! Events not yet added to the totals.

use vm_pmu_arch::feed::{Demand, Signal, Totals};

use crate::bus_traffic::{BusTraffic, Lines};

/// Events that have not been added to the totals yet, by signal.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pending: [u64; Signal::COUNT],
    /// The signals that are demanded and that the companion supplies.
    wanted: [Signal; Signal::COUNT],
    count: usize,
    /// The work of the bus since this was last taken.
    pub(crate) carried: BusTraffic,
    /// The lines of that work.
    pub(crate) lines: Lines,
}

impl Tally {
    pub(crate) const fn new() -> Tally {
        Tally {
            pending: [0; Signal::COUNT],
            wanted: [Signal::Cycles; Signal::COUNT],
            count: 0,
            carried: BusTraffic::NONE,
            lines: Lines::NONE,
        }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, signal: Signal, amount: u64) {
        if let Some(cell) = self.pending.get_mut(signal.index()) {
            *cell = cell.wrapping_add(amount);
        }
    }

    /// Sets the signals that are reported, and drops the events so far.
    pub(crate) fn update(&mut self, demand: &Demand, made: impl Fn(Signal) -> bool) {
        self.pending = [0; Signal::COUNT];
        self.count = 0;
        (self.carried, self.lines) = (BusTraffic::NONE, Lines::NONE);
        for signal in demand.signals().iter().filter(|signal| made(*signal)) {
            if let Some(place) = self.wanted.get_mut(self.count) {
                *place = signal;
                self.count += 1;
            }
        }
    }

    /// Whether no signal is reported.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the amount of a signal that is not reported yet.
    pub(crate) fn get(&self, signal: Signal) -> u64 {
        self.pending.get(signal.index()).copied().unwrap_or(0)
    }

    pub(crate) fn take_over(&mut self, other: &mut Tally) {
        for (cell, more) in self.pending.iter_mut().zip(&mut other.pending) {
            *cell = cell.wrapping_add(core::mem::take(more));
        }
    }

    /// Returns the signals that are reported.
    pub(crate) fn signals(&self) -> &[Signal] {
        self.wanted.get(..self.count).unwrap_or(&[])
    }

    #[inline]
    pub(crate) fn report(&mut self, totals: &Totals) {
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
