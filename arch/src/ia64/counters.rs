//! The generic counters: growing, overflowing, freezing.

use super::monitor::Monitor;
use super::overflow::Overflow;
use super::selected::{Qualifier, Selected};
use crate::access::masked;
use crate::alert::Alerts;
use crate::counter::{Counter, Detector, Gate, Pending, Tap, Width};
use crate::event::Internal;
use crate::feed::{Context, Feed, SignalSet, Supply};
use crate::model::Occurrence;

/// Counters, one bit each by the number of their data register.
pub(crate) type Mask = u32;

/// The number of the first counter: PMC4 and PMD4.
pub(crate) const FIRST: usize = 4;

/// The bit of PMD`number`.
pub(crate) const fn bit(number: usize) -> Mask {
    1 << (number & 31)
}

/// A counter and what it is connected to.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    monitor: Monitor,
    /// An overflow freezes monitoring and asks for an interrupt.
    oi: bool,
    /// An overflow is shown outside.
    ev: bool,
    selected: Selected,
    /// Nothing constrains it at the moment.
    open: bool,
    /// No other thread of the core runs.
    alone: bool,
    tap: Tap,
    count: Counter,
    /// How often an overflow was shown outside.
    shown: u64,
}

impl Unit {
    /// Whether it counts tagged instructions of the core's other threads too.
    fn observes_others(&self) -> bool {
        !self.open && !self.alone && self.selected.counts_all()
    }
}

/// What a configuration register says of its counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setting {
    pub(crate) monitor: Monitor,
    pub(crate) oi: bool,
    pub(crate) ev: bool,
    pub(crate) selected: Selected,
    /// Nothing constrains it at the moment.
    pub(crate) open: bool,
}

/// The counters of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Counters<const N: usize> {
    units: [Unit; N],
    width: Width,
    /// Those that count in the present context.
    counting: Mask,
    pub(crate) overflow: Overflow,
    pub(crate) alerts: Alerts,
    /// Those whose overflow is about to freeze everything.
    asked: Mask,
    watched: Mask,
}

impl<const N: usize> Counters<N> {
    /// Counters of this width that count nothing.
    pub(crate) fn new(width: Width) -> Counters<N> {
        Counters {
            units: [Unit::default(); N],
            width,
            counting: 0,
            overflow: Overflow::default(),
            alerts: Alerts::default(),
            asked: 0,
            watched: 0,
        }
    }

    /// The bits of PMC0 that say which counters overflowed.
    pub(crate) fn overflow_bits() -> u64 {
        ((1u64 << N) - 1) << FIRST
    }

    fn index(number: usize) -> Option<usize> {
        number.checked_sub(FIRST).filter(|index| *index < N).map(|index| masked(index, N))
    }

    /// The count of PMD`number`.
    pub(crate) fn count_of(&self, number: usize) -> u64 {
        Self::index(number).and_then(|index| self.units.get(index)).map_or(0, |unit| unit.count.value())
    }

    /// Sets the count of PMD`number`.
    pub(crate) fn set_count(&mut self, number: usize, value: u64) {
        let width = self.width;
        if let Some(unit) = Self::index(number).and_then(|index| self.units.get_mut(index)) {
            unit.count = Counter::new(value, width);
        }
    }

    /// Makes PMD`number` count what `setting` selects from now on. While `alone`, no other thread of the core runs. Everything up to now
    /// has been counted.
    pub(crate) fn set(&mut self, number: usize, setting: Setting, alone: bool, feed: &impl Feed) {
        let Some(unit) = Self::index(number).and_then(|index| self.units.get_mut(index)) else { return };
        (unit.monitor, unit.oi, unit.ev) = (setting.monitor, setting.oi, setting.ev);
        // Whether another thread runs matters only to counters of both threads.
        let alone = alone || !setting.selected.counts_all();
        let connection = (setting.selected, setting.open, alone);
        if connection != (unit.selected, unit.open, unit.alone) {
            unit.tap.disarm(feed);
            (unit.selected, unit.open, unit.alone) = connection;
            unit.selected.connect(&mut unit.tap, setting.open, alone);
            self.counting &= !bit(number);
        }
    }

    /// Those that count in `context`.
    pub(crate) fn admitted(&self, context: &Context) -> Mask {
        if self.overflow.is_frozen() {
            return 0;
        }
        let mut counting = 0;
        for (number, unit) in (FIRST..).zip(&self.units) {
            if unit.monitor.is_enabled(context) && unit.selected.is_present(context) {
                counting |= bit(number);
            }
        }
        counting
    }

    /// Those that count at the moment.
    pub(crate) fn counting(&self) -> Mask {
        self.counting
    }

    /// Brings the unconstrained counters up to now. Returns whether that froze everything.
    pub(crate) fn count(&mut self, feed: &impl Feed) -> bool {
        self.fold(feed);
        self.freeze_if_asked()
    }

    /// Brings the unconstrained counters up to now.
    fn fold(&mut self, feed: &impl Feed) {
        if self.counting == 0 {
            return;
        }
        for index in 0..N {
            let Some(unit) = self.units.get_mut(index) else { return };
            if self.counting & bit(index + FIRST) != 0 && unit.open && unit.selected.is_tapped() {
                let grown = unit.tap.fold(feed);
                self.grow(index, grown);
            }
        }
    }

