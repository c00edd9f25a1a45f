//! Why a cycle elapses: every one has a single cause.

use vm_pmu_arch::feed::Signal;

/// Why a cycle elapses. Where delays overlap, the one later in the pipeline is the cause; within a step cycles are reported in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// At least one instruction completes, none of the floating-point or vector unit.
    Completion,
    /// At least one instruction completes, one of the floating-point or vector unit among them.
    FloatingPointCompletion,
    /// The fetcher waits for a translation from the second level.
    FetchTranslation,
    /// The fetcher waits for a page-table walk.
    FetchWalk,
    /// The fetcher waits for the second-level cache.
    FetchSecond,
    /// The fetcher waits for the third-level cache.
    FetchThird,
    /// The fetcher waits for a line from outside the cluster.
    FetchMemory,
    /// The fetcher turns to the target of a branch that it did not know.
    Bubble,
    /// The register stack engine loads or stores.
    RegisterStack,
    /// An operation takes longer than a cycle.
    Execution,
    /// A division.
    Divide,
    /// A segment register is being loaded and another load of one waits.
    SegmentLoad,
    /// A serialising instruction waits for everything before it.
    AllQuiet,
    /// A serialising instruction.
    Serialization,
    /// A locked operation that may still be discarded.
    LockedSpeculative,
    /// A locked operation that is sure to complete.
    LockedFinal,
    /// No store can be buffered.
    StoreBuffer,
    /// A translation of data from the second level.
    DataTranslation,
    /// A page-table walk for data.
    DataWalk,
    /// An access that needs the cache twice.
    Misaligned,
    /// A load served by the second level.
    LoadSecond,
    /// A load served by the third level.
    LoadThird,
    /// A load served by another cluster of the package.
    LoadOtherCluster,
    /// A load served by the package's memory.
    LoadMemory,
    /// A load served by another package.
    LoadRemote,
    /// A load that missed, once the reorder buffer is full: second level.
    FullSecond,
    /// The same: third level.
    FullThird,
    /// The same: another cluster.
    FullOtherCluster,
    /// The same: memory.
    FullMemory,
    /// The same: another package.
    FullRemote,
    /// The pipeline is emptied after a mispredicted branch.
    Misprediction,
    /// The pipeline is emptied for an interrupt, an exception or a far transfer.
    Exception,
}

/// How many causes there are.
pub(super) const CAUSES: usize = Cause::Exception as usize + 1;

const STALL: &[Signal] = &[Signal::StallCycles, Signal::DispersalStallCycles];

impl Cause {
    /// Every cause, in their order.
    pub const ALL: [Cause; CAUSES] = [
        Cause::Completion,
        Cause::FloatingPointCompletion,
        Cause::FetchTranslation,
        Cause::FetchWalk,
        Cause::FetchSecond,
        Cause::FetchThird,
        Cause::FetchMemory,
        Cause::Bubble,
        Cause::RegisterStack,
        Cause::Execution,
        Cause::Divide,
        Cause::SegmentLoad,
        Cause::AllQuiet,
        Cause::Serialization,
        Cause::LockedSpeculative,
        Cause::LockedFinal,
        Cause::StoreBuffer,
        Cause::DataTranslation,
        Cause::DataWalk,
        Cause::Misaligned,
        Cause::LoadSecond,
        Cause::LoadThird,
        Cause::LoadOtherCluster,
        Cause::LoadMemory,
        Cause::LoadRemote,
        Cause::FullSecond,
        Cause::FullThird,
        Cause::FullOtherCluster,
        Cause::FullMemory,
        Cause::FullRemote,
        Cause::Misprediction,
        Cause::Exception,
    ];

