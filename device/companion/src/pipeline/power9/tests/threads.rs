//! The known answers KA14 and KA15 of `docs/notes/pipelines-power9.md`, section 3, and other tests of threads that share a core.

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::{AllFinished, Bench, Empty, FREE, Finish, Fixed, HeldOther, MEMORY, Power9State, SECOND, instruction};
use crate::instruction::{AccessKind, Class, Operation, Register};
use crate::pipeline::power9::reasons::Reason;
use crate::pipeline::sharing::{Sharing, Threads};
use crate::pipeline::touch::Source;
use crate::profile::Microarchitecture;

/// Runs steps 0 to `count` on each thread of a core; the thread that can dispatch first always goes next.
fn compete(threads: usize, count: usize, step: impl Fn(&mut Bench, usize)) -> Vec<Bench> {
    let mut benches: Vec<_> = (0..threads).map(|_| (Bench::new(), 0)).collect();
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    // All begin in cycle 0.
    for thread in 0..threads {
        Threads::on_core_time(&mut sharing, thread, (1 << threads) - 1, 0);
    }
    let mut sharing = Some(sharing);
    let behind = |benches: &[(Bench, usize)]| {
        let open = (0..threads).filter(|thread| benches[*thread].1 < count);
        open.min_by_key(|thread| {
            let group = &benches[*thread].0.core.group;
            match group.count {
                1..6 => group.at,
                count => (group.at + u64::from(count != 0)..).find(|at| *at as usize % threads == *thread).unwrap_or(0),
            }
        })
    };
    while let Some(thread) = behind(&benches) {
        let (bench, done) = &mut benches[thread];
        bench.sharing = sharing.take().map(|sharing| (sharing, (1 << threads) - 1, thread));
        step(bench, *done);
        *done += 1;
        sharing = bench.sharing.take().map(|(sharing, ..)| sharing);
    }
    for (thread, (bench, _)) in benches.iter_mut().enumerate() {
        bench.sharing = sharing.take().map(|sharing| (sharing, (1 << threads) - 1, thread));
        bench.settle(64);
        sharing = bench.sharing.take().map(|(sharing, ..)| sharing);
    }
    benches.into_iter().map(|(bench, _)| bench).collect()
}

/// Returns a thread that begins in cycle `at`, on the core of `sharing`.
pub(super) fn beginning(sharing: &mut Option<Sharing>, thread: usize, at: u64) -> Bench {
    let mut bench = Bench::new();
    bench.core.shift(at);
    bench.sharing = sharing.take().map(|sharing| (sharing, 1 << thread, thread));
    bench
}

/// Returns a core whose threads are all followed from cycle 0 on.
pub(super) fn core_of(threads: usize) -> Option<Sharing> {
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    (0..threads).for_each(|thread| {
        Threads::on_core_time(&mut sharing, thread, 1 << thread, 0);
    });
    Some(sharing)
}

/// Takes the thread's shared state, for another thread.
pub(super) fn leave(bench: &mut Bench) -> Option<Sharing> {
    bench.sharing.take().map(|(sharing, ..)| sharing)
}

/// Returns the number of the thread.
fn thread(bench: &Bench) -> usize {
    bench.sharing.as_ref().map_or(0, |(_, _, thread)| *thread)
}

/// Returns the instructions of others that completed while each thread stalled.
fn others(benches: &mut [Bench]) -> Vec<u64> {
    benches.iter_mut().map(|bench| bench.tally.get(Signal::InstructionsOtherThreadsStalled)).collect()
}

#[test]
fn ka14_two_threads_take_turns_and_share_the_units() {
    let mut benches = compete(2, 48, |bench, _| bench.add(100, FREE));
    // A completes two instructions in each of the stall cycles 6, 9, ... 24 of B.
    assert_eq!(others(&mut benches), [0, 14]);
    // B is dispatched at 1, before which its completion table is empty.
    for (bench, begin) in benches.into_iter().zip([0, 1]) {
        let mut reasons = Vec::from([(HeldOther, 1), (Fixed, 9), (Finish, 16), (AllFinished, 2)]);
        reasons.extend((begin != 0).then_some((Empty, begin)));
        let answer = bench.finish();
        answer.expect(28 + begin, &reasons);
        // From 1 to 24, which both see.
        assert_eq!(answer.state(Power9State::FixedAllBusy), 24);
    }
}

