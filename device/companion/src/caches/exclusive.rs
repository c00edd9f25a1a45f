//! A second level that holds the lines evicted from the first.

use vm_pmu_arch::feed::Signal;

use crate::caches::line::{Line, LineState};
use crate::caches::{Ask, Cluster, Departures, Level, Request, Served, count_eviction, count_second_refill, count_system_refill};
use crate::tally::Tally;

impl Cluster {
    pub(super) fn serve_exclusive(&mut self, core: usize, ask: Ask, line: u64, tally: &mut Tally, out: &mut Departures) -> Served {
        match ask {
            Ask::Fetch => self.fetch(core, line, tally, out),
            Ask::Walk => self.walk(core, line, tally),
            Ask::Hardware | Ask::HardwareStore => self.prefetch(core, ask, line, tally),
            _ => self.data(core, ask, line, tally, out),
        }
    }

    fn data(&mut self, core: usize, ask: Ask, line: u64, tally: &mut Tally, out: &mut Departures) -> Served {
        let writes = ask.writes();
        let Some(caches) = self.cores.get_mut(core) else { return Served::By(Level::First) };
        if let Some(word) = caches.data.touch(line, line) {
            return match Line(word).state() {
                LineState::Modified => Served::By(Level::First),
                LineState::Exclusive if writes => {
                    caches.data.change(line, line, Line(word).with_state(LineState::Modified).0);
                    Served::By(Level::First)
                }
                state if writes => {
                    self.held = state;
                    Served::Not(Request::Upgrade)
                }
                _ => Served::By(Level::First),
            };
        }
        tally.add(Signal::DataCacheMisses, 1);
        tally.add(if writes { Signal::DataCacheStoreMisses } else { Signal::DataCacheLoadMisses }, 1);
        tally.add(Signal::L2RequestsData, 1);
        tally.add(Signal::L2References, 1);
        let bypass = ask == Ask::PrefetchOnce;
        if let Some(word) = caches.code.peek(line, line) {
            // Code and data in one line: from now on both copies are shared, so that a store must request permission.
            self.held = Line(word).state();
            let state = self.held.shared();
            caches.code.change(line, line, Line(word).with_state(LineState::Shared).0);
            tally.add(Signal::L2MissesData, 1);
            tally.add(Signal::L2Misses, 1);
            count_system_refill(state, tally);
            self.place_data(core, Line::new(line, state), bypass, tally, out);
            return if writes { Served::Not(Request::Upgrade) } else { Served::By(Level::Sibling) };
        }
        let Some(word) = self.second.remove(line, line) else {
            tally.add(Signal::L2MissesData, 1);
            tally.add(Signal::L2Misses, 1);
            return Served::Not(if writes { Request::ReadModified } else { Request::Read });
        };
        let state = Line(word).state();
        self.held = state;
        count_second_refill(state, tally);
        tally.add(if writes { Signal::L2StoreHits } else { Signal::L2LoadHits }, 1);
        tally.add(Signal::LoadsFromL2, u64::from(ask == Ask::Load));
        let placed = if writes && state.writable() { LineState::Modified } else { state };
        self.place_data(core, Line::new(line, placed), bypass, tally, out);
        if writes && !state.writable() { Served::Not(Request::Upgrade) } else { Served::By(Level::Second) }
    }

    fn fetch(&mut self, core: usize, line: u64, tally: &mut Tally, out: &mut Departures) -> Served {
        tally.add(Signal::InstructionCacheMisses, 1);
        tally.add(Signal::L2RequestsInstruction, 1);
        tally.add(Signal::L2References, 1);
        let Some(caches) = self.cores.get_mut(core) else { return Served::By(Level::First) };
        if let Some(word) = caches.data.peek(line, line) {
            self.held = Line(word).state();
            caches.data.change(line, line, Line(word).with_state(self.held.shared()).0);
            tally.add(Signal::L2MissesInstruction, 1);
            tally.add(Signal::L2Misses, 1);
            tally.add(Signal::InstructionCacheRefillsSystem, 1);
            self.place_code(core, Line::new(line, LineState::Shared), tally, out);
            return Served::By(Level::Sibling);
        }
        let Some(word) = self.second.remove(line, line) else {
            tally.add(Signal::L2MissesInstruction, 1);
            tally.add(Signal::L2Misses, 1);
            tally.add(Signal::L2FetchMisses, 1);
            return Served::Not(Request::ReadCode);
        };
        self.held = Line(word).state();
        tally.add(Signal::InstructionCacheRefillsL2, 1);
        tally.add(Signal::L2FetchHits, 1);
        tally.add(Signal::FetchesFromL2, 1);
        self.place_code(core, Line::new(line, Line(word).state()), tally, out);
        Served::By(Level::Second)
    }

