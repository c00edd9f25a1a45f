//! PP70: which of two table walkers has a walk.

/// The table walkers of the core.
#[derive(Clone, Debug)]
pub(super) struct Walkers {
    /// When the walk ends that each has last.
    pub(super) until: [u64; 2],
}

impl Walkers {
    pub(super) const fn new() -> Walkers {
        Walkers { until: [0; 2] }
    }

    /// A walk of so many cycles is due in cycle `at`: the first walker has it, unless it is busy and the second is not. If both are, the
    /// one that ends first has it next. Returns whether the second has it.
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
