//! The clocks of the three domains, derived from the nest's.

use super::unit::ClockDomain;

/// How fast the clocks are, in hertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frequencies {
    /// The SMP interconnect's: 1.6 to 2.4 GHz (table 6-1).
    pub nest: u64,
    /// The host bridges': 2 GHz.
    pub host_bridge: u64,
    /// The memory modules': half of their data rate.
    pub memory: u64,
}

impl Frequencies {
    /// The frequency of a domain.
    #[must_use]
    pub const fn of(&self, domain: ClockDomain) -> u64 {
        match domain {
            ClockDomain::Nest => self.nest,
            ClockDomain::HostBridge => self.host_bridge,
            ClockDomain::Memory => self.memory,
        }
    }
}

impl Default for Frequencies {
    /// 2 GHz, 2 GHz and the 1.333 GHz of DDR4-2667.
    fn default() -> Self {
        Frequencies { nest: 2_000_000_000, host_bridge: 2_000_000_000, memory: 1_333_333_333 }
    }
}

/// The counts of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clocks {
    /// How fast they are.
    pub frequencies: Frequencies,
    /// Clocks of the nest.
    pub nest: u64,
    /// Clocks of the host bridges.
    pub host_bridge: u64,
    /// Clocks of the memory modules.
    pub memory: u64,
    /// What is left of the last division for host bridges and memory.
    pub rest: [u64; 2],
}

impl Clocks {
    pub(super) const fn new(frequencies: Frequencies) -> Clocks {
        Clocks { frequencies, nest: 0, host_bridge: 0, memory: 0, rest: [0; 2] }
    }

    pub(super) const fn total(&self, domain: ClockDomain) -> u64 {
        match domain {
            ClockDomain::Nest => self.nest,
            ClockDomain::HostBridge => self.host_bridge,
            ClockDomain::Memory => self.memory,
        }
    }

    /// Advances the nest's clock by `cycles`, and the others in proportion. No fraction is lost.
    pub(super) fn advance(&mut self, cycles: u64) {
        let [bridge_rest, memory_rest] = &mut self.rest;
        let Frequencies { nest, host_bridge, memory } = self.frequencies;
        self.nest = self.nest.wrapping_add(cycles);
        self.host_bridge = self.host_bridge.wrapping_add(scaled(cycles, host_bridge, nest, bridge_rest));
        self.memory = self.memory.wrapping_add(scaled(cycles, memory, nest, memory_rest));
    }
}

/// `cycles` of a clock of `base` hertz in those of one of `frequency` hertz. A clock without a frequency counts as one of a hertz.
fn scaled(cycles: u64, frequency: u64, base: u64, rest: &mut u64) -> u64 {
    let base = u128::from(base.max(1));
    let product = u128::from(cycles) * u128::from(frequency) + u128::from(*rest);
    *rest = (product % base) as u64;
    (product / base) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_clock_are_kept() {
        let mut clocks = Clocks::new(Frequencies { nest: 3, host_bridge: 2, memory: 1 });
        for _ in 0..3 {
            clocks.advance(1);
        }
        assert_eq!((clocks.nest, clocks.host_bridge, clocks.memory), (3, 2, 1));
    }

    #[test]
    fn however_many_cycles_go_by_at_once_the_clocks_come_equally_far() {
        let frequencies = Frequencies::default();
        let (mut slow, mut fast) = (Clocks::new(frequencies), Clocks::new(frequencies));
        for cycles in [1, 7, 1_000_000, 999_999_999_999] {
            slow.advance(cycles);
        }
        fast.advance(1 + 7 + 1_000_000 + 999_999_999_999);
        assert_eq!(slow, fast);
    }
}
