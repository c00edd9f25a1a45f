//! Rejects by hand, and laws of conservation.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use proptest::prelude::*;
use vm_pmu_arch::knl::untile::FilterState;

use super::agents::{CREDITS, Credit, ENTRIES, Homes};
use super::filter::{Holds, Seeks};
use super::pass::{Needs, Queue};

/// What an agent counted, by select and unit mask.
type Counts = BTreeMap<(u8, u8), u64>;

fn pass(homes: &mut Homes, queue: Queue, arrives: u64, needs: &Needs, counts: &mut Counts) -> u64 {
    homes.pass(0, queue, arrives, needs, |select, umask, amount| *counts.entry((select, umask)).or_default() += amount)
}

fn of(counts: &Counts, select: u8, umask: u8) -> u64 {
    counts.get(&(select, umask)).copied().unwrap_or(0)
}

fn wants(line: u64) -> Needs {
    Needs { credit: None, line: Some((line, Some(Seeks::Read))) }
}

#[test]
fn a_request_without_a_credit_is_tried_again_every_eight_clocks() {
    let (mut homes, mut counts) = (Homes::new(), Counts::new());
    (0..CREDITS).for_each(|_| homes.hold(0, Credit::AdRequest, 120));
    let needs = Needs { credit: Some(Credit::AdRequest), ..Needs::default() };
    // Rejected at 100; tried again at 108, 116 and 124, of which the last succeeds.
    assert_eq!(pass(&mut homes, Queue::Irq, 100, &needs, &mut counts), 124);
    // AD_REQ_VN0 of RxR_IRQ0_REJECT, and any such reason; the first retry, and the two after it.
    assert_eq!([of(&counts, 0x18, 1), of(&counts, 0x19, 1), of(&counts, 0x2A, 1), of(&counts, 0x2B, 1)], [1; 4]);
    assert_eq!([of(&counts, 0x2E, 1), of(&counts, 0x2F, 1)], [2, 2]);
    // IRQ_REJ of RxR_INSERTS and RxR_OCCUPANCY.
    assert_eq!([of(&counts, 0x13, 2), of(&counts, 0x11, 2)], [1, 24]);
}

#[test]
fn at_the_end_of_time_everything_still_passes() {
    let (mut homes, mut counts) = (Homes::new(), Counts::new());
    (0..CREDITS).for_each(|_| homes.hold(0, Credit::AdRequest, u64::MAX));
    let needs = Needs { credit: Some(Credit::AdRequest), ..wants(7) };
    homes.stay(0, 7, u64::MAX);
    for arrives in [u64::MAX - 5, u64::MAX - 3, u64::MAX] {
        assert!(pass(&mut homes, Queue::Irq, arrives, &needs, &mut counts) >= arrives);
    }
}

#[test]
fn a_request_for_a_line_of_another_waits_until_that_has_left() {
    let (mut homes, mut counts) = (Homes::new(), Counts::new());
    homes.stay(0, 7, 105);
    assert_eq!(pass(&mut homes, Queue::Irq, 100, &wants(8), &mut counts), 100);
    // The pipeline takes it at 101, and again at 109.
    assert_eq!(pass(&mut homes, Queue::Irq, 100, &wants(7), &mut counts), 109);
    // PA_MATCH, which is none of the reasons of RxR_IRQ0_REJECT.
    assert_eq!([of(&counts, 0x19, 0x80), of(&counts, 0x2B, 0x80), of(&counts, 0x19, 1)], [1, 1, 0]);
}

#[test]
fn a_full_table_holds_requests_in_their_queue_without_a_reject() {
    let (mut homes, mut counts) = (Homes::new(), Counts::new());
    (0..ENTRIES).for_each(|entry| homes.stay(0, 1000 + entry as u64, 150 + entry as u64));
    assert_eq!(pass(&mut homes, Queue::Prq, 100, &wants(7), &mut counts), 150);
    assert_eq!(of(&counts, 0x11, 0x10), 50);
    assert_eq!(counts.values().sum::<u64>(), 50);
}

