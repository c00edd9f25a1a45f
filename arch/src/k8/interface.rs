//! What the PMU does when its embedder calls.

use super::{ALL, COUNTERS, K8, Register, Slot, Unit, WIDTH, counting, registers};
use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::counter::Counter;
use crate::event::{self, Catalogue};
use crate::feed::{Context, Demand, Feed, Record, Signal, SignalSet};
use crate::model::{Arbitration, LazyContexts, Levels, Model, Occurrence, PackageScope, Pins, RegisterDescription, Reset, Shape};

impl Model for K8 {
    const SHAPE: Shape = Shape { shares_counters: true, usual: (2, 2), ..Shape::ANY };

    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault> {
        match Register::decode(address, &self.context)? {
            Register::PerfEvtSel(slot) => Ok(self.unit(slot).select.bits()),
            Register::PerfCtr(slot) => {
                self.catch_up(slot, feed);
                Ok(self.unit(slot).counter.value())
            }
        }
    }

    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault> {
        if !matches!(address, Address::Msr(_)) {
            return Err(Fault::Unclaimed);
        }
        match Register::decode(address, &self.context)? {
            Register::PerfEvtSel(slot) => self.write_select(slot, value, feed),
            Register::PerfCtr(slot) => {
                self.fold(slot, feed);
                self.unit(slot).counter = Counter::new(value, WIDTH);
                self.rearm(slot, feed);
            }
        }
        Ok(())
    }

    fn service(&mut self, feed: &impl Feed) {
        let mut stale = false;
        for slot in Slot::ALL {
            let seen = self.fold(slot, feed);
            let tap = &self.units[slot.index()].connection.tap;
            if seen || self.early & slot.bit() != 0 || (tap.is_restless() && self.active() & slot.bit() != 0) {
                tap.disarm(feed);
                stale = true;
            }
        }
        self.early = 0;
        if stale {
            self.arm(feed);
        }
    }

    fn set_context(&mut self, context: Context, feed: &impl Feed) {
        self.context = context;
        let counting = self.admitted();
        if counting != self.counting {
            self.fold_stopping(counting, feed);
            self.resume_at_level(counting, feed);
        }
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        self.count_occurrence(|_| true, occurrence, amount, feed)
    }

    fn record(&mut self, _record: &Record, _feed: &impl Feed) {}

    fn demand(&self) -> &Demand {
        &self.demand
    }

    fn followed(&self) -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        for slot in Slot::ALL.into_iter().filter(|slot| self.is_followed(*slot)) {
            self.units[slot.index()].connection.tap.demand(&mut signals);
        }
        signals
    }

    fn succeed_demand(&mut self, before: &Demand) {
        self.demand.succeed(before);
    }

    fn take_alerts(&mut self) -> Alerts {
        core::mem::take(&mut self.alerts)
    }

    fn reset(&mut self, reset: Reset, feed: &impl Feed) {
        self.service(feed);
        for unit in &self.units {
            unit.connection.tap.disarm(feed);
        }
        let counters = self.units.map(|unit| unit.counter);
        self.units = [Unit::default(); COUNTERS];
        if reset == Reset::Warm {
            for (unit, counter) in self.units.iter_mut().zip(counters) {
                unit.counter = counter;
            }
        }
        self.context = Context::RESET;
        self.alerts = Alerts::default();
        (self.counting, self.following, self.early) = (0, 0, 0);
        self.update_admits();
        self.update_demand(feed);
    }

    fn catalogue(&self) -> &'static Catalogue {
        &event::K8
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        registers::REGISTERS
    }
}

impl LazyContexts for K8 {
    #[inline]
    fn change_quietly(&mut self, context: &Context, _observed: bool, feed: &impl Feed) -> bool {
        let counting = self.admitted_in(context);
        let quiet = counting == self.counting || self.switch_quietly(context, counting, feed);
        if quiet {
            self.context = *context;
        }
        quiet
    }

    fn sensitivity(&self) -> u64 {
        // Grants do not matter here: another core can change them.
        let depends = self.units.iter().any(|unit| unit.select.en() && unit.select.usr() != unit.select.os());
        if depends { u64::MAX } else { 0 }
    }

    #[inline]
    fn contexts_add_up(&self) -> bool {
        self.levels_add_up()
    }
}

impl Levels for K8 {
    fn supply_levels(&mut self, holds: impl Fn(Signal) -> Option<bool>, feed: &impl Feed) {
        if !self.demand.asks_levels() {
            return;
        }
        for slot in Slot::ALL {
            if !self.units[slot.index()].connection.tap.is_asking() {
                continue;
            }
            let context = &self.context;
            let holds = |signal| holds(signal).unwrap_or_else(|| counting::holds(signal, context, feed.supply()));
            let level = self.selection(slot).level(self.revision, holds);
            let tap = &mut self.units[slot.index()].connection.tap;
            if tap.asks_for_the_level_before() {
                tap.learn_before(holds(counting::WAITING));
            }
            let grown = self.unit(slot).connection.tap.learn(level);
            if self.counting & slot.bit() != 0 && self.grow(slot, grown) {
                self.rearm(slot, feed);
            }
        }
        self.arm(feed);
        self.demand.ask(SignalSet::EMPTY);
    }
}

impl PackageScope for K8 {
    fn observes_siblings(&self) -> bool {
        Slot::ALL.into_iter().any(|slot| self.claims_northbridge(slot) && self.is_usable(slot))
    }

    fn inject_from_sibling(&mut self, occurrence: Occurrence, amount: u64, _tags: u64, feed: &impl Feed) -> bool {
        self.count_occurrence(|selection| selection.is_northbridge(), occurrence, amount, feed)
    }

    fn package_demand(&self) -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        for slot in Slot::ALL {
            if self.is_followed(slot) {
                self.units[slot.index()].connection.tap.wide_demand(&mut signals);
            }
        }
        signals
    }
}

impl Arbitration for K8 {
    fn claims(&self) -> u32 {
        self.claims
    }

    fn granted(&self) -> u32 {
        self.granted
    }

    fn set_grants(&mut self, granted: u32, blocked: u32, feed: &impl Feed) {
        if (self.granted, self.blocked) != (granted & ALL, blocked & ALL) {
            self.granted = granted & ALL;
            self.blocked = blocked & ALL;
            // Most threads of a package use no counter that another one takes.
            if self.units.iter().all(|unit| !unit.select.en()) {
                return;
            }
            self.update_admits();
            self.fold_stopping(self.admitted(), feed);
            self.resume(feed);
            self.update_demand(feed);
        }
    }
}

impl Pins for K8 {
    fn watch_pins(&mut self, pins: u32, feed: &impl Feed) {
        self.service(feed);
        let before = core::mem::replace(&mut self.watched, pins & ALL);
        for slot in Slot::ALL {
            if (before ^ self.watched) & slot.bit() != 0 {
                if self.active() & slot.bit() != 0 {
                    self.units[slot.index()].connection.tap.disarm(feed);
                }
                self.track_increments(slot, feed);
            }
        }
        self.arm(feed);
        self.update_demand(feed);
    }

    fn pin_toggles(&mut self, pin: u32, feed: &impl Feed) -> u64 {
        match Slot::new(pin) {
            Some(slot) => {
                self.catch_up(slot, feed);
                self.unit(slot).toggles
            }
            None => 0,
        }
    }
}
