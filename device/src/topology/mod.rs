//! A machine: packages of hardware threads, each with its PMU, and what they share.
//!
//! Every thread has its own [`Totals`], [`Deadlines`] and PMU. The PMU is behind a lock that only slow paths take: register accesses,
//! changes of context, deadlines. Counting takes none. No two PMUs are locked at once, and all locks are taken in one order (shared demand,
//! a PMU, wide deadlines, one thread's deadlines, claims, what a package has once, what it posts into memory). So threads cannot deadlock.
//!
//! # What the threads of a package see of each other
//!
//! A part may have a register once for all threads of a package, and events that depend on which of the threads run. A package is the group
//! of threads that share these: on POWER9 a core of 1, 2 or 4 threads. After a write, a change of context or a reset the machine checks
//! what the thread [shares](vm_pmu_arch::model::Shared). If that has changed, the others are notified before the call returns.
//!
//! # Counters that count beyond their thread
//!
//! A counter of package scope (a northbridge event) adds up the totals of every thread of the package and of its devices. What it may still
//! count before it overflows is divided among those arrays, as a second deadline in each of them. When any array reaches its share, the
//! machine services the counter's owner at that event. While threads run one after the other, this is exact to the event. While they run in
//! parallel, the error is at most what they have added and not yet compared.

mod advance;
mod arbiter;
mod builder;
#[cfg(feature = "power9")]
mod collection;
mod common;
mod extension;
mod interest;
mod journal;
mod peek;
#[cfg(feature = "companion")]
mod pmu;
mod refusal;
mod thread;
#[cfg(feature = "knl")]
mod untile;
mod view;
#[cfg(feature = "recording")]
pub(crate) mod witness;

pub use builder::Builder;
#[cfg(feature = "power9")]
pub use collection::CoreCollection;
pub use peek::Peeked;
pub use refusal::{BuildError, RestoreError};
pub use thread::Thread;
#[cfg(feature = "knl")]
pub use untile::Untile;
pub use vm_pmu_arch::registry::UnknownPart;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

use vm_pmu_arch::alert::{Alerts, Lines};
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::feed::{Deadlines, Demand, Feed, Make, Pace, Records, Scope, SignalSet, Supply, Totals, Vocabulary};
use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::model::{Arbitration, LazyContexts, Model, Occurrence, PackageScope, Requests, SharedState, Tagging, UncoreInterrupts};
use vm_pmu_arch::registry::{Part, Pmu, State};

use crate::irq::InterruptLine;
use arbiter::Arbiter;
use common::Common;
use extension::{Extension, Packages};
use interest::{Change, Interest};
use view::Steady;
#[cfg(feature = "recording")]
use witness::{Call, Told};

/// What a thread, or a package's devices, did, and the deadlines that apply to it.
#[derive(Debug)]
pub struct Source {
    /// The events so far.
    pub totals: Box<Totals>,
    /// When to call [`Thread::service`] or [`Machine::service_devices`]. Only to be read: changing them needs a lock.
    pub deadlines: Box<Deadlines>,
    /// Held while the deadlines are changed.
    changing: Mutex<()>,
}

impl Source {
    fn new(vocabulary: Vocabulary, pace: Pace) -> Source {
        vocabulary.make(Paced(pace))
    }

    /// How many bytes it has allocated.
    fn allocated(&self) -> usize {
        size_of_val(&*self.totals) + size_of_val(&*self.deadlines)
    }
}

/// Makes a source of this pace.
struct Paced(Pace);

impl Make for Paced {
    type Made = Source;

    fn make<const OWN: usize, const DEADLINES: usize>(self, vocabulary: Vocabulary) -> Source {
        Source {
            totals: Box::new(Totals::<[AtomicU64; OWN]>::of(vocabulary)),
            deadlines: Box::new(Deadlines::<[AtomicU64; DEADLINES]>::of(vocabulary, self.0)),
            changing: Mutex::new(()),
        }
    }
}

