//! The reason of each cycle (PP42), and the signals it counts as.

use vm_pmu_arch::feed::Signal;

use super::watch::WatchedQueue;
use crate::instruction::AccessKind;
use crate::pipeline::{Source, Touch};

/// The reason for which the oldest unfinished instruction has not finished, or another cause of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Reason {
    /// The oldest instruction finishes in this cycle.
    Finish,
    /// All instructions in the completion table have finished.
    AllFinished,
    /// All have finished, and an exception keeps the oldest from completing.
    BlockedException,
    /// All have finished, and a barrier waits for its answer.
    BlockedBarrier,
    /// All have finished, and another thread flushes.
    BlockedFlush,
    /// All have finished, and the instructions after the oldest are flushed.
    BlockedFlushNext,
    /// All have finished, and the beginning of a nested transaction waits.
    BlockedNestedBegin,
    /// All have finished, and the end of a nested transaction waits.
    BlockedNestedEnd,
    /// All have finished, and a write of the floating-point status waits.
    BlockedStatusWrite,
    /// The oldest instruction is flushed instead of completing.
    OldestFlush,
    /// The completion table is empty.
    Empty,
    /// The completion table is empty after a mispredicted branch.
    EmptyMisprediction,
    /// The completion table is empty after a mispredicted branch whose target had to be fetched from beyond the first level.
    EmptyMispredictionMiss,
    /// The completion table is empty, and code comes from the second level.
    EmptySecond,
    /// The completion table is empty, and code comes from the third level.
    EmptyThird,
    /// The completion table is empty, and code comes from beyond.
    EmptyMemory,
    /// The completion table is empty, and code is being translated.
    EmptyTranslation,
    /// The completion table is empty, and an instruction waits until all before it have completed.
    EmptyHeldSynchronization,
    /// The completion table is empty, and the history buffer is full.
    EmptyHeldHistory,
    /// The completion table is empty, and the issue queues are full.
    EmptyHeldIssueQueue,
    /// The completion table is empty, and the previous transaction has not ended.
    EmptyHeldTransaction,
    /// The completion table is empty, and an invalidation of translations has not been answered.
    EmptyHeldInvalidation,
    /// Not issued: the recirculation queue is full.
    HeldRecirculation,
    /// Not issued: another operation took the port.
    HeldArbitration,
    /// Not issued for another reason.
    HeldOther,
    /// Fixed-point operations.
    Fixed,
    /// Fixed-point operations of many cycles.
    FixedLong,
    /// Scalar floating-point operations.
    Float,
    /// Scalar floating-point operations of many cycles.
    FloatLong,
    /// Decimal and quad-precision operations.
    Decimal,
    /// Decimal and quad-precision operations of many cycles.
    DecimalLong,
    /// Permutations.
    Permute,
    /// Cryptography.
    Crypto,
    /// Integer vectors.
    VectorFixed,
    /// Integer vectors, of many cycles.
    VectorFixedLong,
    /// Floating-point vectors.
    VectorFloat,
    /// Floating-point vectors, of many cycles.
    VectorFloatLong,
    /// Branches.
    Branch,
    /// Operations that no unit executes.
    DispatchFinish,
    /// An access found its slice busy.
    AddressArbitration,
    /// The load queue is full.
    LoadQueueFull,
    /// No entry is free for another access that waits for its translation.
    TranslationQueueFull,
    /// A translation is pending.
    Translation,
    /// No entry is free for another missed line.
    MissQueueFull,
    /// A load waits for the data of a store.
    StoreDataWait,
    /// A load forwards the data of a store.
    Forward,
    /// Data come from the second level.
    MissSecond,
    /// Data come from the second level, after a conflict with a store.
    MissConflict,
    /// Data come from the third level.
    MissThird,
    /// Data come from another core.
    MissOtherCore,
    /// Data come from memory.
    MissMemory,
    /// Data come from another package.
    MissRemote,
    /// A load passes through the pipeline.
    LoadFinish,
    /// The second part of a load that crosses slices.
    SplitLoad,
    /// A load-and-reserve.
    LoadReserve,
    /// The store queue is full.
    StoreQueueFull,
    /// A store waits for its data.
    StoreData,
    /// A store passes through the pipeline.
    StoreFinish,
    /// A store finds the finish port of its slice busy.
    StoreFinishArbitration,
    /// A store finds its slice busy after a wait.
    StoreRelaunch,
    /// A store-conditional.
    StoreConditional,
    /// The end of a transaction.
    TransactionEnd,
    /// An invalidation of segments.
    SegmentInvalidation,
    /// An invalidation of translations.
    Invalidation,
    /// A paste to an accelerator.
    Paste,
    /// A barrier for device accesses.
    OrderingBarrier,
    /// A read of a register of the load/store unit.
    LoadStoreRegister,
    /// Any other operation of the load/store unit.
    LoadStoreOther,
}

