//! Nothing waits for what nobody supplies: deadlines, demands and levels are made of the signals that an embedder says it supplies.

use proptest::prelude::*;
use vm_pmu::arch::access::Address;
use vm_pmu::arch::feed::{Feed, Memory};
use vm_pmu::arch::power9::{Mmcr0, Mmcra, spr};
use vm_pmu::arch::registry::NAMES;
use vm_pmu::irq::Flags;
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Context, Deadlines, Pace, Record, Records, Signal, SignalSet};

const PERF_EVT_SEL: u32 = 0xC001_0000;
const PERF_CTR: u32 = 0xC001_0004;
/// PerfEvtSel: data cache misses, OS, INT, EN.
const CACHE_MISSES: u64 = 0x0052_0041;
/// PerfEvtSel: DRAM page hits, which the northbridge counts for all its cores, OS, INT, EN.
const PAGE_HITS: u64 = 0x0052_01E0;
/// CNT_MASK 1 of PerfEvtSel.
const AT_LEAST_ONE: u64 = 1 << 24;
/// INV of PerfEvtSel.
const INVERTED: u64 = 1 << 23;

/// What an emulator without caches supplies.
fn own() -> SignalSet {
    SignalSet::from_iter([Signal::Cycles, Signal::InstructionsRetired])
}

fn k8() -> Machine<Flags> {
    Builder::new("k8").unwrap().supplies(own()).build(Flags::new(1)).unwrap()
}

/// The signals with a deadline in this thread.
fn armed(thread: Thread<'_, Flags>) -> SignalSet {
    Signal::all().filter(|signal| thread.deadlines().get(*signal) != Deadlines::NEVER).collect()
}

#[test]
fn every_signal_of_the_part_is_supplied_unless_an_embedder_says_otherwise() {
    let machine = Builder::new("k8").unwrap().build(Flags::new(1)).unwrap();
    assert_eq!((machine.supplied(), machine.supplied_records()), (machine.part().vocabulary().signals(), Records::ALL));
    machine.thread(0).unwrap().x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES).unwrap();
    assert_eq!(machine.thread(0).unwrap().unsupplied(), SignalSet::EMPTY);
}

#[test]
fn what_only_another_part_counts_is_neither_counted_nor_supplied() {
    for part in NAMES {
        let machine = Builder::new(part).unwrap().build(Flags::new(1)).unwrap();
        let vocabulary = machine.part().vocabulary();
        let (thread, devices) = (machine.thread(0).unwrap(), machine.devices(0).unwrap());
        for signal in Signal::all().filter(|signal| !vocabulary.has(*signal)) {
            assert_eq!((thread.totals().add(signal, 5), devices.totals.add(signal, 5)), (0, 0), "{part}: {}", signal.name());
            assert!(!machine.supplied().contains(signal), "{part}: {}", signal.name());
        }
        let grown = |signal: &Signal| thread.totals().get(*signal) != 0 || devices.totals.get(*signal) != 0;
        assert_eq!(Signal::all().find(grown), None, "{part}");
    }
}

#[test]
fn a_machine_of_every_signal_counts_those_of_other_parts_beside_its_own() {
    let machine = Builder::new("k8").unwrap().every_signal().build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    Signal::all().for_each(|signal| _ = thread.totals().add(signal, 1 + u64::from(signal.number())));
    assert!(Signal::all().all(|signal| thread.totals().get(signal) == 1 + u64::from(signal.number())));
    assert_eq!(machine.supplied(), SignalSet::ALL);
}

#[test]
fn cycles_and_the_pace_are_always_supplied() {
    let pace = Pace::new(Signal::InstructionsRetired, 4);
    let machine = Builder::new("k8").unwrap().supplies(SignalSet::EMPTY).pace(pace).build(Flags::new(1)).unwrap();
    assert_eq!(machine.supplied(), own());
}

