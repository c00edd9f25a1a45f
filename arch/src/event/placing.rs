//! Where an event is counted, whose it is, and what can constrain it, on parts that restrict that.

use bitflags::bitflags;

/// To which thread an occurrence belongs, where the threads of a core take turns: Montecito's four types of events (section 4.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Attribution {
    /// To the thread that runs, which made it.
    #[default]
    Active,
    /// To no thread; it is credited to the one that runs.
    Causal,
    /// To the thread that made it, which may no longer run.
    Floating,
    /// To the thread that made it where the unit mask chooses what the own core began, else to none. Its unit masks say which.
    SelfFloating,
}

/// Who began what an event counts: by its unit mask, on Montecito's bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Initiator {
    /// The own core; also what nobody else can begin.
    #[default]
    Own,
    /// Either core of the package.
    Either,
    /// A bus agent that is no processor.
    Other,
    /// Anybody.
    Any,
}

/// Whether a counter may count the occurrences of every thread of the core: Montecito's PMC.all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AllThreads {
    /// As the counter's register says.
    #[default]
    Chosen,
    /// Always, whatever the register says.
    Always,
    /// Never: the part counts wrongly when the register asks for it.
    Never,
}

/// Events that exclude all others of their unit while one of them is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CounterSet {
    /// It is free of sets.
    #[default]
    None,
    /// Of the first-level data cache: on Montecito the event of PMC5 chooses the set, 0 to 4 or 6 (section 4.8.2).
    L1Data(u8),
    /// Of the second-level data cache: PMC4 chooses the set, 0 to 8, and the unit mask for PMD4, 5 and 8, and PMC6 for PMD6, 7 and 9
    /// (section 4.8.4).
    L2Data(u8),
}

bitflags! {
    /// By what an event can be constrained to some of its occurrences.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Qualifiers: u8 {
        /// By the address of the instruction.
        const INSTRUCTION_ADDRESS = 1 << 0;
        /// By the address of the data.
        const DATA_ADDRESS = 1 << 1;
        /// By the instruction's encoding.
        const OPCODE = 1 << 2;
    }
}

/// The channel of instruction-address ranges that constrains an event: one of Montecito's IBR pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Channel 0, the first pair.
    #[default]
    Demand,
    /// Channel 1, the second pair, which looks at the address that is prefetched.
    Prefetch,
    /// Channel 0 for what was fetched on demand, channel 1 for what was prefetched.
    Request,
}

/// How far around its thread an event looks, where some threads share a unit: Knights Landing's scopes (section 1.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The thread alone, or whatever the entry's [`scope`](super::Entry::scope) says.
    #[default]
    Thread,
    /// Every thread of the core.
    Core,
    /// Every thread of the tile.
    Tile,
}

/// The filter register of a coherence agent that applies to an event: Knights Landing's table 1-2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CoherenceFilter {
    /// None, beside that of the thread.
    #[default]
    None,
    /// Filter 0, the states of the snoop filter.
    State,
    /// Filter 1: opcodes and kinds of requests.
    Opcode,
}
