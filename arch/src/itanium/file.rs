//! The register file: every PMC and PMD except PMC0 and the counts, and what a write leaves in each.

use super::registers::{
    COUNTERS, ENTRIES, NarrowPmc, OpcodeMatcher, Pmc, Pmc10, Pmc11, Pmc12, Pmc13, Pmd0, Pmd1, Pmd3, Pmd16, Pmd17, TraceEntry,
};
use crate::access::{chosen, chosen_mut};
use crate::ia64::{Buffer, FIRST};

/// Address bits that are copies of bit 50: virtual addresses have 51 bits within a region, whose number is in bits 63:61.
const COPIES: u64 = 0x3FF << 51;

/// An address as the processor holds it: bits 60:51 are copies of bit 50.
pub(super) const fn implemented(address: u64) -> u64 {
    if address >> 50 & 1 == 1 { address | COPIES } else { address & !COPIES }
}

/// The configuration registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Configuration {
    /// PMC4-7. The third bit of the threshold of PMC6 and PMC7 is 0.
    pub counters: [Pmc; COUNTERS],
    /// PMC8 and PMC9.
    pub matchers: [OpcodeMatcher; 2],
    /// PMC10.
    pub pmc10: Pmc10,
    /// PMC11.
    pub pmc11: Pmc11,
    /// PMC12.
    pub pmc12: Pmc12,
    /// PMC13.
    pub pmc13: Pmc13,
}

impl Configuration {
    /// What a reset leaves: nothing is enabled, nothing constrains (Table 6-9; the other values are those that drivers load).
    #[must_use]
    pub fn reset() -> Configuration {
        Configuration {
            counters: [Pmc::default(); COUNTERS],
            matchers: [OpcodeMatcher::written(0xF000_0000_3FFF_FFF8); 2],
            pmc10: Pmc10::default(),
            pmc11: Pmc11::written(1 << 28),
            pmc12: Pmc12::default(),
            pmc13: Pmc13::written(1),
        }
    }

    /// PMC`number` of the generic counters.
    pub(super) fn counter(&self, number: usize) -> Pmc {
        number.checked_sub(FIRST).and_then(|index| chosen(&self.counters, index)).copied().unwrap_or_default()
    }

    /// What PMC`number` reads as; 0 where there is none, and for PMC0, which is not kept here.
    pub(super) fn read(&self, number: u8) -> u64 {
        let [pmc8, pmc9] = self.matchers;
        match number {
            4..=7 => self.counter(usize::from(number)).bits(),
            8 => pmc8.bits(),
            9 => pmc9.bits(),
            10 => self.pmc10.bits(),
            11 => self.pmc11.bits(),
            12 => self.pmc12.bits(),
            13 => self.pmc13.bits(),
            _ => 0,
        }
    }

    /// Writes PMC`number`.
    pub(super) fn write(&mut self, number: u8, value: u64) {
        let [pmc8, pmc9] = &mut self.matchers;
        let [pmc4, pmc5, pmc6, pmc7] = &mut self.counters;
        match number {
            4 => *pmc4 = Pmc::written(value),
            5 => *pmc5 = Pmc::written(value),
            6 => *pmc6 = Pmc::written(NarrowPmc::written(value).bits()),
            7 => *pmc7 = Pmc::written(NarrowPmc::written(value).bits()),
            8 => *pmc8 = OpcodeMatcher::written(value),
            9 => *pmc9 = OpcodeMatcher::written(value),
            10 => self.pmc10 = Pmc10::written(value),
            11 => self.pmc11 = Pmc11::written(value),
            12 => self.pmc12 = Pmc12::written(value),
            13 => self.pmc13 = Pmc13::written(value),
            _ => {}
        }
    }

    /// The same registers with the bits that no register keeps dropped.
    pub(super) fn cleaned(self) -> Configuration {
        let mut cleaned = self;
        for number in 4..=13 {
            cleaned.write(number, self.read(number));
        }
        cleaned
    }
}

/// What was captured: PMD0-3 and 8-17.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Captures {
    /// PMD0, the address of a fetch.
    pub fetch_address: Pmd0,
    /// PMD1, its latency.
    pub fetch_latency: Pmd1,
    /// PMD2, the address of data.
    pub data_address: u64,
    /// PMD3, its latency and level.
    pub data_state: Pmd3,
    /// PMD8-15, the entries of the branch trace buffer.
    pub entries: [TraceEntry; ENTRIES],
    /// PMD16, its index.
    pub index: Pmd16,
    /// PMD17, the instruction that accessed data.
    pub instruction: Pmd17,
}

