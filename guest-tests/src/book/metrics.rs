//! The pages of metrics and of groups.

use std::fmt::Write as _;

use vm_pmu::arch::event::{Group, Metric, POWER9_GROUPS, POWER9_METRICS};
use vm_pmu::arch::power9::encode::{EventCode, Options, encode};

use super::cell;

/// What POWER9's guide computes from counts.
pub(super) fn page() -> String {
    let lacking = POWER9_METRICS.iter().filter(|metric| !metric.missing.is_empty()).count();
    let mut page = format!(
        "# Metrics of POWER9\n\nThe {} metrics of the User's Guide, section 5.14: the table that files each, and what it is computed from. \
         Names in a formula are events, other metrics, or *given*: what whoever computes must know. {lacking} formulas name events that the \
         part does not have, left over from an earlier one; they have no value, and the events are named.\n\n\
         [`pmulab metrics`](pmulab.md#metrics) computes them from counts, and says which events to count together.\n",
        POWER9_METRICS.len()
    );
    let mut categories: Vec<&str> = Vec::new();
    for category in POWER9_METRICS.iter().flat_map(|metric| metric.categories) {
        if !categories.contains(category) {
            categories.push(category);
        }
    }
    for category in categories {
        let _ = write!(page, "\n## {category}\n");
        let members = POWER9_METRICS.iter().filter(|metric| metric.categories.first() == Some(&category));
        rows(members, &mut page);
        let also: Vec<String> = POWER9_METRICS
            .iter()
            .filter(|metric| metric.categories.iter().skip(1).any(|other| *other == category))
            .map(|metric| format!("`{}`", metric.name))
            .collect();
        if !also.is_empty() {
            let _ = write!(page, "\nAlso here: {}.\n", also.join(", "));
        }
    }
    let rest: Vec<&Metric> = POWER9_METRICS.iter().filter(|metric| metric.categories.is_empty()).collect();
    if !rest.is_empty() {
        page.push_str("\n## In the table of formulas only\n");
        rows(rest.into_iter(), &mut page);
    }
    page
}

fn rows<'a>(metrics: impl Iterator<Item = &'a Metric>, page: &mut String) {
    let mut is_first = true;
    for metric in metrics {
        if std::mem::take(&mut is_first) {
            page.push_str("\n| metric | unit | formula | what it says | table |\n| --- | --- | --- | --- | --- |\n");
        }
        let names = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let mut summary = cell(metric.summary);
        if !metric.missing.is_empty() {
            let _ = write!(summary, " **No value**: the part has no {}.", names(metric.missing));
        }
        if !metric.given.is_empty() {
            let _ = write!(summary, " Given: {}.", names(metric.given));
        }
        let _ = writeln!(page, "| `{}` | {} | `{}` | {summary} | {} |", metric.name, metric.unit, cell(metric.formula), metric.table);
    }
}

/// What POWER9's guide counts together.
pub(super) fn groups() -> String {
    let mut page = format!(
        "# Groups of POWER9\n\nThe {} groups of Table 5-24: four events that are counted together, one on each of PMC1 to PMC4, with the \
         registers that count them. PMC5 and PMC6 count run instructions and run cycles beside any group. Where MMCRA is not 0 something \
         is sampled.\n\n| group | name | PMC1 | PMC2 | PMC3 | PMC4 | MMCR1 | MMCRA |\n| ---: | --- | --- | --- | --- | --- | --- | --- |\n",
        POWER9_GROUPS.len()
    );
    for group in POWER9_GROUPS {
        let events: Vec<String> = group.codes.iter().zip(group.events).map(|(code, name)| format!("`{name}` {code:05X}h")).collect();
        let _ = writeln!(page, "| {} | `{}` | {} | {} |", group.number, group.name, events.join(" | "), registers(group));
    }
    page
}

/// MMCR1 and MMCRA of a group.
fn registers(group: &Group) -> String {
    let codes: Vec<EventCode> = (1u8..).zip(group.codes).map(|(pmc, code)| EventCode::from_bits(code).on_counter(pmc)).collect();
    match encode(&codes, Options::default()) {
        Ok(encoding) => format!("{:016X}h | {:X}h", encoding.mmcr1, encoding.mmcra),
        Err(refusal) => format!("{} | ", cell(&refusal.to_string())),
    }
}
