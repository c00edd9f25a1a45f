//! What the nest of a chip remembers.

use super::place::banks;
use super::totals::index_of;
use super::{Clocks, Engine, Nest, SETTINGS, Setting, TOTALS, Width};
use crate::power9::nest::{Availability, CELLS};

/// What the nest of a chip remembers, at any time. [`Totals::snapshot`](super::Totals::snapshot) is saved with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The home base in bytes.
    pub home: u64,
    /// The units that there are.
    pub availability: Availability,
    /// The cycles of the nest from slot to slot.
    pub slot_cycles: u64,
    /// The counts of the clocks.
    pub clocks: Clocks,
    /// The cycles to the next slot.
    pub until: u64,
    /// What the engine remembers.
    pub engine: Engine,
    /// How the PMUlets count, in the order of [`DEFAULT_BANKS`](super::DEFAULT_BANKS) and [`FLEXIBLE_BANKS`](super::FLEXIBLE_BANKS).
    #[cfg_attr(feature = "serde", serde(with = "crate::long_array"))]
    pub settings: [Setting; SETTINGS],
    /// For each counter, the total from which it counts.
    #[cfg_attr(feature = "serde", serde(with = "crate::long_array"))]
    pub bases: [u64; TOTALS],
    /// For each free-running counter, its last reading; all ones if that is not known.
    #[cfg_attr(feature = "serde", serde(with = "crate::long_array"))]
    pub readings: [u64; CELLS],
    /// What has not been added to memory yet.
    #[cfg_attr(feature = "serde", serde(with = "crate::long_array"))]
    pub pending: [u64; TOTALS],
}

impl State {
    /// Makes free-running counters count from power-on. States that were saved before they had a total from which they count say what their
    /// totals were at the last configuration.
    pub fn count_free_running_from_power_on(&mut self) {
        for bank in [false, true].into_iter().flat_map(banks).filter(|bank| bank.width != Width::Prescaled) {
            for counter in 0..bank.counters() {
                if let Some(base) = self.bases.get_mut(usize::from(index_of(bank.offset_of(counter)))) {
                    *base = 0;
                }
            }
        }
    }
}

impl Nest {
    /// What it remembers.
    #[must_use]
    pub fn state(&self) -> State {
        State {
            home: self.home,
            availability: self.availability,
            slot_cycles: self.slot_cycles,
            clocks: self.clocks,
            until: self.until,
            engine: self.engine,
            settings: self.settings,
            bases: self.bases,
            readings: self.readings,
            pending: self.pending,
        }
    }

    /// The nest that remembers `state`. Values that no nest could have are brought into range: a slot has at least one cycle and a number
    /// from 1 to 8.
    #[must_use]
    pub fn from_state(state: &State) -> Nest {
        let slot_cycles = state.slot_cycles.max(1);
        Nest {
            home: state.home,
            availability: state.availability,
            slot_cycles,
            clocks: state.clocks,
            until: state.until.clamp(1, slot_cycles),
            engine: Engine { slot: state.engine.slot.clamp(1, 8), bridges: state.engine.bridges.min(2), ..state.engine },
            settings: state.settings,
            bases: state.bases,
            readings: state.readings,
            pending: state.pending,
        }
    }
}
