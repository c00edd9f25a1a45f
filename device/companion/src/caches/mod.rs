//! The caches that a few cores share.

pub(crate) mod answered_snoops;
mod exclusive;
pub(crate) mod hit_log;
mod inclusive;
pub(crate) mod line;
pub(crate) mod lock;
pub(crate) mod lost_lines;
pub(crate) mod remembered_hits;
pub(crate) mod reported_events;
pub(crate) mod streams;

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::answered_snoops::Snooped;
use crate::caches::line::{Line, LineState};
use crate::caches::lost_lines::LostLines;
use crate::caches::remembered_hits::{Find, Finder};
use crate::caches::reported_events::ReportedEvents;
use crate::profile::{Caches, Fill, Profile, Protocol, SecondLevel, WritePolicy};
use crate::sets::{Changed, Sets};
use crate::tally::Tally;
use crate::translation::{CODE, DATA, Translations};

/// The reason for which a line is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Load,
    Store,
    Fetch,
    /// The prefetcher of code.
    FetchAhead,
    /// A table entry of a page-table walk.
    Walk,
    PrefetchLoad,
    PrefetchStore,
    /// Read once: no further level keeps it when the first evicts it.
    PrefetchOnce,
    /// The data prefetcher, for loads.
    Hardware,
    /// The data prefetcher, for stores.
    HardwareStore,
}

impl Ask {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Ask::Store | Ask::PrefetchStore)
    }

    pub(crate) fn is_code(self) -> bool {
        matches!(self, Ask::Fetch | Ask::FetchAhead)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    First,
    Second,
    Third,
    /// The other first-level cache of the same core, or one of a sibling core.
    Sibling,
}

/// A request of a cluster to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Read,
    ReadCode,
    ReadModified,
    /// Permission to write a line that it has.
    Upgrade,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    By(Level),
    Not(Request),
}

/// Lines that leave the cluster for memory, or for third levels lent to it: few at a time.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    lines: [u64; 4],
    count: usize,
    laterals: [Line; 2],
    lateral_count: usize,
}

impl Departures {
    pub(crate) fn push(&mut self, line: u64) {
        if let Some(place) = self.lines.get_mut(self.count) {
            *place = line;
            self.count += 1;
        }
    }

    /// Adds a line that leaves for a lent third level.
    pub(crate) fn push_lateral(&mut self, line: Line) {
        if let Some(place) = self.laterals.get_mut(self.lateral_count) {
            *place = line;
            self.lateral_count += 1;
        }
    }

    /// Removes one of the lines for lent third levels and returns it.
    pub(crate) fn next_lateral(&mut self) -> Option<Line> {
        self.lateral_count = self.lateral_count.checked_sub(1)?;
        self.laterals.get(self.lateral_count).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0 && self.lateral_count == 0
    }

    /// Returns the lines for memory, without removing them.
    pub(crate) fn all(&self) -> &[u64] {
        self.lines.get(..self.count).unwrap_or(&[])
    }

    /// Removes the lines for memory and returns them.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = u64> + use<> {
        let (lines, count) = (self.lines, self.count);
        self.count = 0;
        lines.into_iter().take(count)
    }
}

/// The first level of a core, and its translation buffers.
#[derive(Clone, Debug)]
pub(crate) struct CoreCaches {
    pub(crate) code: Sets,
    pub(crate) data: Sets,
    pub(crate) translations: Translations,
    /// Lines that others took from it to write them.
    pub(crate) taken: LostLines,
    /// The follower that last looked up hits.
    finder: Finder,
}

impl CoreCaches {
    /// Marks the uses of the follower that last looked up hits: of the translation of an address on a side, and of a first-level line that
    /// was not the most recently used of its set.
    fn mark(&mut self, side: usize, address: Option<u64>, line: Option<u64>) {
        if let Some(address) = address {
            self.translations.find_first(side, address, self.finder.thread);
        }
        if let Some(line) = line {
            let lines = if side == CODE { &mut self.code } else { &mut self.data };
            lines.touch(line, line);
        }
    }

