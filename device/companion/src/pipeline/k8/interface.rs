//! The pipeline of a K8, as the code that is common to all parts sees it.

use super::{EVENTS, K8Pipeline, K8Row, STATES, rows};
use crate::instruction::Instruction;
use crate::pipeline::part::{Demanded, PLAIN, Part, SHORT};
use crate::pipeline::sharing::Turn;
use crate::pipeline::touch::Touches;
use crate::pipeline::{Continuation, CycleStates, Findings};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

impl Part for K8Pipeline {
    const STATES: &'static [Signal] = &STATES;
    const EVENTS: &'static [Signal] = &EVENTS;
    const IS_X86: bool = true;

    fn sync(&mut self, demanded: &Demanded<'_>) {
        self.account.sync(demanded.runs);
    }

    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, _turn: Turn<'_>, tally: &mut Tally) {
        self.execute(instruction, found, tally);
    }

    #[inline]
    fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        let plain = rows::is_plain(instruction);
        if plain {
            self.execute_as::<PLAIN>(instruction, K8Row::PLAIN, 0, Touches::Found(&[]), Continuation::Sequential, tally);
        }
        plain
    }

    #[inline]
    fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touches: Touches<'_>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        if touches.count() == 0 && continuation == Continuation::Sequential && self.execute_plain(instruction, tally) {
            return true;
        }
        let Some(row) = rows::short(instruction) else { return false };
        self.execute_as::<SHORT>(instruction, row, 0, touches, continuation, tally);
        true
    }

    #[inline]
    fn next(&mut self, wanted: u64) -> Option<(u64, CycleStates)> {
        let (cycles, states) = self.account.next(wanted)?;
        Some((cycles, CycleStates::of(states, &STATES)))
    }

    fn last(&self) -> Option<CycleStates> {
        Some(CycleStates::of(self.account.last?, &STATES))
    }

    fn data_taken(&mut self, line: u64) -> bool {
        self.data_taken(line)
    }

    fn code_taken(&mut self) -> bool {
        self.code_taken()
    }

    #[cfg(test)]
    fn go_the_long_way(&mut self) {
        self.long = true;
    }
}
