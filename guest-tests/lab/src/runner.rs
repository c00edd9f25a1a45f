//! Runs a guest and says what it showed.

mod driven;
mod engine;
mod error;
mod ia64;
mod migrate;
mod migrate_error;
mod paced;
mod power;
mod traced;
pub mod x86;

pub use engine::Engine;
pub use error::RunError;
pub(crate) use error::{parts_of, refused};
use migrate::stages;
pub use migrate_error::{MigrateError, RUN_VERSION};
use paced::{GivenUp, paced};

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use vm_pmu::arch::event::Fidelity;
use vm_pmu::arch::power9::COUNTERS;
use vm_pmu::arch::power9::encode::Encoding;
use vm_pmu::companion::{self, Clock};
use vm_pmu::die::MemoryMode;
use vm_pmu::{Part, Signal};

pub use crate::debug::DebugError;
use crate::files;
use crate::held::{Driver, registers};
use crate::hints::{Delivered, hints};
use crate::number::grouped;
use crate::report::{Check, Position, Report};
use crate::symbols::Symbols;
use crate::unwind;
use vm_pmu_board::beside::{Found, Plan};
use vm_pmu_board::ia64::Procedures;
use vm_pmu_board::trace::{Choice, Listener};
use vm_pmu_board::{Deliveries, Usage};
use vm_pmu_engines::x86::Image;
use vm_pmu_guests::{self as guests, Guest};

/// After how many seconds a run is given up, if nothing else is said.
pub const SECONDS: u64 = 120;
/// Bytes of memory, as far as no part needs more.
const RAM: u64 = 32 << 20;

/// How a guest is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What executes the guest.
    pub engine: Engine,
    /// Every CPU runs on its own host thread, instead of in turn. The host then decides the order of accesses to shared state.
    pub parallel: bool,
    /// The most steps of all CPUs together: instructions, and interrupts and exceptions taken.
    pub limit: u64,
    /// Where cycles come from.
    pub cycles: Cycles,
    /// After how many seconds the run is given up.
    pub seconds: u64,
    /// The letter of the PMU's revision; the usual one if there is none.
    pub revision: Option<String>,
    /// How many CPUs a guest from a file gets; a guest of the project knows itself.
    pub cpus: usize,
    /// A counter that one core uses for the northbridge stays usable to the others.
    pub share_counters: bool,
    /// The companion makes what the engine does not know: caches, translation, prediction, timing.
    pub companion: bool,
    /// How many POWER chips with nests and host firmware a guest from a file gets, or how many nodes of K8 with memory; a guest of the project
    /// knows itself.
    pub chips: usize,
    /// How many POWER chips make a group; 0 if all do.
    pub chips_per_group: usize,
    /// The memory of POWER chips has buffers with a fourth level.
    pub buffered: bool,
    /// What the Knights Landing of a guest from a file uses MCDRAM as; a guest of the project knows itself.
    pub memory_mode: MemoryMode,
    /// A POWER guest of the project runs big-endian.
    pub big_endian: bool,
    /// What is kept for the report of what passes between the guest and its PMU.
    pub trace: Choice,
    /// Who follows all of that during the run.
    pub listener: Option<Listener>,
    /// At most so many statements of a recording of what is done with the PMUs are kept for the report; none if 0.
    pub recording: usize,
    /// After so many steps the run is saved, with its PMUs and companion, and continues in a new machine.
    pub save_at: Option<u64>,
    /// The engine of that machine; the same if there is none.
    pub go_on_with: Option<Engine>,
    /// Where a debugger is waited for, which runs the guest: host and port.
    pub gdb: Option<String>,
    /// Who runs the guest step by step.
    pub driver: Option<Driver>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: Engine::default(),
            parallel: false,
            limit: 1_000_000_000,
            cycles: Cycles::default(),
            seconds: SECONDS,
            revision: None,
            cpus: 1,
            share_counters: false,
            companion: true,
            chips: 0,
            chips_per_group: 0,
            buffered: false,
            memory_mode: MemoryMode::default(),
            big_endian: false,
            trace: Choice::default(),
            listener: None,
            recording: 0,
            save_at: None,
            go_on_with: None,
            gdb: None,
            driver: None,
        }
    }
}