    /// Returns what has changed on a side since this was last called: lines, and if translations have changed, the pages whose translations were
    /// lost.
    fn take_changed(&mut self, side: usize) -> (Changed, Option<Changed>) {
        let lines = if side == CODE { &mut self.code } else { &mut self.data };
        (core::mem::replace(&mut lines.changed, Changed::NOTHING), self.translations.take_changed(side))
    }
}

/// The caches of a cluster. Line numbers are those of the outer levels, unless a name says *inner*.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) shape: Caches,
    pub(crate) cores: Box<[CoreCaches]>,
    pub(crate) second: Sets,
    /// The second level of code, if it is separate.
    pub(crate) second_code: Option<Sets>,
    pub(crate) third: Option<Sets>,
    pub(crate) mail: ReportedEvents,
    /// The snoops that the pipelines have not been told of, if pipelines give them a time.
    pub(crate) snooped: Option<Snooped>,
    /// Number of active followers. If there are none, nobody reads the mail.
    pub(crate) listeners: u32,
    /// Whether a store has invalidated a copy of code since this was last read.
    pub(crate) code_written: bool,
    /// The state of the last requested line in the level that had it, if the first level could not serve the request.
    pub(crate) held: LineState,
    /// Whether the last request that missed the first level is the first use of a line that the prefetcher brought in.
    pub(crate) prefetched: bool,
    /// Whether only the third level had the line of the last probe.
    pub(crate) third_alone: bool,
    /// Whether the third level casts lines out to others that are lent to it.
    pub(crate) casts_out_laterally: bool,
    /// The core whose store was last written through to the second level.
    pub(crate) storer: usize,
}

fn lines(bytes: u64, bits: u8) -> u64 {
    bytes >> bits.min(63)
}

