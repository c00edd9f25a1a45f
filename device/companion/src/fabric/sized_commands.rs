//! Sized commands: reads and writes of less than a line, or of a whole one past the caches (BIOS and Kernel Developer's Guide for the K8,
//! section 10.2.1.7, events E5h and EBh).
//!
//! A read takes one command: of bytes if it stays within a doubleword, otherwise of doublewords. A write of bytes covers at most 32 bytes,
//! so each half of a line that is written in part takes a command.

use vm_pmu_arch::feed::Signal;

use crate::tally::Tally;

const DOUBLEWORD: u64 = 4;
/// Half a line: the most that a write of bytes covers.
pub(crate) const HALF: u64 = 32;
pub(crate) const LINE: u64 = 64;

/// Bytes within one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePiece {
    pub(super) physical: u64,
    /// At least 1.
    pub(super) size: u64,
}

impl LinePiece {
    /// Returns the piece of each line of `1 << bits` bytes among `size` bytes from `physical` on.
    pub(super) fn of(physical: u64, size: u64, bits: u8) -> impl Iterator<Item = LinePiece> {
        let bits = bits.min(63);
        let last = physical.saturating_add(size.max(1) - 1);
        (physical >> bits..=last >> bits).map(move |line| {
            let first = physical.max(line << bits);
            LinePiece { physical: first, size: last.min((line << bits) | ((1 << bits) - 1)) - first + 1 }
        })
    }

    fn is_within_doubleword(self) -> bool {
        self.physical % DOUBLEWORD + self.size <= DOUBLEWORD
    }

    pub(super) fn doublewords(self) -> u64 {
        (self.physical % DOUBLEWORD + self.size).div_ceil(DOUBLEWORD)
    }

    /// Returns the number of doublewords with which it is stored: bytes have a mask of one more.
    pub(super) fn stored_doublewords(self) -> u64 {
        self.doublewords() + u64::from(!self.is_of_doublewords())
    }

    fn is_of_doublewords(self) -> bool {
        self.physical.is_multiple_of(DOUBLEWORD) && self.size.is_multiple_of(DOUBLEWORD)
    }

    /// Returns the mask of its bytes in its line.
    pub(crate) fn mask(self, line: u64) -> u128 {
        let all = if self.size >= 128 { u128::MAX } else { (1 << self.size) - 1 };
        all << (self.physical % line.clamp(1, 128))
    }
}

/// Counts a sized read where it begins.
pub(crate) fn count_read(piece: LinePiece, tally: &mut Tally) {
    tally.add(if piece.is_within_doubleword() { Signal::SizedReadsBytes } else { Signal::SizedReadsDoublewords }, 1);
}

/// Counts a sized read where the memory is.
pub(super) fn count_read_target(piece: LinePiece, tally: &mut Tally) {
    match (piece.size, piece.physical % HALF) {
        (LINE, _) => tally.add(Signal::SizedReadsOf64, 1),
        (HALF, 0) => tally.add(Signal::SizedReadsOf32, 1),
        _ => {}
    }
}

/// Counts an uncached store where it begins. Its writes are answered.
pub(super) fn count_store(piece: LinePiece, tally: &mut Tally) {
    tally.add(if piece.is_of_doublewords() { Signal::SizedWritesNonPostedDoublewords } else { Signal::SizedWritesNonPostedBytes }, 1);
}

/// The commands that write a line or a part of it without an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SizedWrites {
    /// Writes of a whole line.
    pub(super) lines: u64,
    /// Writes of a whole half.
    pub(super) halves: u64,
    /// Writes of a part of a half.
    pub(super) parts: u64,
}

impl SizedWrites {
    /// Returns the writes of a line that is written `whole`, or else of its bytes in `mask`.
    pub(super) fn posted(whole: bool, mask: u128) -> SizedWrites {
        const ALL: u128 = (1 << HALF) - 1;
        if whole {
            return SizedWrites { lines: 1, ..SizedWrites::default() };
        }
        let mut sized = SizedWrites::default();
        for half in 0..4 {
            match mask >> (HALF * half) & ALL {
                0 => {}
                ALL => sized.halves += 1,
                _ => sized.parts += 1,
            }
        }
        sized
    }

    /// Returns the writes of a device that writes a piece of a line of `line` bytes.
    pub(super) fn of(piece: LinePiece, line: u64) -> SizedWrites {
        SizedWrites::posted(piece.size == line, piece.mask(line))
    }

    /// Returns the doublewords of data of each command. A command of bytes has their mask, and the doublewords from the first to the last.
    pub(super) fn data(whole: bool, mask: u128) -> impl Iterator<Item = u64> {
        const ALL: u128 = (1 << HALF) - 1;
        let halves = (0..4).map(move |half| if whole { 0 } else { mask >> (HALF * half) & ALL }).filter(|half| *half != 0);
        let of_half = |half: u128| match half {
            ALL => HALF / DOUBLEWORD,
            half => {
                let (first, last) = (u64::from(half.trailing_zeros()), u64::from(half.ilog2()));
                1 + last / DOUBLEWORD - first / DOUBLEWORD + 1
            }
        };
        whole.then_some(LINE / DOUBLEWORD).into_iter().chain(halves.map(of_half))
    }

    pub(super) fn commands(self) -> u64 {
        self.lines + self.halves + self.parts
    }

    /// Counts them where they begin.
    pub(super) fn count(self, tally: &mut Tally) {
        tally.add(Signal::SizedWritesPostedDoublewords, self.lines + self.halves);
        tally.add(Signal::SizedWritesPostedBytes, self.parts);
    }

    /// Counts them where the memory is.
    pub(super) fn count_target(self, tally: &mut Tally) {
        tally.add(Signal::SizedWritesOf64, self.lines);
        tally.add(Signal::SizedWritesOf32, self.halves);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn an_access_over_two_lines_is_a_piece_of_each() {
        let pieces: Vec<_> = LinePiece::of(0x103C, 8, 6).collect();
        assert_eq!(pieces, [LinePiece { physical: 0x103C, size: 4 }, LinePiece { physical: 0x1040, size: 4 }]);
        assert_eq!(LinePiece::of(u64::MAX, 8, 6).collect::<Vec<_>>(), [LinePiece { physical: u64::MAX, size: 1 }]);
    }

    #[test]
    fn a_write_takes_a_command_for_a_line_or_for_each_half() {
        let of = |physical, size| {
            let SizedWrites { lines, halves, parts } = SizedWrites::of(LinePiece { physical, size }, LINE);
            [lines, halves, parts]
        };
        assert_eq!(of(0x1000, 64), [1, 0, 0]);
        assert_eq!(of(0x1020, 32), [0, 1, 0]);
        assert_eq!(of(0x101C, 8), [0, 0, 2]);
        assert_eq!(of(0x1000, 40), [0, 1, 1]);
        assert_eq!(of(0x1001, 1), [0, 0, 1]);
    }

    #[test]
    fn a_write_of_bytes_has_their_mask_and_the_doublewords_that_it_spans() {
        let of = |physical, size| SizedWrites::data(size == LINE, LinePiece { physical, size }.mask(LINE)).collect::<Vec<_>>();
        assert_eq!(of(0x1000, 64), [16]);
        assert_eq!(of(0x1020, 32), [8]);
        assert_eq!(of(0x101C, 8), [2, 2]);
        assert_eq!(of(0x1003, 2), [3]);
        assert_eq!(
            [(0x1000, 4), (0x1000, 2), (0x1003, 2)].map(|(physical, size)| LinePiece { physical, size }.stored_doublewords()),
            [1, 2, 3]
        );
    }
}
