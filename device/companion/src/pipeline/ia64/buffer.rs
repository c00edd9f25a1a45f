//! The instruction buffer: the clocks from which bundles are in it (PM35), and why it lacked some.

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{small, time};

/// Capacity in bundles, and maximum number of bundles that it still holds when a pair enters.
pub(in crate::pipeline) const BUFFER: u64 = 8;
const KEPT: u64 = BUFFER - 2;
/// Address bits within a pair of bundles, and within a bundle.
const PAIR_BITS: u32 = 5;
const BUNDLE_BITS: u32 = 4;
/// Number of intervals that are remembered until the bundles after them are dispersed.
const INTERVALS: usize = 16;

/// The way in which a bundle arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum Arrival {
    /// With the previous bundle.
    Together,
    /// The first of a pair that must be looked up.
    First,
    /// The second of such a pair, whose first is not needed.
    Second,
}

/// The buffer, and the pair that was last delivered into it.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct InstructionBuffer {
    /// The first clock in which the activity of the front end is not known.
    pub(in crate::pipeline) known: u64,
    /// The pair that was last delivered, if its second bundle can still arrive.
    pair: Option<u64>,
    /// Number of bundles that have arrived, and the clocks in which the last of them were dispersed.
    pub(in crate::pipeline) count: u64,
    dispersed: [u64; BUFFER as usize],
    /// The clock from which the last pair can be dispersed.
    pub(in crate::pipeline) ready: u64,
}

impl InstructionBuffer {
    /// Returns a buffer whose first pair can be dispersed in clock `ready`.
    pub(in crate::pipeline) const fn new(ready: u64) -> InstructionBuffer {
        InstructionBuffer { known: ready - 1, pair: None, count: 0, dispersed: [ready - 1; BUFFER as usize], ready }
    }

    /// Returns when the bundle with this number was dispersed, if it is among the last.
    pub(in crate::pipeline) fn dispersed(&self, number: u64) -> u64 {
        self.dispersed.get((number % BUFFER) as usize).copied().unwrap_or(0)
    }

    /// Records the arrival of the bundle at `address`, after all before it. `last` is the clock of the last dispersal.
    pub(in crate::pipeline) fn arrive(&mut self, address: u64, last: u64) -> Arrival {
        if self.count != 0
            && let Some(place) = self.dispersed.get_mut(((self.count - 1) % BUFFER) as usize)
        {
            *place = last.max(*place);
        }
        let (pair, second) = (address >> PAIR_BITS, address >> BUNDLE_BITS & 1 == 1);
        let together = second && self.pair == Some(pair);
        self.pair = (!second).then_some(pair);
        match (together, second) {
            (true, _) => Arrival::Together,
            (false, true) => Arrival::Second,
            (false, false) => Arrival::First,
        }
    }

    /// Returns the first clock in which two places are free: the one after that in which the last bundle left them.
    pub(in crate::pipeline) fn room(&self) -> u64 {
        if self.count > KEPT { self.dispersed(self.count - KEPT - 1) + 1 } else { 0 }
    }

    /// Records the delivery of a pair.
    pub(in crate::pipeline) fn deliver(&mut self) {
        self.known += 1;
        self.ready = self.known;
    }

    /// Redirects fetch. Returns whether a second bundle could still have arrived.
    pub(in crate::pipeline) fn turn(&mut self) -> bool {
        self.pair.take().is_some()
    }

    /// Empties the buffer from clock `from` on.
    pub(in crate::pipeline) fn empty(&mut self, from: u64) {
        self.pair = None;
        self.dispersed = [from - 1; BUFFER as usize];
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.known, u64::from(self.pair.is_some()), self.pair.unwrap_or(0), self.count]);
        writer.words(&self.dispersed);
        writer.word(self.ready);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.known = time(reader, now)?;
        let (there, pair) = (reader.word()?, reader.word()?);
        self.pair = (there & 1 == 1).then_some(pair);
        self.count = Some(reader.word()?).filter(|count| *count <= 1 << 62).ok_or(Damaged)?;
        for dispersed in &mut self.dispersed {
            *dispersed = time(reader, now)?;
        }
        self.ready = time(reader, now)?;
        Ok(())
    }
}

/// The last intervals of clocks, each with a number.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Intervals {
    /// The first clock, the clock after the last, and the number of each interval.
    ring: [(u64, u64, u8); INTERVALS],
    next: usize,
    /// The latest end of all intervals.
    end: u64,
}

impl Intervals {
    pub(in crate::pipeline) const fn new() -> Intervals {
        Intervals { ring: [(0, 0, 0); INTERVALS], next: 0, end: 0 }
    }

    pub(in crate::pipeline) fn push(&mut self, from: u64, to: u64, number: u8) {
        if from < to
            && let Some(place) = self.ring.get_mut(self.next)
        {
            *place = (from, to, number);
            self.next = (self.next + 1) % INTERVALS;
            self.end = to.max(self.end);
        }
    }

    /// Returns the intersections of the intervals with the clocks from `from` up to `to`, in order.
    #[inline]
    pub(in crate::pipeline) fn within(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, u8)> {
        let ring = if from < self.end { self.ring.as_slice() } else { &[] };
        let (newest, oldest) = ring.split_at(self.next.min(ring.len()));
        oldest.iter().chain(newest).map(move |each| (each.0.max(from), each.1.min(to), each.2)).filter(|each| each.0 < each.1)
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        self.ring.iter().for_each(|each| writer.words(&[each.0, each.1, u64::from(each.2)]));
        writer.word(self.next as u64);
    }

    /// Reads intervals with numbers of at most `most`.
    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64, most: usize) -> Result<(), Damaged> {
        for each in &mut self.ring {
            *each = (time(reader, now)?, time(reader, now)?, small(reader, most)?);
        }
        self.next = usize::from(small(reader, INTERVALS - 1)?);
        self.end = self.ring.iter().map(|each| each.1).max().unwrap_or(0);
        Ok(())
    }
}
