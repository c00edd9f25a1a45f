//! Sums stated by the manuals.

use super::*;
use crate::{Clock, parts};

/// Runs noise on every thread of two full clusters, with the companion's own clock.
fn noisy(profile: &crate::Profile, steps: usize) -> Rig {
    let threads = 2 * usize::from(profile.cores) * usize::from(profile.threads);
    let companion = Builder::of(profile).threads(threads).clock(Clock::Companion).build();
    let rig = Rig::new(threads);
    let mut followers: Vec<_> = (0..threads).map(|number| (follow(&companion, number), Noise::new(7 + number as u64))).collect();
    for _ in 0..steps {
        for (follower, noise) in &mut followers {
            noise.next(|instruction| rig.run(follower, instruction));
        }
    }
    rig
}

#[test]
fn dispatch_stalls_of_k8_have_a_reason_each() {
    // Section 10.2.1.6: overlapping reasons count once in D1h. A cycle in which the decoder is empty has no stall.
    let reasons = [
        Signal::DispatchStallBranchAbortCycles,
        Signal::DispatchStallSerializationCycles,
        Signal::DispatchStallSegmentLoadCycles,
        Signal::DispatchStallReorderBufferCycles,
        Signal::DispatchStallReservationStationCycles,
        Signal::DispatchStallFloatingPointCycles,
        Signal::DispatchStallLoadStoreCycles,
        Signal::DispatchStallAllQuietCycles,
        Signal::DispatchStallFarTransferCycles,
    ];
    let rig = noisy(&parts::K8, 20_000);
    let (cycles, stalls, empty) = (Signal::Cycles, Signal::DispatchStallCycles, Signal::DecoderEmptyCycles);
    let [cycles, stalls, empty] = [cycles, stalls, empty].map(|signal| rig.get(0, signal));
    let each = reasons.map(|signal| rig.get(0, signal));
    assert!(each.iter().all(|reason| *reason <= stalls));
    assert!(stalls <= each.iter().sum());
    assert!(stalls + empty < cycles);
}

#[test]
fn a_cycle_of_knights_landing_that_allocates_nothing_has_one_reason() {
    // PL31, PL35 of docs/notes/pipelines-x86.md: reasons exclude each other, and a full station may be none of them.
    let rig = noisy(&parts::KNL, 4_000);
    let get = |signal| rig.get(0, signal);
    let reasons = [
        Signal::DispatchStallReorderBufferCycles,
        Signal::DispatchStallBranchAbortCycles,
        Signal::DispatchStallReservationStationCycles,
        Signal::DispatchStallSerializationCycles,
        Signal::FrontEndEmptyCycles,
    ];
    assert!(reasons.map(get).iter().all(|cycles| *cycles != 0));
    assert!(reasons.map(get).iter().sum::<u64>() < get(Signal::Cycles));
    assert!(get(Signal::DispatchStallReservationStationCycles) <= get(Signal::ReservationStationFullCycles));
    assert!(get(Signal::ReservationStationFullMemoryCycles) <= get(Signal::ReservationStationFullCycles));
}

const FROM_SECOND: [Signal; 4] = [
    Signal::DataCacheRefillsL2Shared,
    Signal::DataCacheRefillsL2Exclusive,
    Signal::DataCacheRefillsL2Owned,
    Signal::DataCacheRefillsL2Modified,
];
const FROM_SYSTEM: [Signal; 5] = [
    Signal::DataCacheRefillsSystemInvalid,
    Signal::DataCacheRefillsSystemShared,
    Signal::DataCacheRefillsSystemExclusive,
    Signal::DataCacheRefillsSystemOwned,
    Signal::DataCacheRefillsSystemModified,
];

