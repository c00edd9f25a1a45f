//! What the embedder must report at the moment.

use super::{Signal, SignalSet, Supply};

/// Which instructions a model wants a [`Record`](super::Record) of.
///
/// ```
/// use vm_pmu_arch::feed::{Occasion, Records};
///
/// let wanted = Records::AT_DEADLINE.with(Records::TAKEN_BRANCHES);
/// let (branch, other) = (Occasion::branch(true), Occasion::default());
/// assert!(wanted.wants(true, other) && wanted.wants(false, branch) && !wanted.wants(false, other));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Records {
    /// The one instruction at which a deadline is reached: sampling chooses it in advance.
    pub at_deadline: bool,
    /// Every taken branch.
    pub taken_branches: bool,
    /// Every control transfer, taken or not: branches, returns from interruptions, and what interrupts the flow of instructions.
    pub branches: bool,
    /// Every access to memory.
    pub memory: bool,
    /// Every instruction with a [`Fetch`](super::Fetch): its line missed a cache or a translation buffer.
    pub fetches: bool,
    /// Every instruction: addresses or opcodes qualify what is counted.
    pub every: bool,
    /// Every [`Request`](super::Request) that left a core's own caches. They are reported by themselves, not with instructions.
    pub requests: bool,
    /// Every [`NestedStep`](super::NestedStep): what table walkers do for a guest under a host. They are reported by themselves, not with
    /// instructions.
    pub nested: bool,
    /// The accesses whose addresses a register keeps in continuous sampling (POWER9's SDAR), each as the record of its instruction. No
    /// demand asks for it. With it, an embedder that reports records at deadlines accepts deadlines for these accesses too, as often as
    /// they come.
    pub sampled_addresses: bool,
    /// What became of the instructions that random sampling chooses (POWER9's SIER): the records at deadlines say where data came from,
    /// what was mispredicted and what was translated, as far as the embedder knows. An embedder that has no caches reports the same
    /// records without it.
    pub sampled_outcomes: bool,
}

/// What an instruction did that may cause its record to be wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Occasion {
    /// It is a control transfer.
    pub branch: bool,
    /// It was taken.
    pub taken: bool,
    /// It accessed memory.
    pub memory: bool,
    /// Its fetch missed something.
    pub fetch: bool,
}

impl Occasion {
    /// A control transfer, taken or not.
    #[must_use]
    pub const fn branch(taken: bool) -> Occasion {
        Occasion { branch: true, taken, memory: false, fetch: false }
    }

    /// The occasion of a whole record.
    #[must_use]
    pub const fn of(record: &super::Record) -> Occasion {
        Occasion {
            branch: record.branch.is_some(),
            taken: matches!(record.branch, Some(super::Branch { taken: true, .. })),
            memory: record.memory.is_some(),
            fetch: record.fetch.is_some(),
        }
    }
}

impl Records {
    /// None at all.
    pub const NONE: Records = Records {
        at_deadline: false,
        taken_branches: false,
        branches: false,
        memory: false,
        fetches: false,
        every: false,
        requests: false,
        nested: false,
        sampled_addresses: false,
        sampled_outcomes: false,
    };
    /// Those at which a deadline is reached.
    pub const AT_DEADLINE: Records = Records { at_deadline: true, ..Records::NONE };
    /// Every taken branch.
    pub const TAKEN_BRANCHES: Records = Records { taken_branches: true, ..Records::NONE };
    /// Every control transfer.
    pub const BRANCHES: Records = Records { branches: true, ..Records::NONE };
    /// Every access to memory.
    pub const MEMORY: Records = Records { memory: true, ..Records::NONE };
    /// Every fetch that missed something.
    pub const FETCHES: Records = Records { fetches: true, ..Records::NONE };
    /// Every instruction.
    pub const EVERY: Records = Records { every: true, ..Records::NONE };
    /// Every request that left a core's own caches.
    pub const REQUESTS: Records = Records { requests: true, ..Records::NONE };
    /// Every step of a nested translation.
    pub const NESTED: Records = Records { nested: true, ..Records::NONE };
    /// The accesses whose addresses continuous sampling keeps.
    pub const SAMPLED_ADDRESSES: Records = Records { sampled_addresses: true, ..Records::NONE };
    /// What became of the instructions that random sampling chooses.
    pub const SAMPLED_OUTCOMES: Records = Records { sampled_outcomes: true, ..Records::NONE };

    /// Every record.
    pub const ALL: Records = Records {
        at_deadline: true,
        taken_branches: true,
        branches: true,
        memory: true,
        fetches: true,
        every: true,
        requests: true,
        nested: true,
        sampled_addresses: true,
        sampled_outcomes: true,
    };

    /// Whether nothing is wanted.
    #[must_use]
    #[inline]
    pub const fn is_none(self) -> bool {
        !(self.at_deadline
            || self.taken_branches
            || self.branches
            || self.memory
            || self.fetches
            || self.every
            || self.requests
            || self.nested
            || self.sampled_addresses
            || self.sampled_outcomes)
    }

    /// Whether the record of an instruction is wanted. `at_deadline` says whether it reached a deadline, and `occasion` what it did.
    #[must_use]
    #[inline]
    pub const fn wants(self, at_deadline: bool, occasion: Occasion) -> bool {
        self.every
            || self.at_deadline && at_deadline
            || self.taken_branches && occasion.taken
            || self.branches && occasion.branch
            || self.memory && occasion.memory
            || self.fetches && occasion.fetch
    }

    /// The records that either asks for.
    #[must_use]
    pub const fn with(self, more: Records) -> Records {
        Records {
            at_deadline: self.at_deadline || more.at_deadline,
            taken_branches: self.taken_branches || more.taken_branches,
            branches: self.branches || more.branches,
            memory: self.memory || more.memory,
            fetches: self.fetches || more.fetches,
            every: self.every || more.every,
            requests: self.requests || more.requests,
            nested: self.nested || more.nested,
            sampled_addresses: self.sampled_addresses || more.sampled_addresses,
            sampled_outcomes: self.sampled_outcomes || more.sampled_outcomes,
        }
    }

    /// The part of these records that an embedder reports if it supplies `supplied`. An embedder that reports [every](Records::every)
    /// instruction reports all of them, and one that reports all branches reports taken ones.
    ///
    /// ```
    /// use vm_pmu_arch::feed::Records;
    ///
    /// let wanted = Records::AT_DEADLINE.with(Records::TAKEN_BRANCHES);
    /// assert_eq!(wanted.within(Records::BRANCHES), Records::TAKEN_BRANCHES);
    /// assert_eq!(wanted.within(Records::EVERY), wanted);
    /// assert_eq!(Records::EVERY.within(Records::BRANCHES), Records::NONE);
    /// ```
    #[must_use]
    pub const fn within(self, supplied: Records) -> Records {
        Records {
            at_deadline: self.at_deadline && (supplied.at_deadline || supplied.every),
            taken_branches: self.taken_branches && (supplied.taken_branches || supplied.branches || supplied.every),
            branches: self.branches && (supplied.branches || supplied.every),
            memory: self.memory && (supplied.memory || supplied.every),
            fetches: self.fetches && (supplied.fetches || supplied.every),
            every: self.every && supplied.every,
            requests: self.requests && supplied.requests,
            nested: self.nested && supplied.nested,
            sampled_addresses: self.sampled_addresses && (supplied.sampled_addresses || supplied.every),
            sampled_outcomes: self.sampled_outcomes && supplied.sampled_outcomes,
        }
    }
}

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
