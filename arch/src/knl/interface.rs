//! What the PMU of a thread does when its embedder calls.

use super::counting::Reach;
use super::registers;
use super::unit::Unit;
use super::{
    COUNTERS, DebugCtl, FixedCtrCtrl, GENERAL, GlobalCtrl, GlobalOvfCtrl, Knl, MiscEnable, OffcoreResp, PerfCapabilities, PerfEvtSel, Pmc,
    Register, UNTILE_INTERRUPT, UNTILE_STATUS, WIDTH, bit, offcore,
};
use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::event::{self, Catalogue};
use crate::feed::{Context, Demand, Feed, Kind, Record, Request, Signal, SignalSet};
use crate::model::{
    LazyContexts, Levels, Model, Occurrence, PackageScope, RegisterDescription, Requests, Reset, Shape, Shared, SharedState,
    UncoreInterrupts,
};

impl Model for Knl {
    const SHAPE: Shape = Shape {
        package_threads: Some(&[1, 2, 3, 4, 5, 6, 7, 8]),
        core_threads: 4,
        package_cores: Some(2),
        // A Xeon Phi 7250, of 34 tiles.
        usual: (1, 68),
        // Each tile has a CHA.
        most_packages: Some(super::untile::CHAS as usize),
        has_untile: true,
        ..Shape::ANY
    };

    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault> {
        let register = Register::decode(address, &self.context)?;
        match register {
            Register::Counter(number) | Register::Legacy(number) if self.is_apart(number) => {
                let wrapped = self.fold_those(self.apart(number), feed);
                if wrapped != 0 {
                    self.catch_up_with(wrapped, feed);
                    self.rearm(feed);
                }
            }
            _ => self.service(feed),
        }
        Ok(match register {
            Register::PerfEvtSel(number) => self.selects.get(number).map_or(0, |select| select.bits()),
            Register::Counter(number) | Register::Legacy(number) => self.units.get(number).map_or(0, |unit| unit.counter.value()),
            Register::FixedCtrCtrl => self.fixed_ctr_ctrl.bits(),
            Register::GlobalCtrl => self.global_ctrl.bits(),
            Register::GlobalStatus => self.global_status,
            Register::GlobalOvfCtrl => 0,
            Register::OffcoreResp(number) => self.offcore.get(number).copied().unwrap_or(0),
            Register::DebugCtl => self.debug_ctl.bits(),
            Register::MiscEnable => self.misc_enable.bits() | MiscEnable::SHOWN,
            Register::PerfCapabilities => PerfCapabilities::VALUE,
            Register::LastBranch => 0,
        })
    }

    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault> {
        if !matches!(address, Address::Msr(_)) {
            return Err(Fault::Unclaimed);
        }
        let register = Register::decode(address, &self.context)?;
        let refused = match register {
            Register::PerfEvtSel(_) => PerfEvtSel::REFUSED,
            Register::Counter(_) => Pmc::REFUSED,
            Register::Legacy(_) | Register::LastBranch => 0,
            Register::FixedCtrCtrl => FixedCtrCtrl::REFUSED,
            Register::GlobalCtrl => GlobalCtrl::REFUSED,
            Register::GlobalOvfCtrl => GlobalOvfCtrl::REFUSED,
            Register::OffcoreResp(_) => OffcoreResp::REFUSED,
            Register::DebugCtl => DebugCtl::REFUSED,
            Register::MiscEnable => MiscEnable::REFUSED,
            Register::GlobalStatus | Register::PerfCapabilities => return Err(Fault::GeneralProtection),
        };
        if value & refused != 0 {
            return Err(Fault::GeneralProtection);
        }
        let loaded = match register {
            Register::Counter(number) => Some((number, value)),
            // Bits 31:0, sign-extended.
            Register::Legacy(number) => Some((number, i64::from(value as u32 as i32) as u64)),
            _ => None,
        };
        if let Some((number, value)) = loaded {
            self.load_counter(number, value, feed);
            return Ok(());
        }
        self.catch_up(feed);
        match register {
            Register::PerfEvtSel(number) => self.write_select(number, value, feed),
            Register::FixedCtrCtrl => self.write_fixed_control(value, feed),
            Register::GlobalCtrl => self.global_ctrl = GlobalCtrl::written(value),
            Register::GlobalOvfCtrl => self.global_status &= !value,
            Register::OffcoreResp(number) => {
                if let Some(register) = self.offcore.get_mut(number) {
                    *register = value;
                }
            }
            Register::DebugCtl => self.debug_ctl = DebugCtl::written(value),
            Register::MiscEnable => self.misc_enable = MiscEnable::written(value),
            Register::Counter(_) | Register::Legacy(_) | Register::LastBranch | Register::GlobalStatus | Register::PerfCapabilities => {}
        }
        self.changed(feed);
        self.update_demand(feed);
        self.rearm(feed);
        Ok(())
    }

