//! Counts of the queue, worked out by hand. Group T is in stage L1D in clock T. The short bypass reaches the data array in T + 1, the long
//! one in T + 3, the queue in T + 5; an operation that passes is done four clocks later. A load that misses and bypasses the queue in T has
//! its line in T + latency, written in four clocks.

use crate::bytes::{Reader, Writer};
use alloc::vec;
use alloc::vec::Vec;

use super::operation::{OperationKind, Order};
use super::states::QueueStates;
use super::*;

/// Latency of the third level from L1D, and of memory.
const THIRD: u64 = 13;
const MEMORY: u64 = 200;

/// Counts of a run, and the number of clocks in which each state held.
struct Run {
    counts: [u64; COUNTS],
    clocks: [u64; STATES.len()],
}

/// Runs these groups in a new queue.
fn run(groups: &[(u64, &[QueuedOperation])]) -> Run {
    let mut queue = SecondQueue::new();
    queue.observe(true, 0);
    run_in(queue, groups)
}

/// Runs these groups in a given queue.
fn run_in(mut queue: SecondQueue, groups: &[(u64, &[QueuedOperation])]) -> Run {
    let mut clocks = [0; STATES.len()];
    let mut pass = |queue: &mut SecondQueue, end: u64| {
        while queue.reported < end {
            let (held, passed) = queue.hold(end - queue.reported);
            clocks.iter_mut().enumerate().filter(|(state, _)| held >> state & 1 == 1).for_each(|(_, sum)| *sum += passed);
        }
        assert_eq!(queue.reported, end);
    };
    for (now, operations) in groups {
        // The clock of a group is reported before the group is known.
        pass(&mut queue, now + 1);
        queue.wait(*now, operations.iter().copied());
    }
    pass(&mut queue, 100_000);
    assert!(!queue.entries.any(|_| true) && queue.fills.all.iter().all(|fill| !fill.taken), "everything is done");
    Run { counts: queue.counts, clocks }
}

impl Run {
    fn of(&self, count: Count) -> u64 {
        self.counts[count as usize]
    }

    fn expect(&self, expected: &[(Count, u64)]) {
        for (count, amount) in expected {
            assert_eq!(self.of(*count), *amount, "{count:?}");
        }
    }

    fn held(&self, state: QueueStates) -> u64 {
        self.clocks[state as usize]
    }
}

/// Returns a floating-point load of eight bytes at this byte of a line. Lines with even numbers have banks 0 to 7, the others 8 to 15.
fn load(line: u64, byte: u64) -> QueuedOperation {
    QueuedOperation::new(OperationKind::FloatingLoad, line, byte, 8)
}

fn store(line: u64, byte: u64) -> QueuedOperation {
    QueuedOperation::new(OperationKind::Store, line, byte, 8)
}

fn miss(line: u64) -> QueuedOperation {
    load(line, 0).missing(THIRD, false)
}

#[test]
fn a_hit_alone_takes_the_short_way_and_gives_up_that_of_misses() {
    let queue = run(&[(10, &[load(1, 0)])]);
    queue.expect(&[
        (Count::Hit, 1),
        (Count::ShortBypass, 1),
        (Count::FloatingLoad, 1),
        (Count::InvalidMissBypass, 1),
        (Count::MissBypass, 0),
    ]);
}

#[test]
fn each_kind_is_completed_once() {
    let kinds = [
        OperationKind::IntegerLoad,
        OperationKind::FloatingLoad,
        OperationKind::Modification,
        OperationKind::Store,
        OperationKind::Prefetch,
    ];
    let groups = kinds.map(|kind| [QueuedOperation::new(kind, kind as u64, 0, 8)]);
    let mut groups: Vec<(u64, &[QueuedOperation])> =
        groups.iter().enumerate().map(|(time, group)| (10 * time as u64, group.as_slice())).collect();
    let flush = [QueuedOperation::bare(Order::None)];
    groups.push((100, &flush));
    let queue = run(&groups);
    queue.expect(&[(Count::IntegerLoad, 1), (Count::FloatingLoad, 1), (Count::Modification, 1), (Count::Store, 1), (Count::Prefetch, 1)]);
    queue.expect(&[(Count::Other, 1), (Count::Hit, 5)]);
}

