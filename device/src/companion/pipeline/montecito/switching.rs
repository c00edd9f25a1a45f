//! What whoever changes threads must know: misses of the third level, at the clock at which they are known, and when a group completed last
//! (PM52, PM55).

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::super::tally::Tally;
use super::super::{Source, ThirdLevelMiss, small, time};
use super::signals::State;
use super::{Core, EXCEPTION, Flush};

/// From the execution of a load to the knowledge that the third level does not have its line.
const KNOWN: u64 = 14;
/// Misses that are remembered until they are known, and clocks of completion.
const MISSES: usize = 16;
const COMPLETIONS: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Switching {
    /// Somebody changes threads, so that clocks are reported only up to the next miss that is not told.
    pub(super) watched: bool,
    /// The last clock that is reported for the time being.
    pub(super) last: u64,
    /// When each is known, and when its data come.
    misses: [(u64, u64); MISSES],
    count: usize,
    /// When the last groups completed.
    completed: [u64; COMPLETIONS],
    next: usize,
}

impl Switching {
    pub(super) fn new() -> Switching {
        Switching { watched: false, last: u64::MAX, misses: [(0, 0); MISSES], count: 0, completed: [0; COMPLETIONS], next: 0 }
    }

    /// A request of clock `at` found nothing in the third level; its data come in clock `arrival`. What has no place is never told.
    pub(super) fn miss(&mut self, at: u64, arrival: u64) {
        if self.watched
            && let Some(place) = self.misses.get_mut(self.count)
        {
            *place = (at + KNOWN, arrival.max(at + KNOWN));
            self.count += 1;
        }
    }

    /// A group completes in clock `at`.
    pub(super) fn complete(&mut self, at: u64) {
        if let Some(place) = self.completed.get_mut(self.next) {
            *place = at;
            self.next = (self.next + 1) % COMPLETIONS;
        }
    }

    fn misses(&self) -> &[(u64, u64)] {
        self.misses.get(..self.count).unwrap_or(&[])
    }

    /// The miss that is known first.
    fn first(&self) -> Option<(usize, (u64, u64))> {
        self.misses().iter().copied().enumerate().min_by_key(|(_, miss)| *miss)
    }

    fn remove(&mut self, number: usize) {
        self.misses.copy_within((number + 1).min(MISSES).., number.min(MISSES - 1));
        self.count -= 1;
    }

    /// Clocks since a group completed, in clock `now`.
    fn idle(&self, now: u64) -> u64 {
        now - self.completed.iter().copied().filter(|at| *at <= now).max().unwrap_or(0)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        self.misses.iter().for_each(|miss| writer.words(&[miss.0, miss.1]));
        writer.words(&self.completed);
        writer.word(self.next as u64);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.count = usize::from(small(reader, MISSES)?);
        for miss in &mut self.misses {
            *miss = (time(reader, now)?, time(reader, now)?);
        }
        for completed in &mut self.completed {
            *completed = time(reader, now)?;
        }
        self.next = usize::from(small(reader, COMPLETIONS - 1)?);
        Ok(())
    }
}

impl Core {
    /// The last clock that has been reported.
    pub(super) fn reported(&self) -> u64 {
        (self.clock - 1).saturating_sub(self.track.passed())
    }

    /// The clocks that may be reported: up to the next miss that is known, and to where whoever changes threads wants them.
    fn most(&self) -> u64 {
        if !self.switching.watched {
            return u64::MAX;
        }
        let known = self.switching.first().map_or(u64::MAX, |(_, (known, _))| known);
        known.min(self.switching.last).saturating_sub(self.reported())
    }

    /// Reports so many clocks at most from now on.
    pub(in super::super) fn report_at_most(&mut self, clocks: Option<u64>) {
        self.switching.last = clocks.map_or(u64::MAX, |clocks| self.reported().saturating_add(clocks));
    }

    /// How many clocks are reported next at most.
    #[cfg(test)]
    pub(in super::super) fn unreported(&self) -> u64 {
        self.track.passed().min(self.most())
    }

    /// Removes clocks in which the same of the `wanted` states hold.
    pub(in super::super) fn next(&mut self, wanted: u64) -> Option<(u64, u64)> {
        if self.switching.watched { self.track.next_within(wanted, self.most()) } else { self.track.next(wanted) }
    }

    /// Has misses of the third level told at their clocks, or no longer.
    pub(in super::super) fn watch(&mut self, watched: bool) {
        (self.switching.watched, self.switching.last) = (watched, u64::MAX);
        self.switching.count *= usize::from(watched);
    }

    /// The next miss of the third level, once all clocks up to its knowledge have been reported.
    pub(in super::super) fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        let (number, (known, arrival)) = self.switching.first().filter(|(_, (known, _))| *known <= self.reported())?;
        self.switching.remove(number);
        Some(ThirdLevelMiss { returns: arrival - known.min(arrival) })
    }

    /// Clocks since a group completed.
    pub(in super::super) fn idle(&self) -> u64 {
        self.switching.idle(self.reported())
    }

    /// The thread comes back, after so many clocks in the background. What it waited for went on; what was in flight is given up and starts
    /// again, which hides what it still waits for.
    pub(in super::super) fn resume(&mut self, background: u64, tally: &mut Tally) {
        let passed = self.track.skip(background + EXCEPTION, 1 << State::Completion as u8);
        let rest = background.saturating_sub(passed);
        self.leave(Flush::Exception, tally);
        self.clock += rest;
        self.front.pause(rest);
    }

    /// The code of a bundle that can be dispersed in clock `ready` came from beyond the third level, `line` clocks after it was looked up.
    pub(super) fn miss_code(&mut self, source: Option<Source>, line: u32) {
        if source.is_some_and(Source::is_beyond) {
            self.switching.miss(self.ready.saturating_sub(u64::from(line)), self.ready);
        }
    }
}
