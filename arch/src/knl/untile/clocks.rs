//! The untile's three clocks, side by side.

use super::boxes::Domain;

/// The counts of the three clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// UCLK, the untile's.
    pub uclk: u64,
    /// ECLK, MCDRAM's.
    pub eclk: u64,
    /// DCLK, the DDR memory's.
    pub dclk: u64,
}

impl Clocks {
    /// One of them.
    #[must_use]
    pub const fn of(&self, domain: Domain) -> u64 {
        match domain {
            Domain::Uclk => self.uclk,
            Domain::Eclk => self.eclk,
            Domain::Dclk => self.dclk,
        }
    }

    /// How far each has advanced since `before`; none runs backwards.
    pub(super) const fn since(&self, before: &Clocks) -> Clocks {
        Clocks {
            uclk: self.uclk.saturating_sub(before.uclk),
            eclk: self.eclk.saturating_sub(before.eclk),
            dclk: self.dclk.saturating_sub(before.dclk),
        }
    }

    /// Each advanced by `passed`.
    pub(super) const fn plus(&self, passed: &Clocks) -> Clocks {
        Clocks {
            uclk: self.uclk.saturating_add(passed.uclk),
            eclk: self.eclk.saturating_add(passed.eclk),
            dclk: self.dclk.saturating_add(passed.dclk),
        }
    }
}
