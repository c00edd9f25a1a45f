//! The engine of IA-64.

use std::sync::Arc;

use vm_pmu::arch::ia64::PerfMonInfo;
use vm_pmu::companion::{self, Clock};
use vm_pmu::layout::Layout;
use vm_pmu::{Part, Signal};

use super::driven;
use super::migrate::{self, Outcome, Stage, stages};
use super::traced::Traced;
use super::{
    GivenUp, MigrateError, Options, RAM, Ran, RunError, add_conduct, begin, judge_clock, paced, positions, registers, start_recording,
    verdict,
};
use crate::entries::known::supply;
use crate::held::{self, Driven};
use vm_pmu_board::Lines;
use vm_pmu_board::beside::Plan;
use vm_pmu_board::ia64::{Attached, Cpu, Procedures, Rig, supplies};
use vm_pmu_engines::ia64::{Config, Exit, Limits, MAX_THREADS, Machine, MachineError, Saved};
use vm_pmu_engines::image::Image;
use vm_pmu_guests::protocol;

/// What is to be run.
pub(super) struct Job<'a> {
    pub(super) part: Part,
    pub(super) name: &'a str,
    pub(super) image: &'a Image,
    /// What its file says of callers.
    pub(super) procedures: Option<&'a Arc<Procedures>>,
    /// The threads of one core: 1 or 2.
    pub(super) cpus: usize,
    pub(super) clock: Clock,
    /// What counts beside the guest's own PMU.
    pub(super) beside: Option<&'a Arc<Plan>>,
}

/// What the part's firmware says of its monitors.
fn firmware(part: Part) -> PerfMonInfo {
    match part {
        Part::Itanium(_) => vm_pmu::arch::itanium::PERF_MON_INFO,
        _ => vm_pmu::arch::montecito::PERF_MON_INFO,
    }
}

/// How many entries of the ALAT are in a set: of the first Itanium two (PI30 of the notes on the Itaniums' pipelines), of Montecito all.
fn alat_ways(part: Part) -> usize {
    if matches!(part, Part::Itanium(_)) { 2 } else { 32 }
}

/// Runs an image.
pub(super) fn run_image(job: &Job<'_>, options: &Options) -> Result<Ran, RunError> {
    stages(options, job.part.name(), |stage| run_stage(job, options, stage))
}

