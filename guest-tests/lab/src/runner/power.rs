//! The engine of POWER.

use std::sync::Arc;

use vm_pmu::arch::power9::COUNTERS;
use vm_pmu::arch::power9::encode::Encoding;
use vm_pmu::companion::{self, Clock, Companion};
use vm_pmu::layout::Layout;
use vm_pmu::topology;
use vm_pmu::{Part, Signal};

#[cfg(feature = "unicorn")]
use super::Engine;
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
use vm_pmu_board::power::{Attached, Cpu, Devices, ExtraPmus, Firmware, MAX_CHIPS, Pace, Rig, pace, supplies};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::{Config, Exit, Limits, MAX_CPUS, Machine, MachineError, Saved, TimeBase};
use vm_pmu_guests::protocol;

/// What is to be run.
pub(super) struct Job<'a> {
    pub(super) part: Part,
    pub(super) name: &'a str,
    pub(super) image: &'a Image,
    /// The threads of one core: 1, 2 or 4.
    pub(super) cpus: usize,
    pub(super) clock: Clock,
    /// What further PMUs count in addition to the guest's own.
    pub(super) extra: &'a [Encoding],
    /// What counts beside the guest's own PMU.
    pub(super) beside: Option<&'a Arc<Plan>>,
}

/// The most bytes of memory that an image can have the machine have.
const MOST_RAM: u64 = 1 << 30;

/// Bytes of memory: enough for an image at the linker's default addresses, which begin at 256 MiB, and as much above it as any guest has.
fn ram(image: &Image) -> u64 {
    let end = image.end();
    if end <= RAM / 2 || end > MOST_RAM - RAM { RAM } else { end.next_multiple_of(RAM) + RAM }
}

/// Runs an image.
pub(super) fn run_image(job: &Job<'_>, options: &Options) -> Result<Ran, RunError> {
    stages(options, job.part.name(), |stage| run_stage(job, options, stage))
}

