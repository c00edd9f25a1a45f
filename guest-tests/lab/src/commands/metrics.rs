//! `pmulab metrics`, and the metrics of `pmulab run`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use vm_pmu::arch::event::{Catalogue, Metric};
use vm_pmu::arch::power9::encode::Options;
use vm_pmu::arch::power9::nest::{FLEXIBLE, Frequencies};
use vm_pmu::arch::registry::Part;

use crate::commands::format::Format;
use crate::commands::{FAILED, PASSED};
use crate::dialect::codes_of;
use crate::dialect::select;
use crate::error::Error;
use crate::metrics::{Computed, Counted, Counts, Leaves, Placed, Placement, Plan, Replaced, Run, chosen, compute, place, plan, table};
use crate::number::counted;
use crate::output::Output;
use crate::report::Report;
use crate::request::{RunRequest, Runner};
use crate::text;

/// Arguments of `pmulab metrics`.
#[derive(Debug, Args)]
pub struct MetricsArguments {
    /// The PMU whose manual has the metrics
    #[arg(long, default_value = "power9")]
    pub pmu: String,
    /// Metrics, categories of metrics, or `all`
    #[arg(value_name = "NAME|CATEGORY|all", default_value = "all")]
    pub metrics: Vec<String>,
    /// A file of counts: an object of JSON, lines of NAME,COUNT, or what `perf stat -x,` prints
    #[arg(long, value_name = "FILE")]
    pub counts: Option<PathBuf>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The metrics of a part's manual.
///
/// # Errors
/// It has none.
fn of(part: Part) -> Result<&'static [Metric], Error> {
    match part.catalogue().metrics() {
        [] => Err(Error::usage(format!("the manual of {} has no metrics", part.name()))),
        metrics => Ok(metrics),
    }
}

/// The metrics that any of `words` names, each once.
fn all_chosen(words: &[String], metrics: &'static [Metric]) -> Result<Vec<&'static Metric>, Error> {
    let mut found: Vec<&Metric> = Vec::new();
    for word in words {
        for metric in chosen(word, metrics)? {
            if !found.iter().any(|other| other.name == metric.name) {
                found.push(metric);
            }
        }
    }
    Ok(found)
}

/// A run of a plan, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct PlannedRun {
    /// The events, in the form `0x1001e`, with their names.
    events: Vec<PlannedEvent>,
    /// MMCR1 in hexadecimal, on POWER9.
    #[serde(skip_serializing_if = "Option::is_none")]
    mmcr1: Option<String>,
    /// MMCRA in hexadecimal, on POWER9.
    #[serde(skip_serializing_if = "Option::is_none")]
    mmcra: Option<String>,
}

/// An event of a run.
#[derive(Clone, Debug, Serialize)]
struct PlannedEvent {
    /// Its name; nothing for one that is there for the sake of another.
    name: Option<&'static str>,
    /// Its code.
    code: String,
    /// The unit each of whose boxes counts it, where units have their own counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    /// The number of its counter.
    counter: Option<u32>,
}

impl PlannedEvent {
    fn place(&self) -> String {
        match (self.unit, self.counter) {
            (Some(unit), Some(counter)) => format!("every {unit}, counter {counter}"),
            (None, Some(counter)) => format!("PMC{counter}"),
            (_, None) => String::new(),
        }
    }
}

/// What `pmulab metrics` shows without counts, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct Planned {
    runs: Vec<PlannedRun>,
    /// Events that need no run: they are posted into memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    posted: Vec<PostedEvent>,
    /// Events that no run can count.
    uncounted: Vec<&'static str>,
    /// Names of an earlier part that are read as something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<Replaced>,
}

/// An event that is posted into memory.
#[derive(Clone, Debug, Serialize)]
struct PostedEvent {
    /// Its name.
    name: &'static str,
    /// Where it is posted, in bytes from the start of the region.
    offset: u32,
}

