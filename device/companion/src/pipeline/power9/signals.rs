//! States that overlap with the reasons of cycles, and events.

use vm_pmu_arch::feed::Signal;

use super::reasons::Reason;

/// States of a cycle that are known before completion, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Power9State {
    /// A decoded instruction waits, and none is dispatched.
    DispatchHeld,
    /// Dispatch is held: issue queues are full.
    HeldIssueQueue,
    /// Dispatch is held: the history buffer is full.
    HeldHistory,
    /// Dispatch is held: all instructions before have to complete.
    HeldSynchronization,
    /// Decode waits for the completion table.
    WindowFull,
    /// Decode waits for the effective address table.
    TargetsFull,
    /// Fetch waits for the instruction buffer.
    BufferFull,
    /// Fetch waits for an instruction that flushes those after it.
    FetchStopped,
    /// Dispatch has no instruction to take.
    Starved,
    /// A table walk for data is in progress.
    DataWalk,
    /// A table walk for code is in progress.
    CodeWalk,
    /// Dispatch is held: an invalidation of translations has not been answered.
    HeldInvalidation,
    /// Dispatch is held: the previous transaction has not ended.
    HeldTransaction,
    /// The end of a transaction waits for its answer.
    TransactionEndPending,
    // Watched queues and units: see `watch`.
    IssueQueueLow,
    IssueQueueHigh,
    Recirculation0To3,
    Recirculation4To6,
    Recirculation7To9,
    Recirculation10To12,
    SecondRecirculation0To3,
    SecondRecirculation4To6,
    SecondRecirculation7To9,
    SecondRecirculation10To12,
    StoreQueueFull,
    StoreQueueSliceEmpty,
    LoadStoreEmpty,
    MissQueueFull,
    SecondStoreQueueFull,
    FinishedLoads0Full,
    FinishedLoads1Full,
    FixedAllBusy,
    FixedIdle,
    FixedBusy,
    FloatAllBusy,
    DecimalBusy,
    BarrierQueued,
    SecondReadFirst,
    SecondReadSample,
    SecondCastoutFirst,
    SecondCastoutSample,
    ThirdReadFirst,
    ThirdReadSample,
    ThirdPrefetchFirst,
    ThirdPrefetchSample,
    ThirdCastoutFirst,
    ThirdCastSample,
    SecondSnoopFirst,
    SecondSnoopSample,
    ThirdSnoopFirst,
    ThirdSnoopSample,
    MissQueueEmpty,
    StoreQueueEntry,
    LoadQueueEntry,
    MissQueueEntry,
    ThirdInjectFirst,
    ThirdInjectSample,
}

pub(super) const STATE_COUNT: usize = Power9State::ThirdInjectSample as usize + 1;
/// The states of queues and units, one bit each.
const WATCHED: u64 = (1 << STATE_COUNT) - (1 << Power9State::IssueQueueLow as usize);

/// Whether any of `states`, one bit each, belongs to queues or units.
pub(in crate::pipeline) fn is_watched(states: u64) -> bool {
    states & WATCHED != 0
}

