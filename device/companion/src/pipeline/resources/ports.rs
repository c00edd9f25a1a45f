//! The units of a pipeline: the cycles in which each begins an operation.

use super::time;
use crate::bytes::{Damaged, Reader, Writer};

/// Ports that accept one operation per cycle each. An operation that is ready early takes a cycle that a later one left free. `WORDS` times
/// 64 cycles are kept, beginning with that of the oldest operation that can still be issued.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Ports<const COUNT: usize, const WORDS: usize = 8> {
    /// One bit per cycle, at the cycle's number modulo the number of cycles kept.
    taken: [[u64; WORDS]; COUNT],
    /// The first cycle that is kept: a multiple of 64.
    from: u64,
}

impl<const COUNT: usize, const WORDS: usize> Ports<COUNT, WORDS> {
    const CYCLES: u64 = 64 * WORDS as u64;

    pub(in crate::pipeline) const fn new() -> Self {
        const { assert!(WORDS.is_power_of_two(), "the word of a cycle is found by its lowest bits") }
        Ports { taken: [[0; WORDS]; COUNT], from: 0 }
    }

    /// Forgets the cycles before `now`: no operation will ask for them any more.
    #[inline]
    pub(in crate::pipeline) fn forget(&mut self, now: u64) {
        let from = now & !63;
        if from <= self.from {
            return;
        }
        let words = ((from - self.from) / 64).min(WORDS as u64) as usize;
        let first = (self.from / 64) as usize;
        for port in &mut self.taken {
            for word in 0..words {
                if let Some(word) = port.get_mut((first + word) % WORDS) {
                    *word = 0;
                }
            }
        }
        self.from = from;
    }

    /// Returns the first cycle, `earliest` or later, from which `port` is free for `cycles`. Cycles beyond the kept ones are free.
    #[inline]
    pub(in crate::pipeline) fn free(&self, port: usize, earliest: u64, cycles: u64) -> u64 {
        let Some(taken) = self.taken.get(port) else { return earliest };
        let mut begin = earliest.max(self.from);
        let mut at = begin;
        while at < begin + cycles && at < self.from + Self::CYCLES {
            let word = taken.get((at / 64) as usize % WORDS).copied().unwrap_or(0) >> (at % 64);
            if word & 1 == 1 {
                at += u64::from(word.trailing_ones()).min(64 - at % 64);
                begin = at;
            } else {
                at += u64::from(word.trailing_zeros()).min(64 - at % 64);
            }
        }
        begin
    }

    /// Takes `port` for a cycle as soon as it is free, `earliest` or later; returns the cycle.
    #[inline]
    pub(in crate::pipeline) fn take_cycle(&mut self, port: usize, earliest: u64) -> u64 {
        let at = earliest.max(self.from);
        if at < self.from + Self::CYCLES
            && let Some(word) = self.taken.get_mut(port).and_then(|taken| taken.get_mut((at / 64) as usize % WORDS))
        {
            // The usual case: a cycle among the next few is free.
            let free = !*word & u64::MAX << (at % 64);
            if free != 0 {
                *word |= free & free.wrapping_neg();
                return at & !63 | u64::from(free.trailing_zeros());
            }
        }
        self.take_several(port, earliest, 1)
    }

    /// Takes `port` for `cycles` as soon as it is free, `earliest` or later; returns the cycle.
    #[inline]
    pub(in crate::pipeline) fn take(&mut self, port: usize, earliest: u64, cycles: u64) -> u64 {
        if cycles == 1 { self.take_cycle(port, earliest) } else { self.take_several(port, earliest, cycles) }
    }

    fn take_several(&mut self, port: usize, earliest: u64, cycles: u64) -> u64 {
        let begin = self.free(port, earliest, cycles);
        if let Some(taken) = self.taken.get_mut(port) {
            for at in begin..begin.saturating_add(cycles).min(self.from + Self::CYCLES) {
                if let Some(word) = taken.get_mut((at / 64) as usize % WORDS) {
                    *word |= 1 << (at % 64);
                }
            }
        }
        begin
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.from);
        self.taken.iter().for_each(|port| writer.words(port));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.from = time(reader, now)? & !63;
        for port in &mut self.taken {
            reader.words(port)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_operation_takes_a_cycle_that_a_later_one_left() {
        let mut ports = Ports::<1>::new();
        assert_eq!(ports.take(0, 10, 1), 10);
        assert_eq!(ports.take(0, 3, 1), 3);
        assert_eq!(ports.take(0, 3, 1), 4);
        assert_eq!(ports.take(0, 10, 1), 11);
    }

    #[test]
    fn an_operation_of_several_cycles_waits_for_as_many_in_a_row() {
        let mut ports = Ports::<1>::new();
        ports.take(0, 5, 1);
        assert_eq!(ports.take(0, 2, 4), 6);
        assert_eq!(ports.take(0, 2, 3), 2);
        assert_eq!(ports.take(0, 0, 1), 0);
        assert_eq!(ports.take(0, 2, 1), 10);
    }

    #[test]
    fn cycles_are_free_again_once_they_are_forgotten() {
        let mut ports = Ports::<1>::new();
        (0..512).for_each(|_| {
            ports.take(0, 0, 1);
        });
        assert_eq!(ports.take(0, 0, 1), 512);
        ports.forget(130);
        assert_eq!(ports.take(0, 130, 1), 512);
        assert_eq!(ports.take(0, 130, 1), 513);
        ports.forget(1 << 40);
        assert_eq!(ports.take(0, 0, 1), 1 << 40);
    }
}