impl PostedEvent {
    fn of(name: &str, catalogue: &Catalogue) -> Option<PostedEvent> {
        let event = catalogue.event_named(name)?;
        Some(PostedEvent { name: event.name, offset: event.offset? })
    }
}

impl Planned {
    fn new(plan: &Plan, catalogue: &Catalogue) -> Planned {
        let (posted, uncounted): (Vec<&str>, Vec<&str>) =
            plan.uncounted.iter().partition(|name| PostedEvent::of(name, catalogue).is_some());
        let runs = plan.runs.iter().map(|run| {
            let encoding = run.encoding(Options::default()).unwrap_or_default();
            let event = |(index, one): (usize, &Counted)| PlannedEvent {
                name: one.event,
                code: format!("{:#x}", one.code.bits()),
                unit: None,
                counter: encoding.counter_of(index).map(u32::from),
            };
            PlannedRun {
                events: run.counted.iter().enumerate().map(event).collect(),
                mmcr1: Some(format!("{:#x}", encoding.mmcr1)),
                mmcra: Some(format!("{:#x}", encoding.mmcra)),
            }
        });
        let posted = posted.iter().filter_map(|name| PostedEvent::of(name, catalogue)).collect();
        Planned { runs: runs.collect(), posted, uncounted, replaced: Vec::new() }
    }

    fn placed(placement: &Placement, catalogue: &Catalogue) -> Planned {
        let event = |placed: &Placed| PlannedEvent {
            name: Some(placed.entry.name),
            code: placed
                .entry
                .umask
                .map_or_else(|| format!("{:#04x}", placed.entry.select), |umask| format!("{:#04x}:{umask:#x}", placed.entry.select)),
            unit: Some(placed.entry.unit).filter(|_| !catalogue.units.is_empty()),
            counter: Some(placed.counter),
        };
        let run = |run: &Vec<Placed>| PlannedRun { events: run.iter().map(event).collect(), mmcr1: None, mmcra: None };
        Planned {
            runs: placement.runs.iter().map(run).collect(),
            posted: Vec::new(),
            uncounted: placement.uncounted.clone(),
            replaced: Vec::new(),
        }
    }

    /// The same with what the names in `metrics`, whose formulas name metrics of `table`, are read as.
    fn replacing(mut self, metrics: &[&Metric], table: &[Metric]) -> Planned {
        let leaves = metrics.iter().map(|metric| Leaves::of(metric, table)).filter(|leaves| leaves.missing.is_empty());
        let replaced: BTreeMap<_, _> = leaves.flat_map(|leaves| leaves.replaced).collect();
        self.replaced = replaced.into_values().map(Replaced::of).collect();
        self
    }

    fn show(&self, output: &mut Output<'_>) -> Result<(), Error> {
        for (index, run) in self.runs.iter().enumerate() {
            let registers = match (&run.mmcr1, &run.mmcra) {
                (Some(mmcr1), Some(mmcra)) => format!(": MMCR1 = {mmcr1}, MMCRA = {mmcra}"),
                _ => String::new(),
            };
            output.line(2, &format!("run {}{registers}", index + 1))?;
            let places: Vec<String> = run.events.iter().map(PlannedEvent::place).collect();
            let widest = text::widest(places.iter().map(String::as_str)).max(5);
            for (event, place) in run.events.iter().zip(places) {
                let name = event.name.unwrap_or("(steers the bus of the caches)");
                output.line(4, &format!("  {place:<widest$} {:<14}  {name}", event.code))?;
            }
        }
        if !self.posted.is_empty() {
            let words: Vec<String> = self.posted.iter().map(|event| format!("{} at {:#x}", event.name, event.offset)).collect();
            for line in text::hanging("posted into memory, without a run:", 2, &words.join(", "), output.width) {
                writeln!(output, "{line}")?;
            }
        }
        if !self.uncounted.is_empty() {
            for line in text::hanging("not counted by any run:", 2, &self.uncounted.join(", "), output.width) {
                writeln!(output, "{line}")?;
            }
        }
        for replaced in &self.replaced {
            for line in text::hanging(&format!("{replaced}:"), 2, replaced.evidence, output.width) {
                writeln!(output, "{line}")?;
            }
        }
        writeln!(output, "\n{}", counted(self.runs.len(), "run"))?;
        Ok(())
    }
}

