//! Dispatch: six internal operations per cycle, in order, into the places of two superslices.

use super::paths::Path;
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
    fn superslice(&self, place: DispatchPlace) -> Option<usize> {
        let [first, second] = self.used;
        let order = if second < first { [1, 0] } else { [0, 1] };
        order.into_iter().find(|superslice| self.fits(*superslice, place))
    }

    /// Returns the superslice for an instruction, 0 for a branch, if there is room for all of its operations.
    #[inline]
    fn room(&self, row: &Power9Row) -> Option<usize> {
        // An instruction of three operations takes the cycle for itself (PP11).
        let fits = if row.operations > 2 { self.count == 0 } else { self.count + row.operations <= WIDTH };
        match row.place {
            _ if !fits => None,
            DispatchPlace::Branch => (self.branches < BRANCHES).then_some(0),
            place => self.superslice(place),
        }
    }

    /// Takes the places of an instruction's operations, the first in `superslice` unless it is a branch.
    #[inline]
    fn take(&mut self, row: &Power9Row, superslice: usize) {
        self.count = if row.operations > 2 { WIDTH } else { self.count + row.operations };
        if row.place == DispatchPlace::Branch {
            self.branches += 1;
            return;
        }
        if let (Some(used), Some(restricted)) = (self.used.get_mut(superslice), self.restricted.get_mut(superslice)) {
            *used += if row.place == DispatchPlace::Even { PLACES } else { 1 };
            *restricted |= row.place == DispatchPlace::Restricted;
        }
        for _ in 1..row.operations {
            // The other operations of the same instruction, where there is room.
            if let Some(used) = self.superslice(DispatchPlace::Plain).and_then(|other| self.used.get_mut(other)) {
                *used += 1;
            }
        }
    }
}

impl Power9Pipeline {
    /// PP9 to PP18: dispatches the instruction. Returns the cycles in which it could be and is dispatched, and the slice of its operation.
    /// It has not been issued.
    #[inline]
    pub(super) fn dispatch<P: Path>(
        &mut self,
        executed: &Executed<'_>,
        share: Power9Share,
        threads: &mut Threads<'_>,
        tally: &mut Tally,
    ) -> StageTimes {
        let Executed { operation, ref row, .. } = *executed;
        let DispatchGroup { at: before, count, .. } = self.group;
        let next = before + u64::from(count != 0);
        let front = self.fetched.max(self.restart);
        let room = self.group.room(row).filter(|_| front <= before);
        let mut superslice = room.unwrap_or(0);
        let mut ready = if room.is_some() { before } else { front.max(next) };
        self.hold(Power9State::Starved, next, front.min(ready));
        // PP5: decode waits for an entry of the effective address table.
        if row.place == DispatchPlace::Branch {
            let room = self.targets.room_within(1, share.targets);
            self.hold(Power9State::TargetsFull, ready, room);
            ready = ready.max(room);
        }
        // A cycle in which anything was dispatched is not a held cycle.
        let from = || ready + u64::from(ready == before && count != 0);
        let window = self.window.room_within(usize::from(row.operations), share.window);
        let history = self.shared.history.room(operation.writes.len());
        let mut waits = DispatchWaits::default();
        if !P::QUIET {
            waits = self.wait(executed, from().max(window).max(history), threads, tally);
        }
        let queue = match row.unit {
            Power9Unit::None => 0,
            Power9Unit::Branch => self.shared.branches.room(),
            _ => self.shared.issue_room(superslice, ready),
        };
        let mut at = ready.max(window).max(history).max(waits.last()).max(queue);
        if at > ready {
            let from = from();
            self.hold(Power9State::WindowFull, from, window);
            self.hold(Power9State::HeldHistory, from.max(window), history);
            self.hold(Power9State::HeldIssueQueue, from.max(window).max(history).max(waits.last()), queue);
            self.hold(Power9State::DispatchHeld, from.max(window), at);
        }
        if !P::ALONE && at >= next {
            // PP55: no other thread dispatches in the same cycle.
            threads.stalls(next, at);
            at = threads.turn(at);
        }
        if at > before {
            superslice = 0;
            let mut alone = Threads::ALONE;
            self.pass(at, if P::ALONE { &mut alone } else { threads });
        }
        self.group.take(row, superslice);
        let mut slice = if row.place == DispatchPlace::Branch { 0 } else { self.shared.next_slice(superslice) };
        let full = |slice: usize| self.shared.queues.get(slice).is_none_or(|queue| queue.room() > at);
        if !matches!(row.unit, Power9Unit::None | Power9Unit::Branch) && full(slice) {
            // The other slice of the superslice, or any that has room.
            slice = [slice ^ 1].into_iter().chain(0..SLICES).find(|slice| !full(*slice)).unwrap_or(slice);
        }
        let held = DispatchHold { ready, history, waits, queue };
        StageTimes { held, dispatched: at, slice, data: 0, issued: at, owned: 0, finished: at + 1, entered: 0 }
    }

    /// PP15 to PP17: returns until when the instruction waits for earlier ones. It is held until `held` by other causes.
    fn wait(&mut self, executed: &Executed<'_>, mut held: u64, threads: &Threads<'_>, tally: &mut Tally) -> DispatchWaits {
        let class = executed.instruction.class;
        let serializes = rows::synchronizes(executed.instruction) || executed.continuation == Continuation::Far;
        if !serializes && self.invalidated == 0 && self.ended == 0 {
            return DispatchWaits::default();
        }
        let several = u64::from(threads.count() > 1);
        let synchronization = if serializes && self.completed != 0 { self.completed + SCOREBOARD } else { 0 };
        self.hold(Power9State::HeldSynchronization, held, synchronization);
        let flushes = if synchronization > held { several } else { 0 };
        held = held.max(synchronization);
        // An invalidation of translations and the instruction after it wait until the previous invalidation has been answered.
        let waits = self.invalidated != 0 && (self.behind_invalidation || class == Class::TranslationInvalidation);
        let invalidation = if waits { self.invalidated + SCOREBOARD } else { 0 };
        self.hold(Power9State::HeldInvalidation, held, invalidation);
        let invalidations = if invalidation > held { several } else { 0 };
        held = held.max(invalidation);
        tally.add(Signal::DispatchFlushesScoreboard, flushes);
        tally.add(Signal::DispatchFlushesInvalidation, invalidations);
        tally.add(Signal::DispatchFlushes, flushes + invalidations);
        // A transaction waits until the previous one has ended.
        let waits = self.ended != 0 && class == Class::TransactionBegin;
        let transaction = if waits { self.ended + SCOREBOARD } else { 0 };
        self.hold(Power9State::HeldTransaction, held, transaction);
        DispatchWaits { synchronization, invalidation, transaction }
    }
}
