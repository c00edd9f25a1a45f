//! The cells of a part's signals.

use super::{Section, Signal, SignalSet};

/// The index of the first signal of `section`.
const fn start(section: Section) -> usize {
    let mut start = 0;
    let mut number = 0;
    while number < Signal::COUNT {
        start += ((Signal::SECTIONS[number] as usize) < section as usize) as usize;
        number += 1;
    }
    start
}

/// The index behind the last signal of `section`.
const fn end(section: Section) -> usize {
    let mut end = start(section);
    let mut number = 0;
    while number < Signal::COUNT {
        end += (Signal::SECTIONS[number] as usize == section as usize) as usize;
        number += 1;
    }
    end
}

/// How many signals every part has: their cells come first.
pub(super) const COMMON: usize = const { end(Section::Common) };

/// The signals of a part: the common ones, those that it shares with some, and its own.
///
/// [`Totals`](super::Totals) and [`Deadlines`](super::Deadlines) have a cell for each of them. A signal that the part does not have has no
/// cell: its total stays 0, and it has no deadline.
///
/// ```
/// use vm_pmu_arch::feed::{Signal, Vocabulary};
///
/// assert!(Vocabulary::K8.has(Signal::DramPageHits) && !Vocabulary::Power9.has(Signal::DramPageHits));
/// assert!(Vocabulary::Every.cells() > 5 * Vocabulary::K8.cells());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// Every signal: for a thread of no part, and for totals that a host reads whether a counter counts them or not.
    Every,
    /// The signals of the K8.
    K8,
    /// The signals of Knights Landing.
    Knl,
    /// The signals of POWER9.
    Power9,
    /// The signals of Itanium.
    Itanium,
    /// The signals of Montecito.
    Montecito,
}

impl Vocabulary {
    /// The indices of its signals that are not common, and the index of the first of these that a counter may count beyond its thread, as it
    /// may those that follow. `None` is all signals, the common ones among them.
    const fn indices(self) -> (usize, usize, Option<usize>) {
        match self {
            Vocabulary::Every => (COMMON, Signal::COUNT, None),
            Vocabulary::K8 => (start(Section::X86), end(Section::Coherence), Some(start(Section::Northbridge))),
            Vocabulary::Knl => (start(Section::Knl), end(Section::X86), None),
            Vocabulary::Power9 => (start(Section::Coherence), end(Section::Power9), Some(end(Section::Power9))),
            Vocabulary::Itanium => (start(Section::Itanium), end(Section::Ia64), None),
            Vocabulary::Montecito => (start(Section::Ia64), end(Section::Montecito), None),
        }
    }

    /// The order of its cells.
    pub(super) const fn layout(self) -> Layout {
        match self {
            Vocabulary::Every => const { Layout::of(Vocabulary::Every) },
            Vocabulary::K8 => const { Layout::of(Vocabulary::K8) },
            Vocabulary::Knl => const { Layout::of(Vocabulary::Knl) },
            Vocabulary::Power9 => const { Layout::of(Vocabulary::Power9) },
            Vocabulary::Itanium => const { Layout::of(Vocabulary::Itanium) },
            Vocabulary::Montecito => const { Layout::of(Vocabulary::Montecito) },
        }
    }

    /// How many signals it has, and cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        self.layout().cells()
    }

    /// How many cells [`Totals`](super::Totals) have in addition to those of the common signals.
    #[must_use]
    pub const fn own_cells(self) -> usize {
        self.layout().own()
    }

    /// How many cells [`Deadlines`](super::Deadlines) have: for its signals, for the deadlines of counters elsewhere, and for sets of signals.
    #[must_use]
    pub const fn deadline_cells(self) -> usize {
        let layout = self.layout();
        layout.armed() + layout.cells().div_ceil(64)
    }

    /// The cell of `signal`; `None` if it is not among them.
    #[must_use]
    #[inline]
    pub const fn cell(self, signal: Signal) -> Option<usize> {
        self.layout().cell(signal)
    }

    /// Whether it has `signal`.
    #[must_use]
    pub const fn has(self, signal: Signal) -> bool {
        self.cell(signal).is_some()
    }

    /// Its signals.
    #[must_use]
    pub fn signals(self) -> SignalSet {
        Signal::all().filter(|signal| self.has(*signal)).collect()
    }

    /// Lets `maker` make something that is as large as the vocabulary.
    pub fn make<M: Make>(self, maker: M) -> M::Made {
        macro_rules! sized {
            ($($vocabulary:ident)+) => {
                match self {
                    $( Vocabulary::$vocabulary => maker.make::<
                        { Vocabulary::$vocabulary.own_cells() },
                        { Vocabulary::$vocabulary.deadline_cells() },
                    >(self), )+
                }
            };
        }
        sized!(Every K8 Knl Power9 Itanium Montecito)
    }
}

