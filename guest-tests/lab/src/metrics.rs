//! Metrics: what is computed from counts, and which counts that takes.
//!
//! [`chosen`] finds metrics by name or category, [`plan()`] says which events to count in which run, [`compute`] makes the numbers of the
//! counts and [`table`] shows them.

mod counts;
mod formula;
mod placed;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use vm_pmu::arch::event::{Metric, Replacement};

use crate::error::Error;
use crate::output::Output;
use crate::{number, suggest, text};
pub use counts::Counts;
pub use placed::{Placed, Placement, place};
pub use plan::{Counted, Plan, Run, plan};

/// What a count or a given quantity is, by its name in formulas; nothing for what is not known.
pub type Known<'a> = &'a dyn Fn(&str) -> Option<f64>;

/// Why a metric has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// The part has no such events, whatever is counted.
    NoSuchEvents(Vec<&'static str>),
    /// These were not counted, or are not known otherwise.
    NotKnown(Vec<&'static str>),
    /// A formula divides by what is zero.
    DividesByZero,
}

impl std::fmt::Display for NoValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoValue::NoSuchEvents(names) => write!(formatter, "the part has no {}", names.join(", ")),
            NoValue::NotKnown(names) => write!(formatter, "not counted: {}", names.join(", ")),
            NoValue::DividesByZero => write!(formatter, "divides by zero"),
        }
    }
}

/// A metric and what came of it, in the form that programs read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Computed {
    /// The name of the metric.
    pub name: &'static str,
    /// The value, if it has one.
    pub value: Option<f64>,
    /// The unit of the value.
    pub unit: &'static str,
    /// Why it has no value.
    pub no_value: Option<String>,
    /// Names of an earlier part in its formula, and those of metrics that it names, that are read as something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
    /// What it says.
    pub summary: &'static str,
}

/// A name that is read as something else, in the form that programs read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replaced {
    /// The name that the manual prints.
    pub name: &'static str,
    /// What it is read as.
    pub read_as: &'static str,
    /// Why it may be.
    pub evidence: &'static str,
}

impl Replaced {
    pub(crate) fn of(replacement: &Replacement) -> Replaced {
        Replaced { name: replacement.name, read_as: replacement.formula, evidence: replacement.evidence }
    }
}

impl std::fmt::Display for Replaced {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.read_as {
            "0" => write!(formatter, "{} left out", self.name),
            read_as => write!(formatter, "{} read as {read_as}", self.name),
        }
    }
}

/// The names that computing a metric comes down to, through the metrics that its formula names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// The events.
    pub events: BTreeSet<&'static str>,
    /// Names that have the form of an event and are not one of the part's.
    pub missing: BTreeSet<&'static str>,
    /// What is no event and has to be known.
    pub given: BTreeSet<&'static str>,
    /// Names that are read as something else, and as what.
    pub replaced: BTreeMap<&'static str, &'static Replacement>,
}

impl Leaves {
    /// The leaves of `metric`, whose formula names metrics of `table`.
    #[must_use]
    pub fn of(metric: &Metric, table: &[Metric]) -> Leaves {
        let mut leaves = Leaves::default();
        leaves.gather(metric, table, &mut BTreeSet::new());
        leaves
    }

    fn gather(&mut self, metric: &Metric, table: &[Metric], visited: &mut BTreeSet<&'static str>) {
        if !visited.insert(metric.name) {
            return;
        }
        for name in metric.names() {
            if let Some(replacement) = replacement(metric, name) {
                self.replaced.insert(name, replacement);
                self.events.extend(replacement.names());
            } else if metric.missing.contains(&name) {
                self.missing.insert(name);
            } else if metric.given.contains(&name) {
                self.given.insert(name);
            } else if let Some(other) = table.iter().find(|other| other.name == name) {
                self.gather(other, table, visited);
            } else {
                self.events.insert(name);
            }
        }
    }
}

/// What `name` is read as in the formula of `metric`.
fn replacement(metric: &Metric, name: &str) -> Option<&'static Replacement> {
    metric.replaced.iter().find(|replacement| replacement.name == name)
}

