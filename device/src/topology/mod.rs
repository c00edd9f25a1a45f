//! A machine: packages of hardware threads, each with its PMU, and what they share.
//!
//! Every thread has its own [`Totals`], [`Deadlines`] and PMU. The PMU is behind a lock that only slow paths take: register accesses,
//! changes of context, deadlines. Counting takes none. No two PMUs are locked at once, and all locks are taken in one order (shared
//! demand, a PMU, wide deadlines, one thread's deadlines, claims): two guests can do whatever they like at the same time.
//!
//! # Counters that look beyond their thread
//!
//! A counter of package scope (a northbridge event) adds up the totals of every thread of the package and of its devices. What it may
//! still count before it overflows is divided among those arrays, as a second deadline in each of them; whichever array comes to its
//! share, the machine services the counter's owner at that event. While threads run one after the other this is exact to the event.
//! While they run in parallel it is exact up to what they have added and not yet compared.

mod arbiter;
mod view;

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

use spin::Mutex;
use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Alerts;
use vm_pmu_arch::feed::{Context, Deadlines, Demand, Feed, Pace, Record, Records, Scope, Signal, SignalSet, Totals};
use vm_pmu_arch::model::{Model, Occurrence, RegisterDescription, Reset};
use vm_pmu_arch::registry::{Part, Pmu, State};

use crate::irq::InterruptLine;
use arbiter::Arbiter;
use view::View;

/// What a thread, or a package's devices, did and when somebody must look.
#[derive(Debug)]
pub struct Source {
    /// What has happened so far.
    pub totals: Totals,
    /// When to call [`Thread::service`] or [`Machine::service_devices`]. To be read: whatever changes them takes a lock.
    pub deadlines: Deadlines,
    /// Taken by whoever changes the deadlines.
    changing: Mutex<()>,
}

impl Source {
    fn new(pace: Pace) -> Source {
        Source { totals: Totals::new(), deadlines: Deadlines::new(pace), changing: Mutex::new(()) }
    }
}

#[derive(Debug)]
struct Core {
    source: Source,
    pmu: Mutex<Pmu>,
    /// The epoch of the PMU's demand.
    epoch: AtomicU32,
}

#[derive(Debug)]
struct Package {
    /// What devices and other agents that are no thread did.
    devices: Source,
    arbiter: Arbiter,
    /// The signals that some counter of package scope has a deadline for.
    wide: Mutex<SignalSet>,
    /// What counters of package scope want of every thread and of the devices.
    demand: Mutex<Demand>,
    /// The epoch of that demand.
    epoch: AtomicU32,
}

/// How a [`Machine`] is built.
///
/// ```
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("k8").unwrap().packages(2).threads(2).build(|_thread, _counter| {});
/// assert_eq!(machine.threads(), 4);
/// assert!(Builder::new("z80").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    part: Part,
    packages: usize,
    threads: usize,
    lenient: bool,
    pace: Pace,
}

impl Builder {
    /// A machine of one package with one thread of the part of this name, in its usual revision; `None` for an unknown name.
    #[must_use]
    pub fn new(name: &str) -> Option<Builder> {
        Part::named(name).map(Builder::of)
    }

    /// A machine of one package with one thread of this part.
    #[must_use]
    pub fn of(part: Part) -> Builder {
        Builder { part, packages: 1, threads: 1, lenient: false, pace: Pace::default() }
    }

    /// How many packages: 1 to 65,535, into which any other number is brought.
    #[must_use]
    pub fn packages(self, packages: usize) -> Builder {
        Builder { packages: packages.clamp(1, usize::from(u16::MAX)), ..self }
    }

    /// How many threads a package has: 1 to 65,535, into which any other number is brought.
    #[must_use]
    pub fn threads(self, threads: usize) -> Builder {
        Builder { threads: threads.clamp(1, usize::from(u16::MAX)), ..self }
    }

    /// A counter that one thread uses for a unit of the package stays usable to the others for events of their own. The K8 manual says
    /// that it is not; drivers that assume it is lose counts unless this is set.
    #[must_use]
    pub fn share_counters(self) -> Builder {
        Builder { lenient: true, ..self }
    }

