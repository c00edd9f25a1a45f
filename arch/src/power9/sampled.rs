//! Sampling at work: which instruction is the sampled one, what it counts, what the sampling registers keep of it.
//!
//! POWER9 PMU User's Guide, chapters 2 and 3 and appendix A.6 to A.9.

use super::Power9;
use super::counting::bit;
use super::marked::Life;
use super::registers::{COUNTERS, Mmcra, Msr, ThreadControl};
use super::sampling::{Eligible, Machine};
use super::sier;
use super::threshold::{Crossings, ThresholdEvent, ThresholdSource, compare_value, level_bit, measure};
use crate::counter::{Gate, Probe};
use crate::event::{Amount, Internal};
use crate::feed::{Feed, Record, Records, Scope, Signal, SignalSet, Stage, Traits};
use crate::model::InstructionMatching;

/// What updates SDAR in continuous sampling: MMCRA\[SDAR_MODE].
fn address_signal(mmcra: Mmcra) -> Option<Signal> {
    match (mmcra.sample_enable(), mmcra.sdar_mode()) {
        (false, 0b01) => Some(Signal::DataTlbMissesAll),
        (false, 0b10) => Some(Signal::DataCacheLoadMisses),
        (false, 0b11) => Some(Signal::Stores),
        _ => None,
    }
}

/// An instruction to which an alert may still belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    pub(super) address: u64,
    /// SIER's TYPE.
    pub(super) kind: u8,
    /// The address of its data, where nothing is reported of the accesses before it.
    pub(super) data: Option<u64>,
}

/// What the threshold counter and its events add at one instant.
#[derive(Clone, Copy, Default)]
struct Pulses {
    crossings: Crossings,
    not_met: bool,
}

/// The events of the threshold counter that the counters that count wait for.
struct Wanted {
    levels: u8,
    met: bool,
    accumulating: bool,
}

/// What the counter of this number, from 1, has grown by.
fn by(grown: &[u64; COUNTERS], number: u8) -> u64 {
    grown.get(usize::from(number.wrapping_sub(1))).copied().unwrap_or(0)
}

/// Whether a counter whose event starts or ends the threshold counter has grown.
fn came(grown: &[u64; COUNTERS], event: ThresholdEvent) -> bool {
    matches!(event, ThresholdEvent::Counter(number) if by(grown, number) != 0)
}

/// Whether the records of instructions at deadlines are reported: without them a deadline of sampling stays reached.
fn are_reported(feed: &impl Feed) -> bool {
    Records::AT_DEADLINE.within(feed.supply().records).at_deadline
}

/// Whether those of continuous sampling's accesses are reported too.
fn addresses_are_reported(feed: &impl Feed) -> bool {
    are_reported(feed) && Records::SAMPLED_ADDRESSES.within(feed.supply().records).sampled_addresses
}

impl Power9 {
    /// MMCRA is written: sampling begins anew where its choice changes.
    pub(super) fn write_mmcra(&mut self, mmcra: Mmcra, feed: &impl Feed) {
        let before = core::mem::replace(&mut self.mmcra, mmcra);
        if !mmcra.sample_enable() {
            self.sampler.reset();
        } else if mmcra.sample_reset() || Eligible::of(before) != Eligible::of(mmcra) || !before.sample_enable() {
            self.sampler.reset();
            self.sampler.start(Eligible::of(mmcra));
        }
        if address_signal(before) != address_signal(mmcra) {
            self.last_data = None;
        }
        self.write_threshold(mmcra);
        self.disarm(feed);
        self.connect_sampling(feed);
    }

    /// Software writes the threshold counter's two fields: it continues from there.
    fn write_threshold(&mut self, mmcra: Mmcra) {
        self.threshold.write(mmcra.thresh_ctr_exp(), mmcra.thresh_ctr_mantissa());
        if ThresholdSource::of(mmcra) == ThresholdSource::Disabled {
            self.threshold.discard();
        }
    }