/// Number of reasons.
pub(in crate::pipeline) const REASONS: usize = Reason::LoadStoreOther as usize + 1;

impl Reason {
    /// All reasons, in order.
    pub(super) const ALL: [Reason; REASONS] = [
        Reason::Finish,
        Reason::AllFinished,
        Reason::BlockedException,
        Reason::BlockedBarrier,
        Reason::BlockedFlush,
        Reason::BlockedFlushNext,
        Reason::BlockedNestedBegin,
        Reason::BlockedNestedEnd,
        Reason::BlockedStatusWrite,
        Reason::OldestFlush,
        Reason::Empty,
        Reason::EmptyMisprediction,
        Reason::EmptyMispredictionMiss,
        Reason::EmptySecond,
        Reason::EmptyThird,
        Reason::EmptyMemory,
        Reason::EmptyTranslation,
        Reason::EmptyHeldSynchronization,
        Reason::EmptyHeldHistory,
        Reason::EmptyHeldIssueQueue,
        Reason::EmptyHeldTransaction,
        Reason::EmptyHeldInvalidation,
        Reason::HeldRecirculation,
        Reason::HeldArbitration,
        Reason::HeldOther,
        Reason::Fixed,
        Reason::FixedLong,
        Reason::Float,
        Reason::FloatLong,
        Reason::Decimal,
        Reason::DecimalLong,
        Reason::Permute,
        Reason::Crypto,
        Reason::VectorFixed,
        Reason::VectorFixedLong,
        Reason::VectorFloat,
        Reason::VectorFloatLong,
        Reason::Branch,
        Reason::DispatchFinish,
        Reason::AddressArbitration,
        Reason::LoadQueueFull,
        Reason::TranslationQueueFull,
        Reason::Translation,
        Reason::MissQueueFull,
        Reason::StoreDataWait,
        Reason::Forward,
        Reason::MissSecond,
        Reason::MissConflict,
        Reason::MissThird,
        Reason::MissOtherCore,
        Reason::MissMemory,
        Reason::MissRemote,
        Reason::LoadFinish,
        Reason::SplitLoad,
        Reason::LoadReserve,
        Reason::StoreQueueFull,
        Reason::StoreData,
        Reason::StoreFinish,
        Reason::StoreFinishArbitration,
        Reason::StoreRelaunch,
        Reason::StoreConditional,
        Reason::TransactionEnd,
        Reason::SegmentInvalidation,
        Reason::Invalidation,
        Reason::Paste,
        Reason::OrderingBarrier,
        Reason::LoadStoreRegister,
        Reason::LoadStoreOther,
    ];

    /// Whether nothing is in flight.
    pub(super) fn is_empty(self) -> bool {
        self.signals().contains(&Signal::FrontEndEmptyCycles)
    }

