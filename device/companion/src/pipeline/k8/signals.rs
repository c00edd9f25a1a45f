//! Signals that the pipeline reports: states of a cycle, and events.

use vm_pmu_arch::feed::Signal;

use super::WIDTH;

/// States of a cycle, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum K8State {
    /// D0h: no line is ready.
    Empty,
    /// D1h: a line is ready but stalls.
    Stall,
    /// D2h: a mispredicted branch has not completed.
    BranchAbort,
    /// D3h: a serialising instruction waits.
    Serialization,
    /// D4h: a load of a segment register waits.
    SegmentLoad,
    /// D5h: the reorder buffer is full.
    ReorderBuffer,
    /// D6h: the scheduler of a position is full.
    Scheduler,
    /// D7h: the floating-point scheduler is full.
    FloatingScheduler,
    /// D8h: LS1 is full.
    LoadStore,
    /// D9h: stores have not been written yet.
    AllQuiet,
    /// DAh: a far transfer waits or is in progress.
    Far,
    /// 23h: LS2 is full.
    LoadStoreBuffer,
    /// 24h, 02h: a locked operation waits for its turn.
    LockedSpeculative,
    /// 24h, 04h: a locked operation is sure to complete.
    LockedFinal,
    /// 87h: the fetcher waits.
    Fetch,
    /// 01h: no operation of the floating-point unit completes.
    FloatingIdle,
}

pub(super) const STATE_COUNT: usize = K8State::FloatingIdle as usize + 1;

/// The signals of the states, in order.
pub(in crate::pipeline) const STATES: [Signal; STATE_COUNT] = [
    Signal::DecoderEmptyCycles,
    Signal::DispatchStallCycles,
    Signal::DispatchStallBranchAbortCycles,
    Signal::DispatchStallSerializationCycles,
    Signal::DispatchStallSegmentLoadCycles,
    Signal::DispatchStallReorderBufferCycles,
    Signal::DispatchStallReservationStationCycles,
    Signal::DispatchStallFloatingPointCycles,
    Signal::DispatchStallLoadStoreCycles,
    Signal::DispatchStallAllQuietCycles,
    Signal::DispatchStallFarTransferCycles,
    Signal::LoadStoreBufferFullCycles,
    Signal::LockedSpeculativeCycles,
    Signal::LockedFinalCycles,
    Signal::InstructionFetchStallCycles,
    Signal::FloatingPointIdleCycles,
];

/// Operations by pipe, without and with a memory source: FADD, FMUL, FSTORE.
pub(super) const PIPE_EVENTS: [[Signal; 3]; 2] = [
    [Signal::FloatingPointAddOps, Signal::FloatingPointMultiplyOps, Signal::FloatingPointStoreOps],
    [Signal::FloatingPointAddLoads, Signal::FloatingPointMultiplyLoads, Signal::FloatingPointStoreLoads],
];

/// Instructions of two macro-operations, by the position of the first.
pub(super) const DOUBLE_EVENTS: [Signal; WIDTH] =
    [Signal::DoubleOperationsPosition0, Signal::DoubleOperationsPosition1, Signal::DoubleOperationsPosition2];

/// The events that the pipeline counts.
pub(in crate::pipeline) const EVENTS: [Signal; 13] = [
    Signal::FloatingPointAddOps,
    Signal::FloatingPointMultiplyOps,
    Signal::FloatingPointStoreOps,
    Signal::FloatingPointAddLoads,
    Signal::FloatingPointMultiplyLoads,
    Signal::FloatingPointStoreLoads,
    Signal::FloatingPointFlagOps,
    Signal::FloatingPointRetypes,
    Signal::DoubleOperationsPosition0,
    Signal::DoubleOperationsPosition1,
    Signal::DoubleOperationsPosition2,
    Signal::MemoryOrderingFlushes,
    Signal::InstructionStreamRestarts,
];