/// Makes something that is as large as a [`Vocabulary`].
pub trait Make {
    /// The result.
    type Made;

    /// Makes it for `vocabulary`, whose [own cells](Vocabulary::own_cells) and [cells of deadlines](Vocabulary::deadline_cells) are so many.
    fn make<const OWN: usize, const DEADLINES: usize>(self, vocabulary: Vocabulary) -> Self::Made;
}

/// The order of a vocabulary's cells: those of the common signals, then those of its others, each in the order of the indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The index of the first signal that is not common.
    first: u16,
    /// How many signals are not common.
    own: u16,
    /// The first cell of a signal that a counter may count beyond its thread.
    first_wide: u16,
    /// The first words of the sets of [`Deadlines`](super::Deadlines).
    flags: u16,
    armed: u16,
}

impl Layout {
    const fn of(vocabulary: Vocabulary) -> Layout {
        let (first, end, first_wide) = vocabulary.indices();
        let first_wide = match first_wide {
            Some(index) => COMMON + index - first,
            None => 0,
        };
        let own = end - first;
        let wide = COMMON + own - first_wide;
        let flags = COMMON + own + wide;
        let armed = flags + wide.div_ceil(64);
        Layout { first: first as u16, own: own as u16, first_wide: first_wide as u16, flags: flags as u16, armed: armed as u16 }
    }

    #[inline]
    pub(super) const fn cells(self) -> usize {
        COMMON + self.own as usize
    }

    /// How many cells follow those of the common signals.
    #[inline]
    pub(super) const fn own(self) -> usize {
        self.own as usize
    }

    /// The first word of the set of signals whose deadline from elsewhere is the nearer one.
    #[inline]
    pub(super) const fn flags(self) -> usize {
        self.flags as usize
    }

    /// The first word of the set of signals that have a deadline.
    #[inline]
    pub(super) const fn armed(self) -> usize {
        self.armed as usize
    }

    /// The cell of a signal that is not common, counted from behind the common ones. Of a signal that is not in the vocabulary it is beyond
    /// all of them.
    #[inline(always)]
    pub(super) const fn beyond_common(self, signal: Signal) -> usize {
        signal.index().wrapping_sub(self.first as usize)
    }

    /// The cell of `signal`, if there is one.
    #[inline]
    pub(super) const fn cell(self, signal: Signal) -> Option<usize> {
        let beyond = self.beyond_common(signal);
        if signal.index() < COMMON {
            Some(signal.index())
        } else if beyond < self.own() {
            Some(COMMON + beyond)
        } else {
            None
        }
    }

    /// The signal whose cell this is.
    #[inline]
    pub(super) const fn signal(self, cell: usize) -> Option<Signal> {
        Signal::from_index(if cell < COMMON { cell } else { cell - COMMON + self.first as usize })
    }