    /// Freezes everything if an overflow asks for it. Events of the same moment have been counted. Several overflows ask for one
    /// interrupt.
    fn freeze_if_asked(&mut self) -> bool {
        let asked = core::mem::take(&mut self.asked);
        if asked == 0 {
            return false;
        }
        self.overflow.freeze();
        self.counting = 0;
        self.alerts.interrupts |= asked & asked.wrapping_neg();
        true
    }

    /// As [`count`](Self::count), but only if an overflow has asked to freeze.
    pub(crate) fn count_if_asked(&mut self, feed: &impl Feed) -> bool {
        self.asked != 0 && self.count(feed)
    }

    /// Brings the constrained counters up to now: they count the events since the previous instruction if `verdict` admits the
    /// instruction to which these belong.
    pub(crate) fn judge(&mut self, verdict: impl Fn(Qualifier) -> bool, feed: &impl Feed) {
        self.judge_those(|_| true, verdict, feed);
    }

    /// The same for an instruction of another thread of the core, for counters of both threads only.
    pub(crate) fn judge_other(&mut self, verdict: impl Fn(Qualifier) -> bool, feed: &impl Feed) {
        self.judge_those(Unit::observes_others, verdict, feed);
    }

    fn judge_those(&mut self, which: impl Fn(&Unit) -> bool, verdict: impl Fn(Qualifier) -> bool, feed: &impl Feed) {
        for index in 0..N {
            let Some(unit) = self.units.get_mut(index) else { return };
            if self.counting & bit(index + FIRST) == 0 || unit.open || !unit.selected.is_tapped() || !which(unit) {
                continue;
            }
            let grown = if verdict(unit.selected.qualifier) { unit.tap.fold(feed) } else { unit.tap.discard(feed) };
            self.grow(index, grown);
        }
    }

    /// Counts internal events of the model, of which `amount` returns how many there are of each kind.
    pub(crate) fn occur(&mut self, amount: impl Fn(Internal) -> u64) {
        self.occur_those(|_| true, amount);
    }

    /// The same for internal events of another thread's model, for counters of both threads.
    pub(crate) fn occur_elsewhere(&mut self, amount: impl Fn(Internal) -> u64) {
        self.occur_those(|unit| unit.selected.counts_all(), amount);
    }

    fn occur_those(&mut self, which: impl Fn(&Unit) -> bool, amount: impl Fn(Internal) -> u64) {
        for index in 0..N {
            let Some(unit) = self.units.get(index) else { return };
            if self.counting & bit(index + FIRST) != 0
                && which(unit)
                && let Some(internal) = unit.selected.internal()
            {
                self.grow(index, amount(internal));
            }
        }
    }

    /// The privilege level changes from or to these levels, one bit each: an event of the level that is left.
    pub(crate) fn change_privilege(&mut self, levels: u8) {
        self.occur(|internal| internal.changes(levels));
    }

    /// Counts an occurrence that no signal reports, in the instruction that `verdict` judges. Returns whether a counter counted it.
    pub(crate) fn inject(&mut self, occurrence: Occurrence, amount: u64, verdict: impl Fn(Qualifier) -> bool) -> bool {
        self.inject_those(|_| true, occurrence, amount, verdict)
    }

    /// The same for an occurrence in another thread of the core, for counters that count beyond their own.
    pub(crate) fn inject_from_sibling(&mut self, occurrence: Occurrence, amount: u64, verdict: impl Fn(Qualifier) -> bool) -> bool {
        self.inject_those(|unit| unit.selected.counts_siblings(), occurrence, amount, verdict)
    }

    /// Whether a counter that can count counts beyond its thread.
    pub(crate) fn any_counts_beyond(&self) -> bool {
        !self.overflow.is_frozen() && self.units.iter().any(|unit| unit.monitor.can_count() && unit.selected.counts_siblings())
    }

    fn inject_those(
        &mut self,
        which: impl Fn(&Unit) -> bool,
        occurrence: Occurrence,
        amount: u64,
        verdict: impl Fn(Qualifier) -> bool,
    ) -> bool {
        let mut taken = false;
        for index in 0..N {
            let Some(unit) = self.units.get_mut(index) else { break };
            let admitted = which(unit) && (unit.open || verdict(unit.selected.qualifier));
            let counts = self.counting & bit(index + FIRST) != 0 && admitted;
            if let Some(kind) = unit.selected.admits(occurrence).filter(|_| counts) {
                taken = true;
                let grown = if unit.selected.is_tapped() {
                    unit.tap.inject(kind, amount)
                } else if unit.selected.internal().is_some() {
                    amount
                } else {
                    0
                };
                self.grow(index, grown);
            }
        }
        taken
    }

