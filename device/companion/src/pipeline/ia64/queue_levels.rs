//! Number of entries of a queue in each clock.

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{small, time};

/// Number of entries that are kept until their clocks have been counted.
const PLACES: usize = 32;
/// The end of an entry that is not known yet.
const OPEN: u64 = u64::MAX;

/// The entries of a queue, each from one clock up to another.
#[derive(Clone, Debug)]
pub(super) struct QueueLevels {
    entries: [(u64, u64); PLACES],
    count: usize,
}

impl QueueLevels {
    pub(super) const fn new() -> QueueLevels {
        QueueLevels { entries: [(0, 0); PLACES], count: 0 }
    }

    fn entries(&self) -> &[(u64, u64)] {
        self.entries.get(..self.count).unwrap_or(&[])
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == PLACES
    }

    /// Adds an entry from `begin` up to `end`. An entry that does not fit is not counted.
    pub(super) fn enter(&mut self, begin: u64, end: u64) {
        if begin < end
            && let Some(place) = self.entries.get_mut(self.count)
        {
            *place = (begin, end);
            self.count += 1;
        }
    }

    /// Adds an entry from `begin` on.
    pub(super) fn open(&mut self, begin: u64) {
        self.enter(begin, OPEN);
    }

    /// Ends the oldest open entry at `end`.
    pub(super) fn close(&mut self, end: u64) {
        let open = self.entries.iter_mut().take(self.count).find(|(_, until)| *until == OPEN);
        if let Some(entry) = open {
            entry.1 = end.max(entry.0);
        }
    }

    /// Sums the numbers of entries in the clocks from `from` up to `to`: their low bits, and the rest.
    pub(super) fn pass(&mut self, from: u64, to: u64, low_bits: u32) -> [u64; 2] {
        let (mut at, mut sums) = (from, [0; 2]);
        while at < to && self.count != 0 {
            let (mut live, mut next) = (0, to);
            for (begin, end) in self.entries() {
                if *begin > at {
                    next = next.min(*begin);
                } else if *end > at {
                    live += 1;
                    next = next.min(*end);
                }
            }
            sums[0] += (live & ((1 << low_bits) - 1)) * (next - at);
            sums[1] += (live >> low_bits) * (next - at);
            at = next;
        }
        self.forget(to);
        sums
    }

    /// Removes the entries that have left by `now`.
    fn forget(&mut self, now: u64) {
        let mut kept = 0;
        for number in 0..self.count {
            let Some(entry) = self.entries.get(number).copied() else { break };
            if entry.1 > now
                && let Some(place) = self.entries.get_mut(kept)
            {
                *place = entry;
                kept += 1;
            }
        }
        self.count = kept;
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        for number in 0..PLACES {
            let (begin, end) = self.entries().get(number).copied().unwrap_or((0, 0));
            // No entry ends in clock 0.
            writer.words(&[begin, if end == OPEN { 0 } else { end }]);
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.count = usize::from(small(reader, PLACES)?);
        for entry in &mut self.entries {
            let (begin, end) = (time(reader, now)?, time(reader, now)?);
            *entry = (begin, if end == 0 { OPEN } else { end });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_entries_is_added_up_in_two_parts() {
        let mut live = QueueLevels::new();
        // Nine entries in clocks 10 to 14, one more in 12 to 19: 9, 9, 10, 10, 10, then 1 for five clocks.
        (0..9).for_each(|_| live.enter(10, 15));
        live.enter(12, 20);
        // The lower three bits of 9 and 10 are 1 and 2, and the rest is 1.
        assert_eq!(live.pass(0, 12, 3), [2, 2]);
        assert_eq!(live.pass(12, 100, 3), [3 * 2 + 5, 3]);
        assert_eq!(live.pass(100, 200, 3), [0, 0]);
    }

    #[test]
    fn an_entry_without_an_end_is_counted_until_it_has_one() {
        let mut live = QueueLevels::new();
        live.open(10);
        live.open(12);
        assert_eq!(live.pass(0, 20, 3), [10 + 8, 0]);
        live.close(25);
        assert_eq!(live.pass(20, 30, 3), [5 + 10, 0]);
    }
}
