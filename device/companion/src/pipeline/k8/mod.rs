//! The pipeline of the K8. Rules PK1 to PK47 and their sources are in `docs/notes/pipelines-x86.md`. The fourth branch of a piece (PK7) and
//! bank conflicts (PK18) are not modelled.

mod accesses;
mod interface;
mod issue;
mod line;
mod rows;
mod saved;
mod short;
mod signals;
#[cfg(test)]
mod tests;
mod types;

use vm_pmu_arch::feed::Signal;

pub(super) use super::sharing::Unshared as Shared;
use super::touch::Touches;
use super::{Continuation, Findings, MOST, Touch};
use crate::instruction::{Class, Instruction};
use crate::pipeline::resources::account::States;
use crate::pipeline::resources::early_loads::Ahead;
use crate::pipeline::resources::memory::{Misses, Stores};
use crate::pipeline::resources::ports::Ports;
use crate::pipeline::resources::queue::{Entries, Ring, Runs};
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::{ANY, Registers};
use crate::pipeline::resources::sequence::Sequence;
use crate::tally::Tally;
use line::{DispatchLine, MacroOperation, Needs, Operands};
use rows::{DecodePath, K8Row, K8Unit};
use signals::{DOUBLE_EVENTS, K8State};
pub(super) use signals::{EVENTS, STATES};
use types::Types;

/// Number of macro-operations in a line.
const WIDTH: usize = 3;
/// Cycles from the resolution of a mispredicted branch to the dispatch of the right path (25112, page 253).
const MISPREDICTION: u64 = 10;
/// Number of bytes that the fetcher reads per cycle, as address bits (25112, page 71).
const PIECE_BITS: u32 = 4;
/// Cycles from dispatch to the first cycle in which a floating-point operation can issue (PK15).
const FLOATING_DEPTH: u64 = 4;
/// Cycles from the turn of a locked operation to its write (PK45).
const LOCKED: u64 = 12;
/// Cycles from a load of a segment register to the next (PK38).
const SEGMENT: u64 = 8;
/// Cycles of a far transfer, an interrupt or an exception, once everything before it has completed. Chosen.
const FAR: u64 = 40;

/// Ports: the address units of the three positions, their integer units, the multiplier, and the floating-point pipes.
const INTEGER_UNITS: usize = 3;
const MULTIPLIER: usize = 6;
const PIPES: usize = 7;

/// The pipeline of a K8 core.
#[derive(Clone, Debug)]
pub(super) struct K8Pipeline {
    pub(super) account: States,
    line: DispatchLine,
    /// The first cycle in which the next line can be dispatched. Everything before has been reported.
    next: u64,
    /// The cycle in which the fetcher read the last piece, in cycles of dispatch; that piece; and the cycle in which the previous one was
    /// begun.
    fetched: u64,
    piece: Option<u64>,
    window: u64,
    redirect: Option<Redirect>,
    /// The cycles in which the first macro-operation of two has its result, its data and its sources.
    half: (u64, u64, u64),
    registers: Registers,
    types: Types,
    ports: Ports<{ PIPES + 3 }>,
    reorder: Ring<24, 32>,
    schedulers: [Entries<8>; WIDTH],
    floating: Entries<12, 16>,
    first_queue: Ring<12, 16>,
    second_queue: Entries<32>,
    second_full: Runs,
    floating_completions: Runs,
    stores: Stores,
    misses: Misses<8>,
    ahead: Ahead,
    /// The cycle in which the walker is free.
    walker: u64,
    /// Accesses, completions, and writes of stores.
    access: Sequence,
    completed: Sequence,
    written: Sequence,
    /// The cycle in which another segment register can be loaded.
    segment: u64,
    /// The cycle in which the last locked operation had its turn.
    locked: u64,
    /// Whether the fast path of dispatch is disabled.
    #[cfg(test)]
    pub(super) long: bool,
}

impl K8Pipeline {
    pub(super) fn new() -> K8Pipeline {
        K8Pipeline {
            account: States::new(0),
            line: DispatchLine {
                operations: [MacroOperation::NONE; WIDTH],
                count: 0,
                plain: [false; WIDTH],
                touches: Findings::NONE.touches,
                touch_count: 0,
                ready: 0,
                piece: 0,
                needs: Needs::NONE,
            },
            next: 0,
            fetched: 0,
            piece: None,
            window: 0,
            redirect: None,
            half: (0, 0, 0),
            registers: Registers::new(),
            types: Types::new(),
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
            ahead: Ahead::new(),
            walker: 0,
            access: Sequence::new(),
            completed: Sequence::new(),
            written: Sequence::new(),
            segment: 0,
            locked: 0,
            #[cfg(test)]
            long: false,
        }
    }

