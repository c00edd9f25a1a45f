//! Counting after a cycle that is not counted.

use super::{Gate, Tap};
use crate::feed::{Feed, Kind, Signal};

impl Tap {
    /// Brings the tap up to now, where all but the last `cycles` cycles are not counted, and returns how much the counter grows by those.
    ///
    /// Events fall into a step's first cycle, and the cycles of a state are its last: so only cycles are left. A gate other than a sum adds
    /// nothing.
    pub fn fold_last(&mut self, feed: &impl Feed, cycles: u64) -> u64 {
        if self.gate() != Gate::Sum {
            self.skip(feed);
            return 0;
        }
        let mut sum = 0u64;
        self.grown(feed, |_, signal, grown| {
            let is_of_cycles = signal == Signal::Cycles || signal.kind() == Kind::State;
            sum = sum.saturating_add(if is_of_cycles { grown.min(cycles) } else { 0 });
        });
        sum
    }
}
