//! Many instructions reported at once: the part of the glue for an emulator that runs blocks at one go.
//!
//! Blocks take their instructions off a countdown, which counts instructions and cycles. What else they add is worked out once, by the same
//! code that adds a step's, into totals of no thread. Blocks stay short of the horizon, so nothing comes due within: the step that reaches
//! a deadline goes by itself.

use vm_pmu::Countdown;
use vm_pmu::arch::feed::{Demand, Occasion, Records, Signal, Totals};
use vm_pmu::cpu::Counts;

use super::Cpu;
use super::signals::{Signals, supplies};
use super::untile::CpuBoxes;
use vm_pmu_engines::blocks::{Facts, Sums};
use vm_pmu_engines::x86::{CpuView, Step};

/// What depends on addresses, or on what was fetched before, and so is unknown for a block.
const OF_EACH_STEP: &[Signal] = &[
    Signal::DataCacheAccesses,
    Signal::MisalignedAccesses,
    Signal::LineSplitLoads,
    Signal::LineSplitStores,
    Signal::LockedLoads,
    Signal::SelfModifyingCodeRestarts,
    Signal::InstructionFetches,
    Signal::BreakpointMatches0,
    Signal::BreakpointMatches1,
    Signal::BreakpointMatches2,
    Signal::BreakpointMatches3,
];

/// Signals that either grow with every cycle while the context stays as it is, or not at all.
const OF_CYCLES: &[Signal] =
    &[Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles, Signal::InterruptsMaskedCycles, Signal::InterruptsMaskedPendingCycles];

/// What the countdown counts. Every step is a cycle.
const COUNTED: &[Signal] = &[Signal::InstructionsRetired, Signal::Cycles, Signal::ReferenceCycles];

/// Whether records are wanted of more than the instruction that reaches a deadline.
fn wants_records(records: Records) -> bool {
    let anything = Occasion { branch: true, taken: true, memory: true, fetch: true };
    records.requests || records.wants(false, anything)
}

impl Cpu<'_> {
    /// Adds what is followed now to what blocks sum. That only grows: to add a signal in vain costs less than to work it out again.
    pub(super) fn sum_followed(&mut self) {
        let known = |signal: &Signal| supplies(*signal) && ![OF_EACH_STEP, OF_CYCLES, COUNTED].iter().any(|others| others.contains(signal));
        let summed = self.summed.union(&self.pmu.own_demand().signals().iter().filter(known).collect());
        if summed != self.summed {
            self.summed = summed;
            self.edition = self.edition.wrapping_add(1);
        }
    }

    /// What steps without accesses add. None if one of them adds more of a signal than the pace promises.
    pub(super) fn facts_of(&self, steps: &[Step]) -> Option<Facts> {
        let pace = self.pmu.thread().deadlines().pace();
        let mut summed = Demand::default();
        summed.replace(self.summed, false, Records::NONE);
        let mut signals = Signals::default();
        signals.update(&summed);
        let mut amounts = [0; Signal::COUNT];
        for step in steps {
            let totals = Totals::new();
            signals.track(step);
            signals.add(step, false, &Counts::new(&summed, &totals, false));
            for signal in self.summed.iter() {
                let (amount, most) = (totals.get(signal), if pace.single.contains(signal) { 1 } else { pace.most });
                if amount > u64::from(most) {
                    return None;
                }
                amounts[signal.index()] += amount as u32;
            }
        }
        Some(Facts::new((0..).zip(amounts)))
    }

    /// How many instructions may run in blocks; none if each must be reported.
    pub(super) fn give_headroom(&mut self, cpu: &CpuView<'_>) -> Option<Countdown> {
        self.keep_up();
        let masked = !cpu.interrupts_enabled();
        let pending = masked && cpu.apic().interrupt_pending();
        // What begins with a step is reported with that step.
        let begins = masked != self.masked || pending != self.signals.is_pending();
        let demand = self.pmu.demand();
        let told = self.pmu.is_followed() || demand.per_cycle() || wants_records(demand.records());
        let cpu_boxes = self.cpu_boxes.as_ref().is_some_and(CpuBoxes::is_busy);
        if begins
            || told
            || cpu_boxes
            || self.trace.needs_stores()
            || self.lines.waits(self.pmu.thread().number())
            || OF_EACH_STEP.iter().any(|signal| self.pmu.own_demand().wants(*signal))
        {
            return None;
        }
        let thread = *self.pmu.thread();
        // Steps compare each signal: the horizon may not be where it was.
        thread.check();
        let countdown = Countdown::with([(Signal::ReferenceCycles, 1)]);
        countdown.sync(thread);
        countdown.limit(countdown.left().saturating_sub(1));
        Some(countdown)
    }

    /// Blocks ran, within what [`give_headroom`](Cpu::give_headroom) gave.
    pub(super) fn take_blocks(&mut self, countdown: &Countdown, sums: &Sums, cpu: &CpuView<'_>) {
        let counts = self.pmu.counts();
        for (signal, amount) in sums.iter().filter_map(|(number, amount)| Some((Signal::from_index(number.into())?, amount))) {
            counts.add(signal, amount);
        }
        let cycles = countdown.settle(*self.pmu.thread());
        let moved = self.run_core(cpu.cycles(), cycles);
        counts.add(Signal::CoreActiveCycles, moved);
        counts.add(Signal::CoreActiveReferenceCycles, moved);
        if self.masked {
            counts.add(Signal::InterruptsMaskedCycles, cycles);
        }
        if self.signals.is_pending() {
            counts.add(Signal::InterruptsMaskedPendingCycles, cycles);
        }
        self.instructions += cycles;
        if cycles != 0 {
            self.deliveries.retired(self.block);
        }
        self.signals.jump();
    }
}
