//! Accesses of a follower to memory.

use vm_pmu_arch::feed::{DataSource, FabricCommand, Request, RequestKind, Signal, StoreOutcome, Supplier, Translation};

use crate::bus;
use crate::caches::streams::Written;
use crate::caches::{Ask, Level};
use crate::follower::lines::Answer;
use crate::follower::{Follower, SMALLEST_PAGE};
use crate::ia64_register;
use crate::instruction::{Access, AccessKind, Instruction, Register};
use crate::pipeline::Source;
use crate::profile::WritePolicy;
use crate::signals;
use crate::translation::{DATA, PageTables};

/// The page of the local APIC's registers after reset. The core handles accesses to it itself (the chapters on the APIC in volume 3 of
/// Intel's and volume 2 of AMD's manual).
const LOCAL_APIC: u64 = 0xFEE0_0000 >> SMALLEST_PAGE;

impl Follower<'_> {
    pub(super) fn access(&mut self, access: &Access, tables: &mut impl PageTables) {
        let profile = &self.system.profile;
        let costs = profile.costs;
        let line_bits = profile.caches.line_bits.min(63);
        let size = u64::from(access.size.max(1));
        let stores = matches!(access.kind, AccessKind::Store | AccessKind::StreamingStore | AccessKind::RegisterStackStore);
        if access.kind == AccessKind::Flush {
            let outer_bits = profile.caches.outer_line_bits.min(63);
            self.translate(DATA, access.address, tables);
            let outer = access.physical >> outer_bits;
            self.snoop_own_code(outer);
            if self.system.flush(self.cluster, outer, &mut self.tally) {
                self.keep_request(Request::of(RequestKind::WriteBack), outer);
            }
            return;
        }
        if let Some(pipeline) = self.pipeline() {
            pipeline.access(access, access.physical >> line_bits);
        }
        self.count_access(access, size, stores);
        let first = access.physical >> line_bits;
        let last = access.physical.wrapping_add(size - 1) >> line_bits;
        let ask = match access.kind {
            AccessKind::Store | AccessKind::RegisterStackStore => Ask::Store,
            AccessKind::PrefetchLoad => Ask::PrefetchLoad,
            AccessKind::PrefetchStore => Ask::PrefetchStore,
            AccessKind::PrefetchOnce => Ask::PrefetchOnce,
            _ => Ask::Load,
        };
        let simple = first == last && !access.uncached && access.kind != AccessKind::StreamingStore;
        // The fast path of nearly all accesses: the first level has the translation, so one lock is enough.
        if simple && let Some(answer) = self.line(ask, first, Some(access.address)) {
            return self.accessed(access, ask, first, Translation::Hit(1), answer);
        }
        let (translation, cost) = self.translate(DATA, access.address, tables);
        if !self.outcome.accessed {
            (self.outcome.page_bits, self.outcome.walk_source) = (self.page.bits, self.page.source);
            self.outcome.walk_prefetched = self.page.prefetched;
        }
        self.translated(ask, translation, cost);
        let end = access.address.wrapping_add(size - 1);
        if access.address >> SMALLEST_PAGE != end >> SMALLEST_PAGE {
            let (translation, cost) = self.translate(DATA, end, tables);
            self.translated(ask, translation, cost);
        }
        if access.locked && !stores && (access.uncached || first != last) {
            self.keep_at(Request::of(RequestKind::BusLock), access.physical);
        }
        if access.uncached {
            if !(profile.pipeline.is_x86() && access.physical >> SMALLEST_PAGE == LOCAL_APIC) {
                self.leave_uncached(access, stores);
            }
            if let Some(pipeline) = self.pipeline() {
                pipeline.missed(u32::from(costs.memory), Source::Memory);
            }
            self.note(u32::from(costs.memory), DataSource::Device, translation);
            return;
        }
        if access.kind == AccessKind::StreamingStore {
            return self.stream(access);
        }
        if first != last {
            self.tally.add(if stores { Signal::LineSplitStores } else { Signal::LineSplitLoads }, 1);
        }
        for line in [Some(first), (first != last).then_some(last)].into_iter().flatten() {
            let answer = self.ask(ask, line);
            self.accessed(access, ask, line, translation, answer);
        }
    }

    /// Counts an access of `size` bytes, whatever it finds.
    #[inline(always)]
    pub(super) fn count_access(&mut self, access: &Access, size: u64, stores: bool) {
        self.tally.add(Signal::MemoryReferences, 1);
        self.tally.add(Signal::DataCacheReads, u64::from(!stores));
        let bytes = (access.address & 7) + size;
        if bytes <= 8 {
            // As most are.
            return self.tally.add(Signal::DataCacheAccesses, 1);
        }
        let pieces = bytes.div_ceil(8);
        self.tally.add(Signal::DataCacheAccesses, pieces);
        if pieces > size.div_ceil(8) {
            self.tally.add(Signal::MisalignedAccesses, 1);
            self.tally.add(if stores { Signal::MisalignedStores } else { Signal::MisalignedLoads }, 1);
        }
    }

    fn leave_uncached(&mut self, access: &Access, stores: bool) {
        let profile = &self.system.profile;
        let (kind, latency) =
            if stores { (RequestKind::PartialWrite, 0) } else { (RequestKind::PartialRead, u32::from(profile.costs.memory)) };
        let (is_ia64, linked) = (profile.pipeline.is_ia64(), profile.mesh.hypertransport);
        self.keep_at(Request { supplier: Supplier::Device, latency, ..Request::of(kind) }, access.physical);
        if is_ia64 {
            let line = access.physical >> profile.caches.outer_line_bits.min(63);
            bus::count_uncacheable(access.physical, line, stores, &mut self.tally);
        }
        self.tally.add(Signal::UncacheableRequests, 1);
        self.tally.add(if stores { Signal::UncacheableStores } else { Signal::UncacheableLoads }, 1);
        if linked {
            self.system.uncached(self.cluster, access.physical, u64::from(access.size.max(1)), stores, &mut self.tally);
        }
    }

    fn translated(&mut self, ask: Ask, translation: Translation, cost: u32) {
        let missed = ask == Ask::Load && matches!(translation, Translation::Hit(2) | Translation::Walk);
        self.tally.add(Signal::LoadTlbMissesAll, u64::from(missed));
        self.tally.add(Signal::LoadTlbL2Misses, u64::from(missed && translation == Translation::Walk));
        if let Some(pipeline) = self.pipeline() {
            pipeline.translated(cost, translation == Translation::Walk);
        }
    }

    #[inline]
    fn accessed(&mut self, access: &Access, ask: Ask, line: u64, translation: Translation, (level, source, latency): Answer) {
        // Lines that the prefetcher requests meanwhile do not count here.
        let (prefetched, went) = (core::mem::take(&mut self.prefetched), self.went);
        if level != Some(Level::First) {
            if prefetched && ask == Ask::Load {
                self.tally.add(if level == Some(Level::Third) { Signal::LoadsFromL3Prefetched } else { Signal::LoadsFromL2Prefetched }, 1);
            }
            if let Some(pipeline) = self.pipeline() {
                pipeline.missed(latency, Source::of(level, source));
            }
            self.missed(access, ask, line, level, source);
        }
        if self.note(latency, source, translation) {
            self.outcome.prefetched = prefetched;
            (self.outcome.scope, self.outcome.retries) = went.map_or((0, 0), |went| (went.code(), went.retries()));
            (self.outcome.command, self.outcome.store_outcome) = (command(ask, level, source), store_outcome(ask, level, source));
        }
    }

    fn missed(&mut self, access: &Access, ask: Ask, line: u64, level: Option<Level>, source: DataSource) {
        let profile = &self.system.profile;
        if level.is_none() && source == DataSource::Cache(1) {
            // The line was here, but the permission to write it had to be requested.
            return;
        }
        let beyond = matches!(level, Some(Level::Third) | None);
        self.tally.add(Signal::L3TransientPrefetches, u64::from(ask == Ask::PrefetchOnce && beyond));
        self.tally.add(Signal::DataCacheMissesLocked, u64::from(access.locked && ask == Ask::Load));
        // Where stores are written through, the prefetcher does not follow their misses.
        let followed = ask == Ask::Load || ask == Ask::Store && profile.caches.data_write == WritePolicy::Back;
        if let Some(prefetcher) = &profile.prefetcher
            && followed
        {
            let grown = self.streams.missed(prefetcher, line, profile.caches.line_bits);
            self.tally.add(Signal::DataPrefetchStreamsBegun, u64::from(grown.begun));
            self.tally.add(Signal::DataPrefetchStreamHits, u64::from(grown.continued));
            self.tally.add(Signal::DataPrefetchStreamsUnused, u64::from(grown.unused));
            self.tally.add(Signal::DataPrefetchStreamHitsAhead, u64::from(grown.ahead));
            let Some(target) = grown.target else { return };
            let (level, source, latency) = self.ask(if ask == Ask::Store { Ask::HardwareStore } else { Ask::Hardware }, target);
            if let (None, Some(pipeline)) = (level, self.pipeline()) {
                pipeline.prefetched(target, latency, Source::of(level, source));
            }
            if !matches!(level, Some(Level::First | Level::Second | Level::Sibling)) {
                signals::count_prefetch(source, &mut self.tally);
            }
        }
    }

    /// Handles a store that goes around the caches.
    fn stream(&mut self, access: &Access) {
        let bits = self.system.profile.caches.outer_line_bits.min(7);
        let bytes = 1u32 << bits;
        self.tally.add(Signal::DataCacheMisses, 1);
        let offset = (access.physical & u64::from(bytes - 1)) as u32;
        let size = u32::from(access.size.max(1));
        let here = size.min(bytes - offset);
        let line = access.physical >> bits;
        let mut written = self.combining.store(line, offset, here, bytes);
        written.into_iter().flatten().for_each(|written| self.send(written));
        if here < size {
            written = self.combining.store(line.wrapping_add(1), 0, size - here, bytes);
            written.into_iter().flatten().for_each(|written| self.send(written));
        }
    }

    fn keep_at(&mut self, request: Request, physical: u64) {
        self.keep_request(request, physical >> self.system.profile.caches.outer_line_bits.min(63));
    }

    fn send(&mut self, written: Written) {
        let kind = if written.whole { RequestKind::FullStreamingStore } else { RequestKind::PartialStreamingStore };
        self.keep_request(Request::of(kind), written.line);
        if self.system.profile.pipeline.is_ia64() {
            bus::count_combined(written.line, (!written.whole).then_some(written.mask), &mut self.tally);
        }
        self.system.stream(self.cluster, &written, &mut self.tally);
        let latency = u32::from(self.system.profile.costs.memory);
        if let Some(pipeline) = self.pipeline() {
            pipeline.missed(latency, Source::Memory);
        }
    }

    /// Writes out all write-combining buffers.
    pub(super) fn write_out(&mut self) {
        let bytes = 1u32 << self.system.profile.caches.outer_line_bits.min(7);
        while !self.combining.is_empty() {
            let Some(written) = self.combining.oldest(bytes) else { return };
            self.send(written);
        }
    }

    /// Lets the second level serve loads of floating-point registers, whatever the first has.
    pub(super) fn load_floating(&mut self, instruction: &Instruction<'_>) {
        let floating = |register: &Register| (ia64_register::FLOATING..ia64_register::PREDICATES).contains(&register.0);
        let loads = instruction.accesses.iter().any(|access| access.kind == AccessKind::Load);
        let served = matches!(self.outcome.source, DataSource::Cache(1 | 2));
        if loads && served && instruction.operation.is_some_and(|operation| operation.writes.iter().any(floating)) {
            self.outcome.source = DataSource::Cache(2);
            self.outcome.latency = u32::from(self.system.profile.costs.second_floating);
        }
    }

    /// Keeps the longest access in the outcome. Returns whether this is the one.
    fn note(&mut self, latency: u32, source: DataSource, translation: Translation) -> bool {
        let outcome = &mut self.outcome;
        let longest = !outcome.accessed || latency > outcome.latency;
        if longest {
            outcome.latency = latency;
            outcome.source = source;
        }
        if !outcome.accessed {
            outcome.translation = translation;
            outcome.accessed = true;
        }
        longest
    }
}

/// Returns the command of the cluster for an access that ended in this way.
fn command(ask: Ask, level: Option<Level>, source: DataSource) -> FabricCommand {
    match (level, source) {
        (Some(_), _) => FabricCommand::None,
        // It has the line, and others may have it too.
        (None, DataSource::Cache(1)) => FabricCommand::Claim,
        (None, _) if ask.writes() => FabricCommand::ReadToModify,
        (None, _) => FabricCommand::Read,
    }
}

/// Returns the outcome of a store in the second level.
fn store_outcome(ask: Ask, level: Option<Level>, source: DataSource) -> StoreOutcome {
    match (ask, level, source) {
        (Ask::Store, None, source) if source.was_modified() => StoreOutcome::Intervention,
        (Ask::Store, level, _) if level != Some(Level::First) => StoreOutcome::Completed,
        _ => StoreOutcome::None,
    }
}
