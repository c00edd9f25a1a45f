//! The threshold counter: a floating-point counter between two events, compared with a value (chapter 3, appendix A.6).

use super::Mmcra;
use super::marked::Life;
use crate::feed::Stage;

/// What starts or ends the threshold counter: a code of MMCRA\[THRESH_START] or MMCRA\[THRESH_END] (Tables 3-2 and A-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThresholdEvent {
    /// Nothing does.
    None,
    /// The sampled instruction reaches this stage.
    Stage(Stage),
    /// What the counter of this number counts, 1 to 4.
    Counter(u8),
}

impl ThresholdEvent {
    /// The event of a 4-bit code.
    ///
    /// The two tables differ in one code: F is "next to finish" in Table 3-2 and reserved in Table A-4. It is next to finish here: that
    /// event is in the lists of section 3.1.1, and no other code could choose it.
    pub(super) fn of(code: u8) -> ThresholdEvent {
        use ThresholdEvent::Stage as At;
        match code & 0xF {
            0x1 => At(Stage::Decoded),
            0x2 => At(Stage::Dispatched),
            0x3 => At(Stage::Issued),
            0x4 => At(Stage::Finished),
            0x5 => At(Stage::Completed),
            0x6 => At(Stage::FirstMiss),
            0x7 => At(Stage::Reload),
            0x8 => ThresholdEvent::Counter(1),
            0x9 => ThresholdEvent::Counter(2),
            0xA => ThresholdEvent::Counter(3),
            0xB => ThresholdEvent::Counter(4),
            0xC => At(Stage::NextToComplete),
            0xD => At(Stage::SecondLevelDispatched),
            0xE => At(Stage::SecondLevelDone),
            0xF => At(Stage::NextToFinish),
            _ => ThresholdEvent::None,
        }
    }
}

/// What the threshold counter counts: MMCRA\[THRESH_EVENT_SEL].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThresholdSource {
    /// Nothing: thresholding is off, as it is without random sampling.
    Disabled,
    /// Cycles with the run latch set, whatever is frozen.
    RunCycles,
    /// Instructions with the run latch set, whatever is frozen.
    RunInstructions,
    /// Nothing: the code is reserved.
    Reserved,
    /// What the counter of this number counts, 1 to 4, while that counter is not frozen.
    Counter(u8),
}

impl ThresholdSource {
    /// What this MMCRA chooses; without MMCRA\[SAMPLE_ENABLE] nothing (section 3.1.1).
    ///
    /// The list of codes lacks one of the four counters in print; 4 to 7 are PMC1 to PMC4 in order.
    pub(super) fn of(mmcra: Mmcra) -> ThresholdSource {
        if !mmcra.sample_enable() {
            return ThresholdSource::Disabled;
        }
        match mmcra.thresh_event_sel() {
            1 => ThresholdSource::RunCycles,
            2 => ThresholdSource::RunInstructions,
            3 => ThresholdSource::Reserved,
            4 => ThresholdSource::Counter(1),
            5 => ThresholdSource::Counter(2),
            6 => ThresholdSource::Counter(3),
            7 => ThresholdSource::Counter(4),
            _ => ThresholdSource::Disabled,
        }
    }
}

/// The value that the counter is compared with: MMCRA\[THRESH_CMP_MANTISSA] times 4 to the power of MMCRA\[THRESH_CMP_EXP].
///
/// The counter comes no farther than exponent 5 (Table 3-1): a normalised value of exponent 6 or 7 is never reached.
pub(super) fn compare_value(mmcra: Mmcra) -> u64 {
    u64::from(mmcra.thresh_cmp_mantissa()) << (2 * u32::from(mmcra.thresh_cmp_exp() & 7))
}

/// The counts whose passing is an event of its own (section 3.1.1); bit n of a mask of levels is the level of index n.
pub(super) const LEVELS: [u16; 8] = [32, 64, 128, 256, 512, 1024, 2048, 4096];

/// The bit of a mask of levels for one of [`LEVELS`], 0 for another number.
pub(super) fn level_bit(level: u16) -> u8 {
    LEVELS.iter().position(|known| *known == level).map_or(0, |index| 1 << index)
}

/// What happened while the threshold counter counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Crossings {
    /// It came to the value to compare.
    pub(super) met: bool,
    /// The levels that it came to, a bit for each of [`LEVELS`].
    pub(super) exceeded: u8,
    /// How many events it took, which are fewer than there were once it stands at its maximum.
    pub(super) accumulated: u64,
}

/// The threshold counter.
///
/// The hardware has a mantissa of 7 bits, an exponent of 3 and a hidden prescaler of 10. All three follow from the number of events
/// since the start, so that number is the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThresholdCounter {
    /// It counts: a start has come, and no end since.
    pub running: bool,
    /// It has come to the value to compare since the start.
    pub met: bool,
    /// Events since the start, at most [`ThresholdCounter::MAXIMUM`].
    pub ticks: u64,
}

impl ThresholdCounter {
    /// The highest count: mantissa 127, exponent 5 (Table 3-1).
    pub const MAXIMUM: u64 = 127 << 10;

