//! The PMU of one hardware thread of a dual-core Itanium 2 ("Montecito"): twelve counters, event-address registers, a trace buffer.
//!
//! From the Montecito Reference Manual for Software Development and Optimization, chapters 3 and 4; what it leaves open follows the
//! Itanium Architecture Software Developer's Manual and what operating systems' drivers rely on, as `docs/src/decisions` records.
//!
//! - A counter is 47 bits and is read with its bit 46 copied to the bits above. The carry out of bit 46 sets its bit in PMC0; with oi it
//!   freezes every monitor of the thread and asks for one interrupt, of the vector in PMV.
//! - A monitor counts while PMC0.fr is 0, its plm has the privilege level, and PSR.up or, of a privileged monitor, PSR.pp is 1.
//! - Two threads take turns in a core: PMC/PMD4-9 count events of a thread in the background too, PMC/PMD10-15 are stopped then.
//! - Address ranges, opcodes and data ranges tag instructions; most events can be counted for tagged ones only.
//! - Misses of fetches and data are captured with their address and latency (PMD32-36), changes of the flow of instructions or retired
//!   instruction pointers in a buffer of sixteen entries (PMD38, 39, 48-63). All that is valid while PMC0.fr is 1.
//!
//! ```
//! use vm_pmu_arch::access::Address;
//! use vm_pmu_arch::feed::{Context, Lone, Signal};
//! use vm_pmu_arch::ia64::Psr;
//! use vm_pmu_arch::model::Model;
//! use vm_pmu_arch::montecito::{Montecito, Pmc, Revision};
//!
//! let thread = Lone::new();
//! let mut pmu = Montecito::new(Revision::C2);
//! let mut psr = Psr::default();
//! psr.set_up(true);
//! pmu.set_context(Context::ia64(psr.bits(), 0), &thread);
//! // PMC4 counts retired instructions (08h) at level 0 up to an interrupt after three.
//! let mut pmc = Pmc::default();
//! pmc.set_plm(0b0001);
//! pmc.set_oi(true);
//! pmc.set_es(0x08);
//! pmc.set_ism(0b10);
//! pmu.write(Address::Pmd(4), (1 << 47) - 3, &thread).unwrap();
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
mod made;
mod registers;
mod retired;
mod state;
mod tagging;
#[cfg(test)]
mod tests;
mod trace;

pub use data_capture::Tracker;
pub use file::{Captures, Configuration};
pub use registers::{
    COUNTERS, ENTRIES, OpcodeMatch, Pmc, Pmc0, Pmc32, Pmc34, Pmc36, Pmc37, Pmc38, Pmc39, Pmc40, Pmc41, Pmc42, Pmd, Pmd32, Pmd33, Pmd34,
    Pmd35, Pmd36, Pmd38, RetiredEntry, TraceEntry,
};
pub use retired::{Phase, Retirement};
pub use state::State;
pub use tagging::Tags;

use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::counter::Width;
use crate::event::{self, Catalogue, Entry, Internal};
use crate::feed::{Context, Demand, Feed, Record, Records, Scope, Signal, SignalSet, Supply};
use crate::ia64::{Breakpoints, Counters, FIRST, Last, Overflow, PerfMonInfo, Register, Setting, decode};
use crate::model::{
    CpuidIdentity, LazyContexts, Model, Occurrence, PackageScope, Pins, RegisterDescription, Reset, Shape, Shared, SharedState, Tagging,
};
use made::Made;
use tagging::Tagger;

/// The width of a counter: its carry leaves bit 46.
const WIDTH: Width = Width::new(47);

/// What PAL_PERF_MON_INFO returns.
///
/// Table 3-34 of the manual prints what the Itanium 2 before it returned (four pairs, 48 bits); this is what the part has.
pub const PERF_MON_INFO: PerfMonInfo = PerfMonInfo {
    retired: 0x08,
    cycles: 0x12,
    width: WIDTH.bits(),
    generic_pairs: COUNTERS as u8,
    pmc_mask: [0x0000_07FF_0000_FFFF, 0, 0, 0],
    pmd_mask: [0xFFFF_00DF_0000_FFF0, 0, 0, 0],
    cycles_mask: [0xFFF0, 0, 0, 0],
    retired_mask: [0xFFF0, 0, 0, 0],
};

