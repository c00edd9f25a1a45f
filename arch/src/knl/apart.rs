//! Counters of the thread alone, looked at apart from the others.
//!
//! A change of level or an access to one counter is about few of them. While no other thread's level or clock decides about any, the rest stays as
//! it is.

use super::{Knl, Reach, bit};
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

    /// Enables or connections have changed: which counters count at which level may be another.
    pub(super) fn renew_admits(&mut self) {
        let (mut admits, mut looks_around) = ([0; 2], false);
        for (number, unit) in self.units.iter().enumerate() {
            let (enabled, os, usr) = self.enables(number);
            let [level_0, above] = &mut admits;
            if enabled && unit.reach == Reach::Own {
                *level_0 |= u8::from(os) << number;
                *above |= u8::from(usr) << number;
            }
            looks_around |= enabled && (os || usr) && unit.reach != Reach::Own;
        }
        (self.admits, self.looks_around) = (admits, looks_around);
    }

    /// The counters of `changed`, one bit each, which are of the thread alone, stop or begin with its context, and have counted up to now.
    pub(super) fn switch(&mut self, changed: u8, feed: &impl Feed) {
        let (own, counting) = (bit(self.shared.thread), self.own_admitted(&self.context));
        let (mut reach, mut others) = (0, 0);
        for (number, unit) in self.units.iter_mut().enumerate().filter(|(number, _)| changed >> number & 1 == 1) {
            reach |= unit.tap.reach();
            if unit.tap.gate() != Gate::Sum {
                others |= 1 << number;
            } else if counting >> number & 1 == 1 {
                unit.admitted = own;
                unit.tap.skip(feed);
            } else {
                unit.admitted = 0;
                unit.tap.disarm(feed);
            }
        }
        if others != 0 {
            self.resume_those(others, feed);
        }
        self.arm_sharing(reach, feed);
    }

    /// Whether the counter can be looked at apart from the others: it is of the thread alone, and its deadline stays where it is.
    pub(super) fn is_apart(&self, number: usize) -> bool {
        self.units.get(number).is_some_and(|unit| unit.reach == Reach::Own && !unit.tap.is_restless())
    }

    /// Sets the deadlines of the counters that count and may share one with a tap of this reach.
    pub(super) fn arm_sharing(&self, reach: u64, feed: &impl Feed) {
        for (number, unit) in self.units.iter().enumerate() {
            if unit.is_active() && unit.tap.reach() & reach != 0 {
                self.arm_one(number, unit, feed);
            }
        }
    }

    /// Software writes a counter.
    pub(super) fn load_counter(&mut self, number: usize, value: u64, feed: &impl Feed) {
        let wrapped = self.fold_those(self.apart(number), feed);
        let overflowed = wrapped != 0 && self.catch_up_with(wrapped, feed);
        self.set_counter(number, value);
        if overflowed || !self.is_apart(number) {
            // A deadline of what overflowed is still there.
            self.rearm(feed);
        } else if let Some(unit) = self.units.get(number).filter(|unit| unit.is_active()) {
            unit.tap.disarm(feed);
            self.arm_sharing(unit.tap.reach(), feed);
        }
    }

    /// The counter alone, as a mask, if it can be looked at so; else all.
    pub(super) fn apart(&self, number: usize) -> u8 {
        if self.is_apart(number) { 1 << (number & 7) } else { u8::MAX }
    }
}