    fn service(&mut self, feed: &impl Feed) {
        let overflowed = self.catch_up(feed);
        if overflowed || self.early != 0 || self.units.iter().any(|unit| unit.is_active() && unit.tap.is_restless()) {
            self.rearm(feed);
        }
    }

    fn set_context(&mut self, context: Context, feed: &impl Feed) {
        let changed = self.own_admitted(&context) ^ self.own_admitted(&self.context);
        if !self.depends_on_others {
            let wrapped = self.fold_those(changed, feed);
            if wrapped == 0 {
                self.context = context;
                self.show();
                self.switch(changed, feed);
                return;
            }
            self.catch_up_with(wrapped, feed);
            self.rearm(feed);
        }
        let overflowed = self.catch_up(feed);
        self.context = context;
        self.show();
        self.resume(feed);
        if overflowed {
            // The deadline that found it is still set.
            self.rearm(feed);
        }
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        self.count_occurrence(occurrence, amount, true, self.shared.thread, feed)
    }

    fn record(&mut self, _record: &Record, _feed: &impl Feed) {}

    fn demand(&self) -> &Demand {
        &self.demand
    }

    fn followed(&self) -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        for (_, unit) in self.units.iter().enumerate().filter(|(number, _)| self.is_enabled(*number)) {
            unit.tap.demand(&mut signals);
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
        self.catch_up(feed);
        for unit in &self.units {
            unit.tap.disarm(feed);
        }
        let (shared, before) = (self.shared, self.demand);
        if reset == Reset::Cold {
            *self = Knl::new(self.revision);
            self.demand = before;
            let own = bit(shared.thread);
            self.shared = Shared { running: shared.running | own, user: shared.user & !own, ..shared };
            self.connect_all(feed);
        } else {
            self.alerts = Alerts::default();
            self.debug_ctl = DebugCtl::default();
        }
        self.context = Context::RESET;
        self.show();
        self.changed(feed);
        self.update_demand(feed);
    }

    fn catalogue(&self) -> &'static Catalogue {
        &event::KNL
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        registers::REGISTERS
    }
}

impl LazyContexts for Knl {
    #[inline]
    fn change_quietly(&mut self, context: &Context, observed: bool, feed: &impl Feed) -> bool {
        let shows = (context.halted, context.privilege == 0) != (self.context.halted, self.context.privilege == 0);
        let same = self.own_admitted(context) == self.own_admitted(&self.context);
        let quiet = !(self.depends_on_others || observed && shows) && (same || self.switch_quietly(context, feed));
        if quiet {
            self.context = *context;
            self.show();
        }
        quiet
    }

    #[inline]
    fn contexts_add_up(&self) -> bool {
        self.levels_add_up()
    }
}

