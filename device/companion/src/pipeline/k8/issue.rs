//! Issue of the operations of a line, and the cycles in which their results are ready.

use super::line::MacroOperation;
use super::rows::{DecodePath, K8Row, K8Unit};
use super::signals::{K8State, PIPE_EVENTS};
use super::{Class, FLOATING_DEPTH, INTEGER_UNITS, K8Pipeline, LOCKED, MULTIPLIER, PIPES, WIDTH};
use crate::pipeline::Continuation;
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::moves_stack;
use crate::tally::Tally;

/// The cycles in which a macro-operation passed the stages.
#[derive(Clone, Copy, Debug)]
pub(super) struct IssuedOperation {
    /// Issue of its last micro-operation.
    pub(super) last: u64,
    /// Its finish.
    pub(super) finished: u64,
    /// The cycle in which its address and store data are known.
    pub(super) ready: u64,
}

impl K8Pipeline {
    /// Issues the line, which was dispatched in cycle `at`.
    pub(super) fn issue(&mut self, at: u64, tally: &mut Tally) {
        let mut floating_until = None;
        for position in 0..self.line.count {
            let Some(operation) = self.line.operations.get(position).copied() else { break };
            let issued = self.issue_one(at, position, &operation, tally);
            if operation.row.unit.is_floating() {
                floating_until = floating_until.max(Some(issued.last + 1));
            }
            let completed = self.completed.next(issued.finished, WIDTH as u8);
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
        self.reorder.take(self.completed.at + 1);
    }

    fn ready(&self, registers: &[u16]) -> u64 {
        self.registers.ready(registers.iter().copied())
    }

    fn issue_one(&mut self, at: u64, position: usize, operation: &MacroOperation, tally: &mut Tally) -> IssuedOperation {
        let row = &operation.row;
        let mut sources = self.ready(operation.operands.reads());
        let mut data = 0;
        if operation.second {
            data = self.half.1;
            // Both halves of a vector need the same sources; the second part of a chain needs the first.
            sources = if row.path == DecodePath::Chained { sources.max(self.half.0) } else { self.half.2 };
        }
        self.half.2 = sources;
        let (mut issued, mut address, mut locked) = (at + 1, at + 1, false);
        let mut integer_until = None;
        let (mut stores, mut stored) = (false, 0);
        for number in operation.touches.0..operation.touches.1 {
            let Some(touch) = self.line.touches.get(usize::from(number)).copied() else { break };
            if number == operation.touches.0 || !touch.stores() {
                let ready = self.ready(operation.operands.addresses()).max(at + 1);
                address = self.ports.take_cycle(position, ready);
            }
            let here = self.load_store(&touch, address);
            if touch.loads() {
                data = data.max(here);
            } else {
                stored = here.max(stored);
            }
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
            K8Unit::None if operation.second => at + 1,
            K8Unit::None if operation.loads => issued.max(data),
            K8Unit::None if operation.class == Class::Nop => at + 1,
            K8Unit::None => issued.max(sources),
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
                    K8Unit::Address => (position, earliest.max(self.ready(operation.operands.addresses()))),
                    K8Unit::Multiplier => (MULTIPLIER, earliest),
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
            // The data enter the queue in the cycle after they are ready.
            finished = finished.max(ready + 1).max(stored + 1);
        }
        if locked {
            let turn = data.max(self.completed.at);
            // Cycles in which several wait count once.
            self.account.hold(K8State::LockedSpeculative as usize, turn.saturating_sub(address.max(self.locked)));
            self.locked = turn;
            finished = self.permission(operation, turn) + LOCKED;
            self.account.hold(K8State::LockedFinal as usize, finished - turn);
            ready = finished;
        }
        (self.half.0, self.half.1) = (result, data);
        self.write_registers(operation, result, address, at);
        IssuedOperation { last: issued, finished, ready }
    }

    /// Sets the cycles in which the results of an operation are ready.
    fn write_registers(&mut self, operation: &MacroOperation, result: u64, address: u64, at: u64) {
        let operands = &operation.operands;
        for register in operands.writes() {
            let addresses = moves_stack(operation.class) && operands.addresses().contains(register);
            let ready = self.registers.written(*register, operation.class, addresses, (at, address, result));
            let before = if operation.second { self.ready(&[*register]) } else { 0 };
            self.registers.set(*register, ready.max(before));
        }
    }

    /// PK16: returns the pipe of an operation, and the cycle of its issue.
    fn pipe(&mut self, row: &K8Row, earliest: u64) -> (usize, u64) {
        let cycles = u64::from(row.every);
        let pipe = match row.unit {
            K8Unit::Multiply => 1,
            K8Unit::Store => 2,
            K8Unit::Either if self.ports.free(PIPES + 1, earliest, cycles) < self.ports.free(PIPES, earliest, cycles) => 1,
            _ => 0,
        };
        (pipe, self.ports.take(PIPES + pipe, earliest, cycles))
    }
}
