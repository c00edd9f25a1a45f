//! The entries of the queue.

use super::operation::{OperationKind, QueuedOperation, set};

/// Number of entries (M table 2-9).
pub(super) const ENTRIES: usize = 32;
/// Blocker of an operation that waits for all operations before it.
pub(super) const ALL: u64 = u64::MAX;

/// The state of a queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum EntryState {
    /// The entry is free.
    #[default]
    Free,
    /// A load on the short bypass of the queue.
    Short,
    /// A load on the long bypass of the queue.
    Long,
    /// It waits for issue.
    Queued,
    /// It is in the data array.
    Flight,
    /// It waits for recirculation.
    Recirculates,
    /// It waits for a line that another operation has requested.
    Limbo,
    /// It waits to request its line.
    Missing,
}

impl EntryState {
    pub(super) const STATES: [EntryState; EntryState::Missing as usize + 1] = [
        EntryState::Free,
        EntryState::Short,
        EntryState::Long,
        EntryState::Queued,
        EntryState::Flight,
        EntryState::Recirculates,
        EntryState::Limbo,
        EntryState::Missing,
    ];
}

/// A queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct QueueEntry {
    pub(super) operation: QueuedOperation,
    /// Its number, in program order.
    pub(super) number: u64,
    /// The clock in which it looked up its line.
    pub(super) looked: u64,
    pub(super) state: EntryState,
    /// The clock in which its state advances.
    pub(super) at: u64,
    /// The clock of its last attempt at the data array, and whether it was cancelled.
    pub(super) tried: u64,
    pub(super) cancelled: bool,
    /// Whether it acts as a release, since an older one has the same chunk.
    pub(super) effective: bool,
    /// Number of the operation that it waits for, or [`ALL`].
    pub(super) blocker: Option<u64>,
}

impl QueueEntry {
    pub(super) fn is_taken(&self) -> bool {
        self.state != EntryState::Free
    }

    /// Whether it waits for other operations.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_taken() && self.blocker.is_some()
    }

    /// Whether it is ready for the data array in clock `now`.
    fn is_ready(&self, now: u64) -> bool {
        matches!(self.state, EntryState::Short | EntryState::Long | EntryState::Queued) && self.blocker.is_none() && self.at <= now
    }

    /// Whether it has hit `line` and has not been issued.
    pub(super) fn waits_with(&self, line: u64) -> bool {
        matches!(self.state, EntryState::Short | EntryState::Long | EntryState::Queued)
            && self.operation.looks_up()
            && self.operation.line() == line
    }

    /// Whether its line is missing and has not been requested yet.
    fn is_missing(&self) -> bool {
        self.operation.missed && matches!(self.state, EntryState::Missing | EntryState::Recirculates)
    }
}

/// The entries, unordered.
#[derive(Clone, Debug)]
pub(super) struct QueueEntries {
    pub(super) all: [QueueEntry; ENTRIES],
}

impl QueueEntries {
    pub(super) fn new() -> QueueEntries {
        QueueEntries { all: [QueueEntry::default(); ENTRIES] }
    }

    pub(super) fn any(&self, has: impl Fn(&QueueEntry) -> bool) -> bool {
        self.all.iter().any(|entry| entry.is_taken() && has(entry))
    }

    pub(super) fn have_room(&self) -> bool {
        self.all.iter().any(|entry| !entry.is_taken())
    }

    pub(super) fn get(&self, place: usize) -> Option<&QueueEntry> {
        self.all.get(place)
    }

    pub(super) fn set(&mut self, place: usize, entry: QueueEntry) {
        if let Some(cell) = self.all.get_mut(place) {
            *cell = entry;
        }
    }

    pub(super) fn put(&mut self, entry: QueueEntry) {
        if let Some(cell) = self.all.iter_mut().find(|each| !each.is_taken()) {
            *cell = entry;
        }
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.any(|entry| entry.number == number)
    }

    /// Returns the entries before operation `number`.
    pub(super) fn before(&self, number: u64) -> impl Iterator<Item = &QueueEntry> {
        self.all.iter().filter(move |entry| entry.is_taken() && entry.number < number)
    }

    /// Returns whether a queued operation is about to request `line`, and when the last one that misses the line looked it up.
    pub(super) fn missing(&self, line: u64) -> (bool, Option<u64>) {
        let of_line = || self.all.iter().filter(|entry| entry.is_missing() && entry.operation.line() == line);
        (of_line().any(|entry| entry.state == EntryState::Missing), of_line().map(|entry| entry.looked).max())
    }

    /// Whether an operation that looked up its line in clock `now` misses a line of this set.
    pub(super) fn miss_in(&self, number: u64, now: u64) -> bool {
        self.any(|entry| entry.is_missing() && entry.looked == now && set(entry.operation.line()) == number)
    }

    /// Whether an operation waits to request its line.
    pub(super) fn miss(&self) -> bool {
        self.any(|entry| entry.state == EntryState::Missing)
    }

    /// Whether an operation waits for recirculation.
    pub(super) fn recirculate(&self) -> bool {
        self.any(|entry| entry.state == EntryState::Recirculates)
    }

    /// Returns the oldest entry in this state whose time has come.
    pub(super) fn oldest(&self, state: EntryState, now: u64) -> Option<(usize, QueueEntry)> {
        self.first(|entry| entry.state == state && entry.at <= now)
    }

    /// Returns the oldest entry that goes to the third level. Misses wait while no line can be requested.
    pub(super) fn to_send(&self, asks: bool, now: u64) -> Option<(usize, QueueEntry)> {
        self.first(|entry| entry.state == EntryState::Missing && entry.at <= now && (asks || entry.operation.uncached))
    }

    /// Returns the oldest entry in this state that is ready for the data array.
    pub(super) fn ready(&self, state: EntryState, now: u64) -> Option<(usize, QueueEntry)> {
        self.first(|entry| entry.state == state && entry.is_ready(now))
    }

    fn first(&self, is: impl Fn(&QueueEntry) -> bool) -> Option<(usize, QueueEntry)> {
        let entries = self.all.iter().copied().enumerate().filter(|(_, entry)| is(entry));
        entries.min_by_key(|(_, entry)| entry.number)
    }

    /// Removes an operation that waits for `line`.
    pub(super) fn take_from_limbo(&mut self, line: u64) -> Option<OperationKind> {
        self.take(|entry| entry.state == EntryState::Limbo && entry.operation.line() == line)
    }

    /// Removes an operation that has passed the data array.
    pub(super) fn take_completed(&mut self, now: u64) -> Option<OperationKind> {
        self.take(|entry| entry.state == EntryState::Flight && entry.at <= now)
    }

    fn take(&mut self, is: impl Fn(&QueueEntry) -> bool) -> Option<OperationKind> {
        let entry = self.all.iter_mut().find(|entry| is(entry))?;
        Some(core::mem::take(entry).operation.kind)
    }

    /// Returns the next clock in which any entry advances. Misses wait while no line can be requested.
    pub(super) fn next(&self, asks: bool) -> Option<u64> {
        let timed = self.all.iter().filter(|entry| match entry.state {
            EntryState::Free | EntryState::Limbo => false,
            EntryState::Missing => asks || entry.operation.uncached,
            EntryState::Short | EntryState::Long | EntryState::Queued => entry.blocker.is_none(),
            EntryState::Flight | EntryState::Recirculates => true,
        });
        timed.map(|entry| entry.at).min()
    }
}
