//! The PMU of AMD Athlon 64 and AMD Opteron, family 0Fh: four counters, each with an event select.
//!
//! From the AMD BIOS and Kernel Developer's Guide, chapter 10; what it leaves open follows what operating systems' drivers rely on, as
//! `docs/decisions.md` records.
//!
//! - A counter is 48 bits; bits 63:48 read as zero and ignore what is written. It overflows when it wraps to zero, by counting only:
//!   a write never overflows.
//! - It counts while EN is set, the clock runs, and USR (privilege levels above 0) or OS (level 0) admits the level.
//! - An overflow with INT set asks the local APIC for its performance-counter interrupt, once; nothing freezes, and clearing EN or INT
//!   later takes no request back.
//! - Reserved bits of PerfEvtSel (21 and 63:32) read as zero and ignore what is written.
//! - Event selects E0h and above count the northbridge, which the cores of a package share. While one core's PerfEvtSel selects such
//!   an event with EN set, the counter of that number is of no use to the other cores: it keeps its value and can be read and written.
//!
//! ```
//! use vm_pmu_arch::access::Address;
//! use vm_pmu_arch::feed::{Lone, Signal};
//! use vm_pmu_arch::k8::{K8, Revision};
//! use vm_pmu_arch::model::Model;
//!
//! let thread = Lone::new();
//! let mut pmu = K8::new(Revision::E);
//! // Count to an interrupt after three retired instructions: C0h, OS, INT, EN.
//! pmu.write(Address::Msr(0xC001_0004), 0u64.wrapping_sub(3), &thread).unwrap();
//! pmu.write(Address::Msr(0xC001_0000), 0x0052_00C0, &thread).unwrap();
//! for _ in 0..3 {
//!     thread.totals.add(Signal::InstructionsRetired, 1);
//!     if thread.deadlines.reached(Signal::InstructionsRetired, &thread.totals) {
//!         pmu.service(&thread);
//!     }
//! }
//! assert_eq!(pmu.take_alerts().interrupts, 0b0001);
//! assert_eq!(pmu.read(Address::Rdpmc(0), &thread), Ok(0));
//! ```

mod counting;
mod registers;
mod state;

pub use registers::{COUNTERS, PerfCtr, PerfEvtSel, Register, Slot};
pub use state::State;

use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::counter::{Counter, Tap, Width};
use crate::event::{self, Catalogue, Entry};
use crate::feed::{Context, Demand, Feed, Record, Records, SignalSet};
use crate::model::{CpuidIdentity, Model, Occurrence, RegisterDescription, Reset};
use counting::{Connection, Selection};

/// The width of a counter.
const WIDTH: Width = Width::new(48);

/// The first event select of the northbridge; drivers tell its events by bits 7:5 all set.
const FIRST_NORTHBRIDGE_EVENT: u8 = 0xE0;

/// A revision of the part: later ones have more events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Revision {
    /// Revisions B and C.
    C,
    /// Revision D: sized blocks (E5h) and upstream writes (ECh, 40h).
    D,
    /// Revision E, the first with two cores: ECC errors (E8h), requests (E9h) and cache block commands (EAh).
    #[default]
    E,
}

impl Revision {
    /// Every revision.
    pub const ALL: [Revision; 3] = [Revision::C, Revision::D, Revision::E];

    /// Its letter.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Revision::C => "C",
            Revision::D => "D",
            Revision::E => "E",
        }
    }

    /// The revision of this letter, whatever the case.
    #[must_use]
    pub fn from_letter(letter: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.letter().eq_ignore_ascii_case(letter))
    }

    /// What CPUID shows of a part of this revision: AMD, family 0Fh, and the extended model by which software tells the revisions apart
    /// (0 up to C, 1 for D, 2 for E). No feature bit announces the PMU, and those of later ones must be clear.
    #[must_use]
    pub const fn cpuid(self) -> Option<CpuidIdentity> {
        let signature = match self {
            Revision::C => 0x0000_0F58,
            Revision::D => 0x0001_0FF0,
            Revision::E => 0x0002_0F32,
        };
        Some(CpuidIdentity { vendor: *b"AuthenticAMD", signature })
    }

    /// Whether the part counts `entry`.
    #[must_use]
    pub fn has(self, entry: &Entry) -> bool {
        entry.since.is_empty() || entry.since <= self.letter()
    }
}

/// A counter with its event select.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    select: PerfEvtSel,
    counter: Counter,
    connection: Connection,
    /// How often the pin has toggled.
    toggles: u64,
}