    /// Returns the signals that a cycle with this reason counts as: tables 5-11 and 5-12, from the first level of the tree to the last.
    pub(super) fn signals(self) -> &'static [Signal] {
        use Signal as S;
        match self {
            Reason::Finish => &[S::RetirementCycles],
            Reason::AllFinished => &[S::AllFinishedCycles],
            Reason::BlockedException => &[S::ThreadBlockedCycles, S::BlockedExceptionCycles],
            Reason::BlockedBarrier => &[S::ThreadBlockedCycles, S::StallSerializationCycles],
            Reason::BlockedFlush => &[S::ThreadBlockedCycles, S::BlockedFlushCycles],
            Reason::BlockedFlushNext => &[S::ThreadBlockedCycles, S::BlockedFlushNextCycles],
            Reason::BlockedNestedBegin => &[S::ThreadBlockedCycles, S::BlockedNestedBeginCycles],
            Reason::BlockedNestedEnd => &[S::ThreadBlockedCycles, S::BlockedNestedEndCycles],
            Reason::BlockedStatusWrite => &[S::ThreadBlockedCycles, S::BlockedStatusWriteCycles],
            Reason::OldestFlush => &[S::StallCycles, S::StallOldestFlushCycles],
            Reason::Empty => &[S::FrontEndEmptyCycles],
            Reason::EmptyMisprediction => &[S::FrontEndEmptyCycles, S::FrontEndEmptyMispredictionCycles],
            Reason::EmptyMispredictionMiss => &[S::FrontEndEmptyCycles, S::FrontEndEmptyMispredictionMissCycles],
            Reason::EmptySecond => &[S::FrontEndEmptyCycles, S::FrontEndEmptyL2Cycles],
            Reason::EmptyThird => &[S::FrontEndEmptyCycles, S::FrontEndEmptyL3Cycles],
            Reason::EmptyMemory => &[S::FrontEndEmptyCycles, S::FrontEndEmptyMemoryCycles],
            Reason::EmptyTranslation => &[S::FrontEndEmptyCycles, S::FrontEndEmptyTranslationCycles],
            Reason::EmptyHeldSynchronization => &[S::FrontEndEmptyCycles, S::EmptyHeldCycles, S::EmptyHeldSynchronizationCycles],
            Reason::EmptyHeldHistory => &[S::FrontEndEmptyCycles, S::EmptyHeldCycles, S::EmptyHeldHistoryCycles],
            Reason::EmptyHeldIssueQueue => &[S::FrontEndEmptyCycles, S::EmptyHeldCycles, S::EmptyHeldIssueQueueCycles],
            Reason::EmptyHeldTransaction => &[S::FrontEndEmptyCycles, S::EmptyHeldCycles, S::EmptyHeldTransactionCycles],
            Reason::EmptyHeldInvalidation => &[S::FrontEndEmptyCycles, S::EmptyHeldCycles],
            Reason::HeldRecirculation => &[S::IssueHeldCycles, S::IssueHeldRecirculationCycles],
            Reason::HeldArbitration => &[S::IssueHeldCycles, S::IssueHeldArbitrationCycles],
            Reason::HeldOther => &[S::IssueHeldCycles, S::IssueHeldOtherCycles],
            Reason::Fixed => &[S::StallCycles, S::StallExecutionCycles, S::StallFixedCycles],
            Reason::FixedLong => &[S::StallCycles, S::StallExecutionCycles, S::StallFixedCycles, S::StallFixedLongCycles],
            Reason::Float => &[S::StallCycles, S::StallExecutionCycles, S::StallFloatScalarCycles],
            Reason::FloatLong => &[S::StallCycles, S::StallExecutionCycles, S::StallFloatScalarCycles, S::StallFloatScalarLongCycles],
            Reason::Decimal => &[S::StallCycles, S::StallExecutionCycles, S::StallDecimalCycles],
            Reason::DecimalLong => &[S::StallCycles, S::StallExecutionCycles, S::StallDecimalCycles, S::StallDecimalLongCycles],
            Reason::Permute => &[S::StallCycles, S::StallExecutionCycles, S::StallPermuteCycles],
            Reason::Crypto => &[S::StallCycles, S::StallExecutionCycles, S::StallCryptoCycles],
            Reason::VectorFixed => &[S::StallCycles, S::StallExecutionCycles, S::StallVectorFixedCycles],
            Reason::VectorFixedLong => &[S::StallCycles, S::StallExecutionCycles, S::StallVectorFixedCycles, S::StallVectorFixedLongCycles],
            Reason::VectorFloat => &[S::StallCycles, S::StallExecutionCycles, S::StallFloatVectorCycles],
            Reason::VectorFloatLong => &[S::StallCycles, S::StallExecutionCycles, S::StallFloatVectorCycles, S::StallFloatVectorLongCycles],
            Reason::Branch => &[S::StallCycles, S::StallBranchCycles],
            Reason::DispatchFinish => &[S::StallCycles, S::StallDispatchFinishCycles],
            Reason::AddressArbitration => &[S::StallCycles, S::StallMemoryCycles, S::StallAddressArbitrationCycles],
            Reason::LoadQueueFull => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadQueueFullCycles],
            Reason::TranslationQueueFull => &[S::StallCycles, S::StallMemoryCycles, S::StallTranslationQueueFullCycles],
            Reason::Translation => &[S::StallCycles, S::StallMemoryCycles, S::StallTranslationCycles],
            Reason::MissQueueFull => &[S::StallCycles, S::StallMemoryCycles, S::StallMissQueueFullCycles],
            Reason::StoreDataWait => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreDataWaitCycles],
            Reason::Forward => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreForwardCycles],
            Reason::MissSecond => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadMissCycles, S::StallLoadL2Cycles],
            Reason::MissConflict => {
                &[S::StallCycles, S::StallMemoryCycles, S::StallLoadMissCycles, S::StallLoadL2Cycles, S::StallLoadConflictCycles]
            }
            Reason::MissThird => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadMissCycles, S::StallLoadL3Cycles],
            Reason::MissOtherCore => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadMissCycles, S::StallLoadOtherCoreCycles],
            Reason::MissMemory => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadMissCycles, S::StallLoadLocalMemoryCycles],
            Reason::MissRemote => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadMissCycles, S::StallLoadRemoteCycles],
            Reason::LoadFinish => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadFinishCycles],
            Reason::SplitLoad => &[S::StallCycles, S::StallMemoryCycles, S::StallSplitLoadCycles],
            Reason::LoadReserve => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadReserveCycles],
            Reason::StoreQueueFull => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreBufferCycles],
            Reason::StoreData => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreDataCycles],
            Reason::StoreFinish => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreFinishCycles],
            Reason::StoreFinishArbitration => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreFinishArbitrationCycles],
            Reason::StoreRelaunch => &[S::StallCycles, S::StallMemoryCycles, S::StallStoreRelaunchCycles],
            Reason::StoreConditional => &[S::StallCycles, S::StallMemoryCycles, S::StallLockedCycles],
            Reason::TransactionEnd => &[S::StallCycles, S::StallMemoryCycles, S::StallTransactionEndCycles],
            Reason::SegmentInvalidation => &[S::StallCycles, S::StallMemoryCycles, S::StallSegmentInvalidationCycles],
            Reason::Invalidation => &[S::StallCycles, S::StallMemoryCycles, S::StallInvalidationCycles],
            Reason::Paste => &[S::StallCycles, S::StallMemoryCycles, S::StallPasteCycles],
            Reason::OrderingBarrier => &[S::StallCycles, S::StallMemoryCycles, S::StallOrderingBarrierCycles],
            Reason::LoadStoreRegister => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadStoreRegisterCycles],
            Reason::LoadStoreOther => &[S::StallCycles, S::StallMemoryCycles, S::StallLoadStoreOtherCycles],
        }
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

