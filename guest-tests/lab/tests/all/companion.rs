//! The companion in the engine: what must add up according to manuals does so in every guest, whatever CPU is modelled.

use std::sync::Arc;

use vm_pmu::Part;
use vm_pmu::Signal;
use vm_pmu::arch::feed::{DataSource, Prediction, SignalSet, Translation};
use vm_pmu::arch::montecito;
use vm_pmu::companion::{Builder, Clock, Profile, parts};
use vm_pmu::topology;
use vm_pmu_board::Lines;
use vm_pmu_board::ia64;
use vm_pmu_board::x86::{Board, Cpu, record};
use vm_pmu_engines::ia64 as bundles;
use vm_pmu_engines::x86::{Config, Limits, Machine};
use vm_pmu_guests::{Guest, protocol};

const RAM: u64 = 32 << 20;

/// No guest is followed further than this.
const STEPS: u64 = 50_000;

/// The totals of each CPU after a guest ran on a machine whose caches are those of `profile`.
struct Totals(Vec<Vec<u64>>);

impl Totals {
    fn of(guest: &Guest, profile: &Profile) -> Totals {
        let lines = Lines::new(guest.cpus);
        let part = Part::named(guest.pmu).unwrap();
        let pmus = topology::Builder::of(part).threads(guest.cpus).every_signal().build(lines.clone()).unwrap();
        let companion = Builder::of(profile).threads(guest.cpus).clock(Clock::Companion).build();
        let attach = |index: usize| {
            let mut cpu = Cpu::new(pmus.thread(index).unwrap(), &lines);
            cpu.follow(companion.follower(index).unwrap(), RAM);
            cpu.watch(SignalSet::ALL);
            cpu
        };
        let config = Config { ram: RAM, cpus: guest.cpus, user: vec![protocol::USER], ..Config::default() };
        let mut machine = Machine::new(&config, &guest.image(true).unwrap(), Arc::new(Board::new(part, guest.cpus)), attach).unwrap();
        machine.run(Limits::steps(STEPS));
        let totals = |index: usize| Signal::all().map(|signal| pmus.thread(index).unwrap().totals().get(signal)).collect();
        Totals((0..guest.cpus).map(totals).collect())
    }

    /// The same of a guest of Montecito on Montecito.
    fn of_bundles(guest: &Guest) -> Totals {
        let lines = Lines::new(guest.cpus);
        let pmus = topology::Builder::of(Part::named(guest.pmu).unwrap()).threads(guest.cpus).every_signal().build(lines.clone()).unwrap();
        let companion = Builder::of(&parts::MONTECITO).threads(guest.cpus).clock(Clock::Companion).build();
        let attach = |index: usize| {
            let mut cpu = ia64::Cpu::new(pmus.thread(index).unwrap(), &lines, montecito::PERF_MON_INFO);
            cpu.follow(companion.follower(index).unwrap(), guest.cpus > 1);
            cpu.watch(SignalSet::ALL);
            cpu
        };
        let config = bundles::Config { ram: RAM, cores: 1, threads: guest.cpus, ..bundles::Config::default() };
        let mut machine = bundles::Machine::new(&config, &guest.image(true).unwrap(), attach).unwrap();
        machine.run(bundles::Limits::steps(STEPS));
        let totals = |index: usize| Signal::all().map(|signal| pmus.thread(index).unwrap().totals().get(signal)).collect();
        Totals((0..guest.cpus).map(totals).collect())
    }

    fn get(&self, cpu: usize, signal: Signal) -> u64 {
        self.0[cpu][usize::from(signal.number())]
    }

    fn sum(&self, signals: &[Signal]) -> u64 {
        (0..self.0.len()).flat_map(|cpu| signals.iter().map(move |signal| self.get(cpu, *signal))).sum()
    }
}

fn in_every_guest(profile: &Profile, check: impl Fn(&str, &Totals)) {
    for guest in vm_pmu_guests::of("k8") {
        let totals = Totals::of(guest, profile);
        assert!(totals.sum(&[Signal::InstructionsRetired]) > 100, "{} does nothing", guest.name);
        check(guest.name, &totals);
    }
}