    /// Executes an instruction. It is dispatched with its line.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, tally: &mut Tally) {
        let plain = found.count == 0 && found.continuation == Continuation::Sequential && rows::is_plain(instruction);
        let first = instruction.address >> PIECE_BITS;
        let last = instruction.address.wrapping_add(u64::from(instruction.length.max(1)) - 1) >> PIECE_BITS;
        let row = if plain { K8Row::PLAIN } else { rows::of(instruction) };
        let alone = matches!(row.path, DecodePath::Vector(_));
        // PK2, PK4, PK5: conditions that begin a new line.
        let full = self.line.touch_count + found.count > MOST
            || row.unit == K8Unit::Multiplier
            || instruction.length != 0 && last.wrapping_sub(self.line.piece) > 1;
        if self.line.count != 0 && (alone || full) {
            self.dispatch(tally);
        }
        if instruction.length != 0 {
            self.fetch(found, first, last);
            self.fetched += rows::prefix_delay(instruction);
            self.line.ready = self.line.ready.max(self.fetched + 1);
        }
        if self.line.count == 0 {
            self.line.piece = first;
        }
        if plain {
            return self.push_plain(instruction, tally);
        }
        let touches = self.take_touches(Touches::Found(found.touches()));
        let operation = MacroOperation {
            row,
            class: instruction.class,
            operands: Operands::of(instruction.operation.as_ref()),
            touches,
            second: false,
            loads: found.touches().iter().any(Touch::loads),
            continuation: found.continuation,
            segment_loads: instruction.segment_loads,
        };
        if let Some(told) = instruction.operation.as_ref().filter(|_| instruction.floating_point)
            && self.types.execute(instruction.class, told)
        {
            tally.add(Signal::FloatingPointRetypes, 1);
        }
        if instruction.class == Class::FloatCompare {
            tally.add(Signal::FloatingPointFlagOps, 1);
        }
        if matches!(row.path, DecodePath::Double | DecodePath::Chained) {
            // PK3: two macro-operations in any two adjacent positions.
            if let Some(signal) = DOUBLE_EVENTS.get(self.line.count) {
                tally.add(*signal, 1);
            }
            // The first reads memory for both; a write needs both.
            let loads = found.touches().iter().take_while(|touch| operation.loads && !touch.stores()).count();
            let (begin, end) = operation.touches;
            let between = begin + loads as u8;
            self.push(MacroOperation { touches: (begin, between), continuation: Continuation::Sequential, ..operation }, tally);
            let mut touches = (between, end);
            if self.line.count == 0 {
                // The first filled its line.
                self.line.piece = last;
                touches = self.take_touches(Touches::Found(found.touches().get(loads..).unwrap_or(&[])));
            }
            self.push(MacroOperation { touches, second: true, ..operation }, tally);
        } else {
            self.push(operation, tally);
        }
        if alone && self.line.count != 0 {
            self.dispatch(tally);
        }
        if found.continuation != Continuation::Sequential {
            if self.line.count != 0 {
                self.dispatch(tally);
            }
            self.turn(found.continuation);
        }
    }

    /// Puts a plain instruction into the line, and dispatches the line when it is full.
    #[inline]
    fn push_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        self.line.push_plain(instruction.operation.as_ref());
        if self.line.count == WIDTH {
            self.dispatch(tally);
        }
    }

    /// Puts accesses into the line, and returns their range.
    #[inline]
    fn take_touches(&mut self, touches: Touches<'_>) -> (u8, u8) {
        let begin = self.line.touch_count;
        let mut places = self.line.touches.iter_mut().skip(begin);
        match touches {
            Touches::Found(touches) => {
                for (place, touch) in places.zip(touches) {
                    *place = *touch;
                    self.line.touch_count += 1;
                }
            }
            Touches::Hit(access, line) => {
                if let Some(place) = places.next() {
                    *place = Touch::new(access, line);
                    self.line.touch_count += 1;
                }
            }
        }
        (begin as u8, self.line.touch_count as u8)
    }

    /// Puts a macro-operation into the line, and dispatches the line when it is full.
    #[inline]
    fn push(&mut self, operation: MacroOperation, tally: &mut Tally) {
        if let Some(place) = self.line.operations.get_mut(self.line.count) {
            *place = operation;
            self.line.needs.add(self.line.count, &operation);
            self.line.count += 1;
        }
        if self.line.count == WIDTH {
            self.dispatch(tally);
        }
    }

    /// PK1, PK5: fetches the pieces that the instruction lies in.
    #[inline]
    fn fetch(&mut self, found: &Findings, first: u64, last: u64) {
        self.read_pieces(first, last);
        let delay = found.delay();
        self.fetched += delay;
        self.account.hold(K8State::Fetch as usize, delay);
    }

    /// Fetches pieces of code that is present.
    #[inline]
    fn read_pieces(&mut self, first: u64, last: u64) {
        for piece in [first, last] {
            if self.piece == Some(piece) {
                continue;
            }
            // The window has two pieces: this one replaces the last but one, once that is consumed.
            self.fetched = (self.fetched + 1).max(self.window);
            self.window = self.next;
            self.piece = Some(piece);
        }
    }

    /// PK6: redirects the fetcher, unless execution continues in sequence.
    fn turn(&mut self, continuation: Continuation) {
        let bubble = match continuation {
            Continuation::Sequential => return,
            Continuation::Taken => 1,
            Continuation::Resteered(cycles) => 1 + u64::from(cycles),
            Continuation::Mispredicted | Continuation::Restarted | Continuation::Far => 0,
        };
        self.piece = None;
        self.fetched += bubble;
        self.account.hold(K8State::Fetch as usize, bubble);
        if let Some(redirect) = self.redirect {
            // The next piece is read one cycle later, and its line is ready another cycle later.
            self.fetched = redirect.resolved + MISPREDICTION - 2;
            self.window = 0;
        }
    }

    /// PK31: handles a probe that takes a line away. Returns whether the pipeline restarts, from a load of the line that is ahead of its
    /// turn.
    pub(super) fn data_taken(&mut self, line: u64) -> bool {
        let restarts = self.ahead.has(line, self.next);
        if restarts {
            self.restart();
        }
        restarts
    }

    /// PK32: handles a probe that takes away the line of code that is being executed. Returns whether the pipeline restarts, which it does
    /// if anything is in flight.
    pub(super) fn code_taken(&mut self) -> bool {
        let restarts = self.completed.at > self.next;
        if restarts {
            self.restart();
        }
        restarts
    }

    /// Restarts the pipeline in the current cycle.
    fn restart(&mut self) {
        let redirect = *self.redirect.get_or_insert(Redirect { resolved: self.next, completed: self.next });
        self.piece = None;
        self.fetched = self.fetched.max(redirect.resolved + MISPREDICTION - 2);
        self.window = 0;
    }

    /// Dispatches the line. PK9: whole, in the first cycle in which there is room for all of it.
    #[inline(never)]
    fn dispatch(&mut self, tally: &mut Tally) {
        let needs = &self.line.needs;
        #[cfg(test)]
        let needs = if self.long { &Needs { plain: false, short: false, ..*needs } } else { needs };
        match needs {
            Needs { plain: true, .. } if self.redirect.is_none() => self.dispatch_plain(),
            Needs { short: true, .. } if self.redirect.is_none() => self.dispatch_short(),
            _ => self.dispatch_any(tally),
        }
        self.line.clear();
    }

    /// Dispatches a line of plain instructions in sequence, which needs less.
    fn dispatch_plain(&mut self) {
        let begin = self.next;
        let ready = self.line.ready.max(begin);
        let at = ready.max(self.room_plain(ready));
        let next = at + 1;
        if at != begin {
            self.hold(K8State::Empty, begin, ready);
            self.hold(K8State::Stall, ready, at);
        }
        let K8Pipeline { line, registers, ports, schedulers, completed, .. } = self;
        let (mut sources, mut result) = (0, 0);
        for (position, (operation, scheduler)) in line.operations.iter().zip(schedulers).enumerate().take(line.count) {
            let operands = &operation.operands;
            sources = operands.reads().iter().fold(0, |sources, register| sources.max(registers.at(*register)));
            let issued = ports.take_cycle(INTEGER_UNITS + position, sources.max(next));
            result = issued + u64::from(K8Row::PLAIN.latency);
            scheduler.take(issued + 1);
            completed.next(result, WIDTH as u8);
            for register in operands.writes() {
                // As if through the shortest operation, whatever this one is.
                let ready = if *register == ANY { registers.at(ANY).max(next) + 1 } else { result };
                registers.set(*register, ready);
            }
        }
        self.reorder.take(completed.at + 1);
        self.half = (result, 0, sources);
        self.pass(begin, next);
    }

    /// Returns [`room`](K8Pipeline::room) for such a line.
    #[inline]
    fn room_plain(&mut self, ready: u64) -> u64 {
        let scheduler = self.schedulers.iter().take(self.line.count).fold(0, |last, entries| last.max(entries.room()));
        self.room_behind(ready, scheduler)
    }

    /// Returns the first cycle with room for such a line if the schedulers have room in cycle `scheduler`.
    #[inline]
    fn room_behind(&mut self, ready: u64, scheduler: u64) -> u64 {
        let reorder = self.reorder.room_for_one();
        let last = reorder.max(scheduler);
        if last > ready {
            self.hold(K8State::ReorderBuffer, ready, reorder);
            self.hold(K8State::Scheduler, ready, scheduler);
        }
        last
    }

    /// Lets the cycles from `begin` up to `next` pass.
    #[inline]
    fn pass(&mut self, begin: u64, next: u64) {
        self.account.hold(K8State::LoadStoreBuffer as usize, self.second_full.take(next));
        let busy = self.floating_completions.take(next);
        self.account.pass_holding(next - begin, K8State::FloatingIdle as usize, (next - begin).saturating_sub(busy));
        self.next = next;
        self.ports.forget(next);
    }

    #[inline(never)]
    fn dispatch_any(&mut self, tally: &mut Tally) {
        self.line.fill_in();
        let begin = self.next;
        let needs = self.line.needs;
        let mut ready = self.line.ready.max(begin);
        let mut room = 0;
        let far = needs.far;
        if let Some(redirect) = self.redirect.take() {
            ready = ready.max(redirect.resolved + MISPREDICTION);
            self.wrong_path(begin, redirect.resolved);
            self.hold(K8State::Empty, begin.max(redirect.resolved + 1), ready);
            room = redirect.completed + 1;
            if !far {
                self.hold(K8State::BranchAbort, ready, room);
            }
        } else {
            self.hold(K8State::Empty, begin, ready);
        }
        let lines = if far { 1 } else { u64::from(needs.lines) };
        let at;
        let next;
        if far {
            // PK34: a stall for a far transfer counts nowhere else.
            at = ready.max(room).max(self.completed.at + 1);
            next = at + lines + FAR;
            self.hold(K8State::Far, ready, next - lines);
            self.hold(K8State::Stall, ready, next - lines);
        } else {
            at = ready.max(room).max(self.room(ready));
            next = at + lines;
            self.hold(K8State::Stall, ready, at);
        }
        if needs.segments != 0 {
            self.segment = at + SEGMENT * u64::from(needs.segments);
        }
        self.issue(at, tally);
        self.pass(begin, next);
        if far {
            // The fetcher restarts: the next line is ready two cycles after its piece was requested.
            self.fetched = self.fetched.max(next - 2);
            self.window = 0;
            self.piece = None;
        }
    }

    /// PK33, PK34, PK37 to PK39: returns the first cycle in which there is room for the line, which is ready in cycle `ready`. Each
    /// resource that it waits for counts its own cycles.
    #[inline]
    fn room(&mut self, ready: u64) -> u64 {
        let needs = self.line.needs;
        let scheduler = self
            .schedulers
            .iter()
            .enumerate()
            .filter(|(position, _)| needs.schedulers >> position & 1 == 1)
            .map(|(_, entries)| entries.room());
        let scheduler = scheduler.max().unwrap_or(0);
        let floating = if needs.floating { self.floating.room() } else { 0 };
        let queue = if self.line.touch_count != 0 { self.first_queue.room(self.places()) } else { 0 };
        let reorder = self.reorder.room_for_one();
        let mut last = reorder.max(scheduler).max(floating).max(queue);
        if last > ready {
            self.hold(K8State::ReorderBuffer, ready, reorder);
            self.hold(K8State::Scheduler, ready, scheduler);
            self.hold(K8State::FloatingScheduler, ready, floating);
            self.hold(K8State::LoadStore, ready, queue);
        }
        if needs.segments != 0 {
            self.hold(K8State::SegmentLoad, ready, self.segment);
            last = last.max(self.segment);
        }
        if needs.serializes {
            let (serialization, quiet) = (self.completed.at + 1, self.stores.written + 1);
            self.hold(K8State::Serialization, ready, serialization);
            self.hold(K8State::AllQuiet, ready, quiet);
            last = last.max(serialization).max(quiet);
        }
        last
    }

    /// Makes `state` hold from cycle `from` up to `until`, if that is later.
    #[inline]
    fn hold(&mut self, state: K8State, from: u64, until: u64) {
        self.account.hold(state as usize, until.saturating_sub(from));
    }

    /// PK29: behind a mispredicted branch, dispatches lines until the branch resolves or the reorder buffer is full.
    fn wrong_path(&mut self, begin: u64, resolved: u64) {
        let full = self.reorder.full(begin, resolved, 1, usize::MAX);
        self.account.hold(K8State::ReorderBuffer as usize, full);
        self.account.hold(K8State::Stall as usize, full);
    }

    /// Returns the number of LS1 entries that the line needs: two for an access of 16 bytes.
    fn places(&self) -> usize {
        let touches = self.line.touches.get(..self.line.touch_count).unwrap_or(&[]);
        touches.iter().map(|touch| usize::from(touch.size.div_ceil(8).clamp(1, 2))).sum()
    }
}
