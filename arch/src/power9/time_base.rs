//! Transitions of a bit of the time base.
//!
//! POWER9 PMU User's Guide, appendix A.3, TBSEL and TBEE: the chosen bit turning from 0 to 1 is an event.

use super::Power9;
use super::registers::Mmcr0;
use crate::feed::{Feed, Scope, Signal};

/// The place of the chosen bit, counted from the least significant: bits 47, 51, 55 and 63 of the time base.
const fn place(mmcr0: u8) -> u32 {
    match mmcr0 & 0b11 {
        0b00 => 63 - 47,
        0b01 => 63 - 51,
        0b10 => 63 - 55,
        _ => 0,
    }
}

/// How often the bit at `place` has turned to 1 while the time base counted from 0 to `value`.
const fn turned(value: u64, place: u32) -> u64 {
    // It turns to 1 at 2^place, and again every 2^(place + 1); without the carry out of 64 bits.
    (value >> (place + 1)) + (value >> place & 1)
}

/// Ticks until the bit at `place` turns to 1 for the `count`th time.
const fn until(value: u64, place: u32, count: u64) -> u64 {
    let period = 1u64 << (place + 1);
    let first = ((1u64 << place).wrapping_sub(value) & (period - 1)).wrapping_sub(1) & (period - 1);
    first.saturating_add(1).saturating_add(count.saturating_sub(1).saturating_mul(period))
}

impl Power9 {
    fn time_base_place(&self) -> u32 {
        place(Mmcr0::tbsel(&self.mmcr0))
    }

    /// Brings the time base up to now and returns how often the chosen bit turned to 1.
    pub(super) fn advance_time_base(&mut self, feed: &impl Feed) -> u64 {
        let now = feed.total(Signal::TimeBaseTicks, Scope::Thread);
        let before = core::mem::replace(&mut self.ticks_seen, now);
        let value = |total: u64| self.context.time_base.wrapping_add(total);
        let place = self.time_base_place();
        let transitions = turned(value(now), place).wrapping_sub(turned(value(before), place)) & (u64::MAX >> (place + 1));
        if transitions != 0 && self.mmcr0.tbee() {
            self.lateness = self.lateness.max(now.wrapping_sub(before).saturating_sub(until(value(before), place, 1)));
        }
        transitions
    }

    /// Whether a transition of the time base is an enabled event that has an effect.
    pub(super) fn waits_for_time_base(&self) -> bool {
        self.mmcr0.tbee() && (self.mmcr0.pmae() || self.mmcr0.fcece() || self.mmcr0.trigger())
    }

    /// Sets the deadline at the `transitions`th transition from now.
    pub(super) fn arm_time_base(&self, feed: &impl Feed, transitions: Option<u64>) {
        if let Some(count) = transitions {
            let value = self.context.time_base.wrapping_add(self.ticks_seen);
            feed.arm(Signal::TimeBaseTicks, Scope::Thread, self.ticks_seen, until(value, self.time_base_place(), count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_63_turns_to_one_at_every_odd_tick() {
        assert_eq!([0, 1, 2, 3, 4].map(|value| turned(value, 0)), [0, 1, 1, 2, 2]);
        assert_eq!([0, 1, 2, 3].map(|value| until(value, 0, 1)), [1, 2, 1, 2]);
        assert_eq!(until(0, 0, 3), 5);
    }

    #[test]
    fn bit_55_turns_to_one_at_256_and_then_every_512_ticks() {
        assert_eq!([255, 256, 767, 768].map(|value| turned(value, 8)), [0, 1, 1, 2]);
        assert_eq!([0, 255, 256, 257, 768].map(|value| until(value, 8, 1)), [256, 1, 512, 511, 512]);
    }

    #[test]
    fn the_end_of_the_time_base_is_no_transition() {
        for place in [0, 8, 12, 16] {
            let mask = u64::MAX >> (place + 1);
            assert_eq!(turned(0, place).wrapping_sub(turned(u64::MAX, place)) & mask, 0, "{place}");
            assert_eq!(until(u64::MAX, place, 1), 1 + (1 << place));
        }
    }
}
