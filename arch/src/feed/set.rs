//! A set of signals.

use core::fmt;

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
/// assert_eq!(format!("{set:?}"), "{Cycles, Loads}");
/// ```
#[derive(Clone, Copy, Eq)]
pub struct SignalSet {
    words: [u64; SignalSet::WORDS],
}

impl SignalSet {
    /// The set as words: the signal whose [index](Signal::index) is `n` is bit `n % 64` of word `n / 64`.
    #[must_use]
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many words of 64 bits hold a set.
    const WORDS: usize = Signal::COUNT.div_ceil(64);

    /// The set without a signal.
    pub const EMPTY: SignalSet = SignalSet { words: [0; SignalSet::WORDS] };

    /// Every signal.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Signal, SignalSet};
    ///
    /// assert_eq!(SignalSet::ALL.iter().count(), Signal::COUNT);
    /// ```
    pub const ALL: SignalSet = SignalSet { words: first(Signal::COUNT) };

    /// The set of `signal` alone.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Signal, SignalSet};
    ///
    /// assert_eq!(SignalSet::only(Signal::Loads), SignalSet::from_iter([Signal::Loads]));
    /// ```
    #[must_use]
    pub const fn only(signal: Signal) -> SignalSet {
        let (up_to, below) = (first(signal.index() + 1), first(signal.index()));
        SignalSet { words: difference(up_to, below) }
    }

    /// Adds `signal`.
    #[inline]
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

    /// The signals of the set, in the order of their [indices](Signal::index).
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

    /// The signals that are in this set and in `other`.
    #[must_use]
    #[inline]
    pub fn intersection(mut self, other: &SignalSet) -> SignalSet {
        for (word, other) in self.words.iter_mut().zip(other.words) {
            *word &= other;
        }
        self
    }

    /// The signals that are in this set and not in `other`.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Signal, SignalSet};
    ///
    /// let both = SignalSet::from_iter([Signal::Loads, Signal::Stores]);
    /// let loads = SignalSet::only(Signal::Loads);
    /// assert_eq!(both.intersection(&loads), loads);
    /// assert_eq!(both.difference(&loads), SignalSet::only(Signal::Stores));
    /// ```
    #[must_use]
    #[inline]
    pub const fn difference(&self, other: &SignalSet) -> SignalSet {
        SignalSet { words: difference(self.words, other.words) }
    }
}

type Words = [u64; SignalSet::WORDS];

/// The words of a set of the first `count` signals.
const fn first(count: usize) -> Words {
    let mut words = [0; SignalSet::WORDS];
    let mut rest: &mut [u64] = &mut words;
    let mut left = count;
    while let [word, others @ ..] = rest {
        *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        left = left.saturating_sub(64);
        rest = others;
    }
    words
}

/// What is in `words` and not in `others`.
#[inline]
const fn difference(mut words: Words, others: Words) -> Words {
    let (mut rest, mut others): (&mut [u64], &[u64]) = (&mut words, &others);
    while let ([word, more @ ..], [other, others_more @ ..]) = (rest, others) {
        *word &= !*other;
        (rest, others) = (more, others_more);
    }
    words
}

impl FromIterator<Signal> for SignalSet {
    fn from_iter<I: IntoIterator<Item = Signal>>(signals: I) -> SignalSet {
        let mut set = SignalSet::EMPTY;
        set.extend(signals);
        set
    }
}

impl Extend<Signal> for SignalSet {
    fn extend<I: IntoIterator<Item = Signal>>(&mut self, signals: I) {
        signals.into_iter().for_each(|signal| self.insert(signal));
    }
}

impl PartialEq for SignalSet {
    /// Word by word: a call of the C library's comparison costs more than the few words do.
    #[inline]
    fn eq(&self, other: &SignalSet) -> bool {
        self.words.iter().zip(&other.words).fold(0, |difference, (word, other)| difference | (word ^ other)) == 0
    }
}

impl fmt::Debug for SignalSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

impl Default for SignalSet {
    fn default() -> Self {
        SignalSet::EMPTY
    }
}

/// The numbers of the bits that are set.
pub(super) struct Bits(pub(super) u64);

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
