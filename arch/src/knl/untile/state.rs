//! What a box remembers.

use super::boxes::{Kind, UnitRegister};
use super::clocks::Clocks;
use super::held::Held;
use super::registers::BoxStatus;
use super::setting::Choice;
use super::unit::{COUNTERS, EMPTY_QUEUE, RESET_CONTROLS, RESET_COUNTER, RESET_COUNTERS, RESET_FIXED, Unit};

/// What a box remembers, in the terms of its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnitState {
    /// The box's control.
    pub control: u64,
    /// The box's status.
    pub status: u64,
    /// The controls of the counters.
    pub controls: [u64; COUNTERS],
    /// The counters.
    pub counters: [u64; COUNTERS],
    /// The control of the fixed counter.
    pub fixed_control: u64,
    /// The fixed counter.
    pub fixed: u64,
    /// The filters.
    pub filters: [u64; 2],
    /// How many entries the queue that each counter follows has, since it was last emptied.
    pub levels: [u64; COUNTERS],
    /// The queue that each counter followed last: a select and a unit mask.
    pub queues: [(u8, u8); COUNTERS],
    /// For how many clocks to come each counter has events on top of the level.
    pub busy: [u64; COUNTERS],
    /// What each counter's edge detector saw last.
    pub was: [bool; COUNTERS],
    /// What queues hold and which states hold, counted or not.
    #[cfg_attr(feature = "serde", serde(default))]
    pub held: Held,
    /// Every box is frozen.
    pub all_frozen: bool,
}

impl Unit {
    /// What the box remembers, with everything counted up to `now`.
    pub fn state(&mut self, now: &Clocks) -> UnitState {
        self.advance(now);
        UnitState {
            control: self.control.bits(),
            status: self.status.bits(),
            controls: self.controls,
            counters: self.counters.map(|counter| counter.count.value()),
            fixed_control: self.fixed_control,
            fixed: self.fixed.count.value(),
            filters: self.filters,
            levels: self.counters.map(|counter| counter.level),
            queues: self.queues,
            busy: self.counters.map(|counter| counter.busy),
            was: self.counters.map(|counter| counter.was),
            held: self.held.packed(),
            all_frozen: self.all_frozen,
        }
    }

    /// The box of `kind` that remembers `state` and counts from `now` on. Bits that no register keeps are dropped.
    #[must_use]
    pub fn from_state(kind: Kind, state: &UnitState, now: &Clocks) -> Unit {
        let mut unit = Unit::new(kind);
        unit.seen = *now;
        for (number, control) in (0u8..).zip(state.controls) {
            unit.write(UnitRegister::CounterControl(number), control & !(EMPTY_QUEUE | RESET_COUNTER), now);
            unit.write(UnitRegister::Counter(number), state.counters.get(usize::from(number)).copied().unwrap_or(0), now);
        }
        unit.write(UnitRegister::Control, state.control & !(RESET_CONTROLS | RESET_COUNTERS), now);
        unit.write(UnitRegister::FixedControl, state.fixed_control & !RESET_FIXED, now);
        unit.write(UnitRegister::Fixed, state.fixed, now);
        for (number, filter) in (0u8..).zip(state.filters) {
            unit.write(UnitRegister::Filter(number), filter, now);
        }
        unit.status = BoxStatus::written(state.status);
        unit.all_frozen = state.all_frozen;
        unit.queues = state.queues;
        unit.held = state.held;
        for (number, counter) in unit.counters.iter_mut().enumerate() {
            if unit.choices.get(number).is_some_and(Choice::has_level) {
                counter.level = state.levels.get(number).copied().unwrap_or(0);
            }
            counter.busy = state.busy.get(number).copied().unwrap_or(0);
            counter.was = state.was.get(number).copied().unwrap_or(false);
        }
        unit
    }
}
