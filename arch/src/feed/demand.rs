//! What the embedder must report at the moment.

use super::{Records, Signal, SignalSet, Supply};

/// What is currently counted: the embedder may leave out the rest.
///
/// The epoch changes whenever anything else in the demand does, so a translator compares one number to know that code generated for
/// an older demand no longer reports enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    epoch: u32,
    signals: SignalSet,
    per_cycle: bool,
    records: Records,
    levels: SignalSet,
}

impl Demand {
    /// A number that differs from that of the demand before.
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The signals whose totals some counter follows.
    #[must_use]
    pub fn signals(&self) -> &SignalSet {
        &self.signals
    }

    /// Whether some counter follows `signal`.
    #[must_use]
    #[inline]
    pub fn wants(&self, signal: Signal) -> bool {
        self.signals.contains(signal)
    }

    /// Whether some counter waits for the level of a state.
    #[must_use]
    #[inline]
    pub fn asks_levels(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Whether nothing is wanted at all.
    #[must_use]
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.signals.is_empty() && self.records.is_none()
    }

    /// Whether some counter depends on single cycles (a counter mask, inversion or an edge that no pair of signals expresses). The
    /// deadline of [`Signal::Cycles`] then lies one cycle ahead, so an embedder that serves deadlines need do nothing else.
    #[must_use]
    #[inline]
    pub fn per_cycle(&self) -> bool {
        self.per_cycle
    }

    /// The states whose levels a counter that has just started must know: a state that holds already is no edge. The embedder reports
    /// them by [`Levels::supply_levels`](crate::model::Levels::supply_levels) before anything else happens; states that are not reported
    /// are at rest. The set is empty at all other times, and the epoch changes when it fills.
    #[must_use]
    pub fn levels(&self) -> &SignalSet {
        &self.levels
    }

    /// Which instructions a [`Record`](super::Record) is wanted of.
    #[must_use]
    #[inline]
    pub fn records(&self) -> Records {
        self.records
    }

    /// What this demand and `more` want together, for a thread that other threads observe too. The epochs are added, so the sum changes
    /// when either does.
    #[must_use]
    pub fn with(&self, more: &Demand) -> Demand {
        Demand {
            epoch: self.epoch.wrapping_add(more.epoch),
            signals: self.signals.union(&more.signals),
            per_cycle: self.per_cycle || more.per_cycle,
            records: self.records.with(more.records),
            levels: self.levels.union(&more.levels),
        }
    }

    /// Replaces `before`: the epoch continues from there. For the author of a model.
    pub fn succeed(&mut self, before: &Demand) {
        let now = *self;
        *self = *before;
        self.replace(now.signals, now.per_cycle, now.records);
        self.ask(now.levels);
    }

    /// Changes the epoch: something else that generated code depends on has changed. For the author of a model.
    pub fn change_epoch(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Replaces what is wanted. The epoch changes if that differs. For the author of a model.
    pub fn replace(&mut self, signals: SignalSet, per_cycle: bool, records: Records) {
        if (self.signals, self.per_cycle, self.records) != (signals, per_cycle, records) {
            *self = Demand { epoch: self.epoch.wrapping_add(1), signals, per_cycle, records, ..*self };
        }
    }

    /// As [`replace`](Demand::replace), for the signals that counters follow and the records that they use, as far as `supply` has them.
    /// For the author of a model.
    pub fn follow(&mut self, signals: SignalSet, per_cycle: bool, records: Records, supply: &Supply) {
        self.replace(supply.of(&signals), per_cycle, records.within(supply.records));
    }

    /// Asks for the levels of these states, and for no others; the epoch moves on if some are new. For the author of a model.
    pub fn ask(&mut self, levels: SignalSet) {
        if levels.union(&self.levels) != self.levels {
            self.change_epoch();
        }
        self.levels = levels;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn the_epoch_moves_only_when_the_demand_does() {
        let mut demand = Demand::default();
        let mut signals = SignalSet::EMPTY;
        signals.insert(Signal::Loads);
        demand.replace(signals, false, Records::NONE);
        let epoch = demand.epoch();
        demand.replace(signals, false, Records::NONE);
        assert_eq!(demand.epoch(), epoch);
        demand.replace(signals, true, Records::NONE);
        assert_ne!(demand.epoch(), epoch);
    }

    #[test]
    fn a_demand_is_shown_by_the_names_of_its_signals() {
        let mut demand = Demand::default();
        demand.replace(SignalSet::from_iter([Signal::Loads, Signal::Cycles]), false, Records::NONE);
        demand.ask(SignalSet::only(Signal::DispatchStallCycles));
        let shown = std::format!("{demand:?}");
        assert!(shown.starts_with("Demand { epoch: 2, signals: {Cycles, Loads}, per_cycle: false, "), "{shown}");
        assert!(shown.ends_with(", levels: {DispatchStallCycles} }"), "{shown}");
    }

    #[test]
    fn what_is_followed_but_not_supplied_is_not_demanded_and_moves_no_epoch() {
        let supply = Supply { signals: SignalSet::only(Signal::Cycles), records: Records::NONE };
        let mut demand = Demand::default();
        demand.follow(SignalSet::from_iter([Signal::Cycles, Signal::Loads]), false, Records::EVERY, &supply);
        assert_eq!((*demand.signals(), demand.records()), (SignalSet::only(Signal::Cycles), Records::NONE));
        let epoch = demand.epoch();
        demand.follow(SignalSet::from_iter([Signal::Cycles, Signal::Stores]), false, Records::NONE, &supply);
        assert_eq!(demand.epoch(), epoch);
    }

    #[test]
    fn the_epoch_moves_when_a_level_is_asked_for_and_not_when_it_has_been_supplied() {
        let mut demand = Demand::default();
        let mut levels = SignalSet::EMPTY;
        levels.insert(Signal::DispatchStallCycles);
        demand.ask(levels);
        let epoch = demand.epoch();
        assert_ne!(epoch, Demand::default().epoch());
        demand.ask(SignalSet::EMPTY);
        assert_eq!((demand.epoch(), demand.asks_levels()), (epoch, false));
    }
}
