//! The pipeline of POWER9, for one thread that has its core to itself. Rules PP1 to PP60, known answers KA1 to KA13 and their sources are in
//! `docs/notes/pipelines-power9.md`. Left out are threads that share the core (PP54 to PP56), transactions (PP16), invalidations of
//! translations (PP17), the recirculation queues (PP25), the queues of loads (PP26), flushes by the load/store unit (PP32, PP34), conflicts
//! in the second level (PP37) and sampled instructions that are flushed (PP59).

mod accesses;
mod dispatch;
mod life;
mod reasons;
mod rows;
mod saved;
mod signals;
#[cfg(test)]
mod tests;

use super::super::instruction::{Class, Instruction, Operation, Register};
use super::super::tally::Tally;
use super::account::States;
use super::memory::{Misses, Stores};
use super::ports::Ports;
use super::queue::{Entries, Ring};
use super::reasons::Reasons;
use super::registers::{ANY, Registers};
use super::{Continuation, Found, Source};
use dispatch::Group;
use life::Life;
pub(super) use reasons::REASONS;
use reasons::{Phases, Reason};
use rows::{Row, Unit};
use signals::State;
pub(super) use signals::{EVENTS, STATES, has_reason_of, reason_signals, signals_of};
use vm_pmu_arch::feed::Traits;

/// Slices of the core.
const SLICES: usize = 4;
/// From the finish of an instruction that flushes to the dispatch of the first behind it (PP7).
const REFETCH: u64 = 13;
/// From the completion of what the scoreboard waits for to dispatch (PP15).
const SCOREBOARD: u64 = 3;
/// From finish to completion (PP40).
const COMPLETION: u64 = 2;
/// How long an exception keeps the oldest instruction from completing (PP41).
const EXCEPTION: u64 = 30;
/// Cycles without fetch behind a branch that is predicted taken (PP4).
const TAKEN: u64 = 2;
/// From fetch to dispatch (PP3).
const FRONT_END: u64 = 8;
/// What the fetcher reads in a cycle, as bits of an address (PP1).
const BLOCK_BITS: u32 = 5;
/// Instructions of a block.
const BLOCK: usize = 8;
/// The latency of the second level, which answers barriers and store-conditionals (1.4).
const SECOND_LEVEL: u64 = 15;

/// Ports: the execution ports of the slices, their address units, their accesses, units that are kept, and units of which there is one.
const ADDRESSES: usize = SLICES;
const ACCESSES: usize = 2 * SLICES;
const KEPT: usize = 3 * SLICES;
const DIVIDERS: usize = 4 * SLICES;
const DECIMAL: usize = DIVIDERS + 2;
const CRYPTO: usize = DECIMAL + 1;
const BRANCH: usize = CRYPTO + 1;
const PORTS: usize = BRANCH + 1;

/// What keeps an instruction that has finished from completing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocked {
    reason: Reason,
    /// The first cycle in which it no longer does. Completion takes its own two cycles from there.
    until: u64,
}

/// The pipeline.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) account: States,
    pub(super) reasons: Reasons,
    /// The dispatch cycle that is being filled. Everything before has been reported.
    group: Group,
    /// When the fetcher has read the last block, as the cycle in which what is in it can be dispatched; and the block.
    fetched: u64,
    block: Option<u64>,
    /// Nothing is dispatched before this cycle.
    restart: u64,
    /// What cycles with an empty completion table count for, if there are any before the next instruction.
    front: Reason,
    buffer: Ring<96>,
    targets: Ring<40>,
    window: Ring<256>,
    history: Ring<128>,
    queues: [Entries<11>; SLICES],
    branches: Entries<16>,
    registers: Registers,
    ports: Ports<PORTS>,
    /// The first cycle that has no reason yet: the one after everything has finished.
    unowned: u64,
    /// When the last instruction has completed.
    completed: u64,
    blocked: Blocked,
    stores: Stores,
    store_queues: [Entries<16>; SLICES],
    second_queue: Ring<16>,
    /// When the last store moved to the second queue, and when the second level took the last one.
    sent: u64,
    taken: u64,
    /// The lines on their way, and where they come from.
    misses: Misses<16, Source>,
    translations: Entries<8>,
    /// The instruction that was executed last.
    life: Life,
}

