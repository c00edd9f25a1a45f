//! What blocks of code add to counts: worked out once a block, added each time it runs at one go.
//!
//! An engine that translates code knows, when it translates a block, most of what the block adds to whatever counts: its
//! instructions, its branches, its loads. It keeps that beside the block as [`Facts`]. Before the block runs it asks the
//! [`Balance`] whether something comes to an end within ([`Balance::fits`]); if not, the block runs at one go and its facts are
//! spent ([`Balance::spend`]), and otherwise its instructions run one by one.

/// What a block adds, by the numbers of what is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    steps: u32,
    amounts: Box<[(u16, u32)]>,
}

impl Facts {
    /// Facts of `steps` instructions that add these amounts; zeros are left out.
    ///
    /// ```
    /// use vm_pmu_guest_tests::engine::blocks::{Balance, Facts};
    ///
    /// // Three instructions; two of what has number 1.
    /// let facts = Facts::new(3, [(0, 3), (1, 2), (2, 0)]);
    /// let mut balance = Balance::new(4);
    /// balance.limit(1, 5);
    /// assert!(balance.fits(&facts));
    /// balance.spend(&facts);
    /// balance.spend(&facts);
    /// // The next one would come to the limit.
    /// assert!(!balance.fits(&facts));
    /// assert_eq!(balance.steps(), 6);
    /// assert_eq!(balance.added().collect::<Vec<_>>(), [(0, 6), (1, 4)]);
    /// ```
    #[must_use]
    pub fn new(steps: u32, amounts: impl IntoIterator<Item = (u16, u32)>) -> Facts {
        Facts { steps, amounts: amounts.into_iter().filter(|(_, amount)| *amount != 0).collect() }
    }

    /// How many instructions the block has.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }
}

/// What blocks have added since somebody last looked, and how far each count is from what must not pass unnoticed.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    steps: u64,
    added: Vec<u64>,
    left: Vec<u64>,
}

impl Balance {
    /// The empty balance of counts numbered from 0 to `kinds` - 1, none of them limited.
    #[must_use]
    pub fn new(kinds: usize) -> Balance {
        Balance { steps: 0, added: vec![0; kinds], left: vec![u64::MAX; kinds] }
    }

    /// Nothing has been added, and nothing is limited.
    pub fn clear(&mut self) {
        self.steps = 0;
        self.added.fill(0);
        self.left.fill(u64::MAX);
    }

    /// The count of number `kind` must stay short of `distance` more. Of several limits the nearest holds.
    pub fn limit(&mut self, kind: u16, distance: u64) {
        if let Some(left) = self.left.get_mut(usize::from(kind)) {
            *left = distance.min(*left);
        }
    }

    /// Whether a block can run at one go: nothing comes to its limit within.
    #[inline]
    #[must_use]
    pub fn fits(&self, facts: &Facts) -> bool {
        facts.amounts.iter().all(|(kind, amount)| self.left.get(usize::from(*kind)).is_none_or(|left| u64::from(*amount) < *left))
    }

    /// A block ran.
    #[inline]
    pub fn spend(&mut self, facts: &Facts) {
        self.steps += u64::from(facts.steps);
        for (kind, amount) in &facts.amounts {
            let (kind, amount) = (usize::from(*kind), u64::from(*amount));
            if let (Some(added), Some(left)) = (self.added.get_mut(kind), self.left.get_mut(kind)) {
                *added += amount;
                // What nobody limits has all the room there is.
                *left = left.saturating_sub(amount);
            }
        }
    }

    /// How many instructions ran.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What was added, by number.
    pub fn added(&self) -> impl Iterator<Item = (u16, u64)> {
        (0u16..).zip(&self.added).filter(|(_, added)| **added != 0).map(|(kind, added)| (kind, *added))
    }
}
