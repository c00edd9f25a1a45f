//! What lies between the events of a cycle and the counter: sums, thresholds, edges.

/// A comparison of the events of one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    /// The least number of events that satisfies it, at least 1.
    pub at_least: u8,
    /// Satisfied by fewer instead.
    pub inverted: bool,
}

impl Threshold {
    /// Satisfied by any event at all.
    pub const ANY: Threshold = Threshold { at_least: 1, inverted: false };

    /// Whether a cycle of `events` satisfies it.
    #[must_use]
    #[inline]
    pub const fn met(self, events: u64) -> bool {
        (events >= self.at_least as u64) != self.inverted
    }
}

/// How the events that reach a counter make it grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// It grows by nothing: the selection never occurs.
    #[default]
    Shut,
    /// It grows by the sum of the sources.
    Sum,
    /// It grows by every cycle: the comparison holds in all of them.
    Always,
    /// It grows by the cycles outside the states of the sources: all cycles less the sum.
    Outside,
    /// It grows by one for each cycle that meets the threshold.
    Cycles(Threshold),
    /// It grows by one for each cycle that meets the threshold after one that does not.
    Edges(Threshold),
    /// It grows by one for each cycle without an event after one that had some.
    Falls,
    /// It grows by one for each cycle in which both groups of sources have an event.
    Both,
    /// It grows by one for each cycle in which not both groups have an event, after one in which both had.
    BothFall,
}

impl Gate {
    /// Whether it must see single cycles.
    #[must_use]
    pub const fn is_per_cycle(self) -> bool {
        matches!(self, Gate::Cycles(_) | Gate::Edges(_) | Gate::Falls | Gate::Both | Gate::BothFall)
    }

    /// Whether it counts changes of a level, so that what the level was before it began matters.
    #[must_use]
    pub const fn is_edge(self) -> bool {
        matches!(self, Gate::Edges(_) | Gate::Falls | Gate::BothFall)
    }

    /// Whether a cycle with so many events, `second` of them of the second group, meets the condition whose cycles or changes the gate
    /// counts.
    pub(super) const fn met(self, events: u64, second: u64) -> bool {
        match self {
            Gate::Shut | Gate::Sum | Gate::Always | Gate::Outside => false,
            Gate::Cycles(threshold) | Gate::Edges(threshold) => threshold.met(events),
            Gate::Falls => events != 0,
            Gate::Both | Gate::BothFall => second != 0 && events > second,
        }
    }

    /// Whether it needs [`Signal::Cycles`](crate::feed::Signal::Cycles) in addition to its sources.
    #[must_use]
    pub const fn needs_cycles(self) -> bool {
        self.is_per_cycle() || matches!(self, Gate::Outside | Gate::Always)
    }
}

/// Whether a counter still asks for the level that its selection had when it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Question {
    /// It knows the level, or needs none.
    #[default]
    None,
    /// It began, and a level that holds already is no edge.
    Began,
    /// It changed from a selection at rest to this one while it counted: a level that holds already is an edge.
    Changed,
    /// It changed while it counted, and whether what was selected before is at rest is asked too.
    ChangedFromUnknown,
}

/// The cycle that is open, and the one before it: all that a counter remembers of single cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Detector {
    /// Events in the open cycle so far.
    pub open: u64,
    /// Those among them of the second group of sources.
    pub second: u64,
    /// Injected cycles of a state that have not elapsed yet.
    pub stay: u64,
    /// Whether the last ended cycle met the threshold.
    pub was_met: bool,
    /// Whether it still asks for the level before the first cycle.
    #[cfg_attr(feature = "serde", serde(default))]
    pub question: Question,
}

impl Detector {
    /// Ends `cycles` cycles in a row that had `events` each, `second` of them of the second group, and returns how much the counter
    /// grows.
    pub(super) fn end(&mut self, gate: Gate, cycles: u64, events: u64, second: u64) -> u64 {
        if cycles == 0 {
            return 0;
        }
        let met = gate.met(events, second);
        let was_met = core::mem::replace(&mut self.was_met, met);
        match gate {
            Gate::Shut | Gate::Sum | Gate::Always | Gate::Outside => 0,
            Gate::Cycles(_) | Gate::Both => {
                if met {
                    cycles
                } else {
                    0
                }
            }
            Gate::Edges(_) => u64::from(met && !was_met),
            Gate::Falls | Gate::BothFall => u64::from(was_met && !met),
        }
    }

    /// Learns whether a cycle before the counter began would have met the threshold. Returns how much that makes the counter grow.
    pub(super) fn learn(&mut self, met: bool) -> u64 {
        match core::mem::take(&mut self.question) {
            Question::None => 0,
            Question::Began => {
                self.was_met = met;
                0
            }
            Question::Changed | Question::ChangedFromUnknown => u64::from(!core::mem::replace(&mut self.was_met, met) && met),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverted_threshold_is_met_by_fewer() {
        let threshold = Threshold { at_least: 2, inverted: true };
        assert!(threshold.met(0));
        assert!(threshold.met(1));
        assert!(!threshold.met(2));
    }

    #[test]
    fn an_edge_is_one_rise_however_long_the_stay() {
        let mut detector = Detector::default();
        let gate = Gate::Edges(Threshold::ANY);
        assert_eq!(detector.end(gate, 5, 1, 0), 1);
        assert_eq!(detector.end(gate, 5, 1, 0), 0);
        assert_eq!(detector.end(gate, 1, 0, 0), 0);
        assert_eq!(detector.end(gate, 1, 3, 0), 1);
    }

    #[test]
    fn a_fall_is_the_first_cycle_without_an_event() {
        let mut detector = Detector::default();
        assert_eq!(detector.end(Gate::Falls, 3, 0, 0), 0);
        assert_eq!(detector.end(Gate::Falls, 2, 1, 0), 0);
        assert_eq!(detector.end(Gate::Falls, 4, 0, 0), 1);
    }

    #[test]
    fn both_groups_count_in_the_same_cycle_only() {
        let mut detector = Detector::default();
        assert_eq!(detector.end(Gate::Both, 1, 2, 0), 0);
        assert_eq!(detector.end(Gate::Both, 1, 2, 2), 0);
        assert_eq!(detector.end(Gate::Both, 3, 2, 1), 3);
        assert_eq!(detector.end(Gate::BothFall, 1, 1, 1), 1);
    }
}
