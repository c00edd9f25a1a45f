//! Issue of the operations of a line, and the cycles in which their results are ready.

use super::accesses::Writing;
use super::line::MacroOperation;
use super::rows::{DecodePath, K8Row, K8Unit};
use super::signals::{K8State, PIPE_EVENTS};
use super::{Class, FLOATING_DEPTH, INTEGER_UNITS, K8Pipeline, LOCKED, MULTIPLIER, PIPES, WIDTH};
use crate::pipeline::part::{GENERAL, PLAIN};
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::moves_stack;
use crate::pipeline::{Continuation, Touch};
use crate::tally::Tally;

impl K8Pipeline {
    /// Issues the line, which was dispatched in cycle `at` and is of at most kind `KIND`.
    #[inline(always)]
    pub(super) fn issue<const KIND: u8>(&mut self, at: u64, tally: &mut Tally) {
        let mut floating_until = None;
        for position in 0..self.line.count {
            let plain = KIND != PLAIN && self.line.operations.get(position).is_some_and(|operation| operation.kind == PLAIN);
            let until = if plain { self.issue_one::<PLAIN>(at, position, tally) } else { self.issue_one::<KIND>(at, position, tally) };
            floating_until = floating_until.max(until);
        }
        if let Some(until) = floating_until {
            self.floating.take(until);
        }
        self.reorder.take(self.completed.at + 1);
    }

    /// Issues a macro-operation. Returns until when it has an entry of the floating-point scheduler, if it takes one.
    #[inline(always)]
    fn issue_one<const KIND: u8>(&mut self, at: u64, position: usize, tally: &mut Tally) -> Option<u64> {
        let (operation, operands) = self.line.operation::<KIND>(position)?;
        let MacroOperation { row, class, loads, second, .. } = operation;
        let next = at + 1;
        let addresses = self.registers.ready(operands.addresses().iter().copied()).max(next);
        let mut sources = self.registers.ready(operands.reads().iter().copied());
        let mut data = 0;
        if second {
            data = self.half.1;
            // Both halves of a vector need the same sources; the second part of a chain needs the first.
            sources = if row.path == DecodePath::Chained { sources.max(self.half.0) } else { self.half.2 };
        }
        self.half.2 = sources;
        let (mut issued, mut address, mut locked) = (next, next, false);
        let mut integer_until = None;
        let (mut stores, mut stored) = (false, 0);
        let (first, end) = operation.touches;
        for number in first..end {
            let Some(touch) = self.line.touch::<KIND>(number) else { break };
            if number == first || !touch.stores() {
                address = self.ports.take_cycle(position, addresses);
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
        if loads {
            sources = sources.max(data);
        }
        let earliest = sources.max(next);
        let mut floating_until = None;
        let result = match row.unit {
            K8Unit::None if second => next,
            K8Unit::None if loads => issued.max(data),
            K8Unit::None if class == Class::Nop => next,
            K8Unit::None => issued.max(sources),
            unit if unit.is_floating() => {
                let (pipe, began) = self.pipe(&row, earliest.max(at + FLOATING_DEPTH));
                if let Some(signal) = PIPE_EVENTS.get(usize::from(loads)).and_then(|signals| signals.get(pipe)) {
                    tally.add(*signal, 1);
                }
                issued = began;
                floating_until = Some(issued + 1);
                began + u64::from(row.latency)
            }
            unit => {
                let (port, earliest) = match unit {
                    K8Unit::Address => (position, earliest.max(addresses)),
                    K8Unit::Multiplier => (MULTIPLIER, earliest),
                    _ => (INTEGER_UNITS + position, earliest),
                };
                issued = self.ports.take(port, earliest, u64::from(row.every));
                integer_until = Some(issued + 1).max(integer_until);
                issued + u64::from(row.latency)
            }
        };
        if let Some((until, entries)) = integer_until.zip(self.schedulers.get_mut(position)) {
            entries.take(until);
        }
        let mut ready = address.max(result);
        let mut finished = result.max(next + 1);
        if stores {
            // The data enter the queue in the cycle after they are ready.
            finished = finished.max(ready + 1).max(stored + 1);
        }
        if locked {
            let turn = data.max(self.completed.at);
            // Cycles in which several wait count once.
            self.account.hold(K8State::LockedSpeculative as usize, turn.saturating_sub(address.max(self.locked)));
            self.locked = turn;
            finished = self.permission(&operation, turn) + LOCKED;
            self.account.hold(K8State::LockedFinal as usize, finished - turn);
            ready = finished;
        }
        (self.half.0, self.half.1) = (result, data);
        self.write_registers::<KIND>(position, (at, address, result));
        let completed = self.completed.next(finished, WIDTH as u8);
        if floating_until.is_some() {
            self.floating_completions.add(completed, completed + 1);
        }
        if stores {
            // A short one stores by its last access.
            for number in if KIND == GENERAL { first } else { end - 1 }..end {
                let Some(touch) = self.line.touch::<KIND>(number).filter(Touch::stores) else { continue };
                self.write(&touch, &Writing { ready, completed, modifies: loads });
            }
        }
        match operation.continuation {
            Continuation::Mispredicted => self.redirect = Some(Redirect { resolved: issued, completed }),
            Continuation::Restarted => self.redirect = Some(Redirect { resolved: completed, completed }),
            _ => {}
        }
        floating_until
    }

    /// Sets the cycles in which the results of an operation are ready, from those of its dispatch, its address and its result.
    #[inline(always)]
    fn write_registers<const KIND: u8>(&mut self, position: usize, (at, address, result): (u64, u64, u64)) {
        let K8Pipeline { line, registers, .. } = self;
        let Some((MacroOperation { class, second, .. }, operands)) = line.operation::<KIND>(position) else { return };
        for register in operands.writes() {
            let addresses = moves_stack(class) && operands.addresses().contains(register);
            let ready = registers.written(*register, class, addresses, (at, address, result));
            let before = if second { registers.at(*register) } else { 0 };
            registers.set(*register, ready.max(before));
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