    fn walk(&mut self, core: usize, line: u64, tally: &mut Tally) -> Served {
        tally.add(Signal::L2RequestsWalk, 1);
        tally.add(Signal::L2References, 1);
        // Table entries that the kernel has just written are in the data cache.
        if let Some(word) = self.first_level_has(core, line) {
            self.held = Line(word).state();
            return Served::By(Level::Sibling);
        }
        if let Some(word) = self.second.touch(line, line) {
            self.held = Line(word).state();
            return Served::By(Level::Second);
        }
        tally.add(Signal::L2MissesWalk, 1);
        tally.add(Signal::L2Misses, 1);
        Served::Not(Request::Read)
    }

    fn prefetch(&mut self, core: usize, ask: Ask, line: u64, tally: &mut Tally) -> Served {
        tally.add(Signal::DataPrefetchAttempts, 1);
        if self.first_level_has(core, line).is_some() || self.second.peek(line, line).is_some() {
            tally.add(Signal::DataPrefetchesCancelled, 1);
            return Served::By(Level::Second);
        }
        Served::Not(if ask == Ask::HardwareStore { Request::ReadModified } else { Request::Read })
    }

    fn first_level_has(&self, core: usize, line: u64) -> Option<u64> {
        let caches = self.cores.get(core)?;
        caches.data.peek(line, line).or_else(|| caches.code.peek(line, line))
    }

    pub(super) fn install_exclusive(
        &mut self,
        core: usize,
        ask: Ask,
        line: u64,
        state: LineState,
        tally: &mut Tally,
        out: &mut Departures,
    ) {
        match ask {
            Ask::Fetch => {
                tally.add(Signal::InstructionCacheRefillsSystem, 1);
                self.place_code(core, Line::new(line, state), tally, out);
            }
            Ask::Walk | Ask::Hardware | Ask::HardwareStore => self.take_victim(Line::new(line, state), tally, out),
            _ => {
                let Some(caches) = self.cores.get_mut(core) else { return };
                if let Some(word) = caches.data.peek(line, line) {
                    // Permission to write a line that was here.
                    caches.data.change(line, line, Line(word).with_state(state).0);
                    self.code_written |= caches.code.remove(line, line).is_some();
                    return;
                }
                count_system_refill(state, tally);
                self.place_data(core, Line::new(line, state), ask == Ask::PrefetchOnce, tally, out);
            }
        }
    }

    fn place_data(&mut self, core: usize, line: Line, bypass: bool, tally: &mut Tally, out: &mut Departures) {
        let Some(caches) = self.cores.get_mut(core) else { return };
        let line = if bypass { line.bypassing() } else { line };
        let victim = Line(caches.data.insert(line.number(), line.0));
        if victim.0 == 0 {
            return;
        }
        let state = victim.state();
        count_eviction(state, tally);
        let number = victim.number();
        match state {
            LineState::Invalid => {}
            _ if caches.code.peek(number, number).is_some() => {
                // The copy of the code represents both.
                caches.code.change(number, number, Line::new(number, state).0);
            }
            _ if victim.bypasses() => {
                if state.dirty() {
                    out.push(number);
                }
            }
            _ => self.take_victim(Line::new(number, state), tally, out),
        }
    }

    fn place_code(&mut self, core: usize, line: Line, tally: &mut Tally, out: &mut Departures) {
        let Some(caches) = self.cores.get_mut(core) else { return };
        let victim = Line(caches.code.insert(line.number(), line.0));
        if victim.0 == 0 {
            return;
        }
        // If the data cache has the line too, that copy represents both.
        if caches.data.peek(victim.number(), victim.number()).is_none() {
            self.take_victim(victim, tally, out);
        }
    }

    fn take_victim(&mut self, line: Line, tally: &mut Tally, out: &mut Departures) {
        tally.add(Signal::L2Fills, 1);
        let victim = Line(self.second.insert(line.number(), line.0));
        if victim.0 == 0 {
            return;
        }
        if victim.state().dirty() {
            tally.add(Signal::L2Writebacks, 1);
            tally.add(Signal::L2CastoutsModified, 1);
            out.push(victim.number());
        } else {
            tally.add(Signal::L2CastoutsClean, 1);
        }
    }
}
