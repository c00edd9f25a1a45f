//! The signals that the companion supplies.

use vm_pmu_arch::feed::{DataSource, Signal, SignalSet};

use crate::caches::Level;
use crate::caches::reported_events::{ANSWERS, FINDINGS};
use crate::clock::Clock;
use crate::fabric::hypertransport::{OF_LINKS, is_of_link};
use crate::fabric::scope;
use crate::fabric::signals::{FOR_OTHERS, OF_DEVICES, OF_NORTHBRIDGE, ON_THE_BUS};
use crate::fabric::sources::{self, Purpose};
use crate::pipeline::Pipeline;
use crate::predictor::events;
use crate::profile::{Fill, Profile, Protocol, SecondLevel, WritePolicy};
use crate::tally::Tally;

/// Signals that every profile supplies from fetches and accesses.
const ALWAYS: &[Signal] = &[
    Signal::InstructionFetches,
    Signal::InstructionCacheHits,
    Signal::InstructionCacheMisses,
    Signal::InstructionCacheRefillsL2,
    Signal::InstructionCacheRefillsSystem,
    Signal::InstructionCacheInvalidations,
    Signal::InstructionTlbL2Misses,
    Signal::InstructionTlbMissesAll,
    Signal::InstructionWalks,
    Signal::InstructionWalkFills,
    Signal::InstructionWalksFromL2,
    Signal::InstructionWalksFromOtherCore,
    Signal::InstructionWalksFromMemory,
    Signal::DataCacheAccesses,
    Signal::DataCacheReads,
    Signal::MemoryReferences,
    Signal::DataCacheMisses,
    Signal::DataCacheMissesLocked,
    Signal::DataCacheLoadMisses,
    Signal::DataCacheStoreMisses,
    Signal::DataCacheRefillsL2Shared,
    Signal::DataCacheRefillsL2Exclusive,
    Signal::DataCacheRefillsL2Modified,
    Signal::DataCacheRefillsSystemShared,
    Signal::DataCacheRefillsSystemExclusive,
    Signal::DataCacheEvictionsInvalid,
    Signal::DataCacheEvictionsShared,
    Signal::DataCacheInvalidations,
    Signal::MisalignedAccesses,
    Signal::MisalignedLoads,
    Signal::MisalignedStores,
    Signal::LineSplitLoads,
    Signal::LineSplitStores,
    Signal::DataTlbL2Misses,
    Signal::DataTlbMissesAll,
    Signal::LoadTlbL2Misses,
    Signal::LoadTlbMissesAll,
    Signal::DataWalks,
    Signal::DataWalkFills,
    Signal::DataWalksFromL2,
    Signal::DataWalksFromOtherCore,
    Signal::DataWalksFromMemory,
    Signal::DataWalkLeavesFromL2,
    Signal::DataWalkLeavesFromOtherCore,
    Signal::DataWalkLeavesFromMemory,
    Signal::InstructionWalkDirectories,
    Signal::UncacheableRequests,
    Signal::UncacheableLoads,
    Signal::UncacheableStores,
    Signal::WriteCombiningFlushes,
    Signal::StreamingStoreFlushes,
    Signal::L2RequestsInstruction,
    Signal::L2RequestsData,
    Signal::L2RequestsWalk,
    Signal::L2RequestsSnoop,
    Signal::L2MissesInstruction,
    Signal::L2MissesData,
    Signal::L2MissesWalk,
    Signal::L2Fills,
    Signal::L2References,
    Signal::L2Misses,
    Signal::L2LoadHits,
    Signal::L2StoreHits,
    Signal::L2FetchHits,
    Signal::L2FetchMisses,
    Signal::L2CastoutsModified,
    Signal::L2CastoutsClean,
    Signal::LoadsFromL2,
    Signal::FetchesFromL2,
    Signal::SnoopRequests,
    Signal::SystemReadsExclusive,
    Signal::SystemReadsModified,
    Signal::SystemReadsShared,
    Signal::SystemQuadwordsWritten,
    Signal::VictimBlocks,
    Signal::ReadBlocks,
    Signal::ReadBlocksShared,
    Signal::ReadBlocksModified,
    Signal::ChangesToDirty,
    Signal::ProbeMisses,
    Signal::ProbeHitsClean,
    Signal::ProbeHitsDirtyCancelled,
    Signal::DramPageHits,
    Signal::DramPageMisses,
    Signal::DramPageConflicts,
    Signal::DramTurnaroundsChipSelect,
    Signal::DramTurnaroundsReadToWrite,
    Signal::DramTurnaroundsWriteToRead,
    Signal::MemoryReads,
    Signal::MemoryWrites,
    Signal::BusTransactions,
    Signal::BusLineReadsData,
    Signal::BusLineReadsInstruction,
    Signal::BusOwnershipReads,
    Signal::BusInvalidations,
    Signal::BusLineWrites,
    Signal::BusDataCycles,
    Signal::BusInvalidationsHitModified,
    Signal::SnoopAnswersMiss,
    Signal::SnoopAnswersHit,
    Signal::SnoopAnswersModified,
    Signal::BusReadsHitClean,
    Signal::BusReadsHitModified,
    Signal::BusOwnershipReadsHitModified,
    Signal::LoadsBeyondL2,
    Signal::LoadsBeyondL3,
    Signal::LoadsFromLocalMemory,
    Signal::LoadsFromRemoteMemory,
    Signal::LoadsFromOtherCoreClean,
    Signal::LoadsFromOtherCoreModified,
    Signal::LoadsFromOtherPackageModified,
    Signal::FetchesBeyondL3,
    Signal::FetchesFromLocalMemory,
    Signal::FetchesFromRemoteMemory,
    Signal::FetchesFromOtherCore,
    Signal::FetchesFromOtherPackage,
];

