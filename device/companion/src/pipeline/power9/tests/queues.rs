//! Full load and store queues, for which the oldest instruction only waits because of other threads.

use super::threads::{beginning, core_of, leave};
use super::{
    AccessKind, AllFinished, Bench, Class, FREE, Finish, HeldOther, MEMORY, Operation, Power9State, Register, Source, instruction,
};
use crate::pipeline::power9::reasons::Reason;

/// Runs 16 loads of slice 0 from memory on thread 0, which take every load queue entry of the slice until 341.
fn full_slice(threads: usize) -> Bench {
    let mut bench = beginning(&mut core_of(threads), 0, 0);
    (0..16).for_each(|number| bench.load(1, 0x1_0000 + 128 * number, Some((MEMORY, Source::Memory))));
    bench
}

#[test]
fn a_load_waits_for_the_loads_of_another_thread() {
    let mut first = full_slice(2);
    let mut second = beginning(&mut leave(&mut first), 1, 30);
    second.load(1, 0x9_0000, None);
    // Issued at 31, it gets an entry at 342.
    let reasons = [(HeldOther, 1), (Reason::LoadQueueFull, 342 - 31), (Reason::LoadFinish, 4), (Finish, 1), (AllFinished, 2)];
    second.finish_from(30).expect(319, &reasons);
}

#[test]
fn a_load_is_not_issued_while_the_recirculation_queue_is_full() {
    let mut first = full_slice(3);
    let mut second = beginning(&mut leave(&mut first), 1, 30);
    (0..12).for_each(|number| second.load(1, 0x9_0000 + 128 * number, None));
    // The twelve wait in the queue of even slices, the first of them until 342.
    let mut third = beginning(&mut leave(&mut second), 2, 60);
    third.load(1, 0x8_0010, None);
    third.settle(1_000);
    third.sharing = None;
    let reasons = [(HeldOther, 1), (Reason::HeldRecirculation, 343 - 61), (Reason::LoadFinish, 4), (Finish, 1), (AllFinished, 2)];
    third.core.shared.watch.active = false;
    let answer = third.finish_from(60);
    answer.expect(290, &reasons);
    // Twelve entries are taken from the beginning of the thread to 342, and again briefly later.
    assert!(answer.state(Power9State::Recirculation10To12) >= 343 - 61, "{}", answer.state(Power9State::Recirculation10To12));
}

#[test]
fn a_store_finds_the_finish_of_its_slice_taken_by_another_thread() {
    let mut first = beginning(&mut core_of(2), 0, 0);
    first.store(FREE, 0x1_0000);
    let mut second = beginning(&mut leave(&mut first), 1, 0);
    second.store(FREE, 0x9_0000);
    let reasons = [(HeldOther, 1), (Reason::StoreFinish, 4), (Reason::StoreFinishArbitration, 1), (Finish, 1), (AllFinished, 2)];
    second.finish().expect(9, &reasons);
}

#[test]
fn a_store_that_was_translated_finds_its_slice_taken_by_another_thread() {
    // A's load goes through slice 0 at 14, when the translation of B's store arrives.
    let mut first = beginning(&mut core_of(2), 0, 13);
    first.load(1, 0x1_0000, None);
    let mut second = beginning(&mut leave(&mut first), 1, 0);
    second.touch(0x9_0000, AccessKind::Store).translation = 13;
    second.run(&instruction(Class::Store, Operation { width: 8, reads: &[Register(FREE)], ..Operation::default() }));
    let reasons =
        [(HeldOther, 1), (Reason::Translation, 13), (Reason::StoreRelaunch, 1), (Reason::StoreFinish, 4), (Finish, 1), (AllFinished, 2)];
    second.finish().expect(22, &reasons);
}

#[test]
fn classes_of_entries_add_up_to_all_cycles() {
    let mut bench = Bench::new();
    for number in 0..3_000u64 {
        match number % 5 {
            0 => bench.load(1, 0x1_0000 + 72 * number, (number % 3 == 0).then_some((MEMORY, Source::Memory))),
            1 => bench.store(1, 0x1_0000 + 72 * number),
            2 => bench.operate(Class::Decimal, 40, 41),
            _ => bench.add(3, 1),
        }
    }
    let answer = bench.finish();
    let sum = |states: &[Power9State]| states.iter().map(|state| answer.state(*state)).sum::<u64>();
    let first =
        [Power9State::Recirculation0To3, Power9State::Recirculation4To6, Power9State::Recirculation7To9, Power9State::Recirculation10To12];
    let second = [
        Power9State::SecondRecirculation0To3,
        Power9State::SecondRecirculation4To6,
        Power9State::SecondRecirculation7To9,
        Power9State::SecondRecirculation10To12,
    ];
    assert_eq!([sum(&first), sum(&second), sum(&[Power9State::FixedIdle, Power9State::FixedBusy])], [answer.cycles; 3]);
    assert!(sum(&[Power9State::DecimalBusy]) > 0 && sum(&[Power9State::MissQueueEntry]) > 0 && sum(&[Power9State::StoreQueueEntry]) > 0);
}