impl Cluster {
    pub(crate) fn new(profile: &Profile, seed: u64) -> Cluster {
        let caches = profile.caches;
        let mut number = seed;
        let mut sets = |geometry: crate::profile::CacheGeometry, bits: u8| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Sets::new(lines(geometry.bytes, bits), geometry.ways, geometry.replacement, number)
        };
        let (inner, outer) = (caches.line_bits, caches.outer_line_bits);
        let cores = (0..profile.cores.max(1)).map(|_| CoreCaches {
            code: sets(caches.instruction, inner),
            data: sets(caches.data, inner),
            translations: Translations::new(&profile.translation),
            taken: LostLines::default(),
            finder: Finder::default(),
        });
        let cores = cores.collect::<Vec<_>>().into_boxed_slice();
        let (second, second_code) = match caches.second {
            SecondLevel::Unified(geometry) => (sets(geometry, outer), None),
            SecondLevel::Split { instruction, data } => (sets(data, outer), Some(sets(instruction, outer))),
        };
        let third = caches.third.map(|(geometry, _)| sets(geometry, outer));
        Cluster {
            shape: caches,
            cores,
            second,
            second_code,
            third,
            mail: ReportedEvents::default(),
            snooped: profile.pipeline.is_ia64().then_some(Snooped::NONE),
            listeners: 0,
            code_written: false,
            held: LineState::Invalid,
            prefetched: false,
            third_alone: false,
            casts_out_laterally: false,
            storer: 0,
        }
    }

    /// Returns the binary logarithm of the number of first-level lines per line of the outer levels.
    pub(crate) fn inner_bits(&self) -> u8 {
        self.shape.outer_line_bits.saturating_sub(self.shape.line_bits)
    }

    /// Adds the events that others caused in the cluster to `tally`. Returns whether code was invalidated.
    #[inline]
    pub(crate) fn read_mail(&mut self, tally: &mut Tally) -> bool {
        // Others affect a cluster by snoops, and by answers to its own.
        if self.mail.is_empty() {
            return false;
        }
        let mail = core::mem::take(&mut self.mail);
        mail.report(tally);
        mail.code_invalidations != 0
    }

    /// Requests line `inner` of an address, given with its thread, if the first level has the translation, which is marked as used.
    /// Otherwise returns `None`.
    #[inline]
    pub(crate) fn serve_translated(
        &mut self,
        core: usize,
        ask: Ask,
        inner: u64,
        (thread, address): (u8, u64),
        tally: &mut Tally,
        out: &mut Departures,
    ) -> Option<Served> {
        let caches = self.cores.get_mut(core)?;
        caches.translations.find_first(DATA, address, thread).then(|| self.serve(core, ask, inner, tally, out))
    }

    /// Whether nothing is pending that a requester has to look at first.
    #[inline]
    fn is_quiet(&self, core: usize) -> bool {
        let left = !self.mail.is_empty() || self.mail.injected != 0 || self.code_written || self.prefetched;
        !left && self.cores.get(core).is_some_and(|caches| caches.taken.is_empty())
    }

    /// Whether stores are written through to a second level that includes the first.
    fn stores_through(&self) -> bool {
        self.shape.data_write == WritePolicy::Through && self.shape.second_fill == Fill::Inclusive
    }

    /// Looks up line `inner` of an address, given with its thread, to read or write it. Returns how it hits, if only the order of use
    /// changes: the first level has the line and the translation, or, if stores are written through, the second level has the line. If it
    /// does not hit, a later request for the line has the same effect as without this call.
    #[inline]
    pub(crate) fn hits(&mut self, core: usize, writes: bool, inner: u64, (thread, address): (u8, u64), tally: &mut Tally) -> Option<Find> {
        if !self.is_quiet(core) {
            return None;
        }
        let through = writes && self.shape.data_write == WritePolicy::Through;
        let inclusive = self.shape.second_fill == Fill::Inclusive;
        let caches = self.cores.get_mut(core).filter(|_| !through || inclusive)?;
        if !caches.translations.find_first(DATA, address, thread) {
            return None;
        }
        if through {
            let first = self.store_through(core, inner)?;
            Self::count_store_through(first, tally);
            return Some(Find::Second { first });
        }
        let served = caches.data.touch(inner, inner).is_some_and(|word| !writes || Line(word).state() == LineState::Modified);
        served.then_some(Find::First { writes })
    }

    /// Looks up a line of code in the same way.
    #[inline]
    pub(crate) fn hits_code(&mut self, core: usize, inner: u64, (thread, address): (u8, u64)) -> bool {
        if !self.is_quiet(core) {
            return false;
        }
        let Some(caches) = self.cores.get_mut(core) else { return false };
        caches.translations.find_first(CODE, address, thread) && caches.code.touch(inner, inner).is_some()
    }

    #[inline]
    pub(crate) fn serve(&mut self, core: usize, ask: Ask, inner: u64, tally: &mut Tally, out: &mut Departures) -> Served {
        // The fast path of nearly all requests, without another call.
        if let Some(caches) = self.cores.get_mut(core) {
            match ask {
                Ask::Load if caches.data.touch(inner, inner).is_some() => return Served::By(Level::First),
                Ask::Store if self.shape.data_write == WritePolicy::Back => {
                    if let Some(word) = caches.data.touch(inner, inner)
                        && Line(word).state() == LineState::Modified
                    {
                        return Served::By(Level::First);
                    }
                }
                Ask::Fetch if caches.code.touch(inner, inner).is_some() => {
                    tally.add(Signal::InstructionCacheHits, 1);
                    return Served::By(Level::First);
                }
                Ask::FetchAhead if caches.code.peek(inner, inner).is_some() => return Served::By(Level::First),
                _ => {}
            }
        }
        match self.shape.second_fill {
            Fill::Victims => self.serve_exclusive(core, ask, inner, tally, out),
            Fill::Inclusive => self.serve_inclusive(core, ask, inner, tally, out),
        }
    }

    /// Installs the line and its state from the system's response.
    pub(crate) fn install(&mut self, core: usize, ask: Ask, inner: u64, state: LineState, tally: &mut Tally, out: &mut Departures) {
        match self.shape.second_fill {
            Fill::Victims => self.install_exclusive(core, ask, inner, state, tally, out),
            Fill::Inclusive => self.install_inclusive(core, ask, inner, state, tally, out),
        }
    }

    /// Registers that a follower of the cluster has become active or inactive. Events from before the first became active are dropped.
    pub(crate) fn listen(&mut self, active: bool) {
        if self.listeners == 0 {
            self.mail = ReportedEvents::default();
            self.snooped = self.snooped.map(|_| Snooped::NONE);
            self.cores.iter_mut().for_each(|caches| caches.taken = LostLines::default());
        }
        self.listeners = if active { self.listeners.saturating_add(1) } else { self.listeners.saturating_sub(1) };
    }

    /// Probes line `outer` for another cluster, which reads it, or takes it away if `take`. Returns the strongest state that a copy here
    /// had.
    pub(crate) fn probe(&mut self, outer: u64, take: bool) -> LineState {
        self.probe_for(outer, take, false)
    }

    /// Probes a line for a transaction of cluster `from`.
    pub(crate) fn probe_of(&mut self, from: Option<usize>, outer: u64, take: bool, code: bool) -> LineState {
        let found = self.probe_for(outer, take, code);
        if let (Some(snooped), Some(from)) = (&mut self.snooped, from) {
            snooped.begun_by(from);
        }
        found
    }

    /// Probes a line, for `code` or data of another cluster. Where code has its own second level, reads of code do not probe the caches of
    /// code.
    fn probe_for(&mut self, outer: u64, take: bool, code: bool) -> LineState {
        let filtered = code && self.second_code.is_some();
        self.mail.snoops += 1;
        self.mail.code_snoops += if filtered { 0 } else { 1 << self.inner_bits() };
        let mut strongest = LineState::Invalid;
        let after = |state: LineState, protocol| match (take, protocol) {
            (true, _) => LineState::Invalid,
            (false, Protocol::Moesi) => state.shared(),
            (false, Protocol::Mesi | Protocol::Mesif) => LineState::Shared,
        };
        let protocol = self.shape.protocol;
        let code_found = !filtered && self.has_second_code(outer);
        self.third_alone = false;
        let mut in_third = LineState::Invalid;
        let levels =
            [(false, Some(&mut self.second)), (false, self.second_code.as_mut().filter(|_| !filtered)), (true, self.third.as_mut())];
        for (third, sets) in levels.into_iter().filter_map(|(third, sets)| sets.map(|sets| (third, sets))) {
            if let Some(word) = sets.peek(outer, outer) {
                let line = Line(word);
                self.third_alone = third && strongest == LineState::Invalid;
                if third {
                    in_third = line.state();
                } else {
                    self.mail.find(false, take, line.state());
                }
                strongest = strongest.max(line.state());
                if take {
                    sets.remove(outer, outer);
                } else {
                    sets.change(outer, outer, line.with_state(after(line.state(), protocol)).0);
                }
            }
        }
        if self.third.is_some() {
            self.mail.find(true, take, in_third);
        }
        // Where code has its own second level, any other request for a line evicts it from there.
        let code_leaves = take || self.second_code.is_some();
        if code_found {
            self.mail.second_code_hits += 1;
            self.mail.code_taken = Some(outer);
        }
        if let Some(code) = self.second_code.as_mut().filter(|_| !filtered) {
            code.remove(outer, outer);
        }
        let bits = self.inner_bits();
        let mail = &mut self.mail;
        for caches in &mut self.cores {
            for inner in (0..1u64 << bits).map(|part| outer << bits | part) {
                if let Some(word) = caches.data.peek(inner, inner) {
                    let line = Line(word);
                    strongest = strongest.max(line.state());
                    // An invalidated line keeps its way until a refill needs it.
                    caches.data.change(inner, inner, line.with_state(after(line.state(), protocol)).0);
                    mail.data_invalidations += u64::from(take);
                    if take && line.state() != LineState::Invalid {
                        caches.taken.push(inner, false);
                    }
                }
                if let Some(word) = caches.code.peek(inner, inner).filter(|_| !filtered) {
                    let line = Line(word);
                    strongest = strongest.max(line.state());
                    if take {
                        caches.taken.push(inner, true);
                    }
                    if code_leaves {
                        caches.code.remove(inner, inner);
                        mail.code_invalidations += 1;
                    } else {
                        caches.code.change(inner, inner, line.with_state(after(line.state(), protocol)).0);
                    }
                }
            }
        }
        self.mail.answer(strongest);
        if let Some(snooped) = self.snooped.as_mut().filter(|_| self.listeners != 0) {
            snooped.note(outer, strongest);
        }
        if strongest.dirty() {
            // The data of its response, or of its write to memory.
            self.mail.quadwords += 1 << self.shape.outer_line_bits.saturating_sub(3).min(16);
        }
        strongest
    }

    pub(crate) fn has_second_code(&self, outer: u64) -> bool {
        self.second_code.as_ref().is_some_and(|code| code.peek(outer, outer).is_some())
    }

    /// Flushes line `outer` from every cache. Returns whether it was dirty.
    pub(crate) fn flush(&mut self, outer: u64) -> bool {
        let (mail, snooped) = (self.mail, self.snooped);
        let state = self.probe(outer, true);
        (self.mail, self.snooped) = (mail, snooped);
        state.dirty()
    }

    /// Takes a line that another third level evicted into the third level. Returns whether the line was there already, and the line that is
    /// evicted for it.
    pub(crate) fn take_in(&mut self, line: Line) -> (bool, Line) {
        let outer = line.number();
        let Some(third) = self.third.as_mut() else { return (false, line) };
        match third.peek(outer, outer).map(Line) {
            Some(held) => {
                third.change(outer, outer, held.with_state(held.state().max(line.state())).0);
                (true, Line::default())
            }
            None => (false, Line(third.put(outer, line.0))),
        }
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        for caches in &self.cores {
            caches.code.save(writer);
            caches.data.save(writer);
            caches.translations.save(writer);
            caches.taken.save(writer);
        }
        for sets in [Some(&self.second), self.second_code.as_ref(), self.third.as_ref()].into_iter().flatten() {
            sets.save(writer);
        }
        self.mail.save(writer);
        self.snooped.iter().for_each(|snooped| snooped.save(writer));
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for caches in &mut self.cores {
            caches.code.load(reader)?;
            caches.data.load(reader)?;
            caches.translations.load(reader)?;
            caches.taken.load(reader)?;
        }
        for sets in [Some(&mut self.second), self.second_code.as_mut(), self.third.as_mut()].into_iter().flatten() {
            sets.load(reader)?;
        }
        self.mail = ReportedEvents::load(reader)?;
        if let Some(snooped) = &mut self.snooped {
            *snooped = Snooped::load(reader)?;
        }
        Ok(())
    }
}

