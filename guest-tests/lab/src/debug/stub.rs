//! What the debugger asks for.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::net::TcpStream;
use std::num::NonZeroUsize;

use gdbstub::arch::{Arch, Registers};
use gdbstub::common::{Signal, Tid};
use gdbstub::conn::ConnectionExt;
use gdbstub::outputln;
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps,
    MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use vm_pmu::Address;
use vm_pmu::arch::model::RegisterDescription;

use super::Debuggee;
use crate::held::{self, Stop};
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
    pub(super) debuggee: D,
    left: u64,
    ended: Option<Stop>,
    /// The CPU that took the last step, or is about to take one.
    cpu: usize,
    /// CPUs that stop after a step.
    stepping: BTreeSet<usize>,
    breakpoints: BTreeSet<u64>,
    /// Breakpoints that are gone since the guest stopped: `gdb` takes all of them away while a CPU steps from one.
    removed: BTreeSet<u64>,
    /// The CPU that has stopped before its next instruction, and the address: it executes that when it goes on.
    passing: Option<(usize, Option<u64>)>,
    stops: Stops,
    why: String,
}

impl<D: Debuggee> Session<D> {
    pub(super) fn new(debuggee: D, steps: u64) -> Session<D> {
        Session {
            debuggee,
            left: steps,
            ended: None,
            cpu: 0,
            stepping: BTreeSet::new(),
            breakpoints: BTreeSet::new(),
            removed: BTreeSet::new(),
            passing: None,
            stops: Stops::default(),
            why: "the guest has not run yet".to_owned(),
        }
    }

    /// Whether the run has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// How many steps are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Takes a step; why the guest stops before or after it, if it does.
    fn step(&mut self) -> Option<MultiThreadStopReason<u64>> {
        if let Some(stop) = &self.ended {
            // It stopped there once, so that the debugger could look at it.
            return Some(stop.status.map_or(MultiThreadStopReason::Terminated(Signal::SIGKILL), MultiThreadStopReason::Exited));
        }
        if self.left == 0 {
            const LIMIT: &str = "the limit of steps was reached";
            self.ended = Some(Stop { status: None, words: LIMIT.to_owned() });
            return Some(self.stop(LIMIT, Signal::SIGXCPU));
        }
        self.cpu = match self.debuggee.prepare() {
            Ok(cpu) => cpu,
            Err(stop) => return Some(self.end(stop)),
        };
        let here = (self.cpu, self.debuggee.next(self.cpu));
        if self.passing.take() != Some(here)
            && let Some(reason) = self.stop_before()
        {
            self.passing = Some(here);
            return Some(reason);
        }
        self.left -= 1;
        let overflows = self.overflows();
        if let Some(stop) = self.debuggee.step() {
            return Some(self.end(stop));
        }
        if self.stops.overflow && self.overflows() > overflows {
            return Some(self.stop("a counter has overflowed and asked for an interrupt", Signal::SIGTRAP));
        }
        // At a breakpoint it stops when its next turn has come: it can then be stepped from there before another CPU runs.
        if self.stepping.contains(&self.cpu) && !self.is_at_breakpoint() {
            return Some(self.stop("a single step", Signal::SIGTRAP));
        }
        None
    }

    /// Why the CPU stops before its next instruction, if it does.
    fn stop_before(&mut self) -> Option<MultiThreadStopReason<u64>> {
        if let Some(why) = self.stops.access.and_then(|of| self.access(of)) {
            return Some(self.stop(&why, Signal::SIGTRAP));
        }
        self.is_at_breakpoint().then(|| {
            self.stop("a breakpoint", Signal::SIGTRAP);
            MultiThreadStopReason::SwBreak(tid(self.cpu))
        })
    }

    fn is_at_breakpoint(&self) -> bool {
        let is_one = |address: u64| self.breakpoints.contains(&address) || self.removed.contains(&address);
        self.debuggee.next(self.cpu).is_some_and(is_one)
    }

    /// The run has ended.
    fn end(&mut self, stop: Stop) -> MultiThreadStopReason<u64> {
        let status = stop.status;
        self.ended = Some(stop);
        match status {
            Some(status) => MultiThreadStopReason::Exited(status),
            None => self.stop("the machine cannot continue", Signal::SIGSEGV),
        }
    }