/// When an instruction goes through its stages.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Its operation could be dispatched if nothing held it.
    ready: u64,
    dispatched: u64,
    /// The slice that its operation goes to.
    slice: usize,
    /// The data of its last store are issued.
    data: u64,
    /// It could be issued if its port were free.
    sourced: u64,
    issued: u64,
    finished: u64,
}

impl Core {
    pub(super) fn new() -> Core {
        Core {
            account: States::new(0),
            reasons: Reasons::new(),
            group: Group::new(0),
            fetched: 0,
            block: None,
            restart: 0,
            front: Reason::Empty,
            buffer: Ring::new(),
            targets: Ring::new(),
            window: Ring::new(),
            history: Ring::new(),
            queues: [Entries::new(), Entries::new(), Entries::new(), Entries::new()],
            branches: Entries::new(),
            registers: Registers::new(),
            ports: Ports::new(),
            unowned: 0,
            completed: 0,
            blocked: Blocked { reason: Reason::AllFinished, until: 0 },
            stores: Stores::new(),
            store_queues: [Entries::new(), Entries::new(), Entries::new(), Entries::new()],
            second_queue: Ring::new(),
            sent: 0,
            taken: 0,
            misses: Misses::new(),
            translations: Entries::new(),
            life: Life::default(),
        }
    }

