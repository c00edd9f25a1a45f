//! Which events are counted together, when four counters are not enough for all.

use std::collections::BTreeSet;

use vm_pmu::arch::event::Metric;
use vm_pmu::arch::power9::encode::{Encoding, EventCode, Options, PROGRAMMABLE, RUN_CYCLES, RUN_INSTRUCTIONS, Refusal, encode};

use super::Leaves;

/// A code that is counted in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The code.
    pub code: EventCode,
    /// The event whose count it gives; nothing if it is there for the sake of another, to steer the bus of the caches.
    pub event: Option<&'static str>,
}

/// What is counted in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The codes.
    pub counted: Vec<Counted>,
}

impl Run {
    /// The codes, in the order of `counted`.
    #[must_use]
    pub fn codes(&self) -> Vec<EventCode> {
        self.counted.iter().map(|counted| counted.code).collect()
    }

    /// The registers that count them, which a run of a plan always has.
    ///
    /// # Errors
    /// The codes cannot be counted together.
    pub fn encoding(&self, options: Options) -> Result<Encoding, Refusal> {
        encode(&self.codes(), options)
    }

    /// The run with `event` too, by its code `code`, if it fits.
    fn with(&self, event: &'static str, code: EventCode) -> Option<Run> {
        let mut run = self.clone();
        // What is there to steer the bus may be wanted for itself.
        if let Some(counted) = run.counted.iter_mut().find(|counted| counted.code == code && counted.event.is_none()) {
            counted.event = Some(event);
            return Some(run);
        }
        run.counted.push(Counted { code, event: Some(event) });
        if let Err(Refusal::CacheNeedsPmc4 { .. }) = run.encoding(Options::default()) {
            run.counted.push(Counted { code: code.selection().on_counter(4), event: None });
        }
        run.encoding(Options::default()).is_ok().then_some(run)
    }
}

/// The runs that count what metrics need: a guest that does the same every time is run once for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The runs. Run instructions and run cycles, if they are needed, are in each: they cost no counter, and they show whether the
    /// runs were alike.
    pub runs: Vec<Run>,
    /// Events that are needed and have no code, or none that can be counted.
    pub uncounted: Vec<&'static str>,
}

/// Plans runs for `metrics`, whose formulas name metrics of `table`; `codes_of` gives the codes of an event, any of which will do.
///
/// A metric that names a missing event is left out: no count gives it a value. Each event goes to the first run that has room for it,
/// those with least choice first, which is near the least number of runs.
#[must_use]
pub fn plan(metrics: &[&Metric], table: &[Metric], codes_of: &dyn Fn(&str) -> Vec<EventCode>) -> Plan {
    let mut needed = needed(metrics, table);
    let fixed: Vec<Counted> = [("PM_RUN_INST_CMPL", RUN_INSTRUCTIONS), ("PM_RUN_CYC", RUN_CYCLES)]
        .into_iter()
        .filter(|(name, _)| needed.remove(name))
        .map(|(name, code)| Counted { code, event: Some(name) })
        .collect();
    let mut choices: Vec<(&'static str, Vec<EventCode>)> = needed.into_iter().map(|name| (name, codes_of(name))).collect();
    choices.sort_by_cached_key(|(name, codes)| (codes.iter().map(|code| freedom(*code)).sum::<usize>(), *name));
    let mut plan = Plan::default();
    for (name, codes) in choices {
        if !join(&mut plan.runs, &fixed, name, &codes) {
            plan.uncounted.push(name);
        }
    }
    if plan.runs.is_empty() && !fixed.is_empty() {
        plan.runs.push(Run { counted: fixed });
    }
    plan
}

/// The events that `metrics` need, whose formulas name metrics of `table`; nothing for a metric that names a missing event.
pub(super) fn needed(metrics: &[&Metric], table: &[Metric]) -> BTreeSet<&'static str> {
    let leaves = metrics.iter().map(|metric| Leaves::of(metric, table)).filter(|leaves| leaves.missing.is_empty());
    leaves.flat_map(|leaves| leaves.events).collect()
}

/// How many counters a code may go to; the fewer, the more that has to go with it.
fn freedom(code: EventCode) -> usize {
    if code.is_cache() || code.is_mmu() {
        0
    } else if code.pmc() == 0 {
        PROGRAMMABLE
    } else {
        1
    }
}

/// Adds an event to the first run that has room for one of its codes, or to a new one.
fn join(runs: &mut Vec<Run>, fixed: &[Counted], name: &'static str, codes: &[EventCode]) -> bool {
    for run in runs.iter_mut() {
        if let Some(with) = codes.iter().find_map(|code| run.with(name, *code)) {
            *run = with;
            return true;
        }
    }
    let empty = Run { counted: fixed.to_vec() };
    let alone = codes.iter().find_map(|code| empty.with(name, *code));
    let is_counted = alone.is_some();
    runs.extend(alone);
    is_counted
}
