//! What became of the instruction that was executed last, for its record (PP57, PP58).

use vm_pmu_arch::feed::{Flush, Stage, Stages, Traits};

use super::super::super::outcome::Outcome;
use super::Core;
use super::reasons::Reason;

/// From decode (D2) to the cycle in which dispatch can take an instruction: D2 is the fourth stage of nine.
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

/// When an instruction went through its stages, in cycles of the pipeline, and what held it up. It is no part of a saved state: it is read
/// before the next instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Life {
    pub(super) decoded: u64,
    pub(super) dispatched: u64,
    /// None if no unit executes it.
    pub(super) issued: Option<u64>,
    /// When it was found that the first level does not have its data, and when they arrived.
    pub(super) missed: Option<(u64, u64)>,
    /// When a machine of the second level took up its own request, and when that was done.
    pub(super) second: Option<(u64, u64)>,
    pub(super) next_to_finish: u64,
    pub(super) finished: u64,
    pub(super) next_to_complete: u64,
    pub(super) completed: u64,
    /// When its store left the queue of stores.
    pub(super) drained: Option<u64>,
    /// Cycles in which it was the oldest that had not finished, after its issue.
    pub(super) stall: u64,
    /// What the last of its phases is.
    pub(super) kind: Option<Reason>,
    pub(super) mispredicted: bool,
    /// A load waited until the second level had its line for a store (PP37).
    pub(super) behind_store: bool,
    /// The same for a fetch of code.
    pub(super) behind_fetch: bool,
    pub(super) traits: Traits,
    /// Why it was flushed before it was dispatched again.
    pub(super) flush: Flush,
}

impl Life {
    /// An instruction that dispatch could take in cycle `ready`, and took in cycle `dispatched`.
    pub(super) fn begin(ready: u64, dispatched: u64) -> Life {
        Life { decoded: ready.min(dispatched).saturating_sub(DECODED_BEFORE_DISPATCH), dispatched, ..Life::default() }
    }

    /// The first level does not have the data of a load: they arrive at `here`, by a request of its own or by that of an older load. Of
    /// several accesses the one whose data come last counts.
    pub(super) fn miss(&mut self, found: u64, here: u64, own: bool) {
        if self.missed.is_some_and(|(_, before)| before >= here) {
            return;
        }
        self.missed = Some((found, here));
        self.second = own.then_some((found, here));
        self.traits.set(Traits::LOAD_MERGED, !own);
    }

    /// SIER\[FIN_STALL_REASON]: 0 where none of its codes says what it was.
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
            // It asks the second level, whatever the first has (PP34).
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

    /// Its stages, from the first on.
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

impl Core {
    /// Tells what became of the instruction that was executed last to whoever makes its record.
    pub(in super::super) fn tell(&self, outcome: &mut Outcome) {
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
