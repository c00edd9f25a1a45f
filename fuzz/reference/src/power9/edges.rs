//! Falling edges (POWER9 PMU User's Guide, A.4, PMCxSEL, bit 8): clocks without an event after one that had some.

use vm_pmu_arch::feed::{Kind, Signal};

use crate::clocks::amount_of as of;
use crate::detector::Detector;

/// What a counter of falling edges may have seen before the next step. What came before it began is not known, so it begins with every
/// possibility, and each clock leaves fewer.
#[derive(Clone, Copy)]
pub(super) struct Falls {
    possible: [Detector; 4],
    /// Clocks of a state were injected, and how many are still to come is not known.
    injected: bool,
}

impl Falls {
    /// Nothing is known.
    pub(super) fn new() -> Falls {
        let at = |idle, open| Detector { open, ..Detector::at(idle) };
        Falls { possible: [at(true, 0), at(false, 0), at(true, 1), at(false, 1)], injected: false }
    }

    /// What was seen may not have been counted.
    pub(super) fn doubt(&mut self) {
        *self = Falls { injected: self.injected, ..Falls::new() };
    }

    /// Something was injected.
    pub(super) fn inject(&mut self) {
        self.injected = true;
    }

    /// How many falling edges a step has of what these signals describe; `None` is not known.
    pub(super) fn step(&mut self, sources: &[Signal], signals: &[(Signal, u64)]) -> Option<u64> {
        let grown = |state: bool| {
            let sources = sources.iter().filter(move |source| (source.kind() == Kind::State) == state);
            sources.map(|source| of(signals, *source)).collect::<Vec<_>>()
        };
        let (states, events) = (grown(true), grown(false).iter().sum());
        let clocks = of(signals, Signal::Cycles);
        // The rises of having no event.
        let falls = self.possible.each_mut().map(|seen| seen.pass(clocks, events, &states, |events| events == 0).0);
        (!self.injected && falls.iter().all(|fall| *fall == falls[0])).then_some(falls[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of so many clocks with so many loads.
    fn step(falls: &mut Falls, clocks: u64, loads: u64) -> Option<u64> {
        falls.step(&[Signal::Loads], &[(Signal::Cycles, clocks), (Signal::Loads, loads)])
    }

    #[test]
    fn a_clock_with_an_event_falls_whatever_came_before() {
        let mut falls = Falls::new();
        assert_eq!(step(&mut falls, 1, 2), Some(0));
        assert_eq!(step(&mut falls, 3, 0), Some(1));
        assert_eq!(step(&mut falls, 3, 1), Some(1));
        assert_eq!(step(&mut falls, 3, 0), Some(0));
    }

    #[test]
    fn what_fell_in_the_first_clock_is_not_known() {
        let mut falls = Falls::new();
        assert_eq!(step(&mut falls, 2, 0), None);
        assert_eq!(step(&mut falls, 2, 0), Some(0));
        falls.doubt();
        assert_eq!(step(&mut falls, 1, 0), None);
    }

    #[test]
    fn nothing_is_known_after_an_injection() {
        let mut falls = Falls::new();
        falls.inject();
        assert_eq!(step(&mut falls, 1, 1), None);
        assert_eq!(step(&mut falls, 1, 0), None);
    }
}
