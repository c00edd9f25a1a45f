//! The second level's data queue and its bypasses: the progress of each operation, clock by clock. The rules, L1 to L16, are in
//! `docs/notes/fabric-ia64.md`.
//!
//! The queue is only modelled while any of its signals is counted, and delays nothing: data arrive when the pipeline says.

mod attempt;
mod counts;
mod entries;
mod fills;
mod observed;
mod operation;
mod saved;
mod snoops;
mod states;
#[cfg(test)]
mod tests;

use crate::tally::Tally;
pub(in crate::pipeline) use counts::SIGNALS;
use counts::{COUNTS, Count};
use entries::{EntryState, QueueEntries, QueueEntry};
use fills::Fills;
use operation::{QueuedOperation, set};
use snoops::SecondSnoops;
pub(in crate::pipeline) use states::STATES;
use states::WaitingGroup;

/// Clocks from stage L1D to the first stage of the data array: by the short bypass, by the long one, and through the queue (L2).
const SHORT: u64 = 1;
const LONG: u64 = 3;
const THROUGH: u64 = 5;
/// Clocks from the first stage of the data array to the end, where a cancelled operation is in the queue again (L2).
const STAGES: u64 = 4;
/// Clocks from stage L1D to the first clock in which the queue issues a recirculation, or sends a miss (L2).
const ISSUE: u64 = 4;

/// The second level's queue.
#[derive(Clone, Debug)]
pub(super) struct SecondQueue {
    /// Whether any of its signals is counted.
    pub(super) observed: bool,
    entries: QueueEntries,
    fills: Fills,
    snoops: SecondSnoops,
    /// Number of the next operation.
    number: u64,
    /// The clock in which the last group looked up its lines.
    looked: u64,
    /// The first clock that has not been simulated.
    clock: u64,
    /// The clock that the pipeline reports next, and the group that enters once its own clock has been reported.
    reported: u64,
    waiting: WaitingGroup,
    counts: [u64; COUNTS],
    /// Whether any count has not been reported.
    counted: bool,
}

impl SecondQueue {
    pub(super) fn new() -> SecondQueue {
        SecondQueue {
            observed: false,
            entries: QueueEntries::new(),
            fills: Fills::new(),
            snoops: SecondSnoops::new(),
            number: 1,
            looked: 0,
            clock: 0,
            reported: 0,
            waiting: WaitingGroup::default(),
            counts: [0; COUNTS],
            counted: false,
        }
    }

    /// Sets whether the queue is modelled from clock `now` on. It begins empty.
    pub(super) fn observe(&mut self, observed: bool, now: u64) {
        if !observed && self.number != 1 {
            *self = SecondQueue::new();
        }
        self.observed = observed;
        self.reported = now;
        self.counts = [0; COUNTS];
    }

    /// Reports the counts.
    pub(super) fn report(&mut self, tally: &mut Tally) {
        if !core::mem::take(&mut self.counted) {
            return;
        }
        for (signal, count) in SIGNALS.iter().zip(&mut self.counts) {
            tally.add(*signal, core::mem::take(count));
        }
    }

    fn count(&mut self, count: Count) {
        self.add(count, 1);
    }

    /// Counts a cancel for this reason.
    fn cancel(&mut self, reason: Count) {
        self.count(reason);
        self.count(Count::Cancel);
    }

    fn add(&mut self, count: Count, amount: u64) {
        if let Some(cell) = self.counts.get_mut(count as usize) {
            *cell += amount;
            self.counted = true;
        }
    }

    /// Enters the operations of a group that is in stage L1D in clock `now`, or later if the previous group is not earlier.
    fn enter(&mut self, now: u64, operations: &[QueuedOperation]) {
        self.looked = now.max(self.looked + 1);
        self.advance(self.looked + 1);
        for (place, operation) in operations.iter().enumerate() {
            if self.entries.have_room() {
                self.look_up(operation, self.looked, place == 0);
            } else if !operation.uncached {
                // L1: the pipeline has already passed it on.
                self.count(Count::completed(operation.kind));
            }
        }
    }

    /// L3 to L6: looks up an operation in clock `now`, and chooses its way.
    fn look_up(&mut self, operation: &QueuedOperation, now: u64, first: bool) {
        let number = self.number;
        self.number += 1;
        let effective = self.entries.before(number).any(|entry| entry.operation.conflicts(operation));
        let entry = QueueEntry { operation: *operation, number, looked: now, effective, ..QueueEntry::default() };
        let line = operation.line();
        let asked = self.fills.find(line).map(|fill| fill.looked);
        let (waits, queued) = self.entries.missing(line);
        let beside = operation.looks_up()
            && (self.entries.miss_in(operation.set(), now)
                || self.fills.all.iter().any(|fill| fill.taken && fill.looked == now && set(fill.line) == operation.set()));
        let misses = operation.missed || asked.is_some() || queued.is_some();
        let held = |state, at| QueueEntry { state, at, ..entry };
        let found = match () {
            () if operation.uncached => {
                if first && !self.entries.miss() {
                    self.count(Count::SpeculativeMissBypass);
                }
                return self.entries.put(held(EntryState::Missing, now + ISSUE));
            }
            () if !operation.looks_up() => return self.entries.put(held(EntryState::Queued, now + THROUGH)),
            () if !misses && operation.kind.writes() && beside => Count::HeldHit,
            () if !misses => Count::Hit,
            () if beside => Count::SameSet,
            () if now != 0 && [asked, queued].contains(&Some(now - 1)) => Count::OneBehindMiss,
            () if waits => Count::BehindMiss,
            () if asked.is_some() => Count::FillHit,
            () if self.entries.recirculate() => Count::BehindRecirculation,
            () => return self.miss(entry, first),
        };
        self.count(found);
        if matches!(found, Count::OneBehindMiss | Count::BehindMiss | Count::FillHit) {
            self.add(Count::SecondaryRead, u64::from(operation.kind.reads()));
            self.add(Count::SecondaryWrite, u64::from(operation.kind.writes()));
        }
        if first && !self.entries.miss() {
            self.count(Count::InvalidMissBypass);
        }
        self.entries.put(match found {
            Count::Hit if operation.kind.loads() => held(EntryState::Short, now + SHORT),
            Count::Hit => held(EntryState::Queued, now + THROUGH),
            Count::BehindMiss | Count::FillHit => held(EntryState::Limbo, 0),
            _ => held(EntryState::Recirculates, now + ISSUE),
        });
    }

