//! Loads and stores in the load/store slices.

use super::machines::{Asking, PASS};
use super::paths::Path;
use super::reasons::Reason;
use super::shared::{ENTRIES, first_entry};
use super::signals::{
    FALSE_STORE_HITS, LOAD_HITS, LOAD_MISSES, MISALIGNED_LOADS, MISALIGNED_STORES, PREFETCH_TRANSLATION_MISSES, STORE_REJECTS,
    TRANSLATION_HITS, VECTOR_LOADS, WAY_PREDICTION_MISSES,
};
use super::watch::{Own, WatchedQueue};
use super::{
    ACCESSES, ADDRESSES, Executed, FINISHES, LINE_BITS, Power9Pipeline, Power9State, SECOND_LEVEL, SLICES, SharedUnits, StageTimes,
};
use crate::instruction::{AccessKind, Class, Operation};
use crate::pipeline::resources::memory::Store;
use crate::pipeline::{Source, Touch};
use crate::tally::Tally;
use vm_pmu_arch::feed::{Signal, Traits};

/// Cycles from the issue of a store's address to that of its data, and of a vector's data (1.4).
const STORE_DATA: u64 = 2;
const STORE_VECTOR: u64 = 3;
/// Cycles from a store's data to its finish (PP27).
const STORE_FINISH: u64 = 2;
/// Cycles from a store's data to the launch of a load that forwards them (PP31).
const FORWARD: u64 = 6;
/// Cycles of the second part of an access that crosses slices, and the extra cost from the last slice to the first (PP24).
const SPLIT: u64 = 1;
const WRAP: u64 = 3;
/// Cycles to read a register of the load/store unit (1.4).
const REGISTER: u64 = 12;
/// Bytes of a vector.
const VECTOR: u8 = 16;
/// Of the misses of a slice, one in `MISS_ENTRIES` takes the first queue entry (PP50).
const MISS_ENTRIES: u8 = 4;

/// Returns the slice of an address (PP24).
#[inline]
fn slice_of(touch: &Touch) -> usize {
    (touch.address >> 3) as usize % SLICES
}

/// Counts an access by its slice.
#[inline]
fn count_slice<P: Path>(touch: &Touch, tally: &mut Tally) {
    let (loads, stores) = (P::loads(touch), P::stores(touch));
    if touch.translation == 0 {
        count_in_slice(touch, &TRANSLATION_HITS, tally);
    } else if !loads && !stores {
        count_in_slice(touch, &PREFETCH_TRANSLATION_MISSES, tally);
    }
    if loads {
        count_in_slice(touch, if touch.missed { &LOAD_MISSES } else { &LOAD_HITS }, tally);
        if touch.size == VECTOR {
            count_in_slice(touch, &VECTOR_LOADS, tally);
        }
    }
    if touch.misaligned && (loads || stores) {
        count_in_slice(touch, if loads { &MISALIGNED_LOADS } else { &MISALIGNED_STORES }, tally);
    }
}

/// Adds to the counter of the access's slice.
fn count_in_slice(touch: &Touch, signals: &[Signal; SLICES], tally: &mut Tally) {
    if let Some(signal) = signals.get(slice_of(touch)) {
        tally.add(*signal, 1);
    }
}

