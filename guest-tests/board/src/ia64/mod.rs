//! The glue between the IA-64 interpreter and the PMU of an Itanium: what any emulator writes once.
//!
//! [`Cpu`] is an [`Observer`]: it adds what each step did to the thread's totals, reports records and services the PMU at deadlines, passes
//! on contexts, breakpoint registers and register accesses, and reports interrupts to the processor.
//!
//! # What a step adds
//!
//! - A bundle is one cycle, at its first instruction, and so is an interruption, unless a companion keeps the time. Cycles in which a thread
//!   waits for data, or threads change places, belong to the thread in the foreground; those of a halted core are halted cycles of each of
//!   its threads.
//! - An instruction belongs to the PSR it starts with; a taken interruption to the one that it interrupts.
//! - Accesses of the register stack engine come before the instruction that waits for them, each with its own record.
//! - A thread that goes to the background has its switch counted before.

mod beside;
mod callers;
mod following;
mod ledger;
mod outside;
mod record;
mod run;
mod saved;
mod signals;
mod unwind;

pub use run::run;
pub use saved::{Attached, CpuState, Rig};

pub use signals::supplies;
pub use unwind::{MOST_DESCRIPTORS, Procedure, Procedures};

use std::sync::Arc;

use vm_pmu::Cpu as Pmu;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::{Context, DataSource, Occasion, Record, Records, Signal, SignalSet};
use vm_pmu::arch::ia64::{PerfMonInfo, Psr};
use vm_pmu::companion::{Access as CompanionAccess, Follower, Outcome};
use vm_pmu::cpu::Counts;
use vm_pmu::topology::Thread;

use super::Lines;
use super::beside::Beside;
use crate::report::Trace;
use crate::trace::{Place, Recorder, Surrounding, Tracer};
use crate::{Deliveries, Usage};
pub use ledger::Ledger;
use vm_pmu_engines::ia64::registers::cr;
use vm_pmu_engines::ia64::{
    Access, AccessKind, Alerts, CpuView, Gate, L3Miss, Notice, Observer, PerformanceMonitorInfo, RegisterFault, Step, Switch, Taken,
};

/// IBR0-7 and DBR0-7.
const BREAKPOINTS: usize = 16;

/// One thread of the engine, attached to one thread of a PMU machine.
#[derive(Debug)]
pub struct Cpu<'a> {
    pmu: Pmu<'a, Lines>,
    lines: Lines,
    info: PerfMonInfo,
    /// The accesses of the last step, as the companion knows them.
    accesses: Vec<CompanionAccess>,
    /// Misses of the third level are reported to the processor, which may switch to its other thread meanwhile.
    tells_misses: bool,
    breakpoints: [u64; BREAKPOINTS],
    foreground: bool,
    /// The cycle of the core at which the thread left the foreground.
    left: u64,
    instructions: u64,
    ledger: Ledger,
    deliveries: Deliveries,
    usage: Usage,
    /// An interrupt was asked for and has not been taken.
    asked: bool,
    trace: Recorder,
    /// It is beside the guest's own: its monitors are the host's, and so are the breakpoint registers that narrow them.
    is_beside: bool,
    beside: Option<Box<Beside<'a, Cpu<'a>>>>,
    /// What leads to callers.
    procedures: Option<Arc<Procedures>>,
}

