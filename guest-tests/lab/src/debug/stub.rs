//! What the debugger asks for.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::net::TcpStream;

use gdbstub::arch::{Arch, Registers};
use gdbstub::common::Signal;
use gdbstub::conn::ConnectionExt;
use gdbstub::outputln;
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use vm_pmu::Address;

use super::Debuggee;
use crate::suggest;

/// How many steps are taken between looks at the connection.
const PATIENCE: u32 = 4096;

/// The most breakpoints.
const BREAKPOINTS: usize = 4096;

/// Registers as the debugger has them: bytes, some of which it is not told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bytes(Vec<Option<u8>>);

impl Registers for Bytes {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, write_byte: impl FnMut(Option<u8>)) {
        self.0.iter().copied().for_each(write_byte);
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.iter().copied().map(Some).collect();
        Ok(())
    }
}

/// The processor of a debuggee.
pub(super) struct Processor<D>(PhantomData<D>);

impl<D: Debuggee> Arch for Processor<D> {
    type Usize = u64;
    type Registers = Bytes;
    type BreakpointKind = usize;
    type RegId = ();

    fn target_description_xml() -> Option<&'static str> {
        Some(D::DESCRIPTION)
    }
}

/// At what the guest stops by itself.
#[derive(Default)]
struct Stops {
    /// Accesses to the PMU: to all of its registers, or to one.
    access: Option<Option<Address>>,
    /// Overflows of a counter that asks for an interrupt.
    overflow: bool,
}

/// A machine that a debugger runs.
pub(super) struct Session<D: Debuggee> {
    debuggee: D,
    left: u64,
    ended: Option<D::Exit>,
    single: bool,
    breakpoints: BTreeSet<u64>,
    stops: Stops,
    why: String,
}

impl<D: Debuggee> Session<D> {
    pub(super) fn new(debuggee: D, steps: u64) -> Session<D> {
        let why = "the guest has not run yet".to_owned();
        Session { debuggee, left: steps, ended: None, single: false, breakpoints: BTreeSet::new(), stops: Stops::default(), why }
    }

    /// How the run ended, if it did.
    pub(super) fn ended(&self) -> Option<D::Exit> {
        self.ended.clone()
    }

    /// How many steps are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Takes a step; why the guest stops after it, if it does.
    fn step(&mut self) -> Option<SingleThreadStopReason<u64>> {
        if let Some(exit) = &self.ended {
            // It stopped there once, so that the debugger could look at it.
            return Some(D::status(exit).map_or(SingleThreadStopReason::Terminated(Signal::SIGKILL), SingleThreadStopReason::Exited));
        }
        if self.left == 0 {
            self.ended = Some(D::limit());
            return Some(self.stop("the limit of steps was reached", Signal::SIGXCPU));
        }
        self.left -= 1;
        let overflows = self.debuggee.overflows();
        if let Some(exit) = self.debuggee.step() {
            let status = D::status(&exit);
            self.ended = Some(exit);
            return Some(match status {
                Some(status) => SingleThreadStopReason::Exited(status),
                None => self.stop("the machine cannot continue", Signal::SIGSEGV),
            });
        }
        if self.stops.overflow && self.debuggee.overflows() > overflows {
            return Some(self.stop("a counter has overflowed and asked for an interrupt", Signal::SIGTRAP));
        }
        if let Some(why) = self.stops.access.and_then(|of| self.access(of)) {
            return Some(self.stop(&why, Signal::SIGTRAP));
        }
        if self.breakpoints.contains(&self.debuggee.pc()) {
            "a breakpoint".clone_into(&mut self.why);
            return Some(SingleThreadStopReason::SwBreak(()));
        }
        if self.single {
            "a single step".clone_into(&mut self.why);
            return Some(SingleThreadStopReason::DoneStep);
        }
        None
    }

    fn stop(&mut self, why: &str, signal: Signal) -> SingleThreadStopReason<u64> {
        why.clone_into(&mut self.why);
        SingleThreadStopReason::Signal(signal)
    }

    /// What the next instruction does to the register `of` of the PMU, or to any.
    fn access(&self, of: Option<Address>) -> Option<String> {
        let (address, writes) = self.debuggee.access()?;
        let name = match address {
            Address::Rdpmc(counter) => format!("counter {counter} by RDPMC"),
            address => self.debuggee.descriptions().iter().find(|register| register.address == address)?.name.to_owned(),
        };
        let verb = if writes { "writes" } else { "reads" };
        of.is_none_or(|of| of == address).then(|| format!("the next instruction {verb} {name}"))
    }

