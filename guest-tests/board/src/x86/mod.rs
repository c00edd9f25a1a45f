//! A PMU attached to the engine of x86.
//!
//! [`Cpu`] is an [`Observer`] of the interpreter: it adds what each step did to the thread's totals, services the PMU at deadlines,
//! passes on contexts and register accesses, and hands interrupts to the local APIC. [`Lines`] is where the PMUs' requests arrive.
//! [`Ledger`] keeps the whole run's counts through everything a guest does to its registers.
//!
//! # What a step adds
//!
//! - Every step is one cycle, unless a companion keeps the time. A halted CPU has none: the clock of a K8 stops in HLT.
//! - What a companion makes while it is active is not added by the glue as well.
//! - A taken interrupt or exception belongs to the level it interrupts, an instruction to the level it starts at: SYSCALL counts in
//!   ring 3, IRETQ to ring 3 in ring 0.
//! - `instruction_fetches` is one for each aligned 16-byte piece that execution moves into, in sequence or by a transfer; a taken
//!   transfer always fetches anew.
//! - `data_cache_accesses` is one for each aligned 8-byte piece that an access touches, and one for a prefetch. Accesses beyond the
//!   first six of an instruction count one each, and one more if misaligned.
//! - `interrupts_masked_entries` is added with the first cycle that begins with RFLAGS.IF clear.
//! - Of the SSE set the interpreter has moves and logic only: MOVD and MOVQ count as scalar, the others as packed.
//! - `breakpoint_matches0` to `3` are one for each step that matches the debug register, however many of its accesses do. Accesses to ports
//!   never match.
//! - `micro_ops_retired` is the engine's estimate, and 8 for a taken interrupt or exception. `microcoded_ops_retired` is all of those of
//!   an instruction that is microcode on every x86, and of a taken interrupt or exception.
//! - `scalar_vector_ops_retired` and `packed_vector_ops_retired` are one for each of these SSE instructions except loads of a register.
//!   There is no `floating_point_assists`, as there is no arithmetic that would need one.
//! - `line_split_loads` and `line_split_stores` are one for each access that crosses a line of 64 bytes, `locked_loads` one for each load
//!   of a locked read-modify-write. Without a companion, `self_modifying_code_restarts` is one for each step that stores into a line that
//!   the decoder has read since the line was last written.
//! - `reference_cycles` are the cycles: the engine has one clock.
//! - `core_active_cycles`, and the same of the reference clock, are the cycles by which a thread's step advances the [clock of its
//!   core](CoreClock), in the totals of that thread; those of a thread alone on its core are its cycles. Where the companion keeps the time
//!   they are added after the step.

mod beside;
mod blocks;
mod board;
mod core_clock;
mod devices;
mod following;
mod ledger;
mod outside;
mod record;
mod run;
mod saved;
mod signals;
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
mod timed;
mod untile;
mod untile_clock;
mod untile_samples;

pub use board::{Board, ConfigurationSpace, Leaf, Topology};
pub use core_clock::CoreClock;
pub use devices::Devices;
pub use ledger::Ledger;
pub use record::record;
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
pub use run::execute_with_kvm;
#[cfg(feature = "unicorn")]
pub use run::execute_with_unicorn;
pub use run::run;
pub use saved::{CpuGlue, LedgerState, RowState};
pub use signals::{pace, supplies};
pub use untile::Boxes;
pub use untile_clock::UntileClock;

use std::sync::Arc;

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::{Context, Occasion, Record, Records, Signal, SignalSet};
use vm_pmu::companion::{Companion, Follower};
use vm_pmu::cpu::Counts;
use vm_pmu::topology::{Thread, Untile};
use vm_pmu::untile::at_msr;
use vm_pmu::{Countdown, Cpu as Pmu};

use crate::beside::Beside;
use crate::report::Trace;
use crate::trace::{Place, Recorder, Surrounding, Tracer};
use crate::{Deliveries, Lines, Usage};
use vm_pmu_engines::blocks::{Facts, Sums};

use following::Followed;
use signals::Signals;
use untile::{Configured, CpuBoxes};
use vm_pmu_engines::x86::{Alerts, CpuView, Gp, Observer, Step, StepKind};

