//! Paths through the pipeline: instances of one body, each without what its instructions never do. They leave the pipeline in the same
//! state as the [general](General) path, which a test compares.

use super::rows::{self, BRANCH, FIXED, MEMORY, Power9Row, STORE};
use super::{Executed, Power9Pipeline, Reason};
use crate::instruction::{Class, Instruction};
use crate::pipeline::sharing::Threads;
use crate::pipeline::{Continuation, Findings, Source, Touch};
use crate::tally::Tally;

/// What is known of the instructions that take a path.
pub(super) trait Path {
    /// The row of all of them.
    const ROW: Option<Power9Row> = None;
    /// Whether their code is present, their only access, if any, hits or is a store that the second level takes at once, a load meets no
    /// store, nothing serializes them, and neither records nor watched queues are demanded.
    const QUIET: bool = true;
    /// Whether their thread has its core to itself.
    const ALONE: bool = true;

    /// Whether an access of theirs loads.
    #[inline]
    fn loads(touch: &Touch) -> bool {
        touch.loads()
    }

    /// Whether an access of theirs stores.
    #[inline]
    fn stores(touch: &Touch) -> bool {
        touch.stores()
    }
}

/// The path of all instructions.
pub(super) struct General;

/// The path of instructions that only compute: one operation of two cycles on the port of a slice, from registers to registers.
struct Computing;

/// The path of such instructions beside other threads of the core, with turns and shares.
struct ComputingBeside;

/// The path of loads that hit the first level and meet no store.
struct Loading;

/// The path of stores that the second level takes at once.
struct Storing;

/// The path of branches.
struct Branching;

impl Path for General {
    const QUIET: bool = false;
    const ALONE: bool = false;
}

impl Path for Computing {
    const ROW: Option<Power9Row> = Some(FIXED);
}

impl Path for ComputingBeside {
    const ROW: Option<Power9Row> = Some(FIXED);
    const ALONE: bool = false;
}

impl Path for Loading {
    const ROW: Option<Power9Row> = Some(MEMORY);

    fn loads(_touch: &Touch) -> bool {
        true
    }

    fn stores(_touch: &Touch) -> bool {
        false
    }
}

impl Path for Storing {
    const ROW: Option<Power9Row> = Some(STORE);

    fn loads(_touch: &Touch) -> bool {
        false
    }

    fn stores(_touch: &Touch) -> bool {
        true
    }
}

impl Path for Branching {
    const ROW: Option<Power9Row> = Some(BRANCH);
}

impl Power9Pipeline {
    /// Executes an instruction.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, threads: &mut Threads<'_>, tally: &mut Tally) {
        self.exchange(threads);
        if self.watches && !self.shared.watch.active {
            self.shared.watch.start(self.group.at);
            self.counted = self.group.at;
        }
        self.step::<General>(&Executed::new::<General>(instruction, found, found.touches(), found.continuation), threads, tally);
        self.exchange(threads);
        self.quiet = self.is_quiet();
    }

    /// Executes an instruction whose code is present, that made no access and continues in sequence, on a thread that has its core to
    /// itself. Returns whether it took the fast path; if not, nothing has been done.
    #[inline]
    pub(super) fn execute_plain(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) -> bool {
        let fast = self.quiet && rows::is_fixed(instruction.class);
        if fast {
            self.step_alone::<Computing, 0>(instruction, &[], Continuation::Sequential, tally);
        }
        fast
    }

    /// Executes an instruction whose code is present, whose access, if any, hits, and that continues in sequence or elsewhere, on such a
    /// thread. Returns whether it took the fast path; if not, nothing has been done.
    pub(super) fn execute_short(
        &mut self,
        instruction: &Instruction<'_>,
        touch: Option<&Touch>,
        continuation: Continuation,
        tally: &mut Tally,
    ) -> bool {
        if !self.quiet || self.predicts {
            return false;
        }
        let goes_on = continuation == Continuation::Sequential;
        match (instruction.class, touch) {
            (Class::Branch, None) => self.step_alone::<Branching, 0>(instruction, &[], continuation, tally),
            (Class::Load, Some(touch)) if goes_on && touch.loads() && !touch.missed && !self.meets_store(touch) => {
                self.step_alone::<Loading, 1>(instruction, core::array::from_ref(touch), continuation, tally);
            }
            (Class::Store, Some(touch)) if goes_on && touch.stores() && touch.source == Source::Second => {
                self.step_alone::<Storing, 1>(instruction, core::array::from_ref(touch), continuation, tally);
            }
            _ => return false,
        }
        true
    }

    /// Executes an instruction that made no access and continues in sequence, and whose code is present, on a thread that competes with
    /// others of its core. Returns whether it took the fast path; if not, nothing has been done.
    pub(super) fn execute_plain_beside(&mut self, instruction: &Instruction<'_>, threads: &mut Threads<'_>, tally: &mut Tally) -> bool {
        if !rows::is_fixed(instruction.class) {
            return false;
        }
        self.exchange(threads);
        let fast = self.is_quiet();
        if fast {
            let executed = Executed::new::<ComputingBeside>(instruction, &Findings::NONE, &[], Continuation::Sequential);
            self.step::<ComputingBeside>(&executed, threads, tally);
        }
        self.exchange(threads);
        fast
    }

    /// Executes an instruction on a thread that has its core to itself.
    #[inline(never)]
    fn step_alone<P: Path, const ACCESSES: usize>(
        &mut self,
        instruction: &Instruction<'_>,
        touches: &[Touch; ACCESSES],
        continuation: Continuation,
        tally: &mut Tally,
    ) {
        let executed = Executed::new::<P>(instruction, &Findings::NONE, touches, continuation);
        let mut threads = Threads::ALONE;
        self.step::<P>(&executed, &mut threads, tally);
    }

    /// Whether nothing is demanded that the fast paths do not report, and nothing holds the instructions that take them.
    pub(super) fn is_quiet(&self) -> bool {
        let watched = self.told || self.watches || self.shared.watch.active;
        !watched && !self.behind_invalidation && self.blocked.reason != Reason::BlockedBarrier
    }

    /// Whether a load may meet a store that the second level has not taken.
    #[inline]
    fn meets_store(&self, touch: &Touch) -> bool {
        self.stores.find(touch.address, touch.size, self.group.at).is_some()
    }
}
