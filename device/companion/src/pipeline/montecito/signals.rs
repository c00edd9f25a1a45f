//! Signals that the pipeline reports: states of a clock, and events.

use vm_pmu_arch::feed::Signal;

use super::second::STATES as QUEUE;

/// States of a clock, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum MontecitoState {
    /// A group completes.
    Completion,
    /// The front end delivers nothing.
    Starved,
    /// Flushed after a mispredicted branch.
    FlushBranch,
    /// Flushed for an exception.
    FlushException,
    /// DET stalls.
    Memory,
    /// EXE stalls.
    Execution,
    /// REN stalls.
    RegisterStack,
    /// A clock without dispersal for which the front end is not responsible.
    DispersalStall,
    /// A general register is not ready.
    General,
    /// A general register whose producer is not a load is not ready.
    GeneralNoLoad,
    /// A floating-point register is not ready.
    Floating,
    /// A predicate is not ready.
    Predicates,
    /// An application or control register is not ready.
    Special,
    /// An application or control register or a predicate is not ready.
    SpecialOrPredicates,
    /// REN waits for a register of the register stack engine.
    StackRegister,
    /// REN waits for spills.
    Spill,
    /// REN waits for fills.
    Fill,
    /// REN waits for the fills of `loadrs`.
    StackLoad,
    /// REN waits for a bank switch.
    Bank,
    /// DET waits for any of the following.
    DataCache,
    /// The store buffer is full.
    StoreBuffer,
    /// Eight lines are in flight to the first level.
    FillBuffer,
    /// A table walk.
    Walk,
    /// A translation comes from the second-level TLB.
    Transfer,
    /// A store meets a line that is being written.
    FillConflict,
    /// `srlz.d` waits.
    Serialization,
    /// The queue of the second level is full.
    SecondQueue,
    /// An access waits for an earlier ordered one.
    Ordering,
    /// A fill waits for the spill of its NaT bit.
    CollectedNat,
    /// The front end delivers nothing after a flush.
    IdleFlush,
    /// The front end delivers nothing and waits for a translation.
    IdleTranslation,
    /// The front end delivers nothing and waits for a line.
    IdleMiss,
    /// The front end delivers nothing at the end of a counted loop.
    IdleLoop,
    /// The front end delivers nothing while a line is written.
    IdleFill,
    /// The front end delivers nothing at a taken branch.
    IdleBubble,
    /// The front end delivers nothing because the buffer is full.
    IdleFull,
    /// DET waits for the floating-point unit.
    FloatingPoint,
    /// The first of the states of the second level's queue, which come last.
    Queue,
}

pub(super) const STATE_COUNT: usize = MontecitoState::Queue as usize + QUEUE.len();

/// The states of which exactly one holds in each clock (PM5).
pub(super) const REASONS: u64 = (1 << (MontecitoState::RegisterStack as u64 + 1)) - 1;

/// The signals of the states, in order.
pub(in crate::pipeline) const STATES: [Signal; STATE_COUNT] = [
    Signal::RetirementCycles,
    Signal::InstructionFetchStallCycles,
    Signal::FlushBranchCycles,
    Signal::FlushExceptionCycles,
    Signal::StallMemoryCycles,
    Signal::StallExecutionCycles,
    Signal::StallRegisterStackCycles,
    Signal::DispersalStallCycles,
    Signal::StallGeneralRegistersCycles,
    Signal::StallGeneralRegistersNoLoadCycles,
    Signal::StallFloatingRegistersCycles,
    Signal::StallPredicatesCycles,
    Signal::StallSpecialRegistersCycles,
    Signal::StallSpecialOrPredicatesCycles,
    Signal::RegisterStackRegisterStallCycles,
    Signal::RegisterStackSpillStallCycles,
    Signal::RegisterStackFillStallCycles,
    Signal::RegisterStackLoadStallCycles,
    Signal::RegisterStackBankStallCycles,
    Signal::StallDataCacheCycles,
    Signal::StallStoreBufferCycles,
    Signal::StallFillBufferCycles,
    Signal::StallDataWalkCycles,
    Signal::StallDataTransferCycles,
    Signal::StallFillConflictCycles,
    Signal::StallDataSerializationCycles,
    Signal::StallSecondLevelQueueCycles,
    Signal::StallOrderingCycles,
    Signal::StallCollectedNatCycles,
    Signal::FetchIdleFlushCycles,
    Signal::FetchIdleTranslationCycles,
    Signal::FetchIdleMissCycles,
    Signal::FetchIdleLoopCycles,
    Signal::FetchIdleFillCycles,
    Signal::FetchIdleBubbleCycles,
    Signal::FetchIdleFullCycles,
    Signal::StallFloatingPointCycles,
    QUEUE[0],
    QUEUE[1],
    QUEUE[2],
    QUEUE[3],
    QUEUE[4],
];