/// Sections 3.2.1.4, 4.4 and 4.6.
fn adds_up(guest: &str, totals: &Totals, cpu: usize) {
    let get = |signal| totals.get(cpu, signal);
    let sum = |signals: &[Signal]| signals.iter().map(|signal| totals.get(cpu, *signal)).sum::<u64>();
    let flushes = sum(&[Signal::FlushExceptionCycles, Signal::FlushBranchCycles]);
    let stalls = sum(&[Signal::StallMemoryCycles, Signal::StallExecutionCycles, Signal::StallRegisterStackCycles]);
    let cycles = get(Signal::Cycles);
    assert_eq!(cycles, flushes + stalls + sum(&[Signal::InstructionFetchStallCycles, Signal::RetirementCycles]), "{guest}");
    assert_eq!(get(Signal::DispersalStallCycles), stalls + flushes, "{guest}");
    let lost = [
        Signal::SlotsNotDispersedStop,
        Signal::SlotsNotDispersedImplicit,
        Signal::SlotsNotDispersedFrontEnd,
        Signal::SlotsNotDispersedLong,
    ];
    assert_eq!(get(Signal::SlotsNotDispersed), sum(&lost), "{guest}");
    assert_eq!(get(Signal::SlotsOvercounted), sum(&[Signal::SlotsOvercountedStop, Signal::SlotsOvercountedImplicit]), "{guest}");
    let slots = sum(&[Signal::InstructionsDispersed, Signal::SlotsNotDispersed]) - get(Signal::SlotsOvercounted);
    assert_eq!(6 * (cycles - get(Signal::DispersalStallCycles)), slots, "{guest}");
    let registers = [Signal::StallGeneralRegistersCycles, Signal::StallFloatingRegistersCycles, Signal::StallSpecialOrPredicatesCycles];
    let execution = get(Signal::StallExecutionCycles);
    assert!(registers.iter().all(|signal| get(*signal) <= execution) && sum(&registers) >= execution, "{guest}");
    // The floating-point unit and the data cache may ask for the same clocks.
    let detection = get(Signal::StallMemoryCycles);
    let either = [Signal::StallDataCacheCycles, Signal::StallFloatingPointCycles];
    assert!(either.iter().all(|signal| get(*signal) <= detection) && sum(&either) >= detection, "{guest}");
}

#[test]
fn every_cycle_of_montecito_has_one_cause() {
    in_every_guest(&parts::MONTECITO, |guest, totals| {
        (0..totals.0.len()).for_each(|cpu| adds_up(guest, totals, cpu));
    });
}

#[test]
fn every_cycle_of_a_guest_of_montecito_has_one_cause() {
    for guest in vm_pmu_guests::of("montecito").filter(|guest| guest.cpus == 1) {
        let totals = Totals::of_bundles(guest);
        assert!(totals.sum(&[Signal::InstructionsRetired]) > 100, "{} does nothing", guest.name);
        adds_up(guest.name, &totals, 0);
    }
}