impl<'a> Cpu<'a> {
    /// Attaches `thread`, whose interrupt requests arrive at `lines`, to a processor whose firmware returns `info`.
    #[must_use]
    pub fn new(thread: Thread<'a, Lines>, lines: &Lines, info: PerfMonInfo) -> Cpu<'a> {
        Cpu {
            pmu: Pmu::new(thread),
            lines: lines.clone(),
            info,
            accesses: Vec::new(),
            tells_misses: false,
            breakpoints: [0; BREAKPOINTS],
            foreground: true,
            left: 0,
            instructions: 0,
            ledger: Ledger::new(thread.number()),
            deliveries: Deliveries::default(),
            usage: Usage::new(thread.part()),
            asked: false,
            trace: Recorder::default(),
            is_beside: false,
            beside: None,
            procedures: None,
        }
    }

    /// Has `follower` make what the interpreter does not know. With `tells_misses`, misses of the third level are reported to the
    /// processor.
    pub fn follow(&mut self, follower: Follower<'a>, tells_misses: bool) {
        self.pmu.follow(follower, SignalSet::from_iter(signals::KNOWN_BETTER));
        self.pmu.follower_mut().into_iter().for_each(|follower| follower.watch_third_level(tells_misses));
        self.tells_misses = tells_misses;
    }

    /// Adds to the totals of `signals` even while the PMU does not demand them, for a caller that reads the totals.
    pub fn watch(&mut self, signals: SignalSet) {
        self.pmu.watch(signals, Records::NONE);
    }

    /// Instructions retired, whether anything counted them or not.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The counts of the whole run so far.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The interrupts of the PMU that were taken.
    #[must_use]
    pub fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }

    /// What the guest did with its counters.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Traces what passes between the guest and the PMU.
    pub fn record(&mut self, tracer: &Tracer) {
        self.trace = Recorder::new(tracer, self.pmu.thread());
    }

    /// What has been kept.
    #[must_use]
    pub fn trace(&self) -> Vec<Trace> {
        self.trace.kept()
    }

    /// The run is over: counts up to now and takes the last values into the ledger. The thread is left at privilege level 0.
    pub fn close(&mut self) {
        self.ledger.settle(self.pmu.thread());
        self.pmu.set_context(Context::ia64(0, 0));
    }

    /// Reads the demand again if this thread's write changed what it must report, or the other thread's did.
    #[inline]
    fn keep_up(&mut self) {
        self.pmu.sync();
    }

