//! What a K8 PMU remembers, and the PMU that remembers it.

use super::counting::Selection;
use super::{ALL, COUNTERS, K8, PerfEvtSel, Revision, Slot, WIDTH};
use crate::counter::{Counter, Detector};
use crate::feed::{Context, Feed};
use crate::model::Model;

/// What a K8 PMU remembers, in the terms of its registers: enough to build the same PMU elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The revision of the part.
    pub revision: Revision,
    /// PerfEvtSel0-3.
    pub selects: [u64; COUNTERS],
    /// PerfCtr0-3.
    pub counters: [u64; COUNTERS],
    /// What each counter knows of single cycles.
    pub detectors: [Detector; COUNTERS],
    /// How often each pin has toggled.
    pub toggles: [u64; COUNTERS],
    /// The thread's context.
    pub context: Context,
    /// Shared counters that this core holds, one bit each.
    pub granted: u32,
    /// Counters that another core's claim makes useless, one bit each.
    pub blocked: u32,
    /// Pins watched, one bit each.
    pub watched: u32,
}

impl K8 {
    /// What the PMU remembers, with everything counted up to now. Alerts that this raises are reported here, not by the restored PMU: the
    /// embedder takes them before it saves the interrupt controller.
    pub fn state(&mut self, feed: &impl Feed) -> State {
        self.service(feed);
        let units = &self.units;
        State {
            revision: self.revision,
            selects: units.map(|unit| unit.select.bits()),
            counters: units.map(|unit| unit.counter.value()),
            detectors: units.map(|unit| unit.connection.tap.detector()),
            toggles: units.map(|unit| unit.toggles),
            context: self.context,
            granted: self.granted,
            blocked: self.blocked,
            watched: self.watched,
        }
    }

    /// The PMU that remembers `state`, attached to `feed`: it counts from now on. Bits that no register keeps are
    /// dropped.
    #[must_use]
    pub fn from_state(state: &State, feed: &impl Feed) -> K8 {
        let mut pmu = K8::new(state.revision);
        pmu.context = state.context;
        pmu.granted = state.granted & ALL;
        pmu.blocked = state.blocked & ALL;
        pmu.watched = state.watched & ALL;
        let rows = state.selects.iter().zip(&state.counters).zip(&state.detectors).zip(&state.toggles);
        for ((slot, unit), (((select, counter), detector), toggles)) in Slot::ALL.into_iter().zip(&mut pmu.units).zip(rows) {
            unit.select = PerfEvtSel::written(*select);
            unit.counter = Counter::new(*counter, WIDTH);
            Selection::new(unit.select, pmu.revision).connect(pmu.revision, &mut unit.connection);
            let pulses = state.watched >> slot.index() & 1 == 1 && !unit.select.pc() && !unit.connection.counts_entries;
            unit.connection.tap.track_increments(pulses, feed);
            unit.connection.tap.skip(feed);
            unit.connection.tap.set_detector(*detector);
            unit.toggles = *toggles;
        }
        pmu.update_admits();
        pmu.counting = pmu.admitted();
        pmu.following = pmu.followed_edges();
        pmu.update_demand(feed);
        pmu.arm(feed);
        pmu
    }
}