    /// The start event: the counter begins again at 0, whether it ran or not.
    pub(super) fn start(&mut self) {
        *self = ThresholdCounter { running: true, met: false, ticks: 0 };
    }

    /// The end event: the counter stops and keeps its value. Whether that is an end below the value to compare.
    pub(super) fn end(&mut self, compare: u64) -> bool {
        let below = self.running && !self.met && self.ticks < compare;
        self.running = false;
        below
    }

    /// What comes at one instant: a start takes precedence, an end at the same instant is lost. Whether it is an end below the value to
    /// compare.
    pub(super) fn arrive(&mut self, start: bool, end: bool, compare: u64) -> bool {
        match (start, end) {
            (true, _) => {
                self.start();
                false
            }
            (false, true) => self.end(compare),
            (false, false) => false,
        }
    }

    /// The sampled instruction was flushed: the counter stops and keeps its value, and nothing was met or missed.
    pub(super) fn discard(&mut self) {
        self.running = false;
    }

    /// `events` more of what it counts came.
    ///
    /// At the instant of a start nothing is met or exceeded; as no event lies between a start and its own instant, a value to compare of
    /// 0 is met by the first event after the start.
    pub(super) fn tick(&mut self, events: u64, compare: u64) -> Crossings {
        if !self.running || events == 0 {
            return Crossings::default();
        }
        let before = self.ticks;
        let after = before.saturating_add(events).min(Self::MAXIMUM);
        let met = !self.met && after >= compare;
        self.ticks = after;
        self.met |= met;
        let mut exceeded = 0;
        for (index, level) in LEVELS.iter().enumerate() {
            if before < u64::from(*level) && u64::from(*level) <= after {
                exceeded |= 1 << index;
            }
        }
        Crossings { met, exceeded, accumulated: after.saturating_sub(before) }
    }

    /// Events until somebody has something to count: the value to compare is met if `compare` is asked for, one of `levels` is reached,
    /// or, with `accumulating`, the very next event. `None` if nothing can come.
    pub(super) fn until_next(&self, levels: u8, compare: Option<u64>, accumulating: bool) -> Option<u64> {
        if !self.running || self.ticks >= Self::MAXIMUM {
            return None;
        }
        let compare = compare.filter(|compare| !self.met && *compare <= Self::MAXIMUM);
        let exceeded = LEVELS.iter().enumerate().filter(|(index, _)| levels >> index & 1 == 1).map(|(_, level)| u64::from(*level));
        // A value to compare that lies behind the counter, since it was written late, is met by the next event.
        let next = self.ticks.saturating_add(1);
        let met = compare.map(|compare| compare.max(next));
        let passed = exceeded.filter(|level| *level > self.ticks).min();
        let one = accumulating.then_some(next);
        [met, passed, one].into_iter().flatten().min().map(|count| count.saturating_sub(self.ticks))
    }

    /// MMCRA\[THRESH_CTR_EXP], 0 to 5: how often the count must be divided by 4 to fit the mantissa.
    pub(super) fn exponent(&self) -> u8 {
        let bits = u64::BITS.saturating_sub(self.ticks.leading_zeros());
        let exponent = bits.saturating_sub(7).div_ceil(2);
        u8::try_from(exponent).unwrap_or(0).min(5)
    }

    /// MMCRA\[THRESH_CTR_MANTISSA], 0 to 127.
    pub(super) fn mantissa(&self) -> u8 {
        u8::try_from((self.ticks >> (2 * u32::from(self.exponent()))).min(127)).unwrap_or(127)
    }

    /// `mmcra` with the counter's value in its two fields.
    pub(super) fn shown_in(&self, mut mmcra: Mmcra) -> Mmcra {
        mmcra.set_thresh_ctr_exp(self.exponent());
        mmcra.set_thresh_ctr_mantissa(self.mantissa());
        mmcra
    }
}

/// When the life of one sampled instruction starts and ends the threshold counter, in cycles of its thread from when it was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The start.
    pub(super) from: u32,
    /// The end; without one the counter runs on beyond this instruction, unless the instruction was discarded.
    pub(super) to: Option<u32>,
}

/// The span of an instruction's life between the stages `start` and `end`, `None` if it does not start the counter.
///
/// An end before the start finds a counter that does not run, and one at the same cycle is lost to the start (section 3.1.1): neither
/// ends this span.
pub(super) fn measure(life: &Life<'_>, start: ThresholdEvent, end: ThresholdEvent) -> Option<Span> {
    let ThresholdEvent::Stage(start) = start else { return None };
    let from = life.at(start)?;
    let to = match end {
        ThresholdEvent::Stage(end) => life.at(end).filter(|to| *to > from),
        _ => None,
    };
    Some(Span { from, to })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(running, ThresholdCounter { running: true, met: false, ticks: 0 });
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
    fn the_next_crossing_is_that_of_whoever_counts() {
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

        /// It is of no account in how many pieces the events are reported.
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

        /// Nothing that is counted comes before the next crossing, and something comes with it.
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
}
