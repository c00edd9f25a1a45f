//! The pipeline of the K8. Rules PK1 to PK47 and their sources are in `docs/notes/pipelines-x86.md`. The fourth branch of a piece (PK7) and
//! bank conflicts (PK18) are not modelled.

mod accesses;
mod interface;
mod issue;
mod line;
mod rows;
mod saved;
mod signals;
#[cfg(test)]
mod tests;
mod types;

use vm_pmu_arch::feed::Signal;

pub(super) use super::sharing::Unshared as Shared;
use super::touch::Touches;
use super::{Continuation, Findings, MOST, Touch};
use crate::instruction::{Class, Instruction};
use crate::pipeline::part::{GENERAL, PLAIN, SHORT};
use crate::pipeline::resources::account::States;
use crate::pipeline::resources::early_loads::Ahead;
use crate::pipeline::resources::memory::{Misses, Stores};
use crate::pipeline::resources::ports::Ports;
use crate::pipeline::resources::queue::{Entries, Ring, Runs};
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::Registers;
use crate::pipeline::resources::sequence::Sequence;
use crate::tally::Tally;
use line::{DispatchLine, MacroOperation, Needs};
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
    /// Whether every line is dispatched as a general one.
    #[cfg(test)]
    pub(super) long: bool,
}

impl K8Pipeline {
    pub(super) fn new() -> K8Pipeline {
        K8Pipeline {
            account: States::new(0),
            line: DispatchLine::EMPTY,
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
        let (touches, continuation) = (Touches::Found(found.touches()), found.continuation);
        if touches.count() == 0 && continuation == Continuation::Sequential && rows::is_plain(instruction) {
            self.execute_as::<PLAIN>(instruction, K8Row::PLAIN, found.delay(), touches, continuation, tally);
        } else {
            self.execute_as::<GENERAL>(instruction, rows::of(instruction), found.delay(), touches, continuation, tally);
        }
    }

    /// Executes an instruction of at most kind `KIND`, whose code arrives `delay` cycles late.
    #[inline(always)]
    fn execute_as<const KIND: u8>(
        &mut self,
        instruction: &Instruction<'_>,
        row: K8Row,
        delay: u64,
        touches: Touches<'_>,
        continuation: Continuation,
        tally: &mut Tally,
    ) {
        let first = instruction.address >> PIECE_BITS;
        let last = instruction.address.wrapping_add(u64::from(instruction.length.max(1)) - 1) >> PIECE_BITS;
        let alone = matches!(row.path, DecodePath::Vector(_));
        // PK2, PK4, PK5: conditions that begin a new line.
        let full = self.line.touch_count + touches.count() > MOST
            || row.unit == K8Unit::Multiplier
            || instruction.length != 0 && last.wrapping_sub(self.line.piece) > 1;
        if self.line.count != 0 && (alone || full) {
            self.dispatch(tally);
        }
        if instruction.length != 0 {
            self.fetch(first, last, delay);
            if KIND == GENERAL {
                self.fetched += rows::prefix_delay(instruction);
            }
            self.line.ready = self.line.ready.max(self.fetched + 1);
        }
        if self.line.count == 0 {
            self.line.piece = first;
        }
        if KIND == PLAIN {
            return self.push::<PLAIN>(MacroOperation::PLAIN, instruction, tally);
        }
        let (class, mut segment_loads) = (instruction.class, 0);
        if KIND == GENERAL {
            segment_loads = instruction.segment_loads;
            self.count_floating(instruction, tally);
        }
        let (loads, there) = (touches.loads(), self.take_touches(touches));
        let operation = MacroOperation { row, class, touches: there, second: false, loads, continuation, segment_loads, kind: KIND };
        if matches!(row.path, DecodePath::Double | DecodePath::Chained) {
            self.push_halves::<KIND>(operation, touches, (instruction, last), tally);
        } else {
            self.push::<KIND>(operation, instruction, tally);
        }
        if self.line.count != 0 && (alone || continuation != Continuation::Sequential) {
            self.dispatch(tally);
        }
        self.turn(continuation);
    }

    /// Counts an operation of the floating-point unit.
    fn count_floating(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        if let Some(told) = instruction.operation.as_ref().filter(|_| instruction.floating_point)
            && self.types.execute(instruction.class, told)
        {
            tally.add(Signal::FloatingPointRetypes, 1);
        }
        if instruction.class == Class::FloatCompare {
            tally.add(Signal::FloatingPointFlagOps, 1);
        }
    }

    /// PK3: puts two macro-operations of an instruction, which ends in piece `last`, into any two adjacent positions. If the first fills the
    /// line, it is dispatched before the second.
    #[inline(never)]
    fn push_halves<const KIND: u8>(
        &mut self,
        operation: MacroOperation,
        touches: Touches<'_>,
        (instruction, last): (&Instruction<'_>, u64),
        tally: &mut Tally,
    ) {
        if let Some(signal) = DOUBLE_EVENTS.get(self.line.count) {
            tally.add(*signal, 1);
        }
        // The first reads memory for both; a write needs both.
        let (begin, end) = operation.touches;
        let made = self.line.touches.get(usize::from(begin)..usize::from(end)).unwrap_or(&[]);
        let loads = made.iter().take_while(|touch| operation.loads && !touch.stores()).count();
        let between = begin + loads as u8;
        let first = MacroOperation { touches: (begin, between), continuation: Continuation::Sequential, ..operation };
        self.push::<KIND>(first, instruction, tally);
        let mut there = (between, end);
        if self.line.count == 0 {
            self.line.piece = last;
            there = self.take_touches(touches.behind(loads));
        }
        self.push::<KIND>(MacroOperation { touches: there, second: true, ..operation }, instruction, tally);
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

    /// Puts a macro-operation of at most kind `KIND` into the line, and dispatches the line when it is full.
    #[inline(always)]
    fn push<const KIND: u8>(&mut self, operation: MacroOperation, instruction: &Instruction<'_>, tally: &mut Tally) {
        self.line.push::<KIND>(operation, instruction.operation.as_ref());
        if self.line.count == WIDTH {
            self.dispatch(tally);
        }
    }

    /// PK1, PK5: fetches the pieces that the instruction lies in, whose code arrives `delay` cycles late.
    #[inline(always)]
    fn fetch(&mut self, first: u64, last: u64, delay: u64) {
        for piece in [first, last] {
            if self.piece == Some(piece) {
                continue;
            }
            // The window has two pieces: this one replaces the last but one, once that is consumed.
            self.fetched = (self.fetched + 1).max(self.window);
            self.window = self.next;
            self.piece = Some(piece);
        }
        self.fetched += delay;
        self.account.hold(K8State::Fetch as usize, delay);
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
        let kind = if self.redirect.is_none() { self.line.kind } else { GENERAL };
        #[cfg(test)]
        let kind = if self.long { GENERAL } else { kind };
        match kind {
            PLAIN => self.dispatch_as::<PLAIN>(tally),
            SHORT => self.dispatch_as::<SHORT>(tally),
            _ => self.dispatch_as::<GENERAL>(tally),
        }
        self.line.clear();
    }

    /// Dispatches a line of at most kind `KIND`, [`GENERAL`] if the pipeline restarts.
    #[inline(never)]
    fn dispatch_as<const KIND: u8>(&mut self, tally: &mut Tally) {
        let begin = self.next;
        let needs = if KIND == GENERAL { self.line.needs() } else { Needs::NONE };
        let mut ready = self.line.ready.max(begin);
        let mut room = 0;
        let far = needs.far;
        if let Some(redirect) = self.redirect.take_if(|_| KIND == GENERAL) {
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
            at = ready.max(room).max(self.room::<KIND>(ready, &needs));
            next = at + lines;
            self.hold(K8State::Stall, ready, at);
        }
        if needs.segments != 0 {
            self.segment = at + SEGMENT * u64::from(needs.segments);
        }
        self.issue::<KIND>(at, tally);
        self.pass(begin, next);
        if far {
            // The fetcher restarts: the next line is ready two cycles after its piece was requested.
            self.fetched = self.fetched.max(next - 2);
            self.window = 0;
            self.piece = None;
        }
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

    /// PK33, PK34, PK37 to PK39: returns the first cycle in which there is room for the line, which is ready in cycle `ready`. Each
    /// resource that it waits for counts its own cycles.
    #[inline(always)]
    fn room<const KIND: u8>(&mut self, ready: u64, needs: &Needs) -> u64 {
        let positions = self.schedulers.iter().zip(&self.line.operations).take(self.line.count);
        let scheduled = positions.filter(|(_, operation)| KIND == PLAIN || operation.is_scheduled());
        let scheduler = scheduled.fold(0, |last, (entries, _)| last.max(entries.room()));
        let floating = if needs.floating { self.floating.room() } else { 0 };
        let queue = if KIND != PLAIN && self.line.touch_count != 0 { self.first_queue.room(self.places()) } else { 0 };
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
