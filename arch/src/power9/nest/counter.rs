//! What the counters hold, from how often their events have occurred.

/// How many events it takes to make one step of a counter (section 6.1.3, table 6-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Prescaler {
    /// 2^20, code 00.
    By20,
    /// 2^16, code 01.
    By16,
    /// 2^8, code 10: the default mode's.
    #[default]
    By8,
    /// 2^4, code 11.
    By4,
}

impl Prescaler {
    /// Its width in bits: a step is two to this power.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Prescaler::By20 => 20,
            Prescaler::By16 => 16,
            Prescaler::By8 => 8,
            Prescaler::By4 => 4,
        }
    }

    /// The prescaler of this code; of more than two bits the lower two count.
    #[must_use]
    pub const fn of_code(code: u8) -> Prescaler {
        match code & 0b11 {
            0b00 => Prescaler::By20,
            0b01 => Prescaler::By16,
            0b10 => Prescaler::By8,
            _ => Prescaler::By4,
        }
    }

    /// The code by which it is chosen.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// What a counter does when it would go beyond its 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Overflow {
    /// It continues from zero.
    #[default]
    RunOn,
    /// It stays at FFFFh until it is read; the other counters continue.
    Freeze,
}

/// How the four counters of a PMUlet count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Setting {
    /// The prescaler of each counter, the one in bits 0:15 first.
    pub prescalers: [Prescaler; 4],
    /// What all four do at an overflow.
    pub overflow: Overflow,
}

/// What a counter of 16 bits holds, and the total from which it counts once it has been read.
pub(super) const fn narrow(total: u64, base: u64, bits: u8, overflow: Overflow) -> (u16, u64) {
    let events = total.wrapping_sub(base);
    let steps = events >> (bits & 63);
    match overflow {
        Overflow::Freeze if steps > u16::MAX as u64 => (u16::MAX, total),
        Overflow::Freeze | Overflow::RunOn => (steps as u16, base.wrapping_add(steps << (bits & 63))),
    }
}

/// The difference of two readings of a free-running counter of `width` bits.
pub(super) const fn difference(now: u64, before: u64, width: u8) -> u64 {
    now.wrapping_sub(before) & (u64::MAX >> (64 - (width as u32 & 63)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prescaler_is_chosen_by_its_code() {
        // Table 6-1 prints 20, 16, 8, 4.
        assert_eq!([0, 1, 2, 3].map(|code| Prescaler::of_code(code).bits()), [20, 16, 8, 4]);
        assert_eq!([0, 1, 2, 3].map(|code| Prescaler::of_code(code).code()), [0, 1, 2, 3]);
    }

    #[test]
    fn what_the_prescaler_holds_stays_when_the_counter_is_read() {
        let (count, base) = narrow(1000, 0, 8, Overflow::RunOn);
        assert_eq!((count, base), (3, 768));
        assert_eq!(narrow(1024, base, 8, Overflow::RunOn).0, 1);
    }

    #[test]
    fn a_counter_of_16_bits_runs_on_from_zero() {
        assert_eq!(narrow(0x10002 << 4, 0, 4, Overflow::RunOn), (2, 0x10002 << 4));
    }

    #[test]
    fn a_frozen_counter_stays_at_its_last_value_until_it_is_read() {
        assert_eq!(narrow(0xFFFF << 4, 0, 4, Overflow::Freeze), (0xFFFF, 0xFFFF << 4));
        let (count, base) = narrow((0x10000 << 4) + 5, 0, 4, Overflow::Freeze);
        assert_eq!((count, base), (0xFFFF, (0x10000 << 4) + 5));
        assert_eq!(narrow(base + 16, base, 4, Overflow::Freeze).0, 1);
    }

    #[test]
    fn a_counter_that_runs_on_is_posted_across_its_wrap() {
        assert_eq!(difference(3, 0xFFFF_FFFE, 32), 5);
        assert_eq!(difference(3, (1 << 48) - 2, 48), 5);
    }
}
