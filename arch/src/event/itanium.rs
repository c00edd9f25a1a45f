//! The catalogue of the first Itanium, against the lists that it is made of.

use super::{Drive, Fidelity, ITANIUM, ITANIUM_METRICS, Internal, Qualifiers};
use crate::feed::Signal;

/// PMC4 to PMC7.
const ALL_COUNTERS: u32 = 0xf0;
/// PMC4 and PMC5.
const FIRST_PAIR: u32 = 0x30;

#[test]
fn it_has_every_event_of_the_public_lists() {
    let listed = || ITANIUM.entries.iter().filter(|entry| entry.listed);
    // 66 without unit masks, 31 with, and the tagged instructions under their second name.
    assert_eq!(listed().filter(|entry| entry.umask.is_none()).count(), 98);
    // Execution 17, flushes 5 and 5, branches 4 + 12 + 16 + 16, caches 3 + 9 + 9, the bus 42.
    assert_eq!(listed().filter(|entry| entry.umask.is_some()).count(), 138);
}

#[test]
fn two_events_are_known_from_one_list_only() {
    let unlisted = ITANIUM.entries.iter().filter(|entry| !entry.listed);
    assert!(unlisted.map(|entry| entry.select).eq([0x5e, 0x5f]));
}

#[test]
fn selects_have_seven_bits() {
    assert!(ITANIUM.entries.iter().all(|entry| entry.select < 0x80));
}

#[test]
fn unit_masks_have_four_bits() {
    assert!(ITANIUM.entries.iter().filter_map(|entry| entry.umask).all(|umask| umask < 16));
}

#[test]
fn only_five_selects_are_bound_to_the_first_two_counters() {
    let bound = ITANIUM.events().filter(|event| event.counters == FIRST_PAIR).map(|event| event.select);
    assert!(bound.eq([0x08, 0x08, 0x2d, 0x30, 0x31, 0x56]));
    assert!(ITANIUM.events().all(|event| event.counters == FIRST_PAIR || event.counters == ALL_COUNTERS));
}

#[test]
fn six_of_an_event_in_a_cycle_need_the_wide_threshold_of_the_first_two_counters() {
    let wide = || ITANIUM.events().filter(|event| event.max_per_cycle > 3);
    assert!(wide().all(|event| event.max_per_cycle == 6 && event.counters == FIRST_PAIR));
    assert_eq!(wide().count(), 5);
}

#[test]
fn what_data_ranges_constrain_is_constrained_by_instructions_too() {
    let by_data = || ITANIUM.events().filter(|event| event.qualifiers.contains(Qualifiers::DATA_ADDRESS));
    assert!(by_data().all(|event| event.qualifiers == Qualifiers::all()));
    // The table of advanced loads, six kinds of loads and stores, 5 of the first level, 3 of the second, 1 of the third, 3 of
    // translation, 2 of the register stack.
    assert_eq!(by_data().count(), 21);
}

#[test]
fn retired_instructions_are_tagged_by_the_matcher_that_the_unit_mask_names() {
    let tag = |umask| {
        let (_, masks) = ITANIUM.select(0x08).expect("it is in the index");
        masks.iter().find(|mask| mask.umask == Some(umask)).expect("the mask is there").drive
    };
    assert!(matches!(tag(3), Drive::Internal(Internal::TaggedInstructions(0))));
    assert!(matches!(tag(2), Drive::Internal(Internal::TaggedInstructions(1))));
    assert!(matches!(tag(0), Drive::Signals));
}

#[test]
fn checks_of_integers_and_of_floating_point_are_the_first_and_the_second_unit_mask() {
    for select in [0x35, 0x36, 0x37, 0x38] {
        let (_, masks) = ITANIUM.select(select).expect("it is in the index");
        let names = masks.iter().map(|mask| (mask.mask_name(), mask.umask));
        assert!(names.eq([(Some("INT"), Some(1)), (Some("FP"), Some(2)), (Some("ALL"), Some(3))]), "{select:#x}");
    }
}

#[test]
fn the_four_sums_of_the_cycle_accounting_share_no_state() {
    let signals = || [0x04, 0x05, 0x06, 0x07].into_iter().filter_map(|select| ITANIUM.select(select)).flat_map(|(event, _)| event.signals);
    let times = |signal: &Signal| signals().filter(|other| *other == signal).count();
    assert!(signals().all(|signal| times(signal) == 1));
    // Flushes 2 and a bubble, inherent execution and 4 waits for code, the scoreboard and want of units, memory and the register stack.
    assert_eq!(signals().count(), 12);
}

#[test]
fn what_an_accounting_event_names_is_part_of_its_sum() {
    for (part, sum) in [(0x00, 0x04), (0x01, 0x05), (0x02, 0x06), (0x03, 0x07)] {
        let signals = |select| ITANIUM.select(select).expect("it is in the index").0.signals;
        assert!(signals(part).iter().all(|signal| signals(sum).contains(signal)), "{part:#x}");
    }
}

#[test]
fn the_predicted_outcomes_of_branches_add_up_to_all_of_them() {
    let (event, masks) = ITANIUM.select(0x10).expect("it is in the index");
    assert_eq!(event.name, "BRANCH_PREDICTOR");
    let cells = |umask| masks.iter().find(|mask| mask.umask == Some(umask)).expect("the mask is there").signals.len();
    assert_eq!((cells(1), cells(2), cells(3)), (6, 6, 3));
}

#[test]
fn a_name_of_the_older_list_finds_the_event() {
    let event = ITANIUM.event_named("ITLB_INSERT_HPW").expect("it is an alias");
    assert_eq!(event.name, "ITLB_INSERTS_HPW");
    let (_, masks) = ITANIUM.select(0x7d).expect("it is in the index");
    let mask = masks.iter().find(|mask| mask.is_called("DATA_READS_MISS")).expect("it is an alias");
    assert_eq!(mask.umask, Some(0b1010));
}

#[test]
fn queues_of_requests_and_of_snoops_are_modelled() {
    let fidelity = |select| ITANIUM.select(select).map(|(event, _)| event.fidelity);
    assert!([0x56, 0x57, 0x58, 0x5b, 0x5c, 0x5d].iter().all(|select| fidelity(*select) == Some(Fidelity::Approximate)));
}

#[test]
fn metrics_are_those_of_three_lists_and_the_weighted_sum_of_operations() {
    let of = |list: &str| ITANIUM_METRICS.iter().filter(|metric| metric.table == list).count();
    assert_eq!((of("pfmon"), of("PAPI"), of("HAL"), of("notes")), (6, 9, 12, 1));
    assert_eq!(ITANIUM_METRICS.len(), 28);
}

#[test]
fn formulas_name_what_is_counted() {
    let is_metric = |name: &str| ITANIUM_METRICS.iter().any(|metric| metric.name == name);
    for metric in ITANIUM_METRICS {
        for name in metric.names().filter(|name| !is_metric(name)) {
            let entry = ITANIUM.entries.iter().find(|entry| entry.name == name);
            let is_one_count = entry.is_some_and(|entry| entry.umask.is_some() || ITANIUM.masks(entry).is_empty());
            assert!(is_one_count, "{name} of {}", metric.name);
        }
    }
}
