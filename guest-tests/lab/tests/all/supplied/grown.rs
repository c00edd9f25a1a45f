//! Which signals grow while guests run on the engine alone, with everything watched.

use std::collections::BTreeSet;

use vm_pmu::arch::feed::SignalSet;
use vm_pmu::arch::{itanium, montecito};
use vm_pmu::companion::{self, Clock};
use vm_pmu::topology::{Builder, Machine as Pmus};
use vm_pmu::{Part, Signal};
use vm_pmu_board::{self as board, Lines};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::{ia64, power, x86};
use vm_pmu_lab::runner::x86::Surroundings;
use vm_pmu_lab::runner::{Engine, Options};

use super::images;

const RAM: u64 = 32 << 20;
/// No guest is run further than this.
const STEPS: u64 = 100_000;

/// Signals that grew.
#[derive(Default)]
pub(super) struct Grown {
    signals: BTreeSet<Signal>,
    /// Of the companion that notifies the threads of a core of their misses.
    clock: Clock,
}

impl Grown {
    /// Runs guests of `part` until all of `wanted` have grown or there is no guest left: first one that does a little of everything,
    /// without a companion.
    pub(super) fn of(part: Part, wanted: &BTreeSet<Signal>) -> Grown {
        let mut grown = Grown::default();
        if let Some(image) = images::medley(part) {
            // Two CPUs on POWER, each of which is notified of the other's invalidations.
            grown.run(&image, if matches!(part, Part::Power9(_)) { 2 } else { 1 }, part);
        }
        for guest in vm_pmu_guests::of(part.name()).filter(|guest| guest.chips == 0) {
            if wanted.is_subset(&grown.signals) {
                break;
            }
            grown.clock = if guest.foretells_cycles { Clock::Embedder } else { Clock::Companion };
            grown.run(&guest.image(true).unwrap(), guest.cpus, part);
        }
        grown
    }

    pub(super) fn has(&self, signal: Signal) -> bool {
        self.signals.contains(&signal)
    }

    fn add(&mut self, pmus: &Pmus<Lines>) {
        let totals = || (0..pmus.threads()).filter_map(|number| pmus.thread(number)).map(|thread| thread.totals());
        self.signals.extend(Signal::all().filter(|signal| totals().any(|totals| totals.get(*signal) != 0)));
    }

    fn run(&mut self, image: &Image, cpus: usize, part: Part) {
        match part {
            Part::K8(_) | Part::Knl(_) => self.run_x86(image, cpus, part),
            Part::Itanium(_) | Part::Montecito(_) => self.run_itanium(image, cpus, part),
            Part::Power9(_) => self.run_power(image, cpus, part),
        }
    }

    fn run_x86(&mut self, image: &Image, cpus: usize, part: Part) {
        let options = Options { companion: false, ..Options::default() };
        let surroundings = Surroundings::new(part, cpus, Clock::Embedder, &options).unwrap();
        let mut machine = surroundings.machine(image, Engine::Interpreter).unwrap();
        machine.observers_mut().for_each(|cpu| cpu.watch(SignalSet::ALL));
        machine.run(x86::Limits::steps(STEPS));
        self.add(surroundings.pmus());
    }

    /// The threads switch when one misses the third level, of which the engine is notified by a companion.
    fn run_itanium(&mut self, image: &Image, cpus: usize, part: Part) {
        let lines = Lines::new(cpus);
        let pmus = Builder::of(part).threads(cpus).build(lines.clone()).unwrap();
        let builder = companion::Builder::new(part.name()).ok().filter(|_| cpus > 1);
        let companion = builder.map(|builder| builder.threads(cpus).clock(self.clock).build());
        let info = if matches!(part, Part::Itanium(_)) { itanium::PERF_MON_INFO } else { montecito::PERF_MON_INFO };
        let attach = |index: usize| {
            let mut cpu = board::ia64::Cpu::new(pmus.thread(index).unwrap(), &lines, info);
            if let Some(companion) = &companion {
                cpu.follow(companion.follower(index).unwrap(), true);
            }
            cpu.watch(SignalSet::ALL);
            cpu
        };
        let ways = if matches!(part, Part::Itanium(_)) { 2 } else { 32 };
        let config = ia64::Config { ram: RAM, cores: 1, threads: cpus, alat_ways: ways, ..ia64::Config::default() };
        let mut machine = ia64::Machine::new(&config, image, attach).unwrap();
        machine.run(ia64::Limits::steps(STEPS));
        self.add(&pmus);
    }

    fn run_power(&mut self, image: &Image, cpus: usize, part: Part) {
        let lines = Lines::new(cpus);
        let pmus = Builder::of(part).threads(cpus).build(lines.clone()).unwrap();
        let config = power::Config { ram: RAM, cpus, ..power::Config::default() };
        let attach = |index: usize| {
            let mut cpu = board::power::Cpu::new(pmus.thread(index).unwrap(), config.time_base);
            cpu.broadcast_to((0..cpus).filter(|other| *other != index).filter_map(|other| pmus.thread(other)).collect());
            cpu.watch(SignalSet::ALL);
            cpu
        };
        let mut machine = power::Machine::new(&config, image, attach).unwrap();
        machine.run(power::Limits::steps(STEPS));
        self.add(&pmus);
    }
}
