//! Tests of the threshold counter.

use super::*;
use crate::feed::{Memory, Record, Sample, Stages, Traits, Translation};
use proptest::prelude::*;
extern crate std;
use std::vec::Vec;

fn counted(events: u64) -> ThresholdCounter {
    let mut counter = ThresholdCounter::default();
    counter.start();
    counter.tick(events, u64::MAX);
    counter
}

#[test]
fn exponent_and_mantissa_are_those_of_table_3_1() {
    // Count, exponent, mantissa: both ends of each row, and the counts on either side of a roll-over to 0100000b. The end of the row of
    // exponent 3 is printed as 7936, which is 124 times 64; the last mantissa is 127, as in the other rows.
    let rows = [
        (0, 0, 0),
        (127, 0, 127),
        (128, 1, 32),
        (131, 1, 32),
        (132, 1, 33),
        (508, 1, 127),
        (511, 1, 127),
        (512, 2, 32),
        (2032, 2, 127),
        (2048, 3, 32),
        (8128, 3, 127),
        (8192, 4, 32),
        (32512, 4, 127),
        (32768, 5, 32),
        (130_047, 5, 126),
        (130_048, 5, 127),
        (1_000_000, 5, 127),
    ];
    for (events, exponent, mantissa) in rows {
        let counter = counted(events);
        assert_eq!((counter.exponent(), counter.mantissa()), (exponent, mantissa), "{events}");
    }
}

#[test]
fn every_count_reads_as_prescaler_mantissa_and_exponent_would_have_it() {
    let (mut prescaler, mut mantissa, mut exponent) = (0u32, 0u8, 0u8);
    let mut counter = ThresholdCounter::default();
    counter.start();
    for events in 0..140_000u64 {
        assert_eq!((counter.exponent(), counter.mantissa()), (exponent, mantissa), "{events}");
        counter.tick(1, u64::MAX);
        if exponent == 5 && mantissa == 127 {
            continue;
        }
        prescaler += 1;
        if prescaler == 1 << (2 * exponent) {
            prescaler = 0;
            if mantissa == 127 {
                mantissa = 32;
                exponent += 1;
            } else {
                mantissa += 1;
            }
        }
    }
}

#[test]
fn the_value_to_compare_is_the_mantissa_times_a_power_of_four() {
    let value = |exponent, mantissa| {
        let mut mmcra = Mmcra::default();
        mmcra.set_thresh_cmp_exp(exponent);
        mmcra.set_thresh_cmp_mantissa(mantissa);
        compare_value(mmcra)
    };
    assert_eq!(value(0, 31), 31);
    assert_eq!(value(1, 32), 128);
    assert_eq!(value(5, 127), 130_048);
    assert_eq!(value(6, 32), 131_072);
    assert_eq!(value(7, 127), 2_080_768);
}

#[test]
fn the_threshold_is_met_once_when_the_count_comes_to_it() {
    let mut counter = counted(0);
    assert!(!counter.tick(127, 128).met);
    assert!(counter.tick(1, 128).met);
    assert!(!counter.tick(1000, 128).met);
    counter.start();
    assert!(counter.tick(5000, 128).met);
}

#[test]
fn levels_are_passed_once_each() {
    let mut counter = counted(0);
    assert_eq!(counter.tick(31, u64::MAX).exceeded, 0);
    // 32 and 64 in one go, then 128 exactly, then 256 to 4096.
    assert_eq!(counter.tick(69, u64::MAX).exceeded, 0b11);
    assert_eq!(counter.tick(28, u64::MAX).exceeded, 0b100);
    assert_eq!(counter.tick(1 << 20, u64::MAX).exceeded, 0b1111_1000);
    assert_eq!((level_bit(32), level_bit(4096), level_bit(33)), (1, 0x80, 0));
}

#[test]
fn it_stops_at_its_maximum() {
    let mut counter = counted(130_000);
    assert_eq!(counter.tick(100, u64::MAX).accumulated, 48);
    assert_eq!(counter.tick(100, u64::MAX).accumulated, 0);
    assert_eq!(counter.ticks, 130_048);
    assert_eq!(counter.until_next(0xFF, Some(1), true), None);
}

#[test]
fn a_value_of_exponent_six_is_never_met() {
    let mut counter = counted(0);
    assert!(!counter.tick(u64::MAX, 32 << 12).met);
    assert!(counter.end(32 << 12));
}