/// A revision of the part. The manual describes one PMU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Revision {
    /// Stepping C2, which was sold.
    #[default]
    C2,
}

impl Revision {
    /// Every revision.
    pub const ALL: [Revision; 1] = [Revision::C2];

    /// Its name.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Revision::C2 => "C2",
        }
    }

    /// The revision of this name, whatever the case.
    #[must_use]
    pub fn from_letter(letter: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.letter().eq_ignore_ascii_case(letter))
    }

    /// No x86: none. IA-64 software reads family 20h in the processor's own CPUID registers.
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

/// The PMU of one hardware thread.
#[derive(Clone, Debug)]
pub struct Montecito {
    revision: Revision,
    configuration: Configuration,
    breakpoints: Breakpoints,
    counters: Counters<COUNTERS>,
    captures: Captures,
    tracker: Tracker,
    last: Last,
    retirement: Retirement,
    /// The tags of the last instruction while records of all are wanted: what is injected belongs to it.
    tags: Tags,
    /// The events of the last record, or of the last change of the context, that counters of the other thread may count.
    made: Made,
    context: Context,
    shared: Shared,
    /// A capture needs the time.
    timed: bool,
    /// The total of cycles up to which captures have advanced.
    seen: u64,
    demand: Demand,
}

impl Montecito {
    /// A PMU as a reset leaves it: nothing is enabled and nothing frozen, at privilege level 0.
    #[must_use]
    pub fn new(revision: Revision) -> Montecito {
        Montecito {
            revision,
            configuration: Configuration::reset(),
            breakpoints: Breakpoints::default(),
            counters: Counters::new(WIDTH),
            captures: Captures::default(),
            tracker: Tracker::default(),
            last: Last::Nothing,
            retirement: Retirement::default(),
            tags: Tags::default(),
            made: Made::default(),
            context: Context::RESET,
            shared: Shared { running: 1, ..Shared::ALONE },
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

    fn is_frozen(&self) -> bool {
        self.counters.overflow.is_frozen()
    }

    fn tagger(&self) -> Tagger<'_> {
        Tagger { configuration: &self.configuration, breakpoints: &self.breakpoints }
    }

    /// Whether no other thread of the core runs.
    fn is_alone(&self) -> bool {
        self.shared.running & !own_bit(self.shared) == 0
    }

    /// Counts and captures up to now. Returns whether that froze everything.
    fn catch_up(&mut self, feed: &impl Feed) -> bool {
        self.advance(feed);
        let froze = self.counters.count(feed);
        if froze {
            self.freeze(feed);
        }
        froze
    }

    /// Acts on a freeze of monitoring.
    fn freeze(&mut self, feed: &impl Feed) {
        self.retirement.freeze(self.configuration.pmc42.delay(), &mut self.captures);
        self.update_demand(feed);
    }

    /// Whether no other thread of the core constrains anything.
    fn others_are_open(&self) -> bool {
        self.shared.user & !own_bit(self.shared) == 0
    }

    /// `shared` with the thread's own part, from its registers and its context.
    fn with_own(&self, shared: Shared) -> Shared {
        let own = own_bit(shared);
        let marked = |bits: u32, mark: bool| if mark { bits | own } else { bits & !own };
        let constrains = !self.tagger().is_all_open();
        Shared { running: marked(shared.running, !self.context.halted), user: marked(shared.user, constrains), ..shared }
    }

    /// The tags of what is injected.
    fn injected(&self) -> Tags {
        self.tags.or(self.tagger().open())
    }

    /// Connects every counter to what its register selects, as far as that has changed.
    fn connect(&mut self, feed: &impl Feed) {
        self.shared = self.with_own(self.shared);
        let (alone, others) = (self.is_alone(), self.others_are_open());
        for number in (FIRST..).take(COUNTERS) {
            let pmc = self.configuration.counter(number);
            let selected = choice::selected(&self.configuration, number);
            // Events of another thread are constrained by that thread's registers.
            let elsewhere = others || !selected.counts_all() || selected.qualifier.is_free();
            let open = elsewhere && self.tagger().leaves_all(selected.qualifier);
            let setting = Setting { monitor: choice::monitor(pmc), oi: pmc.oi(), ev: pmc.ev(), selected, open };
            self.counters.set(number, setting, alone, feed);
        }
    }

    /// Updates what counts, what captures and the deadlines, after a register, the context or what threads share has changed.
    fn changed(&mut self, feed: &impl Feed) {
        self.counters.resume(&self.context, feed);
        self.follow_retirement();
        self.update_demand(feed);
        self.begin_time(feed);
        self.rearm(feed);
    }

    /// Sets every deadline anew.
    fn rearm(&self, feed: &impl Feed) {
        feed.disarm(Signal::Cycles, Scope::Thread);
        self.counters.rearm(feed);
        if let Phase::Delayed(left) = self.retirement.phase {
            feed.arm(Signal::Cycles, Scope::Thread, self.seen, left);
        }
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
        } else if self.retirement.is_on() {
            signals.insert(Signal::Cycles);
            records = Records::EVERY;
        }
        (signals, per_cycle, records)
    }

