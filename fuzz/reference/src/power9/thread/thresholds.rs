//! The threshold counter, started and ended by what PMC1 to PMC4 count (POWER9 PMU User's Guide, chapter 3 and A.6; decisions P32 to P34).
//!
//! What a sampled instruction does to it at its stages is not known here.

use vm_pmu_arch::event::{Drive, Entry, Internal};
use vm_pmu_arch::feed::{Signal, Traits};

use super::sampling::Sampled;
use super::{Add, Step, Surroundings, Thread};
use crate::clocks::amount_of as of;
use crate::power9::bits::mmcra;
use crate::power9::selection::Chosen;

/// Where the counter stops: mantissa 127 of exponent 5 (Table 3-1).
const MOST: u64 = 127 << 10;

/// The threshold counter. What is not known is `None`.
pub(in crate::power9) struct Threshold {
    /// Whether a start has come and no end since.
    runs: Option<bool>,
    /// Events since the start.
    count: Option<u64>,
    /// Whether the value to compare was met since the start.
    met: Option<bool>,
    /// Whether MMCRA has the counter's value.
    pub(in crate::power9) shown: bool,
}

/// What a step makes of it.
struct Outcome {
    /// The count before and after, unless a start was active.
    span: Option<(u64, u64)>,
    met: Add,
    not_met: Add,
}

impl Outcome {
    const NOTHING: Outcome = Outcome { span: Some((0, 0)), met: Add::Known(0), not_met: Add::Known(0) };
    const UNKNOWN: Outcome = Outcome { span: None, met: Add::Unknown, not_met: Add::Unknown };

    /// How often an event of the threshold counter occurred.
    fn amount(&self, event: Internal) -> Add {
        match (event, self.span) {
            (Internal::ThresholdMet, _) => self.met,
            (Internal::ThresholdNotMet, _) => self.not_met,
            (_, None) => Add::Unknown,
            (Internal::ThresholdExceeded(level), Some((before, after))) => {
                Add::Known((before < u64::from(level) && u64::from(level) <= after).into())
            }
            (_, Some((before, after))) => Add::Known((after - before).into()),
        }
    }
}

/// The event of the threshold counter that an entry is.
pub(in crate::power9) fn threshold_event(entry: &Entry) -> Option<Internal> {
    use Internal::{ThresholdAccumulated, ThresholdExceeded, ThresholdMet, ThresholdNotMet};
    match entry.drive {
        Drive::Internal(event @ (ThresholdMet | ThresholdNotMet | ThresholdExceeded(_) | ThresholdAccumulated)) => Some(event),
        _ => None,
    }
}

impl Threshold {
    const UNKNOWN: Threshold = Threshold { runs: None, count: None, met: None, shown: false };

    pub(in crate::power9) const fn new() -> Threshold {
        Threshold { runs: Some(false), count: None, met: None, shown: true }
    }

    /// Software wrote MMCRA: a counter that stands still shows what was written. How one that runs goes on from there is left out.
    pub(in crate::power9) fn write(&mut self) {
        let runs = if self.runs == Some(false) { Some(false) } else { None };
        *self = Threshold { runs, ..Threshold::new() };
    }

    /// A step in which a start came. The last of its cycles or instructions is that of the start, which is neither counted nor met (3.1.1, P33).
    /// Events of a counter may be of that cycle or of others.
    fn start(&mut self, compare: Option<u64>, events: Option<u64>, of_counter: bool) -> Outcome {
        let outcome = match (self.runs, events) {
            (Some(false), _) | (_, Some(0)) => Outcome::NOTHING,
            _ if of_counter => Outcome::UNKNOWN,
            (_, events) => self.step(compare, Some(false), events.map(|events| events - 1)),
        };
        *self = Threshold { runs: Some(true), count: Some(0), met: Some(false), shown: true };
        outcome
    }

    /// A step without a start, in which so many events were counted.
    fn step(&mut self, compare: Option<u64>, ends: Option<bool>, events: Option<u64>) -> Outcome {
        match self.runs {
            Some(false) => return Outcome::NOTHING,
            None if ends == Some(false) && events == Some(0) => return Outcome::NOTHING,
            _ => {}
        }
        let runs = self.runs.and(ends).map(|ends| !ends).or((ends == Some(true)).then_some(false));
        let (Some(before), Some(met), Some(events), Some(_)) = (self.count, self.met, events, runs) else {
            *self = Threshold { runs, count: None, met: None, shown: false };
            return Outcome::UNKNOWN;
        };
        let after = (before + events).min(MOST);
        let meets = !met && compare.is_some_and(|compare| after >= compare);
        let falls_short = runs == Some(false) && !met && !meets;
        *self = Threshold { runs, count: Some(after), met: Some(met || meets), shown: true };
        let known = |happens: bool| Add::Known(happens.into());
        match compare {
            // Whether 0 is met before anything is counted, and whether an end at the maximum is one, is not said.
            Some(0) => Outcome { span: Some((before, after)), ..Outcome::UNKNOWN },
            _ if falls_short && after == MOST => Outcome { span: Some((before, after)), met: known(false), not_met: Add::Unknown },
            _ => Outcome { span: Some((before, after)), met: known(meets), not_met: known(falls_short) },
        }
    }

    /// THRESH_CTR_EXP and THRESH_CTR_MANTISSA, if it has counted: each row of Table 3-1 ends with mantissa 127.
    fn shows(&self) -> Option<(u64, u64)> {
        let count = self.count?;
        let exponent = (0..5).filter(|row| count >= 128 << (2 * row)).count() as u64;
        Some((exponent, count >> (2 * exponent)))
    }
}

