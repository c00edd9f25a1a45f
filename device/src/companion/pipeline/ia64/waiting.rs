//! A queue of what is sent when nothing else wants the bus.

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::queue::Ring;
use super::super::{small, time};

/// Places of the queues of the system interface.
pub(super) const PLACES: usize = 8;
/// The most clocks of the bus that the data of an entry take.
const MOST_CLOCKS: usize = 4;

/// Entries that have not been sent, and when those that have been sent give their places back.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// When each entered, and for how many clocks of the bus it has data. The oldest comes first.
    entries: [(u64, u64); PLACES],
    count: usize,
    left: Ring<PLACES>,
}

impl Waiting {
    pub(super) const fn new() -> Waiting {
        Waiting { entries: [(0, 0); PLACES], count: 0, left: Ring::new() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == PLACES
    }

    /// The first clock in which there is a place, as far as entries that have been sent hold it.
    pub(super) fn room(&self) -> u64 {
        self.left.room(self.count + 1)
    }

    pub(super) fn push(&mut self, at: u64, clocks: u64) {
        if let Some(place) = self.entries.get_mut(self.count) {
            *place = (at, clocks);
            self.count += 1;
        }
    }

    /// The entry that is sent next.
    pub(super) fn first(&self) -> Option<(u64, u64)> {
        self.entries.first().copied().filter(|_| self.count != 0)
    }

    /// Removes it.
    pub(super) fn take(&mut self) -> Option<(u64, u64)> {
        let first = self.first()?;
        self.entries.rotate_left(1);
        self.count -= 1;
        Some(first)
    }

    /// One that has been taken gives its place back at `until`.
    pub(super) fn leave(&mut self, until: u64) {
        self.left.take_in_order(until);
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        self.entries.iter().for_each(|(at, clocks)| writer.words(&[*at, *clocks]));
        self.left.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.count = usize::from(small(reader, PLACES)?);
        for entry in &mut self.entries {
            *entry = (time(reader, now)?, u64::from(small(reader, MOST_CLOCKS)?));
        }
        self.left.load(reader, now)
    }
}
