//! The memory of a package: open pages of DRAM, and a memory-side cache where there is one.

use alloc::boxed::Box;
use alloc::vec;

use vm_pmu_arch::feed::Signal;

use crate::bytes::{Damaged, Reader, Writer};
use crate::fabric::places::Places;
use crate::profile::{Costs, MemoryGeometry};
use crate::tally::Tally;
use vm_pmu_arch::die::Spread;

const MOST_PAGES: usize = 64;

/// An open page: its bank and its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OpenPage {
    open: bool,
    bank: u64,
    row: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct PackageMemory {
    geometry: MemoryGeometry,
    line_bits: u8,
    /// The most recently used page comes first.
    pages: [OpenPage; MOST_PAGES],
    /// Whether the last access was a write, and its chip select.
    wrote: bool,
    select: u64,
    /// One word per line of the memory-side cache: its tag, bit 1 if it is newer than DRAM, bit 0 if it is present.
    near: Box<[u64]>,
    /// The distribution of lines among its places.
    spread: Spread,
    /// The counts of each place while it was watched.
    pub(super) places: Places,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Moved {
    /// Cycles that the core waits for it.
    pub(crate) latency: u32,
    pub(crate) near: Near,
}

/// The outcome of moving a line in the memory-side cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Near {
    /// Whether it had the line, or near memory that is not a cache has it.
    pub(super) hit: bool,
    pub(crate) displaced: Option<u64>,
}

