//! Growing: from totals to counters, from counters to counters.
//!
//! POWER9 PMU User's Guide, appendix A.1 and A.4. A counter is *negative* while its bit 0 is 1; one whose overflows another counter
//! counts is the lower part of a longer number, its bit 0 is data, and its overflow is the carry out of all 32 bits.

use super::freezing::{FOUR_COUNTERS, Freezes};
use super::registers::{COUNTERS, Mmcrc, Msr, ThreadControl};
use super::{Power9, Unit};
use crate::counter::{Gate, Question, Tap};
use crate::event::Internal;
use crate::feed::{Feed, Records, Scope, Signal, SignalSet};

/// Events from one carry to the next.
pub(super) const WRAP: u64 = 1 << 32;
/// A counter at or above this is negative.
pub(super) const NEGATIVE: u64 = 1 << 31;

/// The counters, one bit each.
pub(super) type Mask = u8;

/// The bit of the counter of this index.
pub(super) const fn bit(index: usize) -> Mask {
    1 << (index & 7)
}

/// PMC1-4.
pub(super) const PROGRAMMABLE: Mask = 0b1111;

impl Power9 {
    pub(super) fn freezes(&self) -> Freezes {
        Freezes {
            mmcr0: self.mmcr0,
            mmcr2: self.mmcr2,
            mmcrc: Mmcrc::of(self.shared.register),
            thread: self.shared.thread,
            msr: Msr::of(self.context.machine_state),
            control: ThreadControl::of(self.context.control),
        }
    }

    /// The counters that no freeze holds, whatever they count.
    pub(super) fn unfrozen(&self) -> Mask {
        let freezes = self.freezes();
        let admitted = self.units.iter().enumerate().filter(|(index, unit)| freezes.admits(*index, unit.selected.is_cycles()));
        admitted.fold(0, |mask, (index, _)| mask | bit(index))
    }

    /// The counters that count in the present state.
    pub(super) fn admitted(&self) -> Mask {
        let freezes = self.freezes();
        let mut counting = 0;
        for (index, unit) in self.units.iter().enumerate() {
            let selected = &unit.selected;
            let lanes = selected.lanes(freezes.msr, freezes.control, self.shared);
            if freezes.admits(index, selected.is_cycles()) && selected.admits(lanes) {
                counting |= bit(index);
            }
        }
        counting & !self.suspended
    }

    /// The counters that follow falling edges of a signal, whatever the thread's state: not those that a register freezes.
    pub(super) fn following_edges(&self, freezes: &Freezes) -> Mask {
        let mut following = 0;
        for (index, unit) in self.units.iter().enumerate() {
            let follows = unit.tap.gate().is_edge() && unit.tap.is_connected() && !self.is_stopped(freezes, index);
            if follows && unit.selected.admits(unit.selected.lanes(freezes.msr, freezes.control, self.shared)) {
                following |= bit(index);
            }
        }
        following
    }

    /// Whether a counter is stopped whatever the thread's state; a counter that waits for the trigger is not.
    fn is_stopped(&self, freezes: &Freezes, index: usize) -> bool {
        freezes.stopped(index) && !self.mmcr0.trigger()
    }

    /// Counts everything up to now. Returns whether the time base brought an enabled event.
    pub(super) fn count(&mut self, feed: &impl Feed) -> bool {
        let transitions = self.advance_time_base(feed);
        let last_tick = self.advance_sampling(feed);
        let mut grown = [0u64; COUNTERS];
        let counting = self.counting;
        for (index, (unit, grown)) in self.units.iter_mut().zip(&mut grown).enumerate() {
            if counting & bit(index) != 0 {
                *grown = match unit.selected.internal() {
                    None => unit.tap.fold(feed),
                    Some(Internal::TimeBaseBit) => transitions,
                    Some(_) => 0,
                };
            } else if self.following & bit(index) != 0 {
                unit.tap.fold(feed);
            }
        }
        self.grow_all(grown, last_tick);
        self.end_suspension(feed);
        transitions != 0 && self.mmcr0.tbee()
    }

