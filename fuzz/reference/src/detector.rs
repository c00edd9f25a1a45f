//! What a counter sees of single clocks.

use crate::clocks::Clocks;

/// The clock that is open, and the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detector {
    /// The events of the clock that has not ended.
    pub(crate) open: u64,
    /// Clocks of an injected state that are still to come.
    pub(crate) stay: u64,
    /// What the last clock compared to.
    pub(crate) level: bool,
}

impl Detector {
    /// Nothing is open, and the selection is at this level.
    pub(crate) fn at(level: bool) -> Detector {
        Detector { open: 0, stay: 0, level }
    }

    /// The events so far came at a level that is not counted.
    pub(crate) fn forget_open(&mut self) {
        (self.open, self.stay) = (0, 0);
    }

    /// A step of so many clocks with these events, and states of these lengths. Returns how often the comparison began to hold, and in how
    /// many clocks it did.
    pub(crate) fn pass(&mut self, clocks: u64, events: u64, states: &[u64], compares: impl Fn(u64) -> bool) -> (u64, u64) {
        self.open = self.open.saturating_add(events);
        let mut course = Clocks::new(clocks, self.open);
        states.iter().for_each(|length| course.add_last(*length));
        course.add_last(self.stay);
        let (mut rises, mut satisfied) = (0, 0);
        for (length, events) in course.runs() {
            let level = compares(events);
            rises += u64::from(level && !self.level);
            satisfied += if level { length } else { 0 };
            self.level = level;
        }
        self.stay -= self.stay.min(clocks);
        if clocks > 0 {
            self.open = 0;
        }
        (rises, satisfied)
    }
}

impl Detector {
    /// The clocks of a step that are outside one state, of which the step has `inside`. What is injected adds to these, as it does to what is
    /// inside, and what exceeds the step is still to come (D217). Call it before [`pass`](Detector::pass), and set [`stay`](Detector::stay)
    /// to the second number afterwards.
    pub(crate) fn outside(&self, clocks: u64, inside: u64) -> (u64, u64) {
        let inside = inside.saturating_add(self.stay);
        (clocks.saturating_sub(inside), inside.saturating_sub(clocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_clocks_that_compare_is_one_rise() {
        let mut detector = Detector::at(false);
        assert_eq!(detector.pass(5, 0, &[3], |events| events > 0), (1, 3));
        assert_eq!(detector.pass(2, 0, &[2], |events| events > 0), (0, 2));
    }

    #[test]
    fn what_is_injected_fills_the_clocks_to_come() {
        let mut detector = Detector { stay: 3, ..Detector::at(false) };
        assert_eq!(detector.pass(2, 0, &[], |events| events > 0), (1, 2));
        assert_eq!(detector.pass(2, 0, &[], |events| events > 0), (1, 1));
    }
}
