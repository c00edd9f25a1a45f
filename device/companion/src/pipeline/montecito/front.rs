//! The front end: the clocks in which bundles are in the instruction buffer, and the causes of the clocks without them (PM35 to PM40).

use super::memory::MontecitoMemory;
use super::signals::{FETCH_LOST, MontecitoState, SUPPLY_LOST};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::ia64::buffer::{Arrival, InstructionBuffer, Intervals};
use crate::pipeline::ia64::code::{Code, CodeSource};
use crate::pipeline::resources::reasons::Reasons;
use crate::pipeline::resources::saving::{small, time};
use crate::pipeline::{Findings, Source};
use crate::tally::Tally;

/// The first applicable cause for which the front end delivers fewer than two bundles (PM36). The numbers are those of the signal tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum IdleCause {
    Flush,
    Translation,
    Miss,
    Loop,
    Fill,
    Bubble,
    Full,
    /// It delivers one bundle: the other is before a target or behind a taken branch.
    Unreached,
}

/// Number of causes of clocks without any bundle, and of all causes.
pub(super) const IDLE: usize = IdleCause::Full as usize + 1;
pub(super) const CAUSES: usize = IdleCause::Unreached as usize + 1;
/// The report of a clock in which something is delivered. The causes follow.
pub(super) const DELIVERS: u8 = 0;

/// The states of clocks without a bundle, by cause, in the order of [`IdleCause`].
pub(super) const IDLE_STATES: [MontecitoState; IDLE] = [
    MontecitoState::IdleFlush,
    MontecitoState::IdleTranslation,
    MontecitoState::IdleMiss,
    MontecitoState::IdleLoop,
    MontecitoState::IdleFill,
    MontecitoState::IdleBubble,
    MontecitoState::IdleFull,
];

/// Clocks from the look-up to a line that the second or the third level has.
const SECOND: u64 = 7;
const THIRD: u64 = 14;

/// Returns the clocks from the look-up to the arrival of a line from `source`; `beyond` if no cache of the core has it.
fn latency(source: Source, beyond: u64) -> u64 {
    match source {
        Source::Second => SECOND,
        Source::Third => THIRD,
        _ => beyond,
    }
}

/// The front end of a thread.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct MontecitoFrontEnd {
    /// Its activity in the clocks that are known and not yet reported.
    pub(super) reports: Reasons,
    buffer: InstructionBuffer,
    /// Whether the last bundle is behind a taken branch, and whether the next one will be.
    behind: bool,
    turned: bool,
    /// The clocks in which the window lacks bundles, by cause, and the stall clocks.
    lacks: Intervals,
    stalls: Intervals,
    /// Its requests, the line that it last looked up, and the end of the last clocks in which it did not read the first level.
    code: Code,
    line: u64,
    quiet: u64,
}

impl MontecitoFrontEnd {
    /// Returns a front end whose first pair can be dispersed in clock `ready`.
    pub(super) const fn new(ready: u64) -> MontecitoFrontEnd {
        MontecitoFrontEnd {
            reports: Reasons::new(),
            buffer: InstructionBuffer::new(ready),
            behind: false,
            turned: false,
            lacks: Intervals::new(),
            stalls: Intervals::new(),
            code: Code::new(),
            line: 0,
            quiet: 0,
        }
    }

    /// Lets clocks pass up to `until` without a bundle, for this cause.
    fn idle(&mut self, cause: IdleCause, until: u64, tally: &mut Tally) {
        if until <= self.buffer.known {
            return;
        }
        let clocks = until - self.buffer.known;
        self.reports.push(cause as u8 + 1, clocks);
        // A lack in the window has the cause of the previous clock.
        self.lacks.push(self.buffer.known + 1, until + 1, cause as u8);
        if let Some(signal) = FETCH_LOST.get(cause as usize) {
            tally.add(*signal, 2 * clocks);
        }
        self.buffer.known = until;
        self.quiet = until;
    }

    /// Records that one bundle of the last pair is not needed.
    fn unreached(&mut self, tally: &mut Tally) {
        self.lacks.push(self.buffer.ready, self.buffer.ready + 1, IdleCause::Unreached as u8);
        if let Some(signal) = FETCH_LOST.get(IdleCause::Unreached as usize) {
            tally.add(*signal, 1);
        }
    }

    /// Returns the first clock in which it can look something up.
    pub(super) fn looks_up(&self) -> u64 {
        self.buffer.known
    }

    /// Delivers the bundle at `address`, after all before it. The bus brings its line `late` clocks later, and `last` is the clock of the
    /// last dispersal. Returns the clock from which the bundle can be dispersed.
    pub(super) fn arrive(
        &mut self,
        address: u64,
        found: &Findings,
        late: u64,
        last: u64,
        memory: &MontecitoMemory,
        tally: &mut Tally,
    ) -> u64 {
        (self.behind, self.turned) = (self.turned, false);
        let arrival = self.buffer.arrive(address, last);
        if arrival != Arrival::Together {
            self.look_up(found, late, memory, tally);
        }
        if arrival == Arrival::Second {
            self.unreached(tally);
        }
        self.buffer.count += 1;
        self.buffer.ready
    }

