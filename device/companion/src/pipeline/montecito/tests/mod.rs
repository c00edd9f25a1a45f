//! Tests of Montecito's pipeline with hand-made bundles.

mod answers;
mod rules;
mod threads;

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::signals::MontecitoState;
use super::{MontecitoGroupEnd, MontecitoPipeline, STATES};
use crate::bytes::{Reader, Writer};
use crate::ia64_register::APPLICATION;
use crate::instruction::{AccessKind, Class, Instruction, Register};
use crate::pipeline::ia64::bench::{self, *};
use crate::pipeline::touch::{Source, Touch};
use crate::pipeline::{Continuation, Findings, ThirdLevelMiss};
use crate::tally::Tally;

type Bench = bench::Bench<MontecitoPipeline>;

impl Executes for MontecitoPipeline {
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
    fn state(&self, state: MontecitoState) -> u64 {
        self.states[state as usize]
    }

    /// Returns the number of groups and bubbles.
    fn cycles(&self) -> u64 {
        self.states[..MontecitoState::DispersalStall as usize].iter().sum()
    }

    fn event(&self, signal: Signal) -> u64 {
        self.events.iter().find(|(each, _)| *each == signal).map_or(0, |(_, count)| *count)
    }

    /// Asserts the number of cycles of execution and of groups.
    fn expect(&self, cycles: u64, groups: u64) {
        assert_eq!((self.cycles(), self.state(MontecitoState::Completion)), (cycles, groups));
        let lost = [Signal::SlotsNotDispersedStop, Signal::SlotsNotDispersedImplicit, Signal::SlotsNotDispersedFrontEnd];
        let lost = lost.iter().map(|signal| self.event(*signal)).sum::<u64>() + self.event(Signal::SlotsNotDispersedLong);
        assert_eq!(lost, self.event(Signal::SlotsNotDispersed));
        // PM44
        let slots = 6 * (cycles - self.state(MontecitoState::DispersalStall));
        assert_eq!(slots, self.event(Signal::InstructionsDispersed) + lost - self.event(Signal::SlotsOvercounted));
    }

    /// Returns the slots lost to stops, implicit stops, the front end and long instructions.
    fn slots(&self) -> [u64; 4] {
        [Signal::SlotsNotDispersedStop, Signal::SlotsNotDispersedImplicit, Signal::SlotsNotDispersedFrontEnd, Signal::SlotsNotDispersedLong]
            .map(|signal| self.event(signal))
    }
}

impl bench::Bench<MontecitoPipeline> {
    fn new() -> Bench {
        Bench::of(MontecitoPipeline::new())
    }

    fn finish(mut self) -> Answer {
        self.core.close(MontecitoGroupEnd::Stop, &mut self.tally);
        while !self.core.flight.is_empty() {
            self.core.pass(0);
        }
        let mut states = [0; STATES.len()];
        while let Some((clocks, held)) = self.core.track.next(u64::MAX) {
            states.iter_mut().enumerate().filter(|(state, _)| held >> state & 1 == 1).for_each(|(_, sum)| *sum += clocks);
        }
        // The front end's activity is reported later than it happens.
        while let Some((cause, clocks)) = self.core.front.reports.peek() {
            if let Some(state) = super::IDLE_STATES.get(usize::from(cause).wrapping_sub(1)) {
                states[*state as usize] += clocks;
            }
            self.core.front.reports.take(clocks);
        }
        Answer { states, events: super::EVENTS.map(|signal| (signal, self.tally.get(signal))).into() }
    }
}
