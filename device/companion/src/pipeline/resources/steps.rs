//! The framework of pipelines that move in steps (PM1 to PM5 of the notes on the Itaniums): the duration of each step, and what its clocks
//! count as.

use super::account::Account;
use crate::bytes::{Damaged, Reader, Writer};

/// Number of runs of clocks that are kept in order. Beyond them only sums are kept.
const RUNS: usize = 256;
/// Number of runs that are saved: more than one instruction of an in-order pipeline makes.
const SAVED: usize = 64;

/// Unreported clocks that have passed, with the states of each, one bit per state.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Track {
    /// The states of each run, and its number of clocks.
    runs: [(u64, u64); RUNS],
    first: usize,
    count: usize,
    passed: u64,
    /// Clocks that have no place among the runs, until everything is reported.
    rest: Account<64>,
    /// The states of the last clock that was reported.
    pub(in crate::pipeline) last: Option<u64>,
}

impl Track {
    /// Returns a track on which no clock has two of the states in `exclusive`, one bit each.
    pub(in crate::pipeline) const fn new(exclusive: u64) -> Track {
        Track { runs: [(0, 0); RUNS], first: 0, count: 0, passed: 0, rest: Account::new(exclusive), last: None }
    }

    /// Lets `clocks` pass, in which these states hold.
    #[inline]
    pub(in crate::pipeline) fn pass(&mut self, states: u64, clocks: u64) {
        if clocks == 0 {
            return;
        }
        self.passed += clocks;
        if self.rest.passed() != 0 || self.count == RUNS {
            (0..64).filter(|state| states >> state & 1 == 1).for_each(|state| self.rest.hold(state, clocks));
            return self.rest.pass(clocks);
        }
        let last = (self.first + self.count).wrapping_sub(1) % RUNS;
        if let Some(run) = self.runs.get_mut(last).filter(|run| self.count != 0 && run.0 == states) {
            run.1 += clocks;
        } else if let Some(run) = self.runs.get_mut((self.first + self.count) % RUNS) {
            *run = (states, clocks);
            self.count += 1;
        }
    }

    /// Returns the number of unreported clocks.
    pub(in crate::pipeline) fn passed(&self) -> u64 {
        self.passed
    }

    /// Removes clocks in which the same states of `wanted` hold. Returns the number of clocks and these states.
    #[inline]
    pub(in crate::pipeline) fn next(&mut self, wanted: u64) -> Option<(u64, u64)> {
        self.next_within(wanted, u64::MAX)
    }

    /// Removes at most `most` clocks, otherwise as [`next`](Track::next).
    #[inline]
    pub(in crate::pipeline) fn next_within(&mut self, wanted: u64, most: u64) -> Option<(u64, u64)> {
        if most == 0 {
            return None;
        }
        if self.count == 0 {
            let (clocks, states) = self.rest.next_within(wanted, most)?;
            self.passed -= clocks;
            self.last = Some(states);
            return Some((clocks, states));
        }
        let mut found: Option<(u64, u64)> = None;
        while self.count != 0
            && let Some((states, clocks)) = self.runs.get(self.first).copied()
        {
            let left = most - found.map_or(0, |found| found.0);
            if left == 0 || found.is_some_and(|found| found.1 != states & wanted) {
                break;
            }
            let taken = clocks.min(left);
            found = Some((found.map_or(0, |found| found.0) + taken, states & wanted));
            self.last = Some(states);
            self.take(taken);
        }
        self.passed -= found.map_or(0, |found| found.0);
        found
    }

    /// Removes clocks of the first run, which has at least as many.
    #[inline]
    fn take(&mut self, clocks: u64) {
        if let Some(run) = self.runs.get_mut(self.first) {
            run.1 -= clocks;
            if run.1 == 0 {
                self.first = (self.first + 1) % RUNS;
                self.count -= 1;
            }
        }
    }

    /// Forgets at most `clocks` of the first clocks, up to the first in which any of the states `kept` holds. Returns how many.
    pub(in crate::pipeline) fn skip(&mut self, clocks: u64, kept: u64) -> u64 {
        let mut left = clocks;
        while left != 0
            && self.count != 0
            && let Some((_, there)) = self.runs.get(self.first).copied().filter(|run| run.0 & kept == 0)
        {
            let taken = there.min(left);
            self.take(taken);
            left -= taken;
        }
        self.passed -= clocks - left;
        clocks - left
    }

    /// Drops the passed clocks.
    pub(in crate::pipeline) fn clear(&mut self) {
        (self.first, self.count, self.passed) = (0, 0, 0);
        self.rest.clear();
    }

    /// Drops the unreported clocks. While time stands still, no clock is the last.
    pub(in crate::pipeline) fn sync(&mut self, runs: bool) {
        self.clear();
        self.last = self.last.filter(|_| runs);
    }