    /// The number of a cell among those whose signals a counter may count beyond its thread.
    #[inline]
    pub(super) const fn wide_number(self, cell: usize) -> Option<usize> {
        cell.checked_sub(self.first_wide as usize)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::HashSet;

    use super::*;
    use crate::feed::{Deadlines, Pace, Totals};
    use crate::registry::{NAMES, Part};

    const ALL: [Vocabulary; 6] =
        [Vocabulary::Every, Vocabulary::K8, Vocabulary::Knl, Vocabulary::Power9, Vocabulary::Itanium, Vocabulary::Montecito];

    #[test]
    fn each_signal_of_a_vocabulary_has_a_cell_of_its_own() {
        for vocabulary in ALL {
            let cells: HashSet<_> = Signal::all().filter_map(|signal| vocabulary.cell(signal)).collect();
            assert_eq!(cells, (0..vocabulary.cells()).collect(), "{vocabulary:?}");
            assert_eq!(vocabulary.signals().iter().count(), vocabulary.cells(), "{vocabulary:?}");
        }
        assert_eq!(Vocabulary::Every.cells(), Signal::COUNT);
    }

    #[test]
    fn a_cell_belongs_to_the_signal_that_has_it() {
        for vocabulary in ALL {
            for signal in vocabulary.signals().iter() {
                let cell = vocabulary.cell(signal).unwrap();
                assert_eq!(vocabulary.layout().signal(cell), Some(signal), "{vocabulary:?}");
            }
        }
    }

    #[test]
    fn a_part_has_the_sections_that_name_it() {
        let sections = |vocabulary: Vocabulary| -> HashSet<Section> { vocabulary.signals().iter().map(Signal::section).collect() };
        use Section as S;
        assert_eq!(sections(Vocabulary::K8), HashSet::from([S::Common, S::X86, S::K8, S::Northbridge, S::Coherence]));
        assert_eq!(sections(Vocabulary::Knl), HashSet::from([S::Common, S::X86, S::Knl]));
        assert_eq!(sections(Vocabulary::Power9), HashSet::from([S::Common, S::Coherence, S::Power9]));
        assert_eq!(sections(Vocabulary::Itanium), HashSet::from([S::Common, S::Ia64, S::Itanium]));
        assert_eq!(sections(Vocabulary::Montecito), HashSet::from([S::Common, S::Ia64, S::Montecito]));
    }

    #[test]
    fn a_part_has_every_signal_that_its_events_count() {
        for part in NAMES.iter().filter_map(|name| Part::named(name)) {
            for entry in part.catalogue().entries {
                for signal in entry.signals.iter().chain(entry.edges).chain(entry.classes).chain(entry.prefetches) {
                    assert!(part.vocabulary().has(*signal), "{}: {} counts {}", part.name(), entry.name, signal.name());
                }
            }
        }
    }

    #[cfg(feature = "k8")]
    #[test]
    fn a_signal_that_the_k8_counts_in_the_package_has_a_second_deadline() {
        struct Wide(Signal);
        impl Make for Wide {
            type Made = u64;
            fn make<const OWN: usize, const DEADLINES: usize>(self, vocabulary: Vocabulary) -> u64 {
                let (totals, deadlines) =
                    (Totals::<[_; OWN]>::of(vocabulary), Deadlines::<[_; DEADLINES]>::of(vocabulary, Pace::default()));
                deadlines.set_own(self.0, 70, &totals);
                deadlines.set_wide(self.0, 50, &totals);
                deadlines.wide(self.0) + deadlines.own(self.0)
            }
        }
        for entry in crate::event::K8.entries.iter().filter(|entry| entry.scope != crate::feed::Scope::Thread) {
            for signal in entry.signals {
                assert_eq!(Vocabulary::K8.make(Wide(*signal)), 50 + 70, "{}", signal.name());
            }
        }
    }

    #[test]
    fn a_signal_of_another_part_is_not_counted_and_touches_no_other_cell() {
        struct Foreign;
        impl Make for Foreign {
            type Made = ();
            fn make<const OWN: usize, const DEADLINES: usize>(self, vocabulary: Vocabulary) {
                let (totals, deadlines) =
                    (Totals::<[_; OWN]>::of(vocabulary), Deadlines::<[_; DEADLINES]>::of(vocabulary, Pace::default()));
                for signal in Signal::all().filter(|signal| !vocabulary.has(*signal)) {
                    assert_eq!(totals.add(signal, 1), 0);
                    deadlines.set_own(signal, 0, &totals);
                    deadlines.set_wide(signal, 0, &totals);
                    assert_eq!((totals.get(signal), deadlines.get(signal)), (0, Deadlines::NEVER), "{}", signal.name());
                }
                for signal in vocabulary.signals().iter() {
                    let deadlines = [deadlines.get(signal), deadlines.own(signal), deadlines.wide(signal)];
                    assert_eq!((totals.get(signal), deadlines), (0, [Deadlines::NEVER; 3]), "{}", signal.name());
                }
                assert!(!deadlines.update_horizon(&totals));
            }
        }
        ALL.into_iter().for_each(|vocabulary| vocabulary.make(Foreign));
    }

    #[test]
    fn each_signal_has_deadlines_of_its_own() {
        struct Each;
        impl Make for Each {
            type Made = ();
            fn make<const OWN: usize, const DEADLINES: usize>(self, vocabulary: Vocabulary) {
                let (totals, deadlines) =
                    (Totals::<[_; OWN]>::of(vocabulary), Deadlines::<[_; DEADLINES]>::of(vocabulary, Pace::default()));
                for (number, signal) in (1..).zip(vocabulary.signals().iter()) {
                    totals.add(signal, number);
                    deadlines.set_wide(signal, 3000 + number, &totals);
                    deadlines.set_own(signal, 5000 + number, &totals);
                }
                for (number, signal) in (1..).zip(vocabulary.signals().iter()) {
                    assert_eq!((totals.get(signal), deadlines.own(signal)), (number, 5000 + number), "{}", signal.name());
                    assert!([3000 + number, Deadlines::NEVER].contains(&deadlines.wide(signal)), "{}", signal.name());
                }
            }
        }
        ALL.into_iter().for_each(|vocabulary| vocabulary.make(Each));
    }
}