    fn keep(&mut self, address: Address, cpu: &CpuView<'_>, written: (Option<u64>, Option<u64>), answer: Result<u64, Fault>) {
        let place = Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.ip() };
        self.trace.access(self.pmu.thread(), place, address, written, answer);
    }

    fn trace_context(&mut self, context: &Context, cpu: &CpuView<'_>) {
        if self.trace.is_active() {
            self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.ip() });
            self.trace.surround(self.pmu.thread(), Surrounding::of(context, None));
        }
    }

    /// What the trace must know of a step by itself.
    #[cold]
    fn trace_step(&mut self, step: &Step, cpu: &CpuView<'_>) {
        self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: step.next });
        let stores = |access: &Access| matches!(access.kind, AccessKind::Store | AccessKind::Semaphore);
        if let Some(access) = step.access.filter(stores) {
            self.trace.stored(self.pmu.thread(), access.physical, access.size.into());
        }
    }

    fn read(&mut self, address: Address, cpu: &CpuView<'_>) -> Result<u64, RegisterFault> {
        if let Some(other) = self.repeating() {
            // It answers as this one does.
            let _ = other.read(address, cpu);
        }
        let answer = self.pmu.access(|pmu| pmu.read(address));
        if answer.is_ok() {
            self.usage.read(self.pmu.thread(), address);
        }
        self.keep(address, cpu, (None, None), answer);
        answer.map_err(fault)
    }

    fn write(&mut self, address: Address, value: u64, cpu: &CpuView<'_>) -> Result<(), RegisterFault> {
        if let Some(other) = self.repeating() {
            let _ = other.write(address, value, cpu);
        }
        self.ledger.settle(self.pmu.thread());
        let before = self.trace.before(self.pmu.thread(), address);
        let answer = self.pmu.access(|pmu| pmu.write(address, value));
        if answer.is_ok() {
            self.ledger.written(address, self.pmu.thread());
            self.usage.wrote(self.pmu.thread(), address, value);
        }
        self.keep(address, cpu, (before, Some(value)), answer.map(|()| value));
        answer.map_err(fault)
    }

    /// The breakpoint registers are the processor's; the PMU is notified of what changed in them.
    fn advance_breakpoints(&mut self, cpu: &CpuView<'_>) {
        for (index, held) in self.breakpoints.iter_mut().enumerate() {
            let number = index as u8 & 7;
            let (value, address) =
                if index < 8 { (cpu.ibr(index), Address::Ibr(number)) } else { (cpu.dbr(index - 8), Address::Dbr(number)) };
            if *held != value && self.pmu.access(|pmu| pmu.write(address, value)).is_ok() {
                *held = value;
            }
        }
    }

    /// `cycles` elapse without any other event, by the clock that runs or that of a halt.
    fn advance(&mut self, clock: Signal, cycles: u64) {
        self.keep_up();
        // A companion that keeps the time makes the cycles of instructions; these are of none.
        if self.pmu.demand().wants(clock) {
            self.pmu.thread().totals().add(clock, cycles);
            if self.pmu.thread().reached(clock) {
                self.pmu.thread().service();
            }
        }
    }

    /// What a step did. Returns the cycles it took, if the companion keeps the time.
    fn complete(&mut self, step: &Step) -> Option<u32> {
        self.stack(step);
        if self.pmu.is_followed() {
            following::execute(&mut self.pmu, step, &mut self.accesses);
        }
        self.pmu.complete(&Executed(step)).map(|cycles| u32::try_from(cycles).unwrap_or(u32::MAX))
    }

    /// Accesses of the register stack come before the instruction that waits for them, each with its own record.
    fn stack(&self, step: &Step) {
        for access in &step.register_stack {
            signals::memory(access, &self.pmu.counts());
            if self.pmu.demand().records().wants(false, Occasion { memory: true, ..Occasion::default() }) {
                self.pmu.thread().record(&record::of_register_stack(step, access));
            }
        }
    }

    /// An interruption, or a procedure of the firmware, which takes no time of its own, with a companion that keeps the time. Returns the
    /// cycles it took.
    fn interrupt_accompanied(&mut self, notice: &Notice) -> Option<u32> {
        if !self.pmu.is_timed() {
            return None;
        }
        if let Taken::Interruption(_) = notice.taken {
            following::interrupt(&mut self.pmu);
        }
        self.pmu.complete(&Elapsed).map(|cycles| u32::try_from(cycles).unwrap_or(u32::MAX))
    }

    /// What to report to the processor of a miss of the third level.
    fn miss(&self, step: &Step) -> Option<L3Miss> {
        let outcome = self.pmu.follower().filter(|follower| self.tells_misses && follower.is_active())?.outcome();
        let reads = step.access.is_some_and(|access| matches!(access.kind, AccessKind::Load | AccessKind::Semaphore));
        let beyond = outcome.source == DataSource::LocalMemory || outcome.source.is_of_another_package();
        (reads && beyond).then_some(L3Miss { latency: outcome.latency, waits: true })
    }

    /// The miss of the third level that became known in the cycles of a step, for which the thread does not stand still, and how long ago the
    /// thread completed an instruction; none and nothing if the companion does not know.
    fn known_miss(&mut self) -> (Option<L3Miss>, Option<u64>) {
        let tells_misses = self.tells_misses;
        let Some(follower) = self.pmu.follower_mut().filter(|_| tells_misses) else { return (None, None) };
        let miss = follower.third_level_miss();
        let latency = |returns: u64| u32::try_from(returns).unwrap_or(u32::MAX);
        (miss.map(|miss| L3Miss { latency: latency(miss.returns), waits: false }), follower.idle())
    }

    /// The state of the thread. Of a PMU beside the guest's own PSR.up and PSR.pp are set: its monitors are enabled whenever the host has
    /// set them up.
    fn context_of(&self, cpu: &CpuView<'_>, foreground: bool) -> Context {
        let mut psr = Psr::of(cpu.psr());
        if self.is_beside {
            psr.set_up(true);
            psr.set_pp(true);
        }
        Context::ia64(psr.bits(), cpu.dcr()).with_halted(cpu.halted()).with_foreground(foreground)
    }

    /// What comes of a step for the guest.
    #[inline]
    fn retire_own(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        self.instructions += 1;
        self.deliveries.retired(step.ip);
        self.keep_up();
        if self.trace.is_active() {
            self.trace_step(step, cpu);
        }
        let tells_misses = self.tells_misses;
        if let Some(follower) = self.pmu.follower_mut().filter(|_| tells_misses) {
            follower.report_at_most(cpu.until_change());
        }
        let cycles = self.complete(step);
        if !self.pmu.is_followed() {
            return Alerts::NONE;
        }
        let (l3_miss, idle) = if cycles.is_none() { (self.miss(step), None) } else { self.known_miss() };
        Alerts { cycles, l3_miss, idle, ..Alerts::NONE }
    }

    /// What comes of an interruption for the guest.
    fn notice_own(&mut self, notice: &Notice) -> Alerts {
        self.keep_up();
        if let Taken::Interruption(_) = notice.taken {
            let signal = if notice.synchronous { Signal::ExceptionsTaken } else { Signal::InterruptsTaken };
            self.pmu.counts().add(signal, 1);
            if notice.synchronous && self.pmu.demand().records().wants(false, Occasion::branch(true)) {
                self.pmu.thread().record(&record::of_interruption(notice));
            }
            if self.pmu.thread().reached(signal) {
                self.pmu.thread().service();
            }
        }
        if let Some(cycles) = self.interrupt_accompanied(notice) {
            return Alerts { cycles: Some(cycles), ..Alerts::NONE };
        }
        self.advance(Signal::Cycles, u64::from(notice.cycles));
        Alerts::NONE
    }

    /// What comes of a switch of threads for the guest.
    fn switch_own(&mut self, switch: &Switch, cpu: &CpuView<'_>) -> Option<u32> {
        self.keep_up();
        let leaves = self.foreground && !switch.foreground;
        if leaves {
            signals::left(switch, &self.pmu.counts());
            self.left = cpu.cycles();
            self.pmu.serve();
        }
        self.foreground = switch.foreground;
        let context = self.context_of(cpu, switch.foreground);
        self.pmu.set_context(context);
        self.trace_context(&context, cpu);
        if !switch.foreground {
            return None;
        }
        self.pmu.counts().add(Signal::ThreadSwitchOverheadCycles, u64::from(switch.cycles));
        self.pmu.serve();
        let (tells_misses, left) = (self.tells_misses, self.left);
        let follower = self.pmu.follower_mut().filter(|follower| follower.keeps_time() && tells_misses)?;
        follower.resume(cpu.cycles().saturating_sub(left));
        Some(0)
    }
}

