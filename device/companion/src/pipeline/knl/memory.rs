//! Loads and stores in the memory station, the store queue and the miss buffers.

use vm_pmu_arch::feed::Signal;

use super::Units;
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::Touch;
use crate::pipeline::resources::early_loads::Ahead;
use crate::pipeline::resources::memory::{Store, Stores};
use crate::pipeline::resources::queue::{Ring, Runs};
use crate::pipeline::resources::saving::time;
use crate::pipeline::resources::sequence::Sequence;
use crate::tally::Tally;

/// Accesses sent per cycle (PL14).
const WIDTH: u8 = 2;
/// Cycles from the issue of a load to the use of its data: integers of 32 and 64 bits, and others.
const LOAD: u64 = 4;
const LOAD_OTHERS: u64 = 5;
/// Cycles from a store's data to those of a load that forwards them (PL16): integers of 32 and 64 bits, and others.
const FORWARD: u64 = 9;
const FORWARD_OTHERS: u64 = 10;
/// Cycles of forwarding from a store whose instruction has read the bytes, so that additions to memory are seven cycles apart in a chain.
const FORWARD_MODIFIED: u64 = 6;
/// Cycles from the write of a store to the data of a load that cannot forward them (PL18).
const OVERLAP: u64 = 4;
/// Cycles that a replay adds (PL19).
const AGAIN: u64 = 1;

/// The memory side of a thread.
#[derive(Clone, Debug)]
pub(super) struct KnlMemory {
    /// The entries of the station, which are freed in order.
    station: Ring<12, 16>,
    sent: Sequence,
    /// The first cycles in which another integer load and another store can be sent.
    next_load: u64,
    next_store: u64,
    /// Queue entries of stores that are issued and not written.
    places: Ring<16>,
    pub(super) stores: Stores,
    pub(super) ahead: Ahead,
    written: Sequence,
    pub(super) walker: u64,
    pub(super) walks: Runs,
}

/// Progress of the loads and stores of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accessed {
    /// The cycle in which the last of them was issued.
    pub(super) issued: u64,
    /// The cycle in which all its load data are present.
    pub(super) data: u64,
    /// The cycle in which all its stores have queue entries and translations.
    pub(super) stored: u64,
    /// Number of stores.
    pub(super) stores: usize,
    /// Number of loads.
    pub(super) loads: usize,
}

impl KnlMemory {
    pub(super) fn new() -> KnlMemory {
        KnlMemory {
            station: Ring::new(),
            sent: Sequence::new(),
            next_load: 0,
            next_store: 0,
            places: Ring::new(),
            stores: Stores::new(),
            ahead: Ahead::new(),
            written: Sequence::new(),
            walker: 0,
            walks: Runs::new(),
        }
    }

    /// Returns the first cycle in which `entries` entries of a thread's share of the station are free.
    #[inline]
    pub(super) fn room(&self, entries: usize, share: usize) -> u64 {
        self.station.room_within(entries, share)
    }

    /// Sends an access whose address is known in cycle `ready`. `vector`: it is an access of a vector register.
    pub(super) fn access(
        &mut self,
        touch: &Touch,
        ready: u64,
        vector: bool,
        units: &mut Units,
        accessed: &mut Accessed,
        tally: &mut Tally,
    ) {
        let stores = touch.stores();
        let integer = touch.loads() && !vector;
        let mut earliest = ready;
        if integer {
            earliest = earliest.max(self.next_load);
        }
        if stores {
            earliest = earliest.max(self.next_store);
        }
        let mut at = self.sent.next(earliest, WIDTH);
        if !stores && touch.missed && !touch.uncached && units.pending(touch.line, at).is_none() {
            // PL15: without a free buffer the station stalls.
            let room = units.room();
            if room > at {
                // PL45: the second level's queue accepts the request when a line has arrived.
                tally.add(Signal::SecondLevelQueueRejects, 1);
                self.sent.delay(room);
                at = room;
            }
        }
        if integer {
            self.next_load = at + 1;
        }
        if stores {
            self.next_store = at + 1;
        }
        self.station.take(at + 1);
        accessed.issued = at;
        if stores {
            self.place(touch, at, accessed, tally);
        } else if touch.loads() {
            accessed.loads += 1;
            let here = self.read(touch, at, vector, units, tally);
            self.ahead.push(touch.line, here);
            accessed.data = accessed.data.max(here);
        } else {
            // Nothing waits for a prefetch.
            let from = at + self.translate(touch, at);
            Self::line(touch, from, units);
        }
    }

