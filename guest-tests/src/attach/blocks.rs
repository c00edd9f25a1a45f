//! Many instructions told at once: what an emulator that runs blocks at one go writes of the glue.
//!
//! What a block adds to each signal is worked out by the same code that adds a step's, once, into totals of nobody. A run of blocks
//! must stay short of every deadline, so nothing comes due within: the step that reaches one goes by itself.

use vm_pmu::arch::feed::{Demand, Occasion, Records, Signal, SignalSet, Totals};

use super::Cpu;
use super::signals::Signals;
use super::untile::Beside;
use crate::engine::blocks::{Balance, Facts};
use crate::engine::interp::{CpuView, Step};

/// What depends on addresses, or on what was fetched before: nobody knows it of a block.
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

/// What is as many as the cycles while the context stays as it is, or none.
const OF_CYCLES: &[Signal] =
    &[Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles, Signal::InterruptsMaskedCycles, Signal::InterruptsMaskedPendingCycles];

/// The number of a signal in a balance.
fn number(signal: Signal) -> u16 {
    signal.index() as u16
}

/// What steps without accesses add to each signal.
pub(super) fn facts(steps: &[Step]) -> Facts {
    let mut everything = Demand::default();
    everything.replace(SignalSet::ALL, false, Records::NONE);
    let mut signals = Signals::default();
    signals.renew(&everything);
    let totals = Totals::new();
    for step in steps {
        signals.track(step);
        signals.add(step, false, false, &everything, &totals);
    }
    let known = Signal::all().filter(|signal| !OF_EACH_STEP.contains(signal));
    Facts::new(steps.len() as u32, known.map(|signal| (number(signal), u32::try_from(totals.get(signal)).unwrap_or(u32::MAX))))
}

/// Whether records are wanted of more than the instruction that reaches a deadline.
fn wants_records(records: Records) -> bool {
    let anything = Occasion { branch: true, taken: true, memory: true, fetch: true };
    records.requests || records.wants(false, anything)
}

impl Cpu<'_> {
    /// Whether blocks may run at one go, and how far each signal is from its deadline.
    pub(super) fn give_headroom(&mut self, balance: &mut Balance, cpu: &CpuView<'_>) -> bool {
        self.renew_if_stale();
        let masked = !cpu.interrupts_enabled();
        let pending = masked && cpu.apic().interrupt_pending();
        // What begins with a step is told with that step.
        let begins = masked != self.masked || pending != self.signals.is_pending();
        let told = self.accompanied || self.demand.per_cycle() || wants_records(self.demand.records());
        let beside = self.beside.as_ref().is_some_and(Beside::is_busy);
        if begins || told || beside || self.lines.waits(self.thread.number()) || OF_EACH_STEP.iter().any(|signal| self.own.wants(*signal)) {
            return false;
        }
        for signal in &self.followed {
            let kind = if OF_CYCLES.contains(signal) { Signal::Cycles } else { *signal };
            balance.limit(number(kind), self.thread.deadlines().distance(*signal, self.thread.totals()));
        }
        true
    }

    /// Blocks ran, within what [`give_headroom`](Cpu::give_headroom) gave.
    pub(super) fn take_balance(&mut self, balance: &Balance, cpu: &CpuView<'_>) {
        let totals = self.thread.totals();
        let add = |signal: Signal, amount: u64| {
            if amount != 0 && self.own.wants(signal) {
                totals.add(signal, amount);
            }
        };
        for (signal, amount) in balance.added().filter_map(|(number, amount)| Some((Signal::from_index(number.into())?, amount))) {
            add(signal, amount);
        }
        // Every step is a cycle.
        let cycles = balance.steps();
        let moved = self.run_core(cpu.cycles(), cycles);
        add(Signal::CoreActiveCycles, moved);
        add(Signal::CoreActiveReferenceCycles, moved);
        if self.masked {
            add(Signal::InterruptsMaskedCycles, cycles);
        }
        if self.signals.is_pending() {
            add(Signal::InterruptsMaskedPendingCycles, cycles);
        }
        self.instructions += cycles;
        self.signals.jump();
    }
}
