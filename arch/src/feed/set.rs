//! A set of signals.

use super::Signal;

/// A set of signals, one bit each.
///
/// ```
/// use vm_pmu_arch::feed::{Signal, SignalSet};
///
/// let mut set = SignalSet::EMPTY;
/// set.insert(Signal::Cycles);
/// set.insert(Signal::Loads);
/// assert!(set.contains(Signal::Loads));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [Signal::Cycles, Signal::Loads]);
/// ```
#[derive(Clone, Copy, Debug, Eq)]
pub struct SignalSet {
    words: [u64; SignalSet::WORDS],
}

impl SignalSet {
    /// How many words of 64 bits hold a set.
    pub(super) const WORDS: usize = Signal::COUNT.div_ceil(64);

    pub(super) const fn from_words(words: [u64; Self::WORDS]) -> SignalSet {
        SignalSet { words }
    }

    /// The set without a signal.
    pub const EMPTY: SignalSet = SignalSet { words: [0; SignalSet::WORDS] };

    /// Every signal there is.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Signal, SignalSet};
    ///
    /// assert_eq!(SignalSet::all().iter().count(), Signal::COUNT);
    /// ```
    #[must_use]
    pub fn all() -> SignalSet {
        let mut all = SignalSet::EMPTY;
        Signal::all().for_each(|signal| all.insert(signal));
        all
    }

    /// Adds `signal`.
    pub fn insert(&mut self, signal: Signal) {
        if let Some(word) = self.words.get_mut(signal.index() / 64) {
            *word |= 1 << (signal.index() % 64);
        }
    }

    /// Whether `signal` is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, signal: Signal) -> bool {
        self.words.get(signal.index() / 64).is_some_and(|word| word >> (signal.index() % 64) & 1 == 1)
    }

    /// Whether the set has no signal.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The signals of the set, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Signal> + use<> {
        let words = self.words;
        words.into_iter().enumerate().flat_map(|(index, word)| Bits(word).map(move |bit| index * 64 + bit)).filter_map(Signal::from_index)
    }

    /// The signals that are in this set or in `other`.
    #[must_use]
    pub fn union(mut self, other: &SignalSet) -> SignalSet {
        for (word, more) in self.words.iter_mut().zip(other.words) {
            *word |= more;
        }
        self
    }
}

impl PartialEq for SignalSet {
    /// Word by word: a call of the C library's comparison costs more than the few words do.
    #[inline]
    fn eq(&self, other: &SignalSet) -> bool {
        self.words.iter().zip(&other.words).fold(0, |difference, (word, other)| difference | (word ^ other)) == 0
    }
}

impl Default for SignalSet {
    fn default() -> Self {
        SignalSet::EMPTY
    }
}

struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
