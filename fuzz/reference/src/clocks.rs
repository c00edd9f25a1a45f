//! The clocks of one step.

use vm_pmu_arch::feed::Signal;

/// How much of `signal` is among `signals`.
pub(crate) fn amount_of(signals: &[(Signal, u64)], signal: Signal) -> u64 {
    signals.iter().filter(|(other, _)| *other == signal).map(|(_, amount)| *amount).sum()
}

/// What each clock of a step has: the events are in the first, a state is in the last ones (the contract of [`vm_pmu_arch::feed`]).
/// Equal clocks are kept together, as a step may have any number of them.
#[derive(Debug)]
pub(crate) struct Clocks {
    clocks: u64,
    events: u64,
    /// The clock in which each state begins.
    begins: Vec<u64>,
}

impl Clocks {
    /// A step of so many clocks, with events in the first.
    pub(crate) fn new(clocks: u64, events: u64) -> Clocks {
        Clocks { clocks, events, begins: Vec::new() }
    }

    /// A state that holds in the last so many clocks.
    pub(crate) fn add_last(&mut self, length: u64) {
        self.begins.push(self.clocks - length.min(self.clocks));
    }

    /// Runs of equal clocks: how many, and what each of them has.
    pub(crate) fn runs(&self) -> Vec<(u64, u64)> {
        let mut places = vec![0, 1.min(self.clocks), self.clocks];
        places.extend(&self.begins);
        places.sort_unstable();
        places.dedup();
        let run = |pair: &[u64]| {
            let (from, to) = (pair[0], pair[1]);
            let states = self.begins.iter().filter(|begin| **begin <= from).count() as u64;
            (to - from, states + if from == 0 { self.events } else { 0 })
        };
        places.windows(2).map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_in_the_first_clock_and_states_in_the_last() {
        let mut clocks = Clocks::new(5, 2);
        clocks.add_last(3);
        assert_eq!(clocks.runs(), [(1, 2), (1, 0), (3, 1)]);
    }

    #[test]
    fn a_state_of_the_whole_step_meets_the_events() {
        let mut clocks = Clocks::new(4, 1);
        clocks.add_last(9);
        assert_eq!(clocks.runs(), [(1, 2), (3, 1)]);
    }

    #[test]
    fn a_step_without_clocks_ends_none() {
        assert_eq!(Clocks::new(0, 7).runs(), []);
    }
}