fn run_stage(job: &Job<'_>, options: &Options, stage: &Stage<'_>) -> Result<Outcome<Ran>, RunError> {
    let Job { part, name, image, procedures, cpus, clock, beside } = *job;
    for (chosen, option) in [(options.parallel, "--parallel"), (options.big_endian, "--big-endian")] {
        if chosen {
            return Err(RunError::NotForEngine { option, pmu: part.name().to_owned() });
        }
    }
    let info = firmware(part);
    let config = Config { ram: RAM, cores: 1, threads: cpus, alat_ways: alat_ways(part), ..Config::default() };
    if !(1..=MAX_THREADS).contains(&cpus) {
        return Err(RunError::Ia64Machine(MachineError::Threads { cores: 1, threads: cpus }));
    }
    let lines = Lines::new(cpus);
    let layout = Layout::of(part).threads(cpus);
    let followed = layout.companion().filter(|_| options.companion);
    // With a clock of the companion's, time must not change its pace with what is counted.
    let followed = followed.map(|builder| if clock == Clock::Companion { builder.always() } else { builder });
    let followed = followed.map(|builder| builder.clock(clock));
    let supply = supply(part, followed.as_ref());
    let builder = layout.pmus().supplies(supply.signals).supplies_records(supply.records);
    let pmus = builder.build(lines.clone()).map_err(RunError::Pmus)?;
    start_recording(&pmus, options)?;
    let companion = followed.map(companion::Builder::build);
    // Another machine of the same shape counts beside it.
    let other_lines = Lines::new(cpus);
    let others = beside.map(|_| builder.build(other_lines.clone())).transpose().map_err(RunError::Pmus)?;
    let other_companion = followed.filter(|_| beside.is_some()).map(companion::Builder::build);
    let Some(first) = pmus.thread(0) else { return Err(RunError::Ia64Machine(MachineError::Threads { cores: 1, threads: cpus })) };
    let traced = Traced::new(part, options);
    let attach = |index: usize| {
        let mut cpu = Cpu::new(pmus.thread(index).unwrap_or(first), &lines, info);
        cpu.record(&traced.tracer);
        if let Some(follower) = companion.as_ref().and_then(|companion| companion.follower(index)) {
            cpu.follow(follower, cpus > 1);
        }
        if let (Some(plan), Some(others)) = (beside, &others)
            && let Some(thread) = others.thread(index)
        {
            let mut other = Cpu::new(thread, &other_lines, info);
            if let Some(follower) = other_companion.as_ref().and_then(|companion| companion.follower(index)) {
                other.follow(follower, cpus > 1);
            }
            cpu.count_beside(others, other, Arc::clone(plan));
            if let Some(procedures) = procedures {
                cpu.follow_callers(Arc::clone(procedures));
            }
        }
        cpu
    };
    let mut machine = Machine::new(&config, image, attach).map_err(RunError::Ia64Machine)?;
    traced.begin(machine.memory());
    let mut rig = Rig { machine: &mut machine, pmus: &pmus, lines: &lines, companion: companion.as_ref() };
    if let Some(bytes) = stage.from {
        let saved = migrate::read::<Saved, Attached>(part, bytes).map_err(RunError::Migrate)?;
        rig.restore(&saved.machine, &saved.attached).map_err(|refusal| RunError::Migrate(refusal.into()))?;
    }
    let held = held::Ia64 { machine: &mut *rig.machine, pmus: &pmus, exit: None };
    let (driven, held) = driven::debug(held, options, stage.steps)?;
    let ended = held.exit.unwrap_or(Exit::Limit);
    let left = if let Some(Driven::Released(left)) = driven { left } else { stage.steps };
    let (exit, given_up) = match driven {
        Some(Driven::Ended | Driven::Killed(_)) => {
            let given_up = (ended == Exit::Limit).then_some(GivenUp::Steps);
            (ended, given_up)
        }
        Some(Driven::Released(_)) | None => {
            paced(options, left, &Exit::Limit, |steps| Ok(vm_pmu_board::ia64::run(rig.machine, Limits::steps(steps))))?
        }
    };
    if stage.save && given_up == Some(GivenUp::Steps) {
        let (machine, attached) = rig.save().map_err(|error| RunError::Migrate(MigrateError::Snapshot(error)))?;
        return migrate::write(&migrate::Saved::new(part, machine, attached)).map(Outcome::Saved).map_err(RunError::Migrate);
    }

    let knows = |signal: Signal| supplies(signal) || companion.as_ref().is_some_and(|companion| companion.supplies(signal));
    let mut report = begin(part, name, companion.as_ref(), options.engine);
    report.recording = pmus.stop_recording();
    let mut found = Vec::new();
    for index in 0..cpus {
        let now = machine.cpu(index).map_or(0, |cpu| cpu.cycles());
        if let Some(cpu) = machine.observer_mut(index) {
            if beside.is_some() {
                found.push(cpu.found_beside(now));
            }
            cpu.close();
            report.instructions += cpu.instructions();
            report.counts.extend(cpu.ledger().counts(part, &knows));
            report.trace.extend(cpu.trace());
            add_conduct(&mut report, part, index, cpu.usage(), cpu.deliveries());
        }
        if let Some(thread) = pmus.thread(index) {
            report.registers.extend(registers(index, &thread));
        }
    }
    judge_clock(&mut report, companion.as_ref());
    (report.checks, report.samples) = protocol::read(|address, bytes| machine.memory().read_bytes(address, bytes).is_ok());
    report.interrupts = lines.requested();
    report.console = String::from_utf8_lossy(&machine.console()).into_owned();
    let status = match exit {
        Exit::Status { status, .. } => Some(status),
        _ => None,
    };
    if status.is_none() {
        report.positions = positions(cpus, |index| machine.cpu(index).map(|cpu| cpu.ip()));
    }
    (report.passed, report.ending) = verdict(status, given_up.map(|why| why.told(options)), &exit, &report.checks);
    if let Some(Driven::Killed(why)) = driven {
        why.clone_into(&mut report.ending);
    }
    Ok(Outcome::Ended(Ran { report, found, ..Ran::default() }))
}