    /// Connects what sampling and thresholding follow, from now on.
    pub(super) fn connect_sampling(&mut self, feed: &impl Feed) {
        self.eligible.rewire(Gate::Sum, Scope::Thread);
        if self.mmcra.sample_enable() {
            Eligible::of(self.mmcra).signals().iter().for_each(|signal| self.eligible.connect(*signal));
        }
        self.eligible.skip(feed);
        let ticks = match ThresholdSource::of(self.mmcra) {
            ThresholdSource::RunCycles => Some(Signal::Cycles),
            ThresholdSource::RunInstructions => Some(Signal::InstructionsRetired),
            _ => None,
        };
        self.ticks = Probe::at(ticks, feed);
        self.addresses = Probe::at(address_signal(self.mmcra), feed);
    }

    /// What must be reported for sampling.
    pub(super) fn demand_of_sampling(&self, signals: &mut SignalSet) -> Records {
        self.eligible.demand(signals);
        self.ticks.demand(signals);
        let pmae = self.mmcr0.pmae();
        let samples = self.mmcra.sample_enable();
        Records { at_deadline: samples || pmae, taken_branches: pmae, sampled_outcomes: samples, ..Records::NONE }
    }

    /// The signals that continuous sampling follows for the addresses that it keeps, whether their records are reported or not.
    pub(super) fn demand_of_addresses(&self, signals: &mut SignalSet) {
        if self.mmcr0.pmae() {
            self.addresses.demand(signals);
        }
    }

    /// The same, if their records are reported.
    pub(super) fn demand_of_reported_addresses(&self, signals: &mut SignalSet, feed: &impl Feed) {
        if addresses_are_reported(feed) {
            self.demand_of_addresses(signals);
        }
    }

    pub(super) fn arm_sampling(&self, feed: &impl Feed) {
        if let Some(left) = self.sampler.until_sample().filter(|_| are_reported(feed)) {
            self.eligible.arm(feed, Some(u64::from(left)));
        }
        self.arm_addresses(feed);
        if ThreadControl::of(self.context.control).run() {
            self.ticks.arm(feed, self.until_threshold());
        }
    }

    /// Sets the deadline of continuous sampling, whose next occurrence has an address to keep.
    pub(super) fn arm_addresses(&self, feed: &impl Feed) {
        if self.mmcr0.pmae() && addresses_are_reported(feed) {
            self.addresses.arm(feed, Some(1));
        }
    }

    /// Which threshold events the counters that count select.
    fn wanted(&self) -> Wanted {
        let mut wanted = Wanted { levels: 0, met: false, accumulating: false };
        for (index, unit) in self.units.iter().enumerate() {
            if self.counting & bit(index) == 0 {
                continue;
            }
            match unit.selected.internal() {
                Some(Internal::ThresholdMet) => wanted.met = true,
                Some(Internal::ThresholdExceeded(level)) => wanted.levels |= level_bit(level),
                Some(Internal::ThresholdAccumulated) => wanted.accumulating = true,
                _ => {}
            }
        }
        wanted
    }

    /// Events of the threshold counter until one of the counters grows by it.
    fn until_threshold(&self) -> Option<u64> {
        let wanted = self.wanted();
        self.threshold.until_next(wanted.levels, wanted.met.then(|| compare_value(self.mmcra)), wanted.accumulating)
    }

    /// How much a counter may grow until the threshold counter starts, ends or passes something because of it.
    pub(super) fn threshold_waits_for(&self, index: usize) -> Option<u64> {
        let own = u8::try_from(index).ok()?.checked_add(1)?;
        let source = ThresholdSource::of(self.mmcra);
        if source == ThresholdSource::Disabled {
            return None;
        }
        let starts = ThresholdEvent::of(self.mmcra.thresh_start()) == ThresholdEvent::Counter(own);
        let ends = self.threshold.running && ThresholdEvent::of(self.mmcra.thresh_end()) == ThresholdEvent::Counter(own);
        if starts || ends {
            return Some(1);
        }
        if source == ThresholdSource::Counter(own) { self.until_threshold() } else { None }
    }