#[test]
fn a_load_behind_its_sibling_on_a_bank_takes_the_long_way() {
    let queue = run(&[(10, &[load(2, 0), load(4, 0)])]);
    queue.expect(&[(Count::Bank, 1), (Count::ShortBypass, 1), (Count::LongBypass, 1), (Count::FloatingLoad, 2)]);
}

/// Runs these groups, with a snoop of line 2 in clock `at`.
fn run_snooped(groups: &[(u64, &[QueuedOperation])], at: u64) -> Run {
    let mut queue = SecondQueue::new();
    queue.observe(true, 0);
    queue.snoop(2, at);
    run_in(queue, groups)
}

#[test]
fn a_snoop_sends_what_waits_with_its_line_round() {
    // A store is in the queue from 10 on and reaches the array in 15. The snoop makes it recirculate, so that it hits again.
    let groups: [(u64, &[QueuedOperation]); 1] = [(10, &[store(2, 0), store(4, 0)])];
    let queue = run_snooped(&groups, 12);
    queue.expect(&[(Count::Snooped, 1), (Count::Recirculated, 1), (Count::Store, 2), (Count::SnoopedFill, 0)]);
    // By 15 it is done.
    run_snooped(&groups, 16).expect(&[(Count::Snooped, 0), (Count::Recirculated, 0), (Count::Store, 2)]);
}

#[test]
fn a_snoop_meets_a_line_that_comes_within_three_clocks() {
    // The line arrives in 10 + 13.
    let groups: [(u64, &[QueuedOperation]); 1] = [(10, &[miss(2)])];
    let met = [20, 21, 23, 25, 26].map(|at| run_snooped(&groups, at).of(Count::SnoopedFill));
    assert_eq!(met, [0, 1, 1, 1, 0]);
}

#[test]
fn more_than_four_in_a_clock_are_too_many() {
    // The stores reach the array in 15, as the loads do: two of the four ports are left.
    let loads = [load(2, 0x20), load(2, 0x30), load(2, 0x40), load(2, 0x50)];
    let queue = run(&[(10, &[store(2, 0), store(2, 0x10)]), (14, &loads)]);
    queue.expect(&[(Count::Oversubscription, 2), (Count::ShortBypass, 2), (Count::LongBypass, 2), (Count::Bank, 0)]);
}

#[test]
fn a_load_is_cancelled_by_a_store_to_its_chunk_in_each_stage() {
    // The store is in the array from 15 to 18; the load arrives in 14 + 1 and later.
    for (clocks, stage) in Count::STAGES.into_iter().enumerate() {
        let queue = run(&[(10, &[store(2, 0)]), (14 + clocks as u64, &[load(2, 4)])]);
        for each in Count::STAGES {
            assert_eq!(queue.of(each), u64::from(each == stage), "{each:?}");
        }
    }
}

#[test]
fn a_load_that_acts_as_a_release_is_held_for_as_long_as_it_is_in_the_queue() {
    // It enters in 15, is cancelled by the store that is done in 19, tries again in 20 and is done in 24.
    let queue = run(&[(10, &[store(2, 0)]), (14, &[load(2, 0)])]);
    queue.expect(&[(Count::StoreL2A, 1), (Count::FloatingLoad, 1)]);
    assert_eq!(queue.held(QueueStates::Release), 9);
}

#[test]
fn a_load_before_a_store_to_its_chunk_is_issued_is_a_late_cancel() {
    let queue = run(&[(10, &[store(2, 0)]), (11, &[load(2, 0)])]);
    queue.expect(&[(Count::Release, 1), (Count::LateBypass, 1), (Count::ShortBypass, 0), (Count::FloatingLoad, 1)]);
}

