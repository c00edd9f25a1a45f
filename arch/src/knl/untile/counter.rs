//! One counter of a box: what reaches it in a clock, the threshold, its inversion, edge detection.
//!
//! The guides of the server parts before this one: an increment passes the threshold, then the inversion, then the edge detector. Without a
//! threshold the increment itself is added, and inversion means nothing; edge detection then takes any increment.

use crate::counter::{Counter, Width};

/// The width of a counter.
pub(super) const WIDTH: Width = Width::new(48);

/// How a counter treats its increments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) enabled: bool,
    pub(super) ov_en: bool,
    pub(super) threshold: u8,
    pub(super) invert: bool,
    pub(super) edge: bool,
}

impl Setting {
    /// Whether the increment itself is added.
    pub(super) const fn adds(self) -> bool {
        self.threshold == 0 && !self.edge
    }

    /// Whether an increment satisfies the threshold, before inversion.
    const fn is_met(self, increment: u64) -> bool {
        let least = if self.threshold == 0 { 1 } else { self.threshold };
        increment >= least as u64
    }

    /// Inversion is in series after the threshold: without one it means nothing.
    const fn inverts(self) -> bool {
        self.invert && self.threshold != 0
    }
}

/// A counter of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoxCounter {
    pub(super) setting: Setting,
    pub(super) count: Counter,
    /// What is there to add in every clock: 1 for a clock, the entries of a queue, 0 for single events.
    pub(super) level: u64,
    /// The most that can be added in a clock.
    pub(super) most: u32,
    /// The clocks to come whose events, on top of the level, satisfy the threshold.
    pub(super) busy: u64,
    /// What the edge detector saw last.
    pub(super) was: bool,
}

impl BoxCounter {
    /// What is added in every clock.
    fn rate(&self) -> u64 {
        self.level.min(u64::from(self.most))
    }

    /// Whether clocks alone change nothing of it.
    pub(super) fn is_still(&self) -> bool {
        self.setting.adds() && (self.level == 0 || !self.setting.enabled)
    }

    /// Advances the counter by `clocks`, in which it counts or is stopped. Returns whether it wrapped.
    pub(super) fn advance(&mut self, clocks: u64, counts: bool) -> bool {
        let busy = self.busy.min(clocks);
        let quiet = clocks - busy;
        self.busy -= busy;
        let setting = self.setting;
        if setting.adds() {
            // A wrap is found however far beyond it the count goes.
            let grown = u128::from(self.rate()) * u128::from(clocks);
            return counts && self.grow_wide(grown);
        }
        let rest = setting.is_met(self.rate()) != setting.inverts();
        let stir = !setting.inverts();
        if setting.edge {
            let mut edges = 0;
            for (level, length) in [(stir, busy), (rest, quiet)] {
                if length != 0 {
                    edges += u64::from(level && !self.was);
                    self.was = level;
                }
            }
            return counts && self.grow(edges);
        }
        // The events of busy clocks were counted when they were injected.
        counts && rest && self.grow(quiet)
    }

    /// Injects `each` events in every one of the next `clocks` clocks. Returns whether the counter wrapped.
    pub(super) fn inject(&mut self, each: u64, clocks: u64, counts: bool) -> bool {
        let setting = self.setting;
        if setting.adds() {
            return counts && self.grow_wide(u128::from(each) * u128::from(clocks));
        }
        // Events that are too many for a clock take more clocks, of which the last has the rest.
        let most = u64::from(self.most);
        let (each, clocks, rest) = if each > most {
            let total = each.saturating_mul(clocks);
            (most, total.checked_div(most).unwrap_or(0), total.checked_rem(most).unwrap_or(0))
        } else {
            (each, clocks, 0)
        };
        let met = |increment: u64| setting.is_met(self.level.saturating_add(increment).min(most));
        let clocks = if met(each) { clocks } else { 0 }.saturating_add(u64::from(rest != 0 && met(rest)));
        if clocks == 0 || setting.is_met(self.rate()) {
            return false;
        }
        let grown = match (setting.inverts(), setting.edge) {
            (true, _) => 0,
            (false, false) => clocks,
            (false, true) => u64::from(!self.was),
        };
        if setting.edge && !setting.inverts() {
            self.was = true;
        }
        self.busy = self.busy.saturating_add(clocks);
        counts && self.grow(grown)
    }

    /// Sets the level of every clock from now on.
    pub(super) fn set_level(&mut self, level: u64) {
        self.level = level;
    }

    /// Begins to detect edges: a level that holds now is no new edge.
    pub(super) fn settle(&mut self) {
        self.busy = 0;
        self.was = self.setting.is_met(self.rate()) != self.setting.inverts();
    }

    fn grow(&mut self, amount: u64) -> bool {
        amount != 0 && self.count.add(amount, WIDTH) != 0
    }

    fn grow_wide(&mut self, amount: u128) -> bool {
        let span = u128::from(WIDTH.mask()) + 1;
        let wraps = self.grow((amount % span) as u64);
        wraps || amount >= span
    }

