//! The pipeline of a thread of POWER9. Rules PP1 to PP60, PP74 to PP78, PP82, PP92 and PP93, known answers KA1 to KA15, and their sources
//! are in `docs/notes/pipelines-power9.md`. Conflicts in the second level with other cores (PP37) are not modelled.

mod accesses;
mod dispatch;
mod fetch;
mod flushes;
mod interface;
mod machine_requests;
mod machines;
mod occupancy;
mod outcome;
mod paths;
mod progress;
mod reasons;
mod rows;
mod saved;
mod shared;
mod signals;
#[cfg(test)]
mod tests;
mod walkers;
mod watch;
mod way_prediction;

use vm_pmu_arch::feed::Signal;

use super::sharing::Threads;
use super::{Continuation, Findings, Touch, boxed};
use crate::instruction::{Class, Elements, Instruction, Operation, Register};
use crate::pipeline::resources::account::ManyStates;
use crate::pipeline::resources::memory::Stores;
use crate::pipeline::resources::queue::Ring;
use crate::pipeline::resources::reasons::Reasons;
use crate::pipeline::resources::registers::{ANY, Registers};
use crate::tally::Tally;
use alloc::boxed::Box;
use dispatch::{DispatchGroup, DispatchHold};
use flushes::Wary;
use machine_requests::moves_lines;
use outcome::InstructionStages;
use paths::Path;
use reasons::Reason;
pub(super) use reasons::{REASONS, has_reason_of, reason_signals, signals_of};
use rows::{Power9Row, Power9Unit};
pub(super) use shared::SharedUnits as Shared;
use shared::SharedUnits;
use signals::Power9State;
pub(super) use signals::{EVENTS, STATES, WAY_PREDICTION_MISSES, is_watched};
use vm_pmu_arch::feed::{Flush, Traits};
use watch::WatchedQueue;

/// Number of slices of the core.
const SLICES: usize = 4;
/// Cycles from the finish of an instruction that flushes to the dispatch of the first after it (PP7).
const REFETCH: u64 = 13;
/// Cycles from the completion that the scoreboard waits for to dispatch (PP15).
const SCOREBOARD: u64 = 3;
/// Cycles from finish to completion (PP40).
const COMPLETION: u64 = 2;
/// Cycles for which an exception keeps the oldest instruction from completing (PP41).
const EXCEPTION: u64 = 30;
/// Cycles without fetch after a branch that is predicted taken (PP4).
const TAKEN: u64 = 2;
/// Cycles from fetch to dispatch (PP3).
const FRONT_END: u64 = 8;
/// Number of bytes fetched per cycle, as address bits (PP1).
const BLOCK_BITS: u32 = 5;
/// Address bits within a line.
const LINE_BITS: u32 = 7;
/// Number of instructions in a block.
const BLOCK: usize = 8;
/// The latency of the second level, which answers barriers and store-conditionals (1.4).
const SECOND_LEVEL: u64 = 15;
/// The latency of the third level (1.4).
const THIRD_LEVEL: u64 = 36;

/// Ports: the execution ports of the slices, their address units, their accesses, units that are kept busy, and single units.
const ADDRESSES: usize = SLICES;
const ACCESSES: usize = 2 * SLICES;
const KEPT: usize = 3 * SLICES;
const DIVIDERS: usize = 4 * SLICES;
const DECIMAL: usize = DIVIDERS + 2;
const CRYPTO: usize = DECIMAL + 1;
const BRANCH: usize = CRYPTO + 1;
const FINISHES: usize = BRANCH + 1;
const PORTS: usize = FINISHES + SLICES;
/// Cycles that the beginning and the end of a nested transaction, and a write of the floating-point status, wait after they have finished
/// (PP41).
const SHORT_WAIT: u64 = 2;

