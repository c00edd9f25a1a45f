//! The pipeline of a Knights Landing, as the code that is common to all parts sees it.

use alloc::boxed::Box;
use core::slice;

use super::{EVENTS, KnlPipeline, KnlUnit, STATES, Units, rows};
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::Instruction;
use crate::pipeline::part::{Demanded, PLAIN, Part, SHORT};
use crate::pipeline::sharing::{PartShared, SharedState, Threads, Turn};
use crate::pipeline::touch::{Touch, Touches};
use crate::pipeline::{Continuation, CycleStates, Findings};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

impl SharedState for Units {
    fn new() -> Units {
        Units::new()
    }

    #[inline]
    fn of(shared: &mut PartShared) -> Option<&mut Box<Units>> {
        match shared {
            PartShared::Knl(shared) => Some(shared),
            #[allow(unreachable_patterns, reason = "a build may have one part")]
            _ => None,
        }
    }

    fn save(&self, writer: &mut Writer) {
        self.save(writer);
    }

    fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.load(reader, now)
    }
}

impl Part for KnlPipeline {
    const STATES: &'static [Signal] = &STATES;
    const EVENTS: &'static [Signal] = &EVENTS;
    const LAG: Option<u64> = Some(256);
    const IS_X86: bool = true;

    fn sync(&mut self, demanded: &Demanded<'_>) {
        self.account.sync(demanded.runs);
    }

    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, turn: Turn<'_>, tally: &mut Tally) {
        let mut threads = turn.threads(self.now());
        self.execute(instruction, found, &mut threads, tally);
    }

    #[inline]
    fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        let plain = rows::is_plain(instruction) && self.redirect.is_none();
        if plain {
            let (row, made) = (rows::of_cycle(KnlUnit::Integer), (&[] as &[Touch], Continuation::Sequential));
            let mut alone = Threads::ALONE;
            self.execute_as::<PLAIN, true>(instruction, &row, made, None, &mut alone, tally);
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
        let Some(unit) = rows::short(instruction).filter(|_| self.redirect.is_none()) else { return false };
        touches.one_at_most(|touch| {
            let (made, mut alone) = ((touch.map_or(&[] as &[Touch], slice::from_ref), continuation), Threads::ALONE);
            self.execute_as::<SHORT, true>(instruction, &rows::of_cycle(unit), made, None, &mut alone, tally);
            true
        })
    }

    fn execute_beside(&mut self, instruction: &Instruction<'_>, found: &Findings, turn: Turn<'_>, tally: &mut Tally) {
        let mut threads = turn.threads(self.now());
        match rows::short(instruction).filter(|_| found.count <= 1 && self.redirect.is_none()) {
            Some(unit) => {
                let made = (found.touches(), found.continuation);
                self.execute_as::<SHORT, false>(instruction, &rows::of_cycle(unit), made, None, &mut threads, tally);
            }
            None => self.execute(instruction, found, &mut threads, tally),
        }
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
}