/// THRESH_START or THRESH_END, by Table A-4.
enum Condition {
    Never,
    /// The event of PMC1 to PMC4, from 0.
    Counter(usize),
    /// A stage of the sampled instruction.
    Stage,
}

impl Condition {
    fn of(code: u64) -> Condition {
        match code {
            0 => Condition::Never,
            8..=11 => Condition::Counter(code as usize - 8),
            _ => Condition::Stage,
        }
    }

    /// Whether it holds in a step in which the counters were told so much.
    fn holds(&self, grown: &[Add; 6], sampled: bool) -> Option<bool> {
        match self {
            Condition::Never => Some(false),
            Condition::Counter(number) => grown[*number].amount().map(|amount| amount > 0),
            Condition::Stage => (!sampled).then_some(false),
        }
    }
}

impl Thread {
    /// Counts a step by the threshold counter. `grown` is what each counter has counted in it. Returns what the counters of threshold events add.
    pub(in crate::power9) fn count_threshold(&mut self, mut grown: [Add; 6], step: Step<'_>, around: &Surroundings) -> [Add; 6] {
        let none = [Add::Known(0); 6];
        if !self.has_threshold() {
            return none;
        }
        // Counters of its own events neither start, end nor feed it (P34).
        for (number, grown) in grown.iter_mut().enumerate() {
            let own = matches!(self.chosen.get(number), Some(Chosen::Sum(entries)) if entries.iter().any(|entry| threshold_event(entry).is_some()));
            if own {
                *grown = Add::Known(0);
            }
        }
        let running = |signal| if self.runs() { Some(of(step.signals, signal)) } else { Some(0) };
        let selects = mmcra::thresh_event_sel(self.mmcra);
        let events = match selects {
            1 => running(Signal::Cycles),
            2 => running(Signal::InstructionsRetired),
            sel @ 4..=7 => grown[sel as usize - 4].amount().and_then(|amount| u64::try_from(amount).ok()),
            _ => Some(0),
        };
        // A flush of the sampled instruction stops it (3.1.1).
        let sampled = self.sampled != Sampled::No;
        let flushed = sampled && step.record.is_some_and(|record| record.sample.traits.contains(Traits::DISCARDED));
        let starts = Condition::of(mmcra::thresh_start(self.mmcra)).holds(&grown, sampled).filter(|_| !flushed);
        let ends = Condition::of(mmcra::thresh_end(self.mmcra)).holds(&grown, sampled);
        let compare = mmcra::compare(self.mmcra);
        let outcome = match starts {
            // Whether the stage that ends it is before what the same instruction starts it by, neither record nor manual says.
            Some(true) if sampled && matches!(Condition::of(mmcra::thresh_end(self.mmcra)), Condition::Stage) => {
                self.threshold = Threshold::UNKNOWN;
                Outcome::UNKNOWN
            }
            Some(true) => self.threshold.start(compare, events, selects >= 4),
            Some(false) => self.threshold.step(compare, ends, events),
            None => {
                self.threshold = Threshold::UNKNOWN;
                Outcome::UNKNOWN
            }
        };
        if let Some((exponent, mantissa)) = self.threshold.shows() {
            self.mmcra = mmcra::with_counter(self.mmcra, exponent, mantissa);
        }
        let counted = |number: usize| match self.chosen.get(number) {
            Some(Chosen::Sum(entries)) => {
                let own = entries.iter().filter(|entry| entry.when.iter().all(|when| self.when(*when, around)));
                let amounts = own.filter_map(|entry| threshold_event(entry)).map(|event| outcome.amount(event));
                let sum = amounts.fold(Add::Known(0), Add::plus);
                match (sum, self.suspended[number]) {
                    (Add::Known(0), _) | (_, Some(false)) => sum,
                    // In the cycle after a write of MMCR1.
                    _ => Add::Unknown,
                }
            }
            _ => Add::Known(0),
        };
        [0, 1, 2, 3, 4, 5].map(counted)
    }

    /// Counter `number` may have counted events that the reference is not told of. If it starts, ends or feeds the threshold counter, that is not known
    /// any more.
    pub(in crate::power9) fn forget_threshold_of(&mut self, number: usize) {
        let code = number as u64;
        let used = mmcra::thresh_event_sel(self.mmcra) == 4 + code
            || [mmcra::thresh_start(self.mmcra), mmcra::thresh_end(self.mmcra)].contains(&(8 + code));
        if used && self.has_threshold() {
            self.threshold = Threshold::UNKNOWN;
        }
    }

    /// Whether MMCRA enables the threshold counter.
    fn has_threshold(&self) -> bool {
        self.mmcra & mmcra::SAMPLE_ENABLE != 0 && mmcra::thresh_event_sel(self.mmcra) != 0
    }

    /// Counters of the overflows of threshold events may have grown. Whether that starts, ends or feeds the threshold counter in the same step is left
    /// out.
    pub(in crate::power9) fn doubt_threshold(&mut self, grown: &[Add; 6]) {
        let carried =
            |number: usize| matches!(self.chosen.get(number), Some(Chosen::Carries(_))) && !matches!(grown[number], Add::Known(0));
        if self.has_threshold() && (0..4).any(carried) {
            self.threshold = Threshold::UNKNOWN;
        }
    }
}
