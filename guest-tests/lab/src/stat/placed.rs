//! Events of metrics that have been placed on counters, counted from outside.

use std::sync::Arc;

use vm_pmu::Part;
use vm_pmu::arch::knl::untile::UnitId;
use vm_pmu_board::beside::{Found, Plan};

use super::group::set_up;
use crate::dialect::program;
use crate::error::Error;
use crate::metrics::Placed;
use crate::report::Report;

/// Runs a guest with `plan`.
type Observe<'a> = &'a dyn Fn(&Arc<Plan>) -> Result<(Report, Vec<Found>), String>;

/// Counts a run of placed events. Of an event of boxes the counts of every box of its unit are added up.
pub(crate) fn count(part: Part, run: &[Placed], observe: Observe<'_>) -> Result<(Report, Vec<u64>), String> {
    let mut texts: Vec<String> = Vec::new();
    let mut owners: Vec<usize> = Vec::new();
    for (index, placed) in run.iter().enumerate() {
        let these = events(part, placed);
        owners.extend(these.iter().map(|_| index));
        texts.extend(these);
    }
    let said = |error: Error| match error {
        Error::Usage(line) => line,
        Error::Output(error) => error.to_string(),
    };
    let programmings = program(part, &texts).map_err(said)?;
    let group = set_up(part, &texts.iter().collect::<Vec<_>>(), &programmings);
    let (report, found) = observe(&Arc::new(Plan::Count(group)))?;
    let mut counts = vec![0; run.len()];
    for thread in &found {
        for (owner, count) in owners.iter().zip(thread.counts.first().into_iter().flatten()) {
            if let Some(sum) = counts.get_mut(*owner) {
                *sum += count;
            }
        }
    }
    Ok((report, counts))
}

/// A placed event as `encode` takes it: on its counter, and in every box of its unit.
fn events(part: Part, placed: &Placed) -> Vec<String> {
    let entry = placed.entry;
    let is_of = |unit: &UnitId| unit.kind().unit() == entry.unit;
    let boxes: Vec<UnitId> = match part {
        Part::Knl(_) => UnitId::all().filter(is_of).collect(),
        _ => Vec::new(),
    };
    if boxes.is_empty() {
        // A fixed counter is chosen by its event.
        let is_fixed = matches!(part, Part::Knl(_)) && placed.counter >= vm_pmu::arch::knl::GENERAL as u32;
        return vec![if is_fixed { entry.name.to_owned() } else { format!("{}:pmc={}", entry.name, placed.counter) }];
    }
    boxes.iter().map(|unit| format!("{unit}::{}:pmc={}", entry.name, placed.counter)).collect()
}
