//! The pipeline of a thread of POWER9. Rules PP1 to PP60, PP74 to PP78, PP82, PP92 and PP93, known answers KA1 to KA15, and their sources
//! are in `docs/notes/pipelines-power9.md`. Conflicts in the second level with other cores (PP37) are not modelled.

mod accesses;
mod beside;
mod dispatch;
mod fetch;
mod flushes;
mod interface;
mod machine_requests;
mod machines;
mod occupancy;
mod outcome;
mod plain;
mod progress;
mod reasons;
mod rows;
mod saved;
mod shared;
mod short;
mod signals;
#[cfg(test)]
mod tests;
mod walkers;
mod watch;
mod way_prediction;

use vm_pmu_arch::feed::Signal;

use super::sharing::Threads;
use super::{Continuation, Findings, boxed};
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
use outcome::InstructionStages;
pub(super) use reasons::REASONS;
use reasons::{Phases, Reason};
use rows::{Power9Row, Power9Unit};
pub(super) use shared::SharedUnits as Shared;
use shared::SharedUnits;
use signals::Power9State;
pub(super) use signals::{EVENTS, STATES, WAY_PREDICTION_MISSES, has_reason_of, is_watched, reason_signals, signals_of};
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

/// An instruction that is being executed, by thread `thread` of the core.
#[derive(Clone, Copy, Debug)]
struct Executed<'a> {
    instruction: &'a Instruction<'a>,
    operation: &'a Operation<'a>,
    row: Power9Row,
    found: &'a Findings,
    thread: usize,
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
    /// Whether instructions that only compute may take the [fast path](Power9Pipeline::execute_plain).
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
    /// The cycle in which it could be issued if its port were free.
    sourced: u64,
    /// The cycle in which, in addition, the recirculation queue has room for it.
    recirculated: u64,
    issued: u64,
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

    /// Executes an instruction.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, threads: &mut Threads<'_>, tally: &mut Tally) {
        self.exchange(threads);
        if self.watches && !self.shared.watch.active {
            self.shared.watch.start(self.group.at);
            self.counted = self.group.at;
        }
        self.step(instruction, found, threads, tally);
        self.count_stores(tally);
        self.exchange(threads);
        self.quiet = self.is_quiet();
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
                shared.watch.held(thread, from, until, |state, cycles| account.hold(state as usize, cycles));
            }
        }
        self.counted = until;
    }

    fn step(&mut self, instruction: &Instruction<'_>, found: &Findings, threads: &mut Threads<'_>, tally: &mut Tally) {
        let row = rows::of(instruction);
        let operation = instruction.operation.as_ref().unwrap_or(&UNKNOWN);
        let share = Power9Share::of(threads.count());
        self.second_walker = 0;
        self.fetch(instruction, found, share, tally);
        let loads = found.touches().iter().any(super::Touch::loads);
        let stores = found.touches().iter().any(super::Touch::stores);
        let executed = Executed { instruction, operation, row, found, thread: threads.number() };
        let mut times = self.dispatch(&executed, share, threads, tally);
        let flushed = if loads { self.flushed(&executed, &times, tally) } else { None };
        if let Some((at, _)) = flushed {
            self.front = Reason::Empty;
            self.refetch(at);
            times = self.dispatch(&executed, share, threads, tally);
        }
        if self.told {
            self.life = InstructionStages::begin(self.fetched, times.dispatched);
            self.life.flush = flushed.map_or(Flush::None, |(_, cause)| cause);
        }
        let mut phases = Phases::new();
        if loads || stores || row.unit == Power9Unit::Memory {
            self.access(&executed, &mut times, &mut phases, tally);
        }
        if row.unit != Power9Unit::Memory && row.unit != Power9Unit::None {
            self.issue(&row, operation, loads, &mut times, &mut phases);
        }
        if let Some(queue) = self.shared.queues.get_mut(times.slice).filter(|_| !matches!(row.unit, Power9Unit::None | Power9Unit::Branch))
        {
            queue.take(times.issued + 1);
            self.shared.watch.take(WatchedQueue::Issue, times.dispatched, times.issued + 1);
        }
        if row.unit == Power9Unit::Branch {
            self.shared.branches.take(times.issued + 1);
        }
        if found.castouts != (0, 0) || found.snooped != (0, 0) || found.injected != 0 || found.prefetched != 0 {
            self.follow_lines(found, &times, tally);
        }
        if self.told {
            self.record(&row, found, &times, &phases);
        }
        self.own(&times, &phases, threads, tally);
        self.complete(&executed, &times, threads, tally);
        if threads.are_several() {
            if instruction.class != Class::Exception {
                self.shared.progress.completes(threads.number(), self.completed);
            }
            tally.add(Signal::InstructionsOtherThreadsStalled, self.shared.progress.take(threads.number()));
        }
    }

    /// PP19 to PP22: issues an operation that is not an access.
    fn issue(&mut self, row: &Power9Row, operation: &Operation<'_>, loads: bool, times: &mut StageTimes, phases: &mut Phases) {
        let slice = times.slice;
        let mut sources = self.ready(operation.reads).max(times.dispatched + 1);
        if loads {
            // Its data are present when the access has finished.
            sources = sources.max(times.finished);
        } else {
            sources = sources.max(self.ready(operation.addresses));
        }
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
        if let Some(units) = row.reason.units() {
            // PP51: a unit is busy when it takes an operation, and while it is kept.
            let both = matches!(row.unit, Power9Unit::Pair | Power9Unit::Divider);
            (0..=u8::from(both)).for_each(|_| shared.watch.take(units, at, at + keeps));
        }
        if loads {
            phases.push(row.reason, at);
        } else {
            (times.sourced, times.recirculated, times.issued) = (sources, sources, at);
        }
        // A store of the same instruction may finish later.
        times.finished = times.finished.max(at + u64::from(row.latency));
        phases.push(row.reason, times.finished);
    }

    /// Assigns a walk that is due in cycle `at` to a walker. It is for the code of the instruction (place 0), or for its access at another
    /// place.
    fn walk(&mut self, place: u32, at: u64, cycles: u32) {
        let second = self.shared.walkers.walk(at, cycles);
        self.second_walker |= u32::from(second) << (place & 31);
    }

    fn ready(&self, registers: &[Register]) -> u64 {
        self.registers.ready(registers.iter().map(|register| place(*register)))
    }

    /// PP57, PP58: fills in the record of the instruction up to its finish. Everything before it has its reasons.
    fn record(&mut self, row: &Power9Row, found: &Findings, times: &StageTimes, phases: &Phases) {
        let life = &mut self.life;
        life.issued = (row.unit != Power9Unit::None).then_some(times.issued);
        life.next_to_finish = self.unowned.saturating_sub(1).max(times.dispatched);
        life.finished = times.finished;
        life.next_to_complete = self.completed.max(times.dispatched);
        life.stall = times.finished.saturating_sub(self.unowned.max(times.issued));
        life.kind = phases.last(times.finished);
        life.mispredicted = found.continuation == Continuation::Mispredicted;
        life.traits.set(Traits::AFTER_EMPTY, self.completed == 0 || times.dispatched > self.completed + 1);
        life.traits.set(Traits::DECIMAL, row.unit == Power9Unit::Decimal);
    }

    /// PP42 to PP48: gives the instruction the cycles after everything before it has finished, up to its own finish.
    fn own(&mut self, times: &StageTimes, phases: &Phases, threads: &Threads<'_>, tally: &mut Tally) {
        if times.finished < self.unowned {
            return;
        }
        if self.unowned < times.dispatched {
            let in_flight = times.dispatched.min(self.completed + 1);
            if self.completed != 0 {
                self.own_completion(in_flight);
            }
            if self.stalled && self.unowned < times.dispatched {
                tally.add(Signal::StallsEndedEmpty, 1);
            }
            self.own_until(self.front, times.held.ready.min(times.dispatched));
            for (reason, until) in times.held.reasons() {
                self.own_until(reason, until.min(times.dispatched));
            }
            self.own_until(Reason::Empty, times.dispatched);
        }
        if self.unowned < times.issued {
            self.own_until(Reason::HeldOther, times.sourced.min(times.issued));
            self.own_until(Reason::HeldRecirculation, times.recirculated.min(times.issued));
            self.own_until(Reason::HeldArbitration, times.issued);
        }
        if threads.are_several() {
            self.shared.progress.stalls(threads.number(), self.unowned, times.finished);
        }
        for (reason, until) in phases.all() {
            self.own_until(reason, until.min(times.finished));
        }
        self.own_until(Reason::DispatchFinish, times.finished);
        self.own_until(Reason::Finish, times.finished + 1);
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

    /// PP41: returns the cause that keeps an instruction from completing.
    fn blocked(&self, executed: &Executed<'_>, threads: &Threads<'_>) -> Blocked {
        let from = self.unowned;
        let blocked = |reason, cycles| Blocked { reason, until: from + cycles, last: reason };
        match executed.instruction.class {
            Class::Exception => Blocked { last: Reason::OldestFlush, ..blocked(Reason::BlockedException, EXCEPTION + 1) },
            // PP35: the second level has taken the stores, and answers.
            Class::Fence if self.stores.written >= from => blocked(Reason::BlockedBarrier, self.stores.written + SECOND_LEVEL - from),
            Class::StatusWrite => blocked(Reason::BlockedStatusWrite, SHORT_WAIT),
            Class::NestedTransactionBegin => blocked(Reason::BlockedNestedBegin, SHORT_WAIT),
            Class::NestedTransactionEnd => blocked(Reason::BlockedNestedEnd, SHORT_WAIT),
            _ if threads.are_several() && self.shared.is_flushed(from, executed.thread) => blocked(Reason::BlockedFlush, 1),
            _ => blocked(Reason::AllFinished, 0),
        }
    }

    /// PP40, PP41: completes the instruction, sets when its results are ready, and redirects the fetcher.
    fn complete(&mut self, executed: &Executed<'_>, times: &StageTimes, threads: &Threads<'_>, tally: &mut Tally) {
        let Executed { instruction, operation, row, found, thread } = *executed;
        let mut blocked = self.blocked(executed, threads);
        // The cause that blocks an older instruction blocks this one too.
        if self.blocked.until > blocked.until {
            blocked = self.blocked;
        }
        let overtaken = blocked.reason == Reason::BlockedBarrier && self.is_overtaken(executed, times, blocked.until, threads);
        if overtaken {
            tally.add(Signal::LoadStoreFlushesNext, 1);
            tally.add(Signal::LoadStoreFlushes, 1);
            blocked = Blocked { until: blocked.until + 1, last: Reason::BlockedFlushNext, ..blocked };
        }
        tally.add(Signal::OldestFlushes, u64::from(instruction.class == Class::Exception));
        self.blocked = blocked;
        let completed = self.completed.max(blocked.until - 1 + COMPLETION);
        self.completed = completed;
        self.life.completed = completed;
        for _ in 0..row.operations {
            self.window.take(completed + 1);
        }
        self.leave(executed, times, completed, tally);
        match instruction.class {
            Class::TransactionEnd => self.ended = completed,
            Class::TranslationInvalidation => self.invalidated = times.finished,
            _ => {}
        }
        self.behind_invalidation = instruction.class == Class::TranslationInvalidation;
        let writes = operation.writes;
        // A load writes its data first; an update form writes the base too.
        let based = writes.len() > 1 || !found.touches().iter().any(super::Touch::loads);
        for register in writes {
            self.shared.history.take_in_order(completed + 1);
            let moves = based && register.0 != ANY && operation.addresses.contains(register);
            let ready = match (register.0 == ANY, moves) {
                // As if through the shortest operation, whatever this one is.
                (true, _) => self.ready(&[Register(ANY)]).max(times.dispatched + 1) + 2,
                // The base of an update form is updated in parallel with the access.
                (_, true) => times.issued + 2,
                _ => times.finished,
            };
            self.registers.set(place(*register), ready);
        }
        self.buffer.take(times.dispatched + 1);
        self.front = Reason::Empty;
        self.turn(instruction, found.continuation, times, completed);
        if found.continuation == Continuation::Mispredicted {
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
