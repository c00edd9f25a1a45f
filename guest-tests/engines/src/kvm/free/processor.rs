//! One vCPU of KVM that runs freely, and what its exits ask for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kvm_bindings::{KVM_GUESTDBG_ENABLE, KVM_GUESTDBG_USE_SW_BP, kvm_guest_debug, kvm_regs, kvm_sregs, kvm_vcpu_events};
use kvm_ioctls::{SyncReg, VcpuExit, VcpuFd};

use super::super::able::VECTORS;
use super::super::alarm::{Alarm, Stopwatch, timestamp};
use super::super::host::Host;
use super::super::{registers as stepped, unchecked};
use super::breakpoints::Breakpoints;
use super::{Timed, registers};
use crate::memory::PAGE;
use crate::x86::cache::LONGEST;
use crate::x86::cpu::{Cpu, Wait};
use crate::x86::exec::execute;
use crate::x86::fault::{Fault, Stop, vector};
use crate::x86::flags::IF;
use crate::x86::machine::exit_of;
use crate::x86::mailbox::Woken;
use crate::x86::op::{Decoded, Op};
use crate::x86::saved::Shadow;
use crate::x86::state::{Core, NEXT, RSP};
use crate::x86::tlb::grant;
use crate::x86::{CpuView, Exit};

/// How long a vCPU runs at most before it checks what others have sent.
const LONGEST_TURN: Duration = Duration::from_millis(1);
/// How long a halted CPU sleeps at most, for the same reason.
const LONGEST_REST: Duration = Duration::from_micros(500);
/// An alarm that rang before the vCPU ran is lost; this is when the next one rings.
const AGAIN: Duration = Duration::from_micros(50);
/// KVM's names of what holds off NMIs and interrupts for one instruction.
const SHADOW_STI: u8 = 2;
const SHADOW_STACK: u8 = 1;
/// What KVM calls the exception of INT3.
const BREAKPOINT: u32 = vector::BP as u32;
/// The most instructions that the engine executes at level 3 before it checks what is due.
const SLICE: u32 = 256;
/// The sizes of accesses that devices know, in bytes.
const WORDS: [usize; 4] = [1, 2, 4, 8];

/// What an exit left to be done.
enum Left {
    /// Nothing: the vCPU is between two instructions.
    Nothing,
    /// KVM completes the instruction when the vCPU runs on.
    Completion,
    /// The engine executes the instruction at this address.
    Instruction(u64),
    /// The same, and the guest wrote something: what it counts may have changed.
    Written,
}

/// A vCPU that runs freely until an exit asks something of the engine.
#[derive(Debug)]
pub(super) struct Processor {
    vcpu: VcpuFd,
    // Dropped after the vCPU.
    host: Arc<Host>,
    breakpoints: Arc<Breakpoints>,
    /// Marks that a handler of a fault is not to see.
    uncovered: Vec<u64>,
    /// The engine executes everything at level 3.
    user: bool,
    /// Ticks of the time-stamp counter in a millisecond.
    kilohertz: u64,
    regs: kvm_regs,
    sregs: kvm_sregs,
    events: kvm_vcpu_events,
    /// KVM has an instruction to complete.
    completes: bool,
}

