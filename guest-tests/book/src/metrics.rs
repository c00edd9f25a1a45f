//! The pages of metrics and of groups.

use std::fmt::Write as _;
use std::path::PathBuf;

use vm_pmu::Part;
use vm_pmu::arch::event::{Catalogue, Group, Metric, POWER9_GROUPS, POWER9_METRICS};
use vm_pmu::arch::power9::encode::{EventCode, Options, encode};
use vm_pmu::arch::registry::NAMES;

use super::cell;

/// What the manual of each part computes from counts, a page a part.
pub(super) fn pages() -> impl Iterator<Item = (PathBuf, String)> {
    let parts = NAMES.iter().filter_map(|name| Part::named(name)).filter(|part| !part.catalogue().metrics().is_empty());
    parts.map(|part| {
        let introduction = match part {
            Part::Power9(_) => of_power9(),
            _ => of_any(part.catalogue()),
        };
        (PathBuf::from(format!("{}-metrics.md", part.name())), page(introduction, part.catalogue().metrics()))
    })
}

fn of_power9() -> String {
    let nest = POWER9_METRICS.iter().filter(|metric| metric.table.starts_with("6-")).count();
    let lacking = POWER9_METRICS.iter().filter(|metric| !metric.missing.is_empty()).count();
    let replacing = POWER9_METRICS.iter().filter(|metric| metric.missing.is_empty() && !metric.replaced.is_empty()).count();
    format!(
        "# Metrics of POWER9\n\nThe {} metrics of the User's Guide, section 5.14, and the {nest} of its nest, tables 6-2 to 6-9 with one for each \
         unit: each with its formula and the table that lists it. \
         Names in a formula are events, other metrics, or *given*: numbers that you supply. {lacking} formulas name events that the \
         part does not have, left over from an earlier one; they have no value, and the events are named. In {replacing} more such a name \
         is read as its successor; the row says so, and why.\n\n\
         [`pmulab metrics`](pmulab.md#metrics) computes them from counts, and shows which events to count together. Those of the nest are \
         computed from what is [posted into memory](power9-nest-events.md), each count multiplied by the unit in which it is posted, and from \
         given frequencies in hertz; bandwidths are in bytes per second.\n",
        POWER9_METRICS.len() - nest
    )
}

fn of_any(catalogue: &Catalogue) -> String {
    format!(
        "# Metrics of the {}\n\n{} metrics, each with its formula and where the formula is given. Names in a formula are events, unit \
         masks after a dot, and other metrics.\n\n[`pmulab metrics`](pmulab.md#metrics) computes them from counts, and shows which events \
         to count together.\n",
        catalogue.title,
        catalogue.metrics().len()
    )
}

/// The metrics by category, after an introduction.
fn page(introduction: String, metrics: &[Metric]) -> String {
    let mut page = introduction;
    let mut categories: Vec<&str> = Vec::new();
    for category in metrics.iter().flat_map(|metric| metric.categories) {
        if !categories.contains(category) {
            categories.push(category);
        }
    }
    for category in categories {
        let _ = write!(page, "\n## {category}\n");
        let members = metrics.iter().filter(|metric| metric.categories.first() == Some(&category));
        rows(members, &mut page);
        let also: Vec<String> = metrics
            .iter()
            .filter(|metric| metric.categories.iter().skip(1).any(|other| *other == category))
            .map(|metric| format!("`{}`", metric.name))
            .collect();
        if !also.is_empty() {
            let _ = write!(page, "\nAlso here: {}.\n", also.join(", "));
        }
    }
    let rest: Vec<&Metric> = metrics.iter().filter(|metric| metric.categories.is_empty()).collect();
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
        for replaced in metric.replaced {
            let _ = match replaced.formula {
                "0" => write!(summary, " `{}` is left out: {}", replaced.name, cell(replaced.evidence)),
                formula => write!(summary, " `{}` is read as `{}`: {}", replaced.name, cell(formula), cell(replaced.evidence)),
            };
        }
        if !metric.given.is_empty() {
            let _ = write!(summary, " Given: {}.", names(metric.given));
        }
        let _ = writeln!(page, "| `{}` | {} | `{}` | {summary} | {} |", metric.name, metric.unit, cell(metric.formula), metric.table);
    }
}

/// The groups of events that POWER9's guide counts together.
pub(super) fn groups() -> String {
    let mut page = format!(
        "# Groups of POWER9\n\nThe {} groups of Table 5-24: four events that are counted together, one on each of PMC1 to PMC4, with the \
         registers that count them. PMC5 and PMC6 count run instructions and run cycles with any group. Where MMCRA is not 0, the group \
         samples instructions.\n\n| group | name | on PMC1 to PMC4, in this order | MMCR1 | MMCRA |\n| ---: | --- | --- | --- | --- |\n",
        POWER9_GROUPS.len()
    );
    for group in POWER9_GROUPS {
        let events: Vec<String> = group.codes.iter().zip(group.events).map(|(code, name)| format!("{code:05X}h `{name}`")).collect();
        let _ = writeln!(page, "| {} | `{}` | {} | {} |", group.number, group.name, events.join("<br>"), registers(group));
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