#[test]
fn every_miss_of_k8_is_a_refill() {
    // Section 10.2.1.3 on events 41h to 43h, and 10.2.1.5 on 81h to 83h; each streaming store is one more miss.
    let companion = Builder::new("k8").unwrap().threads(3).build();
    let rig = Rig::new(3);
    let mut followers: Vec<_> = (0..3).map(|number| (follow(&companion, number), Noise::new(99 + number as u64))).collect();
    let mut streaming = 0;
    for _ in 0..20_000 {
        for (follower, noise) in &mut followers {
            noise.next(|instruction| {
                streaming +=
                    instruction.accesses.iter().filter(|access| access.kind == AccessKind::StreamingStore && !access.uncached).count()
                        as u64;
                rig.run(follower, instruction);
            });
        }
    }
    let refills = rig.sum(&FROM_SECOND) + rig.sum(&FROM_SYSTEM);
    assert!(refills > 10_000);
    assert_eq!(rig.sum(&[Signal::DataCacheMisses]), refills + streaming);
    assert_eq!(rig.sum(&[Signal::L2MissesData]), rig.sum(&FROM_SYSTEM));
    assert_eq!(rig.sum(&[Signal::L2RequestsData]), refills);
    let code = rig.sum(&[Signal::InstructionCacheRefillsL2, Signal::InstructionCacheRefillsSystem]);
    assert_eq!(rig.sum(&[Signal::InstructionCacheMisses]), code);
    assert_eq!(rig.sum(&[Signal::L2MissesInstruction]), rig.sum(&[Signal::InstructionCacheRefillsSystem]));
}

#[test]
fn every_miss_of_knights_landing_is_a_refill_too() {
    // Two levels, the first written back: misses are served by the second level or the system, except streaming stores. A request for write
    // permission for a present line is not a refill.
    let companion = Builder::new("knl").unwrap().threads(16).build();
    let rig = Rig::new(16);
    let mut followers: Vec<_> = (0..16).map(|number| (follow(&companion, number), Noise::new(40 + number as u64))).collect();
    let mut streaming = 0;
    for _ in 0..1_500 {
        for (follower, noise) in &mut followers {
            noise.next(|instruction| {
                streaming += instruction.accesses.iter().filter(|access| access.kind == AccessKind::StreamingStore).count() as u64;
                rig.run(follower, instruction);
            });
        }
    }
    assert_eq!(rig.sum(&[Signal::DataCacheMisses]), rig.sum(&FROM_SECOND) + rig.sum(&FROM_SYSTEM) + streaming);
}

#[test]
fn the_bandwidth_of_mcdram_is_what_cores_read_and_write() {
    // Section 3.1: reads minus the misses are reads of MCDRAM by cores; writes minus the reads of DDR are writes by cores.
    let rig = noisy(&parts::KNL, 4_000);
    let misses = [Signal::MemorySideCacheMissesClean, Signal::MemorySideCacheMissesModified, Signal::MemorySideCacheMissesInvalid];
    let hits = [Signal::MemorySideCacheHitsClean, Signal::MemorySideCacheHitsModified];
    let read = rig.sum(&[Signal::NearMemoryReads]) - rig.sum(&misses);
    assert_eq!(read, rig.sum(&hits));
    assert!(read > 0 && rig.sum(&misses) > 0);
    let written = rig.sum(&[Signal::NearMemoryWrites]) - rig.sum(&[Signal::MemoryReads]);
    assert!(written > 0);
    // Lines displaced from a tile, lines that a tile had modified when another read or took them, and streaming store buffers.
    let given_up = rig.sum(&[Signal::VictimBlocks, Signal::StreamingStoreFlushes, Signal::BusReadsHitModified]);
    assert!(written >= given_up, "{written} of {given_up}");
    let merged = written - given_up;
    assert!(merged <= rig.sum(&[Signal::StreamingStoreFlushes]), "only a partial buffer can write a line back before itself");
}