    /// Brings sampling up to now, and the threshold counter with it. Returns what of that it has not counted yet: a start by a counter
    /// takes the place of the last event (P33).
    pub(super) fn advance_sampling(&mut self, feed: &impl Feed) -> u64 {
        let occurrences = self.eligible.fold(feed);
        self.sampler.advance(occurrences);
        if !self.mmcr0.pmae() {
            // What continuous sampling follows is lost while it is stopped.
            self.addresses.fold(feed);
        }
        let ticks = self.ticks.fold(feed);
        if ticks == 0 || !ThreadControl::of(self.context.control).run() {
            return 0;
        }
        let last = u64::from(matches!(ThresholdEvent::of(self.mmcra.thresh_start()), ThresholdEvent::Counter(_)));
        self.tick(ticks - last);
        last
    }

    /// Counts so many events by the threshold counter, and what that adds to the counters.
    fn tick(&mut self, events: u64) {
        let crossings = self.threshold.tick(events, compare_value(self.mmcra));
        self.emit(Pulses { crossings, not_met: false });
    }

    /// Applies the growth of the counters to the threshold counter: first what it counts, then what starts or ends it. `last_tick` is what
    /// it counts unless a counter starts it.
    pub(super) fn follow_threshold(&mut self, grown: [u64; COUNTERS], last_tick: u64) {
        if last_tick != 0 && !came(&grown, ThresholdEvent::of(self.mmcra.thresh_start())) {
            self.tick(last_tick);
        }
        let crossings = self.tick_by_counter(&grown);
        self.start_or_end(&grown, crossings);
    }

    /// The threshold counter counts what the counter that it follows has grown by. While a start is active nothing is met or exceeded.
    fn tick_by_counter(&mut self, grown: &[u64; COUNTERS]) -> Crossings {
        let ThresholdSource::Counter(number) = ThresholdSource::of(self.mmcra) else { return Crossings::default() };
        let crossings = self.threshold.tick(by(grown, number), compare_value(self.mmcra));
        if came(grown, ThresholdEvent::of(self.mmcra.thresh_start())) {
            Crossings { accumulated: crossings.accumulated, ..Crossings::default() }
        } else {
            crossings
        }
    }

    /// Starts or ends the threshold counter, after the counters have grown and it has counted its part of that.
    fn start_or_end(&mut self, grown: &[u64; COUNTERS], crossings: Crossings) {
        if ThresholdSource::of(self.mmcra) == ThresholdSource::Disabled {
            return;
        }
        let (start, end) = (ThresholdEvent::of(self.mmcra.thresh_start()), ThresholdEvent::of(self.mmcra.thresh_end()));
        let not_met = self.threshold.arrive(came(grown, start), came(grown, end), compare_value(self.mmcra));
        self.emit(Pulses { crossings, not_met });
    }

    /// Grows the counters that count events of the threshold counter.
    fn emit(&mut self, pulses: Pulses) {
        if pulses.crossings == Crossings::default() && !pulses.not_met {
            return;
        }
        for index in 0..COUNTERS {
            if self.counting & bit(index) == 0 {
                continue;
            }
            let amount = match self.units.get(index).and_then(|unit| unit.selected.internal()) {
                Some(Internal::ThresholdMet) => u64::from(pulses.crossings.met),
                Some(Internal::ThresholdNotMet) => u64::from(pulses.not_met),
                Some(Internal::ThresholdExceeded(level)) => u64::from(pulses.crossings.exceeded & level_bit(level) != 0),
                Some(Internal::ThresholdAccumulated) => pulses.crossings.accumulated,
                _ => 0,
            };
            // A counter of the threshold counter's events neither starts nor feeds it.
            self.grow(index, amount, &mut [0; COUNTERS]);
        }
    }

