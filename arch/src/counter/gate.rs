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
    /// It grows by nothing: the selection never happens.
    #[default]
    Shut,
    /// It grows by the sum of the sources.
    Sum,
    /// It grows by every cycle: the comparison is the same whatever happens.
    Always,
    /// It grows by the cycles that pass outside the states of the sources: all cycles less the sum.
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

    /// Whether it needs [`Signal::Cycles`](crate::feed::Signal::Cycles) beside its sources.
    #[must_use]
    pub const fn needs_cycles(self) -> bool {
        self.is_per_cycle() || matches!(self, Gate::Outside | Gate::Always)
    }
}

/// The cycle that is open, and the one before it: all that a counter remembers of single cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Detector {
    /// Events in the open cycle so far.
    pub open: u64,
    /// Those among them of the second group of sources.
    pub second: u64,
    /// Injected cycles of a state that have not passed yet.
    pub stay: u64,
    /// Whether the last ended cycle met the threshold.
    pub was_met: bool,
}

impl Detector {
    /// Ends `cycles` cycles in a row that had `events` each, `second` of them of the second group, and returns how much the counter
    /// grows.
    pub(super) fn end(&mut self, gate: Gate, cycles: u64, events: u64, second: u64) -> u64 {
        if cycles == 0 {
            return 0;
        }
        match gate {
            Gate::Shut | Gate::Sum | Gate::Always | Gate::Outside => 0,
            Gate::Cycles(threshold) => {
                self.was_met = threshold.met(events);
                if self.was_met { cycles } else { 0 }
            }
            Gate::Edges(threshold) => {
                let met = threshold.met(events);
                let edge = met && !self.was_met;
                self.was_met = met;
                u64::from(edge)
            }
            Gate::Falls | Gate::Both | Gate::BothFall => {
                let met = if gate == Gate::Falls { events != 0 } else { second != 0 && events > second };
                let fall = self.was_met && !met;
                self.was_met = met;
                match gate {
                    Gate::Both => {
                        if met {
                            cycles
                        } else {
                            0
                        }
                    }
                    _ => u64::from(fall),
                }
            }
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