#[test]
fn the_parts_of_the_cpi_stack_of_power9_add_up() {
    // Section 5.9: each level of the tree is the sum of the one below.
    in_every_guest(&parts::POWER9, |guest, totals| {
        for cpu in 0..totals.0.len() {
            let get = |signal| totals.get(cpu, signal);
            let sum = |signals: &[Signal]| signals.iter().map(|signal| totals.get(cpu, *signal)).sum::<u64>();
            let classes = sum(&[
                Signal::FrontEndEmptyCycles,
                Signal::RetirementCycles,
                Signal::ThreadBlockedCycles,
                Signal::AllFinishedCycles,
                Signal::IssueHeldCycles,
                Signal::StallCycles,
            ]);
            assert_eq!(get(Signal::Cycles), classes, "{guest}");
            let front_end = sum(&[
                Signal::FrontEndEmptyL2Cycles,
                Signal::FrontEndEmptyL3Cycles,
                Signal::FrontEndEmptyMemoryCycles,
                Signal::FrontEndEmptyTranslationCycles,
                Signal::FrontEndEmptyMispredictionCycles,
                Signal::FrontEndEmptyMispredictionMissCycles,
                Signal::EmptyHeldCycles,
            ]);
            assert!(get(Signal::FrontEndEmptyCycles) >= front_end, "{guest}");
            let stalls = sum(&[
                Signal::StallExecutionCycles,
                Signal::StallMemoryCycles,
                Signal::StallBranchCycles,
                Signal::StallDispatchFinishCycles,
                Signal::StallOldestFlushCycles,
            ]);
            assert_eq!(get(Signal::StallCycles), stalls, "{guest}");
            let held = sum(&[Signal::IssueHeldArbitrationCycles, Signal::IssueHeldRecirculationCycles, Signal::IssueHeldOtherCycles]);
            assert_eq!(get(Signal::IssueHeldCycles), held, "{guest}");
            let execution = sum(&[
                Signal::StallFixedCycles,
                Signal::StallFloatScalarCycles,
                Signal::StallDecimalCycles,
                Signal::StallPermuteCycles,
                Signal::StallCryptoCycles,
                Signal::StallVectorFixedCycles,
                Signal::StallFloatVectorCycles,
            ]);
            assert_eq!(get(Signal::StallExecutionCycles), execution, "{guest}");
            let misses = sum(&[
                Signal::StallLoadL2Cycles,
                Signal::StallLoadL3Cycles,
                Signal::StallLoadOtherCoreCycles,
                Signal::StallLoadLocalMemoryCycles,
                Signal::StallLoadRemoteCycles,
            ]);
            assert_eq!(get(Signal::StallLoadMissCycles), misses, "{guest}");
        }
    });
}

#[test]
fn every_cycle_of_the_first_itanium_is_in_one_sum() {
    // `docs/notes/itanium.md` 2.8, and rules PI25, PI27 and PI29 of the notes on its pipeline.
    let part = Part::named("itanium").unwrap();
    let mut all = [0; 6];
    for guest in vm_pmu_guests::of("itanium") {
        let lines = Lines::new(1);
        let pmus = topology::Builder::of(part).threads(1).every_signal().build(lines.clone()).unwrap();
        let companion = Builder::new("itanium").unwrap().clock(Clock::Companion).build();
        let attach = |index: usize| {
            let mut cpu = vm_pmu_board::ia64::Cpu::new(pmus.thread(index).unwrap(), &lines, vm_pmu::arch::itanium::PERF_MON_INFO);
            cpu.follow(companion.follower(index).unwrap(), false);
            cpu.watch(SignalSet::ALL);
            cpu
        };
        let config = bundles::Config { ram: RAM, alat_ways: 2, ..bundles::Config::default() };
        let mut machine = bundles::Machine::new(&config, &guest.image(true).unwrap(), attach).unwrap();
        machine.run(bundles::Limits::steps(STEPS));
        let thread = pmus.thread(0).unwrap();
        let sum = |signals: &[Signal]| signals.iter().map(|signal| thread.totals().get(*signal)).sum::<u64>();
        let code = [
            Signal::FrontEndEmptyL2Cycles,
            Signal::FrontEndEmptyL3Cycles,
            Signal::FrontEndEmptyMemoryCycles,
            Signal::FrontEndEmptyTranslationCycles,
        ];
        let sums = [
            sum(&[Signal::InherentExecutionCycles]) + sum(&code),
            sum(&[Signal::StallExecutionCycles, Signal::IssueLimitCycles]),
            sum(&[Signal::StallMemoryCycles, Signal::StallRegisterStackCycles]),
            sum(&[Signal::FlushBranchCycles, Signal::FlushExceptionCycles, Signal::FrontEndEmptyBubbleCycles]),
        ];
        assert_eq!(sums.iter().sum::<u64>(), sum(&[Signal::Cycles]), "{}", guest.name);
        // The last group has not ended.
        let operations = sum(&[Signal::FloatingPointOperationsLow]) + 4 * sum(&[Signal::FloatingPointOperationsHigh]);
        assert!((0..=8).contains(&(sum(&[Signal::FloatingPointOperations]) - operations)), "{}", guest.name);
        let stops = sum(&[Signal::StopsDispersed]);
        all.iter_mut().zip(sums.into_iter().chain([operations, stops])).for_each(|(all, sum)| *all += sum);
    }
    assert!(all.iter().all(|sum| *sum > 0), "{all:?}");
}

