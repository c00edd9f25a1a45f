//! The front end: the clocks in which bundles are in the instruction buffer, and the causes of lost clocks (PI4, PI21, PI26).

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::ia64::buffer::{Arrival, InstructionBuffer, Intervals};
use crate::pipeline::ia64::code::{Code, CodeSource};
use crate::pipeline::{Findings, Source};
use crate::tally::Tally;

/// The cause for which the front end delivers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum StarvationCause {
    /// It waits for a line of the second level.
    Second,
    /// It waits for a line of the third level.
    Third,
    /// It waits for a line of memory.
    Memory,
    /// It waits for a translation.
    Translation,
    /// It redirects to the target of a branch.
    Bubble,
}

/// Number of causes.
pub(super) const CAUSES: usize = StarvationCause::Bubble as usize + 1;

/// Clocks from the look-up to a line that the second or the third level has, and the part of a latency that a first-level hit takes.
const SECOND: u64 = 6;
const THIRD: u64 = 21;
const FIRST: u64 = 2;

/// Returns the cause of the wait for a line from `source`, and the clocks from the look-up to its arrival; `beyond` if no cache has it.
fn wait(source: Source, beyond: u64) -> (StarvationCause, u64) {
    match source {
        Source::Second => (StarvationCause::Second, SECOND),
        Source::Third => (StarvationCause::Third, THIRD),
        _ => (StarvationCause::Memory, beyond),
    }
}

/// Accepts every request of the third level at once.
fn takes(_: u64, at: u64, _: &[(u64, u64)]) -> u64 {
    at
}

/// The front end.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct ItaniumFrontEnd {
    buffer: InstructionBuffer,
    /// The clocks in which dispersal lacks bundles, by cause.
    lacks: Intervals,
    /// Its requests, and the line that it last looked up.
    code: Code,
    line: u64,
}

impl ItaniumFrontEnd {
    /// Returns a front end whose first pair can be dispersed in clock `ready`.
    pub(super) const fn new(ready: u64) -> ItaniumFrontEnd {
        ItaniumFrontEnd { buffer: InstructionBuffer::new(ready), lacks: Intervals::new(), code: Code::new(), line: 0 }
    }

    /// Lets clocks pass without a bundle.
    fn idle(&mut self, cause: StarvationCause, clocks: u64) {
        // Bundles that are dispersed in a clock were delivered in the previous one.
        let known = self.buffer.known;
        self.lacks.push(known + 1, known + clocks + 1, cause as u8);
        self.buffer.known = known + clocks;
    }

    /// Returns the first clock in which it can look something up.
    pub(super) fn looks_up(&self) -> u64 {
        self.buffer.known
    }

    /// Delivers the bundle at `address`, after all before it. The bus brings its line `late` clocks later, and `last` is the clock of the
    /// last dispersal. Returns the clock from which the bundle can be dispersed.
    pub(super) fn arrive(&mut self, address: u64, found: &Findings, late: u64, last: u64, tally: &mut Tally) -> u64 {
        if self.buffer.arrive(address, last) != Arrival::Together {
            self.idle(StarvationCause::Translation, u64::from(found.translation));
            self.look_up(found, late, tally);
            self.buffer.known = self.buffer.room().max(self.buffer.known);
            self.buffer.deliver();
        }
        self.buffer.count += 1;
        self.buffer.ready
    }

    /// Looks up a line and waits for it.
    fn look_up(&mut self, found: &Findings, late: u64, tally: &mut Tally) {
        let now = self.buffer.known;
        self.code.pass(now, tally);
        self.line = found.code_line.unwrap_or(self.line);
        if found.begins_stream {
            self.code.begin(now);
        }
        if found.line == 0 {
            // The source of a prefetched line is no longer known, and part of its latency has passed.
            if let Some(here) = self.code.meet(self.line, now, tally) {
                let clocks = here - now;
                self.idle(if clocks > THIRD { StarvationCause::Memory } else { StarvationCause::Second }, clocks);
            }
            return;
        }
        let source = found.code.unwrap_or_default();
        let (cause, latency) = wait(source, u64::from(found.line) + FIRST + late);
        let asked = CodeSource { line: self.line, source, latency, ahead: false };
        let here = self.code.request(&asked, now, SECOND, takes, tally);
        self.idle(cause, here - now);
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
    pub(in crate::pipeline) fn prefetch(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, tally: &mut Tally) {
        let now = self.buffer.known;
        self.code.pass(now, tally);
        let at = self.code.take_ahead(if streams { 0 } else { now }, tally);
        if let Some((source, beyond)) = from {
            let (_, latency) = wait(source, u64::from(beyond));
            self.code.request(&CodeSource { line, source, latency, ahead: true }, at, SECOND, takes, tally);
        }
    }

    /// Redirects fetch to the target of a branch that was predicted taken, `bubbles` clocks later.
    pub(super) fn turn(&mut self, bubbles: u64) {
        self.buffer.turn();
        self.idle(StarvationCause::Bubble, bubbles);
    }

    /// PI20: restarts after a flush. The first pair of the right path can be delivered in clock `delivery`.
    pub(super) fn restart(&mut self, delivery: u64) {
        self.buffer.empty(delivery);
        self.buffer.known = delivery;
    }

    /// Returns the causes of the clocks from `from` up to `to` in which dispersal lacks bundles.
    pub(super) fn causes(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, u8)> {
        self.lacks.within(from, to)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.buffer.save(writer);
        self.lacks.save(writer);
        self.code.save(writer);
        writer.word(self.line);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.buffer.load(reader, now)?;
        self.lacks.load(reader, now, CAUSES - 1)?;
        self.code.load(reader, now)?;
        self.line = reader.word()?;
        Ok(())
    }
}