    /// What the emulator promises of its pace, for those that look at the horizon once a block ([`Thread::due`]).
    #[must_use]
    pub fn pace(self, pace: Pace) -> Builder {
        Builder { pace, ..self }
    }

    /// Builds the machine; requests for interrupts go to `line`. Nothing is allocated afterwards but the list that
    /// [`Machine::states`] returns.
    #[must_use]
    pub fn build<L: InterruptLine>(self, line: L) -> Machine<L> {
        let cores = (0..self.packages * self.threads).map(|_| Core {
            source: Source::new(self.pace),
            pmu: Mutex::new(self.part.build()),
            epoch: AtomicU32::new(0),
        });
        let packages = (0..self.packages).map(|_| Package {
            devices: Source::new(self.pace),
            arbiter: Arbiter::new(self.threads),
            wide: Mutex::new(SignalSet::EMPTY),
            demand: Mutex::new(Demand::default()),
            epoch: AtomicU32::new(0),
        });
        let machine = Machine {
            part: self.part,
            cores: cores.collect(),
            packages: packages.collect(),
            per_package: self.threads,
            lenient: self.lenient,
            line,
        };
        for thread in 0..machine.threads() {
            machine.apply_grants(thread);
        }
        machine
    }
}

/// A machine's PMUs, attached to an emulator.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use vm_pmu::topology::Builder;
/// use vm_pmu::Signal;
///
/// let interrupts = AtomicU32::new(0);
/// let machine = Builder::new("k8").unwrap().build(|_thread, _counter| {
///     interrupts.fetch_add(1, Ordering::Relaxed);
/// });
/// let cpu = machine.thread(0).unwrap();
/// cpu.wrmsr(0xC001_0004, 0u64.wrapping_sub(100)).unwrap();
/// cpu.wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
/// for _instruction in 0..100 {
///     cpu.totals().add(Signal::InstructionsRetired, 1);
///     if cpu.reached(Signal::InstructionsRetired) {
///         cpu.service();
///     }
/// }
/// assert_eq!(interrupts.load(Ordering::Relaxed), 1);
/// ```
#[derive(Debug)]
pub struct Machine<L> {
    part: Part,
    cores: Box<[Core]>,
    packages: Box<[Package]>,
    per_package: usize,
    lenient: bool,
    line: L,
}