#[test]
fn the_stack_of_the_pipeline_of_power9_adds_up() {
    // Section 5.9, tables 5-11, 5-12 and 5-23: every cycle is in one class, and each parent is the sum of its children.
    let profile = *parts::named("power9").unwrap();
    let rig = noisy(&profile, 1_000);
    for thread in 0..rig.threads.len() {
        let sum = |signals: &[Signal]| signals.iter().map(|signal| rig.get(thread, *signal)).sum::<u64>();
        let classes = [
            Signal::RetirementCycles,
            Signal::FrontEndEmptyCycles,
            Signal::ThreadBlockedCycles,
            Signal::AllFinishedCycles,
            Signal::IssueHeldCycles,
            Signal::StallCycles,
        ];
        assert!(rig.get(thread, Signal::Cycles) > 1_000);
        assert_eq!(rig.get(thread, Signal::Cycles), sum(&classes));
        let held = [Signal::IssueHeldArbitrationCycles, Signal::IssueHeldRecirculationCycles, Signal::IssueHeldOtherCycles];
        assert_eq!(rig.get(thread, Signal::IssueHeldCycles), sum(&held));
        let stalls = [
            Signal::StallExecutionCycles,
            Signal::StallMemoryCycles,
            Signal::StallBranchCycles,
            Signal::StallDispatchFinishCycles,
            Signal::StallOldestFlushCycles,
        ];
        assert_eq!(rig.get(thread, Signal::StallCycles), sum(&stalls));
        let blocked = [
            Signal::BlockedExceptionCycles,
            Signal::StallSerializationCycles,
            Signal::BlockedFlushCycles,
            Signal::BlockedFlushNextCycles,
            Signal::BlockedNestedBeginCycles,
            Signal::BlockedNestedEndCycles,
            Signal::BlockedStatusWriteCycles,
        ];
        assert_eq!(rig.get(thread, Signal::ThreadBlockedCycles), sum(&blocked));
        let empty = [
            Signal::FrontEndEmptyL2Cycles,
            Signal::FrontEndEmptyL3Cycles,
            Signal::FrontEndEmptyMemoryCycles,
            Signal::FrontEndEmptyTranslationCycles,
            Signal::FrontEndEmptyMispredictionCycles,
            Signal::FrontEndEmptyMispredictionMissCycles,
            Signal::EmptyHeldCycles,
        ];
        assert!(rig.get(thread, Signal::FrontEndEmptyCycles) >= sum(&empty));
        let empty_held = [
            Signal::EmptyHeldHistoryCycles,
            Signal::EmptyHeldIssueQueueCycles,
            Signal::EmptyHeldSynchronizationCycles,
            Signal::EmptyHeldTransactionCycles,
        ];
        assert!(rig.get(thread, Signal::EmptyHeldCycles) >= sum(&empty_held));
        let dispatch = [
            Signal::DispatchHeldIssueQueueCycles,
            Signal::DispatchHeldHistoryCycles,
            Signal::DispatchStallSerializationCycles,
            Signal::DispatchHeldInvalidationCycles,
            Signal::DispatchHeldTransactionCycles,
        ];
        assert!(rig.get(thread, Signal::DispatchStallCycles) <= sum(&dispatch));
        for (long, all) in [
            (Signal::StallFixedLongCycles, Signal::StallFixedCycles),
            (Signal::StallFloatScalarLongCycles, Signal::StallFloatScalarCycles),
            (Signal::StallDecimalLongCycles, Signal::StallDecimalCycles),
            (Signal::StallVectorFixedLongCycles, Signal::StallVectorFixedCycles),
            (Signal::StallFloatVectorLongCycles, Signal::StallFloatVectorCycles),
            (Signal::StallLoadConflictCycles, Signal::StallLoadL2Cycles),
            (Signal::StallStoreDataWaitCycles, Signal::StallMemoryCycles),
        ] {
            assert!(rig.get(thread, long) <= rig.get(thread, all), "{}", long.name());
        }
        let units = [
            Signal::StallFixedCycles,
            Signal::StallFloatScalarCycles,
            Signal::StallDecimalCycles,
            Signal::StallPermuteCycles,
            Signal::StallCryptoCycles,
            Signal::StallVectorFixedCycles,
            Signal::StallFloatVectorCycles,
        ];
        assert_eq!(rig.get(thread, Signal::StallExecutionCycles), sum(&units));
        let misses = [
            Signal::StallLoadL2Cycles,
            Signal::StallLoadL3Cycles,
            Signal::StallLoadOtherCoreCycles,
            Signal::StallLoadLocalMemoryCycles,
            Signal::StallLoadRemoteCycles,
        ];
        assert_eq!(rig.get(thread, Signal::StallLoadMissCycles), sum(&misses));
        let memory = [
            Signal::StallLoadMissCycles,
            Signal::StallAddressArbitrationCycles,
            Signal::StallTranslationQueueFullCycles,
            Signal::StallTranslationCycles,
            Signal::StallMissQueueFullCycles,
            Signal::StallStoreDataWaitCycles,
            Signal::StallStoreForwardCycles,
            Signal::StallLoadFinishCycles,
            Signal::StallSplitLoadCycles,
            Signal::StallLoadQueueFullCycles,
            Signal::StallLoadReserveCycles,
            Signal::StallStoreBufferCycles,
            Signal::StallStoreDataCycles,
            Signal::StallStoreFinishCycles,
            Signal::StallStoreFinishArbitrationCycles,
            Signal::StallStoreRelaunchCycles,
            Signal::StallLockedCycles,
            Signal::StallTransactionEndCycles,
            Signal::StallSegmentInvalidationCycles,
            Signal::StallInvalidationCycles,
            Signal::StallPasteCycles,
            Signal::StallOrderingBarrierCycles,
            Signal::StallLoadStoreRegisterCycles,
            Signal::StallLoadStoreOtherCycles,
        ];
        assert_eq!(rig.get(thread, Signal::StallMemoryCycles), sum(&memory));
        assert!(sum(&[Signal::StallMemoryCycles]) > 0 && sum(&[Signal::StallExecutionCycles]) > 0);
    }
}

