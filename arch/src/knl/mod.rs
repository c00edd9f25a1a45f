//! The PMU of Intel Xeon Phi x200 ("Knights Landing"): that of a hardware thread, and the boxes of the [`untile`].
//!
//! From the Performance Monitoring Reference Manual, volume 2; the registers, which its volume 1 describes, follow Intel's Software
//! Developer's Manual and what operating systems' drivers rely on, as `docs/src/decisions` records.
//!
//! - A thread has two general counters and three fixed ones, of 40 bits. One counts while its bit of IA32_PERF_GLOBAL_CTRL is set, its own
//!   enable is, and USR (privilege levels above 0) or OS (level 0) admits the level.
//! - A counter that wraps to zero sets its bit of IA32_PERF_GLOBAL_STATUS, which stays until IA32_PERF_GLOBAL_OVF_CTRL clears it. With
//!   its interrupt enabled it asks the local APIC for one, and with FREEZE_PERFMON_ON_PMI clears IA32_PERF_GLOBAL_CTRL at that event.
//! - With ANY a counter of retired instructions, core clocks or reference clocks counts for every thread of the core; with other events
//!   the bit means nothing. CORE_REJECT_L2Q counts for the whole core and OFFCORE_RESP for the whole tile, whichever thread counts them.
//! - A reserved bit that is written as one is refused with a general-protection exception.
//!
//! ```
//! use vm_pmu_arch::access::Address;
//! use vm_pmu_arch::feed::{Lone, Signal};
//! use vm_pmu_arch::knl::{Knl, Revision};
//! use vm_pmu_arch::model::Model;
//!
//! let thread = Lone::new();
//! let mut pmu = Knl::new(Revision::B0);
//! // IA32_FIXED_CTR0 counts retired instructions at level 0 up to an interrupt after three.
//! pmu.write(Address::Msr(0x309), (1 << 40) - 3, &thread).unwrap();
//! pmu.write(Address::Msr(0x38D), 0x9, &thread).unwrap();
//! pmu.write(Address::Msr(0x38F), 1 << 32, &thread).unwrap();
//! for _ in 0..3 {
//!     thread.totals.add(Signal::InstructionsRetired, 1);
//!     if thread.deadlines.reached(Signal::InstructionsRetired, &thread.totals) {
//!         pmu.service(&thread);
//!     }
//! }
//! // The third counter, as all of the thread's are numbered.
//! assert_eq!(pmu.take_alerts().interrupts, 1 << 2);
//! assert_eq!(pmu.read(Address::Msr(0x38E), &thread), Ok(1 << 32));
//! ```

mod apart;
mod counting;
mod interface;
mod offcore;
mod registers;
mod state;
mod unit;
pub mod untile;

pub use offcore::OffcoreResp;
pub use registers::{
    COUNTERS, DebugCtl, FIXED, FixedCtrCtrl, GENERAL, GlobalCtrl, GlobalOvfCtrl, GlobalStatus, MiscEnable, PerfCapabilities, PerfEvtSel,
    Pmc, Register,
};
pub use state::State;

use crate::alert::Alerts;
use crate::counter::{Counter, Question, Width};
use crate::event::Entry;
use crate::feed::{Context, Demand, Feed, Kind, Records, Scope, SignalSet};
use crate::model::{CpuidIdentity, Model, Occurrence, Shared};
use counting::{Clock, Reach, Selection};
use unit::Unit;

/// The width of a counter.
const WIDTH: Width = Width::new(40);

/// How many threads a core has.
pub const THREADS_PER_CORE: u8 = 4;

/// How many threads a tile has.
pub const THREADS_PER_TILE: u8 = 8;

/// A stepping of the part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Revision {
    /// Stepping B0, the one that was sold.
    #[default]
    B0,
}

impl Revision {
    /// Every revision.
    pub const ALL: [Revision; 1] = [Revision::B0];

    /// Its name.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Revision::B0 => "B0",
        }
    }

    /// The revision of this name, whatever the case.
    #[must_use]
    pub fn from_letter(letter: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.letter().eq_ignore_ascii_case(letter))
    }

    /// What CPUID shows: Intel, family 6, model 57h, stepping 1. Leaf 0AH shows the PMU: see [`CPUID_0A`].
    #[must_use]
    pub const fn cpuid(self) -> Option<CpuidIdentity> {
        Some(CpuidIdentity { vendor: *b"GenuineIntel", signature: 0x0005_0671, monitoring: Some(CPUID_0A) })
    }

    /// Whether the part counts `entry`: every revision counts all.
    #[must_use]
    pub fn has(self, _entry: &Entry) -> bool {
        true
    }
}

