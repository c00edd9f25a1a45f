//! The sections of the vocabulary.

/// A section of the vocabulary: the signals that the same parts have.
///
/// The order is that of the signals' [indices](super::Signal::index). A part has the common section and some that follow each other, so that one
/// subtraction finds a cell, and one comparison whether there is one. What parts share that are no neighbours in this order is common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Section {
    /// Several instruction set architectures share them, and every part has them.
    Common,
    /// Knights Landing has them.
    Knl,
    /// Knights Landing and the K8 share them.
    X86,
    /// A thread of the K8 has them.
    K8,
    /// The K8's northbridge has them: its counters count them in the whole package.
    Northbridge,
    /// Commands between caches that the K8's northbridge and POWER9 count.
    Coherence,
    /// POWER9 has them.
    Power9,
    /// Itanium has them.
    Itanium,
    /// Itanium and Montecito share them.
    Ia64,
    /// Montecito has them.
    Montecito,
    /// No event of a part counts them.
    Uncounted,
}

/// The number of sections.
const SECTIONS: usize = Section::Uncounted as usize + 1;

impl Section {
    /// The parts that have the section's signals.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Section::Common => "every part",
            Section::Knl => "Knights Landing",
            Section::X86 => "K8, Knights Landing",
            Section::K8 | Section::Northbridge => "K8",
            Section::Coherence => "K8, POWER9",
            Section::Power9 => "POWER9",
            Section::Itanium => "Itanium",
            Section::Ia64 => "Itanium, Montecito",
            Section::Montecito => "Montecito",
            Section::Uncounted => "no part",
        }
    }
}

/// The index of each signal, in the order of their numbers, from the section of each: those of a section follow each other.
pub(super) const fn indices<const COUNT: usize>(sections: &[Section; COUNT]) -> [u16; COUNT] {
    let mut next = [0; SECTIONS];
    let mut number = 0;
    while number < COUNT {
        let mut behind = sections[number] as usize + 1;
        while behind < SECTIONS {
            next[behind] += 1;
            behind += 1;
        }
        number += 1;
    }
    let mut indices = [0; COUNT];
    let mut number = 0;
    while number < COUNT {
        let section = sections[number] as usize;
        indices[number] = next[section];
        next[section] += 1;
        number += 1;
    }
    indices
}