impl Processor {
    /// The vCPU of this number in the state of `core`, or in one line why there is none.
    pub(super) fn new(
        host: &Arc<Host>,
        mut vcpu: VcpuFd,
        core: &Core,
        breakpoints: &Arc<Breakpoints>,
        user: bool,
    ) -> Result<Processor, String> {
        let shows = |error| format!("KVM shows no registers: {error}");
        let kilohertz = vcpu.get_tsc_khz().map_err(|error| format!("KVM does not say how fast the time-stamp counter is: {error}"))?;
        let (regs, sregs) = (registers::general(core), registers::special(core, &vcpu.get_sregs().map_err(shows)?));
        vcpu.set_sregs(&sregs).map_err(|error| format!("KVM refuses the first registers: {error}"))?;
        vcpu.set_regs(&regs).map_err(|error| format!("KVM refuses the first registers: {error}"))?;
        registers::give_fast(core, &vcpu)?;
        unchecked::give_vectors(&vcpu, &core.xmm)?;
        let control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP;
        let debug = kvm_guest_debug { control, ..kvm_guest_debug::default() };
        vcpu.set_guest_debug(&debug).map_err(|error| format!("KVM has no breakpoints: {error}"))?;
        let events = vcpu.get_vcpu_events().map_err(shows)?;
        for register in [SyncReg::Register, SyncReg::SystemRegister, SyncReg::VcpuEvents] {
            vcpu.set_sync_valid_reg(register);
        }
        let (host, breakpoints, kilohertz) = (Arc::clone(host), Arc::clone(breakpoints), u64::from(kilohertz).max(1));
        Ok(Processor { vcpu, host, breakpoints, uncovered: Vec::new(), user, kilohertz, regs, sregs, events, completes: false })
    }

    /// Runs the CPU until it, or another, stops the machine, or until it is `late`.
    pub(super) fn run<O: Timed>(&mut self, cpu: &mut Cpu<O>, late: Instant) -> Option<Exit> {
        let index = cpu.core.index;
        let alarm = match Alarm::of_this_thread() {
            Ok(alarm) => alarm,
            Err(reason) => return Some(exit_of(index, Stop::Executor { rip: cpu.core.rip, reason })),
        };
        loop {
            if let Some(stop) = cpu.core.stop.take() {
                return Some(exit_of(index, *stop));
            }
            if cpu.core.shared.interrupter.stopping() {
                return None;
            }
            if Instant::now() >= late {
                return Some(Exit::Limit);
            }
            let wait = cpu.wait();
            if wait == Wait::Running {
                if let Err(reason) = self.turn(cpu, &alarm) {
                    let rip = cpu.core.rip;
                    cpu.core.stop(Stop::Executor { rip, reason });
                }
                continue;
            }
            alarm.stop();
            let before = timestamp();
            if let Wait::Cycles(cycles) = wait {
                std::thread::sleep(self.time(cycles).min(LONGEST_REST));
            } else {
                let interrupter = cpu.core.shared.interrupter.clone();
                if let Woken::Never = interrupter.sleep(index) {
                    return Some(Exit::Halted);
                }
            }
            cpu.elapse(timestamp().saturating_sub(before));
        }
    }

