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

use vm_pmu::Countdown;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::{Context, Demand, Records, Signal, SignalSet};
use vm_pmu::companion::{Companion, Follower, Outcome};
use vm_pmu::topology::{Thread, Untile};
use vm_pmu::untile::at_msr;

use crate::beside::Beside;
use crate::report::Trace;
use crate::trace::{Place, Recorder, Surrounding, Tracer};
use crate::{Deliveries, Lines, Usage};
use vm_pmu_engines::blocks::{Facts, Sums};

use following::Following;
use signals::{STATES, Signals};
use untile::{Configured, CpuBoxes};
use vm_pmu_engines::x86::{Alerts, CpuView, Gp, Observer, Step, StepKind};

/// One CPU of an engine, attached to one thread of a PMU machine.
#[derive(Debug)]
pub struct Cpu<'a> {
    thread: Thread<'a, Lines>,
    lines: &'a Lines,
    signals: Signals,
    /// The clock of the core, if the thread shares one.
    core: Option<CoreClock>,
    companion: Option<Following<'a>>,
    /// The boxes of the machine, if it has some.
    cpu_boxes: Option<CpuBoxes<'a>>,
    /// The companion is active.
    accompanied: bool,
    demand: Demand,
    /// The epoch of the thread's demand when it was last read.
    epoch: u32,
    /// What is reported beyond what the PMU demands.
    watched: Demand,
    /// The part of the demand that the companion does not make.
    own: Demand,
    /// The demanded signals that the engine knows, to compare with their deadlines.
    followed: Vec<Signal>,
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
            thread,
            lines,
            signals: Signals::default(),
            core: None,
            companion: None,
            cpu_boxes: None,
            accompanied: false,
            demand: Demand::default(),
            epoch: 0,
            watched: Demand::default(),
            own: Demand::default(),
            followed: Vec::new(),
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
        cpu.update_demand();
        cpu
    }

    /// Has `follower` make what the interpreter does not know. What is at or above the physical address `ram` belongs to devices.
    pub fn follow(&mut self, follower: Follower<'a>, ram: u64) {
        self.companion = Some(Following::new(follower, ram));
        self.update_demand();
    }

    /// The machine has boxes that all CPUs share, and a companion whose memory and requests reach them.
    pub fn stand_beside(&mut self, boxes: Arc<Boxes>, untile: Untile<'a, Lines>, companion: Option<&'a Companion>) {
        self.cpu_boxes = Some(CpuBoxes::new(boxes, untile, companion, self.thread.number()));
        self.update_demand();
    }

    /// The thread shares its core, whose clock is `clock`, with others. Without this it is alone on a core.
    pub fn share_core(&mut self, clock: CoreClock) {
        self.core = Some(clock);
    }

    /// Adds to the totals of `signals` even while the PMU does not demand them, for a caller that reads the totals.
    pub fn watch(&mut self, signals: SignalSet) {
        self.watched.replace(signals, false, Records::NONE);
        self.update_demand();
    }

    /// The companion that follows the CPU, to change its state between runs.
    pub fn companion_mut(&mut self) -> Option<&mut Follower<'a>> {
        self.companion.as_mut().map(|following| &mut following.follower)
    }

    /// The companion that follows the CPU, if one does.
    #[must_use]
    pub fn companion(&self) -> Option<&Follower<'a>> {
        self.companion.as_ref().map(|following| &following.follower)
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
        let context = self.thread.context();
        self.thread.set_context(Context { privilege: 0, ..context });
        self.ledger.close(&self.thread);
        self.cpu_boxes.iter().for_each(CpuBoxes::close);
    }

    /// What comes of a step for the guest.
    #[inline]
    fn retire_own(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        self.instructions += u64::from(step.retired());
        let entered_mask = step.interrupts_masked && !self.masked;
        self.masked = step.interrupts_masked;
        self.update_if_stale();
        self.signals.track(step);
        let is_delivery = self.deliver(step, cpu);
        if self.trace.is_active() {
            self.trace_step(step, is_delivery, cpu);
        }
        if self.accompanied || step.invalidation.is_some() {
            return self.retire_accompanied(step, cpu, entered_mask);
        }
        let moved = self.run_core(cpu.cycles(), u64::from(step.cycles));
        self.signals.move_core(moved);
        self.complete(step, entered_mask);
        if let Some(cpu_boxes) = &self.cpu_boxes {
            cpu_boxes.advance(cpu.cycles(), u64::from(step.cycles));
        }
        self.interrupts(step.next_rip)
    }

    fn update_demand(&mut self) {
        self.epoch = self.thread.epoch();
        self.demand = self.thread.demand().with(&self.watched);
        if let Some(cpu_boxes) = &mut self.cpu_boxes {
            cpu_boxes.update();
            if cpu_boxes.wants_requests() {
                let mut requests = Demand::default();
                requests.replace(SignalSet::EMPTY, false, Records::REQUESTS);
                self.demand = self.demand.with(&requests);
            }
        }
        if let Some(following) = &mut self.companion {
            following.follower.sync(&self.demand);
        }
        let follower = self.companion.as_ref().map(|following| &following.follower);
        let makes = |signal| follower.is_some_and(|follower| follower.supplies(signal));
        let mut own = SignalSet::EMPTY;
        self.demand.signals().iter().filter(|signal| !makes(*signal)).for_each(|signal| own.insert(signal));
        self.own.replace(own, self.demand.per_cycle(), self.demand.records());
        self.accompanied = follower.is_some_and(Follower::is_active);
        self.followed = own.iter().filter(|signal| supplies(*signal)).collect();
        self.signals.update(&self.own);
        self.sum_followed();
        if self.demand.asks_levels() {
            let (pending, _) = self.signals.lasting();
            self.thread.supply_levels(|state| match state {
                Signal::InterruptsMaskedPendingCycles => Some(pending),
                state => self.companion.as_ref().and_then(|following| following.follower.holds(state)),
            });
        }
    }

    /// This CPU's write may have changed what it must report, or another's.
    #[inline]
    fn update_if_stale(&mut self) {
        if self.epoch != self.thread.epoch() || self.cpu_boxes.as_ref().is_some_and(CpuBoxes::is_stale) {
            self.update_demand();
        }
    }

    /// Adds what the engine itself knows of a step, reports its record and services the PMU at a deadline, in this order.
    #[inline]
    fn complete(&self, step: &Step, entered_mask: bool) {
        let reached = add(step, entered_mask, false, (&self.signals, &self.own, &self.followed), &self.thread);
        if !self.demand.records().is_none() {
            report_record(step, reached, self.demand.records(), None, &self.thread);
        }
        if reached {
            self.thread.service();
        }
    }

    /// By how many cycles a step from `start` on moves the core's clock on.
    #[inline]
    fn run_core(&self, start: u64, cycles: u64) -> u64 {
        self.core.as_ref().map_or(cycles, |clock| clock.run(start, cycles))
    }

    /// `cycles` cycles of the core elapse, after a step whose length only the companion knew.
    fn advance_core(&self, cycles: u64) {
        let wanted = |signal: &Signal| self.own.wants(*signal);
        match [Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles].map(|signal| Some(signal).filter(wanted)) {
            [Some(one), Some(two)] => self.thread.advance(cycles, &[one, two]),
            [Some(one), None] | [None, Some(one)] => self.thread.advance(cycles, &[one]),
            [None, None] => {}
        }
    }

    /// A step that the companion must know of.
    fn retire_accompanied(&mut self, step: &Step, cpu: &CpuView<'_>, entered_mask: bool) -> Alerts {
        let mut cycles = None;
        let timed = self.companion.as_ref().is_some_and(|following| following.follower.is_active() && following.follower.keeps_time());
        let moved = if timed { 0 } else { self.run_core(cpu.cycles(), u64::from(step.cycles)) };
        self.signals.move_core(moved);
        let Cpu { companion, signals, own, followed, thread, demand, cpu_boxes, .. } = self;
        match companion.as_mut().filter(|following| following.follower.is_active()) {
            Some(following) => {
                if step.branch.is_some() || following.follower.follows_accesses() {
                    following.execute(step, cpu);
                }
                let held = following.follower.keeps_time();
                let mut states = [Signal::Cycles; STATES];
                let mut count = 0;
                if held {
                    for state in signals.states(step).into_iter().flatten().filter(|state| own.wants(*state)) {
                        states[count] = state;
                        count += 1;
                    }
                }
                let requested = !following.follower.requests().is_empty();
                if let Some(cpu_boxes) = cpu_boxes.as_ref().filter(|_| requested) {
                    cpu_boxes.request(following.follower.requests());
                }
                let events = |outcome: &Outcome| {
                    let reached = add(step, entered_mask, held, (signals, own, followed), thread);
                    if !demand.records().is_none() {
                        // The companion's own events and cycles may reach a deadline yet.
                        report_record(step, true, demand.records(), Some(outcome), thread);
                    }
                    // Requests are reported afterwards, and all deadlines are compared then.
                    if reached && !requested {
                        thread.service();
                    }
                };
                let passed = following.follower.deliver(thread, &states[..count], events);
                cycles = held.then(|| u32::try_from(passed).unwrap_or(u32::MAX));
            }
            None => self.complete(step, entered_mask),
        }
        if let Some(cpu_boxes) = &self.cpu_boxes {
            cpu_boxes.advance(cpu.cycles(), u64::from(cycles.unwrap_or(step.cycles)));
        }
        if let Some(cycles) = cycles {
            self.advance_core(self.run_core(cpu.cycles(), u64::from(cycles)));
        }
        if let Some(following) = &mut self.companion {
            following.forget(step);
        }
        Alerts { cycles, ..self.interrupts(step.next_rip) }
    }

    fn context_of(cpu: &CpuView<'_>) -> Context {
        Context::x86(cpu.cpl(), cpu.rflags(), cpu.cr4()).with_halted(cpu.halted())
    }

    /// What the thread must know before an instruction reads its registers.
    fn prepare(&mut self, cpu: &CpuView<'_>) {
        self.thread.set_context(Self::context_of(cpu));
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
        let asked = self.lines.take(self.thread.number());
        self.asked |= asked.is_some();
        if self.trace.is_active() {
            self.trace.move_to(Place { instruction: self.instructions, address: next, ..self.trace.place() });
            if let Some(counters) = asked {
                self.trace.interrupt(&self.thread, counters);
            }
            self.trace.step(&self.thread);
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
                self.trace.access(&self.thread, place, Address::Pci(address), (before, wrote), Ok(wrote.unwrap_or(read)));
            }
        }
        self.trace.move_to(place);
        if is_delivery {
            self.trace.taken(&self.thread, step.rip);
        }
        for access in step.accesses().iter().filter(|access| access.is_write) {
            self.trace.stored(&self.thread, access.physical, access.size.into());
        }
    }

    fn trace_access(&mut self, address: Address, cpu: &CpuView<'_>, written: (Option<u64>, Option<u64>), answer: Result<u64, Fault>) {
        let place = Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.rip() };
        self.trace.access(&self.thread, place, address, written, answer);
    }
}