/// The signals of the states, in order.
pub(in crate::pipeline) const STATES: [Signal; STATE_COUNT] = [
    Signal::DispatchStallCycles,
    Signal::DispatchHeldIssueQueueCycles,
    Signal::DispatchHeldHistoryCycles,
    Signal::DispatchStallSerializationCycles,
    Signal::DecodeHeldWindowCycles,
    Signal::BranchTableFullCycles,
    Signal::FetchBufferFullCycles,
    Signal::FetchStoppedCycles,
    Signal::DecoderEmptyCycles,
    Signal::DataWalkCycles,
    Signal::InstructionWalkCycles,
    Signal::DispatchHeldInvalidationCycles,
    Signal::DispatchHeldTransactionCycles,
    Signal::TransactionEndPendingCycles,
    Signal::IssueQueueLowCycles,
    Signal::IssueQueueHighCycles,
    Signal::RecirculationQueue0To3Cycles,
    Signal::RecirculationQueue4To6Cycles,
    Signal::RecirculationQueue7To9Cycles,
    Signal::RecirculationQueue10To12Cycles,
    Signal::SecondRecirculationQueue0To3Cycles,
    Signal::SecondRecirculationQueue4To6Cycles,
    Signal::SecondRecirculationQueue7To9Cycles,
    Signal::SecondRecirculationQueue10To12Cycles,
    Signal::StoreQueueFullCycles,
    Signal::StoreQueueSliceEmptyCycles,
    Signal::LoadStoreEmptyCycles,
    Signal::MissQueueFullCycles,
    Signal::SecondStoreQueueFullCycles,
    Signal::FinishedLoadQueue0FullCycles,
    Signal::FinishedLoadQueue1FullCycles,
    Signal::FixedUnitsAllBusyCycles,
    Signal::FixedUnitsIdleCycles,
    Signal::FixedUnitsBusyCycles,
    Signal::FloatUnitsAllBusyCycles,
    Signal::DecimalUnitBusyCycles,
    Signal::BarrierQueuedCycles,
    Signal::SecondReadMachine0Cycles,
    Signal::SecondReadMachineSampleCycles,
    Signal::SecondCastoutMachine0Cycles,
    Signal::SecondCastoutMachineSampleCycles,
    Signal::ThirdReadMachine0Cycles,
    Signal::ThirdReadMachineSampleCycles,
    Signal::ThirdPrefetchMachine0Cycles,
    Signal::ThirdPrefetchMachineSampleCycles,
    Signal::ThirdCastoutMachine0Cycles,
    Signal::ThirdCastMachineSampleCycles,
    Signal::SecondSnoopMachine0Cycles,
    Signal::SecondSnoopMachineSampleCycles,
    Signal::ThirdSnoopMachine0Cycles,
    Signal::ThirdSnoopMachineSampleCycles,
    Signal::MissQueueEmptyCycles,
    Signal::StoreQueueEntryCycles,
    Signal::LoadQueueEntryCycles,
    Signal::MissQueueEntryCycles,
    Signal::ThirdInjectMachine0Cycles,
    Signal::ThirdInjectMachineSampleCycles,
];

/// The events that the pipeline counts.
pub(in crate::pipeline) const EVENTS: [Signal; 75] = [
    Signal::LoadsForwarded,
    Signal::RejectsStoreData,
    Signal::RejectsTranslation,
    Signal::RejectsMissQueue,
    Signal::InstructionsOtherThreadsStalled,
    Signal::StoresIssued,
    Signal::StallsEndedEmpty,
    Signal::OldestFlushes,
    Signal::LoadStoreFlushes,
    Signal::LoadStoreFlushesNext,
    Signal::FlushesStoreHitLoad,
    Signal::FlushesAlias,
    Signal::FlushesReservation,
    Signal::StoreHitLoadEntries,
    Signal::StoreHitLoadDependences,
    Signal::DispatchFlushes,
    Signal::DispatchFlushesScoreboard,
    Signal::DispatchFlushesInvalidation,
    Signal::FetchMissesAfterPrediction,
    Signal::FetchMissesAfterMisprediction,
    Signal::LoadsBehindStore,
    Signal::StoresBehindOther,
    Signal::NonDataStores,
    Signal::LoadHitsSlice0,
    Signal::LoadHitsSlice1,
    Signal::LoadHitsSlice2,
    Signal::LoadHitsSlice3,
    Signal::LoadMissesSlice0,
    Signal::LoadMissesSlice1,
    Signal::LoadMissesSlice2,
    Signal::LoadMissesSlice3,
    Signal::TranslationHitsSlice0,
    Signal::TranslationHitsSlice1,
    Signal::TranslationHitsSlice2,
    Signal::TranslationHitsSlice3,
    Signal::VectorLoadsSlice0,
    Signal::VectorLoadsSlice1,
    Signal::VectorLoadsSlice2,
    Signal::VectorLoadsSlice3,
    Signal::MisalignedLoadsSlice0,
    Signal::MisalignedLoadsSlice1,
    Signal::MisalignedLoadsSlice2,
    Signal::MisalignedLoadsSlice3,
    Signal::MisalignedStoresSlice0,
    Signal::MisalignedStoresSlice1,
    Signal::MisalignedStoresSlice2,
    Signal::MisalignedStoresSlice3,
    Signal::LoadsWithoutMachine,
    Signal::FetchesWithoutMachine,
    Signal::StoresWithoutMachine,
    Signal::CastoutsWithoutMachine,
    Signal::FetchesBehindOther,
    Signal::LoadsMergedWithPrefetch,
    Signal::ReadsBehindPrefetch,
    Signal::StoresNotAccepted,
    Signal::StoreRejectsSlice0,
    Signal::StoreRejectsSlice1,
    Signal::StoreRejectsSlice2,
    Signal::StoreRejectsSlice3,
    Signal::FalseStoreHitsSlice0,
    Signal::FalseStoreHitsSlice1,
    Signal::FalseStoreHitsSlice2,
    Signal::FalseStoreHitsSlice3,
    Signal::PrefetchTranslationMissesSlice0,
    Signal::PrefetchTranslationMissesSlice1,
    Signal::PrefetchTranslationMissesSlice2,
    Signal::PrefetchTranslationMissesSlice3,
    Signal::SoftwarePrefetchFills,
    Signal::SoftwarePrefetchFillsFromMemory,
    Signal::LoadsBehindFetch,
    Signal::FetchesBehindStore,
    Signal::WayPredictionMissesSlice0,
    Signal::WayPredictionMissesSlice1,
    Signal::WayPredictionMissesSlice2,
    Signal::WayPredictionMissesSlice3,
];