    fn update_demand(&mut self, feed: &impl Feed) {
        self.counters.alerts.renewed = true;
        let (signals, per_cycle, records) = self.wanted(feed.supply());
        self.demand.follow(signals, per_cycle, records, feed.supply());
    }

    fn write_pmc(&mut self, number: u8, value: u64, feed: &impl Feed) {
        match number {
            0 => {
                let was_frozen = self.is_frozen();
                self.counters.overflow = Overflow::written(value, Counters::<COUNTERS>::overflow_bits());
                if was_frozen && !self.is_frozen() {
                    self.thaw();
                }
            }
            _ => {
                self.configuration.write(number, value);
                // An early freeze is by PSR or a switch of threads, not by a write (Table 3-33).
                if !self.captures_retirement(&self.context) {
                    self.retirement.stop();
                }
                if number == 40 && !self.follows_loads() {
                    // Nobody tells how long it stays off, so the load that it followed may have ended.
                    self.tracker.release();
                }
                if matches!(number, 39 | 42) {
                    // While nothing is captured, branches need not be reported.
                    self.last = Last::Nothing;
                }
                self.connect(feed);
            }
        }
    }

    fn write_pmd(&mut self, number: u8, value: u64) {
        match number {
            4..=15 => self.counters.set_count(usize::from(number), value),
            _ => {
                self.captures.write(number, value);
                if matches!(number, 38..=39 | 48..=63) {
                    self.last = Last::Nothing;
                }
            }
        }
    }
}

/// The bit of a thread among those of its core that run.
fn own_bit(shared: Shared) -> u32 {
    1u32.checked_shl(u32::from(shared.thread)).unwrap_or(0)
}

impl Model for Montecito {
    const SHAPE: Shape = Shape { package_threads: Some(&[1, 2]), core_threads: 2, package_cores: Some(1), usual: (2, 2), ..Shape::ANY };

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
        self.made = Made::change_of_level(self.context.privilege, context.privilege);
        let levels = self.made.levels;
        let moves = levels != 0 && self.counters.wants(|internal| matches!(internal, Internal::PrivilegeChange(_)));
        let same = !moves
            && self.counters.admitted(&context) == self.counters.counting()
            && self.captures_retirement(&context) == self.captures_retirement(&self.context)
            && context.halted == self.context.halted;
        if same {
            self.context = context;
            return;
        }
        // Everything up to now belongs to the old state.
        self.catch_up(feed);
        if levels != 0 {
            self.counters.change_privilege(levels);
            if self.counters.count_if_asked(feed) {
                self.freeze(feed);
            }
        }
        self.context = context;
        self.shared = self.with_own(self.shared);
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
        let tags = self.injected();
        let occurrence = Occurrence { select: event::MONTECITO.encodings.first_select(occurrence.select), ..occurrence };
        let taken = self.counters.inject(occurrence, amount, |qualifier| tags.admit(qualifier));
        if self.counters.count_if_asked(feed) {
            self.freeze(feed);
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
        feed.disarm(Signal::Cycles, Scope::Thread);
        let kept = (self.demand, Shared { running: self.shared.running | own_bit(self.shared), ..self.shared });
        let watched = self.counters.watched();
        *self = Montecito::new(self.revision);
        self.counters.watch(watched);
        (self.demand, self.shared) = kept;
        self.connect(feed);
        self.changed(feed);
    }

