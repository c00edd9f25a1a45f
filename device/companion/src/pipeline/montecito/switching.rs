//! Events needed for switching threads: misses of the third level, in the clocks in which they are known, and the last completion of a
//! group (PM52, PM55).

use super::signals::MontecitoState;
use super::{EXCEPTION, Flush, MontecitoPipeline};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{small, time};
use crate::pipeline::{Source, ThirdLevelMiss};
use crate::tally::Tally;

/// Clocks from the execution of a load until its third-level miss is known.
const KNOWN: u64 = 14;
/// Number of misses that are remembered until they are known, and of remembered clocks of completion.
const MISSES: usize = 16;
const COMPLETIONS: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Switching {
    /// Whether threads are switched, so that clocks are reported only up to the next unreported miss.
    pub(super) watched: bool,
    /// The last clock that may be reported for now.
    pub(super) last: u64,
    /// The clocks in which each miss is known, and its data arrive.
    misses: [(u64, u64); MISSES],
    count: usize,
    /// The clocks in which the last groups completed.
    completed: [u64; COMPLETIONS],
    next: usize,
}

impl Switching {
    pub(super) fn new() -> Switching {
        Switching { watched: false, last: u64::MAX, misses: [(0, 0); MISSES], count: 0, completed: [0; COMPLETIONS], next: 0 }
    }

    /// Records a third-level miss of a request of clock `at`. Its data arrive in clock `arrival`. A miss that does not fit is never
    /// reported.
    pub(super) fn miss(&mut self, at: u64, arrival: u64) {
        if self.watched
            && let Some(place) = self.misses.get_mut(self.count)
        {
            *place = (at + KNOWN, arrival.max(at + KNOWN));
            self.count += 1;
        }
    }

    /// Records that a group completes in clock `at`.
    pub(super) fn complete(&mut self, at: u64) {
        if let Some(place) = self.completed.get_mut(self.next) {
            *place = at;
            self.next = (self.next + 1) % COMPLETIONS;
        }
    }

    fn misses(&self) -> &[(u64, u64)] {
        self.misses.get(..self.count).unwrap_or(&[])
    }

    /// Returns the miss that is known first.
    fn first(&self) -> Option<(usize, (u64, u64))> {
        self.misses().iter().copied().enumerate().min_by_key(|(_, miss)| *miss)
    }

    fn remove(&mut self, number: usize) {
        self.misses.copy_within((number + 1).min(MISSES).., number.min(MISSES - 1));
        self.count -= 1;
    }

    /// Returns the clocks since a group completed, in clock `now`.
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

impl MontecitoPipeline {
    /// Returns the last clock that has been reported.
    pub(super) fn reported(&self) -> u64 {
        (self.clock - 1).saturating_sub(self.track.passed())
    }

    /// Returns the number of clocks that may be reported: up to the next known miss, and up to the limit set by
    /// [`report_at_most`](MontecitoPipeline::report_at_most).
    fn most(&self) -> u64 {
        if !self.switching.watched {
            return u64::MAX;
        }
        let known = self.switching.first().map_or(u64::MAX, |(_, (known, _))| known);
        known.min(self.switching.last).saturating_sub(self.reported())
    }

    /// Limits the number of clocks that are reported from now on.
    pub(in crate::pipeline) fn report_at_most(&mut self, clocks: Option<u64>) {
        self.switching.last = clocks.map_or(u64::MAX, |clocks| self.reported().saturating_add(clocks));
    }

    /// Returns the maximum number of clocks that are reported next.
    #[cfg(test)]
    pub(in crate::pipeline) fn unreported(&self) -> u64 {
        self.track.passed().min(self.most())
    }

    /// Removes clocks in which the same of the `wanted` states hold.
    pub(in crate::pipeline) fn next(&mut self, wanted: u64) -> Option<(u64, u64)> {
        if self.switching.watched { self.track.next_within(wanted, self.most()) } else { self.track.next(wanted) }
    }

    /// Sets whether misses of the third level are reported in their clocks.
    pub(in crate::pipeline) fn watch(&mut self, watched: bool) {
        (self.switching.watched, self.switching.last) = (watched, u64::MAX);
        self.switching.count *= usize::from(watched);
    }

    /// Returns the next miss of the third level, once all clocks up to the one in which it is known have been reported.
    pub(in crate::pipeline) fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        let (number, (known, arrival)) = self.switching.first().filter(|(_, (known, _))| *known <= self.reported())?;
        self.switching.remove(number);
        Some(ThirdLevelMiss { returns: arrival - known.min(arrival) })
    }

    /// Returns the clocks since a group completed.
    pub(in crate::pipeline) fn idle(&self) -> u64 {
        self.switching.idle(self.reported())
    }

    /// Resumes the thread after `background` clocks in the background. Requests that it waited for went on. Groups in flight are abandoned
    /// and restarted, which hides their remaining waits.
    pub(in crate::pipeline) fn resume(&mut self, background: u64, tally: &mut Tally) {
        let passed = self.track.skip(background + EXCEPTION, 1 << MontecitoState::Completion as u8);
        let rest = background.saturating_sub(passed);
        self.leave(Flush::Exception, tally);
        self.clock += rest;
        self.front.pause(rest);
    }

    /// Records that the code of a bundle that can be dispersed in clock `ready` came from beyond the third level, `line` clocks after it
    /// was looked up.
    pub(super) fn miss_code(&mut self, source: Option<Source>, line: u32) {
        if source.is_some_and(Source::is_beyond) {
            self.switching.miss(self.ready.saturating_sub(u64::from(line)), self.ready);
        }
    }
}
