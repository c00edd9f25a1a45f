//! What blocks of code add to counts: worked out once a block, added each time it runs at one go.
//!
//! How many instructions may run, and how many did, is in a [`Countdown`](vm_pmu::Countdown), from which a block takes its own when it is
//! entered. That counts instructions, cycles and what grows with them. What else a block adds, as far as it is wanted, is known when the
//! block is translated: its branches, its loads. The engine keeps that with the block as [`Facts`] and adds them to [`Sums`] after the
//! block.

/// What a block adds besides instructions and cycles, by the numbers of what is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(Box<[(u16, u32)]>);

impl Facts {
    /// Facts of these amounts; zeros are left out.
    ///
    /// ```
    /// use vm_pmu_engines::blocks::{Facts, Sums};
    ///
    /// // Two of what has number 1.
    /// let facts = Facts::new([(0, 0), (1, 2)]);
    /// let mut sums = Sums::new(4);
    /// sums.add(&facts);
    /// sums.add(&facts);
    /// assert_eq!(sums.iter().collect::<Vec<_>>(), [(1, 4)]);
    /// ```
    #[must_use]
    pub fn new(amounts: impl IntoIterator<Item = (u16, u32)>) -> Facts {
        Facts(amounts.into_iter().filter(|(_, amount)| *amount != 0).collect())
    }
}

/// What blocks have added since this was last read.
#[derive(Clone, Debug, Default)]
pub struct Sums(Vec<u64>);

impl Sums {
    /// Nothing, of counts numbered from 0 to `kinds` - 1.
    #[must_use]
    pub fn new(kinds: usize) -> Sums {
        Sums(vec![0; kinds])
    }

    /// Nothing has been added.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// A block ran.
    #[inline]
    pub fn add(&mut self, facts: &Facts) {
        for (kind, amount) in &facts.0 {
            if let Some(sum) = self.0.get_mut(usize::from(*kind)) {
                *sum += u64::from(*amount);
            }
        }
    }

    /// What was added, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        (0u16..).zip(&self.0).filter(|(_, sum)| **sum != 0).map(|(kind, sum)| (kind, *sum))
    }
}