#[test]
fn an_end_below_the_value_is_one_that_was_not_met() {
    assert!(counted(99).end(100));
    let mut met = counted(0);
    met.tick(100, 100);
    assert!(!met.end(100));
    // A counter that does not run has nothing to end.
    assert!(!ThresholdCounter::default().end(100));
}

#[test]
fn a_stopped_counter_keeps_its_value() {
    let mut counter = counted(100);
    counter.end(0);
    assert_eq!(counter.tick(50, 120), Crossings::default());
    assert_eq!(counter.mantissa(), 100);
}

#[test]
fn a_start_wins_over_an_end_at_the_same_instant() {
    let mut running = counted(40);
    assert!(!running.arrive(true, true, 100));
    assert_eq!(running, ThresholdCounter { running: true, ..ThresholdCounter::default() });
    let mut idle = ThresholdCounter::default();
    idle.arrive(true, true, 100);
    assert!(idle.running);
    assert!(idle.arrive(false, true, 100));
    assert!(!idle.running);
}

#[test]
fn nothing_is_met_at_the_instant_of_a_start() {
    let mut counter = counted(0);
    assert_eq!(counter.tick(0, 0), Crossings::default());
    assert!(counter.tick(1, 0).met);
}

#[test]
fn a_flush_stops_it_and_counts_nothing() {
    let mut counter = counted(10);
    counter.discard();
    assert!(!counter.running);
    assert!(!counter.end(100));
    assert_eq!(counter.ticks, 10);
}

#[test]
fn the_next_crossing_is_that_of_the_counter_that_counts() {
    let counter = counted(40);
    assert_eq!(counter.until_next(0, None, false), None);
    assert_eq!(counter.until_next(0b1, None, false), None);
    assert_eq!(counter.until_next(0b11, None, false), Some(24));
    assert_eq!(counter.until_next(0, Some(100), false), Some(60));
    assert_eq!(counter.until_next(0b1000, Some(100), false), Some(60));
    assert_eq!(counter.until_next(0b10, Some(100), true), Some(1));
    // Written below the count while it runs: the next event meets it.
    assert_eq!(counter.until_next(0, Some(10), false), Some(1));
    assert_eq!(counter.until_next(0, Some(131_072), false), None);
}

#[test]
fn the_fields_of_mmcra_show_the_count() {
    let shown = counted(512).shown_in(Mmcra::written(1));
    // Exponent 2 in bits 34:36, mantissa 32 in bits 38:44.
    assert_eq!(shown.bits(), 2 << 27 | 32 << 19 | 1);
}

#[test]
fn every_value_that_software_writes_is_kept() {
    for (exponent, mantissa) in (0..8).flat_map(|exponent| (0..128).map(move |mantissa| (exponent, mantissa))) {
        let mut counter = counted(1000);
        counter.write(exponent, mantissa);
        assert_eq!((counter.exponent(), counter.mantissa()), (exponent, mantissa));
    }
}

#[test]
fn a_written_value_goes_on_by_its_own_exponent_until_the_mantissa_overflows() {
    let mut counter = counted(0);
    counter.write(3, 1);
    // Exponent 3: the mantissa moves every 64 events, and from 127 on to 32 of exponent 4.
    let rows = [(63, 3, 1), (1, 3, 2), (125 * 64, 3, 127), (63, 3, 127), (1, 4, 32), (255, 4, 32), (1, 4, 33)];
    for (events, exponent, mantissa) in rows {
        counter.tick(events, u64::MAX);
        assert_eq!((counter.exponent(), counter.mantissa()), (exponent, mantissa));
    }
}

#[test]
fn a_written_exponent_without_a_prescaler_is_stopped_until_the_next_start() {
    for exponent in [6, 7] {
        let mut counter = counted(0);
        counter.write(exponent, 1);
        assert_eq!(counter.until_next(0xFF, Some(1), true), None);
        assert_eq!(counter.tick(1 << 20, 1), Crossings::default());
        assert_eq!((counter.exponent(), counter.mantissa()), (exponent, 1));
        counter.start();
        counter.tick(5, u64::MAX);
        assert_eq!((counter.exponent(), counter.mantissa()), (0, 5));
    }
}

#[test]
fn writing_what_is_shown_leaves_the_prescaler() {
    let mut counter = counted(131);
    counter.write(1, 32);
    counter.tick(1, u64::MAX);
    assert_eq!((counter.exponent(), counter.mantissa()), (1, 33));
}