    fn catalogue(&self) -> &'static Catalogue {
        &event::MONTECITO
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        registers::REGISTERS
    }
}

impl LazyContexts for Montecito {
    fn change_quietly(&mut self, context: &Context, _observed: bool, _feed: &impl Feed) -> bool {
        // A change of level is an event, which others may count.
        let same = context.privilege == self.context.privilege
            && context.halted == self.context.halted
            && self.counters.admitted(context) == self.counters.counting()
            && self.captures_retirement(context) == self.captures_retirement(&self.context);
        if same {
            self.context = *context;
        }
        same
    }
}

impl PackageScope for Montecito {
    fn package_demand(&self) -> SignalSet {
        self.counters.wide_demand()
    }

    fn observes_siblings(&self) -> bool {
        self.counters.any_counts_beyond()
    }

    fn inject_from_sibling(&mut self, occurrence: Occurrence, amount: u64, tags: u64, feed: &impl Feed) -> bool {
        if amount == 0 {
            return false;
        }
        self.catch_up(feed);
        let tags = Tags::from_word(tags);
        let occurrence = Occurrence { select: event::MONTECITO.encodings.first_select(occurrence.select), ..occurrence };
        let taken = self.counters.inject_from_sibling(occurrence, amount, |qualifier| tags.admit(qualifier));
        if self.counters.count_if_asked(feed) {
            self.freeze(feed);
        }
        self.rearm(feed);
        taken
    }

    fn injection_tags(&self) -> u64 {
        self.injected().to_word()
    }
}

impl Tagging for Montecito {
    fn wants_package_records(&self) -> bool {
        self.counters.any_observes_others()
    }

    fn tag(&mut self, record: &Record) -> u64 {
        self.tags = self.tagger().tags(record, &self.context);
        self.tags.to_word()
    }

    fn take_effects(&mut self) -> u64 {
        core::mem::take(&mut self.made).to_word()
    }

    fn notify(&mut self, tags: Option<u64>, made: u64, feed: &impl Feed) {
        match tags.map(Tags::from_word) {
            Some(tags) => {
                self.advance(feed);
                self.counters.judge_other(|qualifier| tags.admit(qualifier), feed);
            }
            None => {
                // Everything up to now came before the change.
                self.catch_up(feed);
                self.rearm(feed);
            }
        }
        let made = Made::from_word(made);
        self.counters.occur_elsewhere(|internal| made.amount(internal));
        if self.counters.count_if_asked(feed) {
            self.freeze(feed);
            self.rearm(feed);
        }
    }
}

impl SharedState for Montecito {
    fn shared(&self) -> Shared {
        self.shared
    }

    fn set_shared(&mut self, shared: Shared, feed: &impl Feed) {
        self.catch_up(feed);
        self.shared = self.with_own(Shared { register: 0, ..shared });
        self.connect(feed);
        self.changed(feed);
    }
}

impl Pins for Montecito {
    fn watch_pins(&mut self, pins: u32, feed: &impl Feed) {
        self.counters.watch(pins);
        self.rearm(feed);
    }

    fn pin_toggles(&mut self, pin: u32, feed: &impl Feed) -> u64 {
        self.service(feed);
        usize::try_from(pin).map_or(0, |number| self.counters.shown(number))
    }
}