    /// What a command of the debugger's `monitor` prints.
    fn monitor(&mut self, command: &str) -> String {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["why"] => self.why.clone(),
            ["pmu"] => {
                let registers = self.debuggee.pmu();
                registers.iter().map(|register| format!("{} = {:#x}", register.name, register.value)).collect::<Vec<_>>().join("\n")
            }
            ["stop", "access"] => {
                self.stops.access = Some(None);
                "The guest stops before each access to a register of the PMU.".to_owned()
            }
            ["stop", "access", name] => {
                let registers = self.debuggee.descriptions();
                let Some(register) = registers.iter().find(|register| register.name.eq_ignore_ascii_case(name)) else {
                    let names = registers.iter().map(|register| register.name);
                    let hint = suggest::did_you_mean(name, names, "`monitor pmu` lists them");
                    return format!("The PMU has no register `{name}`{hint}");
                };
                self.stops.access = Some(Some(register.address));
                format!("The guest stops before each access to {}.", register.name)
            }
            ["stop", "overflow"] => {
                self.stops.overflow = true;
                "The guest stops after an overflow that asks for an interrupt.".to_owned()
            }
            ["stop", "never"] => {
                self.stops = Stops::default();
                "The guest stops at breakpoints alone.".to_owned()
            }
            _ => COMMANDS.to_owned(),
        }
    }
}

const COMMANDS: &str = "\
monitor stop access           stop before each access to a register of the PMU
monitor stop access REGISTER  stop before each access to this register
monitor stop overflow         stop after an overflow that asks for an interrupt
monitor stop never            stop at breakpoints alone
monitor why                   why the guest has stopped
monitor pmu                   the registers of the PMU";

impl<D: Debuggee> Target for Session<D> {
    type Arch = Processor<D>;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> SingleThreadBase for Session<D> {
    fn read_registers(&mut self, registers: &mut Bytes) -> TargetResult<(), Self> {
        registers.0 = self.debuggee.registers();
        Ok(())
    }

    fn write_registers(&mut self, registers: &Bytes) -> TargetResult<(), Self> {
        let bytes: Vec<u8> = registers.0.iter().map(|byte| byte.unwrap_or(0)).collect();
        self.debuggee.set_registers(&bytes).ok_or(TargetError::NonFatal)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8]) -> TargetResult<usize, Self> {
        let mut read = 0;
        for byte in data.iter_mut() {
            let Some(at) = start.checked_add(read as u64).and_then(|address| self.debuggee.physical(address)) else { break };
            if self.debuggee.memory().read_bytes(at, std::slice::from_mut(byte)).is_err() {
                break;
            }
            read += 1;
        }
        if read == 0 && !data.is_empty() { Err(TargetError::NonFatal) } else { Ok(read) }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8]) -> TargetResult<(), Self> {
        for (offset, byte) in (0u64..).zip(data) {
            let at = start.checked_add(offset).and_then(|address| self.debuggee.physical(address)).ok_or(TargetError::NonFatal)?;
            self.debuggee.memory().write_bytes(at, &[*byte]).map_err(|_| TargetError::NonFatal)?;
        }
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> SingleThreadResume for Session<D> {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.single = false;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> SingleThreadSingleStep for Session<D> {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.single = true;
        Ok(())
    }
}

impl<D: Debuggee> Breakpoints for Session<D> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> SwBreakpoint for Session<D> {
    fn add_sw_breakpoint(&mut self, address: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.breakpoints.len() < BREAKPOINTS && self.breakpoints.insert(address))
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.breakpoints.remove(&address))
    }
}

impl<D: Debuggee> HwBreakpoint for Session<D> {
    fn add_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(address, kind)
    }
}

impl<D: Debuggee> MonitorCmd for Session<D> {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Self::Error> {
        let text = self.monitor(&String::from_utf8_lossy(command));
        outputln!(out, "{text}");
        Ok(())
    }
}

/// Runs the guest until it stops or the debugger says something.
pub(super) struct Blocking<D>(PhantomData<D>);

impl<D: Debuggee> BlockingEventLoop for Blocking<D> {
    type Target = Session<D>;
    type Connection = TcpStream;
    type StopReason = SingleThreadStopReason<u64>;

    fn wait_for_stop_reason(
        session: &mut Session<D>,
        connection: &mut Self::Connection,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<&'static str, std::io::Error>> {
        loop {
            for _ in 0..PATIENCE {
                if let Some(reason) = session.step() {
                    return Ok(Event::TargetStopped(reason));
                }
            }
            if connection.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = connection.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(session: &mut Session<D>) -> Result<Option<Self::StopReason>, &'static str> {
        Ok(Some(session.stop("the debugger interrupted it", Signal::SIGINT)))
    }
}
