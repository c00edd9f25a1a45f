//! The vocabulary: every quantity an emulator or its companion can report.
//!
//! A signal is a quantity that only grows: a number of events, or the number of cycles (or bytes) of a condition. One vocabulary
//! serves every PMU, so an emulator reports its loads once, whatever counts them. An event of a PMU's catalogue names
//! the signals that drive it. A signal that no counter needs costs nothing, because [`Demand`](super::Demand) leaves it out.
//!
//! The vocabulary has [sections](Section): one that every part has, some that a few parts share, and each part's own. A signal has a cell
//! in the totals of the parts that have its section, and in no others.
//!
//! The numbers are part of the ABI and of saved states: a new signal goes at the end of the list.

use super::Section;
use super::section::indices;
use crate::numbered::numbered;

/// What a signal's total is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Events: each adds one, at an instant.
    Event,
    /// Cycles in which a condition holds: at most one per cycle, so a counter mask or an edge detector sees the level 0 or 1. They are
    /// added together with the [`Signal::Cycles`] that they are among, never before or after.
    State,
    /// A level summed over cycles (entries of a queue, outstanding requests): any number per cycle.
    Level,
}

/// The unit that a signal's total is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Occurrences.
    Events,
    /// Clock cycles of the thread (or of the named unit).
    Cycles,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The unit's word in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Events => "events",
            Unit::Cycles => "cycles",
            Unit::Bytes => "bytes",
        }
    }
}

numbered!(Signal, u16, "signal", Signal::from_number, Signal::number, Signal::all());

macro_rules! signals {
    ($( $(#[doc = $doc:literal])+ $name:ident = $word:literal : $kind:ident $unit:ident $(resting $resting:literal)? in $section:ident ),+ $(,)?) => {
        /// One quantity that an embedder reports. Its number never changes; the [`Vocabulary`](super::Vocabulary) of a part says where its cell is.
        ///
        /// ```
        /// use vm_pmu_arch::feed::{Kind, Signal};
        ///
        /// let signal = Signal::from_name("interrupts_masked_cycles").unwrap();
        /// assert_eq!(signal, Signal::InterruptsMaskedCycles);
        /// assert_eq!(signal.kind(), Kind::State);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "u16", into = "u16"))]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum Signal {
            $( $(#[doc = $doc])+ $name = INDICES[Number::$name as usize], )+
        }

        /// The index of each signal, in the order of their numbers.
        const INDICES: [u16; Signal::COUNT] = indices(&Signal::SECTIONS);

        /// The numbers: the order of the list.
        #[repr(u16)]
        enum Number {
            $( $name, )+
        }

        #[allow(non_upper_case_globals, reason = "named like the variants")]
        mod index {
            $( pub(super) const $name: usize = super::Signal::$name as usize; )+
        }

        /// Every signal, in the order of its number.
        static SIGNALS: &[Signal] = &[ $( Signal::$name ),+ ];

        /// Names and summaries, in the order of the numbers. They are a separate table: a program that asks for none does not link it.
        static TEXTS: &[Text] = &[
            $( Text { name: $word, summary: concat!($($doc),+) } ),+
        ];

        impl Signal {
            /// How many signals there are.
            pub const COUNT: usize = [ $( Number::$name ),+ ].len();

            /// The sections that the signals are in, in the order of their numbers.
            pub(super) const SECTIONS: [Section; Signal::COUNT] = [ $( Section::$section ),+ ];

            /// The signal with this index, if there is one.
            #[must_use]
            #[inline]
            pub const fn from_index(index: usize) -> Option<Signal> {
                match index {
                    $( index::$name => Some(Signal::$name), )+
                    _ => None,
                }
            }

            /// The signal's number in the C interface and in saved states: it never changes.
            #[must_use]
            pub const fn number(self) -> u16 {
                match self {
                    $( Signal::$name => Number::$name as u16, )+
                }
            }

            /// The section of the vocabulary that the signal is in, which says whose it is.
            #[must_use]
            pub const fn section(self) -> Section {
                match self {
                    $( Signal::$name => Section::$section, )+
                }
            }

            /// Whether the signal counts occurrences, cycles of a state, or a level.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self {
                    $( Signal::$name => Kind::$kind, )+
                }
            }

            /// The unit of the signal's total.
            #[must_use]
            pub const fn unit(self) -> Unit {
                match self {
                    $( Signal::$name => Unit::$unit, )+
                }
            }

            /// The level of a [`Kind::State`] when nothing is said of it: `true` for a clock that runs.
            #[must_use]
            pub const fn resting(self) -> bool {
                match self {
                    $( $( Signal::$name => $resting, )? )+
                    _ => false,
                }
            }
        }
    };
}

struct Text {
    name: &'static str,
    summary: &'static str,
}

include!("vocabulary.rs");

impl Signal {
    /// Every signal, in the order of its number.
    pub fn all() -> impl ExactSizeIterator<Item = Signal> + Clone {
        SIGNALS.iter().copied()
    }

    /// The signal with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Signal> {
        SIGNALS.get(usize::from(number)).copied()
    }

    /// The signal's place among all, below [`COUNT`](Signal::COUNT), for arrays in memory: those of a [section](Section) follow each other.
    /// A later version may change it; what is kept has the [number](Signal::number).
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The signal's name in data and litmus files: its words joined by underscores.
    #[must_use]
    pub fn name(self) -> &'static str {
        TEXTS.get(usize::from(self.number())).map_or("", |text| text.name)
    }

    /// The signal with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Signal> {
        TEXTS.iter().position(|text| text.name == name).and_then(|number| SIGNALS.get(number).copied())
    }

    /// Whether it is a clock: a state that holds in each of its cycles, so that its level need not be reported.
    #[must_use]
    pub const fn is_clock(self) -> bool {
        self.resting() && !matches!(self, Signal::FloatingPointIdleCycles)
    }

    /// Whether it is far rarer than the signals that it is added up with. A counter of several signals gives a rare one a small share of
    /// what remains to the deadline, so that the common ones seldom reach theirs.
    #[must_use]
    pub const fn is_rare(self) -> bool {
        matches!(self, Signal::ExceptionsTaken | Signal::InterruptsTaken | Signal::FarTransfers | Signal::PipelineResyncs)
    }

    /// What the signal is, in one line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        TEXTS.get(usize::from(self.number())).map_or("", |text| text.summary).trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::collections::HashSet;

    #[test]
    fn numbers_follow_the_order_of_the_list() {
        for (number, signal) in (0..).zip(Signal::all()) {
            assert_eq!(signal.number(), number, "{}", signal.name());
            assert_eq!(Signal::from_number(number), Some(signal));
        }
        assert_eq!((Signal::Cycles.number(), Signal::DramPageHits.number(), Signal::COUNT), (0, 126, 1082));
    }

    #[test]
    fn signals_of_a_section_follow_each_other() {
        let signals: std::vec::Vec<_> = (0..).map_while(Signal::from_index).collect();
        assert_eq!(signals.len(), Signal::COUNT);
        assert!(signals.is_sorted_by_key(|signal| signal.section()));
        assert!(signals.iter().enumerate().all(|(index, signal)| signal.index() == index));
    }

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<_> = Signal::all().map(Signal::name).collect();
        assert_eq!(names.len(), Signal::COUNT);
        for signal in Signal::all() {
            assert_eq!(Signal::from_name(signal.name()), Some(signal));
        }
    }

    #[test]
    fn states_are_counted_in_cycles() {
        for signal in Signal::all().filter(|signal| signal.kind() == Kind::State) {
            assert_eq!(signal.unit(), Unit::Cycles, "{}", signal.name());
        }
    }
}
