//! The step rule, against a simulation of every single cycle.

use proptest::prelude::*;
use vm_pmu_arch::counter::{Gate, Tap, Threshold};
use vm_pmu_arch::feed::{Lone, Scope, Signal};

/// One instruction: events of two kinds, the cycles that it takes, and how many of those (the last) are in each of two states.
#[derive(Clone, Copy, Debug)]
struct Step {
    events: [u64; 2],
    cycles: u64,
    states: [u64; 2],
}

fn step() -> impl Strategy<Value = Step> {
    ((0..4u64, 0..3u64), 0..6u64).prop_flat_map(|((first, second), cycles)| {
        (0..=cycles, 0..=cycles).prop_map(move |(one, two)| Step { events: [first, second], cycles, states: [one, two] })
    })
}

/// How many events each cycle has, cycle by cycle, as the rule says it.
fn simulate(steps: &[Step]) -> Vec<u64> {
    let mut ended = Vec::new();
    let mut open = 0;
    for step in steps {
        open += step.events[0] + step.events[1];
        for cycle in 0..step.cycles {
            let states = step.states.iter().filter(|length| cycle >= step.cycles - **length).count() as u64;
            ended.push(std::mem::take(&mut open) + states);
        }
    }
    ended
}

/// What a counter shows after those cycles, by the definition of each gate.
fn expect(gate: Gate, cycles: &[u64]) -> u64 {
    match gate {
        Gate::Cycles(threshold) => cycles.iter().filter(|events| threshold.met(**events)).count() as u64,
        Gate::Edges(threshold) => {
            let met = |cycle: usize| cycles.get(cycle).is_some_and(|events| threshold.met(*events));
            (0..cycles.len()).filter(|cycle| met(*cycle) && (*cycle == 0 || !met(cycle - 1))).count() as u64
        }
        Gate::Shut | Gate::Sum | Gate::Always | Gate::Outside => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masks_and_edges_are_those_of_single_cycles(
        steps in proptest::collection::vec(step(), 0..40),
        at_least in 1..5u8,
        inverted: bool,
        edges: bool,
    ) {
        let threshold = Threshold { at_least, inverted };
        let gate = if edges { Gate::Edges(threshold) } else { Gate::Cycles(threshold) };
        let signals = [Signal::Loads, Signal::Stores, Signal::DecoderEmptyCycles, Signal::InterruptsMaskedCycles];
        let thread = Lone::new();
        let mut tap = Tap::new(gate, Scope::Thread, signals);
        tap.settle(&thread, false);
        let mut counted = 0;
        for step in &steps {
            for (signal, amount) in signals.iter().zip(step.events.iter().chain(&step.states)) {
                thread.totals.add(*signal, *amount);
            }
            thread.totals.add(Signal::Cycles, step.cycles);
            counted += tap.fold(&thread);
        }
        prop_assert_eq!(counted, expect(gate, &simulate(&steps)));
    }

    #[test]
    fn outside_a_state_are_the_cycles_that_are_not_in_it(steps in proptest::collection::vec(step(), 0..40), every in 1..5usize) {
        let thread = Lone::new();
        let mut tap = Tap::new(Gate::Outside, Scope::Thread, [Signal::DecoderEmptyCycles]);
        tap.settle(&thread, false);
        let mut counted = 0;
        for (number, step) in steps.iter().enumerate() {
            thread.totals.add(Signal::DecoderEmptyCycles, step.states[0]);
            thread.totals.add(Signal::Cycles, step.cycles);
            if number % every == 0 {
                counted += tap.fold(&thread);
            }
        }
        counted += tap.fold(&thread);
        prop_assert_eq!(counted, steps.iter().map(|step| step.cycles - step.states[0]).sum::<u64>());
    }
}
