//! One thread of a machine: what an emulator's CPU holds.

use core::fmt;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::feed::{Context, Deadlines, Demand, NestedStep, Record, Request, Signal, SignalSet, Totals};
use vm_pmu_arch::lock::MutexGuard;
use vm_pmu_arch::model::{
    Arbitration, InstructionMatching, LazyContexts, Levels, Model, NestedTranslation, Occurrence, PackageScope, Pins, RegisterDescription,
    Requests, Reset, SharedState, Tagging,
};
use vm_pmu_arch::registry::{Part, Pmu, State};

use super::extension::{Extension, Packages};
use super::view::{Steady, View};
#[cfg(feature = "recording")]
use super::witness::{Call, Shown};
use super::{Core, Machine, Members, Package};
use crate::irq::InterruptLine;

/// One hardware thread of a [`Machine`]: what an emulator's CPU holds.
///
/// Its `Debug` prints which one it is, in one line.
///
/// ```
/// let machine = vm_pmu::topology::Builder::new("k8").unwrap().threads(2).build(|_thread, _counter| {}).unwrap();
/// assert_eq!(format!("{:?}", machine.thread(1).unwrap()), "Thread { part: k8, number: 1 }");
/// ```
pub struct Thread<'a, L> {
    pub(super) machine: &'a Machine<L>,
    pub(super) core: &'a Core,
    pub(super) package: &'a Package,
    pub(super) number: usize,
}

