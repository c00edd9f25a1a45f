//! Flushes, and loads that meet stores.

use vm_pmu_arch::feed::{Flush, Signal};

use super::threads::{beginning, core_of, leave};
use super::{
    AccessKind, AllFinished, Bench, Class, Continuation, FREE, Finish, Fixed, HeldOther, MEMORY, Operation, Register, SECOND, Source,
    instruction,
};
use crate::pipeline::power9::reasons::Reason;

/// Runs a store whose address comes from a division, and a load of the same bytes.
fn meet(bench: &mut Bench, to: u64) {
    bench.operate(Class::SignedDivide, 1, FREE);
    bench.touch(0x1000, AccessKind::Store);
    let operation = Operation { width: 8, addresses: &[Register(1)], reads: &[Register(FREE)], ..Operation::default() };
    bench.run(&instruction(Class::Store, operation));
    bench.touch(to, AccessKind::Load).line = 0x1000 >> 7;
    let operation = Operation { width: 8, addresses: &[Register(FREE)], writes: &[Register(2)], ..Operation::default() };
    bench.run(&instruction(Class::Load, operation));
}

#[test]
fn a_load_that_went_before_a_store_of_its_bytes_is_flushed_once() {
    let mut bench = Bench::new();
    meet(&mut bench, 0x1000);
    // The address is issued at 25 and has passed at 29; the load is dispatched again at 42 and finishes at 47, when the store is taken.
    let counts = [Signal::FlushesStoreHitLoad, Signal::FlushesAlias, Signal::StoreHitLoadEntries, Signal::StoreHitLoadDependences];
    assert_eq!(counts.map(|signal| bench.count(signal)), [1, 0, 1, 0]);
    assert_eq!((bench.core.completed, bench.count(Signal::LoadStoreFlushes)), (49, 1));
    assert_eq!(bench.outcome().flush, Flush::StoreHitLoad);
    // The next time it waits.
    meet(&mut bench, 0x1000);
    assert_eq!(bench.outcome().flush, Flush::None);
    assert_eq!(counts.map(|signal| bench.count(signal)), [1, 0, 1, 1]);
}

#[test]
fn a_load_at_another_virtual_address_is_flushed_by_its_alias() {
    let mut bench = Bench::new();
    meet(&mut bench, 0x9000);
    let counts = [Signal::FlushesStoreHitLoad, Signal::FlushesAlias, Signal::StoreHitLoadEntries];
    assert_eq!(counts.map(|signal| bench.count(signal)), [0, 1, 1]);
    assert_eq!(bench.outcome().flush, Flush::Alias);
}

#[test]
fn a_second_load_that_reserves_is_flushed_while_the_first_waits() {
    let mut bench = Bench::new();
    let operation = Operation { width: 8, addresses: &[Register(FREE)], writes: &[Register(2)], ..Operation::default() };
    for number in 0..2 {
        bench.touch(0x1000 + 8 * number, AccessKind::Load).locked = true;
        bench.run(&instruction(Class::Load, operation));
    }
    // The first is launched at 1 and answered at 16. The second is flushed at 5, dispatched at 18, and answered at 34.
    assert_eq!((bench.count(Signal::FlushesReservation), bench.core.completed), (1, 36));
    assert_eq!(bench.outcome().flush, Flush::Reservation);
}

#[test]
fn a_load_waits_while_the_second_level_gets_its_line_for_a_store() {
    let mut bench = Bench::new();
    let touch = bench.touch(0x1000, AccessKind::Store);
    (touch.missed, touch.latency, touch.source) = (true, MEMORY, Source::Memory);
    bench.run(&instruction(Class::Store, Operation { width: 8, reads: &[Register(FREE)], ..Operation::default() }));
    bench.operate(Class::SignedDivide, 1, FREE);
    let touch = bench.touch(0x1040, AccessKind::Load);
    (touch.missed, touch.latency) = (true, SECOND);
    let operation = Operation { width: 8, addresses: &[Register(1)], writes: &[Register(2)], ..Operation::default() };
    bench.run(&instruction(Class::Load, operation));
    assert_eq!(bench.count(Signal::LoadsBehindStore), 1);
    assert!(bench.outcome().behind_store);
    // The store is taken at 9 and its line arrives at 349. The load, launched at 25, has it 15 cycles later.
    let reasons =
        [(HeldOther, 1), (Reason::StoreFinish, 4), (Reason::FixedLong, 19), (Reason::MissConflict, 338), (Finish, 3), (AllFinished, 2)];
    bench.finish().expect(367, &reasons);
}

#[test]
fn a_store_waits_while_the_second_level_gets_its_line() {
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((MEMORY, Source::Memory)));
    bench.store(FREE, 0x1040);
    // The store goes to the second level when the load has completed: the line is present.
    assert_eq!(bench.count(Signal::StoresBehindOther), 0);
    for _ in 0..2 {
        let touch = bench.touch(0x8000, AccessKind::Store);
        (touch.missed, touch.latency, touch.source) = (true, MEMORY, Source::Memory);
        bench.run(&instruction(Class::Store, Operation { width: 8, reads: &[Register(FREE)], ..Operation::default() }));
    }
    assert_eq!(bench.count(Signal::StoresBehindOther), 1);
}

#[test]
fn a_flush_of_another_thread_keeps_the_oldest_from_completing() {
    // B's branch is issued at 2 and finishes at 4, in the cycle after A's addition.
    let mut second = beginning(&mut core_of(2), 1, 1);
    second.found.continuation = Continuation::Mispredicted;
    second.run(&instruction(Class::Branch, Operation::default()));
    let mut first = beginning(&mut leave(&mut second), 0, 0);
    first.add(1, FREE);
    first.finish().expect(7, &[(HeldOther, 1), (Fixed, 2), (Finish, 1), (Reason::BlockedFlush, 1), (AllFinished, 2)]);
}

#[test]
fn a_load_behind_a_barrier_whose_line_another_thread_writes_flushes_what_follows() {
    let mut first = beginning(&mut core_of(2), 0, 0);
    first.store(FREE, 0x1000);
    first.run(&instruction(Class::Fence, Operation::default()));
    let mut second = beginning(&mut leave(&mut first), 1, 0);
    second.store(FREE, 0x8000);
    first.sharing = leave(&mut second).map(|sharing| (sharing, 0b01, 0));
    // Issued at 2, behind A's store, it has finished at 6 and could complete at 25, but B's store is taken at 13.
    first.load(1, 0x8000, None);
    assert_eq!(first.count(Signal::LoadStoreFlushesNext), 1);
    let reasons = [
        (HeldOther, 1),
        (Reason::StoreFinish, 4),
        (Finish, 2),
        (Reason::BlockedBarrier, 17),
        (Reason::BlockedFlushNext, 1),
        (AllFinished, 2),
    ];
    first.finish().expect(27, &reasons);
}