    /// An instruction has been executed.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Found, tally: &mut Tally) {
        let row = rows::of(instruction);
        let operation = instruction.operation.unwrap_or(UNKNOWN);
        self.fetch(instruction, found);
        let loads = found.touches().iter().any(super::Touch::loads);
        let stores = found.touches().iter().any(super::Touch::stores);
        let synchronizes = rows::synchronizes(instruction) || found.continuation == Continuation::Far;
        let mut times = self.dispatch(&row, &operation, synchronizes);
        self.life = Life::begin(self.fetched, times.dispatched);
        let mut phases = Phases::new();
        if loads || stores || row.unit == Unit::Memory {
            self.access(instruction, &operation, found, &mut times, &mut phases, tally);
        }
        if row.unit != Unit::Memory && row.unit != Unit::None {
            self.issue(&row, &operation, loads, &mut times, &mut phases);
        }
        if let Some(queue) = self.queues.get_mut(times.slice).filter(|_| !matches!(row.unit, Unit::None | Unit::Branch)) {
            queue.take(times.issued + 1);
        }
        if row.unit == Unit::Branch {
            self.branches.take(times.issued + 1);
        }
        self.record(&row, found, &times, &phases);
        self.own(&times, &phases);
        self.complete(instruction, found, &operation, &row, &times);
    }

    /// PP1 to PP6: the fetcher reads the block that the instruction lies in.
    fn fetch(&mut self, instruction: &Instruction<'_>, found: &Found) {
        let block = instruction.address >> BLOCK_BITS;
        if instruction.length == 0 || self.block == Some(block) {
            return;
        }
        self.block = Some(block);
        let room = self.buffer.room(BLOCK) + FRONT_END;
        self.hold(State::BufferFull, self.fetched + 1, room);
        self.account.hold(State::CodeWalk as usize, u64::from(found.walk));
        let delay = u64::from(found.translation) + u64::from(found.line);
        self.fetched = (self.fetched + 1).max(room) + delay;
        if delay != 0 {
            self.front = match (self.front, found.code) {
                (Reason::EmptyMisprediction, _) => Reason::EmptyMispredictionMiss,
                (_, Some(source)) => Reason::of_fetch(source),
                (_, None) => Reason::EmptyTranslation,
            };
        }
    }

    /// PP19 to PP22: an operation that is no access is issued.
    fn issue(&mut self, row: &Row, operation: &Operation<'_>, loads: bool, times: &mut Times, phases: &mut Phases) {
        let slice = times.slice;
        let mut sources = self.ready(operation.reads).max(times.dispatched + 1);
        if loads {
            // Its data are there when the access has finished.
            sources = sources.max(times.finished);
        } else {
            sources = sources.max(self.ready(operation.addresses));
        }
        let pair = slice & !1;
        let keeps = u64::from(row.keeps);
        let at = match row.unit {
            Unit::Branch => self.ports.take(BRANCH, sources, 1),
            Unit::Kept => self.take_all(&[(slice, 1), (KEPT + slice, keeps)], sources),
            Unit::Pair if keeps > 1 => self.take_all(&[(pair, 1), (pair + 1, 1), (KEPT + pair, keeps), (KEPT + pair + 1, keeps)], sources),
            Unit::Pair => self.take_all(&[(pair, 1), (pair + 1, 1)], sources),
            Unit::Divider => self.take_all(&[(pair, 1), (pair + 1, 1), (DIVIDERS + pair / 2, keeps)], sources),
            Unit::Decimal => self.take_all(&[(slice, 1), (DECIMAL, keeps)], sources),
            Unit::Crypto => self.take_all(&[(slice, 1), (CRYPTO, 1)], sources),
            Unit::Slice | Unit::None | Unit::Memory => self.ports.take(slice, sources, 1),
        };
        if loads {
            phases.push(row.reason, at);
        } else {
            (times.sourced, times.issued) = (sources, at);
        }
        // A store of the same instruction may finish later.
        times.finished = times.finished.max(at + u64::from(row.latency));
        phases.push(row.reason, times.finished);
    }

    /// Takes several ports, each for its cycles, from the first cycle in which all are free, `earliest` or later.
    fn take_all(&mut self, ports: &[(usize, u64)], earliest: u64) -> u64 {
        let mut at = earliest;
        // What lies beyond the cycles that are kept is free, so this ends.
        while let Some(later) = ports.iter().map(|(port, cycles)| self.ports.free(*port, at, *cycles)).find(|free| *free > at) {
            at = later;
        }
        for (port, cycles) in ports {
            self.ports.take(*port, at, *cycles);
        }
        at
    }

    fn ready(&self, registers: &[Register]) -> u64 {
        self.registers.ready(registers.iter().map(|register| place(*register)))
    }

    /// PP57, PP58: what the record of the instruction says, up to its finish. Everything before it has its reasons.
    fn record(&mut self, row: &Row, found: &Found, times: &Times, phases: &Phases) {
        let life = &mut self.life;
        life.issued = (row.unit != Unit::None).then_some(times.issued);
        life.next_to_finish = self.unowned.saturating_sub(1).max(times.dispatched);
        life.finished = times.finished;
        life.next_to_complete = self.completed.max(times.dispatched);
        life.stall = times.finished.saturating_sub(self.unowned.max(times.issued));
        life.kind = phases.last(times.finished);
        life.mispredicted = found.continuation == Continuation::Mispredicted;
        life.traits.set(Traits::AFTER_EMPTY, self.completed == 0 || times.dispatched > self.completed + 1);
        life.traits.set(Traits::DECIMAL, row.unit == Unit::Decimal);
    }

    /// PP42 to PP48: the instruction owns the cycles after everything before it has finished, up to its own finish.
    fn own(&mut self, times: &Times, phases: &Phases) {
        if times.finished < self.unowned {
            return;
        }
        let in_flight = times.dispatched.min(self.completed + 1);
        if self.completed != 0 {
            self.own_until(self.blocked.reason, in_flight.min(self.blocked.until));
            self.own_until(Reason::AllFinished, in_flight);
        }
        self.own_until(self.front, times.ready.min(times.dispatched));
        self.own_until(if times.ready < times.dispatched { Reason::EmptyHeldSynchronization } else { Reason::Empty }, times.dispatched);
        self.own_until(Reason::HeldOther, times.sourced.min(times.issued));
        self.own_until(Reason::HeldArbitration, times.issued);
        for (reason, until) in phases.all() {
            self.own_until(*reason, (*until).min(times.finished));
        }
        self.own_until(Reason::DispatchFinish, times.finished);
        self.own_until(Reason::Finish, times.finished + 1);
    }

    /// The cycles without a reason, up to `until`, have this one.
    #[inline]
    fn own_until(&mut self, reason: Reason, until: u64) {
        if until > self.unowned {
            self.reasons.push(reason as u8, until - self.unowned);
            self.unowned = until;
        }
    }

    /// PP40, PP41: the instruction completes, its results are ready, and execution goes on behind it.
    fn complete(&mut self, instruction: &Instruction<'_>, found: &Found, operation: &Operation<'_>, row: &Row, times: &Times) {
        let finished = self.unowned - 1;
        let mut blocked = Blocked { reason: Reason::AllFinished, until: finished + 1 };
        match instruction.class {
            Class::Exception => blocked = Blocked { reason: Reason::BlockedException, until: finished + 1 + EXCEPTION },
            Class::Fence if self.stores.written > finished => {
                // PP35: the second level has taken the stores, and answers.
                blocked = Blocked { reason: Reason::BlockedBarrier, until: self.stores.written + SECOND_LEVEL };
            }
            _ => {}
        }
        // What keeps an older instruction keeps this one too.
        if self.blocked.until > blocked.until {
            blocked = self.blocked;
        }
        self.blocked = blocked;
        let completed = self.completed.max(blocked.until - 1 + COMPLETION);
        self.completed = completed;
        self.life.completed = completed;
        (0..row.operations).for_each(|_| self.window.take(completed + 1));
        self.write(found, times, completed);
        let writes = operation.writes;
        // A load writes its data first of all: an update form writes the base too.
        let based = writes.len() > 1 || !found.touches().iter().any(super::Touch::loads);
        for register in writes {
            self.history.take(completed + 1);
            let moves = based && register.0 != ANY && operation.addresses.contains(register);
            let ready = match (register.0 == ANY, moves) {
                // Through the shortest operation, whatever this one is.
                (true, _) => self.ready(&[Register(ANY)]).max(times.dispatched + 1) + 2,
                // The base of an update form changes beside the access.
                (_, true) => times.issued + 2,
                _ => times.finished,
            };
            self.registers.set(place(*register), ready);
        }
        self.buffer.take(times.dispatched + 1);
        self.front = Reason::Empty;
        self.turn(instruction, found.continuation, times, completed);
    }

    /// PP4, PP5, PP7, PP8: where the fetcher goes on.
    fn turn(&mut self, instruction: &Instruction<'_>, continuation: Continuation, times: &Times, completed: u64) {
        let flush = match continuation {
            Continuation::Sequential => (instruction.class == Class::Serializing).then_some(times.finished + REFETCH),
            Continuation::Taken | Continuation::Resteered(_) => {
                self.block = None;
                self.targets.take(completed + 1);
                let more = if let Continuation::Resteered(cycles) = continuation { u64::from(cycles) } else { 0 };
                self.fetched += TAKEN + more;
                None
            }
            Continuation::Mispredicted => {
                self.front = Reason::EmptyMisprediction;
                Some(times.finished + REFETCH)
            }
            Continuation::Restarted => Some(completed + REFETCH),
            Continuation::Far if instruction.class == Class::Exception => None,
            Continuation::Far => Some(times.finished + REFETCH),
        };
        // An exception's handler begins when it has completed.
        let flush = if instruction.class == Class::Exception { Some(completed + 1) } else { flush };
        if let Some(at) = flush {
            if !matches!(continuation, Continuation::Mispredicted) {
                self.hold(State::FetchStopped, times.dispatched, times.finished);
            }
            self.restart = at;
            self.fetched = at - 1;
            self.block = None;
        }
    }

    /// `state` holds from cycle `from` up to `until`, if that is later.
    fn hold(&mut self, state: State, from: u64, until: u64) {
        self.account.hold(state as usize, until.saturating_sub(from));
    }
}

/// What an instruction without an operation needs and gives: the result before, and one for the next.
const UNKNOWN: Operation<'_> = Operation { width: 8, packed: false, addresses: &[], reads: &[Register(ANY)], writes: &[Register(ANY)] };

/// The number of a register that has a time.
fn place(register: Register) -> u16 {
    if register.0 == ANY { ANY } else { register.0 % ANY }
}
