//! The interrupts of a PMU that a CPU takes, and whether the guest makes progress between them.

use serde::{Deserialize, Serialize};

/// So many interrupts in a row, each before the instruction that the one before had interrupted, are a storm.
const STORM: u64 = 3;

/// An interrupt that was taken again and again before the same instruction, which never executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storm {
    /// How often it was taken in a row.
    pub times: u64,
    /// It was POWER's event-based branch.
    pub event_based: bool,
    /// The address of the instruction that it interrupted.
    pub interrupted: u64,
    /// The address of the last instruction before it was taken again: the handler's return.
    pub returned: u64,
}

/// The interrupts and event-based branches of its PMU that a CPU has taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliveries {
    taken: u64,
    /// Where the last one was taken, until an instruction has executed there.
    interrupted: Option<u64>,
    in_a_row: u64,
    /// The longest of the storms.
    storm: Option<Storm>,
    /// The address of the last instruction.
    last: u64,
}

impl Deliveries {
    /// How many were taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The longest storm, if there was one.
    #[must_use]
    pub fn storm(&self) -> Option<Storm> {
        self.storm
    }

    /// An instruction at `address` has retired.
    #[inline]
    pub(crate) fn retired(&mut self, address: u64) {
        self.last = address;
        if self.interrupted == Some(address) {
            self.interrupted = None;
        }
    }

    /// An interrupt, or with `event_based` an event-based branch, is taken before the instruction at `address`.
    pub(crate) fn take(&mut self, address: u64, event_based: bool) {
        self.taken += 1;
        let again = self.interrupted.replace(address) == Some(address);
        self.in_a_row = if again { self.in_a_row + 1 } else { 1 };
        if self.in_a_row >= STORM.max(self.storm.map_or(0, |storm| storm.times)) {
            self.storm = Some(Storm { times: self.in_a_row, event_based, interrupted: address, returned: self.last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interrupt at `address`, and a handler that ends at 0xF10.
    fn interrupt(deliveries: &mut Deliveries, address: u64) {
        deliveries.take(address, false);
        deliveries.retired(0xF00);
        deliveries.retired(0xF10);
    }

    #[test]
    fn interrupts_without_progress_are_a_storm() {
        let mut deliveries = Deliveries::default();
        deliveries.retired(0x100);
        for _ in 0..4 {
            interrupt(&mut deliveries, 0x104);
        }
        assert_eq!(
            (deliveries.taken(), deliveries.storm()),
            (4, Some(Storm { times: 4, event_based: false, interrupted: 0x104, returned: 0xF10 }))
        );
    }

    #[test]
    fn two_in_a_row_and_a_loop_are_none() {
        let mut deliveries = Deliveries::default();
        for _ in 0..10 {
            // A second counter overflowed in the handler.
            interrupt(&mut deliveries, 0x104);
            interrupt(&mut deliveries, 0x104);
            deliveries.retired(0x104);
        }
        assert_eq!((deliveries.taken(), deliveries.storm()), (20, None));
    }

    #[test]
    fn the_longest_storm_is_kept() {
        let mut deliveries = Deliveries::default();
        for (address, times) in [(0x104, 3), (0x200, 5), (0x300, 4)] {
            (0..times).for_each(|_| interrupt(&mut deliveries, address));
            deliveries.retired(address);
        }
        assert_eq!(deliveries.storm(), Some(Storm { times: 5, event_based: false, interrupted: 0x200, returned: 0xF10 }));
    }
}