    /// How long so many cycles take.
    fn time(&self, cycles: u64) -> Duration {
        let nanoseconds = u128::from(cycles) * 1_000_000 / u128::from(self.kilohertz);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// Runs the vCPU to its next exit, and does what that asks for.
    fn turn<O: Timed>(&mut self, cpu: &mut Cpu<O>, alarm: &Alarm) -> Result<(), String> {
        cpu.collect();
        let interrupts = cpu.core.nmi_pending || cpu.core.apic.interrupt_pending();
        // What is injected must not meet an instruction that KVM has begun.
        self.vcpu.set_kvm_immediate_exit(u8::from(interrupts && self.completes));
        if !self.completes {
            let injected = self.offer(&mut cpu.core);
            if self.user && self.sregs.ss.dpl == 3 && !injected {
                return self.by_the_engine(cpu, self.regs.rip);
            }
        }
        let due = cpu.core.apic.due().saturating_sub(cpu.core.cycles);
        let room = cpu.observer.room().map_or(due, |room| room.min(due));
        alarm.set(self.time(room).clamp(Duration::from_micros(1), LONGEST_TURN), AGAIN);
        self.vcpu.get_kvm_run().cr8 = cpu.core.apic.cr8();
        let left = self.execute(cpu)?;
        let synchronised = self.vcpu.sync_regs();
        (self.regs, self.sregs, self.events) = (synchronised.regs, synchronised.sregs, synchronised.events);
        let priority = self.vcpu.get_kvm_run().cr8;
        if priority != cpu.core.apic.cr8() {
            cpu.core.apic.set_cr8(priority);
        }
        self.report_context(cpu);
        self.completes = matches!(left, Left::Completion | Left::Written);
        match left {
            Left::Nothing | Left::Completion => Ok(()),
            Left::Instruction(rip) => self.by_the_engine(cpu, rip),
            Left::Written => match cpu.observer.beyond_cycles() {
                None => Ok(()),
                Some(what) => Err(format!("`--cycles tsc` does not count {what}")),
            },
        }
    }

    /// Hands pending interrupts to KVM, or has KVM exit when it can take one. Returns whether one is delivered before the next instruction.
    fn offer(&mut self, core: &mut Core) -> bool {
        let events = &mut self.events;
        let busy = events.exception.injected != 0 || events.exception.pending != 0 || events.interrupt.injected != 0;
        let shadow = events.interrupt.shadow != 0;
        let mut changed = false;
        if core.nmi_pending && events.nmi.pending == 0 {
            events.nmi.pending = 1;
            core.nmi_pending = false;
            changed = true;
        }
        let first = events.nmi.injected != 0 || events.nmi.pending != 0 && events.nmi.masked == 0;
        let open = self.regs.rflags & IF != 0 && !shadow && !busy && !first;
        if open && let Some(vector) = core.apic.acknowledge() {
            events.interrupt.injected = 1;
            events.interrupt.nr = vector;
            events.interrupt.soft = 0;
            changed = true;
        }
        self.vcpu.get_kvm_run().request_interrupt_window = u8::from(core.apic.interrupt_pending());
        if changed {
            self.vcpu.sync_regs_mut().events = self.events;
            self.vcpu.set_sync_dirty_reg(SyncReg::VcpuEvents);
        }
        changed && events_due(&self.events)
    }

    /// Runs the vCPU, advances time by as long as it ran, and handles its exit.
    fn execute<O: Timed>(&mut self, cpu: &mut Cpu<O>) -> Result<Left, String> {
        let watch = Stopwatch::start();
        let exit = self.vcpu.run();
        spend(cpu, watch.ticks(self.kilohertz));
        let core = &mut cpu.core;
        let exit = match exit {
            Err(error) if matches!(error.errno(), libc::EINTR | libc::EAGAIN) => return Ok(Left::Nothing),
            exit => exit.map_err(|error| format!("KVM does not run the vCPU: {error}"))?,
        };
        match exit {
            VcpuExit::Intr | VcpuExit::IrqWindowOpen | VcpuExit::SetTpr => Ok(Left::Nothing),
            VcpuExit::IoOut(port, data) => {
                core.port_out(port, size(data)?, word(data) as u32);
                Ok(Left::Written)
            }
            VcpuExit::IoIn(port, data) => {
                let value = core.port_in(port, size(data)?);
                fill(data, value.into());
                Ok(Left::Completion)
            }
            VcpuExit::MmioWrite(address, data) => {
                each(data.len(), |at, size| core.write_device(address + at as u64, size as u8, word(&data[at..at + size])));
                Ok(Left::Written)
            }
            VcpuExit::MmioRead(address, data) => {
                each(data.len(), |at, size| fill(&mut data[at..at + size], core.read_device(address + at as u64, size as u8)));
                Ok(Left::Completion)
            }
            VcpuExit::X86Rdmsr(access) => {
                // KVM asks for level 0 only.
                core.cpl = 0;
                let read = match cpu.observer.rdmsr(access.index, &CpuView::new(core)) {
                    Some(read) => read.ok(),
                    None => core.read_msr(access.index).ok(),
                };
                *access.data = read.unwrap_or_default();
                *access.error = u8::from(read.is_none());
                Ok(Left::Completion)
            }
            VcpuExit::X86Wrmsr(access) => {
                core.cpl = 0;
                let written = match cpu.observer.wrmsr(access.index, access.data, &CpuView::new(core)) {
                    Some(written) => written.is_ok(),
                    None => core.write_msr(access.index, access.data).is_ok(),
                };
                *access.error = u8::from(!written);
                Ok(Left::Written)
            }
            VcpuExit::Hlt => {
                core.halted = true;
                core.context_changed = true;
                Ok(Left::Nothing)
            }
            VcpuExit::Debug(debug) if debug.exception == BREAKPOINT => Ok(Left::Instruction(debug.pc)),
            // It knows no such instruction.
            VcpuExit::InternalError => Ok(Left::Instruction(self.vcpu.sync_regs().regs.rip)),
            VcpuExit::Shutdown => Err("an exception while delivering #DF".to_owned()),
            other => Err(format!("an exit that is not foreseen: {other:?}")),
        }
    }

    /// Reports the vCPU's context to the observer.
    fn report_context<O: Timed>(&mut self, cpu: &mut Cpu<O>) {
        let core = &mut cpu.core;
        let before = (core.cpl, core.rflags & IF, core.cr4);
        core.rip = self.regs.rip;
        core.cpl = self.sregs.ss.dpl;
        core.rflags = self.regs.rflags;
        core.cr4 = self.sregs.cr4;
        if std::mem::take(&mut core.context_changed) || before != (core.cpl, core.rflags & IF, core.cr4) {
            cpu.observer.context(&CpuView::new(core));
        }
    }

    /// The instruction at RIP, or what fetching it faults with.
    fn fetch(&self, core: &mut Core) -> Result<Decoded, Fault> {
        core.translate(core.rip, grant::EXECUTE)?;
        let decoded = self.breakpoints.instruction(core, self.host.memory());
        // For an invalid instruction, as many bytes as were read.
        let length = decoded.as_ref().map_or(LONGEST as u64, |decoded| u64::from(decoded.info.length));
        let last = core.rip.wrapping_add(length - 1);
        if last / PAGE != core.rip / PAGE {
            core.translate(last & !(PAGE - 1), grant::EXECUTE)?;
        }
        decoded.ok_or(Fault::UD)
    }

    /// Executes the instruction at `rip` as the interpreter does, and at most [`SLICE`] of those that follow it at level 3 if the engine
    /// executes that level.
    fn by_the_engine<O: Timed>(&mut self, cpu: &mut Cpu<O>, rip: u64) -> Result<(), String> {
        let core = &mut *cpu.core;
        registers::take(core, &kvm_regs { rip, ..self.regs }, &self.sregs);
        registers::take_fast(core, &self.vcpu)?;
        core.nmi_blocked = self.events.nmi.masked != 0;
        let mut vectors = false;
        let watch = Stopwatch::start();
        for _ in 0..SLICE {
            let core = &mut *cpu.core;
            let fetched = self.fetch(core);
            let op = fetched.as_ref().map_or(Op::Ud, |decoded| decoded.op);
            if VECTORS.contains(&op) && !vectors {
                core.xmm = stepped::take_vectors(&self.vcpu)?;
                vectors = true;
            }
            let at = core.rip;
            if instruction(cpu, fetched) == Outcome::Fault {
                // Its handler may read the code.
                let rip = std::mem::replace(&mut cpu.core.rip, at);
                self.uncovered.extend(self.breakpoints.uncover(&cpu.core, self.host.memory()));
                cpu.core.rip = rip;
            } else if op == Op::Iret {
                self.uncovered.drain(..).for_each(|place| self.breakpoints.cover(place, self.host.memory()));
            }
            if cpu.core.stop.is_some() {
                return Ok(());
            }
            if !(self.user && cpu.core.cpl == 3) {
                break;
            }
        }
        let core = &mut *cpu.core;
        registers::give_fast(core, &self.vcpu)?;
        if vectors {
            unchecked::give_vectors(&self.vcpu, &core.xmm)?;
        }
        self.regs = registers::general(core);
        self.sregs = registers::special(core, &self.sregs);
        self.events.nmi.masked = u8::from(core.nmi_blocked);
        self.events.interrupt.shadow = match std::mem::take(&mut core.shadow) {
            Shadow::None => 0,
            Shadow::Sti => SHADOW_STI,
            Shadow::Stack => SHADOW_STACK,
        };
        // KVM has prepared an exception for what it did not know.
        self.events.exception = kvm_vcpu_events::default().exception;
        let held = self.vcpu.sync_regs_mut();
        (held.regs, held.sregs, held.events) = (self.regs, self.sregs, self.events);
        for register in [SyncReg::Register, SyncReg::SystemRegister, SyncReg::VcpuEvents] {
            self.vcpu.set_sync_dirty_reg(register);
        }
        if self.user {
            spend(cpu, watch.ticks(self.kilohertz));
        }
        Ok(())
    }
}

/// Whether something is delivered when the vCPU runs on.
fn events_due(events: &kvm_vcpu_events) -> bool {
    events.interrupt.injected != 0 || events.nmi.injected != 0 || events.nmi.pending != 0 && events.nmi.masked == 0
}

/// Advances time by what a CPU executed.
fn spend<O: Timed>(cpu: &mut Cpu<O>, cycles: u64) {
    let core = &mut cpu.core;
    core.cycles = core.cycles.wrapping_add(cycles);
    if cpu.observer.elapse(cycles, &CpuView::new(core)).performance_interrupt {
        core.performance_interrupt();
    }
}

/// What became of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is done, or one iteration of it.
    Done,
    /// It faulted, and its handler is next.
    Fault,
}

