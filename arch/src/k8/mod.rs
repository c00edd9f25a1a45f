//! The PMU of AMD Athlon 64 and AMD Opteron, family 0Fh: four counters, each with an event select.
//!
//! From the AMD BIOS and Kernel Developer's Guide, chapter 10; what it leaves open follows what operating systems' drivers rely on, as
//! `docs/src/decisions` records.
//!
//! - A counter is 48 bits; bits 63:48 read as zero and ignore what is written. It overflows when it wraps to zero, by counting only:
//!   a write never overflows.
//! - It counts while EN is set, the clock runs, and USR (privilege levels above 0) or OS (level 0) admits the level.
//! - An overflow with INT set requests the local APIC's performance-counter interrupt, once. Nothing freezes, and clearing EN or INT
//!   later does not withdraw the request.
//! - Reserved bits of PerfEvtSel (21 and 63:32) read as zero and ignore what is written.
//! - Event selects E0h and above count the northbridge, which the cores of a package share. While one core's PerfEvtSel selects such
//!   an event with EN set, the counter of that number does not count on the other cores: it keeps its value and can be read and written.
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
mod interface;
mod levels;
mod registers;
mod state;

pub use registers::{COUNTERS, PerfCtr, PerfEvtSel, Register, Slot};
pub use state::State;

use crate::alert::Alerts;
use crate::counter::{Counter, Question, Tap, Width};
use crate::event::Entry;
use crate::feed::{Context, Demand, Feed, Records, Scope, SignalSet};
use crate::model::{CpuidIdentity, Model, Occurrence, Pins};
use counting::{Connection, Selection};

/// The width of a counter.
const WIDTH: Width = Width::new(48);

/// The first event select of the northbridge; drivers recognise its events by bits 7:5 all set.
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

    /// What CPUID shows of a part of this revision: AMD, family 0Fh, and the extended model by which software distinguishes the revisions
    /// (0 up to C, 1 for D, 2 for E). No feature bit announces the PMU, and those of later PMUs must be clear.
    #[must_use]
    pub const fn cpuid(self) -> Option<CpuidIdentity> {
        let signature = match self {
            Revision::C => 0x0000_0F58,
            Revision::D => 0x0001_0FF0,
            Revision::E => 0x0002_0F32,
        };
        Some(CpuidIdentity { vendor: *b"AuthenticAMD", signature, monitoring: None })
    }

    /// Whether the part counts `entry`.
    #[must_use]
    pub fn has(self, entry: &Entry) -> bool {
        self.has_since(entry.since)
    }

    /// Whether the part counts what came with the revision `since`; every revision counts what has none.
    fn has_since(self, since: &str) -> bool {
        since.is_empty() || since <= self.letter()
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
    /// The counters that count at level 0 and above it, while the clock runs, one bit each.
    admits: [u32; 2],
    /// The counters that count in the present context, one bit each.
    counting: u32,
    /// The counters enabled for edges, one bit each: their detectors follow the selection at every privilege level.
    following: u32,
    /// The counters whose deadlines may be too early, one bit each: a change of level that stops a counter leaves its deadlines set, and
    /// when it continues they are nearer than they must be. Other stopped counters have no deadlines.
    early: u32,
    alerts: Alerts,
}

