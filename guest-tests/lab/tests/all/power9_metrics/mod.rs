//! Metrics of POWER9 that are computed from live counts of programs, and compared with what the programs did.
//!
//! The metrics of the guide's chapter 5 are also those of `perf` for POWER9's core; those of chapter 6 and `perf`'s own of the nest are
//! computed from what chips have posted.

mod loads;
mod nest;
mod program;

use std::collections::BTreeMap;

use vm_pmu::arch::event::{Metric, POWER9_METRICS};
use vm_pmu_lab::metrics::evaluate;

/// The metric of this name.
fn metric(name: &str) -> &'static Metric {
    POWER9_METRICS.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("there is no metric {name}"))
}

/// Checks metrics that are computed from `counts` and from what is given besides.
fn check(counts: &BTreeMap<&'static str, u64>, given: &[(&str, f64)], right: &[(&str, f64)]) {
    let known = |name: &str| {
        let given = given.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        given.or_else(|| counts.get(name).map(|count| *count as f64))
    };
    let wrong: Vec<String> = right
        .iter()
        .filter_map(|(name, right)| match evaluate(metric(name), POWER9_METRICS, &known) {
            Ok(value) if (value - right).abs() <= 1e-9 * right.abs() => None,
            found => Some(format!("{name}: {found:?}, not {right}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}\nof {counts:?}", wrong.join("\n"));
}