/// With an owned state.
const OWNED: &[Signal] =
    &[Signal::DataCacheRefillsL2Owned, Signal::DataCacheRefillsSystemOwned, Signal::DataCacheEvictionsOwned, Signal::ProbeHitsDirty];

/// With clean lines that are forwarded.
const PASSED_ON: &[Signal] = &[Signal::LoadsFromOtherPackageClean];

/// With a data cache that allocates lines on stores.
const WRITE_BACK: &[Signal] =
    &[Signal::DataCacheRefillsSystemModified, Signal::DataCacheEvictionsExclusive, Signal::DataCacheEvictionsModified];

/// With a second level of victims, or with no third level.
const WRITES_BACK_SECOND: &[Signal] = &[Signal::L2Writebacks];

/// With an inclusive second level.
const INCLUSIVE: &[Signal] = &[
    Signal::DataCacheReadMisses,
    Signal::L2DataReads,
    Signal::L2DataWrites,
    Signal::L2DataLookupHits,
    Signal::L2DataLookupMisses,
    Signal::L2DataLineRequests,
    Signal::L2DataFillsModified,
    Signal::L2DataFillsExclusive,
    Signal::L2DataFillsShared,
    Signal::L2DataStoreHitsShared,
    Signal::L2LoadMisses,
    Signal::L2StoreMisses,
    Signal::L2InstructionDemandHits,
    Signal::L2InstructionDemandMisses,
    Signal::InstructionCacheFills,
];

/// With several cores that write to their own first levels, and an inclusive second level.
const SIBLINGS: &[Signal] = &[Signal::LoadsFromSiblingCoreModified];

/// With a second level of translation buffers, for data and for code.
const SECOND_DATA_TRANSLATION: &[Signal] = &[Signal::TranslationL2Hits, Signal::DataTlbL1Misses];
const SECOND_CODE_TRANSLATION: &[Signal] = &[Signal::TranslationL2Hits, Signal::InstructionTlbL1Misses];

const THIRD: &[Signal] = &[
    Signal::L3Hits,
    Signal::L3Misses,
    Signal::L3References,
    Signal::L3Reads,
    Signal::L3Writes,
    Signal::L3LoadHits,
    Signal::L3LoadMisses,
    Signal::L3InstructionDemandHits,
    Signal::L3InstructionDemandMisses,
    Signal::L3DataReadHits,
    Signal::L3DataReadMisses,
    Signal::L3Insertions,
    Signal::L3Evictions,
    Signal::L3Castouts,
    Signal::LoadsFromL3,
    Signal::FetchesFromL3,
    Signal::DataWalksFromL3,
    Signal::DataWalkLeavesFromL3,
    Signal::InstructionWalksFromL3,
];

