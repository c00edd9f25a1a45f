//! A CPU of an emulator: all that stands between what it executes and its PMU.
//!
//! [`Cpu`] owns a [`Thread`], the companion's follower if there is one, what is demanded of whom, the countdown of blocks, and contexts whose
//! counts add up. An emulator reports what its CPU does, in the words that fit how it executes:
//!
//! | it executes | calls |
//! | --- | --- |
//! | instruction by instruction | [`retire`](Cpu::retire), or [`complete`](Cpu::complete) for steps that count more |
//! | translated blocks | [`enter`](Cpu::enter), [`refill`](Cpu::refill), [`take_back`](Cpu::take_back) |
//! | cycle by cycle, by a clock of its own | [`advance`](Cpu::advance), [`until`](Cpu::until) |
//! | with a companion | [`execute`](Cpu::execute) before [`complete`](Cpu::complete), while it [is followed](Cpu::is_followed) |
//! | with a companion, in translated blocks | as blocks, with [`execute_trace`](Cpu::execute_trace) and [`complete_trace`](Cpu::complete_trace) while it is followed |
//!
//! All of them may be mixed. Registers are accessed by [`access`](Cpu::access), and the state of the processor is reported by
//! [`set_context`](Cpu::set_context).

mod contexts;
#[cfg(feature = "companion")]
mod observer;
mod step;
#[cfg(feature = "companion")]
mod trace;

use core::sync::atomic::Ordering::Acquire;

use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Context, Demand, Record, Records, Signal, SignalSet};
#[cfg(feature = "companion")]
use vm_pmu_arch::feed::{Occasion, Request};

#[cfg(feature = "companion")]
use crate::companion::{Follower, Instruction, Invalidation, Outcome, PageTables};
use crate::countdown::{Countdown, Drained};
use crate::irq::{Flags, InterruptLine};
use crate::topology::Thread;
use contexts::Contexts;
#[cfg(feature = "companion")]
use observer::Observer;
use step::Retired;
pub use step::{Counts, Step};
#[cfg(feature = "companion")]
pub use trace::{Blocks, Traced};

/// The most signals whose deadlines are kept in a list.
const LISTED: usize = 32;

/// The signals whose deadlines are compared after each step.
#[derive(Debug)]
struct Listed {
    signals: [Signal; LISTED],
    /// How many they are; none if they are more than the list has room for.
    count: Option<usize>,
}

impl Listed {
    fn new() -> Listed {
        Listed { signals: [Signal::Cycles; LISTED], count: Some(0) }
    }

    fn replace(&mut self, signals: &SignalSet) {
        let mut count = 0;
        for signal in signals.iter() {
            if let Some(place) = self.signals.get_mut(count) {
                *place = signal;
            }
            count += 1;
        }
        self.count = Some(count).filter(|count| *count <= LISTED);
    }

    /// Whether one of them, which are those of `demand`, has reached its deadline.
    #[inline]
    fn reached<L: InterruptLine>(&self, demand: &Demand, thread: &Thread<'_, L>) -> bool {
        match self.count {
            Some(count) => self.signals.iter().take(count).any(|signal| thread.reached(*signal)),
            None => demand.signals().iter().any(|signal| thread.reached(signal)),
        }
    }
}

/// The most states of an emulator that hold in a cycle.
#[cfg(feature = "companion")]
const MOST_STATES: usize = 48;

