//! The one reason of each cycle, in the order of the cycles.

use crate::bytes::{Damaged, Reader, Writer};

/// Number of runs that are kept apart: several for each instruction in flight.
const RUNS: usize = 1024;

/// Unreported runs of cycles with the same reason. Runs beyond `RUNS` get the reason of the last.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Reasons {
    /// The reason of each run and its number of cycles.
    runs: [(u8, u64); RUNS],
    first: usize,
    count: usize,
}

impl Reasons {
    pub(in crate::pipeline) const fn new() -> Reasons {
        Reasons { runs: [(0, 0); RUNS], first: 0, count: 0 }
    }

    /// Gives the next `cycles` this reason.
    #[inline]
    pub(in crate::pipeline) fn push(&mut self, reason: u8, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let last = (self.first + self.count).wrapping_sub(1) % RUNS;
        if let Some(run) = self.runs.get_mut(last).filter(|run| self.count != 0 && (run.0 == reason || self.count == RUNS)) {
            run.1 += cycles;
        } else if let Some(run) = self.runs.get_mut((self.first + self.count) % RUNS) {
            *run = (reason, cycles);
            self.count += 1;
        }
    }

    /// Returns the reason of the next cycle, and how many cycles have it.
    #[inline]
    pub(in crate::pipeline) fn peek(&self) -> Option<(u8, u64)> {
        self.runs.get(self.first).filter(|_| self.count != 0).copied()
    }

    /// Removes the next `cycles`, which have been reported.
    #[inline]
    pub(in crate::pipeline) fn take(&mut self, mut cycles: u64) {
        while cycles != 0
            && self.count != 0
            && let Some(run) = self.runs.get_mut(self.first)
        {
            let now = run.1.min(cycles);
            run.1 -= now;
            cycles -= now;
            if run.1 == 0 {
                self.first = (self.first + 1) % RUNS;
                self.count -= 1;
            }
        }
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        for number in 0..RUNS {
            let (reason, cycles) = self.runs.get((self.first + number) % RUNS).filter(|_| number < self.count).copied().unwrap_or((0, 0));
            writer.words(&[u64::from(reason), cycles]);
        }
    }

    /// Reads runs of reasons below `reasons`.
    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, reasons: usize) -> Result<(), Damaged> {
        self.first = 0;
        self.count = usize::try_from(reader.word()?).ok().filter(|count| *count <= RUNS).ok_or(Damaged)?;
        for run in &mut self.runs {
            let reason = u8::try_from(reader.word()?).ok().filter(|reason| usize::from(*reason) < reasons).ok_or(Damaged)?;
            *run = (reason, Some(reader.word()?).filter(|cycles| *cycles <= 1 << 40).ok_or(Damaged)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_have_their_reasons_in_order() {
        let mut reasons = Reasons::new();
        [(1, 3), (1, 2), (2, 0), (3, 4)].into_iter().for_each(|(reason, cycles)| reasons.push(reason, cycles));
        assert_eq!(reasons.peek(), Some((1, 5)));
        reasons.take(6);
        assert_eq!(reasons.peek(), Some((3, 3)));
        reasons.take(3);
        assert_eq!(reasons.peek(), None);
    }

    #[test]
    fn no_cycle_is_lost_when_there_are_too_many_runs() {
        let mut reasons = Reasons::new();
        (0..3000u32).for_each(|number| reasons.push((number % 2) as u8, 2));
        let mut sum = 0;
        while let Some((_, cycles)) = reasons.peek() {
            sum += cycles;
            reasons.take(cycles);
        }
        assert_eq!(sum, 6000);
    }
}