/// The cause that keeps a finished instruction from completing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocked {
    reason: Reason,
    /// The first cycle in which it no longer does. Completion takes its own two cycles from there.
    until: u64,
    /// The reason of the last cycle before `until`, which may differ.
    last: Reason,
}

/// The event that turned the fetcher to its current line (PP6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Turned {
    #[default]
    Nothing,
    Prediction,
    Misprediction,
}

impl Turned {
    const ALL: [Turned; 3] = [Turned::Nothing, Turned::Prediction, Turned::Misprediction];
}

/// An instruction that is being executed.
#[derive(Clone, Copy, Debug)]
struct Executed<'a> {
    instruction: &'a Instruction<'a>,
    operation: &'a Operation<'a>,
    row: Power9Row,
    found: &'a Findings,
    touches: &'a [Touch],
    continuation: Continuation,
}

impl<'a> Executed<'a> {
    /// Returns an instruction of path `P` and what was found of it.
    #[inline]
    fn new<P: Path>(
        instruction: &'a Instruction<'a>,
        found: &'a Findings,
        touches: &'a [Touch],
        continuation: Continuation,
    ) -> Executed<'a> {
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        let row = P::ROW.unwrap_or_else(|| rows::of(instruction));
        // Of the instructions of a path of their own, only branches continue elsewhere.
        let turns = P::ROW.is_none_or(|row| row.unit == Power9Unit::Branch);
        let continuation = if turns { continuation } else { Continuation::Sequential };
        Executed { instruction, operation, row, found, touches, continuation }
    }

    #[inline]
    fn loads<P: Path>(&self) -> bool {
        self.touches.iter().any(P::loads)
    }

    #[inline]
    fn stores<P: Path>(&self) -> bool {
        self.touches.iter().any(P::stores)
    }
}

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct Power9Pipeline {
    pub(super) account: ManyStates,
    pub(super) reasons: Reasons,
    /// The dispatch cycle that is being filled. Everything before has been reported.
    group: DispatchGroup,
    /// The cycle in which instructions of the last fetched block can be dispatched, and that block.
    fetched: u64,
    block: Option<u64>,
    /// The first cycle in which anything may be dispatched.
    restart: u64,
    /// The reason of cycles with an empty completion table before the next instruction.
    front: Reason,
    buffer: Ring<96, 128>,
    targets: Ring<40, 64>,
    window: Ring<256>,
    registers: Registers,
    /// The first cycle that has no reason yet: the one after everything has finished.
    unowned: u64,
    /// The cycle in which the last instruction completed.
    completed: u64,
    blocked: Blocked,
    stores: Stores,
    turned: Turned,
    /// Loads that wait for older stores.
    wary: Wary,
    /// The cycle in which the last load-and-reserve has its answer.
    reserving: u64,
    /// The cycles in which the last end of a transaction completed, and the last invalidation of translations was answered.
    ended: u64,
    invalidated: u64,
    /// Whether the last instruction invalidated translations.
    behind_invalidation: bool,
    /// Whether the last cycle with a reason has one of the third to the fifth class.
    stalled: bool,
    /// Whether queues and units are demanded.
    pub(super) watches: bool,
    /// Whether any reason of a cycle is demanded.
    reasons_wanted: bool,
    /// The reason of the last cycle that was reported.
    last_reason: Option<u8>,
    /// Whether records ask for the outcome of each instruction.
    pub(super) told: bool,
    /// Whether way prediction misses are counted (PP92).
    pub(super) predicts: bool,
    /// Whether instructions may take a fast path: see [`Path`].
    pub(super) quiet: bool,
    /// The first cycle in which queues and units have not been counted, and the cycles of the core in which the thread was absent.
    counted: u64,
    absent: (u64, u64),
    /// Number of stores of the core that have been reported.
    stores_seen: u64,
    /// The walks of the current instruction that the second walker serves: bit 0 for its code, bit n for its access n.
    pub(super) second_walker: u32,
    /// Stages of the last executed instruction.
    life: InstructionStages,
    /// SharedUnits state of the core's threads. While no other thread competes, it is the thread's own.
    shared: Box<SharedUnits>,
}

