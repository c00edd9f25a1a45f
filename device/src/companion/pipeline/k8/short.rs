//! The short way of an instruction that is one macro-operation of an integer unit, of the load/store unit, or of both, and that hits
//! everywhere; and of a line of such macro-operations.
//!
//! They leave the pipeline in the same state as the long way, which a test compares. Most instructions are of this kind.

use super::super::super::instruction::{Class, Instruction};
use super::super::super::tally::Tally;
use super::super::redirect::Redirect;
use super::super::{Continuation, MOST, Touch};
use super::accesses::Writing;
use super::line::{MacroOperation, Operands};
use super::rows::{self, Row, Unit};
use super::signals::State;
use super::{ANY, Core, INTEGER_UNITS, PIECE_BITS, WIDTH};

impl Core {
    /// An instruction has been executed that accessed nothing and goes on in sequence, and whose code is here. Returns whether it has gone into
    /// the line of the one before, or begun a line, the short way; if not, nothing has been done.
    #[inline]
    pub(in super::super) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        if !rows::is_plain(instruction) {
            return false;
        }
        let piece = instruction.address >> PIECE_BITS;
        let offset = instruction.address % (1 << PIECE_BITS);
        // In the piece of the instruction before, and so in its line, if that has begun in this piece or the one before.
        let (count, begun) = (self.line.count, self.line.piece);
        let here = self.piece == Some(piece) && offset + u64::from(instruction.length) <= 1 << PIECE_BITS;
        if !here || count != 0 && piece.wrapping_sub(begun) > 1 {
            self.execute_elsewhere(instruction, tally);
            return true;
        }
        if count == 0 {
            self.line.piece = piece;
        }
        if self.line.ready == 0 && instruction.length != 0 {
            // Otherwise an earlier instruction of the line has set it, and no piece has been read since.
            self.line.ready = self.fetched + 1;
        }
        self.push_plain(instruction, tally);
        true
    }

    /// The same of an instruction that does not lie in the piece of the one before.
    #[inline(never)]
    fn execute_elsewhere(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        self.enter(instruction, 0, tally);
        self.push_plain(instruction, tally);
    }

    /// The same of an instruction whose only access hit, if it made one, and that goes on in sequence or elsewhere.
    #[inline]
    pub(in super::super) fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touch: Option<&Touch>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        let Some(row) = rows::short(instruction) else { return false };
        self.enter(instruction, usize::from(touch.is_some()), tally);
        self.push_short(instruction, row, touch, continuation);
        if self.line.count == WIDTH || continuation != Continuation::Sequential {
            self.dispatch(tally);
        }
        if continuation != Continuation::Sequential {
            self.turn(continuation);
        }
        true
    }

    /// The instruction goes into the line or begins one, after its code has been read, which is here. It makes so many accesses.
    fn enter(&mut self, instruction: &Instruction<'_>, accesses: usize, tally: &mut Tally) {
        let first = instruction.address >> PIECE_BITS;
        let last = instruction.address.wrapping_add(u64::from(instruction.length.max(1)) - 1) >> PIECE_BITS;
        let fetched = instruction.length != 0;
        // PK2: what begins a new line.
        let full = self.line.touch_count + accesses > MOST || fetched && last.wrapping_sub(self.line.piece) > 1;
        if full && self.line.count != 0 {
            self.dispatch(tally);
        }
        if fetched {
            self.read_pieces(first, last);
            self.line.ready = self.line.ready.max(self.fetched + 1);
        }
        if self.line.count == 0 {
            self.line.piece = first;
        }
    }

    /// Puts the macro-operation of an instruction into the line.
    #[inline]
    fn push_short(&mut self, instruction: &Instruction<'_>, row: Row, touch: Option<&Touch>, continuation: Continuation) {
        let touches = self.take_touches(touch.map_or(&[], core::slice::from_ref));
        let line = &mut self.line;
        let Some(place) = line.operations.get_mut(line.count) else { return };
        let operands = Operands::of(instruction.operation.as_ref());
        let loads = touch.is_some_and(Touch::loads);
        *place = MacroOperation { row, class: instruction.class, operands, touches, loads, continuation, ..MacroOperation::NONE };
        line.needs.add_short(line.count, touch.is_some(), continuation);
        line.count += 1;
    }

    /// Dispatches a line of macro-operations that are plain or went the short way, with nothing that begins anew before it.
    #[inline(never)]
    pub(super) fn dispatch_short(&mut self) {
        let begin = self.next;
        let ready = self.line.ready.max(begin);
        let at = ready.max(self.room_short(ready));
        if at != begin {
            self.hold(State::Empty, begin, ready);
            self.hold(State::Stall, ready, at);
        }
        for position in 0..self.line.count {
            let touch = match self.line.operations.get(position) {
                Some(operation) if self.line.plain.get(position) == Some(&false) && operation.touches.0 < operation.touches.1 => {
                    self.line.touches.get(usize::from(operation.touches.0)).copied()
                }
                _ => None,
            };
            match touch {
                Some(touch) => self.issue_access(at, position, &touch),
                None => self.issue_computation(at, position),
            }
        }
        self.reorder.take(self.completed.at + 1);
        self.pass(begin, at + 1);
    }

    /// [`room`](Core::room), of such a line.
    #[inline]
    fn room_short(&mut self, ready: u64) -> u64 {
        let queue = if self.line.touch_count != 0 { self.first_queue.room(self.places()) } else { 0 };
        let last = self.room_plain(ready);
        self.hold(State::LoadStore, ready, queue);
        last.max(queue)
    }

    /// Issues a macro-operation that only computes.
    #[inline]
    fn issue_computation(&mut self, at: u64, position: usize) {
        let Core { line, registers, ports, schedulers, completed, half, redirect, .. } = self;
        let Some((operation, scheduler)) = line.operations.get(position).zip(schedulers.get_mut(position)) else { return };
        let operands = &operation.operands;
        let sources = operands.reads().iter().fold(0, |sources, register| sources.max(registers.at(*register)));
        let issued = ports.take_cycle(INTEGER_UNITS + position, sources.max(at + 1));
        let result = issued + u64::from(Row::PLAIN.latency);
        scheduler.take(issued + 1);
        for register in operands.writes() {
            // Through the shortest operation, whatever this one is.
            let ready = if *register == ANY { registers.at(ANY).max(at + 1) + 1 } else { result };
            registers.set(*register, ready);
        }
        *half = (result, 0, sources);
        let completed = completed.next(result, WIDTH as u8);
        if line.plain.get(position) == Some(&false) && operation.continuation == Continuation::Mispredicted {
            *redirect = Some(Redirect { resolved: issued, completed });
        }
    }

    /// Issues a macro-operation with an access that hits.
    #[inline]
    fn issue_access(&mut self, at: u64, position: usize, touch: &Touch) {
        let Some(operation) = self.line.operations.get(position) else { return };
        let MacroOperation { row: Row { unit, .. }, class, loads, continuation, .. } = *operation;
        let operands = operation.operands;
        let next = at + 1;
        let ready = |registers: &[u16]| registers.iter().fold(0, |ready: u64, register| ready.max(self.registers.at(*register)));
        let (addresses, reads) = (ready(operands.addresses()), ready(operands.reads()));
        let address = self.ports.take_cycle(position, addresses.max(next));
        let here = self.load_store(touch, address);
        let (data, stored) = if loads { (here, 0) } else { (0, here) };
        let sources = reads.max(data);
        let (mut result, mut until) = (address.max(if loads { data } else { sources }), address + 1);
        let mut issued = address;
        if unit != Unit::None {
            issued = self.ports.take_cycle(INTEGER_UNITS + position, sources.max(next));
            result = issued + u64::from(Row::PLAIN.latency);
            until = until.max(issued + 1);
        }
        if let Some(scheduler) = self.schedulers.get_mut(position) {
            scheduler.take(until);
        }
        for register in operands.writes() {
            let addressed = class == Class::Push && operands.addresses().contains(register);
            let ready = self.registers.written(*register, class, addressed, (at, address, result));
            self.registers.set(*register, ready);
        }
        self.half = (result, data, reads);
        let ready = address.max(result);
        let mut finished = result.max(next + 1);
        if !loads {
            // The data are put into the queue in the cycle after they are there.
            finished = finished.max(ready + 1).max(stored + 1);
        }
        let completed = self.completed.next(finished, WIDTH as u8);
        if !loads {
            self.write_one(touch, &Writing { ready, completed, modifies: false });
        }
        if continuation == Continuation::Mispredicted {
            self.redirect = Some(Redirect { resolved: issued, completed });
        }
    }
}
