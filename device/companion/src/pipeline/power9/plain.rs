//! Fast path of an instruction that only computes: one operation of two cycles on the port of a slice, from registers to registers.
//!
//! It leaves the pipeline in the same state as the [general path](Power9Pipeline::execute), which a test compares. Most instructions are of this
//! kind.

use super::dispatch::{DispatchGroup, Dispatched, Full};
use super::reasons::Reason;
use super::rows::{DispatchPlace, FIXED};
use super::signals::Power9State;
use super::{ANY, Blocked, COMPLETION, Power9Pipeline, Power9Share, SLICES, UNKNOWN, place};
use crate::instruction::{Class, Instruction};
use crate::pipeline::Findings;
use crate::pipeline::sharing::Threads;
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

/// Cycles from issue to the use of the result.
pub(super) const LATENCY: u64 = FIXED.latency as u64;

/// Whether an instruction of `class` is one operation of a slice, whatever its width (the rows of `FIXED`).
#[inline]
pub(super) fn is_short(class: Class) -> bool {
    matches!(
        class,
        Class::Simple
            | Class::Shift
            | Class::Address
            | Class::AddressScaled
            | Class::Extend
            | Class::ConditionalMove
            | Class::AddWithCarry
            | Class::ToVector
            | Class::FromVector
    )
}