#[test]
fn sixteen_requests_of_a_set_leave_no_way_to_the_next() {
    let (mut homes, mut counts) = (Homes::new(), Counts::new());
    (0..16).for_each(|way| homes.stay(0, 5 + 1024 * way, 104));
    assert_eq!(pass(&mut homes, Queue::Irq, 100, &wants(5 + 1024 * 16), &mut counts), 108);
    assert_eq!([of(&counts, 0x19, 0x20), of(&counts, 0x2B, 0x20)], [1, 1]);
}

#[test]
fn a_full_set_waits_for_one_of_two_evictions() {
    let (mut homes, mut counts) = (Homes::new(), Counts::new());
    for way in 0..16 {
        assert_eq!(homes.filter.change(0, 5 + 1024 * way, 3, Seeks::Own), None);
    }
    (0..2).for_each(|_| homes.evicts(0, 110));
    // At 108 they are still under way.
    assert_eq!(pass(&mut homes, Queue::Irq, 100, &wants(5 + 1024 * 16), &mut counts), 116);
    assert_eq!([of(&counts, 0x19, 0x08), of(&counts, 0x2B, 0x08), of(&counts, 0x2F, 0x08)], [1, 1, 1]);
    // The line used longest ago goes.
    let victim = Holds { line: 5, tile: 3, state: FilterState::Modified };
    assert_eq!(homes.filter.change(0, 5 + 1024 * 16, 4, Seeks::Read), Some(victim));
}

#[test]
fn the_filter_has_a_line_as_the_last_request_left_it() {
    let mut filter = Homes::new().filter;
    let state = |filter: &mut super::filter::Filter, tile, seeks| {
        filter.change(9, 77, tile, seeks);
        filter.look_up(9, 77).map(|holds| (holds.tile, holds.state))
    };
    assert_eq!(state(&mut filter, 1, Seeks::Read), Some((1, FilterState::Exclusive)));
    assert_eq!(state(&mut filter, 2, Seeks::Read), Some((2, FilterState::Shared)));
    assert_eq!(state(&mut filter, 1, Seeks::Own), Some((1, FilterState::Modified)));
    assert_eq!(state(&mut filter, 0, Seeks::Clean), Some((1, FilterState::Shared)));
    // Another tile's copy stays, the own one goes.
    assert_eq!(state(&mut filter, 2, Seeks::GiveUp), Some((1, FilterState::Shared)));
    assert_eq!(state(&mut filter, 1, Seeks::GiveUp), None);
}

fn traffic() -> impl Strategy<Value = Vec<(u8, u64, u64, u8, u64)>> {
    // The queue, the clocks since the one before, the line, the credit, and how long it is held.
    proptest::collection::vec((0u8..4, 0u64..6, 0u64..12, 0u8..8, 1u64..60), 1..200)
}