    /// Saves the first of the runs that have passed and are not reported. More runs only exist on a thread that is not polled.
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[u64::from(self.last.is_some()), self.last.unwrap_or(0)]);
        let count = self.count.min(SAVED);
        writer.word(count as u64);
        for number in 0..SAVED {
            let run = self.runs.get((self.first + number) % RUNS).copied().filter(|_| number < count).unwrap_or_default();
            writer.words(&[run.0, run.1]);
        }
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.clear();
        let (there, last) = (reader.word()?, reader.word()?);
        self.last = (there & 1 == 1).then_some(last);
        self.count = Some(reader.word()?).and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= SAVED).ok_or(Damaged)?;
        for run in self.runs.iter_mut().take(SAVED) {
            *run = (reader.word()?, Some(reader.word()?).filter(|clocks| *clocks <= 1 << 40).ok_or(Damaged)?);
        }
        self.passed = self.runs.iter().take(self.count).map(|run| run.1).sum();
        Ok(())
    }
}

/// Maximum number of spans of a step.
const SPANS: usize = 40;

/// The stall clocks that follow a step (PM2), and the states that hold in each of them.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Stall {
    /// A state, and the clocks in which it holds: from the first number up to the second, counted from the first stall clock.
    spans: [(u8, u64, u64); SPANS],
    count: usize,
    /// Number of stall clocks.
    pub(in crate::pipeline) clocks: u64,
}

impl Stall {
    pub(in crate::pipeline) const fn new() -> Stall {
        Stall { spans: [(0, 0, 0); SPANS], count: 0, clocks: 0 }
    }

    /// Makes state number `state` hold in the clocks from `from` up to `to`.
    #[inline]
    pub(in crate::pipeline) fn hold(&mut self, state: u8, from: u64, to: u64) {
        if from < to
            && let Some(span) = self.spans.get_mut(self.count)
        {
            *span = (state, from, to);
            self.count += 1;
        }
    }

    /// Gives a family of reasons the clocks up to `asked` that no earlier family has taken (PM3). Returns the first of them.
    pub(in crate::pipeline) fn family(&mut self, state: u8, asked: u64) -> u64 {
        let first = self.clocks;
        self.hold(state, first, asked);
        self.clocks = first.max(asked);
        first
    }

    /// Passes its clocks in order: the states of each run, and its number of clocks.
    pub(in crate::pipeline) fn play(&self, mut pass: impl FnMut(u64, u64)) {
        let mut at = 0;
        while at < self.clocks {
            let (mut states, mut until) = (0, self.clocks);
            for (state, from, to) in self.spans.iter().take(self.count).copied() {
                if from <= at && at < to {
                    states |= 1 << state;
                    until = until.min(to);
                } else if from > at {
                    until = until.min(from);
                }
            }
            pass(states, until - at);
            at = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_family_of_a_step_hides_the_others() {
        // Four clocks for the first, the next two for the second, which asks for six; none is left for the third, which asks for five.
        let mut stall = Stall::new();
        assert_eq!([(0, 4), (1, 6), (2, 5)].map(|(state, asked)| stall.family(state, asked)), [0, 4, 6]);
        let mut runs = [(0, 0); 2];
        let mut count = 0;
        stall.play(|states, clocks| {
            runs[count] = (states, clocks);
            count += 1;
        });
        assert_eq!((stall.clocks, runs), (6, [(0b001, 4), (0b010, 2)]));
    }

    #[test]
    fn runs_are_divided_and_what_is_skipped_is_not_reported() {
        let mut track = Track::new(0b11);
        track.pass(0b01, 10);
        track.pass(0b10, 10);
        track.pass(0b01, 10);
        assert_eq!(track.next_within(u64::MAX, 4), Some((4, 0b01)));
        assert_eq!(track.skip(8, 0b10), 6);
        assert_eq!(track.next_within(u64::MAX, 0), None);
        assert_eq!([(); 2].map(|()| track.next_within(u64::MAX, 30)), [Some((10, 0b10)), Some((10, 0b01))]);
        assert_eq!(track.passed(), 0);
    }

    #[test]
    fn no_clock_is_lost_when_there_are_too_many_runs() {
        let mut track = Track::new(0b11);
        (0..2000u64).for_each(|number| track.pass(1 << (number % 2) | 4, 3));
        let mut sums = [0; 3];
        while let Some((clocks, states)) = track.next(u64::MAX) {
            (0..3).filter(|state| states >> state & 1 == 1).for_each(|state| sums[state] += clocks);
        }
        assert_eq!((sums, track.passed()), ([3000, 3000, 6000], 0));
    }
}
