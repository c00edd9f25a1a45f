//! Counts as `perf stat` shows them: as a table, as fields, as JSON.

use std::io::Write as _;

use serde::Serialize;
use vm_pmu::Part;

use super::StatArguments;
use crate::commands::encode::program;
use crate::commands::metrics::Measured as Computation;
use crate::error::Error;
use crate::metrics::{Computed, table};
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::request::RunRequest;
use crate::stat::{Grouping, Measured, Tally};
use crate::text;

/// Pairs of generic names, one of which is said in parts of the other: as a quotient, or in percent.
const RATIOS: [(&str, &str, Ratio); 3] = [
    ("instructions", "cycles", Ratio::Each("insn per cycle")),
    ("branch-misses", "branches", Ratio::Percent("of all branches")),
    ("cache-misses", "cache-references", Ratio::Percent("of all cache refs")),
];

#[derive(Clone, Copy)]
enum Ratio {
    Each(&'static str),
    Percent(&'static str),
}

/// What one event came to, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct Row {
    /// As it was asked for.
    asked: String,
    /// With everything spelt out.
    event: String,
    /// The mean of the counts; nothing if it never had its turn.
    count: Option<f64>,
    /// The standard deviation of the mean, in percent.
    deviation_percent: f64,
    /// The share of the time in which it was counted, in percent.
    counted_percent: f64,
    /// The cycles in which it was counted, of all threads.
    cycles: u64,
    /// The group that it was counted in, from 1.
    group: usize,
    /// The count in parts of another one.
    ratio: Option<f64>,
    /// What the ratio is.
    ratio_unit: Option<&'static str>,
    /// What is worth knowing about the event.
    notes: Vec<String>,
}

/// Everything that `pmulab stat` shows, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Shown {
    guest: String,
    pmu: String,
    /// Whether the guest ended by itself with status 0 and every check of its own passed.
    passed: bool,
    /// How the run ended, in one line.
    ending: String,
    /// Cycles of all threads.
    cycles: u64,
    /// Instructions of all threads.
    instructions: u64,
    /// How often everything was repeated.
    repeats: u32,
    /// How often the guest ran in one repetition.
    runs: usize,
    /// Whether groups took turns.
    multiplexed: bool,
    events: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<Computed>,
}

impl Shown {
    pub(super) fn new(
        part: Part,
        request: &RunRequest,
        grouping: &Grouping,
        measured: &Measured,
        computed: Option<&Computation>,
        arguments: &StatArguments,
    ) -> Shown {
        let row = |(event, tally): (&crate::stat::Event, &Tally)| Row {
            asked: event.asked.clone(),
            event: event.event.clone(),
            count: tally.mean(),
            deviation_percent: tally.deviation() * 100.0,
            counted_percent: tally.share * 100.0,
            cycles: tally.cycles,
            group: event.place.0 + 1,
            ratio: None,
            ratio_unit: None,
            notes: event.notes.clone(),
        };
        let mut events: Vec<Row> = grouping.events.iter().zip(&measured.tallies).map(row).collect();
        relate(part, &mut events);
        Shown {
            guest: request.guest.title(),
            pmu: request.pmu.clone(),
            passed: if grouping.groups.is_empty() { computed.is_some_and(|computed| computed.passed) } else { measured.report.passed },
            ending: measured.report.ending.clone(),
            cycles: measured.cycles,
            instructions: measured.report.instructions,
            repeats: arguments.repeat,
            runs: measured.runs,
            multiplexed: arguments.multiplex.is_some() && grouping.groups.len() > 1,
            events,
            metrics: computed.map(|computed| computed.metrics.clone()).unwrap_or_default(),
        }
    }

