//! What overlaps with the reasons of cycles, and events.

use vm_pmu_arch::feed::Signal;

use super::reasons::Reason;

/// States of a cycle that are found before completion, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    /// A decoded instruction waits, and none is dispatched.
    DispatchHeld,
    /// The same: issue queues are full.
    HeldIssueQueue,
    /// The same: the history buffer is full.
    HeldHistory,
    /// The same: all before it have to complete.
    HeldSynchronization,
    /// Decode waits for the completion table.
    WindowFull,
    /// Decode waits for the effective address table.
    TargetsFull,
    /// Fetch waits for the instruction buffer.
    BufferFull,
    /// Fetch waits for an instruction that flushes what is behind it.
    FetchStopped,
    /// Dispatch has no instruction to take.
    Starved,
    /// A translation of data is walked for,
    DataWalk,
    /// or one of code.
    CodeWalk,
}

pub(super) const STATE_COUNT: usize = State::CodeWalk as usize + 1;

/// The signals of the states, in their order.
pub(in super::super) const STATES: [Signal; STATE_COUNT] = [
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
];

/// The events that the pipeline counts.
pub(in super::super) const EVENTS: [Signal; 5] = [
    Signal::LoadsForwarded,
    Signal::RejectsStoreData,
    Signal::RejectsTranslation,
    Signal::RejectsMissQueue,
    Signal::InstructionsOtherThreadsStalled,
];

/// What a cycle counts as that has the reason with this number.
pub(in super::super) fn signals_of(reason: u8) -> &'static [Signal] {
    Reason::ALL.get(usize::from(reason)).map_or(&[], |reason| reason.signals())
}

/// All that a reason counts as, some of them several times.
pub(in super::super) fn reason_signals() -> impl Iterator<Item = Signal> {
    Reason::ALL.into_iter().flat_map(|reason| reason.signals().iter().copied())
}

/// Whether any reason counts as `signal`.
pub(in super::super) fn has_reason_of(signal: Signal) -> bool {
    reason_signals().any(|each| each == signal)
}
