//! What became of one instruction on its way through the pipeline, for processors that follow a sampled instruction.

use bitflags::bitflags;

/// The unit that executed an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ExecutionUnit {
    /// Not reported: it follows from the record's branch or memory access; with neither, it is fixed point.
    #[default]
    Unknown,
    /// The load/store unit; on IA-64 an M slot.
    LoadStore,
    /// The branch unit; on IA-64 a B slot.
    Branch,
    /// Fixed point; on IA-64 an I slot, and the long instruction of an MLX bundle except brl.
    FixedPoint,
    /// Vector and scalar floating point, decimal; on IA-64 an F slot.
    VectorScalar,
    /// None: the instruction is finished by the fetch unit.
    Fetch,
}

bitflags! {
    /// Further properties of an instruction and of its execution.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
    pub struct Traits: u32 {
        /// A no-op that exists to be sampled: on POWER `and 0,0,0` and `and 1,1,1`.
        const PROBE = 1 << 0;
        /// A load that reserves: larx.
        const RESERVE = 1 << 1;
        /// A conditional store: stcx.
        const CONDITIONAL = 1 << 2;
        /// A conditional store that did not store.
        const CONDITIONAL_FAILED = 1 << 3;
        /// A fixed-point division.
        const DIVIDE = 1 << 4;
        /// Division, square root, multiplication, a move to the count register, or a branch that writes the link register.
        const LONG_LATENCY = 1 << 5;
        /// A branch that writes the link register.
        const LINK = 1 << 6;
        /// An instruction of the decimal unit.
        const DECIMAL = 1 << 7;
        /// The end of a transaction.
        const TRANSACTION_END = 1 << 8;
        /// Its transaction failed at it.
        const TRANSACTION_FAILED = 1 << 9;
        /// The first-level translation buffer did not have its data address.
        const FIRST_TRANSLATION_MISS = 1 << 10;
        /// No translation buffer had its data address.
        const TRANSLATION_MISS = 1 << 11;
        /// A load that took its data from an older store.
        const STORE_FORWARDED = 1 << 12;
        /// A load that joined an earlier miss of its line.
        const LOAD_MERGED = 1 << 13;
        /// Mispredicted, and the wrong target was the count cache's.
        const COUNT_CACHE = 1 << 14;
        /// The first after an empty pipeline.
        const AFTER_EMPTY = 1 << 15;
        /// The frequency was being raised.
        const SLEW_UP = 1 << 16;
        /// The frequency was being lowered.
        const SLEW_DOWN = 1 << 17;
        /// It was flushed and did not complete.
        const DISCARDED = 1 << 18;
        /// The first-level translation buffer was loaded from a radix tree.
        const RADIX_RELOAD = 1 << 19;
        /// A branch whose outcome differs from that of its last execution.
        const NONREPEATING = 1 << 20;
        /// It matches the processor's instruction match array.
        const MATCHED = 1 << 21;
        /// On IA-64 its bundle was the second of the two that were dispersed together.
        const SECOND_BUNDLE = 1 << 22;
        /// The back end flushed the pipeline after it.
        const FLUSHED = 1 << 23;
        /// An advanced load's check that found no entry: on IA-64 chk.a, ld.c.
        const ADVANCED_CHECK_FAILED = 1 << 24;
        /// A load or store of floating-point registers.
        const FLOATING_POINT = 1 << 25;
        /// An atomic read and write: on IA-64 cmpxchg, xchg, fetchadd.
        const SEMAPHORE = 1 << 26;
        /// An access by the register stack engine, which has no instruction's address.
        const REGISTER_STACK = 1 << 27;
        /// An access by the hardware page walker.
        const PAGE_WALKER = 1 << 28;
        /// A branch that the first stage of the prediction served: on the first Itanium the target address registers. A branch with
        /// neither this nor the next was served by the last stage.
        const PREDICTED_FIRST = 1 << 29;
        /// A branch that the second stage of the prediction served: on the first Itanium the target address cache and the prediction
        /// tables.
        const PREDICTED_SECOND = 1 << 30;
        /// A conditional branch that the predictor does not hold for strongly biased.
        const WEAKLY_PREDICTED = 1 << 31;
    }
}

bitflags! {
    /// States of cache lines, as a counter's MESI filter names them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
    pub struct LineStates: u8 {
        /// Invalid.
        const INVALID = 1 << 0;
        /// Shared.
        const SHARED = 1 << 1;
        /// Exclusive.
        const EXCLUSIVE = 1 << 2;
        /// Modified.
        const MODIFIED = 1 << 3;
    }
}

/// Where an instruction was fetched from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum FetchSource {
    /// Not reported, which is taken as the first level.
    #[default]
    Unknown,
    /// The first-level instruction cache.
    L1,
    /// The second level.
    L2,
    /// The third level.
    L3,
    /// Beyond the third level.
    Beyond,
}

/// What became of a store in the second-level cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum StoreOutcome {
    /// It is no store, or this is not reported.
    #[default]
    None,
    /// No machine of the second level was needed.
    Direct,
    /// It completed in the second level.
    Completed,
    /// It completed after another cache gave up modified data.
    Intervention,
}

