//! Demands of accesses on EXE and DET (PM16 to PM23).

use super::signals::MontecitoState;
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::AccessKind;
use crate::pipeline::ia64::bus::Bus;
use crate::pipeline::ia64::bus_timing::Timing;
use crate::pipeline::ia64::code::CodeFill;
use crate::pipeline::ia64::group::{InstructionGroup, Reference};
use crate::pipeline::ia64::rows::Special;
use crate::pipeline::resources::memory::{Misses, Store, Stores};
use crate::pipeline::resources::queue::{Entries, Ring};
use crate::pipeline::resources::saving::time;
use crate::pipeline::{Source, Touch};

/// Clocks from execution to the data of a load from the second level, and until a store can leave its buffer.
const SECOND: u64 = 5;
/// Clocks from a spill to the NaT bit that it collected (PM20), and from a write of a register to its serialization (PM21).
const COLLECTED: u64 = 5;
const SERIALIZED: u64 = 12;
/// The 266 MHz bus of a 1.6 GHz part: D128.
const BUS: Timing = Timing { ratio: 6, second: SECOND, third: 14, low_bits: 3, snoops: 8, joins: true };
/// Buffers of requests to the third level, for code and data together (M 2.3.3.4), and maximum number of lines in flight.
const REQUESTS: usize = 16;
const PENDING: usize = 16 + 8;
/// Address bits within a slot of a spill; UNAT has 64 of them.
const SLOT_BITS: u32 = 3;

/// Demands on DET: a number of clocks for each reason.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DetDemand {
    /// Clocks for the ordering that was pending before the group.
    ordered: u64,
    clocks: [u64; DetDemand::REASONS.len()],
}

impl DetDemand {
    /// The reasons, in order.
    pub(super) const REASONS: [MontecitoState; 9] = [
        MontecitoState::StoreBuffer,
        MontecitoState::FillBuffer,
        MontecitoState::Walk,
        MontecitoState::Transfer,
        MontecitoState::FillConflict,
        MontecitoState::Serialization,
        MontecitoState::SecondQueue,
        MontecitoState::Ordering,
        MontecitoState::CollectedNat,
    ];

    /// Adds a wait of `clocks` for `reason`; overlapping waits count as one.
    fn wait(&mut self, reason: MontecitoState, clocks: u64) {
        let number = reason as usize - MontecitoState::StoreBuffer as usize;
        if let Some(asked) = self.clocks.get_mut(number) {
            *asked = clocks.max(*asked);
        }
    }

    pub(super) fn of(&self) -> impl Iterator<Item = (MontecitoState, u64)> {
        DetDemand::REASONS.into_iter().zip(self.clocks)
    }

    /// Returns how long the group waits before its accesses go on to the second level. Waits for orderings of its own are not included.
    pub(super) fn before(&self) -> u64 {
        let others = self.of().filter(|(reason, _)| *reason != MontecitoState::Ordering).map(|(_, clocks)| clocks);
        others.max().unwrap_or(0).max(self.ordered)
    }

    pub(super) fn most(&self) -> u64 {
        self.clocks.into_iter().max().unwrap_or(0)
    }
}

/// Whether an access goes on to the second level.
pub(super) fn passes(reference: &Reference) -> bool {
    let touch = &reference.touch;
    touch.stores() || reference.floating || touch.missed
}

/// The memory side of a thread.
#[derive(Clone, Debug)]
pub(super) struct MontecitoMemory {
    /// Stores, the entries of the store buffer, and the clock in which the last of them is freed.
    stores: Stores,
    buffer: Ring<16>,
    left: u64,
    /// The second level's queue, its lines in flight, and those of the first level.
    queue: Entries<32>,
    second: Misses<16>,
    first: Misses<8>,
    pub(super) bus: Bus,
    /// The clocks in which the last ordered access is done, and in which all loads have their data.
    ordered: u64,
    loaded: u64,
    /// The clock in which the last write of a control or application register was executed.
    written: u64,
    /// The clock in which each bit of UNAT was last collected.
    collected: [u64; 64],
}

impl MontecitoMemory {
    pub(super) fn new() -> MontecitoMemory {
        MontecitoMemory {
            stores: Stores::new(),
            buffer: Ring::new(),
            left: 0,
            queue: Entries::new(),
            second: Misses::new(),
            first: Misses::new(),
            bus: Bus::new(BUS),
            ordered: 0,
            loaded: 0,
            written: 0,
            collected: [0; 64],
        }
    }

    /// Executes a group in clock `now`: sets when the data of its accesses arrive, if nothing delays them.
    pub(super) fn execute(&mut self, group: &mut InstructionGroup, now: u64) {
        if group.writes_special {
            self.written = now;
        }
        let mut asked: Option<(u64, u64)> = None;
        for reference in group.references_mut() {
            let touch = reference.touch;
            let latency = self.latency(reference, now);
            reference.arrival = now + latency;
            // Two loads of one line in a group.
            match asked {
                Some((line, arrival)) if line == touch.line && !touch.missed => reference.arrival = arrival.max(reference.arrival),
                _ if touch.missed && touch.loads() => asked = Some((touch.line, reference.arrival)),
                _ => {}
            }
        }
    }

    /// Returns the clocks from execution in clock `now` to the data: 1 for integers from the first level, otherwise at least the 5 of the
    /// second.
    fn latency(&self, reference: &Reference, now: u64) -> u64 {
        let touch = &reference.touch;
        if touch.missed {
            return u64::from(touch.latency).max(SECOND);
        }
        if reference.floating || reference.special == Special::Acquire && touch.locked {
            return self.second.pending(touch.line >> 1, now).map_or(SECOND, |arrival| (arrival - now).max(SECOND));
        }
        if self.stores.find(touch.address, touch.size, now).is_some_and(|store| store.overlaps(touch.address, touch.size)) {
            // PM23
            return SECOND;
        }
        self.first.pending(touch.line, now).map_or(1, |arrival| arrival - now)
    }

