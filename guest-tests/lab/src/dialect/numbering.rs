//! How a manual counts the bits of a register.

/// Which bit is bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// The least significant one; fields are printed from their highest bit to their lowest.
    FromLeast,
    /// The most significant one of 64; fields are printed from that end too.
    FromMost,
}

impl Numbering {
    /// The manual's number of the bit of weight 2^`bit`.
    ///
    /// ```
    /// use vm_pmu_lab::dialect::Numbering;
    ///
    /// assert_eq!((Numbering::FromLeast.bit(63), Numbering::FromMost.bit(63)), (63, 0));
    /// ```
    #[must_use]
    pub fn bit(self, bit: u8) -> u8 {
        match self {
            Numbering::FromLeast => bit,
            Numbering::FromMost => 63u8.saturating_sub(bit),
        }
    }

    /// The bits of a field from the one of weight 2^`high` to that of 2^`low`, as the manual prints them.
    ///
    /// ```
    /// use vm_pmu_lab::dialect::Numbering;
    ///
    /// assert_eq!(Numbering::FromLeast.field(15, 8), "15..8");
    /// assert_eq!(Numbering::FromMost.field(15, 8), "48:55");
    /// ```
    #[must_use]
    pub fn field(self, high: u8, low: u8) -> String {
        match self {
            _ if high == low => self.bit(high).to_string(),
            Numbering::FromLeast => format!("{high}..{low}"),
            Numbering::FromMost => format!("{}:{}", self.bit(high), self.bit(low)),
        }
    }
}