#[test]
fn every_clock_of_the_pipeline_of_montecito_has_one_reason_and_every_slot_one_place() {
    // Sections 3.2.1.4, 4.4 and 4.6, and rules PM5, PM37 and PM44: bubbles and groups are all cycles, and six slots per cycle without a
    // dispersal stall are used or lost.
    let companion = Builder::new("montecito").unwrap().threads(1).clock(Clock::Companion).build();
    let rig = Rig::new(1);
    let (mut follower, mut noise) = (follow(&companion, 0), Noise::new(3));
    for round in 0..20 {
        (0..300).for_each(|_| noise.next(|instruction| rig.run(&mut follower, instruction)));
        bundles::wander(round, 300, |instruction| rig.run(&mut follower, instruction));
        stalls::waits(0x6000_0000 + (round << 20), |instruction| rig.run(&mut follower, instruction));
    }
    // The last group is still open.
    noise.next(|instruction| rig.run(&mut follower, &Instruction { bundle: None, ..*instruction }));
    let sum = |signals: &[Signal]| signals.iter().map(|signal| rig.get(0, *signal)).sum::<u64>();
    let families = [Signal::StallMemoryCycles, Signal::StallExecutionCycles, Signal::StallRegisterStackCycles];
    let flushes = [Signal::FlushBranchCycles, Signal::FlushExceptionCycles];
    let cycles = sum(&[Signal::Cycles]);
    assert!(cycles > 10_000);
    assert_eq!(cycles, sum(&[Signal::RetirementCycles, Signal::InstructionFetchStallCycles]) + sum(&families) + sum(&flushes));
    assert_eq!(sum(&[Signal::DispersalStallCycles]), sum(&families) + sum(&flushes));
    let lost = [
        Signal::SlotsNotDispersedStop,
        Signal::SlotsNotDispersedImplicit,
        Signal::SlotsNotDispersedFrontEnd,
        Signal::SlotsNotDispersedLong,
    ];
    assert_eq!(sum(&[Signal::SlotsNotDispersed]), sum(&lost));
    assert_eq!(sum(&[Signal::SlotsOvercounted]), sum(&[Signal::SlotsOvercountedStop, Signal::SlotsOvercountedImplicit]));
    let slots = 6 * (cycles - sum(&[Signal::DispersalStallCycles]));
    assert_eq!(slots, sum(&[Signal::InstructionsDispersed, Signal::SlotsNotDispersed]) - sum(&[Signal::SlotsOvercounted]));
    let idle = [
        Signal::FetchIdleFlushCycles,
        Signal::FetchIdleTranslationCycles,
        Signal::FetchIdleMissCycles,
        Signal::FetchIdleLoopCycles,
        Signal::FetchIdleFillCycles,
        Signal::FetchIdleBubbleCycles,
        Signal::FetchIdleFullCycles,
    ];
    assert!(sum(&idle) > 0 && sum(&idle) < cycles);
    assert!(families.iter().chain(&flushes).all(|signal| sum(&[*signal]) > 0));
    // Either asks for clocks of DET, and both may do so in the same clock.
    let either = [Signal::StallDataCacheCycles, Signal::StallFloatingPointCycles];
    let detection = sum(&[Signal::StallMemoryCycles]);
    assert!(either.iter().all(|signal| (1..=detection).contains(&sum(&[*signal]))) && sum(&either) >= detection);
    let registers = [Signal::StallGeneralRegistersCycles, Signal::StallFloatingRegistersCycles, Signal::StallSpecialOrPredicatesCycles];
    let execution = sum(&[Signal::StallExecutionCycles]);
    assert!(registers.iter().all(|signal| sum(&[*signal]) <= execution) && sum(&registers) >= execution);
    let stack = [
        Signal::RegisterStackRegisterStallCycles,
        Signal::RegisterStackSpillStallCycles,
        Signal::RegisterStackFillStallCycles,
        Signal::RegisterStackLoadStallCycles,
        Signal::RegisterStackBankStallCycles,
    ];
    assert!(stack.iter().all(|signal| sum(&[*signal]) > 0) && sum(&stack) >= sum(&[Signal::StallRegisterStackCycles]));
}

