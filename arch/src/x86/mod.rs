//! What the event selects of x86 parts have in common: the counter mask, its inversion and edge detection.

use crate::counter::{Gate, Threshold};

/// Which signals of an entry feed the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feeding {
    /// Those that it is the sum of.
    Sources,
    /// Those that count how often its state is entered.
    Entries,
}

/// What an event select makes of the events of each cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The counter mask: the least events a cycle; 0 compares nothing.
    pub(crate) cnt_mask: u8,
    /// Fewer instead.
    pub(crate) inverted: bool,
    /// Cycles that satisfy it after one that does not.
    pub(crate) edge: bool,
}

impl Comparison {
    /// The comparison that the counter mask and its inversion ask for; a mask of 0 asks for none, and inversion then means nothing.
    pub(crate) fn threshold(self) -> Option<Threshold> {
        match self.cnt_mask {
            0 => None,
            at_least => Some(Threshold { at_least, inverted: self.inverted }),
        }
    }

    /// The gate, and what feeds it. `lone_state` says of a selection that is one state, 0 or 1 in a cycle, whether signals report how
    /// often it is entered; no cycle has more than `most` events of any other selection.
    pub(crate) fn gate(self, lone_state: Option<bool>, most: u32) -> (Gate, Feeding) {
        let most = if lone_state.is_some() { 1 } else { most };
        let gate = match (self.threshold(), self.edge) {
            (None, false) => Gate::Sum,
            // The comparison is the same in every cycle.
            (Some(Threshold { at_least, inverted }), edge) if u32::from(at_least) > most => match (edge, inverted) {
                (false, true) => Gate::Always,
                _ => Gate::Shut,
            },
            (Some(threshold), false) => match lone_state {
                Some(_) if threshold.inverted => Gate::Outside,
                Some(_) => Gate::Sum,
                None => Gate::Cycles(threshold),
            },
            (threshold, true) => match (lone_state, threshold.unwrap_or(Threshold::ANY)) {
                (Some(true), Threshold { inverted: false, .. }) => return (Gate::Sum, Feeding::Entries),
                (_, threshold) => Gate::Edges(threshold),
            },
        };
        (gate, Feeding::Sources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_that_no_cycle_reaches_counts_never_or_always() {
        let beyond = Comparison { cnt_mask: 16, inverted: false, edge: false };
        assert_eq!(beyond.gate(None, 2), (Gate::Shut, Feeding::Sources));
        assert_eq!(Comparison { inverted: true, ..beyond }.gate(None, 2), (Gate::Always, Feeding::Sources));
    }

    #[test]
    fn the_edges_of_a_state_are_its_entries() {
        let edge = Comparison { cnt_mask: 0, inverted: false, edge: true };
        assert_eq!(edge.gate(Some(true), 2), (Gate::Sum, Feeding::Entries));
        assert_eq!(edge.gate(Some(false), 2), (Gate::Edges(Threshold::ANY), Feeding::Sources));
    }

    #[test]
    fn inversion_without_a_mask_means_nothing() {
        assert_eq!(Comparison { cnt_mask: 0, inverted: true, edge: false }.gate(None, 2).0, Gate::Sum);
    }
}