    /// One instruction's record: branch history, the address that continuous sampling keeps, the sampled instruction's events.
    pub(super) fn take_record(&mut self, record: &Record, feed: &impl Feed) {
        let pmae = self.mmcr0.pmae();
        if pmae && !self.freezes().history() && record.branch.is_some_and(|branch| branch.taken) {
            self.history.enter(record, self.mmcra);
        }
        let reported = addresses_are_reported(feed);
        if pmae && self.addresses.fold(feed) != 0 && reported && !self.traces() {
            self.last_data = record.memory.map(|memory| memory.address).or(self.last_data);
        }
        let life = Life::new(record, self.mmcra);
        let data = if reported { None } else { self.data_of(record) };
        self.present = Some(Present { address: record.address, kind: sier::kind(&life), data });
        let occurrences = self.eligible.fold(feed);
        self.sampler.advance(occurrences);
        let event = self.count(feed);
        if occurrences != 0 && self.sampler.machine == (Machine::Start { left: 0 }) && self.is_eligible(&life) {
            self.sample(&life);
        }
        if self.judge(event, feed) {
            self.update_demand_unless_pausing(feed);
        }
        self.sampling = false;
    }

    /// The data of the instruction at which an alert comes, where nothing is reported of the accesses before it: SDAR_MODE's choice of them
    /// is between stores and all (section 2.2).
    fn data_of(&self, record: &Record) -> Option<u64> {
        let memory = record.memory?;
        let chosen = match address_signal(self.mmcra)? {
            Signal::Stores => memory.store,
            _ => true,
        };
        chosen.then_some(memory.address)
    }

    /// Whether the instruction is one of those that random sampling chooses among. The match array is the model's own.
    fn is_eligible(&self, life: &Life<'_>) -> bool {
        let eligible = Eligible::of(self.mmcra);
        let matches = || self.instruction_match().is_some_and(|(value, mask)| life.record().encoding & mask == value);
        eligible.admits(life) || (eligible == Eligible::Matched && matches())
    }

    /// The sampled instruction: its events in the order of its stages, thresholds after them.
    fn sample(&mut self, life: &Life<'_>) {
        let record = life.record();
        self.sampling = true;
        let grown = self.marked(life);
        let reached = self.measure(life, &grown);
        if self.mmcr0.pmae() {
            self.siar = record.address;
            if let Some(memory) = record.memory {
                self.sdar = memory.address;
            }
            self.sier = sier::sier(life, Msr::of(self.context.machine_state), self.mmcra, reached);
        }
        let mut all = grown;
        for (index, amount) in grown.into_iter().enumerate() {
            self.grow(index, amount, &mut all);
        }
        self.start_or_end(&all, Crossings::default());
        self.sampler.sampled();
        self.sampler.start(Eligible::of(self.mmcra));
    }

    /// What each counter grows by because of the sampled instruction.
    fn marked(&self, life: &Life<'_>) -> [u64; COUNTERS] {
        let mut grown = [0u64; COUNTERS];
        for (index, (unit, grown)) in self.units.iter().zip(&mut grown).enumerate() {
            if self.counting & bit(index) == 0 {
                continue;
            }
            *grown = match unit.selected.internal() {
                Some(Internal::Rewind(number)) => u64::from(self.any_sampled(number, |tests, amount| life.kept_back(tests, amount))),
                Some(Internal::Saved(number)) => {
                    u64::from(self.any_sampled(number, |tests, amount| amount != Amount::One && life.adds(tests, amount) != 0))
                }
                Some(_) => 0,
                None => {
                    let mut sum = 0u64;
                    let (mut events, mut together) = (0, unit.selected.is_both());
                    for (tests, amount) in unit.selected.sampled() {
                        let adds = life.adds(tests, amount);
                        sum = sum.saturating_add(adds);
                        events += 1;
                        together &= adds != 0;
                    }
                    match (unit.selected.is_both(), unit.selected.falls()) {
                        (true, _) => u64::from(together && events == 2),
                        // An occurrence of any length ends once.
                        (false, true) => sum.min(1),
                        (false, false) => sum,
                    }
                }
            };
        }
        grown
    }