proptest! {
    #[test]
    fn every_reject_is_followed_by_a_retry_and_every_request_passes(traffic in traffic()) {
        let (mut homes, mut counts, mut now, mut late) = (Homes::new(), Counts::new(), 0, 0);
        for (queue, clocks, line, credit, held) in traffic {
            now += clocks;
            let queue = [Queue::Irq, Queue::Ipq, Queue::Ismq, Queue::Prq][usize::from(queue)];
            let credit = Credit::ALL[usize::from(credit)];
            let line = (queue != Queue::Ismq).then_some((line * 1024, Some(Seeks::Read)));
            let before = of(&counts, 0x13, 0x02) + of(&counts, 0x13, 0x20);
            let mut own = Counts::new();
            let passed = pass(&mut homes, queue, now, &Needs { credit: Some(credit), line }, &mut own);
            prop_assert!(passed >= now);
            let rejects: u64 = own.iter().filter(|((select, _), _)| [0x2A, 0x2C].contains(select) ).map(|(_, count)| *count).sum();
            let others: u64 = own.iter().filter(|((select, umask), _)| *select == 0x2B && *umask != 1).map(|(_, count)| *count).sum();
            // A request is rejected once, for one reason.
            prop_assert!(rejects + others <= 1);
            late += u64::from(rejects + others == 1 && matches!(queue, Queue::Irq | Queue::Prq));
            own.into_iter().for_each(|(event, count)| *counts.entry(event).or_default() += count);
            prop_assert!(of(&counts, 0x13, 0x02) + of(&counts, 0x13, 0x20) >= before);
            homes.hold(0, credit, passed + held);
            if let Some((line, _)) = line {
                homes.stay(0, line, passed + held);
            }
        }
        let sum = |selects: &[u8]| -> u64 { counts.iter().filter(|((select, _), _)| selects.contains(select)).map(|(_, count)| *count).sum() };
        // Rejects of all queues are the retries of requests, and those of answers are theirs.
        prop_assert_eq!(sum(&[0x18, 0x20, 0x22]), sum(&[0x2A]));
        prop_assert_eq!(sum(&[0x19, 0x21, 0x23]), sum(&[0x2B]));
        prop_assert_eq!(sum(&[0x24]), sum(&[0x2C]));
        // Every rejected request of a tile or a device is an entry of the queues of rejected ones, and each waits a retry at least.
        prop_assert_eq!(sum(&[0x13]), late);
        prop_assert!(of(&counts, 0x11, 0x02) + of(&counts, 0x11, 0x20) >= 8 * late);
    }

    #[test]
    fn what_is_seen_to_pass_at_once_leaves_what_passing_in_turn_leaves(traffic in traffic(), pause in 1u64..20) {
        let (mut homes, mut counts, mut now) = (Homes::new(), Counts::new(), 0);
        let (mut plain, mut counts_of_plain) = (Homes::new(), Counts::new());
        for (queue, clocks, line, credit, held) in traffic {
            now += clocks * pause;
            let queue = [Queue::Irq, Queue::Ipq, Queue::Ismq, Queue::Prq][usize::from(queue)];
            let credit = Credit::ALL[usize::from(credit)];
            let line = (queue != Queue::Ismq).then_some((line * 1024, Some(Seeks::Read)));
            let needs = Needs { credit: Some(credit), line };
            let passed = pass(&mut homes, queue, now, &needs, &mut counts);
            let count = |select, umask, amount| *counts_of_plain.entry((select, umask)).or_default() += amount;
            prop_assert_eq!(passed, plain.pass_in_turn(0, queue, now, &needs, count));
            for homes in [&mut homes, &mut plain] {
                homes.hold(0, credit, passed + held);
                if let Some((line, _)) = line {
                    homes.stay(0, line, passed + held);
                    if homes.filter.change(0, line, 1, Seeks::Read).is_some() {
                        homes.evicts(0, passed + held);
                    }
                }
            }
        }
        // What took no time is no count.
        counts.retain(|_, count| *count != 0);
        counts_of_plain.retain(|_, count| *count != 0);
        prop_assert_eq!(counts, counts_of_plain);
        prop_assert_eq!(homes.save(now), plain.save(now));
    }

    #[test]
    fn lines_in_the_filter_are_those_that_came_in_less_those_that_left(requests in proptest::collection::vec((0u64..40, 0u8..3, 0u8..5), 0..400)) {
        let (mut filter, mut inside) = (Homes::new().filter, 0i64);
        for (line, tile, seeks) in requests {
            let seeks = [Seeks::Read, Seeks::Own, Seeks::GiveUp, Seeks::Stream, Seeks::Clean][usize::from(seeks)];
            let line = line * 1024;
            let before = filter.look_up(0, line).is_some();
            let victim = filter.change(0, line, tile, seeks);
            let after = filter.look_up(0, line).is_some();
            inside += i64::from(after) - i64::from(before) - i64::from(victim.is_some());
            prop_assert_eq!(filter.save().count() as i64, inside);
        }
    }

    #[test]
    fn what_is_saved_comes_back(lines in proptest::collection::vec((0u64..5000, 1u64..90), 0..60)) {
        let mut homes = Homes::new();
        for (line, clocks) in lines {
            homes.filter.change(7, line, 2, Seeks::Read);
            homes.stay(7, line, 100 + clocks);
            homes.hold(7, Credit::Iv, 100 + clocks);
        }
        let (saved, mut other) = (homes.save(100), Homes::new());
        other.load(&saved, 1100);
        prop_assert_eq!(other.save(1100), saved);
    }
}