const THIRD_OF_VICTIMS: &[Signal] = &[
    Signal::L3CastinsMiss,
    Signal::L3CastoutsMemoryEven,
    Signal::L3CastoutsMemoryOdd,
    Signal::L3CastoutsLateralDataEven,
    Signal::L3CastoutsLateralDataOdd,
    Signal::L3CastoutsLateralNoDataEven,
    Signal::L3CastoutsLateralNoDataOdd,
    Signal::L3LinesInjected,
    Signal::L3TransientPrefetches,
];
const THIRD_INCLUSIVE: &[Signal] = &[Signal::L3WritebackHits, Signal::BusCleanCastouts];
/// With the bus of Itanium processors.
const BUS: &[Signal] = &[
    Signal::BusPartialReads,
    Signal::BusPartialWrites,
    Signal::BusIoReads,
    Signal::BusIoWrites,
    Signal::CombinedWrites8Even,
    Signal::CombinedWrites8Odd,
    Signal::CombinedWrites16,
    Signal::CombinedWrites32,
];
/// With two cores behind one interface to the bus.
const SIGNS_OFF: &[Signal] = &[Signal::SnoopSignoffsMiss, Signal::SnoopSignoffsHit, Signal::SnoopSignoffsModified];
const UNIFIED_SECOND: &[Signal] = &[Signal::SelfModifyingCodeRestarts];
const SPLIT_SECOND: &[Signal] = &[
    Signal::L2InstructionEvictions,
    Signal::L2InstructionPrefetchHits,
    Signal::L2InstructionPrefetchMisses,
    Signal::L2InstructionSnoopHits,
    Signal::L2InstructionUncacheableReads,
    Signal::L2InstructionDemandConflictsMissed,
    Signal::L2InstructionPrefetchConflictsMissed,
    Signal::InstructionCacheSnoops,
];
/// With a prefetcher of code, that of Itanium processors.
const CODE_PREFETCHER: &[Signal] = &[
    Signal::InstructionPrefetches,
    Signal::InstructionPrefetchMisses,
    Signal::InstructionStreamPrefetches,
    Signal::InstructionPairsReceived,
    Signal::InstructionTranslationPurges,
    Signal::L3InstructionPrefetchHits,
    Signal::L3InstructionPrefetchMisses,
];
const PREFETCHER: &[Signal] = &[
    Signal::DataPrefetchAttempts,
    Signal::DataPrefetchesCancelled,
    Signal::DataPrefetchStreamsBegun,
    Signal::DataPrefetchStreamHits,
    Signal::DataPrefetchStreamsUnused,
    Signal::DataPrefetchStreamHitsAhead,
    Signal::DataPrefetchesFromOtherCore,
    Signal::DataPrefetchesFromOtherPackage,
    Signal::DataPrefetchesFromLocalMemory,
    Signal::DataPrefetchesFromRemoteMemory,
];
/// With a prefetcher and a third level.
const PREFETCHER_OF_THIRD: &[Signal] = &[Signal::DataPrefetchesFromL3];
/// With a prefetcher, an inclusive second level and a third level of victims: first uses of prefetched lines.
const PREFETCHED: &[Signal] = &[
    Signal::LoadsFromL2Prefetched,
    Signal::LoadsFromL3Prefetched,
    Signal::FetchesFromL2Prefetched,
    Signal::FetchesFromL3Prefetched,
    Signal::InstructionWalksFromL2Prefetched,
    Signal::InstructionWalksFromL3Prefetched,
    Signal::DataWalkLeavesFromL2Prefetched,
    Signal::DataWalkLeavesFromL3Prefetched,
    Signal::L3CastoutsPrefetched,
];
const WALK_CACHE: &[Signal] = &[Signal::WalkCacheMisses];