/// Computes metrics from given counts; without counts, says which events to count in which run.
///
/// # Errors
/// The part has no metrics, a word names none, the counts cannot be read, or the output cannot be written.
pub fn metrics(arguments: &MetricsArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let part = select::part(&arguments.pmu)?;
    let all = of(part)?;
    let chosen = all_chosen(&arguments.metrics, all)?;
    let Some(file) = &arguments.counts else {
        let planned = match plan_of(part, &chosen, all) {
            Counting::Planned(plan) => Planned::new(&plan, part.catalogue()),
            Counting::Placed(placement) => Planned::placed(&placement, part.catalogue()),
        }
        .replacing(&chosen, all);
        match arguments.format {
            Format::Json => output.json(&planned)?,
            Format::Table => planned.show(output)?,
        }
        return Ok(PASSED);
    };
    let counts = Counts::read(file, part.catalogue())?;
    let computed = compute(&chosen, all, &|name| counts.of(name, part.catalogue()));
    match arguments.format {
        Format::Json => output.json(&computed)?,
        Format::Table => table(&computed, output)?,
    }
    Ok(PASSED)
}

/// How the events of metrics are counted.
enum Counting {
    /// By POWER9's codes.
    Planned(Plan),
    /// Each on a counter whose own register selects it.
    Placed(Placement),
}

fn plan_of(part: Part, chosen: &[&Metric], all: &[Metric]) -> Counting {
    let catalogue = part.catalogue();
    match part {
        Part::Power9(_) => Counting::Planned(plan(chosen, all, &|name| codes_of(catalogue, name))),
        _ => Counting::Placed(place(chosen, all, catalogue)),
    }
}

/// The names of what each run counts, and its counts.
type Taken = Vec<Vec<(&'static str, u64)>>;

impl Counting {
    /// Runs the guest with these counters in addition to its own.
    fn take(&self, request: &RunRequest, runner: &dyn Runner) -> Result<(Report, Taken), String> {
        match self {
            Counting::Planned(plan) => {
                let (report, counts) = runner.count(request, &plan.runs)?;
                let of = |(run, values): (&Run, Vec<u64>)| {
                    run.counted.iter().zip(values).filter_map(|(one, value)| Some((one.event?, value))).collect()
                };
                Ok((report, plan.runs.iter().zip(counts).map(of).collect()))
            }
            Counting::Placed(placement) => {
                let (report, counts) = runner.count_placed(request, &placement.runs)?;
                let of = |(run, values): (&Vec<Placed>, Vec<u64>)| run.iter().map(|placed| placed.entry.name).zip(values).collect();
                Ok((report, placement.runs.iter().zip(counts).map(of).collect()))
            }
        }
    }

    /// Events that no run can count.
    fn uncounted(&self) -> &[&'static str] {
        match self {
            Counting::Planned(plan) => &plan.uncounted,
            Counting::Placed(placement) => &placement.uncounted,
        }
    }
}

/// A guest and its metrics, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measured {
    guest: String,
    pmu: String,
    pub(super) passed: bool,
    /// How many runs of counters were made.
    pub(super) runs: usize,
    /// Events that no run can count.
    uncounted: Vec<&'static str>,
    pub(super) metrics: Vec<Computed>,
}

/// Counts what the metrics of each request need, and computes them.
///
/// # Errors
/// The part has no metrics, a word names none, a guest could not be run, or the output cannot be written.
pub fn run(metrics: &[String], format: Format, requests: &[RunRequest], runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let mut measured = Vec::new();
    for request in requests {
        let one = measure(metrics, request, runner)?;
        if format == Format::Table {
            let verdict = output.verdict(one.passed);
            output.line(6, &format!("{verdict}  {} on {}: {} of counters", one.guest, one.pmu, counted(one.runs, "run")))?;
            table(&one.metrics, output)?;
        }
        measured.push(one);
    }
    if format == Format::Json {
        output.json(&measured)?;
    }
    Ok(if measured.iter().all(|one| one.passed) { PASSED } else { FAILED })
}