impl Levels for Knl {
    fn supply_levels(&mut self, holds: impl Fn(Signal) -> Option<bool>, feed: &impl Feed) {
        if !self.demand.asks_levels() {
            return;
        }
        for number in 0..COUNTERS {
            let level = self
                .selection(number)
                .is_some_and(|selection| selection.level(|signal| holds(signal).unwrap_or_else(|| feed.supply().resting(signal))));
            if let Some(unit) = self.units.get_mut(number) {
                // A level that holds as counting begins is no edge: nothing grows.
                unit.tap.learn(level);
            }
        }
        self.arm(feed);
        self.demand.ask(SignalSet::EMPTY);
    }
}

impl PackageScope for Knl {
    fn package_demand(&self) -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        self.wide_units().for_each(|unit| unit.tap.wide_demand(&mut signals));
        signals
    }

    fn observes_siblings(&self) -> bool {
        self.wide_units().next().is_some()
    }

    fn inject_from_sibling(&mut self, occurrence: Occurrence, amount: u64, tags: u64, feed: &impl Feed) -> bool {
        self.count_occurrence(occurrence, amount, false, tags as u8, feed)
    }

    fn injection_tags(&self) -> u64 {
        u64::from(self.shared.thread)
    }
}

impl Requests for Knl {
    fn request(&mut self, request: &Request, from: u8, feed: &impl Feed) {
        if !self.units.iter().any(|unit| unit.reach == Reach::Tile && unit.counts()) {
            return;
        }
        // The instruction that made the request has been added: it and the request are one event.
        let mut wrapped = self.fold(feed);
        for number in 0..GENERAL {
            let Some(selection) = self.selection(number) else { continue };
            let admitted = self.units.get(number).is_some_and(|unit| unit.reach == Reach::Tile && unit.admitted & bit(from) != 0);
            if !admitted {
                continue;
            }
            let registers = selection.offcore_registers();
            let chosen = self.offcore.iter().enumerate().filter(|(register, _)| registers >> register & 1 == 1);
            let amounts = chosen.map(|(register, chosen)| offcore::amount(*chosen, register, number, request));
            let amount = amounts.max().unwrap_or(0);
            if amount != 0 {
                wrapped |= self.take(number, Kind::Event, amount);
            }
        }
        self.overflow(wrapped, feed);
        self.rearm(feed);
    }

    fn wants_package_requests(&self) -> bool {
        self.wide_units().any(|unit| unit.reach == Reach::Tile)
    }

    fn request_room(&self) -> u64 {
        let counting = self.units.iter().filter(|unit| unit.reach == Reach::Tile && unit.counts());
        counting.map(|unit| WIDTH.mask().saturating_sub(unit.counter.value()) / offcore::MOST).min().unwrap_or(u64::MAX)
    }
}

impl UncoreInterrupts for Knl {
    fn raise_uncore_interrupt(&mut self, feed: &impl Feed) {
        self.catch_up(feed);
        self.global_status |= UNTILE_STATUS;
        self.alerts.interrupts |= UNTILE_INTERRUPT;
        self.freeze_on_pmi(feed);
        self.rearm(feed);
    }
}

impl SharedState for Knl {
    fn follows_siblings(&self) -> bool {
        self.wide_units().next().is_some()
    }

    fn shared(&self) -> Shared {
        self.shared
    }

    fn set_shared(&mut self, shared: Shared, feed: &impl Feed) {
        let overflowed = self.catch_up(feed);
        let (core, own) = (self.core(), bit(shared.thread));
        let running = if self.context.halted { 0 } else { own };
        let user = if self.context.privilege == 0 { 0 } else { own };
        self.shared = Shared { running: shared.running & !own | running, user: shared.user & !own | user, ..shared };
        if core != self.core() {
            // Counters of the core follow another clock when it has other threads than before.
            let is_of_core = |unit: &Unit| unit.reach.is_of_core();
            for number in 0..COUNTERS {
                if self.units.get(number).is_some_and(is_of_core) {
                    self.connect(number, feed);
                }
            }
        }
        self.changed(feed);
        self.update_demand(feed);
        if overflowed {
            self.rearm(feed);
        }
    }
}
