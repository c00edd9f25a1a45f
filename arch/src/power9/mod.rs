//! The PMU of one thread of a POWER9 core: six counters, five control registers, sampling, a threshold counter, a branch history.
//!
//! From the POWER9 Performance Monitor Unit User's Guide 1.2, chapters 1 to 5 and appendix A; what it leaves open follows the Power ISA
//! and what operating systems' drivers rely on, as `docs/src/decisions` records.
//!
//! - A counter is 32 bits and never saturates. While its bit 0 is 1 it is *negative*, which is a condition that stays, not an event.
//! - A negative counter with its condition enabled (PMC1CE, PMCjCE), or the chosen bit of the time base turning to 1 (TBEE), freezes
//!   every counter with FCECE, releases PMC2-6 with TRIGGER, and with PMAE is an *alert*: PMAE turns 0, PMAO 1, and the sampling
//!   registers keep what they have.
//! - PMAO asks for a performance monitor interrupt, or with EBE for an event-based branch, until software clears it:
//!   [`Lines`] has both levels.
//! - PMC5 counts run instructions, PMC6 run cycles; PMC1-4 what MMCR1 selects.
//! - The threads of a core share MMCRC and see each other's run latches.
//!
//! ```
//! use vm_pmu_arch::access::Address;
//! use vm_pmu_arch::feed::{Lone, Signal};
//! use vm_pmu_arch::model::Model;
//! use vm_pmu_arch::power9::{Power9, Revision, spr};
//!
//! let thread = Lone::new();
//! let mut pmu = Power9::new(Revision::Dd23);
//! // PMC2 counts completed instructions (02h) up to an interrupt after three: 80000000h is negative.
//! pmu.write(Address::Spr(spr::MMCR1), 0x02 << 16, &thread).unwrap();
//! pmu.write(Address::Spr(788), 0x8000_0000 - 3, &thread).unwrap();
//! // PMAE, FCECE, PMCjCE; FC clear.
//! pmu.write(Address::Spr(spr::MMCR0), 0x0600_4000, &thread).unwrap();
//! for _ in 0..3 {
//!     thread.totals.add(Signal::InstructionsRetired, 1);
//!     if thread.deadlines.reached(Signal::InstructionsRetired, &thread.totals) {
//!         pmu.service(&thread);
//!     }
//! }
//! assert!(pmu.take_alerts().lines.is_some_and(|lines| lines.interrupt));
//! // FC, FCECE, PMCjCE and PMAO: an alert has occurred and everything is frozen.
//! assert_eq!(pmu.read(Address::Spr(spr::MMCR0), &thread), Ok(0x8200_4080));
//! ```

mod access;
mod alerting;
pub mod collection;
mod counting;
pub mod encode;
mod freezing;
mod history;
mod marked;
pub mod nest;
mod nested;
mod pausing;
mod plain;
mod registers;
mod sampled;
mod sampling;
mod selection;
mod sier;
mod state;
mod threshold;
mod time_base;

pub use access::{Bits, Register};
pub use history::History;
pub use registers::{Bescr, COUNTERS, CounterFreezes, Ldbar, Mmcr0, Mmcr1, Mmcr2, Mmcra, Mmcrc, Msr, Pmc, Sier, ThreadControl, spr};
pub use sampling::{Machine, Sampler};
pub use state::State;
pub use threshold::ThresholdCounter;

use crate::access::{Address, Fault};
use crate::alert::{Alerts, Lines};
use crate::counter::{Probe, Tap};
use crate::event::{self, Catalogue, Entry};
use crate::feed::{Context, Demand, Feed, Record, Scope, Signal, SignalSet};
use crate::model::{
    CpuidIdentity, InstructionMatching, LazyContexts, Levels, Model, Occurrence, RegisterDescription, Reset, Shape, Shared, SharedState,
};
use counting::{Mask, PROGRAMMABLE, bit};
use pausing::Pause;
use plain::Ways;
use sampled::Present;
use selection::Selected;

/// A revision of the part. The guide describes one PMU; revisions differ in what drivers avoid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Revision {
    /// Design 2.3, on which the events work that drivers avoid on earlier ones.
    #[default]
    Dd23,
}

