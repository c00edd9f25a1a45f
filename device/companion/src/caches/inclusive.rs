//! An inclusive second level: every line passes through it on its way up.

use vm_pmu_arch::feed::Signal;

use crate::bus;
use crate::bus_traffic::Work;
use crate::caches::line::is_odd;
use crate::caches::line::{Line, LineState};
use crate::caches::{
    Ask, Cluster, CoreCaches, Departures, Level, Request, Served, count_eviction, count_second_refill, count_system_refill,
};
use crate::profile::{Fill, WritePolicy};
use crate::tally::Tally;

/// Bits of an address within a pair of bundles.
const PAIR_BITS: u8 = 5;

impl Cluster {
    pub(super) fn serve_inclusive(&mut self, core: usize, ask: Ask, inner: u64, tally: &mut Tally, out: &mut Departures) -> Served {
        let outer = inner >> self.inner_bits();
        if ask.is_code() {
            return self.fetch_through(core, ask, inner, tally, out);
        }
        if matches!(ask, Ask::Hardware | Ask::HardwareStore) {
            tally.add(Signal::DataPrefetchAttempts, 1);
            if self.second.peek(outer, outer).is_some() {
                tally.add(Signal::DataPrefetchesCancelled, 1);
                return Served::By(Level::Second);
            }
        } else if ask != Ask::Walk && self.first_level_answers(core, ask, inner, tally) {
            return Served::By(Level::First);
        }
        tally.add(
            if ask == Ask::Walk { Signal::L2RequestsWalk } else { Signal::L2RequestsData },
            u64::from(!matches!(ask, Ask::Hardware | Ask::HardwareStore)),
        );
        tally.add(Signal::L2References, 1);
        tally.add(if ask.writes() { Signal::L2DataWrites } else { Signal::L2DataReads }, 1);
        let hardware = matches!(ask, Ask::Hardware | Ask::HardwareStore);
        let (state, level) = match self.second.touch(outer, outer) {
            Some(word) => {
                tally.add(Signal::L2DataLookupHits, 1);
                self.used_in_second(Line(word), !hardware);
                (Line(word).state(), Level::Second)
            }
            None => {
                count_second_miss(ask, tally);
                match self.third_has(outer, ask, tally) {
                    Some(state) => {
                        self.second_takes(self.brought(Line::new(outer, state), hardware), tally, out);
                        (state, Level::Third)
                    }
                    None => return Served::Not(if ask.writes() { Request::ReadModified } else { Request::Read }),
                }
            }
        };
        self.held = state;
        if ask.writes() && !state.writable() {
            tally.add(Signal::L2DataStoreHitsShared, 1);
            return Served::Not(Request::Upgrade);
        }
        if level == Level::Second {
            if !matches!(ask, Ask::Walk | Ask::Hardware | Ask::HardwareStore) {
                tally.add(if ask.writes() { Signal::L2StoreHits } else { Signal::L2LoadHits }, 1);
            }
            tally.add(Signal::LoadsFromL2, u64::from(ask == Ask::Load));
            if ask == Ask::Load && self.sibling_has_modified(core, outer) {
                tally.add(Signal::LoadsFromSiblingCoreModified, 1);
            }
        } else {
            tally.add(Signal::LoadsFromL3, u64::from(ask == Ask::Load));
        }
        if self.refill_first(core, ask, inner, state, tally) && level == Level::Second {
            count_second_refill(state, tally);
        }
        Served::By(level)
    }

    /// Stores to line `inner` if the store only goes to the second level, which has the line modified, and no other core has it. Returns
    /// whether the first level has it too.
    pub(super) fn store_through(&mut self, core: usize, inner: u64) -> Option<bool> {
        let outer = inner >> self.inner_bits();
        let modified = Line::new(outer, LineState::Modified).0;
        if self.cores.len() > 1 && self.siblings_have(core, outer) || self.second.touch(outer, outer) != Some(modified) {
            return None;
        }
        // As `serve_inclusive` does for such a store.
        self.held = LineState::Modified;
        Some(self.cores.get_mut(core).is_some_and(|caches| caches.data.touch(inner, inner).is_some()))
    }

