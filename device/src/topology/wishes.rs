//! What a thread wants of the others of its package.

use vm_pmu_arch::feed::SignalSet;
use vm_pmu_arch::model::Model;
use vm_pmu_arch::registry::Pmu;

/// What a PMU wants of the other threads of its package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wishes {
    signals: SignalSet,
    records: bool,
    requests: bool,
    overhears: bool,
    heeds: bool,
}

/// That it wants something else than before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// It did not want to be told at once what others change, and now does.
    pub(super) begins_to_heed: bool,
}

impl Wishes {
    pub(super) fn of(pmu: &Pmu) -> Wishes {
        Wishes {
            signals: pmu.wide_demand(),
            records: pmu.wide_records(),
            requests: pmu.wide_requests(),
            overhears: pmu.overhears(),
            heeds: pmu.heeds_others(),
        }
    }

    /// These take the place of what was wanted. What of that is new, if anything.
    pub(super) fn replace(&mut self, now: Wishes) -> Option<Change> {
        let before = core::mem::replace(self, now);
        (before != now).then_some(Change { begins_to_heed: now.heeds && !before.heeds })
    }
}
