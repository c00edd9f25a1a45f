//! Which states hold after a statement: the levels that a model may need.

use alloc::vec;
use alloc::vec::Vec;

use vm_pmu_arch::feed::{Kind, Signal, SignalSet};

use super::Step;
use crate::irq::InterruptLine;
use crate::topology::Machine;

/// The states of each thread's last cycle, if there has been one.
pub(super) struct Levels {
    threads: Vec<Option<SignalSet>>,
    /// The states that can hold.
    known: SignalSet,
}

impl Levels {
    /// No cycle has elapsed yet, and states that are not in `known` never hold.
    pub(super) fn new(threads: usize, known: SignalSet) -> Levels {
        Levels { threads: vec![None; threads], known }
    }

    /// Thread `current` did this. The cycles of a state are the last of a step, so a state with any cycles holds at the end of the step.
    pub(super) fn note(&mut self, current: usize, step: &Step) {
        let (Step::Feed(1.., signals) | Step::Record(1.., _, signals)) = step else { return };
        let passes = |(signal, amount): &(Signal, u64)| *signal == Signal::Cycles && *amount != 0;
        if let Some(level) = self.threads.get_mut(current).filter(|_| signals.iter().any(passes)) {
            let mut holding = SignalSet::EMPTY;
            let states = signals.iter().filter(|(signal, amount)| signal.kind() == Kind::State && *amount != 0);
            states.for_each(|(signal, _)| holding.insert(*signal));
            *level = Some(holding);
        }
    }

    /// Supplies the levels that models ask for. Before the first cycle of a thread none is known.
    pub(super) fn supply<L: InterruptLine>(&self, machine: &Machine<L>) {
        for (number, level) in self.threads.iter().enumerate() {
            if let Some(thread) = machine.thread(number).filter(|thread| thread.demand().asks_levels()) {
                thread.supply_levels(|state| match level {
                    _ if !self.known.contains(state) => Some(false),
                    level => level.map(|holding| holding.contains(state)),
                });
            }
        }
    }
}
