//! Reads the metrics and the groups of events of `events/*/`, checks them, writes `metrics.rs`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::catalogue::{description, files_with, folders};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metrics {
    pmu: String,
    #[serde(rename = "metric")]
    metrics: Vec<Metric>,
    #[serde(default, rename = "replacement")]
    replacements: Vec<Replacement>,
}

/// A name that formulas took over from an earlier part.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replacement {
    name: String,
    /// The metrics in whose formulas it is replaced; every one that lists the name as missing, if none is named.
    #[serde(default)]
    within: Vec<String>,
    formula: String,
    evidence: String,
}

impl Replacement {
    fn is_in(&self, metric: &Metric) -> bool {
        if self.within.is_empty() { metric.missing.contains(&self.name) } else { self.within.contains(&metric.name) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    name: String,
    #[serde(default)]
    categories: Vec<String>,
    table: String,
    unit: String,
    formula: String,
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    given: Vec<String>,
    summary: String,
}

/// The names in a data file of events.
#[derive(Deserialize)]
struct Events {
    #[serde(rename = "event")]
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    name: String,
    #[serde(default, rename = "mask")]
    masks: Vec<Mask>,
}

#[derive(Deserialize)]
struct Mask {
    name: String,
}

impl Events {
    /// What a formula can name: an event, or a unit mask of one, as `EVENT.MASK`.
    fn names(&self) -> BTreeSet<String> {
        let masks = |event: &Event| event.masks.iter().map(|mask| format!("{}.{}", event.name, mask.name)).collect::<Vec<_>>();
        self.events.iter().flat_map(|event| std::iter::once(event.name.clone()).chain(masks(event))).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    pmu: String,
    table: String,
    #[serde(rename = "group")]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    number: u32,
    name: String,
    codes: [u64; 4],
    events: [String; 4],
}

/// Generates the tables of every PMU that has a folder.
pub(crate) fn generate() -> Result<(), String> {
    let folders = folders()?;
    let mut out = String::new();
    let mut arms = String::new();
    for folder in &folders {
        if let Some(metrics) = metrics_in(folder)? {
            let mut events: Events =
                read(&folder.with_file_name(format!("{}.toml", metrics.pmu)))?.ok_or("metrics of a PMU without events")?;
            for (name, text) in files_with(folder, "event")? {
                events.events.extend(toml::from_str::<Events>(&text).map_err(|error| format!("{name}: {error}"))?.events);
            }
            write_metrics(&mut out, &metrics, &events.names())?;
            writeln!(arms, "        {:?} => {}_METRICS,", metrics.pmu, metrics.pmu.to_uppercase()).map_err(|error| error.to_string())?;
        }
        if let Some(groups) = read::<Groups>(&folder.join("groups.toml"))? {
            write_groups(&mut out, &groups)?;
        }
    }
    writeln!(
        out,
        "/// The metrics of the PMU called `pmu`; nothing where its manual has none.\n\
         #[allow(clippy::match_single_binding, reason = \"no part of this build may have any\")]\n\
         pub(super) fn metrics_of(pmu: &str) -> &'static [Metric] {{\n    match pmu {{\n{arms}        _ => &[],\n    }}\n}}"
    )
    .map_err(|error| error.to_string())?;
    let target = Path::new(&env::var("OUT_DIR").map_err(|error| error.to_string())?).join("metrics.rs");
    fs::write(&target, out).map_err(|error| error.to_string())
}

/// The metrics of all files of a folder, in the order of their names; nothing where none has any.
fn metrics_in(folder: &Path) -> Result<Option<Metrics>, String> {
    let mut all: Option<Metrics> = None;
    for (name, text) in files_with(folder, "metric")? {
        let file: Metrics = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        match &mut all {
            None => all = Some(file),
            Some(all) if all.pmu == file.pmu => {
                all.metrics.extend(file.metrics);
                all.replacements.extend(file.replacements);
            }
            Some(all) => return Err(format!("{name}: its metrics are of {}, not of {}", file.pmu, all.pmu)),
        }
    }
    Ok(all)
}

/// The file, if there is one.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map(Some).map_err(|error| format!("{}: {error}", path.display()))
}

fn write_metrics(out: &mut String, file: &Metrics, events: &BTreeSet<String>) -> Result<(), String> {
    let names: BTreeSet<&str> = file.metrics.iter().map(|metric| metric.name.as_str()).collect();
    if names.len() != file.metrics.len() {
        return Err("two metrics have one name".into());
    }
    check_order(&file.metrics)?;
    for replacement in &file.replacements {
        check_replacement(replacement, &file.metrics, events).map_err(|error| format!("{}: {error}", replacement.name))?;
    }
    let mut entries = String::new();
    for metric in &file.metrics {
        check_metric(metric, &names, events).map_err(|error| format!("{}: {error}", metric.name))?;
        let replacements: Vec<&Replacement> = file.replacements.iter().filter(|replacement| replacement.is_in(metric)).collect();
        let is_replaced = |name: &str| replacements.iter().any(|replacement| replacement.name == name);
        let missing: Vec<&String> = metric.missing.iter().filter(|name| !is_replaced(name)).collect();
        let replaced: String = replacements
            .iter()
            .map(|one| format!("Replacement {{ name: {:?}, formula: {:?}, evidence: {:?} }}, ", one.name, one.formula, one.evidence))
            .collect();
        writeln!(
            entries,
            "    Metric {{ name: {:?}, categories: &{:?}, table: {:?}, unit: {:?}, formula: {:?}, missing: &{missing:?}, \
             replaced: &[{replaced}], given: &{:?}, summary: {:?} }},",
            metric.name,
            metric.categories,
            metric.table,
            metric.unit,
            metric.formula,
            metric.given,
            description(&metric.summary)
        )
        .map_err(|error| error.to_string())?;
    }
    let constant = file.pmu.to_uppercase();
    writeln!(
        out,
        "/// The metrics of {}, in the order of its manual.\npub static {constant}_METRICS: &[Metric] = &[\n{entries}];",
        file.pmu
    )
    .map_err(|error| error.to_string())
}

fn check_metric(metric: &Metric, names: &BTreeSet<&str>, events: &BTreeSet<String>) -> Result<(), String> {
    let used: BTreeSet<&str> = identifiers(&metric.formula).collect();
    if let Some(odd) = metric.missing.iter().chain(&metric.given).find(|name| !used.contains(name.as_str())) {
        return Err(format!("{odd} is not in the formula"));
    }
    if let Some(odd) = metric.missing.iter().find(|name| events.contains(*name) || names.contains(name.as_str())) {
        return Err(format!("{odd} is an event or a metric, and not missing"));
    }
    let is_listed = |name: &str| metric.given.iter().chain(&metric.missing).any(|given| given == name);
    let is_explained = |name: &str| events.contains(name) || names.contains(name) || is_listed(name);
    if let Some(odd) = used.iter().find(|name| !is_explained(name)) {
        return Err(format!("{odd} is no event, no metric and neither given nor missing"));
    }
    if metric.formula.contains(|letter: char| !(letter.is_ascii_alphanumeric() || "_.+-*/() ".contains(letter))) {
        return Err("a formula has names, whole numbers, + - * / and brackets".into());
    }
    if metric.summary.is_empty() || !metric.summary.ends_with('.') {
        return Err("a summary is a sentence".into());
    }
    Ok(())
}

fn check_replacement(replacement: &Replacement, metrics: &[Metric], events: &BTreeSet<String>) -> Result<(), String> {
    let found: Vec<&Metric> = metrics.iter().filter(|metric| replacement.is_in(metric)).collect();
    if found.is_empty() || found.len() < replacement.within.len() {
        return Err("a metric in which it is replaced is not there".into());
    }
    if let Some(metric) = found.iter().find(|metric| identifiers(&metric.formula).all(|name| name != replacement.name)) {
        return Err(format!("it is not in the formula of {}", metric.name));
    }
    let is_event = |name: &str| events.contains(name.strip_suffix(".EDGES").unwrap_or(name));
    if let Some(odd) = identifiers(&replacement.formula).find(|name| !is_event(name)) {
        return Err(format!("it is read as {odd}, which is no event"));
    }
    if replacement.evidence.is_empty() || !replacement.evidence.ends_with('.') {
        return Err("evidence is a sentence".into());
    }
    Ok(())
}

/// No metric may need itself, by whatever way.
fn check_order(metrics: &[Metric]) -> Result<(), String> {
    let mut waiting: Vec<&Metric> = metrics.iter().collect();
    loop {
        let names: BTreeSet<&str> = waiting.iter().map(|metric| metric.name.as_str()).collect();
        let before = waiting.len();
        waiting.retain(|metric| identifiers(&metric.formula).any(|name| names.contains(name)));
        match waiting.first() {
            None => return Ok(()),
            Some(metric) if waiting.len() == before => return Err(format!("{}: the formula needs itself", metric.name)),
            Some(_) => {}
        }
    }
}

/// The names in a formula.
fn identifiers(formula: &str) -> impl Iterator<Item = &str> {
    formula
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || "_.".contains(letter)))
        .filter(|word| word.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

fn write_groups(out: &mut String, file: &Groups) -> Result<(), String> {
    let mut entries = String::new();
    for (group, number) in file.groups.iter().zip(0u32..) {
        if group.number != number {
            return Err(format!("group {} stands where {number} should", group.number));
        }
        for (code, place) in group.codes.iter().zip(1u64..) {
            let pmc = code >> 16 & 7;
            if pmc != 0 && pmc != place {
                return Err(format!("group {number}: {code:#x} at the place of PMC{place}"));
            }
        }
        writeln!(
            entries,
            "    Group {{ number: {}, name: {:?}, codes: {:?}, events: {:?} }},",
            group.number, group.name, group.codes, group.events
        )
        .map_err(|error| error.to_string())?;
    }
    writeln!(
        out,
        "/// The groups of events of {}: table {} of its manual.\npub static {}_GROUPS: &[Group] = &[\n{entries}];",
        file.pmu,
        file.table,
        file.pmu.to_uppercase()
    )
    .map_err(|error| error.to_string())
}