impl Revision {
    /// Every revision.
    pub const ALL: [Revision; 1] = [Revision::Dd23];

    /// Its number.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Revision::Dd23 => "2.3",
        }
    }

    /// The revision of this number.
    #[must_use]
    pub fn from_letter(letter: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.letter() == letter)
    }

    /// No x86: none.
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

/// A counter and what it counts.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    value: u32,
    selected: Selected,
    /// The bits of the event bus whose conditions held when the tap was connected.
    lanes: u8,
    tap: Tap,
}

/// The PMU of one thread.
#[derive(Clone, Debug)]
pub struct Power9 {
    revision: Revision,
    units: [Unit; COUNTERS],
    mmcr0: Mmcr0,
    mmcr1: Mmcr1,
    mmcr2: Mmcr2,
    mmcra: Mmcra,
    sier: Sier,
    siar: u64,
    sdar: u64,
    bescr: Bescr,
    imc: u64,
    ldbar: Ldbar,
    context: Context,
    /// MMCRC, and what is known of the core's other threads.
    shared: Shared,
    ways: Ways,
    /// The counters that count in the present state.
    counting: Mask,
    /// The counters whose detectors follow falling edges, also while the thread's state freezes them.
    following: Mask,
    /// The counters whose deadlines may be too early: a change of state that stops a counter leaves its deadlines set, and when it
    /// continues they are nearer than they must be. Other stopped counters have no deadlines.
    early: Mask,
    /// All counters are frozen, and their demand is kept for a while.
    pause: Option<Pause>,
    /// The counters that counted in some state since a register was written.
    counted: Mask,
    /// The counters of PMC1-4 that are stopped until the cycle after a write of MMCR1 is over.
    suspended: Mask,
    /// The total of cycles at that write.
    suspended_at: u64,
    /// The enabled conditions that released the trigger and have held since: they do not freeze.
    excused: Mask,
    /// The counters that were negative on the way, in what has been counted and not yet judged.
    passed: Mask,
    /// The total of time-base ticks last read.
    ticks_seen: u64,
    sampler: Sampler,
    threshold: ThresholdCounter,
    history: History,
    /// The occurrences among which random sampling chooses.
    eligible: Tap,
    /// What the threshold counter counts, if that is run cycles or run instructions.
    ticks: Probe,
    /// The occurrences whose data addresses continuous sampling keeps.
    addresses: Probe,
    /// The data address that continuous sampling saw last.
    last_data: Option<u64>,
    /// The last instruction whose record came, until the thread does something else.
    present: Option<Present>,
    /// The sampled instruction is being counted.
    sampling: bool,
    demand: Demand,
    alerts: Alerts,
    /// Events since the oldest counter in `alerts` turned negative.
    lateness: u64,
    /// The levels last reported.
    reported: Lines,
}

impl Power9 {
    /// A PMU as power-on leaves it: FC set, every other register zero, in hypervisor state with the run latch off.
    #[must_use]
    pub fn new(revision: Revision) -> Power9 {
        let mut units = [Unit::default(); COUNTERS];
        let [.., instructions, cycles] = &mut units;
        *instructions = Unit::fixed(Signal::InstructionsRetired);
        *cycles = Unit::fixed(Signal::Cycles);
        let mut mmcr0 = Mmcr0::default();
        mmcr0.set_fc(true);
        Power9 {
            revision,
            units,
            mmcr0,
            mmcr1: Mmcr1::default(),
            mmcr2: Mmcr2::default(),
            mmcra: Mmcra::default(),
            sier: Sier::default(),
            siar: 0,
            sdar: 0,
            bescr: Bescr::default(),
            imc: 0,
            ldbar: Ldbar::default(),
            context: Self::reset_context(),
            shared: Shared::ALONE,
            ways: Ways::UNKNOWN,
            counting: 0,
            following: 0,
            early: 0,
            pause: None,
            counted: 0,
            suspended: 0,
            suspended_at: 0,
            excused: 0,
            passed: 0,
            ticks_seen: 0,
            sampler: Sampler::default(),
            threshold: ThresholdCounter::default(),
            history: History::default(),
            eligible: Tap::SHUT,
            ticks: Probe::SHUT,
            addresses: Probe::SHUT,
            last_data: None,
            present: None,
            sampling: false,
            demand: Demand::default(),
            alerts: Alerts::default(),
            lateness: 0,
            reported: Lines::default(),
        }
    }