#[derive(Debug)]
struct Core {
    source: Source,
    pmu: Mutex<Pmu>,
    /// What the PMU last wanted of the other threads of its package. Its lock is only taken while the PMU's is held.
    interest: Mutex<Interest>,
    /// The number of its package, and its own within that.
    package: usize,
    member: usize,
    /// The epoch of the PMU's demand.
    epoch: AtomicU32,
    /// Which parts of the context must be reported.
    sensitivity: AtomicU64,
    /// Not 0 while contexts may be reported as sums.
    contexts_add_up: AtomicU32,
    /// The levels of the lines that stay raised, one bit each.
    lines: AtomicU8,
}

const INTERRUPT: u8 = 1;
const EVENT_BASED_BRANCH: u8 = 2;

impl Core {
    /// The demand of the PMU, which is locked, may have changed. Returns a change in what it wants of others, if there is one.
    fn update(&self, pmu: &Pmu, package: &Package) -> Option<Change> {
        self.epoch.store(pmu.demand().epoch(), Release);
        self.sensitivity.store(package.sensitivity_of(pmu), Release);
        self.interest.lock().replace(Interest::of(pmu))
    }

    fn lines(&self) -> Lines {
        let levels = self.lines.load(Acquire);
        Lines { interrupt: levels & INTERRUPT != 0, event_based_branch: levels & EVENT_BASED_BRANCH != 0 }
    }

    fn set_lines(&self, lines: Lines) {
        let interrupt = if lines.interrupt { INTERRUPT } else { 0 };
        let branch = if lines.event_based_branch { EVENT_BASED_BRANCH } else { 0 };
        self.lines.store(interrupt | branch, Release);
    }
}

#[derive(Debug)]
struct Package {
    /// What devices and other agents that are not threads did.
    devices: Source,
    arbiter: Arbiter,
    common: Common,
    /// What the part has for each package in addition to its threads.
    extension: Option<Box<dyn Extension>>,
    /// Whether the extension follows the states of the threads. The code that sets it then takes every thread's lock.
    extension_running: AtomicBool,
    /// The signals that some counter of package scope has a deadline for.
    wide: Mutex<SignalSet>,
    /// What counters of package scope want of every thread and of the devices.
    demand: Mutex<Demand>,
    /// The epoch of that demand.
    epoch: AtomicU32,
    /// Whether it asks for records of instructions.
    records: AtomicBool,
    /// The threads that ask for requests.
    requests: Members,
    /// The threads that count events injected into others of the package, or made by their models.
    observers: Members,
    /// The threads that must be notified at once when another of them changes what they share.
    followers: Members,
}

impl Package {
    /// Which parts of the context of a thread must be reported: all of them while an extension follows the threads' states.
    fn sensitivity_of(&self, pmu: &Pmu) -> u64 {
        if self.is_extension_running() { u64::MAX } else { pmu.sensitivity() }
    }

    /// Whether the extension follows the threads, for a caller that has taken or will take a thread's lock.
    #[inline]
    fn is_extension_running(&self) -> bool {
        self.extension_running.load(Relaxed)
    }

    /// The signals that the extension follows in every thread.
    fn extension_demand(&self) -> SignalSet {
        if self.extension_running.load(Acquire) {
            self.extension.as_ref().map_or(SignalSet::EMPTY, |extension| extension.demand())
        } else {
            SignalSet::EMPTY
        }
    }

    fn footprint(&self) -> usize {
        size_of_val(self)
            + self.devices.allocated()
            + self.arbiter.footprint()
            + self.extension.as_ref().map_or(0, |extension| extension.footprint())
    }
}

/// Threads of a package, one bit each; the last bit is for all threads from 31 on.
#[derive(Debug, Default)]
struct Members(AtomicU32);

impl Members {
    fn bit(thread: usize) -> u32 {
        1 << thread.min(31)
    }

    fn set(&self, members: u32) {
        self.0.store(members, Release);
    }

    fn is_empty(&self) -> bool {
        self.0.load(Acquire) == 0
    }

