//! States of the queue in the clocks that the pipeline reports.

use vm_pmu_arch::feed::Signal;

use super::SecondQueue;
use super::operation::QueuedOperation;

/// Maximum number of operations of a group: its accesses, and operations without an address.
pub(super) const OPERATIONS: usize = 10;

/// States of a clock, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::pipeline::montecito) enum QueueStates {
    /// All entries are taken.
    Full,
    /// An operation releases, or acts as a release.
    Release,
    /// An operation acquires.
    Acquire,
    /// All fill entries are in use.
    Fills,
    /// Each of them displaces a modified line.
    Victims,
}

/// The signals of these states, in order.
pub(in crate::pipeline) const STATES: [Signal; QueueStates::Victims as usize + 1] = [
    Signal::L2QueueFullCycles,
    Signal::L2QueueReleaseCycles,
    Signal::L2QueueAcquireCycles,
    Signal::L2FillBufferFullCycles,
    Signal::L2VictimBufferFullCycles,
];

/// A group that is in stage L1D in an unreported clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct WaitingGroup {
    pub(super) at: u64,
    pub(super) operations: [QueuedOperation; OPERATIONS],
    pub(super) count: u8,
}

impl SecondQueue {
    /// Registers a group that will be in stage L1D in clock `now`.
    pub(super) fn wait(&mut self, now: u64, operations: impl Iterator<Item = QueuedOperation>) {
        self.admit();
        self.waiting.at = now;
        for (operation, place) in operations.zip(&mut self.waiting.operations) {
            *place = operation;
            self.waiting.count += 1;
        }
    }

    /// Enters the waiting group.
    fn admit(&mut self) {
        let WaitingGroup { at, operations, count } = self.waiting;
        self.waiting.count = 0;
        if let Some(operations) = operations.get(..usize::from(count)).filter(|operations| !operations.is_empty()) {
            self.enter(at, operations);
        }
    }

    /// L13: advances by up to `most` reported clocks. Returns the states that hold, one bit for each of [`QueueStates`], and the number of clocks.
    pub(in crate::pipeline::montecito) fn hold(&mut self, most: u64) -> (u64, u64) {
        if self.waiting.at < self.reported {
            self.admit();
        }
        self.advance(self.reported + 1);
        let waits = (self.waiting.count != 0).then_some(self.waiting.at + 1);
        let ends = [self.next(), waits, Some(self.reported + most)];
        let end = ends.into_iter().flatten().min().unwrap_or(0).max(self.reported + 1);
        let clocks = end - self.reported;
        self.reported = end;
        (self.held(), clocks)
    }

    fn held(&self) -> u64 {
        let (fills, victims) = self.fills.are_full();
        [
            (QueueStates::Full, !self.entries.have_room()),
            (QueueStates::Release, self.entries.any(|entry| entry.effective || entry.operation.order.releases())),
            (QueueStates::Acquire, self.entries.any(|entry| entry.operation.order.acquires())),
            (QueueStates::Fills, fills),
            (QueueStates::Victims, victims),
        ]
        .into_iter()
        .fold(0, |held, (state, holds)| held | u64::from(holds) << state as u8)
    }
}
