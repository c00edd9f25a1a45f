//! What each instruction does.

mod branch;
mod condition;
mod fixed;
pub(crate) mod float;
pub(crate) mod memory;
mod multiply;
mod rotate;
mod special;
pub(crate) mod storage;
mod system;
mod transaction;
pub(crate) mod vector;

use vm_pmu::decode::power::{Op, Word, is_vector};

use super::interrupt::{Exception, Fault};
use super::observer::Observer;
use super::registers::msr;
use super::state::Core;

pub(crate) use fixed::{CA, SO};
pub(crate) use special::has as has_spr;

/// What follows an instruction that completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The next one.
    Next,
    /// A system call interrupt; with LEV=1 one to the hypervisor.
    SystemCall {
        /// LEV is 1.
        hypervisor: bool,
    },
    /// The next one, with no trace interrupt before it.
    Untraced,
}

/// Executes one instruction. On a fault nothing has changed.
#[inline]
pub(crate) fn execute<O: Observer>(core: &mut Core, op: Op, w: Word, observer: &mut O) -> Result<Then, Fault> {
    if core.fixed(op, w) || core.rotate(op, w) || core.multiply(op, w) {
        return Ok(Then::Next);
    }
    if core.branch(op, w)? || core.memory(op, w)? {
        return Ok(Then::Next);
    }
    if core.condition(op, w) {
        return Ok(Then::Next);
    }
    match op {
        Op::Tw | Op::Twi | Op::Td | Op::Tdi => core.trap(op, w).map(|()| Then::Next),
        Op::Mfspr | Op::Mtspr | Op::Mftb | Op::Mfbhrbe | Op::Clrbhrb | Op::Mfimc | Op::Mtimc => {
            core.special(op, w, observer).map(|()| Then::Next)
        }
        Op::Attn => core.attention(observer).map(|()| Then::Next),
        Op::Vector => {
            core.need(msr::VEC, Exception::VectorUnavailable)?;
            Err(Fault::illegal())
        }
        Op::Vsx => {
            core.need(msr::VSX, Exception::VsxUnavailable)?;
            Err(Fault::illegal())
        }
        op if is_vector(op) => core.vector_scalar(op, w).map(|()| Then::Next),
        Op::Tbegin
        | Op::Tend
        | Op::Tcheck
        | Op::Tsr
        | Op::Tabort
        | Op::Tabortwc
        | Op::Tabortdc
        | Op::Tabortwci
        | Op::Tabortdci
        | Op::Treclaim
        | Op::Trechkpt => core.transact(op, w).map(|()| Then::Next),
        _ => {
            if core.storage(op, w)? || core.float(op, w)? {
                return Ok(Then::Next);
            }
            core.system(op, w)
        }
    }
}

impl Core {
    /// Raises `exception` if a bit of MSR is off.
    pub(crate) fn need(&self, bit: u64, exception: Exception) -> Result<(), Fault> {
        if self.msr & bit == 0 { Err(Fault(exception)) } else { Ok(()) }
    }

    /// Raises a program interrupt in problem state.
    pub(crate) fn privileged(&self) -> Result<(), Fault> {
        if self.problem() { Err(Fault::privileged()) } else { Ok(()) }
    }
}
