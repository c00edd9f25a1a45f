//! Fast path of an instruction that hits everywhere and that is one micro-operation of an integer port, of the memory station, or of both.
//!
//! It leaves the pipeline in the same state as the [general path](KnlPipeline::execute), which a test compares. Most instructions are of this
//! kind.

use super::memory::Accessed;
use super::signals::KnlState;
use super::{ANY, IssuedInstruction, KnlPipeline, KnlPort, KnlUnit, WIDTH, rows};
use crate::instruction::{Class, Instruction, Register};
use crate::pipeline::resources::registers::moves_stack;
use crate::pipeline::sharing::Threads;
use crate::pipeline::{Continuation, Touch};
use crate::tally::Tally;

/// Returns the unit of an instruction with at most one access, not locked, whatever its width, if it is of this kind.
#[inline]
fn unit(instruction: &Instruction<'_>) -> Option<KnlUnit> {
    let usual = !instruction.floating_point && instruction.segment_loads == 0;
    match instruction.class {
        Class::Simple | Class::Nop | Class::BitTest | Class::Push | Class::Pop if usual => Some(KnlUnit::Integer),
        Class::Load | Class::Store if usual => Some(KnlUnit::None),
        Class::Branch | Class::Call | Class::Return if usual => Some(KnlUnit::Integer1),
        _ => None,
    }
}