/// The PMU of one core.
#[derive(Clone, Debug)]
pub struct K8 {
    revision: Revision,
    units: [Unit; COUNTERS],
    context: Context,
    demand: Demand,
    granted: u32,
    blocked: u32,
    watched: u32,
    /// The counters enabled for an event of the northbridge, one bit each.
    claims: u32,
    /// The counters that count in the present context, one bit each.
    counting: u32,
    alerts: Alerts,
}

impl K8 {
    /// A PMU as power-on leaves it: every register zero, at privilege level 0. A core that shares its northbridge with nobody holds all
    /// of it.
    #[must_use]
    pub fn new(revision: Revision) -> K8 {
        K8 {
            revision,
            units: [Unit::default(); COUNTERS],
            context: Context::RESET,
            demand: Demand::default(),
            granted: ALL,
            blocked: 0,
            watched: 0,
            claims: 0,
            counting: 0,
            alerts: Alerts::default(),
        }
    }

    /// The revision of the part.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The level of pin PM`slot`, which starts low.
    pub fn pin(&mut self, slot: Slot, feed: &impl Feed) -> bool {
        self.pin_toggles(slot.index() as u32, feed) & 1 == 1
    }

    fn unit(&mut self, slot: Slot) -> &mut Unit {
        &mut self.units[slot.index()]
    }

    fn selection(&self, slot: Slot) -> Selection {
        Selection::new(self.units[slot.index()].select, self.revision)
    }

    /// The counters that count in the present context, one bit each.
    fn admitted(&self) -> u32 {
        if self.context.halted {
            return 0;
        }
        let mut counting = 0;
        for slot in Slot::ALL {
            let select = self.units[slot.index()].select;
            let level = if self.context.privilege == 0 { select.os() } else { select.usr() };
            if select.en() && level && self.is_usable(slot) {
                counting |= slot.bit();
            }
        }
        counting
    }

    /// Whether it is enabled for an event of the northbridge. A select left behind with EN clear holds nothing.
    fn claims_northbridge(&self, slot: Slot) -> bool {
        let select = self.units[slot.index()].select;
        select.en() && select.event_select() >= FIRST_NORTHBRIDGE_EVENT
    }

    /// Whether no other core's claim stands in the way.
    fn is_usable(&self, slot: Slot) -> bool {
        let northbridge = self.units[slot.index()].select.event_select() >= FIRST_NORTHBRIDGE_EVENT;
        self.blocked & slot.bit() == 0 && (!northbridge || self.granted & slot.bit() != 0)
    }

    /// Counts up to now. Whether something was seen outside, so that the counter waits for the next.
    fn fold(&mut self, slot: Slot, feed: &impl Feed) -> bool {
        if self.counting & slot.bit() == 0 {
            return false;
        }
        let grown = self.unit(slot).connection.tap.fold(feed);
        let overflowed = self.grow(slot, grown);
        overflowed || (grown != 0 && self.watched & slot.bit() != 0)
    }

    /// Counts up to now, and sets the next deadline when the last one has gone by.
    fn catch_up(&mut self, slot: Slot, feed: &impl Feed) {
        if self.fold(slot, feed) {
            self.rearm(slot, feed);
        }
    }

    /// The counter grows by `amount`: wrap, pin, interrupt. Whether it wrapped.
    #[inline]
    fn grow(&mut self, slot: Slot, amount: u64) -> bool {
        if amount == 0 {
            return false;
        }
        let unit = &mut self.units[slot.index()];
        let overflows = unit.counter.add(amount, WIDTH);
        let toggles = if unit.select.pc() { overflows } else { amount };
        unit.toggles = unit.toggles.wrapping_add(toggles);
        if toggles != 0 {
            self.alerts.pins |= slot.bit();
        }
        if overflows != 0 {
            self.alerts.overflows |= slot.bit();
            if unit.select.int() {
                let late = unit.counter.value().saturating_add((overflows - 1) << WIDTH.bits().min(63));
                self.alerts.interrupts |= slot.bit();
                self.alerts.late = self.alerts.late.max(late);
            }
        }
        overflows != 0
    }

    /// The context or a select has changed: counters that no longer count have been folded, those that now do begin here.
    fn resume(&mut self, feed: &impl Feed) {
        let counting = self.admitted();
        let (stopped, started) = (self.counting & !counting, counting & !self.counting);
        self.counting = counting;
        for slot in Slot::ALL {
            if stopped & slot.bit() != 0 {
                self.disarm(&self.units[slot.index()].connection.tap, feed);
            }
        }
        for slot in Slot::ALL {
            if started & slot.bit() != 0 {
                let level = self.units[slot.index()].connection.tap.gate().is_per_cycle() && self.level(slot);
                self.unit(slot).connection.tap.settle(feed, level);
                self.arm_one(slot, feed);
            }
        }
    }

