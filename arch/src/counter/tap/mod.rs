//! What a counter is connected to.

mod arming;
#[cfg(test)]
mod tests;

use super::gate::{Detector, Gate, Question, Threshold};
use super::limits::MAX_SOURCES;
use crate::feed::{Feed, Kind, Scope, Signal, SignalSet, Supply};

/// The connection from signals to a counter: counting is subtraction.
///
/// A tap remembers, for each of its sources, the total that it has counted up to. [`fold`](Tap::fold) brings it up to now and returns how
/// much the counter grows; [`skip`](Tap::skip) brings it up to now and counts nothing, for time in which the counter was stopped.
///
/// ```
/// use vm_pmu_arch::counter::{Gate, Tap};
/// use vm_pmu_arch::feed::{Lone, Scope, Signal};
///
/// let thread = Lone::new();
/// let mut tap = Tap::new(Gate::Sum, Scope::Thread, [Signal::Loads, Signal::Stores]);
/// tap.skip(&thread);
/// thread.totals.add(Signal::Loads, 2);
/// thread.totals.add(Signal::Stores, 1);
/// assert_eq!(tap.fold(&thread), 3);
/// assert_eq!(tap.fold(&thread), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    signals: [Signal; MAX_SOURCES],
    bases: [u64; MAX_SOURCES],
    len: u8,
    /// Where the second group of sources begins.
    second: u8,
    scope: Scope,
    gate: Gate,
    /// Whether the cycles in which a sum grows are counted separately.
    pulses: bool,
    /// The cycles counted this way and not yet taken.
    increments: u64,
    /// A bit for each signal with a deadline; some share a bit.
    reach: u64,
    cycles: u64,
    detector: Detector,
}

impl Tap {
    /// A tap that is connected to nothing.
    pub const SHUT: Tap = Tap {
        signals: [Signal::Cycles; MAX_SOURCES],
        bases: [0; MAX_SOURCES],
        len: 0,
        second: u8::MAX,
        scope: Scope::Thread,
        gate: Gate::Shut,
        pulses: false,
        increments: 0,
        reach: 0,
        cycles: 0,
        detector: Detector { open: 0, second: 0, stay: 0, was_met: false, question: Question::None },
    };

    /// Connects `signals` of `scope` through `gate`. Of more than [`MAX_SOURCES`] signals the first are taken; a catalogue is checked
    /// at build time not to have more.
    #[must_use]
    pub fn new(gate: Gate, scope: Scope, signals: impl IntoIterator<Item = Signal>) -> Tap {
        let mut tap = Tap::SHUT;
        tap.rewire(gate, scope);
        signals.into_iter().for_each(|signal| tap.connect(signal));
        tap
    }

    /// Replaces the gate and the scope, and removes all sources.
    #[inline]
    pub fn rewire(&mut self, gate: Gate, scope: Scope) {
        (self.gate, self.scope, self.len, self.second) = (gate, scope, 0, u8::MAX);
        (self.pulses, self.increments) = (false, 0);
        self.reach = if gate.needs_cycles() { reach(Signal::Cycles) } else { 0 };
        self.detector = Detector::default();
    }

