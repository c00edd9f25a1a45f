//! PP70: which of two table walkers has a walk.

/// The table walkers of the core.
#[derive(Clone, Debug)]
pub(in super::super) struct Walkers {
    /// When the walk ends that each has last.
    pub(super) until: [u64; 2],
    /// The walks of the present instruction that the second has: bit 0 for its code, bit n for its access n.
    pub(in super::super) second: u32,
}

impl Walkers {
    pub(super) const fn new() -> Walkers {
        Walkers { until: [0; 2], second: 0 }
    }

    /// A walk of so many cycles is due in cycle `at`: the first walker has it, unless it is busy and the second is not. If both are, the
    /// one that ends first has it next.
    pub(super) fn walk(&mut self, place: u32, at: u64, cycles: u32) {
        if cycles == 0 {
            return;
        }
        let [first, second] = self.until;
        let number = usize::from(first > at && second < first);
        self.second |= (number as u32) << (place & 31);
        if let Some(until) = self.until.get_mut(number) {
            *until = at.max(*until) + u64::from(cycles);
        }
    }
}