/// Returns the signals of a cycle whose reason has this number.
pub(in crate::pipeline) fn signals_of(reason: u8) -> &'static [Signal] {
    Reason::ALL.get(usize::from(reason)).map_or(&[], |reason| reason.signals())
}

/// Returns the signals of all reasons, some of them several times.
pub(in crate::pipeline) fn reason_signals() -> impl Iterator<Item = Signal> {
    Reason::ALL.into_iter().flat_map(|reason| reason.signals().iter().copied())
}

/// Whether any reason counts as `signal`.
pub(in crate::pipeline) fn has_reason_of(signal: Signal) -> bool {
    reason_signals().any(|each| each == signal)
}

/// Accesses that hit the first-level TLB, by slice.
pub(super) const TRANSLATION_HITS: [Signal; 4] =
    [Signal::TranslationHitsSlice0, Signal::TranslationHitsSlice1, Signal::TranslationHitsSlice2, Signal::TranslationHitsSlice3];
/// Vector loads, and loads and stores that lie in one slice more than necessary, by slice.
pub(super) const VECTOR_LOADS: [Signal; 4] =
    [Signal::VectorLoadsSlice0, Signal::VectorLoadsSlice1, Signal::VectorLoadsSlice2, Signal::VectorLoadsSlice3];
pub(super) const MISALIGNED_LOADS: [Signal; 4] =
    [Signal::MisalignedLoadsSlice0, Signal::MisalignedLoadsSlice1, Signal::MisalignedLoadsSlice2, Signal::MisalignedLoadsSlice3];
pub(super) const MISALIGNED_STORES: [Signal; 4] =
    [Signal::MisalignedStoresSlice0, Signal::MisalignedStoresSlice1, Signal::MisalignedStoresSlice2, Signal::MisalignedStoresSlice3];
/// Loads that hit the data cache, and loads that missed it, by slice.
pub(super) const LOAD_HITS: [Signal; 4] = [Signal::LoadHitsSlice0, Signal::LoadHitsSlice1, Signal::LoadHitsSlice2, Signal::LoadHitsSlice3];
pub(super) const LOAD_MISSES: [Signal; 4] =
    [Signal::LoadMissesSlice0, Signal::LoadMissesSlice1, Signal::LoadMissesSlice2, Signal::LoadMissesSlice3];
/// Rejected stores, and loads that are held for a store that lies elsewhere, by slice.
pub(super) const STORE_REJECTS: [Signal; 4] =
    [Signal::StoreRejectsSlice0, Signal::StoreRejectsSlice1, Signal::StoreRejectsSlice2, Signal::StoreRejectsSlice3];
pub(super) const FALSE_STORE_HITS: [Signal; 4] =
    [Signal::FalseStoreHitsSlice0, Signal::FalseStoreHitsSlice1, Signal::FalseStoreHitsSlice2, Signal::FalseStoreHitsSlice3];
/// Loads whose line is not in the way prediction table, by slice.
pub(in crate::pipeline) const WAY_PREDICTION_MISSES: [Signal; 4] = [
    Signal::WayPredictionMissesSlice0,
    Signal::WayPredictionMissesSlice1,
    Signal::WayPredictionMissesSlice2,
    Signal::WayPredictionMissesSlice3,
];
/// Software prefetches that miss the first-level TLB, by slice.
pub(super) const PREFETCH_TRANSLATION_MISSES: [Signal; 4] = [
    Signal::PrefetchTranslationMissesSlice0,
    Signal::PrefetchTranslationMissesSlice1,
    Signal::PrefetchTranslationMissesSlice2,
    Signal::PrefetchTranslationMissesSlice3,
];
