//! Machines of x86: PMUs, boxes and companion around CPUs that some engine executes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vm_pmu::arch::feed::Context;
use vm_pmu::companion::{self, Clock, Companion};
use vm_pmu::die::MemoryMode;
use vm_pmu::layout::Layout;
use vm_pmu::snapshot::{CompanionSnapshot, SnapshotError};
use vm_pmu::topology::{self, Thread};
use vm_pmu::untile::Frequencies;
use vm_pmu::{Part, Signal};

use super::migrate::{self, Bytes, Outcome, Stage};
use super::traced::Traced;
use super::{
    Cycles, Engine, GivenUp, MigrateError, Options, RAM, Ran, RunError, add_conduct, begin, judge_clock, paced, positions, registers,
    stages, start_recording, verdict,
};
use crate::entries::known::supply;
use crate::held::{self, Driven};
use crate::report::Report;
use vm_pmu_board::beside::Plan;
use vm_pmu_board::x86::{Board, Boxes, CoreClock, Cpu, CpuGlue, Devices, Topology, pace, supplies};
use vm_pmu_board::{LineState, Lines};
use vm_pmu_engines::x86::{Config, Exit, Image, Limits, Machine, MachineError, Mode, Saved};
use vm_pmu_guests::protocol;

/// The most CPUs that the engines take.
const MAX_CPUS: usize = 255;

/// Bytes of memory; where a memory-side cache is, twice what it holds more, so that two lines of memory can share one of its.
fn ram(part: Part) -> u64 {
    RAM + companion::parts::named(part.name()).map_or(0, |profile| 2 * profile.memory.near_bytes)
}

/// The layout with that use of MCDRAM, whose memory is the highest.
fn with_memory_mode(layout: Layout, part: Part, mode: MemoryMode) -> Layout {
    let chosen = layout.memory_mode(mode);
    match chosen.die() {
        Some(die) if mode != MemoryMode::Cache => chosen.memory_per_package(ram(part) - die.flat()),
        _ => layout,
    }
}

/// Has another engine execute the machine's instructions, if it is chosen.
fn execute_with(engine: Engine, machine: &mut Machine<Cpu<'_>>) -> Result<(), RunError> {
    match engine {
        #[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
        Engine::Kvm => vm_pmu_board::x86::execute_with_kvm(machine).map_err(|reason| RunError::Engine { engine, reason }),
        #[cfg(feature = "unicorn")]
        Engine::Unicorn => vm_pmu_board::x86::execute_with_unicorn(machine).map_err(|reason| RunError::Engine { engine, reason }),
        _ => {
            let _ = machine;
            Ok(())
        }
    }
}

/// What is to be run.
pub(super) struct Job<'a> {
    pub(super) part: Part,
    pub(super) name: &'a str,
    pub(super) image: &'a Image,
    pub(super) cpus: usize,
    pub(super) clock: Clock,
    /// What counts beside the guest's own PMU.
    pub(super) beside: Option<&'a Arc<Plan>>,
}

/// Runs an image.
pub(super) fn run_image(job: &Job<'_>, options: &Options) -> Result<Ran, RunError> {
    let pmu = job.part.name();
    if options.big_endian {
        return Err(RunError::NotForEngine { option: "--big-endian", pmu: pmu.to_owned() });
    }
    stages(options, pmu, |stage| run_stage(job, options, stage))
}