/// What CPUID leaf 0AH returns in EAX, EBX, ECX and EDX: version 3, two counters of 40 bits and seven architectural events, none missing;
/// three fixed counters of 40 bits. An embedder shows leaf 1 with PDCM (ECX bit 15) set, for IA32_PERF_CAPABILITIES, and DS (EDX bit 21)
/// clear, for there is no debug store.
pub const CPUID_0A: [u32; 4] = [0x0728_0203, 0, 0, 0x0000_0503];

/// The PMU of one hardware thread.
#[derive(Clone, Debug)]
pub struct Knl {
    revision: Revision,
    selects: [PerfEvtSel; GENERAL],
    units: [Unit; COUNTERS],
    fixed_ctr_ctrl: FixedCtrCtrl,
    global_ctrl: GlobalCtrl,
    global_status: u64,
    debug_ctl: DebugCtl,
    misc_enable: MiscEnable,
    offcore: [u64; GENERAL],
    context: Context,
    /// The counters of the thread alone that count at level 0 and above it, while the clock runs, one bit each.
    admits: [u8; 2],
    /// Whether a counter is enabled that depends on the levels and clocks of other threads too.
    depends_on_others: bool,
    /// The counters whose deadlines stayed set while they were stopped at some level, one bit each: these may be nearer than they must be.
    early: u8,
    shared: Shared,
    demand: Demand,
    alerts: Alerts,
}

impl Knl {
    /// A PMU as power-on leaves it: every register zero except IA32_PERF_GLOBAL_CTRL, which lets the general counters count, at privilege
    /// level 0.
    #[must_use]
    pub fn new(revision: Revision) -> Knl {
        let mut global_ctrl = GlobalCtrl::default();
        global_ctrl.set_en_pmc0(true);
        global_ctrl.set_en_pmc1(true);
        let mut pmu = Knl {
            revision,
            selects: [PerfEvtSel::default(); GENERAL],
            units: [Unit::default(); COUNTERS],
            fixed_ctr_ctrl: FixedCtrCtrl::default(),
            global_ctrl,
            global_status: 0,
            debug_ctl: DebugCtl::default(),
            misc_enable: MiscEnable::written(MiscEnable::RESET),
            offcore: [0; GENERAL],
            context: Context::RESET,
            admits: [0; 2],
            depends_on_others: false,
            early: 0,
            shared: Shared { running: 1, ..Shared::ALONE },
            demand: Demand::default(),
            alerts: Alerts::default(),
        };
        (0..COUNTERS).for_each(|number| pmu.wire(number));
        pmu
    }

    /// The revision of the part.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The bits of the threads of this core among those of the package.
    fn core(&self) -> u32 {
        let first = self.shared.thread - self.shared.thread % THREADS_PER_CORE;
        let core = 0b1111u32.checked_shl(u32::from(first)).unwrap_or(0);
        core & u32::MAX.checked_shr(32u32.saturating_sub(u32::from(self.shared.threads))).unwrap_or(u32::MAX)
    }

    /// The clock that a counter of every thread of the core follows: for a thread alone, its own is the core's.
    fn core_clock(&self) -> Clock {
        if self.core().count_ones() > 1 { Clock::Core } else { Clock::Thread }
    }

    /// Whether the counter counts in some context.
    fn is_enabled(&self, number: usize) -> bool {
        let (enabled, os, usr) = self.enables(number);
        enabled && (os || usr)
    }

    /// Whether the counter is enabled, at level 0, and at levels above.
    fn enables(&self, number: usize) -> (bool, bool, bool) {
        let select = self.selects.get(number).copied();
        match (number, select) {
            (0, Some(select)) => (self.global_ctrl.en_pmc0() && select.en(), select.os(), select.usr()),
            (1, Some(select)) => (self.global_ctrl.en_pmc1() && select.en(), select.os(), select.usr()),
            _ => {
                let control = self.fixed_ctr_ctrl.of(number.saturating_sub(GENERAL));
                let global = match number {
                    2 => self.global_ctrl.en_fixed_ctr0(),
                    3 => self.global_ctrl.en_fixed_ctr1(),
                    _ => self.global_ctrl.en_fixed_ctr2(),
                };
                (global, control.os, control.usr)
            }
        }
    }