    /// Follows `scope` from now on. The caller must [skip](Tap::skip) what its sources did so far.
    pub fn set_scope(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// Adds a source, where there is room.
    #[inline]
    pub fn connect(&mut self, signal: Signal) {
        if let Some(source) = self.signals.get_mut(usize::from(self.len)) {
            *source = signal;
            self.len += 1;
            self.reach |= reach(signal);
        }
    }

    /// The sources added from now on are the second group, for gates that distinguish two.
    pub fn begin_second(&mut self) {
        self.second = self.len;
    }

    /// Starts or stops counting the cycles in which a sum grows, from the next fold on: a counter is incremented once in each of them, by
    /// all events of the cycle.
    pub fn track_increments(&mut self, pulses: bool, feed: &impl Feed) {
        let pulses = pulses && self.gate == Gate::Sum;
        if pulses != self.pulses {
            self.pulses = pulses;
            self.detector = Detector::default();
            self.increments = 0;
            self.cycles = feed.total(Signal::Cycles, self.clock());
            self.reach |= if pulses { reach(Signal::Cycles) } else { 0 };
        }
    }

    /// How often the counter was incremented since the last call; `None` unless [increments are tracked](Tap::track_increments).
    pub fn take_increments(&mut self) -> Option<u64> {
        self.pulses.then(|| core::mem::take(&mut self.increments))
    }

    /// Whether it must see single cycles.
    #[must_use]
    #[inline]
    pub fn is_per_cycle(&self) -> bool {
        self.pulses || self.gate.is_per_cycle()
    }

    /// Whether it must see the single cycles to come: events of its sources may fall into them, or have fallen into the open one.
    ///
    /// A tap none of whose sources is [supplied](Feed::supplies) must see cycles until nothing is left in its detector. From then on
    /// every cycle is like the one before.
    #[must_use]
    pub fn needs_single_cycles(&self, feed: &impl Feed) -> bool {
        self.is_per_cycle() && (self.is_supplied(feed.supply()) || !self.is_settled())
    }

    /// Whether some of its sources are ever added to.
    #[must_use]
    pub fn is_supplied(&self, supply: &Supply) -> bool {
        self.signals().iter().any(|signal| supply.signals.contains(*signal))
    }

    /// Whether a cycle without events of its sources ends as the one before did.
    fn is_settled(&self) -> bool {
        let Detector { open, second, stay, was_met, .. } = self.detector;
        (open, second, stay) == (0, 0, 0) && was_met == self.gate.met(0, 0)
    }

    /// Whether it is the sum of one signal, and nothing else: what most counters are.
    #[inline]
    fn is_lone(&self) -> bool {
        self.len == 1 && !self.pulses && matches!(self.gate, Gate::Sum)
    }

    /// The first of its sources, up to now, and how much it has grown.
    #[inline]
    fn first_grown(&mut self, feed: &impl Feed) -> u64 {
        let ([signal, ..], [base, ..]) = (&self.signals, &mut self.bases);
        let total = feed.total(*signal, self.scope);
        total.wrapping_sub(core::mem::replace(base, total))
    }

    fn needs_cycles(&self) -> bool {
        self.pulses || self.gate.needs_cycles()
    }

    /// The gate between the sources and the counter.
    #[must_use]
    #[inline]
    pub fn gate(&self) -> Gate {
        self.gate
    }

    /// Whose cycles are read: the thread's own, or those of all threads that take turns where the tap follows them together.
    fn clock(&self) -> Scope {
        if self.scope == Scope::Threads { Scope::Threads } else { Scope::Thread }
    }

    fn signals(&self) -> &[Signal] {
        self.signals.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// How much each source has grown since it was last read.
    #[inline]
    pub(super) fn grown(&mut self, feed: &impl Feed, mut each: impl FnMut(usize, Signal, u64)) {
        let scope = self.scope;
        for (index, (signal, base)) in self.signals.iter().zip(&mut self.bases).take(usize::from(self.len)).enumerate() {
            let total = feed.total(*signal, scope);
            each(index, *signal, total.wrapping_sub(*base));
            *base = total;
        }
    }

    #[inline]
    fn sum(&mut self, feed: &impl Feed) -> u64 {
        let mut sum = 0u64;
        self.grown(feed, |_, _, grown| sum = sum.wrapping_add(grown));
        sum
    }

    /// Brings the tap up to now without counting, and forgets the open cycle. `level` is whether the selection holds
    /// right now: the edge detector sees it as settled.
    #[inline]
    pub fn settle(&mut self, feed: &impl Feed, level: bool) {
        self.skip(feed);
        self.detector = Detector { was_met: level, ..Detector::default() };
    }

    /// Forgets the events of the open cycle, but not whether the last one met the threshold: those events belong to a level or state that
    /// is not counted.
    pub fn forget_open(&mut self) {
        (self.detector.open, self.detector.second, self.detector.stay) = (0, 0, 0);
    }

    /// Asks for the level that the selection has now, which decides whether there is an edge. It is supplied by [`learn`](Tap::learn).
    pub fn ask(&mut self, question: Question) {
        self.detector.question = question;
    }

    /// Whether it still asks for a level.
    #[must_use]
    #[inline]
    pub fn is_asking(&self) -> bool {
        self.detector.question != Question::None
    }

    /// Whether it asks for the level of what was selected before as well.
    #[must_use]
    pub fn asks_for_the_level_before(&self) -> bool {
        self.detector.question == Question::ChangedFromUnknown
    }

    /// Learns the level of what was selected before, ahead of the present one.
    pub fn learn_before(&mut self, level: bool) {
        self.detector.was_met = level;
    }

    /// Whether it has sources.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.len != 0
    }

    /// The states among its sources, except clocks, which always run.
    #[must_use]
    pub fn unknown_states(&self) -> SignalSet {
        let mut unknown = SignalSet::EMPTY;
        let states = self.signals().iter().filter(|signal| signal.kind() == Kind::State && !signal.is_clock());
        states.for_each(|signal| unknown.insert(*signal));
        unknown
    }

    /// Whether the selection holds while exactly these states hold and no event occurs.
    pub fn level(&self, holds: impl Fn(Signal) -> bool) -> bool {
        self.met_in(self.gate, holds, 0)
    }

    /// Whether a cycle meets the condition of `gate` in which exactly these states hold, and `held` more of the first group.
    fn met_in(&self, gate: Gate, holds: impl Fn(Signal) -> bool, held: u64) -> bool {
        let border = usize::from(self.second);
        let (mut events, mut second) = (held, 0);
        for (index, signal) in self.signals().iter().enumerate() {
            let level = u64::from(signal.kind() == Kind::State && holds(*signal));
            events += level;
            second += if index < border { 0 } else { level };
        }
        gate.met(events, second)
    }

    /// Learns the level that it [asked](Tap::ask) for. Returns how much the counter grows.
    pub fn learn(&mut self, level: bool) -> u64 {
        self.detector.learn(level)
    }

    /// Brings the tap up to now without counting.
    #[inline]
    pub fn skip(&mut self, feed: &impl Feed) {
        if self.is_lone() {
            self.first_grown(feed);
            return;
        }
        self.skip_all(feed);
    }

    fn skip_all(&mut self, feed: &impl Feed) {
        self.sum(feed);
        if self.needs_cycles() {
            self.cycles = feed.total(Signal::Cycles, self.clock());
        }
    }

    /// Brings the tap up to now and returns how much the counter grows.
    #[inline]
    pub fn fold(&mut self, feed: &impl Feed) -> u64 {
        if self.is_lone() { self.first_grown(feed) } else { self.fold_all(feed) }
    }

    fn fold_all(&mut self, feed: &impl Feed) -> u64 {
        match self.gate {
            Gate::Shut => 0,
            Gate::Sum if self.pulses => {
                let (increments, sum) = self.fold_cycles(Gate::Cycles(Threshold::ANY), feed);
                self.increments = self.increments.saturating_add(increments);
                sum
            }
            Gate::Sum => self.sum(feed),
            Gate::Always => self.advance(feed),
            Gate::Outside => {
                let inside = self.sum(feed).saturating_add(self.detector.stay);
                let passed = self.advance(feed);
                self.detector.stay = inside.saturating_sub(passed);
                passed.saturating_sub(inside)
            }
            Gate::Cycles(_) | Gate::Edges(_) | Gate::Falls | Gate::Both | Gate::BothFall => self.fold_cycles(self.gate, feed).0,
        }
    }

    /// What the sources have grown by since the tap was last brought up to now.
    #[must_use]
    pub fn pending(&self, feed: &impl Feed) -> Pending {
        let mut pending = Pending::default();
        for ((grown, signal), base) in pending.sources.iter_mut().zip(self.signals()).zip(&self.bases) {
            *grown = feed.total(*signal, self.scope).wrapping_sub(*base);
        }
        if self.needs_cycles() {
            pending.cycles = feed.total(Signal::Cycles, self.clock()).wrapping_sub(self.cycles);
        }
        pending
    }

    /// Adds `pending`, which [`pending`](Tap::pending) returned for another tap, to what is counted from now on.
    pub fn owe(&mut self, pending: &Pending) {
        for (base, grown) in self.bases.iter_mut().zip(pending.sources) {
            *base = base.wrapping_sub(grown);
        }
        self.cycles = self.cycles.wrapping_sub(pending.cycles);
    }

    /// Brings the tap up to now without the growth of its sources: only cycles elapse. Returns how much the counter grows because an open
    /// cycle ends.
    pub fn discard(&mut self, feed: &impl Feed) -> u64 {
        self.grown(feed, |_, _, _| {});
        match self.gate {
            Gate::Shut | Gate::Sum => 0,
            Gate::Always | Gate::Outside => {
                self.advance(feed);
                0
            }
            Gate::Cycles(_) | Gate::Edges(_) | Gate::Falls | Gate::Both | Gate::BothFall => self.fold_cycles(self.gate, feed).0,
        }
    }

    fn advance(&mut self, feed: &impl Feed) -> u64 {
        let total = feed.total(Signal::Cycles, self.clock());
        let passed = total.wrapping_sub(self.cycles);
        self.cycles = total;
        passed
    }

    /// One step, cycle by cycle: events fall into the open cycle, the cycles of each state are the step's last. Returns how much a counter
    /// behind `gate` grows, and one behind none.
    fn fold_cycles(&mut self, gate: Gate, feed: &impl Feed) -> (u64, u64) {
        let passed = self.advance(feed);
        let (mut events, mut second, mut sum) = (0u64, 0u64, 0u64);
        // Where each state begins within the step, in cycles from its start, and whether it is of the second group.
        let mut begins = [(u64::MAX, false); MAX_SOURCES + 1];
        let mut free = begins.iter_mut();
        let border = usize::from(self.second);
        self.grown(feed, |index, signal, grown| {
            sum = sum.wrapping_add(grown);
            if signal.kind() != Kind::State {
                events = events.saturating_add(grown);
                second = second.saturating_add(if index < border { 0 } else { grown });
            } else if let Some(begin) = free.next() {
                *begin = (passed.saturating_sub(grown), index >= border);
            }
        });
        if let Some(last) = begins.last_mut() {
            *last = (passed.saturating_sub(self.detector.stay), false);
        }
        self.detector.open = self.detector.open.saturating_add(events);
        self.detector.second = self.detector.second.saturating_add(second);
        if passed == 0 {
            return (0, sum);
        }
        // The level before was not supplied: it was at rest.
        self.detector.question = Question::None;
        self.detector.stay = self.detector.stay.saturating_sub(passed);
        begins.sort_unstable();
        let level_at = |cycle: u64| begins.iter().filter(|(begin, _)| *begin <= cycle).count() as u64;
        let second_at = |cycle: u64| begins.iter().filter(|(begin, second)| *second && *begin <= cycle).count() as u64;
        let open = core::mem::take(&mut self.detector.open).saturating_add(level_at(0));
        let second = core::mem::take(&mut self.detector.second).saturating_add(second_at(0));
        let mut grown = self.detector.end(gate, 1, open, second);
        let mut from = 1;
        while from < passed {
            let next = begins.iter().map(|(begin, _)| *begin).find(|begin| *begin > from).unwrap_or(passed).min(passed);
            grown = grown.saturating_add(self.detector.end(gate, next - from, level_at(from), second_at(from)));
            from = next;
        }
        (grown, sum)
    }

    /// Adds `amount` events, or cycles of a state, of the selection that no signal reported. Returns how much the counter
    /// grows at once.
    pub fn inject(&mut self, kind: Kind, amount: u64) -> u64 {
        self.inject_into(kind, amount, false)
    }

    /// As [`inject`](Tap::inject), for something of the second group of sources if `second`. The cycles of an injected state are of the
    /// first group; one that is of the second is an event of the open cycle.
    pub fn inject_into(&mut self, kind: Kind, amount: u64, second: bool) -> u64 {
        if self.pulses {
            let held = if kind == Kind::State { &mut self.detector.stay } else { &mut self.detector.open };
            *held = held.saturating_add(amount);
        }
        match (self.gate, kind) {
            (Gate::Shut | Gate::Always, _) => 0,
            (Gate::Sum, _) => amount,
            (_, _) if second && self.gate.is_per_cycle() => {
                self.detector.open = self.detector.open.saturating_add(amount);
                self.detector.second = self.detector.second.saturating_add(amount);
                0
            }
            (Gate::Outside, _) | (_, Kind::State) => {
                self.detector.stay = self.detector.stay.saturating_add(amount);
                0
            }
            (_, Kind::Event | Kind::Level) => {
                self.detector.open = self.detector.open.saturating_add(amount);
                0
            }
        }
    }

    /// What the tap remembers in addition to its bases.
    #[must_use]
    pub fn detector(&self) -> Detector {
        self.detector
    }

    /// Restores what [`detector`](Tap::detector) returned.
    pub fn set_detector(&mut self, detector: Detector) {
        self.detector = detector;
    }

    /// Adds the signals that the tap follows beyond its own thread to `set`.
    pub fn wide_demand(&self, set: &mut SignalSet) {
        if self.scope != Scope::Thread {
            for signal in self.signals() {
                set.insert(*signal);
            }
        }
        if self.clock() != Scope::Thread && self.needs_cycles() {
            set.insert(Signal::Cycles);
        }
    }

    /// Adds the signals that the tap follows to `set`.
    pub fn demand(&self, set: &mut SignalSet) {
        for signal in self.signals() {
            set.insert(*signal);
        }
        if self.needs_cycles() {
            set.insert(Signal::Cycles);
        }
    }
}

/// The most signals that a counter of IA-64 adds up, as snapshots hold what it has not counted of each: no event of these parts has more.
const SAVED_SOURCES: usize = 9;

/// What the sources of a tap have grown by and the tap has not counted yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pending {
    /// How much each source has grown, in their order.
    pub sources: [u64; SAVED_SOURCES],
    /// The cycles that have elapsed, where the gate needs them.
    pub cycles: u64,
}

/// The bit of a signal in a tap's reach.
#[inline]
const fn reach(signal: Signal) -> u64 {
    1 << (signal.index() % 64)
}

impl Default for Tap {
    fn default() -> Self {
        Tap::SHUT
    }
}