fn run_stage(job: &Job<'_>, options: &Options, stage: &Stage<'_>) -> Result<Outcome<Ran>, RunError> {
    let Job { part, name, image, cpus, clock, extra, beside } = *job;
    if options.parallel {
        return Err(RunError::NotForEngine { option: "--parallel", pmu: part.name().to_owned() });
    }
    if !(1..=MAX_CPUS).contains(&cpus) {
        return Err(RunError::PowerMachine(MachineError::Cpus { cpus }));
    }
    let lines = Lines::new(cpus);
    // A package is a core, and a chip has one.
    let packages = options.chips.max(1);
    if packages > MAX_CHIPS || !cpus.is_multiple_of(packages) {
        return Err(RunError::Firmware { reason: format!("{cpus} CPUs cannot be divided among {packages} chips, at most {MAX_CHIPS}") });
    }
    let threads = cpus / packages;
    let mut layout = Layout::of(part).packages(packages).threads(threads);
    if options.buffered {
        layout = layout.buffered();
    }
    if options.chips_per_group != 0 {
        layout = layout.packages_per_group(options.chips_per_group);
    }
    // Of several chips each has its part of memory, the last one all that is left.
    let layout = if packages > 1 { layout.memory_per_package(ram(image) / packages.next_power_of_two() as u64) } else { layout };
    let followed = layout.companion().filter(|_| options.companion);
    // With a clock of the companion's, time must not change its pace with what is counted.
    let followed = followed.map(|builder| if clock == Clock::Companion { builder.always() } else { builder });
    let followed = followed.map(|builder| builder.clock(clock));
    let supply = supply(part, followed.as_ref());
    let builder = layout.pmus().supplies(supply.signals).supplies_records(supply.records).pace(pace());
    let pmus = builder.build(lines.clone()).map_err(RunError::Pmus)?;
    start_recording(&pmus, options)?;
    let companion = followed.map(companion::Builder::build);
    // Another machine of the same shape counts beside it.
    let others = beside.map(|_| builder.build(Lines::new(cpus))).transpose().map_err(RunError::Pmus)?;
    let other_companion = followed.filter(|_| beside.is_some()).map(companion::Builder::build);
    let firmware = (options.chips != 0).then(|| Firmware::new(packages, &pmus, companion.as_ref(), Pace::default()));
    let plain = Config { ram: ram(image), cpus, little_endian: !options.big_endian, ..Config::default() };
    let config = match &firmware {
        Some(firmware) => Config { entry: firmware.entry(), pirs: firmware.pirs().to_vec(), ..plain },
        None => plain,
    };
    let devices = Devices::new(&pmus, companion.as_ref(), firmware.as_ref());
    let other_devices = others.as_ref().and_then(|others| Devices::new(others, other_companion.as_ref(), None));
    let Some(first) = pmus.thread(0) else { return Err(RunError::PowerMachine(MachineError::Cpus { cpus })) };
    let traced = Traced::new(part, options);
    if let (Some(firmware), Some(listener)) = (&firmware, &options.listener) {
        firmware.follow(listener);
    }
    let attach = |index: usize| {
        let mut cpu =
            attached(&pmus, companion.as_ref(), devices, index, config.time_base).unwrap_or_else(|| Cpu::new(first, config.time_base));
        cpu.record(&traced.tracer);
        if let Some(firmware) = &firmware {
            cpu.call_firmware(firmware);
        }
        if let Some(thread) = pmus.thread(index).filter(|_| !extra.is_empty()) {
            cpu.count_extra_pmus(ExtraPmus::new(extra, index % threads, threads, thread.totals()));
        }
        if let (Some(plan), Some(others)) = (beside, &others)
            && let Some(other) = attached(others, other_companion.as_ref(), other_devices, index, config.time_base)
        {
            cpu.count_beside(others, other, Arc::clone(plan));
        }
        cpu
    };
    let mut machine = Machine::new(&config, image, attach).map_err(RunError::PowerMachine)?;
    traced.begin(machine.memory());
    if let Some(firmware) = &firmware {
        firmware.boot(machine.memory()).map_err(|reason| RunError::Firmware { reason })?;
    }
    let mut rig = Rig { machine: &mut machine, pmus: &pmus, companion: companion.as_ref(), firmware: firmware.as_ref() };
    if let Some(bytes) = stage.from {
        let saved = migrate::read::<Saved, Attached>(part, bytes).map_err(RunError::Migrate)?;
        rig.restore(&saved.machine, &saved.attached).map_err(|refusal| RunError::Migrate(refusal.into()))?;
    }
    let held = held::Power { machine: &mut *rig.machine, pmus: &pmus, exit: None, little_endian: !options.big_endian };
    let (driven, held) = driven::debug(held, options, stage.steps)?;
    let ended = held.exit.unwrap_or(Exit::Limit);
    let left = if let Some(Driven::Released(left)) = driven { left } else { stage.steps };
    let (exit, given_up) = match driven {
        Some(Driven::Ended | Driven::Killed(_)) => (ended, (ended == Exit::Limit).then_some(GivenUp::Steps)),
        Some(Driven::Released(_)) | None => paced(options, left, &Exit::Limit, |steps| match stage.engine {
            #[cfg(feature = "unicorn")]
            Engine::Unicorn => {
                let refused = |reason| RunError::Engine { engine: stage.engine, reason };
                vm_pmu_board::power::run_on_unicorn(rig.machine, Limits::steps(steps)).map_err(refused)
            }
            _ => Ok(vm_pmu_board::power::run(rig.machine, Limits::steps(steps))),
        })?,
    };
    if stage.save && given_up == Some(GivenUp::Steps) {
        let (machine, attached) = rig.save().map_err(|error| RunError::Migrate(MigrateError::Snapshot(error)))?;
        return migrate::write(&migrate::Saved::new(part, machine, attached)).map(Outcome::Saved).map_err(RunError::Migrate);
    }

    let knows = |signal: Signal| supplies(signal) || companion.as_ref().is_some_and(|companion| companion.supplies(signal));
    let mut report = begin(part, name, companion.as_ref(), stage.engine);
    report.recording = pmus.stop_recording();
    firmware.iter().for_each(Firmware::tell);
    report.posted = firmware.as_ref().map_or_else(Vec::new, Firmware::posted);
    let refused = firmware.as_ref().map_or(0, Firmware::refused);
    let mut counts = vec![[0; COUNTERS]; extra.len()];
    let mut found = Vec::new();
    for index in 0..cpus {
        let now = machine.cpu(index).map_or(0, |cpu| cpu.cycles());
        if let Some(cpu) = machine.observer_mut(index) {
            if beside.is_some() {
                found.push(cpu.found_beside(now));
            }
            cpu.close();
            for (sums, own) in counts.iter_mut().zip(cpu.extra_pmus().counts()) {
                sums.iter_mut().zip(own).for_each(|(sum, count)| *sum += count);
            }
            report.instructions += cpu.instructions();
            report.counts.extend(cpu.ledger().counts(part, &knows));
            report.trace.extend(cpu.trace());
            add_conduct(&mut report, part, index, cpu.usage(), cpu.deliveries());
        }
        if let Some(thread) = pmus.thread(index) {
            report.registers.extend(registers(index, &thread));
        }
    }
    report.interrupts = pmus.line().requested();
    judge_clock(&mut report, companion.as_ref());
    (report.checks, report.samples) = protocol::read(|address, bytes| machine.memory().read_bytes(address, bytes).is_ok());
    report.console = String::from_utf8_lossy(&machine.console()).into_owned();
    let status = match exit {
        Exit::Status { status, .. } => Some(status),
        _ => None,
    };
    if status.is_none() {
        report.positions = positions(cpus, |index| machine.cpu(index).map(|cpu| cpu.pc()));
    }
    (report.passed, report.ending) = verdict(status, given_up.map(|why| why.told(options)), &exit, &report.checks);
    if let Some(Driven::Killed(why)) = driven {
        why.clone_into(&mut report.ending);
    }
    if refused != 0 {
        (report.passed, report.ending) = (false, format!("memory refused {refused} accesses of counters that are posted there"));
    }
    Ok(Outcome::Ended(Ran { report, counts, found }))
}

/// The glue of CPU `index`, attached to its thread of `pmus`.
fn attached<'a>(
    pmus: &'a topology::Machine<Lines>,
    companion: Option<&'a Companion>,
    devices: Option<Devices<'a>>,
    index: usize,
    time_base: TimeBase,
) -> Option<Cpu<'a>> {
    let mut cpu = Cpu::new(pmus.thread(index)?, time_base);
    cpu.broadcast_to((0..pmus.threads()).filter(|other| *other != index).filter_map(|other| pmus.thread(other)).collect());
    if let Some(devices) = devices {
        cpu.attach_devices(devices);
    }
    if let Some(follower) = companion.and_then(|companion| companion.follower(index)) {
        cpu.follow(follower);
    }
    Some(cpu)
}