    /// The threads for which the counter counts at the moment, one bit each.
    fn admitted(&self, number: usize) -> u32 {
        let (enabled, os, usr) = self.enables(number);
        if !enabled {
            return 0;
        }
        let own = bit(self.shared.thread);
        match self.units.get(number).map_or(Reach::Own, |unit| unit.reach) {
            Reach::Own => {
                let level = if self.context.privilege == 0 { os } else { usr };
                if level && !self.context.halted { own } else { 0 }
            }
            reach => {
                let around = if reach == Reach::Tile { u32::MAX } else { self.core() };
                let levels = if os { !self.shared.user } else { 0 } | if usr { self.shared.user } else { 0 };
                let running = if reach.is_clocked() { self.shared.running } else { u32::MAX };
                around & levels & running
            }
        }
    }

    /// Whether overflow of the counter asks for an interrupt.
    fn interrupts(&self, number: usize) -> bool {
        match self.selects.get(number) {
            Some(select) => select.int(),
            None => self.fixed_ctr_ctrl.of(number.saturating_sub(GENERAL)).pmi,
        }
    }

    /// Every counter counts up to now. Returns those that wrapped to zero, one bit each, which must be passed to
    /// [`overflow`](Knl::overflow).
    fn fold(&mut self, feed: &impl Feed) -> u32 {
        self.fold_those(u8::MAX, feed)
    }

    /// The same for the counters of `which`, one bit each.
    fn fold_those(&mut self, which: u8, feed: &impl Feed) -> u32 {
        let mut wrapped = 0;
        for (number, unit) in self.units.iter_mut().enumerate().filter(|(number, _)| which >> number & 1 == 1) {
            if unit.is_active() {
                let grown = unit.tap.fold(feed);
                if unit.counts() && unit.grow(grown) {
                    wrapped |= 1 << number;
                    // What it has counted beyond zero came after the event at which an interrupt was due.
                    unit.late = unit.counter.value();
                }
            }
        }
        wrapped
    }

    /// Every counter counts up to now, and their overflows take effect. Returns whether one overflowed.
    fn catch_up(&mut self, feed: &impl Feed) -> bool {
        let wrapped = self.fold(feed);
        self.overflow(wrapped, feed);
        wrapped != 0
    }

    /// Handles the overflow of the counters of `wrapped`, one bit each. Every counter has counted the events of the same moment.
    fn overflow(&mut self, wrapped: u32, feed: &impl Feed) {
        if wrapped == 0 {
            return;
        }
        self.alerts.overflows |= wrapped;
        let mut asked = false;
        for number in 0..COUNTERS {
            if wrapped >> number & 1 == 1 {
                self.global_status |= status_bit(number);
                let late = self.units.get_mut(number).map_or(0, |unit| core::mem::take(&mut unit.late));
                if self.interrupts(number) {
                    asked = true;
                    self.alerts.interrupts |= 1 << number;
                    self.alerts.late = self.alerts.late.max(late);
                }
            }
        }
        if asked {
            self.freeze_on_pmi(feed);
        }
    }

    /// Updates what other threads see of the thread's context.
    fn show(&mut self) {
        let own = bit(self.shared.thread);
        let Context { halted, privilege, .. } = self.context;
        self.shared.running = if halted { self.shared.running & !own } else { self.shared.running | own };
        self.shared.user = if privilege == 0 { self.shared.user & !own } else { self.shared.user | own };
    }

    /// Stops and starts counters after an enable, a connection or the other threads have changed. Everything has been counted up to now.
    fn changed(&mut self, feed: &impl Feed) {
        self.update_admits();
        // A stopped counter may be disabled now.
        for (_, unit) in self.units.iter().enumerate().filter(|(number, _)| self.early >> number & 1 == 1) {
            unit.tap.disarm(feed);
        }
        self.early = 0;
        self.resume(feed);
    }

    /// Stops and starts counters after the context or an enable has changed. Everything has been counted up to now.
    fn resume(&mut self, feed: &impl Feed) {
        self.resume_those(u8::MAX, feed);
        self.arm(feed);
    }

