//! Machines of the second and third level (PP74 to PP76), and rejected or held accesses (PP77, PP78).

use vm_pmu_arch::feed::Signal;

use super::threads::{beginning, core_of, leave};
use super::{AllFinished, Bench, Class, FREE, Finish, HeldOther, MEMORY, Operation, Power9State, Register, SECOND, Source, instruction};
use crate::instruction::{AccessKind, Instruction};
use crate::pipeline::Prefetch;
use crate::pipeline::power9::reasons::Reason;

const THIRD: u32 = 36;

/// Returns the address of a line for loads or stores of slice 0.
fn line(number: u64) -> u64 {
    0x1_0000 + 128 * number
}

/// Runs a store to a line that only memory has.
fn store_to_memory(bench: &mut Bench, address: u64) {
    let touch = bench.touch(address, AccessKind::Store);
    (touch.missed, touch.latency, touch.source) = (true, MEMORY, Source::Memory);
    bench.run(&instruction(
        Class::Store,
        Operation { width: 8, addresses: &[Register(FREE)], reads: &[Register(FREE)], ..Operation::default() },
    ));
}

/// Runs the first instruction of a block of code that comes from the second level.
fn fetch(bench: &mut Bench, physical: u64) {
    (bench.found.code, bench.found.line) = (Some(Source::Second), SECOND - 4);
    bench.run(&Instruction { address: physical, physical, length: 4, ..Instruction::default() });
}

#[test]
fn a_load_from_memory_has_the_first_read_machine_until_its_line_is_here() {
    let mut bench = Bench::new();
    bench.load(1, line(0), Some((MEMORY, Source::Memory)));
    let answer = bench.finish();
    // From 5 to 340. The first of 16 machines is sampled in the first 32 of 512 cycles: from 5 to 31.
    assert_eq!(
        [Power9State::SecondReadFirst, Power9State::SecondReadSample, Power9State::ThirdReadFirst].map(|state| answer.state(state)),
        [336, 27, 0]
    );
}

#[test]
fn the_second_machine_is_sampled_after_the_first() {
    let mut bench = Bench::new();
    bench.load(1, line(0), Some((MEMORY, Source::Memory)));
    bench.load(2, line(1), Some((MEMORY, Source::Memory)));
    // Both in slice 0: the second is launched at 2 and works from 6 on. It is sampled from 32 to 63.
    let answer = bench.finish();
    assert_eq!([Power9State::SecondReadFirst, Power9State::SecondReadSample].map(|state| answer.state(state)), [336, 27 + 32]);
}

#[test]
fn a_line_of_the_third_level_has_a_read_machine_there_for_21_cycles() {
    let mut bench = Bench::new();
    bench.load(1, line(0), Some((THIRD, Source::Third)));
    let answer = bench.finish();
    // 36 - 15 of the 32 cycles from 5 to 36, which are 16 to 36; of these 16 to 31 are sampled.
    let states = [Power9State::SecondReadFirst, Power9State::ThirdReadFirst, Power9State::ThirdReadSample];
    assert_eq!(states.map(|state| answer.state(state)), [32, 21, 16]);
}

#[test]
fn a_request_that_finds_all_read_machines_at_work_fails_once() {
    let mut bench = Bench::new();
    (0..17).for_each(|number| store_to_memory(&mut bench, line(number)));
    // One every two cycles, each for 340: the seventeenth finds no free machine.
    let failures = [Signal::LoadsWithoutMachine, Signal::FetchesWithoutMachine, Signal::StoresWithoutMachine];
    assert_eq!(failures.map(|signal| bench.count(signal)), [0, 0, 1]);
    bench.load(1, line(20), Some((MEMORY, Source::Memory)));
    fetch(&mut bench, 0x9_0000);
    assert_eq!(failures.map(|signal| bench.count(signal)), [1, 1, 1]);
}

