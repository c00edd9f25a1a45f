//! The front end: which bundles are in the instruction buffer when, and what the clocks before were lost to (PI4, PI21, PI26).

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::ia64::buffer::{Arrival, Buffer, Intervals};
use super::super::{Found, Source};

/// Why the front end delivers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Cause {
    /// It waits for a line of the second level,
    Second,
    /// of the third,
    Third,
    /// or of memory,
    Memory,
    /// or for a translation.
    Translation,
    /// It turns to the target of a branch.
    Bubble,
}

/// How many causes there are.
pub(super) const CAUSES: usize = Cause::Bubble as usize + 1;

/// From the look-up to a line that the second or the third level has; what a hit of the first takes of a latency.
const SECOND: u64 = 6;
const THIRD: u64 = 21;
const FIRST: u64 = 2;

/// The front end.
#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    buffer: Buffer,
    /// When dispersal lacks bundles for which cause.
    lacks: Intervals,
}

impl FrontEnd {
    /// A front end whose first pair can be dispersed in clock `ready`.
    pub(super) const fn new(ready: u64) -> FrontEnd {
        FrontEnd { buffer: Buffer::new(ready), lacks: Intervals::new() }
    }

    /// Clocks without a bundle.
    fn idle(&mut self, cause: Cause, clocks: u64) {
        // What is dispersed in a clock was delivered in the one before it.
        let known = self.buffer.known;
        self.lacks.push(known + 1, known + clocks + 1, cause as u8);
        self.buffer.known = known + clocks;
    }

    /// The first clock in which it can look something up.
    pub(super) fn looks_up(&self) -> u64 {
        self.buffer.known
    }

    /// The bundle at `address` comes to be executed, after all that are before it; the bus brings its line so much later. `last`: the clock of
    /// the last dispersal. Returns the clock from which it can be dispersed.
    pub(super) fn arrive(&mut self, address: u64, found: &Found, late: u64, last: u64) -> u64 {
        if self.buffer.arrive(address, last) != Arrival::Together {
            self.idle(Cause::Translation, u64::from(found.translation));
            if found.line != 0 {
                let (cause, wait) = match found.code {
                    Some(Source::Second) | None => (Cause::Second, SECOND),
                    Some(Source::Third) => (Cause::Third, THIRD),
                    Some(_) => (Cause::Memory, u64::from(found.line) + FIRST + late),
                };
                self.idle(cause, wait);
            }
            self.buffer.known = self.buffer.room().max(self.buffer.known);
            self.buffer.deliver();
        }
        self.buffer.count += 1;
        self.buffer.ready
    }

    /// A branch was predicted taken: fetch goes on at its target, so many clocks later.
    pub(super) fn turn(&mut self, bubbles: u64) {
        self.buffer.turn();
        self.idle(Cause::Bubble, bubbles);
    }

    /// PI20: after a flush. The first pair of the right path can be delivered in clock `delivery`.
    pub(super) fn restart(&mut self, delivery: u64) {
        self.buffer.empty(delivery);
        self.buffer.known = delivery;
    }

    /// What the clocks from `from` up to `to`, in which dispersal lacks bundles, are lost to.
    pub(super) fn causes(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, u8)> {
        self.lacks.within(from, to)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.buffer.save(writer);
        self.lacks.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.buffer.load(reader, now)?;
        self.lacks.load(reader, now, CAUSES - 1)
    }
}