    /// Counts a store that only goes to the second level; `first` if the first level has the line too.
    #[inline]
    pub(crate) fn count_store_through(first: bool, tally: &mut Tally) {
        for signal in [Signal::DataCacheMisses, Signal::DataCacheStoreMisses] {
            tally.add(signal, u64::from(!first));
        }
        for signal in [Signal::L2RequestsData, Signal::L2References, Signal::L2DataWrites, Signal::L2DataLookupHits, Signal::L2StoreHits] {
            tally.add(signal, 1);
        }
    }

    /// Returns a line as the second level takes it in, with the prefetcher's mark if the prefetcher requested it. Lines are marked only if
    /// the third level is one of victims.
    fn brought(&self, line: Line, by_prefetcher: bool) -> Line {
        let victims = self.shape.third.is_some_and(|(_, fill)| fill == Fill::Victims);
        if by_prefetcher && victims { line.prefetched() } else { line }
    }

    /// Handles a hit in the second level of data: a use clears the prefetcher's mark.
    fn used_in_second(&mut self, line: Line, uses: bool) {
        self.prefetched = uses && line.is_prefetched();
        if self.prefetched {
            self.second.change(line.number(), line.number(), line.with_state(line.state()).0);
        }
    }

    /// Whether the first level has the line, in a state that serves the request.
    fn first_level_answers(&mut self, core: usize, ask: Ask, inner: u64, tally: &mut Tally) -> bool {
        let through = self.shape.data_write == WritePolicy::Through;
        let Some(caches) = self.cores.get_mut(core) else { return true };
        let found = caches.data.touch(inner, inner).map(|word| Line(word).state());
        if found.is_none() {
            tally.add(Signal::DataCacheMisses, 1);
            tally.add(if ask.writes() { Signal::DataCacheStoreMisses } else { Signal::DataCacheLoadMisses }, 1);
            tally.add(Signal::DataCacheReadMisses, u64::from(!ask.writes()));
        }
        match found {
            None => false,
            Some(_) if !ask.writes() => true,
            Some(_) if through => false,
            Some(LineState::Modified) => true,
            Some(LineState::Exclusive) => {
                caches.data.change(inner, inner, LineState::Modified as u64);
                let outer = inner >> self.inner_bits();
                if let Some(word) = self.second.peek(outer, outer) {
                    self.second.change(outer, outer, Line(word).with_state(LineState::Modified).0);
                }
                true
            }
            Some(_) => false,
        }
    }

    /// Brings a line from the second level into the first, if the first takes it. Returns whether it was not there before.
    fn refill_first(&mut self, core: usize, ask: Ask, inner: u64, state: LineState, tally: &mut Tally) -> bool {
        let bits = self.inner_bits();
        let outer = inner >> bits;
        let through = self.shape.data_write == WritePolicy::Through;
        match ask {
            Ask::Walk | Ask::Hardware | Ask::HardwareStore | Ask::Fetch | Ask::FetchAhead => return false,
            _ if ask.writes() => {
                let code = self.second.peek(outer, outer).is_some_and(|word| Line(word).bypasses());
                self.code_written |= code;
                self.second.change(outer, outer, LineState::Modified as u64);
                self.leave_siblings(core, outer, code, true);
                if through {
                    return false;
                }
            }
            _ => {}
        }
        let fetched = self.second.peek(outer, outer).is_some_and(|word| Line(word).bypasses());
        let alone = !through && state.writable() && !fetched && !self.siblings_have(core, outer);
        let placed = match (ask.writes(), alone) {
            (true, _) => LineState::Modified,
            (false, true) => LineState::Exclusive,
            (false, false) => LineState::Shared,
        };
        if !ask.writes() && !alone {
            self.leave_siblings(core, outer, false, false);
        }
        let Some(caches) = self.cores.get_mut(core) else { return false };
        let line = Line::new(inner, placed);
        if caches.data.peek(inner, inner).is_some() {
            caches.data.change(inner, inner, line.0);
            return false;
        }
        let victim = Line(caches.data.insert(inner, line.0));
        if victim.0 != 0 {
            count_eviction(victim.state(), tally);
        }
        true
    }

    fn sibling_has_modified(&self, core: usize, outer: u64) -> bool {
        let modified = |state: LineState| state == LineState::Modified;
        self.siblings(core, outer).any(|(caches, inner)| caches.data.peek(inner, inner).is_some_and(|word| modified(Line(word).state())))
    }

