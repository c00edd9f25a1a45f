//! Why events cannot be counted together.

use core::fmt;

use super::code::EventCode;

/// One of the events that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Its place among them, from 0.
    pub index: usize,
    /// Its code.
    pub code: EventCode,
}

impl fmt::Display for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x} (event {})", self.code.bits(), self.index.saturating_add(1))
    }
}

/// A field of the event code that goes to a part of a register that all counters share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedField {
    /// RELOAD_QUAL, to `MMCR1[16:17]`.
    ReloadQual,
    /// SAMPLE, to `MMCRA[57:59]` and `MMCRA[61:62]`.
    Sample,
    /// THRESH_SEL, to `MMCRA[45:47]`.
    ThreshSel,
    /// THRESH_CTL, to `MMCRA[48:55]`.
    ThreshCtl,
    /// THRESH_CMP, to `MMCRA[9:18]`.
    ThreshCmp,
    /// SDAR_MODE, to `MMCRA[20:21]`.
    SdarMode,
}

impl SharedField {
    /// The guide's name of the field.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SharedField::ReloadQual => "RELOAD_QUAL",
            SharedField::Sample => "SAMPLE",
            SharedField::ThreshSel => "THRESH_SEL",
            SharedField::ThreshCtl => "THRESH_CTL",
            SharedField::ThreshCmp => "THRESH_CMP",
            SharedField::SdarMode => "SDAR_MODE",
        }
    }
}

/// Why a set of event codes has no encoding: which events, and by which rule of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Bits that mean nothing in an event code are set (section 5.15.1).
    ReservedBits {
        /// The event.
        event: Asked,
        /// The bits.
        bits: u64,
    },
    /// PMC is 7, and there are six counters.
    NoSuchCounter {
        /// The event.
        event: Asked,
    },
    /// PMC5 and PMC6 are not programmable (section 5.16): PMC5 has the one code 500FAh, PMC6 the one code 600F4h.
    FixedCounter {
        /// The event.
        event: Asked,
    },
    /// PMCxSEL is one of C0h to DFh, which are reserved (table A-2).
    ReservedSelector {
        /// The event.
        event: Asked,
    },
    /// The event comes over the event bus from unit 0, 1 or 7, which are reserved (section A.4).
    ReservedUnit {
        /// The event.
        event: Asked,
    },
    /// SAMPLE holds an eligibility or a mode that table A-5 reserves or does not list.
    ReservedSample {
        /// The event.
        event: Asked,
    },
    /// THRESH_SEL is 3, which is reserved (section A.6).
    ReservedThreshSel {
        /// The event.
        event: Asked,
    },
    /// The mantissa of THRESH_CMP has its upper two bits zero while its exponent is not zero (sections 3.1 and A.6).
    ThreshCmp {
        /// The event.
        event: Asked,
    },
    /// Two events need the same counter (section 5.16).
    SameCounter {
        /// The event that has the counter.
        first: Asked,
        /// The event that needs it too.
        second: Asked,
        /// The number of the counter, 1 to 6.
        pmc: u8,
    },
    /// More events than PMC1 to PMC4 can count.
    TooManyEvents {
        /// How many were asked for, without those of PMC5 and PMC6.
        asked: usize,
    },
    /// An event of the L2 or L3 cache needs PMC4 to count an event of its group (section 5.16).
    CacheNeedsPmc4 {
        /// The event.
        event: Asked,
    },
    /// Two events of the L2 or L3 cache are of different groups: their selectors differ (section 5.16).
    CacheGroups {
        /// The event at PMC4.
        first: Asked,
        /// The event of another group.
        second: Asked,
    },
    /// An event of the memory management unit needs PMC1 to count one too (section 5.16).
    MmuNeedsPmc1 {
        /// The event.
        event: Asked,
    },
    /// Two events need different values in a field that all counters share.
    Differ {
        /// The field.
        field: SharedField,
        /// The event that has set it.
        first: Asked,
        /// The event that wants another value.
        second: Asked,
    },
    /// A threshold is asked for and no event is marked: without sampling there is no thresholding (section 3.1.1).
    ThresholdWithoutSampling {
        /// The event with the threshold.
        event: Asked,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::ReservedBits { event, bits } => write!(formatter, "{event} has the reserved bits {bits:#x} of an event code set"),
            Refusal::NoSuchCounter { event } => write!(formatter, "{event} asks for PMC7, and there are six counters"),
            Refusal::FixedCounter { event } => {
                write!(formatter, "{event} asks for PMC{}, which counts {} only", event.code.pmc(), fixed_word(event.code.pmc()))
            }
            Refusal::ReservedSelector { event } => write!(formatter, "{event} has the reserved selector {:#x}", event.code.pmcxsel()),
            Refusal::ReservedUnit { event } => {
                write!(formatter, "{event} comes over the event bus from unit {}, which is reserved", event.code.unit())
            }
            Refusal::ReservedSample { event } => write!(formatter, "{event} has the reserved SAMPLE {:#x}", event.code.sample()),
            Refusal::ReservedThreshSel { event } => write!(formatter, "{event} has the reserved THRESH_SEL {}", event.code.thresh_sel()),
            Refusal::ThreshCmp { event } => {
                write!(formatter, "{event} has a THRESH_CMP whose mantissa is below 32 while its exponent is not zero")
            }
            Refusal::SameCounter { first, second, pmc } => write!(formatter, "{first} and {second} both need PMC{pmc}"),
            Refusal::TooManyEvents { asked } => write!(formatter, "{asked} events are too many for PMC1 to PMC4"),
            Refusal::CacheNeedsPmc4 { event } => write!(
                formatter,
                "{event} of the L2 or L3 cache needs an event of its group at PMC4, such as {:#x}",
                event.code.selection().on_counter(4).bits()
            ),
            Refusal::CacheGroups { first, second } => write!(
                formatter,
                "{first} and {second} of the L2 or L3 cache are of different groups: the selectors {:#x} and {:#x}",
                first.code.pmcxsel(),
                second.code.pmcxsel()
            ),
            Refusal::MmuNeedsPmc1 { event } => {
                write!(formatter, "{event} of the memory management unit needs an event of that unit at PMC1")
            }
            Refusal::Differ { field, first, second } => {
                write!(formatter, "{first} and {second} differ in {}, which all counters share", field.name())
            }
            Refusal::ThresholdWithoutSampling { event } => {
                write!(formatter, "{event} asks for a threshold, and no event is marked: without sampling there is none")
            }
        }
    }
}

impl core::error::Error for Refusal {}

/// What a fixed counter counts, for the line about it.
const fn fixed_word(pmc: u8) -> &'static str {
    if pmc == 5 { "run instructions (0x500fa)" } else { "run cycles (0x600f4)" }
}
