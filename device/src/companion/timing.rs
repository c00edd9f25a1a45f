//! The in-order cost model: which cycles elapse, and why.

use vm_pmu_arch::feed::Signal;

use super::bytes::{Damaged, Reader, Writer};
use super::cause::{CAUSES, Cause};
use super::profile::Costs;
use super::tally::Tally;

/// Whose clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Clock {
    /// The embedder's: it adds [`Signal::Cycles`] itself, and the companion reports only events.
    #[default]
    Embedder,
    /// The companion's: its cost model decides how many cycles an instruction takes and why. The embedder adds no cycles while the
    /// companion is [active](super::Follower::is_active).
    Companion,
}

/// The most stores that can wait.
const MOST_STORES: usize = 64;

/// Cycles by cause, and which causes there are, one bit each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycles {
    cycles: [u32; CAUSES],
    causes: u64,
}

impl Cycles {
    const NONE: Cycles = Cycles { cycles: [0; CAUSES], causes: 0 };

    #[inline]
    fn add(&mut self, cause: Cause, cycles: u32) {
        if let Some(cell) = self.cycles.get_mut(cause as usize) {
            *cell = cell.saturating_add(cycles);
            self.causes |= 1 << cause as u32;
        }
    }

    /// Removes the first of the causes that are left, and returns it with its cycles.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Cause, u32)> {
        let cause = Cause::ALL.get(self.causes.trailing_zeros() as usize)?;
        self.causes &= self.causes - 1;
        let cell = self.cycles.get_mut(*cause as usize)?;
        Some((*cause, core::mem::take(cell)))
    }

    /// The sum of all cycles that are left.
    fn sum(&self) -> u64 {
        let (mut causes, mut sum) = (self.causes, 0);
        while let Some(cycles) = self.cycles.get(causes.trailing_zeros() as usize) {
            sum += u64::from(*cycles);
            causes &= causes - 1;
        }
        sum
    }

    fn clear(&mut self) {
        while self.next().is_some() {}
    }
}

/// The clock of a thread.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// Whether time is kept.
    pub(super) running: bool,
    width: u8,
    now: u64,
    /// Slots taken in the open cycle.
    slots: u8,
    /// Whether an instruction of the floating-point unit is among them.
    floating: bool,
    /// Since when the fetcher could request the line after the present one.
    fetch_from: u64,
    /// When another segment register can be loaded.
    segment_until: u64,
    /// When the waiting stores are done, the next one first.
    stores: [u64; MOST_STORES],
    waiting: u8,
    most: u8,
    /// The cycles before the events of the first instruction not yet reported, and those after.
    pub(super) before: Cycles,
    pub(super) after: Cycles,
    /// Whether events of an instruction not yet reported have occurred.
    pub(super) past_events: bool,
    /// The cause of the last reported cycle, if there is one.
    pub(super) last: Option<Cause>,
}

impl Timing {
    pub(super) fn new(costs: &Costs) -> Timing {
        Timing {
            running: false,
            width: costs.width.max(1),
            now: 0,
            slots: 0,
            floating: false,
            fetch_from: 0,
            segment_until: 0,
            stores: [0; MOST_STORES],
            waiting: 0,
            most: costs.stores.clamp(1, MOST_STORES as u8),
            before: Cycles::NONE,
            after: Cycles::NONE,
            past_events: false,
            last: None,
        }
    }

    fn advance(&mut self, cause: Cause, cycles: u32) {
        self.now = self.now.wrapping_add(u64::from(cycles));
        let side = if self.past_events { &mut self.after } else { &mut self.before };
        side.add(cause, cycles);
    }

    /// Ends the open cycle, if anything began in it.
    pub(super) fn close(&mut self, tally: &mut Tally) {
        if self.slots == 0 {
            return;
        }
        tally.add(Signal::InstructionsDispersed, u64::from(self.slots));
        tally.add(Signal::SlotsNotDispersed, u64::from(self.width.saturating_sub(self.slots)));
        let cause = if self.floating { Cause::FloatingPointCompletion } else { Cause::Completion };
        self.slots = 0;
        self.floating = false;
        self.advance(cause, 1);
    }

    /// Nothing begins for `cycles` cycles.
    #[inline]
    pub(super) fn stall(&mut self, cause: Cause, cycles: u32, tally: &mut Tally) {
        if cycles != 0 && self.running {
            self.close(tally);
            self.advance(cause, cycles);
        }
    }

    /// The line that begins now was requested when the one before began, and takes `latency`; waits for the rest of that.
    pub(super) fn fetched(&mut self, cause: Cause, latency: u32, tally: &mut Tally) {
        let over = self.now.saturating_sub(self.fetch_from).min(u64::from(latency)) as u32;
        self.stall(cause, latency - over, tally);
        self.fetch_from = self.now;
    }