impl Power9Pipeline {
    /// Performs the accesses of an instruction. Without any, it passes through the load/store unit.
    #[inline(always)]
    pub(super) fn access<P: Path>(&mut self, executed: &Executed<'_>, thread: usize, times: &mut StageTimes, tally: &mut Tally) {
        let Executed { instruction, operation, touches, .. } = *executed;
        let sourced = self.ready(times.dispatched + 1, operation.addresses);
        // PP25: it is not issued without an entry.
        let recirculation = touches.first().map_or(0, |touch| self.shared.recirculation_room(slice_of(touch)));
        let recirculated = sourced.max(recirculation);
        let issued = self.shared.ports.take_cycle(ADDRESSES + times.slice, recirculated);
        if times.issued == times.dispatched {
            self.issued(times, sourced, recirculated, issued);
        }
        if !P::QUIET && (touches.is_empty() || instruction.class == Class::Paste) {
            times.finished = self.pass_through::<P>(executed, issued);
            return;
        }
        for ((at, place), touch) in (issued..).zip(1..).zip(touches) {
            count_slice::<P>(touch, tally);
            if !P::QUIET && self.predicts {
                self.predict_way(touch, tally);
            }
            if !P::QUIET && touch.walked {
                self.account.hold(Power9State::DataWalk as usize, u64::from(touch.translation));
                self.walk(place, at, touch.translation);
            }
            let done = if !P::QUIET && instruction.class == Class::CompareExchange {
                self.store_conditional::<P>(touch, at)
            } else if P::stores(touch) {
                self.store::<P>(touch, operation, at, times, tally)
            } else {
                self.load_data::<P>(touch, at, thread, tally)
            };
            times.finished = done.max(times.finished);
        }
    }

    /// PP92: looks up the predicted data cache way of a load.
    fn predict_way(&mut self, touch: &Touch, tally: &mut Tally) {
        if touch.loads() && !touch.uncached && !touch.locked {
            let differs = self.shared.ways.read(touch.line, touch.address >> LINE_BITS);
            if differs || touch.missed {
                count_in_slice(touch, &WAY_PREDICTION_MISSES, tally);
            }
        }
    }

    /// PP36: executes an instruction that moves no register data. Some wait for the answer of the second level.
    fn pass_through<P: Path>(&mut self, executed: &Executed<'_>, issued: u64) -> u64 {
        let passed = issued + PASS;
        let finished = match executed.instruction.class {
            Class::MemoryRegister => issued + REGISTER,
            Class::DeviceFence => passed.max(self.stores.written) + SECOND_LEVEL,
            Class::TranslationInvalidation | Class::SegmentInvalidation | Class::Paste | Class::TransactionEnd => {
                passed.max(self.completed + 1).max(self.stores.written) + SECOND_LEVEL
            }
            _ => passed,
        };
        if executed.instruction.class == Class::TransactionEnd {
            self.hold(Power9State::TransactionEndPending, passed, finished);
        }
        self.phase::<P>(executed.row.reason, finished);
        finished
    }

    /// PP24, PP28: launches the access into its slice, and translates it. Returns when the translation is known.
    #[inline(always)]
    fn launch<P: Path>(&mut self, touch: &Touch, at: u64, tally: &mut Tally) -> u64 {
        let launched = self.shared.ports.take_cycle(ACCESSES + slice_of(touch), at);
        self.phase::<P>(Reason::AddressArbitration, launched);
        if touch.translation == 0 {
            return launched;
        }
        tally.add(Signal::RejectsTranslation, 1);
        let begin = launched.max(self.shared.translations.room());
        self.phase::<P>(Reason::TranslationQueueFull, begin);
        let translated = begin + u64::from(touch.translation);
        self.shared.translations.take(translated + 1);
        self.phase::<P>(Reason::Translation, translated);
        translated
    }

    /// Returns the extra cycles of an access that crosses slices.
    #[inline]
    fn split(touch: &Touch) -> u64 {
        match (touch.misaligned, slice_of(touch) == SLICES - 1) {
            (false, _) => 0,
            (true, false) => SPLIT,
            (true, true) => SPLIT + WRAP,
        }
    }

