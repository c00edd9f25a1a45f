//! Dispatch: six internal operations per cycle, in order, into the places of two superslices.

use super::reasons::Reason;
use super::rows::{self, DispatchPlace, Power9Row, Power9Unit};
use super::{Executed, Power9Pipeline, Power9Share, Power9State, SCOREBOARD, SLICES, StageTimes};
use crate::instruction::Class;
use crate::pipeline::Continuation;
use crate::pipeline::sharing::Threads;
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

/// Internal operations per cycle, and branches among them (PP9).
pub(super) const WIDTH: u8 = 6;
const BRANCHES: u8 = 2;
/// Places of a superslice, and places if each slice takes one operation (PP10).
const PLACES: u8 = 3;
const RESTRICTED: u8 = 2;

/// The operations dispatched in one cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct DispatchGroup {
    pub(super) at: u64,
    pub(super) count: u8,
    pub(super) branches: u8,
    /// Number of taken places in each superslice, and whether it takes one operation per slice.
    pub(super) used: [u8; 2],
    pub(super) restricted: [bool; 2],
}

/// The cycles until which each cause held an operation at dispatch (PP18).
#[derive(Clone, Copy, Debug)]
pub(super) struct DispatchHold {
    /// The cycle in which it could be dispatched if nothing held it.
    pub(super) ready: u64,
    history: u64,
    waits: DispatchWaits,
    queue: u64,
}

/// The cycles until which it waited for earlier instructions.
#[derive(Clone, Copy, Debug, Default)]
struct DispatchWaits {
    synchronization: u64,
    invalidation: u64,
    transaction: u64,
}

impl DispatchWaits {
    /// Returns the cycle until which it waited for all of them.
    fn last(&self) -> u64 {
        self.synchronization.max(self.invalidation).max(self.transaction)
    }
}

impl DispatchHold {
    /// Returns the reasons of cycles in which the completion table is empty and the cause holds the next instruction (PP43).
    pub(super) fn reasons(&self) -> [(Reason, u64); 5] {
        [
            (Reason::EmptyHeldHistory, self.history),
            (Reason::EmptyHeldSynchronization, self.waits.synchronization),
            (Reason::EmptyHeldInvalidation, self.waits.invalidation),
            (Reason::EmptyHeldTransaction, self.waits.transaction),
            (Reason::EmptyHeldIssueQueue, self.queue),
        ]
    }
}

impl DispatchGroup {
    pub(super) fn new(at: u64) -> DispatchGroup {
        DispatchGroup { at, count: 0, branches: 0, used: [0; 2], restricted: [false; 2] }
    }

    /// Whether a superslice has room for an operation with `place`.
    #[inline]
    fn fits(&self, superslice: usize, place: DispatchPlace) -> bool {
        let used = self.used.get(superslice).copied().unwrap_or(PLACES);
        let most = if self.restricted.get(superslice) == Some(&true) { RESTRICTED } else { PLACES };
        match place {
            DispatchPlace::Plain => used < most,
            DispatchPlace::Restricted => used < RESTRICTED,
            DispatchPlace::Even => used == 0,
            DispatchPlace::Branch => true,
        }
    }

    /// Returns the superslice for an operation: among those with room, the one with more.
    #[inline]
    pub(super) fn superslice(&self, place: DispatchPlace) -> Option<usize> {
        let [first, second] = self.used;
        let order = if second < first { [1, 0] } else { [0, 1] };
        order.into_iter().find(|superslice| self.fits(*superslice, place))
    }

    /// Whether there is room for all operations of an instruction.
    fn has_room(&self, row: &Power9Row) -> bool {
        if row.operations > 2 {
            return self.count == 0;
        }
        let places = self.count + row.operations <= WIDTH;
        places && self.has_place(row.place)
    }

    /// Whether there is room for one more operation with `place`.
    #[inline]
    pub(super) fn has_place(&self, place: DispatchPlace) -> bool {
        match place {
            DispatchPlace::Branch => self.branches < BRANCHES,
            place => self.superslice(place).is_some(),
        }
    }

    /// Takes the places of an operation. Returns its superslice, unless it is a branch.
    pub(super) fn take(&mut self, place: DispatchPlace, operations: u8) -> Option<usize> {
        // An instruction of three operations takes the cycle for itself (PP11).
        self.count = if operations > 2 { WIDTH } else { self.count + operations };
        if place == DispatchPlace::Branch {
            self.branches += 1;
            return None;
        }
        let superslice = self.superslice(place).unwrap_or(0);
        if let (Some(used), Some(restricted)) = (self.used.get_mut(superslice), self.restricted.get_mut(superslice)) {
            *used += if place == DispatchPlace::Even { PLACES } else { 1 };
            *restricted |= place == DispatchPlace::Restricted;
        }
        for _ in 1..operations {
            // The other operations of the same instruction, where there is room.
            if let Some(used) = self.superslice(DispatchPlace::Plain).and_then(|other| self.used.get_mut(other)) {
                *used += 1;
            }
        }
        Some(superslice)
    }
}

impl StageTimes {
    /// Returns the times of an operation that was dispatched on the fast path.
    #[inline]
    pub(super) fn at(from: &Dispatched) -> StageTimes {
        let held = DispatchHold { ready: from.ready, history: from.held.history, waits: DispatchWaits::default(), queue: from.held.queue };
        let (dispatched, slice, next) = (from.at, from.slice, from.at + 1);
        StageTimes { held, dispatched, slice, data: 0, sourced: next, recirculated: next, issued: dispatched, finished: next, entered: 0 }
    }
}

