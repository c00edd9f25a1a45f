//! Which signals grow while guests run, with everything watched.

use std::collections::BTreeSet;

use vm_pmu::arch::event::When;
use vm_pmu::arch::feed::{Context, SignalSet};
use vm_pmu::arch::ia64::PerfMonInfo;
use vm_pmu::arch::{itanium, montecito};
use vm_pmu::companion::{self, Clock, Companion};
use vm_pmu::topology::{Builder, Machine as Pmus};
use vm_pmu::{Part, Signal};
use vm_pmu_guest_tests::attach::{self, Lines};
use vm_pmu_guest_tests::engine::{interp, itanium as ia64, power};
use vm_pmu_guest_tests::guests::Guest;
use vm_pmu_guest_tests::runner::x86::Surroundings;
use vm_pmu_guest_tests::runner::{Engine, Options};

const RAM: u64 = 32 << 20;
/// MSR: PR, bit 49.
const MSR_PR: u64 = 1 << (63 - 49);

/// Signals that grew, and those that grew in problem state and in other states of POWER.
#[derive(Default)]
pub struct Grown {
    all: BTreeSet<Signal>,
    problem: BTreeSet<Signal>,
    privileged: BTreeSet<Signal>,
}

impl Grown {
    /// Whether `signal` grew while each of these conditions held, as far as they are of problem state.
    pub fn has(&self, signal: Signal, when: &[When]) -> bool {
        when.iter().all(|when| match when {
            When::Problem => self.problem.contains(&signal),
            When::Privileged => self.privileged.contains(&signal),
            _ => true,
        }) && self.all.contains(&signal)
    }

    fn totals(pmus: &Pmus<Lines>) -> Vec<u64> {
        let threads = || (0..pmus.threads()).filter_map(|number| pmus.thread(number));
        let devices = (0..pmus.packages()).filter_map(|package| pmus.devices(package));
        let mut sums = vec![0; Signal::COUNT];
        for totals in threads().map(|thread| thread.totals()).chain(devices.map(|source| &source.totals)) {
            Signal::all().for_each(|signal| sums[signal.index()] += totals.get(signal));
        }
        sums
    }

    fn add(&mut self, pmus: &Pmus<Lines>) {
        let totals = Grown::totals(pmus);
        self.all.extend(Signal::all().filter(|signal| totals[signal.index()] != 0));
    }

    /// Runs `guest`, for so many steps, with the companion if it is `accompanied`.
    pub fn run(&mut self, guest: &Guest, part: Part, accompanied: bool, steps: u64) {
        match part {
            Part::K8(_) | Part::Knl(_) => self.run_x86(guest, part, accompanied, steps),
            Part::Itanium(_) | Part::Montecito(_) => self.run_itanium(guest, part, accompanied, steps),
            Part::Power9(_) => self.run_power(guest, part, accompanied, steps),
        }
    }

    fn run_x86(&mut self, guest: &Guest, part: Part, accompanied: bool, steps: u64) {
        let clock = if guest.foretells_cycles { Clock::Embedder } else { Clock::Companion };
        let clock = if accompanied { Clock::Companion } else { clock };
        let options = Options { companion: accompanied, ..Options::default() };
        let surroundings = Surroundings::new(part, guest.cpus, clock, &options).unwrap();
        let mut machine = surroundings.machine(&guest.image(true).unwrap(), Engine::Interp).unwrap();
        machine.observers_mut().for_each(|cpu| cpu.watch(SignalSet::all()));
        machine.run(interp::Limits::steps(steps));
        self.add(surroundings.pmus());
    }

    fn run_itanium(&mut self, guest: &Guest, part: Part, accompanied: bool, steps: u64) {
        let lines = Lines::new(guest.cpus);
        let pmus = Builder::of(part).threads(guest.cpus).build(lines.clone());
        let companion = followers(part, 1, guest.cpus, accompanied, guest.cpus > 1);
        let info: PerfMonInfo = if matches!(part, Part::Itanium(_)) { itanium::PERF_MON_INFO } else { montecito::PERF_MON_INFO };
        let attach = |index: usize| {
            let mut cpu = attach::itanium::Cpu::new(pmus.thread(index).unwrap(), &lines, info);
            if let Some(companion) = &companion {
                cpu.follow(companion.follower(index).unwrap(), guest.cpus > 1);
            }
            cpu.watch(SignalSet::all());
            cpu
        };
        let config = ia64::Config { ram: RAM, cores: 1, threads: guest.cpus, ..ia64::Config::default() };
        let mut machine = ia64::Machine::new(&config, &guest.image(true).unwrap(), attach).unwrap();
        machine.run(ia64::Limits::steps(steps));
        self.add(&pmus);
    }

    /// Without chips and firmware: guests of these are not for this.
    fn run_power(&mut self, guest: &Guest, part: Part, accompanied: bool, steps: u64) {
        let lines = Lines::new(guest.cpus);
        let pmus = Builder::of(part).threads(guest.cpus).build(lines.clone());
        let companion = followers(part, 1, guest.cpus, accompanied, false);
        let plain = power::Config { ram: RAM, cpus: guest.cpus, ..power::Config::default() };
        let attach = |index: usize| {
            let mut cpu = attach::power::Cpu::new(pmus.thread(index).unwrap(), plain.time_base);
            if let Some(companion) = &companion {
                cpu.follow(companion.follower(index).unwrap());
            }
            cpu.watch(SignalSet::all());
            cpu
        };
        let mut machine = power::Machine::new(&plain, &guest.image(true).unwrap(), attach).unwrap();
        let contexts = |pmus: &Pmus<Lines>| -> Vec<Context> { (0..guest.cpus).map(|cpu| pmus.thread(cpu).unwrap().context()).collect() };
        let mut before = Grown::totals(&pmus);
        for _ in 0..steps {
            let states = contexts(&pmus);
            let exit = machine.run(power::Limits::steps(1));
            let after = Grown::totals(&pmus);
            let problem = states.iter().all(|state| state.machine_state & MSR_PR != 0);
            let privileged = states.iter().all(|state| state.machine_state & MSR_PR == 0);
            for signal in Signal::all().filter(|signal| after[signal.index()] != before[signal.index()]) {
                self.all.insert(signal);
                if problem {
                    self.problem.insert(signal);
                }
                if privileged {
                    self.privileged.insert(signal);
                }
            }
            before = after;
            if exit != power::Exit::Limit {
                break;
            }
        }
    }
}

fn followers(part: Part, packages: usize, threads: usize, accompanied: bool, keeps_no_time: bool) -> Option<Companion> {
    let clock = if keeps_no_time { Clock::Embedder } else { Clock::Companion };
    let builder = companion::Builder::new(part.name()).filter(|_| accompanied)?;
    Some(builder.packages(packages).threads(threads).clock(clock).always().build())
}
