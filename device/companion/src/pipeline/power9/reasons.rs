//! The reason of each cycle (PP42), and the signals it counts as.

use vm_pmu_arch::feed::Signal;

use super::watch::WatchedQueue;
use crate::instruction::AccessKind;
use crate::pipeline::{Source, Touch};

macro_rules! reasons {
    ($( $(#[$doc:meta])+ $reason:ident => $($signal:ident),+; )+) => {
        /// The reason for which the oldest unfinished instruction has not finished, or another cause of a cycle.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Reason {
            $( $(#[$doc])+ $reason, )+
        }

        /// Number of reasons.
        pub(in crate::pipeline) const REASONS: usize = [$( Reason::$reason ),+].len();

        impl Reason {
            /// All reasons, in order.
            pub(super) const ALL: [Reason; REASONS] = [$( Reason::$reason ),+];

            /// Returns the signals that a cycle with this reason counts as: tables 5-11 and 5-12, from the first level of the tree to the last.
            pub(super) fn signals(self) -> &'static [Signal] {
                match self {
                    $( Reason::$reason => &[$( Signal::$signal ),+], )+
                }
            }
        }
    };
}

reasons! {
    /// The oldest instruction finishes in this cycle.
    Finish => RetirementCycles;
    /// All instructions in the completion table have finished.
    AllFinished => AllFinishedCycles;
    /// All have finished, and an exception keeps the oldest from completing.
    BlockedException => ThreadBlockedCycles, BlockedExceptionCycles;
    /// All have finished, and a barrier waits for its answer.
    BlockedBarrier => ThreadBlockedCycles, StallSerializationCycles;
    /// All have finished, and another thread flushes.
    BlockedFlush => ThreadBlockedCycles, BlockedFlushCycles;
    /// All have finished, and the instructions after the oldest are flushed.
    BlockedFlushNext => ThreadBlockedCycles, BlockedFlushNextCycles;
    /// All have finished, and the beginning of a nested transaction waits.
    BlockedNestedBegin => ThreadBlockedCycles, BlockedNestedBeginCycles;
    /// All have finished, and the end of a nested transaction waits.
    BlockedNestedEnd => ThreadBlockedCycles, BlockedNestedEndCycles;
    /// All have finished, and a write of the floating-point status waits.
    BlockedStatusWrite => ThreadBlockedCycles, BlockedStatusWriteCycles;
    /// The oldest instruction is flushed instead of completing.
    OldestFlush => StallCycles, StallOldestFlushCycles;
    /// The completion table is empty.
    Empty => FrontEndEmptyCycles;
    /// The completion table is empty after a mispredicted branch.
    EmptyMisprediction => FrontEndEmptyCycles, FrontEndEmptyMispredictionCycles;
    /// The completion table is empty after a mispredicted branch whose target had to be fetched from beyond the first level.
    EmptyMispredictionMiss => FrontEndEmptyCycles, FrontEndEmptyMispredictionMissCycles;
    /// The completion table is empty, and code comes from the second level.
    EmptySecond => FrontEndEmptyCycles, FrontEndEmptyL2Cycles;
    /// The completion table is empty, and code comes from the third level.
    EmptyThird => FrontEndEmptyCycles, FrontEndEmptyL3Cycles;
    /// The completion table is empty, and code comes from beyond.
    EmptyMemory => FrontEndEmptyCycles, FrontEndEmptyMemoryCycles;
    /// The completion table is empty, and code is being translated.
    EmptyTranslation => FrontEndEmptyCycles, FrontEndEmptyTranslationCycles;
    /// The completion table is empty, and an instruction waits until all before it have completed.
    EmptyHeldSynchronization => FrontEndEmptyCycles, EmptyHeldCycles, EmptyHeldSynchronizationCycles;
    /// The completion table is empty, and the history buffer is full.
    EmptyHeldHistory => FrontEndEmptyCycles, EmptyHeldCycles, EmptyHeldHistoryCycles;
    /// The completion table is empty, and the issue queues are full.
    EmptyHeldIssueQueue => FrontEndEmptyCycles, EmptyHeldCycles, EmptyHeldIssueQueueCycles;
    /// The completion table is empty, and the previous transaction has not ended.
    EmptyHeldTransaction => FrontEndEmptyCycles, EmptyHeldCycles, EmptyHeldTransactionCycles;
    /// The completion table is empty, and an invalidation of translations has not been answered.
    EmptyHeldInvalidation => FrontEndEmptyCycles, EmptyHeldCycles;
    /// Not issued: the recirculation queue is full.
    HeldRecirculation => IssueHeldCycles, IssueHeldRecirculationCycles;
    /// Not issued: another operation took the port.
    HeldArbitration => IssueHeldCycles, IssueHeldArbitrationCycles;
    /// Not issued for another reason.
    HeldOther => IssueHeldCycles, IssueHeldOtherCycles;
    /// Fixed-point operations.
    Fixed => StallCycles, StallExecutionCycles, StallFixedCycles;
    /// Fixed-point operations of many cycles.
    FixedLong => StallCycles, StallExecutionCycles, StallFixedCycles, StallFixedLongCycles;
    /// Scalar floating-point operations.
    Float => StallCycles, StallExecutionCycles, StallFloatScalarCycles;
    /// Scalar floating-point operations of many cycles.
    FloatLong => StallCycles, StallExecutionCycles, StallFloatScalarCycles, StallFloatScalarLongCycles;
    /// Decimal and quad-precision operations.
    Decimal => StallCycles, StallExecutionCycles, StallDecimalCycles;
    /// Decimal and quad-precision operations of many cycles.
    DecimalLong => StallCycles, StallExecutionCycles, StallDecimalCycles, StallDecimalLongCycles;
    /// Permutations.
    Permute => StallCycles, StallExecutionCycles, StallPermuteCycles;
    /// Cryptography.
    Crypto => StallCycles, StallExecutionCycles, StallCryptoCycles;
    /// Integer vectors.
    VectorFixed => StallCycles, StallExecutionCycles, StallVectorFixedCycles;
    /// Integer vectors, of many cycles.
    VectorFixedLong => StallCycles, StallExecutionCycles, StallVectorFixedCycles, StallVectorFixedLongCycles;
    /// Floating-point vectors.
    VectorFloat => StallCycles, StallExecutionCycles, StallFloatVectorCycles;
    /// Floating-point vectors, of many cycles.
    VectorFloatLong => StallCycles, StallExecutionCycles, StallFloatVectorCycles, StallFloatVectorLongCycles;
    /// Branches.
    Branch => StallCycles, StallBranchCycles;
    /// Operations that no unit executes.
    DispatchFinish => StallCycles, StallDispatchFinishCycles;
    /// An access found its slice busy.
    AddressArbitration => StallCycles, StallMemoryCycles, StallAddressArbitrationCycles;
    /// The load queue is full.
    LoadQueueFull => StallCycles, StallMemoryCycles, StallLoadQueueFullCycles;
    /// No entry is free for another access that waits for its translation.
    TranslationQueueFull => StallCycles, StallMemoryCycles, StallTranslationQueueFullCycles;
    /// A translation is pending.
    Translation => StallCycles, StallMemoryCycles, StallTranslationCycles;
    /// No entry is free for another missed line.
    MissQueueFull => StallCycles, StallMemoryCycles, StallMissQueueFullCycles;
    /// A load waits for the data of a store.
    StoreDataWait => StallCycles, StallMemoryCycles, StallStoreDataWaitCycles;
    /// A load forwards the data of a store.
    Forward => StallCycles, StallMemoryCycles, StallStoreForwardCycles;
    /// Data come from the second level.
    MissSecond => StallCycles, StallMemoryCycles, StallLoadMissCycles, StallLoadL2Cycles;
    /// Data come from the second level, after a conflict with a store.
    MissConflict => StallCycles, StallMemoryCycles, StallLoadMissCycles, StallLoadL2Cycles, StallLoadConflictCycles;
    /// Data come from the third level.
    MissThird => StallCycles, StallMemoryCycles, StallLoadMissCycles, StallLoadL3Cycles;
    /// Data come from another core.
    MissOtherCore => StallCycles, StallMemoryCycles, StallLoadMissCycles, StallLoadOtherCoreCycles;
    /// Data come from memory.
    MissMemory => StallCycles, StallMemoryCycles, StallLoadMissCycles, StallLoadLocalMemoryCycles;
    /// Data come from another package.
    MissRemote => StallCycles, StallMemoryCycles, StallLoadMissCycles, StallLoadRemoteCycles;
    /// A load passes through the pipeline.
    LoadFinish => StallCycles, StallMemoryCycles, StallLoadFinishCycles;
    /// The second part of a load that crosses slices.
    SplitLoad => StallCycles, StallMemoryCycles, StallSplitLoadCycles;
    /// A load-and-reserve.
    LoadReserve => StallCycles, StallMemoryCycles, StallLoadReserveCycles;
    /// The store queue is full.
    StoreQueueFull => StallCycles, StallMemoryCycles, StallStoreBufferCycles;
    /// A store waits for its data.
    StoreData => StallCycles, StallMemoryCycles, StallStoreDataCycles;
    /// A store passes through the pipeline.
    StoreFinish => StallCycles, StallMemoryCycles, StallStoreFinishCycles;
    /// A store finds the finish port of its slice busy.
    StoreFinishArbitration => StallCycles, StallMemoryCycles, StallStoreFinishArbitrationCycles;
    /// A store finds its slice busy after a wait.
    StoreRelaunch => StallCycles, StallMemoryCycles, StallStoreRelaunchCycles;
    /// A store-conditional.
    StoreConditional => StallCycles, StallMemoryCycles, StallLockedCycles;
    /// The end of a transaction.
    TransactionEnd => StallCycles, StallMemoryCycles, StallTransactionEndCycles;
    /// An invalidation of segments.
    SegmentInvalidation => StallCycles, StallMemoryCycles, StallSegmentInvalidationCycles;
    /// An invalidation of translations.
    Invalidation => StallCycles, StallMemoryCycles, StallInvalidationCycles;
    /// A paste to an accelerator.
    Paste => StallCycles, StallMemoryCycles, StallPasteCycles;
    /// A barrier for device accesses.
    OrderingBarrier => StallCycles, StallMemoryCycles, StallOrderingBarrierCycles;
    /// A read of a register of the load/store unit.
    LoadStoreRegister => StallCycles, StallMemoryCycles, StallLoadStoreRegisterCycles;
    /// Any other operation of the load/store unit.
    LoadStoreOther => StallCycles, StallMemoryCycles, StallLoadStoreOtherCycles;
}

impl Reason {
    /// Whether nothing is in flight.
    pub(super) fn is_empty(self) -> bool {
        self.signals().contains(&Signal::FrontEndEmptyCycles)
    }

    /// Returns the units that are busy with this kind of operation, if they are watched.
    pub(super) fn units(self) -> Option<WatchedQueue> {
        match self {
            Reason::Fixed | Reason::FixedLong | Reason::VectorFixed => Some(WatchedQueue::Fixed),
            Reason::Float | Reason::FloatLong | Reason::VectorFloat | Reason::VectorFloatLong => Some(WatchedQueue::Float),
            Reason::Decimal | Reason::DecimalLong => Some(WatchedQueue::Decimal),
            _ => None,
        }
    }

    /// Returns the reason for data that come from `source`.
    pub(super) fn of_miss(source: Source) -> Reason {
        match source {
            Source::Second => Reason::MissSecond,
            Source::Third => Reason::MissThird,
            Source::OtherCore => Reason::MissOtherCore,
            Source::Memory => Reason::MissMemory,
            Source::Remote => Reason::MissRemote,
        }
    }

    /// Returns the reason for code that comes from `source`.
    pub(super) fn of_fetch(source: Source) -> Reason {
        match source {
            Source::Second => Reason::EmptySecond,
            Source::Third => Reason::EmptyThird,
            Source::OtherCore | Source::Memory | Source::Remote => Reason::EmptyMemory,
        }
    }

    /// Returns the reason for the pass of an access that hits.
    pub(super) fn of_pass(touch: &Touch) -> Reason {
        match touch.kind {
            AccessKind::Load | AccessKind::RegisterStackLoad => Reason::LoadFinish,
            _ if touch.stores() => Reason::StoreFinish,
            _ => Reason::LoadStoreOther,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_counts_in_one_class_of_the_stack() {
        // PP42: ICT_NOSLOT, NTC_FIN, THRD, NTC_ALL_FIN, ISSUE_HELD and CMPLU_STALL add up to all cycles.
        let classes = [
            Signal::FrontEndEmptyCycles,
            Signal::RetirementCycles,
            Signal::ThreadBlockedCycles,
            Signal::AllFinishedCycles,
            Signal::IssueHeldCycles,
            Signal::StallCycles,
        ];
        for reason in Reason::ALL {
            assert_eq!(reason.signals().iter().filter(|signal| classes.contains(signal)).count(), 1, "{reason:?}");
        }
    }
}