/// Bundles that the front end does not deliver, by cause, in the order of [`super::front::IdleCause`].
pub(super) const FETCH_LOST: [Signal; 8] = [
    Signal::FetchLostFlushBundles,
    Signal::FetchLostTranslationBundles,
    Signal::FetchLostMissBundles,
    Signal::FetchLostLoopBundles,
    Signal::FetchLostFillBundles,
    Signal::FetchLostBubbleBundles,
    Signal::FetchLostFullBundles,
    Signal::FetchLostUnreachedBundles,
];

/// Bundles that the window lacks in clocks without a stall, and in all clocks, by cause. A full buffer does not count.
pub(super) const SUPPLY_LOST: [[Option<Signal>; 8]; 2] = [
    [
        Some(Signal::SupplyLostFlushBundles),
        Some(Signal::SupplyLostTranslationBundles),
        Some(Signal::SupplyLostMissBundles),
        Some(Signal::SupplyLostLoopBundles),
        Some(Signal::SupplyLostFillBundles),
        Some(Signal::SupplyLostBubbleBundles),
        None,
        Some(Signal::SupplyLostUnreachedBundles),
    ],
    [
        Some(Signal::SupplyLostIdealFlushBundles),
        Some(Signal::SupplyLostIdealTranslationBundles),
        Some(Signal::SupplyLostIdealMissBundles),
        Some(Signal::SupplyLostIdealLoopBundles),
        Some(Signal::SupplyLostIdealFillBundles),
        Some(Signal::SupplyLostIdealBubbleBundles),
        None,
        Some(Signal::SupplyLostIdealUnreachedBundles),
    ],
];

/// The events that the pipeline counts.
pub(in crate::pipeline) const EVENTS: [Signal; 45] = [
    Signal::InstructionsDispersed,
    Signal::SlotsNotDispersed,
    Signal::SlotsNotDispersedStop,
    Signal::SlotsNotDispersedImplicit,
    Signal::SlotsNotDispersedFrontEnd,
    Signal::SlotsNotDispersedLong,
    Signal::SlotsOvercounted,
    Signal::SlotsOvercountedStop,
    Signal::SlotsOvercountedImplicit,
    Signal::FetchLostFlushBundles,
    Signal::FetchLostTranslationBundles,
    Signal::FetchLostMissBundles,
    Signal::FetchLostLoopBundles,
    Signal::FetchLostFillBundles,
    Signal::FetchLostBubbleBundles,
    Signal::FetchLostFullBundles,
    Signal::FetchLostUnreachedBundles,
    Signal::SupplyLostFlushBundles,
    Signal::SupplyLostTranslationBundles,
    Signal::SupplyLostMissBundles,
    Signal::SupplyLostLoopBundles,
    Signal::SupplyLostFillBundles,
    Signal::SupplyLostBubbleBundles,
    Signal::SupplyLostUnreachedBundles,
    Signal::SupplyLostIdealFlushBundles,
    Signal::SupplyLostIdealTranslationBundles,
    Signal::SupplyLostIdealMissBundles,
    Signal::SupplyLostIdealLoopBundles,
    Signal::SupplyLostIdealFillBundles,
    Signal::SupplyLostIdealBubbleBundles,
    Signal::SupplyLostIdealUnreachedBundles,
    Signal::ReadAddressBufferFullCycles,
    Signal::ReadAddressBufferNearlyFullCycles,
    Signal::ReadAddressBufferHits,
    Signal::StreamingBufferHits,
    Signal::InstructionPrefetchStallCycles,
    Signal::L2InstructionDemandRecirculates,
    Signal::L2InstructionPrefetchRecirculates,
    Signal::L2InstructionDemandRecirculatesMissed,
    Signal::L2InstructionPrefetchRecirculatesMissed,
    Signal::L2InstructionDemandRejects,
    Signal::L2InstructionPrefetchRejects,
    Signal::L2InstructionDemandConflicts,
    Signal::L2InstructionPrefetchConflicts,
    Signal::L2InstructionSpeculativeAborts,
];