/// PP54: a thread's share of the instruction buffer, the completion table and the effective address table.
#[derive(Clone, Copy, Debug)]
struct Power9Share {
    buffer: usize,
    window: usize,
    targets: usize,
}

impl Power9Share {
    /// Returns the share of one thread if `threads` run.
    #[inline]
    fn of(threads: usize) -> Power9Share {
        let parts = match threads {
            0 | 1 => 1,
            2 => 2,
            _ => 4,
        };
        Power9Share { buffer: 96 / parts, window: 256 / parts, targets: 40 / parts }
    }
}

/// The cycles in which an instruction passes its stages.
#[derive(Clone, Copy, Debug)]
struct StageTimes {
    /// The causes that held its operation at dispatch.
    held: DispatchHold,
    dispatched: u64,
    /// The slice of its operation.
    slice: usize,
    /// Issue of the data of its last store.
    data: u64,
    /// Issue of its operation; the cycle of its dispatch until then.
    issued: u64,
    /// The first cycle that has no reason yet at its issue.
    owned: u64,
    finished: u64,
    /// The cycle in which its last store has a queue entry.
    entered: u64,
}

impl Power9Pipeline {
    pub(super) fn new() -> Power9Pipeline {
        Power9Pipeline {
            account: ManyStates::new(0),
            reasons: Reasons::new(),
            group: DispatchGroup::new(0),
            fetched: 0,
            block: None,
            restart: 0,
            front: Reason::Empty,
            buffer: Ring::new(),
            targets: Ring::new(),
            window: Ring::new(),
            registers: Registers::new(),
            unowned: 0,
            completed: 0,
            blocked: Blocked { reason: Reason::AllFinished, until: 0, last: Reason::AllFinished },
            stores: Stores::new(),
            turned: Turned::Nothing,
            wary: Wary::new(),
            reserving: 0,
            ended: 0,
            invalidated: 0,
            behind_invalidation: false,
            stalled: false,
            watches: false,
            reasons_wanted: false,
            last_reason: None,
            told: false,
            predicts: false,
            quiet: true,
            counted: 0,
            absent: (0, 0),
            stores_seen: 0,
            second_walker: 0,
            life: InstructionStages::default(),
            shared: boxed(SharedUnits::new),
        }
    }

    /// Returns the cycle of the current dispatch, in cycles of the core.
    pub(super) fn now(&self) -> u64 {
        self.group.at
    }

    /// Shifts all times by `cycles` of the core in which the thread was absent: instructions in flight continue afterwards.
    #[cold]
    pub(super) fn shift(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        if self.counted < self.absent.1 {
            self.counted = self.absent.1;
        }
        self.absent = (self.group.at, self.group.at + cycles);
        let times = [
            &mut self.group.at,
            &mut self.fetched,
            &mut self.restart,
            &mut self.unowned,
            &mut self.blocked.until,
            &mut self.reserving,
            &mut self.ended,
            &mut self.invalidated,
        ];
        times.into_iter().for_each(|at| *at += cycles);
        // A thread that has completed nothing has no completion to wait for.
        self.completed += if self.completed == 0 { 0 } else { cycles };
        self.buffer.shift(cycles);
        self.targets.shift(cycles);
        self.window.shift(cycles);
        self.registers.shift(cycles);
        self.stores.shift(cycles);
    }

    /// Swaps the shared state of the core's threads with that of this thread, if there are several threads.
    #[inline]
    fn exchange(&mut self, threads: &mut Threads<'_>) {
        if let Some(shared) = threads.shared::<SharedUnits>() {
            core::mem::swap(&mut self.shared, shared);
        }
    }

