//! How loads and stores go through the load/store slices.

use super::super::super::instruction::{Class, Instruction, Operation};
use super::super::super::tally::Tally;
use super::super::memory::Store;
use super::super::{Found, Touch};
use super::reasons::{Phases, Reason};
use super::{ACCESSES, ADDRESSES, Core, SECOND_LEVEL, SLICES, State, Times};
use vm_pmu_arch::feed::Signal;

/// From the launch of an access to its data, or to the discovery that it misses (PP29).
const PASS: u64 = 4;
/// From the issue of a store's address to that of its data, and of a vector's data (1.4).
const STORE_DATA: u64 = 2;
const STORE_VECTOR: u64 = 3;
/// From a store's data to its finish (PP27).
const STORE_FINISH: u64 = 2;
/// From a store's data to the launch of a load that takes them (PP31).
const FORWARD: u64 = 6;
/// The second part of an access that lies in two slices, and what it costs from the last slice to the first (PP24).
const SPLIT: u64 = 1;
const WRAP: u64 = 3;
/// The second level takes a store so many cycles after the one before (PP27).
const SECOND_EVERY: u64 = 2;

/// The slice of an address (PP24).
fn slice_of(touch: &Touch) -> usize {
    (touch.address >> 3) as usize % SLICES
}

impl Core {
    /// The accesses of an instruction; without any, it passes through the load/store unit.
    pub(super) fn access(
        &mut self,
        instruction: &Instruction<'_>,
        operation: &Operation<'_>,
        found: &Found,
        times: &mut Times,
        phases: &mut Phases,
        tally: &mut Tally,
    ) {
        times.sourced = self.ready(operation.addresses).max(times.dispatched + 1);
        times.issued = self.ports.take(ADDRESSES + times.slice, times.sourced, 1);
        if found.touches().is_empty() {
            times.finished = times.issued + PASS;
            phases.push(Reason::LoadStoreOther, times.finished);
            return;
        }
        let mut finished = 0;
        for ((at, place), touch) in (times.issued..).zip(1..).zip(found.touches()) {
            if touch.walked {
                self.account.hold(State::DataWalk as usize, u64::from(touch.translation));
                self.walkers.walk(place, at, touch.translation);
            }
            let done = if instruction.class == Class::CompareExchange {
                self.store_conditional(touch, at, phases)
            } else if touch.stores() {
                let (finished, data) = self.store(touch, operation, at, phases);
                times.data = data;
                finished
            } else {
                self.load_data(touch, at, phases, tally)
            };
            finished = done.max(finished);
        }
        times.finished = finished;
    }

    /// PP24, PP28: the access is launched into its slice, once it has its translation.
    fn launch(&mut self, touch: &Touch, at: u64, phases: &mut Phases, tally: &mut Tally) -> u64 {
        let launched = self.ports.take(ACCESSES + slice_of(touch), at, 1);
        phases.push(Reason::AddressArbitration, launched);
        if touch.translation == 0 {
            return launched;
        }
        tally.add(Signal::RejectsTranslation, 1);
        let begin = launched.max(self.translations.room());
        phases.push(Reason::TranslationQueueFull, begin);
        let translated = begin + u64::from(touch.translation);
        self.translations.take(translated + 1);
        phases.push(Reason::Translation, translated);
        translated
    }

    /// What the second part of an access takes that lies in two slices.
    fn split(touch: &Touch) -> u64 {
        match (touch.misaligned, slice_of(touch) == SLICES - 1) {
            (false, _) => 0,
            (true, false) => SPLIT,
            (true, true) => SPLIT + WRAP,
        }
    }

