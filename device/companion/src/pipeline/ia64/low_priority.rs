//! A queue of transactions that are sent when nothing else wants the bus.

use crate::bus_traffic::{LINE_CLOCKS, Lines};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::queue::Ring;
use crate::pipeline::resources::saving::{small, time};

/// Capacity of the queues of the system interface.
pub(super) const PLACES: usize = 8;

/// A queue entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LowPriorityEntry {
    /// The clock in which it entered.
    pub(super) at: u64,
    /// Number of bus clocks for which it has data.
    pub(super) clocks: u64,
    pub(super) line: u64,
}

impl LowPriorityEntry {
    /// Whether it is queued in clock `now` and its line is known to be `line`.
    fn meets(&self, line: u64, now: u64) -> bool {
        self.at <= now && self.line == line && line != Lines::UNKNOWN
    }
}

/// Entries that have not been sent, and the clocks in which sent entries free their places.
#[derive(Clone, Debug)]
pub(super) struct LowPriorityQueue {
    /// The entries, oldest first.
    entries: [LowPriorityEntry; PLACES],
    count: usize,
    left: Ring<PLACES>,
}

impl LowPriorityQueue {
    pub(super) const fn new() -> LowPriorityQueue {
        LowPriorityQueue { entries: [LowPriorityEntry { at: 0, clocks: 0, line: 0 }; PLACES], count: 0, left: Ring::new() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == PLACES
    }

    /// Returns the first clock in which there is room, considering the entries that sent ones still hold.
    pub(super) fn room(&self) -> u64 {
        self.left.room(self.count + 1)
    }

    pub(super) fn push(&mut self, entry: LowPriorityEntry) {
        if let Some(place) = self.entries.get_mut(self.count) {
            *place = entry;
            self.count += 1;
        }
    }

    /// Returns the entry that is sent next.
    pub(super) fn first(&self) -> Option<LowPriorityEntry> {
        self.entries.first().copied().filter(|_| self.count != 0)
    }

    /// Removes the entry that is sent next.
    pub(super) fn take(&mut self) -> Option<LowPriorityEntry> {
        self.remove(0)
    }

    fn remove(&mut self, place: usize) -> Option<LowPriorityEntry> {
        let behind = self.entries.get_mut(place..self.count).filter(|behind| !behind.is_empty())?;
        let entry = behind.first().copied();
        behind.rotate_left(1);
        self.count -= 1;
        entry
    }

    /// Returns the number of entries of `line` in clock `now`.
    pub(super) fn of_line(&self, line: u64, now: u64) -> usize {
        self.entries.iter().take(self.count).filter(|entry| entry.meets(line, now)).count()
    }

    /// Removes the entry that covers all of `line`, if there is one in clock `now`.
    pub(super) fn take_whole(&mut self, line: u64, now: u64) -> Option<LowPriorityEntry> {
        let place = self.entries.iter().take(self.count).position(|entry| entry.clocks == LINE_CLOCKS && entry.meets(line, now))?;
        self.remove(place)
    }

    /// Frees the place of a removed entry at `until`.
    pub(super) fn leave(&mut self, until: u64) {
        self.left.take_in_order(until);
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        self.entries.iter().for_each(|entry| writer.words(&[entry.at, entry.clocks, entry.line]));
        self.left.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.count = usize::from(small(reader, PLACES)?);
        for entry in &mut self.entries {
            *entry =
                LowPriorityEntry { at: time(reader, now)?, clocks: u64::from(small(reader, LINE_CLOCKS as usize)?), line: reader.word()? };
        }
        self.left.load(reader, now)
    }
}
