//! The pipeline of one part, as the code that is common to all parts sees it.

use core::fmt::Debug;

use vm_pmu_arch::feed::Signal;

use super::sharing::Turn;
use super::touch::{Touch, Touches};
use super::{Continuation, CycleStates, Findings, Source, ThirdLevelMiss};
use crate::bus_traffic::{BusTraffic, Lines};
use crate::bytes::Damaged;
use crate::caches::answered_snoops::Snoop;
use crate::instruction::Instruction;
use crate::outcome::Outcome;
use crate::tally::Tally;

/// The kinds of instructions that a pipeline has code for: instances of the same code, of which each also executes the kinds before its own.
///
/// A plain one is an operation of a cycle of an integer unit: it makes no access and continues in sequence.
pub(super) const PLAIN: u8 = 0;
/// A short one is at most such an operation and accesses that hit, wherever it continues. Nothing restarts before it.
pub(super) const SHORT: u8 = 1;
/// A general one is any.
pub(super) const GENERAL: u8 = 2;

/// The demand, as a pipeline uses it.
pub(super) struct Demanded<'a> {
    /// The demanded states, one bit each.
    pub(super) states: u64,
    /// Whether the pipeline keeps time.
    pub(super) runs: bool,
    /// Whether records ask for the outcome of each instruction.
    pub(super) records: bool,
    /// Whether a signal is demanded.
    pub(super) wants: &'a dyn Fn(Signal) -> bool,
}

impl Demanded<'_> {
    /// Whether one of `signals` is demanded.
    pub(super) fn any<'s>(&self, signals: impl IntoIterator<Item = &'s Signal>) -> bool {
        signals.into_iter().any(|signal| (self.wants)(*signal))
    }
}

/// The pipeline of a thread of one part. A part that lacks something keeps the default. Each also has functions `new`, `save` and `load`, which the dispatch
/// calls by its type.
pub(super) trait Part: Clone + Debug {
    /// The signals of its states, in order.
    const STATES: &'static [Signal];
    /// The signals of its events.
    const EVENTS: &'static [Signal];
    /// Maximum number of cycles that a thread may lag behind the leading threads of its core. A thread that lags further is moved forward to
    /// this limit. `None` if the threads of a core do not compete.
    const LAG: Option<u64> = None;
    /// Whether the part is of IA-64: it has a front-side bus, and its embedders report bundles.
    const IS_IA64: bool = false;
    /// Whether the part is of x86: it has local APICs.
    const IS_X86: bool = false;
    /// Whether one answer of a package to a snoop is made of those of its cores, and counted.
    const JOINS_ANSWERS: bool = false;

    /// Whether it supplies `signal`, which is neither a state's nor an event's.
    fn supplies(_signal: Signal) -> bool {
        false
    }

    /// Applies a changed demand. Unreported cycles are dropped.
    fn sync(&mut self, demanded: &Demanded<'_>);

    /// Executes an instruction.
    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, turn: Turn<'_>, tally: &mut Tally);

    /// Executes an instruction whose code is present, that made no access and continues in sequence, on a thread that has its core to
    /// itself. Returns whether the fast path took it; if not, nothing has been done.
    fn execute_plain(&mut self, _instruction: &Instruction<'_>, _tally: &mut Tally) -> bool {
        false
    }

    /// Executes an instruction whose code is present, whose accesses, if any, hit, and that continues in sequence or elsewhere, on such a
    /// thread. Returns whether the fast path took it; if not, nothing has been done.
    fn execute_short(
        &mut self,
        _instruction: &Instruction<'_>,
        _touches: Touches<'_>,
        _continuation: Continuation,
        _tally: &mut Tally,
    ) -> bool {
        false
    }

    /// Executes an instruction whose only access stores through to the second level, on such a thread. Returns whether the fast path took
    /// it; if not, nothing has been done.
    fn execute_through(&mut self, _instruction: &Instruction<'_>, _touch: &Touch, _continuation: Continuation, _tally: &mut Tally) -> bool {
        false
    }

    /// Executes an instruction with at most one access that hits or stores through, on a thread that competes with others of its core.
    fn execute_beside(&mut self, instruction: &Instruction<'_>, found: &Findings, turn: Turn<'_>, tally: &mut Tally) {
        self.execute(instruction, found, turn, tally);
    }

    /// Removes consecutive cycles in which the same of the `wanted` states hold. Returns their number and what holds.
    fn next(&mut self, wanted: u64) -> Option<(u64, CycleStates)>;

    /// Returns what held in the last cycle that was reported.
    fn last(&self) -> Option<CycleStates>;

    /// Handles another core's taking `line` to write it. Returns whether execution restarts, from a load of the line that is ahead of its
    /// turn.
    fn data_taken(&mut self, _line: u64) -> bool {
        false
    }

    /// Handles another processor's taking the line of code that is being executed. Returns whether the pipeline restarts.
    fn code_taken(&mut self) -> bool {
        false
    }

    /// Returns which table walker served the walks of the last instruction. Bit 0 is for its code and bit n for its access n; a set bit
    /// means the second walker.
    fn walkers(&self) -> u32 {
        0
    }

    /// Stores the outcome of the last executed instruction in `outcome`.
    fn tell(&self, _outcome: &mut Outcome) {}

    /// Returns bus traffic `carried` for `lines`, with where the bus knows them.
    fn carries(&mut self, carried: BusTraffic, _lines: Lines) -> BusTraffic {
        carried
    }

    /// Takes a snoop that the caches of the core have answered. Returns for how many clocks of the bus its transaction waited for the
    /// answer.
    fn met(&mut self, _snoop: Snoop) -> u64 {
        0
    }

    /// Counts the occupancy of the bus queues in the cycles that have been reported.
    fn settle_bus(&mut self, _tally: &mut Tally) {}

    /// Ends the stream of prefetches of code.
    fn end_stream(&mut self, _tally: &mut Tally) {}

    /// Returns whether the stream has requested another line by now.
    fn stream_has_gone_on(&self) -> bool {
        false
    }

    /// Prefetches a line of code, as part of a stream or not. `from` is its source and its latency from now on; `None` if the first level
    /// has it.
    fn prefetch_code(&mut self, _line: u64, _from: Option<(Source, u32)>, _streams: bool, _tally: &mut Tally) {}

    /// Sets whether misses of the third level are reported in the cycles in which they are known.
    fn watch(&mut self, _watched: bool) {}

    /// Limits the number of cycles that are reported from now on.
    fn report_at_most(&mut self, _cycles: Option<u64>) {}

    /// Returns the next miss of the third level, once all cycles up to it have been reported.
    fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        None
    }

    /// Returns the number of cycles since an instruction last completed, if the pipeline knows it.
    fn idle(&self) -> Option<u64> {
        None
    }

    /// Resumes the thread after `background` cycles in the background.
    fn resume(&mut self, _background: u64, _tally: &mut Tally) {}

    /// Returns the reason of the last cycle in saved form; 0 if there is none.
    fn saved_reason(&self) -> u64 {
        0
    }

    /// Loads the reason of the last cycle.
    fn load_reason(&mut self, reason: u64) -> Result<(), Damaged> {
        if reason == 0 { Ok(()) } else { Err(Damaged) }
    }

    /// Disables the fast path of dispatch from now on.
    #[cfg(test)]
    fn go_the_long_way(&mut self) {}
}