/// Where cycles come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycles {
    /// The engine or the companion supplies the cycles of each instruction. All other signals are counted too.
    #[default]
    Engine,
    /// The time-stamp counter of the host, whose processor executes the guest freely through KVM. Nothing but cycles is counted.
    Tsc,
}

impl Options {
    /// The most steps, in words.
    fn steps(&self) -> String {
        format!("{} steps", grouped(self.limit))
    }

    /// # Errors
    /// [`RunError::NotWithGdb`] for what a debugger cannot run.
    fn check_gdb(&self) -> Result<(), RunError> {
        let against = [
            (self.engine != Engine::Interpreter, "gdb runs guests on the interpreter: leave out `--engine`"),
            (self.parallel, "gdb runs guests in turn: leave out `--parallel`"),
            (self.save_at.is_some(), "a guest that gdb runs is not saved: leave out `--save-at`"),
        ];
        match against.into_iter().find(|(holds, _)| *holds && self.gdb.is_some()) {
            Some((_, reason)) => Err(RunError::NotWithGdb { reason }),
            None => Ok(()),
        }
    }

    /// # Errors
    /// [`RunError::MemoryMode`] for MCDRAM as memory of a part that has none.
    fn check_memory_mode(&self, part: Part) -> Result<(), RunError> {
        if self.memory_mode == MemoryMode::Cache || part.shape().has_untile {
            return Ok(());
        }
        Err(RunError::MemoryMode { pmu: part.name().to_owned() })
    }

    /// # Errors
    /// [`RunError::NotWithTsc`] for what does not go with cycles of the time-stamp counter.
    fn check_cycles(&self) -> Result<(), RunError> {
        let against = [
            (self.engine != Engine::Kvm, "only a guest on KVM runs freely: add `--engine kvm`"),
            (self.save_at.is_some(), "a guest that runs freely cannot be saved after a number of steps: leave out `--save-at`"),
        ];
        match against.into_iter().find(|(holds, _)| *holds) {
            Some((_, reason)) if self.cycles == Cycles::Tsc => Err(RunError::NotWithTsc { reason }),
            _ => Ok(()),
        }
    }
}

/// Runs `guest`, the name of one of the [`guests`] or the path of an ELF file, on a machine with the PMU `pmu`.
///
/// ```
/// use vm_pmu_lab::runner::{Options, run};
///
/// let report = run("k8", "count", &Options::default()).unwrap();
/// assert!(report.passed, "{}", report.ending);
/// ```
///
/// # Errors
/// [`RunError`], where there is nothing to run or nothing to run it on.
pub fn run(pmu: &str, guest: &str, options: &Options) -> Result<Report, RunError> {
    let chosen = choose(pmu, guest, options)?;
    let options = chosen.options(options);
    if let Some(driver) = &options.driver {
        driver.0.begin(&chosen.symbols);
    }
    let mut report = run_image(pmu, guest, &chosen.image, chosen.cpus, chosen.clock, &options)?;
    report.locate(&chosen.symbols);
    Ok(report)
}

/// Runs `guest` as [`run`] does, with a further PMU for each of `extra`, which counts what that encoding programs, independently of the
/// guest's own PMU. Returns the report and the counts of PMC1 to PMC6 of each further PMU, added up over all threads.
///
/// # Errors
/// [`RunError`], where there is nothing to run, nothing to run it on, or the engine counts only what the guest programs.
pub fn count(pmu: &str, guest: &str, options: &Options, extra: &[Encoding]) -> Result<(Report, Vec<[u64; COUNTERS]>), RunError> {
    match part(pmu, options)? {
        part @ Part::Power9(_) => {
            let chosen = choose(pmu, guest, options)?;
            let options = chosen.options(options);
            let Chosen { image, symbols, cpus, clock, .. } = &chosen;
            traced::check(&options, *cpus)?;
            let job = power::Job { part, name: guest, image, cpus: *cpus, clock: *clock, extra, beside: None };
            let mut ran = power::run_image(&job, &options)?;
            ran.report.locate(symbols);
            Ok((ran.report, ran.counts))
        }
        Part::K8(_) | Part::Knl(_) | Part::Itanium(_) | Part::Montecito(_) => {
            Err(RunError::NotForEngine { option: "--metric", pmu: pmu.to_owned() })
        }
    }
}