/// With pages of 64 KiB in the first level and a page-walk cache: radix tables as on POWER.
const RADIX: &[Signal] = &[
    Signal::WalkCacheHitsLevel1,
    Signal::WalkCacheHitsLevel2,
    Signal::WalkCacheHitsLevel3,
    Signal::WalkDirectoriesLevel1FromL2,
    Signal::WalkDirectoriesLevel1FromBeyond,
    Signal::WalkDirectoriesLevel2FromL2,
    Signal::WalkDirectoriesLevel3FromL2,
    Signal::WalkLeavesLevel2FromL2,
    Signal::WalkLeavesLevel2FromBeyond,
    Signal::WalkLeavesLevel3FromL2,
    Signal::WalkLeavesLevel3FromBeyond,
    Signal::WalkLeavesLevel4FromL2,
    Signal::WalkLeavesLevel4FromBeyond,
    Signal::DataTlbMisses4k,
    Signal::DataTlbMisses64k,
    Signal::DataTlbMisses2m,
    Signal::DataTlbMisses1g,
    Signal::DataTlbL2Misses4k,
    Signal::DataTlbL2Misses64k,
    Signal::DataTlbL2Misses2m,
    Signal::DataTlbL2Misses1g,
    Signal::InstructionTlbMisses4k,
    Signal::InstructionTlbMisses64k,
    Signal::InstructionTlbMisses2m,
    Signal::DataWalkLeavesFromLocalMemory,
    Signal::DataWalkLeavesFromRemoteMemory,
    Signal::DataWalkLeavesFromOtherPackageModified,
    Signal::InstructionWalksFromLocalMemory,
    Signal::InstructionWalksFromRemoteMemory,
    Signal::InstructionWalksFromOtherPackageModified,
    Signal::WalkDirectoriesLevel1FromL3,
    Signal::WalkDirectoriesLevel2FromL3,
    Signal::WalkDirectoriesLevel3FromL3,
    Signal::WalkLeavesLevel2FromL3,
    Signal::WalkLeavesLevel3FromL3,
    Signal::WalkLeavesLevel4FromL3,
    Signal::FetchesFromOtherCoreModified,
    Signal::FetchesFromOtherCoreClean,
    Signal::FetchesFromOtherPackageModified,
    Signal::FetchesFromOtherPackageClean,
    Signal::InstructionWalksFromOtherCoreModified,
    Signal::InstructionWalksFromOtherCoreClean,
    Signal::InstructionWalksFromOtherPackageClean,
    Signal::DataWalkLeavesFromOtherCoreModified,
    Signal::DataWalkLeavesFromOtherCoreClean,
    Signal::DataWalkLeavesFromOtherPackageClean,
];
const PAGE_TABLE: &[Signal] = &[Signal::DramPageTableOverflows];

const NEAR_MEMORY: &[Signal] = &[
    Signal::NearMemoryReads,
    Signal::NearMemoryWrites,
    Signal::MemorySideCacheHitsClean,
    Signal::MemorySideCacheHitsModified,
    Signal::MemorySideCacheMissesClean,
    Signal::MemorySideCacheMissesModified,
    Signal::MemorySideCacheMissesInvalid,
];

/// Whether a thread reports `signal`: it supplies the signal, or devices of other packages cause it in the thread's own package.
pub(crate) fn reports(profile: &Profile, clock: Clock, signal: Signal) -> bool {
    supplies(profile, clock, signal) || profile.mesh.hypertransport && FOR_OTHERS.contains(&signal)
}

/// Whether a companion of this profile and with this clock supplies `signal`.
pub(crate) fn supplies(profile: &Profile, clock: Clock, signal: Signal) -> bool {
    let caches = &profile.caches;
    let third = caches.third.map(|(_, fill)| fill);
    let translation = &profile.translation;
    let exclusive = caches.second_fill == Fill::Victims;
    let banks = 1u32 << profile.memory.bank_bits.min(31);
    let parts: [(bool, &[Signal]); 25] = [
        (true, ALWAYS),
        (profile.mesh.hypertransport, OF_NORTHBRIDGE),
        (caches.protocol == Protocol::Moesi, OWNED),
        (caches.protocol == Protocol::Mesif, PASSED_ON),
        (caches.data_write == WritePolicy::Back, WRITE_BACK),
        (exclusive || third.is_none(), WRITES_BACK_SECOND),
        (!exclusive, INCLUSIVE),
        (!exclusive && profile.cores > 1 && caches.data_write == WritePolicy::Back, SIBLINGS),
        (!translation.data[1].is_empty(), SECOND_DATA_TRANSLATION),
        (!translation.instruction[1].is_empty() || translation.shared_second, SECOND_CODE_TRANSLATION),
        (third.is_some(), THIRD),
        (third == Some(Fill::Victims), THIRD_OF_VICTIMS),
        (third == Some(Fill::Inclusive), THIRD_INCLUSIVE),
        (matches!(caches.second, SecondLevel::Split { .. }), SPLIT_SECOND),
        (matches!(caches.second, SecondLevel::Unified(_)), UNIFIED_SECOND),
        (profile.pipeline.is_ia64(), BUS),
        (profile.pipeline.is_ia64(), CODE_PREFETCHER),
        (profile.pipeline.joins_answers(), SIGNS_OFF),
        (profile.prefetcher.is_some(), PREFETCHER),
        (profile.prefetcher.is_some() && third.is_some(), PREFETCHER_OF_THIRD),
        (profile.prefetcher.is_some() && !exclusive && third == Some(Fill::Victims), PREFETCHED),
        (translation.walk_entries > 0, WALK_CACHE),
        (translation.is_radix(), RADIX),
        (u32::from(profile.memory.open_pages) < banks, PAGE_TABLE),
        (profile.memory.near_bytes > 0, NEAR_MEMORY),
    ];
    let idle = |signal| OF_LINKS.iter().any(|link| link[3] == signal);
    let links = profile.mesh.hypertransport && is_of_link(signal) && (clock == Clock::Companion || !idle(signal));
    let timed = || Pipeline::supplies(profile.pipeline, signal);
    let supplied = parts.iter().any(|(has, signals)| *has && signals.contains(&signal));
    let scopes = || {
        profile.mesh.scopes
            && (scope::supplies(signal) || sources::contains(signal) || FINDINGS.iter().take(ANSWERS).any(|found| *found == signal))
    };
    supplied || links || scopes() || events::supplies(&profile.predictor, signal) || clock == Clock::Companion && timed()
}