/// The metrics of `table` that a word names: a metric or a category, whatever the case, or `all` for every one without a missing event.
///
/// # Errors
/// Nothing is called that.
pub fn chosen<'a>(word: &str, table: &'a [Metric]) -> Result<Vec<&'a Metric>, Error> {
    if word.eq_ignore_ascii_case("all") {
        return Ok(table.iter().filter(|metric| Leaves::of(metric, table).missing.is_empty()).collect());
    }
    let plain = word.trim_end_matches("(%)").trim_end();
    let is_chosen = |metric: &&Metric| {
        metric.name.eq_ignore_ascii_case(plain) || metric.categories.iter().any(|category| category.eq_ignore_ascii_case(word))
    };
    let found: Vec<&Metric> = table.iter().filter(is_chosen).collect();
    if found.is_empty() {
        let names = table.iter().flat_map(|metric| metric.categories.iter().copied().chain([metric.name]));
        return Err(Error::usage(format!(
            "no metric and no category of metrics is called `{word}`{}",
            suggest::did_you_mean(plain, names, "")
        )));
    }
    Ok(found)
}

/// The value of `metric`, whose formula names metrics of `table`.
///
/// # Errors
/// Why it has none.
pub fn evaluate(metric: &Metric, table: &[Metric], known: Known<'_>) -> Result<f64, NoValue> {
    let leaves = Leaves::of(metric, table);
    if !leaves.missing.is_empty() {
        return Err(NoValue::NoSuchEvents(leaves.missing.into_iter().collect()));
    }
    let unknown: Vec<&str> = leaves.events.union(&leaves.given).copied().filter(|name| known(name).is_none()).collect();
    if !unknown.is_empty() {
        return Err(NoValue::NotKnown(unknown));
    }
    Ok(value(metric, table, known)).and_then(|value| if value.is_finite() { Ok(value) } else { Err(NoValue::DividesByZero) })
}

/// The value of `metric`, of which everything is known; not a number where a formula divides by zero.
fn value(metric: &Metric, table: &[Metric], known: Known<'_>) -> f64 {
    let counted = |name: &str| known(name).unwrap_or(f64::NAN);
    formula::value(metric.formula, |name| match (replacement(metric, name), table.iter().find(|other| other.name == name)) {
        (Some(replacement), _) => formula::value(replacement.formula, counted),
        (None, Some(other)) => value(other, table, known),
        (None, None) => counted(name),
    })
}

/// The values of `metrics`, in their order.
#[must_use]
pub fn compute(metrics: &[&Metric], table: &[Metric], known: Known<'_>) -> Vec<Computed> {
    let one = |metric: &&Metric| {
        let value = evaluate(metric, table, known);
        Computed {
            name: metric.name,
            value: value.as_ref().ok().copied(),
            unit: metric.unit,
            no_value: value.err().map(|reason| reason.to_string()),
            replaced: Leaves::of(metric, table).replaced.into_values().map(Replaced::of).collect(),
            summary: metric.summary,
        }
    };
    metrics.iter().map(one).collect()
}

/// Shows metrics as a table: the value, its unit, the name and what it says, or why there is no value.
///
/// # Errors
/// The output cannot be written.
pub fn table(computed: &[Computed], output: &mut Output<'_>) -> Result<(), Error> {
    /// The least columns that are worth a column.
    const NARROW: usize = 32;
    if computed.is_empty() {
        return Ok(());
    }
    let values: Vec<String> = computed.iter().map(|one| one.value.map_or_else(|| "-".to_owned(), shown)).collect();
    let value = text::widest(values.iter().map(String::as_str)).max(12);
    let unit = text::widest(computed.iter().map(|one| one.unit)).max(4);
    let name = text::widest(computed.iter().map(|one| one.name)).max(6);
    let left = value + unit + name + 6;
    let (title, indent) = if left + NARROW <= output.width { ("what it says", left) } else { ("", value + unit + 6) };
    let head = format!("{:>value$}  {:<unit$}  {:<name$}  {title}", "value", "unit", "metric");
    writeln!(output, "\n{}", head.trim_end())?;
    for (one, value_text) in computed.iter().zip(&values) {
        let lead = format!("{value_text:>value$}  {:<unit$}  {:<name$}", one.unit, one.name);
        let mut says = one.no_value.as_deref().unwrap_or(one.summary).to_owned();
        if !one.replaced.is_empty() {
            let replaced: Vec<String> = one.replaced.iter().map(Replaced::to_string).collect();
            says = format!("{says} ({})", replaced.join("; "));
        }
        output.lines(text::hanging(&lead, indent, &says, output.width))?;
    }
    Ok(())
}

/// A value with three decimals, its digits in groups of three.
fn shown(value: f64) -> String {
    let text = format!("{value:.3}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    match digits.split_once('.').and_then(|(whole, rest)| Some((whole.parse::<u64>().ok()?, rest))) {
        Some((whole, rest)) => format!("{sign}{}.{rest}", number::grouped(whole)),
        None => text,
    }
}

#[cfg(test)]
mod tests;