fn run_stage(job: &Job<'_>, options: &Options, stage: &Stage<'_>) -> Result<Outcome<Ran>, RunError> {
    let Job { part, name, image, cpus, clock, beside } = *job;
    let surroundings = Surroundings::new(part, cpus, clock, options)?;
    // A guest that runs freely has no executor of single instructions.
    let stepped = if options.cycles == Cycles::Tsc { Engine::Interpreter } else { stage.engine };
    let beside = beside.map(|plan| Ok((Surroundings::new(part, cpus, clock, options)?, plan))).transpose()?;
    let beside = beside.as_ref().map(|(others, plan)| (others, *plan));
    let mut machine = surroundings.build(image, stepped, beside)?;
    if let Some(saved) = stage.from {
        surroundings.load(&mut machine, saved).map_err(RunError::Migrate)?;
    }
    let (exit, given_up) = match options.cycles {
        Cycles::Engine => match surroundings.drive(&mut machine, options, stage.steps)? {
            Ok(ended) => ended,
            Err(killed) => {
                let mut report = begin(part, name, surroundings.companion.as_deref(), stage.engine);
                surroundings.tell(&mut machine, &mut report);
                killed.clone_into(&mut report.ending);
                return Ok(Outcome::Ended(Ran { report, ..Ran::default() }));
            }
        },
        Cycles::Tsc => {
            let exit = run_freely(&mut machine, job, options)?;
            let given_up = (exit == Exit::Limit).then_some(GivenUp::Time);
            (exit, given_up)
        }
    };
    if stage.save && given_up == Some(GivenUp::Steps) {
        return surroundings.save(&machine).map(Outcome::Saved).map_err(RunError::Migrate);
    }
    let found = (0..cpus).filter_map(|index| {
        let now = machine.cpu(index)?.cycles();
        Some(machine.observer_mut(index)?.found_beside(now))
    });
    let found = found.collect();
    let mut report = begin(part, name, surroundings.companion.as_deref(), stage.engine);
    report.recording = surroundings.pmus.stop_recording();
    surroundings.tell(&mut machine, &mut report);
    let status = match exit {
        Exit::Status { status, .. } => Some(status),
        _ => None,
    };
    if options.cycles == Cycles::Tsc {
        // An event of cycles is as good as the cycles are.
        for count in report.counts.iter_mut().filter(|count| count.fidelity == "exact") {
            count.fidelity = "approximate".to_owned();
            count.driven_by = "time-stamp counter, up to the last exit".to_owned();
        }
        report.cycles = Some((0..cpus).filter_map(|index| machine.cpu(index)).map(|cpu| cpu.cycles()).sum());
    }
    if status.is_none() {
        // Delivering a fault that nothing handles can leave the instruction that caused it.
        let fault = |index| match &exit {
            Exit::Failed { cpu, stop } if *cpu == index => stop.address(),
            _ => None,
        };
        report.positions = positions(cpus, |index| fault(index).or_else(|| machine.cpu(index).map(|cpu| cpu.rip())));
    }
    (report.passed, report.ending) = verdict(status, given_up.map(|why| why.told(options)), &exit, &report.checks);
    Ok(Outcome::Ended(Ran { report, found, ..Ran::default() }))
}

/// Has the host's processor execute the guest as fast as it can.
fn run_freely(machine: &mut Machine<Cpu<'_>>, job: &Job<'_>, options: &Options) -> Result<Exit, RunError> {
    #[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
    let exit = {
        let longest = std::time::Duration::from_secs(options.seconds);
        vm_pmu_engines::kvm::free::run(machine, job.image, job.part, longest)
    };
    #[cfg(not(all(feature = "kvm", target_os = "linux", target_arch = "x86_64")))]
    let exit = {
        let _ = (machine, job);
        Err("this build does not have it".to_owned())
    };
    exit.map_err(|reason| RunError::Engine { engine: options.engine, reason })
}

/// Everything of a machine but its CPUs and memory: PMUs, boxes, companion, the lines and clocks between them.
///
/// ```
/// use vm_pmu::Part;
/// use vm_pmu::companion::Clock;
/// use vm_pmu_engines::x86::{Exit, Limits};
/// use vm_pmu_lab::runner::x86::Surroundings;
/// use vm_pmu_lab::runner::{Engine, Options};
///
/// let part = Part::named("k8").unwrap();
/// let image = vm_pmu_guests::named("k8", "count").unwrap().image(true).unwrap();
/// let surroundings = || Surroundings::new(part, 1, Clock::Embedder, &Options::default()).unwrap();
///
/// let one = surroundings();
/// let mut machine = one.machine(&image, Engine::Interpreter).unwrap();
/// assert_eq!(machine.run(Limits::steps(100)), Exit::Limit);
/// let bytes = one.save(&machine).unwrap();
///
/// let other = surroundings();
/// let mut machine = other.machine(&image, Engine::Interpreter).unwrap();
/// other.load(&mut machine, &bytes).unwrap();
/// assert!(matches!(machine.run(Limits::NONE), Exit::Status { status: 0, .. }));
/// ```
#[derive(Debug)]
pub struct Surroundings {
    part: Part,
    cpus: usize,
    traced: Traced,
    lines: Lines,
    topology: Topology,
    /// The clocks of the cores, where threads share one.
    cores: Vec<CoreClock>,
    pmus: Arc<topology::Machine<Lines>>,
    companion: Option<Arc<Companion>>,
    boxes: Option<Arc<Boxes>>,
    board: Board,
    config: Config,
}