/// Runs an image on one CPU of POWER, named `name`, as [`count`] runs a guest.
///
/// # Errors
/// As [`count`].
pub fn count_image(
    pmu: &str,
    name: &str,
    image: &Image,
    clock: Clock,
    options: &Options,
    extra: &[Encoding],
) -> Result<(Report, Vec<[u64; COUNTERS]>), RunError> {
    match part(pmu, options)? {
        part @ Part::Power9(_) => {
            let job = power::Job { part, name, image, cpus: 1, clock, extra, beside: None };
            power::run_image(&job, options).map(|ran| (ran.report, ran.counts))
        }
        Part::K8(_) | Part::Knl(_) | Part::Itanium(_) | Part::Montecito(_) => {
            Err(RunError::NotForEngine { option: "--metric", pmu: pmu.to_owned() })
        }
    }
}

/// A guest to run.
struct Chosen {
    image: Image,
    symbols: Symbols,
    procedures: Option<Arc<Procedures>>,
    cpus: usize,
    chips: usize,
    memory_mode: MemoryMode,
    clock: Clock,
    big_endian: bool,
}

impl Chosen {
    /// The options for it, which knows what machine it needs.
    fn options(&self, given: &Options) -> Options {
        Options { big_endian: self.big_endian, chips: self.chips, memory_mode: self.memory_mode, ..given.clone() }
    }
}

fn choose(pmu: &str, guest: &str, options: &Options) -> Result<Chosen, RunError> {
    if Part::named(pmu).is_none() {
        return Err(RunError::UnknownPmu { name: pmu.to_owned() });
    }
    match guests::named(pmu, guest) {
        Some(known) if known.needs_companion && options.cycles == Cycles::Tsc => {
            Err(RunError::NotWithTsc { reason: "the guest counts events that only the companion supplies: leave out `--cycles tsc`" })
        }
        Some(known) if known.needs_companion && !options.companion => Err(RunError::NeedsCompanion { guest: guest.to_owned() }),
        Some(known) => {
            let image = known.image(!options.big_endian).map_err(|error| RunError::Assembler { guest: guest.to_owned(), error })?;
            let clock = if known.foretells_cycles { Clock::Embedder } else { Clock::Companion };
            let symbols = Symbols::of_image(&image);
            let Guest { cpus, chips, memory_mode, .. } = *known;
            Ok(Chosen { image, symbols, procedures: None, cpus, chips, memory_mode, clock, big_endian: options.big_endian })
        }
        None => {
            let Loaded { image, symbols, procedures, little_endian } = load(pmu, guest)?;
            // A file of POWER says itself which it is.
            let big_endian = if pmu == POWER9 { !little_endian } else { options.big_endian };
            let Options { cpus, chips, memory_mode, .. } = *options;
            Ok(Chosen { image, symbols, procedures, cpus, chips, memory_mode, clock: Clock::Companion, big_endian })
        }
    }
}

/// The part of this name, in the revision that the options choose.
fn part(pmu: &str, options: &Options) -> Result<Part, RunError> {
    let part = Part::named(pmu).ok_or_else(|| RunError::UnknownPmu { name: pmu.to_owned() })?;
    match &options.revision {
        None => Ok(part),
        Some(revision) => {
            let unknown = || RunError::UnknownRevision { pmu: pmu.to_owned(), revision: revision.clone() };
            part.revision(revision).ok_or_else(unknown)
        }
    }
}

/// The PMU whose guests are POWER code.
const POWER9: &str = "power9";

/// An ELF file.
struct Loaded {
    image: Image,
    /// What it says of its addresses.
    symbols: Symbols,
    /// What it says of callers; only files of IA-64 have it.
    procedures: Option<Arc<Procedures>>,
    little_endian: bool,
}