/// A CPU of an emulator, attached to one hardware thread of a machine.
///
/// Only the host thread that runs the CPU uses it. It borrows the machine and is not saved with it: call [`settle`](Cpu::settle) before the machine
/// is saved, and [`restored`](Cpu::restored) after the machine has been restored.
///
/// ```
/// use vm_pmu::irq::Flags;
/// use vm_pmu::{Builder, Context, Cpu, Signal};
///
/// let machine = Builder::new("k8").unwrap().build(Flags::new(1)).unwrap();
/// let mut cpu = Cpu::new(machine.thread(0).unwrap());
/// cpu.set_context(Context::x86(0, 0x202, 0)); // CPL 0, RFLAGS with IF, CR4 without PCE
///
/// // The guest's WRMSRs: PerfCtr0 overflows after seven retired instructions of any level.
/// cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(7))).unwrap();
/// cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0053_00C0)).unwrap();
///
/// for instruction in 1..=10 {
///     cpu.retire(&[Signal::InstructionsRetired], 1);
///     assert_eq!(cpu.take_interrupt(), instruction == 7);
/// }
/// ```
#[derive(Debug)]
pub struct Cpu<'a, L> {
    thread: Thread<'a, L>,
    #[cfg(feature = "companion")]
    follower: Option<Follower<'a>>,
    /// The signals that the emulator adds although the companion could make them.
    #[cfg(feature = "companion")]
    kept: SignalSet,
    /// The signals and records for which alone the companion follows.
    #[cfg(feature = "companion")]
    worth: (SignalSet, Records),
    /// What gets the requests that are watched.
    #[cfg(feature = "companion")]
    observer: Observer<'a>,
    /// What is reported beyond what the PMU demands.
    watched: Demand,
    /// The records that are not reported although they are demanded.
    left_out: Records,
    demand: Demand,
    /// The epoch of the thread's demand when it was last read, and how often it has been.
    epoch: u32,
    edition: u32,
    /// The part of the demand that the companion does not make, and in blocks the pace.
    own: Demand,
    deadlines: Listed,
    /// The signals of the whole demand.
    #[cfg(feature = "companion")]
    demanded: Listed,
    /// Those of them that the companion makes.
    #[cfg(feature = "companion")]
    made: SignalSet,
    /// The last instruction of a trace that is not complete.
    #[cfg(feature = "companion")]
    traced: Option<Record>,
    /// The states of the emulator whose level is known, and those that hold.
    known: SignalSet,
    holding: SignalSet,
    countdown: Countdown,
    /// It has executed a block.
    in_blocks: bool,
    contexts: Contexts,
    /// The state of the CPU, of which the PMU need not know everything.
    context: Context,
    is_reported: bool,
}

