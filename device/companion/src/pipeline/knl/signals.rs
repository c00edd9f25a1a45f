//! Signals that the pipeline reports: states of a cycle, and events.

use vm_pmu_arch::feed::Signal;

/// States of a cycle, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum KnlState {
    /// ROB_FULL: nothing is allocated because the reorder buffer is full.
    ReorderBuffer,
    /// MISPREDICTS: nothing is allocated because a mispredicted branch has not completed.
    Misprediction,
    /// RAT_STALL: nothing is allocated because a station is full.
    Station,
    /// Nothing is allocated because a serialising instruction waits.
    Serialization,
    /// NOT_DELIVERED: nothing is allocated because the instruction queue is empty.
    Empty,
    /// RS_FULL_STALL.ALL: the next micro-operation finds a station full.
    StationFull,
    /// RS_FULL_STALL.MEC: the next micro-operation finds the memory station full.
    MemoryStationFull,
    /// CYCLES_DIV_BUSY: the divider accepts no division.
    Divider,
    /// A walk for data.
    DataWalk,
    /// A walk for code.
    CodeWalk,
    /// ICACHE_FILL_PENDING: a line of code is in flight.
    Fill,
}

pub(super) const STATE_COUNT: usize = KnlState::Fill as usize + 1;

/// The mutually exclusive states of a cycle: the causes for which nothing is allocated.
pub(super) const NOT_ALLOCATED: u64 = (1 << (KnlState::Empty as u64 + 1)) - 1;

/// The signals of the states, in order.
pub(in crate::pipeline) const STATES: [Signal; STATE_COUNT] = [
    Signal::DispatchStallReorderBufferCycles,
    Signal::DispatchStallBranchAbortCycles,
    Signal::DispatchStallReservationStationCycles,
    Signal::DispatchStallSerializationCycles,
    Signal::FrontEndEmptyCycles,
    Signal::ReservationStationFullCycles,
    Signal::ReservationStationFullMemoryCycles,
    Signal::DividerBusyCycles,
    Signal::DataWalkCycles,
    Signal::InstructionWalkCycles,
    Signal::InstructionCacheFillPendingCycles,
];

/// The events that the pipeline counts.
pub(in crate::pipeline) const EVENTS: [Signal; 8] = [
    Signal::MicrocodeEntries,
    Signal::LoadsRecycledOverlap,
    Signal::LoadsRecycledData,
    Signal::LoadsRecycled,
    Signal::StoresRecycledAddress,
    Signal::StoresRecycled,
    Signal::MemoryOrderingFlushes,
    Signal::SecondLevelQueueRejects,
];
