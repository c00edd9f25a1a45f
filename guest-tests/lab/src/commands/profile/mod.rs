//! `pmulab record`, `report` and `annotate`: samples of a guest, taken from outside.

mod annotate;
mod arguments;

pub use annotate::annotate;
pub use arguments::{AnnotateArguments, RecordArguments, ReportArguments};

use std::fs;
use std::io::Write as _;
use std::sync::Arc;

use serde::Serialize;
use vm_pmu::arch::power9::spr;
use vm_pmu::{Address, Part};
use vm_pmu_board::beside::{Group, Plan};

use crate::commands::format::Format;
use crate::commands::{FAILED, PASSED, encode};
use crate::error::Error;
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::profile::{Places, Profile, Total, by_line, by_symbol, firefox, folded, script};
use crate::request::{Guest, Runner};
use crate::runner::Engine;
use crate::stat::set_up;
use crate::text;

/// The most samples of a thread.
const MOST: usize = 1_000_000;
/// MMCR0\[FCECE], bit 38: counters freeze at the overflow.
const FCECE: u64 = 1 << (63 - 38);

/// Takes samples of a guest and writes them into a file.
///
/// # Errors
/// A PMU, guest or event is unknown, no thread's counter counts the event, the guest could not be run, or a file cannot be written.
pub fn record(arguments: &RecordArguments, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let (part, request) = arguments.guest.request(Engine::default().name(), runner)?;
    let group = sampling(part, &arguments.event, arguments.period)?;
    let plan = Arc::new(Plan::Sample { group, period: arguments.period, most: MOST });
    let title = request.guest.title();
    let (report, found) = runner.observe(&request, &plan).map_err(|why| Error::usage(format!("{title}: {why}")))?;
    let file = match &request.guest {
        Guest::File(path) => Some(fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string()),
        Guest::Named(_) => None,
    };
    let profile = Profile {
        guest: title,
        file,
        pmu: request.pmu,
        event: arguments.event.clone(),
        period: arguments.period,
        count: found.iter().filter_map(|thread| thread.counts.first()?.first()).sum(),
        dropped: found.iter().map(|thread| thread.dropped).sum(),
        samples: found.into_iter().flat_map(|thread| thread.samples).collect(),
        ..Profile::default()
    };
    profile.write(&arguments.output)?;
    if arguments.format == Format::Json {
        output.json(&Recorded {
            guest: &profile.guest,
            pmu: &profile.pmu,
            event: &profile.event,
            period: profile.period,
            count: profile.count,
            samples: profile.samples.len(),
            dropped: profile.dropped,
            file: arguments.output.display().to_string(),
            passed: report.passed,
            ending: &report.ending,
        })?;
        return Ok(if report.passed { PASSED } else { FAILED });
    }
    let said = format!(
        "{} of {} ({} in all, one sample every {}) in {}; {}: {}",
        counted(profile.samples.len(), "sample"),
        profile.event,
        grouped(profile.count),
        grouped(profile.period),
        arguments.output.display(),
        if report.passed { "the guest passed".to_owned() } else { format!("the guest {}", output.bad("FAILED")) },
        report.ending
    );
    output.lines(text::wrap(&said, output.width))?;
    if profile.dropped != 0 {
        writeln!(output, "{} were not kept: choose a longer period with -c", counted(profile.dropped as usize, "sample"))?;
    }
    Ok(if report.passed { PASSED } else { FAILED })
}

/// What was recorded, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct Recorded<'a> {
    guest: &'a str,
    pmu: &'a str,
    event: &'a str,
    period: u64,
    count: u64,
    samples: usize,
    dropped: u64,
    file: String,
    passed: bool,
    ending: &'a str,
}