#[test]
fn castouts_have_machines_of_both_levels() {
    let mut bench = Bench::new();
    bench.found.castouts = (16, 1);
    bench.add(1, FREE);
    bench.found.castouts = (1, 0);
    bench.add(2, FREE);
    assert_eq!(bench.count(Signal::CastoutsWithoutMachine), 1);
    bench.load(3, line(0), Some((MEMORY, Source::Memory)));
    let answer = bench.finish();
    // Both adds finish at 3. The first machine works from 3 to 23, and again from 24 to 44; it is sampled up to 31. The third level takes
    // the lines in the same cycles, and casts one out from 24 on, as long as the load takes, up to 343; its machine is sampled up to 31.
    let states =
        [Power9State::SecondCastoutFirst, Power9State::SecondCastoutSample, Power9State::ThirdCastSample, Power9State::ThirdCastoutFirst];
    // The sixteenth and others work from 3 to 23 only, and are sampled later.
    assert_eq!(states.map(|state| answer.state(state)), [42, 29, 29, 320]);
}

#[test]
fn snoops_have_machines_of_the_level_that_had_the_line() {
    let mut bench = Bench::new();
    bench.found.snooped = (2, 1);
    bench.add(1, FREE);
    bench.load(2, line(0), Some((MEMORY, Source::Memory)));
    let answer = bench.finish();
    let states =
        [Power9State::SecondSnoopFirst, Power9State::SecondSnoopSample, Power9State::ThirdSnoopFirst, Power9State::ThirdSnoopSample];
    // The add is dispatched at 0. From then on the first machines work for 15 and 36 cycles, and are sampled up to 31: for 15 cycles and
    // 32. The second machine of the second level is sampled from 32 on, when it is idle.
    assert_eq!(states.map(|state| answer.state(state)), [15, 15, 36, 32]);
}

#[test]
fn lines_of_devices_have_write_inject_machines() {
    let mut bench = Bench::new();
    bench.found.injected = 2;
    bench.add(1, FREE);
    bench.load(2, line(0), Some((MEMORY, Source::Memory)));
    let answer = bench.finish();
    // The add is dispatched at 0, and two machines work from 0 to 35. The first is sampled up to 31, the second from 32 on.
    assert_eq!([Power9State::ThirdInjectFirst, Power9State::ThirdInjectSample].map(|state| answer.state(state)), [36, 32 + 4]);
}

#[test]
fn a_load_of_a_line_that_is_prefetched_waits_for_the_rest() {
    let mut bench = Bench::new();
    bench.found.prefetches[0] = Prefetch { line: line(1) >> 7, latency: MEMORY, source: Source::Memory };
    bench.found.prefetched = 1;
    bench.load(1, line(0), Some((SECOND, Source::Second)));
    bench.load(2, line(1), Some((SECOND, Source::Second)));
    assert_eq!([Signal::LoadsMergedWithPrefetch, Signal::ReadsBehindPrefetch].map(|signal| bench.count(signal)), [1, 1]);
    let answer = bench.finish();
    // Requested at 5, the line arrives at 345. The second load finishes then; alone it would finish at 17. The first finishes at 16.
    let reasons = [(HeldOther, 1), (Reason::MissSecond, 15), (Reason::MissMemory, 345 - 17), (Finish, 2), (AllFinished, 2)];
    answer.expect(348, &reasons);
    // The first of 32 prefetch machines is sampled in the first 32 cycles.
    assert_eq!([Power9State::ThirdPrefetchFirst, Power9State::ThirdPrefetchSample].map(|state| answer.state(state)), [340, 27]);
}

#[test]
fn a_fetch_waits_while_the_second_level_gets_its_line_for_a_load() {
    let mut bench = Bench::new();
    bench.load(1, line(0), Some((MEMORY, Source::Memory)));
    fetch(&mut bench, line(0));
    assert_eq!([Signal::FetchesBehindOther, Signal::ReadsBehindPrefetch].map(|signal| bench.count(signal)), [1, 0]);
    // The line is free for others at 342; 15 cycles later it arrives, and is dispatched 8 after that. It was fetched at 0.
    assert_eq!(bench.core.now(), 342 + 15 + 8);
}

