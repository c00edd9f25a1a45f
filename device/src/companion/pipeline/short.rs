//! Short ways through the pipelines, of threads that have their core to themselves.

use super::super::instruction::{Access, Instruction};
use super::super::tally::Tally;
#[cfg(test)]
use super::power9;
use super::touch::Touches;
use super::{Continuation, Core, Found, Pipeline};
#[cfg(test)]
use vm_pmu_arch::feed::Signal;

impl Pipeline {
    /// An instruction has been executed that fetched nothing, accessed nothing and goes on in sequence, by a thread that has its core to itself.
    /// Returns whether it has taken a short way; if not, nothing has been done.
    #[inline]
    pub(in super::super) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        match &mut self.core {
            Core::Power9(core) => core.execute_plain(instruction, tally),
            Core::Knl(core) => core.execute_plain(instruction),
            Core::K8(core) => core.execute_plain(instruction, tally),
            Core::Montecito(_) | Core::Itanium(_) => false,
        }
    }

    /// The same of one whose code was here, whose accesses hit, if it makes any, and that goes on at a place that was predicted or not.
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
            Core::Power9(core) if one => core.execute_short(instruction, &self.found, tally),
            _ => false,
        };
        if done {
            // Nothing else has been found.
            (self.found.count, self.found.continuation) = (0, Continuation::Sequential);
        } else {
            self.execute(instruction, 0, None, tally);
        }
    }

    /// The same of one whose only access hits `line` in the first level.
    #[inline]
    pub(in super::super) fn execute_hit(&mut self, instruction: &Instruction<'_>, access: &Access, line: u64, tally: &mut Tally) {
        if let Core::K8(core) = &mut self.core
            && core.execute_short(instruction, Touches::Hit(access, line), self.found.continuation, tally)
        {
            self.found.continuation = Continuation::Sequential;
            return;
        }
        self.access(access, line);
        self.execute_alone(instruction, tally);
    }

    /// From now on no instruction goes the short way.
    #[cfg(test)]
    pub(in super::super) fn go_the_long_way(&mut self) {
        if let Core::K8(core) = &mut self.core {
            core.long = true;
        }
    }
}

/// Whether instructions of POWER9 take the long way that could take a short one while `signal` is counted.
#[cfg(test)]
pub(in super::super) fn takes_the_long_way(signal: Signal) -> bool {
    let watched = power9::STATES.iter().position(|state| *state == signal).is_some_and(|number| power9::is_watched(1 << number));
    watched || power9::WAY_PREDICTION_MISSES.contains(&signal)
}