    /// Lets time pass up to the dispatch cycle `at`.
    fn pass(&mut self, at: u64, threads: &mut Threads<'_>) {
        let now = threads.reaches(at);
        self.shared.forget(now);
        while self.shared.watch.is_due(now) {
            self.shared.watch.count(now);
            self.collect(threads.number(), at);
        }
        self.collect(threads.number(), at);
        self.account.pass(at - self.group.at);
        self.group = DispatchGroup::new(at);
    }

    /// Collects the states of queues and units in the cycles of the thread before cycle `end`.
    fn collect(&mut self, thread: usize, end: u64) {
        let Power9Pipeline { shared, account, absent, .. } = self;
        let (from, until) = (self.counted, shared.watch.begin().min(end));
        if !shared.watch.active || from >= until {
            return;
        }
        for (from, until) in [(from, until.min(absent.0.max(from))), (from.max(absent.1.min(until)), until)] {
            // Both are the whole range if the thread was never absent in it.
            if from < until {
                shared.watch.held(thread, from, until, |state, cycles| account.hold(state, cycles));
            }
        }
        self.counted = until;
    }

    /// Executes an instruction of path `P`.
    #[inline(always)]
    fn step<P: Path>(&mut self, executed: &Executed<'_>, threads: &mut Threads<'_>, tally: &mut Tally) {
        let Executed { instruction, ref row, found, .. } = *executed;
        let (loads, stores) = (executed.loads::<P>(), executed.stores::<P>());
        let (share, thread) = if P::ALONE { (Power9Share::of(1), 0) } else { (Power9Share::of(threads.count()), threads.number()) };
        self.second_walker = 0;
        self.fetch(instruction, found, share.buffer, tally);
        let mut times = self.dispatch::<P>(executed, share, threads, tally);
        let mut flushed = None;
        if !P::QUIET && loads {
            flushed = self.flushed(executed, &times, tally);
            if let Some((at, _)) = flushed {
                self.front = Reason::Empty;
                self.refetch(at);
                times = self.dispatch::<P>(executed, share, threads, tally);
            }
        }
        if !P::QUIET && self.told {
            self.life = InstructionStages::begin(self.fetched, times.dispatched);
            self.life.flush = flushed.map_or(Flush::None, |(_, cause)| cause);
        }
        let unowned = self.unowned;
        if self.unowned < times.dispatched {
            self.own_dispatch(times.held.ready, &times.held.reasons(), times.dispatched, tally);
        }
        times.owned = self.unowned;
        let computes = !matches!(row.unit, Power9Unit::Memory | Power9Unit::None);
        if computes && !loads {
            self.issue::<P>(executed, loads, &mut times);
        }
        if loads || stores || row.unit == Power9Unit::Memory {
            self.access::<P>(executed, thread, &mut times, tally);
        }
        if computes && loads {
            self.issue::<P>(executed, loads, &mut times);
        }
        match row.unit {
            Power9Unit::None => self.own_until(Reason::DispatchFinish, times.finished),
            Power9Unit::Memory => {}
            _ => self.phase::<P>(row.reason, times.finished),
        }
        self.own_until(Reason::Finish, times.finished + 1);
        match row.unit {
            Power9Unit::None => {}
            Power9Unit::Branch => self.shared.branches.take(times.issued + 1),
            _ => {
                if let Some(queue) = self.shared.queues.get_mut(times.slice) {
                    queue.take(times.issued + 1);
                }
                if !P::QUIET {
                    self.shared.watch.take(WatchedQueue::Issue, times.dispatched, times.issued + 1);
                }
            }
        }
        if !P::QUIET && moves_lines(found) {
            self.follow_lines(found, &times, tally);
        }
        if !P::QUIET && self.told {
            self.record(executed, &times, unowned);
        }
        if !P::ALONE && threads.are_several() {
            self.shared.progress.stalls(thread, times.owned, times.finished);
        }
        self.complete::<P>(executed, &times, threads, tally);
        if !P::ALONE && threads.are_several() {
            if instruction.class != Class::Exception {
                self.shared.progress.completes(thread, self.completed);
            }
            tally.add(Signal::InstructionsOtherThreadsStalled, self.shared.progress.take(thread));
        }
        if !P::ALONE || stores {
            tally.add(Signal::StoresIssued, self.shared.stores_issued.saturating_sub(self.stores_seen));
            self.stores_seen = self.shared.stores_issued;
        }
    }