    /// PM35, PM36: looks up the next pair, waits for it and delivers it.
    fn look_up(&mut self, found: &Findings, late: u64, memory: &MontecitoMemory, tally: &mut Tally) {
        if found.translation != 0 {
            self.idle(IdleCause::Translation, self.buffer.known + u64::from(found.translation), tally);
        }
        let now = self.buffer.known;
        self.code.pass(now, tally);
        self.line = found.code_line.unwrap_or(self.line);
        if found.begins_stream {
            self.code.begin(now);
        }
        let here = if found.line == 0 {
            self.code.meet(self.line, now, tally)
        } else {
            let source = found.code.unwrap_or_default();
            let asked = CodeSource { line: self.line, source, latency: latency(source, u64::from(found.line) + 1 + late), ahead: false };
            Some(self.code.request(&asked, now, SECOND, |line, at, fills| memory.takes(line, at, fills), tally))
        };
        match here {
            Some(here) => {
                self.idle(IdleCause::Miss, here, tally);
                self.idle(IdleCause::Fill, here + 1, tally);
            }
            None => self.code.stream(self.line, self.quiet, tally),
        }
        self.idle(IdleCause::Full, self.buffer.room(), tally);
        self.reports.push(DELIVERS, 1);
        self.buffer.deliver();
    }

    /// Redirects fetch, `bubbles` clocks later, after a branch that was predicted taken, or the end of a counted loop.
    pub(super) fn turn(&mut self, cause: IdleCause, bubbles: u64, taken: bool, tally: &mut Tally) {
        if self.buffer.turn() {
            self.unreached(tally);
        }
        self.turned = taken;
        self.idle(cause, self.buffer.known + bubbles, tally);
    }

    /// PM30, PM31, PM40: restarts after a flush whose first clock is `begin`. The first pair of the right path can be delivered in clock
    /// `delivery`.
    pub(super) fn restart(&mut self, begin: u64, delivery: u64, tally: &mut Tally) {
        if begin > self.buffer.known {
            self.reports.push(DELIVERS, begin - self.buffer.known);
            self.buffer.known = begin;
        }
        // The buffer is empty from the first clock on.
        self.lacks.push(begin, begin + 1, IdleCause::Flush as u8);
        self.idle(IdleCause::Flush, delivery, tally);
        self.turned = false;
        self.buffer.empty(begin);
    }

    /// Ends the stream of prefetches.
    pub(in crate::pipeline) fn end_stream(&mut self, tally: &mut Tally) {
        self.code.end(self.buffer.known, tally);
    }

    /// Whether the stream has requested another line by now.
    pub(in crate::pipeline) fn stream_has_gone_on(&self) -> bool {
        self.code.has_gone_on(self.buffer.known)
    }

    /// Prefetches `line`, which comes from `from`, unless the first level has it.
    pub(super) fn prefetch(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, memory: &MontecitoMemory, tally: &mut Tally) {
        let now = self.buffer.known;
        self.code.pass(now, tally);
        let at = self.code.take_ahead(if streams { 0 } else { now }, tally);
        if let Some((source, beyond)) = from {
            let asked = CodeSource { line, source, latency: latency(source, u64::from(beyond)), ahead: true };
            self.code.request(&asked, at, SECOND, |line, at, fills| memory.takes(line, at, fills), tally);
        }
    }

    /// Lets clocks pass for another thread.
    pub(super) fn pause(&mut self, clocks: u64) {
        self.buffer.known += clocks;
    }

    /// Records that the pipeline stalls in the clocks from `from` up to `to`.
    pub(super) fn stall(&mut self, from: u64, to: u64) {
        self.stalls.push(from, to, 0);
    }

    /// PM39: counts the bundles that the window lacked until the last bundle was there, when that is first dispersed.
    pub(super) fn supply(&self, tally: &mut Tally) {
        let Some(behind) = self.buffer.count.checked_sub(2) else { return };
        let mut from =
            if behind == 0 { self.buffer.dispersed(behind).min(self.buffer.ready) } else { self.buffer.dispersed(behind - 1) + 1 };
        if self.behind {
            // The second place is lacking while the bundle with the branch was first.
            let until = self.buffer.dispersed(behind) + 1;
            self.lose(IdleCause::Unreached as u8, from, until, tally);
            from = until;
        }
        for (from, to, cause) in self.lacks.within(from, self.buffer.ready) {
            self.lose(cause, from, to, tally);
        }
    }

    fn lose(&self, cause: u8, from: u64, to: u64, tally: &mut Tally) {
        let all = to.saturating_sub(from);
        let stalled: u64 = self.stalls.within(from, to).map(|(from, to, _)| to - from).sum();
        let [without, ideal] = &SUPPLY_LOST;
        for (signals, clocks) in [(without, all.saturating_sub(stalled)), (ideal, all)] {
            if let Some(Some(signal)) = signals.get(usize::from(cause)) {
                tally.add(*signal, clocks);
            }
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.reports.save(writer);
        self.buffer.save(writer);
        writer.words(&[u64::from(self.behind), u64::from(self.turned)]);
        self.lacks.save(writer);
        self.stalls.save(writer);
        self.code.save(writer);
        writer.words(&[self.line, self.quiet]);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.reports.load(reader, IDLE + 1)?;
        self.buffer.load(reader, now)?;
        (self.behind, self.turned) = (small(reader, 1)? == 1, small(reader, 1)? == 1);
        self.lacks.load(reader, now, CAUSES)?;
        self.stalls.load(reader, now, CAUSES)?;
        self.code.load(reader, now)?;
        (self.line, self.quiet) = (reader.word()?, time(reader, now)?);
        Ok(())
    }
}
