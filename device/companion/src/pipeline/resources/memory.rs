//! Stores that have not been written yet and buffers of missed lines, for which loads and stores wait.

use super::time;
use crate::bytes::{Damaged, Reader, Writer};

/// Number of stores that are remembered.
const STORES: usize = 64;

/// A store that may still wait to be written.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipeline) struct Store {
    /// The address of its first byte.
    pub(in crate::pipeline) address: u64,
    /// Its size in bytes.
    pub(in crate::pipeline) size: u8,
    /// Whether it crosses the width of a cache access.
    pub(in crate::pipeline) misaligned: bool,
    /// Whether its instruction has read the same bytes.
    pub(in crate::pipeline) modifies: bool,
    /// The cycle in which its address and its data are known.
    pub(in crate::pipeline) ready: u64,
    /// The cycle in which it is in the cache.
    pub(in crate::pipeline) written: u64,
    /// The cycle in which its address was issued, and the number of its line in memory, on parts that need them.
    pub(in crate::pipeline) issued: u64,
    pub(in crate::pipeline) line: u64,
}

impl Store {
    /// Returns whether it covers any of these bytes.
    pub(in crate::pipeline) fn overlaps(&self, address: u64, size: u8) -> bool {
        address.wrapping_sub(self.address) < u64::from(self.size) || self.address.wrapping_sub(address) < u64::from(size)
    }

    /// Returns whether it covers all of these bytes.
    pub(in crate::pipeline) fn holds(&self, address: u64, size: u8) -> bool {
        address.wrapping_sub(self.address).saturating_add(u64::from(size)) <= u64::from(self.size)
    }
}

/// Address bits within a granule. Stores are found by granule.
const GRANULE_BITS: u32 = 2;
/// Number of granules in a page: bits 11:2 of addresses are compared.
const GRANULES: usize = 1024;

/// The last stores of a thread.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Stores {
    ring: [Store; STORES],
    /// Number of stores so far.
    count: u64,
    /// Number of the last store to each granule of a page, plus one.
    last: [u64; GRANULES],
    /// The cycle in which the last of them is written.
    pub(in crate::pipeline) written: u64,
}

/// Returns the granules that `size` bytes at `address` lie in.
fn granules(address: u64, size: u8) -> impl Iterator<Item = usize> {
    let first = address >> GRANULE_BITS;
    let last = address.wrapping_add(u64::from(size.max(1)) - 1) >> GRANULE_BITS;
    (0..=last.wrapping_sub(first).min(64)).map(move |number| (first.wrapping_add(number) % GRANULES as u64) as usize)
}

impl Stores {
    pub(in crate::pipeline) const fn new() -> Stores {
        let none = Store { address: 0, size: 0, misaligned: false, modifies: false, ready: 0, written: 0, issued: 0, line: 0 };
        Stores { ring: [none; STORES], count: 0, last: [0; GRANULES], written: 0 }
    }

    pub(in crate::pipeline) fn push(&mut self, store: Store) {
        if let Some(place) = self.ring.get_mut(self.count as usize % STORES) {
            *place = store;
        }
        self.count += 1;
        for granule in granules(store.address, store.size) {
            if let Some(last) = self.last.get_mut(granule) {
                *last = self.count;
            }
        }
        self.written = self.written.max(store.written);
    }

    /// Returns the last store that is not written at `now` and shares a granule of the page with these bytes.
    #[inline]
    pub(in crate::pipeline) fn find(&self, address: u64, size: u8, now: u64) -> Option<&Store> {
        if self.written <= now {
            return None;
        }
        let number = granules(address, size).filter_map(|granule| self.last.get(granule)).max().copied()?;
        if number == 0 || number + (STORES as u64) <= self.count {
            return None;
        }
        self.ring.get((number - 1) as usize % STORES).filter(|store| store.written > now)
    }

    /// Delays everything by `cycles`.
    pub(in crate::pipeline) fn shift(&mut self, cycles: u64) {
        self.written += cycles;
        for store in &mut self.ring {
            store.ready += cycles;
            store.written += cycles;
            store.issued += cycles;
        }
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.count, self.written]);
        for store in &self.ring {
            let flags = u64::from(store.misaligned) | u64::from(store.modifies) << 1 | u64::from(store.size) << 8;
            writer.words(&[store.address, flags, store.ready, store.written, store.issued, store.line]);
        }
        writer.words(&self.last);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.count = reader.word()?;
        self.written = time(reader, now)?;
        for store in &mut self.ring {
            let (address, flags) = (reader.word()?, reader.word()?);
            *store = Store {
                address,
                size: (flags >> 8) as u8,
                misaligned: flags & 1 == 1,
                modifies: flags >> 1 & 1 == 1,
                ready: time(reader, now)?,
                written: time(reader, now)?,
                issued: time(reader, now)?,
                line: reader.word()?,
            };
        }
        reader.words(&mut self.last)?;
        if self.count > 1 << 62 || self.last.iter().any(|last| *last > self.count) { Err(Damaged) } else { Ok(()) }
    }
}

/// Buffers of lines in flight, each with a tag.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Misses<const COUNT: usize, Tag = ()> {
    /// The number of each line, and the cycle in which it arrives.
    lines: [(u64, u64); COUNT],
    pub(in crate::pipeline) tags: [Tag; COUNT],
    /// The cycle in which all have arrived.
    last: u64,
}

