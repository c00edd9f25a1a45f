//! What may execute instructions instead of the interpreter.
//!
//! The interpreter's [`Cpu`](super::cpu::Cpu) is a processor in three parts: what stands between instructions (interrupts, halting,
//! time, what an observer is told), what fetches and decodes them, and what executes them. Another emulator can stand in for the
//! last.

pub(crate) use super::cache::LONGEST;
pub(crate) use super::decode::{Outcome, decode};
pub(crate) use super::exec::control::canonical;
pub(crate) use super::exec::execute;
pub(crate) use super::fault::{Fault, Stop};
pub(crate) use super::op::{Decoded, Op, Operand, Repeat};
pub(crate) use super::state::{Core, RBP, RDI, RSI, RSP};

use super::flags;

/// What RFLAGS always holds.
pub(crate) const RFLAGS_FIXED: u64 = flags::FIXED;
/// The flags that ordinary instructions change.
pub(crate) const RFLAGS_STATUS_AND_DIRECTION: u64 = flags::STATUS | flags::DF;
/// The trap flag.
pub(crate) const RFLAGS_TRAP: u64 = flags::TF;

/// What executes the instructions of one CPU.
pub(crate) trait Executor<O>: Send {
    /// Executes the instruction that was decoded at RIP. As [`execute`] does, it leaves RIP to the caller; on a fault nothing has
    /// changed but what the caller restores.
    fn execute(&mut self, core: &mut Core, decoded: &Decoded, observer: &mut O) -> Result<(), Fault>;

    /// Executes at most `most` instructions at one go, nothing being due between them, tells the observer, and moves RIP and time on;
    /// how many those were. 0 where the next must go by itself.
    fn run(&mut self, core: &mut Core, observer: &mut O, most: u32) -> u32;
}
