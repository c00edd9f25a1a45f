//! Fast path of an instruction that hits everywhere and that is one macro-operation of an integer unit, of the load/store unit, or of both,
//! or that pops, calls or returns; and of a line of such macro-operations.
//!
//! They leave the pipeline in the same state as the general path, which a test compares. Most instructions are of this kind.

use super::accesses::Writing;
use super::line::MacroOperation;
use super::rows::{self, DecodePath, K8Row, K8Unit};
use super::signals::{DOUBLE_EVENTS, K8State};
use super::{ANY, INTEGER_UNITS, K8Pipeline, PIECE_BITS, WIDTH};
use crate::instruction::{AccessKind, Instruction};
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::moves_stack;
use crate::pipeline::touch::Touches;
use crate::pipeline::{Continuation, MOST, Touch};
use crate::tally::Tally;

impl K8Pipeline {
    /// Executes an instruction that made no access and continues in sequence, and whose code is present. Returns whether the fast path
    /// added it to the current line or began a line with it; if not, nothing has been done.
    #[inline]
    pub(in crate::pipeline) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        if !rows::is_plain(instruction) {
            return false;
        }
        let piece = instruction.address >> PIECE_BITS;
        let offset = instruction.address % (1 << PIECE_BITS);
        // In the piece of the previous instruction, and so in its line, if that began in this piece or the previous one.
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

    /// Executes a plain instruction that does not lie in the piece of the previous one.
    #[inline(never)]
    fn execute_elsewhere(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        self.enter(instruction, 0, tally);
        self.push_plain(instruction, tally);
    }

