//! The front end: which bundles are in the instruction buffer when, and what each clock without them was lost to (PM35 to PM40).

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::super::tally::Tally;
use super::super::reasons::Reasons;
use super::super::{Found, Source, small, time};
use super::signals::{FETCH_LOST, SUPPLY_LOST};

/// Why the front end delivers fewer than two bundles, the first of which that holds (PM36). The numbers are those of the tables of signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Cause {
    Flush,
    Translation,
    Miss,
    Loop,
    Fill,
    Bubble,
    Full,
    /// It delivers one: the other is before a target or behind a taken branch.
    Unreached,
}

/// How many causes there are of clocks without any bundle, and in all.
pub(super) const IDLE: usize = Cause::Full as usize + 1;
pub(super) const CAUSES: usize = Cause::Unreached as usize + 1;
/// Among the reports, a clock in which something is delivered. The causes follow.
pub(super) const DELIVERS: u8 = 0;

/// Bundles of the instruction buffer, and those that it keeps when a pair finds no place.
const BUFFER: u64 = 8;
const KEPT: u64 = BUFFER - 2;
/// Bits of an address within a pair, and within a bundle.
const PAIR_BITS: u32 = 5;
const BUNDLE_BITS: u32 = 4;
/// From the look-up to a line that the second or the third level has.
const SECOND: u64 = 7;
const THIRD: u64 = 14;
/// Intervals that are remembered until the bundles behind them are dispersed.
const INTERVALS: usize = 16;

/// The last intervals of clocks, each with a number.
#[derive(Clone, Debug)]
struct Intervals {
    /// From a clock up to another.
    ring: [(u64, u64, u8); INTERVALS],
    next: usize,
}

impl Intervals {
    const fn new() -> Intervals {
        Intervals { ring: [(0, 0, 0); INTERVALS], next: 0 }
    }

    fn push(&mut self, from: u64, to: u64, number: u8) {
        if from < to
            && let Some(place) = self.ring.get_mut(self.next)
        {
            *place = (from, to, number);
            self.next = (self.next + 1) % INTERVALS;
        }
    }

    /// What they have in common with the clocks from `from` up to `to`.
    fn within(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, u8)> {
        self.ring.iter().map(move |each| (each.0.max(from), each.1.min(to), each.2)).filter(|each| each.0 < each.1)
    }

    fn save(&self, writer: &mut Writer) {
        self.ring.iter().for_each(|each| writer.words(&[each.0, each.1, u64::from(each.2)]));
        writer.word(self.next as u64);
    }

    fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for each in &mut self.ring {
            *each = (time(reader, now)?, time(reader, now)?, small(reader, CAUSES)?);
        }
        self.next = usize::from(small(reader, INTERVALS - 1)?);
        Ok(())
    }
}

/// The front end of a thread.
#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    /// What it did in the clocks that are known, as far as they are not reported.
    pub(super) reports: Reasons,
    /// The first clock of which that is not known.
    known: u64,
    /// The pair that was delivered last, if its second bundle can still come.
    pair: Option<u64>,
    /// The bundle that came last, if the next one in sequence follows it.
    bundle: Option<u64>,
    /// Bundles that have come, and the clocks in which the last of them were dispersed.
    count: u64,
    dispersed: [u64; BUFFER as usize],
    /// The clock from which the last pair can be dispersed.
    ready: u64,
    /// The bundle that came last is behind a taken branch, or the next one will be.
    behind: bool,
    turned: bool,
    /// When what lacks in the window lacks for which cause, and the clocks of stall.
    lacks: Intervals,
    stalls: Intervals,
}

impl FrontEnd {
    /// A front end whose first pair can be dispersed in clock `ready`.
    pub(super) const fn new(ready: u64) -> FrontEnd {
        FrontEnd {
            reports: Reasons::new(),
            known: ready - 1,
            pair: None,
            bundle: None,
            count: 0,
            dispersed: [ready - 1; BUFFER as usize],
            ready,
            behind: false,
            turned: false,
            lacks: Intervals::new(),
            stalls: Intervals::new(),
        }
    }

    fn dispersed(&self, number: u64) -> u64 {
        self.dispersed.get((number % BUFFER) as usize).copied().unwrap_or(0)
    }

    /// Clocks without a bundle, up to `until`, for this cause.
    fn idle(&mut self, cause: Cause, until: u64, tally: &mut Tally) {
        if until <= self.known {
            return;
        }
        let clocks = until - self.known;
        self.reports.push(cause as u8 + 1, clocks);
        // What the window lacks has the cause of the clock before.
        self.lacks.push(self.known + 1, until + 1, cause as u8);
        if let Some(signal) = FETCH_LOST.get(cause as usize) {
            tally.add(*signal, 2 * clocks);
        }
        self.known = until;
    }

    /// One bundle of the last pair is not wanted.
    fn unreached(&mut self, tally: &mut Tally) {
        self.lacks.push(self.ready, self.ready + 1, Cause::Unreached as u8);
        if let Some(signal) = FETCH_LOST.get(Cause::Unreached as usize) {
            tally.add(*signal, 1);
        }
    }