#[test]
fn a_store_to_another_chunk_of_the_bank_cancels_nothing() {
    let queue = run(&[(10, &[store(2, 0)]), (11, &[load(2, 8)])]);
    queue.expect(&[(Count::Release, 0), (Count::ShortBypass, 1)]);
    assert_eq!(queue.held(QueueStates::Release), 0);
}

#[test]
fn a_store_meets_the_data_of_a_line_and_a_load_meets_the_cancelled_store() {
    // Line 3 arrives in 23, with banks 8 and 9 first. The store reaches bank 8 in 23, the load of the same chunk in 24.
    let queue = run(&[(10, &[miss(3)]), (18, &[store(5, 0)]), (23, &[load(5, 0)])]);
    queue.expect(&[(Count::FillStore, 1), (Count::CancelledStore, 1), (Count::Store, 1), (Count::FloatingLoad, 2)]);
}

#[test]
fn a_load_meets_the_data_of_a_line() {
    // As above; in 25 the line is written to banks 12 and 13.
    let queue = run(&[(10, &[miss(3)]), (22, &[load(5, 0)])]);
    queue.expect(&[(Count::MissBypass, 1), (Count::Fill, 1), (Count::LongBypass, 1), (Count::FillStore, 0)]);
}

#[test]
fn a_load_meets_the_data_that_are_written_back() {
    // The victim is read in 11 to 14; banks 10 and 11 in 12.
    let evicting = [load(3, 0).missing(THIRD, true)];
    let queue = run(&[(10, &evicting), (11, &[load(5, 0x20)])]);
    queue.expect(&[(Count::WriteBack, 1), (Count::LongBypass, 1)]);
}

#[test]
fn a_store_waits_while_a_line_takes_the_data_of_another() {
    // The missing store is sent in 14, and its line arrives in 14 + 12. The other store reaches the array in 26 too, in another bank.
    let queue = run(&[(10, &[store(3, 0).missing(THIRD, false)]), (21, &[store(2, 0)])]);
    queue.expect(&[(Count::StoreData, 1), (Count::Store, 2), (Count::InvalidMissBypass, 2), (Count::MissBypass, 0)]);
}

#[test]
fn a_sibling_of_an_acquire_is_cancelled_late() {
    let queue = run(&[(10, &[miss(3).ordered(Order::Acquire), load(2, 0)])]);
    queue.expect(&[(Count::Acquire, 1), (Count::LateSibling, 1)]);
    // It bypasses the queue.
    assert_eq!(queue.held(QueueStates::Acquire), 0);
}

#[test]
fn an_acquire_is_in_the_queue_from_its_entry_to_its_end() {
    // It enters in 11 and is done in 15.
    let queue = run(&[(10, &[load(3, 0).ordered(Order::Acquire)])]);
    assert_eq!((queue.held(QueueStates::Acquire), queue.of(Count::Acquire)), (4, 0));
}

#[test]
fn a_release_waits_for_all_before_it() {
    // It enters in 12 and reaches the array in 16; the line arrives in 23, so it tries again in 24 and is done in 28.
    let queue = run(&[(10, &[miss(3)]), (11, &[store(2, 0).ordered(Order::Release)])]);
    queue.expect(&[(Count::Release, 1), (Count::LateBypass, 0), (Count::Store, 1)]);
    assert_eq!(queue.held(QueueStates::Release), 16);
}

