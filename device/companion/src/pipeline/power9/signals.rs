//! States that overlap with the reasons of cycles, and events.

use vm_pmu_arch::feed::Signal;

macro_rules! states {
    ($( $(#[$doc:meta])* $state:ident = $signal:ident; )+) => {
        /// States of a cycle that are known before completion, in the order of [`STATES`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[allow(dead_code, reason = "those of queues and units are found by their numbers")]
        pub(super) enum Power9State {
            $( $(#[$doc])* $state, )+
        }

        /// The signals of the states, in order.
        pub(in crate::pipeline) const STATES: [Signal; STATE_COUNT] = [$( Signal::$signal ),+];

        /// Number of states.
        pub(super) const STATE_COUNT: usize = [$( Signal::$signal ),+].len();
    };
}

states! {
    /// A decoded instruction waits, and none is dispatched.
    DispatchHeld = DispatchStallCycles;
    /// Dispatch is held: issue queues are full.
    HeldIssueQueue = DispatchHeldIssueQueueCycles;
    /// Dispatch is held: the history buffer is full.
    HeldHistory = DispatchHeldHistoryCycles;
    /// Dispatch is held: all instructions before have to complete.
    HeldSynchronization = DispatchStallSerializationCycles;
    /// Decode waits for the completion table.
    WindowFull = DecodeHeldWindowCycles;
    /// Decode waits for the effective address table.
    TargetsFull = BranchTableFullCycles;
    /// Fetch waits for the instruction buffer.
    BufferFull = FetchBufferFullCycles;
    /// Fetch waits for an instruction that flushes those after it.
    FetchStopped = FetchStoppedCycles;
    /// Dispatch has no instruction to take.
    Starved = DecoderEmptyCycles;
    /// A table walk for data is in progress.
    DataWalk = DataWalkCycles;
    /// A table walk for code is in progress.
    CodeWalk = InstructionWalkCycles;
    /// Dispatch is held: an invalidation of translations has not been answered.
    HeldInvalidation = DispatchHeldInvalidationCycles;
    /// Dispatch is held: the previous transaction has not ended.
    HeldTransaction = DispatchHeldTransactionCycles;
    /// The end of a transaction waits for its answer.
    TransactionEndPending = TransactionEndPendingCycles;
    // Watched queues and units: see `watch`.
    IssueQueueLow = IssueQueueLowCycles;
    IssueQueueHigh = IssueQueueHighCycles;
    Recirculation0To3 = RecirculationQueue0To3Cycles;
    Recirculation4To6 = RecirculationQueue4To6Cycles;
    Recirculation7To9 = RecirculationQueue7To9Cycles;
    Recirculation10To12 = RecirculationQueue10To12Cycles;
    SecondRecirculation0To3 = SecondRecirculationQueue0To3Cycles;
    SecondRecirculation4To6 = SecondRecirculationQueue4To6Cycles;
    SecondRecirculation7To9 = SecondRecirculationQueue7To9Cycles;
    SecondRecirculation10To12 = SecondRecirculationQueue10To12Cycles;
    StoreQueueFull = StoreQueueFullCycles;
    StoreQueueSliceEmpty = StoreQueueSliceEmptyCycles;
    LoadStoreEmpty = LoadStoreEmptyCycles;
    MissQueueFull = MissQueueFullCycles;
    SecondStoreQueueFull = SecondStoreQueueFullCycles;
    FinishedLoads0Full = FinishedLoadQueue0FullCycles;
    FinishedLoads1Full = FinishedLoadQueue1FullCycles;
    FixedAllBusy = FixedUnitsAllBusyCycles;
    FixedIdle = FixedUnitsIdleCycles;
    FixedBusy = FixedUnitsBusyCycles;
    FloatAllBusy = FloatUnitsAllBusyCycles;
    DecimalBusy = DecimalUnitBusyCycles;
    BarrierQueued = BarrierQueuedCycles;
    SecondReadFirst = SecondReadMachine0Cycles;
    SecondReadSample = SecondReadMachineSampleCycles;
    SecondCastoutFirst = SecondCastoutMachine0Cycles;
    SecondCastoutSample = SecondCastoutMachineSampleCycles;
    ThirdReadFirst = ThirdReadMachine0Cycles;
    ThirdReadSample = ThirdReadMachineSampleCycles;
    ThirdPrefetchFirst = ThirdPrefetchMachine0Cycles;
    ThirdPrefetchSample = ThirdPrefetchMachineSampleCycles;
    ThirdCastoutFirst = ThirdCastoutMachine0Cycles;
    ThirdCastSample = ThirdCastMachineSampleCycles;
    SecondSnoopFirst = SecondSnoopMachine0Cycles;
    SecondSnoopSample = SecondSnoopMachineSampleCycles;
    ThirdSnoopFirst = ThirdSnoopMachine0Cycles;
    ThirdSnoopSample = ThirdSnoopMachineSampleCycles;
    MissQueueEmpty = MissQueueEmptyCycles;
    StoreQueueEntry = StoreQueueEntryCycles;
    LoadQueueEntry = LoadQueueEntryCycles;
    MissQueueEntry = MissQueueEntryCycles;
    ThirdInjectFirst = ThirdInjectMachine0Cycles;
    ThirdInjectSample = ThirdInjectMachineSampleCycles;
}

/// The states of queues and units, one bit each.
const WATCHED: u64 = (1 << STATE_COUNT) - (1 << Power9State::IssueQueueLow as usize);

/// Whether any of `states`, one bit each, belongs to queues or units.
pub(in crate::pipeline) fn is_watched(states: u64) -> bool {
    states & WATCHED != 0
}

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