/// Reasons of the last phases of an instruction, each up to some cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    reasons: [Reason; Phases::MOST],
    until: [u64; Phases::MOST],
    count: usize,
}

impl Phases {
    const MOST: usize = 24;

    pub(super) const fn new() -> Phases {
        Phases { reasons: [Reason::Finish; Phases::MOST], until: [0; Phases::MOST], count: 0 }
    }

    /// Adds a phase with `reason` up to cycle `until`. A phase that does not fit gets the reason of the next one.
    #[inline]
    pub(super) fn push(&mut self, reason: Reason, until: u64) {
        if let (Some(place), Some(cycle)) = (self.reasons.get_mut(self.count), self.until.get_mut(self.count)) {
            (*place, *cycle) = (reason, until);
            self.count += 1;
        }
    }

    /// Returns the reason of the last cycles before `finished`.
    pub(super) fn last(&self, finished: u64) -> Option<Reason> {
        let mut before = 0;
        let mut last = None;
        for (reason, until) in self.all() {
            if until.min(finished) > before {
                (before, last) = (until, Some(reason));
            }
        }
        last
    }

    #[inline]
    pub(super) fn all(&self) -> impl Iterator<Item = (Reason, u64)> {
        self.reasons.iter().copied().zip(self.until.iter().copied()).take(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_listed_at_its_number() {
        for (number, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number, "{reason:?}");
        }
    }

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