/// One CPU of an engine, attached to one thread of a PMU machine.
#[derive(Debug)]
pub struct Cpu<'a> {
    pmu: Pmu<'a, Lines>,
    lines: &'a Lines,
    signals: Signals,
    /// The clock of the core, if the thread shares one.
    core: Option<CoreClock>,
    /// What is at or above this physical address belongs to devices.
    ram: u64,
    /// The boxes of the machine, if it has some.
    cpu_boxes: Option<CpuBoxes<'a>>,
    /// The edition of the demand that the fields below were made of, and what is added for others than the PMU.
    known: u32,
    watched: SignalSet,
    /// What blocks add: every such signal that was ever demanded, and how often that set grew.
    summed: SignalSet,
    edition: u32,
    masked: bool,
    instructions: u64,
    /// The address of the instruction that comes next.
    next: u64,
    /// The address at which blocks begin.
    block: u64,
    ledger: Ledger,
    deliveries: Deliveries,
    usage: Usage,
    /// An interrupt was asked for and has not been taken.
    asked: bool,
    trace: Recorder,
    beside: Option<Box<Beside<'a, Cpu<'a>>>>,
}

impl<'a> Cpu<'a> {
    /// Attaches `thread`, whose machine raises interrupts at `lines`.
    #[must_use]
    pub fn new(thread: Thread<'a, Lines>, lines: &'a Lines) -> Cpu<'a> {
        let mut cpu = Cpu {
            pmu: Pmu::new(thread),
            lines,
            signals: Signals::default(),
            core: None,
            ram: u64::MAX,
            cpu_boxes: None,
            known: 0,
            watched: SignalSet::EMPTY,
            summed: SignalSet::EMPTY,
            edition: 0,
            masked: true,
            instructions: 0,
            next: 0,
            block: 0,
            ledger: Ledger::new(thread.number()),
            deliveries: Deliveries::default(),
            usage: Usage::new(thread.part()),
            asked: false,
            trace: Recorder::default(),
            beside: None,
        };
        cpu.report_pending();
        cpu.keep_up();
        cpu
    }

    /// Has `follower` make what the interpreter does not know. What is at or above the physical address `ram` belongs to devices.
    pub fn follow(&mut self, follower: Follower<'a>, ram: u64) {
        self.ram = ram;
        self.pmu.follow(follower, SignalSet::EMPTY);
        self.keep_up();
    }

    /// The machine has boxes that all CPUs share, and a companion whose memory and requests reach them.
    pub fn stand_beside(&mut self, boxes: Arc<Boxes>, untile: Untile<'a, Lines>, companion: Option<&'a Companion>) {
        self.cpu_boxes = Some(CpuBoxes::new(boxes, untile, companion, self.pmu.thread().number()));
        self.watch_all();
    }

    /// The thread shares its core, whose clock is `clock`, with others. Without this it is alone on a core.
    pub fn share_core(&mut self, clock: CoreClock) {
        self.core = Some(clock);
    }

    /// Adds to the totals of `signals` even while the PMU does not demand them, for a caller that reads the totals.
    pub fn watch(&mut self, signals: SignalSet) {
        self.watched = signals;
        self.watch_all();
    }

    /// Watches for whoever reads the totals, and for boxes.
    fn watch_all(&mut self) {
        let requested = self.cpu_boxes.as_ref().is_some_and(CpuBoxes::wants_requests);
        self.pmu.watch(self.watched, if requested { Records::REQUESTS } else { Records::NONE });
        self.keep_up();
    }

    /// The companion that follows the CPU, to change its state between runs.
    pub fn companion_mut(&mut self) -> Option<&mut Follower<'a>> {
        self.pmu.follower_mut()
    }

    /// The companion that follows the CPU, if one does.
    #[must_use]
    pub fn companion(&self) -> Option<&Follower<'a>> {
        self.pmu.follower()
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
        if let Some(cpu_boxes) = self.cpu_boxes.as_ref().filter(|_| self.trace.is_active()) {
            cpu_boxes.note_accesses();
            self.trace.listener().into_iter().for_each(|listener| cpu_boxes.follow(listener));
        }
    }

    /// What has been kept.
    #[must_use]
    pub fn trace(&self) -> Vec<Trace> {
        self.trace.kept()
    }

    /// The run is over: counts up to now and takes the last values into the ledger. The thread is left in ring 0.
    pub fn close(&mut self) {
        let context = self.pmu.thread().context();
        self.pmu.set_context(Context { privilege: 0, ..context });
        self.ledger.close(self.pmu.thread());
        self.cpu_boxes.iter().for_each(CpuBoxes::close);
    }

    /// What comes of a step for the guest.
    #[inline]
    fn retire_own(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        self.instructions += u64::from(step.retired());
        let entered_mask = step.interrupts_masked && !self.masked;
        self.masked = step.interrupts_masked;
        self.keep_up();
        let pending = self.signals.is_pending();
        self.signals.track(step);
        if pending != self.signals.is_pending() {
            self.report_pending();
        }
        let is_delivery = self.deliver(step, cpu);
        if self.trace.is_active() {
            self.trace_step(step, is_delivery, cpu);
        }
        let timed = self.pmu.is_timed();
        let moved = if timed { 0 } else { self.run_core(cpu.cycles(), u64::from(step.cycles)) };
        self.signals.move_core(moved);
        if self.pmu.is_followed() {
            self.report(step, cpu);
        }
        let cycles = self.pmu.complete(&Executed { step, signals: &self.signals, entered_mask });
        if let Some(cpu_boxes) = &self.cpu_boxes {
            cpu_boxes.advance(cpu.cycles(), cycles.unwrap_or(step.cycles.into()));
        }
        if let Some(cycles) = cycles {
            self.advance_core(self.run_core(cpu.cycles(), cycles));
        }
        if let Some(forgotten) = following::forgotten(step) {
            self.pmu.invalidate(forgotten);
        }
        let cycles = cycles.map(|cycles| u32::try_from(cycles).unwrap_or(u32::MAX));
        Alerts { cycles, ..self.interrupts(step.next_rip) }
    }

    /// Reports a step to the companion, and its requests to the boxes.
    fn report(&mut self, step: &Step, cpu: &CpuView<'_>) {
        if step.branch.is_some() || self.pmu.follower().is_some_and(Follower::follows_accesses) {
            Followed { pmu: &mut self.pmu, ram: self.ram }.execute(step, cpu);
        }
        if let Some((cpu_boxes, follower)) = self.cpu_boxes.as_ref().zip(self.pmu.follower()) {
            cpu_boxes.request(follower.requests());
        }
    }

    /// An interrupt is pending while RFLAGS.IF is clear, or not: for a counter of edges that starts meanwhile.
    fn report_pending(&mut self) {
        self.pmu.set_level(Signal::InterruptsMaskedPendingCycles, self.signals.is_pending());
    }

    /// Reads the demand again if this CPU's write has changed it, or another's, or a box's.
    #[inline]
    fn keep_up(&mut self) {
        if self.cpu_boxes.as_ref().is_some_and(CpuBoxes::is_stale) {
            self.update_boxes();
        }
        self.pmu.sync();
        if self.known != self.pmu.edition() {
            self.known = self.pmu.edition();
            self.signals.update(self.pmu.own_demand());
            self.sum_followed();
        }
    }

    #[cold]
    fn update_boxes(&mut self) {
        self.cpu_boxes.iter_mut().for_each(CpuBoxes::update);
        self.watch_all();
    }

    /// By how many cycles a step from `start` on moves the core's clock on.
    #[inline]
    fn run_core(&self, start: u64, cycles: u64) -> u64 {
        self.core.as_ref().map_or(cycles, |clock| clock.run(start, cycles))
    }

    /// `cycles` cycles of the core elapse, after a step whose length only the companion knew.
    fn advance_core(&self, cycles: u64) {
        let wanted = |signal: &Signal| self.pmu.own_demand().wants(*signal);
        match [Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles].map(|signal| Some(signal).filter(wanted)) {
            [Some(one), Some(two)] => self.pmu.thread().advance(cycles, &[one, two]),
            [Some(one), None] | [None, Some(one)] => self.pmu.thread().advance(cycles, &[one]),
            [None, None] => {}
        }
    }

    fn context_of(cpu: &CpuView<'_>) -> Context {
        Context::x86(cpu.cpl(), cpu.rflags(), cpu.cr4()).with_halted(cpu.halted())
    }

    /// What the thread must know before an instruction reads its registers.
    fn prepare(&mut self, cpu: &CpuView<'_>) {
        self.pmu.set_context(Self::context_of(cpu));
    }

    fn answer<T>(result: Result<T, Fault>) -> Option<Result<T, Gp>> {
        match result {
            Ok(value) => Some(Ok(value)),
            Err(Fault::Unclaimed) => None,
            Err(_) => Some(Err(Gp)),
        }
    }

    fn interrupts(&mut self, next: u64) -> Alerts {
        self.next = next;
        // Several requests before one instruction are one message to the APIC's latch, or one bit of its IRR.
        let asked = self.lines.take(self.pmu.thread().number());
        self.asked |= asked.is_some();
        if self.trace.is_active() {
            self.trace.move_to(Place { instruction: self.instructions, address: next, ..self.trace.place() });
            if let Some(counters) = asked {
                self.trace.interrupt(self.pmu.thread(), counters);
            }
            self.trace.step(self.pmu.thread());
            if let Some(cpu_boxes) = &self.cpu_boxes {
                cpu_boxes.step(self.trace.place().cycle);
            }
        }
        if asked.is_some() { Alerts::PERFORMANCE_INTERRUPT } else { Alerts::NONE }
    }

    /// Whether the step delivers an interrupt that the PMU asked for.
    #[inline]
    fn deliver(&mut self, step: &Step, cpu: &CpuView<'_>) -> bool {
        let entry = cpu.apic().lvt_performance_counter();
        let is_delivery = match step.kind {
            StepKind::Interrupt { vector } => self.asked && vector == entry as u8,
            StepKind::Nmi => self.asked && entry >> LVT_DELIVERY & 7 == LVT_NMI,
            StepKind::Exception { .. } => false,
            _ => {
                self.deliveries.retired(step.rip);
                false
            }
        };
        if is_delivery {
            self.asked = false;
            self.deliveries.take(step.rip, false);
        }
        is_delivery
    }

    /// What the trace must know of a step by itself.
    #[cold]
    fn trace_step(&mut self, step: &Step, is_delivery: bool, cpu: &CpuView<'_>) {
        let place = Place { instruction: self.instructions, cycle: cpu.cycles(), address: step.rip };
        if let Some(cpu_boxes) = &self.cpu_boxes {
            // As other accesses are, before their instruction has retired.
            let place = Place { instruction: self.instructions - u64::from(step.retired()), ..place };
            for Configured { address, written, read } in cpu_boxes.take_accesses() {
                let (before, wrote) = written.unzip();
                self.trace.access(self.pmu.thread(), place, Address::Pci(address), (before, wrote), Ok(wrote.unwrap_or(read)));
            }
        }
        self.trace.move_to(place);
        if is_delivery {
            self.trace.taken(self.pmu.thread(), step.rip);
        }
        for access in step.accesses().iter().filter(|access| access.is_write) {
            self.trace.stored(self.pmu.thread(), access.physical, access.size.into());
        }
    }

    fn trace_access(&mut self, address: Address, cpu: &CpuView<'_>, written: (Option<u64>, Option<u64>), answer: Result<u64, Fault>) {
        let place = Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.rip() };
        self.trace.access(self.pmu.thread(), place, address, written, answer);
    }
}