/// Returns all signals that a companion of this profile and with this clock supplies, for threads and for devices.
pub(crate) fn supplied(profile: &Profile, clock: Clock) -> SignalSet {
    // The other signals of devices come from memory, which supplies them for threads too.
    let of_devices = OF_DEVICES.iter().copied().filter(|_| profile.mesh.hypertransport);
    Signal::all().filter(|signal| supplies(profile, clock, *signal)).chain(ON_THE_BUS).chain(of_devices).collect()
}

/// Walks that began below an entry of the walk cache, by the entry's level.
pub(crate) const WALK_CACHE_HITS: [Signal; 3] = [Signal::WalkCacheHitsLevel1, Signal::WalkCacheHitsLevel2, Signal::WalkCacheHitsLevel3];

/// Counts a miss of the first level of translation buffers, and one of the second if the tables were `walked`, by page size.
pub(crate) fn count_page(code: bool, page_bits: u8, walked: bool, tally: &mut Tally) {
    let (first, second) = match (page_bits, code) {
        (..16, true) => (Signal::InstructionTlbMisses4k, None),
        (16..21, true) => (Signal::InstructionTlbMisses64k, None),
        (21.., true) => (Signal::InstructionTlbMisses2m, None),
        (..16, false) => (Signal::DataTlbMisses4k, Some(Signal::DataTlbL2Misses4k)),
        (16..21, false) => (Signal::DataTlbMisses64k, Some(Signal::DataTlbL2Misses64k)),
        (21..30, false) => (Signal::DataTlbMisses2m, Some(Signal::DataTlbL2Misses2m)),
        (30.., false) => (Signal::DataTlbMisses1g, Some(Signal::DataTlbL2Misses1g)),
    };
    tally.add(first, 1);
    if let Some(second) = second.filter(|_| walked) {
        tally.add(second, 1);
    }
}

/// Counts a read of page tables by the source of the entry. `place` is the entry's depth below the root and whether it is the last, if it
/// is part of a tree. Returns the source.
pub(crate) fn count_read(
    code: bool,
    place: Option<(usize, bool)>,
    level: Option<Level>,
    source: DataSource,
    tally: &mut Tally,
) -> DataSource {
    let (signal, leaf) = match (code, level, source) {
        (true, Some(Level::Third), _) => (Signal::InstructionWalksFromL3, None),
        (true, Some(_), _) => (Signal::InstructionWalksFromL2, None),
        (true, None, source) if source.is_of_another_core() => (Signal::InstructionWalksFromOtherCore, None),
        (true, None, _) => (Signal::InstructionWalksFromMemory, None),
        (_, Some(Level::Third), _) => (Signal::DataWalksFromL3, Some(Signal::DataWalkLeavesFromL3)),
        (_, Some(_), _) => (Signal::DataWalksFromL2, Some(Signal::DataWalkLeavesFromL2)),
        (_, None, source) if source.is_of_another_core() => (Signal::DataWalksFromOtherCore, Some(Signal::DataWalkLeavesFromOtherCore)),
        (_, None, _) => (Signal::DataWalksFromMemory, Some(Signal::DataWalkLeavesFromMemory)),
    };
    tally.add(signal, 1);
    let source = if level == Some(Level::Sibling) { DataSource::Cache(2) } else { source };
    let Some((depth, last)) = place else { return source };
    count_entry(code, depth, last, source, tally);
    match leaf {
        Some(leaf) if last => tally.add(leaf, 1),
        None if !last => tally.add(Signal::InstructionWalkDirectories, 1),
        _ => {}
    }
    source
}