    /// The cycle after a write of MMCR1 is over: its events are not counted, the other cycles of the step are.
    fn end_suspension(&mut self, feed: &impl Feed) {
        let passed = feed.total(Signal::Cycles, Scope::Thread).wrapping_sub(self.suspended_at);
        if self.suspended == 0 || passed == 0 {
            return;
        }
        let held = core::mem::take(&mut self.suspended);
        let resumed = self.admitted() & held;
        let mut grown = [0u64; COUNTERS];
        for (_, (unit, grown)) in self.units.iter_mut().zip(&mut grown).enumerate().filter(|(index, _)| resumed & bit(*index) != 0) {
            *grown = unit.tap.fold_last(feed, passed.saturating_sub(1));
        }
        self.counting |= resumed;
        self.grow_all(grown, 0);
        self.counting &= !resumed;
        self.resume(feed);
    }

    /// Lets PMC1-4 count again. Returns whether they were suspended.
    pub(super) fn lift_suspension(&mut self, feed: &impl Feed) -> bool {
        let suspended = core::mem::take(&mut self.suspended) != 0;
        if suspended {
            self.resume(feed);
        }
        suspended
    }

    /// The counter that counts the overflows of this one, if one does (appendix A.4, PMCxSEL 10h and 24h).
    pub(super) fn follower(&self, index: usize) -> Option<usize> {
        const FOLLOWERS: [usize; COUNTERS] = [1, 2, 3, 0, 0, 2];
        let follower = *FOLLOWERS.get(index)?;
        let selected = self.units.get(follower)?.selected.internal();
        (selected == Some(Internal::Overflow(index as u8 + 1))).then_some(follower)
    }

    /// Whether the value of a counter is negative.
    pub(super) fn is_negative(&self, index: usize) -> bool {
        self.units.get(index).is_some_and(|unit| u64::from(unit.value) >= NEGATIVE) && self.follower(index).is_none()
    }

    /// Each counter grows by what it has counted, those chained to it by its overflows, and the threshold counter follows them all.
    /// `last_tick` is what the threshold counter has not counted yet.
    pub(super) fn grow_all(&mut self, own: [u64; COUNTERS], last_tick: u64) {
        let mut grown = own;
        for (index, own) in own.into_iter().enumerate() {
            self.grow(index, own, &mut grown);
        }
        self.follow_threshold(grown, last_tick);
    }

    /// The counter of this index grows by `amount`, and those chained to it by its overflows, which are added to what they have `grown`.
    pub(super) fn grow(&mut self, mut index: usize, mut amount: u64, grown: &mut [u64; COUNTERS]) {
        if amount == 0 {
            return;
        }
        // Only an alert can be late: for the others no deadline is set.
        let enabled = self.conditions_enabled();
        // Four counters in a ring have no beginning: an amount goes round once.
        for _ in 0..COUNTERS {
            if amount == 0 {
                return;
            }
            let follower = self.follower(index);
            let Some(unit) = self.units.get_mut(index) else { return };
            let sum = u64::from(unit.value).saturating_add(amount);
            if sum >= WRAP {
                // It was not negative for a while, which ends the excuse.
                self.excused &= !bit(index);
            }
            let half = |value: u64| value.saturating_add(NEGATIVE) >> 32;
            let turned_negative = half(sum) != half(u64::from(unit.value));
            unit.value = sum as u32;
            if turned_negative && follower.is_none() {
                self.passed |= bit(index);
                self.alerts.overflows |= u32::from(bit(index));
                if enabled & bit(index) != 0 {
                    self.lateness = self.lateness.max(sum.wrapping_sub(NEGATIVE) & (WRAP - 1));
                }
            }
            match follower {
                Some(next) if self.counting & bit(next) != 0 => (index, amount) = (next, sum >> 32),
                _ => return,
            }
            if let Some(grown) = grown.get_mut(index) {
                *grown = grown.saturating_add(amount);
            }
        }
    }