#[test]
fn what_nobody_supplies_has_no_deadline_and_is_not_demanded() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    let epoch = thread.epoch();
    thread.x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES).unwrap();
    assert_eq!(armed(thread), SignalSet::EMPTY);
    assert!(thread.demand().is_idle());
    assert_eq!(thread.epoch(), epoch, "no translated code need change");
    assert_eq!(thread.room(), Deadlines::NEVER);
}

#[test]
fn what_is_counted_in_vain_is_told() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES).unwrap();
    assert_eq!(thread.unsupplied(), SignalSet::only(Signal::DataCacheMisses));
    thread.x86().wrmsr(PERF_EVT_SEL, 0).unwrap();
    assert_eq!(thread.unsupplied(), SignalSet::EMPTY);
}

#[test]
fn what_another_thread_counts_in_vain_for_the_package_is_told_and_waits_nowhere() {
    let machine = Builder::new("k8").unwrap().threads(2).supplies(own()).build(Flags::new(2)).unwrap();
    let (counts, other) = (machine.thread(0).unwrap(), machine.thread(1).unwrap());
    counts.x86().wrmsr(PERF_EVT_SEL, PAGE_HITS).unwrap();
    assert_eq!(other.unsupplied(), SignalSet::only(Signal::DramPageHits));
    assert_eq!((armed(counts), armed(other)), (SignalSet::EMPTY, SignalSet::EMPTY));
    assert!(other.demand().is_idle() && machine.device_demand(0).unwrap().is_idle());
    assert_eq!(machine.devices(0).unwrap().deadlines.get(Signal::DramPageHits), Deadlines::NEVER);
}

#[test]
fn what_comes_nevertheless_is_counted_at_the_next_access() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(PERF_CTR, 0u64.wrapping_sub(3)).unwrap();
    thread.x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES).unwrap();
    thread.totals().add(Signal::DataCacheMisses, 5);
    assert!(!machine.line().take(0), "nobody looked");
    assert_eq!(thread.x86().rdpmc(0), Ok(2));
    assert!(machine.line().take(0));
}

#[test]
fn a_sum_waits_for_those_of_its_signals_that_are_supplied() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(PERF_CTR, 0u64.wrapping_sub(100)).unwrap();
    // Retired instructions add up instructions, exceptions and interrupts.
    thread.x86().wrmsr(PERF_EVT_SEL, 0x0052_00C0).unwrap();
    assert_eq!(armed(thread), SignalSet::only(Signal::InstructionsRetired));
    // All of what remains is theirs: nothing is kept back for the others.
    assert_eq!(thread.deadlines().get(Signal::InstructionsRetired), 100);
}

#[test]
fn a_counter_mask_over_what_nobody_supplies_does_not_make_every_cycle_due() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES | AT_LEAST_ONE).unwrap();
    assert!(!thread.demand().per_cycle());
    assert_eq!(armed(thread), SignalSet::EMPTY);
}

#[test]
fn an_inverted_counter_mask_over_what_nobody_supplies_overflows_at_its_very_cycle() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(PERF_CTR, 0u64.wrapping_sub(1000)).unwrap();
    thread.x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES | AT_LEAST_ONE | INVERTED).unwrap();
    // After the first cycle all of them are alike: each has fewer than one miss.
    thread.advance(1, &[Signal::Cycles]);
    assert_eq!(thread.deadlines().get(Signal::Cycles), 1000);
    thread.advance(998, &[Signal::Cycles]);
    assert!(!machine.line().take(0));
    thread.advance(1, &[Signal::Cycles]);
    assert!(machine.line().take(0));
    assert_eq!(thread.x86().rdpmc(0), Ok(0));
}

