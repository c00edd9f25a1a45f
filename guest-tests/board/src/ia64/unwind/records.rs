//! The descriptors of a procedure, byte by byte (Software Conventions and Runtime Architecture Guide, section 11.4).
//!
//! The length of every descriptor is known. What does not lead to a caller is [`Record::Other`].

/// What leads from a frame to its caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// The return address.
    Rp,
    /// AR.PFS, with the frame marker of the caller.
    Pfs,
    /// The caller's stack pointer.
    Psp,
}

/// Where a value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In its own register.
    Own,
    /// In a general register.
    General(u8),
    /// In a branch register.
    Branch(u8),
    /// In memory, so many bytes from the caller's stack pointer.
    FromPrevious(i64),
    /// In memory, so many bytes above the stack pointer.
    FromStack(u64),
    /// Where this module does not look.
    Elsewhere,
}

/// A descriptor. A `when` is the slot of the region whose instruction makes it true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// A region begins in which a frame is built: P1 to P10 follow.
    Prologue {
        slots: u64,
        /// Of the return address at bit 3, AR.PFS, the stack pointer and the predicates, those that are kept in general registers, one after
        /// the other, and the first of the registers.
        saves: u8,
        first: u8,
    },
    /// A region begins in which the frame stays.
    Body { slots: u64 },
    /// A value is kept there from the end of the region on, unless [`Record::When`] says otherwise.
    Kept(Register, Place),
    /// From when on.
    When(Register, u64),
    /// The stack pointer goes down by so many bytes.
    Frame { when: u64, bytes: u64 },
    /// The return address arrives in this branch register.
    Link(u8),
    /// The stack pointer is the caller's again from so many slots before the last of the region on, and behind the region what so many
    /// prologues did is undone.
    Epilogue { before_last: u64, prologues: u64 },
    /// What holds here has this name.
    Label(u64),
    /// What held at the label holds here.
    Copy(u64),
    /// From when on a value is kept there, or under a predicate.
    Moved { register: Register, when: u64, place: Place, predicated: bool },
    /// The frame is of an interruption, or has a register stack of its own: nobody called.
    Foreign,
    /// Something that leads to no caller.
    Other,
}

/// Bytes that are no descriptor, or end within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The descriptors in some bytes.
#[derive(Debug)]
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    in_body: bool,
    /// Those of the current region.
    slots: u64,
}