    /// How much the counter of this index may grow until that has an effect: it turns negative where that matters, carries into a counter
    /// for which this holds, or reaches what the threshold counter waits for.
    pub(super) fn remaining(&self, index: usize) -> Option<u64> {
        let mut least = self.threshold_waits_for(index);
        let mut nearer = |distance: Option<u64>| least = [least, distance].into_iter().flatten().min();
        // Along the chain: the carries that the last counter waits for, in events of the first.
        let (mut at, mut events_per_count, mut until_count) = (index, 1u64, 0u64);
        for _ in 0..COUNTERS {
            let Some(unit) = self.units.get(at) else { break };
            let value = u64::from(unit.value);
            let needed = |counts: u64| until_count.saturating_add(counts.saturating_sub(1).saturating_mul(events_per_count));
            let Some(next) = self.follower(at) else {
                if self.matters(at) {
                    // From 80000000h on that is after one carry.
                    let counts = (WRAP + NEGATIVE - value) & (WRAP - 1);
                    let counts = if counts == 0 { WRAP } else { counts };
                    nearer(Some(if at == index { counts } else { needed(counts) }));
                }
                break;
            };
            if self.counting & bit(next) == 0 {
                break;
            }
            let carry = WRAP - value;
            until_count = if at == index { carry } else { needed(carry) };
            events_per_count = events_per_count.saturating_mul(WRAP);
            at = next;
            if let Some(counts) = self.threshold_waits_for(at) {
                nearer(Some(until_count.saturating_add(counts.saturating_sub(1).saturating_mul(events_per_count))));
            }
        }
        least
    }

    /// Whether it has an effect when the counter turns negative.
    fn matters(&self, index: usize) -> bool {
        let released = index == 0 && self.mmcr0.trigger();
        let enabled = self.mmcr0.pmae() || self.mmcr0.fcece() || self.mmcr0.trigger();
        released || (enabled && self.conditions_enabled() & bit(index) != 0)
    }

    /// The counters whose being negative is an enabled condition.
    pub(super) fn conditions_enabled(&self) -> Mask {
        let members: Mask = if self.mmcr0.pmcc() == FOUR_COUNTERS { PROGRAMMABLE } else { 0b11_1111 };
        let first: Mask = if self.mmcr0.pmc1ce() { 1 } else { 0 };
        let others: Mask = if self.mmcr0.pmcjce() { 0b11_1110 } else { 0 };
        (first | others) & members
    }

    /// Whether some counter adds up other terms than before, because the conditions of its events have changed.
    pub(super) fn sums_change(&self) -> bool {
        let freezes = self.freezes();
        let lanes = |unit: &Unit| unit.selected.lanes(freezes.msr, freezes.control, self.shared);
        self.units.iter().any(|unit| unit.selected.connects_anew(unit.lanes, lanes(unit)))
    }

    /// Stops and begins counters. Those that stop have counted up to now.
    pub(super) fn resume(&mut self, feed: &impl Feed) {
        let counting = self.admitted();
        let (started, stopped) = (counting & !self.counting, self.counting & !counting);
        self.counting = counting;
        let freezes = self.freezes();
        let before = self.following;
        let mut fallen = 0;
        for (index, unit) in self.units.iter_mut().enumerate() {
            let lanes = unit.selected.lanes(freezes.msr, freezes.control, self.shared);
            if unit.selected.connects_anew(unit.lanes, lanes) {
                let detector = unit.tap.detector();
                unit.tap.disarm(feed);
                unit.selected.connect(self.mmcr1, lanes, &mut unit.tap);
                unit.tap.skip(feed);
                unit.tap.set_detector(detector);
            }
            unit.lanes = lanes;
            if before & bit(index) != 0 {
                // What the open cycle has seen so far belongs to a state that is not counted.
                if started & bit(index) != 0 {
                    unit.tap.forget_open();
                }
            } else if started & bit(index) != 0 {
                unit.tap.settle(feed, false);
            }
            // A condition that ended with the thread's state, and not by a freeze, has a falling edge there.
            let fell = stopped & bit(index) != 0 && unit.selected.falls() && unit.tap.detector().was_met;
            if fell && freezes.admits(index, unit.selected.is_cycles()) {
                fallen |= bit(index);
            }
        }
        for index in (0..COUNTERS).filter(|index| fallen & bit(*index) != 0) {
            self.grow(index, 1, &mut [0; COUNTERS]);
        }
        self.following = self.following_edges(&freezes);
        let begun = self.following & !before;
        for (index, unit) in self.units.iter_mut().enumerate().filter(|(index, _)| begun & bit(*index) != 0) {
            if started & bit(index) == 0 {
                unit.tap.settle(feed, false);
            }
            // One that a register has released may be within a state. One that the thread's state had stopped has none but clocks.
            if !feed.supply().of(&unit.tap.unknown_states()).is_empty() {
                unit.tap.ask(Question::Began);
            }
        }
    }