#[test]
fn what_is_injected_into_a_counter_mask_is_counted_in_its_cycle() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(PERF_CTR, 0u64.wrapping_sub(1)).unwrap();
    thread.x86().wrmsr(PERF_EVT_SEL, CACHE_MISSES | AT_LEAST_ONE).unwrap();
    thread.advance(10, &[Signal::Cycles]);
    assert!(thread.inject(vm_pmu::Occurrence { select: 0x41, umask: 0 }, 2));
    assert_eq!(thread.deadlines().get(Signal::Cycles), 11, "the open cycle has two events");
    thread.advance(1, &[Signal::Cycles]);
    assert!(machine.line().take(0));
    assert_eq!(armed(thread), SignalSet::only(Signal::Cycles), "the detector saw the threshold met, and looks once more");
    thread.advance(1, &[Signal::Cycles]);
    assert_eq!(armed(thread), SignalSet::EMPTY);
}

#[test]
fn the_level_of_a_state_that_nobody_supplies_is_not_asked_for() {
    let machine = k8();
    let thread = machine.thread(0).unwrap();
    // PerfEvtSel0: dispatch stalls, E, OS, EN.
    thread.x86().wrmsr(PERF_EVT_SEL, 0x0046_00D1).unwrap();
    assert!(!thread.demand().asks_levels());
}

#[test]
fn only_records_that_somebody_tells_are_demanded() {
    let machine = Builder::new("power9").unwrap().supplies_records(Records::NONE).build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    sample_continuously(thread);
    assert!(thread.demand().records().is_none());
    // Without a record the address that a load miss brings is not known, and nothing waits for one.
    assert!(!armed(thread).contains(Signal::DataCacheLoadMisses));
}

/// What Linux sets up for `perf record` on POWER9: every PMC5 overflow alerts, and load misses update SDAR.
fn sample_continuously(thread: Thread<'_, Flags>) {
    let (mut mmcr0, mut mmcra) = (Mmcr0::written(0), Mmcra::written(0));
    mmcra.set_sdar_mode(0b10);
    thread.set_context(Context::power(1 << 60, 1));
    thread.power().mtspr(spr::MMCRA, mmcra.bits()).unwrap();
    // PMC5, run instructions: 100,000 before it turns negative.
    thread.power().mtspr(spr::PMC1 + 4, (1 << 31) - 100_000).unwrap();
    mmcr0.set_pmae(true);
    mmcr0.set_pmcjce(true);
    mmcr0.set_fcece(true);
    thread.power().mtspr(spr::MMCR0, mmcr0.bits()).unwrap();
}

#[test]
fn linux_s_sampling_on_power9_waits_for_instructions_alone_where_no_cache_is() {
    let all = Builder::new("power9").unwrap().build(Flags::new(1)).unwrap();
    sample_continuously(all.thread(0).unwrap());
    assert!(armed(all.thread(0).unwrap()).contains(Signal::DataCacheLoadMisses));

    let pace = Pace::new(Signal::Cycles, 1).single(own());
    let machine = Builder::new("power9").unwrap().supplies(own()).pace(pace).build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    sample_continuously(thread);
    assert_eq!(armed(thread).difference(&own()), SignalSet::EMPTY);
    assert_eq!(thread.unsupplied(), SignalSet::only(Signal::DataCacheLoadMisses));
    assert_eq!(thread.room(), 100_000, "one look for the whole period");
}

#[test]
fn a_companion_is_not_asked_for_what_continuous_sampling_alone_would_keep() {
    let machine = Builder::new("power9").unwrap().supplies_records(Records::AT_DEADLINE).build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    sample_continuously(thread);
    assert!(thread.demand().records().at_deadline);
    assert!(!thread.demand().wants(Signal::DataCacheLoadMisses) && !armed(thread).contains(Signal::DataCacheLoadMisses));
}

/// PMC4 counts PM_LD_MISS_L1 (F0h), and alerts after `events` of them; SDAR is of misses.
fn alert_after_misses(thread: Thread<'_, Flags>, events: u64, mut mmcr0: Mmcr0) {
    let mut mmcra = Mmcra::written(0);
    mmcra.set_sdar_mode(0b10);
    thread.set_context(Context::power(1 << 60, 1));
    thread.power().mtspr(spr::MMCRA, mmcra.bits()).unwrap();
    thread.power().mtspr(spr::MMCR1, 0xF0).unwrap();
    thread.power().mtspr(spr::PMC1 + 3, (1 << 31) - events).unwrap();
    mmcr0.set_pmae(true);
    mmcr0.set_pmcjce(true);
    thread.power().mtspr(spr::MMCR0, mmcr0.bits()).unwrap();
}