    /// PP26: gives a load an entry of its slice until it has finished and another queue takes it.
    #[inline(always)]
    fn load_data<P: Path>(&mut self, touch: &Touch, at: u64, thread: usize, tally: &mut Tally) -> u64 {
        let slice = slice_of(touch);
        let at = at.max(self.shared.recirculation_room(slice));
        let entered = at.max(self.shared.loads.get(slice).map_or(0, |queue| queue.room()));
        self.phase::<P>(Reason::LoadQueueFull, entered);
        self.shared.recirculate(slice, at, entered);
        let finished = self.read::<P>(touch, entered, thread, tally);
        let until = finished.max(self.shared.finished_room(slice)) + 1;
        if let Some(queue) = self.shared.loads.get_mut(slice) {
            queue.take(until);
        }
        if first_entry(&mut self.shared.load_entry, slice, ENTRIES) {
            self.shared.watch.take_own(thread, Own::LoadEntry, entered, until);
        }
        finished
    }

    /// Returns when the data of a load with an entry are present.
    #[inline(always)]
    fn read<P: Path>(&mut self, touch: &Touch, at: u64, thread: usize, tally: &mut Tally) -> u64 {
        let mut launched = self.launch::<P>(touch, at, tally);
        if !P::loads(touch) {
            // A prefetch is done when it has been sent. A prefetch for a store brings no line into the first level.
            let fills = touch.missed && touch.kind != AccessKind::PrefetchStore;
            tally.add(Signal::SoftwarePrefetchFills, u64::from(fills));
            tally.add(Signal::SoftwarePrefetchFillsFromMemory, u64::from(fills && matches!(touch.source, Source::Memory | Source::Remote)));
            self.phase::<P>(Reason::LoadStoreOther, launched + PASS);
            return launched + PASS;
        }
        if touch.locked {
            // PP34: the reservation is kept at the second level, one at a time.
            let here = launched.max(self.reserving) + u64::from(touch.latency).max(SECOND_LEVEL);
            self.reserving = here;
            self.phase::<P>(Reason::LoadReserve, here);
            return here;
        }
        let agreeing = if P::QUIET { None } else { self.agreeing_store(touch, launched) };
        if let Some(store) = agreeing.filter(|store| Self::meets(store, touch)) {
            // PP31: the load forwards the bytes of a store, or waits until the second level has them.
            let covered = store.holds(touch.address, touch.size);
            let from = if covered { store.ready + FORWARD } else { store.written };
            tally.add(Signal::RejectsStoreData, u64::from(from > launched));
            self.phase::<P>(Reason::StoreDataWait, from);
            launched = launched.max(from);
            if covered {
                tally.add(Signal::LoadsForwarded, 1);
                self.life.traits |= Traits::STORE_FORWARDED;
                self.phase::<P>(Reason::Forward, launched + PASS);
                return launched + PASS;
            }
        } else if agreeing.is_some() {
            // PP77: the store turned out to lie elsewhere.
            count_in_slice(touch, &FALSE_STORE_HITS, tally);
        }
        let mut here = launched + PASS;
        let mut pass = Reason::of_pass(touch);
        // An entry is free in the cycle after its line has arrived. A line that hits the first level may still be in flight.
        if let Some((until, source)) = self.shared.misses.find(touch.line, here) {
            // PP30: it finishes one cycle after the load that requested the line.
            pass = Reason::of_miss(source);
            self.life.miss(here, until, false);
            here = until;
        } else if touch.missed || touch.uncached {
            let stored = self.shared.written(touch.line, here).filter(|_| !touch.uncached);
            let conflict = stored.or_else(|| self.shared.fetched(touch.line, here).filter(|_| !touch.uncached));
            // PP38: the companion puts the line into the second level as soon as the prefetcher requests it.
            let coming = self.shared.machines.coming.find(touch.line, here).filter(|_| conflict.is_none() && !touch.uncached);
            let source = coming.map_or(touch.source, |(_, source)| source);
            pass = if conflict.is_some() { Reason::MissConflict } else { Reason::of_miss(source) };
            let entered = here.max(self.shared.misses.room());
            tally.add(Signal::RejectsMissQueue, u64::from(entered > here));
            self.phase::<P>(pass, here);
            self.phase::<P>(Reason::MissQueueFull, entered);
            let alone = u64::from(touch.latency).max(PASS) - PASS + 1;
            let latency = match (conflict, coming) {
                // PP37: it waits until the second level has the line for the earlier request, and then takes the second level's latency.
                (Some(until), _) => until.max(entered) - entered + SECOND_LEVEL + 1,
                (None, Some((until, _))) => alone.max((until + 1).saturating_sub(entered)),
                (None, None) => alone,
            };
            let fetched = stored.is_none() && conflict.is_some();
            tally.add(Signal::LoadsBehindStore, u64::from(stored.is_some()));
            tally.add(Signal::LoadsBehindFetch, u64::from(fetched));
            self.life.behind_store |= stored.is_some();
            self.life.behind_fetch |= fetched;
            tally.add(Signal::LoadsMergedWithPrefetch, u64::from(coming.is_some()));
            tally.add(Signal::ReadsBehindPrefetch, u64::from(coming.is_some()));
            let until = self.shared.misses.request_tagged(touch.line, entered, latency, source);
            if !touch.uncached {
                let SharedUnits { machines, watch, .. } = &mut *self.shared;
                machines.read(Asking::Load, entered, until - 1 - entered, touch.source, watch, tally);
            }
            self.shared.watch.take(WatchedQueue::Misses, entered, until);
            self.shared.watch.take_own(thread, Own::Misses, entered, until);
            if first_entry(&mut self.shared.miss_entry, slice_of(touch), MISS_ENTRIES) {
                self.shared.watch.take_own(thread, Own::MissEntry, entered, until);
            }
            here = until - 1;
            if !touch.uncached {
                self.life.miss(entered, here, true);
            }
        }
        self.phase::<P>(pass, here);
        let split = Self::split(touch);
        self.phase::<P>(Reason::SplitLoad, here + split);
        here + split
    }

