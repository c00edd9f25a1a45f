//! Demands of accesses on EXE and DET (PI13, PI15, PI17).

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::ia64::bus::Bus;
use crate::pipeline::ia64::bus_timing::Timing;
use crate::pipeline::ia64::group::{InstructionGroup, Reference};
use crate::pipeline::ia64::rows::Special;
use crate::pipeline::resources::memory::{Misses, Store, Stores};
use crate::pipeline::resources::queue::Ring;
use crate::pipeline::resources::saving::time;

/// Clocks from execution to the data of an integer load from the first level, and from the second; after the latter, a store can leave.
const FIRST: u64 = 2;
const SECOND: u64 = 6;
/// Number of lines in flight that are remembered. The capacity of the part is not public, so nothing waits for a free entry.
const LINES: usize = 32;

/// The 133 MHz bus of an 800 MHz part: D128.
const BUS: Timing = Timing { ratio: 6, second: SECOND, third: 21, low_bits: 2, snoops: 3, joins: false };

/// The memory side.
#[derive(Clone, Debug)]
pub(super) struct ItaniumMemory {
    /// Stores, the entries of the store buffer, and the clock in which the last of them is freed.
    stores: Stores,
    buffer: Ring<8>,
    left: u64,
    lines: Misses<LINES>,
    pub(super) bus: Bus,
}

impl ItaniumMemory {
    pub(super) fn new() -> ItaniumMemory {
        ItaniumMemory { stores: Stores::new(), buffer: Ring::new(), left: 0, lines: Misses::new(), bus: Bus::new(BUS) }
    }

    /// Executes a group in clock `now`: sets when the data of its accesses arrive, if nothing delays them.
    pub(super) fn execute(&mut self, group: &mut InstructionGroup, now: u64) {
        for reference in group.references_mut() {
            let touch = reference.touch;
            reference.arrival = now + self.latency(reference, now);
            if touch.missed && !touch.stores() {
                self.lines.note(touch.line, reference.arrival);
            }
        }
    }

    /// Returns the clocks from execution in clock `now` to the data.
    fn latency(&self, reference: &Reference, now: u64) -> u64 {
        let touch = &reference.touch;
        if touch.missed {
            return u64::from(touch.latency).max(SECOND);
        }
        // Floating-point loads and semaphores bypass the first level; data of pending stores come from the second, too.
        let passes = reference.floating || reference.special == Special::Acquire && touch.locked;
        let stored = || self.stores.find(touch.address, touch.size, now).is_some_and(|store| store.overlaps(touch.address, touch.size));
        let least = if passes || stored() { SECOND } else { FIRST };
        self.lines.pending(touch.line, now).map_or(least, |arrival| (arrival - now).max(least))
    }

    /// Brings a group to DET in clock `now`, and updates its arrivals. Returns the number of stall clocks.
    pub(super) fn detect(&mut self, group: &mut InstructionGroup, now: u64) -> u64 {
        let executed = group.executed;
        // Each access that misses the first-level TLB flushes the pipeline, or is walked for, after the previous one.
        let (mut translations, mut full) = (group.stack_walk + group.stack_transfer, 0);
        for reference in group.references_mut() {
            translations += u64::from(reference.touch.translation);
            if reference.touch.translation != 0 {
                reference.arrival += translations;
            }
            self.carry(reference, executed, translations, now);
            if reference.touch.stores() {
                full = self.buffer.room(1).saturating_sub(now).max(full);
                self.left = (executed + SECOND).max(self.left + 1);
                self.buffer.take(self.left);
                let touch = reference.touch;
                self.stores.push(Store { address: touch.address, size: touch.size, written: self.left, ..Store::default() });
            }
        }
        if !group.carried.is_none() {
            self.bus.carry(group.carried, executed, group.carried_latency, now);
        }
        translations.max(full)
    }

    /// Carries the bus traffic of an access, `translated` clocks after it executed, and delays its data accordingly.
    fn carry(&mut self, reference: &mut Reference, executed: u64, translated: u64, now: u64) {
        let touch = &reference.touch;
        if touch.carried.is_none() {
            return;
        }
        // A walk without a miss carries the lines that it read.
        let latency = if touch.missed { u64::from(touch.latency) } else { u64::from(touch.translation) };
        let late = self.bus.carry(touch.carried, executed + translated, latency, now);
        if !touch.stores() {
            reference.arrival += late;
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.stores.save(writer);
        self.buffer.save(writer);
        writer.word(self.left);
        self.lines.save(writer);
        self.bus.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.stores.load(reader, now)?;
        self.buffer.load(reader, now)?;
        self.left = time(reader, now)?;
        self.lines.load(reader, now)?;
        self.bus.load(reader, now)
    }
}
