//! What an embedder reports at all.

use super::{Records, Signal, SignalSet};

/// The signals and records that an embedder, with its companion, ever reports. The model waits for nothing else.
///
/// A signal that is not among these has no deadline, is not [demanded](super::Demand::signals), and its level is not asked for. If it is
/// added to nevertheless, a counter that follows it is right at the next access, and only its overflow is late.
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
    /// The kinds of records that are ever reported.
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

    /// The level of a state that is not reported: at [rest](Signal::resting). A state that is not supplied never holds. A clock runs even
    /// so.
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