impl<L: InterruptLine> Machine<L> {
    /// The part that the machine is built of.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.cores.len()
    }

    /// Where requests go.
    #[must_use]
    pub fn line(&self) -> &L {
        &self.line
    }

    /// Thread `number`, counted through all packages; `None` if there are not so many.
    #[must_use]
    pub fn thread(&self, number: usize) -> Option<Thread<'_, L>> {
        let core = self.cores.get(number)?;
        let package = self.packages.get(number / self.per_package)?;
        Some(Thread { machine: self, core, package, number })
    }

    /// What the devices of package `number` do: memory traffic that no thread caused. One host thread at a time may add to it.
    #[must_use]
    pub fn devices(&self, package: usize) -> Option<&Source> {
        self.packages.get(package).map(|package| &package.devices)
    }

    /// What the devices of package `number` must report at the moment.
    #[must_use]
    pub fn device_demand(&self, package: usize) -> Option<Demand> {
        self.packages.get(package).map(|package| *package.demand.lock())
    }

    /// A deadline of the devices of package `number` has been reached.
    pub fn service_devices(&self, package: usize) {
        if let Some(shared) = self.packages.get(package) {
            self.service_wide(package, shared, &shared.devices);
        }
    }

    /// What every thread's PMU remembers. An interrupt that comes due by saving is delivered here, before this returns: save the
    /// interrupt controllers afterwards. The list is the one thing that a machine allocates after it was built; [`Thread::state`] does
    /// not.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        (0..self.threads()).filter_map(|number| self.thread(number)).map(|thread| thread.state()).collect()
    }

    /// Makes the PMUs remember `states` instead, one a thread. What has been added to the totals so far is not counted. States that do
    /// not fit are refused and change nothing.
    ///
    /// # Errors
    /// [`RestoreError`] when there are not as many states as threads, or they belong to another part.
    pub fn restore(&self, states: &[State]) -> Result<(), RestoreError> {
        if states.len() != self.threads() {
            return Err(RestoreError::Threads { saved: states.len(), machine: self.threads() });
        }
        if let Some(foreign) = states.iter().find(|state| state.part() != self.part) {
            return Err(RestoreError::Part { saved: foreign.part(), machine: self.part });
        }
        for (number, state) in states.iter().enumerate() {
            let Some(thread) = self.thread(number) else { continue };
            thread.with(|pmu, view| {
                for signal in pmu.demand().signals().iter() {
                    view.disarm(signal, Scope::Thread);
                }
                let before = *pmu.demand();
                *pmu = Pmu::from_state(state, view);
                pmu.succeed_demand(&before);
            });
        }
        for (number, package) in self.packages.iter().enumerate() {
            package.arbiter.clear();
            for (thread, core) in self.members(number).iter().enumerate() {
                let pmu = core.pmu.lock();
                package.arbiter.put_back(thread, pmu.claims(), pmu.granted());
            }
            package.arbiter.settle();
        }
        (0..self.threads()).for_each(|number| self.apply_grants(number));
        for (number, package) in self.packages.iter().enumerate() {
            self.renew_wide_demand(number, package);
        }
        Ok(())
    }

    /// Something happened in package `package` that no signal tells: whichever of its threads counts it takes it. Returns whether one
    /// did.
    pub fn inject_package(&self, package: usize, occurrence: Occurrence, amount: u64) -> bool {
        let first = package.saturating_mul(self.per_package);
        let mut taken = false;
        for thread in (first..first.saturating_add(self.per_package)).filter_map(|number| self.thread(number)) {
            taken |= thread.inject(occurrence, amount);
        }
        taken
    }

    /// Joins what the threads of a package want of each other. Whoever comes last has seen every thread as it is now.
    fn renew_wide_demand(&self, number: usize, package: &Package) {
        let mut demand = package.demand.lock();
        let signals = self.members(number).iter().fold(SignalSet::EMPTY, |signals, core| signals.union(&core.pmu.lock().wide_demand()));
        demand.replace(signals, false, Records::None);
        package.epoch.store(demand.epoch(), Release);
    }

    fn members(&self, package: usize) -> &[Core] {
        let first = package * self.per_package;
        self.cores.get(first..first + self.per_package).unwrap_or(&[])
    }

    fn deliver(&self, thread: usize, alerts: Alerts) {
        if alerts.is_empty() {
            return;
        }
        if alerts.pins != 0 {
            self.line.pins(thread, alerts.pins);
        }
        if alerts.interrupts != 0 && alerts.late != 0 {
            log::trace!("thread {thread}: an interrupt was due {} events ago", alerts.late);
            self.line.late(thread, alerts.late);
        }
        let mut interrupts = alerts.interrupts;
        while interrupts != 0 {
            self.line.raise(thread, interrupts.trailing_zeros());
            interrupts &= interrupts - 1;
        }
    }

    fn apply_grants(&self, number: usize) {
        if let Some(thread) = self.thread(number) {
            let lenient = self.lenient;
            thread.with(|pmu, view| {
                let grants = thread.package.arbiter.grants(number % self.per_package);
                pmu.set_grants(grants.granted, if lenient { 0 } else { grants.blocked }, view);
            });
        }
    }

    /// Services the owners of counters of package scope, if one of their deadlines in `source` has been reached.
    fn service_wide(&self, number: usize, package: &Package, source: &Source) {
        let reached = {
            let mut wide = package.wide.lock();
            if wide.is_empty() {
                return;
            }
            let mut rest = SignalSet::EMPTY;
            let mut reached = false;
            for signal in wide.iter() {
                if source.totals.get(signal) >= source.deadlines.wide(signal) {
                    reached = true;
                    for source in self.members(number).iter().map(|core| &core.source).chain([&package.devices]) {
                        let _changing = source.changing.lock();
                        source.deadlines.set_wide(signal, Deadlines::NEVER, &source.totals);
                    }
                } else {
                    rest.insert(signal);
                }
            }
            *wide = rest;
            reached
        };
        if reached {
            let first = number * self.per_package;
            for thread in (first..first + self.per_package).filter_map(|number| self.thread(number)) {
                thread.with(|pmu, view| {
                    if pmu.claims() != 0 {
                        pmu.service(view);
                    }
                });
            }
        }
    }
}

