//! The register file: every PMC and PMD except the counts, and what a write leaves in each.

use super::registers::{
    COUNTERS, ENTRIES, OpcodeMatch, Pmc, Pmc32, Pmc34, Pmc36, Pmc37, Pmc38, Pmc39, Pmc40, Pmc41, Pmc42, Pmd33, Pmd34, Pmd35, Pmd38,
};
use crate::access::{chosen, chosen_mut};
use crate::ia64::{Buffer, FIRST};

/// The configuration registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Configuration {
    /// PMC4-15.
    pub counters: [Pmc; COUNTERS],
    /// PMC32.
    pub pmc32: Pmc32,
    /// PMC33.
    pub pmc33: OpcodeMatch,
    /// PMC34.
    pub pmc34: Pmc34,
    /// PMC35.
    pub pmc35: OpcodeMatch,
    /// PMC36.
    pub pmc36: Pmc36,
    /// PMC37.
    pub pmc37: Pmc37,
    /// PMC38.
    pub pmc38: Pmc38,
    /// PMC39.
    pub pmc39: Pmc39,
    /// PMC40.
    pub pmc40: Pmc40,
    /// PMC41.
    pub pmc41: Pmc41,
    /// PMC42.
    pub pmc42: Pmc42,
}

/// ism of a register after reset: '10 (section 3.3.1).
const RESET_ISM: u64 = 0b10 << 24;

impl Configuration {
    /// What a reset leaves (section 3.3.12 and the tables of the registers): nothing is enabled, nothing constrains.
    #[must_use]
    pub fn reset() -> Configuration {
        Configuration {
            counters: [Pmc::written(RESET_ISM); COUNTERS],
            pmc32: Pmc32::written(0x030F_01FF_FFFF_FFFF),
            pmc33: OpcodeMatch::written(u64::MAX),
            pmc34: Pmc34::written(0x000F_01FF_FFFF_FFFF),
            pmc35: OpcodeMatch::written(u64::MAX),
            pmc36: Pmc36::written(0),
            pmc37: Pmc37::written(0),
            pmc38: Pmc38::written(0x0DB6),
            pmc39: Pmc39::written(0),
            pmc40: Pmc40::written(RESET_ISM),
            pmc41: Pmc41::written(0x2078_FEFE_FEFE),
            pmc42: Pmc42::written(0),
        }
    }

    /// PMC`number` of the generic counters.
    pub(super) fn counter(&self, number: usize) -> Pmc {
        number.checked_sub(FIRST).and_then(|index| chosen(&self.counters, index)).copied().unwrap_or_default()
    }

    /// What PMC`number` reads as; 0 where there is none, and for PMC0, which is not kept here.
    pub(super) fn read(&self, number: u8) -> u64 {
        match number {
            4..=15 => self.counter(usize::from(number)).bits(),
            32 => self.pmc32.bits(),
            33 => self.pmc33.bits(),
            34 => self.pmc34.bits(),
            35 => self.pmc35.bits(),
            36 => self.pmc36.bits() | Pmc36::FIXED,
            37 => self.pmc37.bits(),
            38 => self.pmc38.bits() | Pmc38::FIXED,
            39 => self.pmc39.bits(),
            40 => self.pmc40.bits(),
            41 => self.pmc41.bits() | Pmc41::FIXED,
            42 => self.pmc42.bits(),
            _ => 0,
        }
    }

    /// Writes PMC`number`. Bits that no field names keep their values.
    pub(super) fn write(&mut self, number: u8, value: u64) {
        match number {
            4..=15 => {
                if let Some(counter) = usize::from(number).checked_sub(FIRST).and_then(|index| chosen_mut(&mut self.counters, index)) {
                    *counter = Pmc::written(value);
                }
            }
            32 => self.pmc32 = Pmc32::written(value),
            33 => self.pmc33 = OpcodeMatch::written(value),
            34 => self.pmc34 = Pmc34::written(value),
            35 => self.pmc35 = OpcodeMatch::written(value),
            36 => self.pmc36 = Pmc36::written(value),
            37 => self.pmc37 = Pmc37::written(value),
            38 => self.pmc38 = Pmc38::written(value),
            39 => self.pmc39 = Pmc39::written(value),
            40 => self.pmc40 = Pmc40::written(value),
            41 => self.pmc41 = Pmc41::written(value),
            42 => self.pmc42 = Pmc42::written(value),
            _ => {}
        }
    }

    /// The same registers with the bits that no register keeps dropped.
    pub(super) fn cleaned(self) -> Configuration {
        let mut cleaned = self;
        for number in (4..=15).chain(32..=42) {
            cleaned.write(number, self.read(number));
        }
        cleaned
    }
}