impl<'a> Records<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Records<'a> {
        Records { bytes, in_body: false, slots: 0 }
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.bytes.split_first().ok_or(Malformed)?;
        self.bytes = rest;
        Ok(*first)
    }

    /// A number of seven bits a byte, the lowest first.
    fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return Err(Malformed);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Malformed> {
        let bytes = usize::try_from(bytes).map_err(|_| Malformed)?;
        self.bytes = self.bytes.get(bytes..).ok_or(Malformed)?;
        Ok(())
    }

    fn record(&mut self) -> Result<Record, Malformed> {
        let code = self.byte()?;
        match (code >> 5, self.in_body) {
            (0..=3, _) => self.region(code),
            // P1 and P6 are of preserved registers alone.
            (4 | 6, false) => Ok(Record::Other),
            (5, false) => self.kept_in_register(code),
            (7, false) if code & 0x10 == 0 => self.p7(code & 0xF),
            (4 | 5, true) if code & 0x20 == 0 => Ok(Record::Label(u64::from(code & 0x1F))),
            (4 | 5, true) => Ok(Record::Copy(u64::from(code & 0x1F))),
            (6, true) => Ok(Record::Epilogue { before_last: self.number()?, prologues: u64::from(code & 0x1F) + 1 }),
            _ => match (code, self.in_body) {
                (0xF0, false) => self.p8(),
                (0xF1, false) => self.skip(2).map(|()| Record::Other),
                (0xFF, false) => self.skip(2).map(|()| Record::Foreign),
                (0xE0, true) => {
                    let before_last = self.number()?;
                    Ok(Record::Epilogue { before_last, prologues: self.number()?.saturating_add(1) })
                }
                (0xF0, true) => Ok(Record::Label(self.number()?)),
                (0xF8, true) => Ok(Record::Copy(self.number()?)),
                (0xF9..=0xFC, _) => self.moved(code),
                _ => Err(Malformed),
            },
        }
    }

    /// R1 to R3.
    fn region(&mut self, code: u8) -> Result<Record, Malformed> {
        let (in_body, saves, first) = match code {
            0x00..=0x3F => (code & 0x20 != 0, 0, STACKED),
            0x40..=0x47 => {
                let byte = self.byte()?;
                (false, (code & 7) << 1 | byte >> 7, byte & 0x7F)
            }
            0x60 | 0x61 => (code == 0x61, 0, STACKED),
            _ => return Err(Malformed),
        };
        self.in_body = in_body;
        self.slots = if code < 0x40 { u64::from(code & 0x1F) } else { self.number()? };
        let slots = self.slots;
        Ok(if in_body { Record::Body { slots } } else { Record::Prologue { slots, saves, first } })
    }

    /// P2 to P5.
    fn kept_in_register(&mut self, code: u8) -> Result<Record, Malformed> {
        match code {
            0xA0..=0xAF => self.skip(1).map(|()| Record::Other),
            0xB0..=0xB7 => {
                let byte = self.byte()?;
                let number = byte & 0x7F;
                match (code & 7) << 1 | byte >> 7 {
                    0 => Ok(Record::Kept(Register::Psp, Place::General(number))),
                    1 => Ok(Record::Kept(Register::Rp, Place::General(number))),
                    2 => Ok(Record::Kept(Register::Pfs, Place::General(number))),
                    6 => Ok(Record::Link(number)),
                    8 | 9 => Ok(Record::Foreign),
                    3..=5 | 7 | 10 | 11 => Ok(Record::Other),
                    _ => Err(Malformed),
                }
            }
            // Two bits for each slot.
            0xB8 => self.skip(self.slots.div_ceil(4)).map(|()| Record::Other),
            0xB9 => self.skip(3).map(|()| Record::Other),
            _ => Err(Malformed),
        }
    }

    fn p7(&mut self, kind: u8) -> Result<Record, Malformed> {
        let number = self.number()?;
        Ok(match kind {
            0 => Record::Frame { when: number, bytes: self.number()?.saturating_mul(16) },
            1 => Record::When(Register::Psp, number),
            3 => Record::Kept(Register::Psp, from_stack(number)),
            4 => Record::When(Register::Rp, number),
            5 => Record::Kept(Register::Rp, from_previous(number)),
            6 => Record::When(Register::Pfs, number),
            7 => Record::Kept(Register::Pfs, from_previous(number)),
            _ => Record::Other,
        })
    }

    fn p8(&mut self) -> Result<Record, Malformed> {
        let kind = self.byte()?;
        let number = self.number()?;
        match kind {
            1 => Ok(Record::Kept(Register::Rp, from_stack(number))),
            2 => Ok(Record::Kept(Register::Pfs, from_stack(number))),
            7..=12 => Ok(Record::Foreign),
            3..=6 | 13..=19 => Ok(Record::Other),
            _ => Err(Malformed),
        }
    }

    /// X1 to X4.
    fn moved(&mut self, code: u8) -> Result<Record, Malformed> {
        let predicated = matches!(code, 0xFB | 0xFC);
        let qualifier = if predicated { self.byte()? } else { 0 };
        let named = self.byte()?;
        let (when, place) = if matches!(code, 0xF9 | 0xFB) {
            let when = self.number()?;
            let offset = self.number()?;
            let above = if predicated { qualifier } else { named } & 0x80 != 0;
            (when, if above { from_stack(offset) } else { from_previous(offset) })
        } else {
            let to = self.byte()?;
            let place = match (named & 0x80 != 0, to) {
                (false, 0) => Place::Own,
                (false, to) if to & 0x80 == 0 => Place::General(to),
                // A floating-point register.
                (false, _) => Place::Elsewhere,
                (true, to) => Place::Branch(to & 0x7F),
            };
            (self.number()?, place)
        };
        let register = match named & 0x7F {
            0x61 => Register::Psp,
            0x63 => Register::Rp,
            0x64 | 0x65 => return Ok(Record::Foreign),
            0x69 => Register::Pfs,
            _ => return Ok(Record::Other),
        };
        Ok(Record::Moved { register, when, place, predicated })
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.bytes = &[];
        }
        Some(record)
    }
}

/// The first stacked register, where values are kept of which nothing else is said.
const STACKED: u8 = 32;

/// An offset in words of four bytes, down from the scratch area that a caller keeps below its stack pointer plus 16.
fn from_previous(offset: u64) -> Place {
    match i64::try_from(offset.saturating_mul(4)) {
        Ok(bytes) => Place::FromPrevious(16i64.saturating_sub(bytes)),
        Err(_) => Place::Elsewhere,
    }
}