/// Counts an entry of page tables that a walk for code or for data read, `depth` entries below the root, from `source`.
fn count_entry(code: bool, depth: usize, last: bool, source: DataSource, tally: &mut Tally) {
    let place = match (code, source) {
        (true, DataSource::LocalMemory) => Some(Signal::InstructionWalksFromLocalMemory),
        (true, DataSource::RemoteMemory) => Some(Signal::InstructionWalksFromRemoteMemory),
        (true, DataSource::OtherPackage { modified: true }) => Some(Signal::InstructionWalksFromOtherPackageModified),
        (true, DataSource::OtherPackage { modified: false }) => Some(Signal::InstructionWalksFromOtherPackageClean),
        (true, DataSource::OtherCore { modified: true }) => Some(Signal::InstructionWalksFromOtherCoreModified),
        (true, DataSource::OtherCore { modified: false }) => Some(Signal::InstructionWalksFromOtherCoreClean),
        (false, DataSource::LocalMemory) if last => Some(Signal::DataWalkLeavesFromLocalMemory),
        (false, DataSource::RemoteMemory) if last => Some(Signal::DataWalkLeavesFromRemoteMemory),
        (false, DataSource::OtherPackage { modified: true }) if last => Some(Signal::DataWalkLeavesFromOtherPackageModified),
        (false, DataSource::OtherPackage { modified: false }) if last => Some(Signal::DataWalkLeavesFromOtherPackageClean),
        (false, DataSource::OtherCore { modified: true }) if last => Some(Signal::DataWalkLeavesFromOtherCoreModified),
        (false, DataSource::OtherCore { modified: false }) if last => Some(Signal::DataWalkLeavesFromOtherCoreClean),
        (_, DataSource::Cache(_)) => None,
        (true, source) => sources::signal(Purpose::CodeEntry, source),
        (false, source) if last => sources::signal(Purpose::DataLeaf, source),
        (false, _) => None,
    };
    // The distinctions that the manuals make: some levels, and some sources for each.
    let level = match (depth, last, source) {
        (0, false, DataSource::Cache(2)) => Some(Signal::WalkDirectoriesLevel1FromL2),
        (0, false, DataSource::Cache(3)) => Some(Signal::WalkDirectoriesLevel1FromL3),
        (0, false, _) => Some(Signal::WalkDirectoriesLevel1FromBeyond),
        (1, false, DataSource::Cache(2)) => Some(Signal::WalkDirectoriesLevel2FromL2),
        (1, false, DataSource::Cache(3)) => Some(Signal::WalkDirectoriesLevel2FromL3),
        (2, false, DataSource::Cache(2)) => Some(Signal::WalkDirectoriesLevel3FromL2),
        (2, false, DataSource::Cache(3)) => Some(Signal::WalkDirectoriesLevel3FromL3),
        (1, true, DataSource::Cache(2)) => Some(Signal::WalkLeavesLevel2FromL2),
        (1, true, DataSource::Cache(3)) => Some(Signal::WalkLeavesLevel2FromL3),
        (1, true, _) => Some(Signal::WalkLeavesLevel2FromBeyond),
        (2, true, DataSource::Cache(2)) => Some(Signal::WalkLeavesLevel3FromL2),
        (2, true, DataSource::Cache(3)) => Some(Signal::WalkLeavesLevel3FromL3),
        (2, true, _) => Some(Signal::WalkLeavesLevel3FromBeyond),
        (3, true, DataSource::Cache(2)) => Some(Signal::WalkLeavesLevel4FromL2),
        (3, true, DataSource::Cache(3)) => Some(Signal::WalkLeavesLevel4FromL3),
        (3, true, _) => Some(Signal::WalkLeavesLevel4FromBeyond),
        _ => None,
    };
    for signal in [place, level].into_iter().flatten() {
        tally.add(signal, 1);
    }
}

/// Counts a line that the data prefetcher requested and that missed the second level.
pub(crate) fn count_prefetch(source: DataSource, tally: &mut Tally) {
    let signal = match source {
        DataSource::Cache(_) => Signal::DataPrefetchesFromL3,
        source if source.is_of_another_core() => Signal::DataPrefetchesFromOtherCore,
        source if source.is_of_another_packages_cache() => Signal::DataPrefetchesFromOtherPackage,
        source if source.is_of_another_packages_memory() => Signal::DataPrefetchesFromRemoteMemory,
        _ => Signal::DataPrefetchesFromLocalMemory,
    };
    tally.add(signal, 1);
}
