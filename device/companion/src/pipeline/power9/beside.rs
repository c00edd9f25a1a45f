//! Fast path of an instruction that only computes, on a thread that shares the core with others and has turns and shares.
//!
//! It leaves the pipeline, and the state that the threads share, as the [general path](Power9Pipeline::execute) does, which tests compare.

use super::dispatch::{DispatchGroup, Dispatched, Full};
use super::plain::{LATENCY, is_short};
use super::reasons::Reason;
use super::rows::DispatchPlace;
use super::signals::Power9State;
use super::{Power9Pipeline, Power9Share, SLICES, SharedUnits, UNKNOWN};
use crate::instruction::Instruction;
use crate::pipeline::Findings;
use crate::pipeline::sharing::Threads;
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

impl Power9Pipeline {
    /// Swaps the shared state of the core's threads with that of this thread, if there are several threads.
    #[inline]
    pub(super) fn exchange(&mut self, threads: &mut Threads<'_>) {
        if let Some(shared) = threads.shared::<SharedUnits>() {
            core::mem::swap(&mut self.shared, shared);
        }
    }

    /// Counts the stores that have been issued since the last call.
    #[inline]
    pub(super) fn count_stores(&mut self, tally: &mut Tally) {
        tally.add(Signal::StoresIssued, self.shared.stores_issued.saturating_sub(self.stores_seen));
        self.stores_seen = self.shared.stores_issued;
    }

    /// Executes an instruction that made no access and continues in sequence, and whose code is present, on a thread that competes with
    /// others of its core. Returns whether it took the fast path; if not, nothing has been done.
    pub(in crate::pipeline) fn execute_plain_beside(
        &mut self,
        instruction: &Instruction<'_>,
        threads: &mut Threads<'_>,
        tally: &mut Tally,
    ) -> bool {
        if !is_short(instruction.class) {
            return false;
        }
        self.exchange(threads);
        let short = self.is_quiet();
        if short {
            self.step_plain_beside(instruction, threads, tally);
            self.count_stores(tally);
        }
        self.exchange(threads);
        short
    }

    fn step_plain_beside(&mut self, instruction: &Instruction<'_>, threads: &mut Threads<'_>, tally: &mut Tally) {
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        let (share, thread) = (Power9Share::of(threads.count()), threads.number());
        self.second_walker = 0;
        if self.block != Some(instruction.address >> super::BLOCK_BITS) && instruction.length != 0 {
            self.fetch(instruction, &Findings::NONE, share, tally);
        }
        let from = self.dispatch_beside(operation.writes.len(), share, threads);
        let Dispatched { at: dispatched, slice, .. } = from;
        let sources = self.ready_from(self.ready_from(dispatched + 1, operation.reads), operation.addresses);
        let issued = self.shared.ports.take_cycle(slice, sources);
        let finished = issued + LATENCY;
        if let Some(queue) = self.shared.queues.get_mut(slice % SLICES) {
            queue.take(issued + 1);
        }
        if finished >= self.unowned {
            self.own_dispatch(&from, tally);
            self.own_until(Reason::HeldOther, sources.min(issued));
            self.own_until(Reason::HeldArbitration, issued);
            self.shared.progress.stalls(thread, self.unowned, finished);
            self.own_until(Reason::Fixed, finished);
            self.own_until(Reason::Finish, finished + 1);
        }
        let flushed = self.shared.is_flushed(self.unowned, thread);
        self.complete_plain(if flushed { (Reason::BlockedFlush, 1) } else { (Reason::AllFinished, 0) });
        self.write_short(operation, dispatched, finished, None);
        self.shared.progress.completes(thread, self.completed);
        tally.add(Signal::InstructionsOtherThreadsStalled, self.shared.progress.take(thread));
    }

    /// PP9 to PP18, PP55: dispatches an operation with a plain place, beside other threads.
    #[inline]
    fn dispatch_beside(&mut self, results: usize, share: Power9Share, threads: &mut Threads<'_>) -> Dispatched {
        let DispatchGroup { at: before, count, .. } = self.group;
        let next = before + u64::from(count != 0);
        let front = self.fetched.max(self.restart);
        let ready = if front <= before && self.group.plain_place().is_some() { before } else { front.max(next) };
        self.hold(Power9State::Starved, next, front.min(ready));
        let window = self.window.room_within(1, share.window);
        let history = self.shared.history.room(results);
        let queue = self.shared.queues.iter().map(|queue| queue.room()).min().unwrap_or(0);
        // The cycle of an open group is not a cycle of waiting.
        let from = if ready == before && count != 0 { ready + 1 } else { ready };
        self.hold(Power9State::WindowFull, from, window);
        self.hold(Power9State::HeldHistory, from.max(window), history);
        self.hold(Power9State::HeldIssueQueue, from.max(window).max(history), queue);
        let mut at = ready.max(window).max(history).max(queue);
        self.hold(Power9State::DispatchHeld, from.max(window), at);
        if at >= next {
            // No other thread dispatches in the same cycle.
            threads.stalls(next, at);
            at = threads.turn(at);
        }
        if at > before {
            self.pass(at, threads);
        }
        let superslice = self.group.take(DispatchPlace::Plain, 1).unwrap_or(0);
        let mut slice = self.shared.next_slice(superslice);
        let full = |slice: usize| self.shared.queues.get(slice).is_none_or(|queue| queue.room() > at);
        if full(slice) {
            // The other slice of the superslice, or any that has room.
            slice = [slice ^ 1].into_iter().chain(0..SLICES).find(|slice| !full(*slice)).unwrap_or(slice);
        }
        Dispatched { ready, held: Full { history, queue }, at, slice }
    }
}