/// What was captured: PMD32-36, 38, 39 and 48-63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Captures {
    /// PMD32, the address of data.
    pub data_address: u64,
    /// PMD33, its latency and state.
    pub data_state: Pmd33,
    /// PMD34, the address of a fetch.
    pub fetch_address: Pmd34,
    /// PMD35, its latency.
    pub fetch_latency: Pmd35,
    /// PMD36, the instruction that accessed data.
    pub instruction: u64,
    /// PMD38, the index of the trace buffer.
    pub index: Pmd38,
    /// PMD39, the extensions of its entries.
    pub extensions: u64,
    /// PMD48-63, its entries.
    pub entries: [u64; ENTRIES],
}

impl Captures {
    /// What PMD`number` holds; 0 where there is none, and for the counts, which are not kept here.
    pub(super) fn read(&self, number: u8) -> u64 {
        match number {
            32 => self.data_address,
            33 => self.data_state.bits(),
            34 => self.fetch_address.bits(),
            35 => self.fetch_latency.bits(),
            36 => self.instruction,
            38 => self.index.bits(),
            39 => self.extensions,
            48..=63 => chosen(&self.entries, usize::from(number - 48)).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Writes PMD`number`.
    pub(super) fn write(&mut self, number: u8, value: u64) {
        match number {
            32 => self.data_address = value,
            33 => self.data_state = Pmd33::written(value),
            34 => self.fetch_address = Pmd34::written(value),
            35 => self.fetch_latency = Pmd35::written(value),
            36 => self.instruction = value,
            38 => self.index = Pmd38::written(value),
            39 => self.extensions = value,
            48..=63 => {
                if let Some(entry) = chosen_mut(&mut self.entries, usize::from(number - 48)) {
                    *entry = value;
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, at: u8, entry: u64, extension: u8) {
        if let Some(place) = chosen_mut(&mut self.entries, usize::from(at)) {
            *place = entry;
        }
        let shift = nibble(at);
        self.extensions = self.extensions & !(0xF << shift) | u64::from(extension & 0xF) << shift;
    }

    /// The same registers with the bits that no register keeps dropped.
    pub(super) fn cleaned(self) -> Captures {
        Captures {
            data_state: Pmd33::written(self.data_state.bits()),
            fetch_address: Pmd34::written(self.fetch_address.bits()),
            fetch_latency: Pmd35::written(self.fetch_latency.bits()),
            index: Pmd38::written(self.index.bits()),
            ..self
        }
    }
}

impl Buffer for Captures {
    /// Writes the entry where the index points, with its four bits of PMD39, and advances the index.
    fn push(&mut self, entry: u64, extension: u8) {
        let at = self.index.ebi();
        self.put(at, entry, extension);
        let next = at.wrapping_add(1) & 15;
        self.index.set_ebi(next);
        if next == 0 {
            self.index.set_full(true);
        }
    }

    fn replace_last(&mut self, entry: u64, extension: u8) {
        self.put(self.index.ebi().wrapping_sub(1) & 15, entry, extension);
    }

    fn last(&self) -> (u64, u8) {
        let at = self.index.ebi().wrapping_sub(1) & 15;
        (chosen(&self.entries, usize::from(at)).copied().unwrap_or(0), (self.extensions >> nibble(at)) as u8 & 0xF)
    }
}

/// Where PMD39 has the four bits of the entry in PMD`48 + at`: those of PMD48, 56, 49, 57 and so on follow each other (Table 3-29).
const fn nibble(at: u8) -> u32 {
    let at = at as u32 & 15;
    8 * (at & 7) + 4 * (at >> 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extensions_of_the_two_halves_alternate() {
        assert_eq!([0, 8, 1, 9, 7, 15].map(nibble), [0, 4, 8, 12, 56, 60]);
    }

    #[test]
    fn the_reset_values_are_those_of_the_manual() {
        let reset = Configuration::reset();
        assert_eq!(reset.read(32), 0x030F_01FF_FFFF_FFFF);
        assert_eq!(reset.read(33), 0x01FF_FFFF_FFFF);
        assert_eq!(reset.read(36), 0xFFFF_FFF0);
        assert_eq!(reset.read(38), 0x0DB6);
        assert_eq!(reset.read(41), 0x2078_FEFE_FEFE);
    }

    #[test]
    fn the_index_wraps_and_the_full_bit_sticks() {
        let mut captures = Captures::default();
        (0..17).for_each(|entry| captures.push(entry, 0));
        assert_eq!((captures.index.ebi(), captures.index.full()), (1, true));
        assert_eq!(captures.read(48), 16);
    }
}
