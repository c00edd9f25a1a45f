//! Who may read which data register (section 3.3.1).

use super::{Montecito, WIDTH};
use crate::ia64::{read_data, sign_extended};

impl Montecito {
    /// What a read of PMD`number` returns: its value, or zero where it is hidden.
    pub(super) fn visible_data(&self, number: u8) -> u64 {
        let value = match number {
            4..=15 => sign_extended(self.counters.count_of(usize::from(number)), WIDTH.bits()),
            _ => self.captures.read(number),
        };
        read_data(value, self.governor_is_privileged(number), &self.context)
    }

    /// The field pm of the PMC that governs PMD`number`.
    fn governor_is_privileged(&self, number: u8) -> bool {
        let configuration = &self.configuration;
        match number {
            4..=15 => configuration.counter(usize::from(number)).pm(),
            32 | 33 | 36 => configuration.pmc40.pm(),
            34 | 35 => configuration.pmc37.pm(),
            38 | 39 | 48..=63 if self.traces() => configuration.pmc39.pm(),
            38 | 39 | 48..=63 => configuration.pmc42.pm(),
            _ => false,
        }
    }
}
