//! In-order sequences of a pipeline with a maximum width per cycle.

use super::{small, time};
use crate::bytes::{Damaged, Reader, Writer};

/// Operations in program order, with a maximum number per cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipeline) struct Sequence {
    /// The cycle of the last operation.
    pub(in crate::pipeline) at: u64,
    /// Number of operations in that cycle.
    count: u8,
}

impl Sequence {
    pub(in crate::pipeline) const fn new() -> Sequence {
        Sequence { at: 0, count: 0 }
    }

    /// Returns the cycle of the next operation, `earliest` or later, with at most `width` in a cycle.
    #[inline]
    pub(in crate::pipeline) fn next(&mut self, earliest: u64, width: u8) -> u64 {
        if earliest > self.at {
            *self = Sequence { at: earliest, count: 1 };
        } else if self.count < width {
            self.count += 1;
        } else {
            *self = Sequence { at: self.at + 1, count: 1 };
        }
        self.at
    }

    /// Returns the first cycle, `earliest` or later, that has room for the next operation.
    #[inline]
    pub(in crate::pipeline) fn room(&self, earliest: u64, width: u8) -> u64 {
        earliest.max(self.at + u64::from(self.count >= width))
    }

    /// Moves the last operation to cycle `at`, which is later.
    pub(in crate::pipeline) fn delay(&mut self, at: u64) {
        *self = Sequence { at, count: 1 };
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.at, u64::from(self.count)]);
    }

    pub(in crate::pipeline) fn load(reader: &mut Reader<'_>, now: u64) -> Result<Sequence, Damaged> {
        Ok(Sequence { at: time(reader, now)?, count: small(reader, 255)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cycle_has_more_than_its_width_and_none_goes_before_another() {
        let mut sequence = Sequence::new();
        assert_eq!([3, 0, 0, 9, 8].map(|earliest| sequence.next(earliest, 2)), [3, 3, 4, 9, 9]);
    }

    #[test]
    fn what_is_delayed_holds_up_what_follows() {
        let mut sequence = Sequence::new();
        sequence.next(3, 2);
        sequence.delay(7);
        assert_eq!([0, 0].map(|earliest| sequence.next(earliest, 2)), [7, 8]);
    }
}