/// How a run has ended, and why it was given up if it was.
type Ended = (Exit, Option<GivenUp>);

/// What surroundings remember.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Attached {
    pmus: Bytes,
    companion: Option<Bytes>,
    /// The glue of each CPU.
    glue: Vec<CpuGlue>,
    lines: Vec<LineState>,
    /// How far the clock of each core is.
    cores: Vec<u64>,
    /// That of the boxes.
    boxes: Option<u64>,
}

impl Surroundings {
    /// Those of a machine of `cpus` CPUs of `part`. With [`Clock::Embedder`] every step is one cycle, and one clock of the boxes; with the
    /// companion's clock these go at the part's frequencies.
    ///
    /// # Errors
    /// [`RunError::Machine`], where there are no such machines.
    pub fn new(part: Part, cpus: usize, clock: Clock, options: &Options) -> Result<Surroundings, RunError> {
        if !(1..=MAX_CPUS).contains(&cpus) {
            return Err(RunError::Machine(MachineError::Cpus { cpus }));
        }
        let lines = Lines::new(cpus);
        let nodes = options.chips.max(1);
        if nodes > cpus || !cpus.is_multiple_of(nodes) || nodes > 1 && part.shape().has_untile {
            return Err(RunError::Nodes { cpus, nodes, pmu: part.name().to_owned() });
        }
        let topology = Topology::of(part, cpus / nodes);
        // Cores come in whole packages of PMUs, even if the machine has fewer CPUs.
        let layout = Layout::of(part).packages(nodes).cores(topology.packages(cpus / nodes) * topology.package / topology.core);
        let layout = if nodes > 1 { layout.memory_per_package(ram(part) / nodes as u64) } else { layout };
        let layout = with_memory_mode(layout, part, options.memory_mode);
        let followed = layout.companion().filter(|_| options.companion && options.cycles == Cycles::Engine);
        // With a clock of the companion's, time must not change its pace with what is counted.
        let followed = followed.map(|builder| if clock == Clock::Companion { builder.always() } else { builder });
        let followed = followed.map(|builder| builder.threads(cpus / nodes).clock(clock));
        let supply = supply(part, followed.as_ref());
        let mut builder = layout.pmus().supplies(supply.signals).supplies_records(supply.records).pace(pace());
        if options.share_counters {
            builder = builder.share_counters();
        }
        // Where a step is a cycle, a cycle has no length: then the clocks of boxes go as fast.
        if clock == Clock::Embedder && part.shape().has_untile {
            builder = builder.frequencies(Frequencies::EQUAL);
        }
        let pmus = Arc::new(builder.build(lines.clone()).map_err(RunError::Pmus)?);
        start_recording(&pmus, options)?;
        // A package may have more threads than the machine has CPUs.
        for thread in (cpus..pmus.threads()).filter_map(|number| pmus.thread(number)) {
            thread.set_context(Context { halted: true, ..thread.context() });
        }
        let companion = followed.map(companion::Builder::build).map(Arc::new);
        let boxes = pmus.untile().map(|_| Arc::new(Boxes::new(Arc::clone(&pmus))));
        let board = match &boxes {
            Some(boxes) => Board::new(part, cpus).with_configuration(boxes.clone()),
            None => Board::new(part, cpus),
        };
        let board = match &companion {
            Some(companion) => board.with_devices(Devices::new(Arc::clone(&pmus), Arc::clone(companion))),
            None => board,
        };
        let config = Config {
            ram: ram(part),
            cpus,
            performance_mask: board.performance_mask(),
            mode: if options.parallel { Mode::Parallel } else { Mode::default() },
            user: vec![protocol::USER],
            dma: true,
        };
        let cores = (0..cpus.div_ceil(topology.core)).map(|_| CoreClock::new()).collect();
        Ok(Surroundings { part, cpus, traced: Traced::new(part, options), lines, topology, cores, pmus, companion, boxes, board, config })
    }