/// Loads an ELF file.
fn load(pmu: &str, path: &str) -> Result<Loaded, RunError> {
    let looks_like_a_path = path.contains(['/', '\\', '.']);
    if !looks_like_a_path && !Path::new(path).exists() {
        return Err(RunError::UnknownGuest { name: path.to_owned(), pmu: pmu.to_owned() });
    }
    let bytes = files::read(Path::new(path)).map_err(|error| RunError::Unreadable { path: path.to_owned(), error })?;
    let image = match Part::named(pmu) {
        Some(Part::Power9(_)) => Image::power_elf(&bytes),
        Some(Part::Itanium(_) | Part::Montecito(_)) => Image::ia64_elf(&bytes).map(|image| (image, true)),
        Some(Part::K8(_) | Part::Knl(_)) | None => Image::elf(&bytes).map(|image| (image, true)),
    };
    let (image, little_endian) = image.map_err(|error| RunError::BadImage { path: path.to_owned(), error })?;
    let symbols = Symbols::of(&bytes).unwrap_or_default();
    let is_ia64 = matches!(Part::named(pmu), Some(Part::Itanium(_) | Part::Montecito(_)));
    let procedures = if is_ia64 { unwind::procedures(bytes).map(Arc::new) } else { None };
    Ok(Loaded { image, symbols, procedures, little_endian })
}

/// Runs an image on `cpus` CPUs; `name` is the guest's in the report. With [`Clock::Embedder`] every step is one cycle.
///
/// # Errors
/// [`RunError`], where there is nothing to run it on.
pub fn run_image(pmu: &str, name: &str, image: &Image, cpus: usize, clock: Clock, options: &Options) -> Result<Report, RunError> {
    run_beside(pmu, name, &Running { image, procedures: None, cpus, clock, options }, None).map(|ran| ran.report)
}

/// What a run has come to.
#[derive(Debug, Default)]
struct Ran {
    report: Report,
    /// The counts of PMC1 to PMC6 of each further PMU of POWER9, added up over all threads.
    counts: Vec<[u64; COUNTERS]>,
    /// What each thread's counters beside the guest's have found.
    found: Vec<Found>,
}

/// What is to be run, and how.
struct Running<'a> {
    image: &'a Image,
    procedures: Option<&'a Arc<Procedures>>,
    cpus: usize,
    clock: Clock,
    options: &'a Options,
}

fn run_beside(pmu: &str, name: &str, running: &Running<'_>, beside: Option<&Arc<Plan>>) -> Result<Ran, RunError> {
    let Running { image, procedures, cpus, clock, options } = *running;
    let part = part(pmu, options)?;
    RunError::check(options.engine, pmu)?;
    options.check_cycles()?;
    options.check_gdb()?;
    options.check_memory_mode(part)?;
    driven::check(options)?;
    traced::check(options, cpus)?;
    match part {
        Part::Power9(_) => power::run_image(&power::Job { part, name, image, cpus, clock, extra: &[], beside }, options),
        Part::Itanium(_) | Part::Montecito(_) => {
            ia64::run_image(&ia64::Job { part, name, image, procedures, cpus, clock, beside }, options)
        }
        Part::K8(_) | Part::Knl(_) => x86::run_image(&x86::Job { part, name, image, cpus, clock, beside }, options),
    }
}

/// Runs `guest` as [`run`] does, with a PMU of the same part beside the guest's own, which counts by `plan`. Returns the report and what
/// that PMU found of each thread. The guest and its own PMU see no difference.
///
/// ```
/// use std::sync::Arc;
/// use vm_pmu_board::beside::{Counter, Group, Plan};
/// use vm_pmu::Address::Msr;
/// use vm_pmu_lab::runner::{Options, observe};
///
/// // PerfEvtSel0: RETIRED_INSTRUCTIONS, USR, OS and EN; PerfCtr0 has 48 bits.
/// let counter = Counter { registers: vec![Msr(0xC001_0004)], bits: 48, shared_by: 1 };
/// let group = Group { writes: vec![(Msr(0xC001_0000), 0x43_00C0)], stops: Vec::new(), counters: vec![counter] };
/// let plan = Arc::new(Plan::Count(group));
/// let (report, found) = observe("k8", "filter", &Options::default(), &plan).unwrap();
/// assert_eq!(found[0].counts, [[report.instructions]]);
/// ```
///
/// # Errors
/// [`RunError`], where there is nothing to run, nothing to run it on, or the options are not for a run of which every step is reported.
pub fn observe(pmu: &str, guest: &str, options: &Options, plan: &Arc<Plan>) -> Result<(Report, Vec<Found>), RunError> {
    for (chosen, option) in [(options.parallel, "--parallel"), (options.save_at.is_some(), "--save-at")] {
        if chosen {
            return Err(RunError::NotForEngine { option, pmu: pmu.to_owned() });
        }
    }
    if options.engine != Engine::Interpreter {
        let reason = "counting from outside needs every step: leave out `--engine`".to_owned();
        return Err(RunError::Engine { engine: options.engine, reason });
    }
    let chosen = choose(pmu, guest, options)?;
    let options = chosen.options(options);
    let procedures = chosen.procedures.as_ref();
    let running = Running { image: &chosen.image, procedures, cpus: chosen.cpus, clock: chosen.clock, options: &options };
    let mut ran = run_beside(pmu, guest, &running, Some(plan))?;
    if pmu != POWER9 && guests::named(pmu, guest).is_some() {
        // RBP is what these guests want it to be, and links no frames.
        ran.found.iter_mut().flat_map(|thread| &mut thread.samples).for_each(|sample| sample.callers.clear());
    }
    ran.report.locate(&chosen.symbols);
    Ok((ran.report, ran.found))
}

