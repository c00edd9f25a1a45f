//! Which loads the data event-address registers follow.

use crate::feed::{DataSource, Memory, Record, Traits};

/// The seed of the choice of loads after a reset: any number except 0.
const SEED: u16 = 0xACE1;

/// The machine that follows one load at a time.
///
/// While it follows one, it skips other loads. If it has skipped any, it then skips none to three more, chosen by a shift register, so
/// that a loop with overlapping loads does not always show the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoadTracker {
    /// Cycles until it knows what became of the load that it follows.
    pub busy: u64,
    /// Loads were skipped meanwhile.
    pub overlapped: bool,
    /// Loads yet to be skipped.
    pub skip: u8,
    /// The shift register.
    pub random: u16,
}

impl Default for LoadTracker {
    fn default() -> Self {
        LoadTracker { busy: 0, overlapped: false, skip: 0, random: SEED }
    }
}

impl LoadTracker {
    /// The same with a shift register that can leave its state.
    pub(crate) fn cleaned(self) -> LoadTracker {
        LoadTracker { random: if self.random == 0 { SEED } else { self.random }, ..self }
    }

    /// Advances by `cycles`.
    pub(crate) fn advance(&mut self, cycles: u64) {
        self.busy = self.busy.saturating_sub(cycles);
    }

    /// Stops following a load: it is not known how long monitoring was frozen.
    pub(crate) fn release(&mut self) {
        self.busy = 0;
    }

    /// The access of `record` if it is a load that is followed and that the first-level cache missed. Call it for every load.
    pub(crate) fn follow<'a>(&mut self, record: &'a Record) -> Option<&'a Memory> {
        // The hardware page walker's loads are not monitored.
        record.memory.filter(|memory| memory.load && !record.sample.traits.contains(Traits::PAGE_WALKER))?;
        let missing = missing_load(record);
        let taken = self.takes(missing.map_or(1, |memory| memory.latency));
        missing.filter(|_| taken)
    }

    /// Whether a load that takes `latency` cycles is followed.
    fn takes(&mut self, latency: u32) -> bool {
        if self.busy > 0 {
            self.overlapped = true;
            return false;
        }
        if core::mem::take(&mut self.overlapped) {
            self.skip = (self.shift() & 3) as u8;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.busy = u64::from(latency.max(1));
        true
    }

    /// A step of a shift register of 16 bits that takes every value except 0.
    fn shift(&mut self) -> u16 {
        let low = self.random & 1;
        self.random >>= 1;
        if low == 1 {
            self.random ^= 0xB400;
        }
        self.random
    }
}

/// The access of a load that the first-level cache misses or never has: loads of floating-point registers and semaphores.
fn missing_load(record: &Record) -> Option<&Memory> {
    let traits = record.sample.traits;
    let memory = record.memory.as_ref().filter(|memory| memory.load)?;
    let beyond = traits.intersects(Traits::FLOATING_POINT | Traits::SEMAPHORE);
    let hit = matches!(memory.source, DataSource::Cache(0 | 1) | DataSource::StoreForward);
    (beyond || !hit).then_some(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(source: DataSource, latency: u32) -> Record {
        let translation = crate::feed::Translation::Unknown;
        let memory = Memory { address: 0, size: 8, load: true, store: false, latency, source, translation };
        Record { memory: Some(memory), ..Record::at(0) }
    }

    #[test]
    fn a_load_that_overlaps_the_one_followed_is_passed_over() {
        let mut tracker = LoadTracker::default();
        let miss = load(DataSource::Cache(2), 10);
        assert!(tracker.follow(&miss).is_some());
        tracker.advance(9);
        assert!(tracker.follow(&miss).is_none());
    }

    #[test]
    fn loads_that_do_not_overlap_are_all_followed() {
        let mut tracker = LoadTracker::default();
        let miss = load(DataSource::Cache(2), 10);
        for _ in 0..20 {
            assert!(tracker.follow(&miss).is_some());
            tracker.advance(10);
        }
    }

    #[test]
    fn loads_of_floating_point_registers_never_have_the_first_level() {
        let mut record = load(DataSource::Cache(1), 5);
        assert!(missing_load(&record).is_none());
        record.sample.traits = Traits::FLOATING_POINT;
        assert!(missing_load(&record).is_some());
    }
}
