//! The pipeline of the K8. Rules PK1 to PK47 and their sources are in `docs/notes/pipelines-x86.md`.

mod rows;
mod saved;
#[cfg(test)]
mod tests;

use vm_pmu_arch::feed::Signal;

use super::super::instruction::{Class, Instruction, Operation, Register};
use super::super::tally::Tally;
use super::account::Account;
use super::memory::{Misses, Store, Stores};
use super::ports::Ports;
use super::queue::{Entries, Ring, Runs};
use super::{Continuation, Found, MOST, Touch};
use rows::{Path, Row, Unit};

/// Macro-operations of a line.
const WIDTH: usize = 3;
/// Cycles from the resolution of a mispredicted branch to the dispatch of the right path (25112, page 253).
const MISPREDICTION: u64 = 10;
/// The bytes that the fetcher reads in a cycle, as bits of an address (25112, page 71).
const PIECE_BITS: u32 = 4;
/// From dispatch to the first cycle in which an operation of the floating-point unit can issue (PK15).
const FLOATING_DEPTH: u64 = 4;
/// From an access to the use of its data (PK19).
const ACCESS: u64 = 2;
/// From a store's data to those of a load that takes them (PK22), by how the store came about.
const FORWARD: u64 = 8;
const FORWARD_MODIFIED: u64 = 6;
const FORWARD_NARROW: u64 = 9;
/// The same where the load cannot take them (PK23).
const NO_FORWARD: u64 = 25;
/// From the turn of a locked operation to its write (PK45).
const LOCKED: u64 = 12;
/// From a load of a segment register to the next (PK38).
const SEGMENT: u64 = 8;
/// A far transfer, an interrupt or an exception, once everything before it has completed. Chosen, as before.
const FAR: u64 = 40;

/// Ports: the address units of the three positions, their integer units, the multiplier, and the pipes of the floating-point unit.
const INTEGER_UNITS: usize = 3;
const MULTIPLIER: usize = 6;
const PIPES: usize = 7;

/// Registers, and one through which instructions depend on each other that name none.
const REGISTERS: usize = Register::COUNT + 1;
const ANY: u16 = Register::COUNT as u16;

/// States of a cycle, in the order of [`STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// D0h: no line is ready.
    Empty,
    /// D1h: a line is ready and waits.
    Stall,
    /// D2h: a mispredicted branch has not completed.
    BranchAbort,
    /// D3h: a serialising instruction waits.
    Serialization,
    /// D4h: a load of a segment register waits.
    SegmentLoad,
    /// D5h: the reorder buffer is full.
    ReorderBuffer,
    /// D6h: the scheduler of a position is full.
    Scheduler,
    /// D7h: the floating-point scheduler is full.
    FloatingScheduler,
    /// D8h: LS1 is full.
    LoadStore,
    /// D9h: stores have not been written.
    AllQuiet,
    /// DAh: a far transfer waits, or takes its time.
    Far,
    /// 23h: LS2 is full.
    LoadStoreBuffer,
    /// 24h, 02h: a locked operation waits for its turn.
    LockedSpeculative,
    /// 24h, 04h: a locked operation is sure to complete.
    LockedFinal,
    /// 87h: the fetcher waits.
    Fetch,
    /// 01h: no operation of the floating-point unit completes.
    FloatingIdle,
}

const STATE_COUNT: usize = State::FloatingIdle as usize + 1;

/// The signals of the states, in their order.
pub(super) const STATES: [Signal; STATE_COUNT] = [
    Signal::DecoderEmptyCycles,
    Signal::DispatchStallCycles,
    Signal::DispatchStallBranchAbortCycles,
    Signal::DispatchStallSerializationCycles,
    Signal::DispatchStallSegmentLoadCycles,
    Signal::DispatchStallReorderBufferCycles,
    Signal::DispatchStallReservationStationCycles,
    Signal::DispatchStallFloatingPointCycles,
    Signal::DispatchStallLoadStoreCycles,
    Signal::DispatchStallAllQuietCycles,
    Signal::DispatchStallFarTransferCycles,
    Signal::LoadStoreBufferFullCycles,
    Signal::LockedSpeculativeCycles,
    Signal::LockedFinalCycles,
    Signal::InstructionFetchStallCycles,
    Signal::FloatingPointIdleCycles,
];