/// One hardware thread of a [`Machine`]: what an emulator's CPU holds on to.
#[derive(Debug)]
pub struct Thread<'a, L> {
    machine: &'a Machine<L>,
    core: &'a Core,
    package: &'a Package,
    number: usize,
}

impl<L> Clone for Thread<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Thread<'_, L> {}

impl<'a, L: InterruptLine> Thread<'a, L> {
    /// The thread's number, counted through all packages.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The number of the package that the thread belongs to.
    #[must_use]
    pub fn package(&self) -> usize {
        self.number / self.machine.per_package
    }

    /// What the thread does is added here, by the one host thread that runs it.
    #[must_use]
    #[inline(always)]
    pub fn totals(&self) -> &'a Totals {
        &self.core.source.totals
    }

    /// When to call [`service`](Thread::service). To be read: what moves deadlines or the horizon ([`Deadlines::look`]) needs the thread's
    /// lock, which [`check`](Thread::check) takes.
    #[must_use]
    #[inline(always)]
    pub fn deadlines(&self) -> &'a Deadlines {
        &self.core.source.deadlines
    }

    /// Whether `signal` has come to its deadline.
    #[must_use]
    #[inline(always)]
    pub fn reached(&self, signal: Signal) -> bool {
        self.deadlines().reached(signal, self.totals())
    }

    /// Whether the horizon has been reached: one comparison, however many signals are counted. Then [`check`](Thread::check).
    #[must_use]
    #[inline(always)]
    pub fn due(&self) -> bool {
        self.deadlines().due(self.totals())
    }

    /// How far the pace may go before the horizon: a translated block that costs less needs no comparison within.
    #[must_use]
    #[inline(always)]
    pub fn room(&self) -> u64 {
        self.deadlines().room(self.totals())
    }

    /// The horizon has been reached: services the PMU if a deadline has been, and moves the horizon on.
    pub fn check(&self) {
        let look = || {
            let _changing = self.core.source.changing.lock();
            self.deadlines().look(self.totals())
        };
        if look() {
            self.service();
            look();
        }
    }

    /// A deadline has been reached: counts up to now, delivers what became due, sets new deadlines.
    pub fn service(&self) {
        self.with(|pmu, view| pmu.service(view));
        self.machine.service_wide(self.package(), self.package, &self.core.source);
    }

    /// Reads a register.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    pub fn read(&self, address: Address) -> Result<u64, Fault> {
        self.with(|pmu, view| pmu.read(address, view))
    }

    /// Writes a register.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; then nothing is written.
    pub fn write(&self, address: Address, value: u64) -> Result<(), Fault> {
        self.with_claims(|pmu, view| pmu.write(address, value, view))
    }

    /// Does `work` with the PMU, and lets its package know what the thread then claims and wants.
    fn with_claims<T>(&self, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        let (value, claimed, moved) = self.with(|pmu, view| {
            let before = pmu.claims();
            let value = work(pmu, view);
            let after = pmu.claims();
            // Before the PMU is let go: nobody can claim something else in between, and be overruled by what is out of date.
            let moved = before != after && self.package.arbiter.claim(self.number % self.machine.per_package, after);
            (value, before | after != 0, moved)
        });
        if moved {
            self.renew_grants();
        }
        if claimed {
            self.renew_wide_demand();
        }
        value
    }

    /// Counters of package scope may want something else than before.
    fn renew_wide_demand(&self) {
        self.machine.renew_wide_demand(self.package(), self.package);
    }

    /// Shared counters of the package have passed to other holders.
    fn renew_grants(&self) {
        let first = self.number - self.number % self.machine.per_package;
        for number in first..first + self.machine.per_package {
            self.machine.apply_grants(number);
        }
    }

    /// The thread's new state. What happened before this call happened in the old one.
    pub fn set_context(&self, context: Context) {
        self.with(|pmu, view| pmu.set_context(context, view));
    }

    /// The thread's state as its PMU knows it.
    #[must_use]
    pub fn context(&self) -> Context {
        *self.core.pmu.lock().context()
    }

    /// Something happened to the thread `amount` times (or for `amount` cycles) that no signal tells. Returns whether a counter of its
    /// own took it. What happens to the whole package goes to [`Machine::inject_package`], for whichever thread counts it.
    pub fn inject(&self, occurrence: Occurrence, amount: u64) -> bool {
        self.with(|pmu, view| pmu.inject(occurrence, amount, view))
    }

    /// One instruction, where the demand asks for it.
    pub fn record(&self, record: &Record) {
        self.with(|pmu, view| pmu.record(record, view));
    }

    /// What must be reported at the moment: what the thread's own counters follow, and what those of other threads follow in the whole
    /// package.
    #[must_use]
    pub fn demand(&self) -> Demand {
        let own = *self.core.pmu.lock().demand();
        own.with(&self.package.demand.lock())
    }

    /// Brings the registers to their values after a reset.
    pub fn reset(&self, reset: Reset) {
        self.with_claims(|pmu, view| pmu.reset(reset, view));
    }

    /// The epoch of [`demand`](Thread::demand), without a lock: what another thread programs can change it too.
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.core.epoch.load(Acquire).wrapping_add(self.package.epoch.load(Acquire))
    }

    /// Wishes for a deadline at every toggle of these pins, one bit each.
    pub fn watch_pins(&self, pins: u32) {
        self.with(|pmu, view| pmu.watch_pins(pins, view));
    }

    /// How often pin `pin` has toggled; its level is the lowest bit.
    #[must_use]
    pub fn pin_toggles(&self, pin: u32) -> u64 {
        self.with(|pmu, view| pmu.pin_toggles(pin, view))
    }

    /// What the PMU remembers; as [`Machine::states`] for one thread.
    #[must_use]
    pub fn state(&self) -> State {
        self.with(|pmu, view| pmu.state(view))
    }

    /// The registers there are.
    #[must_use]
    pub fn registers(&self) -> &'static [RegisterDescription] {
        self.core.pmu.lock().registers()
    }

    /// Does `work` with the PMU, then delivers what it has to tell.
    fn with<T>(&self, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        let (value, alerts) = {
            // What the view locks is let go before anything is delivered: a line may call the machine again.
            let view = View::new(self.core, self.machine.members(self.package()), self.package);
            let mut pmu = self.core.pmu.lock();
            let value = work(&mut pmu, &view);
            self.core.epoch.store(pmu.demand().epoch(), Release);
            (value, pmu.take_alerts())
        };
        self.machine.deliver(self.number, alerts);
        value
    }
}

/// Why saved states were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// There are not as many states as threads.
    Threads {
        /// How many states there are.
        saved: usize,
        /// How many threads the machine has.
        machine: usize,
    },
    /// A state was saved from another part, or another revision of the part.
    Part {
        /// The part that it was saved from.
        saved: Part,
        /// The part that the machine is built of.
        machine: Part,
    },
}

impl core::fmt::Display for RestoreError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RestoreError::Threads { saved, machine } => {
                write!(formatter, "{saved} threads were saved and the machine has {machine}: build one with as many")
            }
            RestoreError::Part { saved, machine } => {
                write!(formatter, "the state is of {saved} and the machine is {machine}: build one of the same part")
            }
        }
    }
}

impl core::error::Error for RestoreError {}