impl<'a, L: InterruptLine> Cpu<'a, L> {
    /// A CPU whose PMU is `thread`. In blocks an instruction is one cycle.
    #[must_use]
    pub fn new(thread: Thread<'a, L>) -> Cpu<'a, L> {
        Cpu::with_countdown(thread, Countdown::new())
    }

    /// A CPU whose blocks are counted by `countdown`, which says what grows with their instructions.
    #[must_use]
    pub fn with_countdown(thread: Thread<'a, L>, countdown: Countdown) -> Cpu<'a, L> {
        let mut cpu = Cpu {
            thread,
            #[cfg(feature = "companion")]
            follower: None,
            #[cfg(feature = "companion")]
            kept: SignalSet::EMPTY,
            #[cfg(feature = "companion")]
            worth: (Signal::all().collect(), Records::ALL),
            #[cfg(feature = "companion")]
            observer: Observer::default(),
            watched: Demand::default(),
            left_out: Records::NONE,
            demand: Demand::default(),
            epoch: 0,
            edition: 0,
            own: Demand::default(),
            deadlines: Listed::new(),
            #[cfg(feature = "companion")]
            demanded: Listed::new(),
            #[cfg(feature = "companion")]
            made: SignalSet::EMPTY,
            #[cfg(feature = "companion")]
            traced: None,
            known: SignalSet::EMPTY,
            holding: SignalSet::EMPTY,
            countdown,
            in_blocks: false,
            contexts: Contexts::new(),
            context: thread.context(),
            is_reported: true,
        };
        cpu.restored();
        cpu
    }

    /// Has `follower` make the signals that the emulator does not know, except those in `kept`, which the emulator adds itself although the
    /// companion could make them.
    #[cfg(feature = "companion")]
    pub fn follow(&mut self, follower: Follower<'a>, kept: SignalSet) {
        self.settle();
        (self.follower, self.kept) = (Some(follower), kept);
        self.update_demand();
    }

    /// Chooses what is worth following for, all of it at first: the companion follows while one of `signals` or `records` is demanded, and then it
    /// makes the others too. For an emulator that executes slowly while it is followed: it adds other signals itself as long as it is not, and
    /// reports records without the companion's part.
    #[cfg(feature = "companion")]
    pub fn follow_for(&mut self, signals: SignalSet, records: Records) {
        if self.worth != (signals, records) {
            self.settle();
            self.worth = (signals, records);
            self.update_demand();
        }
    }

    /// Takes the companion's follower back: from now on the emulator adds every signal itself.
    #[cfg(feature = "companion")]
    pub fn unfollow(&mut self) -> Option<Follower<'a>> {
        self.settle();
        let follower = self.follower.take();
        self.update_demand();
        follower
    }

    /// Adds to the totals of `signals`, and reports `records`, even while the PMU does not demand them: for whoever reads the totals, and for
    /// other devices that count what the CPU does. Takes the place of what was watched before.
    pub fn watch(&mut self, signals: SignalSet, records: Records) {
        if (self.watched.signals(), self.watched.records()) != (&signals, records) {
            self.settle();
            self.watched.replace(signals, false, records);
            self.update_demand();
        }
    }

    /// Calls `observer` for each request that leaves the core's first-level caches, in order, while requests are [watched](Cpu::watch):
    /// for devices of the machine that count them. The PMU gets requests as it demands them.
    #[cfg(feature = "companion")]
    pub fn observe_requests(&mut self, observer: impl FnMut(&Request) + Send + 'a) {
        self.observer.set(observer);
        self.update_demand();
    }

    /// Leaves these records out for a time although they are demanded, none at first: for records that cost much and that the guest seldom looks at.
    pub fn leave_out(&mut self, records: Records) {
        if self.left_out != records {
            self.settle();
            self.left_out = records;
            self.update_demand();
        }
    }

    /// The thread that it is attached to. What is done with the thread directly, rather than by [`access`](Cpu::access), must neither depend on
    /// what blocks have executed nor change registers.
    #[must_use]
    #[inline(always)]
    pub fn thread(&self) -> &Thread<'a, L> {
        &self.thread
    }