    /// Brings a group to DET in clock `now`, and updates its arrivals.
    pub(super) fn detect(&mut self, group: &mut InstructionGroup, now: u64) -> DetDemand {
        let mut asked = DetDemand { ordered: self.ordered.saturating_sub(now), ..DetDemand::default() };
        if group.serializes && self.written != 0 {
            asked.wait(MontecitoState::Serialization, (self.written + SERIALIZED).saturating_sub(now));
        }
        let mut walks = group.stack_walk;
        let executed = group.executed;
        for reference in group.references_mut() {
            let touch = reference.touch;
            asked.wait(MontecitoState::Ordering, self.ordered.saturating_sub(now));
            let mut late = 0;
            if touch.walked {
                // There is one walker.
                walks += u64::from(touch.translation);
                late = walks;
            } else if touch.translation != 0 && touch.loads() && !reference.floating {
                late = u64::from(touch.translation);
                asked.wait(MontecitoState::Transfer, late);
            }
            late += self.through_queues(reference, executed, late, now, &mut asked);
            reference.arrival += late;
            if touch.loads() {
                self.loaded = self.loaded.max(reference.arrival);
            }
            match reference.special {
                Special::Acquire => self.ordered = self.ordered.max(reference.arrival),
                Special::Spill => self.collect(&touch, now),
                Special::Fill => {
                    let collected = self.collected(&touch);
                    asked.wait(MontecitoState::CollectedNat, (collected + COLLECTED).saturating_sub(now).min(COLLECTED));
                }
                _ => {}
            }
        }
        if !group.carried.is_none() {
            self.bus.carry(group.carried, executed, group.carried_latency, now);
        }
        asked.wait(MontecitoState::Walk, walks);
        if group.fences {
            self.ordered = self.ordered.max(self.left).max(self.loaded);
        }
        asked
    }

    /// PM17, PM18: takes the queue entries of an access, `walked` clocks after it executed. Returns how much later its data arrive.
    fn through_queues(&mut self, reference: &mut Reference, executed: u64, walked: u64, now: u64, asked: &mut DetDemand) -> u64 {
        let touch = reference.touch;
        let stores = touch.stores();
        let mut late = 0;
        if stores {
            asked.wait(MontecitoState::StoreBuffer, self.buffer.room(1).saturating_sub(now));
            asked.wait(MontecitoState::FillConflict, u64::from(self.first.comes(now)));
            self.left = (executed + SECOND).max(self.left + 1);
            self.buffer.take(self.left);
            self.stores.push(Store { address: touch.address, size: touch.size, written: self.left, ..Store::default() });
        }
        let loads = touch.kind == AccessKind::Load && !stores;
        let fills = loads && touch.missed && !reference.floating;
        if fills {
            late = self.first.room().saturating_sub(now);
            asked.wait(MontecitoState::FillBuffer, late);
        }
        if !touch.carried.is_none() {
            // A walk without a miss carries the lines that it read.
            let latency = if touch.missed { reference.arrival.saturating_sub(executed) } else { u64::from(touch.translation) };
            let later = self.bus.carry(touch.carried, executed + walked + late, latency, now);
            reference.arrival += if stores { 0 } else { later };
        }
        if !passes(reference) {
            return late;
        }
        if fills {
            self.first.request(touch.line, executed + late, reference.arrival.saturating_sub(executed));
        }
        let room = self.queue.room().saturating_sub(now);
        asked.wait(MontecitoState::SecondQueue, room);
        let mut until = executed + room + SECOND;
        if touch.missed && touch.source != Source::Second && !stores {
            // It is handed on when a fill is free.
            until = until.max(self.second.room());
            self.second.request(touch.line >> 1, executed + late, reference.arrival.saturating_sub(executed));
        }
        self.queue.take(until);
        late
    }

    /// Returns the first clock, from `at` on, in which the third level accepts a request for a code line of the second level, while `fills`
    /// are in flight: it has a free buffer, and no request for the same line as data.
    pub(super) fn takes(&self, line: u64, at: u64, fills: &[CodeFill]) -> u64 {
        let mut ends = [0; PENDING];
        for (place, end) in ends.iter_mut().zip(self.second.ends().chain(fills.iter().map(|(_, here)| *here))) {
            *place = end;
        }
        ends.sort_unstable();
        let room = ends.get(PENDING - REQUESTS).copied().unwrap_or(0);
        self.second.pending(line, at).unwrap_or(at).max(room)
    }

    fn collected(&self, touch: &Touch) -> u64 {
        self.collected.get((touch.address >> SLOT_BITS) as usize % 64).copied().unwrap_or(0)
    }

    fn collect(&mut self, touch: &Touch, now: u64) {
        if let Some(collected) = self.collected.get_mut((touch.address >> SLOT_BITS) as usize % 64) {
            *collected = now;
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.stores.save(writer);
        self.buffer.save(writer);
        self.queue.save(writer);
        self.second.save(writer);
        self.first.save(writer);
        self.bus.save(writer);
        writer.words(&[self.left, self.ordered, self.loaded, self.written]);
        writer.words(&self.collected);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.stores.load(reader, now)?;
        self.buffer.load(reader, now)?;
        self.queue.load(reader, now)?;
        self.second.load(reader, now)?;
        self.first.load(reader, now)?;
        self.bus.load(reader, now)?;
        for each in [&mut self.left, &mut self.ordered, &mut self.loaded, &mut self.written] {
            *each = time(reader, now)?;
        }
        for each in &mut self.collected {
            *each = time(reader, now)?;
        }
        Ok(())
    }
}