/// Operations by pipe, without and with a memory source: FADD, FMUL, FSTORE.
const PIPE_EVENTS: [[Signal; 3]; 2] = [
    [Signal::FloatingPointAddOps, Signal::FloatingPointMultiplyOps, Signal::FloatingPointStoreOps],
    [Signal::FloatingPointAddLoads, Signal::FloatingPointMultiplyLoads, Signal::FloatingPointStoreLoads],
];

/// Instructions of two macro-operations, by the position of the first.
const DOUBLE_EVENTS: [Signal; WIDTH] =
    [Signal::DoubleOperationsPosition0, Signal::DoubleOperationsPosition1, Signal::DoubleOperationsPosition2];

/// The events that the pipeline counts.
pub(super) const EVENTS: [Signal; 10] = [
    Signal::FloatingPointAddOps,
    Signal::FloatingPointMultiplyOps,
    Signal::FloatingPointStoreOps,
    Signal::FloatingPointAddLoads,
    Signal::FloatingPointMultiplyLoads,
    Signal::FloatingPointStoreLoads,
    Signal::FloatingPointFlagOps,
    Signal::DoubleOperationsPosition0,
    Signal::DoubleOperationsPosition1,
    Signal::DoubleOperationsPosition2,
];

/// The registers of a macro-operation. More than there is place for are left out.
#[derive(Clone, Copy, Debug)]
struct Operands {
    addresses: [u16; 3],
    reads: [u16; 5],
    writes: [u16; 4],
    address_count: u8,
    read_count: u8,
    write_count: u8,
}

/// Copies as many registers as there is place for; returns how many.
fn copy(to: &mut [u16], from: &[Register]) -> u8 {
    let mut count = 0;
    for (place, register) in to.iter_mut().zip(from) {
        *place = register.0 % ANY;
        count += 1;
    }
    count
}

impl Operands {
    const NONE: Operands = Operands { addresses: [0; 3], reads: [0; 5], writes: [0; 4], address_count: 0, read_count: 0, write_count: 0 };

    /// Those of an instruction without any: the result before, and one for the next.
    const UNKNOWN: Operands =
        Operands { addresses: [ANY; 3], reads: [ANY; 5], writes: [ANY; 4], address_count: 1, read_count: 1, write_count: 1 };

    fn of(operation: Option<&Operation<'_>>) -> Operands {
        let Some(operation) = operation else { return Operands::UNKNOWN };
        let mut operands = Operands::NONE;
        operands.address_count = copy(&mut operands.addresses, operation.addresses);
        operands.read_count = copy(&mut operands.reads, operation.reads);
        operands.write_count = copy(&mut operands.writes, operation.writes);
        operands
    }

    fn addresses(&self) -> &[u16] {
        self.addresses.get(..usize::from(self.address_count)).unwrap_or(&[])
    }

    fn reads(&self) -> &[u16] {
        self.reads.get(..usize::from(self.read_count)).unwrap_or(&[])
    }

    fn writes(&self) -> &[u16] {
        self.writes.get(..usize::from(self.write_count)).unwrap_or(&[])
    }
}

/// A macro-operation that waits for its line to be dispatched.
#[derive(Clone, Copy, Debug)]
struct MacroOperation {
    row: Row,
    class: Class,
    operands: Operands,
    /// Its accesses among those of the line.
    touches: (u8, u8),
    /// The second of two.
    second: bool,
    /// Whether its instruction reads memory.
    loads: bool,
    /// How the instruction continues, if this is its last.
    continuation: Continuation,
    segment_loads: u8,
}

impl MacroOperation {
    const NONE: MacroOperation = MacroOperation {
        row: Row { path: Path::Direct, unit: Unit::None, latency: 0, every: 1 },
        class: Class::Nop,
        operands: Operands::NONE,
        touches: (0, 0),
        second: false,
        loads: false,
        continuation: Continuation::Sequential,
        segment_loads: 0,
    };
}

/// Macro-operations that are dispatched together.
#[derive(Clone, Debug)]
struct Line {
    operations: [MacroOperation; WIDTH],
    count: usize,
    touches: [Touch; MOST],
    touch_count: usize,
    /// When its last byte has been fetched.
    ready: u64,
    /// The piece of code with its first byte.
    piece: u64,
}

impl Line {
    fn operations(&self) -> impl Iterator<Item = &MacroOperation> {
        self.operations.iter().take(self.count)
    }
}