impl Power9Pipeline {
    /// Executes an instruction whose code is present, that made no access and continues in sequence, on a thread that has its core to
    /// itself. Returns whether it took the fast path; if not, nothing has been done.
    #[inline]
    pub(in crate::pipeline) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        let short = self.quiet && is_short(instruction.class);
        if short {
            self.step_plain(instruction, tally);
        }
        short
    }

    /// Whether nothing is demanded that the fast path does not report, and nothing holds the instructions that take it.
    pub(in crate::pipeline) fn is_quiet(&self) -> bool {
        let watched = self.told || self.watches || self.shared.watch.active;
        !watched && !self.behind_invalidation && self.blocked.reason != Reason::BlockedBarrier
    }

    #[inline(never)]
    fn step_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        self.second_walker = 0;
        if self.block != Some(instruction.address >> super::BLOCK_BITS) && instruction.length != 0 {
            self.fetch(instruction, &Findings::NONE, Power9Share::of(1), tally);
        }
        let from = self.dispatch_plain(operation.writes.len());
        let Dispatched { at: dispatched, slice, .. } = from;
        let mut sources = dispatched + 1;
        for registers in [operation.reads, operation.addresses] {
            for register in registers {
                sources = sources.max(self.registers.at(place(*register)));
            }
        }
        let issued = self.shared.ports.take_cycle(slice, sources);
        let finished = issued + LATENCY;
        if let Some(queue) = self.shared.queues.get_mut(slice % SLICES) {
            queue.take(issued + 1);
        }
        if finished >= self.unowned {
            // Otherwise it completes with the previous instruction.
            self.own_plain(&from, sources, issued, tally);
            if self.unowned >= self.blocked.until {
                self.blocked = Blocked { reason: Reason::AllFinished, until: self.unowned, last: Reason::AllFinished };
            }
            self.completed = self.completed.max(self.blocked.until - 1 + COMPLETION);
        }
        self.window.take(self.completed + 1);
        for register in operation.writes {
            self.shared.history.take_in_order(self.completed + 1);
            // As if through the shortest operation, whatever this one is.
            let ready = if register.0 == ANY { self.registers.at(ANY).max(dispatched + 1) + LATENCY } else { finished };
            self.registers.set(place(*register), ready);
        }
        self.buffer.take(dispatched + 1);
        self.front = Reason::Empty;
    }

    /// Counts the wait of an operation that could be dispatched from `ready` on and is dispatched at `at`, since the window or a full
    /// resource has no room before.
    #[inline(always)]
    pub(super) fn wait_for_room(&mut self, ready: u64, window: u64, full: &Full, at: u64) {
        let DispatchGroup { at: before, count, .. } = self.group;
        let Full { history, queue } = *full;
        if at > ready {
            // The cycle of an open group is not a cycle of waiting.
            let from = if ready == before && count != 0 { ready + 1 } else { ready };
            self.hold(Power9State::WindowFull, from, window);
            self.hold(Power9State::HeldHistory, from.max(window), history);
            self.hold(Power9State::HeldIssueQueue, from.max(window).max(history), queue);
            self.hold(Power9State::DispatchHeld, from.max(window), at);
        }
        if at > before {
            let mut alone = Threads::ALONE;
            self.pass(at, &mut alone);
        }
    }

    /// PP9 to PP18: dispatches an operation with a plain place.
    #[inline(always)]
    pub(super) fn dispatch_plain(&mut self, results: usize) -> Dispatched {
        let DispatchGroup { at: before, count, .. } = self.group;
        let next = before + u64::from(count != 0);
        let front = self.fetched.max(self.restart);
        let place = self.group.plain_place().filter(|_| front <= before);
        let ready = if place.is_some() { before } else { front.max(next) };
        if front > next {
            self.hold(Power9State::Starved, next, front);
        }
        let window = self.window.room_for_one();
        let history = self.shared.history.room(results);
        let mut at = ready.max(window).max(history);
        // After a finished group, the first superslice is next.
        let mut superslice = if at > before { 0 } else { place.unwrap_or(0) };
        let mut slice = self.shared.slice(superslice);
        let room = |core: &Power9Pipeline, slice: usize| core.shared.queues.get(slice % SLICES).map_or(0, |queue| queue.room());
        // If the queue of the slice has room, it does not matter that another has room too.
        let mut queue = 0;
        if room(self, slice) > ready {
            queue = (0..SLICES).map(|slice| room(self, slice)).min().unwrap_or(0);
            at = at.max(queue);
            if at > before {
                superslice = 0;
                slice = self.shared.slice(superslice);
            }
        }
        self.wait_for_room(ready, window, &Full { history, queue }, at);
        self.group.take_plain(superslice);
        self.shared.turn_slice(superslice);
        if room(self, slice) > at {
            // The other slice of the superslice, or any that has room.
            slice = [slice ^ 1].into_iter().chain(0..SLICES).find(|slice| room(self, *slice) <= at).unwrap_or(slice);
        }
        Dispatched { ready, held: Full { history, queue }, at, slice }
    }

    /// PP42 to PP48: gives reasons to the cycles that the instruction owns, after everything before it has finished.
    #[inline]
    fn own_plain(&mut self, from: &Dispatched, sources: u64, issued: u64, tally: &mut Tally) {
        self.own_dispatch(from, tally);
        self.own_until(Reason::HeldOther, sources.min(issued));
        self.own_until(Reason::HeldArbitration, issued);
        self.own_until(Reason::Fixed, issued + LATENCY);
        self.own_until(Reason::Finish, issued + LATENCY + 1);
    }

    /// Gives reasons to the owned cycles before its dispatch.
    #[inline]
    pub(super) fn own_dispatch(&mut self, from: &Dispatched, tally: &mut Tally) {
        let Dispatched { ready, held, at: dispatched, .. } = *from;
        if self.unowned < dispatched {
            let in_flight = dispatched.min(self.completed + 1);
            if self.completed != 0 {
                self.own_completion(in_flight);
            }
            if self.stalled && self.unowned < dispatched {
                tally.add(Signal::StallsEndedEmpty, 1);
            }
            self.own_until(self.front, ready.min(dispatched));
            self.own_until(Reason::EmptyHeldHistory, held.history.min(dispatched));
            self.own_until(Reason::EmptyHeldIssueQueue, held.queue.min(dispatched));
            self.own_until(Reason::Empty, dispatched);
        }
    }
}

impl DispatchGroup {
    /// Returns the superslice of an operation with one plain place, if the group has room for it.
    #[inline]
    pub(super) fn plain_place(&self) -> Option<usize> {
        (self.count < super::dispatch::WIDTH).then(|| self.superslice(DispatchPlace::Plain)).flatten()
    }

    /// Takes one plain place in a superslice.
    #[inline]
    fn take_plain(&mut self, superslice: usize) {
        self.count += 1;
        if let Some(used) = self.used.get_mut(superslice) {
            *used += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::power9::rows;

    #[test]
    fn the_short_way_is_for_classes_that_are_one_fixed_point_operation() {
        for class in Class::ALL {
            let row = rows::of(&Instruction { class, ..Instruction::default() });
            assert_eq!(is_short(class), row == FIXED, "{class:?}");
        }
    }
}
