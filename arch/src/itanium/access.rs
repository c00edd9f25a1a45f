//! Who may read which data register.
//!
//! Itanium Architecture Software Developer's Manual, volume 2, section 7.2.1: a register that is no counter follows the field pm of the
//! configuration register that governs it.

use super::{Itanium, WIDTH};
use crate::ia64::{read_data, sign_extended};

impl Itanium {
    /// What a read of PMD`number` returns: its value, or zero where it is hidden.
    pub(super) fn visible_data(&self, number: u8) -> u64 {
        let value = match number {
            4..=7 => sign_extended(self.counters.count_of(usize::from(number)), WIDTH.bits()),
            _ => self.captures.read(number),
        };
        read_data(value, self.governor_is_privileged(number), &self.context)
    }

    /// The field pm of the PMC that governs PMD`number`.
    fn governor_is_privileged(&self, number: u8) -> bool {
        let configuration = &self.configuration;
        match number {
            4..=7 => configuration.counter(usize::from(number)).pm(),
            0 | 1 => configuration.pmc10.pm(),
            2 | 3 | 17 => configuration.pmc11.pm(),
            8..=16 => configuration.pmc12.pm(),
            _ => false,
        }
    }
}