/// The lowest bit of an LVT entry's delivery mode, and the mode of an NMI (SDM volume 3, section 10.5.1; the K8's APIC has the same).
const LVT_DELIVERY: u32 = 8;
const LVT_NMI: u32 = 4;

/// A step of the engine.
struct Executed<'s> {
    step: &'s Step,
    signals: &'s Signals,
    entered_mask: bool,
}

impl vm_pmu::cpu::Step for Executed<'_> {
    #[inline]
    fn count(&self, counts: &Counts<'_>) {
        self.signals.add(self.step, self.entered_mask, counts);
    }

    fn states(&self) -> impl Iterator<Item = Signal> {
        self.signals.states(self.step)
    }

    fn occasion(&self) -> Occasion {
        record::occasion(self.step)
    }

    fn record(&self) -> Option<Record> {
        record(self.step)
    }
}

impl Observer for Cpu<'_> {
    fn rdmsr(&mut self, msr: u32, cpu: &CpuView<'_>) -> Option<Result<u64, Gp>> {
        self.prepare(cpu);
        if let Some(other) = self.repeating() {
            other.rdmsr(msr, cpu);
        }
        let address = Address::Msr(msr);
        let answer = self.pmu.access(|pmu| pmu.read(address));
        if answer.is_ok() {
            self.usage.read(self.pmu.thread(), address);
        }
        self.trace_access(address, cpu, (None, None), answer);
        Self::answer(answer)
    }

    fn wrmsr(&mut self, msr: u32, value: u64, cpu: &CpuView<'_>) -> Option<Result<(), Gp>> {
        self.prepare(cpu);
        if let Some(other) = self.repeating() {
            other.wrmsr(msr, value, cpu);
        }
        self.ledger.before(msr, self.pmu.thread());
        let address = Address::Msr(msr);
        let before = self.trace.before(self.pmu.thread(), address);
        let of_box = self.cpu_boxes.as_ref().zip(at_msr(msr));
        if let Some((cpu_boxes, place)) = of_box {
            cpu_boxes.before_write(place);
        }
        let answer = self.pmu.access(|pmu| pmu.write(address, value));
        if let Some((cpu_boxes, place)) = of_box {
            cpu_boxes.touch(place);
        }
        self.ledger.after(msr, self.pmu.thread());
        if answer.is_ok() {
            self.usage.wrote(self.pmu.thread(), address, value);
        }
        self.trace_access(address, cpu, (before, Some(value)), answer.map(|()| value));
        Self::answer(answer)
    }

    fn rdpmc(&mut self, ecx: u32, cpu: &CpuView<'_>) -> Result<u64, Gp> {
        self.prepare(cpu);
        if let Some(other) = self.repeating() {
            // It answers as this one does.
            let _ = other.rdpmc(ecx, cpu);
        }
        let address = Address::Rdpmc(ecx);
        let answer = self.pmu.access(|pmu| pmu.read(address));
        if answer.is_ok() {
            self.usage.read(self.pmu.thread(), address);
        }
        self.trace_access(address, cpu, (None, None), answer);
        answer.map_err(|_| Gp)
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        let context = Self::context_of(cpu);
        self.pmu.set_context(context);
        self.usage.moved(self.pmu.thread(), &context);
        if self.trace.is_active() {
            self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.rip() });
            self.trace.surround(self.pmu.thread(), Surrounding::of(&context, Some(cpu.cr3())));
        }
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

    fn headroom(&mut self, cpu: &CpuView<'_>) -> Option<Countdown> {
        self.block = cpu.rip();
        if self.beside.is_some() { None } else { self.give_headroom(cpu) }
    }

    fn facts(&self, steps: &[Step]) -> Option<Facts> {
        self.facts_of(steps)
    }

    fn edition(&self) -> u32 {
        self.edition
    }

    fn ran(&mut self, countdown: &Countdown, sums: &Sums, cpu: &CpuView<'_>) {
        self.take_blocks(countdown, sums, cpu);
    }

    fn halted_cycles(&mut self, cycles: u64) -> Alerts {
        // Another CPU may have begun to count what this one does. This one retires nothing after which it would check.
        self.keep_up();
        self.pmu.counts().add(Signal::HaltedCycles, cycles);
        self.pmu.serve();
        self.halt_beside(cycles);
        self.interrupts(self.next)
    }

    fn halt_deadline(&self) -> Option<u64> {
        if self.lines.waits(self.pmu.thread().number()) {
            return Some(1);
        }
        // A counter of these cycles has set it, whether the demand has been read since or not.
        let distance = self.pmu.thread().deadlines().distance(Signal::HaltedCycles, self.pmu.thread().totals());
        (distance != u64::MAX).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::topology::Builder;

    use super::*;

    #[test]
    fn a_halted_cpu_reads_the_demand_that_another_one_has_changed() {
        let lines = Lines::new(2);
        let machine = Builder::new("k8").unwrap().threads(2).build(lines.clone()).unwrap();
        let mut halted = Cpu::new(machine.thread(0).unwrap(), &lines);
        halted.halted_cycles(10);
        assert!(halted.pmu.demand().is_idle());
        // The other CPU counts DRAM_ACCESSES, of the whole package.
        machine.thread(1).unwrap().x86().wrmsr(0xC001_0000, 0x0042_07E0).unwrap();
        halted.halted_cycles(10);
        assert!(!halted.pmu.demand().is_idle());
    }

    #[test]
    fn an_interrupt_that_is_pending_when_a_counter_of_edges_starts_is_no_edge() {
        let lines = Lines::new(1);
        let machine = Builder::new("k8").unwrap().build(lines.clone()).unwrap();
        let mut cpu = Cpu::new(machine.thread(0).unwrap(), &lines);
        cpu.signals.go_on(true, None);
        cpu.report_pending();
        // PerfEvtSel0: event CEh, cycles with interrupts masked and pending, edges, OS, EN.
        cpu.pmu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0046_00CE)).unwrap();
        cpu.pmu.advance(3, &[Signal::Cycles, Signal::InterruptsMaskedPendingCycles]);
        assert_eq!(cpu.pmu.access(|pmu| pmu.x86().rdpmc(0)), Ok(0));
    }
}