#[test]
fn ka15_what_is_older_takes_the_port_first() {
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    let mut first = Bench::new();
    first.sharing = Some((sharing, 0b01, 0));
    first.adds(36);
    sharing = first.sharing.take().expect("it is there").0;
    // The other thread begins in cycle 6, when the first has nothing more to dispatch.
    let mut second = Bench::new();
    second.core.shift(6);
    second.sharing = Some((sharing, 0b10, 1));
    second.add(1, FREE);
    assert_eq!(second.tally.get(Signal::InstructionsOtherThreadsStalled), 8);
    second.finish_from(6).expect(9, &[(HeldOther, 1), (Reason::HeldArbitration, 3), (Fixed, 2), (Finish, 1), (AllFinished, 2)]);
    first.finish().expect(14, &[(HeldOther, 1), (Fixed, 2), (Finish, 9), (AllFinished, 2)]);
}

/// Returns the cycles with `reason` of every thread.
fn reasons(benches: Vec<Bench>, reason: Reason) -> Vec<u64> {
    benches.into_iter().map(|bench| bench.finish().reasons[reason as usize]).collect()
}

#[test]
fn a_load_waits_for_the_misses_of_another_thread() {
    // A's 16 loads from memory are launched at 1 to 4, four per cycle, and have the entries from 5 to 8 on; the first line arrives at 341
    // and its entry is free at 342. B has one load, which begins after them.
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    let mut first = Bench::new();
    first.sharing = Some((sharing, 0b01, 0));
    (0..16).for_each(|number| first.load(1, 0x1_0000 + 136 * number, Some((MEMORY, Source::Memory))));
    sharing = first.sharing.take().expect("it is there").0;
    let mut second = Bench::new();
    second.core.shift(20);
    second.sharing = Some((sharing, 0b10, 1));
    second.load(1, 0x9_0000, Some((SECOND, Source::Second)));
    // Launched at 21, its miss is known at 25; it enters at 342, and has its line 11 cycles later.
    let reasons = [(HeldOther, 1), (Reason::MissSecond, 4 + 11), (Reason::MissQueueFull, 342 - 25), (Finish, 1), (AllFinished, 2)];
    second.finish_from(20).expect(356 - 20, &reasons);
}

#[test]
fn an_access_waits_for_the_translations_of_another_thread() {
    // A's eight accesses are launched at 1 and 2 and hold the queue entries for 400 cycles.
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    let mut first = Bench::new();
    first.sharing = Some((sharing, 0b01, 0));
    let operation = Operation { width: 8, addresses: &[Register(FREE)], writes: &[Register(1)], ..Operation::default() };
    for number in 0..8 {
        first.touch(0x1_0000 + 136 * number, AccessKind::Load).translation = 400;
        first.run(&instruction(Class::Load, operation));
    }
    sharing = first.sharing.take().expect("it is there").0;
    let mut second = Bench::new();
    second.core.shift(20);
    second.sharing = Some((sharing, 0b10, 1));
    second.touch(0x9_0000, AccessKind::Load).translation = 13;
    second.run(&instruction(Class::Load, operation));
    // Launched at 21; the first entry is free at 402.
    let reasons = [
        (HeldOther, 1),
        (Reason::TranslationQueueFull, 402 - 21),
        (Reason::Translation, 13),
        (Reason::LoadFinish, 4),
        (Finish, 1),
        (AllFinished, 2),
    ];
    second.finish_from(20).expect(422 - 20, &reasons);
}

#[test]
fn an_access_finds_its_slice_taken_by_another_thread() {
    // A's four loads are all of slice 0, and go through it at 1 to 4; B's is issued at 2 and goes through at 5.
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    let mut first = Bench::new();
    first.sharing = Some((sharing, 0b01, 0));
    (0..4).for_each(|number| first.load(1, 0x1_0000 + 32 * number, None));
    sharing = first.sharing.take().expect("it is there").0;
    let mut second = Bench::new();
    second.core.shift(1);
    second.sharing = Some((sharing, 0b10, 1));
    second.load(1, 0x9_0000, None);
    let reasons = [(HeldOther, 1), (Reason::AddressArbitration, 3), (Reason::LoadFinish, 4), (Finish, 1), (AllFinished, 2)];
    second.finish_from(1).expect(12 - 1, &reasons);
}