    fn siblings_have(&self, core: usize, outer: u64) -> bool {
        self.siblings(core, outer).any(|(caches, inner)| caches.data.peek(inner, inner).is_some())
    }

    /// Returns the first levels of the other cores, each with the numbers of the line's parts there.
    fn siblings(&self, core: usize, outer: u64) -> impl Iterator<Item = (&CoreCaches, u64)> {
        let bits = self.inner_bits();
        let others = self.cores.iter().enumerate().filter(move |(number, _)| *number != core);
        others.flat_map(move |(_, caches)| (0..1u64 << bits).map(move |part| (caches, outer << bits | part)))
    }

    /// Invalidates a line's copies in the first levels of the other cores, or makes them shared. With `code`, removes those of code in all
    /// cores.
    fn leave_siblings(&mut self, core: usize, outer: u64, code: bool, take: bool) {
        let bits = self.inner_bits();
        if self.cores.len() == 1 && !code {
            return;
        }
        for (number, caches) in self.cores.iter_mut().enumerate() {
            for inner in (0..1u64 << bits).map(|part| outer << bits | part) {
                if number != core
                    && let Some(word) = caches.data.peek(inner, inner)
                {
                    if take && Line(word).state() != LineState::Invalid {
                        caches.taken.push(inner, false);
                    }
                    let state = if take { LineState::Invalid } else { LineState::Shared };
                    caches.data.change(inner, inner, state as u64);
                }
                if code {
                    caches.code.remove(inner, inner);
                }
            }
        }
    }

    fn fetch_through(&mut self, core: usize, ask: Ask, inner: u64, tally: &mut Tally, out: &mut Departures) -> Served {
        let outer = inner >> self.inner_bits();
        let fetched = u64::from(ask == Ask::Fetch);
        let (missed, [hits, misses]) = match ask {
            Ask::FetchAhead => {
                (Signal::InstructionPrefetchMisses, [Signal::L2InstructionPrefetchHits, Signal::L2InstructionPrefetchMisses])
            }
            _ => (Signal::InstructionCacheMisses, [Signal::L2InstructionDemandHits, Signal::L2InstructionDemandMisses]),
        };
        tally.add(missed, 1);
        tally.add(Signal::InstructionPairsReceived, 1 << self.shape.line_bits.saturating_sub(PAIR_BITS).min(16));
        tally.add(Signal::L2RequestsInstruction, 1);
        tally.add(Signal::L2References, 1);
        let second = self.second_code.as_mut().unwrap_or(&mut self.second);
        if let Some(word) = second.touch(outer, outer) {
            self.held = Line(word).state();
            if self.second_code.is_none() {
                self.used_in_second(Line(word), ask == Ask::Fetch);
            }
            tally.add(Signal::L2FetchHits, fetched);
            tally.add(hits, 1);
            tally.add(Signal::FetchesFromL2, fetched);
            self.refill_code(core, inner, Level::Second, tally);
            return Served::By(Level::Second);
        }
        tally.add(Signal::L2FetchMisses, fetched);
        tally.add(misses, 1);
        tally.add(Signal::L2MissesInstruction, 1);
        tally.add(Signal::L2Misses, 1);
        let Some(state) = self.third_has(outer, ask, tally) else { return Served::Not(Request::ReadCode) };
        self.held = state;
        tally.add(Signal::FetchesFromL3, fetched);
        self.code_takes(Line::new(outer, state), tally, out);
        self.refill_code(core, inner, Level::Third, tally);
        Served::By(Level::Third)
    }

    fn refill_code(&mut self, core: usize, inner: u64, level: Level, tally: &mut Tally) {
        let from_second = matches!(level, Level::Second | Level::Third);
        tally.add(if from_second { Signal::InstructionCacheRefillsL2 } else { Signal::InstructionCacheRefillsSystem }, 1);
        tally.add(Signal::InstructionCacheFills, 1);
        let outer = inner >> self.inner_bits();
        if self.second_code.is_none()
            && let Some(word) = self.second.peek(outer, outer)
        {
            // The mark makes a store come here and invalidate the copy of the code.
            self.second.change(outer, outer, Line(word).bypassing().0);
            self.leave_siblings(usize::MAX, outer, false, false);
            for caches in &mut self.cores {
                if caches.data.peek(inner, inner).is_some() {
                    caches.data.change(inner, inner, LineState::Shared as u64);
                }
            }
        }
        if let Some(caches) = self.cores.get_mut(core) {
            caches.code.put(inner, Line::new(inner, LineState::Shared).0);
        }
    }

