//! PMC0: freezing, and which counters overflowed.

/// The state of PMC0: bit 0 freezes every monitor, bit n says that PMDn overflowed.
///
/// Itanium Architecture Software Developer's Manual, volume 2, section 7.2.2; Montecito manual, Table 3-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overflow(u64);

/// The freeze bit, fr.
const FREEZE: u64 = 1;

impl Overflow {
    /// The register with those bits of `value` that it keeps: fr and those in `counters`.
    #[must_use]
    pub const fn written(value: u64, counters: u64) -> Overflow {
        Overflow(value & (FREEZE | counters))
    }

    /// The register's bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// fr, bit 0: nothing is counted or captured.
    #[must_use]
    #[inline]
    pub const fn is_frozen(self) -> bool {
        self.0 & FREEZE != 0
    }

    /// Sets fr.
    pub(crate) fn freeze(&mut self) {
        self.0 |= FREEZE;
    }

    /// PMD`number` has overflowed.
    pub(crate) fn set(&mut self, number: usize) {
        self.0 |= 1 << (number & 63);
    }
}