    /// Returns the last older store that matches an access in the address bits that are compared first, and that the second level has not
    /// taken in cycle `at` (PP77).
    fn agreeing_store(&self, touch: &Touch, at: u64) -> Option<Store> {
        self.stores.find(touch.address, touch.size, at).copied()
    }

    /// Whether a store shares bytes with an access, at the same virtual address or at another.
    fn meets(store: &Store, touch: &Touch) -> bool {
        store.overlaps(touch.address, touch.size) || Self::is_alias(store, touch)
    }

    /// Returns the last older store that shares bytes with a load, and that the second level has not taken in cycle `at`.
    pub(super) fn older_store(&self, touch: &Touch, at: u64) -> Option<Store> {
        self.agreeing_store(touch, at).filter(|store| Self::meets(store, touch))
    }

    /// Whether a store shares bytes with an access at another virtual address.
    pub(super) fn is_alias(store: &Store, touch: &Touch) -> bool {
        store.line == touch.line && !store.overlaps(touch.address, touch.size)
    }

    /// PP27: executes a store, which finishes when its address and its data have entered its queue.
    #[inline]
    fn store<P: Path>(&mut self, touch: &Touch, operation: &Operation<'_>, at: u64, times: &mut StageTimes, tally: &mut Tally) -> u64 {
        let slice = slice_of(touch);
        let at = at.max(self.shared.recirculation_room(slice));
        let room = self.shared.store_queues.get(slice).map_or(0, |queue| queue.room());
        let mut address = at.max(room);
        self.phase::<P>(Reason::StoreQueueFull, address);
        self.shared.recirculate(slice, at, address);
        // A rejected store is tried again.
        self.shared.stores_issued += 1 + u64::from(address > at);
        tally.add(Signal::StoresNotAccepted, u64::from(address > at));
        times.entered = address;
        if touch.translation != 0 {
            count_in_slice(touch, &STORE_REJECTS, tally);
            address += u64::from(touch.translation);
            self.phase::<P>(Reason::Translation, address);
            address = self.shared.ports.take_cycle(ACCESSES + slice, address);
            self.phase::<P>(Reason::StoreRelaunch, address);
        }
        let delay = if touch.size > 8 { STORE_VECTOR } else { STORE_DATA };
        times.data = self.ready(address + delay, operation.reads);
        let ready = (address + PASS).max(times.data + STORE_FINISH) + Self::split(touch);
        self.phase::<P>(Reason::StoreData, ready - PASS);
        self.phase::<P>(Reason::StoreFinish, ready);
        let finished = self.shared.ports.take_cycle(FINISHES + slice, ready);
        self.phase::<P>(Reason::StoreFinishArbitration, finished);
        finished
    }

