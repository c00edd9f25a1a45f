//! Counters of the thread alone, handled apart from the others.
//!
//! A change of level or an access to one counter concerns few of them. While no counter depends on another thread's level or clock, the
//! rest stays as it is.

use super::{Knl, Reach, Unit, WIDTH, bit};
use crate::counter::Gate;
use crate::feed::{Context, Feed};

impl Knl {
    /// The counters of the thread alone that count in `context`, one bit each.
    #[inline]
    pub(super) fn own_admitted(&self, context: &Context) -> u8 {
        let [level_0, above] = self.admits;
        match (context.halted, context.privilege) {
            (true, _) => 0,
            (false, 0) => level_0,
            (false, _) => above,
        }
    }

    /// Finds which counters count at which level, after enables or connections have changed.
    pub(super) fn update_admits(&mut self) {
        let (mut admits, mut depends_on_others) = ([0; 2], false);
        for (number, unit) in self.units.iter().enumerate() {
            let (enabled, os, usr) = self.enables(number);
            let [level_0, above] = &mut admits;
            if enabled && unit.reach == Reach::Own {
                *level_0 |= u8::from(os) << number;
                *above |= u8::from(usr) << number;
            }
            depends_on_others |= enabled && (os || usr) && unit.reach != Reach::Own;
        }
        (self.admits, self.depends_on_others) = (admits, depends_on_others);
    }

    /// Stops and starts the counters for `context`, if no deadline must be set or cancelled for that and nothing overflows. Returns
    /// whether it did. If not, nothing has changed except that counters have counted, with their overflows.
    pub(super) fn switch_quietly(&mut self, context: &Context, feed: &impl Feed) -> bool {
        let (before, after) = (self.own_admitted(&self.context), self.own_admitted(context));
        let (stopped, started) = (before & !after, after & !before);
        if context.halted || started & !self.early != 0 {
            return false;
        }
        let wrapped = self.fold_those(stopped, feed);
        if wrapped != 0 {
            self.catch_up_with(wrapped, feed);
            self.rearm(feed);
            return false;
        }
        if stopped & !self.lingering(stopped) != 0 {
            return false;
        }
        let own = bit(self.shared.thread);
        for (number, unit) in self.units.iter_mut().enumerate() {
            if stopped >> number & 1 == 1 {
                unit.admitted = 0;
            } else if started >> number & 1 == 1 {
                unit.admitted = own;
                unit.tap.skip(feed);
            }
        }
        self.early |= stopped;
        true
    }

    /// Whether every counter that counts at some level waits for its overflow at every level, and counts only sums. It never holds for a
    /// thread with others in its package: their counters may depend on its level.
    #[inline]
    pub(super) fn levels_add_up(&self) -> bool {
        let [level_0, above] = self.admits;
        let enabled = level_0 | above;
        let is_ready = |(number, unit): (usize, &Unit)| {
            enabled >> number & 1 == 0 || (unit.counts() || self.early >> number & 1 == 1) && unit.tap.adds_up()
        };
        self.shared.threads == 1 && !self.depends_on_others && !self.context.halted && self.units.iter().enumerate().all(is_ready)
    }

    /// The counters of `which` whose deadlines may stay while they are stopped, one bit each: counters of sums that have no deadline or a
    /// far one.
    fn lingering(&self, which: u8) -> u8 {
        let lingers = |number: usize, unit: &Unit| {
            unit.tap.gate() == Gate::Sum && (!self.interrupts(number) || unit.tap.may_linger(unit.counter.until_overflow(WIDTH)))
        };
        let chosen = self.units.iter().enumerate().filter(|(number, unit)| which >> number & 1 == 1 && lingers(*number, unit));
        chosen.fold(0, |mask, (number, _)| mask | 1 << number)
    }

    /// Stops or begins the counters of `changed`, one bit each, for the new context. They are of the thread alone and have counted up to
    /// now.
    pub(super) fn switch(&mut self, changed: u8, feed: &impl Feed) {
        let (own, counting) = (bit(self.shared.thread), self.own_admitted(&self.context));
        // A halted thread sleeps until its next deadline: none may be too near.
        let lingering = if self.context.halted { 0 } else { self.lingering(changed & !counting) };
        let (mut reach, mut others) = (0, 0);
        for (number, unit) in self.units.iter_mut().enumerate().filter(|(number, _)| changed >> number & 1 == 1) {
            let mask = 1 << number;
            if unit.tap.gate() != Gate::Sum {
                reach |= unit.tap.reach();
                others |= mask;
            } else if counting & mask != 0 {
                unit.admitted = own;
                unit.tap.skip(feed);
                if self.early & mask == 0 {
                    reach |= unit.tap.reach();
                }
            } else {
                unit.admitted = 0;
                if lingering & mask == 0 {
                    reach |= unit.tap.reach();
                    unit.tap.disarm(feed);
                }
            }
        }
        self.early = self.early & !(changed & !counting) | lingering;
        if others != 0 {
            self.resume_those(others, feed);
        }
        self.arm_sharing(reach, feed);
    }

    /// Whether the counter can be handled apart from the others: it is of the thread alone, and its deadline does not move.
    pub(super) fn is_apart(&self, number: usize) -> bool {
        self.units.get(number).is_some_and(|unit| unit.reach == Reach::Own && !unit.tap.is_restless())
    }

    /// Sets the deadlines of the counters that wait and may share one with a tap of this reach.
    pub(super) fn arm_sharing(&self, reach: u64, feed: &impl Feed) {
        self.waiting().filter(|(_, unit)| unit.tap.reach() & reach != 0).for_each(|(number, unit)| self.arm_one(number, unit, feed));
    }

    /// Software writes a counter.
    pub(super) fn load_counter(&mut self, number: usize, value: u64, feed: &impl Feed) {
        let wrapped = self.fold_those(self.apart(number), feed);
        let overflowed = wrapped != 0 && self.catch_up_with(wrapped, feed);
        self.set_counter(number, value);
        if overflowed || !self.is_apart(number) {
            // The deadline of what overflowed is still set.
            self.rearm(feed);
            return;
        }
        let is_waiting = self.waiting().any(|(waiting, _)| waiting == number);
        self.early &= !(1 << (number & 7));
        if let Some(unit) = self.units.get(number).filter(|_| is_waiting) {
            unit.tap.disarm(feed);
            self.arm_sharing(unit.tap.reach(), feed);
        }
    }

    /// The counter alone, as a mask, if it can be handled apart; else all.
    pub(super) fn apart(&self, number: usize) -> u8 {
        if self.is_apart(number) { 1 << (number & 7) } else { u8::MAX }
    }
}