#[test]
fn semaphores_and_what_synchronizes_wait_for_all_before_them() {
    let semaphore = QueuedOperation::new(OperationKind::Modification, 2, 0, 8).ordered(Order::Semaphore);
    run(&[(10, &[miss(3)]), (11, &[semaphore])]).expect(&[(Count::Semaphore, 1), (Count::Modification, 1)]);
    run(&[(10, &[miss(3)]), (11, &[QueuedOperation::bare(Order::Synchronization)])])
        .expect(&[(Count::Synchronization, 1), (Count::Other, 1)]);
    run(&[(10, &[miss(3)]), (11, &[QueuedOperation::bare(Order::Fence)])]).expect(&[(Count::Release, 1), (Count::Other, 1)]);
}

#[test]
fn a_load_that_is_not_aligned_gives_up_the_short_way() {
    run(&[(10, &[load(2, 4)])]).expect(&[(Count::Recirculation, 1), (Count::LongBypass, 1), (Count::ShortBypass, 0)]);
}

#[test]
fn one_operation_a_clock_goes_round() {
    // Three wait in 14: two are cancelled there, one in 15.
    let queue = run(&[(10, &[miss(3), load(3, 8), load(3, 16), load(3, 24)])]);
    queue.expect(&[(Count::SameSet, 3), (Count::Recirculated, 3), (Count::Recirculation, 3), (Count::FloatingLoad, 4)]);
}

#[test]
fn a_line_that_comes_goes_before_what_goes_round() {
    // The line arrives in 14, when the sibling would recirculate.
    let queue = run(&[(10, &[load(3, 0).missing(4, false), load(3, 8)])]);
    queue.expect(&[(Count::SameSet, 1), (Count::Recirculated, 1), (Count::Recirculation, 1), (Count::FloatingLoad, 2)]);
}

#[test]
fn secondary_misses_are_told_apart_by_where_the_first_is() {
    let queue = run(&[
        (10, &[miss(3)]),
        (11, &[load(3, 8)]),
        (12, &[load(3, 8)]),
        (13, &[QueuedOperation::new(OperationKind::Modification, 3, 16, 2)]),
    ]);
    queue.expect(&[(Count::OneBehindMiss, 1), (Count::FillHit, 2), (Count::SecondaryRead, 3), (Count::SecondaryWrite, 1)]);
    // A store that misses is in the queue until 14.
    let queue = run(&[(10, &[store(3, 0).missing(THIRD, false)]), (12, &[load(3, 8)])]);
    queue.expect(&[(Count::BehindMiss, 1), (Count::SecondaryRead, 1), (Count::SecondaryWrite, 0)]);
}

#[test]
fn a_miss_behind_one_that_goes_round_does_so_too() {
    let queue = run(&[(10, &[miss(3), miss(3 + 256)]), (11, &[miss(7)])]);
    queue.expect(&[(Count::SameSet, 1), (Count::BehindRecirculation, 1), (Count::Recirculated, 2), (Count::FloatingLoad, 3)]);
    queue.expect(&[(Count::MissBypass, 1), (Count::SecondaryRead, 0)]);
}

#[test]
fn a_store_that_hits_beside_a_miss_of_its_set_goes_round() {
    let queue = run(&[(10, &[miss(3), store(3 + 256, 0)])]);
    queue.expect(&[(Count::HeldHit, 1), (Count::Hit, 0), (Count::Recirculated, 1), (Count::Store, 1)]);
}

#[test]
fn the_queue_is_full_until_the_line_comes_that_all_wait_for() {
    // The load of clock 42 is the 32nd and enters in 43. The line arrives in 210.
    let first = [load(3, 0).missing(MEMORY, false)];
    let rest = [load(3, 8)];
    let mut groups: Vec<(u64, &[QueuedOperation])> = vec![(10, &first)];
    groups.extend((11..51).map(|time| (time, rest.as_slice())));
    let queue = run(&groups);
    assert_eq!(queue.held(QueueStates::Full), 210 - 43);
    queue.expect(&[(Count::FloatingLoad, 41), (Count::OneBehindMiss, 1), (Count::FillHit, 31), (Count::Hit, 0)]);
}

