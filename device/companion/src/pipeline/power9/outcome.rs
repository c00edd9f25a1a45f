//! Outcome of the last executed instruction, for its record (PP57, PP58).

use vm_pmu_arch::feed::{Flush, Stage, Stages, Traits};

use crate::outcome::Outcome;
use crate::pipeline::power9::Power9Pipeline;
use crate::pipeline::power9::reasons::Reason;

/// Cycles from decode (D2) to the cycle in which dispatch can take an instruction: D2 is the fourth stage of nine.
const DECODED_BEFORE_DISPATCH: u64 = 5;

/// Codes of SIER\[FIN_STALL_REASON].
mod stalled {
    /// It had finished before it was next to complete.
    pub(super) const FINISHED_BEFORE: u8 = 1;
    pub(super) const CACHE_MISS: u8 = 4;
    pub(super) const LOAD_FINISH: u8 = 5;
    pub(super) const STORE_FORWARD: u8 = 6;
    pub(super) const STORE: u8 = 7;
    pub(super) const FIXED_LONG: u8 = 8;
    pub(super) const BRANCH_MISPREDICTED: u8 = 9;
    pub(super) const VECTOR_SCALAR_LONG: u8 = 10;
    pub(super) const FIXED: u8 = 12;
    pub(super) const BRANCH: u8 = 14;
}

/// The cycles in which an instruction passed its stages, and the cause of its stall. It is not part of saved state, since it is read before
/// the next instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InstructionStages {
    pub(super) decoded: u64,
    pub(super) dispatched: u64,
    /// None if no unit executes it.
    pub(super) issued: Option<u64>,
    /// The cycles in which its first-level miss was found and its data arrived.
    pub(super) missed: Option<(u64, u64)>,
    /// The cycles in which a machine of the second level started and completed its own request.
    pub(super) second: Option<(u64, u64)>,
    pub(super) next_to_finish: u64,
    pub(super) finished: u64,
    pub(super) next_to_complete: u64,
    pub(super) completed: u64,
    /// The cycle in which its store left the store queue.
    pub(super) drained: Option<u64>,
    /// Cycles after its issue in which it was the oldest unfinished instruction.
    pub(super) stall: u64,
    /// The reason of its last phase, and the cycle up to which it lasts.
    kind: Option<Reason>,
    until: u64,
    pub(super) mispredicted: bool,
    /// Whether a load waited until the second level had its line for a store (PP37).
    pub(super) behind_store: bool,
    /// Whether a load waited until the second level had its line for a fetch of code.
    pub(super) behind_fetch: bool,
    pub(super) traits: Traits,
    /// Why it was flushed before its second dispatch.
    pub(super) flush: Flush,
}

impl InstructionStages {
    /// Returns the life of an instruction that dispatch could take in cycle `ready`, and took in cycle `dispatched`.
    pub(super) fn begin(ready: u64, dispatched: u64) -> InstructionStages {
        InstructionStages {
            decoded: ready.min(dispatched).saturating_sub(DECODED_BEFORE_DISPATCH),
            dispatched,
            ..InstructionStages::default()
        }
    }

    /// Records a phase with `reason` up to cycle `until`.
    #[inline]
    pub(super) fn phase(&mut self, reason: Reason, until: u64) {
        if until > self.until {
            (self.kind, self.until) = (Some(reason), until);
        }
    }

    /// Records a first-level miss of a load. The data arrive at `here`, by its own request or that of an older load. Among several
    /// accesses, the one whose data arrive last counts.
    pub(super) fn miss(&mut self, found: u64, here: u64, own: bool) {
        if self.missed.is_some_and(|(_, before)| before >= here) {
            return;
        }
        self.missed = Some((found, here));
        self.second = own.then_some((found, here));
        self.traits.set(Traits::LOAD_MERGED, !own);
    }

    /// Returns SIER\[FIN_STALL_REASON]; 0 if none of its codes applies.
    fn stall_reason(&self) -> u8 {
        if self.finished < self.next_to_complete {
            return stalled::FINISHED_BEFORE;
        }
        if self.missed.is_some() {
            return stalled::CACHE_MISS;
        }
        if self.traits.contains(Traits::STORE_FORWARDED) {
            return stalled::STORE_FORWARD;
        }
        match self.kind {
            // It always asks the second level, even if the first has the line (PP34).
            Some(Reason::LoadReserve) => stalled::CACHE_MISS,
            Some(Reason::LoadFinish | Reason::SplitLoad) => stalled::LOAD_FINISH,
            Some(Reason::StoreFinish | Reason::StoreConditional) => stalled::STORE,
            Some(Reason::FixedLong) => stalled::FIXED_LONG,
            Some(Reason::Fixed) => stalled::FIXED,
            Some(Reason::Branch) if self.mispredicted => stalled::BRANCH_MISPREDICTED,
            Some(Reason::Branch) => stalled::BRANCH,
            Some(Reason::FloatLong | Reason::DecimalLong | Reason::VectorFixedLong | Reason::VectorFloatLong) => {
                stalled::VECTOR_SCALAR_LONG
            }
            _ => 0,
        }
    }

    /// Returns its stages, beginning with the first.
    fn stages(&self) -> Stages {
        let at = |cycle: u64| u32::try_from(cycle.saturating_sub(self.decoded)).unwrap_or(u32::MAX);
        let some = [
            (Stage::Issued, self.issued),
            (Stage::FirstMiss, self.missed.map(|(found, _)| found)),
            (Stage::SecondLevelDispatched, self.second.map(|(taken, _)| taken)),
            (Stage::SecondLevelDone, self.second.map(|(_, done)| done)),
            (Stage::Reload, self.missed.map(|(_, here)| here)),
            (Stage::Drained, self.drained),
        ];
        let all = Stages::NONE
            .with(Stage::Decoded, 0)
            .with(Stage::Dispatched, at(self.dispatched))
            .with(Stage::NextToFinish, at(self.next_to_finish))
            .with(Stage::Finished, at(self.finished))
            .with(Stage::NextToComplete, at(self.next_to_complete))
            .with(Stage::Completed, at(self.completed));
        let reached = some.into_iter().filter_map(|(stage, cycle)| cycle.map(|cycle| (stage, at(cycle))));
        reached.fold(all, |stages, (stage, cycle)| stages.with(stage, cycle))
    }
}

impl Power9Pipeline {
    /// Stores the outcome of the last executed instruction in `outcome`, for its record.
    pub(in crate::pipeline) fn tell(&self, outcome: &mut Outcome) {
        let life = &self.life;
        outcome.stages = Some(life.stages());
        outcome.stall = u32::try_from(life.stall).unwrap_or(u32::MAX);
        outcome.stall_reason = life.stall_reason();
        outcome.traits |= life.traits;
        outcome.flush = life.flush;
        outcome.behind_store = life.behind_store;
        outcome.behind_fetch = life.behind_fetch;
    }
}