    /// PP19 to PP22: issues an operation that is not an access, or that needs the data of one that loads.
    #[inline]
    fn issue<P: Path>(&mut self, executed: &Executed<'_>, loads: bool, times: &mut StageTimes) {
        let Executed { operation, ref row, .. } = *executed;
        let slice = times.slice;
        let mut sources = self.ready(times.dispatched + 1, operation.reads);
        // The data of an access are present when it has finished.
        sources = if loads { sources.max(times.finished) } else { self.ready(sources, operation.addresses) };
        let pair = slice & !1;
        let keeps = u64::from(row.keeps);
        let shared = &mut self.shared;
        let at = match row.unit {
            Power9Unit::Branch => shared.ports.take_cycle(BRANCH, sources),
            Power9Unit::Kept => shared.take_all(&[(slice, 1), (KEPT + slice, keeps)], sources),
            Power9Unit::Pair if keeps > 1 => {
                shared.take_all(&[(pair, 1), (pair + 1, 1), (KEPT + pair, keeps), (KEPT + pair + 1, keeps)], sources)
            }
            Power9Unit::Pair => shared.take_all(&[(pair, 1), (pair + 1, 1)], sources),
            Power9Unit::Divider => shared.take_all(&[(pair, 1), (pair + 1, 1), (DIVIDERS + pair / 2, keeps)], sources),
            Power9Unit::Decimal => shared.take_all(&[(slice, 1), (DECIMAL, keeps)], sources),
            Power9Unit::Crypto => shared.take_all(&[(slice, 1), (CRYPTO, 1)], sources),
            Power9Unit::Slice | Power9Unit::None | Power9Unit::Memory => shared.ports.take_cycle(slice, sources),
        };
        if !P::QUIET
            && let Some(units) = row.reason.units()
        {
            // PP51: a unit is busy when it takes an operation, and while it is kept.
            let both = matches!(row.unit, Power9Unit::Pair | Power9Unit::Divider);
            (0..=u8::from(both)).for_each(|_| shared.watch.take(units, at, at + keeps));
        }
        if loads {
            self.phase::<P>(row.reason, at);
        } else {
            self.issued(times, sources, sources, at);
        }
        // A store of the same instruction may finish later.
        times.finished = times.finished.max(at + u64::from(row.latency));
    }

    /// Assigns a walk that is due in cycle `at` to a walker. It is for the code of the instruction (place 0), or for its access at another
    /// place.
    fn walk(&mut self, place: u32, at: u64, cycles: u32) {
        let second = self.shared.walkers.walk(at, cycles);
        self.second_walker |= u32::from(second) << (place & 31);
    }

    /// Returns when all of these registers are ready, `earliest` or later.
    #[inline]
    fn ready(&self, earliest: u64, registers: &[Register]) -> u64 {
        registers.iter().fold(earliest, |ready, register| ready.max(self.registers.at(place(*register))))
    }

    /// PP57, PP58: fills in the record of the instruction up to its finish. Cycle `unowned` was the first without a reason before it.
    fn record(&mut self, executed: &Executed<'_>, times: &StageTimes, unowned: u64) {
        let (life, unit) = (&mut self.life, executed.row.unit);
        life.issued = (unit != Power9Unit::None).then_some(times.issued);
        life.next_to_finish = unowned.saturating_sub(1).max(times.dispatched);
        life.finished = times.finished;
        life.next_to_complete = self.completed.max(times.dispatched);
        life.stall = times.finished.saturating_sub(unowned.max(times.issued));
        life.mispredicted = executed.continuation == Continuation::Mispredicted;
        life.traits.set(Traits::AFTER_EMPTY, self.completed == 0 || times.dispatched > self.completed + 1);
        life.traits.set(Traits::DECIMAL, unit == Power9Unit::Decimal);
    }