impl Captures {
    /// What PMD`number` holds; 0 where there is none, and for the counts, which are not kept here.
    pub(super) fn read(&self, number: u8) -> u64 {
        match number {
            0 => self.fetch_address.bits(),
            1 => self.fetch_latency.bits(),
            2 => self.data_address,
            3 => self.data_state.bits(),
            8..=15 => chosen(&self.entries, usize::from(number - 8)).map_or(0, |entry| entry.bits()),
            16 => self.index.bits(),
            17 => self.instruction.bits(),
            _ => 0,
        }
    }

    /// Writes PMD`number`.
    pub(super) fn write(&mut self, number: u8, value: u64) {
        match number {
            0 => self.fetch_address = Pmd0::written(implemented(value)),
            1 => self.fetch_latency = Pmd1::written(value),
            2 => self.data_address = implemented(value),
            3 => self.data_state = Pmd3::written(value),
            8..=15 => self.put(number - 8, value),
            16 => self.index = Pmd16::written(value),
            17 => self.instruction = Pmd17::written(implemented(value)),
            _ => {}
        }
    }

    fn put(&mut self, at: u8, entry: u64) {
        if let Some(place) = chosen_mut(&mut self.entries, usize::from(at)) {
            *place = TraceEntry::written(implemented(entry));
        }
    }

    /// The entry before the index.
    fn before(&self) -> u8 {
        self.index.bbi().wrapping_sub(1) & 7
    }

    /// The same registers with the bits that no register keeps dropped.
    pub(super) fn cleaned(self) -> Captures {
        let mut cleaned = self;
        for number in (0..=3).chain(8..=17) {
            cleaned.write(number, self.read(number));
        }
        cleaned
    }
}

impl Buffer for Captures {
    /// Writes the entry where the index points, and advances the index. This part has no extra bits.
    fn push(&mut self, entry: u64, _extension: u8) {
        let at = self.index.bbi();
        self.put(at, entry);
        let next = at.wrapping_add(1) & 7;
        self.index.set_bbi(next);
        if next == 0 {
            self.index.set_full(true);
        }
    }

    fn replace_last(&mut self, entry: u64, _extension: u8) {
        self.put(self.before(), entry);
    }

    fn last(&self) -> (u64, u8) {
        (chosen(&self.entries, usize::from(self.before())).map_or(0, |entry| entry.bits()), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reset_values_leave_everything_open() {
        let reset = Configuration::reset();
        assert_eq!(reset.read(4), 0);
        assert_eq!([reset.read(8), reset.read(9)], [0xF000_0000_3FFF_FFF8; 2]);
        assert_eq!([10, 11, 12, 13].map(|number| reset.read(number)), [0, 0x1000_0000, 0, 1]);
    }

    #[test]
    fn the_later_counters_drop_the_third_bit_of_the_threshold() {
        let mut configuration = Configuration::reset();
        (4..=7).for_each(|number| configuration.write(number, u64::MAX));
        assert_eq!([4, 5, 6, 7].map(|number| configuration.read(number)), [0x037F_7F7F, 0x037F_7F7F, 0x033F_7F7F, 0x033F_7F7F]);
    }

    #[test]
    fn what_there_is_not_reads_as_zero() {
        let mut configuration = Configuration::reset();
        for number in [1, 2, 3, 14, 255] {
            configuration.write(number, u64::MAX);
            assert_eq!(configuration.read(number), 0);
        }
    }

    #[test]
    fn an_address_has_copies_of_its_bit_50_above_it() {
        assert_eq!(implemented(0xA004_0000_0000_0010), 0xBFFC_0000_0000_0010);
        assert_eq!(implemented(0xBFF8_0000_0000_0010), 0xA000_0000_0000_0010);
    }

    #[test]
    fn the_index_wraps_and_the_full_bit_sticks() {
        let mut captures = Captures::default();
        (1..10).for_each(|entry| captures.push(entry << 4, 0));
        assert_eq!(captures.read(16), 0b1001);
        assert_eq!((captures.read(8), captures.read(9)), (0x90, 0x20));
    }
}
