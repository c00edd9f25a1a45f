//! The glue between the POWER interpreter and a POWER9 PMU: what any emulator writes once.
//!
//! [`Cpu`] is an [`Observer`]: it adds what each step did to the thread's totals, reports records and services the PMU at deadlines, passes
//! on contexts and register accesses, and keeps interrupts and event-based branches pending for the CPU.
//!
//! # What a step adds
//!
//! - Every step is one cycle, unless a companion keeps the time, and so is an interrupt that is taken. `stop` and `wait` have cycles too:
//!   a thread of POWER9 that waits is a matter of its run latch.
//! - An instruction belongs to the state it starts in; a taken interrupt to the state that it interrupts.
//! - `time_base_ticks` follow the cycles at the machine's rate, before the instruction that they belong to is compared with a deadline.
//! - The utilisation registers tick with the time base: each CPU has its core to itself, at its nominal frequency.
//! - `tlbie` is a translation invalidation received by every other CPU of [`Cpu::broadcast_to`].
//! - The engine discards nothing and cracks nothing: what is dispatched is what retires, one operation an instruction.
//!
//! # BESCR
//!
//! Both the engine and the PMU keep it. A `mtspr` goes to the PMU and then has its effect in the engine; what the engine changes by itself
//! (GE, at an event-based branch and at `rfebb`) is reported to the PMU; PME and PMEO are the PMU's while MMCR0\[EBE] is set.

mod access;
mod beside;
#[cfg(feature = "unicorn")]
mod blocks;
mod devices;
mod extra_pmus;
mod firmware;
mod following;
mod fusion;
mod ledger;
mod outside;
mod record;
mod run;
mod saved;
mod signals;
mod tracing;

#[cfg(feature = "unicorn")]
pub use blocks::Sums;
pub use devices::Devices;
pub use extra_pmus::{ExtraPmuState, ExtraPmus};
pub use firmware::{Firmware, FirmwareState, MAX_CHIPS, Pace, chip_id, scale};
pub use run::run;
#[cfg(feature = "unicorn")]
pub use run::run_on_unicorn;
pub use saved::{Attached, CpuState, Rig};
pub use signals::{pace, supplies};

use vm_pmu::arch::access::Address;
use vm_pmu::arch::feed::{Context, Occasion, Record, Records, Signal, SignalSet};
use vm_pmu::arch::power9::{Bescr, ThreadControl, spr};
use vm_pmu::companion::{Follower, Invalidation};
use vm_pmu::cpu::Counts;
use vm_pmu::topology::Thread;
use vm_pmu::{Countdown, Cpu as Pmu};

use super::Lines;
use super::beside::Beside;
use crate::report::Trace;
use crate::trace::{Recorder, Tracer, raised};
use crate::{Deliveries, Usage};
pub use ledger::Ledger;
use vm_pmu_engines::power::registers::vector;
use vm_pmu_engines::power::{
    Alerts, CpuView, DeviceActivity, EventBased, Notice, Observer, Pending, SprFault, Step, Taken, TimeBase, Touch,
};

/// HFSCR: PM, bit 60.
const HFSCR_PM: u64 = 1 << (63 - 60);
/// HFSCR: BHRB, bit 59.
const HFSCR_BHRB: u64 = 1 << (63 - 59);
/// FSCR and HFSCR: EBB, bit 56.
const FACILITY_EBB: u64 = 1 << (63 - 56);
/// LPCR: HR, bit 43: the host translates by a radix tree.
const LPCR_HR: u64 = 1 << (63 - 43);

/// What advances with the time base.
const TICKING: [Signal; 3] = [Signal::TimeBaseTicks, Signal::UtilizationTicks, Signal::ScaledUtilizationTicks];

/// What each instruction adds one to, as it does to instructions and cycles.
const EACH: [Signal; 4] = [Signal::InstructionsDispatched, Signal::MicroOpsRetired, Signal::MicroOpsDispatched, Signal::RetirementCycles];

/// One CPU of the engine, attached to one thread of a PMU machine.
#[derive(Debug)]
pub struct Cpu<'a> {
    pmu: Pmu<'a, Lines>,
    time_base: TimeBase,
    firmware: Option<&'a Firmware<'a>>,
    devices: Option<Devices<'a>>,
    /// The edition of the demand that the next field was read with.
    known: u32,
    /// The instructions that the match array matches, as a value and the bits that are compared.
    matched: Option<(u64, u64)>,
    /// Cycles reported so far.
    cycles: u64,
    /// Ticks of the time base reported so far.
    ticks: u64,
    /// BESCR as the PMU has it.
    bescr: u64,
    /// PME and PMEO as the PMU has them, while they are its own.
    event_based: Option<EventBased>,
    instructions: u64,
    /// The address of the last instruction, and what it was.
    last: u64,
    encoding: u32,
    ledger: Ledger,
    deliveries: Deliveries,
    usage: Usage,
    /// The lines of interrupts and event-based branches were up when they were last looked at.
    lines: [bool; 2],
    trace: Recorder,
    extra_pmus: ExtraPmus,
    beside: Option<Box<Beside<'a, Cpu<'a>>>>,
    /// The threads that are notified of translations that every CPU must forget.
    others: Vec<Thread<'a, Lines>>,
}