    /// Counts what the counters outside `counting` have seen, before they stop.
    fn fold_stopping(&mut self, counting: u32, feed: &impl Feed) {
        for slot in Slot::ALL {
            if self.counting & !counting & slot.bit() != 0 {
                self.fold(slot, feed);
            }
        }
    }

    fn level(&self, slot: Slot) -> bool {
        self.selection(slot).level(self.revision, |signal| counting::holds(signal, &self.context))
    }

    /// Whether the counter counts in some context: what it follows must be reported.
    fn is_followed(&self, slot: Slot) -> bool {
        let select = self.units[slot.index()].select;
        select.en() && (select.usr() || select.os()) && self.is_usable(slot)
    }

    /// A select has been written, or a grant: what is claimed and what must be reported may be something else.
    fn renew_demand(&mut self) {
        let mut signals = SignalSet::EMPTY;
        let mut per_cycle = false;
        self.claims = 0;
        for slot in Slot::ALL {
            if self.claims_northbridge(slot) {
                self.claims |= slot.bit();
            }
            if self.is_followed(slot) {
                let tap = &self.units[slot.index()].connection.tap;
                tap.demand(&mut signals);
                per_cycle |= tap.gate().is_per_cycle();
            }
        }
        self.demand.replace(signals, per_cycle, Records::NONE);
    }

    /// Sets the deadlines of a counter that counts. They are told from the totals that it was last folded at, so that setting them
    /// again changes nothing.
    fn arm_one(&self, slot: Slot, feed: &impl Feed) {
        self.units[slot.index()].connection.tap.arm(feed, self.remaining(slot));
    }

    /// Sets the deadlines of every counter that counts.
    fn arm(&self, feed: &impl Feed) {
        for slot in Slot::ALL {
            if self.counting & slot.bit() != 0 {
                self.arm_one(slot, feed);
            }
        }
    }

    /// Takes back the deadlines of `tap`, and sets those again that other counters need.
    fn disarm(&self, tap: &Tap, feed: &impl Feed) {
        tap.disarm(feed);
        for slot in Slot::ALL {
            if self.counting & slot.bit() != 0 && self.units[slot.index()].connection.tap.may_share(tap) {
                self.arm_one(slot, feed);
            }
        }
    }

    /// Something that no signal tells happened: `which` of the counters take it.
    fn happened(&mut self, which: impl Fn(&Selection) -> bool, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        let mut taken = false;
        for slot in Slot::ALL {
            if self.counting & slot.bit() == 0 || amount == 0 {
                continue;
            }
            let selection = self.selection(slot);
            if let Some(kind) = selection.admits(occurrence).filter(|_| which(&selection)) {
                taken = true;
                self.fold(slot, feed);
                let connection = &mut self.unit(slot).connection;
                let amount = if connection.counts_entries { 1 } else { amount };
                let grown = connection.tap.inject(kind, amount);
                self.grow(slot, grown);
                self.rearm(slot, feed);
            }
        }
        taken
    }

    /// How much the counter may grow until something of it is seen outside.
    fn remaining(&self, slot: Slot) -> Option<u64> {
        let unit = &self.units[slot.index()];
        let watched = self.watched & slot.bit() != 0;
        match (watched && !unit.select.pc(), unit.select.int() || watched) {
            (true, _) => Some(1),
            (false, true) => Some(unit.counter.until_overflow(WIDTH)),
            (false, false) => None,
        }
    }

    /// What a counter remains to count has changed: its old deadlines go, and come back where another counter needs them.
    fn rearm(&self, slot: Slot, feed: &impl Feed) {
        if self.counting & slot.bit() != 0 {
            self.disarm(&self.units[slot.index()].connection.tap, feed);
        }
    }

    /// A select is written. While the counter stays enabled, a change from an event that rests at 0 to one that rests at 1 looks like
    /// an edge (section 10.2, the note on edge count mode).
    fn write_select(&mut self, slot: Slot, value: u64, feed: &impl Feed) {
        self.catch_up(slot, feed);
        let written = PerfEvtSel::written(value);
        let before = self.units[slot.index()].select;
        if written == before {
            return;
        }
        if connection(before) != connection(written) {
            self.reconnect(slot, written, feed);
        } else {
            self.unit(slot).select = written;
            self.resume(feed);
            // INT and PC decide what the counter waits for.
            self.rearm(slot, feed);
        }
        self.renew_demand();
    }