    fn contains(&self, thread: usize) -> bool {
        self.0.load(Acquire) & Members::bit(thread) != 0
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
/// }).unwrap();
/// let cpu = machine.thread(0).unwrap();
/// cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(100)).unwrap();
/// cpu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
/// for _instruction in 0..100 {
///     cpu.totals().add(Signal::InstructionsRetired, 1);
///     if cpu.reached(Signal::InstructionsRetired) {
///         cpu.service();
///     }
/// }
/// assert_eq!(interrupts.load(Ordering::Relaxed), 1);
/// ```
///
/// Its `Debug` prints what it is built of, in one line; [`states`](Machine::states) returns what it remembers.
pub struct Machine<L> {
    part: Part,
    supply: Supply,
    /// The signals that have been logged as followed in vain.
    logged: Mutex<SignalSet>,
    cores: Box<[Core]>,
    packages: Box<[Package]>,
    per_package: usize,
    lenient: bool,
    /// What the part has in addition to its packages.
    extension: Option<Box<dyn Extension>>,
    #[cfg(feature = "recording")]
    seat: witness::Seat,
    line: L,
}

impl<L> core::fmt::Debug for Machine<L> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = formatter.debug_struct("Machine");
        shown.field("part", &format_args!("{}", self.part.name()));
        shown.field("packages", &self.packages.len()).field("threads", &self.cores.len()).finish_non_exhaustive()
    }
}

impl<L: InterruptLine> Machine<L> {
    /// The part that the machine is built of.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// The signals that the embedder said it [supplies](Builder::supplies), with cycles and the signal of its pace.
    #[must_use]
    pub fn supplied(&self) -> SignalSet {
        self.supply.signals
    }

    /// The kinds of records that the embedder said it [supplies](Builder::supplies_records).
    #[must_use]
    pub fn supplied_records(&self) -> Records {
        self.supply.records
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.cores.len()
    }

    /// How many packages there are; each has the same number of threads.
    #[must_use]
    pub fn packages(&self) -> usize {
        self.packages.len()
    }