    /// The machine that they are around, about to execute `image` on `engine`.
    ///
    /// # Errors
    /// [`RunError`], where the engine is not there or refuses the image.
    pub fn machine(&self, image: &Image, engine: Engine) -> Result<Machine<Cpu<'_>>, RunError> {
        self.build(image, engine, None)
    }

    /// The same with the PMUs of `beside`, other surroundings of the same shape, beside its own.
    fn build<'a>(
        &'a self,
        image: &Image,
        engine: Engine,
        beside: Option<(&'a Surroundings, &Arc<Plan>)>,
    ) -> Result<Machine<Cpu<'a>>, RunError> {
        RunError::check(engine, self.part.name())?;
        if engine == Engine::Unicorn && self.config.mode == Mode::Parallel {
            return Err(RunError::Engine { engine, reason: "its CPUs take turns: leave out `--parallel`".to_owned() });
        }
        let missing = || RunError::Machine(MachineError::Cpus { cpus: self.cpus });
        let first = self.pmus.thread(0).ok_or_else(missing)?;
        let attach = |index: usize| {
            let mut cpu = self.attach(index, first);
            cpu.record(&self.traced.tracer);
            if let Some((others, plan)) = beside
                && let Some(first) = others.pmus.thread(0)
            {
                cpu.count_beside(&others.pmus, others.attach(index, first), Arc::clone(plan));
            }
            cpu
        };
        let mut board = self.board.clone();
        if let Some((others, _)) = beside {
            board = others.devices().into_iter().fold(board, Board::with_devices);
        }
        let mut machine = Machine::new(&self.config, image, Arc::new(board), attach).map_err(RunError::Machine)?;
        self.traced.begin(machine.memory());
        execute_with(engine, &mut machine)?;
        Ok(machine)
    }

    /// The glue of CPU `index`; `first` is the thread of CPU 0.
    fn attach<'a>(&'a self, index: usize, first: Thread<'a, Lines>) -> Cpu<'a> {
        let mut cpu = Cpu::new(self.pmus.thread(index).unwrap_or(first), &self.lines);
        if let Some(clock) = self.cores.get(index / self.topology.core).filter(|_| self.topology.core > 1) {
            cpu.share_core(clock.clone());
        }
        if let Some(follower) = self.companion.as_ref().and_then(|companion| companion.follower(index)) {
            cpu.follow(follower, self.config.ram);
        }
        if let (Some(boxes), Some(untile)) = (&self.boxes, self.pmus.untile()) {
            cpu.stand_beside(Arc::clone(boxes), untile, self.companion.as_deref());
        }
        cpu
    }

    /// What devices do reaches these.
    fn devices(&self) -> Option<Devices> {
        let companion = self.companion.as_ref()?;
        Some(Devices::new(Arc::clone(&self.pmus), Arc::clone(companion)))
    }

    /// The PMUs of its CPUs, and the boxes.
    #[must_use]
    pub fn pmus(&self) -> &topology::Machine<Lines> {
        &self.pmus
    }

    /// The machine and everything around it, between two runs, as bytes that [`load`](Surroundings::load) takes.
    ///
    /// # Errors
    /// [`MigrateError`], where there is no memory for them.
    pub fn save(&self, machine: &Machine<Cpu<'_>>) -> Result<Vec<u8>, MigrateError> {
        // The PMUs first: an interrupt that comes due by saving them arrives at the lines.
        let pmus = Bytes(self.pmus.save()?);
        let cpus = || (0..self.cpus).filter_map(|index| machine.observer(index));
        let followers: Vec<_> = cpus().filter_map(Cpu::companion).collect();
        let companion = self.companion.as_ref().map(|companion| companion.save_snapshot(&followers)).transpose()?;
        let attached = Attached {
            pmus,
            companion: companion.map(Bytes),
            glue: cpus().map(Cpu::glue).collect(),
            lines: self.lines.states(),
            cores: self.cores.iter().map(CoreClock::now).collect(),
            boxes: self.boxes.as_ref().map(|boxes| boxes.clock().now()),
        };
        migrate::write(&migrate::Saved::new(self.part, machine.save(), attached))
    }

    /// Makes the machine and everything around it go on from what was saved, all of it or nothing.
    ///
    /// # Errors
    /// [`MigrateError`], and nothing is changed.
    pub fn load(&self, machine: &mut Machine<Cpu<'_>>, bytes: &[u8]) -> Result<(), MigrateError> {
        let migrate::Saved { machine: engine, attached, .. } = migrate::read::<Saved, Attached>(self.part, bytes)?;
        self.check(&attached)?;
        let refused = |error: vm_pmu_engines::x86::RestoreError| MigrateError::Engine { reason: error.to_string() };
        machine.accepts(&engine).map_err(refused)?;
        let (pmus, lines) = (self.pmus.save()?, self.lines.states());
        self.pmus.load(&attached.pmus.0)?;
        // The companion after the glue, which passes the demand to it.
        let glue: Vec<CpuGlue> = machine.observers_mut().map(|cpu| cpu.glue()).collect();
        machine.observers_mut().zip(&attached.glue).for_each(|(cpu, glue)| cpu.go_on(glue));
        if let Err(error) = self.load_companion(machine, attached.companion.as_ref()) {
            self.pmus.load(&pmus)?;
            self.lines.go_on(&lines);
            machine.observers_mut().zip(&glue).for_each(|(cpu, glue)| cpu.go_on(glue));
            return Err(error.into());
        }
        self.lines.go_on(&attached.lines);
        self.cores.iter().zip(&attached.cores).for_each(|(clock, now)| clock.set(*now));
        if let (Some(boxes), Some(now)) = (&self.boxes, attached.boxes) {
            boxes.clock().set(now);
        }
        machine.restore(&engine).map_err(refused)
    }

    /// Whether these surroundings can remember that.
    fn check(&self, attached: &Attached) -> Result<(), MigrateError> {
        let differs = [
            (attached.companion.is_some() != self.companion.is_some(), "whether there is a companion"),
            (attached.boxes.is_some() != self.boxes.is_some(), "whether there are boxes"),
            (attached.glue.len() != self.cpus || !self.lines.fit(&attached.lines), "the number of CPUs"),
            (attached.cores.len() != self.cores.len(), "the number of cores"),
        ];
        if let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) {
            return Err(MigrateError::Shape { what });
        }
        if attached.glue.iter().all(CpuGlue::is_possible) { Ok(()) } else { Err(MigrateError::Content) }
    }

    fn load_companion(&self, machine: &mut Machine<Cpu<'_>>, bytes: Option<&Bytes>) -> Result<(), SnapshotError> {
        let (Some(companion), Some(bytes)) = (&self.companion, bytes) else { return Ok(()) };
        let mut followers: Vec<_> = machine.observers_mut().filter_map(Cpu::companion_mut).collect();
        companion.load_snapshot(&bytes.0, &mut followers)
    }

    /// Runs the machine, or has somebody run it step by step; in words why the run is over, if that ended it.
    fn drive(&self, machine: &mut Machine<Cpu<'_>>, options: &Options, steps: u64) -> Result<Result<Ended, &'static str>, RunError> {
        let held = held::X86 { machine: &mut *machine, pmus: &self.pmus, exit: None };
        let (driven, held) = super::driven::debug(held, options, steps)?;
        let ended = held.exit.unwrap_or(Exit::Limit);
        Ok(match driven {
            Some(Driven::Ended) => {
                let given_up = (ended == Exit::Limit).then_some(GivenUp::Steps);
                Ok((ended, given_up))
            }
            Some(Driven::Killed(why)) => Err(why),
            Some(Driven::Released(_)) | None => {
                let left = if let Some(Driven::Released(left)) = driven { left } else { steps };
                Ok(paced(options, left, &Exit::Limit, |steps| Ok(vm_pmu_board::x86::run(machine, Limits::steps(steps))))?)
            }
        })
    }

    /// Tells what a run has shown that is over.
    fn tell(&self, machine: &mut Machine<Cpu<'_>>, report: &mut Report) {
        let knows = |signal: Signal| supplies(signal) || self.companion.as_ref().is_some_and(|companion| companion.supplies(signal));
        for index in 0..self.cpus {
            if let Some(cpu) = machine.observer_mut(index) {
                cpu.close();
                report.instructions += cpu.instructions();
                report.counts.extend(cpu.ledger().counts(self.part, &knows));
                report.trace.extend(cpu.trace());
                add_conduct(report, self.part, index, cpu.usage(), cpu.deliveries());
            }
            if let Some(thread) = self.pmus.thread(index) {
                report.registers.extend(registers(index, &thread));
            }
        }
        judge_clock(report, self.companion.as_deref());
        (report.checks, report.samples) = protocol::read(|address, bytes| machine.memory().read_bytes(address, bytes).is_ok());
        report.interrupts = self.lines.requested();
        report.console = String::from_utf8_lossy(&machine.console()).into_owned();
    }
}