    /// Executes an instruction whose accesses, if any, hit, and that continues in sequence or elsewhere. Returns whether it took the fast
    /// path.
    #[inline]
    pub(in crate::pipeline) fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touches: Touches<'_>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        if touches.count() == 0 && continuation == Continuation::Sequential && self.execute_plain(instruction, tally) {
            return true;
        }
        let Some(row) = rows::short(instruction) else { return false };
        let alone = matches!(row.path, DecodePath::Vector(_));
        if alone && self.line.count != 0 {
            self.dispatch(tally);
        }
        self.enter(instruction, touches.count(), tally);
        if row.path == DecodePath::Double {
            self.push_halves(instruction, row, touches, continuation, tally);
        } else {
            self.push_short(instruction, row, touches, continuation);
        }
        if self.line.count == WIDTH || self.line.count != 0 && (alone || continuation != Continuation::Sequential) {
            self.dispatch(tally);
        }
        if continuation != Continuation::Sequential {
            self.turn(continuation);
        }
        true
    }

    /// Fetches the code of an instruction with `accesses` accesses, which is present, and dispatches the current line if the instruction
    /// begins a new one.
    fn enter(&mut self, instruction: &Instruction<'_>, accesses: usize, tally: &mut Tally) {
        let first = instruction.address >> PIECE_BITS;
        let last = instruction.address.wrapping_add(u64::from(instruction.length.max(1)) - 1) >> PIECE_BITS;
        let fetched = instruction.length != 0;
        // PK2: conditions that begin a new line.
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
    fn push_short(&mut self, instruction: &Instruction<'_>, row: K8Row, touches: Touches<'_>, continuation: Continuation) {
        let (accesses, loads) = (touches.count() != 0, touches.loads());
        let touches = self.take_touches(touches);
        let line = &mut self.line;
        let Some(place) = line.operations.get_mut(line.count) else { return };
        place.operands.set(instruction.operation.as_ref());
        (place.row, place.class, place.touches, place.loads, place.continuation) = (row, instruction.class, touches, loads, continuation);
        (place.second, place.segment_loads) = (false, 0);
        line.needs.add_short(line.count, accesses, continuation);
        line.count += 1;
    }

    /// Puts the two macro-operations of an instruction that loads into the line. The first makes the access (PK3). If the first fills the
    /// line, it is dispatched before the second.
    #[inline(never)]
    fn push_halves(
        &mut self,
        instruction: &Instruction<'_>,
        row: K8Row,
        touches: Touches<'_>,
        continuation: Continuation,
        tally: &mut Tally,
    ) {
        if let Some(signal) = DOUBLE_EVENTS.get(self.line.count) {
            tally.add(*signal, 1);
        }
        self.push_short(instruction, row, touches, Continuation::Sequential);
        let Some(first) = self.line.operations.get(self.line.count.wrapping_sub(1)).copied() else { return };
        let mut end = first.touches.1;
        if self.line.count == WIDTH {
            self.dispatch(tally);
            self.line.piece = instruction.address.wrapping_add(u64::from(instruction.length.max(1)) - 1) >> PIECE_BITS;
            end = 0;
        }
        let line = &mut self.line;
        let Some(place) = line.operations.get_mut(line.count) else { return };
        *place = MacroOperation { touches: (end, end), second: true, continuation, ..first };
        line.needs.add_second(line.count);
        line.count += 1;
    }

    /// Dispatches a line of macro-operations that are plain or took the fast path, with no pending restart.
    #[inline(never)]
    pub(super) fn dispatch_short(&mut self) {
        let begin = self.next;
        let ready = self.line.ready.max(begin);
        let at = ready.max(self.room_short(ready));
        if at != begin {
            self.hold(K8State::Empty, begin, ready);
            self.hold(K8State::Stall, ready, at);
        }
        let seconds = self.line.needs.seconds;
        for position in 0..self.line.count {
            if seconds >> position & 1 != 0 {
                self.issue_second(at, position);
                continue;
            }
            let accesses = match self.line.operations.get(position) {
                Some(operation) if self.line.plain.get(position) == Some(&false) => operation.touches,
                _ => (0, 0),
            };
            match accesses.1 - accesses.0 {
                0 => self.issue_computation(at, position),
                1 => self.issue_access::<false>(at, position, accesses.0),
                _ => self.issue_access::<true>(at, position, accesses.0),
            }
        }
        self.reorder.take(self.completed.at + 1);
        self.pass(begin, at + 1);
    }

    /// Returns [`room`](K8Pipeline::room) for such a line.
    #[inline]
    fn room_short(&mut self, ready: u64) -> u64 {
        let queue = if self.line.touch_count != 0 { self.first_queue.room(self.places()) } else { 0 };
        let last = if self.line.needs.seconds == 0 { self.room_plain(ready) } else { self.room_beside_seconds(ready) };
        self.hold(K8State::LoadStore, ready, queue);
        last.max(queue)
    }

    /// Returns [`room_plain`](K8Pipeline::room_plain) for a line with macro-operations that take no scheduler entry.
    #[inline(never)]
    fn room_beside_seconds(&mut self, ready: u64) -> u64 {
        let seconds = self.line.needs.seconds;
        let scheduled = self.schedulers.iter().enumerate().take(self.line.count).filter(|(position, _)| seconds >> position & 1 == 0);
        let scheduler = scheduled.fold(0, |last, (_, entries)| last.max(entries.room()));
        self.room_behind(ready, scheduler)
    }

    /// Issues a macro-operation that only computes.
    #[inline]
    fn issue_computation(&mut self, at: u64, position: usize) {
        let K8Pipeline { line, registers, ports, schedulers, completed, half, redirect, .. } = self;
        let Some((operation, scheduler)) = line.operations.get(position).zip(schedulers.get_mut(position)) else { return };
        let operands = &operation.operands;
        let sources = operands.reads().iter().fold(0, |sources, register| sources.max(registers.at(*register)));
        let issued = ports.take_cycle(INTEGER_UNITS + position, sources.max(at + 1));
        let result = issued + u64::from(K8Row::PLAIN.latency);
        scheduler.take(issued + 1);
        for register in operands.writes() {
            // As if through the shortest operation, whatever this one is.
            let ready = if *register == ANY { registers.at(ANY).max(at + 1) + 1 } else { result };
            registers.set(*register, ready);
        }
        *half = (result, 0, sources);
        let completed = completed.next(result, WIDTH as u8);
        if line.plain.get(position) == Some(&false) && operation.continuation == Continuation::Mispredicted {
            *redirect = Some(Redirect { resolved: issued, completed });
        }
    }

    /// Issues the second macro-operation of an instruction that loads, which only waits for its turn.
    fn issue_second(&mut self, at: u64, position: usize) {
        let Some(operation) = self.line.operations.get(position) else { return };
        let MacroOperation { class, continuation, .. } = *operation;
        let operands = operation.operands;
        let next = at + 1;
        for register in operands.writes() {
            let addressed = moves_stack(class) && operands.addresses().contains(register);
            let ready = self.registers.written(*register, class, addressed, (at, next, next));
            self.registers.set(*register, ready.max(self.registers.at(*register)));
        }
        self.half.0 = next;
        let completed = self.completed.next(next + 1, WIDTH as u8);
        if continuation == Continuation::Mispredicted {
            self.redirect = Some(Redirect { resolved: next, completed });
        }
    }

    /// Issues a macro-operation with an access that hits, at index `place` of the line's accesses, or one that modifies what it loads.
    #[inline]
    fn issue_access<const MODIFIES: bool>(&mut self, at: u64, position: usize, place: u8) {
        let next = at + 1;
        let Some((operation, touch)) = self.line.operations.get(position).zip(self.line.touches.get(usize::from(place))) else { return };
        let touch = touch.of_hit();
        let MacroOperation { row: K8Row { unit, .. }, class, loads, continuation, .. } = *operation;
        let ready = |registers: &[u16]| registers.iter().fold(0, |ready: u64, register| ready.max(self.registers.at(*register)));
        let (addresses, reads) = (ready(operation.operands.addresses()), ready(operation.operands.reads()));
        let address = self.ports.take_cycle(position, addresses.max(next));
        let here = self.pass_queues(&touch, address);
        let (data, mut stored) = if loads { (here, 0) } else { (0, here) };
        if MODIFIES {
            stored = self.load_store(&Touch { kind: AccessKind::Store, ..touch }, address);
        }
        let sources = reads.max(data);
        let (mut result, mut until) = (address.max(if loads { data } else { sources }), address + 1);
        let mut issued = address;
        if unit != K8Unit::None {
            issued = self.ports.take_cycle(INTEGER_UNITS + position, sources.max(next));
            result = issued + u64::from(K8Row::PLAIN.latency);
            until = until.max(issued + 1);
        }
        if let Some(scheduler) = self.schedulers.get_mut(position) {
            scheduler.take(until);
        }
        let K8Pipeline { line, registers, .. } = &mut *self;
        let Some(MacroOperation { operands, .. }) = line.operations.get(position) else { return };
        for register in operands.writes() {
            let addressed = moves_stack(class) && operands.addresses().contains(register);
            registers.set(*register, registers.written(*register, class, addressed, (at, address, result)));
        }
        self.half = (result, data, reads);
        let ready = address.max(result);
        let mut finished = result.max(next + 1);
        let stores = MODIFIES || !loads;
        if stores {
            // The data enter the queue in the cycle after they are ready.
            finished = finished.max(ready + 1).max(stored + 1);
        }
        let completed = self.completed.next(finished, WIDTH as u8);
        if stores {
            self.write_one(&touch, &Writing { ready, completed, modifies: MODIFIES });
        }
        if continuation == Continuation::Mispredicted {
            self.redirect = Some(Redirect { resolved: issued, completed });
        }
    }
}