/// The offset from IVA of external interrupts (Itanium Architecture Software Developer's Manual, volume 2, section 8.3).
const EXTERNAL_INTERRUPT: u16 = 0x3000;

/// Whether the vector in PMV pends at the processor.
fn monitors_vector_pends(cpu: &CpuView<'_>) -> bool {
    let vector = cpu.cr(cr::PMV) as usize & 0xFF;
    cpu.cr(cr::IRR0 + vector / 64) >> (vector % 64) & 1 == 1
}

fn fault(fault: Fault) -> RegisterFault {
    match fault {
        Fault::ReservedRegisterField => RegisterFault::ReservedRegisterField,
        _ => RegisterFault::PrivilegedOperation,
    }
}

/// A step of the engine.
struct Executed<'s>(&'s Step);

impl vm_pmu::cpu::Step for Executed<'_> {
    #[inline]
    fn count(&self, counts: &Counts<'_>) {
        if !counts.is_timed() {
            counts.add(Signal::Cycles, u64::from(self.0.cycles));
        }
        signals::add(self.0, counts);
    }

    fn occasion(&self) -> Occasion {
        record::occasion(self.0)
    }

    fn record(&self) -> Option<Record> {
        Some(record::record(self.0))
    }

    fn refine(&self, record: &mut Record, outcome: &Outcome) {
        record::refine(record, self.0, outcome);
    }
}

/// Time that the companion makes.
struct Elapsed;

