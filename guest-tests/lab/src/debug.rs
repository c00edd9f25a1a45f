//! A port for `gdb`: a guest runs as the debugger says, and stops where an instruction accesses the PMU or a counter has overflowed.
//!
//! [`serve`] waits for a debugger and executes its wishes on a [`Debuggee`], a machine that is stepped. Breakpoints are compared with the address
//! before each instruction, so nothing of the guest changes: counts are those of a run without a debugger. CPUs are the debugger's threads, and
//! take their turns as in any other run.

mod ia64;
mod power;
mod stub;
mod x86;

use std::fmt;
use std::net::TcpListener;

use gdbstub::stub::{DisconnectReason, GdbStub};
use vm_pmu::Address;
use vm_pmu_engines::memory::Memory;

use crate::held::{Driven, Held};
use stub::{Blocking, Session};

/// A machine that a debugger looks at.
pub(crate) trait Debuggee: Held {
    /// What the debugger is told of the registers, in its XML.
    const DESCRIPTION: &'static str;

    /// A CPU's registers, in the order and the byte order of the debugger; `None` for the bytes of one that there is not.
    fn registers(&self, cpu: usize) -> Vec<Option<u8>>;

    /// Changes a CPU's registers, given as [`registers`](Debuggee::registers) gives them.
    fn set_registers(&mut self, cpu: usize, bytes: &[u8]) -> Option<()>;

    /// The address of a CPU's next instruction, as the debugger has it.
    fn next(&self, cpu: usize) -> Option<u64> {
        self.place(cpu).map(|(address, ..)| address)
    }

    /// A byte that a register of a CPU still has, and that belongs into memory.
    fn beyond_memory(&self, _cpu: usize, _address: u64) -> Option<u8> {
        None
    }

    /// Where a byte of a CPU's address space lies in memory.
    fn physical(&self, cpu: usize, address: u64) -> Option<u64>;

    /// The memory.
    fn memory(&self) -> &Memory;

    /// The register that a CPU's next instruction reads or writes, if it is an instruction that does so, and whether it writes.
    fn access(&self, cpu: usize) -> Option<(Address, bool)>;
}

/// The longest packet, in bytes: all registers of IA-64 take 9,440 digits.
const PACKET: usize = 16 << 10;

/// What is told of a run that a debugger ended.
const KILLED: &str = "gdb ended it";

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

/// Waits for a debugger at `address`, and has it run a machine for at most `steps`. Returns the machine too.
pub(crate) fn serve<D: Debuggee>(address: &str, debuggee: D, steps: u64) -> Result<(Driven, D), DebugError> {
    let failed = |error| DebugError { address: address.to_owned(), error };
    let listener = TcpListener::bind(address).map_err(failed)?;
    // Where the port was 0, the host has chosen one.
    let at = listener.local_addr().map_err(failed)?;
    eprintln!("pmulab: waiting for gdb, which comes with `target remote {at}`");
    let (stream, _) = listener.accept().map_err(failed)?;
    let mut session = Session::new(debuggee, steps);
    let mut packet = vec![0; PACKET];
    let stub = GdbStub::builder(stream).with_packet_buffer(&mut packet).build();
    let reason = stub.map_err(|_| ()).and_then(|stub| stub.run_blocking::<Blocking<D>>(&mut session).map_err(|_| ()));
    let driven = match (session.has_ended(), reason) {
        (true, _) => Driven::Ended,
        (false, Ok(DisconnectReason::Disconnect)) => Driven::Released(session.left()),
        (false, _) => Driven::Killed(KILLED),
    };
    Ok((driven, session.debuggee))
}