    /// L6: handles the first miss of a line. The first access of a group tries to bypass the queue.
    fn miss(&mut self, entry: QueueEntry, first: bool) {
        let (operation, now) = (entry.operation, entry.looked);
        let tries = first && !self.entries.miss() && self.fills.has_room();
        let passes = operation.kind.loads() && !entry.effective;
        if tries && passes {
            self.count(Count::MissBypass);
            return self.fills.ask(&operation, entry.number, now, now + 1);
        }
        if tries {
            self.count(if entry.effective { Count::SpeculativeMissBypass } else { Count::InvalidMissBypass });
        }
        self.entries.put(QueueEntry { state: EntryState::Missing, at: now + ISSUE, ..entry });
    }

    /// Returns the next clock in which anything happens.
    fn next(&self) -> Option<u64> {
        let fills = self.fills.next();
        let entries = self.entries.next(self.fills.has_room());
        // Overdue events happen at once.
        [fills, entries, self.snoops.next()].into_iter().flatten().min().map(|next| next.max(self.clock))
    }

    /// Simulates all clocks before `end`.
    fn advance(&mut self, end: u64) {
        while let Some(next) = self.next().filter(|next| *next < end) {
            self.step(next);
            self.clock = next + 1;
        }
        self.clock = self.clock.max(end);
    }

    /// Simulates clock `now`.
    fn step(&mut self, now: u64) {
        let came = self.come(now);
        self.meet(now);
        self.complete(now);
        self.release(now);
        self.recirculate(now, came);
        self.send(now);
        self.access(now);
    }

    /// L12: completes arriving lines, with all operations that wait for them. Returns whether a line arrived.
    fn come(&mut self, now: u64) -> bool {
        let mut came = false;
        for place in 0..self.fills.all.len() {
            let Some(fill) = self.fills.all.get_mut(place).filter(|fill| fill.taken) else { continue };
            if fill.came {
                fill.taken = fill.until() > now;
                continue;
            }
            if fill.arrival > now {
                continue;
            }
            fill.came = true;
            let (line, kind) = (fill.line, fill.kind);
            self.count(Count::completed(kind));
            came = true;
            while let Some(kind) = self.entries.take_from_limbo(line) {
                self.count(Count::completed(kind));
                if let Some(fill) = self.fills.all.get_mut(place) {
                    fill.writes |= kind.writes();
                }
            }
        }
        came
    }

    /// Completes operations that have passed the data array.
    fn complete(&mut self, now: u64) {
        while let Some(kind) = self.entries.take_completed(now) {
            self.count(Count::completed(kind));
        }
    }

    /// L11: unblocks operations whose blocker is done.
    fn release(&mut self, now: u64) {
        for place in 0..entries::ENTRIES {
            let Some(entry) = self.entries.get(place).filter(|entry| entry.is_blocked()) else { continue };
            if self.blocker_is_done(entry) {
                let at = (entry.tried + STAGES).max(now + 1);
                self.entries.set(place, QueueEntry { blocker: None, at, ..*entry });
            }
        }
    }

    fn blocker_is_done(&self, entry: &QueueEntry) -> bool {
        match entry.blocker {
            None => true,
            Some(entries::ALL) => !self.has_older(entry.number),
            Some(number) => !self.entries.has(number) && self.fills.before(number + 1).all(|fill| fill.number != number),
        }
    }

    /// Whether anything before an operation is pending.
    fn has_older(&self, number: u64) -> bool {
        self.entries.before(number).next().is_some() || self.fills.before(number).next().is_some()
    }

    /// L7: recirculates one operation per clock, unless a line arrives.
    fn recirculate(&mut self, now: u64, came: bool) {
        let mut issued = came;
        while let Some((place, entry)) = self.entries.oldest(EntryState::Recirculates, now) {
            if issued {
                self.cancel(Count::Recirculation);
                self.entries.set(place, QueueEntry { at: now + 1, ..entry });
                continue;
            }
            issued = true;
            self.count(Count::Recirculated);
            let line = entry.operation.line();
            let (waits, _) = self.entries.missing(line);
            let next = if waits || self.fills.find(line).is_some() {
                QueueEntry { state: EntryState::Limbo, at: 0, ..entry }
            } else if entry.operation.missed {
                QueueEntry { state: EntryState::Missing, at: now + 1, ..entry }
            } else {
                QueueEntry { state: EntryState::Queued, at: now + THROUGH, ..entry }
            };
            self.entries.set(place, next);
        }
    }

    /// L6: sends one miss per clock to the third level, if an entry is free for its line.
    fn send(&mut self, now: u64) {
        let Some((place, entry)) = self.entries.to_send(self.fills.has_room(), now) else { return };
        if !entry.operation.uncached {
            self.fills.ask(&entry.operation, entry.number, entry.looked, now);
        }
        self.entries.set(place, QueueEntry::default());
    }
}