impl<L> fmt::Debug for Thread<'_, L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Thread");
        shown.field("part", &format_args!("{}", self.machine.part.name())).field("number", &self.number).finish()
    }
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

    /// The machine's part.
    #[must_use]
    pub fn part(&self) -> Part {
        self.machine.part
    }

    /// The machine's line, where requests of the thread's counters go.
    #[must_use]
    pub fn line(&self) -> &'a L {
        &self.machine.line
    }

    /// The number of the package that the thread belongs to.
    #[must_use]
    pub fn package(&self) -> usize {
        self.core.package
    }

    /// The number of the first thread of its package.
    fn first(&self) -> usize {
        self.number - self.core.member
    }

    /// The totals of the thread. Only the one host thread that runs it adds to them.
    #[must_use]
    #[inline(always)]
    pub fn totals(&self) -> &'a Totals {
        &self.core.source.totals
    }

    /// When to call [`service`](Thread::service). Only to be read: moving deadlines or the horizon ([`Deadlines::update_horizon`]) needs
    /// the thread's lock, which [`check`](Thread::check) takes.
    #[must_use]
    #[inline(always)]
    pub fn deadlines(&self) -> &'a Deadlines {
        &self.core.source.deadlines
    }

    /// Whether `signal` has reached its deadline.
    #[must_use]
    #[inline(always)]
    pub fn reached(&self, signal: Signal) -> bool {
        self.deadlines().reached(signal, self.totals())
    }

    /// Whether the horizon has been reached: one comparison, however many signals are counted. If so, call [`check`](Thread::check). For
    /// signals that occur [between blocks](crate::Pace::between_blocks) use [`Deadlines::due_between`].
    #[must_use]
    #[inline(always)]
    pub fn due(&self) -> bool {
        self.deadlines().due(self.totals())
    }

    /// How much the pace may advance before the horizon: a translated block that costs less needs no comparison within.
    #[must_use]
    #[inline(always)]
    pub fn room(&self) -> u64 {
        self.deadlines().room(self.totals())
    }

    /// [Checks](Thread::check) if the horizon has been reached, or the deadline of a signal that occurs between blocks. Returns whether it did.
    #[inline]
    pub(crate) fn check_if_due(&self) -> bool {
        let due = self.due() || self.deadlines().due_between(self.totals());
        if due {
            self.check();
        }
        due
    }

    /// The horizon has been reached: services the PMU if a deadline has been reached, and moves the horizon on.
    pub fn check(&self) {
        let look = || {
            let _changing = self.core.source.changing.lock();
            self.deadlines().update_horizon(self.totals())
        };
        if look() {
            self.service();
            look();
        }
    }

    /// A deadline has been reached: counts up to now, delivers what is due, sets new deadlines.
    pub fn service(&self) {
        #[cfg(feature = "recording")]
        self.watched(Call::Service);
        self.service_steadily(None);
    }

    /// The same, while cycles are as `steady` says.
    pub(super) fn service_steadily(&self, steady: Option<Steady<'_>>) {
        self.with_steady(steady, |pmu, view| pmu.service(view));
        self.machine.service_wide(self.package(), self.package, &self.core.source, steady);
    }

    /// Reads a register.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    pub fn read(&self, address: Address) -> Result<u64, Fault> {
        #[cfg(feature = "recording")]
        let place = self.watched(Call::Read(address));
        let read = self.read_unlogged(address);
        #[cfg(feature = "recording")]
        self.machine.showed(place, || Shown::Read(read));
        if log::log_enabled!(log::Level::Trace) {
            self.log_read(address, read);
        }
        read
    }

    /// Reads a register for who looks at the machine from outside, as a debugger does: the same as [`read`](Thread::read), but neither the log
    /// nor a recording has it among what the guest did.
    ///
    /// # Errors
    /// The [`Fault`] that a guest would get.
    pub fn look(&self, address: Address) -> Result<u64, Fault> {
        // The PMU counts up to now for it.
        #[cfg(feature = "recording")]
        self.watched(Call::Service);
        self.read_unlogged(address)
    }

    #[inline]
    fn read_unlogged(&self, address: Address) -> Result<u64, Fault> {
        match self.extension_at(address) {
            Some(extension) => self.with_extension(address, || extension.read(address)),
            None => {
                // The fault and the value are kept apart: a `Result` of both does not fit into the registers that return it.
                let mut value = 0;
                let fault = self.with(|pmu, view| match pmu.read(address, view) {
                    Ok(read) => {
                        value = read;
                        None
                    }
                    Err(fault) => Some(fault),
                });
                fault.map_or(Ok(value), Err)
            }
        }
    }

    /// The machine's extension, if the register at `address` belongs to it.
    #[inline]
    pub(super) fn extension_at(&self, address: Address) -> Option<&'a dyn Extension> {
        self.machine.extension.as_deref().filter(|extension| extension.has(address))
    }

    /// Accesses the extension. Model-specific registers need privilege level 0.
    fn with_extension<T>(&self, address: Address, access: impl FnOnce() -> (Result<T, Fault>, Packages)) -> Result<T, Fault> {
        if matches!(address, Address::Msr(_)) && self.core.pmu.lock().context().privilege != 0 {
            return Err(Fault::GeneralProtection);
        }
        let (result, packages) = access();
        self.machine.interrupt_packages(packages);
        result
    }

    /// Writes a register.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; then nothing is written.
    pub fn write(&self, address: Address, value: u64) -> Result<(), Fault> {
        #[cfg(feature = "recording")]
        let place = self.watched(Call::Write(address, value));
        let written = match self.extension_at(address) {
            Some(extension) => self.with_extension(address, || extension.write(address, value)),
            None => self.with_claims(|pmu, view| pmu.write(address, value, view)),
        };
        #[cfg(feature = "recording")]
        self.machine.showed(place, || Shown::Written(written));
        if log::log_enabled!(log::Level::Debug) {
            self.log_write(address, value, written);
        }
        written
    }

    /// Does `work` with the PMU, and updates what the thread claims of its package.
    fn with_claims<T>(&self, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        let (value, moved) = self.with_common(self.core.pmu.lock(), |pmu, view| {
            let before = pmu.claims();
            let value = work(pmu, view);
            let after = pmu.claims();
            // Before the PMU is unlocked: else a newer claim could be overwritten by this one.
            let moved = before != after && self.package.arbiter.claim(self.core.member, after);
            (value, moved)
        });
        if moved {
            self.update_grants();
        }
        if log::log_enabled!(log::Level::Debug) {
            self.machine.log_unsupplied(self.number, &self.unsupplied());
        }
        value
    }

    /// Does `work` with the PMU, and notifies the other threads of its package of changes in what they share with it and in what it wants
    /// of them.
    fn with_common<T>(&self, pmu: MutexGuard<'_, Pmu>, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        let (value, changed) = self.with_locked(pmu, |pmu, view| {
            let before = pmu.shared();
            let value = work(pmu, view);
            (value, self.package.common.note(before, pmu.shared()))
        });
        if changed && !self.package.followers.is_empty() {
            let first = self.first();
            // The thread itself too: it may have forgotten what it knew of the others.
            let followers = (0..self.machine.per_package).filter(|member| self.package.followers.contains(*member));
            followers.filter_map(|member| self.machine.thread(first + member)).for_each(|thread| thread.notify());
        }
        value
    }

    /// Notifies the thread of what its package has once. It is read with the PMU locked, so the last caller has the latest.
    pub(super) fn notify(&self) {
        self.with(|pmu, view| self.notify_common(pmu, view));
    }

    fn notify_common(&self, pmu: &mut Pmu, view: &View<'_>) {
        self.package.common.update(self.core.member, pmu, view);
    }

    /// What counters of package scope want may have changed.
    fn update_package_demand(&self) {
        self.machine.update_package_demand(self.package(), self.package);
    }

    /// Shared counters of the package have passed to other holders.
    fn update_grants(&self) {
        let first = self.first();
        for number in first..first + self.machine.per_package {
            self.machine.apply_grants(number);
        }
    }

    /// The thread enters a new state. Events that were reported before this call occurred in the old one.
    pub fn set_context(&self, context: Context) {
        #[cfg(feature = "recording")]
        if self.machine.is_watched() {
            self.watched(Call::Context(&self.context(), &context));
        }
        let mut pmu = self.core.pmu.lock();
        // The short way, for most changes of privilege or of masked interrupts. An extension that follows the thread needs every state.
        let running = self.package.is_extension_running();
        let add_up = |pmu: &Pmu| self.core.contexts_add_up.store((!running && pmu.contexts_add_up()).into(), Release);
        if !running {
            let view = View::new(self.core, self.machine.members(self.package()), self.package, &self.machine.supply);
            if pmu.change_quietly(&context, !self.package.followers.is_empty(), &view) {
                add_up(&pmu);
                return;
            }
        }
        let effects = self.with_common(pmu, |pmu, view| {
            pmu.set_context(context, view);
            add_up(pmu);
            pmu.take_effects()
        });
        self.notify_siblings(None, effects);
    }

    /// The thread's state as its PMU knows it.
    #[must_use]
    pub fn context(&self) -> Context {
        *self.core.pmu.lock().context()
    }

    /// An event without a signal occurred in the thread `amount` times, or for `amount` cycles. Counters of other threads that count it for
    /// the package count it too. Returns whether one of the thread's own counters did. For events of the whole package call
    /// [`Machine::inject_package`].
    pub fn inject(&self, occurrence: Occurrence, amount: u64) -> bool {
        #[cfg(feature = "recording")]
        self.watched(Call::Inject(occurrence, amount));
        let (taken, tags) = self.with(|pmu, view| (pmu.inject(occurrence, amount, view), pmu.injection_tags()));
        for thread in self.others_of(&self.package.observers) {
            thread.with(|pmu, view| pmu.inject_from_sibling(occurrence, amount, tags, view));
        }
        taken
    }

    /// The same for an event of the whole package, in this thread's counters only.
    pub(super) fn inject_own(&self, occurrence: Occurrence, amount: u64) -> bool {
        self.with(|pmu, view| pmu.inject(occurrence, amount, view))
    }

    /// The other threads of the package.
    fn others(&self) -> impl Iterator<Item = Thread<'a, L>> + use<'a, L> {
        let (own, machine) = (self.number, self.machine);
        let first = self.first();
        (first..first + machine.per_package).filter(move |number| *number != own).filter_map(|number| machine.thread(number))
    }

    /// Those of them that are among `members`.
    fn others_of(&self, members: &'a Members) -> impl Iterator<Item = Thread<'a, L>> + use<'a, L> {
        let others = if members.is_empty() { None } else { Some(self.others()) };
        others.into_iter().flatten().filter(|thread| members.contains(thread.core.member))
    }

    /// Reports the record of one instruction, where the demand asks for it: after its signals have been added and, if it reached a
    /// deadline, before [`service`](Thread::service). More records than are demanded do no harm.
    pub fn record(&self, record: &Record) {
        #[cfg(feature = "recording")]
        self.watched(Call::Record(record));
        let (tags, effects) = self.with(|pmu, view| {
            // The tags of the instruction, read before the record can freeze a counter.
            let tags = self.package.records.load(Acquire).then(|| pmu.tag(record));
            pmu.record(record, view);
            (tags, pmu.take_effects())
        });
        self.notify_siblings(tags, effects);
    }

    /// A request of this thread left its core's caches: the counters of its package that follow requests count it. Call it where the
    /// demand asks for it, after the signals of the instruction that made it have been added.
    pub fn request(&self, request: &Request) {
        #[cfg(feature = "recording")]
        self.watched(Call::Request(request));
        let from = u8::try_from(self.core.member).unwrap_or(u8::MAX);
        self.with(|pmu, view| pmu.request(request, from, view));
        for thread in self.others_of(&self.package.requests) {
            thread.with(|pmu, view| {
                if pmu.wants_package_requests() {
                    pmu.request(request, from, view);
                }
            });
        }
    }

    /// How many requests of a companion may be made in this package, at least, before a counter of this thread wraps by one of them;
    /// `u64::MAX` if none counts requests.
    #[must_use]
    pub fn request_room(&self) -> u64 {
        self.with(|pmu, _| pmu.request_room())
    }

    /// A table walker of this thread made a step of a nested translation. Call it where the demand asks for it
    /// ([`Records::nested`](vm_pmu_arch::feed::Records)), after the signals of the instruction have been added.
    pub fn nested(&self, step: &NestedStep) {
        #[cfg(feature = "recording")]
        self.watched(Call::Nested(step));
        self.with(|pmu, view| pmu.nested(step, view));
    }

    /// Lets the other threads of the package count a tagged instruction of this thread and the `effects` that its model made of it; without
    /// tags, those of a change of the context.
    #[inline]
    fn notify_siblings(&self, tags: Option<u64>, effects: u64) {
        if tags.is_none() && effects == 0 {
            return;
        }
        // A thread that uses tags also counts events injected into others.
        for thread in self.others_of(&self.package.observers) {
            thread.with(|pmu, view| {
                if pmu.observes_siblings() {
                    pmu.notify(tags, effects, view);
                }
            });
        }
    }

    /// What must be reported at the moment: for the thread's own counters, and for those of other threads that count in the whole package.
    #[must_use]
    pub fn demand(&self) -> Demand {
        let own = *self.core.pmu.lock().demand();
        own.with(&self.package.demand.lock())
    }

    /// The signals that the thread's own counters, or those of other threads that count for the whole package, follow in vain at the
    /// moment: the embedder does not [supply](super::Builder::supplies) them. Such counters count nothing; an emulator can warn its user.
    #[must_use]
    pub fn unsupplied(&self) -> SignalSet {
        let own = self.core.pmu.lock().followed();
        own.union(&self.machine.wide_signals(self.package(), self.package)).difference(&self.machine.supply.signals)
    }

    /// Supplies the levels of the states that the demand [asks for](Demand::levels): `holds` returns whether a state holds right now, and
    /// `None` if that is not known. A counter that starts within a state then does not take it for an edge. Call it before any other event,
    /// while [`asks_levels`](Demand::asks_levels) is true; it costs nothing otherwise. If it is never called, every state is at rest.
    ///
    /// ```
    /// use vm_pmu::Signal;
    /// use vm_pmu::topology::Builder;
    ///
    /// let machine = Builder::new("k8").unwrap().build(|_, _| {}).unwrap();
    /// let pmu = machine.thread(0).unwrap();
    /// // The decoder is empty when PerfEvtSel0 is enabled for edges of event D0h: E, OS, EN.
    /// pmu.x86().wrmsr(0xC001_0000, 0x0046_00D0).unwrap();
    /// if pmu.demand().asks_levels() {
    ///     pmu.supply_levels(|state| (state == Signal::DecoderEmptyCycles).then_some(true));
    /// }
    /// pmu.advance(5, &[Signal::Cycles, Signal::DecoderEmptyCycles]);
    /// assert_eq!(pmu.x86().rdpmc(0), Ok(0));
    /// ```
    pub fn supply_levels(&self, holds: impl Fn(Signal) -> Option<bool>) {
        // The embedder is asked with nothing locked. A thread of the host that changes the demand meanwhile may ask for more.
        let (mut asked, mut known, mut holding) = (SignalSet::EMPTY, SignalSet::EMPTY, SignalSet::EMPTY);
        loop {
            let more = self.with(|pmu, view| {
                let more = pmu.demand().levels().difference(&asked);
                if more.is_empty() {
                    #[cfg(feature = "recording")]
                    self.watched(Call::Levels(&known, &holding));
                    pmu.supply_levels(|state| known.contains(state).then(|| holding.contains(state)), view);
                }
                more
            });
            if more.is_empty() {
                break;
            }
            for state in more.iter() {
                match holds(state) {
                    Some(true) => [&mut known, &mut holding].into_iter().for_each(|states| states.insert(state)),
                    Some(false) => known.insert(state),
                    None => {}
                }
            }
            asked = asked.union(&more);
        }
    }

    /// Brings the registers to their values after a reset.
    pub fn reset(&self, reset: Reset) {
        #[cfg(feature = "recording")]
        self.watched(Call::Reset(reset));
        self.with_claims(|pmu, view| pmu.reset(reset, view));
    }

    /// The epoch of [`demand`](Thread::demand), without a lock: a register access of another thread can change it too.
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u32 {
        let [own, package] = self.epochs();
        own.load(Acquire).wrapping_add(package.load(Acquire))
    }

    /// The two numbers whose sum is the [epoch](Thread::epoch), for generated code and other code that must avoid a call. Only to be read.
    #[must_use]
    #[inline]
    pub fn epochs(&self) -> [&'a AtomicU32; 2] {
        [&self.core.epoch, &self.package.epoch]
    }

    /// Which parts of the context must be reported when they change: see [`LazyContexts::sensitivity`]. Only to be read; another thread may
    /// change it, as it may the demand.
    #[must_use]
    #[inline]
    pub fn sensitivity(&self) -> &'a AtomicU64 {
        &self.core.sensitivity
    }

    /// Not 0 while the contexts reported since the last register access may be reported as sums: see [`LazyContexts::contexts_add_up`]. Any
    /// call except [`set_context`](Thread::set_context) makes it 0. Only to be read; another thread may change it.
    #[must_use]
    #[inline]
    pub fn contexts_add_up(&self) -> &'a AtomicU32 {
        &self.core.contexts_add_up
    }

    /// Sets a deadline at every toggle of these pins, one bit each.
    pub fn watch_pins(&self, pins: u32) {
        #[cfg(feature = "recording")]
        self.watched(Call::WatchPins(pins));
        self.with(|pmu, view| pmu.watch_pins(pins, view));
    }

    /// How often pin `pin` has toggled; its level is the lowest bit.
    #[must_use]
    pub fn pin_toggles(&self, pin: u32) -> u64 {
        #[cfg(feature = "recording")]
        let place = self.watched(Call::PinToggles(pin));
        let toggles = self.with(|pmu, view| pmu.pin_toggles(pin, view));
        #[cfg(feature = "recording")]
        self.machine.showed(place, || Shown::Toggles(toggles));
        toggles
    }

    /// The levels of the lines that stay raised until the guest acts, as last reported to the [line](InterruptLine::lines).
    #[must_use]
    #[inline]
    pub fn lines(&self) -> Lines {
        self.core.lines()
    }

    /// The instructions that [`Signal::MatchedInstructions`] counts, as a value and the bits of it that are compared with an
    /// instruction's encoding; `None` while nothing is to be matched. When it changes, so does the epoch of the demand.
    #[must_use]
    pub fn instruction_match(&self) -> Option<(u64, u64)> {
        self.core.pmu.lock().instruction_match()
    }

    /// What the PMU remembers; as [`Machine::states`] for one thread.
    #[must_use]
    pub fn state(&self) -> State {
        #[cfg(feature = "recording")]
        self.watched(Call::Save);
        // It is notified of the others of its package only while it follows them. A state has the latest, so that equal machines have equal
        // states.
        if self.package.followers.is_empty() {
            self.machine.gather(self.package(), self.package);
        }
        self.with(|pmu, view| {
            self.notify_common(pmu, view);
            pmu.state(view)
        })
    }

    /// The registers that the part has.
    #[must_use]
    pub fn registers(&self) -> &'static [RegisterDescription] {
        self.core.pmu.lock().registers()
    }

    /// Does `work` with the PMU, delivers its alerts, and updates what its counters want of the other threads of the package.
    #[inline]
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        self.with_steady(None, work)
    }

    /// The same, while cycles are as `steady` says.
    pub(super) fn with_steady<T>(&self, steady: Option<Steady<'_>>, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        self.with_all(self.core.pmu.lock(), steady, work)
    }

    /// The same with the PMU locked, which this unlocks.
    fn with_locked<T>(&self, pmu: MutexGuard<'_, Pmu>, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        self.with_all(pmu, None, work)
    }

    fn with_all<T>(&self, mut pmu: MutexGuard<'_, Pmu>, steady: Option<Steady<'_>>, work: impl FnOnce(&mut Pmu, &View<'_>) -> T) -> T {
        let (value, alerts, changed) = {
            // The locks of the view are released before anything is delivered: a line may call the machine again.
            let members = self.machine.members(self.package());
            let view = View::new(self.core, members, self.package, &self.machine.supply).with_steady(steady);
            self.core.contexts_add_up.store(0, Release);
            let value = work(&mut pmu, &view);
            if let Some(extension) = self.package.extension.as_ref().filter(|_| self.package.is_extension_running()) {
                extension.follow(self.core.member, &pmu, self.totals());
            }
            let alerts = pmu.take_alerts();
            if let Some(lines) = alerts.lines {
                self.core.set_lines(lines);
            }
            let changed = if alerts.renewed { self.core.update(&pmu, self.package) } else { None };
            drop(pmu);
            (value, alerts, changed)
        };
        self.machine.deliver(self.number, alerts);
        if let Some(change) = changed {
            self.update_package_demand();
            if change.starts_to_follow {
                // While no thread followed, not every change was noted.
                self.machine.gather(self.package(), self.package);
                self.notify();
            }
        }
        value
    }
}

#[cfg(feature = "recording")]
impl<L: InterruptLine> Thread<'_, L> {
    /// A call about the thread begins.
    #[inline]
    pub(super) fn watched(&self, call: Call<'_>) -> Option<usize> {
        self.machine.watched(self.number, call)
    }

    /// So many cycles are about to pass, in each of which these states hold.
    #[inline]
    pub(super) fn watched_cycles(&self, cycles: u64, states: &[Signal]) {
        if self.machine.is_watched() {
            let is_far = |signal: &Signal| self.deadlines().distance(*signal, self.totals()) > cycles;
            let quietly = states.iter().all(is_far) && !self.demand().per_cycle();
            self.watched(Call::Cycles { cycles, states, quietly });
        }
    }
}
