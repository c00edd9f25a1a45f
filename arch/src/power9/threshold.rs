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
/// The counter reaches no exponent above 5 (Table 3-1): a normalised value of exponent 6 or 7 is never reached.
pub(super) fn compare_value(mmcra: Mmcra) -> u64 {
    u64::from(mmcra.thresh_cmp_mantissa()) << (2 * u32::from(mmcra.thresh_cmp_exp() & 7))
}

/// The counts that are events when they are reached (section 3.1.1); bit n of a mask of levels is the level of index n.
pub(super) const LEVELS: [u16; 8] = [32, 64, 128, 256, 512, 1024, 2048, 4096];

/// The bit of a mask of levels for one of [`LEVELS`], 0 for another number.
pub(super) fn level_bit(level: u16) -> u8 {
    LEVELS.iter().position(|known| *known == level).map_or(0, |index| 1 << index)
}

/// What occurred while the threshold counter counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Crossings {
    /// It reached the value to compare.
    pub(super) met: bool,
    /// The levels that it reached, a bit for each of [`LEVELS`].
    pub(super) exceeded: u8,
    /// How many events it counted, which are fewer than there were once it is at its maximum.
    pub(super) accumulated: u64,
}

/// The threshold counter.
///
/// The hardware has a mantissa of 7 bits, an exponent of 3 and a hidden prescaler of 10. All three follow from the number of events since
/// the start, so that number is the state, with the least exponent that software has written: after a write the counter continues as the
/// hardware's parts do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThresholdCounter {
    /// It counts: a start has come, and no end since.
    pub running: bool,
    /// It has reached the value to compare since the start.
    pub met: bool,
    /// Events since the start, or what software has written, mantissa times 4 to the power of the exponent. Counting ends at
    /// [`ThresholdCounter::MAXIMUM`]; with exponents 6 and 7 what is written may lie above it.
    pub ticks: u64,
    /// The exponent that software has written, 0 to 7, 0 since the last start: the counter shows this exponent until its mantissa
    /// overflows. States of versions without it have 0.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub least_exponent: u8,
}

/// Whether nothing has to be saved.
#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(exponent: &u8) -> bool {
    *exponent == 0
}

impl ThresholdCounter {
    /// The highest count: mantissa 127, exponent 5 (Table 3-1).
    pub const MAXIMUM: u64 = 127 << 10;

    /// The start event: the counter begins again at 0, whether it ran or not.
    pub(super) fn start(&mut self) {
        *self = ThresholdCounter { running: true, ..ThresholdCounter::default() };
    }

    /// Software writes the two fields: they read as written until the counter continues from there. Writing what the counter already
    /// shows leaves its prescaler unchanged.
    pub(super) fn write(&mut self, exponent: u8, mantissa: u8) {
        let (exponent, mantissa) = (exponent & 7, mantissa & 0x7F);
        if (self.exponent(), self.mantissa()) != (exponent, mantissa) {
            self.ticks = u64::from(mantissa) << (2 * u32::from(exponent));
            self.least_exponent = exponent;
        }
    }

    /// It counts no more until the next start: it is at its maximum, or has an exponent that the prescaler has no division for.
    fn is_at_its_end(&self) -> bool {
        self.ticks >= Self::MAXIMUM || self.exponent() > 5
    }

    /// The end event: the counter stops and keeps its value. Returns whether that is an end below the value to compare.
    pub(super) fn end(&mut self, compare: u64) -> bool {
        let below = self.running && !self.met && self.ticks < compare;
        self.running = false;
        below
    }

    /// A start or an end arrives, or both at one instant: then the start takes precedence and the end is lost. Returns whether it is an
    /// end below the value to compare.
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

    /// Counts `events` more.
    ///
    /// At the instant of a start nothing is met or exceeded, so a value to compare of 0 is met by the first event after the start.
    pub(super) fn tick(&mut self, events: u64, compare: u64) -> Crossings {
        if !self.running || events == 0 || self.is_at_its_end() {
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

    /// Events until a counter has something to count: the value to compare is met if `compare` is asked for, one of `levels` is reached,
    /// or, with `accumulating`, the very next event. `None` if nothing can come.
    pub(super) fn until_next(&self, levels: u8, compare: Option<u64>, accumulating: bool) -> Option<u64> {
        if !self.running || self.is_at_its_end() {
            return None;
        }
        let compare = compare.filter(|compare| !self.met && *compare <= Self::MAXIMUM);
        let exceeded = LEVELS.iter().enumerate().filter(|(index, _)| levels >> index & 1 == 1).map(|(_, level)| u64::from(*level));
        // A value to compare that the counter has already passed, because it was written late, is met by the next event.
        let next = self.ticks.saturating_add(1);
        let met = compare.map(|compare| compare.max(next));
        let passed = exceeded.filter(|level| *level > self.ticks).min();
        let one = accumulating.then_some(next);
        [met, passed, one].into_iter().flatten().min().map(|count| count.saturating_sub(self.ticks))
    }

    /// MMCRA\[THRESH_CTR_EXP]: how often the count must be divided by 4 to fit the mantissa, 0 to 5, or what software has written if that
    /// is more.
    pub(super) fn exponent(&self) -> u8 {
        let bits = u64::BITS.saturating_sub(self.ticks.leading_zeros());
        let exponent = bits.saturating_sub(7).div_ceil(2);
        u8::try_from(exponent).unwrap_or(0).min(5).max(self.least_exponent & 7)
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
mod tests;
