//! Changes of the privilege level, which are frequent: the connections of counters stay, and mostly their deadlines too.

use super::{K8, WIDTH, slots};
use crate::feed::{Context, Feed};

impl K8 {
    /// Makes `counting` the counters that count, if counting and skipping is all that takes: no deadline must be set or cancelled, and
    /// nothing is visible outside.
    #[inline]
    pub(super) fn switch_quietly(&mut self, context: &Context, counting: u32, feed: &impl Feed) -> bool {
        let (stopped, started) = (self.counting & !counting, counting & !self.counting);
        if (self.following | self.watched) != 0 || context.halted || started & !self.early != 0 {
            return false;
        }
        for slot in slots(stopped) {
            let unit = &mut self.units[slot.index()];
            let (grown, until) = (unit.connection.tap.fold(feed), unit.counter.until_overflow(WIDTH));
            if grown >= until {
                self.grow(slot, grown);
                return false;
            }
            unit.counter.add(grown, WIDTH);
            if !unit.connection.tap.may_linger(until - grown) {
                return false;
            }
        }
        for slot in slots(started) {
            self.unit(slot).connection.tap.skip(feed);
        }
        self.early |= stopped;
        self.counting = counting;
        true
    }

    /// Whether every counter that counts at some level waits for its overflow at every level, and counts only sums.
    #[inline]
    pub(super) fn levels_add_up(&self) -> bool {
        let [level_0, above] = self.admits;
        let waiting = self.counting | self.early;
        let quiet = self.following | self.watched | self.claims == 0 && !self.context.halted;
        quiet && (level_0 | above) & !waiting == 0 && slots(level_0 | above).all(|slot| self.units[slot.index()].connection.tap.adds_up())
    }

    /// The level has changed: counters that no longer count have been folded, those that now count begin here. Deadlines stay where they
    /// do no harm, because levels change more often than deadlines come.
    pub(super) fn resume_at_level(&mut self, counting: u32, feed: &impl Feed) {
        let before = self.active();
        let admitted = counting & !self.counting;
        self.counting = counting;
        let stopped = before & !self.active();
        for slot in slots(stopped) {
            let unit = &self.units[slot.index()];
            // A halted thread sleeps until its next deadline: it should find none of a stopped counter.
            if !self.context.halted && unit.connection.tap.may_linger(unit.counter.until_overflow(WIDTH)) {
                self.early |= slot.bit();
            } else {
                self.early &= !slot.bit();
            }
        }
        if stopped & !self.early != 0 {
            self.disarm_those(stopped & !self.early, feed);
        }
        self.begin(before, admitted, feed);
    }
}
