//! Events counted from outside: which of them go on the counters together, and what came of them.

mod counter;
mod group;
pub(crate) mod placed;
mod tally;

pub use counter::counter;
pub(crate) use group::set_up;
pub use group::{Event, Grouping, group};
pub use tally::{Measured, Tally, measure};

use vm_pmu::Part;

use crate::dialect::program;

/// The events that are counted where none are named: time, instructions, branches, mispredictions, and misses of caches.
#[must_use]
pub fn usual(part: Part) -> Vec<String> {
    let names: &[&str] = match part {
        Part::Itanium(_) => &["cycles", "instructions", "BRANCH_PREDICTOR.ALL.WRONG_PATH", "L2_MISSES", "L3_MISSES"],
        Part::Montecito(_) => &["cycles", "instructions", "BR_MISPRED_DETAIL.ALL.ALL_PRED", "L1D_READ_MISSES.ALL", "L3_MISSES"],
        _ => &["cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses"],
    };
    names.iter().filter(|name| program(part, &[**name]).is_ok()).map(|name| (*name).to_owned()).collect()
}