    /// Makes the counter of this index grow. An overflow is recorded, shown outside and asks to freeze, as far as that is enabled.
    #[inline]
    fn grow(&mut self, index: usize, amount: u64) {
        if amount == 0 {
            return;
        }
        let Some(unit) = self.units.get_mut(index) else { return };
        let overflows = unit.count.add(amount, self.width);
        if overflows == 0 {
            return;
        }
        let number = index + FIRST;
        self.overflow.set(number);
        self.alerts.overflows |= bit(number);
        if unit.ev {
            unit.shown = unit.shown.wrapping_add(overflows);
            self.alerts.pins |= bit(number);
        }
        if unit.oi {
            let late = unit.count.value().saturating_add((overflows - 1) << self.width.bits().min(63));
            self.alerts.late = self.alerts.late.max(late);
            self.asked |= bit(number);
        }
    }

    /// Stops and begins counters after the context, a register or what threads share has changed. Those that stop have been counted up to
    /// now.
    pub(crate) fn resume(&mut self, context: &Context, feed: &impl Feed) {
        let counting = self.admitted(context);
        let started = counting & !self.counting;
        self.counting = counting;
        for (number, unit) in (FIRST..).zip(&mut self.units) {
            if started & bit(number) != 0 {
                unit.tap.settle(feed, false);
            }
        }
    }

    /// Sets every deadline anew.
    pub(crate) fn rearm(&self, feed: &impl Feed) {
        self.disarm(feed);
        for (number, unit) in (FIRST..).zip(&self.units) {
            if self.counting & bit(number) != 0 && unit.open && unit.selected.is_tapped() {
                let seen = unit.oi || unit.ev && self.watched & bit(number) != 0;
                unit.tap.arm(feed, seen.then(|| unit.count.until_overflow(self.width)));
            }
        }
    }

    /// Cancels every deadline.
    pub(crate) fn disarm(&self, feed: &impl Feed) {
        self.units.iter().for_each(|unit| unit.tap.disarm(feed));
    }

    /// What must be reported while nothing is frozen, whatever the context: signals, whether single cycles are needed, and whether every
    /// instruction is.
    pub(crate) fn demand(&self, signals: &mut SignalSet, supply: &Supply) -> (bool, bool) {
        let (mut per_cycle, mut every) = (false, false);
        for unit in self.units.iter().filter(|unit| unit.monitor.can_count() && unit.selected.is_tapped()) {
            if unit.tap.gate() == Gate::Shut {
                continue;
            }
            unit.tap.demand(signals);
            per_cycle |= unit.open && unit.tap.is_per_cycle() && unit.tap.is_supplied(supply);
            every |= !unit.open;
        }
        (per_cycle, every)
    }

    /// Whether a counter that can count counts an internal event that is `wanted`.
    pub(crate) fn wants(&self, wanted: impl Fn(Internal) -> bool) -> bool {
        self.units.iter().any(|unit| unit.monitor.can_count() && unit.selected.internal().is_some_and(&wanted))
    }

    /// Whether a counter that can count counts instructions of the core's other threads.
    pub(crate) fn any_observes_others(&self) -> bool {
        let can_count = |unit: &&Unit| unit.monitor.can_count() && unit.selected.is_tapped() && unit.tap.gate() != Gate::Shut;
        !self.overflow.is_frozen() && self.units.iter().filter(can_count).any(Unit::observes_others)
    }

    /// The signals that are followed beyond the thread.
    pub(crate) fn wide_demand(&self) -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        if !self.overflow.is_frozen() {
            for unit in self.units.iter().filter(|unit| unit.monitor.can_count() && unit.selected.is_tapped()) {
                unit.tap.wide_demand(&mut signals);
            }
        }
        signals
    }

    /// Asks for a deadline at every overflow of these counters that is shown outside.
    pub(crate) fn watch(&mut self, pins: Mask) {
        self.watched = pins;
    }

    /// Those watched.
    pub(crate) fn watched(&self) -> Mask {
        self.watched
    }

    /// How often an overflow of PMD`number` was shown outside.
    pub(crate) fn shown(&self, number: usize) -> u64 {
        Self::index(number).and_then(|index| self.units.get(index)).map_or(0, |unit| unit.shown)
    }

    /// What each counter knows of single cycles, and how often its overflows were shown outside.
    pub(crate) fn memory(&self) -> [(Detector, u64); N] {
        self.units.map(|unit| (unit.tap.detector(), unit.shown))
    }

    /// What has occurred since the last instruction, for counters that count it only if the next instruction admits it.
    pub(crate) fn pending(&self, feed: &impl Feed) -> [Pending; N] {
        let mut pending = [Pending::default(); N];
        for ((number, unit), pending) in (FIRST..).zip(&self.units).zip(&mut pending) {
            if self.counting & bit(number) != 0 && !unit.open {
                *pending = unit.tap.pending(feed);
            }
        }
        pending
    }

    /// Restores what [`memory`](Self::memory) and [`pending`](Self::pending) returned, into counters that begin here.
    pub(crate) fn remember(&mut self, memory: &[(Detector, u64); N], pending: &[Pending; N]) {
        for ((unit, (detector, shown)), pending) in self.units.iter_mut().zip(memory).zip(pending) {
            unit.tap.set_detector(*detector);
            unit.tap.owe(pending);
            unit.shown = *shown;
        }
    }
}
