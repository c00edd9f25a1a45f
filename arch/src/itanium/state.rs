//! What a first Itanium's PMU remembers, and the PMU that remembers it.

use super::{COUNTERS, Captures, Configuration, Itanium, Revision, Tags};
use crate::counter::{Detector, Pending};
use crate::feed::{Context, Feed};
use crate::ia64::{Breakpoints, Counters, FIRST, Last, LoadTracker, Overflow};
use crate::model::Model;

/// What a first Itanium's PMU remembers, in the terms of its registers: enough to build the same PMU elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The revision of the part.
    pub revision: Revision,
    /// PMC4-13.
    pub configuration: Configuration,
    /// IBR0-7 and DBR0-7.
    pub breakpoints: Breakpoints,
    /// PMC0.
    pub overflow: u64,
    /// PMD4-7: the counts, without their signs.
    pub counts: [u64; COUNTERS],
    /// What each counter knows of single cycles, and how often its overflows were notified outside.
    pub memory: [(Detector, u64); COUNTERS],
    /// What has occurred since the last instruction, for counters that count it only if the next instruction admits it.
    pub pending: [Pending; COUNTERS],
    /// PMD0-3 and 8-17.
    pub captures: Captures,
    /// The machine that follows loads.
    pub tracker: LoadTracker,
    /// What was traced last.
    pub last: Last,
    /// The tags of the last instruction.
    pub tags: Tags,
    /// The thread's context.
    pub context: Context,
    /// External notifications watched, one bit each.
    pub watched: u32,
}

impl Itanium {
    /// What the PMU remembers, with everything counted up to now. Alerts that this raises are reported here, not by the restored PMU: the
    /// embedder takes them before it saves the interrupt controller.
    pub fn state(&mut self, feed: &impl Feed) -> State {
        self.service(feed);
        let mut counts = [0; COUNTERS];
        for (number, count) in (FIRST..).zip(&mut counts) {
            *count = self.counters.count_of(number);
        }
        State {
            revision: self.revision,
            configuration: self.configuration,
            breakpoints: self.breakpoints,
            overflow: self.counters.overflow.bits(),
            counts,
            memory: self.counters.memory(),
            pending: self.counters.pending(feed),
            captures: self.captures,
            tracker: self.tracker,
            last: self.last,
            tags: self.tags,
            context: self.context,
            watched: self.counters.watched(),
        }
    }

    /// The PMU that remembers `state`, attached to `feed`: it counts from now on. Bits that no register keeps are
    /// dropped.
    #[must_use]
    pub fn from_state(state: &State, feed: &impl Feed) -> Itanium {
        let mut pmu = Itanium::new(state.revision);
        pmu.configuration = state.configuration.cleaned();
        pmu.breakpoints = state.breakpoints.cleaned();
        pmu.captures = state.captures.cleaned();
        pmu.tracker = state.tracker.cleaned();
        pmu.last = state.last;
        pmu.tags = state.tags;
        pmu.context = state.context;
        pmu.counters.overflow = Overflow::written(state.overflow, Counters::<COUNTERS>::overflow_bits());
        pmu.counters.watch(state.watched);
        for (number, count) in (FIRST..).zip(state.counts) {
            pmu.counters.set_count(number, count);
        }
        pmu.connect(feed);
        pmu.counters.resume(&pmu.context, feed);
        pmu.counters.remember(&state.memory, &state.pending);
        pmu.update_demand(feed);
        pmu.begin_time(feed);
        pmu.rearm(feed);
        pmu
    }
}