    /// The counter follows something else from now on.
    fn reconnect(&mut self, slot: Slot, written: PerfEvtSel, feed: &impl Feed) {
        let was_counting = self.counting & slot.bit() != 0;
        let was_level = written.e() && self.level(slot);
        self.counting &= !slot.bit();
        if was_counting {
            self.disarm(&self.units[slot.index()].connection.tap, feed);
        }
        self.unit(slot).select = written;
        let revision = self.revision;
        Selection::new(written, revision).connect(revision, &mut self.unit(slot).connection);
        self.resume(feed);
        let counts = self.counting & slot.bit() != 0;
        if was_counting && counts && written.e() && !was_level && self.level(slot) {
            self.grow(slot, 1);
            self.rearm(slot, feed);
        }
    }
}

/// Every counter, one bit each.
const ALL: u32 = 0b1111;

/// What a select connects its counter to: everything but the enables, the pin and the interrupt.
fn connection(select: PerfEvtSel) -> (u8, u8, bool, bool, u8) {
    (select.event_select(), select.unit_mask(), select.e(), select.inv(), select.cnt_mask())
}

impl Model for K8 {
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
            if seen || (tap.is_restless() && self.counting & slot.bit() != 0) {
                tap.disarm(feed);
                stale = true;
            }
        }
        if stale {
            self.arm(feed);
        }
    }

    fn set_context(&mut self, context: Context, feed: &impl Feed) {
        self.context = context;
        let counting = self.admitted();
        if counting != self.counting {
            self.fold_stopping(counting, feed);
            self.resume(feed);
        }
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        self.happened(|_| true, occurrence, amount, feed)
    }

    fn overhears(&self) -> bool {
        Slot::ALL.into_iter().any(|slot| self.claims_northbridge(slot) && self.is_usable(slot))
    }

    fn overhear(&mut self, occurrence: Occurrence, amount: u64, _tags: u64, feed: &impl Feed) -> bool {
        self.happened(|selection| selection.is_northbridge(), occurrence, amount, feed)
    }

    fn record(&mut self, _record: &Record, _feed: &impl Feed) {}

    fn demand(&self) -> &Demand {
        &self.demand
    }

    fn wide_demand(&self) -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        for slot in Slot::ALL {
            if self.is_followed(slot) {
                self.units[slot.index()].connection.tap.wide_demand(&mut signals);
            }
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
        self.counting = 0;
        self.renew_demand();
    }

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
            self.fold_stopping(self.admitted(), feed);
            self.resume(feed);
            self.renew_demand();
        }
    }

    fn watch_pins(&mut self, pins: u32, feed: &impl Feed) {
        self.service(feed);
        self.watched = pins & ALL;
        for slot in Slot::ALL {
            self.rearm(slot, feed);
        }
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

    fn catalogue(&self) -> &'static Catalogue {
        &event::K8
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        registers::REGISTERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Lone, Signal};

    /// PerfEvtSel: clocks not halted, OS, INT, EN.
    const CLOCKS: u64 = 0x0052_0076;

    #[test]
    fn whoever_finds_an_overflow_sets_the_next_deadline() {
        let looks: [fn(&mut K8, &Lone); 4] = [
            |pmu, thread| assert_eq!(pmu.read(Address::Rdpmc(0), thread), Ok(1)),
            |pmu, thread| assert_eq!(pmu.write(Address::Msr(0xC001_0000), CLOCKS, thread), Ok(())),
            |pmu, thread| assert_eq!(pmu.state(thread).counters[0], 1),
            |pmu, thread| assert!(!pmu.pin(Slot::ALL[0], thread)),
        ];
        for look in looks {
            let (thread, mut pmu) = (Lone::new(), K8::new(Revision::E));
            assert_eq!(pmu.write(Address::Msr(0xC001_0004), 0u64.wrapping_sub(3), &thread), Ok(()));
            assert_eq!(pmu.write(Address::Msr(0xC001_0000), CLOCKS, &thread), Ok(()));
            thread.totals.add(Signal::Cycles, 4);
            look(&mut pmu, &thread);
            assert_eq!(pmu.take_alerts().interrupts, 1);
            assert!(!thread.deadlines.reached(Signal::Cycles, &thread.totals), "the model would be called at every instruction");
        }
    }

    #[test]
    fn one_thread_takes_less_than_a_kibibyte() {
        assert!(size_of::<K8>() < 1024, "{} bytes", size_of::<K8>());
    }
}