    /// The same for the counters of `which`, one bit each, without new deadlines.
    fn resume_those(&mut self, which: u8, feed: &impl Feed) {
        for number in (0..COUNTERS).filter(|number| which >> number & 1 == 1) {
            let (admitted, enabled) = (self.admitted(number), self.is_enabled(number));
            let core = self.core();
            let Some(unit) = self.units.get(number) else { continue };
            let follows_edges = enabled && unit.tap.gate().is_edge() && unit.is_near();
            if (unit.admitted, unit.follows_edges) == (admitted, follows_edges) {
                continue;
            }
            let level = || self.selection(number).is_some_and(|selection| selection.level(|state| feed.supply().resting(state)));
            let level = unit.tap.gate().is_per_cycle() && level();
            let asks =
                follows_edges && self.selection(number).is_some_and(|selection| !feed.supply().of(&selection.unknown_states()).is_empty());
            self.early &= !(1 << (number & 7));
            let Some(unit) = self.units.get_mut(number) else { continue };
            let (counted, followed) = (unit.counts(), unit.follows_edges);
            unit.tap.disarm(feed);
            (unit.admitted, unit.follows_edges) = (admitted, follows_edges);
            unit.tap.set_scope(match unit.reach {
                Reach::CoreSum | Reach::Core => Scope::Members(admitted),
                Reach::CoreClock => Scope::Members(core),
                Reach::Own | Reach::Tile => Scope::Thread,
            });
            if !followed && !counted {
                unit.tap.settle(feed, level);
                if asks {
                    unit.tap.ask(Question::Began);
                }
                continue;
            }
            // Threads that are followed from now on have a past.
            unit.tap.skip(feed);
            if !counted {
                // What the open cycle has seen so far belongs to a level that is not counted.
                unit.tap.forget_open();
            }
        }
    }

    /// As [`catch_up`](Knl::catch_up), where the counters of `wrapped`, one bit each, have wrapped already.
    fn catch_up_with(&mut self, wrapped: u32, feed: &impl Feed) -> bool {
        let wrapped = wrapped | self.fold(feed);
        self.overflow(wrapped, feed);
        wrapped != 0
    }

    fn arm_one(&self, number: usize, unit: &Unit, feed: &impl Feed) {
        let remaining = self.interrupts(number).then(|| unit.counter.until_overflow(WIDTH));
        unit.tap.arm(feed, remaining);
    }

    /// The counters that have deadlines, if they wait for anything.
    fn waiting(&self) -> impl Iterator<Item = (usize, &Unit)> {
        self.units.iter().enumerate().filter(|(number, unit)| unit.is_active() || self.early >> number & 1 == 1)
    }

    /// Sets the deadlines of every counter that waits. They start from the totals at which it was last folded, so setting them again
    /// changes nothing.
    fn arm(&self, feed: &impl Feed) {
        self.waiting().for_each(|(number, unit)| self.arm_one(number, unit, feed));
    }

    /// Sets every deadline anew. A stopped counter keeps none.
    fn rearm(&mut self, feed: &impl Feed) {
        self.early = 0;
        for unit in &self.units {
            unit.tap.disarm(feed);
        }
        self.arm(feed);
    }

    fn selection(&self, number: usize) -> Option<Selection> {
        self.selects.get(number).map(|select| Selection::new(*select))
    }

    /// Connects the counter to what its control selects. Everything has been counted up to now.
    fn connect(&mut self, number: usize, feed: &impl Feed) {
        self.early &= !(1 << (number & 7));
        if let Some(unit) = self.units.get(number) {
            unit.tap.disarm(feed);
        }
        self.wire(number);
    }

    /// Connects a counter that has no deadline.
    fn wire(&mut self, number: usize) {
        let (clock, selection) = (self.core_clock(), self.selection(number));
        let any_thread = self.fixed_ctr_ctrl.of(number.saturating_sub(GENERAL)).any_thread;
        let core = self.core();
        if let Some(unit) = self.units.get_mut(number) {
            (unit.admitted, unit.follows_edges) = (0, false);
            match selection {
                Some(selection) => unit.select(&selection, clock),
                None => unit.fix(number - GENERAL, any_thread, clock),
            }
            // Even before a thread is admitted: all of them must report what it follows.
            if unit.reach.is_of_core() {
                unit.tap.set_scope(Scope::Members(core));
            }
        }
    }

    /// Connects every counter anew, because the threads of the core have changed.
    fn connect_all(&mut self, feed: &impl Feed) {
        for number in 0..COUNTERS {
            self.connect(number, feed);
        }
    }

