//! A tap alone: what is counted once, and when it must be serviced.

use super::*;
use crate::feed::Lone;

/// A thread that promises its cycles to be spent in these states.
struct Steady {
    lone: Lone,
    states: SignalSet,
}

impl Feed for Steady {
    fn total(&self, signal: Signal, scope: Scope) -> u64 {
        self.lone.total(signal, scope)
    }

    fn arm(&self, signal: Signal, scope: Scope, base: u64, allowance: u64) {
        self.lone.arm(signal, scope, base, allowance);
    }

    fn disarm(&self, signal: Signal, scope: Scope) {
        self.lone.disarm(signal, scope);
    }

    fn steady(&self, _clock: Scope) -> Option<&SignalSet> {
        Some(&self.states)
    }
}

const EMPTY: Signal = Signal::DecoderEmptyCycles;
const AT_LEAST_2: Threshold = Threshold { at_least: 2, inverted: false };
const BELOW_2: Threshold = Threshold { at_least: 2, inverted: true };

/// How many cycles a tap of loads and of cycles with an empty decoder leaves unseen with so many events left, after what `prepare` did.
fn unseen(gate: Gate, states: &[Signal], remaining: Option<u64>, prepare: impl FnOnce(&mut Tap, &Lone)) -> u64 {
    let thread = Steady { lone: Lone::new(), states: states.iter().copied().collect() };
    let mut tap = Tap::new(gate, Scope::Thread, [Signal::Loads, EMPTY]);
    tap.settle(&thread, false);
    prepare(&mut tap, &thread.lone);
    tap.arm(&thread, remaining);
    thread.lone.deadlines.distance(Signal::Cycles, &thread.lone.totals)
}

/// Nothing sets a deadline.
const NEVER: u64 = u64::MAX;

#[test]
fn a_rewired_tap_shares_no_deadline_with_what_follows_its_former_sources() {
    let mut tap = Tap::new(Gate::Edges(Threshold::ANY), Scope::Thread, [Signal::Loads]);
    let others = [Signal::Loads, Signal::Cycles].map(|signal| Tap::new(Gate::Sum, Scope::Thread, [signal]));
    assert!(others.iter().all(|other| tap.may_share(other)));
    tap.rewire(Gate::Sum, Scope::Thread);
    tap.connect(Signal::Stores);
    assert!(!others.iter().any(|other| tap.may_share(other)));
}

#[test]
fn what_is_discarded_is_counted_by_no_gate() {
    let gates = [Gate::Sum, Gate::Always, Gate::Outside, Gate::Cycles(Threshold::ANY), Gate::Edges(Threshold::ANY), Gate::Falls];
    for gate in gates {
        let thread = Lone::new();
        let mut tap = Tap::new(gate, Scope::Thread, [Signal::Loads, EMPTY]);
        tap.settle(&thread, false);
        for (signal, amount) in [(Signal::Loads, 3), (EMPTY, 4), (Signal::Cycles, 9)] {
            thread.totals.add(signal, amount);
        }
        assert_eq!(tap.discard(&thread), 0, "{gate:?}");
        assert_eq!(tap.fold(&thread), 0, "{gate:?}");
    }
}

#[test]
fn steady_cycles_that_are_counted_are_unseen_up_to_the_overflow() {
    for (gate, states, remaining, expected) in [
        (Gate::Cycles(Threshold::ANY), &[EMPTY][..], Some(100), 100),
        (Gate::Cycles(Threshold::ANY), &[EMPTY], None, NEVER),
        (Gate::Cycles(AT_LEAST_2), &[EMPTY], Some(100), NEVER),
        (Gate::Cycles(BELOW_2), &[EMPTY], Some(100), 100),
        (Gate::Always, &[], Some(100), 100),
        (Gate::Outside, &[], Some(100), 100),
        (Gate::Outside, &[EMPTY], Some(100), NEVER),
    ] {
        let unseen = unseen(gate, states, remaining, |tap, _| {
            let met = tap.met_in(gate, |signal| states.contains(&signal), 0);
            tap.set_detector(Detector { was_met: met, ..Detector::default() });
        });
        assert_eq!(unseen, expected, "{gate:?} {states:?} {remaining:?}");
    }
}

#[test]
fn a_steady_level_has_no_edge_after_its_first_cycle() {
    let edges = Gate::Edges(Threshold::ANY);
    let after = |was_met| move |tap: &mut Tap, _: &Lone| tap.set_detector(Detector { was_met, ..Detector::default() });
    assert_eq!(unseen(edges, &[EMPTY], Some(1), after(false)), 1, "it rises in this one");
    assert_eq!(unseen(edges, &[EMPTY], Some(1), after(true)), NEVER);
    assert_eq!(unseen(Gate::Falls, &[], Some(1), after(true)), 1, "it falls in this one");
    assert_eq!(unseen(Gate::Falls, &[], Some(1), after(false)), NEVER);
}

#[test]
fn injected_cycles_of_a_state_are_a_level_of_their_own() {
    let stay = |was_met| move |tap: &mut Tap, _: &Lone| tap.set_detector(Detector { stay: 7, was_met, ..Detector::default() });
    assert_eq!(unseen(Gate::Edges(Threshold::ANY), &[], Some(9), stay(true)), 7);
    assert_eq!(unseen(Gate::Cycles(Threshold::ANY), &[], Some(5), stay(true)), 5);
    assert_eq!(unseen(Gate::Cycles(AT_LEAST_2), &[EMPTY], Some(9), stay(true)), 7, "with the other state it is the second");
    assert_eq!(unseen(Gate::Outside, &[], Some(9), stay(false)), 16);
}

#[test]
fn a_cycle_with_events_is_seen_whatever_is_promised_of_the_others() {
    let gate = Gate::Cycles(Threshold::ANY);
    assert_eq!(unseen(gate, &[], Some(100), |tap, _| tap.set_detector(Detector { open: 1, ..Detector::default() })), 1);
    assert_eq!(unseen(Gate::Both, &[], Some(100), |tap, _| tap.set_detector(Detector { second: 1, ..Detector::default() })), 1);
    let load = |_: &mut Tap, thread: &Lone| {
        thread.totals.add(Signal::Loads, 1);
    };
    assert_eq!(unseen(gate, &[], Some(100), load), 1, "it has not been folded");
}

#[test]
fn a_counter_that_asks_for_its_level_sees_the_next_cycle() {
    assert_eq!(unseen(Gate::Edges(Threshold::ANY), &[], None, |tap, _| tap.ask(Question::Began)), 1);
}

#[test]
fn each_steady_cycle_is_seen_that_is_an_increment_of_its_own() {
    let pulses = |tap: &mut Tap, thread: &Lone| {
        tap.track_increments(true, thread);
        tap.set_detector(Detector { was_met: true, ..Detector::default() });
    };
    assert_eq!(unseen(Gate::Sum, &[EMPTY], None, pulses), 1);
}