impl K8 {
    /// A PMU as power-on leaves it: every register zero, at privilege level 0. A core that does not share its northbridge holds all its
    /// counters.
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
            admits: [0; 2],
            counting: 0,
            following: 0,
            early: 0,
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
        self.admitted_in(&self.context)
    }

    #[inline]
    fn admitted_in(&self, context: &Context) -> u32 {
        let [level_0, above] = self.admits;
        match (context.halted, context.privilege) {
            (true, _) => 0,
            (false, 0) => level_0,
            (false, _) => above,
        }
    }

    /// Finds which counters count at which level, after a select or a grant has changed.
    fn update_admits(&mut self) {
        self.admits = [0; 2];
        for slot in Slot::ALL {
            let select = self.units[slot.index()].select;
            let bit = if select.en() && self.is_usable(slot) { slot.bit() } else { 0 };
            let [level_0, above] = &mut self.admits;
            *level_0 |= if select.os() { bit } else { 0 };
            *above |= if select.usr() { bit } else { 0 };
        }
    }

    /// Whether it is enabled for an event of the northbridge. A select left behind with EN clear holds nothing.
    fn claims_northbridge(&self, slot: Slot) -> bool {
        let select = self.units[slot.index()].select;
        select.en() && select.event_select() >= FIRST_NORTHBRIDGE_EVENT
    }

    /// Whether no other core's claim blocks it.
    fn is_usable(&self, slot: Slot) -> bool {
        let northbridge = self.units[slot.index()].select.event_select() >= FIRST_NORTHBRIDGE_EVENT;
        self.blocked & slot.bit() == 0 && (!northbridge || self.granted & slot.bit() != 0)
    }

    /// Counts up to now. Returns whether that was visible outside, so that the counter needs its next deadline.
    fn fold(&mut self, slot: Slot, feed: &impl Feed) -> bool {
        if self.active() & slot.bit() == 0 {
            return false;
        }
        let grown = self.unit(slot).connection.tap.fold(feed);
        self.counting & slot.bit() != 0 && self.grow(slot, grown)
    }

    /// The counters whose connections are kept up to date, one bit each: those that count, and those that detect edges.
    fn active(&self) -> u32 {
        self.counting | self.following
    }

    /// Counts up to now, and sets the next deadline if the last one was reached.
    fn catch_up(&mut self, slot: Slot, feed: &impl Feed) {
        if self.fold(slot, feed) {
            self.rearm(slot, feed);
        }
    }

    /// The counter grows by `amount`: wrap, pin, interrupt. Returns whether that was visible outside.
    #[inline]
    fn grow(&mut self, slot: Slot, amount: u64) -> bool {
        let watched = self.watched & slot.bit() != 0;
        let unit = &mut self.units[slot.index()];
        let overflows = if amount == 0 { 0 } else { unit.counter.add(amount, WIDTH) };
        let toggles = match (unit.select.pc(), watched) {
            (true, _) => overflows,
            // All events of one clock are one increment.
            (false, true) => unit.connection.tap.take_increments().unwrap_or(amount),
            (false, false) => 0,
        };
        if toggles != 0 {
            unit.toggles = unit.toggles.wrapping_add(toggles);
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
        overflows != 0 || (watched && toggles != 0)
    }

    /// A select or a grant has changed: counters that no longer count have been folded, those that now count begin here.
    fn resume(&mut self, feed: &impl Feed) {
        let before = self.active();
        let counting = self.admitted();
        let admitted = counting & !self.counting;
        (self.counting, self.following) = (counting, self.followed_edges());
        self.disarm_those((before | self.early) & !self.active(), feed);
        self.begin(before, admitted, feed);
    }

    /// Begins the counters that are active now and were not `before`, and those that only detected edges and are now `admitted`.
    fn begin(&mut self, before: u32, admitted: u32, feed: &impl Feed) {
        let started = self.active() & !before;
        for slot in slots(started | admitted) {
            if started & self.early & slot.bit() != 0 {
                self.unit(slot).connection.tap.skip(feed);
            } else if started & slot.bit() != 0 {
                let level = self.units[slot.index()].connection.tap.is_per_cycle() && self.level(slot, feed);
                let asks = self.following & slot.bit() != 0 && !self.asked(slot, feed).is_empty();
                let tap = &mut self.unit(slot).connection.tap;
                tap.settle(feed, level);
                if asks {
                    tap.ask(Question::Began);
                }
                self.arm_one(slot, feed);
            } else {
                // What the open clock has seen so far belongs to a level that is not counted.
                self.unit(slot).connection.tap.forget_open();
            }
        }
    }

    /// The counters that detect edges at every privilege level, one bit each.
    fn followed_edges(&self) -> u32 {
        let follows = |slot: &&Slot| self.units[slot.index()].connection.tap.gate().is_edge() && self.is_followed(**slot);
        Slot::ALL.iter().filter(follows).fold(0, |following, slot| following | slot.bit())
    }

    /// The states whose levels decide whether what the counter selects holds, and that must be supplied.
    fn asked(&self, slot: Slot, feed: &impl Feed) -> SignalSet {
        let mut states = self.selection(slot).unknown_states(self.revision);
        if self.units[slot.index()].connection.tap.asks_for_the_level_before() {
            states.insert(counting::WAITING);
        }
        feed.supply().of(&states)
    }

    /// Brings the counters outside `counting` up to date before they stop, and with them those that detect edges.
    fn fold_stopping(&mut self, counting: u32, feed: &impl Feed) {
        for slot in slots(self.counting & !counting | self.following) {
            self.fold(slot, feed);
        }
    }

    /// The level of what the counter selects, as far as states that need no report decide it.
    fn level(&self, slot: Slot, feed: &impl Feed) -> bool {
        self.selection(slot).level(self.revision, |signal| counting::holds(signal, &self.context, feed.supply()))
    }

    /// The level of what the counter selects: as its edge detector saw it last, unless it selects events alone.
    fn level_now(&self, slot: Slot, feed: &impl Feed) -> bool {
        let tap = &self.units[slot.index()].connection.tap;
        let is_known = self.following & slot.bit() != 0 && !tap.is_asking() && !self.selection(slot).is_of_events(self.revision);
        if is_known { tap.detector().was_met } else { self.level(slot, feed) }
    }

    /// Whether the counter counts in some context: what it follows must be reported.
    fn is_followed(&self, slot: Slot) -> bool {
        let select = self.units[slot.index()].select;
        select.en() && (select.usr() || select.os()) && self.is_usable(slot)
    }

    /// Updates the claims and the demand after a select or a grant has been written.
    fn update_demand(&mut self, feed: &impl Feed) {
        self.alerts.renewed = true;
        let mut levels = SignalSet::EMPTY;
        let mut per_cycle = false;
        self.claims = 0;
        for slot in Slot::ALL {
            if self.claims_northbridge(slot) {
                self.claims |= slot.bit();
            }
            if self.is_followed(slot) {
                let tap = &self.units[slot.index()].connection.tap;
                per_cycle |= tap.is_per_cycle() && tap.is_supplied(feed.supply());
                if tap.is_asking() {
                    levels = levels.union(&self.asked(slot, feed));
                }
            }
        }
        self.demand.follow(self.followed(), per_cycle, Records::NONE, feed.supply());
        self.demand.ask(levels);
    }

    /// Sets the deadlines of a counter that counts. They start from the totals at which it was last folded, so setting them again changes
    /// nothing.
    fn arm_one(&self, slot: Slot, feed: &impl Feed) {
        self.units[slot.index()].connection.tap.arm(feed, self.remaining(slot, feed));
    }

    /// Sets the deadlines of every counter that counts.
    fn arm(&self, feed: &impl Feed) {
        for slot in Slot::ALL {
            if self.active() & slot.bit() != 0 {
                self.arm_one(slot, feed);
            }
        }
    }

    /// The counters that have deadlines, one bit each, if they wait for anything.
    fn waiting(&self) -> u32 {
        self.active() | self.early
    }

    /// Cancels the deadlines of the counters of `stopped`, and sets those again that other counters need.
    fn disarm_those(&mut self, stopped: u32, feed: &impl Feed) {
        self.early &= !stopped;
        let mut reach = 0;
        for slot in slots(stopped) {
            let tap = &self.units[slot.index()].connection.tap;
            tap.disarm(feed);
            reach |= tap.reach();
        }
        for slot in slots(self.waiting()) {
            if self.units[slot.index()].connection.tap.reach() & reach != 0 {
                self.arm_one(slot, feed);
            }
        }
    }

    /// Cancels the deadlines of `tap`, and sets those again that other counters need.
    fn disarm(&self, tap: &Tap, feed: &impl Feed) {
        tap.disarm(feed);
        for slot in Slot::ALL {
            if self.waiting() & slot.bit() != 0 && self.units[slot.index()].connection.tap.may_share(tap) {
                self.arm_one(slot, feed);
            }
        }
    }

    /// Counts an occurrence that no signal reports, in the counters that `which` chooses.
    fn count_occurrence(&mut self, which: impl Fn(&Selection) -> bool, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
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

    /// How much the counter may grow until something is visible outside.
    fn remaining(&self, slot: Slot, feed: &impl Feed) -> Option<u64> {
        let unit = &self.units[slot.index()];
        let watched = self.watched & slot.bit() != 0;
        let (at_overflow, at_increment) = (watched && unit.select.pc(), watched && !unit.select.pc());
        let sees_cycles = unit.connection.tap.needs_single_cycles(feed) && feed.steady(Scope::Thread).is_none();
        if at_increment && !sees_cycles { Some(1) } else { (unit.select.int() || at_overflow).then(|| unit.counter.until_overflow(WIDTH)) }
    }

    /// Replaces the deadlines of a counter, because what remains for it to count has changed.
    fn rearm(&mut self, slot: Slot, feed: &impl Feed) {
        if self.waiting() & slot.bit() != 0 {
            self.disarm(&self.units[slot.index()].connection.tap, feed);
            if self.active() & slot.bit() != 0 {
                self.early &= !slot.bit();
            }
        }
    }

    /// A select is written. While the counter stays enabled and counts edges, a change from an event that rests at 0 to one that rests at 1
    /// looks like an edge (section 10.2, the note on edge count mode). One that takes or gives up the northbridge begins anew: what the other
    /// core does decides whether it goes on.
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
            self.update_admits();
            self.track_increments(slot, feed);
            self.resume(feed);
            // INT and PC decide what the counter waits for.
            self.rearm(slot, feed);
        }
        self.update_demand(feed);
    }

    /// A pin that toggles at every increment must see single clocks while it is watched.
    fn track_increments(&mut self, slot: Slot, feed: &impl Feed) {
        let watched = self.watched & slot.bit() != 0;
        let unit = self.unit(slot);
        let pulses = watched && !unit.select.pc() && !unit.connection.counts_entries;
        unit.connection.tap.track_increments(pulses, feed);
    }

    /// Connects the counter to what its new select chooses.
    fn reconnect(&mut self, slot: Slot, written: PerfEvtSel, feed: &impl Feed) {
        // Not only a counter that counts in the present context: its detector runs at every level.
        let before = self.units[slot.index()].select;
        let same_arbiter =
            Selection::new(before, self.revision).is_northbridge() == Selection::new(written, self.revision).is_northbridge();
        let was_detecting = before.e() && same_arbiter && self.is_followed(slot);
        let was_level = written.e() && self.level_now(slot, feed);
        // A counter of entries sees no clocks, so it does not know the state itself.
        let was_unknown = self.units[slot.index()].connection.counts_entries && !self.asked(slot, feed).is_empty();
        if self.waiting() & slot.bit() != 0 {
            self.counting &= !slot.bit();
            self.following &= !slot.bit();
            self.early &= !slot.bit();
            self.disarm(&self.units[slot.index()].connection.tap, feed);
        }
        self.unit(slot).select = written;
        self.update_admits();
        let revision = self.revision;
        Selection::new(written, revision).connect(revision, &mut self.unit(slot).connection);
        self.track_increments(slot, feed);
        self.resume(feed);
        let counts = self.counting & slot.bit() != 0;
        if !(was_detecting && counts && written.e()) || was_level && !was_unknown {
            return;
        }
        if self.asked(slot, feed).is_empty() && !was_unknown {
            if self.level(slot, feed) {
                self.grow(slot, 1);
                self.rearm(slot, feed);
            }
        } else {
            // Its level will decide whether there is an edge.
            let tap = &mut self.unit(slot).connection.tap;
            tap.settle(feed, false);
            tap.ask(if was_unknown { Question::ChangedFromUnknown } else { Question::Changed });
            self.rearm(slot, feed);
        }
    }
}

/// The counters of a mask.
fn slots(mask: u32) -> impl Iterator<Item = Slot> {
    let mut left = mask & ALL;
    core::iter::from_fn(move || {
        let slot = Slot::new(left.trailing_zeros())?;
        left &= left - 1;
        Some(slot)
    })
}

/// Every counter, one bit each.
const ALL: u32 = 0b1111;

/// What a select connects its counter to: everything except the enables, the pin and the interrupt.
fn connection(select: PerfEvtSel) -> (u8, u8, bool, bool, u8) {
    (select.event_select(), select.unit_mask(), select.e(), select.inv(), select.cnt_mask())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Address;
    use crate::feed::{Lone, Signal};

    /// PerfEvtSel: clocks not halted, OS, INT, EN.
    const CLOCKS: u64 = 0x0052_0076;

    #[test]
    fn what_finds_an_overflow_sets_the_next_deadline() {
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
    fn one_thread_takes_a_kibibyte_and_a_quarter_at_most() {
        assert!(size_of::<K8>() <= 1280, "{} bytes", size_of::<K8>());
    }
}
