//! Blocks that run at one go: what they add, and whether the PMU allows them.
//!
//! Blocks take their instructions off a countdown, which counts cycles and what each instruction adds one to. Ticks of the time base follow
//! when that is evaluated. Blocks stay short of the horizon, so nothing comes due within: the step that reaches a deadline goes by itself.

use vm_pmu::Countdown;
use vm_pmu::arch::feed::{Demand, Records, Signal, SignalSet, Totals};
use vm_pmu::cpu::Counts;

use super::{Cpu, EACH, fusion, record, signals};
use vm_pmu_engines::power::Step;
use vm_pmu_engines::unicorn::power::Blocks;

/// What steps add to the totals besides the countdown, except ticks and what the match array makes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    amounts: Box<[(Signal, u64)]>,
}

impl Cpu<'_> {
    /// Whether every instruction is reported by itself. Branches are reported in any case, as they are at the ends of blocks.
    fn tells_each(&self) -> bool {
        let records = self.pmu.demand().records();
        let each = records.memory || records.fetches || records.every || self.pmu.demand().per_cycle();
        each || self.pmu.is_followed() || self.trace.needs_stores() || !self.extra_pmus.is_empty()
    }

    /// Allows as many instructions as may run before the next deadline.
    fn refill(&mut self) {
        self.settle();
        let (thread, countdown) = (*self.pmu.thread(), self.pmu.countdown());
        // Steps compare each signal: the horizon may not be where it was.
        thread.check();
        countdown.sync(thread);
        let poll = self.firmware.map_or(u64::MAX, |firmware| firmware.next_poll().saturating_sub(self.cycles));
        countdown.limit(countdown.left().min(poll).saturating_sub(1));
    }

    /// Adds what a block did besides the countdown, as far as it is demanded.
    fn add_block(&self, steps: &[Step], sums: &Sums, branch: Option<&Step>) {
        let sink = self.pmu.counts();
        sums.amounts.iter().for_each(|(signal, amount)| sink.add(*signal, *amount));
        if let Some(branch) = branch {
            signals::branch(branch, &sink);
            sink.add(Signal::LongLatencyInstructions, u64::from(branch.marks.long_latency));
        }
        if let Some((value, mask)) = self.matched {
            let matches = |step: &&Step| u64::from(step.encoding) & mask == value;
            sink.add(Signal::MatchedInstructions, steps.iter().filter(matches).count() as u64);
        }
    }
}

impl Blocks for Cpu<'_> {
    type Sums = Sums;

    fn sums(&self, steps: &[Step]) -> Sums {
        let counted = SignalSet::from_iter(EACH.into_iter().chain([Signal::InstructionsRetired]));
        let mut demand = Demand::default();
        demand.replace(SignalSet::ALL.difference(&counted), false, Records::NONE);
        let totals = Totals::new();
        let sink = Counts::new(&demand, &totals, false);
        steps.iter().for_each(|step| signals::add(step, false, &sink));
        steps.iter().zip(steps.iter().skip(1)).for_each(|(first, second)| fusion::add(first.encoding, second.encoding, &sink));
        let amounts = Signal::all().map(|signal| (signal, totals.get(signal)));
        Sums { amounts: amounts.filter(|(_, amount)| *amount != 0).collect() }
    }

    #[inline]
    fn enter(&mut self, instructions: u32) -> bool {
        if self.pmu.is_stale() {
            self.keep_up();
        }
        if self.tells_each() {
            return false;
        }
        let takes = Countdown::takes(instructions, 0);
        if self.pmu.enter(takes) {
            return true;
        }
        self.refill();
        self.pmu.enter(takes)
    }

    fn take_back(&mut self, instructions: u32) {
        self.pmu.take_back(Countdown::takes(instructions, 0));
    }

    fn ran(&mut self, steps: &[Step], sums: &Sums, branch: Option<&Step>) {
        self.instructions += steps.len() as u64;
        if let [first, ..] = steps
            && let Some(last) = steps.last()
        {
            self.last = last.address;
            self.deliveries.retired(first.address);
            self.deliveries.retired(last.address);
        }
        self.add_block(steps, sums, branch);
        // No deadline is near, so the record goes to the branch history alone, and the countdown is not needed.
        if let Some(branch) = branch.filter(|branch| self.pmu.demand().records().wants(false, record::occasion(branch))) {
            self.pmu.thread().record(&record::record(branch));
        }
    }

    fn settle(&mut self) {
        Cpu::settle(self);
    }
}
