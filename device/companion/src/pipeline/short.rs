//! Fast paths through the pipelines, mostly for threads that have their core to themselves.

use super::part::Part;
#[cfg(test)]
use super::power9;
use super::sharing::{Sharing, Turn};
use super::touch::Touches;
use super::{Continuation, Pipeline, Source, Touch};
use crate::instruction::{Access, Instruction};
use crate::tally::Tally;
#[cfg(test)]
use vm_pmu_arch::feed::Signal;

impl Pipeline {
    /// Executes an instruction whose code is present, that made no access and continues in sequence, on a thread that has its core to
    /// itself. Returns whether the fast path took it; if not, nothing has been done.
    #[inline]
    pub(crate) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        each!(&mut self.of_part, part => Part::execute_plain(&mut **part, instruction, tally))
    }

    /// Executes an instruction whose code is present, whose accesses, if any, hit, and that continues at a place that was predicted or not,
    /// on such a thread.
    #[inline]
    pub(crate) fn execute_alone(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        let plain = self.found.count == 0 && instruction.transfer.is_none();
        if plain && self.execute_plain(instruction, tally) {
            return;
        }
        let (touches, continuation) = (Touches::Found(self.found.touches()), self.found.continuation);
        if each!(&mut self.of_part, part => Part::execute_short(&mut **part, instruction, touches, continuation, tally)) {
            self.found.clear_short();
        } else {
            self.execute(instruction, 0, None, tally);
        }
    }

    /// Executes an instruction whose only access hits `line` in the first level, or stores `through` to the second level after so many
    /// cycles, on such a thread.
    #[inline]
    pub(crate) fn execute_hit(
        &mut self,
        instruction: &Instruction<'_>,
        (access, line): (&Access, u64),
        through: Option<u32>,
        tally: &mut Tally,
    ) {
        let continuation = self.found.continuation;
        let done = if let Some(latency) = through {
            let touch = Touch { missed: true, latency, source: Source::Second, ..Touch::new(access, line) };
            each!(&mut self.of_part, part => part.execute_through(instruction, &touch, continuation, tally))
        } else {
            let touches = Touches::Hit(access, line);
            each!(&mut self.of_part, part => Part::execute_short(&mut **part, instruction, touches, continuation, tally))
        };
        if done {
            self.found.continuation = Continuation::Sequential;
            return;
        }
        self.access(access, line);
        if let Some(latency) = through {
            self.missed(latency, Source::Second);
        }
        self.execute(instruction, 0, None, tally);
    }

    /// Executes an instruction with at most one such access, on thread `thread`, which competes with others of its core.
    pub(crate) fn execute_beside(
        &mut self,
        instruction: &Instruction<'_>,
        thread: usize,
        together: Option<(&mut Sharing, u32)>,
        tally: &mut Tally,
    ) {
        if together.is_none() {
            return self.execute(instruction, thread, None, tally);
        }
        let turn = Turn::new(thread, together, &mut self.offset);
        each!(&mut self.of_part, part => Part::execute_beside(&mut **part, instruction, &self.found, turn, tally));
        self.found.clear_short();
    }

    /// Disables the fast path from now on.
    #[cfg(test)]
    pub(crate) fn go_the_long_way(&mut self) {
        each!(&mut self.of_part, part => part.go_the_long_way());
    }
}

/// Whether instructions of POWER9 that could take a fast path do not while `signal` is counted.
#[cfg(test)]
pub(crate) fn takes_the_long_way(signal: Signal) -> bool {
    let watched = power9::STATES.iter().position(|state| *state == signal).is_some_and(|number| power9::is_watched(1 << number));
    watched || power9::WAY_PREDICTION_MISSES.contains(&signal)
}
