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

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::{Context, DataSource, Demand, Occasion, Records, Signal, SignalSet};
use vm_pmu::arch::ia64::{PerfMonInfo, Psr};
use vm_pmu::companion::{Follower, Outcome};
use vm_pmu::topology::Thread;

use super::Lines;
use super::beside::Beside;
use crate::report::Trace;
use crate::trace::{Place, Recorder, Surrounding, Tracer};
use crate::{Deliveries, Usage};
use following::Following;
pub use ledger::Ledger;
use signals::Sink;
use vm_pmu_engines::ia64::registers::cr;
use vm_pmu_engines::ia64::{
    Access, AccessKind, Alerts, CpuView, Gate, L3Miss, Notice, Observer, PerformanceMonitorInfo, RegisterFault, Step, Switch, Taken,
};

/// IBR0-7 and DBR0-7.
const BREAKPOINTS: usize = 16;

/// One thread of the engine, attached to one thread of a PMU machine.
#[derive(Debug)]
pub struct Cpu<'a> {
    thread: Thread<'a, Lines>,
    lines: Lines,
    info: PerfMonInfo,
    companion: Option<Following<'a>>,
    /// Misses of the third level are reported to the processor, which may switch to its other thread meanwhile.
    tells_misses: bool,
    demand: Demand,
    /// The epoch of the thread's demand when it was last read.
    epoch: u32,
    /// What is reported beyond what the PMU demands.
    watched: Demand,
    /// The part of the demand that the companion does not make.
    own: Demand,
    /// The demanded signals that the engine knows, to compare with their deadlines.
    followed: Vec<Signal>,
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
        let mut cpu = Cpu {
            thread,
            lines: lines.clone(),
            info,
            companion: None,
            tells_misses: false,
            demand: Demand::default(),
            epoch: 0,
            watched: Demand::default(),
            own: Demand::default(),
            followed: Vec::new(),
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
        };
        cpu.update_demand();
        cpu
    }

    /// Has `follower` make what the interpreter does not know. With `tells_misses`, misses of the third level are reported to the
    /// processor.
    pub fn follow(&mut self, follower: Follower<'a>, tells_misses: bool) {
        let mut following = Following::new(follower);
        following.follower.watch_third_level(tells_misses);
        self.companion = Some(following);
        self.tells_misses = tells_misses;
        self.update_demand();
    }

    /// Adds to the totals of `signals` even while the PMU does not demand them, for a caller that reads the totals.
    pub fn watch(&mut self, signals: SignalSet) {
        self.watched.replace(signals, false, Records::NONE);
        self.update_demand();
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
        self.trace = Recorder::new(tracer, &self.thread);
    }

    /// What has been kept.
    #[must_use]
    pub fn trace(&self) -> Vec<Trace> {
        self.trace.kept()
    }

    /// The run is over: counts up to now and takes the last values into the ledger. The thread is left at privilege level 0.
    pub fn close(&mut self) {
        self.ledger.settle(&self.thread);
        self.thread.set_context(Context::ia64(0, 0));
    }

    fn update_demand(&mut self) {
        self.epoch = self.thread.epoch();
        self.demand = self.thread.demand().with(&self.watched);
        let known = |signal: Signal| signals::KNOWN_BETTER.contains(&signal);
        if let Some(following) = &mut self.companion {
            let mut theirs = SignalSet::EMPTY;
            self.demand.signals().iter().filter(|signal| !known(*signal)).for_each(|signal| theirs.insert(signal));
            let mut demand = Demand::default();
            demand.replace(theirs, self.demand.per_cycle(), self.demand.records());
            following.follower.sync(&demand);
        }
        let follower = self.companion.as_ref().map(|following| &following.follower);
        let makes = |signal| !known(signal) && follower.is_some_and(|follower| follower.supplies(signal));
        let mut own = SignalSet::EMPTY;
        self.demand.signals().iter().filter(|signal| !makes(*signal)).for_each(|signal| own.insert(signal));
        self.own.replace(own, self.demand.per_cycle(), self.demand.records());
        self.followed = own.iter().filter(|signal| supplies(*signal)).collect();
    }

    /// Reads the demand again if this thread's write changed what it must report, or the other thread's did.
    #[inline]
    fn keep_up(&mut self) {
        if self.epoch != self.thread.epoch() {
            self.update_demand();
        }
    }

    fn keep(&mut self, address: Address, cpu: &CpuView<'_>, written: (Option<u64>, Option<u64>), answer: Result<u64, Fault>) {
        let place = Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.ip() };
        self.trace.access(&self.thread, place, address, written, answer);
    }

    fn trace_context(&mut self, context: &Context, cpu: &CpuView<'_>) {
        if self.trace.is_active() {
            self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.ip() });
            self.trace.surround(&self.thread, Surrounding::of(context, None));
        }
    }

    /// What the trace must know of a step by itself.
    #[cold]
    fn trace_step(&mut self, step: &Step, cpu: &CpuView<'_>) {
        self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: step.next });
        let stores = |access: &Access| matches!(access.kind, AccessKind::Store | AccessKind::Semaphore);
        if let Some(access) = step.access.filter(stores) {
            self.trace.stored(&self.thread, access.physical, access.size.into());
        }
    }

    fn read(&mut self, address: Address, cpu: &CpuView<'_>) -> Result<u64, RegisterFault> {
        if let Some(other) = self.repeating() {
            // It answers as this one does.
            let _ = other.read(address, cpu);
        }
        let answer = self.thread.read(address);
        if answer.is_ok() {
            self.usage.read(&self.thread, address);
        }
        self.keep(address, cpu, (None, None), answer);
        answer.map_err(fault)
    }

    fn write(&mut self, address: Address, value: u64, cpu: &CpuView<'_>) -> Result<(), RegisterFault> {
        if let Some(other) = self.repeating() {
            let _ = other.write(address, value, cpu);
        }
        self.ledger.settle(&self.thread);
        let before = self.trace.before(&self.thread, address);
        let answer = self.thread.write(address, value);
        if answer.is_ok() {
            self.ledger.written(address, &self.thread);
            self.usage.wrote(&self.thread, address, value);
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
            if *held != value && self.thread.write(address, value).is_ok() {
                *held = value;
            }
        }
    }

    /// `cycles` elapse without any other event, by the clock that runs or that of a halt.
    fn advance(&mut self, clock: Signal, cycles: u64) {
        self.keep_up();
        // A companion that keeps the time makes the cycles of instructions; these are of none.
        Sink { demand: &self.demand, totals: self.thread.totals() }.add(clock, cycles);
        if self.demand.wants(clock) && self.thread.reached(clock) {
            self.thread.service();
        }
    }

    /// Adds what the engine knows of a step, reports its records and services the PMU at a deadline, in this order.
    fn complete(&mut self, step: &Step) {
        let stacked = stack(step, (&self.own, &self.followed), self.demand.records(), &self.thread);
        let reached = add(step, false, (&self.own, &self.followed), &self.thread) || stacked;
        report(step, reached, self.demand.records(), None, &self.thread);
        if reached {
            self.thread.service();
        }
    }

    /// A step that the companion follows. Returns the cycles it took, if the companion keeps the time.
    fn complete_accompanied(&mut self, step: &Step) -> Option<u32> {
        let Cpu { companion, own, followed, thread, demand, .. } = self;
        let following = companion.as_mut()?;
        let held = following.follower.keeps_time();
        let stacked = stack(step, (own, followed), demand.records(), thread);
        following.execute(step);
        let events = |outcome: &Outcome| {
            let reached = add(step, held, (own, followed), thread) || stacked;
            // The companion's own events and cycles may reach a deadline yet.
            report(step, true, demand.records(), Some(outcome), thread);
            if reached {
                thread.service();
            }
        };
        let passed = following.follower.deliver(thread, &[], events);
        held.then(|| u32::try_from(passed).unwrap_or(u32::MAX))
    }

    /// An interruption, or a procedure of the firmware, which takes no time of its own, with a companion that keeps the time. Returns the
    /// cycles it took.
    fn interrupt_accompanied(&mut self, notice: &Notice) -> Option<u32> {
        let following = self.companion.as_mut().filter(|following| following.follower.keeps_time())?;
        if let Taken::Interruption(_) = notice.taken {
            following.interrupt();
        }
        let passed = following.follower.deliver(&self.thread, &[], |_| {});
        Some(u32::try_from(passed).unwrap_or(u32::MAX))
    }

    /// Services the PMU if a signal of the engine's has reached its deadline.
    fn serve(&mut self) {
        if self.followed.iter().any(|signal| self.thread.reached(*signal)) {
            self.thread.service();
        }
    }

    /// What to report to the processor of a miss of the third level.
    fn miss(&self, step: &Step) -> Option<L3Miss> {
        let following = self.companion.as_ref().filter(|following| self.tells_misses && following.follower.is_active())?;
        let outcome = following.follower.outcome();
        let reads = step.access.is_some_and(|access| matches!(access.kind, AccessKind::Load | AccessKind::Semaphore));
        let beyond = outcome.source == DataSource::LocalMemory || outcome.source.is_of_another_package();
        (reads && beyond).then_some(L3Miss { latency: outcome.latency, waits: true })
    }

    /// The miss of the third level that became known in the cycles of a step, for which the thread does not stand still, and how long ago the
    /// thread completed an instruction; none and nothing if the companion does not know.
    fn known_miss(&mut self) -> (Option<L3Miss>, Option<u64>) {
        let Some(following) = self.companion.as_mut().filter(|_| self.tells_misses) else { return (None, None) };
        let miss = following.follower.third_level_miss();
        let latency = |returns: u64| u32::try_from(returns).unwrap_or(u32::MAX);
        (miss.map(|miss| L3Miss { latency: latency(miss.returns), waits: false }), following.follower.idle())
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
        if let Some(following) = self.companion.as_mut().filter(|_| self.tells_misses) {
            following.follower.report_at_most(cpu.until_change());
        }
        if !self.companion.as_ref().is_some_and(|following| following.follower.is_active()) {
            self.complete(step);
            return Alerts::NONE;
        }
        let cycles = self.complete_accompanied(step);
        let (l3_miss, idle) = if cycles.is_none() { (self.miss(step), None) } else { self.known_miss() };
        Alerts { cycles, l3_miss, idle, ..Alerts::NONE }
    }

    /// What comes of an interruption for the guest.
    fn notice_own(&mut self, notice: &Notice) -> Alerts {
        self.keep_up();
        if let Taken::Interruption(_) = notice.taken {
            let signal = if notice.synchronous { Signal::ExceptionsTaken } else { Signal::InterruptsTaken };
            Sink { demand: &self.own, totals: self.thread.totals() }.add(signal, 1);
            if notice.synchronous && self.demand.records().wants(false, Occasion::branch(true)) {
                self.thread.record(&record::of_interruption(notice));
            }
            if self.thread.reached(signal) {
                self.thread.service();
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
            signals::left(switch, &Sink { demand: &self.own, totals: self.thread.totals() });
            self.left = cpu.cycles();
            self.serve();
        }
        self.foreground = switch.foreground;
        let context = self.context_of(cpu, switch.foreground);
        self.thread.set_context(context);
        self.trace_context(&context, cpu);
        if !switch.foreground {
            return None;
        }
        Sink { demand: &self.own, totals: self.thread.totals() }.add(Signal::ThreadSwitchOverheadCycles, u64::from(switch.cycles));
        self.serve();
        let following = self.companion.as_mut().filter(|following| following.follower.keeps_time() && self.tells_misses)?;
        following.follower.resume(cpu.cycles().saturating_sub(self.left));
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

/// Adds what the engine itself knows of a step, as far as it is demanded. With `held`, its cycles are added elsewhere. Returns whether one
/// of its signals has reached its deadline.
fn add(step: &Step, held: bool, what: (&Demand, &[Signal]), thread: &Thread<'_, Lines>) -> bool {
    let (own, followed) = what;
    if followed.is_empty() {
        return false;
    }
    let sink = Sink { demand: own, totals: thread.totals() };
    if !held {
        sink.add(Signal::Cycles, u64::from(step.cycles));
    }
    signals::add(step, &sink);
    followed.iter().any(|signal| thread.reached(*signal))
}

/// Accesses of the register stack come before the instruction that waits for them, each with its own record. Returns whether a signal has
/// reached its deadline.
fn stack(step: &Step, what: (&Demand, &[Signal]), wanted: Records, thread: &Thread<'_, Lines>) -> bool {
    let (own, followed) = what;
    let sink = Sink { demand: own, totals: thread.totals() };
    for access in &step.register_stack {
        signals::memory(access, &sink);
        if wanted.wants(false, Occasion { memory: true, ..Occasion::default() }) {
            thread.record(&record::of_register_stack(step, access));
        }
    }
    !step.register_stack.is_empty() && followed.iter().any(|signal| thread.reached(*signal))
}

/// Reports the record of a step, if one is wanted of it; `reached` is whether the step has reached a deadline.
fn report(step: &Step, reached: bool, wanted: Records, outcome: Option<&Outcome>, thread: &Thread<'_, Lines>) {
    if wanted.wants(reached, record::occasion(step, outcome)) {
        thread.record(&record::record(step, outcome));
    }
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
        self.thread.set_context(context);
        self.usage.moved(&self.thread, &context);
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
                self.trace.taken(&self.thread, notice.ip);
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
        Sink { demand: &self.own, totals: self.thread.totals() }.add(signals::gated(gate), 1);
        self.serve();
    }

    #[inline]
    fn interrupt(&mut self) -> bool {
        let asked = self.lines.take(self.thread.number());
        self.asked |= asked.is_some();
        if self.trace.is_active() {
            if let Some(counters) = asked {
                self.trace.interrupt(&self.thread, counters);
            }
            self.trace.step(&self.thread);
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
        match self.thread.deadlines().distance(Signal::HaltedCycles, self.thread.totals()) {
            u64::MAX => None,
            distance => Some(distance.max(1)),
        }
    }

    fn performance_monitor_info(&self) -> PerformanceMonitorInfo {
        PerformanceMonitorInfo { info: self.info.pm_info(), buffer: self.info.buffer() }
    }
}