    /// The PMU's registers.
    fn descriptions(&self) -> &'static [RegisterDescription] {
        self.debuggee.pmus().thread(0).map_or(&[], |thread| thread.registers())
    }

    /// How often counters have asked for an interrupt.
    fn overflows(&self) -> u64 {
        self.debuggee.pmus().line().requested().iter().map(|one| one.requested).sum()
    }

    /// Whether there are several CPUs, which are then told apart.
    fn has_several(&self) -> bool {
        self.debuggee.threads() > 1
    }

    /// The CPU stops, with all others.
    fn stop(&mut self, why: &str, signal: Signal) -> MultiThreadStopReason<u64> {
        self.removed.clear();
        self.why = if self.has_several() { format!("CPU {}: {why}", self.cpu) } else { why.to_owned() };
        MultiThreadStopReason::SignalWithThread { tid: tid(self.cpu), signal }
    }

    /// What the next instruction does to the register `of` of the PMU, or to any.
    fn access(&self, of: Option<Address>) -> Option<String> {
        let (address, writes) = self.debuggee.access(self.cpu)?;
        let name = match address {
            Address::Rdpmc(counter) => format!("counter {counter} by RDPMC"),
            address => self.descriptions().iter().find(|register| register.address == address)?.name.to_owned(),
        };
        let verb = if writes { "writes" } else { "reads" };
        of.is_none_or(|of| of == address).then(|| format!("the next instruction {verb} {name}"))
    }

    /// The registers of every PMU.
    fn registers(&self) -> String {
        let mut lines = Vec::new();
        for cpu in 0..self.debuggee.threads() {
            let Some(thread) = self.debuggee.pmus().thread(cpu) else { break };
            if self.has_several() {
                lines.push(format!("CPU {cpu}:"));
            }
            lines.extend(held::registers(cpu, &thread).iter().map(|register| format!("{} = {:#x}", register.name, register.value)));
        }
        lines.join("\n")
    }

    /// What a command of the debugger's `monitor` prints.
    fn monitor(&mut self, command: &str) -> String {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["why"] => self.why.clone(),
            ["pmu"] => self.registers(),
            ["stop", "access"] => {
                self.stops.access = Some(None);
                "The guest stops before each access to a register of the PMU.".to_owned()
            }
            ["stop", "access", name] => {
                let registers = self.descriptions();
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
            [] | ["help"] => COMMANDS.to_owned(),
            _ => format!("`monitor {}` is no command. There are:\n{COMMANDS}", words.join(" ")),
        }
    }
}

const COMMANDS: &str = "\
monitor stop access           stop before each access to a register of the PMU
monitor stop access REGISTER  stop before each access to this register
monitor stop overflow         stop after an overflow that asks for an interrupt
monitor stop never            stop at breakpoints alone
monitor why                   why the guest has stopped
monitor pmu                   the registers of the PMU, of each CPU";

/// The debugger's number of a CPU.
fn tid(cpu: usize) -> Tid {
    NonZeroUsize::MIN.saturating_add(cpu)
}

/// The CPU of that number.
fn cpu_of(tid: Tid) -> usize {
    tid.get() - 1
}

impl<D: Debuggee> Target for Session<D> {
    type Arch = Processor<D>;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> MultiThreadBase for Session<D> {
    fn list_active_threads(&mut self, thread_is_active: &mut dyn FnMut(Tid)) -> Result<(), Self::Error> {
        (0..self.debuggee.threads()).map(tid).for_each(thread_is_active);
        Ok(())
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }

    fn read_registers(&mut self, registers: &mut Bytes, thread: Tid) -> TargetResult<(), Self> {
        registers.0 = self.debuggee.registers(cpu_of(thread));
        Ok(())
    }

    fn write_registers(&mut self, registers: &Bytes, thread: Tid) -> TargetResult<(), Self> {
        let bytes: Vec<u8> = registers.0.iter().map(|byte| byte.unwrap_or(0)).collect();
        self.debuggee.set_registers(cpu_of(thread), &bytes).ok_or(TargetError::NonFatal)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], thread: Tid) -> TargetResult<usize, Self> {
        let (cpu, mut read) = (cpu_of(thread), 0);
        for byte in data.iter_mut() {
            let address = start.checked_add(read as u64);
            if let Some(kept) = address.and_then(|address| self.debuggee.beyond_memory(cpu, address)) {
                *byte = kept;
                read += 1;
                continue;
            }
            let Some(at) = address.and_then(|address| self.debuggee.physical(cpu, address)) else { break };
            if self.debuggee.memory().read_bytes(at, std::slice::from_mut(byte)).is_err() {
                break;
            }
            read += 1;
        }
        if read == 0 && !data.is_empty() { Err(TargetError::NonFatal) } else { Ok(read) }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8], thread: Tid) -> TargetResult<(), Self> {
        let cpu = cpu_of(thread);
        // It would be lost when the register is written there.
        let mut addresses = (0u64..).zip(data).filter_map(|(offset, _)| start.checked_add(offset));
        if addresses.any(|address| self.debuggee.beyond_memory(cpu, address).is_some()) {
            return Err(TargetError::NonFatal);
        }
        for (offset, byte) in (0u64..).zip(data) {
            let at = start.checked_add(offset).and_then(|address| self.debuggee.physical(cpu, address)).ok_or(TargetError::NonFatal)?;
            self.debuggee.memory().write_bytes(at, &[*byte]).map_err(|_| TargetError::NonFatal)?;
        }
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> ThreadExtraInfo for Session<D> {
    fn thread_extra_info(&self, thread: Tid, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let text = format!("CPU {}", cpu_of(thread));
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text.as_bytes()[..length]);
        Ok(length)
    }
}

impl<D: Debuggee> MultiThreadResume for Session<D> {
    fn resume(&mut self) -> Result<(), Self::Error> {
        if self.stepping.is_empty() {
            self.removed.clear();
        }
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Self::Error> {
        self.stepping.clear();
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _thread: Tid, _signal: Option<Signal>) -> Result<(), Self::Error> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debuggee> MultiThreadSchedulerLocking for Session<D> {
    // The others take their turns all the same, as a run without a debugger has them. From a breakpoint a CPU steps before they do.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<D: Debuggee> MultiThreadSingleStep for Session<D> {
    fn set_resume_action_step(&mut self, thread: Tid, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.stepping.insert(cpu_of(thread));
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
        let is_there = self.breakpoints.remove(&address);
        if is_there && self.removed.len() < BREAKPOINTS {
            self.removed.insert(address);
        }
        Ok(is_there)
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
    type StopReason = MultiThreadStopReason<u64>;

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