    /// How many bytes the machine takes, with everything that it allocated.
    #[must_use]
    pub fn footprint(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.cores)
            + self.cores.iter().map(|core| core.source.allocated()).sum::<usize>()
            + self.packages.iter().map(Package::footprint).sum::<usize>()
            + self.extension.as_ref().map_or(0, |extension| extension.footprint())
    }

    /// The line that the requests go to.
    #[must_use]
    pub fn line(&self) -> &L {
        &self.line
    }

    /// Thread `number`, counted through all packages; `None` if there are fewer.
    #[must_use]
    pub fn thread(&self, number: usize) -> Option<Thread<'_, L>> {
        let core = self.cores.get(number)?;
        let package = self.packages.get(core.package)?;
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

    /// The epoch of that demand, for generated code and other code that must avoid a call. Only to be read.
    #[must_use]
    pub fn device_epoch(&self, package: usize) -> Option<&AtomicU32> {
        self.packages.get(package).map(|package| &package.epoch)
    }

    /// The horizon of the devices of package `package` has been reached: as [`Thread::check`] for a thread.
    pub fn check_devices(&self, package: usize) {
        let Some(shared) = self.packages.get(package) else { return };
        let look = || {
            let _changing = shared.devices.changing.lock();
            shared.devices.deadlines.update_horizon(&shared.devices.totals)
        };
        if look() {
            self.service_devices(package);
            look();
        }
    }

    /// A deadline of the devices of package `number` has been reached.
    pub fn service_devices(&self, package: usize) {
        #[cfg(feature = "recording")]
        self.watched(package.saturating_mul(self.per_package), Call::Service);
        if let Some(shared) = self.packages.get(package) {
            self.service_wide(package, shared, &shared.devices, None);
        }
    }

    /// What every thread's PMU remembers. An interrupt that becomes due by saving is delivered before this returns: save the interrupt
    /// controllers afterwards. The list is the only allocation that a machine makes after it was built; [`Thread::state`] makes none.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        (0..self.threads()).filter_map(|number| self.thread(number)).map(|thread| thread.state()).collect()
    }

    /// Makes the PMUs remember `states` instead, one per thread. Events that were added to the totals before are not counted. States that
    /// do not fit are refused and change nothing.
    ///
    /// # Errors
    /// [`RestoreError`] when there are not as many states as threads, or they belong to another part.
    pub fn restore(&self, states: &[State]) -> Result<(), RestoreError> {
        self.accepts(states)?;
        #[cfg(feature = "recording")]
        self.is_restored();
        for (number, state) in states.iter().enumerate() {
            let Some(thread) = self.thread(number) else { continue };
            let before = thread.lines();
            // A restored model reports lines that are raised with its first alerts, and does not report those that are not.
            thread.core.set_lines(Lines::default());
            thread.with(|pmu, view| {
                for signal in pmu.demand().signals().iter() {
                    view.disarm(signal, Scope::Thread);
                }
                let before = *pmu.demand();
                *pmu = Pmu::from_state(state, view);
                pmu.succeed_demand(&before);
            });
            if before != thread.lines() {
                self.update_lines(number, thread.core);
            }
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
        self.update_common();
        for (number, package) in self.packages.iter().enumerate() {
            self.update_package_demand(number, package);
        }
        Ok(())
    }

    /// Checks that there is one state per thread, all of this part.
    pub(crate) fn accepts(&self, states: &[State]) -> Result<(), RestoreError> {
        if states.len() != self.threads() {
            return Err(RestoreError::Threads { saved: states.len(), machine: self.threads() });
        }
        match states.iter().find(|state| state.part() != self.part) {
            Some(foreign) => Err(RestoreError::Part { saved: foreign.part(), machine: self.part }),
            None => Ok(()),
        }
    }

    /// An event without a signal occurred in package `package`: counts it in every thread of the package that has a counter for it. Returns
    /// whether one has.
    pub fn inject_package(&self, package: usize, occurrence: Occurrence, amount: u64) -> bool {
        let first = package.saturating_mul(self.per_package);
        #[cfg(feature = "recording")]
        self.watched(first, Call::InjectPackage(occurrence, amount));
        let mut taken = false;
        for thread in (first..first.saturating_add(self.per_package)).filter_map(|number| self.thread(number)) {
            taken |= thread.inject_own(occurrence, amount);
        }
        taken
    }

    /// Joins what the threads of a package want of each other. The last caller has seen the latest state of every thread.
    fn update_package_demand(&self, number: usize, package: &Package) {
        let mut demand = package.demand.lock();
        let (mut signals, mut records) = (SignalSet::EMPTY, Records::NONE);
        let (mut requests, mut observers, mut followers) = (0, 0, 0);
        for (thread, core) in self.members(number).iter().enumerate() {
            let pmu = core.pmu.lock();
            signals = signals.union(&pmu.package_demand());
            if pmu.wants_package_records() {
                records = records.with(Records::EVERY);
            }
            if pmu.wants_package_requests() {
                records = records.with(Records::REQUESTS);
                requests |= Members::bit(thread);
            }
            if pmu.observes_siblings() {
                observers |= Members::bit(thread);
            }
            if pmu.follows_siblings() {
                followers |= Members::bit(thread);
            }
        }
        signals = signals.union(&package.extension_demand());
        demand.follow(signals, false, records, &self.supply);
        package.records.store(records.every, Release);
        package.requests.set(requests);
        package.observers.set(observers);
        package.followers.set(followers);
        package.epoch.store(demand.epoch(), Release);
        for core in self.members(number) {
            core.sensitivity.store(package.sensitivity_of(&core.pmu.lock()), Release);
        }
    }

    /// The signals that threads of a package follow in the whole package, and those that it posts.
    fn wide_signals(&self, number: usize, package: &Package) -> SignalSet {
        self.members(number).iter().fold(package.extension_demand(), |signals, core| signals.union(&core.pmu.lock().package_demand()))
    }

    /// Notes what each thread of a package shares with the others, as its PMU has it. None of the PMUs is locked.
    fn gather(&self, number: usize, package: &Package) {
        for core in self.members(number) {
            let pmu = core.pmu.lock();
            package.common.note_own(pmu.shared());
        }
    }

    fn members(&self, package: usize) -> &[Core] {
        let first = package * self.per_package;
        self.cores.get(first..first + self.per_package).unwrap_or(&[])
    }

    /// Notifies every thread of its number and of what the others of its package share with it.
    fn update_common(&self) {
        for (number, package) in self.packages.iter().enumerate() {
            package.common.gather(self.members(number).iter().map(|core| core.pmu.lock().shared()));
        }
        (0..self.threads()).filter_map(|number| self.thread(number)).for_each(|thread| thread.notify());
    }

    /// Reports the levels of the thread to the line. The last caller reports the valid ones.
    fn update_lines(&self, thread: usize, core: &Core) {
        loop {
            let lines = core.lines();
            self.line.lines(thread, lines);
            if lines == core.lines() {
                break;
            }
        }
    }

    #[inline]
    fn deliver(&self, thread: usize, alerts: Alerts) {
        if !alerts.is_empty() {
            self.deliver_some(thread, alerts);
        }
    }

    fn deliver_some(&self, thread: usize, alerts: Alerts) {
        if alerts.overflows != 0 && log::log_enabled!(log::Level::Trace) {
            self.log_overflows(thread, alerts.overflows);
        }
        if let (Some(_), Some(core)) = (alerts.lines, self.cores.get(thread)) {
            #[cfg(feature = "recording")]
            self.tells(|| Told::Lines(thread, core.lines()));
            self.update_lines(thread, core);
        }
        if alerts.pins != 0 {
            #[cfg(feature = "recording")]
            self.tells(|| Told::Pins(thread, alerts.pins));
            self.line.pins(thread, alerts.pins);
        }
        // A part with levels requests an interrupt by raising one.
        let raised = alerts.lines.is_some_and(|lines| lines.interrupt || lines.event_based_branch);
        if (alerts.interrupts != 0 || raised) && alerts.late != 0 {
            log::trace!("thread {thread}: an interrupt was due {} events ago", alerts.late);
            self.line.late(thread, alerts.late);
        }
        let mut interrupts = alerts.interrupts;
        while interrupts != 0 {
            #[cfg(feature = "recording")]
            self.tells(|| Told::Raised(thread, interrupts.trailing_zeros()));
            self.line.raise(thread, interrupts.trailing_zeros());
            interrupts &= interrupts - 1;
        }
    }

    /// Interrupts the threads of these packages, one bit each.
    fn interrupt_packages(&self, packages: Packages) {
        let mut rest = packages;
        while rest != 0 {
            let package = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let first = package * self.per_package;
            for thread in (first..first.saturating_add(self.per_package)).filter_map(|number| self.thread(number)) {
                thread.with(|pmu, view| pmu.raise_uncore_interrupt(view));
            }
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
    fn service_wide(&self, number: usize, package: &Package, source: &Source, steady: Option<Steady<'_>>) {
        let reached = {
            let mut wide = package.wide.lock();
            if wide.is_empty() {
                return;
            }
            let mut rest = SignalSet::EMPTY;
            let mut reached = false;
            for signal in wide.iter() {
                let deadline = {
                    let _changing = source.changing.lock();
                    source.deadlines.wide(signal)
                };
                if source.totals.get(signal) >= deadline {
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
            self.service_owners(number, steady);
        }
    }

    /// Services the threads of package `number` that have counters of package scope.
    fn service_owners(&self, number: usize, steady: Option<Steady<'_>>) {
        let first = number * self.per_package;
        for thread in (first..first + self.per_package).filter_map(|number| self.thread(number)) {
            thread.with_steady(steady, |pmu, view| {
                if pmu.claims() != 0 || !pmu.package_demand().is_empty() {
                    pmu.service(view);
                }
            });
        }
    }
}