/// What a mispredicted branch or a restart leaves to the next line.
#[derive(Clone, Copy, Debug, Default)]
struct Redirect {
    /// When the right path became known.
    resolved: u64,
    /// When the branch has completed.
    completed: u64,
}

/// The pipeline.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) account: Account<STATE_COUNT>,
    line: Line,
    /// The first cycle in which the next line can be dispatched. Everything before has been reported.
    next: u64,
    /// When the fetcher read the last piece, in cycles of dispatch; the piece; and when the one before was begun.
    fetched: u64,
    piece: Option<u64>,
    window: u64,
    redirect: Option<Redirect>,
    /// When the first macro-operation of two has its result, and its data.
    half: (u64, u64),
    /// When registers are ready.
    registers: [u64; REGISTERS],
    ports: Ports<{ PIPES + 3 }>,
    reorder: Ring<24>,
    schedulers: [Entries<8>; WIDTH],
    floating: Entries<12>,
    first_queue: Ring<12>,
    second_queue: Entries<32>,
    second_full: Runs,
    floating_completions: Runs,
    stores: Stores,
    misses: Misses<8>,
    /// When the walker is free.
    walker: u64,
    /// The cycle of the last access, and how many it had.
    access: (u64, u8),
    /// The cycle of the last completion, and how many it had.
    completed: (u64, u8),
    /// The cycle of the last write of a store, and how many it had.
    written: (u64, u8),
    /// When another segment register can be loaded.
    segment: u64,
    /// When it was the turn of the last locked operation.
    locked: u64,
}

/// The next cycle, `earliest` or later, in a sequence of at most `width` a cycle in order.
fn in_order(last: &mut (u64, u8), earliest: u64, width: u8) -> u64 {
    if earliest > last.0 {
        *last = (earliest, 1);
    } else if last.1 < width {
        last.1 += 1;
    } else {
        *last = (last.0 + 1, 1);
    }
    last.0
}

impl Core {
    pub(super) fn new() -> Core {
        Core {
            account: Account::new(),
            line: Line {
                operations: [MacroOperation::NONE; WIDTH],
                count: 0,
                touches: Found::NONE.touches,
                touch_count: 0,
                ready: 0,
                piece: 0,
            },
            next: 0,
            fetched: 0,
            piece: None,
            window: 0,
            redirect: None,
            half: (0, 0),
            registers: [0; REGISTERS],
            ports: Ports::new(),
            reorder: Ring::new(),
            schedulers: [Entries::new(), Entries::new(), Entries::new()],
            floating: Entries::new(),
            first_queue: Ring::new(),
            second_queue: Entries::new(),
            second_full: Runs::new(),
            floating_completions: Runs::new(),
            stores: Stores::new(),
            misses: Misses::new(),
            walker: 0,
            access: (0, 0),
            completed: (0, 0),
            written: (0, 0),
            segment: 0,
            locked: 0,
        }
    }

