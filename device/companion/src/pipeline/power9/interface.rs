//! The pipeline of a POWER9, as the code that is common to all parts sees it.

use alloc::boxed::Box;

use super::{
    EVENTS, Power9Pipeline, REASONS, STATES, SharedUnits, WAY_PREDICTION_MISSES, has_reason_of, is_watched, reason_signals, signals_of,
};
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::Instruction;
use crate::outcome::Outcome;
use crate::pipeline::part::{Demanded, Part};
use crate::pipeline::sharing::{PartShared, SharedState, Turn};
use crate::pipeline::touch::{Touch, Touches};
use crate::pipeline::{Continuation, CycleStates, Findings};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

impl SharedState for SharedUnits {
    fn new() -> SharedUnits {
        SharedUnits::new()
    }

    #[inline]
    fn of(shared: &mut PartShared) -> Option<&mut Box<SharedUnits>> {
        match shared {
            PartShared::Power9(shared) => Some(shared),
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

impl Power9Pipeline {
    /// Returns `states` and, if the reasons of cycles are demanded, the signals of this one.
    #[inline]
    fn held(&self, states: u64, reason: Option<u8>) -> CycleStates {
        let reason = reason.filter(|_| self.reasons_wanted);
        CycleStates { reason: reason.map_or(&[], signals_of), ..CycleStates::of(states, &STATES) }
    }
}

impl Part for Power9Pipeline {
    const STATES: &'static [Signal] = &STATES;
    const EVENTS: &'static [Signal] = &EVENTS;
    /// A load from another package takes 650 cycles.
    const LAG: Option<u64> = Some(768);

    fn supplies(signal: Signal) -> bool {
        has_reason_of(signal)
    }

    fn sync(&mut self, demanded: &Demanded<'_>) {
        self.reasons_wanted = reason_signals().any(|signal| (demanded.wants)(signal));
        self.reasons.take(self.account.passed());
        self.account.sync(demanded.runs);
        self.watches = is_watched(demanded.states);
        self.predicts = demanded.any(&WAY_PREDICTION_MISSES);
        self.told = demanded.records;
        self.quiet = self.is_quiet();
        self.last_reason = self.last_reason.filter(|_| demanded.runs);
    }

    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, turn: Turn<'_>, tally: &mut Tally) {
        let (missed, mut threads) = turn.on_core_time(self.now());
        self.shift(missed);
        self.execute(instruction, found, &mut threads, tally);
    }

    #[inline]
    fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        self.execute_plain(instruction, tally)
    }

    #[inline]
    fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touches: Touches<'_>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        touches.one_at_most(|touch| self.execute_short(instruction, touch, continuation, tally))
    }

    #[inline]
    fn execute_through(&mut self, instruction: &Instruction<'_>, touch: &Touch, continuation: Continuation, tally: &mut Tally) -> bool {
        self.execute_short(instruction, Some(touch), continuation, tally)
    }

    fn execute_beside(&mut self, instruction: &Instruction<'_>, found: &Findings, turn: Turn<'_>, tally: &mut Tally) {
        let (missed, mut threads) = turn.on_core_time(self.now());
        self.shift(missed);
        let plain = found.count == 0 && found.continuation == Continuation::Sequential;
        let short = plain && self.execute_plain_beside(instruction, &mut threads, tally);
        if !short {
            self.execute(instruction, found, &mut threads, tally);
        }
    }

    #[inline]
    fn next(&mut self, wanted: u64) -> Option<(u64, CycleStates)> {
        let (reason, most) = self.reasons.peek().unwrap_or((0, u64::MAX));
        let most = if self.reasons_wanted { most } else { u64::MAX };
        let (cycles, states) = self.account.next_within(wanted, most)?;
        self.reasons.take(cycles);
        self.last_reason = Some(reason);
        Some((cycles, self.held(states, self.last_reason)))
    }

    fn last(&self) -> Option<CycleStates> {
        let reason = self.last_reason.map_or(&[] as &[Signal], signals_of);
        Some(CycleStates { reason, ..CycleStates::of(self.account.last?, &STATES) })
    }

    fn walkers(&self) -> u32 {
        self.second_walker
    }

    fn tell(&self, outcome: &mut Outcome) {
        self.tell(outcome);
    }

    fn saved_reason(&self) -> u64 {
        self.last_reason.map_or(0, |reason| u64::from(reason) + 1)
    }

    fn load_reason(&mut self, reason: u64) -> Result<(), Damaged> {
        self.last_reason = match reason {
            0 => None,
            reason if reason <= REASONS as u64 => Some((reason - 1) as u8),
            _ => return Err(Damaged),
        };
        Ok(())
    }
}
