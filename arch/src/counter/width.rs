//! A number of a fixed width that wraps.

/// How many bits a counter has, 1 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Width(u8);

impl Width {
    /// A width of `bits`, brought into 1 to 64.
    #[must_use]
    pub const fn new(bits: u8) -> Width {
        match bits {
            0 => Width(1),
            1..=64 => Width(bits),
            _ => Width(64),
        }
    }

    /// The number of bits.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The greatest value of this width: all its bits set.
    #[must_use]
    #[inline]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.0)
    }
}

/// The value of a counter: it grows, wraps at its width, and returns how often it did.
///
/// ```
/// use vm_pmu_arch::counter::{Counter, Width};
///
/// let width = Width::new(48);
/// let mut counter = Counter::new(0u64.wrapping_sub(3), width);
/// assert_eq!(counter.until_overflow(width), 3);
/// assert_eq!(counter.add(4, width), 1);
/// assert_eq!(counter.value(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counter {
    value: u64,
}

impl Counter {
    /// A counter with the bits of `value` that fit into `width`.
    #[must_use]
    pub const fn new(value: u64, width: Width) -> Counter {
        Counter { value: value & width.mask() }
    }

    /// The value, zero above the width.
    #[must_use]
    #[inline]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// Adds `amount` and returns how often the counter wrapped to zero on the way.
    #[inline]
    pub fn add(&mut self, amount: u64, width: Width) -> u64 {
        let sum = u128::from(self.value) + u128::from(amount);
        self.value = (sum as u64) & width.mask();
        (sum >> width.bits()) as u64
    }

    /// How many more events until it wraps to zero: at least 1. `u64::MAX` is returned for 2^64 too.
    #[must_use]
    #[inline]
    pub const fn until_overflow(&self, width: Width) -> u64 {
        width.mask().saturating_sub(self.value).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_64_bits_wraps_once_in_2_to_the_64() {
        let width = Width::new(64);
        let mut counter = Counter::new(u64::MAX, width);
        assert_eq!(counter.add(1, width), 1);
        assert_eq!(counter.value(), 0);
        assert_eq!(counter.until_overflow(width), u64::MAX);
    }

    #[test]
    fn a_value_beyond_a_narrower_width_overflows_next() {
        assert_eq!(Counter::new(u64::MAX, Width::new(64)).until_overflow(Width::new(48)), 1);
    }

    #[test]
    fn a_long_step_counts_every_wrap() {
        let width = Width::new(4);
        let mut counter = Counter::new(15, width);
        assert_eq!(counter.add(33, width), 3);
        assert_eq!(counter.value(), 0);
    }

    #[test]
    fn a_width_out_of_range_is_brought_into_it() {
        assert_eq!(Width::new(0).mask(), 1);
        assert_eq!(Width::new(200).mask(), u64::MAX);
    }
}