    /// Updates what must be reported, whatever the context.
    fn update_demand(&mut self, feed: &impl Feed) {
        self.alerts.renewed = true;
        let mut levels = SignalSet::EMPTY;
        let mut per_cycle = false;
        for number in 0..COUNTERS {
            if let Some(unit) = self.units.get(number).filter(|_| self.is_enabled(number)) {
                per_cycle |= unit.tap.is_per_cycle() && unit.tap.is_supplied(feed.supply());
                if let Some(selection) = self.selection(number).filter(|_| unit.tap.is_asking()) {
                    levels = levels.union(&selection.unknown_states());
                }
            }
        }
        let records = if self.follows_requests() { Records::REQUESTS } else { Records::NONE };
        self.demand.follow(self.followed(), per_cycle, records, feed.supply());
        self.demand.ask(feed.supply().of(&levels));
    }

    fn follows_requests(&self) -> bool {
        (0..GENERAL).any(|number| self.is_enabled(number) && self.selection(number).is_some_and(|selection| selection.is_offcore()))
    }

    /// The enabled counters of a wider reach than their thread.
    fn wide_units(&self) -> impl Iterator<Item = &Unit> {
        self.units.iter().enumerate().filter(|(number, unit)| unit.reach.is_wide() && self.is_enabled(*number)).map(|(_, unit)| unit)
    }

    fn write_select(&mut self, number: usize, value: u64, feed: &impl Feed) {
        let written = PerfEvtSel::written(value);
        if let Some(select) = self.selects.get_mut(number) {
            let before = core::mem::replace(select, written);
            if unit::connection(before) != unit::connection(written) {
                self.connect(number, feed);
            }
        }
    }

    fn write_fixed_control(&mut self, value: u64, feed: &impl Feed) {
        let written = FixedCtrCtrl::written(value);
        let before = core::mem::replace(&mut self.fixed_ctr_ctrl, written);
        for number in 0..FIXED {
            if before.of(number).any_thread != written.of(number).any_thread {
                self.connect(GENERAL + number, feed);
            }
        }
    }

    fn set_counter(&mut self, number: usize, value: u64) {
        if let Some(unit) = self.units.get_mut(number) {
            unit.counter = Counter::new(value, WIDTH);
        }
    }

    /// Adds an occurrence that counter `number` counts and no signal reported. Returns its bit if it wrapped to zero.
    fn take(&mut self, number: usize, kind: Kind, amount: u64) -> u32 {
        let Some(unit) = self.units.get_mut(number) else { return 0 };
        let amount = if unit.counts_entries { 1 } else { amount };
        let grown = unit.tap.inject(kind, amount);
        if unit.grow(grown) { 1 << number } else { 0 }
    }

    /// An interrupt has been requested: freezes the counters, if that is enabled.
    fn freeze_on_pmi(&mut self, feed: &impl Feed) {
        if self.debug_ctl.freeze_perfmon_on_pmi() {
            self.global_ctrl = GlobalCtrl::default();
            self.changed(feed);
            self.update_demand(feed);
        }
    }

    /// Counts an occurrence in thread `thread` of the package, which is this one if `here`. Returns whether a counter counted it.
    fn count_occurrence(&mut self, occurrence: Occurrence, amount: u64, here: bool, thread: u8, feed: &impl Feed) -> bool {
        let mut wrapped = self.fold(feed);
        let mut taken = false;
        for number in 0..COUNTERS {
            let Some(unit) = self.units.get(number) else { continue };
            let is_observed = match unit.reach {
                Reach::Own => here,
                _ => true,
            };
            if amount == 0 || !is_observed || unit.admitted & bit(thread) == 0 {
                continue;
            }
            let kind = match self.selection(number) {
                Some(selection) => selection.admits(occurrence),
                None => unit::fixed_admits(number - GENERAL, occurrence),
            };
            if let Some(kind) = kind {
                taken = true;
                wrapped |= self.take(number, kind, amount);
            }
        }
        // All of it is one event: what one counter's overflow freezes, another has counted.
        self.overflow(wrapped, feed);
        self.rearm(feed);
        taken
    }
}

/// IA32_PERF_GLOBAL_STATUS, bit 61: Ovf_Uncore.
const UNTILE_STATUS: u64 = 1 << 61;

/// Among the alerts' interrupts, the bit of one that the untile asks for: the number after those of the thread's counters.
pub const UNTILE_INTERRUPT: u32 = 1 << COUNTERS;

/// The bit of a thread among those of its package.
fn bit(thread: u8) -> u32 {
    1u32.checked_shl(u32::from(thread)).unwrap_or(0)
}

/// The bit of counter `number` in IA32_PERF_GLOBAL_STATUS and similar registers.
const fn status_bit(number: usize) -> u64 {
    if number < GENERAL { 1 << number } else { 1 << ((30 + number) & 63) }
}
