//! Instructions that wait for the second level, and instructions that wait for them.

use vm_pmu_arch::feed::Signal;

use super::{AllFinished, Bench, Class, FREE, Finish, Fixed, HeldOther, Operation, Power9State, instruction};
use crate::pipeline::power9::reasons::Reason;

fn plain(bench: &mut Bench, class: Class) {
    bench.run(&instruction(class, Operation::default()));
}

#[test]
fn what_the_second_level_answers_takes_its_latency_after_the_pass() {
    // Issued at 1, it has passed at 5; the answer arrives at 20, and it completes at 22.
    for (class, reason) in [
        (Class::TranslationInvalidation, Reason::Invalidation),
        (Class::SegmentInvalidation, Reason::SegmentInvalidation),
        (Class::Paste, Reason::Paste),
        (Class::TransactionEnd, Reason::TransactionEnd),
    ] {
        let mut bench = Bench::new();
        plain(&mut bench, class);
        assert_eq!(bench.count(Signal::NonDataStores), 1);
        bench.finish().expect(23, &[(HeldOther, 1), (reason, 19), (Finish, 1), (AllFinished, 2)]);
    }
}

#[test]
fn a_barrier_of_devices_is_answered_after_the_stores_before_it() {
    // The store is taken at 9, so it finishes at 24.
    let mut bench = Bench::new();
    bench.store(FREE, 0x1000);
    plain(&mut bench, Class::DeviceFence);
    let reasons = [(HeldOther, 1), (Reason::StoreFinish, 4), (Reason::OrderingBarrier, 18), (Finish, 2), (AllFinished, 2)];
    bench.finish().expect(27, &reasons);
}

#[test]
fn what_follows_an_invalidation_waits_for_its_answer() {
    // The answer arrives at 20, so the addition is dispatched at 23 and completes at 28.
    let mut bench = Bench::new();
    plain(&mut bench, Class::TranslationInvalidation);
    bench.add(1, FREE);
    let answer = bench.finish();
    answer.expect(29, &[(HeldOther, 2), (Reason::Invalidation, 19), (Fixed, 2), (Finish, 2), (AllFinished, 4)]);
    assert_eq!((answer.state(Power9State::HeldInvalidation), answer.state(Power9State::DispatchHeld)), (22, 22));
}

#[test]
fn a_transaction_begins_when_the_one_before_has_ended() {
    // The end is answered at 20 and completes at 22; the beginning is dispatched at 25.
    let mut bench = Bench::new();
    plain(&mut bench, Class::TransactionEnd);
    plain(&mut bench, Class::TransactionBegin);
    let answer = bench.finish();
    let reasons = [
        (HeldOther, 2),
        (Reason::TransactionEnd, 19),
        (Reason::LoadStoreOther, 4),
        (Reason::EmptyHeldTransaction, 2),
        (Finish, 2),
        (AllFinished, 4),
    ];
    answer.expect(33, &reasons);
    assert_eq!((answer.state(Power9State::TransactionEndPending), answer.state(Power9State::HeldTransaction)), (15, 24));
}

#[test]
fn some_instructions_complete_later_than_they_could() {
    // Two cycles after they have finished, and two more as for every instruction.
    for (class, reason, blocked, cycles) in [
        (Class::NestedTransactionBegin, Reason::LoadStoreOther, Reason::BlockedNestedBegin, 4),
        (Class::NestedTransactionEnd, Reason::LoadStoreOther, Reason::BlockedNestedEnd, 4),
        (Class::StatusWrite, Reason::Float, Reason::BlockedStatusWrite, 3),
    ] {
        let mut bench = Bench::new();
        plain(&mut bench, class);
        bench.finish().expect(cycles + 6, &[(HeldOther, 1), (reason, cycles), (Finish, 1), (blocked, 2), (AllFinished, 2)]);
    }
}

#[test]
fn a_register_of_the_load_store_unit_is_read() {
    let mut bench = Bench::new();
    plain(&mut bench, Class::MemoryRegister);
    bench.finish().expect(16, &[(HeldOther, 1), (Reason::LoadStoreRegister, 12), (Finish, 1), (AllFinished, 2)]);
}