/// Why the load/store unit flushed an instruction that was then executed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Flush {
    /// It was not flushed, or this is not reported.
    #[default]
    None,
    /// A load had its data before an older store of the same bytes knew its address.
    StoreHitLoad,
    /// The same, where the store has another effective address.
    Alias,
    /// A load that reserves met an older one that waited.
    Reservation,
}

/// A command to the fabric between caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum FabricCommand {
    /// None was needed, or this is not reported.
    #[default]
    None,
    /// Read.
    Read,
    /// Read with intent to modify.
    ReadToModify,
    /// Claim a line that is held shared.
    Claim,
    /// Invalidate the copies of others.
    Kill,
}

/// How a command to the fabric went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Fabric {
    /// The command.
    pub command: FabricCommand,
    /// Times that it was answered with a retry.
    pub retries: u8,
    /// Another cache that held the line in state T supplied it.
    pub tagged_intervention: bool,
    /// 3 bits: the scope, as the processor's manual encodes it (POWER9: Table A-7).
    pub scope: u8,
    /// 5 bits: the combined response.
    pub response: u8,
    /// 3 bits: the type of the transaction.
    pub transaction: u8,
    /// 2 bits: how busy the local memory was.
    pub memory_busy: u8,
}

/// A stage of an instruction's life, in the order in which a load goes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Stage {
    /// Decoded.
    Decoded,
    /// Dispatched.
    Dispatched,
    /// Issued to its unit.
    Issued,
    /// A load that the first-level data cache does not have.
    FirstMiss,
    /// Taken up by a machine of the second level.
    SecondLevelDispatched,
    /// That machine is done.
    SecondLevelDone,
    /// The load's data has arrived.
    Reload,
    /// Next to finish.
    NextToFinish,
    /// Finished.
    Finished,
    /// Next to complete.
    NextToComplete,
    /// Completed.
    Completed,
    /// A store that has left the store queue.
    Drained,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Stage; 12] = [
        Stage::Decoded,
        Stage::Dispatched,
        Stage::Issued,
        Stage::FirstMiss,
        Stage::SecondLevelDispatched,
        Stage::SecondLevelDone,
        Stage::Reload,
        Stage::NextToFinish,
        Stage::Finished,
        Stage::NextToComplete,
        Stage::Completed,
        Stage::Drained,
    ];
}

/// When an instruction reached each [`Stage`], in cycles of its thread from when it was marked.
///
/// ```
/// use vm_pmu_arch::feed::{Stage, Stages};
///
/// let stages = Stages::NONE.with(Stage::FirstMiss, 3).with(Stage::Reload, 250);
/// assert_eq!(stages.at(Stage::Reload), Some(250));
/// assert_eq!(stages.at(Stage::Completed), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Stages {
    reached: u16,
    cycles: [u32; Stage::ALL.len()],
}

impl Stages {
    /// No stage was reached.
    pub const NONE: Stages = Stages { reached: 0, cycles: [0; Stage::ALL.len()] };

    /// The same, with `stage` reached after `cycles`.
    #[must_use]
    pub fn with(mut self, stage: Stage, cycles: u32) -> Stages {
        if let Some(cell) = self.cycles.get_mut(stage as usize) {
            *cell = cycles;
            self.reached |= 1 << stage as u16;
        }
        self
    }

    /// When `stage` was reached; `None` if it was not.
    #[must_use]
    pub fn at(&self, stage: Stage) -> Option<u32> {
        if self.reached >> stage as u16 & 1 == 1 { self.cycles.get(stage as usize).copied() } else { None }
    }
}

/// What became of one instruction, as far as the embedder knows. What it leaves at the default is worked out from the rest of the
/// [`Record`](super::Record).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Sample {
    /// The unit that executed it.
    pub unit: ExecutionUnit,
    /// Its further properties.
    pub traits: Traits,
    /// Where it was fetched from.
    pub fetch_source: FetchSource,
    /// The processor's own code of what reloaded the data cache (POWER9: 5 bits, Table A-6).
    pub reload_source: Option<u8>,
    /// The same code, for the page-table entry that was loaded.
    pub walk_source: Option<u8>,
    /// What became of a store.
    pub store_outcome: StoreOutcome,
    /// The binary logarithm of the page's size in bytes; 0 if not known.
    pub page_bits: u8,
    /// Its command to the fabric.
    pub fabric: Fabric,
    /// When it reached each stage, if the embedder has a pipeline.
    pub stages: Option<Stages>,
    /// Cycles in which it was next to complete and something held it up.
    pub stall: u32,
    /// 4 bits: the reason (POWER9: SIER\[FIN_STALL_REASON]).
    pub stall_reason: u8,
    /// The real address of its data.
    pub real_address: u64,
    /// The states that the lines of the last-level cache had before it: of the line that it found there, or of the one that it replaced.
    pub line_states: LineStates,
    /// Why its first attempt was flushed.
    pub flush: Flush,
}
