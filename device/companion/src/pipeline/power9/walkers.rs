//! PP70: the assignment of walks to the two table walkers.

/// The table walkers of the core.
#[derive(Clone, Debug)]
pub(super) struct Walkers {
    /// The cycle in which the last walk of each ends.
    pub(super) until: [u64; 2],
}

impl Walkers {
    pub(super) const fn new() -> Walkers {
        Walkers { until: [0; 2] }
    }

    /// Assigns a walk of `cycles` that is due in cycle `at`. The first walker takes it, unless it is busy and the second is not. If both
    /// are busy, the one that ends first takes it next. Returns whether the second takes it.
    pub(super) fn walk(&mut self, at: u64, cycles: u32) -> bool {
        if cycles == 0 {
            return false;
        }
        let [first, second] = self.until;
        let number = usize::from(first > at && second < first);
        if let Some(until) = self.until.get_mut(number) {
            *until = at.max(*until) + u64::from(cycles);
        }
        number != 0
    }
}