    /// The states that hold in a cycle with this cause, except [`Signal::Cycles`] and [`Signal::FloatingPointIdleCycles`]: those of all
    /// stalls, of a family of causes, and of this one.
    pub(super) fn states(self) -> [&'static [Signal]; 3] {
        use Signal as S;
        const NONE: &[Signal] = &[];
        const FETCH: &[Signal] = &[S::FrontEndEmptyCycles, S::DecoderEmptyCycles, S::InstructionFetchStallCycles, S::DispersalStallCycles];
        const FLUSH: &[Signal] = &[S::FrontEndEmptyCycles, S::StallFlushCycles, S::DispersalStallCycles];
        const EXECUTION: &[Signal] = &[S::StallExecutionCycles];
        const SERIAL: &[Signal] = &[S::StallExecutionCycles, S::StallSerializationCycles, S::DispatchStallCycles];
        const MEMORY: &[Signal] = &[S::StallMemoryCycles];
        const LOAD: &[Signal] = &[S::StallMemoryCycles, S::StallLoadMissCycles];
        const FULL: &[Signal] =
            &[S::StallMemoryCycles, S::StallLoadMissCycles, S::DispatchStallCycles, S::DispatchStallReorderBufferCycles];
        match self {
            Cause::Completion | Cause::FloatingPointCompletion => [&[S::RetirementCycles], NONE, NONE],
            Cause::FetchTranslation => [FETCH, &[S::FrontEndEmptyTranslationCycles], NONE],
            Cause::FetchWalk => [FETCH, &[S::FrontEndEmptyTranslationCycles, S::InstructionWalkCycles], NONE],
            Cause::FetchSecond => [FETCH, &[S::FrontEndEmptyL2Cycles], NONE],
            Cause::FetchThird => [FETCH, &[S::FrontEndEmptyL3Cycles], NONE],
            Cause::FetchMemory => [FETCH, &[S::FrontEndEmptyMemoryCycles], NONE],
            Cause::Bubble => [FETCH, &[S::FrontEndEmptyBubbleCycles], NONE],
            Cause::RegisterStack => [STALL, &[S::StallRegisterStackCycles, S::RegisterStackStallCycles], NONE],
            Cause::Execution => [STALL, EXECUTION, NONE],
            Cause::Divide => [STALL, EXECUTION, &[S::DividerBusyCycles]],
            Cause::SegmentLoad => [STALL, EXECUTION, &[S::DispatchStallCycles, S::DispatchStallSegmentLoadCycles]],
            Cause::AllQuiet => [STALL, SERIAL, &[S::DispatchStallAllQuietCycles]],
            Cause::Serialization => [STALL, SERIAL, &[S::DispatchStallSerializationCycles]],
            Cause::LockedSpeculative => [STALL, MEMORY, &[S::StallLockedCycles, S::LockedSpeculativeCycles]],
            Cause::LockedFinal => [STALL, MEMORY, &[S::StallLockedCycles, S::LockedFinalCycles]],
            Cause::StoreBuffer => [
                STALL,
                MEMORY,
                &[S::StallStoreBufferCycles, S::LoadStoreBufferFullCycles, S::DispatchStallCycles, S::DispatchStallLoadStoreCycles],
            ],
            Cause::DataTranslation => [STALL, MEMORY, &[S::StallTranslationCycles]],
            Cause::DataWalk => [STALL, MEMORY, &[S::StallTranslationCycles, S::DataWalkCycles]],
            Cause::Misaligned => [STALL, MEMORY, NONE],
            Cause::LoadSecond => [STALL, LOAD, &[S::StallLoadL2Cycles]],
            Cause::LoadThird => [STALL, LOAD, &[S::StallLoadL3Cycles]],
            Cause::LoadOtherCluster => [STALL, LOAD, &[S::StallLoadOtherCoreCycles]],
            Cause::LoadMemory => [STALL, LOAD, &[S::StallLoadLocalMemoryCycles]],
            Cause::LoadRemote => [STALL, LOAD, &[S::StallLoadRemoteCycles]],
            Cause::FullSecond => [STALL, FULL, &[S::StallLoadL2Cycles]],
            Cause::FullThird => [STALL, FULL, &[S::StallLoadL3Cycles]],
            Cause::FullOtherCluster => [STALL, FULL, &[S::StallLoadOtherCoreCycles]],
            Cause::FullMemory => [STALL, FULL, &[S::StallLoadLocalMemoryCycles]],
            Cause::FullRemote => [STALL, FULL, &[S::StallLoadRemoteCycles]],
            Cause::Misprediction => [FLUSH, &[S::FlushBranchCycles, S::FrontEndEmptyMispredictionCycles, S::DecoderEmptyCycles], NONE],
            Cause::Exception => [
                FLUSH,
                &[S::FlushExceptionCycles, S::FrontEndEmptyExceptionCycles],
                &[S::DispatchStallCycles, S::DispatchStallFarTransferCycles],
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_listed_at_its_number() {
        for (number, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, number, "{cause:?}");
        }
    }
}
