//! What the embedder must report at the moment.

use super::{Signal, SignalSet};

/// Which instructions a model wants a [`Record`](super::Record) of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Records {
    /// None.
    #[default]
    None,
    /// The one instruction at which a deadline is reached: sampling draws in advance which that will be.
    AtDeadline,
    /// Every taken branch.
    TakenBranches,
    /// Every instruction: addresses or opcodes qualify what is counted.
    Every,
}

/// What currently counts: the embedder may leave out the rest.
///
/// The epoch changes whenever anything else in the demand does, so a translator compares one number to know that code generated for
/// an older demand no longer reports enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    epoch: u32,
    signals: SignalSet,
    per_cycle: bool,
    records: Records,
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

    /// Whether nothing is wanted at all.
    #[must_use]
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.signals.is_empty() && self.records == Records::None
    }

    /// Whether some counter looks at single cycles (a counter mask, inversion or an edge that no pair of signals expresses). The
    /// deadline of [`Signal::Cycles`] then lies one cycle ahead, so that honouring deadlines is all that is asked for.
    #[must_use]
    #[inline]
    pub fn per_cycle(&self) -> bool {
        self.per_cycle
    }

    /// Which instructions a [`Record`](super::Record) is wanted of.
    #[must_use]
    #[inline]
    pub fn records(&self) -> Records {
        self.records
    }

    /// What this demand and `more` want together, for a thread that others look at too. The epochs add up, so the sum moves when either
    /// does.
    #[must_use]
    pub fn with(&self, more: &Demand) -> Demand {
        Demand {
            epoch: self.epoch.wrapping_add(more.epoch),
            signals: self.signals.union(&more.signals),
            per_cycle: self.per_cycle || more.per_cycle,
            records: self.records.max(more.records),
        }
    }

    /// Takes the place of `before`: the epoch goes on from there. For the author of a model.
    pub fn succeed(&mut self, before: &Demand) {
        let now = *self;
        *self = *before;
        self.replace(now.signals, now.per_cycle, now.records);
    }

    /// Replaces what is wanted; the epoch moves on if that differs. For the author of a model.
    pub fn replace(&mut self, signals: SignalSet, per_cycle: bool, records: Records) {
        if (self.signals, self.per_cycle, self.records) != (signals, per_cycle, records) {
            *self = Demand { epoch: self.epoch.wrapping_add(1), signals, per_cycle, records };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epoch_moves_only_when_the_demand_does() {
        let mut demand = Demand::default();
        let mut signals = SignalSet::EMPTY;
        signals.insert(Signal::Loads);
        demand.replace(signals, false, Records::None);
        let epoch = demand.epoch();
        demand.replace(signals, false, Records::None);
        assert_eq!(demand.epoch(), epoch);
        demand.replace(signals, true, Records::None);
        assert_ne!(demand.epoch(), epoch);
    }
}