fn from_stack(offset: u64) -> Place {
    offset.checked_mul(4).map_or(Place::Elsewhere, Place::FromStack)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(bytes: &[u8]) -> Vec<Result<Record, Malformed>> {
        Records::of(bytes).collect()
    }

    /// The record in a prologue of six slots.
    fn in_prologue(bytes: &[u8]) -> Vec<Result<Record, Malformed>> {
        let bytes = [&[0x06], bytes].concat();
        Records::of(&bytes).skip(1).collect()
    }

    /// The record in a body of six slots.
    fn in_body(bytes: &[u8]) -> Vec<Result<Record, Malformed>> {
        let bytes = [&[0x26], bytes].concat();
        Records::of(&bytes).skip(1).collect()
    }

    #[test]
    fn short_regions_have_their_length_in_the_byte() {
        // R1: 000 and 001, then five bits.
        assert_eq!(records(&[0x1F]), [Ok(Record::Prologue { slots: 31, saves: 0, first: 32 })]);
        assert_eq!(records(&[0x3F]), [Ok(Record::Body { slots: 31 })]);
    }

    #[test]
    fn long_regions_have_it_behind() {
        // R3: 0110_0000 and 0110_0001; 300 = 2 * 128 + 44.
        assert_eq!(records(&[0x60, 0xAC, 0x02]), [Ok(Record::Prologue { slots: 300, saves: 0, first: 32 })]);
        assert_eq!(records(&[0x61, 0xAC, 0x02]), [Ok(Record::Body { slots: 300 })]);
    }

    #[test]
    fn a_prologue_may_name_the_registers_that_hold_all() {
        // R2: 01000 and three bits of the mask, the fourth and r40.
        assert_eq!(records(&[0x46, 0x80 | 40, 6]), [Ok(Record::Prologue { slots: 6, saves: 0b1101, first: 40 })]);
    }

    #[test]
    fn values_in_registers_are_told() {
        // P3: 1011_0 and three bits of the kind, the fourth and the register.
        assert_eq!(in_prologue(&[0xB0, 35]), [Ok(Record::Kept(Register::Psp, Place::General(35)))]);
        assert_eq!(in_prologue(&[0xB0, 0x80 | 33]), [Ok(Record::Kept(Register::Rp, Place::General(33)))]);
        assert_eq!(in_prologue(&[0xB1, 34]), [Ok(Record::Kept(Register::Pfs, Place::General(34)))]);
        assert_eq!(in_prologue(&[0xB3, 6]), [Ok(Record::Link(6))]);
    }

    #[test]
    fn values_in_memory_are_told_in_words_of_four_bytes() {
        // P7 with kinds 3, 5 and 7; P8 with kinds 1 and 2.
        assert_eq!(in_prologue(&[0xE3, 2]), [Ok(Record::Kept(Register::Psp, Place::FromStack(8)))]);
        assert_eq!(in_prologue(&[0xE5, 6]), [Ok(Record::Kept(Register::Rp, Place::FromPrevious(-8)))]);
        assert_eq!(in_prologue(&[0xE7, 4]), [Ok(Record::Kept(Register::Pfs, Place::FromPrevious(0)))]);
        assert_eq!(in_prologue(&[0xF0, 1, 4]), [Ok(Record::Kept(Register::Rp, Place::FromStack(16)))]);
        assert_eq!(in_prologue(&[0xF0, 2, 6]), [Ok(Record::Kept(Register::Pfs, Place::FromStack(24)))]);
    }

    #[test]
    fn the_slots_from_which_values_are_kept_are_told() {
        // P7 with kinds 1, 4 and 6; 0 has the size of the frame too, in units of 16 bytes.
        assert_eq!(in_prologue(&[0xE0, 2, 3]), [Ok(Record::Frame { when: 2, bytes: 48 })]);
        assert_eq!(in_prologue(&[0xE1, 1]), [Ok(Record::When(Register::Psp, 1))]);
        assert_eq!(in_prologue(&[0xE4, 2]), [Ok(Record::When(Register::Rp, 2))]);
        assert_eq!(in_prologue(&[0xE6, 0]), [Ok(Record::When(Register::Pfs, 0))]);
    }

    #[test]
    fn what_leads_to_no_caller_is_stepped_over_by_its_length() {
        // P1; P2; P4 for six slots of two bits; P5; P6; P7 of predicates; P8 of AR.LC; P9. A body of one slot follows each.
        let others: [&[u8]; 8] =
            [&[0x81], &[0xA0, 0x85], &[0xB8, 1, 2], &[0xB9, 1, 2, 3], &[0xC3], &[0xE8, 0x81, 1], &[0xF0, 4, 0x81, 1], &[0xF1, 1, 36]];
        for bytes in others {
            assert_eq!(in_prologue(&[bytes, &[0x21]].concat()), [Ok(Record::Other), Ok(Record::Body { slots: 1 })], "{bytes:x?}");
        }
    }

    #[test]
    fn frames_that_nobody_called_are_told() {
        // P10, .unwabi; P3 of AR.BSPSTORE; P8 of AR.BSP; X2 of AR.BSP.
        let foreign: [&[u8]; 4] = [&[0xFF, 0, 0x69], &[0xB4, 0x80 | 5], &[0xF0, 9, 1], &[0xFA, 0x64, 5, 1]];
        for bytes in foreign {
            assert_eq!(in_prologue(&[bytes, &[0x21]].concat()), [Ok(Record::Foreign), Ok(Record::Body { slots: 1 })], "{bytes:x?}");
        }
    }

    #[test]
    fn epilogues_labels_and_copies_have_a_short_and_a_long_form() {
        // B1 and B4, B2 and B3.
        assert_eq!(in_body(&[0x83]), [Ok(Record::Label(3))]);
        assert_eq!(in_body(&[0xA3]), [Ok(Record::Copy(3))]);
        assert_eq!(in_body(&[0xF0, 40]), [Ok(Record::Label(40))]);
        assert_eq!(in_body(&[0xF8, 40]), [Ok(Record::Copy(40))]);
        assert_eq!(in_body(&[0xC1, 5]), [Ok(Record::Epilogue { before_last: 5, prologues: 2 })]);
        assert_eq!(in_body(&[0xE0, 5, 32]), [Ok(Record::Epilogue { before_last: 5, prologues: 33 })]);
    }

    #[test]
    fn values_that_move_within_a_region_are_told_in_both_kinds() {
        // X1 of rp above the stack pointer, X2 of AR.PFS to r40 and of rp back to b0, X3 and X4 under p6.
        let moved = |register, when, place, predicated| Ok(Record::Moved { register, when, place, predicated });
        let cases: [(&[u8], Result<Record, Malformed>); 6] = [
            (&[0xF9, 0x80 | 0x63, 2, 4], moved(Register::Rp, 2, Place::FromStack(16), false)),
            (&[0xFA, 0x69, 40, 1], moved(Register::Pfs, 1, Place::General(40), false)),
            (&[0xFA, 0x63, 0, 1], moved(Register::Rp, 1, Place::Own, false)),
            (&[0xFA, 0x80 | 0x63, 6, 1], moved(Register::Rp, 1, Place::Branch(6), false)),
            (&[0xFB, 6, 0x61, 2, 4], moved(Register::Psp, 2, Place::FromPrevious(0), true)),
            (&[0xFC, 6, 0x63, 40, 1], moved(Register::Rp, 1, Place::General(40), true)),
        ];
        for (bytes, record) in cases {
            assert_eq!(in_body(bytes), [record], "{bytes:x?}");
            assert_eq!(in_prologue(bytes), [record], "{bytes:x?}");
        }
    }

    #[test]
    fn bytes_that_end_within_a_descriptor_are_malformed() {
        for bytes in [&[0xE4][..], &[0xE4, 0x80], &[0xF0, 1], &[0xB0], &[0xB8, 1], &[0xFA, 0x63, 0], &[0x60, 0x80]] {
            assert_eq!(in_prologue(bytes), [Err(Malformed)], "{bytes:x?}");
        }
    }

    #[test]
    fn codes_that_mean_nothing_are_malformed() {
        for bytes in [&[0x48, 0, 0][..], &[0x62, 1], &[0xBA], &[0xB6, 0], &[0xF0, 20, 1], &[0xF2], &[0xFD]] {
            assert_eq!(in_prologue(bytes), [Err(Malformed)], "{bytes:x?}");
        }
        for bytes in [&[0xE1, 1, 1][..], &[0xF1], &[0xFF, 0, 0]] {
            assert_eq!(in_body(bytes), [Err(Malformed)], "{bytes:x?}");
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_malformed() {
        let mut longest = vec![0xE4];
        longest.extend([0xFF; 9]);
        assert_eq!(in_prologue(&[&longest[..], &[0x01]].concat()), [Ok(Record::When(Register::Rp, u64::MAX))]);
        assert_eq!(in_prologue(&[&longest[..], &[0x02]].concat()), [Err(Malformed)]);
        assert_eq!(in_prologue(&[&longest[..], &[0x81, 0]].concat()), [Err(Malformed)]);
    }
}
