//! Event counts of the second level's queue.

use vm_pmu_arch::feed::Signal;

use super::operation::OperationKind;

/// Counted events, in the order of [`SIGNALS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::pipeline::montecito) enum Count {
    /// Cancel: a recirculation, or a short bypass of a misaligned access.
    Recirculation,
    /// Cancel: an older store to the same place that was cancelled itself.
    CancelledStore,
    /// Cancels: an older store to the same place in one of the stages L2A to L2C.
    StoreL2A,
    StoreL2M,
    StoreL2D,
    StoreL2C,
    /// Cancel: an older acquire.
    Acquire,
    /// Cancel: a release with an older operation pending.
    Release,
    /// Cancel: a conflict for a bank of the data array.
    Bank,
    /// Cancel: a semaphore with an older operation pending.
    Semaphore,
    /// Cancel: more than four operations in a clock.
    Oversubscription,
    /// Cancel: incoming fill data.
    Fill,
    /// Cancel: data that are read for a write-back.
    WriteBack,
    /// Cancel: `mf.a` or `sync.i` with an older operation pending.
    Synchronization,
    /// Cancel: a store that meets incoming fill data.
    FillStore,
    /// Cancel: a store whose data would be read while a line merges those of another.
    StoreData,
    /// Cancels for all reasons.
    Cancel,
    /// Late cancel: behind an acquire of the same group.
    LateSibling,
    /// Late cancel: a short bypass behind an operation on the same chunk.
    LateBypass,
    /// Bypasses of the queue: of hits, from L1D and from L1W, and of misses.
    ShortBypass,
    LongBypass,
    MissBypass,
    /// Miss bypasses that were begun in vain.
    InvalidMissBypass,
    SpeculativeMissBypass,
    /// Results of the look-up on entry.
    Hit,
    HeldHit,
    FillHit,
    BehindRecirculation,
    SameSet,
    BehindMiss,
    OneBehindMiss,
    SecondaryRead,
    SecondaryWrite,
    /// Issued recirculations.
    Recirculated,
    /// Operations that a snoop sends to recirculation, and fills at the time of a snoop.
    Snooped,
    SnoopedFill,
    /// Completed operations, in the order of [`OperationKind`].
    IntegerLoad,
    FloatingLoad,
    Modification,
    Store,
    Prefetch,
    Other,
}

/// Number of counts.
pub(super) const COUNTS: usize = Count::Other as usize + 1;

impl Count {
    /// Cancels by an older store, by the number of clocks since its attempt.
    pub(super) const STAGES: [Count; 4] = [Count::StoreL2A, Count::StoreL2M, Count::StoreL2D, Count::StoreL2C];

    /// Returns the count of a completed operation.
    pub(super) fn completed(kind: OperationKind) -> Count {
        match kind {
            OperationKind::IntegerLoad => Count::IntegerLoad,
            OperationKind::FloatingLoad => Count::FloatingLoad,
            OperationKind::Modification => Count::Modification,
            OperationKind::Store => Count::Store,
            OperationKind::Prefetch => Count::Prefetch,
            OperationKind::Other => Count::Other,
        }
    }
}

/// The signals, in the order of [`Count`].
pub(in crate::pipeline) const SIGNALS: [Signal; COUNTS] = [
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