impl KnlPipeline {
    /// Executes an instruction whose code is present, whose access, if any, hit, and that continues in sequence or elsewhere, on a thread
    /// that has its core to itself. Returns whether it took the fast path; if not, nothing has been done.
    #[inline]
    pub(in crate::pipeline) fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touch: Option<&Touch>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        match unit(instruction) {
            Some(unit) if self.redirect.is_none() => {
                let mut alone = Threads::ALONE;
                self.step_short::<false>(instruction, (unit, touch), continuation, &mut alone, tally);
            }
            _ => return false,
        }
        true
    }

    /// Executes such an instruction on a thread that competes with others of its core.
    pub(in crate::pipeline) fn execute_beside(
        &mut self,
        instruction: &Instruction<'_>,
        touch: Option<&Touch>,
        continuation: Continuation,
        threads: &mut Threads<'_>,
        tally: &mut Tally,
    ) -> bool {
        match unit(instruction) {
            Some(unit) if self.redirect.is_none() => {
                self.exchange(threads);
                self.step_short::<true>(instruction, (unit, touch), continuation, threads, tally);
                self.exchange(threads);
            }
            _ => return false,
        }
        true
    }

    /// Executes the instruction. `COMPETES`: other threads of the core run.
    fn step_short<const COMPETES: bool>(
        &mut self,
        instruction: &Instruction<'_>,
        (unit, touch): (KnlUnit, Option<&Touch>),
        continuation: Continuation,
        threads: &mut Threads<'_>,
        tally: &mut Tally,
    ) {
        let before = self.at;
        let delivered = self.front.deliver_plain(instruction);
        let accesses = usize::from(touch.is_some());
        let (port, second) = if COMPETES {
            self.allocate(&rows::of_cycle(unit), delivered, accesses, threads)
        } else {
            self.allocate_short(unit, delivered, accesses)
        };
        let at = self.at;
        if instruction.length != 0 {
            self.front.allocated(at);
        }
        let issued = self.issue_short(instruction, port, touch, tally);
        let mut earliest = issued.finished;
        if COMPETES {
            earliest = threads.turn_to_complete(self.completed.room(earliest, WIDTH));
        }
        let completed = self.completed.next(earliest, WIDTH);
        self.reorder.take(completed + 1);
        if let Some(touch) = touch.filter(|_| issued.accessed.stores != 0) {
            self.memory.write(touch, &issued.accessed, issued.stored, completed, &mut self.units);
        }
        if second || continuation == Continuation::Mispredicted {
            self.close();
        }
        if continuation != Continuation::Sequential {
            self.turn(continuation, false, &issued, completed);
        }
        if COMPETES {
            let now = threads.reaches(self.at);
            self.units.forget(now);
        } else if self.at != before {
            self.units.forget(self.at);
        }
    }

    /// PL9 to PL12, PL31 to PL35: returns the port of the micro-operation, which makes `accesses` accesses, and whether it is the second of
    /// its group.
    #[inline]
    fn allocate_short(&mut self, unit: KnlUnit, delivered: u64, accesses: usize) -> (Option<KnlPort>, bool) {
        let memory = self.memory.room(accesses, usize::MAX);
        if self.open {
            if delivered <= self.at {
                let port = self.choose_short(unit);
                if memory <= self.at && port.is_none_or(|port| self.station_room(port) <= self.at) {
                    return (port, true);
                }
                self.hold(KnlState::StationFull, 0, 1);
                self.hold(KnlState::MemoryStationFull, 0, u64::from(memory > self.at));
            }
            self.close();
        }
        let begin = self.at;
        let room = self.reorder.room(usize::from(WIDTH));
        let [first, second] = &self.integer;
        let station = memory.max(match unit {
            KnlUnit::None => 0,
            KnlUnit::Integer1 => second.room(),
            _ => first.room().min(second.room()),
        });
        let at = begin.max(room).max(delivered).max(station);
        if at != begin {
            self.hold(KnlState::ReorderBuffer, begin, room);
            self.hold(KnlState::Empty, begin.max(room), delivered);
            self.hold(KnlState::Station, begin.max(room).max(delivered), station);
            self.hold(KnlState::StationFull, begin.max(delivered), station);
            self.hold(KnlState::MemoryStationFull, begin.max(delivered), memory);
            self.pass(at);
        }
        self.open = true;
        self.port = self.choose_short(unit);
        (self.port, false)
    }

    /// PL12: returns the port of a micro-operation.
    #[inline]
    fn choose_short(&self, unit: KnlUnit) -> Option<KnlPort> {
        let number = match unit {
            KnlUnit::None => return None,
            KnlUnit::Integer1 => 1,
            _ => self.choose_integer(),
        };
        Some(KnlPort { vector: false, number })
    }

    #[inline]
    fn station_room(&self, port: KnlPort) -> u64 {
        self.integer.get(port.number).map_or(0, |station| station.room())
    }

    /// Issues the micro-operation allocated in the current cycle, and writes its results.
    #[inline]
    fn issue_short(
        &mut self,
        instruction: &Instruction<'_>,
        port: Option<KnlPort>,
        touch: Option<&Touch>,
        tally: &mut Tally,
    ) -> IssuedInstruction {
        const UNKNOWN: &[Register] = &[Register(0)];
        let operation = instruction.operation.as_ref();
        // Without named registers it needs the previous result.
        let number = |register: &Register| if operation.is_some() { register.0 % ANY } else { ANY };
        let first = self.at + 1;
        let ready = |core: &KnlPipeline, registers: &[Register]| {
            registers.iter().fold(first, |ready, register| ready.max(core.registers.at(number(register))))
        };
        let [addresses, reads, writes] =
            operation.map_or([UNKNOWN; 3], |operation| [operation.addresses, operation.reads, operation.writes]);
        let (mut data, mut address) = (ready(self, reads), first);
        let mut accessed = Accessed { issued: first, ..Accessed::default() };
        let stack = moves_stack(instruction.class);
        if touch.is_some() || stack {
            address = ready(self, addresses);
        }
        if let Some(touch) = touch {
            self.memory.access(touch, address, false, &mut self.units, &mut accessed, tally);
            data = data.max(accessed.data);
        }
        // The stack pointer is updated in parallel with the access.
        let beside = matches!(instruction.class, Class::Push | Class::Pop);
        let (mut last, mut result) = (accessed.issued, data);
        if let Some(port) = port {
            last = self.units.send_integer(port.number, if beside { address } else { data });
            result = if beside { data } else { last + 1 };
            if let Some(station) = self.integer.get_mut(port.number) {
                station.take(last + 1);
            }
        }
        let mut finished = result.max(last + 1);
        // The result is stored, except when the stack is pushed.
        let stored = accessed.stored.max(if matches!(instruction.class, Class::Push | Class::Call) { data } else { result });
        if accessed.stores != 0 {
            finished = finished.max(stored + 1);
        }
        for register in writes {
            let number = number(register);
            let ready = match number {
                // As if through the shortest operation, whatever this one is.
                ANY => self.registers.at(ANY).max(first) + 1,
                _ if stack && addresses.contains(register) => {
                    if beside {
                        last + 1
                    } else {
                        address + 1
                    }
                }
                _ => result,
            };
            self.registers.set(number, ready);
        }
        IssuedInstruction { last, finished, stored, accessed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_is_for_classes_that_are_one_operation_of_a_cycle() {
        for class in Class::ALL {
            let instruction = Instruction { class, ..Instruction::default() };
            let row = rows::of(&instruction, false);
            if let Some(unit) = unit(&instruction) {
                assert_eq!(row, rows::of_cycle(unit), "{class:?}");
            }
        }
    }
}
