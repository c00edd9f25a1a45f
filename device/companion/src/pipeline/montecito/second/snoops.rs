//! Snoops that look up a line in the second level (L15).

use super::SecondQueue;
use super::counts::Count;
use super::entries::{ENTRIES, EntryState, QueueEntry};
use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::answered_snoops::MOST;
use crate::pipeline::resources::saving::{small, time};

/// Window of clocks within which a snoop and an arriving line meet (M table 4-91).
const WINDOW: u64 = 3;

/// Pending snoops, oldest first: the line, and the clock of arrival.
#[derive(Clone, Debug)]
pub(super) struct SecondSnoops {
    all: [(u64, u64); MOST],
    count: usize,
}

impl SecondSnoops {
    pub(super) const fn new() -> SecondSnoops {
        SecondSnoops { all: [(0, 0); MOST], count: 0 }
    }

    /// Adds a snoop that arrives in clock `at`, not before the others. If there is no room, the oldest is dropped.
    fn push(&mut self, line: u64, at: u64) {
        if self.count == MOST {
            self.take();
        }
        if let Some(place) = self.all.get_mut(self.count) {
            *place = (line, at);
            self.count += 1;
        }
    }

    fn first(&self) -> Option<(u64, u64)> {
        self.all.first().copied().filter(|_| self.count != 0)
    }

    fn take(&mut self) {
        if self.count != 0 {
            self.all.rotate_left(1);
            self.count -= 1;
        }
    }

    /// Returns when the next one arrives.
    pub(super) fn next(&self) -> Option<u64> {
        self.first().map(|(_, at)| at)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        self.all.iter().for_each(|(line, at)| writer.words(&[*line, *at]));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.count = usize::from(small(reader, MOST)?);
        for (line, at) in &mut self.all {
            (*line, *at) = (reader.word()?, time(reader, now)?);
        }
        Ok(())
    }
}

impl SecondQueue {
    /// Adds a snoop of `line` that arrives in clock `at`, not before earlier ones.
    pub(in crate::pipeline::montecito) fn snoop(&mut self, line: u64, at: u64) {
        self.snoops.push(line, at);
    }

    /// Looks up the lines of snoops that arrive in clock `now`.
    pub(super) fn meet(&mut self, now: u64) {
        while let Some((line, _)) = self.snoops.first().filter(|(_, at)| *at <= now) {
            self.snoops.take();
            let fills = self.fills.all.iter().filter(|fill| fill.taken && fill.line == line && fill.arrival.abs_diff(now) < WINDOW).count();
            self.add(Count::SnoopedFill, fills as u64);
            for place in 0..ENTRIES {
                let Some(entry) = self.entries.get(place).filter(|entry| entry.waits_with(line)).copied() else { continue };
                self.count(Count::Snooped);
                self.entries.set(place, QueueEntry { state: EntryState::Recirculates, at: now + 1, blocker: None, ..entry });
            }
        }
    }
}
