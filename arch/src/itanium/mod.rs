//! The PMU of the first Itanium ("Merced"): four counters, event-address registers, a branch trace buffer.
//!
//! From the Intel Itanium Processor Reference Manual for Software Development, chapter 6. Only a part of that is available; the rest
//! follows the Itanium Architecture Software Developer's Manual and what operating systems' drivers rely on, as `docs/src/decisions`
//! records.
//!
//! - A counter is 32 bits and is read with its bit 31 copied to the bits above. The carry out of bit 31 sets its bit in PMC0; with oi it
//!   freezes every monitor and asks for one interrupt, of the vector in PMV.
//! - A monitor counts while PMC0.fr is 0, its plm has the privilege level, its ism admits the instruction set that is executed, and
//!   PSR.up or, of a privileged monitor, PSR.pp is 1.
//! - Events that come more than three times a cycle are counted by PMC/PMD4 and 5 only.
//! - Four address ranges together, two opcode matchers and four data ranges together tag instructions; most events can be counted for
//!   tagged ones only. A debugger that uses the breakpoint registers turns the ranges off.
//! - Misses of fetches and data are captured with their address and latency (PMD0-3, 17), branches in a buffer of eight entries
//!   (PMD8-16). All that is valid while PMC0.fr is 1.
//!
//! ```
//! use vm_pmu_arch::access::Address;
//! use vm_pmu_arch::feed::{Context, Lone, Signal};
//! use vm_pmu_arch::ia64::Psr;
//! use vm_pmu_arch::itanium::{Itanium, Pmc, Revision};
//! use vm_pmu_arch::model::Model;
//!
//! let thread = Lone::new();
//! let mut pmu = Itanium::new(Revision::C0);
//! let mut psr = Psr::default();
//! psr.set_up(true);
//! pmu.set_context(Context::ia64(psr.bits(), 0), &thread);
//! // PMC4 counts retired instructions (08h) at level 0 up to an interrupt after three.
//! let mut pmc = Pmc::default();
//! pmc.set_plm(0b0001);
//! pmc.set_oi(true);
//! pmc.set_es(0x08);
//! pmu.write(Address::Pmd(4), (1 << 32) - 3, &thread).unwrap();
//! pmu.write(Address::Pmc(4), pmc.bits(), &thread).unwrap();
//! for _ in 0..3 {
//!     thread.totals.add(Signal::InstructionsRetired, 1);
//!     if thread.deadlines.reached(Signal::InstructionsRetired, &thread.totals) {
//!         pmu.service(&thread);
//!     }
//! }
//! assert_eq!(pmu.take_alerts().interrupts, 1 << 4);
//! // PMD4 has overflowed, and everything is frozen.
//! assert_eq!(pmu.read(Address::Pmc(0), &thread), Ok(0x11));
//! ```

mod access;
mod capturing;
mod choice;
mod data_capture;
mod fetch_capture;
mod file;
mod registers;
mod state;
mod tagging;
#[cfg(test)]
mod tests;
mod trace;

pub use file::{Captures, Configuration};
pub use registers::{
    COUNTERS, ENTRIES, NarrowPmc, OpcodeMatcher, Pmc, Pmc0, Pmc10, Pmc11, Pmc12, Pmc13, Pmd, Pmd0, Pmd1, Pmd2, Pmd3, Pmd16, Pmd17,
    TraceEntry,
};
pub use state::State;
pub use tagging::Tags;

use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::counter::Width;
use crate::event::{self, Catalogue, Entry, Internal};
use crate::feed::{Context, Demand, Feed, Record, Records, SignalSet, Supply};
use crate::ia64::{Breakpoints, Counters, FIRST, Last, LoadTracker, Overflow, PerfMonInfo, Register, Setting, decode};
use crate::model::{CpuidIdentity, LazyContexts, Model, Occurrence, PackageScope, Pins, RegisterDescription, Reset, Shape};
use tagging::Tagger;

/// The width of a counter: its carry leaves bit 31.
const WIDTH: Width = Width::new(32);

/// What PAL_PERF_MON_INFO returns.
///
/// Firmware of the time named PMC4 alone for retired instructions, which Linux corrects. Both counters that can count them are named here.
pub const PERF_MON_INFO: PerfMonInfo = PerfMonInfo {
    retired: 0x08,
    cycles: 0x12,
    width: WIDTH.bits(),
    generic_pairs: COUNTERS as u8,
    pmc_mask: [0x3FFF, 0, 0, 0],
    pmd_mask: [0x3_FFFF, 0, 0, 0],
    cycles_mask: [0xF0, 0, 0, 0],
    retired_mask: [0x30, 0, 0, 0],
};

/// A revision of the part. The manual describes one PMU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Revision {
    /// Stepping C0, which was sold.
    #[default]
    C0,
}

impl Revision {
    /// Every revision.
    pub const ALL: [Revision; 1] = [Revision::C0];