impl<'a> Cpu<'a> {
    /// Attaches `thread` to a CPU whose time base runs at `time_base`.
    #[must_use]
    pub fn new(thread: Thread<'a, Lines>, time_base: TimeBase) -> Cpu<'a> {
        let mut cpu = Cpu {
            pmu: Pmu::with_countdown(thread, Countdown::with(EACH.map(|signal| (signal, 1)))),
            time_base,
            firmware: None,
            devices: None,
            known: 0,
            matched: None,
            cycles: 0,
            ticks: 0,
            bescr: 0,
            event_based: None,
            instructions: 0,
            last: 0,
            encoding: 0,
            ledger: Ledger::new(thread.number()),
            deliveries: Deliveries::default(),
            usage: Usage::new(thread.part()),
            lines: [false; 2],
            trace: Recorder::default(),
            extra_pmus: ExtraPmus::default(),
            beside: None,
            others: Vec::new(),
        };
        cpu.keep_up();
        cpu
    }

    /// Has `follower` make what the interpreter does not know.
    pub fn follow(&mut self, follower: Follower<'a>) {
        self.pmu.follow(follower, SignalSet::EMPTY);
        self.keep_up();
    }

    /// Has `firmware` perform the calls of the guest, and advances the nests' time with this CPU's.
    pub fn call_firmware(&mut self, firmware: &'a Firmware<'a>) {
        self.firmware = Some(firmware);
    }

    /// Has bridges, caches and memory learn of what `devices` do at this CPU's command.
    pub fn attach_devices(&mut self, devices: Devices<'a>) {
        self.devices = Some(devices);
    }

    /// Notifies `others` of the translations that every CPU must forget. All of them run on one thread of the host, by turns.
    pub fn broadcast_to(&mut self, others: Vec<Thread<'a, Lines>>) {
        self.others = others;
    }

    /// Adds to the totals of `signals` even while the PMU does not demand them, for a caller that reads the totals.
    pub fn watch(&mut self, signals: SignalSet) {
        // The PMUs in addition to the guest's own take records where the guest's wants none.
        self.pmu.watch(signals, if self.extra_pmus.is_empty() { Records::NONE } else { Records::AT_DEADLINE });
        self.keep_up();
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

    /// The performance monitor interrupts and event-based branches that were taken.
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

    /// The run is over: counts up to now and takes the last values into the ledger. The thread is left in hypervisor state.
    pub fn close(&mut self) {
        let context = self.pmu.thread().context();
        self.ledger.settle(self.pmu.thread());
        self.extra_pmus.settle(self.pmu.thread().totals());
        self.pmu.set_context(Context { time_base: context.time_base, ..Context::power(extra_pmus::hypervisor().bits(), context.control) });
    }

    /// Reads the demand again if this CPU's write changed what it must report, or another's did, or a nest wants it.
    #[inline]
    fn keep_up(&mut self) {
        self.settle();
        self.pmu.sync();
        if self.known != self.pmu.edition() {
            self.known = self.pmu.edition();
            self.matched = self.pmu.thread().instruction_match();
        }
    }

    /// Brings the totals up to date with the blocks that ran.
    #[inline]
    fn settle(&mut self) {
        let executed = self.pmu.settle();
        if executed != 0 {
            self.tick(executed);
        }
    }

    /// Ticks of the time base in the first `cycles` cycles.
    fn ticks_in(&self, cycles: u64) -> u64 {
        let TimeBase { ticks, cycles: every } = self.time_base;
        (u128::from(cycles) * u128::from(ticks) / u128::from(every.max(1))) as u64
    }

    /// The time base advances by `cycles` more cycles. Its ticks are reported whether they are demanded or not: the PMU knows the time base
    /// as their total and an offset.
    fn tick(&mut self, cycles: u64) {
        self.cycles += cycles;
        let ticks = self.ticks_in(self.cycles);
        let passed = ticks - std::mem::replace(&mut self.ticks, ticks);
        if passed != 0 {
            self.pmu.thread().totals().add(Signal::TimeBaseTicks, passed);
            let sink = self.pmu.counts();
            sink.add(Signal::UtilizationTicks, passed);
            sink.add(Signal::ScaledUtilizationTicks, passed);
        }
        if let Some(firmware) = self.firmware {
            firmware.advance(self.cycles);
        }
    }

    fn context_of(&self, cpu: &CpuView<'_>) -> Context {
        let mut control = ThreadControl::default();
        control.set_run(cpu.run());
        control.set_priority(cpu.priority());
        control.set_radix(cpu.lpcr() & LPCR_HR != 0);
        control.set_hfscr_no_pm(cpu.hfscr() & HFSCR_PM == 0);
        control.set_hfscr_no_bhrb(cpu.hfscr() & HFSCR_BHRB == 0);
        control.set_hfscr_no_ebb(cpu.hfscr() & FACILITY_EBB == 0);
        control.set_fscr_no_ebb(cpu.fscr() & FACILITY_EBB == 0);
        // The totals from before the CPU was restored are no part of its time.
        let time_base = cpu.time_base().wrapping_sub(self.pmu.thread().totals().get(Signal::TimeBaseTicks));
        Context { time_base, ..Context::power(cpu.msr(), control.bits()) }
    }

    /// `cycles` elapse without any other event, around the instruction at `address`.
    fn advance(&mut self, cycles: u64, address: u64) {
        self.tick(cycles);
        self.pmu.counts().add(Signal::Cycles, cycles);
        if self.pmu.reached() {
            if self.pmu.demand().records().wants(true, Occasion::default()) {
                self.pmu.thread().record(&Record::at(address));
            }
            self.pmu.thread().service();
        }
    }

    /// What a step did. Returns the cycles it took, if the companion keeps the time.
    fn complete(&mut self, step: &Step, cpu: &CpuView<'_>) -> Option<u32> {
        if self.pmu.is_followed() {
            following::execute(&mut self.pmu, step, cpu);
        }
        // Ticks of a companion's cycles are reported after the step, when the cycles are known.
        if !self.pmu.is_timed() {
            self.tick(u64::from(step.cycles));
        }
        let passed = self.pmu.complete(&Executed { step, matched: self.matched });
        following::forget(&mut self.pmu, step, cpu);
        let passed = passed?;
        self.tick(passed);
        if TICKING.iter().any(|signal| self.pmu.thread().reached(*signal)) {
            self.pmu.thread().service();
        }
        Some(u32::try_from(passed).unwrap_or(u32::MAX))
    }

    /// Notices a line that has come up since they were last looked at.
    #[inline]
    fn look_at_lines(&mut self) {
        let lines = self.pmu.thread().lines();
        let lines = [lines.interrupt, lines.event_based_branch];
        if lines != self.lines {
            self.turn(lines);
        }
    }

    /// The lines have these levels now. A line that comes up is a request of the counters that are negative.
    #[cold]
    fn turn(&mut self, lines: [bool; 2]) {
        let before = std::mem::replace(&mut self.lines, lines);
        if let Some(counters) = raised(before, lines, &self.pmu.thread().state()) {
            self.pmu.thread().line().note(self.pmu.thread().number(), counters);
            self.trace.interrupt(self.pmu.thread(), counters);
        }
    }

    /// What the PMU sees of an interrupt or an event-based branch.
    fn notice_own(&mut self, notice: &Notice) {
        self.settle();
        if matches!(notice.taken, Taken::Interrupt(vector::PERFORMANCE_MONITOR) | Taken::EventBasedBranch) {
            self.deliveries.take(notice.address, notice.taken == Taken::EventBasedBranch);
            if self.trace.is_active() {
                self.trace_delivery(notice);
            }
        }
        self.encoding = 0;
        self.keep_up();
        if let Taken::Interrupt(_) = notice.taken {
            self.pmu.counts().add(signals::interruption(notice.taken), 1);
        }
        self.advance(u64::from(notice.cycles), notice.address);
    }

    /// What comes of a step for the guest.
    #[inline]
    fn retire_own(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        self.settle();
        self.instructions += 1;
        self.deliveries.retired(step.address);
        if step.address == self.last.wrapping_add(4) {
            fusion::add(self.encoding, step.encoding, &self.pmu.counts());
        }
        (self.last, self.encoding) = (step.address, step.encoding);
        self.keep_up();
        if step.touched.is_some_and(|touched| touched.why == Touch::Translation) {
            for other in &self.others {
                other.totals().add(Signal::TranslationInvalidationsReceived, 1);
            }
        }
        let cycles = self.complete(step, cpu);
        if !self.extra_pmus.is_empty() {
            self.count_step_in_extra_pmus(step);
        }
        if self.trace.is_active() {
            self.trace_step(step);
        }
        self.look_at_lines();
        Alerts { cycles, ..Alerts::NONE }
    }
}

/// A step of the engine, and the instructions that the match array matches.
struct Executed<'s> {
    step: &'s Step,
    matched: Option<(u64, u64)>,
}

impl vm_pmu::cpu::Step for Executed<'_> {
    #[inline]
    fn count(&self, counts: &Counts<'_>) {
        if !counts.is_timed() {
            counts.add(Signal::Cycles, u64::from(self.step.cycles));
        }
        let matches = self.matched.is_some_and(|(value, mask)| u64::from(self.step.encoding) & mask == value);
        signals::add(self.step, matches, counts);
    }