#[test]
fn an_alert_by_the_very_miss_keeps_its_address_whoever_tells_the_others() {
    let machine = Builder::new("power9").unwrap().supplies_records(Records::AT_DEADLINE).build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    let mut mmcr0 = Mmcr0::written(0);
    mmcr0.set_fcece(true);
    alert_after_misses(thread, 2, mmcr0);
    for address in [0x1000, 0x2000] {
        thread.totals().add(Signal::DataCacheLoadMisses, 1);
        if thread.reached(Signal::DataCacheLoadMisses) {
            thread.record(&Record { memory: Some(Memory::load(address, 8)), ..Record::at(0x400) });
            thread.service();
        }
    }
    assert_eq!((thread.power().mfspr(spr::SIAR), thread.power().mfspr(spr::SDAR)), (Ok(0x400), Ok(0x2000)));
}

#[test]
fn an_alert_after_a_restore_is_of_the_instruction_whose_record_came_before() {
    let machine = Builder::new("power9").unwrap().supplies_records(Records::AT_DEADLINE).build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    alert_after_misses(thread, 1, Mmcr0::written(0));
    thread.record(&Record { memory: Some(Memory::store(0x1000, 8)), ..Record::at(0x400) });
    machine.restore(&machine.states()).unwrap();
    thread.totals().add(Signal::DataCacheLoadMisses, 1);
    thread.service();
    let read = |number| thread.power().mfspr(number).unwrap();
    // MSR[HV] is SIER's bit 39, and the last bit of TYPE, 2 for a store, bit 48.
    assert_eq!((read(spr::SIAR), read(spr::SDAR), read(spr::SIER)), (0x400, 0x1000, 1 << (63 - 39) | 2 << (63 - 48)));
}

/// The parts, with as many threads as have something to share.
fn machines(supplied: SignalSet) -> impl Iterator<Item = Machine<Flags>> {
    NAMES.iter().map(move |name| {
        let builder = Builder::new(name).unwrap().supplies(supplied);
        let alone = builder.part().shape().package_threads.is_some_and(|possible| !possible.contains(&2));
        let builder = if alone { builder.packages(2) } else { builder.threads(2) };
        builder.build(Flags::new(2)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_nothing_waits_for_what_nobody_supplies(
        chosen in proptest::collection::vec(any::<prop::sample::Index>(), 0..40),
        writes in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u64>()), 1..40),
    ) {
        let signals: Vec<Signal> = Signal::all().collect();
        let supplied: SignalSet = chosen.iter().map(|index| *index.get(&signals)).collect();
        for machine in machines(supplied) {
            let addresses: Vec<Address> =
                machine.thread(0).unwrap().registers().iter().map(|register| register.address).collect();
            for (index, second, value) in &writes {
                let thread = machine.thread(usize::from(*second)).unwrap();
                let _ = thread.write(*index.get(&addresses), *value);
                thread.service();
            }
            for thread in (0..2).filter_map(|number| machine.thread(number)) {
                prop_assert_eq!(armed(thread).difference(&machine.supplied()), SignalSet::EMPTY);
                prop_assert_eq!(thread.demand().signals().difference(&machine.supplied()), SignalSet::EMPTY);
                prop_assert_eq!(thread.unsupplied().intersection(&machine.supplied()), SignalSet::EMPTY);
            }
        }
    }
}

#[test]
fn a_lone_thread_supplies_everything() {
    let thread = vm_pmu::arch::feed::Lone::new();
    assert!(Signal::all().all(|signal| thread.supplies(signal)));
}