    /// An instruction has been executed. It is dispatched with its line.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Found, tally: &mut Tally) {
        let row = rows::of(instruction);
        let alone = matches!(row.path, Path::Vector(_));
        let first = instruction.address >> PIECE_BITS;
        let last = instruction.address.wrapping_add(u64::from(instruction.length.max(1)) - 1) >> PIECE_BITS;
        // PK2, PK4, PK5: what begins a new line.
        let full = self.line.touch_count + found.count > MOST
            || row.unit == Unit::Multiplier
            || instruction.length != 0 && last.wrapping_sub(self.line.piece) > 1;
        if self.line.count != 0 && (alone || full) {
            self.dispatch(tally);
        }
        self.fetch(instruction, found, first, last);
        if self.line.count == 0 {
            self.line.piece = first;
        }
        self.line.ready = self.line.ready.max(if instruction.length == 0 { 0 } else { self.fetched + 1 });
        let begin = self.line.touch_count;
        for touch in found.touches() {
            if let Some(place) = self.line.touches.get_mut(self.line.touch_count) {
                *place = *touch;
                self.line.touch_count += 1;
            }
        }
        let operation = MacroOperation {
            row,
            class: instruction.class,
            operands: Operands::of(instruction.operation.as_ref()),
            touches: (begin as u8, self.line.touch_count as u8),
            second: false,
            loads: found.touches().iter().any(Touch::loads),
            continuation: found.continuation,
            segment_loads: instruction.segment_loads,
        };
        tally.add(Signal::FloatingPointFlagOps, u64::from(instruction.class == Class::FloatCompare));
        if matches!(row.path, Path::Double | Path::Chained) {
            // PK3: two macro-operations in any two positions that follow each other.
            if let Some(signal) = DOUBLE_EVENTS.get(self.line.count) {
                tally.add(*signal, 1);
            }
            // Both halves are read at once; both are needed for a write.
            let (first, second) = if operation.loads { (operation.touches, (0, 0)) } else { ((0, 0), operation.touches) };
            self.push(MacroOperation { touches: first, continuation: Continuation::Sequential, ..operation }, tally);
            self.push(MacroOperation { touches: second, second: true, ..operation }, tally);
        } else {
            self.push(operation, tally);
        }
        if self.line.count != 0 && (alone || found.continuation != Continuation::Sequential) {
            self.dispatch(tally);
        }
        self.turn(found.continuation);
    }

    /// Puts a macro-operation into the line, which goes when it is full.
    fn push(&mut self, operation: MacroOperation, tally: &mut Tally) {
        if let Some(place) = self.line.operations.get_mut(self.line.count) {
            *place = operation;
            self.line.count += 1;
        }
        if self.line.count == WIDTH {
            self.dispatch(tally);
        }
    }

    /// PK1, PK5: the fetcher reads the pieces that the instruction lies in.
    fn fetch(&mut self, instruction: &Instruction<'_>, found: &Found, first: u64, last: u64) {
        if instruction.length == 0 {
            return;
        }
        for piece in [first, last] {
            if self.piece == Some(piece) {
                continue;
            }
            // The window has two pieces: this one takes the place of the last but one, once that has gone.
            self.fetched = (self.fetched + 1).max(self.window);
            self.window = self.next;
            self.piece = Some(piece);
        }
        let delay = u64::from(found.fetch);
        self.fetched += delay;
        self.account.hold(State::Fetch as usize, delay);
    }

    /// PK6: where the fetcher goes on.
    fn turn(&mut self, continuation: Continuation) {
        let bubble = match continuation {
            Continuation::Sequential => return,
            Continuation::Taken => 1,
            Continuation::Resteered(cycles) => 1 + u64::from(cycles),
            Continuation::Mispredicted | Continuation::Restarted | Continuation::Far => 0,
        };
        self.piece = None;
        self.fetched += bubble;
        self.account.hold(State::Fetch as usize, bubble);
        if let Some(redirect) = self.redirect {
            // The piece after this is read one cycle later, and its line is ready another one later.
            self.fetched = redirect.resolved + MISPREDICTION - 2;
            self.window = 0;
        }
    }

    /// Dispatches the line. PK9: whole, in the first cycle in which there is room for all of it.
    fn dispatch(&mut self, tally: &mut Tally) {
        let begin = self.next;
        let mut ready = self.line.ready.max(begin);
        let mut room = 0;
        let far =
            self.line.operations().any(|operation| operation.class == Class::Exception || operation.continuation == Continuation::Far);
        if let Some(redirect) = self.redirect.take() {
            ready = ready.max(redirect.resolved + MISPREDICTION);
            self.wrong_path(begin, redirect.resolved);
            self.hold(State::Empty, begin.max(redirect.resolved + 1), ready);
            room = redirect.completed + 1;
            self.hold(State::BranchAbort, ready, room);
        } else {
            self.hold(State::Empty, begin, ready);
        }
        let lines = self.line.operations().next().map_or(1, |operation| match operation.row.path {
            Path::Vector(lines) => u64::from(lines.max(1)),
            _ => 1,
        });
        let at;
        let next;
        if far {
            // PK34: a stall for a far transfer counts nowhere else.
            at = ready.max(room).max(self.completed.0 + 1);
            next = at + lines + FAR;
            self.hold(State::Far, ready, next - lines);
            self.hold(State::Stall, ready, next - lines);
        } else {
            at = ready.max(room).max(self.room(ready));
            next = at + lines;
            self.hold(State::Stall, ready, at);
        }
        let segments: u64 = self.line.operations().map(|operation| u64::from(operation.segment_loads)).sum();
        if segments != 0 {
            self.segment = at + SEGMENT * segments;
        }
        self.issue(at, tally);
        self.account.hold(State::LoadStoreBuffer as usize, self.second_full.take(next));
        let busy = self.floating_completions.take(next);
        self.account.hold(State::FloatingIdle as usize, (next - begin).saturating_sub(busy));
        self.account.pass(next - begin);
        self.next = next;
        self.ports.forget(next);
        self.line.count = 0;
        self.line.touch_count = 0;
        self.line.ready = 0;
    }

    /// PK33, PK34, PK37 to PK39: the first cycle in which there is room for the line, which is ready in cycle `ready`. Each resource that
    /// it waits for counts its own cycles.
    fn room(&mut self, ready: u64) -> u64 {
        let (mut scheduler, mut floating, mut serializes, mut segments) = (0, 0, false, false);
        for (operation, entries) in self.line.operations.iter().take(self.line.count).zip(&self.schedulers) {
            let computes = operation.row.unit.is_floating();
            if operation.touches.0 < operation.touches.1 || !computes && operation.row.unit != Unit::None {
                scheduler = entries.room().max(scheduler);
            }
            if computes {
                floating = self.floating.room();
            }
            if matches!(operation.class, Class::Serializing | Class::Fence) {
                serializes = true;
            }
            segments |= operation.segment_loads != 0;
        }
        let mut rooms = [
            (State::ReorderBuffer, self.reorder.room(1)),
            (State::Scheduler, scheduler),
            (State::FloatingScheduler, floating),
            (State::LoadStore, self.first_queue.room(self.places())),
            (State::SegmentLoad, if segments { self.segment } else { 0 }),
            (State::Serialization, 0),
            (State::AllQuiet, 0),
        ];
        if serializes {
            let [.., (_, serialization), (_, quiet)] = &mut rooms;
            *serialization = self.completed.0 + 1;
            *quiet = self.stores.written + 1;
        }
        let mut last = 0;
        for (state, room) in rooms {
            self.hold(state, ready, room);
            last = room.max(last);
        }
        last
    }

    /// `state` holds from cycle `from` up to `until`, if that is later.
    fn hold(&mut self, state: State, from: u64, until: u64) {
        self.account.hold(state as usize, until.saturating_sub(from));
    }

    /// PK29: behind a branch that is predicted wrong, lines are dispatched until it resolves or the reorder buffer is full.
    fn wrong_path(&mut self, begin: u64, resolved: u64) {
        let (mut at, mut dispatched) = (begin, 0);
        while at <= resolved && dispatched < 24 {
            let line = self.reorder.room(dispatched + 1).max(at);
            if line > resolved {
                break;
            }
            dispatched += 1;
            self.account.hold(State::ReorderBuffer as usize, line - at);
            self.account.hold(State::Stall as usize, line - at);
            at = line + 1;
        }
        let full = (resolved + 1).saturating_sub(at);
        self.account.hold(State::ReorderBuffer as usize, full);
        self.account.hold(State::Stall as usize, full);
    }

    /// How many entries of LS1 the line needs: two for an access of 16 bytes.
    fn places(&self) -> usize {
        let touches = self.line.touches.get(..self.line.touch_count).unwrap_or(&[]);
        touches.iter().map(|touch| usize::from(touch.size.div_ceil(8).clamp(1, 2))).sum()
    }

    /// Issues the line, which was dispatched in cycle `at`.
    fn issue(&mut self, at: u64, tally: &mut Tally) {
        let mut floating_until = None;
        for position in 0..self.line.count {
            let Some(operation) = self.line.operations.get(position).copied() else { break };
            let issued = self.issue_one(at, position, &operation, tally);
            if operation.row.unit.is_floating() {
                floating_until = floating_until.max(Some(issued.last + 1));
            }
            let completed = in_order(&mut self.completed, issued.finished, WIDTH as u8);
            if operation.row.unit.is_floating() {
                self.floating_completions.add(completed, completed + 1);
            }
            self.write(&operation, &issued, completed);
            match operation.continuation {
                Continuation::Mispredicted => self.redirect = Some(Redirect { resolved: issued.last, completed }),
                Continuation::Restarted => self.redirect = Some(Redirect { resolved: completed, completed }),
                _ => {}
            }
        }
        if let Some(until) = floating_until {
            self.floating.take(until);
        }
        self.reorder.take(self.completed.0 + 1);
    }

    fn ready(&self, registers: &[u16]) -> u64 {
        registers.iter().filter_map(|register| self.registers.get(usize::from(*register))).copied().max().unwrap_or(0)
    }

    fn issue_one(&mut self, at: u64, position: usize, operation: &MacroOperation, tally: &mut Tally) -> Issued {
        let row = &operation.row;
        let mut sources = self.ready(operation.operands.reads());
        let mut data = 0;
        if operation.second {
            data = self.half.1;
            if row.path == Path::Chained {
                sources = sources.max(self.half.0);
            }
        }
        let (mut issued, mut address, mut locked) = (at + 1, at + 1, false);
        let mut integer_until = None;
        let mut stores = false;
        for number in operation.touches.0..operation.touches.1 {
            let Some(touch) = self.line.touches.get(usize::from(number)).copied() else { break };
            if number == operation.touches.0 || !touch.stores() {
                let ready = self.ready(operation.operands.addresses()).max(at + 1);
                address = self.ports.take(position, ready, 1);
            }
            let here = self.load_store(&touch, address);
            data = data.max(here);
            stores |= touch.stores();
            locked |= touch.locked;
            integer_until = Some(address + 1);
            issued = address;
        }
        if operation.loads {
            sources = sources.max(data);
        }
        let earliest = sources.max(at + 1);
        let result = match row.unit {
            Unit::None if operation.second => at + 1,
            Unit::None if operation.loads => issued.max(data),
            Unit::None if operation.class == Class::Nop => at + 1,
            Unit::None => issued.max(sources),
            unit if unit.is_floating() => {
                let (pipe, began) = self.pipe(row, earliest.max(at + FLOATING_DEPTH));
                if let Some(signal) = PIPE_EVENTS.get(usize::from(operation.loads)).and_then(|signals| signals.get(pipe)) {
                    tally.add(*signal, 1);
                }
                issued = began;
                began + u64::from(row.latency)
            }
            unit => {
                let (port, earliest) = match unit {
                    Unit::Address => (position, earliest.max(self.ready(operation.operands.addresses()))),
                    Unit::Multiplier => (MULTIPLIER, earliest),
                    _ => (INTEGER_UNITS + position, earliest),
                };
                issued = self.ports.take(port, earliest, u64::from(row.every));
                integer_until = Some(issued + 1).max(integer_until);
                issued + u64::from(row.latency)
            }
        };
        if let Some(until) = integer_until
            && let Some(entries) = self.schedulers.get_mut(position)
        {
            entries.take(until);
        }
        let mut ready = address.max(result);
        let mut finished = result.max(at + 2);
        if stores {
            // The data are put into the queue in the cycle after they are there.
            finished = finished.max(ready + 1).max(data + 1);
        }
        if locked {
            let turn = data.max(self.completed.0);
            // Cycles in which several wait count once.
            self.account.hold(State::LockedSpeculative as usize, turn.saturating_sub(address.max(self.locked)));
            self.locked = turn;
            self.account.hold(State::LockedFinal as usize, LOCKED);
            finished = turn + LOCKED;
            ready = finished;
        }
        self.half = (result, data);
        self.write_registers(operation, result, address, at);
        Issued { last: issued, finished, ready }
    }

    /// The results of an operation are ready.
    fn write_registers(&mut self, operation: &MacroOperation, result: u64, address: u64, at: u64) {
        let operands = &operation.operands;
        let moves_stack = matches!(operation.class, Class::Push | Class::Pop | Class::Call | Class::Return | Class::String);
        for register in operands.writes() {
            let ready = match *register {
                // The shortest operation: its own latency is not known to matter.
                ANY => self.ready(&[ANY]).max(at + 1) + 1,
                // PUSH and POP change the stack pointer beside their access.
                register if moves_stack && operands.addresses().contains(&register) => address + 1,
                _ => result,
            };
            if let Some(cell) = self.registers.get_mut(usize::from(*register)) {
                *cell = if operation.second { ready.max(*cell) } else { ready };
            }
        }
    }

    /// PK16: the pipe of an operation, and the cycle of its issue.
    fn pipe(&mut self, row: &Row, earliest: u64) -> (usize, u64) {
        let cycles = u64::from(row.every);
        let pipe = match row.unit {
            Unit::Multiply => 1,
            Unit::Store => 2,
            Unit::Either if self.ports.free(PIPES + 1, earliest, cycles) < self.ports.free(PIPES, earliest, cycles) => 1,
            _ => 0,
        };
        (pipe, self.ports.take(PIPES + pipe, earliest, cycles))
    }

    /// An access goes through LS1 and, if it stores or misses, LS2; returns when a load has its data.
    fn load_store(&mut self, touch: &Touch, address: u64) -> u64 {
        let mut at = 0;
        let places = touch.size.div_ceil(8).clamp(1, 2) + u8::from(touch.misaligned);
        for _ in 0..places {
            // PK17: in the order of the program.
            at = in_order(&mut self.access, address + 1, 2);
        }
        let translation = u64::from(touch.translation);
        let translated = if touch.walked {
            let begin = self.walker.max(at);
            self.walker = begin + translation;
            begin - at + translation
        } else {
            translation
        };
        let held = touch.stores() || touch.missed || touch.uncached;
        if held && self.second_queue.room() > at {
            // PK20: LS2 is full, and everything behind waits.
            at = self.second_queue.room();
            self.access = (at, 1);
        }
        for _ in 0..touch.size.div_ceil(8).clamp(1, 2) {
            self.first_queue.take(at + 1);
        }
        if touch.stores() {
            return at;
        }
        let mut here = at + ACCESS + translated;
        if touch.uncached {
            here = at.max(self.stores.written) + u64::from(touch.latency) + translated;
        } else if touch.missed {
            let from = at + translated;
            here = match self.misses.pending(touch.line, from) {
                Some(until) => until.max(here),
                None => self.misses.request(touch.line, from, u64::from(touch.latency).saturating_sub(1)),
            };
        }
        if touch.loads() {
            here = self.forwarded(touch, at, here);
        }
        if held {
            self.hold_second(at, here);
        }
        if touch.loads() { here } else { at + 1 }
    }

    /// An access stays in LS2 from `at` to `until`.
    fn hold_second(&mut self, at: u64, until: u64) {
        self.second_queue.take(until);
        self.second_full.add(at, self.second_queue.room());
    }

    /// PK22, PK23: a load of bytes that a store before it has not written.
    fn forwarded(&self, load: &Touch, at: u64, here: u64) -> u64 {
        let Some(store) = self.stores.find(load.address, load.size, at) else { return here };
        // Only bits 11:2 are compared.
        let within = |address: u64| address >> 2 & 0x3FF;
        let words = |address: u64, size: u8| u64::from(size).saturating_add(address & 3).div_ceil(4);
        let apart = within(load.address).wrapping_sub(within(store.address)) & 0x3FF;
        let behind = within(store.address).wrapping_sub(within(load.address)) & 0x3FF;
        if apart >= words(store.address, store.size) && behind >= words(load.address, load.size) {
            return here;
        }
        if load.address == store.address && load.size <= store.size && !load.misaligned && !store.misaligned {
            let delay = match load.size {
                1 | 2 => FORWARD_NARROW,
                _ if store.modifies => FORWARD_MODIFIED,
                _ => FORWARD,
            };
            return here.max(store.ready + delay);
        }
        (store.written + 3).max(store.ready + NO_FORWARD).max(here)
    }

    /// PK21: the stores of an operation that completes in cycle `completed` are written behind it.
    fn write(&mut self, operation: &MacroOperation, issued: &Issued, completed: u64) {
        for number in operation.touches.0..operation.touches.1 {
            let Some(touch) = self.line.touches.get(usize::from(number)).copied().filter(Touch::stores) else { continue };
            let at = self.access.0;
            let mut earliest = completed + 1;
            if touch.missed || touch.uncached {
                let line = match self.misses.pending(touch.line, at) {
                    Some(until) => until,
                    None => self.misses.request(touch.line, at, u64::from(touch.latency).saturating_sub(1)),
                };
                earliest = earliest.max(line);
            }
            // A locked operation completes when it has written.
            let earliest = if touch.locked { completed } else { earliest };
            let written = in_order(&mut self.written, earliest, 2);
            self.hold_second(at, written + 1);
            let Touch { address, size, misaligned, .. } = touch;
            self.stores.push(Store { address, size, misaligned, modifies: operation.loads, ready: issued.ready, written });
        }
    }
}

/// When a macro-operation went through.
#[derive(Clone, Copy, Debug)]
struct Issued {
    /// Its last micro-operation was issued.
    last: u64,
    /// It has finished.
    finished: u64,
    /// Its address and what it stores are known.
    ready: u64,
}