impl Power9Pipeline {
    /// PP9 to PP18: dispatches the instruction. Returns the cycles in which it could be and is dispatched, and the slice of its operation.
    /// It has not been issued.
    pub(super) fn dispatch(
        &mut self,
        executed: &Executed<'_>,
        share: Power9Share,
        threads: &mut Threads<'_>,
        tally: &mut Tally,
    ) -> StageTimes {
        let Executed { instruction, operation, ref row, found, .. } = *executed;
        let serializes = rows::synchronizes(instruction) || found.continuation == Continuation::Far;
        let before = self.group;
        let mut ready = self.fetched.max(self.restart);
        if !self.group.has_room(row) || ready > self.group.at {
            ready = ready.max(self.group.at + u64::from(self.group.count != 0));
        } else {
            ready = self.group.at;
        }
        let next = before.at + u64::from(before.count != 0);
        self.hold(Power9State::Starved, next, self.fetched.max(self.restart).min(ready));
        // PP5: decode waits for an entry of the effective address table.
        if row.place == DispatchPlace::Branch {
            let room = self.targets.room_within(1, share.targets);
            self.hold(Power9State::TargetsFull, ready, room);
            ready = ready.max(room);
        }
        // A cycle in which anything was dispatched is not a held cycle.
        let from = if ready == before.at && before.count != 0 { ready + 1 } else { ready };
        let mut held = from;
        let window = self.window.room_within(usize::from(row.operations), share.window);
        self.hold(Power9State::WindowFull, held, window);
        held = held.max(window);
        let history = self.shared.history.room(operation.writes.len());
        self.hold(Power9State::HeldHistory, held, history);
        held = held.max(history);
        let mut waits = DispatchWaits::default();
        if serializes || self.invalidated != 0 || self.ended != 0 {
            waits = self.wait(executed, serializes, &mut held, threads, tally);
        }
        let queue = match row.unit {
            Power9Unit::None => 0,
            Power9Unit::Branch => self.shared.branches.room(),
            _ => self.shared.queues.iter().map(|queue| queue.room()).min().unwrap_or(0),
        };
        self.hold(Power9State::HeldIssueQueue, held, queue);
        let mut at = ready.max(window).max(history).max(waits.last()).max(queue);
        self.hold(Power9State::DispatchHeld, from.max(window), at);
        if at >= next {
            // PP55: no other thread dispatches in the same cycle.
            threads.stalls(next, at);
            at = threads.turn(at);
        }
        if at > self.group.at {
            self.pass(at, threads);
        }
        let superslice = self.group.take(row.place, row.operations);
        let mut slice = superslice.map_or(0, |superslice| self.shared.next_slice(superslice));
        let full = |slice: usize| self.shared.queues.get(slice).is_none_or(|queue| queue.room() > at);
        if !matches!(row.unit, Power9Unit::None | Power9Unit::Branch) && full(slice) {
            // The other slice of the superslice, or any that has room.
            slice = [slice ^ 1].into_iter().chain(0..SLICES).find(|slice| !full(*slice)).unwrap_or(slice);
        }
        let held = DispatchHold { ready, history, waits, queue };
        let next = at + 1;
        StageTimes { held, dispatched: at, slice, data: 0, sourced: next, recirculated: next, issued: at, finished: next, entered: 0 }
    }

    /// PP15 to PP17: returns until when the instruction waits for earlier ones. It is held until `held` by other causes.
    fn wait(
        &mut self,
        executed: &Executed<'_>,
        serializes: bool,
        held: &mut u64,
        threads: &Threads<'_>,
        tally: &mut Tally,
    ) -> DispatchWaits {
        let class = executed.instruction.class;
        let several = u64::from(threads.count() > 1);
        let synchronization = if serializes && self.completed != 0 { self.completed + SCOREBOARD } else { 0 };
        self.hold(Power9State::HeldSynchronization, *held, synchronization);
        let flushes = if synchronization > *held { several } else { 0 };
        *held = (*held).max(synchronization);
        // An invalidation of translations and the instruction after it wait until the previous invalidation has been answered.
        let waits = self.invalidated != 0 && (self.behind_invalidation || class == Class::TranslationInvalidation);
        let invalidation = if waits { self.invalidated + SCOREBOARD } else { 0 };
        self.hold(Power9State::HeldInvalidation, *held, invalidation);
        let invalidations = if invalidation > *held { several } else { 0 };
        *held = (*held).max(invalidation);
        tally.add(Signal::DispatchFlushesScoreboard, flushes);
        tally.add(Signal::DispatchFlushesInvalidation, invalidations);
        tally.add(Signal::DispatchFlushes, flushes + invalidations);
        // A transaction waits until the previous one has ended.
        let waits = self.ended != 0 && class == Class::TransactionBegin;
        let transaction = if waits { self.ended + SCOREBOARD } else { 0 };
        self.hold(Power9State::HeldTransaction, *held, transaction);
        *held = (*held).max(transaction);
        DispatchWaits { synchronization, invalidation, transaction }
    }
}

/// The times and slice of a dispatched operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatched {
    /// The cycle in which it could be dispatched if nothing held it.
    pub(super) ready: u64,
    pub(super) held: Full,
    /// The cycle in which it was dispatched.
    pub(super) at: u64,
    pub(super) slice: usize,
}

/// The cycles until which the history buffer and the issue queues held an operation at dispatch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    pub(super) history: u64,
    pub(super) queue: u64,
}