    /// Its name.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Revision::C0 => "C0",
        }
    }

    /// The revision of this name, whatever the case.
    #[must_use]
    pub fn from_letter(letter: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.letter().eq_ignore_ascii_case(letter))
    }

    /// No x86: none. IA-64 software reads family 7 in the processor's own CPUID registers.
    #[must_use]
    pub const fn cpuid(self) -> Option<CpuidIdentity> {
        None
    }

    /// Whether the part counts `entry`: every revision counts all.
    #[must_use]
    pub fn has(self, _entry: &Entry) -> bool {
        true
    }
}

/// The PMU of a processor, which has one hardware thread.
#[derive(Clone, Debug)]
pub struct Itanium {
    revision: Revision,
    configuration: Configuration,
    breakpoints: Breakpoints,
    counters: Counters<COUNTERS>,
    captures: Captures,
    tracker: LoadTracker,
    last: Last,
    /// The tags of the last instruction while records of all are wanted: what is injected belongs to it.
    tags: Tags,
    context: Context,
    /// Loads are followed, which needs the time.
    timed: bool,
    /// The total of cycles up to which captures have advanced.
    seen: u64,
    demand: Demand,
}

impl Itanium {
    /// A PMU as a reset leaves it: nothing is enabled and nothing frozen, at privilege level 0.
    #[must_use]
    pub fn new(revision: Revision) -> Itanium {
        Itanium {
            revision,
            configuration: Configuration::reset(),
            breakpoints: Breakpoints::default(),
            counters: Counters::new(WIDTH),
            captures: Captures::default(),
            tracker: LoadTracker::default(),
            last: Last::Nothing,
            tags: Tags::default(),
            context: Context::RESET,
            timed: false,
            seen: 0,
            demand: Demand::default(),
        }
    }

    /// The revision of the part.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether a change to `context` changes the privilege level and a counter counts that.
    fn moves(&self, context: &Context) -> bool {
        context.privilege != self.context.privilege && self.counters.wants(|internal| matches!(internal, Internal::PrivilegeChange(_)))
    }

    fn is_frozen(&self) -> bool {
        self.counters.overflow.is_frozen()
    }

    fn tagger(&self) -> Tagger<'_> {
        Tagger { configuration: &self.configuration, breakpoints: &self.breakpoints }
    }

    /// Counts up to now.
    fn catch_up(&mut self, feed: &impl Feed) {
        self.advance(feed);
        if self.counters.count(feed) {
            self.update_demand(feed);
        }
    }

    /// Connects every counter to what its register selects, as far as that has changed.
    fn connect(&mut self, feed: &impl Feed) {
        for number in (FIRST..).take(COUNTERS) {
            let pmc = self.configuration.counter(number);
            let selected = choice::selected(&self.configuration, number);
            let open = self.tagger().leaves_all(selected.qualifier);
            let setting = Setting { monitor: choice::monitor(pmc), oi: pmc.oi(), ev: pmc.ev(), selected, open };
            self.counters.set(number, setting, true, feed);
        }
    }

    /// Updates what counts, the demand and the deadlines, after a register or the context has changed.
    fn changed(&mut self, feed: &impl Feed) {
        self.counters.resume(&self.context, feed);
        self.update_demand(feed);
        self.begin_time(feed);
        self.rearm(feed);
    }

    /// Sets every deadline anew.
    fn rearm(&self, feed: &impl Feed) {
        self.counters.rearm(feed);
    }

    /// What must be reported, whatever the context, as long as nothing is frozen.
    fn wanted(&self, supply: &Supply) -> (SignalSet, bool, Records) {
        let mut signals = SignalSet::EMPTY;
        let mut records = Records::NONE;
        let mut per_cycle = false;
        if !self.is_frozen() {
            let every;
            (per_cycle, every) = self.counters.demand(&mut signals, supply);
            records = self.demand_of_captures(&mut signals);
            if every {
                records = records.with(Records::EVERY);
            }
        }
        (signals, per_cycle, records)
    }

    fn update_demand(&mut self, feed: &impl Feed) {
        self.counters.alerts.renewed = true;
        let (signals, per_cycle, records) = self.wanted(feed.supply());
        self.demand.follow(signals, per_cycle, records, feed.supply());
    }

    fn write_pmc(&mut self, number: u8, value: u64, feed: &impl Feed) {
        if number != 0 {
            self.configuration.write(number, value);
            if number == 11 && !self.follows_loads() {
                // Nobody tells how long it stays off, so the load that it followed may have ended.
                self.tracker.release();
            }
            if number == 12 {
                // While nothing is captured, branches need not be reported.
                self.last = Last::Nothing;
            }
            self.connect(feed);
            return;
        }
        let was_frozen = self.is_frozen();
        self.counters.overflow = Overflow::written(value, Counters::<COUNTERS>::overflow_bits());
        if was_frozen && !self.is_frozen() {
            // What was traced and followed before a freeze does not affect what follows.
            self.last = Last::Nothing;
            self.tracker.release();
        }
        self.raise_again();
    }

    /// PMC0 was written: a frozen state with overflows, as a switch of contexts restores it, asks for its interrupt once more. Linux
    /// relies on that on this part alone.
    fn raise_again(&mut self) {
        let overflowed = (self.counters.overflow.bits() & Counters::<COUNTERS>::overflow_bits()) as u32;
        if self.is_frozen() {
            self.counters.alerts.interrupts |= overflowed & overflowed.wrapping_neg();
        }
    }

    fn write_pmd(&mut self, number: u8, value: u64) {
        match number {
            4..=7 => self.counters.set_count(usize::from(number), value),
            _ => {
                self.captures.write(number, value);
                if matches!(number, 8..=16) {
                    self.last = Last::Nothing;
                }
            }
        }
    }
}