    /// Hypervisor state, everything else off.
    fn reset_context() -> Context {
        let mut msr = Msr::default();
        msr.set_hv(true);
        Context::power(msr.bits(), 0)
    }

    /// The revision of the part.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What decides which cells of memory the thread's events go to, where its core [posts them](collection).
    #[must_use]
    pub fn thread_state(&self) -> collection::ThreadState {
        let Context { machine_state, control, .. } = self.context;
        collection::ThreadState { machine_state, control, ldbar: self.ldbar, shared: self.shared }
    }

    /// Counts up to now and acts on the result. Returns whether anything changed that deadlines depend on.
    fn catch_up(&mut self, feed: &impl Feed) -> bool {
        let event = self.count(feed);
        self.judge(event, feed)
    }

    /// Updates what counts, what holds, the demand and the deadlines, after a register, the context or what threads share has changed.
    fn changed(&mut self, feed: &impl Feed) {
        self.update_ways();
        self.resume(feed);
        self.judge(false, feed);
        self.update_demand(feed);
        self.rearm(feed);
    }

    fn value(&self, register: Register) -> u64 {
        match register {
            Register::Pmc(index) => self.units.get(index).map_or(0, |unit| u64::from(unit.value)),
            Register::Mmcr0 => self.mmcr0.bits(),
            Register::Mmcr1 => self.mmcr1.bits(),
            Register::Mmcr2 => self.mmcr2.bits(),
            Register::Mmcra => self.threshold.shown_in(self.mmcra).bits(),
            Register::Mmcrc => self.shared.register,
            Register::Ldbar => self.ldbar.bits(),
            Register::Sier => self.sier.bits(),
            Register::Siar => self.siar,
            Register::Sdar => self.sdar,
            Register::Bescr(_) => self.bescr.bits(),
            // While entries are being written, reads are not defined; zero ends the list for the reader.
            Register::Bhrb(_) if self.mmcr0.pmae() => 0,
            Register::Bhrb(index) => self.history.read(usize::from(index)),
            Register::Imc => self.imc,
        }
    }

    fn set(&mut self, register: Register, value: u64, feed: &impl Feed) {
        match register {
            Register::Pmc(index) => {
                if let Some(unit) = self.units.get_mut(index) {
                    unit.value = value as u32;
                }
            }
            Register::Mmcr0 => self.mmcr0 = Mmcr0::written(value),
            Register::Mmcr1 => self.select(Mmcr1::written(value), feed),
            Register::Mmcr2 => self.mmcr2 = Mmcr2::written(value),
            Register::Mmcra => self.write_mmcra(Mmcra::written(value), feed),
            Register::Mmcrc => self.shared.register = Mmcrc::written(value).bits(),
            Register::Ldbar => self.ldbar = Ldbar::written(value),
            Register::Sier => self.sier = Sier::written(value),
            Register::Siar => self.siar = value,
            Register::Sdar => {
                self.sdar = value;
                self.last_data = None;
            }
            Register::Bescr(bits) => self.write_bescr(bits, value),
            Register::Bhrb(_) => self.history.clear(),
            Register::Imc => {
                self.imc = value;
                self.demand.change_epoch();
            }
        }
    }

