//! The pipeline of Knights Landing. Rules PL1 to PL44 and their sources are in `docs/notes/pipelines-x86.md`. Prefixes (PL3) are left out.

mod front;
mod interface;
mod memory;
mod rows;
mod saved;
mod signals;
#[cfg(test)]
mod tests;
mod units;

use alloc::boxed::Box;

use vm_pmu_arch::feed::Signal;

use super::sharing::Threads;
use super::{Continuation, Findings, Touch, boxed};
use crate::instruction::{Class, Instruction, Register};
use crate::pipeline::part::{GENERAL, PLAIN};
use crate::pipeline::resources::account::States;
use crate::pipeline::resources::queue::{Entries, Ring, Runs};
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::{ANY, Registers, moves_stack};
use crate::pipeline::resources::sequence::Sequence;
use crate::tally::Tally;
use front::KnlFrontEnd;
use memory::{Accessed, KnlMemory};
use rows::{KnlRow, KnlUnit};
pub(super) use signals::{EVENTS, STATES};
use signals::{KnlState, NOT_ALLOCATED};
pub(super) use units::Units as Shared;
use units::Units;

/// Micro-operations allocated per cycle, and completed per cycle.
const WIDTH: u8 = 2;
/// Cycles from the issue of a mispredicted branch to the allocation of the right path (PL24).
const MISPREDICTION: u64 = 12;

/// The pipeline of a Knights Landing thread.
#[derive(Clone, Debug)]
pub(super) struct KnlPipeline {
    pub(super) account: States,
    /// The cycle of the current group, or of the next one. Everything before has been reported.
    at: u64,
    /// Whether the first micro-operation of the group has been allocated, and the port that it took, if any.
    open: bool,
    port: Option<KnlPort>,
    front: KnlFrontEnd,
    redirect: Option<Redirect>,
    registers: Registers,
    /// Boxed, since threads that share them swap them at each instruction.
    units: Box<Units>,
    reorder: Ring<72, 128>,
    integer: [Entries<12, 16>; 2],
    vector: [Entries<20, 32>; 2],
    memory: KnlMemory,
    /// The cycle in which the divider accepts another division of the thread. Divisions begin in order.
    divider: u64,
    divisions: Runs,
    completed: Sequence,
}

/// A port with its reservation station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnlPort {
    vector: bool,
    number: usize,
}

/// PL28: a thread's share of the reorder buffer and the stations.
#[derive(Clone, Copy, Debug)]
struct KnlShare {
    reorder: usize,
    /// Entries of an integer station, and of the memory station.
    station: usize,
    /// Entries of a vector station.
    vector: usize,
}

impl KnlShare {
    /// Returns the share of one thread if `threads` run.
    fn of(threads: usize) -> KnlShare {
        let parts = match threads {
            0 | 1 => 1,
            2 => 2,
            _ => 4,
        };
        KnlShare { reorder: 72 / parts, station: 12 / parts, vector: 20 / parts }
    }
}

/// The cycles in which an instruction passed the stages.
#[derive(Clone, Copy, Debug)]
struct IssuedInstruction {
    /// Issue of its last part.
    last: u64,
    /// Its finish.
    finished: u64,
    /// The cycle in which the addresses and data of its stores are ready.
    stored: u64,
    /// Its loads and stores.
    accessed: Accessed,
}

impl KnlPipeline {
    pub(super) fn new() -> KnlPipeline {
        KnlPipeline {
            account: States::new(NOT_ALLOCATED),
            at: 0,
            open: false,
            port: None,
            front: KnlFrontEnd::new(),
            redirect: None,
            registers: Registers::new(),
            units: boxed(Units::new),
            reorder: Ring::new(),
            integer: [Entries::new(), Entries::new()],
            vector: [Entries::new(), Entries::new()],
            memory: KnlMemory::new(),
            divider: 0,
            divisions: Runs::new(),
            completed: Sequence::new(),
        }
    }

    /// Returns the cycle of the current group, or of the next one.
    pub(super) fn now(&self) -> u64 {
        self.at
    }