    /// The companion that follows the CPU, if one does.
    #[cfg(feature = "companion")]
    #[must_use]
    #[inline]
    pub fn follower(&self) -> Option<&Follower<'a>> {
        self.follower.as_ref()
    }

    /// The companion that follows the CPU, to change its state.
    #[cfg(feature = "companion")]
    #[must_use]
    #[inline]
    pub fn follower_mut(&mut self) -> Option<&mut Follower<'a>> {
        self.follower.as_mut()
    }

    /// What the PMU and the [watchers](Cpu::watch) demand, as it was last read.
    #[must_use]
    #[inline]
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// A number that changes whenever the demand, or the companion's part of it, may have changed. An emulator that keeps something that depends on
    /// them, such as translated blocks, compares it after [`sync`](Cpu::sync).
    #[must_use]
    #[inline]
    pub fn edition(&self) -> u32 {
        self.edition
    }

    /// The part of the demand that the emulator must add itself; in blocks with the pace.
    #[must_use]
    #[inline]
    pub fn own_demand(&self) -> &Demand {
        &self.own
    }

    /// Where the emulator adds what occurs outside steps.
    #[must_use]
    #[inline]
    pub fn counts(&self) -> Counts<'_> {
        Counts::new(&self.own, self.thread.totals(), self.is_timed())
    }

    /// Whether the companion makes the cycles.
    #[must_use]
    #[inline]
    pub fn is_timed(&self) -> bool {
        #[cfg(feature = "companion")]
        let timed = self.follower.as_ref().is_some_and(Follower::keeps_time);
        #[cfg(not(feature = "companion"))]
        let timed = false;
        timed
    }

    /// Whether instructions must be reported by [`execute`](Cpu::execute).
    #[must_use]
    #[inline]
    pub fn is_followed(&self) -> bool {
        #[cfg(feature = "companion")]
        let followed = self.follower.as_ref().is_some_and(Follower::is_active);
        #[cfg(not(feature = "companion"))]
        let followed = false;
        followed
    }

    /// A state of the emulator holds from now on, or no longer: for counters of its edges, which may start within it. Only states that the
    /// companion does not make.
    #[inline]
    pub fn set_level(&mut self, state: Signal, holds: bool) {
        self.known.insert(state);
        if holds {
            self.holding.insert(state);
        } else {
            self.holding = self.holding.difference(&SignalSet::only(state));
        }
    }

    fn update_demand(&mut self) {
        self.report_context();
        self.epoch = self.thread.epoch();
        self.edition = self.edition.wrapping_add(1);
        self.demand = self.thread.demand().with(&self.watched);
        if self.left_out != Records::NONE {
            let (signals, per_cycle, levels) = (*self.demand.signals(), self.demand.per_cycle(), *self.demand.levels());
            self.demand.replace(signals, per_cycle, self.demand.records().without(self.left_out));
            self.demand.ask(levels);
        }
        #[cfg(feature = "companion")]
        self.observer.sync(self.watched.records(), self.thread.demand().records().without(self.left_out));
        #[cfg(feature = "companion")]
        if let Some(follower) = &mut self.follower {
            let (signals, records) = (self.demand.signals().difference(&self.kept), self.demand.records());
            let mut whole = Demand::default();
            whole.replace(signals, self.demand.per_cycle(), records);
            let mut worth = whole;
            worth.replace(signals.intersection(&self.worth.0), self.demand.per_cycle(), records.within(self.worth.1));
            follower.sync(&worth);
            if follower.is_active() && worth != whole {
                follower.sync(&whole);
            }
        }
        let mut own: SignalSet = self.demand.signals().iter().filter(|signal| !self.is_made(*signal)).collect();
        let mut separate = own;
        self.deadlines.replace(&own);
        #[cfg(feature = "companion")]
        {
            self.demanded.replace(self.demand.signals());
            self.made = self.demand.signals().difference(&own);
        }
        let pace = self.thread.deadlines().pace().signal;
        if self.in_blocks && !self.is_made(pace) {
            own.insert(pace);
        }
        self.own.replace(own, self.demand.per_cycle(), self.demand.records());
        separate = separate.difference(&self.countdown.counted());
        let separate: SignalSet = separate.iter().filter(|signal| !self.thread.deadlines().comes_between_blocks(*signal)).collect();
        self.contexts.set_separate(if self.is_followed() { None } else { Some(&separate) });
        if self.demand.asks_levels() {
            let level = |state| if self.known.contains(state) { Some(self.holding.contains(state)) } else { self.follower_holds(state) };
            self.thread.supply_levels(level);
        }
    }

    /// Whether the companion makes `signal` at the moment.
    fn is_made(&self, signal: Signal) -> bool {
        #[cfg(feature = "companion")]
        let made = !self.kept.contains(signal) && self.follower.as_ref().is_some_and(|follower| follower.supplies(signal));
        #[cfg(not(feature = "companion"))]
        let made = {
            _ = signal;
            false
        };
        made
    }

    /// Whether a state that the companion makes holds, if it knows.
    fn follower_holds(&self, state: Signal) -> Option<bool> {
        #[cfg(feature = "companion")]
        let holds = self.follower.as_ref().and_then(|follower| follower.holds(state));
        #[cfg(not(feature = "companion"))]
        let holds = {
            _ = state;
            None
        };
        holds
    }

    /// Whether a signal that the emulator adds has reached its deadline.
    #[must_use]
    #[inline]
    pub fn reached(&self) -> bool {
        self.deadlines.reached(&self.own, &self.thread)
    }

    /// Services the PMU if a signal that the emulator adds has reached its deadline: after additions [outside steps](Cpu::counts).
    #[inline]
    pub fn serve(&self) {
        if self.reached() {
            self.thread.service();
        }
    }

    /// Brings everything up to date between two blocks or steps: what blocks have executed is in the totals, deadlines are served, and the demand is
    /// the current one. Call it before one of several pending interrupts is chosen, if nothing is [left](Countdown::left): the last instruction
    /// may have reached a deadline. And call it when the demand [is stale](Cpu::is_stale).
    #[inline]
    pub fn sync(&mut self) {
        self.settle();
        if self.in_blocks {
            self.thread.check_if_due();
        }
        if self.is_stale() {
            self.update_demand();
        }
    }

    /// Whether the demand has changed since it was last read: a register was written, here or on another thread, or somebody watches places of
    /// memory. A CPU that executes blocks asks at their ends, and calls [`sync`](Cpu::sync) then.
    #[must_use]
    #[inline]
    pub fn is_stale(&self) -> bool {
        #[cfg(feature = "companion")]
        let watched = self.follower.as_ref().is_some_and(Follower::is_stale);
        #[cfg(not(feature = "companion"))]
        let watched = false;
        watched || self.epoch != self.thread.epoch()
    }

    // ---- Steps ----

    /// The CPU completed an instruction or another step, such as an interrupt that it took: adds one to each of `signals` and `cycles` to the
    /// cycles, and serves deadlines. A signal that occurred twice is named twice. While a companion makes the cycles, they are not added, and the
    /// cycles that it made are returned.
    #[inline]
    pub fn retire(&mut self, signals: &[Signal], cycles: u64) -> Option<u64> {
        self.sync();
        if self.is_followed() || cycles == 1 {
            return self.complete(&Retired { signals, cycles });
        }
        signals.iter().for_each(|signal| self.counts().add(*signal, 1));
        if self.own.wants(Signal::Cycles) {
            self.thread.advance(cycles, &[Signal::Cycles]);
        }
        self.serve();
        None
    }

    /// The CPU completed a step: adds what it counts, reports its record where one is wanted, and serves deadlines, in this order. Returns the
    /// cycles that the companion made, if it makes them.
    ///
    /// An instruction that is [followed](Cpu::is_followed) has been [executed](Cpu::execute) before: what the companion made of it comes first. If it
    /// was entered as a block of its own, the step does not count it again.
    #[inline]
    pub fn complete(&mut self, step: &impl Step) -> Option<u64> {
        #[cfg(feature = "companion")]
        if self.is_followed() {
            return self.complete_followed(step);
        }
        self.sync();
        step.count(&self.counts());
        let (reached, records) = (self.reached(), self.demand.records());
        if !records.is_none()
            && records.wants(reached, step.occasion())
            && let Some(record) = step.record()
        {
            self.thread.record(&record);
        }
        if reached {
            self.thread.service();
        }
        self.resume_blocks();
        None
    }

    /// Makes room for the next block after a step, where the CPU executes blocks.
    #[inline]
    fn resume_blocks(&mut self) {
        if self.in_blocks {
            self.thread.check_if_due();
            if self.is_stale() {
                self.update_demand();
            }
            self.fill((0, 0));
        }
    }

    /// Reports an instruction to the companion. `tables` are walked when no translation buffer holds an address. Only while it
    /// [is followed](Cpu::is_followed); [`complete`](Cpu::complete) comes next.
    #[cfg(feature = "companion")]
    #[inline]
    pub fn execute(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        if let Some(follower) = &mut self.follower {
            follower.execute(instruction, tables);
        }
    }

    /// The CPU forgets translations.
    #[cfg(feature = "companion")]
    pub fn invalidate(&mut self, what: Invalidation) {
        if let Some(follower) = &mut self.follower {
            follower.invalidate(what);
        }
    }

    /// [`complete`](Cpu::complete) while the companion follows.
    #[cfg(feature = "companion")]
    fn complete_followed(&mut self, step: &impl Step) -> Option<u64> {
        // What has been entered may be the instruction itself, whose deadlines are served after its record.
        self.settle();
        if self.is_stale() {
            self.update_demand();
        }
        let passed = self.deliver(step);
        self.resume_blocks();
        passed
    }

    /// Reports what the companion made, with what the emulator knows.
    #[cfg(feature = "companion")]
    #[inline]
    fn deliver(&mut self, step: &impl Step) -> Option<u64> {
        if !self.is_timed() {
            self.deliver_in(step, &[], false);
            return None;
        }
        let mut states = [Signal::Cycles; MOST_STATES];
        let mut count = self.clocks(&mut states);
        for (place, state) in states.iter_mut().skip(count).zip(step.states().filter(|state| self.own.wants(*state))) {
            *place = state;
            count += 1;
        }
        self.deliver_in(step, states.get(..count).unwrap_or(&[]), true)
    }

    /// Lists what grows as the companion's cycles do. Returns how many they are.
    #[cfg(feature = "companion")]
    fn clocks(&self, states: &mut [Signal; MOST_STATES]) -> usize {
        let mut count = 0;
        for (place, state) in states.iter_mut().zip(self.countdown.clocks().filter(|state| self.in_blocks && self.own.wants(*state))) {
            *place = state;
            count += 1;
        }
        count
    }

    /// Reports it, with the states of the emulator that held.
    #[cfg(feature = "companion")]
    #[inline]
    fn deliver_in(&mut self, step: &impl Step, states: &[Signal], timed: bool) -> Option<u64> {
        let Cpu { follower, observer, thread, own, deadlines, demanded, demand, .. } = self;
        let follower = follower.as_mut()?;
        observer.take(follower);
        let requested = !follower.requests().is_empty();
        let events = |outcome: &Outcome| {
            step.count(&Counts::new(own, thread.totals(), timed));
            let (reached, records) = (deadlines.reached(own, thread), demand.records());
            // A deadline of cycles has been served already, and requests and steps of nested walks may reach one yet.
            if !records.is_none()
                && records.wants(
                    timed || requested || records.nested || demanded.reached(demand, thread),
                    Occasion { fetch: outcome.fetch.is_some(), ..step.occasion() },
                )
                && let Some(mut record) = step.record()
            {
                step.refine(&mut record, outcome);
                thread.record(&record);
            }
            // Requests are reported afterwards, and all deadlines are compared then.
            if reached && !requested {
                thread.service();
            }
        };
        Some(follower.deliver(thread, states, events))
    }

    /// Lets `cycles` go by in which nothing else occurs, all of `states` holding in each of them, and serves every deadline on the way. For an
    /// emulator with a clock of its own, and for a CPU that waits. [`Signal::Cycles`] is one of the states while the CPU runs.
    pub fn advance(&mut self, cycles: u64, states: &[Signal]) {
        self.sync();
        self.thread.advance(cycles, states);
    }

    /// How many cycles may go by in these states before something becomes due; `None` if nothing does. For the timer of a CPU that waits.
    #[must_use]
    pub fn until(&mut self, states: &[Signal]) -> Option<u64> {
        self.sync();
        let distance = |state: &Signal| self.thread.deadlines().distance(*state, self.thread.totals());
        states.iter().map(distance).min().filter(|distance| *distance != u64::MAX)
    }

    // ---- Blocks ----

    /// The countdown, whose [cell](Countdown::cell) generated code subtracts from.
    #[must_use]
    #[inline(always)]
    pub fn countdown(&self) -> &Countdown {
        &self.countdown
    }

    /// A block is entered: subtracts [what it takes](Countdown::takes), and returns whether it may be executed. If not, nothing is subtracted, and
    /// [`refill`](Cpu::refill) comes next.
    #[must_use]
    #[inline(always)]
    pub fn enter(&self, takes: u64) -> bool {
        self.countdown.enter(takes)
    }

    /// A block of `instructions` was not entered: serves deadlines, and returns how many of its instructions to enter as a block of their own. Such
    /// a block fits, and no deadline comes before the last of them. Look for interrupts before it is entered.
    pub fn refill(&mut self, instructions: u32) -> u32 {
        self.settle();
        if !self.in_blocks {
            // Steps have compared each signal, and added no pace that was not wanted: the horizon may not be where it was.
            self.in_blocks = true;
            self.update_demand();
            self.thread.check();
        }
        if !self.thread.check_if_due() && self.room() < u64::from(instructions) {
            // The deadline of a counter that was stopped for a time is nearer than it must be.
            self.thread.service();
            self.thread.check();
        }
        self.sync();
        self.fill((0, 0));
        // Where nothing fits, because a deadline has been reached or the pace does not grow with instructions, they go singly.
        let room = self.room().max(1).min(instructions.into());
        if self.countdown.left() < room {
            self.countdown.grant(room);
        }
        instructions.min(u32::try_from(self.countdown.left()).unwrap_or(u32::MAX))
    }

    /// A block was left before its end: gives back the instructions that were not executed, as [`Countdown::takes`] returned for them.
    #[inline]
    pub fn take_back(&mut self, takes: u64) {
        self.countdown.take_back(takes);
    }

    /// Whether the record of the instruction that was last executed is wanted, because it reached a deadline. Ask between a block that ended and
    /// [`refill`](Cpu::refill), and [report](Cpu::record) it.
    #[must_use]
    pub fn wants_record(&mut self) -> bool {
        if !self.demand.records().at_deadline || self.countdown.left() != 0 {
            return false;
        }
        self.settle();
        self.reached()
    }

    /// Reports a record that is wanted, for emulators that [complete](Cpu::complete) no steps.
    pub fn record(&mut self, record: &Record) {
        self.settle();
        self.thread.record(record);
        self.sync();
    }

    /// Adds to the totals what blocks have executed. Returns how many instructions it added. Before the machine is saved, and before totals are
    /// read.
    #[inline]
    pub fn settle(&mut self) -> u64 {
        if self.countdown.is_empty() {
            return 0;
        }
        let executed = self.settle_to(0).0;
        self.countdown.grant(0);
        executed
    }

    /// Adds to the totals what blocks have executed, without the last `open` instructions. Returns how many it added, and the parts that are open.
    fn settle_to(&mut self, open: u32) -> (u64, (u64, u64)) {
        let drained = self.take_out(Countdown::takes(open, 0));
        if self.contexts.is_postponed() {
            let (countdown, totals) = (&self.countdown, self.thread.totals());
            self.contexts.report(self.thread, |amounts| countdown.add(amounts.instructions, amounts.paired, totals, false));
        }
        (drained.instructions, drained.open)
    }

    /// Takes out of the countdown what was subtracted, but for `open`: to the amounts of its context, or to the totals if the PMU is in that.
    fn take_out(&mut self, open: u64) -> Drained {
        let (drained, totals) = (self.countdown.drain(open), self.thread.totals());
        if self.contexts.is_unreported() {
            self.contexts.keep(drained.instructions, drained.paired, totals);
        } else {
            self.countdown.add(drained.instructions, drained.paired, totals, self.is_timed());
        }
        drained
    }

    /// Leaves what the horizon allows, without the open instructions. Where records are wanted, the instruction that reaches a deadline ends a
    /// block of its own.
    fn fill(&self, open: (u64, u64)) {
        self.countdown.leave(self.room().saturating_sub(self.demand.records().at_deadline.into()), open);
    }

    /// How many instructions may be entered: no deadline comes before the last of them.
    fn room(&self) -> u64 {
        #[cfg(feature = "companion")]
        if self.is_followed() {
            let horizon = if self.is_timed() { u64::MAX } else { self.countdown.room(self.thread) };
            return horizon.min(self.trace_room());
        }
        self.countdown.room(self.thread)
    }

    // ---- Registers and contexts ----

    /// An access of the guest to its PMU, and anything else that is done with the thread: `work` does it. What was executed before has been added,
    /// and the PMU knows the [context](Cpu::set_context).
    ///
    /// The accessing instruction is counted afterwards. In a block, which has been [entered](Cpu::enter), it is the last, and adds nothing to the
    /// paired signal. For an access from outside, such as a debugger's, [`sync`](Cpu::sync) comes first.
    pub fn access<T>(&mut self, work: impl FnOnce(Thread<'a, L>) -> T) -> T {
        let (_, open) = self.settle_to(1);
        if self.in_blocks {
            self.thread.check_if_due();
        }
        self.report_context();
        let answer = work(self.thread);
        self.contexts.forget(self.context);
        if self.epoch != self.thread.epoch() {
            self.update_demand();
        }
        if self.in_blocks {
            self.thread.check_if_due();
            self.fill(open);
        }
        answer
    }

    /// The state of the processor from now on, with whether it is halted. What was reported before occurred in the old one.
    ///
    /// In blocks, most changes cost a few comparisons: where no counter depends on a change, or the counts of both contexts add up, the PMU learns of
    /// it later.
    pub fn set_context(&mut self, context: Context) {
        if context == self.context {
            return;
        }
        if self.countdown.left() != 0 {
            let sensitivity = self.thread.sensitivity().load(Acquire);
            if contexts::is_the_same(&context, &self.context, sensitivity) {
                (self.context, self.is_reported) = (context, false);
                return;
            }
            // What is not reported of the current context is nothing that counters depend on.
            if self.thread.contexts_add_up().load(Acquire) != 0
                && let Some(place) = self.contexts.find(&context, sensitivity)
            {
                self.take_out(0);
                self.contexts.postpone(place, self.thread.totals());
                (self.context, self.is_reported) = (context, false);
                return;
            }
        }
        let refills = self.countdown.left() != 0;
        self.sync();
        (self.context, self.is_reported) = (context, false);
        self.report_context();
        self.sync();
        if refills {
            self.fill((0, 0));
        }
    }

    /// What the processor's state has become within a block, in fields that no counter depends on, such as flags and a time base: for an emulator
    /// that reads them only when the guest [accesses](Cpu::access) its PMU, which comes next. The accessing instruction is not counted before.
    #[inline]
    pub fn refresh_context(&mut self, context: Context) {
        if context != self.context {
            (self.context, self.is_reported) = (context, false);
        }
    }

    /// The state of the processor, as it was last [set](Cpu::set_context).
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Reports the context to the PMU, with everything settled.
    fn report_context(&mut self) {
        if self.is_reported {
            return;
        }
        self.is_reported = true;
        self.thread.set_context(self.context);
        #[cfg(feature = "companion")]
        if let Some(follower) = &self.follower {
            follower.set_halted(self.context.halted);
        }
        self.contexts.enter(self.context, self.thread.sensitivity().load(Acquire));
    }

    /// The machine has been restored or reset: reads its context and its demand again. Instructions that blocks have executed and that were not
    /// [settled](Cpu::settle) belong to the state before, and are discarded.
    pub fn restored(&mut self) {
        self.countdown.drain(0);
        self.countdown.grant(0);
        (self.context, self.is_reported) = (self.thread.context(), true);
        self.contexts.forget(self.context);
        self.update_demand();
    }

    /// The levels of the lines that stay raised until the guest acts, as on POWER.
    #[must_use]
    #[inline]
    pub fn lines(&self) -> Lines {
        self.thread.lines()
    }
}

impl Cpu<'_, Flags> {
    /// Whether the PMU has requested an interrupt since the last call: one message to the local APIC, or the vector of PMV made pending. Ask between
    /// instructions, and before a block that [`refill`](Cpu::refill) has cut.
    #[must_use = "what is taken and not delivered is lost"]
    #[inline]
    pub fn take_interrupt(&self) -> bool {
        self.thread.line().take(self.thread.number())
    }
}

#[cfg(test)]
mod tests;
