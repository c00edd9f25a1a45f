//! The lines of pending bus traffic, and of transactions that were sent.

use crate::bus_traffic::{Lines, PLACES};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::ia64::bus_timing::IN_ORDER;
use crate::pipeline::resources::saving::{small, time};

/// The lines of accesses that have not reached the stage in which the bus sees them. If there are too many, the last ones are kept.
#[derive(Clone, Debug)]
pub(super) struct PendingLines {
    lines: [Lines; PLACES],
    next: usize,
}

impl PendingLines {
    pub(super) const fn new() -> PendingLines {
        PendingLines { lines: [Lines::NONE; PLACES], next: 0 }
    }

    /// Stores `lines` and returns their place.
    pub(super) fn put(&mut self, lines: Lines) -> usize {
        let place = self.next;
        if let Some(cell) = self.lines.get_mut(place) {
            *cell = lines;
        }
        self.next = (place + 1) % PLACES;
        place
    }

    /// Returns the lines at a place.
    pub(super) fn get(&self, place: Option<usize>) -> Lines {
        place.and_then(|place| self.lines.get(place)).copied().unwrap_or(Lines::NONE)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.next as u64);
        self.lines.iter().for_each(|lines| writer.words(&[lines.asked, lines.written, lines.cast_out]));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.next = usize::from(small(reader, PLACES - 1)?);
        for lines in &mut self.lines {
            *lines = Lines { asked: reader.word()?, written: reader.word()?, cast_out: reader.word()? };
        }
        Ok(())
    }
}

/// The lines of the last transactions, and the clock in which each left the in-order queue.
#[derive(Clone, Debug)]
pub(super) struct SentLines {
    transactions: [(u64, u64); IN_ORDER],
    next: usize,
}

impl SentLines {
    pub(super) const fn new() -> SentLines {
        SentLines { transactions: [(Lines::UNKNOWN, 0); IN_ORDER], next: 0 }
    }

    /// Adds a transaction on `line`, sent at `issued` and done at `done`. Returns how many on this line are not done.
    pub(super) fn push(&mut self, line: u64, issued: u64, done: u64) -> usize {
        let met = self.transactions.iter().filter(|(other, until)| *other == line && line != Lines::UNKNOWN && *until > issued).count();
        if let Some(cell) = self.transactions.get_mut(self.next) {
            *cell = (line, done);
        }
        self.next = (self.next + 1) % IN_ORDER;
        met
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.next as u64);
        self.transactions.iter().for_each(|(line, until)| writer.words(&[*line, *until]));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.next = usize::from(small(reader, IN_ORDER - 1)?);
        for (line, until) in &mut self.transactions {
            (*line, *until) = (reader.word()?, time(reader, now)?);
        }
        Ok(())
    }
}
