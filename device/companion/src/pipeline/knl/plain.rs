//! Fast path of an instruction that only computes: one single-cycle micro-operation on either integer port, from registers to registers.
//!
//! It leaves the pipeline in the same state as the [general path](KnlPipeline::execute), which a test compares. Most instructions are of this
//! kind.

use super::signals::KnlState;
use super::{ANY, KnlPipeline, KnlPort, WIDTH};
use crate::instruction::{Class, Instruction};

/// Whether an instruction of `class` is one single-cycle micro-operation on either integer port, whatever its width.
#[inline]
fn is_short(class: Class) -> bool {
    matches!(class, Class::Simple | Class::Nop | Class::BitTest)
}

impl KnlPipeline {
    /// Executes an instruction whose code is present, that made no access and continues in sequence, on a thread that has its core to
    /// itself. Returns whether it took the fast path; if not, nothing has been done.
    #[inline]
    pub(in crate::pipeline) fn execute_plain(&mut self, instruction: &Instruction<'_>) -> bool {
        if !is_short(instruction.class) || instruction.floating_point || instruction.segment_loads != 0 || self.redirect.is_some() {
            return false;
        }
        self.step_plain(instruction);
        true
    }

    #[inline]
    fn step_plain(&mut self, instruction: &Instruction<'_>) {
        let before = self.at;
        let delivered = self.front.deliver_plain(instruction);
        let (number, second) = self.allocate_plain(delivered);
        let at = self.at;
        if instruction.length != 0 {
            self.front.allocated(at);
        }
        let sources = match &instruction.operation {
            Some(operation) => operation.reads.iter().fold(at + 1, |sources, register| sources.max(self.registers.at(register.0 % ANY))),
            // Without named registers it needs the previous result.
            None => self.registers.at(ANY).max(at + 1),
        };
        let issued = self.units.send_integer(number, sources);
        let result = issued + 1;
        if let Some(station) = self.integer.get_mut(number % 2) {
            station.take(result);
        }
        match &instruction.operation {
            Some(operation) => operation.writes.iter().for_each(|register| self.registers.set(register.0 % ANY, result)),
            // As if through the shortest operation, whatever this one is.
            None => self.registers.set(ANY, self.registers.at(ANY).max(at + 1) + 1),
        }
        let completed = self.completed.next(result, WIDTH);
        self.reorder.take(completed + 1);
        if second {
            self.close();
        }
        if self.at != before {
            self.units.forget(self.at);
        }
    }

    /// PL9 to PL12, PL31 to PL35: returns the port of the micro-operation, and whether it is the second of its group.
    #[inline]
    fn allocate_plain(&mut self, delivered: u64) -> (usize, bool) {
        if self.open {
            if delivered <= self.at {
                let number = self.choose_integer();
                if self.integer.get(number % 2).is_none_or(|station| station.room() <= self.at) {
                    return (number, true);
                }
                self.hold(KnlState::StationFull, 0, 1);
            }
            self.close();
        }
        let begin = self.at;
        let room = self.reorder.room(usize::from(WIDTH));
        let [first, second] = &self.integer;
        let station = first.room().min(second.room());
        let at = begin.max(room).max(delivered).max(station);
        if at != begin {
            self.hold(KnlState::ReorderBuffer, begin, room);
            self.hold(KnlState::Empty, begin.max(room), delivered);
            self.hold(KnlState::Station, begin.max(room).max(delivered), station);
            self.hold(KnlState::StationFull, begin.max(delivered), station);
            self.pass(at);
        }
        self.open = true;
        let number = self.choose_integer();
        self.port = Some(KnlPort { vector: false, number });
        (number, false)
    }

    /// PL12: returns the port of an operation that either port can execute.
    #[inline]
    pub(super) fn choose_integer(&self) -> usize {
        if let Some(KnlPort { vector: false, number }) = self.port {
            return 1 - number.min(1);
        }
        let [first, second] = &self.integer;
        usize::from(second.taken(self.at) < first.taken(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::knl::rows::{self, KnlUnit};

    #[test]
    fn the_short_way_is_for_classes_that_are_one_operation_of_either_integer_port() {
        let simple = rows::of(&Instruction::default(), false);
        for class in Class::ALL.into_iter().filter(|class| is_short(*class)) {
            assert_eq!(rows::of(&Instruction { class, ..Instruction::default() }, false), simple, "{class:?}");
        }
        assert!(is_short(Class::Simple) && (simple.unit, simple.latency, simple.flow) == (KnlUnit::Integer, 1, 0));
    }
}