impl Model for Itanium {
    const SHAPE: Shape = Shape { package_threads: Some(&[1]), package_cores: Some(1), usual: (2, 1), ..Shape::ANY };

    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault> {
        let register = decode(address, false, &self.context)?;
        if let Register::Breakpoint(address) = register {
            return self.breakpoints.register(address, &self.context).unwrap_or(Err(Fault::Unclaimed)).copied();
        }
        self.service(feed);
        Ok(match register {
            Register::Pmc(0) => self.counters.overflow.bits(),
            Register::Pmc(number) => self.configuration.read(number),
            Register::Pmd(number) => self.visible_data(number),
            Register::Breakpoint(_) => 0,
        })
    }

    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault> {
        match decode(address, true, &self.context)? {
            Register::Breakpoint(address) => {
                let register = self.breakpoints.register(address, &self.context).unwrap_or(Err(Fault::Unclaimed))?;
                *register = Breakpoints::written(address, value);
            }
            Register::Pmc(number) => {
                self.catch_up(feed);
                self.write_pmc(number, value, feed);
                self.changed(feed);
            }
            Register::Pmd(number) => {
                self.catch_up(feed);
                self.write_pmd(number, value);
                self.changed(feed);
            }
        }
        Ok(())
    }

    fn service(&mut self, feed: &impl Feed) {
        self.catch_up(feed);
        self.rearm(feed);
    }

    fn set_context(&mut self, context: Context, feed: &impl Feed) {
        if self.change_quietly(&context, true, feed) {
            return;
        }
        let moves = self.moves(&context);
        // Everything up to now belongs to the old state.
        self.catch_up(feed);
        if moves {
            self.counters.change_privilege(1 << (self.context.privilege & 3) | 1 << (context.privilege & 3));
            self.counters.count_if_asked(feed);
        }
        self.context = context;
        self.changed(feed);
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        if amount == 0 {
            return false;
        }
        self.catch_up(feed);
        let tags = self.tags;
        let occurrence = Occurrence { select: event::ITANIUM.encodings.first_select(occurrence.select), ..occurrence };
        let taken = self.counters.inject(occurrence, amount, |qualifier| tags.admit(qualifier));
        if self.counters.count_if_asked(feed) {
            self.update_demand(feed);
        }
        self.rearm(feed);
        taken
    }

    fn record(&mut self, record: &Record, feed: &impl Feed) {
        if self.take_record(record, feed) {
            self.rearm(feed);
        }
    }

    fn demand(&self) -> &Demand {
        &self.demand
    }

    fn followed(&self) -> SignalSet {
        self.wanted(&Supply::ALL).0
    }

    fn succeed_demand(&mut self, before: &Demand) {
        self.demand.succeed(before);
    }

    fn take_alerts(&mut self) -> Alerts {
        core::mem::take(&mut self.counters.alerts)
    }

    fn reset(&mut self, _reset: Reset, feed: &impl Feed) {
        self.service(feed);
        self.counters.disarm(feed);
        let demand = self.demand;
        let watched = self.counters.watched();
        *self = Itanium::new(self.revision);
        self.counters.watch(watched);
        self.demand = demand;
        self.connect(feed);
        self.changed(feed);
    }

    fn catalogue(&self) -> &'static Catalogue {
        &event::ITANIUM
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        registers::REGISTERS
    }
}

impl LazyContexts for Itanium {
    fn change_quietly(&mut self, context: &Context, _observed: bool, _feed: &impl Feed) -> bool {
        let same = !self.moves(context) && self.counters.admitted(context) == self.counters.counting();
        if same {
            self.context = *context;
        }
        same
    }
}

impl PackageScope for Itanium {
    fn package_demand(&self) -> SignalSet {
        self.counters.wide_demand()
    }
}

impl Pins for Itanium {
    fn watch_pins(&mut self, pins: u32, feed: &impl Feed) {
        self.counters.watch(pins);
        self.rearm(feed);
    }

    fn pin_toggles(&mut self, pin: u32, feed: &impl Feed) -> u64 {
        self.service(feed);
        usize::try_from(pin).map_or(0, |number| self.counters.shown(number))
    }
}