    /// Looks up the third level. From a level of victims, a line that moves up is removed.
    fn third_has(&mut self, outer: u64, ask: Ask, tally: &mut Tally) -> Option<LineState> {
        let (_, fill) = self.shape.third?;
        let third = self.third.as_mut()?;
        let found = if fill == Fill::Victims { third.remove(outer, outer) } else { third.touch(outer, outer) };
        tally.add(Signal::L3References, 1);
        tally.carried.add(Work::ThirdHits, u64::from(found.is_some()));
        tally.add(if ask.writes() { Signal::L3Writes } else { Signal::L3Reads }, 1);
        let (hit, specific) = match (ask, found.is_some()) {
            (Ask::Fetch, true) => (Signal::L3Hits, Some(Signal::L3InstructionDemandHits)),
            (Ask::Fetch, false) => (Signal::L3Misses, Some(Signal::L3InstructionDemandMisses)),
            (Ask::FetchAhead, true) => (Signal::L3Hits, Some(Signal::L3InstructionPrefetchHits)),
            (Ask::FetchAhead, false) => (Signal::L3Misses, Some(Signal::L3InstructionPrefetchMisses)),
            (Ask::Load, true) => (Signal::L3Hits, Some(Signal::L3LoadHits)),
            (Ask::Load, false) => (Signal::L3Misses, Some(Signal::L3LoadMisses)),
            (_, true) => (Signal::L3Hits, None),
            (_, false) => (Signal::L3Misses, None),
        };
        tally.add(hit, 1);
        if let Some(signal) = specific {
            tally.add(signal, 1);
        }
        if !ask.is_code() {
            tally.add(if found.is_some() { Signal::L3DataReadHits } else { Signal::L3DataReadMisses }, 1);
        }
        self.prefetched =
            found.is_some_and(|word| Line(word).is_prefetched()) && !matches!(ask, Ask::FetchAhead | Ask::Hardware | Ask::HardwareStore);
        let state = found.map(|word| Line(word).state())?;
        // A dirty line that stays here is written to memory from here, so the previous level gets it clean.
        Some(if fill == Fill::Inclusive && state.dirty() { LineState::Exclusive } else { state })
    }

    /// Brings a line into the second level of data. The line that it evicts leaves the first level too.
    fn second_takes(&mut self, line: Line, tally: &mut Tally, out: &mut Departures) {
        tally.add(Signal::L2Fills, 1);
        tally.add(Signal::L2DataLineRequests, 1);
        let filled = match line.state() {
            LineState::Modified | LineState::Owned => Signal::L2DataFillsModified,
            LineState::Exclusive => Signal::L2DataFillsExclusive,
            LineState::Shared | LineState::Forward | LineState::Invalid => Signal::L2DataFillsShared,
        };
        tally.add(filled, 1);
        let victim = Line(self.second.put(line.number(), line.0));
        if victim.0 != 0 {
            self.leave_first(victim.number(), victim.bypasses());
            self.cast_out(victim, tally, out);
        }
    }

    fn code_takes(&mut self, line: Line, tally: &mut Tally, out: &mut Departures) {
        let Some(code) = self.second_code.as_mut() else { return self.second_takes(line, tally, out) };
        let line = line.with_state(LineState::Shared);
        let victim = Line(code.put(line.number(), line.0));
        if victim.0 != 0 {
            tally.add(Signal::L2InstructionEvictions, 1);
            // The evicted line is looked up in the first level, line by line.
            tally.add(Signal::InstructionCacheSnoops, 1 << self.inner_bits());
            self.leave_first(victim.number(), true);
        }
    }

    fn leave_first(&mut self, outer: u64, code: bool) {
        let bits = self.inner_bits();
        for caches in &mut self.cores {
            for inner in (0..1u64 << bits).map(|part| outer << bits | part) {
                caches.data.remove(inner, inner);
                if code {
                    caches.code.remove(inner, inner);
                }
            }
        }
    }