#[test]
fn all_lines_are_on_their_way_until_the_first_is_written() {
    // The miss of clock 25 is the 16th, requested in 26. The first line arrives in 210 and is written in four clocks.
    for evicts in [false, true] {
        let misses: Vec<[QueuedOperation; 1]> = (0..17).map(|line| [load(3 + 2 * line, 0).missing(MEMORY, evicts)]).collect();
        let groups: Vec<(u64, &[QueuedOperation])> = misses.iter().zip(10..).map(|(group, time)| (time, group.as_slice())).collect();
        let queue = run(&groups[..16]);
        assert_eq!(
            [QueueStates::Fills, QueueStates::Victims].map(|state| queue.held(state)),
            [214 - 26, if evicts { 214 - 26 } else { 0 }]
        );
        queue.expect(&[(Count::MissBypass, 16)]);
        // One more is requested when the first is written.
        let queue = run(&groups);
        queue.expect(&[(Count::MissBypass, 16), (Count::FloatingLoad, 17)]);
        assert_eq!(queue.held(QueueStates::Fills), 215 - 26);
    }
}

#[test]
fn an_access_around_the_cache_gives_up_the_way_of_misses() {
    let queue = run(&[(10, &[load(3, 0).uncacheable()])]);
    queue.expect(&[(Count::SpeculativeMissBypass, 1), (Count::InvalidMissBypass, 0), (Count::FloatingLoad, 0), (Count::Hit, 0)]);
}

/// Returns random groups.
fn random(seed: u64) -> Vec<(u64, Vec<QueuedOperation>)> {
    let mut state = seed;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut now = 0;
    (0..400)
        .map(|_| {
            now += 1 + draw(3);
            let operations = (0..1 + draw(4)).map(|_| {
                let operation = QueuedOperation::new(OperationKind::ALL[draw(5) as usize], draw(600), draw(120), 1 << draw(4));
                match draw(12) {
                    0 => operation.ordered(Order::ALL[draw(4) as usize]),
                    1 | 2 => operation.missing(THIRD + draw(MEMORY), draw(2) == 0),
                    3 => operation.uncacheable(),
                    4 => QueuedOperation::bare(Order::ALL[draw(6) as usize]),
                    _ => operation,
                }
            });
            (now, operations.collect())
        })
        .collect()
}

#[test]
fn every_operation_that_enters_is_completed() {
    for seed in 0..40 {
        let groups = random(seed);
        let queue = run(&groups.iter().map(|(now, group)| (*now, group.as_slice())).collect::<Vec<_>>());
        let completed = OperationKind::ALL.map(|kind| queue.of(Count::completed(kind))).iter().sum::<u64>();
        let entered = groups.iter().flat_map(|(_, group)| group).filter(|operation| !operation.uncached).count();
        assert_eq!(completed, entered as u64);
        // Each is a load that bypasses the queue at most once.
        let loads = queue.of(Count::FloatingLoad) + queue.of(Count::IntegerLoad);
        assert!(queue.of(Count::ShortBypass) + queue.of(Count::LongBypass) <= loads);
        assert!(queue.of(Count::Recirculated) >= queue.of(Count::SameSet) + queue.of(Count::OneBehindMiss));
    }
}

#[test]
fn a_queue_goes_on_where_it_was_saved() {
    let groups = random(7);
    let mut queue = SecondQueue::new();
    queue.observe(true, 0);
    for (now, group) in &groups[..200] {
        queue.enter(*now, group);
    }
    let mut writer = Writer::default();
    queue.save(&mut writer);
    let mut loaded = SecondQueue::new();
    loaded.observe(true, 0);
    loaded.load(&mut Reader(&writer.0), groups[199].0).unwrap();
    queue.counts = [0; COUNTS];
    for each in [&mut queue, &mut loaded] {
        groups[200..].iter().for_each(|(now, group)| each.enter(*now, group));
        each.advance(100_000);
    }
    assert_eq!(queue.counts, loaded.counts);
}