    /// Cancels every deadline.
    pub(super) fn disarm(&mut self, feed: &impl Feed) {
        self.early = 0;
        for tap in self.units.iter().map(|unit| &unit.tap).chain([&self.eligible]) {
            tap.disarm(feed);
        }
        for probe in [&self.ticks, &self.addresses] {
            probe.disarm(feed);
        }
        feed.disarm(Signal::TimeBaseTicks, Scope::Thread);
        feed.disarm(Signal::Cycles, Scope::Thread);
    }

    /// Sets every deadline anew.
    pub(super) fn rearm(&mut self, feed: &impl Feed) {
        self.disarm(feed);
        if self.suspended != 0 {
            feed.arm(Signal::Cycles, Scope::Thread, self.suspended_at, 1);
        }
        let mut transitions = self.waits_for_time_base().then_some(1);
        for (index, unit) in self.units.iter().enumerate() {
            if (self.counting | self.following) & bit(index) == 0 {
                continue;
            }
            match unit.selected.internal() {
                None => unit.tap.arm(feed, self.remaining(index)),
                Some(Internal::TimeBaseBit) => transitions = [transitions, self.remaining(index)].into_iter().flatten().min(),
                Some(_) => {}
            }
        }
        self.arm_time_base(feed, transitions);
        self.arm_sampling(feed);
        self.arm_pause(feed);
    }

    /// Updates what must be reported, unless the demand is kept during a freeze.
    pub(super) fn update_demand_unless_pausing(&mut self, feed: &impl Feed) {
        if !self.is_pausing(feed) {
            self.update_demand(feed);
        }
    }

    /// Updates what must be reported, whatever the thread's state.
    pub(super) fn update_demand(&mut self, feed: &impl Feed) {
        self.pause = None;
        self.alerts.renewed = true;
        let (mut signals, records) = self.follows();
        self.demand_of_reported_addresses(&mut signals, feed);
        let (mut levels, mut per_cycle) = (SignalSet::EMPTY, false);
        let freezes = self.freezes();
        let supply = feed.supply();
        for (_, unit) in self.units.iter().enumerate().filter(|(index, _)| !self.is_stopped(&freezes, *index)) {
            if unit.tap.is_asking() {
                levels = levels.union(&unit.tap.unknown_states());
            }
            per_cycle |= unit.tap.is_per_cycle() && unit.tap.is_supplied(supply) && unit.selected.counts_something();
        }
        self.demand.follow(signals, per_cycle, records, supply);
        self.demand.ask(supply.of(&levels));
    }

    /// The signals that are followed and the records that are used, whatever the thread's state, supplied or not.
    pub(super) fn follows(&self) -> (SignalSet, Records) {
        let mut signals = SignalSet::EMPTY;
        let freezes = self.freezes();
        let mut time_base = self.mmcr0.tbee();
        let mut nested = false;
        for (index, unit) in self.units.iter().enumerate() {
            // A counter that waits for the trigger counts soon.
            if self.is_stopped(&freezes, index) {
                continue;
            }
            if index < 4 && unit.selected.is_on() {
                // A write of MMCR1 suspends it for a cycle.
                signals.insert(Signal::Cycles);
            }
            time_base |= unit.selected.internal() == Some(Internal::TimeBaseBit);
            nested |= unit.selected.follows_nested();
            unit.tap.demand(&mut signals);
            unit.selected.demand(&mut signals);
        }
        if time_base {
            signals.insert(Signal::TimeBaseTicks);
        }
        let records = self.demand_of_sampling(&mut signals);
        (signals, Records { nested, ..records })
    }
}

impl Unit {
    /// The unit of PMC5 or PMC6, connected for good.
    pub(super) fn fixed(signal: Signal) -> Unit {
        Unit { tap: Tap::new(Gate::Sum, Scope::Thread, [signal]), ..Unit::default() }
    }
}