    fn occasion(&self) -> Occasion {
        record::occasion(self.step)
    }

    fn record(&self) -> Option<Record> {
        Some(record::record(self.step))
    }
}

impl Observer for Cpu<'_> {
    fn read_spr(&mut self, number: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        // BESCR is read in the engine, which has the same.
        if matches!(number, 768..=799 | spr::LDBAR | spr::MMCRC) { self.read(Address::Spr(number), cpu) } else { Err(SprFault::Unclaimed) }
    }

    fn write_spr(&mut self, number: u16, value: u64, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        match number {
            768..=799 | spr::LDBAR | spr::MMCRC => self.write(Address::Spr(number), value, cpu),
            spr::BESCRS..=spr::BESCRRU | spr::BESCR => {
                self.write(Address::Spr(number), value, cpu)?;
                Err(SprFault::Unclaimed)
            }
            _ => Err(SprFault::Unclaimed),
        }
    }

    fn branch_history(&mut self, index: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        self.read(Address::Bhrb(index), cpu)
    }

    fn clear_branch_history(&mut self, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        self.write(Address::Bhrb(0), 0, cpu)
    }

    fn read_instruction_match(&mut self, _index: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        self.read(Address::Imc, cpu)
    }

    fn write_instruction_match(&mut self, _index: u16, value: u64, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        self.write(Address::Imc, value, cpu)
    }

    fn attention(&mut self, cpu: &CpuView<'_>) -> Option<u64> {
        self.settle();
        self.firmware?.call(cpu.pc(), [0, 3, 4, 5].map(|number| cpu.gpr(number)))
    }

    fn device(&mut self, activity: &DeviceActivity) {
        self.settle();
        if let Some(devices) = &self.devices {
            devices.report(activity);
        }
        if let Some(beside) = &mut self.beside {
            beside.cpu.device(activity);
        }
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        self.settle();
        let context = self.context_of(cpu);
        if self.trace.is_active() {
            self.trace_context(&context, cpu);
        }
        let before = self.pmu.context().machine_state;
        if cpu.translates() && following::translates_otherwise(before, context.machine_state) {
            // The companion's buffers do not tell states apart.
            self.pmu.invalidate(Invalidation::All);
        }
        self.pmu.set_context(context);
        self.usage.moved(self.pmu.thread(), &context);
        if let Some(follower) = self.pmu.follower() {
            follower.set_halted(cpu.waiting());
        }
        self.extra_pmus.set_context(context, self.pmu.thread().totals());
        if let Some(beside) = &mut self.beside {
            beside.cpu.context(cpu);
        }
        // What the engine changed by itself, an event-based branch or its return: GE alone.
        let (engine, ours) = (Bescr::of(cpu.bescr()).ge(), Bescr::of(self.bescr).ge());
        if engine != ours {
            let mut ge = Bescr::default();
            ge.set_ge(true);
            let number = if engine { spr::BESCRS } else { spr::BESCRR };
            if self.pmu.access(|pmu| pmu.power().mtspr(number, ge.bits())).is_ok() {
                self.check_bescr();
            }
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

    fn notice(&mut self, notice: &Notice, _cpu: &CpuView<'_>) -> Alerts {
        self.notice_own(notice);
        if let Some(beside) = &mut self.beside {
            beside.cpu.notice_own(notice);
        }
        Alerts::NONE
    }

    #[inline]
    fn pending(&mut self) -> Pending {
        let lines = self.pmu.thread().lines();
        let told = self.event_based.is_some_and(|event| event.occurred);
        if told != lines.event_based_branch {
            self.check_bescr();
        }
        self.look_at_lines();
        Pending { interrupt: lines.interrupt, event_based: self.event_based }
    }

    fn waited(&mut self, cycles: u64) {
        self.settle();
        self.keep_up();
        self.advance(cycles, self.last);
        if let Some(beside) = &mut self.beside {
            beside.cpu.waited(cycles);
        }
    }

    fn wait_deadline(&self) -> Option<u64> {
        let distance = |signal| match self.pmu.thread().deadlines().distance(signal, self.pmu.thread().totals()) {
            u64::MAX => None,
            distance => Some(distance),
        };
        let every = u64::from(self.time_base.cycles.max(1));
        let ticks = TICKING
            .into_iter()
            .filter_map(distance)
            .min()
            .map(|ticks| ticks.saturating_mul(every) / u64::from(self.time_base.ticks.max(1)));
        [distance(Signal::Cycles), ticks].into_iter().flatten().min().map(|cycles| cycles.max(1))
    }
}