/// Has PMUs record from the beginning, if that is wanted.
fn start_recording<L: vm_pmu::irq::InterruptLine>(pmus: &vm_pmu::topology::Machine<L>, options: &Options) -> Result<(), RunError> {
    if options.recording == 0 {
        return Ok(());
    }
    pmus.start_recording(options.recording).map_err(|error| RunError::Migrate(MigrateError::Snapshot(error)))
}

/// The report of a run before anything of it is known.
fn begin(part: Part, name: &str, companion: Option<&companion::Companion>, engine: Engine) -> Report {
    let made = match companion.map(companion::Companion::clock) {
        None => "off",
        Some(Clock::Embedder) => "events",
        Some(Clock::Companion) => "events and time",
    };
    Report {
        guest: name.to_owned(),
        pmu: part.name().to_owned(),
        engine: engine.name().to_owned(),
        companion: made.to_owned(),
        ..Report::default()
    }
}

/// What follows a clock of the companion is as good as that clock.
fn judge_clock(report: &mut Report, companion: Option<&companion::Companion>) {
    let Some(companion) = companion.filter(|companion| companion.clock() == Clock::Companion) else { return };
    let modelled = |name: &str| Signal::from_name(name).is_some_and(|signal| companion.supplies(signal));
    let exact = report.counts.iter_mut().filter(|count| count.fidelity == Fidelity::Exact.word());
    for count in exact.filter(|count| count.driven_by.split(" + ").any(modelled)) {
        count.fidelity = Fidelity::Approximate.word().to_owned();
        count.driven_by.push_str(": by the companion's clock");
    }
}

/// Adds what a thread did with its counters and which interrupts it has taken.
fn add_conduct(report: &mut Report, part: Part, thread: usize, usage: &Usage, deliveries: &Deliveries) {
    report.hints.extend(hints(part, thread, usage));
    report.delivered.extend(Delivered::of(thread, deliveries));
}

/// Where the threads are, of which `address` knows the addresses.
fn positions(threads: usize, address: impl Fn(usize) -> Option<u64>) -> Vec<Position> {
    (0..threads).filter_map(|thread| Some(Position { thread, address: address(thread)? })).collect()
}

/// Whether a run that ended with `status`, or was `given_up`, or else ended by `exit`, was right, in one line.
fn verdict(status: Option<u8>, given_up: Option<String>, exit: &dyn fmt::Display, checks: &[Check]) -> (bool, String) {
    let failed = checks.iter().filter(|check| !check.passed()).count();
    let first = checks.iter().find(|check| !check.passed());
    match (status, first) {
        (Some(0), None) if checks.is_empty() => (true, "ended with status 0 and reported no checks".to_owned()),
        (Some(0), None) => {
            (true, if checks.len() == 1 { "the check passed".to_owned() } else { format!("all {} checks passed", checks.len()) })
        }
        (Some(_), Some(check)) => {
            let right = if check.least == check.most { String::new() } else { format!(" to {:#x}", check.most) };
            let of = checks.len();
            let Check { name, seen, least, .. } = check;
            (false, format!("{failed} of {of} checks failed, first `{name}`: {seen:#x} instead of {least:#x}{right}"))
        }
        _ => (false, given_up.unwrap_or_else(|| exit.to_string())),
    }
}
