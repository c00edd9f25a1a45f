//! What a run of a guest showed, whatever engine ran it.

use serde::Serialize;
use vm_pmu::Part;
use vm_pmu::recording::Recording;

use crate::hints::{Delivered, Hint};
use crate::symbols::{Place, Symbols};
pub use vm_pmu_board::report::{Action, Count, Interrupts, Posted, Trace};
pub use vm_pmu_guests::protocol::{Check, Sample};

/// One run of one guest.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The guest's name, or the path of its file.
    pub guest: String,
    /// The PMU's name.
    pub pmu: String,
    /// The engine's name.
    pub engine: String,
    /// What the companion made: `events`, `events and time`, or nothing if it was `off`.
    pub companion: String,
    /// Whether the guest ended by itself with status 0 and every check of its own passed.
    pub passed: bool,
    /// How the run ended, in one line.
    pub ending: String,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Cycles of the time-stamp counter that all threads ran or were halted for, where it is not known what they executed. Then there are
    /// no instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Where each thread was at the end, unless the guest ended by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
    /// What lies at the addresses of positions, accesses, interrupts and samples, as far as the guest's file says it; by address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Located>,
    /// What the guest wrote to its console.
    pub console: String,
    /// What the guest checked.
    pub checks: Vec<Check>,
    /// What was counted, over the whole run.
    pub counts: Vec<Count>,
    /// What chips have posted into memory, where there are such: whatever the cells hold at the end that is not zero.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<Posted>,
    /// Interrupts and event-based branches that counters asked for.
    pub interrupts: Vec<Interrupts>,
    /// Those that were taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delivered: Vec<Delivered>,
    /// What somebody would remark who reads how the guest used its PMU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// The first register accesses and interrupts, as many as were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Trace>,
    /// What was done with the PMUs, if that was recorded.
    #[serde(skip)]
    pub recording: Option<Recording>,
    /// Where samples fell, if the guest took any.
    pub samples: Vec<Sample>,
    /// The registers at the end.
    pub registers: Vec<Register>,
}

impl Report {
    /// Says what lies at the addresses that the report has.
    pub fn locate(&mut self, symbols: &Symbols) {
        let positions = self.positions.iter().map(|position| position.address);
        let traced = self.trace.iter().map(|one| one.address);
        let sampled = self.samples.iter().map(|sample| sample.address);
        let storms = self.delivered.iter().filter_map(|one| one.storm).flat_map(|storm| [storm.interrupted, storm.returned]);
        let mut addresses: Vec<u64> = positions.chain(traced).chain(sampled).chain(storms).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let located = |address| symbols.at(address).map(|place| Located { address, place });
        self.places = addresses.into_iter().filter_map(located).collect();
    }

    /// Storms of interrupts, and what somebody would remark who reads how the guest used its PMU: a line each, with the manual's section.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let Some(part) = Part::named(&self.pmu) else { return Vec::new() };
        let storms = self.delivered.iter().filter_map(|one| one.told(part, |address| self.place(address)));
        storms.chain(self.hints.iter().map(|hint| format!("{} ({})", hint.text, hint.section))).collect()
    }

    /// What lies at an address, if the report says it.
    #[must_use]
    pub fn place(&self, address: u64) -> Option<&Place> {
        let index = self.places.binary_search_by_key(&address, |located| located.address).ok()?;
        self.places.get(index).map(|located| &located.place)
    }
}

/// Where a thread was when the run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The hardware thread.
    pub thread: usize,
    /// The address of its next instruction, or of the one that stopped it.
    pub address: u64,
}

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The address.
    pub address: u64,
    /// The symbol and the line.
    #[serde(flatten)]
    pub place: Place,
}

/// A register at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// The hardware thread.
    pub thread: usize,
    /// The manual's name.
    pub name: String,
    /// Its value.
    pub value: u64,
}