    fn cast_out(&mut self, victim: Line, tally: &mut Tally, out: &mut Departures) {
        let dirty = victim.state().dirty();
        tally.add(if dirty { Signal::L2CastoutsModified } else { Signal::L2CastoutsClean }, 1);
        match (self.shape.third, self.third.as_mut()) {
            (Some((_, Fill::Victims)), Some(third)) => {
                tally.add(Signal::L3Insertions, 1);
                tally.add(Signal::L3CastinsMiss, 1);
                let line = Line::new(victim.number(), victim.state());
                let line = if victim.is_prefetched() { line.prefetched() } else { line };
                let displaced = Line(third.put(victim.number(), line.0));
                self.third_gives_up(displaced, tally, out);
            }
            (Some((_, Fill::Inclusive)), Some(third)) if dirty => {
                tally.add(Signal::L3WritebackHits, 1);
                third.change(victim.number(), victim.number(), LineState::Modified as u64);
            }
            (None, _) if dirty => {
                tally.add(Signal::L2Writebacks, 1);
                out.push(victim.number());
            }
            _ => {}
        }
    }

    fn third_gives_up(&mut self, displaced: Line, tally: &mut Tally, out: &mut Departures) {
        if displaced.0 == 0 {
            return;
        }
        tally.add(Signal::L3Castouts, 1);
        tally.add(Signal::L3Evictions, 1);
        tally.add(Signal::L3CastoutsPrefetched, u64::from(displaced.is_prefetched()));
        if self.casts_out_laterally {
            return out.push_lateral(Line::new(displaced.number(), displaced.state()));
        }
        tally.add(if is_odd(displaced.number()) { Signal::L3CastoutsMemoryOdd } else { Signal::L3CastoutsMemoryEven }, 1);
        if displaced.state().dirty() {
            out.push(displaced.number());
        } else {
            bus::transact(Signal::BusCleanCastouts, displaced.number(), tally);
        }
    }

    pub(super) fn install_inclusive(
        &mut self,
        core: usize,
        ask: Ask,
        inner: u64,
        state: LineState,
        tally: &mut Tally,
        out: &mut Departures,
    ) {
        let outer = inner >> self.inner_bits();
        if let (Some((_, Fill::Inclusive)), Some(third)) = (self.shape.third, self.third.as_mut()) {
            let displaced = Line(third.put(outer, Line::new(outer, state).0));
            tally.add(Signal::L3Insertions, 1);
            if displaced.0 != 0 {
                // A line evicted here leaves the previous levels. If they had it newer, that is written.
                let newer = self.second.remove(displaced.number(), displaced.number()).is_some_and(|word| Line(word).state().dirty());
                if let Some(code) = self.second_code.as_mut() {
                    let found = code.remove(displaced.number(), displaced.number()).is_some();
                    tally.add(Signal::L2InstructionSnoopHits, u64::from(found));
                }
                tally.add(Signal::InstructionCacheSnoops, 1 << self.inner_bits());
                self.leave_first(displaced.number(), true);
                let state = if newer { LineState::Modified } else { displaced.state() };
                self.third_gives_up(displaced.with_state(state), tally, out);
            }
        }
        if ask.is_code() {
            self.code_takes(Line::new(outer, state), tally, out);
            self.refill_code(core, inner, Level::Sibling, tally);
            return;
        }
        match self.second.peek(outer, outer) {
            // Permission to write a line that was here.
            Some(word) => self.second.change(outer, outer, Line(word).with_state(state).0),
            None => {
                let line = self.brought(Line::new(outer, state), matches!(ask, Ask::Hardware | Ask::HardwareStore));
                self.second_takes(line, tally, out);
            }
        }
        if self.refill_first(core, ask, inner, state, tally) {
            count_system_refill(state, tally);
        }
    }
}

fn count_second_miss(ask: Ask, tally: &mut Tally) {
    tally.add(Signal::L2Misses, 1);
    tally.add(Signal::L2DataLookupMisses, 1);
    match ask {
        Ask::Walk => tally.add(Signal::L2MissesWalk, 1),
        Ask::Hardware | Ask::HardwareStore => {}
        _ => {
            tally.add(Signal::L2MissesData, 1);
            tally.add(if ask.writes() { Signal::L2StoreMisses } else { Signal::L2LoadMisses }, 1);
        }
    }
}