/// The lowest bit of an LVT entry's delivery mode, and the mode of an NMI (SDM volume 3, section 10.5.1; the K8's APIC has the same).
const LVT_DELIVERY: u32 = 8;
const LVT_NMI: u32 = 4;

/// Adds what the engine itself knows of a step, as far as it is demanded. With `held`, its cycles are added elsewhere. Returns whether one
/// of its signals has reached its deadline.
#[inline]
fn add(step: &Step, entered_mask: bool, held: bool, what: (&Signals, &Demand, &[Signal]), thread: &Thread<'_, Lines>) -> bool {
    let (signals, own, followed) = what;
    if followed.is_empty() {
        return false;
    }
    signals.add(step, entered_mask, held, own, thread.totals());
    followed.iter().any(|signal| thread.reached(*signal))
}

/// Reports the record of a step, if one is wanted of it; `reached` is whether the step has reached a deadline.
fn report_record(step: &Step, reached: bool, wanted: Records, outcome: Option<&Outcome>, thread: &Thread<'_, Lines>) {
    if wanted.wants(reached, record::occasion(step))
        && let Some(record) = record(step, Records::EVERY, outcome)
    {
        thread.record(&record);
    }
}

impl Observer for Cpu<'_> {
    fn rdmsr(&mut self, msr: u32, cpu: &CpuView<'_>) -> Option<Result<u64, Gp>> {
        self.prepare(cpu);
        if let Some(other) = self.repeating() {
            other.rdmsr(msr, cpu);
        }
        let address = Address::Msr(msr);
        let answer = self.thread.read(address);
        if answer.is_ok() {
            self.usage.read(&self.thread, address);
        }
        self.trace_access(address, cpu, (None, None), answer);
        Self::answer(answer)
    }

    fn wrmsr(&mut self, msr: u32, value: u64, cpu: &CpuView<'_>) -> Option<Result<(), Gp>> {
        self.prepare(cpu);
        if let Some(other) = self.repeating() {
            other.wrmsr(msr, value, cpu);
        }
        self.ledger.before(msr, &self.thread);
        let address = Address::Msr(msr);
        let before = self.trace.before(&self.thread, address);
        let of_box = self.cpu_boxes.as_ref().zip(at_msr(msr));
        if let Some((cpu_boxes, place)) = of_box {
            cpu_boxes.before_write(place);
        }
        let answer = self.thread.write(address, value);
        if let Some((cpu_boxes, place)) = of_box {
            cpu_boxes.touch(place);
        }
        self.ledger.after(msr, &self.thread);
        if answer.is_ok() {
            self.usage.wrote(&self.thread, address, value);
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
        let answer = self.thread.read(address);
        if answer.is_ok() {
            self.usage.read(&self.thread, address);
        }
        self.trace_access(address, cpu, (None, None), answer);
        answer.map_err(|_| Gp)
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        let context = Self::context_of(cpu);
        self.thread.set_context(context);
        self.usage.moved(&self.thread, &context);
        if self.trace.is_active() {
            self.trace.move_to(Place { instruction: self.instructions, cycle: cpu.cycles(), address: cpu.rip() });
            self.trace.surround(&self.thread, Surrounding::of(&context, Some(cpu.cr3())));
        }
        if let Some(following) = &self.companion {
            following.follower.set_halted(cpu.halted());
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
        self.update_if_stale();
        if self.demand.wants(Signal::HaltedCycles) {
            self.thread.totals().add(Signal::HaltedCycles, cycles);
            if self.thread.reached(Signal::HaltedCycles) {
                self.thread.service();
            }
        }
        self.halt_beside(cycles);
        self.interrupts(self.next)
    }

    fn halt_deadline(&self) -> Option<u64> {
        if self.lines.waits(self.thread.number()) {
            return Some(1);
        }
        // A counter of these cycles has set it, whether the demand has been read since or not.
        let distance = self.thread.deadlines().distance(Signal::HaltedCycles, self.thread.totals());
        (distance != u64::MAX).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::topology::Builder;

    use super::*;

    #[test]
    fn a_halted_cpu_adds_what_another_one_has_begun_to_count() {
        let lines = Lines::new(2);
        let machine = Builder::new("k8").unwrap().threads(2).build(lines.clone()).unwrap();
        let mut halted = Cpu::new(machine.thread(0).unwrap(), &lines);
        // No event of the K8 counts halted cycles of another CPU. This demand takes the place of one, and has not been read yet.
        let mut wanted = SignalSet::EMPTY;
        wanted.insert(Signal::HaltedCycles);
        halted.watched.replace(wanted, false, Records::NONE);
        halted.halted_cycles(10);
        assert_eq!(halted.thread.totals().get(Signal::HaltedCycles), 0, "nothing says that the demand is another one");
        // The other CPU counts DRAM_ACCESSES, of the whole package.
        machine.thread(1).unwrap().wrmsr(0xC001_0000, 0x0042_07E0).unwrap();
        halted.halted_cycles(10);
        assert_eq!(halted.thread.totals().get(Signal::HaltedCycles), 10);
    }
}