    /// PP42 to PP48: gives the instruction the cycles before its dispatch after everything before it has finished.
    #[inline(never)]
    fn own_dispatch(&mut self, ready: u64, held: &[(Reason, u64)], dispatched: u64, tally: &mut Tally) {
        if self.completed != 0 {
            self.own_completion(dispatched.min(self.completed + 1));
        }
        if self.stalled && self.unowned < dispatched {
            tally.add(Signal::StallsEndedEmpty, 1);
        }
        self.own_until(self.front, ready.min(dispatched));
        for (reason, until) in held {
            self.own_until(*reason, dispatched.min(*until));
        }
        self.own_until(Reason::Empty, dispatched);
    }

    /// Gives the instruction the cycles before its issue in cycle `issued`. It could have been issued in cycle `sourced` if its port had
    /// been free, and in cycle `recirculated` if, in addition, the recirculation queue had had room for it.
    #[inline(never)]
    fn own_issue(&mut self, sourced: u64, recirculated: u64, issued: u64) {
        self.own_until(Reason::HeldOther, sourced);
        self.own_until(Reason::HeldRecirculation, recirculated);
        self.own_until(Reason::HeldArbitration, issued);
    }

    /// Records the issue of the operation, likewise.
    #[inline(always)]
    fn issued(&mut self, times: &mut StageTimes, sourced: u64, recirculated: u64, issued: u64) {
        if self.unowned < issued {
            self.own_issue(sourced, recirculated, issued);
        }
        (times.issued, times.owned) = (issued, self.unowned);
    }

    /// Gives `reason` to the cycles of the execution up to `until` that have none.
    #[inline]
    fn phase<P: Path>(&mut self, reason: Reason, until: u64) {
        if !P::QUIET {
            self.life.phase(reason, until);
        }
        self.own_until(reason, until);
    }

    /// PP41: gives reasons to the cycles before `until` in which everything has finished and not all has completed.
    #[inline]
    fn own_completion(&mut self, until: u64) {
        let blocked = self.blocked;
        self.own_until(blocked.reason, until.min(blocked.until - u64::from(blocked.last != blocked.reason)));
        self.own_until(blocked.last, until.min(blocked.until));
        self.own_until(Reason::AllFinished, until);
    }

    /// Gives `reason` to the cycles up to `until` that have none.
    #[inline]
    fn own_until(&mut self, reason: Reason, until: u64) {
        if until > self.unowned {
            self.reasons.push(reason as u8, until - self.unowned);
            self.unowned = until;
            self.stalled = reason != Reason::Finish && !reason.is_empty();
        }
    }

    /// PP41: returns the reason for which an instruction does not complete, and for how many cycles, if its class gives one.
    fn blocked(&self, class: Class) -> Option<(Reason, u64)> {
        let barrier = self.stores.written + SECOND_LEVEL;
        match class {
            Class::Exception => Some((Reason::BlockedException, EXCEPTION + 1)),
            // PP35: the second level has taken the stores, and answers.
            Class::Fence if self.stores.written >= self.unowned => Some((Reason::BlockedBarrier, barrier - self.unowned)),
            Class::StatusWrite => Some((Reason::BlockedStatusWrite, SHORT_WAIT)),
            Class::NestedTransactionBegin => Some((Reason::BlockedNestedBegin, SHORT_WAIT)),
            Class::NestedTransactionEnd => Some((Reason::BlockedNestedEnd, SHORT_WAIT)),
            _ => None,
        }
    }