    /// Whether `test` holds of a sampled event that the counter of this number, from 1, counts.
    fn any_sampled(&self, number: u8, test: impl Fn(&'static [crate::event::Test], Amount) -> bool) -> bool {
        let unit = self.units.get(usize::from(number.wrapping_sub(1)));
        unit.is_some_and(|unit| unit.selected.sampled().any(|(tests, amount)| test(tests, amount)))
    }

    /// Lets the threshold counter follow the sampled instruction through its stages, and counts what that adds to the counters. Returns
    /// whether the value to compare was reached.
    fn measure(&mut self, life: &Life<'_>, grown: &[u64; COUNTERS]) -> bool {
        let source = ThresholdSource::of(self.mmcra);
        // From an alert until software enables the next, the counter is kept for the handler to read: samples leave it unchanged, as they
        // do SIAR, SDAR and SIER.
        let handled = self.mmcr0.pmao() && !self.mmcr0.pmae();
        if source == ThresholdSource::Disabled || handled {
            return false;
        }
        let (start, end) = (ThresholdEvent::of(self.mmcra.thresh_start()), ThresholdEvent::of(self.mmcra.thresh_end()));
        let compare = compare_value(self.mmcra);
        let mut pulses = Pulses::default();
        if let Some(span) = measure(life, start, end) {
            self.threshold.start();
            let until = span.to.or(life.lifetime().map(|(_, last)| last)).unwrap_or(span.from);
            let cycles = u64::from(until.saturating_sub(span.from));
            let completes = life.at(Stage::Completed).is_some_and(|at| span.from <= at && at <= until);
            let run = ThreadControl::of(self.context.control).run();
            let ticks = match source {
                ThresholdSource::RunCycles if run => cycles,
                ThresholdSource::RunInstructions if run => u64::from(completes),
                ThresholdSource::Counter(number) => self.ticks_of_counter(number, cycles, completes, grown),
                _ => 0,
            };
            pulses.crossings = self.threshold.tick(ticks, compare);
            if span.to.is_some() {
                pulses.not_met = self.threshold.end(compare);
            } else if life.is(Traits::DISCARDED) {
                self.threshold.discard();
            }
        } else {
            pulses.crossings = self.tick_by_counter(grown);
            if matches!(end, ThresholdEvent::Stage(stage) if life.at(stage).is_some()) {
                pulses.not_met = self.threshold.end(compare);
            } else if life.is(Traits::DISCARDED) {
                self.threshold.discard();
            }
        }
        self.emit(pulses);
        self.threshold.met
    }

    /// What a counter counts between two stages of one instruction, as far as its event shows: all cycles, the instruction itself, or
    /// what the instruction adds as the sampled one.
    fn ticks_of_counter(&self, number: u8, cycles: u64, completes: bool, grown: &[u64; COUNTERS]) -> u64 {
        let index = usize::from(number.wrapping_sub(1));
        let Some(unit) = self.units.get(index).filter(|_| self.counting & bit(index) != 0) else { return 0 };
        match unit.selected.lone_signal() {
            Some(Signal::Cycles) => cycles,
            Some(Signal::InstructionsRetired) => u64::from(completes),
            _ => by(grown, number),
        }
    }

    /// Whether instructions or branches are traced, which stops continuous sampling (section 2.3).
    fn traces(&self) -> bool {
        let msr = Msr::of(self.context.machine_state);
        msr.se() || msr.be()
    }

    /// An alert in continuous sampling: the sampling registers keep the instruction at which it came, if its record is available.
    pub(super) fn keep_continuous_sample(&mut self) {
        if self.mmcra.sample_enable() || self.traces() {
            return;
        }
        let mut data = self.last_data;
        if let Some(present) = self.present {
            self.siar = present.address;
            self.sier = sier::continuous(Msr::of(self.context.machine_state), present.kind);
            data = data.or(present.data);
        }
        self.sdar = data.unwrap_or(self.sdar);
    }
}