/// Returns the signal of an access to a place of the memory-side cache, by whether a line is there, whether it is the one asked for, and
/// whether it is newer than DRAM.
const fn found(there: bool, hit: bool, newer: bool) -> Signal {
    match (there, hit, newer) {
        (false, ..) => Signal::MemorySideCacheMissesInvalid,
        (true, true, false) => Signal::MemorySideCacheHitsClean,
        (true, true, true) => Signal::MemorySideCacheHitsModified,
        (true, false, false) => Signal::MemorySideCacheMissesClean,
        (true, false, true) => Signal::MemorySideCacheMissesModified,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// A line is read for a cache.
    Read,
    /// A line evicted from a cache is written.
    WriteBack,
    /// A line is written by streaming stores.
    Stream,
}

impl PackageMemory {
    pub(super) fn new(geometry: &MemoryGeometry, line_bits: u8, spread: Spread) -> PackageMemory {
        PackageMemory {
            geometry: *geometry,
            spread,
            line_bits,
            pages: [OpenPage::default(); MOST_PAGES],
            wrote: false,
            select: 0,
            near: vec![0; spread.places() as usize].into_boxed_slice(),
            places: Places::new(geometry, line_bits, spread),
        }
    }

    /// Moves a line. The counts of its places are kept if they are `watched`.
    pub(super) fn access(&mut self, line: u64, traffic: Traffic, costs: &Costs, watched: bool, tally: &mut Tally) -> Moved {
        if self.spread.is_flat(line) {
            let signal = if traffic == Traffic::Read { Signal::NearMemoryReads } else { Signal::NearMemoryWrites };
            self.count_near(line, [signal], watched, tally);
            return Moved { latency: u32::from(costs.near_memory), near: Near { hit: true, displaced: None } };
        }
        if self.near.is_empty() {
            let latency = u32::from(costs.memory) + self.dram(line, traffic != Traffic::Read, watched, tally);
            return Moved { latency, near: Near::default() };
        }
        if self.geometry.is_buffered() {
            return self.buffer(line, traffic, costs, watched, tally);
        }
        let (of_near, tag) = self.spread.place(line);
        let place = of_near as usize;
        let Some(word) = self.near.get(place).copied() else { return Moved::default() };
        let (there, hit, newer) = (word & 1 == 1, word & 1 == 1 && word >> 2 == tag, word & 2 == 2);
        let looked_up = traffic != Traffic::WriteBack;
        if looked_up {
            let found = found(there, hit, newer);
            self.count_near(line, [Signal::NearMemoryReads, found], watched, tally);
        }
        let mut latency = u32::from(costs.near_memory);
        if !hit {
            if there && newer {
                self.dram(self.spread.line(of_near, word >> 2), true, watched, tally);
            }
            if traffic == Traffic::Read {
                latency += u32::from(costs.memory) + self.dram(line, false, watched, tally);
            }
        }
        let written = traffic != Traffic::Read;
        if written || !hit {
            self.count_near(line, [Signal::NearMemoryWrites], watched, tally);
        }
        if let Some(cell) = self.near.get_mut(place) {
            *cell = tag << 2 | u64::from(written || hit && newer) << 1 | 1;
        }
        let displaced = (there && !hit).then(|| self.spread.line(of_near, word >> 2));
        Moved { latency, near: Near { hit, displaced } }
    }

    /// Moves a line through the buffer of its channel, which is looked up while DRAM begins to read. The buffers together are one array:
    /// the lowest bits of a line's number select its channel, so each channel has its own part.
    fn buffer(&mut self, line: u64, traffic: Traffic, costs: &Costs, watched: bool, tally: &mut Tally) -> Moved {
        let lines = self.near.len() as u64;
        let (place, tag) = ((line % lines) as usize, line / lines);
        let Some(word) = self.near.get(place).copied() else { return Moved::default() };
        let (there, hit, newer) = (word & 1 == 1, word & 1 == 1 && word >> 2 == tag, word & 2 == 2);
        let written = traffic != Traffic::Read;
        if written {
            self.count_near(line, [Signal::NearMemoryWrites], watched, tally);
        } else {
            let found = found(there, hit, newer);
            self.count_near(line, [Signal::NearMemoryReads, found], watched, tally);
        }
        let mut latency = u32::from(costs.near_memory);
        if !hit {
            if there && newer {
                self.dram((word >> 2) * lines + place as u64, true, watched, tally);
            }
            if !written {
                latency = u32::from(costs.memory) + self.dram(line, false, watched, tally);
            }
        }
        if let Some(cell) = self.near.get_mut(place) {
            *cell = tag << 2 | u64::from(written || hit && newer) << 1 | 1;
        }
        let displaced = (there && !hit).then(|| (word >> 2) * lines + place as u64);
        Moved { latency, near: Near { hit: hit && !written, displaced } }
    }

    fn count_near<const N: usize>(&mut self, line: u64, signals: [Signal; N], watched: bool, tally: &mut Tally) {
        for signal in signals {
            tally.add(signal, 1);
            if watched {
                self.places.near_memory(line, signal);
            }
        }
    }

    /// Moves a line to or from DRAM. Returns the cycles that the state of its page adds.
    fn dram(&mut self, line: u64, writes: bool, watched: bool, tally: &mut Tally) -> u32 {
        let signal = if writes { Signal::MemoryWrites } else { Signal::MemoryReads };
        tally.add(signal, 1);
        if watched {
            self.places.channel(line, signal);
        }
        if writes != self.wrote {
            tally.add(if writes { Signal::DramTurnaroundsReadToWrite } else { Signal::DramTurnaroundsWriteToRead }, 1);
            self.wrote = writes;
        }
        let address = line << self.line_bits.min(63);
        let geometry = &self.geometry;
        let above = address >> geometry.page_bits.min(63);
        let bank = above & ((1 << geometry.bank_bits.min(32)) - 1);
        let row = above >> geometry.bank_bits.min(32);
        let select = bank >> geometry.select_bits.min(32);
        tally.add(Signal::DramTurnaroundsChipSelect, u64::from(select != self.select));
        self.select = select;
        let most = usize::from(geometry.open_pages).clamp(1, MOST_PAGES);
        let pages = self.pages.get_mut(..most).unwrap_or(&mut []);
        let known = pages.iter().position(|page| page.open && page.bank == bank);
        let (signal, cost) = match known.and_then(|place| pages.get(place)) {
            Some(page) if page.row == row => (Signal::DramPageHits, 0),
            Some(_) => (Signal::DramPageConflicts, u32::from(geometry.open) + u32::from(geometry.close)),
            None => (Signal::DramPageMisses, u32::from(geometry.open)),
        };
        let mut cost = cost;
        let place = known.or_else(|| pages.iter().position(|page| !page.open)).unwrap_or_else(|| {
            // The table is full: the least recently used page is closed for this one.
            tally.add(Signal::DramPageTableOverflows, 1);
            cost = u32::from(geometry.open) + u32::from(geometry.close);
            most - 1
        });
        tally.add(signal, 1);
        if let Some(page) = pages.get_mut(place) {
            *page = OpenPage { open: true, bank, row };
        }
        if let Some(used) = pages.get_mut(..=place) {
            used.rotate_right(1);
        }
        cost
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        for page in &self.pages {
            writer.words(&[u64::from(page.open), page.bank, page.row]);
        }
        writer.words(&[u64::from(self.wrote), self.select]);
        writer.words(&self.near);
        self.places.save(writer);
    }

    /// Loads the state. Returns whether places, and the interconnect, have something to report.
    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<[bool; 2], Damaged> {
        for page in &mut self.pages {
            *page = OpenPage { open: reader.word()? & 1 == 1, bank: reader.word()?, row: reader.word()? };
        }
        self.wrote = reader.word()? & 1 == 1;
        self.select = reader.word()?;
        reader.words(&mut self.near)?;
        self.places.load(reader)
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::feed::{Demand, Records, SignalSet, Totals};

    use super::*;

    fn everything() -> Demand {
        let mut demand = Demand::default();
        demand.replace(SignalSet::ALL, false, Records::NONE);
        demand
    }

    fn new(geometry: &MemoryGeometry) -> PackageMemory {
        PackageMemory::new(geometry, 6, Spread::undivided(geometry.near_bytes, 6))
    }

    fn k8() -> PackageMemory {
        new(&MemoryGeometry { bank_bits: 2, select_bits: 1, open_pages: 3, ..crate::parts::K8.memory })
    }

    #[test]
    fn a_page_is_opened_hit_and_closed_for_another_of_its_bank() {
        let mut memory = k8();
        let mut tally = Tally::new();
        let mut cost = |address: u64| memory.dram(address >> 6, false, false, &mut tally);
        assert_eq!(cost(0), 30);
        assert_eq!(cost(64), 0);
        // The same bank, the next row: four banks of 16 KiB further on.
        assert_eq!(cost(0x1_0000), 60);
        assert_eq!(cost(0x4000), 30);
        assert_eq!(cost(0x8000), 30);
        // A fourth bank, and three pages at most.
        assert_eq!(cost(0xC000), 60);
        // The least recently used page was closed.
        assert_eq!(cost(0x4000), 0);
        assert_eq!(cost(0x1_0000), 60);
    }

    #[test]
    fn a_memory_side_cache_writes_what_it_gives_up_newer() {
        let geometry = MemoryGeometry { near_bytes: 4096, ..k8().geometry };
        let mut memory = new(&geometry);
        let costs = crate::parts::KNL.costs;
        let mut tally = Tally::new();
        tally.update(&everything(), |_| true);
        // 64 places: lines 1 and 65 share one.
        for (line, traffic) in
            [(1, Traffic::WriteBack), (1, Traffic::Read), (1, Traffic::Read), (65, Traffic::Read), (1, Traffic::Read), (1, Traffic::Read)]
        {
            memory.access(line, traffic, &costs, false, &mut tally);
        }
        let totals = Totals::new();
        tally.report(&totals);
        let get = |signal| totals.get(signal);
        assert_eq!([Signal::MemorySideCacheHitsModified, Signal::MemorySideCacheHitsClean].map(get), [2, 1]);
        assert_eq!([Signal::MemorySideCacheMissesModified, Signal::MemorySideCacheMissesClean].map(get), [1, 1]);
        // Line 1 was written once; lines 65 and 1 were read.
        assert_eq!([Signal::MemoryWrites, Signal::MemoryReads].map(get), [1, 2]);
        assert_eq!([Signal::NearMemoryReads, Signal::NearMemoryWrites].map(get), [5, 3]);
    }

    #[test]
    fn the_first_line_of_a_place_misses_an_invalid_one() {
        let geometry = MemoryGeometry { near_bytes: 4096, ..k8().geometry };
        let mut memory = new(&geometry);
        let costs = crate::parts::KNL.costs;
        let mut tally = Tally::new();
        tally.update(&everything(), |_| true);
        // 64 places, and a second line for the last of them. Writebacks are not looked up.
        for line in 63..=127 {
            memory.access(line, Traffic::Read, &costs, false, &mut tally);
        }
        memory.access(200, Traffic::WriteBack, &costs, false, &mut tally);
        let totals = Totals::new();
        tally.report(&totals);
        let misses = [Signal::MemorySideCacheMissesInvalid, Signal::MemorySideCacheMissesClean];
        assert_eq!(misses.map(|signal| totals.get(signal)), [64, 1]);
    }

    #[test]
    fn the_bus_turns_between_chip_selects_and_between_reads_and_writes() {
        let mut memory = k8();
        let mut tally = Tally::new();
        tally.update(&everything(), |_| true);
        // Two banks of 16 KiB per chip select: to the second one, within it, and back; then a write, and a read.
        for (address, writes) in [(0x8000u64, false), (0xC000, false), (0x4000, false), (0x4000, true), (0x4000, false)] {
            memory.dram(address >> 6, writes, false, &mut tally);
        }
        let totals = Totals::new();
        tally.report(&totals);
        assert_eq!(totals.get(Signal::DramTurnaroundsChipSelect), 2);
        assert_eq!(totals.get(Signal::DramTurnaroundsReadToWrite), 1);
        assert_eq!(totals.get(Signal::DramTurnaroundsWriteToRead), 1);
    }
}
