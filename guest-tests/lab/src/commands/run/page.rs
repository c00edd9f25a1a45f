//! The page of a run, as the command line asks for it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use vm_pmu::Part;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu_board::beside::Plan;
use vm_pmu_board::trace::Listener;

use crate::commands::decode::Decoded;
use crate::commands::{metrics, profile, render, stack};
use crate::dialect::select;
use crate::error::Error;
use crate::number::grouped;
use crate::page::{self, Cpu, Field, Meaning, Page, Stack, Watch, Words};
use crate::profile::Profile;
use crate::report::{Action, Report};
use crate::request::{Guest, RunRequest, Runner};
use crate::runner::{Cycles, Engine};
use crate::stat;
use crate::symbols::Symbols;

/// The most samples of a thread.
const MOST_SAMPLES: usize = 200_000;
/// About so many samples are taken of the CPU that runs longest.
const SAMPLES: u64 = 2000;
/// No sample is taken more often.
const SHORTEST: u64 = 7;
/// No period is longer, as counters of 32 bits are negative in half of their range.
const LONGEST: u64 = 0x3FFF_FFFF;
/// What is sampled.
const EVENT: &str = "cycles";

/// What a report says of a companion whose clock it is.
const WITH_TIME: &str = "events and time";

/// Arguments of `pmulab run` about its page.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Page")]
pub struct PageArguments {
    /// Write a page about the run into this file, which a browser shows: counters over time, those of boxes and nests too, freezes,
    /// interrupts, registers at any moment, samples, the stack of cycles, every check
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["metrics", "timeline", "gdb", "save_at"])]
    pub report: Option<PathBuf>,
    /// Take the page's samples every COUNT cycles of each CPU; if left out, so that the longest has about 2,000
    #[arg(long, value_name = "COUNT", requires = "report", value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    pub report_period: Option<u64>,
}

/// A page that is to be written, and what follows the run for it.
pub(super) struct Watched {
    watch: Arc<Watch>,
    path: PathBuf,
    period: Option<u64>,
}

impl PageArguments {
    /// Begins to follow the run of `requests`, of which there is one, if a page is wanted.
    ///
    /// # Errors
    /// There are several runs, or the file cannot be written.
    pub(super) fn begin(&self, requests: &mut [RunRequest]) -> Result<Option<Watched>, Error> {
        let Some(path) = &self.report else { return Ok(None) };
        let [request] = requests else { return Err(Error::usage("a page is of one run: name one")) };
        // Whether it can be written is known before the run, and an earlier page stays until this one is there.
        File::options().append(true).create(true).open(path).map_err(|error| unwritten(path, &error))?;
        let watch = Arc::new(Watch::default());
        request.options.listener = Some(Listener(Arc::clone(&watch) as Arc<_>));
        Ok(Some(Watched { watch, path: path.clone(), period: self.report_period }))
    }
}

