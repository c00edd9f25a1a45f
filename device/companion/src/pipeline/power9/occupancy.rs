//! Number of taken entries of a queue in each cycle (PP50).

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::time;

/// Number of cycles in a word.
pub(super) const WORD: u64 = 64;
/// Number of cycles, from the first uncounted one on, for which changes are kept.
const SPAN: usize = 2048;
const WORDS: usize = SPAN / WORD as usize;
/// Number of later changes that are kept. Further ones are moved to the last of those cycles.
const LATER: usize = 64;

/// The entries of a queue.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    /// Entries taken minus entries freed, at the cycle's number modulo [`SPAN`].
    changes: [i8; SPAN],
    /// The cycles with changes, one bit each.
    marks: [u64; WORDS],
    /// Number of entries taken before the first uncounted cycle.
    level: i32,
    later: [(u64, i8); LATER],
    count: usize,
}

impl Occupancy {
    pub(super) const fn new() -> Occupancy {
        Occupancy { changes: [0; SPAN], marks: [0; WORDS], level: 0, later: [(0, 0); LATER], count: 0 }
    }

    /// Takes an entry from cycle `from` up to cycle `until`. Cycles before `begin` have been counted.
    #[inline]
    pub(super) fn take(&mut self, from: u64, until: u64, begin: u64) {
        if from < until && until > begin {
            self.change(from.max(begin), 1, begin);
            self.change(until, -1, begin);
        }
    }

    #[inline]
    fn change(&mut self, at: u64, change: i8, begin: u64) {
        let mut at = at;
        if at - begin >= SPAN as u64 {
            if let Some(place) = self.later.get_mut(self.count) {
                *place = (at, change);
                self.count += 1;
                return;
            }
            at = begin + SPAN as u64 - 1;
        }
        self.mark(at, change);
    }

    #[inline]
    fn mark(&mut self, at: u64, change: i8) {
        let place = at as usize % SPAN;
        if let (Some(cell), Some(mark)) = (self.changes.get_mut(place), self.marks.get_mut(place / WORD as usize)) {
            *cell = cell.saturating_add(change);
            *mark |= 1 << (place % WORD as usize);
        }
    }

    /// Counts the word that begins in cycle `begin`, the first uncounted one. `each` gets each number of taken entries and the cycles with
    /// that number, one bit each.
    #[inline]
    pub(super) fn count(&mut self, begin: u64, mut each: impl FnMut(i32, u64)) {
        let first = begin as usize % SPAN;
        let marks = self.marks.get_mut(first / WORD as usize).map_or(0, core::mem::take);
        let (mut left, mut from) = (marks, 0);
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            if bit > from {
                each(self.level, run(from, bit));
            }
            self.level += self.changes.get_mut(first + bit as usize).map_or(0, |change| i32::from(core::mem::take(change)));
            from = bit;
        }
        each(self.level, run(from, WORD as u32));
        if self.count != 0 {
            self.draw_near(begin + WORD);
        }
    }

    /// Moves later changes into the kept cycles, which now begin with `begin`.
    #[cold]
    fn draw_near(&mut self, begin: u64) {
        let mut number = 0;
        while number < self.count {
            match self.later.get(number).copied() {
                Some((at, change)) if at - begin.min(at) < SPAN as u64 => {
                    self.mark(at, change);
                    self.count -= 1;
                    self.later.swap(number, self.count);
                }
                _ => number += 1,
            }
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        let changes = || self.changes.iter().enumerate().filter(|(_, change)| **change != 0);
        writer.words(&[self.level as u64, changes().count() as u64, self.count as u64]);
        changes().for_each(|(place, change)| writer.words(&[place as u64, *change as u64]));
        self.later.iter().take(self.count).for_each(|(at, change)| writer.words(&[*at, *change as u64]));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        *self = Occupancy::new();
        self.level = i32::try_from(reader.word()? as i64).map_err(|_| Damaged)?;
        let (changes, later) = (reader.word()?, reader.word()?);
        if changes > SPAN as u64 || later > LATER as u64 || self.level.unsigned_abs() > 1 << 16 {
            return Err(Damaged);
        }
        for _ in 0..changes {
            let place = Some(reader.word()?).filter(|place| *place < SPAN as u64).ok_or(Damaged)?;
            self.mark(place, i8::try_from(reader.word()? as i64).map_err(|_| Damaged)?);
        }
        for place in self.later.iter_mut().take(later as usize) {
            *place = (time(reader, now)?, i8::try_from(reader.word()? as i64).map_err(|_| Damaged)?);
        }
        self.count = later as usize;
        Ok(())
    }
}

/// Returns the bits from `from` up to `to`.
fn run(from: u32, to: u32) -> u64 {
    let below = |bit: u32| if bit >= u64::BITS { u64::MAX } else { (1 << bit) - 1 };
    below(to) & !below(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Returns how many cycles of the first `words` have each number of entries.
    fn levels(occupancy: &mut Occupancy, words: u64) -> Vec<u64> {
        let mut cycles = Vec::from([0; 4]);
        for word in 0..words {
            occupancy.count(word * WORD, |level, bits| cycles[level as usize] += u64::from(bits.count_ones()));
        }
        cycles
    }

    #[test]
    fn entries_are_taken_up_to_the_cycle_in_which_they_are_free() {
        let mut occupancy = Occupancy::new();
        [(10, 20), (15, 70), (15, 16)].into_iter().for_each(|(from, until)| occupancy.take(from, until, 0));
        assert_eq!(levels(&mut occupancy, 2), [128 - 60, 60 - 5, 4, 1]);
    }

    #[test]
    fn what_happens_much_later_is_not_forgotten() {
        let mut occupancy = Occupancy::new();
        occupancy.take(10, 5_000, 0);
        occupancy.take(4_990, 9_000, 0);
        assert_eq!(levels(&mut occupancy, 200), [200 * WORD - 8_990, 8_980, 10, 0]);
    }
}