    /// MMCR1 is written: PMC1-4 follow what it selects, and do not count for one cycle (appendix A.4, note 1).
    fn select(&mut self, mmcr1: Mmcr1, feed: &impl Feed) {
        self.mmcr1 = mmcr1;
        let (freezes, shared) = (self.freezes(), self.shared);
        for (index, unit) in self.units.iter_mut().take(4).enumerate() {
            unit.tap.disarm(feed);
            unit.selected = Selected::new(mmcr1, index);
            unit.lanes = unit.selected.lanes(freezes.msr, freezes.control, shared);
            unit.selected.connect(mmcr1, unit.lanes, &mut unit.tap);
            unit.tap.skip(feed);
        }
        // PMC1 is negative if it has its highest bit set and is no lower half of a chain any more. That releases what TRIGGER held.
        self.judge(false, feed);
        self.suspended = 0;
        // What no freeze holds, whether or not its event's condition holds now: that can begin within the cycle.
        self.suspended = self.unfrozen() & PROGRAMMABLE;
        self.suspended_at = feed.total(Signal::Cycles, Scope::Thread);
        self.counting &= !PROGRAMMABLE;
        self.following = 0;
    }
}

impl Model for Power9 {
    const SHAPE: Shape = Shape {
        package_threads: Some(&[1, 2, 4]),
        core_threads: 4,
        package_cores: Some(1),
        // An AC922 with all cores.
        usual: (2, 22),
        has_nest: true,
        posts_to_memory: true,
        ..Shape::ANY
    };

    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault> {
        if let Some(index) = access::counter_of_privileged(address, &self.context)
            && let Some(value) = self.read_counter_plainly(index, feed)
        {
            self.present = None;
            return Ok(value);
        }
        let grant = access::grant(address, false, &self.context, self.mmcr0)?;
        self.present = None;
        if let Some(value) = self.read_plainly(grant.register, feed) {
            return Ok(value & grant.visible);
        }
        let moved = self.catch_up(feed);
        let lifted = self.lift_suspension(feed);
        if moved {
            self.update_demand_unless_pausing(feed);
        }
        if moved || lifted {
            self.rearm(feed);
        }
        Ok(self.value(grant.register) & grant.visible)
    }

    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault> {
        if let Some(index) = access::counter_of_privileged(address, &self.context)
            && self.write_counter_plainly(index, value, feed)
        {
            self.present = None;
            return Ok(());
        }
        let grant = access::grant(address, true, &self.context, self.mmcr0)?;
        self.present = None;
        if grant.writable == u64::MAX && self.write_plainly(grant.register, value, feed) {
            return Ok(());
        }
        self.catch_up(feed);
        self.lift_suspension(feed);
        if grant.writable != 0 {
            let kept = self.value(grant.register) & !grant.writable;
            self.set(grant.register, kept | value & grant.writable, feed);
        }
        self.changed(feed);
        self.counted = 0;
        Ok(())
    }

    fn service(&mut self, feed: &impl Feed) {
        if self.catch_up(feed) || self.pause.is_some() {
            self.update_demand_unless_pausing(feed);
        }
        self.rearm(feed);
    }

    fn set_context(&mut self, context: Context, feed: &impl Feed) {
        self.counted |= self.counting;
        if self.change_plainly(&context, feed) {
            return;
        }
        let before = core::mem::replace(&mut self.context, context);
        let run = |context: &Context| ThreadControl::of(context.control).run();
        let same = self.admitted() == self.counting
            && self.following_edges(&self.freezes()) == self.following
            && run(&before) == run(&context)
            && before.time_base == context.time_base
            && !self.sums_change();
        if same {
            return;
        }
        // Everything up to now belongs to the old state.
        self.context = before;
        self.present = None;
        self.catch_up(feed);
        self.context = context;
        self.shared.running = self.running();
        self.changed(feed);
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        let takers = self.units.iter().enumerate().filter(|(index, _)| self.counting & bit(*index) != 0);
        let taken = amount != 0 && takers.take(4).any(|(_, unit)| unit.selected.takes(occurrence).is_some());
        if taken {
            self.present = None;
            self.catch_up(feed);
            self.add_injected(occurrence, amount);
            self.judge(false, feed);
            self.update_demand(feed);
            self.rearm(feed);
        }
        taken
    }

    fn record(&mut self, record: &Record, feed: &impl Feed) {
        self.take_record(record, feed);
        self.rearm(feed);
    }

    fn demand(&self) -> &Demand {
        &self.demand
    }