    /// PL20: gives a store a queue entry. It is not written before its instruction completes.
    fn place(&mut self, touch: &Touch, at: u64, accessed: &mut Accessed, tally: &mut Tally) {
        accessed.stores += 1;
        let room = self.places.room(accessed.stores);
        let recycled = room > at;
        let split = !touch.uncached && touch.splits();
        tally.add(Signal::StoresRecycledAddress, u64::from(recycled));
        tally.add(Signal::StoresRecycled, u64::from(recycled || split));
        let at = at.max(room) + if split { AGAIN } else { 0 };
        accessed.stored = accessed.stored.max(at + self.translate(touch, at));
    }

    /// Returns when the data of a load that was issued in cycle `at` are present.
    fn read(&mut self, touch: &Touch, at: u64, vector: bool, units: &mut Units, tally: &mut Tally) -> u64 {
        let others = vector || touch.size <= 2;
        let from = at + self.translate(touch, at);
        let hit = from + if others { LOAD_OTHERS } else { LOAD };
        if touch.uncached {
            return from.max(self.stores.written) + u64::from(touch.latency);
        }
        let again = touch.splits() || touch.locked;
        let (mut overlaps, mut waits) = (false, false);
        let here = match self.stores.find(touch.address, touch.size, at).copied().filter(|store| store.overlaps(touch.address, touch.size))
        {
            Some(store) if store.holds(touch.address, touch.size) => {
                waits = at < store.ready;
                let forward = match (others, store.modifies) {
                    (true, _) => FORWARD_OTHERS,
                    (false, true) => FORWARD_MODIFIED,
                    (false, false) => FORWARD,
                };
                hit.max(store.ready + forward)
            }
            Some(store) => {
                overlaps = true;
                hit.max(store.written + OVERLAP).max(store.ready + FORWARD)
            }
            None => Self::line(touch, from, units).max(hit),
        };
        tally.add(Signal::LoadsRecycledOverlap, u64::from(overlaps));
        tally.add(Signal::LoadsRecycledData, u64::from(waits));
        tally.add(Signal::LoadsRecycled, u64::from(overlaps || waits || again));
        here + if again { AGAIN } else { 0 }
    }

    /// Returns when the line of an access is present that is needed in cycle `from`: `from` itself if the line is in the cache.
    fn line(touch: &Touch, from: u64, units: &mut Units) -> u64 {
        if let Some(until) = units.pending(touch.line, from) {
            return until;
        }
        if !touch.missed && !touch.uncached {
            return from;
        }
        units.request(touch.line, from, u64::from(touch.latency))
    }

    /// PL23: returns the cycles of the translation of an access that is issued in cycle `at`.
    fn translate(&mut self, touch: &Touch, at: u64) -> u64 {
        let cycles = u64::from(touch.translation);
        if !touch.walked {
            return cycles;
        }
        let begin = self.walker.max(at);
        self.walker = begin + cycles;
        self.walks.add(begin, self.walker);
        self.walker - at
    }

    /// PL21: writes a store after its instruction completes in cycle `completed`. Its address and its data were ready in cycle `ready`.
    pub(super) fn write(&mut self, touch: &Touch, accessed: &Accessed, ready: u64, completed: u64, units: &mut Units) {
        let earliest = Self::line(touch, accessed.stored, units).max(completed + 1);
        let written = self.written.next(earliest, 1);
        self.places.take(written);
        let Touch { address, size, misaligned, .. } = *touch;
        self.stores.push(Store { address, size, misaligned, modifies: accessed.loads != 0, ready, written, ..Store::default() });
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.station.save(writer);
        self.sent.save(writer);
        writer.words(&[self.next_load, self.next_store]);
        self.places.save(writer);
        self.stores.save(writer);
        self.ahead.save(writer);
        self.written.save(writer);
        writer.word(self.walker);
        self.walks.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.station.load(reader, now)?;
        self.sent = Sequence::load(reader, now)?;
        self.next_load = time(reader, now)?;
        self.next_store = time(reader, now)?;
        self.places.load(reader, now)?;
        self.stores.load(reader, now)?;
        self.ahead.load(reader, now)?;
        self.written = Sequence::load(reader, now)?;
        self.walker = time(reader, now)?;
        self.walks.load(reader, now)
    }
}