#[test]
fn codes_of_start_and_end_are_those_of_the_tables() {
    use ThresholdEvent::{Counter, None, Stage as At};
    let expected = [
        None,
        At(Stage::Decoded),
        At(Stage::Dispatched),
        At(Stage::Issued),
        At(Stage::Finished),
        At(Stage::Completed),
        At(Stage::FirstMiss),
        At(Stage::Reload),
        Counter(1),
        Counter(2),
        Counter(3),
        Counter(4),
        At(Stage::NextToComplete),
        At(Stage::SecondLevelDispatched),
        At(Stage::SecondLevelDone),
        At(Stage::NextToFinish),
    ];
    let codes: Vec<_> = (0..16).map(ThresholdEvent::of).collect();
    assert_eq!(codes, expected);
}

#[test]
fn what_is_counted_is_chosen_by_three_bits_while_sampling_is_on() {
    use ThresholdSource::{Counter, Disabled, Reserved, RunCycles, RunInstructions};
    let chosen = |code| {
        let mut mmcra = Mmcra::written(1);
        mmcra.set_thresh_event_sel(code);
        ThresholdSource::of(mmcra)
    };
    let expected = [Disabled, RunCycles, RunInstructions, Reserved, Counter(1), Counter(2), Counter(3), Counter(4)];
    for (code, source) in (0..8).zip(expected) {
        assert_eq!(chosen(code), source);
    }
    let mut off = Mmcra::default();
    off.set_thresh_event_sel(1);
    assert_eq!(ThresholdSource::of(off), Disabled);
}

fn a_load_with(stages: Stages) -> Record {
    let memory = Memory {
        address: 0x1000,
        size: 8,
        load: true,
        store: false,
        latency: 0,
        source: crate::feed::DataSource::LocalMemory,
        translation: Translation::Unknown,
    };
    Record { memory: Some(memory), sample: Sample { stages: Some(stages), ..Sample::default() }, ..Record::at(0x100) }
}

#[test]
fn a_life_is_measured_from_its_start_to_its_end() {
    let record = a_load_with(Stages::NONE.with(Stage::FirstMiss, 12).with(Stage::Reload, 262).with(Stage::Completed, 270));
    let life = Life::new(&record, Mmcra::written(1));
    let span = |start, end| measure(&life, ThresholdEvent::of(start), ThresholdEvent::of(end));
    assert_eq!(span(6, 7), Some(Span { from: 12, to: Some(262) }));
    // It was never issued; the end is not of this instruction; the end lies before the start; both are one.
    assert_eq!(span(3, 7), None);
    assert_eq!(span(8, 7), None);
    assert_eq!(span(6, 0), Some(Span { from: 12, to: None }));
    assert_eq!(span(7, 6), Some(Span { from: 262, to: None }));
    assert_eq!(span(6, 6), Some(Span { from: 12, to: None }));
}

#[test]
fn a_discarded_life_has_no_completion_to_end_at() {
    let mut record = a_load_with(Stages::NONE.with(Stage::FirstMiss, 12).with(Stage::Completed, 270));
    record.sample.traits = Traits::DISCARDED;
    let life = Life::new(&record, Mmcra::written(1));
    assert_eq!(measure(&life, ThresholdEvent::of(6), ThresholdEvent::of(5)), Some(Span { from: 12, to: None }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// It does not matter in how many parts the events are reported.
    #[test]
    fn pieces_add_up(pieces in proptest::collection::vec(0..4000u64, 0..60), compare in 1..140_000u64) {
        let (mut whole, mut piecewise) = (counted(0), counted(0));
        let mut sum = Crossings::default();
        for piece in &pieces {
            let crossed = piecewise.tick(*piece, compare);
            prop_assert!(!(sum.met && crossed.met) && sum.exceeded & crossed.exceeded == 0);
            sum.met |= crossed.met;
            sum.exceeded |= crossed.exceeded;
            sum.accumulated += crossed.accumulated;
        }
        prop_assert_eq!(sum, whole.tick(pieces.iter().sum(), compare));
        prop_assert_eq!(piecewise, whole);
    }

    /// Nothing is counted before the next crossing, and something is counted at it.
    #[test]
    fn the_next_crossing_is_exact(ticks in 0..130_048u64, levels: u8, compare in proptest::option::of(1..140_000u64)) {
        let counter = counted(ticks);
        let counts = |events| {
            let crossed = counter.clone().tick(events, compare.unwrap_or(u64::MAX));
            crossed.met || crossed.exceeded & levels != 0
        };
        match counter.until_next(levels, compare, false) {
            Some(events) => prop_assert!(counts(events) && !counts(events - 1)),
            None => prop_assert!(!counts(u64::MAX)),
        }
    }
}