#[test]
fn a_fetch_of_a_line_that_is_prefetched_waits_for_the_rest() {
    let mut bench = Bench::new();
    bench.found.prefetches[0] = Prefetch { line: line(1) >> 7, latency: MEMORY, source: Source::Memory };
    bench.found.prefetched = 1;
    bench.load(1, line(0), Some((SECOND, Source::Second)));
    fetch(&mut bench, line(1));
    let counts = [Signal::FetchesBehindOther, Signal::ReadsBehindPrefetch, Signal::LoadsMergedWithPrefetch];
    assert_eq!(counts.map(|signal| bench.count(signal)), [0, 1, 0]);
    assert_eq!(bench.core.now(), 345 + 8);
}

#[test]
fn a_store_that_finds_its_slice_full_is_tried_again() {
    let mut bench = Bench::new();
    // Issued four per cycle from 1 on; the slice has 16 entries, the first of which is free at 9.
    (0..17).for_each(|number| bench.store(FREE, line(number)));
    assert_eq!([Signal::StoresNotAccepted, Signal::StoresIssued].map(|signal| bench.count(signal)), [1, 18]);
}

#[test]
fn a_store_without_a_translation_is_sent_back_by_its_slice() {
    let mut bench = Bench::new();
    bench.touch(0x1_0010, AccessKind::Store).translation = 13;
    bench.run(&instruction(Class::Store, Operation { width: 8, reads: &[Register(FREE)], ..Operation::default() }));
    bench.store(FREE, 0x1_0018);
    let slices = [Signal::StoreRejectsSlice0, Signal::StoreRejectsSlice1, Signal::StoreRejectsSlice2, Signal::StoreRejectsSlice3];
    assert_eq!(slices.map(|signal| bench.count(signal)), [0, 0, 1, 0]);
}

#[test]
fn a_load_that_agrees_with_a_store_within_the_page_alone_is_held_in_vain() {
    let mut bench = Bench::new();
    bench.store(FREE, 0x1_0008);
    bench.load(1, 0x9_0008, None);
    bench.load(2, 0x9_0010, None);
    bench.load(3, 0x1_0008, None);
    let slices = [Signal::FalseStoreHitsSlice0, Signal::FalseStoreHitsSlice1, Signal::FalseStoreHitsSlice2, Signal::FalseStoreHitsSlice3];
    assert_eq!(slices.map(|signal| bench.count(signal)), [0, 1, 0, 0]);
    assert_eq!(bench.count(Signal::LoadsForwarded), 1);
}

#[test]
fn prefetches_of_software_fill_the_data_cache_and_may_lack_a_translation() {
    let mut bench = Bench::new();
    let prefetch = |bench: &mut Bench, address: u64, kind: AccessKind, miss: Option<Source>, translation: u32| {
        let touch = bench.touch(address, kind);
        touch.translation = translation;
        (touch.missed, touch.source) = (miss.is_some(), miss.unwrap_or_default());
        touch.latency = MEMORY;
        bench.run(&instruction(Class::Load, Operation { width: 8, addresses: &[Register(FREE)], ..Operation::default() }));
    };
    prefetch(&mut bench, 0x1_0008, AccessKind::PrefetchLoad, Some(Source::Memory), 13);
    prefetch(&mut bench, 0x2_0018, AccessKind::PrefetchLoad, Some(Source::Second), 0);
    prefetch(&mut bench, 0x3_0018, AccessKind::PrefetchStore, Some(Source::Memory), 20);
    prefetch(&mut bench, 0x1_0008, AccessKind::PrefetchLoad, None, 0);
    bench.load(1, 0x4_0000, None);
    let slices = [
        Signal::PrefetchTranslationMissesSlice0,
        Signal::PrefetchTranslationMissesSlice1,
        Signal::PrefetchTranslationMissesSlice2,
        Signal::PrefetchTranslationMissesSlice3,
    ];
    assert_eq!(slices.map(|signal| bench.count(signal)), [0, 1, 0, 1]);
    assert_eq!([Signal::SoftwarePrefetchFills, Signal::SoftwarePrefetchFillsFromMemory].map(|signal| bench.count(signal)), [2, 1]);
}