impl<const COUNT: usize, Tag: Copy + Default> Misses<COUNT, Tag> {
    pub(in crate::pipeline) fn new() -> Self {
        Misses { lines: [(0, 0); COUNT], tags: [Tag::default(); COUNT], last: 0 }
    }

    /// Returns when `line` arrives and its tag, if it is in flight at `now`.
    #[inline]
    pub(in crate::pipeline) fn find(&self, line: u64, now: u64) -> Option<(u64, Tag)> {
        if self.last <= now {
            return None;
        }
        let of = |((of, until), tag): (&(u64, u64), &Tag)| (*of == line && *until > now).then_some((*until, *tag));
        self.lines.iter().zip(&self.tags).find_map(of)
    }

    /// Returns when `line` arrives, if it is in flight at `now`.
    #[inline]
    pub(in crate::pipeline) fn pending(&self, line: u64, now: u64) -> Option<u64> {
        self.find(line, now).map(|(until, _)| until)
    }

    /// Returns the first cycle in which a buffer is free.
    #[inline]
    pub(in crate::pipeline) fn room(&self) -> u64 {
        self.lines.iter().map(|(_, until)| *until).min().unwrap_or(0)
    }

    /// Returns the arrival cycles of the lines that were requested last.
    pub(in crate::pipeline) fn ends(&self) -> impl Iterator<Item = u64> {
        self.lines.iter().map(|(_, until)| *until)
    }

    /// Returns whether a line arrives in cycle `now`.
    pub(in crate::pipeline) fn comes(&self, now: u64) -> bool {
        self.last >= now && self.lines.iter().any(|(_, until)| *until == now)
    }

    /// Requests `line` at `now`, or when a buffer is free. Returns when it arrives.
    pub(in crate::pipeline) fn request(&mut self, line: u64, now: u64, latency: u64) -> u64 {
        self.request_tagged(line, now, latency, Tag::default())
    }

    /// Requests a line with a tag, otherwise as [`request`](Misses::request).
    pub(in crate::pipeline) fn request_tagged(&mut self, line: u64, now: u64, latency: u64, tag: Tag) -> u64 {
        let Some((place, old)) = self.lines.iter_mut().zip(&mut self.tags).min_by_key(|((_, until), _)| *until) else {
            return now + latency;
        };
        *place = (line, place.1.max(now) + latency);
        *old = tag;
        self.last = self.last.max(place.1);
        place.1
    }

    /// Records that `line` arrives at `until`, even if no buffer is free: it takes the one that is free first.
    pub(in crate::pipeline) fn note(&mut self, line: u64, until: u64) {
        if let Some(place) = self.lines.iter_mut().min_by_key(|(_, until)| *until) {
            *place = (line, until);
        }
        self.last = self.last.max(until);
    }

    /// Saves the lines without their tags.
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        self.lines.iter().for_each(|(line, until)| writer.words(&[*line, *until]));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for line in &mut self.lines {
            *line = (reader.word()?, time(reader, now)?);
        }
        self.last = self.lines.iter().map(|(_, until)| *until).max().unwrap_or(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_found_until_it_is_written() {
        let mut stores = Stores::new();
        stores.push(Store { address: 0x1008, size: 16, written: 50, ..Store::default() });
        assert!(stores.find(0x1014, 4, 49).is_some());
        assert!(stores.find(0x1014, 4, 50).is_none());
        assert!(stores.find(0x1018, 4, 49).is_none());
    }

    #[test]
    fn a_store_beside_the_last_one_in_the_same_quadword_is_found() {
        let mut stores = Stores::new();
        stores.push(Store { address: 0x1000, size: 4, written: 50, ..Store::default() });
        stores.push(Store { address: 0x1004, size: 4, written: 51, ..Store::default() });
        assert_eq!(stores.find(0x1000, 4, 10).map(|store| store.address), Some(0x1000));
    }

    #[test]
    fn the_last_of_several_stores_is_found_and_none_that_is_forgotten() {
        let mut stores = Stores::new();
        (0..70).for_each(|number| stores.push(Store { address: 8 * number, size: 8, written: 1000 + number, ..Store::default() }));
        assert!(stores.find(0, 8, 0).is_none());
        assert_eq!(stores.find(8 * 69, 8, 0).map(|store| store.written), Some(1069));
    }

    #[test]
    fn a_store_has_some_or_all_of_the_bytes_of_a_load() {
        let store = Store { address: 0x1004, size: 4, ..Store::default() };
        let bytes = [(0x1004, 4), (0x1006, 2), (0x1006, 4), (0x1000, 8), (0x1000, 4), (0x1008, 1)];
        assert_eq!(bytes.map(|(address, size)| store.holds(address, size)), [true, true, false, false, false, false]);
        assert_eq!(bytes.map(|(address, size)| store.overlaps(address, size)), [true, true, true, true, false, false]);
    }

    #[test]
    fn a_miss_takes_the_buffer_that_is_free_first() {
        let mut misses = Misses::<2>::new();
        assert_eq!(misses.request(1, 0, 100), 100);
        assert_eq!(misses.request(2, 10, 100), 110);
        assert_eq!(misses.pending(1, 50), Some(100));
        assert_eq!(misses.request(3, 20, 100), 200);
        assert_eq!(misses.pending(1, 50), None);
    }
}