    /// The fields of `perf stat -x`: count, unit, event, with repeats the deviation, then cycles counted, share, ratio and its unit.
    pub(super) fn fields(&self, separator: &str, output: &mut Output<'_>) -> Result<(), Error> {
        for row in &self.events {
            let mut fields = vec![row.count.map_or_else(|| "<not counted>".to_owned(), plain), String::new(), row.asked.clone()];
            if self.repeats > 1 {
                fields.push(format!("{:.2}%", row.deviation_percent));
            }
            fields.extend([row.cycles.to_string(), format!("{:.2}", row.counted_percent)]);
            fields.push(row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
            fields.push(row.ratio_unit.unwrap_or_default().to_owned());
            writeln!(output, "{}", fields.join(separator))?;
        }
        for metric in &self.metrics {
            let value = metric.value.map_or_else(|| "<not counted>".to_owned(), |value| value.to_string());
            writeln!(output, "{}", [&value, metric.unit, metric.name].join(separator))?;
        }
        Ok(())
    }

    pub(super) fn table(&self, output: &mut Output<'_>) -> Result<(), Error> {
        if !self.events.is_empty() {
            output.line(2, &format!("Counts of '{}' on {}, from outside:", self.guest, self.pmu))?;
            writeln!(output)?;
            self.rows(output)?;
            writeln!(output)?;
            let closing = self.closing(&output.bad("FAILED"));
            output.lines(text::wrap(&closing, output.width))?;
        }
        self.notes(output)?;
        if !self.metrics.is_empty() {
            if !self.events.is_empty() {
                writeln!(output)?;
            }
            table(&self.metrics, output)?;
        }
        Ok(())
    }

    fn rows(&self, output: &mut Output<'_>) -> Result<(), Error> {
        let counts: Vec<String> = self.events.iter().map(|row| row.count.map_or_else(|| "<not counted>".to_owned(), shown)).collect();
        let (most, widest) =
            (text::widest(counts.iter().map(String::as_str)).max(14), text::widest(self.events.iter().map(|row| row.asked.as_str())));
        for (row, count) in self.events.iter().zip(&counts) {
            let mut line = format!("{count:>most$}  {:<widest$}", row.asked);
            if let (Some(ratio), Some(unit)) = (row.ratio, row.ratio_unit) {
                let percent = if unit.starts_with("of ") { "%" } else { "" };
                line.push_str(&format!("  #  {ratio:.2}{percent} {unit}"));
            }
            if self.repeats > 1 {
                line.push_str(&format!("  ( +- {:.2}% )", row.deviation_percent));
            }
            if self.multiplexed {
                line.push_str(&format!("  ({:.2}%)", row.counted_percent));
            }
            output.line(most + 4, &line)?;
        }
        Ok(())
    }

    /// How the counts came about, in a sentence or two; `failed` is the word for a guest that did.
    fn closing(&self, failed: &str) -> String {
        let mut said = format!(
            "{} instructions in {} cycles of all threads; {}: {}.",
            grouped(self.instructions),
            grouped(self.cycles),
            if self.passed { "the guest passed".to_owned() } else { format!("the guest {failed}") },
            self.ending
        );
        if self.multiplexed {
            said.push_str(" The events took turns on the counters; in parentheses is the share of the time in which each counted.");
        } else if self.runs > 1 {
            said.push_str(&format!(
                " The events do not fit on the counters together: the guest ran {} times, each time the same.",
                grouped(self.runs as u64)
            ));
        }
        if self.repeats > 1 {
            said.push_str(&format!(" Everything was repeated {}.", counted(self.repeats as usize, "time")));
        }
        said
    }

    fn notes(&self, output: &mut Output<'_>) -> Result<(), Error> {
        for row in &self.events {
            for note in &row.notes {
                output.lines(text::hanging(&format!("{}:", row.asked), 4, note, output.width))?;
            }
        }
        Ok(())
    }
}

/// Fills in the ratios of events that are counted both.
fn relate(part: Part, rows: &mut [Row]) {
    for (name, base, ratio) in RATIOS {
        let meaning = |name: &str| program(part, &[name]).ok().and_then(|program| program.first().and_then(|one| one.event.clone()));
        let (Some(name), Some(base)) = (meaning(name), meaning(base)) else { continue };
        let is = |row: &Row, meant: &str| off_counter(&row.event) == off_counter(meant);
        let base = rows.iter().find(|row| is(row, &base)).and_then(|row| row.count).filter(|base| *base != 0.0);
        let row = rows.iter_mut().find(|row| is(row, &name));
        if let (Some(base), Some(row)) = (base, row)
            && let Some(count) = row.count
        {
            (row.ratio, row.ratio_unit) = match ratio {
                Ratio::Each(unit) => (Some(count / base), Some(unit)),
                Ratio::Percent(unit) => (Some(100.0 * count / base), Some(unit)),
            };
        }
    }
}

/// An event without the counter that it happens to be on.
fn off_counter(event: &str) -> String {
    event.split(':').filter(|word| !word.starts_with("pmc=")).collect::<Vec<_>>().join(":")
}

/// A count for programs.
fn plain(count: f64) -> String {
    format!("{:.0}", count.round())
}

/// A count for people.
fn shown(count: f64) -> String {
    grouped(count.round() as u64)
}