    /// The bundle at `address` comes to be executed, after all that are before it. `last`: the clock of the last dispersal. Returns the clock
    /// from which it can be dispersed.
    pub(super) fn arrive(&mut self, address: u64, found: &Found, last: u64, tally: &mut Tally) -> u64 {
        if self.count != 0
            && let Some(place) = self.dispersed.get_mut(((self.count - 1) % BUFFER) as usize)
        {
            *place = last.max(*place);
        }
        let pair = address >> PAIR_BITS;
        let second = address >> BUNDLE_BITS & 1 == 1;
        (self.behind, self.turned) = (self.turned, false);
        self.bundle = Some(address >> BUNDLE_BITS);
        if self.pair == Some(pair) && second {
            self.pair = None;
            self.count += 1;
            return self.ready;
        }
        self.look_up(found, tally);
        self.pair = (!second).then_some(pair);
        if second {
            self.unreached(tally);
        }
        self.count += 1;
        self.ready
    }

    /// PM35, PM36: the next pair is looked up, waited for and delivered.
    fn look_up(&mut self, found: &Found, tally: &mut Tally) {
        if found.translation != 0 {
            self.idle(Cause::Translation, self.known + u64::from(found.translation), tally);
        }
        if found.line != 0 {
            let wait = match found.code {
                Some(Source::Second) | None => SECOND,
                Some(Source::Third) => THIRD,
                Some(_) => u64::from(found.line) + 1,
            };
            self.idle(Cause::Miss, self.known + wait, tally);
            self.idle(Cause::Fill, self.known + 1, tally);
        }
        if self.count > KEPT {
            // Two places are free in the clock after the one in which the last of them was left.
            self.idle(Cause::Full, self.dispersed(self.count - KEPT - 1) + 1, tally);
        }
        self.reports.push(DELIVERS, 1);
        self.known += 1;
        self.ready = self.known;
    }

    /// A branch was predicted taken, or the end of a counted loop: fetch goes on elsewhere, so many clocks later.
    pub(super) fn turn(&mut self, cause: Cause, bubbles: u64, taken: bool, tally: &mut Tally) {
        if self.pair.take().is_some() {
            self.unreached(tally);
        }
        self.bundle = None;
        self.turned = taken;
        self.idle(cause, self.known + bubbles, tally);
    }

    /// PM30, PM31, PM40: a flush whose first clock is `begin`; the first pair of the right path can be delivered in clock `delivery`.
    pub(super) fn restart(&mut self, begin: u64, delivery: u64, tally: &mut Tally) {
        if begin > self.known {
            self.reports.push(DELIVERS, begin - self.known);
            self.known = begin;
        }
        // The buffer is empty from the first clock on.
        self.lacks.push(begin, begin + 1, Cause::Flush as u8);
        self.idle(Cause::Flush, delivery, tally);
        (self.pair, self.bundle, self.turned) = (None, None, false);
        self.dispersed = [begin - 1; BUFFER as usize];
    }

    /// So many clocks pass for another thread.
    pub(super) fn pause(&mut self, clocks: u64) {
        self.known += clocks;
    }

    /// The pipeline stalls in the clocks from `from` up to `to`.
    pub(super) fn stall(&mut self, from: u64, to: u64) {
        self.stalls.push(from, to, 0);
    }

    /// PM39: the bundle that came last is dispersed for the first time: counts what the window lacked until it was there.
    pub(super) fn supply(&self, tally: &mut Tally) {
        let Some(behind) = self.count.checked_sub(2) else { return };
        let mut from = if behind == 0 { self.dispersed(behind).min(self.ready) } else { self.dispersed(behind - 1) + 1 };
        if self.behind {
            // The second place, as long as the bundle with the branch was first.
            let until = self.dispersed(behind) + 1;
            self.lose(Cause::Unreached as u8, from, until, tally);
            from = until;
        }
        for (from, to, cause) in self.lacks.within(from, self.ready) {
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
        writer.words(&[self.known, u64::from(self.pair.is_some()), self.pair.unwrap_or(0)]);
        writer.words(&[u64::from(self.bundle.is_some()), self.bundle.unwrap_or(0), self.count]);
        writer.words(&self.dispersed);
        writer.words(&[self.ready, u64::from(self.behind), u64::from(self.turned)]);
        self.lacks.save(writer);
        self.stalls.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.reports.load(reader, IDLE + 1)?;
        self.known = time(reader, now)?;
        let (there, pair) = (reader.word()?, reader.word()?);
        self.pair = (there & 1 == 1).then_some(pair);
        let (there, bundle) = (reader.word()?, reader.word()?);
        self.bundle = (there & 1 == 1).then_some(bundle);
        self.count = Some(reader.word()?).filter(|count| *count <= 1 << 62).ok_or(Damaged)?;
        for dispersed in &mut self.dispersed {
            *dispersed = time(reader, now)?;
        }
        self.ready = time(reader, now)?;
        (self.behind, self.turned) = (small(reader, 1)? == 1, small(reader, 1)? == 1);
        self.lacks.load(reader, now)?;
        self.stalls.load(reader, now)
    }
}