    /// How many clocks until the counter wraps, if nothing else happens; `None` if it never does.
    pub(super) fn clocks_to_wrap(&self) -> Option<u64> {
        let setting = self.setting;
        let remaining = self.count.until_overflow(WIDTH);
        if setting.adds() {
            return (self.rate() != 0).then(|| remaining.div_ceil(self.rate()));
        }
        let rest = setting.is_met(self.rate()) != setting.inverts();
        if setting.edge {
            // The next clock may be a rising edge, or the one after the busy ones.
            let next = if self.busy != 0 { !setting.inverts() } else { rest };
            return match (next && !self.was, self.busy != 0 && rest && !next) {
                _ if remaining > 1 => None,
                (true, _) => Some(1),
                (_, true) => Some(self.busy.saturating_add(1)),
                _ => None,
            };
        }
        rest.then(|| self.busy.saturating_add(remaining))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn clocks_at_once_are_what_they_are_one_by_one(
            (threshold, invert, edge, was, counts) in (0..4u8, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
            (level, busy, clocks, remaining) in (0..4u64, 0..60u64, 0..200u64, 1..200u64),
        ) {
            let at_once = BoxCounter { count: Counter::new(0u64.wrapping_sub(remaining), WIDTH), busy, was, ..counter(threshold, invert, edge) };
            let mut at_once = BoxCounter { level, ..at_once };
            let mut one_by_one = at_once;
            let wraps = (0..clocks).fold(false, |wraps, _| one_by_one.advance(1, counts) || wraps);
            prop_assert_eq!(at_once.advance(clocks, counts), wraps);
            // Without clocks nothing changes; a counter that adds has no busy clocks.
            prop_assert_eq!(at_once, one_by_one);
        }
    }

    fn counter(threshold: u8, invert: bool, edge: bool) -> BoxCounter {
        let setting = Setting { enabled: true, ov_en: true, threshold, invert, edge };
        let mut counter = BoxCounter { setting, most: 8, ..BoxCounter::default() };
        counter.settle();
        counter
    }

    #[test]
    fn a_level_is_added_in_every_clock() {
        let mut counter = counter(0, false, false);
        counter.set_level(3);
        counter.advance(5, true);
        assert_eq!(counter.count.value(), 15);
        counter.advance(5, false);
        assert_eq!(counter.count.value(), 15, "it stands still");
    }

    #[test]
    fn a_threshold_counts_the_clocks_that_satisfy_it() {
        let mut counter = counter(2, false, false);
        for (level, clocks) in [(1, 10), (2, 7), (9, 4), (0, 5)] {
            counter.set_level(level);
            counter.advance(clocks, true);
        }
        assert_eq!(counter.count.value(), 11);
    }

    #[test]
    fn inversion_counts_the_other_clocks() {
        let mut counter = counter(1, true, false);
        counter.advance(4, true);
        counter.inject(1, 3, true);
        counter.advance(2, true);
        assert_eq!(counter.count.value(), 4);
        counter.advance(10, true);
        assert_eq!(counter.count.value(), 4 + 9, "one clock was still busy");
    }

    #[test]
    fn an_edge_is_one_rise_however_long_the_stay() {
        let mut counter = counter(1, false, true);
        counter.inject(1, 3, true);
        counter.inject(1, 2, true);
        counter.advance(5, true);
        assert_eq!(counter.count.value(), 1, "they follow one another");
        counter.advance(1, true);
        counter.inject(1, 1, true);
        assert_eq!(counter.count.value(), 2);
    }

    #[test]
    fn an_inverted_edge_is_a_fall() {
        let mut counter = counter(1, true, true);
        counter.advance(3, true);
        assert_eq!(counter.count.value(), 0, "it was idle before");
        counter.inject(1, 2, true);
        assert_eq!(counter.clocks_to_wrap(), None);
        counter.advance(2, true);
        assert_eq!(counter.count.value(), 0);
        counter.advance(1, true);
        assert_eq!(counter.count.value(), 1);
    }

    #[test]
    fn the_wrap_at_a_fall_is_foretold_for_the_clock_after_the_stay() {
        let mut counter = counter(1, true, true);
        counter.count = Counter::new(0u64.wrapping_sub(1), WIDTH);
        // With edge_det and invert the counter grows when the level falls below the threshold: in the first clock after three with an event.
        counter.inject(1, 3, true);
        assert_eq!(counter.clocks_to_wrap(), Some(4));
        assert!(!counter.advance(3, true));
        assert!(counter.advance(1, true));
    }

    #[test]
    fn the_next_wrap_is_foretold() {
        let mut counter = counter(0, false, false);
        counter.count = Counter::new(0u64.wrapping_sub(10), WIDTH);
        assert_eq!(counter.clocks_to_wrap(), None);
        counter.set_level(3);
        assert_eq!(counter.clocks_to_wrap(), Some(4));
        assert!(!counter.advance(3, true));
        assert!(counter.advance(1, true));
        assert_eq!(counter.count.value(), 2);
    }

    #[test]
    fn no_clock_adds_more_than_the_event_can() {
        let mut counter = counter(0, false, false);
        counter.set_level(20);
        counter.advance(2, true);
        assert_eq!(counter.count.value(), 16);
    }

    #[test]
    fn what_is_too_much_for_a_clock_takes_more_of_them() {
        let mut counter = counter(8, false, false);
        counter.inject(32, 1, true);
        assert_eq!(counter.count.value(), 4);
    }

    #[test]
    fn a_clock_with_an_event_counts_once_whatever_the_level_becomes() {
        let mut counter = counter(1, false, false);
        counter.inject(1, 10, true);
        counter.advance(2, true);
        counter.set_level(1);
        counter.advance(8, true);
        assert_eq!(counter.count.value(), 10);
    }

    #[test]
    fn the_rest_of_an_increment_takes_a_clock_too() {
        let mut counter = counter(1, false, false);
        counter.most = 2;
        counter.inject(3, 1, true);
        assert_eq!(counter.count.value(), 2);
    }

    #[test]
    fn an_increment_larger_than_the_counter_wraps_it() {
        let mut counter = counter(0, false, false);
        assert!(counter.inject(u64::MAX, u64::MAX, true));
        counter.set_level(u64::MAX);
        assert!(counter.advance(u64::MAX, true));
    }
}