/// The writes that have a counter overflow after `period` of `event`.
pub(super) fn sampling(part: Part, event: &str, period: u64) -> Result<Group, Error> {
    let mut words = event.split([':', '/']).skip(1);
    if let Some(word) = words.find(|word| matches!(*word, "int" | "ebb" | "noen") || word.starts_with("period=")) {
        return Err(Error::usage(format!("`{word}` of `{event}` is for drivers: leave it out; -c is the period")));
    }
    let text = format!("{event}:int:period={period}");
    let programmings = encode::program(part, &[&text])?;
    let mut group = set_up(part, &[&text], &programmings);
    match group.counters.first() {
        None => Err(Error::usage(format!("{event} is posted into memory by the chip: no counter overflows"))),
        Some(counter) if counter.shared_by == usize::MAX => {
            Err(Error::usage(format!("{event} is counted by a box, for the whole machine: no instruction of a thread can be named")))
        }
        Some(_) => {
            for (address, value) in &mut group.writes {
                if *address == Address::Spr(spr::MMCR0) {
                    // Nothing is frozen from outside, so nothing is lost behind an overflow.
                    *value &= !FCECE;
                }
            }
            Ok(group)
        }
    }
}

/// A profile by symbol and line, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct Totals<'a> {
    guest: &'a str,
    pmu: &'a str,
    event: &'a str,
    period: u64,
    count: u64,
    samples: usize,
    dropped: u64,
    symbols: Vec<Total>,
    lines: Vec<Total>,
}

/// Shows samples by symbol and line, or in the form of another tool.
///
/// # Errors
/// The file cannot be read, or the output cannot be written.
pub fn report(arguments: &ReportArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let profile = Profile::read(&arguments.file)?;
    let places = Places::of(&profile);
    if arguments.folded {
        folded(&profile, &places, output)?;
    } else if arguments.script {
        script(&profile, &places, output)?;
    } else if arguments.firefox {
        output.json(&firefox(&profile, &places))?;
    } else {
        let totals = Totals {
            guest: &profile.guest,
            pmu: &profile.pmu,
            event: &profile.event,
            period: profile.period,
            count: profile.count,
            samples: profile.samples.len(),
            dropped: profile.dropped,
            symbols: by_symbol(&profile, &places),
            lines: by_line(&profile, &places),
        };
        match arguments.format {
            Format::Json => output.json(&totals)?,
            Format::Table => totals.show(output)?,
        }
    }
    Ok(PASSED)
}

impl Totals<'_> {
    fn show(&self, output: &mut Output<'_>) -> Result<(), Error> {
        let samples = counted(self.samples, "sample");
        let head = format!("{samples} of {}, one every {}, of '{}' on {}", self.event, grouped(self.period), self.guest, self.pmu);
        output.line(2, &head)?;
        for (title, totals) in [("By symbol", &self.symbols), ("By line", &self.lines)] {
            if !totals.is_empty() {
                writeln!(output, "\n{title}")?;
                rows(totals, output)?;
            }
        }
        Ok(())
    }
}

fn rows(totals: &[Total], output: &mut Output<'_>) -> Result<(), Error> {
    let whole: u64 = totals.iter().map(|total| total.events).sum();
    let most = totals.iter().map(|total| total.events).max().unwrap_or(0);
    let counts: Vec<String> = totals.iter().map(|total| grouped(total.samples)).collect();
    let widest = text::widest(counts.iter().map(String::as_str)).max(7);
    let names = text::widest(totals.iter().map(|total| total.name.as_str())).min(output.width.saturating_sub(widest + 24));
    for (total, count) in totals.iter().zip(&counts) {
        let share = 100.0 * total.events as f64 / whole.max(1) as f64;
        let is_long = text::columns(&total.name) > names;
        let room = output.width.saturating_sub(names + widest + 15);
        let name = if is_long { "" } else { total.name.as_str() };
        let line =
            format!("  {share:5.1} %  {count:>widest$}  {}  {}", text::padded(name, names), text::bar(total.events, most, room.min(40)));
        writeln!(output, "{}", line.trim_end())?;
        // A name that leaves no room for a bar has its own line.
        if is_long {
            output.line(6, &format!("    {}", total.name))?;
        }
    }
    Ok(())
}