impl Watched {
    /// Writes the page of a run that has ended, after runs for its samples and its stack of cycles. Says in a line where it is.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn end(&self, report: &Report, request: &RunRequest, runner: &dyn Runner) -> Result<String, Error> {
        let (cpus, boxes, nests) = self.watch.finish();
        let mut request = request.clone();
        request.options.listener = None;
        request.options.recording = 0;
        request.options.trace = Default::default();
        let part = select::part(&request.pmu)?;
        let symbols = match &request.guest {
            Guest::File(path) => Symbols::load(path).unwrap_or_default(),
            Guest::Named(name) => Symbols::of_guest(&request.pmu, name, !request.options.big_endian),
        };
        let page = Page {
            report,
            part,
            cpus: &cpus,
            boxes: &boxes,
            nests: &nests,
            symbols: &symbols,
            profile: repeatable(&request).and_then(|()| sampled(part, &cpus, self.period, &request, runner)),
            stack: repeatable(&request).and_then(|()| stacked(part, &report.companion, &request, runner)),
            words: &InWords(part),
        };
        let html = page::write(&page);
        fs::write(&self.path, &html).map_err(|error| unwritten(&self.path, &error))?;
        Ok(format!("Page: {}, {} KiB", self.path.display(), grouped(html.len() as u64 >> 10)))
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Error {
    Error::usage(format!("{} cannot be written: {error}", path.display()))
}

/// Why nothing can be counted from outside in another run, or nothing.
fn repeatable(request: &RunRequest) -> Result<(), String> {
    let without = |option: &str| Err(format!("Left out: what counts from outside needs every step of the run, without {option}."));
    match request {
        _ if request.engine != Engine::Interpreter.name() => without("`--engine`"),
        _ if request.options.parallel => without("`--parallel`"),
        _ if request.options.cycles == Cycles::Tsc => without("`--cycles tsc`"),
        _ => Ok(()),
    }
}

/// Samples of cycles, taken in another run of the guest.
fn sampled(part: Part, cpus: &[Cpu], period: Option<u64>, request: &RunRequest, runner: &dyn Runner) -> Result<Profile, String> {
    let longest = cpus.iter().map(|cpu| cpu.end.cycle).max().unwrap_or(0);
    // An odd number, as loops are often of an even number of cycles.
    let period = period.unwrap_or_else(|| (longest / SAMPLES).clamp(SHORTEST, LONGEST) | 1);
    let left_out = |why: &str| format!("Left out: {why}.");
    let group = profile::sampling(part, EVENT, period).map_err(|error| left_out(&said(error)))?;
    let plan = Arc::new(Plan::Sample { group, period, most: MOST_SAMPLES });
    let (_, found) = runner.observe(request, &plan).map_err(|why| left_out(&why))?;
    let profile = Profile {
        guest: request.guest.title(),
        pmu: request.pmu.clone(),
        event: EVENT.to_owned(),
        period,
        dropped: found.iter().map(|thread| thread.dropped).sum(),
        samples: found.into_iter().flat_map(|thread| thread.samples).collect(),
        ..Profile::default()
    };
    if profile.samples.is_empty() { Err(left_out(&format!("no CPU ran for {} cycles", grouped(period)))) } else { Ok(profile) }
}

/// What the first Itanium's cycles are: each is in one of the four, whose sum is the metric ACCOUNTED_CYCLES.
const ITANIUM: [(&str, &str); 4] = [
    ("UNSTALLED_BACKEND_CYCLE", "the back end works, or waits for code alone"),
    ("DEPENDENCY_ALL_CYCLE", "a result or a unit is waited for"),
    ("MEMORY_CYCLE", "data or the register stack engine is waited for"),
    ("PIPELINE_ALL_FLUSH_CYCLE", "the pipeline is filled again after a flush or a taken branch"),
];
/// What stalls Montecito's back end. The causes exclude each other, and the rest of CPU_OP_CYCLES retires instructions (Montecito RM 4.6).
const MONTECITO: [(&str, &str); 5] = [
    ("BE_EXE_BUBBLE.ALL", "the execution unit is waited for"),
    ("BE_L1D_FPU_BUBBLE.ALL", "the floating-point unit or the first-level data cache is waited for"),
    ("BE_RSE_BUBBLE.ALL", "the register stack engine is waited for"),
    ("BE_FLUSH_BUBBLE.ALL", "the pipeline is filled again after a flush"),
    ("BACK_END_BUBBLE.FE", "the front end delivers nothing"),
];

/// What the cycles went to, counted in further runs of the guest.
fn stacked(part: Part, made: &str, request: &RunRequest, runner: &dyn Runner) -> Result<Stack, String> {
    match part {
        Part::K8(_) => Err("Left out: the K8's manual has no metrics that divide the cycles.".to_owned()),
        Part::Knl(_) => Err("Left out: Knights Landing's manual has no metrics that divide the cycles.".to_owned()),
        _ if made != WITH_TIME => {
            Err("Left out: only the companion's clock knows what holds instructions up, and this run has another.".to_owned())
        }
        Part::Power9(_) => {
            let words: Vec<String> = stack::CAUSES.iter().map(|(metric, _)| (*metric).to_owned()).collect();
            let measured = metrics::measure(&words, request, runner).map_err(|error| format!("Left out: {}.", said(error)))?;
            let value = |name: &str| measured.metrics.iter().find(|one| one.name == name).and_then(|one| one.value);
            let causes = stack::CAUSES.iter().filter_map(|(name, cause)| Some(((*name).to_owned(), (*cause).to_owned(), value(name)?)));
            finished(causes.collect(), "metrics of table 5-18 of the POWER9 PMU User's Guide")
                .map_err(|why| format!("{why} These metrics count while the run latch is set, which is up to the guest."))
        }
        Part::Itanium(_) => {
            let counts = counts(part, &ITANIUM.map(|(event, _)| event), "IA64_INST_RETIRED.ALL", request, runner)?;
            finished(per_instruction(&ITANIUM, &counts), "the four sums of the metric ACCOUNTED_CYCLES")
        }
        Part::Montecito(_) => {
            let events = [&MONTECITO.map(|(event, _)| event)[..], &["CPU_OP_CYCLES.ALL"]].concat();
            let mut counts = counts(part, &events, "IA64_INST_RETIRED.THIS", request, runner)?;
            let bubbles: f64 = counts[..MONTECITO.len()].iter().sum();
            let works = (counts[MONTECITO.len()] - bubbles).max(0.0);
            counts[MONTECITO.len()] = works;
            let causes = [&MONTECITO[..], &[("CPU_OP_CYCLES less the others", "instructions retire")]].concat();
            finished(per_instruction(&causes, &counts), "by section 4.6 of the Montecito manual")
        }
    }
}

/// The counts of events in runs of the guest, and at the end that of its instructions.
fn counts(part: Part, events: &[&str], instructions: &str, request: &RunRequest, runner: &dyn Runner) -> Result<Vec<f64>, String> {
    let events: Vec<String> = events.iter().chain([&instructions]).map(|event| (*event).to_owned()).collect();
    let grouping = stat::group(part, &events).map_err(|error| format!("Left out: {}.", said(error)))?;
    let measured = stat::measure(request, runner, &grouping, None, 1).map_err(|why| format!("Left out: {why}."))?;
    Ok(measured.tallies.iter().map(|tally| tally.mean().unwrap_or(0.0)).collect())
}

/// Cycles for each instruction, whose count is the last.
fn per_instruction(causes: &[(&str, &str)], counts: &[f64]) -> Vec<(String, String, f64)> {
    let instructions = counts.last().copied().unwrap_or(0.0).max(1.0);
    causes.iter().zip(counts).map(|((name, cause), count)| ((*name).to_owned(), (*cause).to_owned(), count / instructions)).collect()
}

/// A stack of what is not zero, the most first.
fn finished(mut causes: Vec<(String, String, f64)>, source: &'static str) -> Result<Stack, String> {
    causes.retain(|(_, _, cycles)| *cycles > 0.0);
    causes.sort_by(|one, other| other.2.total_cmp(&one.2));
    if causes.is_empty() { Err("Left out: no cycles were counted.".to_owned()) } else { Ok(Stack { causes, source }) }
}

fn said(error: Error) -> String {
    match error {
        Error::Usage(line) => line,
        Error::Output(error) => error.to_string(),
    }
}

/// The words of `decode` and of traces.
struct InWords(Part);

impl Words for InWords {
    fn fields(&self, register: &RegisterDescription) -> Vec<Field> {
        let field = |field: crate::commands::decode::DecodedField| Field {
            name: field.name,
            bits: field.bits,
            high: field.high,
            low: field.low,
            reserved: field.reserved,
        };
        Decoded::new(self.0, register, 0).fields.into_iter().map(field).collect()
    }

    fn meaning(&self, register: &RegisterDescription, value: u64) -> Meaning {
        let decoded = Decoded::new(self.0, register, value);
        Meaning { event: decoded.event.filter(|_| value != 0), fields: decoded.fields.into_iter().map(|field| field.meaning).collect() }
    }

    fn action(&self, action: &Action, address: u64) -> (String, String) {
        render::words(Some(self.0), action, address)
    }

    fn changes(&self, action: &Action) -> Vec<String> {
        render::changes(self.0, action).unwrap_or_default().iter().map(render::Change::shown).collect()
    }
}
