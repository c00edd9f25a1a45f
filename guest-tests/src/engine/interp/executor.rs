//! Who executes an instruction.

use super::exec::execute;
use super::fault::Fault;
use super::observer::Observer;
use super::op::Decoded;
use super::state::Core;

/// What executes the instructions of one CPU. Everything around it, from fetch to time, is the engine's.
pub trait Executor: Send {
    /// Instructions are [rehearsed](super::rehearsal::Rehearsal) before somebody else executes them.
    const REHEARSES: bool;

    /// The CPU is about to run on: whatever was changed since it last ran, it was not by this.
    fn begin(&mut self, core: &mut Core);

    /// Executes one instruction, or one iteration of a REP string instruction. On a fault nothing has changed but what the caller
    /// restores.
    fn execute<O: Observer>(&mut self, core: &mut Core, d: &Decoded, observer: &mut O) -> Result<(), Fault>;
}

/// The engine itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreted;

impl Executor for Interpreted {
    const REHEARSES: bool = false;

    fn begin(&mut self, _core: &mut Core) {}

    #[inline]
    fn execute<O: Observer>(&mut self, core: &mut Core, d: &Decoded, observer: &mut O) -> Result<(), Fault> {
        execute(core, d, observer)
    }
}