    /// PP40, PP41: completes the instruction, sets when its results are ready, and redirects the fetcher.
    #[inline(always)]
    fn complete<P: Path>(&mut self, executed: &Executed<'_>, times: &StageTimes, threads: &Threads<'_>, tally: &mut Tally) {
        let Executed { instruction, operation, ref row, continuation, .. } = *executed;
        let (class, thread) = (instruction.class, if P::ALONE { 0 } else { threads.number() });
        let special = if P::QUIET { None } else { self.blocked(class) };
        let flushed = !P::ALONE && threads.are_several() && self.shared.is_flushed(self.unowned, thread);
        let (reason, cycles) = special.unwrap_or(if flushed { (Reason::BlockedFlush, 1) } else { (Reason::AllFinished, 0) });
        let until = self.unowned + cycles;
        // The cause that blocks an older instruction blocks this one too.
        if until >= self.blocked.until {
            let last = if reason == Reason::BlockedException { Reason::OldestFlush } else { reason };
            self.blocked = Blocked { reason, until, last };
        }
        let overtaken =
            !P::QUIET && self.blocked.reason == Reason::BlockedBarrier && self.is_overtaken(executed, times, self.blocked.until, threads);
        if overtaken {
            tally.add(Signal::LoadStoreFlushesNext, 1);
            tally.add(Signal::LoadStoreFlushes, 1);
            self.blocked.until += 1;
            self.blocked.last = Reason::BlockedFlushNext;
        }
        let completed = self.completed.max(self.blocked.until - 1 + COMPLETION);
        self.completed = completed;
        for _ in 0..row.operations {
            self.window.take(completed + 1);
        }
        self.leave::<P>(executed, times, thread, tally);
        if !P::QUIET {
            self.life.completed = completed;
            tally.add(Signal::OldestFlushes, u64::from(class == Class::Exception));
            match class {
                Class::TransactionEnd => self.ended = completed,
                Class::TranslationInvalidation => self.invalidated = times.finished,
                _ => {}
            }
            self.behind_invalidation = class == Class::TranslationInvalidation;
        }
        let writes = operation.writes;
        // A load writes its data first; an update form writes the base too. After two cycles, both are ready.
        let based = times.finished != times.issued + 2 && (writes.len() > 1 || !executed.loads::<P>());
        for register in writes {
            self.shared.history.take_in_order(completed + 1);
            let moves = based && operation.addresses.contains(register);
            let ready = match (register.0 == ANY, moves) {
                // As if through the shortest operation, whatever this one is.
                (true, _) => self.registers.at(ANY).max(times.dispatched + 1) + 2,
                // The base of an update form is updated in parallel with the access.
                (_, true) => times.issued + 2,
                _ => times.finished,
            };
            self.registers.set(place(*register), ready);
        }
        self.buffer.take(times.dispatched + 1);
        self.front = Reason::Empty;
        if !P::QUIET || continuation != Continuation::Sequential {
            self.turn(instruction, continuation, times.finished);
        }
        if continuation == Continuation::Mispredicted {
            self.shared.flush(times.finished, thread);
        }
        if overtaken {
            self.refetch(completed);
        }
    }

    /// Makes `state` hold from cycle `from` up to `until`, if that is later.
    fn hold(&mut self, state: Power9State, from: u64, until: u64) {
        self.account.hold(state as usize, until.saturating_sub(from));
    }
}

/// Operation of an instruction without one: it reads the previous such result and writes one for the next.
const UNKNOWN: Operation<'_> = Operation {
    width: 8,
    packed: false,
    elements: Elements::Untold,
    upper: false,
    may_trap: false,
    prefixes: 0,
    addresses: &[],
    reads: &[Register(ANY)],
    writes: &[Register(ANY)],
};

/// Returns the number under which a register's time is kept.
fn place(register: Register) -> u16 {
    if register.0 == ANY { ANY } else { register.0 % ANY }
}