#[test]
fn a_thread_with_nothing_in_flight_waits_for_the_queues_that_another_filled() {
    // A's chain begins with a load from memory at 341 and its 44 operations fill the queues at 8; the first is issued at 341.
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    let mut first = Bench::new();
    first.sharing = Some((sharing, 0b01, 0));
    first.load(1, 0x1_0000, Some((MEMORY, Source::Memory)));
    (0..44).for_each(|_| first.add(1, 1));
    sharing = first.sharing.take().expect("it is there").0;
    let mut second = Bench::new();
    second.core.shift(20);
    second.sharing = Some((sharing, 0b10, 1));
    second.add(1, FREE);
    let answer = second.finish_from(20);
    // Dispatched at 342, when the first entry is free.
    assert_eq!(answer.reasons[Reason::EmptyHeldIssueQueue as usize], 342 - 20);
    assert_eq!(answer.state(Power9State::HeldIssueQueue), 342 - 20);
}

#[test]
fn a_thread_with_nothing_in_flight_waits_for_the_results_that_another_replaces() {
    // KA4: the load and 127 adds hold every entry of the history buffer until 344.
    let mut sharing = Sharing::new(Microarchitecture::Power9);
    let mut first = Bench::new();
    first.sharing = Some((sharing, 0b01, 0));
    first.load(1, 0x1_0000, Some((MEMORY, Source::Memory)));
    first.adds(127);
    sharing = first.sharing.take().expect("it is there").0;
    let mut second = Bench::new();
    second.core.shift(40);
    second.sharing = Some((sharing, 0b10, 1));
    second.add(1, FREE);
    let answer = second.finish_from(40);
    assert_eq!(answer.reasons[Reason::EmptyHeldHistory as usize], 344 - 40);
}

#[test]
fn four_threads_have_a_quarter_of_the_window_each() {
    // KA4 with a quarter of the completion table: the load and 63 operations. Turns come every four cycles: thread 0 dispatches the load
    // and five more at 0, six each at 4 to 36 and the last four at 40; the next is held from 44 on, until the completion at 343.
    // No-operations take no issue queue entry.
    let nop = instruction(Class::Nop, Operation::default());
    let benches = compete(4, 80, |bench, number| match (number, thread(bench) as u64) {
        (0, thread) => bench.load(1, 0x1_0000 + 0x1008 * thread, Some((MEMORY, Source::Memory))),
        _ => bench.run(&nop),
    });
    let full: Vec<_> = benches.into_iter().map(|bench| bench.finish().state(Power9State::WindowFull)).collect();
    assert_eq!(full, [303, 303, 303, 303]);
}

#[test]
fn a_thread_that_waits_leaves_its_turns_to_another() {
    // B's branch target comes from memory: while it is being fetched, A dispatches in every cycle.
    let mut benches = compete(2, 48, |bench, number| match (thread(bench), number) {
        (1, 0) => {
            bench.found.line = MEMORY;
            bench.found.code = Some(Source::Memory);
            let operation = Operation { width: 8, reads: &[Register(FREE)], writes: &[Register(3)], ..Operation::default() };
            bench.run(&super::Instruction { address: 0x4000, length: 4, ..instruction(Class::Simple, operation) });
        }
        _ => bench.add(100, FREE),
    });
    // Dispatched at 0 and, as B is known to wait, from 1 on. Of the 24 that go to the first superslice, the first slice takes 13 because of
    // B's instruction, one more than its share: they are issued from 1 to 13.
    let first = benches.swap_remove(0);
    assert_eq!(first.finish().cycles, 1 + 13 + 4);
    assert_eq!(reasons(benches, Reason::EmptyMemory).len(), 1);
}

#[test]
fn a_walk_of_another_thread_has_the_first_walker() {
    let walk = |bench: &mut Bench| {
        let touch = bench.touch(0x1_0000, AccessKind::Load);
        (touch.translation, touch.walked) = (100, true);
        bench.run(&instruction(Class::Load, Operation { width: 8, writes: &[Register(1)], ..Operation::default() }));
    };
    let mut first = beginning(&mut core_of(2), 0, 0);
    walk(&mut first);
    assert_eq!(first.core.second_walker, 0);
    let mut second = beginning(&mut leave(&mut first), 1, 10);
    walk(&mut second);
    // A walk for the access, not for the code.
    assert_eq!(second.core.second_walker, 0b10);
}