/// Executes one instruction, or what it faults to.
fn instruction<O: Timed>(cpu: &mut Cpu<O>, fetched: Result<Decoded, Fault>) -> Outcome {
    let core = &mut *cpu.core;
    core.repeating = false;
    core.step.begin(core.rip);
    core.step.cpl = core.cpl;
    let rsp = core.gpr[RSP];
    let executed = fetched.and_then(|decoded| {
        core.next = core.rip.wrapping_add(u64::from(decoded.info.length));
        core.step.instruction = decoded.info;
        core.gpr[usize::from(NEXT)] = core.next;
        execute(core, &decoded, &mut cpu.observer).map_err(|fault| if decoded.stack { fault.on_stack() } else { fault })
    });
    let outcome = match executed {
        Ok(()) => {
            if core.repeating {
                core.next = core.rip;
            }
            Outcome::Done
        }
        Err(fault) => {
            core.gpr[RSP] = rsp;
            core.repeating = false;
            core.shadow = Shadow::None;
            core.raise(fault);
            if fault == Fault::Stop {
                return Outcome::Fault;
            }
            Outcome::Fault
        }
    };
    core.rip = core.next;
    if std::mem::take(&mut core.context_changed) {
        cpu.observer.context(&CpuView::new(core));
    }
    outcome
}

/// The size of an access to a port. Strings never come here: the engine executes them.
fn size(data: &[u8]) -> Result<u8, String> {
    match data.len() {
        size @ (1 | 2 | 4) => Ok(size as u8),
        size => Err(format!("KVM moves {size} bytes through a port at once")),
    }
}

/// The bytes as a number.
fn word(data: &[u8]) -> u64 {
    data.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The number as bytes.
fn fill(data: &mut [u8], value: u64) {
    data.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, part)| *byte = part);
}

/// The pieces of an access of so many bytes that devices know: where each begins, and its size.
fn each(bytes: usize, mut access: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at < bytes {
        let size = WORDS.into_iter().rev().find(|size| *size <= bytes - at).unwrap_or(1);
        access(at, size);
        at += size;
    }
}
