//! The counters of a thread, PMD4 and up, and their overflow status in PMC0 (SDM volume 2, 7.2.2).

use super::Amount;

/// PMC0: the freeze bit.
pub(crate) const FREEZE: u64 = 1;

/// The first counter's number.
const FIRST: usize = 4;

/// `N` counters of some width.
pub(crate) struct Counters<const N: usize> {
    width: u32,
    /// `None` is not known.
    values: [Option<u64>; N],
    status: u64,
    /// Bits of PMC0 that are not known.
    doubt: u64,
}

/// What an addition brought about: one bit for each counter, by its number.
pub(crate) struct Added {
    /// The counter of the interrupt; `Err` if it is not known whether there is one.
    pub(crate) interrupt: Result<Option<u32>, ()>,
    /// Counters that wrapped once.
    pub(crate) wrapped: u64,
    /// Counters that may have wrapped, or did more than once.
    pub(crate) unsure: u64,
}

impl<const N: usize> Counters<N> {
    /// All zero and not frozen.
    pub(crate) const fn new(width: u32) -> Counters<N> {
        Counters { width, values: [Some(0); N], status: 0, doubt: 0 }
    }

    const fn mask(&self) -> u64 {
        (1 << self.width) - 1
    }

    /// The overflow bits of PMC0.
    const fn overflows() -> u64 {
        ((1 << N) - 1) << FIRST
    }

    /// Whether everything is frozen; `None` where that is not known.
    pub(crate) fn frozen(&self) -> Option<bool> {
        (self.doubt & FREEZE == 0).then_some(self.status & FREEZE != 0)
    }

    /// PMC0.
    pub(crate) fn status(&self) -> Option<u64> {
        (self.doubt == 0).then_some(self.status)
    }

    /// Writes PMC0, and returns what it holds.
    pub(crate) fn set_status(&mut self, value: u64) -> u64 {
        self.status = value & (FREEZE | Self::overflows());
        self.doubt = 0;
        self.status
    }

    /// A counter as it is read: its highest bit is copied upwards.
    pub(crate) fn read(&self, number: usize) -> Option<u64> {
        let value = self.values[number - FIRST]?;
        Some(if value >> (self.width - 1) & 1 == 0 { value } else { value | !self.mask() })
    }

    pub(crate) fn write(&mut self, number: usize, value: u64) {
        self.values[number - FIRST] = Some(value & self.mask());
    }

    /// The counters grow by these amounts together; `asks` are those that ask for an interrupt at their overflow, by their numbers.
    pub(crate) fn add(&mut self, amounts: &[Amount; N], asks: u64) -> Added {
        let mut added = Added { interrupt: Ok(None), wrapped: 0, unsure: 0 };
        let frozen = self.frozen();
        if frozen == Some(true) {
            return added;
        }
        let mut first = None;
        for (index, amount) in amounts.iter().enumerate() {
            if *amount == Some(0) {
                continue;
            }
            let (number, bit) = (index + FIRST, 1 << (index + FIRST));
            let sum = self.values[index].zip(*amount).filter(|_| frozen.is_some()).map(|(value, amount)| u128::from(value) + amount);
            let Some(sum) = sum else {
                self.values[index] = None;
                self.doubt |= bit;
                added.unsure |= bit;
                continue;
            };
            self.values[index] = Some(sum as u64 & self.mask());
            let wraps = sum >> self.width;
            if wraps != 0 {
                self.status |= bit;
                self.doubt &= !bit;
                first = first.or((asks & bit != 0).then_some(number as u32));
            }
            match wraps {
                0 => {}
                1 => added.wrapped |= bit,
                _ => added.unsure |= bit,
            }
        }
        let unknown = added.unsure & self.doubt & asks != 0;
        if first.is_some() {
            self.status |= FREEZE;
            self.doubt &= !FREEZE;
        } else if unknown {
            self.doubt |= FREEZE;
        }
        added.interrupt = if unknown { Err(()) } else { Ok(first) };
        added
    }
}