/// Counts a line brought into the data cache from the second level.
fn count_second_refill(state: LineState, tally: &mut Tally) {
    tally.add(
        match state {
            LineState::Invalid | LineState::Shared | LineState::Forward => Signal::DataCacheRefillsL2Shared,
            LineState::Exclusive => Signal::DataCacheRefillsL2Exclusive,
            LineState::Owned => Signal::DataCacheRefillsL2Owned,
            LineState::Modified => Signal::DataCacheRefillsL2Modified,
        },
        1,
    );
}

/// Counts a line brought into the data cache from the system.
fn count_system_refill(state: LineState, tally: &mut Tally) {
    tally.add(
        match state {
            LineState::Invalid => Signal::DataCacheRefillsSystemInvalid,
            LineState::Shared | LineState::Forward => Signal::DataCacheRefillsSystemShared,
            LineState::Exclusive => Signal::DataCacheRefillsSystemExclusive,
            LineState::Owned => Signal::DataCacheRefillsSystemOwned,
            LineState::Modified => Signal::DataCacheRefillsSystemModified,
        },
        1,
    );
}

fn count_eviction(state: LineState, tally: &mut Tally) {
    tally.add(
        match state {
            LineState::Invalid => Signal::DataCacheEvictionsInvalid,
            LineState::Shared | LineState::Forward => Signal::DataCacheEvictionsShared,
            LineState::Exclusive => Signal::DataCacheEvictionsExclusive,
            LineState::Owned => Signal::DataCacheEvictionsOwned,
            LineState::Modified => Signal::DataCacheEvictionsModified,
        },
        1,
    );
}