    fn load_data(&mut self, touch: &Touch, at: u64, phases: &mut Phases, tally: &mut Tally) -> u64 {
        let mut launched = self.launch(touch, at, phases, tally);
        if !touch.loads() {
            // A prefetch is done when it has been sent.
            phases.push(Reason::LoadStoreOther, launched + PASS);
            return launched + PASS;
        }
        if touch.locked {
            // PP34: the reservation is kept at the second level.
            let here = launched + u64::from(touch.latency).max(SECOND_LEVEL);
            phases.push(Reason::LoadReserve, here);
            return here;
        }
        if let Some(store) = self.stores.find(touch.address, touch.size, launched).copied() {
            // PP31: the load takes the bytes of a store, or waits until the second level has them.
            let offset = touch.address.wrapping_sub(store.address);
            let covered = offset < u64::from(store.size) && offset + u64::from(touch.size) <= u64::from(store.size);
            let from = if covered { store.ready + FORWARD } else { store.written };
            tally.add(Signal::RejectsStoreData, u64::from(from > launched));
            phases.push(Reason::StoreDataWait, from);
            launched = launched.max(from);
            if covered {
                tally.add(Signal::LoadsForwarded, 1);
                phases.push(Reason::Forward, launched + PASS);
                return launched + PASS;
            }
        }
        let mut here = launched + PASS;
        let mut pass = Reason::of_pass(touch);
        // An entry is free in the cycle after its line has arrived. What the first level has may still be on its way.
        if let Some((until, source)) = self.misses.find(touch.line, here) {
            // PP30: it finishes one cycle after the load that asked for the line.
            pass = Reason::of_miss(source);
            here = until;
        } else if touch.missed || touch.uncached {
            pass = Reason::of_miss(touch.source);
            let entered = here.max(self.misses.room());
            tally.add(Signal::RejectsMissQueue, u64::from(entered > here));
            phases.push(pass, here);
            phases.push(Reason::MissQueueFull, entered);
            let latency = u64::from(touch.latency).max(PASS) - PASS + 1;
            here = self.misses.request_tagged(touch.line, entered, latency, touch.source) - 1;
        }
        phases.push(pass, here);
        let split = Self::split(touch);
        phases.push(Reason::SplitLoad, here + split);
        here + split
    }

    /// PP27: a store finishes when its address and its data have been put into its queue. Returns that cycle, and the one in which its data
    /// are issued.
    fn store(&self, touch: &Touch, operation: &Operation<'_>, at: u64, phases: &mut Phases) -> (u64, u64) {
        let room = self.store_queues.get(slice_of(touch)).map_or(0, |queue| queue.room());
        let mut address = at.max(room);
        phases.push(Reason::StoreQueueFull, address);
        if touch.translation != 0 {
            address += u64::from(touch.translation);
            phases.push(Reason::Translation, address);
        }
        let delay = if touch.size > 8 { STORE_VECTOR } else { STORE_DATA };
        let data = self.ready(operation.reads).max(address + delay);
        let finished = (address + PASS).max(data + STORE_FINISH) + Self::split(touch);
        phases.push(Reason::StoreData, finished - PASS);
        phases.push(Reason::StoreFinish, finished);
        (finished, data)
    }

    /// PP34: a store-conditional is sent when everything before it has completed, and the second level answers.
    fn store_conditional(&mut self, touch: &Touch, at: u64, phases: &mut Phases) -> u64 {
        let done = at.max(self.completed + 1) + u64::from(touch.latency).max(SECOND_LEVEL);
        phases.push(Reason::StoreConditional, done);
        done
    }

    /// PP27: the stores of an instruction that completes in cycle `completed` go to the second level.
    pub(super) fn write(&mut self, found: &Found, times: &Times, completed: u64) {
        for touch in found.touches().iter().filter(|touch| touch.stores()) {
            self.sent = (completed + 1).max(self.sent + 1).max(self.second_queue.room(1));
            self.taken = (self.sent + 1).max(self.taken + SECOND_EVERY);
            self.second_queue.take(self.taken + 1);
            if let Some(queue) = self.store_queues.get_mut(slice_of(touch)) {
                queue.take(self.sent + 1);
            }
            let Touch { address, size, misaligned, .. } = *touch;
            self.stores.push(Store { address, size, misaligned, modifies: false, ready: times.data, written: self.taken });
        }
    }
}
