//! What a thread wants of the other threads of its package.

use vm_pmu_arch::feed::SignalSet;
use vm_pmu_arch::model::{PackageScope, Requests, SharedState, Tagging};
use vm_pmu_arch::registry::Pmu;

/// What a PMU wants of the other threads of its package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interest {
    signals: SignalSet,
    records: bool,
    requests: bool,
    observes: bool,
    follows: bool,
}

/// What changed when a PMU wants something else than before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Whether it starts to follow what other threads change.
    pub(super) starts_to_follow: bool,
}

impl Interest {
    pub(super) fn of(pmu: &Pmu) -> Interest {
        Interest {
            signals: pmu.package_demand(),
            records: pmu.wants_package_records(),
            requests: pmu.wants_package_requests(),
            observes: pmu.observes_siblings(),
            follows: pmu.follows_siblings(),
        }
    }

    /// Replaces what was wanted. Returns what has changed, if anything.
    pub(super) fn replace(&mut self, now: Interest) -> Option<Change> {
        let before = core::mem::replace(self, now);
        (before != now).then_some(Change { starts_to_follow: now.follows && !before.follows })
    }
}
