//! Fast paths through the pipelines, mostly for threads that have their core to themselves.

use super::super::instruction::{Access, Instruction};
use super::super::tally::Tally;
#[cfg(test)]
use super::power9;
use super::sharing::{Sharing, Threads};
use super::touch::Touches;
use super::{Continuation, Core, Found, Pipeline, Source, Touch};
#[cfg(test)]
use vm_pmu_arch::feed::Signal;

impl Pipeline {
    /// Executes an instruction whose code is present, that made no access and continues in sequence, on a thread that has its core to
    /// itself. Returns whether the fast path took it; if not, nothing has been done.
    #[inline]
    pub(in super::super) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        match &mut self.core {
            Core::Power9(core) => core.execute_plain(instruction, tally),
            Core::Knl(core) => core.execute_plain(instruction),
            Core::K8(core) => core.execute_plain(instruction, tally),
            Core::Montecito(_) | Core::Itanium(_) => false,
        }
    }

    /// Executes an instruction whose code is present, whose accesses, if any, hit, and that continues at a place that was predicted or not,
    /// on such a thread.
    #[inline]
    pub(in super::super) fn execute_alone(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        let plain = self.found.count == 0 && instruction.transfer.is_none();
        if plain && self.execute_plain(instruction, tally) {
            return;
        }
        let Found { continuation, .. } = self.found;
        let one = self.found.count <= 1;
        let done = match &mut self.core {
            Core::K8(core) => core.execute_short(instruction, Touches::Found(self.found.touches()), continuation, tally),
            Core::Knl(core) if one => core.execute_short(instruction, self.found.touches().first(), continuation, tally),
            Core::Power9(core) if one => core.execute_short(instruction, self.found.touches().first(), continuation, tally),
            _ => false,
        };
        if done {
            // Nothing else has been found.
            (self.found.count, self.found.continuation) = (0, Continuation::Sequential);
        } else {
            self.execute(instruction, 0, None, tally);
        }
    }

    /// Executes an instruction whose only access hits `line` in the first level, on such a thread.
    #[inline]
    pub(in super::super) fn execute_hit(&mut self, instruction: &Instruction<'_>, access: &Access, line: u64, tally: &mut Tally) {
        let continuation = self.found.continuation;
        let done = match &mut self.core {
            Core::K8(core) => core.execute_short(instruction, Touches::Hit(access, line), continuation, tally),
            Core::Knl(core) => core.execute_short(instruction, Some(&Touch::new(access, line)), continuation, tally),
            Core::Power9(core) => core.execute_short(instruction, Some(&Touch::new(access, line)), continuation, tally),
            Core::Montecito(_) | Core::Itanium(_) => false,
        };
        if done {
            self.found.continuation = Continuation::Sequential;
            return;
        }
        self.access(access, line);
        self.execute(instruction, 0, None, tally);
    }

    /// Executes an instruction whose only access stores through to `line` in the second level, after `latency` cycles, on such a thread.
    #[inline]
    pub(in super::super) fn execute_through(
        &mut self,
        instruction: &Instruction<'_>,
        (access, line): (&Access, u64),
        latency: u32,
        tally: &mut Tally,
    ) {
        let touch = Touch { missed: true, latency, source: Source::Second, ..Touch::new(access, line) };
        if let Core::Power9(core) = &mut self.core
            && core.execute_short(instruction, Some(&touch), self.found.continuation, tally)
        {
            self.found.continuation = Continuation::Sequential;
            return;
        }
        self.access(access, line);
        self.missed(latency, Source::Second);
        self.execute(instruction, 0, None, tally);
    }

    /// Executes an instruction with at most one such access, on thread `thread`, which competes with others of its core.
    pub(in super::super) fn execute_beside(
        &mut self,
        instruction: &Instruction<'_>,
        thread: usize,
        together: Option<(&mut Sharing, u32)>,
        tally: &mut Tally,
    ) {
        let Some((sharing, running)) = together else {
            return self.execute(instruction, thread, None, tally);
        };
        let Found { continuation, count, .. } = self.found;
        match &mut self.core {
            Core::Knl(core) => {
                let mut threads = Threads::new(sharing, thread, running, core.now(), &mut self.offset);
                let touch = self.found.touches().first();
                let short = count <= 1 && core.execute_beside(instruction, touch, continuation, &mut threads, tally);
                if !short {
                    core.execute(instruction, &self.found, &mut threads, tally);
                }
            }
            Core::Power9(core) => {
                let (missed, mut threads) = Threads::on_core_time(sharing, thread, running, core.now());
                core.shift(missed);
                let plain = count == 0 && continuation == Continuation::Sequential;
                let short = plain && core.execute_plain_beside(instruction, &mut threads, tally);
                if !short {
                    core.execute(instruction, &self.found, &mut threads, tally);
                }
            }
            Core::K8(_) | Core::Montecito(_) | Core::Itanium(_) => {
                return self.execute(instruction, thread, Some((sharing, running)), tally);
            }
        }
        // Nothing else has been found.
        (self.found.count, self.found.continuation) = (0, Continuation::Sequential);
    }

    /// Disables the fast path from now on.
    #[cfg(test)]
    pub(in super::super) fn go_the_long_way(&mut self) {
        if let Core::K8(core) = &mut self.core {
            core.long = true;
        }
    }
}

/// Whether instructions of POWER9 that could take a fast path do not while `signal` is counted.
#[cfg(test)]
pub(in super::super) fn takes_the_long_way(signal: Signal) -> bool {
    let watched = power9::STATES.iter().position(|state| *state == signal).is_some_and(|number| power9::is_watched(1 << number));
    watched || power9::WAY_PREDICTION_MISSES.contains(&signal)
}