    /// PP34: executes a store-conditional. It is sent when everything before it has completed, and the second level answers.
    fn store_conditional<P: Path>(&mut self, touch: &Touch, at: u64) -> u64 {
        let done = at.max(self.completed + 1) + u64::from(touch.latency).max(SECOND_LEVEL);
        self.phase::<P>(Reason::StoreConditional, done);
        done
    }

    /// Queues up what an instruction that has completed leaves behind: finished loads until then (PP26), stores, and operations without
    /// data that go to the second level (PP27, PP36).
    #[inline]
    pub(super) fn leave<P: Path>(&mut self, executed: &Executed<'_>, times: &StageTimes, thread: usize, tally: &mut Tally) {
        let completed = self.completed;
        for touch in executed.touches {
            if P::stores(touch) {
                self.write(touch, *times, completed, thread, tally);
            } else {
                self.shared.finish_load(slice_of(touch), times.finished, completed + 1);
            }
        }
        let from = match executed.instruction.class {
            _ if P::QUIET => return,
            Class::Fence | Class::LightFence | Class::DeviceFence => times.finished,
            Class::TranslationInvalidation | Class::SegmentInvalidation | Class::Paste | Class::TransactionEnd | Class::CacheBlock => {
                completed
            }
            _ => return,
        };
        tally.add(Signal::NonDataStores, 1);
        let sent = self.shared.send(from);
        if from != completed {
            // PP35: a barrier is queued until it is answered.
            self.shared.watch.take(WatchedQueue::Barriers, sent, self.shared.taken.max(self.blocked.until) + 1);
        }
    }

    fn write(&mut self, touch: &Touch, times: StageTimes, completed: u64, thread: usize, tally: &mut Tally) {
        let slice = slice_of(touch);
        let shared = &mut self.shared;
        let sent = shared.send(completed);
        if let Some(queue) = shared.store_queues.get_mut(slice) {
            queue.take(sent + 1);
        }
        shared.watch.take(WatchedQueue::stores(slice), times.entered, sent + 1);
        if first_entry(&mut shared.store_entry, slice, ENTRIES) {
            shared.watch.take_own(thread, Own::StoreEntry, times.entered, sent + 1);
        }
        let taken = shared.taken;
        let works = shared.misses.find(touch.line, taken).is_some() || shared.written(touch.line, taken).is_some();
        tally.add(Signal::StoresBehindOther, u64::from(works));
        if !works {
            let SharedUnits { machines, watch, .. } = &mut **shared;
            machines.read(Asking::Store, taken, u64::from(touch.latency).max(SECOND_LEVEL), touch.source, watch, tally);
        }
        if touch.missed && touch.source != Source::Second && !works {
            shared.written_lines.request_tagged(touch.line, taken, u64::from(touch.latency), taken);
        }
        shared.remember_store(touch.line, taken, thread);
        let Touch { address, size, misaligned, line, latency, .. } = *touch;
        self.life.drained = Some(sent);
        self.life.second = Some((taken, taken + u64::from(latency).max(SECOND_LEVEL)));
        let (ready, issued) = (times.data, times.issued);
        self.stores.push(Store { address, size, misaligned, modifies: false, ready, written: taken, issued, line });
    }
}
