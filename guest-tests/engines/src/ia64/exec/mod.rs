//! What each instruction does.

mod alu;
mod branch;
mod class;
mod compare;
mod float;
mod float_misc;
mod float_storage;
mod indirect;
mod integer;
mod memory;
mod multimedia;
mod registers;
mod system;

use super::bundle::{Slot, Unit};
use super::interrupt::Fault;
use super::observer::Observer;
use super::registers::isr;
use super::state::Core;
use class::classify;
pub(crate) use float_storage::size_of;

/// Where execution continues after an instruction that completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next instruction.
    Next,
    /// A branch that was taken.
    Taken(u64),
    /// `rfi`: the place is set.
    Returned,
}

/// Executes one instruction. After a fault, executing it again redoes all that it has changed.
pub(crate) fn execute<O: Observer>(core: &mut Core, slot: Slot, observer: &mut O) -> Result<Flow, Fault> {
    let Slot { unit, word: w, upper, .. } = slot;
    let p = core.predicate(w.qp());
    (core.step.class, core.step.nop) = classify(unit, w);
    core.step.predicate = p;
    match unit {
        Unit::B => return core.branch(w),
        Unit::X if matches!(w.major(), 0xC | 0xD) => return core.long_branch(w, upper),
        Unit::M | Unit::I if w.major() >= 0xC => return core.compare(w, p).map(|()| Flow::Next),
        Unit::I if w.major() == 5 && w.bits(34, 2) == 0 => return core.test(w, p).map(|()| Flow::Next),
        Unit::F => return core.float(w, p),
        _ => {}
    }
    if !p {
        return Ok(Flow::Next);
    }
    match unit {
        Unit::M if w.major() < 2 => core.system(w, observer),
        Unit::M if w.major() < 8 => core.memory(w).map(|()| Flow::Next),
        Unit::I if w.major() < 8 => core.integer(w),
        Unit::X => core.long_immediate(w, upper),
        _ => core.alu(w).map(|()| Flow::Next),
    }
}

impl Core {
    /// A general register that is about to be written: r0 and registers outside the frame are no valid targets.
    pub(crate) fn target(&self, number: usize) -> Result<usize, Fault> {
        if number == 0 || number >= 32 && number - 32 >= self.stack.sof { Err(Fault::IllegalOperation) } else { Ok(number) }
    }

    /// Writes a general register.
    pub(crate) fn put(&mut self, number: usize, (value, nat): (u64, bool)) -> Result<(), Fault> {
        let number = self.target(number)?;
        self.set_gr(number, value, nat);
        Ok(())
    }

    /// A general register that must not be a NaT.
    pub(crate) fn need(&self, number: usize) -> Result<u64, Fault> {
        self.need_for(number, isr::NA)
    }

    /// A general register that must not be a NaT, for an access that `access` names in ISR.
    pub(crate) fn need_for(&self, number: usize, access: u64) -> Result<u64, Fault> {
        match self.gr(number) {
            (value, false) => Ok(value),
            _ => Err(Fault::RegisterNat(access)),
        }
    }

    /// Refuses an instruction that only privilege level 0 may execute.
    pub(crate) fn privileged(&self) -> Result<(), Fault> {
        if self.cpl() == 0 { Ok(()) } else { Err(Fault::PrivilegedOperation) }
    }
}