#[test]
fn every_clock_of_the_first_itanium_is_in_one_account() {
    // Rules PI5, PI25 and PI27: twelve causes, each in exactly one of the four sums.
    let companion = Builder::new("itanium").unwrap().clock(Clock::Companion).build();
    let rig = Rig::new(1);
    let (mut follower, mut noise) = (follow(&companion, 0), Noise::new(3));
    for round in 0..20 {
        (0..300).for_each(|_| noise.next(|instruction| rig.run(&mut follower, instruction)));
        bundles::wander(round, 300, |instruction| rig.run(&mut follower, instruction));
    }
    let sum = |signals: &[Signal]| signals.iter().map(|signal| rig.get(0, *signal)).sum::<u64>();
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
    assert!(sums.iter().all(|sum| *sum > 0));
    assert_eq!(sum(&[Signal::Cycles]), sums.iter().sum::<u64>());
    assert_eq!(sum(&[Signal::RetirementCycles]), sum(&[Signal::InherentExecutionCycles, Signal::IssueLimitCycles]));
}

#[test]
fn entries_of_the_queues_of_power9_and_its_units_add_up_to_the_cycles_that_were_counted() {
    // A thread alone has every cycle counted, in words of 64, up to its last dispatch.
    let companion = Builder::of(parts::named("power9").unwrap()).threads(1).clock(Clock::Companion).build();
    let rig = Rig::new(1);
    let (mut follower, mut noise) = (follow(&companion, 0), Noise::new(8));
    (0..20_000).for_each(|_| noise.next(|instruction| rig.run(&mut follower, instruction)));
    let sum = |signals: &[Signal]| signals.iter().map(|signal| rig.get(0, *signal)).sum::<u64>();
    let first = [
        Signal::RecirculationQueue0To3Cycles,
        Signal::RecirculationQueue4To6Cycles,
        Signal::RecirculationQueue7To9Cycles,
        Signal::RecirculationQueue10To12Cycles,
    ];
    let second = [
        Signal::SecondRecirculationQueue0To3Cycles,
        Signal::SecondRecirculationQueue4To6Cycles,
        Signal::SecondRecirculationQueue7To9Cycles,
        Signal::SecondRecirculationQueue10To12Cycles,
    ];
    let units = [Signal::FixedUnitsBusyCycles, Signal::FixedUnitsIdleCycles];
    let cycles = sum(&[Signal::Cycles]);
    for each in [sum(&first), sum(&second), sum(&units)] {
        assert!((cycles - 64..=cycles).contains(&each), "{each} of {cycles}");
    }
    assert!(sum(&[Signal::FixedUnitsAllBusyCycles]) <= sum(&[Signal::FixedUnitsBusyCycles]));
    assert!(sum(&[Signal::IssueQueueLowCycles, Signal::IssueQueueHighCycles]) <= cycles);
    assert!(sum(&[Signal::LoadStoreEmptyCycles]) <= sum(&[Signal::MissQueueEmptyCycles]));
}
