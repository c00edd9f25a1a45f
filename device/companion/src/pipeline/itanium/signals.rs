//! Signals that the pipeline reports: states of a clock, and events.

use vm_pmu_arch::feed::Signal;

/// States of a clock, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ItaniumState {
    /// A group completes that was not delayed.
    Inherent,
    /// A group completes that an implicit stop had split from the previous one.
    Limited,
    /// The front end delivers nothing, waiting for a line of the second level.
    EmptySecond,
    /// The front end delivers nothing, waiting for a line of the third level.
    EmptyThird,
    /// The front end delivers nothing, waiting for a line of memory.
    EmptyMemory,
    /// The front end delivers nothing, waiting for a translation.
    EmptyTranslation,
    /// The front end delivers nothing, since it redirected to the target of a branch.
    EmptyBubble,
    /// Flushed after a mispredicted branch.
    FlushBranch,
    /// Flushed for another reason.
    FlushException,
    /// DET stalls, or EXE waits for data of a load.
    Memory,
    /// EXE waits for another register.
    Execution,
    /// REN stalls.
    RegisterStack,
    /// A group completes.
    Completion,
}

pub(super) const STATE_COUNT: usize = ItaniumState::Completion as usize + 1;

/// The states of which exactly one holds in each clock (PI5).
pub(super) const REASONS: u64 = (1 << ItaniumState::Completion as u64) - 1;

/// The states of clocks that the front end loses, by [`super::front::StarvationCause`].
pub(super) const EMPTY: [ItaniumState; super::front::CAUSES] = [
    ItaniumState::EmptySecond,
    ItaniumState::EmptyThird,
    ItaniumState::EmptyMemory,
    ItaniumState::EmptyTranslation,
    ItaniumState::EmptyBubble,
];

/// The signals of the states, in order.
pub(in crate::pipeline) const STATES: [Signal; STATE_COUNT] = [
    Signal::InherentExecutionCycles,
    Signal::IssueLimitCycles,
    Signal::FrontEndEmptyL2Cycles,
    Signal::FrontEndEmptyL3Cycles,
    Signal::FrontEndEmptyMemoryCycles,
    Signal::FrontEndEmptyTranslationCycles,
    Signal::FrontEndEmptyBubbleCycles,
    Signal::FlushBranchCycles,
    Signal::FlushExceptionCycles,
    Signal::StallMemoryCycles,
    Signal::StallExecutionCycles,
    Signal::StallRegisterStackCycles,
    Signal::RetirementCycles,
];

/// The events that the pipeline counts.
pub(in crate::pipeline) const EVENTS: [Signal; 7] = [
    Signal::InstructionsDispersed,
    Signal::StopsDispersed,
    Signal::ImplicitStopsDispersed,
    Signal::FlushesBypass,
    Signal::FlushesOther,
    Signal::FloatingPointOperationsLow,
    Signal::FloatingPointOperationsHigh,
];