#[test]
fn a_fetch_waits_while_the_second_level_gets_its_line_for_a_store() {
    let mut bench = Bench::new();
    store_to_memory(&mut bench, line(0));
    fetch(&mut bench, line(0));
    assert_eq!([Signal::FetchesBehindStore, Signal::FetchesBehindOther].map(|signal| bench.count(signal)), [1, 0]);
    // The second level takes the store at 9 and has the line at 349; 15 cycles later it arrives, and is dispatched 8 after that.
    assert_eq!(bench.core.now(), 349 + 15 + 8);
}

#[test]
fn a_load_and_a_fetch_wait_while_the_second_level_gets_their_line_for_the_fetch_of_another_thread() {
    let mut first = beginning(&mut core_of(2), 0, 0);
    (first.found.code, first.found.line) = (Some(Source::Memory), MEMORY - 4);
    first.run(&Instruction { address: line(0), physical: line(0), length: 4, ..Instruction::default() });
    let mut second = beginning(&mut leave(&mut first), 1, 0);
    second.load(1, line(0), Some((SECOND, Source::Second)));
    second.load(2, line(1), Some((SECOND, Source::Second)));
    let waits = [Signal::LoadsBehindFetch, Signal::LoadsBehindStore];
    assert_eq!(waits.map(|signal| second.count(signal)), [1, 0]);
    assert!(!second.outcome().behind_fetch);
    fetch(&mut second, line(0));
    assert_eq!([Signal::FetchesBehindOther, Signal::FetchesBehindStore].map(|signal| second.count(signal)), [1, 0]);
}

#[test]
fn a_load_behind_a_fetch_has_the_latency_of_the_second_level_from_there() {
    let mut first = beginning(&mut core_of(2), 0, 0);
    (first.found.code, first.found.line) = (Some(Source::Memory), MEMORY - 4);
    first.run(&Instruction { address: line(0), physical: line(0), length: 4, ..Instruction::default() });
    let mut second = beginning(&mut leave(&mut first), 1, 0);
    second.load(1, line(0), Some((SECOND, Source::Second)));
    assert!(second.outcome().behind_fetch);
    // It is requested at 0 and arrives at 336. The load has it at 351 and completes two cycles later.
    assert_eq!(second.core.completed, 336 + 15 + 2);
}

/// Returns the way prediction misses in each slice.
fn way_misses(bench: &Bench) -> [u64; 4] {
    crate::pipeline::power9::WAY_PREDICTION_MISSES.map(|signal| bench.count(signal))
}

#[test]
fn a_load_that_misses_or_reads_through_another_address_misses_its_predicted_way() {
    let mut bench = Bench::new();
    bench.load(1, line(0), Some((MEMORY, Source::Memory)));
    // Another slice of the same line: the entry is present.
    bench.load(2, line(0) + 8, None);
    assert_eq!(way_misses(&bench), [1, 0, 0, 0]);
    for _ in 0..2 {
        bench.touch(0x9_0010, AccessKind::Load).line = line(0) >> 7;
        bench.run(&instruction(Class::Load, Operation { width: 8, writes: &[Register(3)], ..Operation::default() }));
    }
    // The first through this address, in slice 2.
    assert_eq!(way_misses(&bench), [1, 0, 1, 0]);
    bench.load(4, line(0) + 24, None);
    bench.load(5, line(2) + 8, Some((SECOND, Source::Second)));
    assert_eq!(way_misses(&bench), [1, 1, 1, 1]);
}

#[test]
fn what_is_no_load_of_the_data_cache_has_no_predicted_way() {
    let mut bench = Bench::new();
    store_to_memory(&mut bench, line(0));
    let touch = bench.touch(line(1), AccessKind::Load);
    (touch.missed, touch.uncached, touch.latency) = (true, true, MEMORY);
    bench.run(&instruction(Class::Load, Operation { width: 8, writes: &[Register(3)], ..Operation::default() }));
    assert_eq!(way_misses(&bench), [0; 4]);
}