    /// Executes an instruction.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, threads: &mut Threads<'_>, tally: &mut Tally) {
        let far = instruction.class == Class::Exception || found.continuation == Continuation::Far;
        let (row, made) = (rows::of(instruction, far), (found.touches(), found.continuation));
        self.execute_as::<GENERAL, false>(instruction, &row, made, Some(found), threads, tally);
    }

    /// Executes an instruction of at most kind `KIND`, with the accesses that it made and its continuation. `found` says how late its code
    /// arrives. `ALONE`: the thread is known to have its core to itself.
    #[inline(always)]
    fn execute_as<const KIND: u8, const ALONE: bool>(
        &mut self,
        instruction: &Instruction<'_>,
        row: &KnlRow,
        (touches, continuation): (&[Touch], Continuation),
        found: Option<&Findings>,
        threads: &mut Threads<'_>,
        tally: &mut Tally,
    ) {
        if !ALONE {
            self.exchange(threads);
        }
        let before = self.at;
        let delivered = self.front.deliver(instruction, found, &mut self.memory.walker);
        let (port, second) = self.allocate::<KIND, ALONE>(row, delivered, touches.len(), threads);
        let at = self.at;
        if instruction.length != 0 {
            self.front.allocated(at);
        }
        let issued = self.issue::<KIND>(instruction, touches, row, port, tally);
        let mut earliest = issued.finished;
        if !ALONE {
            earliest = threads.turn_to_complete(self.completed.room(earliest, WIDTH));
        }
        let completed = self.completed.next(earliest, WIDTH);
        self.reorder.take(completed + 1);
        for touch in touches.iter().filter(|touch| touch.stores()) {
            self.memory.write(touch, &issued.accessed, issued.stored, completed, &mut self.units);
        }
        if row.flow != 0 {
            // PL4, PL39: nothing else of the thread is allocated during the flow.
            tally.add(Signal::MicrocodeEntries, 1);
            let end = (0..row.flow).fold(at, |at, _| threads.turn(at) + 1);
            self.pass(end);
        } else if second || matches!(continuation, Continuation::Mispredicted | Continuation::Restarted) {
            self.close();
        }
        if KIND == GENERAL || continuation != Continuation::Sequential {
            let far = KIND == GENERAL && (instruction.class == Class::Exception || continuation == Continuation::Far);
            self.turn(continuation, far, &issued, completed);
        }
        if !ALONE {
            let now = threads.reaches(self.at);
            self.units.forget(now);
            self.exchange(threads);
        } else if self.at != before {
            self.units.forget(self.at);
        }
    }

    /// PL27: handles another core's taking a line to write it. Returns whether the pipeline is cleared, from a load of the line that is
    /// ahead of its turn.
    pub(super) fn data_taken(&mut self, line: u64) -> bool {
        let clears = self.memory.ahead.has(line, self.at);
        if clears && self.redirect.is_none() {
            self.close();
            self.front.restart(self.at + MISPREDICTION);
            self.redirect = Some(Redirect { resolved: self.at, completed: self.at });
        }
        clears
    }

    /// PL28: swaps in or out the units that the threads of the core share, if there are several.
    fn exchange(&mut self, threads: &mut Threads<'_>) {
        let offset = threads.offset();
        if let Some(units) = threads.shared::<Units>() {
            core::mem::swap(&mut self.units, units);
            self.units.offset = offset;
        }
    }

    /// Redirects the front end.
    fn turn(&mut self, continuation: Continuation, far: bool, issued: &IssuedInstruction, completed: u64) {
        let redirect = match continuation {
            _ if far => return self.front.restart(self.at),
            Continuation::Sequential | Continuation::Far => return,
            Continuation::Taken => return self.front.turn(),
            Continuation::Resteered(_) => return self.front.resteer(),
            Continuation::Mispredicted => Redirect { resolved: issued.last, completed },
            Continuation::Restarted => {
                // PL26: once it is the oldest and every store is written.
                let oldest = completed.max(self.memory.stores.written);
                Redirect { resolved: oldest, completed: oldest }
            }
        };
        self.front.restart(redirect.resolved + MISPREDICTION);
        self.redirect = Some(redirect);
    }

    /// PL9 to PL12, PL31 to PL35: allocates a micro-operation that the front end delivers in cycle `delivered` and that makes `accesses`
    /// accesses. The cycle is [`at`](KnlPipeline::at). Returns its port, and whether it is the second of its group.
    #[inline(always)]
    fn allocate<const KIND: u8, const ALONE: bool>(
        &mut self,
        row: &KnlRow,
        delivered: u64,
        accesses: usize,
        threads: &mut Threads<'_>,
    ) -> (Option<KnlPort>, bool) {
        let share = KnlShare::of(if ALONE { 1 } else { threads.count() });
        if self.open {
            if row.flow == 0 && delivered <= self.at {
                let port = self.choose::<KIND>(row.unit);
                let memory = self.memory.room(accesses, share.station);
                if port.is_none_or(|port| self.room(port, share) <= self.at) && memory <= self.at {
                    // The second of the group: the reorder buffer had room for both.
                    return (port, true);
                }
                self.hold(KnlState::StationFull, 0, 1);
                self.hold(KnlState::MemoryStationFull, 0, u64::from(memory > self.at));
            }
            self.close();
        }
        // PL30: cycles before its turn are lost, and no state holds in them.
        let begin = if ALONE { self.at } else { threads.turn(self.at) };
        self.pass(begin);
        let (mut ready, mut at) = (delivered, begin);
        if let Some(redirect) = self.redirect.take_if(|_| KIND == GENERAL) {
            // PL25: a wrong path is allocated until the branch is issued. PL33: then the right path waits until the branch has completed.
            let full = self.reorder.full(begin, redirect.resolved, usize::from(WIDTH), share.reorder);
            self.hold(KnlState::ReorderBuffer, 0, full);
            at = at.max(redirect.resolved + 1);
            at = self.until(KnlState::Misprediction, at, redirect.completed + 1);
            ready = ready.max(redirect.resolved + MISPREDICTION);
        }
        let window = self.reorder.room_within(usize::from(WIDTH), share.reorder);
        let memory = self.memory.room(accesses, share.station);
        let station = self.earliest::<KIND>(row.unit, share).max(memory);
        if row.serializes || window.max(ready).max(station) > begin {
            at = self.until(KnlState::ReorderBuffer, at, window);
            at = self.until(KnlState::Empty, at, ready);
            if row.serializes {
                let quiet = self.completed.at.max(self.memory.stores.written) + 1;
                at = self.until(KnlState::Serialization, at, quiet);
            }
            at = self.until(KnlState::Station, at, station);
            let asked = begin.max(ready);
            self.hold(KnlState::StationFull, asked, station);
            self.hold(KnlState::MemoryStationFull, asked, memory);
        }
        if !ALONE {
            threads.stalls(begin, at);
            at = threads.turn(at);
        }
        self.pass(at);
        self.open = true;
        self.port = self.choose::<KIND>(row.unit);
        (self.port, false)
    }

    /// Makes `state` hold from cycle `from` up to `until`, if that is later.
    fn hold(&mut self, state: KnlState, from: u64, until: u64) {
        self.account.hold(state as usize, until.saturating_sub(from));
    }

    /// Makes `state` hold like [`hold`](KnlPipeline::hold), and returns the later of `from` and `until`.
    fn until(&mut self, state: KnlState, from: u64, until: u64) -> u64 {
        self.hold(state, from, until);
        from.max(until)
    }

    /// Closes the current group: nothing more is allocated in it.
    fn close(&mut self) {
        if self.open {
            self.pass(self.at + 1);
        }
    }

    /// Lets cycles pass up to `until`, in which the next group is allocated.
    #[inline]
    fn pass(&mut self, until: u64) {
        self.open = false;
        self.port = None;
        if until > self.at {
            self.pass_cycles(until);
        }
    }

    fn pass_cycles(&mut self, until: u64) {
        let runs = [
            (KnlState::Divider, &mut self.divisions),
            (KnlState::DataWalk, &mut self.memory.walks),
            (KnlState::CodeWalk, &mut self.front.walks),
            (KnlState::Fill, &mut self.front.fills),
        ];
        for (state, runs) in runs {
            self.account.hold(state as usize, runs.take(until));
        }
        self.account.pass(until - self.at);
        self.at = until;
    }

    /// Returns the first cycle in which the station of a port has a free entry.
    #[inline(always)]
    fn room(&self, port: KnlPort, share: KnlShare) -> u64 {
        let room = if port.vector {
            self.vector.get(port.number).map(|entries| entries.room_within(share.vector))
        } else {
            self.integer.get(port.number).map(|entries| entries.room_within(share.station))
        };
        room.unwrap_or(0)
    }

    /// Returns the number of micro-operations that wait in the station of a port.
    #[inline(always)]
    fn waiting(&self, port: KnlPort) -> usize {
        let waiting = if port.vector {
            self.vector.get(port.number).map(|entries| entries.taken(self.at))
        } else {
            self.integer.get(port.number).map(|entries| entries.taken(self.at))
        };
        waiting.unwrap_or(0)
    }

    /// Returns the first cycle in which a station for `unit` has a free entry.
    #[inline(always)]
    fn earliest<const KIND: u8>(&self, unit: KnlUnit, share: KnlShare) -> u64 {
        let vector = KIND == GENERAL && unit.is_vector();
        match unit.only() {
            _ if unit == KnlUnit::None => 0,
            Some(number) => self.room(KnlPort { vector, number }, share),
            None => self.room(KnlPort { vector, number: 0 }, share).min(self.room(KnlPort { vector, number: 1 }, share)),
        }
    }

    /// PL12: returns the port of a micro-operation that is allocated now.
    #[inline(always)]
    fn choose<const KIND: u8>(&self, unit: KnlUnit) -> Option<KnlPort> {
        if unit == KnlUnit::None {
            return None;
        }
        let vector = KIND == GENERAL && unit.is_vector();
        let number = match (unit.only(), self.port) {
            (Some(number), _) => number,
            (None, Some(other)) if other.vector == vector => 1 - other.number.min(1),
            _ => usize::from(self.waiting(KnlPort { vector, number: 1 }) < self.waiting(KnlPort { vector, number: 0 })),
        };
        Some(KnlPort { vector, number })
    }

    /// Returns the cycle, `earliest` or later, in which `row` issues to its port. The station entry is free one cycle later.
    #[inline(always)]
    fn send(&mut self, row: &KnlRow, port: KnlPort, earliest: u64) -> u64 {
        let mut earliest = earliest;
        if row.divider != 0 {
            earliest = earliest.max(self.divider);
        }
        let at = self.units.send(row, port, earliest);
        if row.divider != 0 {
            self.divider = at + u64::from(row.divider);
            self.divisions.add(at, self.divider);
        }
        if port.vector {
            self.vector.get_mut(port.number).into_iter().for_each(|entries| entries.take(at + 1));
        } else {
            self.integer.get_mut(port.number).into_iter().for_each(|entries| entries.take(at + 1));
        }
        at
    }

    /// Issues the micro-operations allocated in the current cycle, and writes their results.
    #[inline(always)]
    fn issue<const KIND: u8>(
        &mut self,
        instruction: &Instruction<'_>,
        touches: &[Touch],
        row: &KnlRow,
        port: Option<KnlPort>,
        tally: &mut Tally,
    ) -> IssuedInstruction {
        const UNKNOWN: &[Register] = &[Register(0)];
        let operation = instruction.operation.as_ref();
        let class = if KIND == PLAIN { Class::Simple } else { instruction.class };
        // Without named registers it needs the previous result.
        let number = |register: &Register| if operation.is_some() { register.0 % ANY } else { ANY };
        let [addresses, reads, writes] =
            operation.map_or([UNKNOWN; 3], |operation| [operation.addresses, operation.reads, operation.writes]);
        let first = self.at + 1;
        let address = self.registers.ready(addresses.iter().map(number)).max(first);
        let sources = self.registers.ready(reads.iter().map(number)).max(first);
        let mut accessed = Accessed { issued: first, ..Accessed::default() };
        let vector = KIND == GENERAL && instruction.floating_point;
        for touch in touches {
            self.memory.access(touch, address, vector, &mut self.units, &mut accessed, tally);
        }
        let data = sources.max(accessed.data);
        // The stack pointer is updated in parallel with the access.
        let beside = matches!(class, Class::Push | Class::Pop) && row.flow == 0;
        let computes = KIND == GENERAL && matches!(class, Class::Address | Class::AddressScaled);
        let mut last = accessed.issued;
        let mut result = data;
        if let Some(port) = port {
            let earliest = if beside {
                address
            } else if computes {
                data.max(address)
            } else {
                data
            };
            last = self.send(row, port, earliest);
            if !beside {
                result = last + u64::from(row.latency);
            }
        }
        let mut finished = result.max(last + 1);
        // The result is stored, except when the stack is pushed.
        let stacks = matches!(class, Class::Push | Class::Call);
        let stored = accessed.stored.max(if stacks { data } else { result });
        if accessed.stores != 0 {
            finished = finished.max(stored + 1);
        }
        let pushed = if beside { last } else { address };
        for register in writes {
            let addresses = moves_stack(class) && addresses.contains(register);
            let ready = self.registers.written(number(register), class, addresses, (self.at, pushed, result));
            self.registers.set(number(register), ready);
        }
        IssuedInstruction { last, finished, stored, accessed }
    }
}
