//! What may execute instructions instead of the interpreter.
//!
//! The interpreter's [`Cpu`](super::cpu::Cpu) is a processor in three parts: what is done between instructions (interrupts, halting, time,
//! reports to an observer), what fetches and decodes them, and what executes them. Another emulator can replace the last.

use super::fault::Fault;
use super::op::Decoded;
use super::state::Core;

/// What an emulator in another module needs to know of the interpreter.
#[cfg(feature = "unicorn")]
pub(crate) mod inside {
    use super::super::flags;

    pub(crate) use super::super::cache::LONGEST;
    pub(crate) use super::super::decode::{Outcome, decode};
    pub(crate) use super::super::exec::control::canonical;
    pub(crate) use super::super::exec::execute;
    pub(crate) use super::super::fault::{Fault, Stop};
    pub(crate) use super::super::op::{Decoded, Op, Operand, Repeat};
    pub(crate) use super::super::state::{Core, RBP, RDI, RSI, RSP};

    /// What RFLAGS always holds.
    pub(crate) const RFLAGS_FIXED: u64 = flags::FIXED;
    /// The flags that ordinary instructions change.
    pub(crate) const RFLAGS_STATUS_AND_DIRECTION: u64 = flags::STATUS | flags::DF;
    /// The trap flag.
    pub(crate) const RFLAGS_TRAP: u64 = flags::TF;
}

/// What executes the instructions of one CPU.
pub(crate) trait Executor<O>: Send {
    /// Whether instructions are [rehearsed](super::rehearsal::Rehearsal) before they are executed.
    fn rehearses(&self) -> bool {
        false
    }

    /// The CPU is about to continue: its state may have been changed from outside since it last ran.
    fn begin(&mut self, _core: &mut Core) {}

    /// Executes the instruction that was decoded at RIP. As the interpreter does, it leaves RIP to the caller; on a fault nothing has
    /// changed except what the caller restores.
    fn execute(&mut self, core: &mut Core, decoded: &Decoded, observer: &mut O) -> Result<(), Fault>;

    /// Executes at most `most` instructions at one go, nothing being due between them, reports them to the observer, and advances RIP and
    /// time. Returns how many those were; 0 where the next must go by itself.
    fn run(&mut self, _core: &mut Core, _observer: &mut O, _most: u32) -> u32 {
        0
    }
}
