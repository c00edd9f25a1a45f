//! A port for `gdb`: a guest runs as the debugger says, and stops where an instruction accesses the PMU or a counter has overflowed.
//!
//! [`serve`] waits for a debugger and executes its wishes on a [`Debuggee`], a machine of one CPU that is stepped. Breakpoints are compared with
//! the address before each instruction, so nothing of the guest changes: counts are those of a run without a debugger.

mod power;
mod stub;
mod x86;

pub(crate) use power::Power;
pub(crate) use x86::X86;

use std::fmt;
use std::net::TcpListener;

use gdbstub::stub::{DisconnectReason, GdbStub};
use vm_pmu::Address;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu_engines::memory::Memory;

use crate::report::Register;
use stub::{Blocking, Session};

/// A machine of one CPU that a debugger looks at.
pub(crate) trait Debuggee {
    /// How a run ends.
    type Exit: Clone;

    /// What the debugger is told of the registers, in its XML.
    const DESCRIPTION: &'static str;

    /// The address of the next instruction.
    fn pc(&self) -> u64;

    /// The registers, in the order and the byte order of the debugger; `None` for the bytes of one that there is not.
    fn registers(&self) -> Vec<Option<u8>>;

    /// Changes the registers, given as [`registers`](Debuggee::registers) gives them.
    fn set_registers(&mut self, bytes: &[u8]) -> Option<()>;

    /// Takes a step, and says whether the run has ended.
    fn step(&mut self) -> Option<Self::Exit>;

    /// How a run ended that took all its steps.
    fn limit() -> Self::Exit;

    /// The status that the guest ended with, if it ended by itself.
    fn status(exit: &Self::Exit) -> Option<u8>;

    /// Where a byte of the address space lies in memory.
    fn physical(&self, address: u64) -> Option<u64>;

    /// The memory.
    fn memory(&self) -> &Memory;

    /// The register that the next instruction reads or writes, if it is an instruction that does so, and whether it writes.
    fn access(&self) -> Option<(Address, bool)>;

    /// The PMU's registers.
    fn descriptions(&self) -> &'static [RegisterDescription];

    /// How often counters have asked for an interrupt.
    fn overflows(&self) -> u64;

    /// The PMU's registers with their values.
    fn pmu(&self) -> Vec<Register>;
}

/// How a debugger's session ended.
pub(crate) enum Ended<E> {
    /// The run has ended.
    Run(E),
    /// The debugger has let go, and so many steps are left.
    Detached(u64),
    /// The debugger has ended the run, or its connection has.
    Killed,
}

/// Why there is no session.
#[derive(Debug)]
pub struct DebugError {
    address: String,
    error: std::io::Error,
}

impl fmt::Display for DebugError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no debugger can be waited for at `{}`, where 127.0.0.1:1234 could stand: {}", self.address, self.error)
    }
}

impl std::error::Error for DebugError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Waits for a debugger at `address`, and has it run a machine for at most `steps`.
pub(crate) fn serve<D: Debuggee>(address: &str, debuggee: D, steps: u64) -> Result<Ended<D::Exit>, DebugError> {
    let failed = |error| DebugError { address: address.to_owned(), error };
    let listener = TcpListener::bind(address).map_err(failed)?;
    // Where the port was 0, the host has chosen one.
    let at = listener.local_addr().map_err(failed)?;
    eprintln!("pmulab: waiting for gdb, which comes with `target remote {at}`");
    let (stream, _) = listener.accept().map_err(failed)?;
    let mut session = Session::new(debuggee, steps);
    let reason = GdbStub::new(stream).run_blocking::<Blocking<D>>(&mut session);
    Ok(match (session.ended(), reason) {
        (Some(exit), _) => Ended::Run(exit),
        (None, Ok(DisconnectReason::Disconnect)) => Ended::Detached(session.left()),
        (None, _) => Ended::Killed,
    })
}