/// The values of the metrics of these names in a run of `request`, in their order.
///
/// # Errors
/// A name is no metric of the part, the guest could not be run or failed, or a metric has no value.
pub(super) fn values(names: &[&str], request: &RunRequest, runner: &dyn Runner) -> Result<Vec<f64>, Error> {
    let words: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let measured = measure(&words, request, runner)?;
    if !measured.passed {
        return Err(Error::usage(format!("{} failed", measured.guest)));
    }
    let value = |name: &&str| {
        let computed = measured.metrics.iter().find(|computed| computed.name == *name);
        computed.and_then(|computed| computed.value).ok_or_else(|| Error::usage(format!("{name} has no value in {}", measured.guest)))
    };
    names.iter().map(value).collect()
}

/// What the first chip that posted anything has posted of an event: nothing is known of the events of a mode in which it has posted none.
fn posted(report: &Report, event: &str, catalogue: &Catalogue) -> Option<f64> {
    let is_flexible = |name: &str| Some(PostedEvent::of(name, catalogue)?.offset >= FLEXIBLE);
    let mode = is_flexible(event)?;
    let first = report.posted.first()?.chip;
    let of_chip = || report.posted.iter().filter(|posted| posted.chip == first);
    let count = of_chip().find(|posted| posted.event == event).map(|posted| posted.count);
    count.or_else(|| of_chip().any(|posted| is_flexible(&posted.event) == Some(mode)).then_some(0)).map(|count| count as f64)
}

/// The frequencies in hertz by which formulas of what is posted know the clocks, for a report with such.
fn frequencies(report: &Report) -> Vec<(&'static str, f64)> {
    let Frequencies { nest, host_bridge, memory } = Frequencies::default();
    let known = [("PB_Freq", nest), ("PHB_Freq", host_bridge), ("MBA_Freq", memory)];
    known.into_iter().filter(|_| !report.posted.is_empty()).map(|(name, hertz)| (name, hertz as f64)).collect()
}

/// Counts what these metrics need in runs of `request`, and computes them.
///
/// # Errors
/// The part has no metrics, a word names none, or the guest could not be run.
pub(super) fn measure(words: &[String], request: &RunRequest, runner: &dyn Runner) -> Result<Measured, Error> {
    let part = select::part(&request.pmu)?;
    let all = of(part)?;
    let chosen = all_chosen(words, all)?;
    let counting = plan_of(part, &chosen, all);
    let mut counts = Counts::default();
    let failed = |why: String| Error::usage(format!("{}: {why}", request.guest.title()));
    let (report, taken) = counting.take(request, runner).map_err(failed)?;
    let mut seen: Vec<&str> = Vec::new();
    for (name, value) in taken.iter().flatten() {
        // What is in every run is taken from the first.
        if !seen.contains(name) {
            seen.push(name);
            counts.add(name, *value as f64, part.catalogue());
        }
    }
    let known: Vec<(&str, f64)> =
        counting.uncounted().iter().filter_map(|name| Some((*name, posted(&report, name, part.catalogue())?))).collect();
    for (name, count) in &known {
        counts.add(name, *count, part.catalogue());
    }
    for (name, hertz) in frequencies(&report) {
        counts.add(name, hertz, part.catalogue());
    }
    Ok(Measured {
        guest: request.guest.title(),
        pmu: request.pmu.clone(),
        passed: report.passed,
        runs: taken.len(),
        uncounted: counting.uncounted().iter().copied().filter(|name| known.iter().all(|(other, _)| other != name)).collect(),
        metrics: compute(&chosen, all, &|name| counts.of(name, part.catalogue())),
    })
}