impl vm_pmu::cpu::Step for Elapsed {
    fn count(&self, _counts: &Counts<'_>) {}
}

impl Observer for Cpu<'_> {
    fn read_pmc(&mut self, index: u8, cpu: &CpuView<'_>) -> Result<u64, RegisterFault> {
        self.read(Address::Pmc(index), cpu)
    }

    fn write_pmc(&mut self, index: u8, value: u64, cpu: &CpuView<'_>) -> Result<(), RegisterFault> {
        self.write(Address::Pmc(index), value, cpu)
    }

    fn read_pmd(&mut self, index: u8, cpu: &CpuView<'_>) -> Result<u64, RegisterFault> {
        self.read(Address::Pmd(index), cpu)
    }

    fn write_pmd(&mut self, index: u8, value: u64, cpu: &CpuView<'_>) -> Result<(), RegisterFault> {
        self.write(Address::Pmd(index), value, cpu)
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        if cpu.cpl() == 0 && !self.is_beside {
            self.advance_breakpoints(cpu);
        }
        let context = self.context_of(cpu, cpu.foreground());
        self.pmu.set_context(context);
        self.usage.moved(self.pmu.thread(), &context);
        self.trace_context(&context, cpu);
        if let Some(beside) = &mut self.beside {
            beside.cpu.context(cpu);
        }
    }

    #[inline]
    fn retire(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        let alerts = self.retire_own(step, cpu);
        if self.beside.is_some() {
            self.retire_beside(step, cpu);
        }
        alerts
    }

    fn notice(&mut self, notice: &Notice, cpu: &CpuView<'_>) -> Alerts {
        let is_delivery = self.asked && notice.taken == Taken::Interruption(EXTERNAL_INTERRUPT) && monitors_vector_pends(cpu);
        if is_delivery {
            self.asked = false;
            self.deliveries.take(notice.ip, false);
        }
        if self.trace.is_active() {
            self.keep_up();
            self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: notice.ip });
            if is_delivery {
                self.trace.taken(self.pmu.thread(), notice.ip);
            }
        }
        if let Some(beside) = &mut self.beside {
            beside.cpu.notice_own(notice);
        }
        self.notice_own(notice)
    }

    fn switched(&mut self, switch: &Switch, cpu: &CpuView<'_>) -> Option<u32> {
        if let Some(beside) = &mut self.beside {
            beside.cpu.switched(switch, cpu);
        }
        self.switch_own(switch, cpu)
    }

    fn gated(&mut self, gate: Gate) {
        if let Some(beside) = &mut self.beside {
            beside.cpu.gated(gate);
        }
        self.keep_up();
        self.pmu.counts().add(signals::gated(gate), 1);
        self.pmu.serve();
    }

    #[inline]
    fn interrupt(&mut self) -> bool {
        let asked = self.lines.take(self.pmu.thread().number());
        self.asked |= asked.is_some();
        if self.trace.is_active() {
            if let Some(counters) = asked {
                self.trace.interrupt(self.pmu.thread(), counters);
            }
            self.trace.step(self.pmu.thread());
        }
        asked.is_some()
    }

    fn stalled(&mut self, cycles: u64) {
        self.advance(Signal::Cycles, cycles);
        if let Some(beside) = &mut self.beside {
            beside.cpu.stalled(cycles);
        }
    }

    fn waited(&mut self, cycles: u64) {
        self.advance(Signal::HaltedCycles, cycles);
        if let Some(beside) = &mut self.beside {
            beside.cpu.waited(cycles);
        }
    }

    fn wait_deadline(&self) -> Option<u64> {
        match self.pmu.thread().deadlines().distance(Signal::HaltedCycles, self.pmu.thread().totals()) {
            u64::MAX => None,
            distance => Some(distance.max(1)),
        }
    }

    fn performance_monitor_info(&self) -> PerformanceMonitorInfo {
        PerformanceMonitorInfo { info: self.info.pm_info(), buffer: self.info.buffer() }
    }
}
