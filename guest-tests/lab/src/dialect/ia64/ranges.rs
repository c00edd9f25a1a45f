//! Ranges of addresses and patterns of instructions, by which counts are constrained, and the breakpoint registers that hold them.

use std::fmt;

use vm_pmu::arch::access::Address;

use crate::number;

/// The bits of an address that a breakpoint register's mask has.
const MASKED: u64 = (1 << 56) - 1;
/// The bits of an encoding.
const ENCODING: u64 = (1 << 41) - 1;
/// The slots in the order of their letters in a word, and the bits of them in a matcher from the lowest.
const SLOTS: [char; 4] = ['b', 'f', 'i', 'm'];

/// Addresses: the first and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Range {
    pub start: u64,
    pub length: u64,
}

impl Range {
    /// Reads `START+LENGTH`.
    pub(super) fn read(text: &str) -> Result<Range, String> {
        let read = text.split_once('+').and_then(|(start, length)| Some((number::parse(start)?, number::parse(length)?)));
        match read {
            Some((start, length)) if length > 0 && start.checked_add(length - 1).is_some() => Ok(Range { start, length }),
            _ => Err("is not a range: write START+LENGTH, such as 0x4000+0x1000".to_owned()),
        }
    }

    /// Whether one pair of registers can hold it: a power of two long, and beginning at a multiple of that.
    pub(in super::super) fn is_coarse(self) -> bool {
        self.length.is_power_of_two() && self.start.is_multiple_of(self.length) && self.length <= 1 << 56
    }

    /// The two registers of a pair that hold it, with the privilege levels `plm`.
    pub(in super::super) fn coarse(self, plm: u8) -> [u64; 2] {
        [self.start, mask(!(self.length - 1), plm)]
    }

    /// The addresses just before and just after, if fine mode can compare them: bundles within one piece of 64 KB.
    pub(in super::super) fn fine(self) -> Option<(u64, u64)> {
        let (before, after) = (self.start.checked_sub(16)?, self.start.checked_add(self.length)?);
        let bundles = self.start.is_multiple_of(16) && self.length.is_multiple_of(16);
        (bundles && before >> 16 == after >> 16).then_some((before, after))
    }
}

/// The odd register of a pair: which bits are compared, and at which privilege levels.
pub(in super::super) fn mask(compared: u64, plm: u8) -> u64 {
    compared & MASKED | u64::from(plm) << 56
}

/// The addresses of pair `number`.
pub(in super::super) fn pair(number: u8, of: fn(u8) -> Address) -> [Address; 2] {
    [of(2 * number), of(2 * number + 1)]
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}+{:#x}", self.start, self.length)
    }
}

/// A pattern of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Opcode {
    /// What the compared bits must be.
    pub value: u64,
    /// The bits that are not compared.
    pub ignored: u64,
    /// The types of slots, B, F, I and M from bit 0.
    pub slots: u8,
}

impl Opcode {
    /// Reads `MATCH/MASK` or `MATCH/MASK/SLOTS`.
    pub(super) fn read(text: &str) -> Result<Opcode, String> {
        let mut words = text.split('/');
        let mut bits = || words.next().and_then(number::parse).filter(|bits| *bits <= ENCODING);
        let read = bits().zip(bits());
        let slots = match words.next() {
            None => Some(15),
            Some(letters) => {
                letters.chars().try_fold(0, |bits, letter| SLOTS.iter().position(|slot| *slot == letter).map(|bit| bits | 1 << bit))
            }
        };
        match (read, slots, words.next()) {
            (Some((value, ignored)), Some(slots), None) if slots != 0 => Ok(Opcode { value, ignored, slots }),
            _ => {
                Err("is not a pattern: write MATCH/MASK or MATCH/MASK/SLOTS, 41 bits each, those of MASK ignored, slots of mifb".to_owned())
            }
        }
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}/{:#x}", self.value, self.ignored)?;
        if self.slots != 15 {
            let letters: String = (0..4).rev().filter(|bit| self.slots >> bit & 1 == 1).map(|bit| SLOTS[bit]).collect();
            write!(formatter, "/{letters}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_one_pair_is_a_power_of_two_at_a_multiple_of_it() {
        assert!(Range::read("0x4000+0x1000").unwrap().is_coarse());
        assert!(!Range::read("0x4800+0x1000").unwrap().is_coarse());
        assert!(!Range::read("0x4000+0x1800").unwrap().is_coarse());
    }

    #[test]
    fn the_pair_holds_the_start_and_the_bits_that_count() {
        let range = Range { start: 0x4000_0000_0000_1000, length: 0x1000 };
        // Bits 55:12 are compared, at level 3.
        assert_eq!(range.coarse(0b1000), [0x4000_0000_0000_1000, 0x08FF_FFFF_FFFF_F000]);
    }

    #[test]
    fn fine_limits_are_the_bundles_on_either_side() {
        let fine = |start, length| Range { start, length }.fine();
        assert_eq!(fine(0x1230, 0x250), Some((0x1220, 0x1480)));
        assert_eq!(fine(0x1_0000, 0x250), None, "the bundle before is in another piece of 64 KB");
        assert_eq!(fine(0x1_FF00, 0x100), None, "so is the bundle after");
        assert_eq!(fine(0x1238, 0x250), None, "no bundle begins there");
    }

    #[test]
    fn what_is_no_range_or_pattern_is_refused() {
        for wrong in ["", "1", "1+", "+1", "1+0", "0xffffffffffffffff+2"] {
            assert!(Range::read(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "1", "1/2/x", "1/2/", "0x20000000000/0", "1/2/m/m"] {
            assert!(Opcode::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_is_said_as_it_is_read() {
        for text in ["0x1/0x1ffffffffff", "0x10000000/0xffffff/mi"] {
            assert_eq!(Opcode::read(text).unwrap().to_string(), text);
        }
    }
}