    fn followed(&self) -> SignalSet {
        let (mut signals, _) = self.follows();
        self.demand_of_addresses(&mut signals);
        signals
    }

    fn succeed_demand(&mut self, before: &Demand) {
        self.demand.succeed(before);
        // The match array may differ, which the demand does not show.
        self.demand.change_epoch();
    }

    fn take_alerts(&mut self) -> Alerts {
        let lines = self.lines();
        let mut alerts = core::mem::take(&mut self.alerts);
        if lines != self.reported {
            self.reported = lines;
            alerts.lines = Some(lines);
        }
        alerts
    }

    fn reset(&mut self, _reset: Reset, feed: &impl Feed) {
        self.service(feed);
        let fresh = Power9::new(self.revision);
        self.disarm(feed);
        // The match array may change, which the demand does not show.
        self.demand.change_epoch();
        // The time base is not the PMU's: the embedder reports its value.
        let kept = (self.demand, self.reported, Shared { register: 0, running: 0, ..self.shared }, self.context.time_base);
        *self = fresh;
        (self.demand, self.reported, self.shared, self.context.time_base) = kept;
        self.ticks_seen = feed.total(Signal::TimeBaseTicks, Scope::Thread);
        self.changed(feed);
    }

    fn catalogue(&self) -> &'static Catalogue {
        &event::POWER9
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        registers::REGISTERS
    }
}

impl LazyContexts for Power9 {
    #[inline]
    fn change_quietly(&mut self, context: &Context, _observed: bool, feed: &impl Feed) -> bool {
        if self.is_indifferent_to(context) {
            self.context = *context;
            return true;
        }
        self.change_plainly(context, feed)
    }

    fn sensitivity(&self) -> u64 {
        self.sensitive_state()
    }

    #[inline]
    fn contexts_add_up(&self) -> bool {
        self.states_add_up()
    }
}

impl Levels for Power9 {
    fn supply_levels(&mut self, holds: impl Fn(Signal) -> Option<bool>, feed: &impl Feed) {
        if !self.demand.asks_levels() {
            return;
        }
        for unit in &mut self.units {
            let level = unit.tap.level(|signal| holds(signal).unwrap_or_else(|| feed.supply().resting(signal)));
            // A level that holds as counting begins is no edge: nothing grows.
            unit.tap.learn(level);
        }
        self.demand.ask(SignalSet::EMPTY);
        self.rearm(feed);
    }
}

impl SharedState for Power9 {
    fn shared(&self) -> Shared {
        self.shared
    }

    fn set_shared(&mut self, shared: Shared, feed: &impl Feed) {
        self.present = None;
        self.catch_up(feed);
        self.shared = Shared { threads: shared.threads.max(1), ..shared };
        self.shared.running = self.running();
        self.changed(feed);
    }
}

impl InstructionMatching for Power9 {
    fn instruction_match(&self) -> Option<(u64, u64)> {
        // Bits 0:31 choose the bits that are compared, 32:63 are their value.
        let (mask, value) = (self.imc >> 32, self.imc & 0xFFFF_FFFF);
        (mask != 0).then_some((value & mask, mask))
    }
}

impl Power9 {
    /// The run latches of the core with this thread's own.
    fn running(&self) -> u32 {
        let own = 1u32.checked_shl(u32::from(self.shared.thread)).unwrap_or(0);
        if ThreadControl::of(self.context.control).run() { self.shared.running | own } else { self.shared.running & !own }
    }

    /// Adds an occurrence that no signal reports to the counters that select it.
    fn add_injected(&mut self, occurrence: Occurrence, amount: u64) {
        let mut grown = [0u64; COUNTERS];
        for (index, (unit, grown)) in self.units.iter_mut().zip(&mut grown).enumerate() {
            if self.counting & bit(index) != 0
                && index < 4
                && let Some((kind, second)) = unit.selected.takes(occurrence)
            {
                *grown = unit.tap.inject_into(kind, amount, second);
            }
        }
        self.grow_all(grown, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_takes_little_more_than_two_kibibytes() {
        assert!(size_of::<Power9>() < 2368, "{} bytes", size_of::<Power9>());
    }
}
