//! Tests of the first Itanium's pipeline with hand-made bundles.

mod answers;
mod rules;

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::signals::{ItaniumState, REASONS};
use super::{ItaniumGroupEnd, ItaniumPipeline, STATES};
use crate::bytes::{Reader, Writer};
use crate::ia64_register::{APPLICATION, FLOATING, PREDICATES};
use crate::instruction::{AccessKind, Class, Instruction, Register};
use crate::pipeline::ia64::bench::{self, *};
use crate::pipeline::touch::Source;
use crate::pipeline::{Continuation, Findings};
use crate::tally::Tally;

type Bench = bench::Bench<ItaniumPipeline>;

impl Executes for ItaniumPipeline {
    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, tally: &mut Tally) {
        self.execute(instruction, found, tally);
    }
}

/// States and events of a run.
struct Answer {
    states: [u64; STATES.len()],
    events: Vec<(Signal, u64)>,
}

impl Answer {
    fn state(&self, state: ItaniumState) -> u64 {
        self.states[state as usize]
    }

    fn sum(&self, states: &[ItaniumState]) -> u64 {
        states.iter().map(|state| self.state(*state)).sum()
    }

    fn event(&self, signal: Signal) -> u64 {
        self.events.iter().find(|(each, _)| *each == signal).map_or(0, |(_, count)| *count)
    }

    /// Returns the number of groups and bubbles.
    fn cycles(&self) -> u64 {
        self.states[..ItaniumState::Completion as usize].iter().sum()
    }

    /// Returns UNSTALLED_BACKEND_CYCLE: inherent execution and code access.
    fn unstalled(&self) -> u64 {
        self.sum(&[
            ItaniumState::Inherent,
            ItaniumState::EmptySecond,
            ItaniumState::EmptyThird,
            ItaniumState::EmptyMemory,
            ItaniumState::EmptyTranslation,
        ])
    }

    /// Returns PIPELINE_BACKEND_FLUSH_CYCLE.
    fn flushes(&self) -> u64 {
        self.sum(&[ItaniumState::FlushBranch, ItaniumState::FlushException])
    }

    /// Returns DEPENDENCY_ALL_CYCLE: the scoreboard, and lack of units.
    fn dependency(&self) -> u64 {
        self.sum(&[ItaniumState::Execution, ItaniumState::Limited])
    }

    /// Returns MEMORY_CYCLE.
    fn memory(&self) -> u64 {
        self.sum(&[ItaniumState::Memory, ItaniumState::RegisterStack])
    }

    /// Asserts the number of all clocks and the sums of PI27, T, D, Y and F, which add up to it.
    fn expect(&self, cycles: u64, [unstalled, dependency, memory, flushes]: [u64; 4]) {
        let sums = [self.unstalled(), self.dependency(), self.memory(), self.flushes() + self.state(ItaniumState::EmptyBubble)];
        assert_eq!((self.cycles(), sums), (cycles, [unstalled, dependency, memory, flushes]));
        assert_eq!(sums.iter().sum::<u64>(), cycles);
    }

    /// Returns the number of groups ended by a stop of the program, and by any stop, implicit ones included.
    fn stops(&self) -> [u64; 2] {
        let stops = self.event(Signal::StopsDispersed);
        [stops, stops + self.event(Signal::ImplicitStopsDispersed)]
    }
}

impl bench::Bench<ItaniumPipeline> {
    fn new() -> Bench {
        Bench::of(ItaniumPipeline::new())
    }

    fn finish(mut self) -> Answer {
        self.core.close(ItaniumGroupEnd::Stop, &mut self.tally);
        while !self.core.flight.is_empty() {
            self.core.pass(0, &mut self.tally);
        }
        let mut states = [0; STATES.len()];
        while let Some((clocks, held)) = self.core.track.next(u64::MAX) {
            assert_eq!((held & REASONS).count_ones(), 1, "a clock has one reason");
            states.iter_mut().enumerate().filter(|(state, _)| held >> state & 1 == 1).for_each(|(_, sum)| *sum += clocks);
        }
        Answer { states, events: super::EVENTS.map(|signal| (signal, self.tally.get(signal))).into() }
    }
}
