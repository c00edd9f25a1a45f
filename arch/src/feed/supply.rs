//! What an embedder can tell at all.

use super::{Records, Signal, SignalSet};

/// What an embedder, with whatever accompanies it, ever tells: nothing waits for anything else.
///
/// A signal that is not among these has no deadline, is not [demanded](super::Demand::signals), and its level is not asked for. Were it added to
/// nevertheless, a counter that follows it would be right at the next access, and only its overflow late.
///
/// ```
/// use vm_pmu_arch::feed::{Records, Signal, SignalSet, Supply};
///
/// let supply = Supply { signals: SignalSet::from_iter([Signal::Cycles, Signal::InstructionsRetired]), records: Records::NONE };
/// assert!(supply.signals.contains(Signal::Cycles) && !supply.signals.contains(Signal::DataCacheLoadMisses));
/// assert!(Supply::ALL.signals.contains(Signal::DataCacheLoadMisses));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// The signals that are ever added to.
    pub signals: SignalSet,
    /// The kinds of records that are ever told.
    pub records: Records,
}

impl Supply {
    /// Every signal and every record.
    pub const ALL: Supply = Supply { signals: SignalSet::ALL, records: Records::ALL };

    /// Those of `signals` that are supplied.
    #[must_use]
    #[inline]
    pub fn of(&self, signals: &SignalSet) -> SignalSet {
        signals.intersection(&self.signals)
    }

    /// The level of a state of which nothing is said: at [rest](Signal::resting). One that nobody supplies never holds, but clocks run.
    #[must_use]
    pub fn resting(&self, state: Signal) -> bool {
        state.resting() && (state.is_clock() || self.signals.contains(state))
    }
}

impl Default for Supply {
    fn default() -> Self {
        Supply::ALL
    }
}
