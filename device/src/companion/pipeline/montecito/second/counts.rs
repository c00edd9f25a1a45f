//! What the queue of the second level counts.

use vm_pmu_arch::feed::Signal;

use super::operation::Kind;

/// What is counted, in the order of [`SIGNALS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in super::super) enum Count {
    /// Cancels: a recirculation, or a short way of an access that is not aligned.
    Recirculation,
    /// An older store to the place that was cancelled itself,
    CancelledStore,
    /// or that is in one of the stages L2A to L2C.
    StoreL2A,
    StoreL2M,
    StoreL2D,
    StoreL2C,
    /// An acquire before it.
    Acquire,
    /// It releases, and something is before it.
    Release,
    /// A bank of the data array.
    Bank,
    /// A semaphore that something is before.
    Semaphore,
    /// More than four operations in a clock.
    Oversubscription,
    /// Data that come in.
    Fill,
    /// Data that are read to be written back.
    WriteBack,
    /// `mf.a` or `sync.i` that something is before.
    Synchronization,
    /// A store that meets data that come in.
    FillStore,
    /// A store whose data would be read when a line takes those of another.
    StoreData,
    /// Cancels of all reasons.
    Cancel,
    /// Late cancels: behind an acquire of the same group,
    LateSibling,
    /// and of a short way behind an operation on the same chunk.
    LateBypass,
    /// Ways around the queue: of hits, from L1D and from L1W, and of misses.
    ShortBypass,
    LongBypass,
    MissBypass,
    /// Ways of misses that were begun for nothing.
    InvalidMissBypass,
    SpeculativeMissBypass,
    /// What operations found on entering.
    Hit,
    HeldHit,
    FillHit,
    BehindRecirculation,
    SameSet,
    BehindMiss,
    OneBehindMiss,
    SecondaryRead,
    SecondaryWrite,
    /// Recirculations that were issued.
    Recirculated,
    /// Operations that a snoop sends round, and lines that come at the time of a snoop.
    Snooped,
    SnoopedFill,
    /// What was completed, in the order of [`Kind`].
    IntegerLoad,
    FloatingLoad,
    Modification,
    Store,
    Prefetch,
    Other,
}

/// How many there are.
pub(super) const COUNTS: usize = Count::Other as usize + 1;

impl Count {
    /// Cancels by an older store in the stage that so many clocks lie between.
    pub(super) const STAGES: [Count; 4] = [Count::StoreL2A, Count::StoreL2M, Count::StoreL2D, Count::StoreL2C];

    /// What is completed.
    pub(super) fn completed(kind: Kind) -> Count {
        match kind {
            Kind::IntegerLoad => Count::IntegerLoad,
            Kind::FloatingLoad => Count::FloatingLoad,
            Kind::Modification => Count::Modification,
            Kind::Store => Count::Store,
            Kind::Prefetch => Count::Prefetch,
            Kind::Other => Count::Other,
        }
    }
}

/// The signals, in the order of [`Count`].
pub(in super::super::super) const SIGNALS: [Signal; COUNTS] = [
    Signal::L2QueueCancelsRecirculation,
    Signal::L2QueueCancelsCancelledStore,
    Signal::L2QueueCancelsStoreFirstStage,
    Signal::L2QueueCancelsStoreSecondStage,
    Signal::L2QueueCancelsStoreThirdStage,
    Signal::L2QueueCancelsStoreFourthStage,
    Signal::L2QueueCancelsAcquire,
    Signal::L2QueueCancelsRelease,
    Signal::L2QueueCancelsBank,
    Signal::L2QueueCancelsSemaphore,
    Signal::L2QueueCancelsOversubscription,
    Signal::L2QueueCancelsFill,
    Signal::L2QueueCancelsWriteBack,
    Signal::L2QueueCancelsSynchronization,
    Signal::L2QueueCancelsFillStore,
    Signal::L2QueueCancelsStoreData,
    Signal::L2QueueCancels,
    Signal::L2QueueLateCancelsSibling,
    Signal::L2QueueLateCancelsBypass,
    Signal::L2QueueShortBypasses,
    Signal::L2QueueLongBypasses,
    Signal::L2QueueMissBypasses,
    Signal::L2QueueMissBypassesInvalid,
    Signal::L2QueueMissBypassesSpeculative,
    Signal::L2QueueHits,
    Signal::L2QueueHitsHeld,
    Signal::L2QueueFillHits,
    Signal::L2QueueMissesBehindRecirculation,
    Signal::L2QueueMissesSameSet,
    Signal::L2QueueMissesBehindMiss,
    Signal::L2QueueMissesOneBehindMiss,
    Signal::L2QueueSecondaryReads,
    Signal::L2QueueSecondaryWrites,
    Signal::L2QueueRecirculations,
    Signal::L2QueueSnooped,
    Signal::L2QueueSnoopedFills,
    Signal::L2QueueIssuedIntegerLoads,
    Signal::L2QueueIssuedFloatingLoads,
    Signal::L2QueueIssuedModifications,
    Signal::L2QueueIssuedStores,
    Signal::L2QueueIssuedPrefetches,
    Signal::L2QueueIssuedOthers,
];
