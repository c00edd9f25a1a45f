//! Fast path of loads and branches, and of stores that the second level takes at once, where everything hits the caches.
//!
//! It leaves the pipeline in the same state as the [general path](Power9Pipeline::execute), which a test compares. Most instructions that do more
//! than [compute](super::plain) are of this kind.

use super::accesses;
use super::dispatch::{DispatchGroup, Dispatched, Full, WIDTH};
use super::machines::PASS;
use super::reasons::{Phases, Reason};
use super::rows::DispatchPlace;
use super::{
    ACCESSES, ADDRESSES, ANY, BRANCH, Blocked, COMPLETION, Power9Pipeline, Power9Share, Power9State, SLICES, StageTimes, UNKNOWN, place,
};
use crate::instruction::{Class, Instruction, Operation, Register};
use crate::pipeline::{Continuation, Findings, Source, Touch};
use crate::tally::Tally;

/// Cycles from the issue of a branch to its finish.
const BRANCH_LATENCY: u64 = 2;

impl Power9Pipeline {
    /// Executes an instruction whose code is present, whose access, if any, hit, and that continues in sequence or elsewhere, on a thread
    /// that has its core to itself. Returns whether it took the fast path; if not, nothing has been done.
    pub(in crate::pipeline) fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touch: Option<&Touch>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        if !self.quiet || self.predicts {
            return false;
        }
        let goes_on = continuation == Continuation::Sequential;
        match (instruction.class, touch) {
            (Class::Load, Some(touch)) if goes_on && touch.loads() && !touch.missed && !self.meets_store(touch) => {
                self.begin_short(instruction, tally);
                self.step_load(instruction, touch, tally);
            }
            (Class::Store, Some(touch)) if goes_on && touch.stores() && touch.source == Source::Second => {
                self.begin_short(instruction, tally);
                self.step_store(instruction, touch, tally);
            }
            (Class::Branch, None) => {
                self.begin_short(instruction, tally);
                self.step_branch(instruction, continuation, tally);
            }
            _ => return false,
        }
        true
    }

    /// Whether a load may meet a store that the second level has not taken.
    #[inline]
    fn meets_store(&self, touch: &Touch) -> bool {
        self.stores.find(touch.address, touch.size, self.group.at).is_some()
    }

    /// Fetches the block of the instruction.
    #[inline]
    fn begin_short(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        self.second_walker = 0;
        if self.block != Some(instruction.address >> super::BLOCK_BITS) && instruction.length != 0 {
            self.fetch(instruction, &Findings::NONE, Power9Share::of(1), tally);
        }
    }

    /// Returns when all of these registers are ready, `earliest` or later.
    #[inline]
    pub(super) fn ready_from(&self, earliest: u64, registers: &[Register]) -> u64 {
        registers.iter().fold(earliest, |ready, register| ready.max(self.registers.at(place(*register))))
    }

    fn step_load(&mut self, instruction: &Instruction<'_>, touch: &Touch, tally: &mut Tally) {
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        let from = self.dispatch_plain(operation.writes.len());
        let lane = accesses::slice_of(touch);
        let sourced = self.ready_from(from.at + 1, operation.addresses);
        let recirculated = sourced.max(self.shared.recirculation_room(lane));
        let issued = self.shared.ports.take_cycle(ADDRESSES + from.slice, recirculated);
        accesses::count_slice(touch, tally);
        let entered = issued.max(self.shared.loads.get(lane).map_or(0, |queue| queue.room()));
        self.shared.recirculate(lane, issued, entered);
        let launched = self.shared.ports.take_cycle(ACCESSES + lane, entered);
        let (mut here, mut pass) = (launched + PASS, Reason::LoadFinish);
        // A line that hits the first level may still be in flight (PP30).
        if let Some((until, source)) = self.shared.misses.find(touch.line, here) {
            (here, pass) = (until, Reason::of_miss(source));
        }
        let finished = here + Power9Pipeline::split(touch);
        self.shared.keep_load(lane, finished);
        self.take_queue(from.slice, issued);
        if finished >= self.unowned {
            self.own_dispatch(&from, tally);
            self.own_until(Reason::HeldOther, sourced.min(issued));
            self.own_until(Reason::HeldRecirculation, recirculated.min(issued));
            self.own_until(Reason::HeldArbitration, issued);
            self.own_until(Reason::LoadQueueFull, entered);
            self.own_until(Reason::AddressArbitration, launched);
            self.own_until(pass, here);
            self.own_until(Reason::SplitLoad, finished);
            self.own_until(Reason::Finish, finished + 1);
        }
        self.complete_short();
        self.shared.finish_load(lane, finished, self.completed + 1);
        // A load writes its data first; an update form writes the base too.
        let based = operation.writes.len() > 1;
        self.write_short(operation, from.at, finished, based.then_some(issued + 2));
    }

    fn step_store(&mut self, instruction: &Instruction<'_>, touch: &Touch, tally: &mut Tally) {
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        let from = self.dispatch_short(DispatchPlace::Restricted, operation.writes.len());
        let lane = accesses::slice_of(touch);
        let sourced = self.ready_from(from.at + 1, operation.addresses);
        let recirculated = sourced.max(self.shared.recirculation_room(lane));
        let issued = self.shared.ports.take_cycle(ADDRESSES + from.slice, recirculated);
        accesses::count_slice(touch, tally);
        let mut times = StageTimes { sourced, recirculated, issued, ..StageTimes::at(&from) };
        let mut phases = Phases::new();
        times.finished = self.store(touch, operation, issued, &mut times, &mut phases, tally);
        self.take_queue(from.slice, issued);
        if times.finished >= self.unowned {
            self.own_dispatch(&from, tally);
            self.own_until(Reason::HeldOther, sourced.min(issued));
            self.own_until(Reason::HeldRecirculation, recirculated.min(issued));
            self.own_until(Reason::HeldArbitration, issued);
            for (reason, until) in phases.all() {
                self.own_until(reason, until.min(times.finished));
            }
            self.own_until(Reason::Finish, times.finished + 1);
        }
        self.complete_short();
        self.write(touch, &times, self.completed, 0, tally);
        self.write_short(operation, from.at, times.finished, Some(issued + 2));
        self.count_stores(tally);
    }

    fn step_branch(&mut self, instruction: &Instruction<'_>, continuation: Continuation, tally: &mut Tally) {
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        let from = self.dispatch_short(DispatchPlace::Branch, operation.writes.len());
        let sourced = self.ready_from(self.ready_from(from.at + 1, operation.reads), operation.addresses);
        let issued = self.shared.ports.take_cycle(BRANCH, sourced);
        let finished = issued + BRANCH_LATENCY;
        self.shared.branches.take(issued + 1);
        if finished >= self.unowned {
            self.own_dispatch(&from, tally);
            self.own_until(Reason::HeldOther, sourced.min(issued));
            self.own_until(Reason::HeldArbitration, issued);
            self.own_until(Reason::Branch, finished);
            self.own_until(Reason::Finish, finished + 1);
        }
        self.complete_short();
        self.write_short(operation, from.at, finished, Some(issued + 2));
        if continuation != Continuation::Sequential {
            let times = StageTimes { issued, finished, ..StageTimes::at(&from) };
            self.turn(instruction, continuation, &times, self.completed);
            if continuation == Continuation::Mispredicted {
                self.shared.flush(finished, 0);
            }
        }
    }

    /// Takes an issue queue entry of a slice until its operation has been issued.
    #[inline]
    fn take_queue(&mut self, slice: usize, issued: u64) {
        if let Some(queue) = self.shared.queues.get_mut(slice % SLICES) {
            queue.take(issued + 1);
        }
    }

    /// PP9 to PP18: dispatches an operation with `place`, other than a plain one.
    fn dispatch_short(&mut self, place: DispatchPlace, results: usize) -> Dispatched {
        let DispatchGroup { at: before, count, .. } = self.group;
        let next = before + u64::from(count != 0);
        let front = self.fetched.max(self.restart);
        let branches = place == DispatchPlace::Branch;
        let fits = front <= before && self.group.fits_one(place);
        let mut ready = if fits { before } else { front.max(next) };
        self.hold(Power9State::Starved, next, front.min(ready));
        if branches {
            let room = self.targets.room_for_one();
            self.hold(Power9State::TargetsFull, ready, room);
            ready = ready.max(room);
        }
        let window = self.window.room_for_one();
        let history = self.shared.history.room(results);
        let queues = &self.shared.queues;
        let queue = if branches { self.shared.branches.room() } else { queues.iter().map(|queue| queue.room()).min().unwrap_or(0) };
        let at = ready.max(window).max(history).max(queue);
        self.wait_for_room(ready, window, &Full { history, queue }, at);
        let superslice = self.group.take(place, 1);
        let mut slice = superslice.map_or(0, |superslice| self.shared.next_slice(superslice));
        let full = |slice: usize| self.shared.queues.get(slice).is_none_or(|queue| queue.room() > at);
        if !branches && full(slice) {
            // The other slice of the superslice, or any that has room.
            slice = [slice ^ 1].into_iter().chain(0..SLICES).find(|slice| !full(*slice)).unwrap_or(slice);
        }
        Dispatched { ready, held: Full { history, queue }, at, slice }
    }

    /// PP40, PP41: completes an instruction whose cycles have their reasons, unless it is blocked.
    #[inline]
    fn complete_short(&mut self) {
        self.complete_plain((Reason::AllFinished, 0));
    }

    /// Completes an instruction that `reason` blocks for at least `cycles`.
    #[inline]
    pub(super) fn complete_plain(&mut self, (reason, cycles): (Reason, u64)) {
        let until = self.unowned + cycles;
        if until >= self.blocked.until {
            self.blocked = Blocked { reason, until, last: reason };
        }
        self.completed = self.completed.max(self.blocked.until - 1 + COMPLETION);
        self.window.take(self.completed + 1);
    }

    /// Sets its results ready in cycle `finished`, except bases of addresses, which are ready in cycle `moved` if that is given.
    #[inline]
    pub(super) fn write_short(&mut self, operation: &Operation<'_>, dispatched: u64, finished: u64, moved: Option<u64>) {
        for register in operation.writes {
            self.shared.history.take_in_order(self.completed + 1);
            let ready = match (register.0 == ANY, moved) {
                // As if through the shortest operation, whatever this one is.
                (true, _) => self.registers.at(ANY).max(dispatched + 1) + 2,
                (_, Some(moved)) if operation.addresses.contains(register) => moved,
                _ => finished,
            };
            self.registers.set(place(*register), ready);
        }
        self.buffer.take(dispatched + 1);
        self.front = Reason::Empty;
    }
}

impl DispatchGroup {
    /// Whether there is room for one operation with `place`.
    #[inline]
    fn fits_one(&self, place: DispatchPlace) -> bool {
        self.count < WIDTH && self.has_place(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::power9::rows::{self, Power9Unit};

    #[test]
    fn the_short_way_is_for_one_operation_of_the_branch_unit_or_of_memory() {
        let row = |class| rows::of(&Instruction { class, ..Instruction::default() });
        let (branch, load, store) = (row(Class::Branch), row(Class::Load), row(Class::Store));
        assert_eq!((branch.unit, branch.place, branch.operations), (Power9Unit::Branch, DispatchPlace::Branch, 1));
        assert_eq!((u64::from(branch.latency), branch.reason), (BRANCH_LATENCY, Reason::Branch));
        assert_eq!((load.unit, load.place, load.operations), (Power9Unit::Memory, DispatchPlace::Plain, 1));
        assert_eq!((store.unit, store.place, store.operations), (Power9Unit::Memory, DispatchPlace::Restricted, 1));
    }
}
