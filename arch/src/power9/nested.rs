//! Steps of nested translations, which a table walker makes (section 5.11 of the user's guide).

use super::Power9;
use super::counting::bit;
use super::registers::COUNTERS;
use crate::feed::{Feed, NestedStep};
use crate::model::NestedTranslation;

impl NestedTranslation for Power9 {
    fn nested(&mut self, step: &NestedStep, feed: &impl Feed) {
        if !self.units.iter().any(|unit| unit.selected.follows_nested()) {
            return;
        }
        if self.grown_by(step) != [0; COUNTERS] {
            // A table walker makes the step, and no instruction whose record came.
            self.present = None;
        }
        // What was added before it is counted first.
        let moved = self.catch_up(feed);
        self.grow_all(self.grown_by(step), 0);
        if self.judge(false, feed) || moved {
            self.update_demand_unless_pausing(feed);
        }
        self.rearm(feed);
    }
}

impl Power9 {
    /// How much each counter grows by a step of a nested translation.
    fn grown_by(&self, step: &NestedStep) -> [u64; COUNTERS] {
        let mut grown = [0; COUNTERS];
        for (index, (unit, grown)) in self.units.iter().zip(&mut grown).enumerate() {
            if self.counting & bit(index) != 0 {
                *grown = unit.selected.nested(step);
            }
        }
        grown
    }
}