    /// The fetcher was redirected: nothing was requested before now.
    pub(super) fn redirected(&mut self) {
        self.fetch_from = self.now;
    }

    /// An instruction of so many micro-operations begins: in the open cycle if it has room.
    #[inline]
    pub(super) fn begin(&mut self, micro_ops: u8, floating: bool, tally: &mut Tally) {
        if !self.running {
            return;
        }
        let places = micro_ops.clamp(1, self.width);
        if self.slots + places > self.width {
            self.close(tally);
        }
        self.slots += places;
        self.floating |= floating;
        self.past_events = true;
        self.stall(Cause::Execution, u32::from((micro_ops.max(1) - 1) / self.width), tally);
    }

    /// A taken branch ends what begins together.
    pub(super) fn end_group(&mut self, tally: &mut Tally) {
        self.close(tally);
    }

    /// A load waits `latency` cycles more than one of the first level. Once the reorder buffer is full, behind `reorder` cycles, `full`
    /// is the cause.
    pub(super) fn load(&mut self, cause: Cause, full: Cause, latency: u32, reorder: u16, tally: &mut Tally) {
        let free = if reorder == 0 { latency } else { latency.min(u32::from(reorder)) };
        self.stall(cause, free, tally);
        self.stall(full, latency - free, tally);
    }

    fn retire_stores(&mut self) {
        if self.waiting == 0 || self.stores.first().is_some_and(|until| *until > self.now) {
            return;
        }
        let done = self.stores.iter().take(usize::from(self.waiting)).take_while(|until| **until <= self.now).count();
        self.stores.rotate_left(done);
        self.waiting -= done as u8;
    }

    /// A store takes `latency` cycles to be done. It waits in the buffer, and for a place in it.
    #[inline]
    pub(super) fn store(&mut self, latency: u32, tally: &mut Tally) {
        // A store without latency only waits for others.
        if !self.running || latency == 0 && self.waiting == 0 {
            return;
        }
        self.retire_stores();
        if self.waiting >= self.most {
            let until = self.stores.first().copied().unwrap_or(0);
            self.stall(Cause::StoreBuffer, u32::try_from(until.saturating_sub(self.now)).unwrap_or(u32::MAX), tally);
            self.retire_stores();
        }
        let last = self.stores.get(usize::from(self.waiting).wrapping_sub(1)).copied().unwrap_or(0);
        if let Some(place) = self.stores.get_mut(usize::from(self.waiting)) {
            *place = last.max(self.now.wrapping_add(u64::from(latency)));
            self.waiting += 1;
        }
    }

    /// Waits until every store is done.
    pub(super) fn drain(&mut self, tally: &mut Tally) {
        let last = self.stores.get(usize::from(self.waiting).wrapping_sub(1)).copied().unwrap_or(0);
        self.stall(Cause::AllQuiet, u32::try_from(last.saturating_sub(self.now)).unwrap_or(u32::MAX), tally);
        self.retire_stores();
    }

    /// Loads a segment register, once the load before is over.
    pub(super) fn load_segment(&mut self, cycles: u16, tally: &mut Tally) {
        let wait = self.segment_until.saturating_sub(self.now).min(u64::from(cycles));
        self.stall(Cause::SegmentLoad, wait as u32, tally);
        self.segment_until = self.now.wrapping_add(u64::from(cycles));
    }

    /// How many cycles have not yet been reported.
    pub(super) fn unreported(&self) -> u64 {
        self.before.sum() + self.after.sum()
    }

    /// Everything has been reported.
    pub(super) fn clear_reported(&mut self) {
        self.before.clear();
        self.after.clear();
        self.past_events = false;
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.now, u64::from(self.slots), u64::from(self.floating), self.fetch_from, self.segment_until]);
        writer.word(u64::from(self.waiting));
        writer.words(&self.stores);
        writer.word(self.last.map_or(CAUSES as u64, |cause| cause as u64));
    }

    pub(super) fn load_state(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.now = reader.word()?;
        let slots = reader.word()?;
        self.floating = reader.word()? & 1 == 1;
        self.fetch_from = reader.word()?;
        self.segment_until = reader.word()?;
        let waiting = reader.word()?;
        if slots > u64::from(self.width) || waiting > u64::from(self.most) {
            return Err(Damaged);
        }
        self.slots = slots as u8;
        self.waiting = waiting as u8;
        reader.words(&mut self.stores)?;
        let last = reader.word()?;
        self.last = usize::try_from(last).ok().and_then(|last| Cause::ALL.get(last)).copied();
        if self.last.is_none() && last != CAUSES as u64 {
            return Err(Damaged);
        }
        self.clear_reported();
        Ok(())
    }
}
