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

/// How many events of each kind, with the state of that kind, each cycle has, cycle by cycle, as the rule says it.
fn simulate(steps: &[Step]) -> Vec<[u64; 2]> {
    let mut ended = Vec::new();
    let mut open = [0; 2];
    for step in steps {
        open[0] += step.events[0];
        open[1] += step.events[1];
        for cycle in 0..step.cycles {
            let open = std::mem::take(&mut open);
            ended.push([0, 1].map(|kind| open[kind] + u64::from(cycle >= step.cycles - step.states[kind])));
        }
    }
    ended
}

/// What a counter shows after those cycles, by the definition of each gate.
fn expect(gate: Gate, cycles: &[[u64; 2]]) -> u64 {
    let met = |cycle: &[u64; 2]| match gate {
        Gate::Cycles(threshold) | Gate::Edges(threshold) => threshold.met(cycle[0] + cycle[1]),
        Gate::Falls => cycle[0] + cycle[1] != 0,
        Gate::Both | Gate::BothFall => cycle[0] != 0 && cycle[1] != 0,
        Gate::Shut | Gate::Sum | Gate::Always | Gate::Outside => false,
    };
    let changes = |to: bool| {
        let before = [false].into_iter().chain(cycles.iter().map(met));
        cycles.iter().map(met).zip(before).filter(|(now, before)| *now == to && *before != to).count() as u64
    };
    match gate {
        Gate::Edges(_) => changes(true),
        Gate::Falls | Gate::BothFall => changes(false),
        _ => cycles.iter().filter(|cycle| met(cycle)).count() as u64,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masks_and_edges_are_those_of_single_cycles(
        steps in proptest::collection::vec(step(), 0..40),
        at_least in 1..5u8,
        inverted: bool,
        gate in 0..5usize,
    ) {
        let threshold = Threshold { at_least, inverted };
        let gate = [Gate::Cycles(threshold), Gate::Edges(threshold), Gate::Falls, Gate::Both, Gate::BothFall][gate];
        let signals = [Signal::Loads, Signal::DecoderEmptyCycles, Signal::Stores, Signal::InterruptsMaskedCycles];
        let thread = Lone::new();
        let mut tap = Tap::new(gate, Scope::Thread, [signals[0], signals[1]]);
        tap.begin_second();
        tap.connect(signals[2]);
        tap.connect(signals[3]);
        tap.settle(&thread, false);
        let mut counted = 0;
        for step in &steps {
            for (signal, amount) in signals.iter().zip([step.events[0], step.states[0], step.events[1], step.states[1]]) {
                thread.totals.add(*signal, amount);
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