#[test]
fn every_miss_of_k8_is_a_refill() {
    // Sections 10.2.1.3 and 10.2.1.5; a streaming store is a miss without a refill.
    in_every_guest(&parts::K8, |guest, totals| {
        let refills = [
            Signal::DataCacheRefillsL2Shared,
            Signal::DataCacheRefillsL2Exclusive,
            Signal::DataCacheRefillsL2Owned,
            Signal::DataCacheRefillsL2Modified,
            Signal::DataCacheRefillsSystemInvalid,
            Signal::DataCacheRefillsSystemShared,
            Signal::DataCacheRefillsSystemExclusive,
            Signal::DataCacheRefillsSystemOwned,
            Signal::DataCacheRefillsSystemModified,
        ];
        let misses = totals.sum(&[Signal::DataCacheMisses]);
        if totals.sum(&[Signal::StreamingStoreFlushes]) == 0 {
            assert_eq!(misses, totals.sum(&refills), "{guest}");
        } else {
            assert!(misses > totals.sum(&refills), "{guest}");
        }
        assert_eq!(totals.sum(&[Signal::L2MissesData]), totals.sum(&refills[4..]), "{guest}");
        let code = [Signal::InstructionCacheRefillsL2, Signal::InstructionCacheRefillsSystem];
        assert_eq!(totals.sum(&[Signal::InstructionCacheMisses]), totals.sum(&code), "{guest}");
    });
}

#[test]
fn the_bandwidth_of_mcdram_is_what_cores_read_and_write() {
    // Section 3.1.
    in_every_guest(&parts::KNL, |guest, totals| {
        let misses = [Signal::MemorySideCacheMissesClean, Signal::MemorySideCacheMissesModified, Signal::MemorySideCacheMissesInvalid];
        let misses = totals.sum(&misses);
        let hits = totals.sum(&[Signal::MemorySideCacheHitsClean, Signal::MemorySideCacheHitsModified]);
        assert_eq!(totals.sum(&[Signal::NearMemoryReads]), hits + misses, "{guest}");
        let written = totals.sum(&[Signal::NearMemoryWrites]) - totals.sum(&[Signal::MemoryReads]);
        let given_up = totals.sum(&[Signal::VictimBlocks, Signal::BusReadsHitModified]);
        let streams = totals.sum(&[Signal::StreamingStoreFlushes]);
        assert!((given_up + streams..=given_up + 2 * streams).contains(&written), "{guest}: {written} of {given_up} and {streams}");
    });
}

#[test]
fn a_record_has_what_the_companion_knows() {
    let guest = vm_pmu_guests::named("k8", "count").unwrap();
    let companion = Builder::of(&parts::K8).clock(Clock::Companion).always().build();
    let lines = Lines::new(1);
    let pmus = topology::Builder::new("k8").unwrap().build(lines.clone()).unwrap();
    let attach = |index: usize| {
        let mut cpu = Cpu::new(pmus.thread(index).unwrap(), &lines);
        cpu.follow(companion.follower(index).unwrap(), RAM);
        cpu
    };
    let config = Config { ram: RAM, user: vec![protocol::USER], ..Config::default() };
    let mut machine =
        Machine::new(&config, &guest.image(true).unwrap(), Arc::new(Board::new(Part::named("k8").unwrap(), guest.cpus)), attach).unwrap();
    let mut seen = [false; 4];
    for _ in 0..2_000 {
        machine.run(Limits::steps(1));
        let outcome = machine.observer_mut(0).unwrap().companion().unwrap().outcome();
        seen[0] |= outcome.prediction != Prediction::None;
        seen[1] |= outcome.source == DataSource::LocalMemory && outcome.latency >= 123;
        seen[2] |= outcome.translation == Translation::Walk;
        seen[3] |= outcome.cycles.is_some_and(|cycles| cycles > 100);
        let step = vm_pmu_engines::x86::Step::default();
        let mut made = record(&step).unwrap();
        outcome.refine(&mut made);
        assert_eq!(made.cycles, outcome.cycles.unwrap());
    }
    assert_eq!(seen, [true; 4]);
}
