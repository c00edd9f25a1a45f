//! What makes the count of an event, where it is not simply the sum of its signals.

use super::NestedEvent;
use crate::feed::{FabricCommand, Flush, Stage, Traits};

/// A condition on the thread's state under which the signals of an event count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// The thread runs: on POWER, CTRL\[RUN] is set.
    Run,
    /// Hypervisor state.
    Hypervisor,
    /// MSR\[HV] is set, in problem state too.
    HypervisorBit,
    /// Problem state.
    Problem,
    /// Any state but problem state: MSR\[PR] is 0.
    Privileged,
    /// Privileged state below the hypervisor: MSR\[HV, PR] is 00.
    Supervisor,
    /// Problem state below the hypervisor: MSR\[HV, PR] is 01.
    Application,
    /// Problem state of an adjunct: MSR\[HV, PR] is 11.
    Adjunct,
    /// External interrupts are disabled.
    ExternalDisabled,
    /// External interrupts are disabled and one is pending.
    ExternalPending,
    /// A transaction is being executed.
    Transactional,
    /// A transaction is suspended.
    Suspended,
    /// Addresses are translated by a radix tree.
    Radix,
    /// Addresses are translated by a hashed page table.
    Hashed,
    /// The thread's priority is one of two: the lower of them.
    Priority(u8),
    /// Some thread of the core runs.
    AnyRun,
    /// Every thread of the core runs.
    AllRun,
    /// So many threads of the core run.
    Running(u8),
    /// The core has one thread.
    SingleThread,
    /// The core has two threads.
    TwoThreads,
    /// The core has four threads.
    FourThreads,
}

/// The cache whose reloads an event counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reloads {
    /// None: it counts something else.
    #[default]
    None,
    /// The data cache: POWER9's MMCR1\[DC_RLD_QUAL] decides whether prefetches count.
    Data,
    /// The instruction cache: MMCR1\[IC_RLD_QUAL] decides.
    Instruction,
}

/// A question about a sampled instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// It was sampled: always so.
    Marked,
    /// It reached the stage.
    Reached(Stage),
    /// It read memory.
    Load,
    /// It wrote memory.
    Store,
    /// The load/store unit executed it.
    LoadStore,
    /// The branch unit executed it.
    Branch,
    /// A fixed-point unit executed it.
    Fixed,
    /// A vector-scalar unit executed it.
    VectorScalar,
    /// It has one of these traits.
    Is(Traits),
    /// It writes the link register.
    Link,
    /// It left the next sequential address.
    Taken,
    /// Its target lies below it.
    Backward,
    /// Its direction or target was predicted wrongly.
    Mispredicted,
    /// It was not in the first-level instruction cache.
    FetchMiss,
    /// It was fetched from beyond the third level.
    FetchBeyond,
    /// One of these codes reloaded the data cache, one bit each.
    Source(u32),
    /// One of these codes gave the page-table entry, one bit each.
    WalkSource(u32),
    /// The first-level translation buffer missed.
    FirstTranslationMiss,
    /// Every translation buffer missed.
    TranslationMiss,
    /// The page has this binary logarithm of its size.
    Page(u8),
    /// It took its data from an older store.
    StoreForwarded,
    /// It stored after another cache gave up modified data.
    StoreIntervention,
    /// It asked this of the fabric.
    Fabric(FabricCommand),
    /// A cache that held the line in state T gave it.
    TaggedIntervention,
    /// Its first attempt was flushed for this reason.
    Flushed(Flush),
}

/// What a sampled instruction adds to a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Amount {
    /// One.
    #[default]
    One,
    /// The cycles from its miss to the reload.
    Latency,
    /// Those of them in which it was next to complete.
    Exposed,
    /// The cycles in which it was next to complete and held up.
    Stall,
    /// The cycles from next-to-complete to completion.
    NextToComplete,
    /// The cycles from its first stage to completion.
    InFlight,
    /// The cycles for which a machine of the second level worked for it.
    SecondLevelMachine,
    /// The cycles from leaving the store queue to being taken up by the second level.
    Drain,
    /// Times that the fabric answered with a retry.
    Retries,
}

/// What a model makes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Internal {
    /// Every cycle of the unit's clock.
    Clock,
    /// Requests that the unit serves, as they are told with all that describes them.
    Request,
    /// What devices do through the unit, which the embedder tells it by the model of the unit.
    Device,
    /// Steps of nested translations, as they are told with all that describes them.
    Nested(NestedEvent),
    /// Postings of the counters of its group into memory.
    Posting,
    /// Nothing: the counter is off.
    Suspended,
    /// Nothing: it cannot come about.
    Never,
    /// Overflows of the counter of this number, from 1.
    Overflow(u8),
    /// What the counter of this number took back.
    Rewind(u8),
    /// What the counter of this number kept.
    Saved(u8),
    /// The threshold counter reached the value to compare.
    ThresholdMet,
    /// The end came before that.
    ThresholdNotMet,
    /// The threshold counter came to this number.
    ThresholdExceeded(u16),
    /// Events that the threshold counter counted.
    ThresholdAccumulated,
    /// The chosen bit of the time base turned from 0 to 1.
    TimeBaseBit,
    /// Captures by the data event-address registers.
    DataAddressCapture,
    /// Captures by the instruction event-address registers.
    InstructionAddressCapture,
    /// Entries written into the execution trace buffer.
    TraceEntry,
    /// Changes of the privilege level from or to one of these levels, one bit each: a change counts once, whichever of its two levels are
    /// among them.
    PrivilegeChange(u8),
    /// Instructions completed that this channel tags, 0 to 3. A channel that constrains nothing tags all: then it is
    /// [`Signal::InstructionsRetired`](crate::feed::Signal::InstructionsRetired).
    TaggedInstructions(u8),
    /// Cycles in which an instruction that channel 0 tags was processed. When it constrains nothing, those are all of
    /// [`Signal::Cycles`](crate::feed::Signal::Cycles).
    QualifiedCycles,
}

impl Internal {
    /// How often a change of the privilege level that leaves or enters `levels`, one bit each, counts.
    pub(crate) fn changes(self, levels: u8) -> u64 {
        match self {
            Internal::PrivilegeChange(wanted) => u64::from(wanted & levels != 0),
            _ => 0,
        }
    }
}

/// What makes the count of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Drive {
    /// The signals of the entry; what is only injected has none.
    #[default]
    Signals,
    /// The sampled instruction: it counts when every test holds.
    Sampled {
        /// The tests.
        tests: &'static [Test],
        /// What is added.
        amount: Amount,
    },
    /// The model itself.
    Internal(Internal),
}
