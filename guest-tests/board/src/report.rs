//! What is reported of a run by the code that attaches a PMU to an engine.

use serde::{Deserialize, Serialize};

/// A selection that was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The hardware thread.
    pub thread: usize,
    /// The counter.
    pub counter: u32,
    /// The event, its unit masks and its modifiers, as `pmulab encode` takes them.
    pub event: String,
    /// How much was counted while this was selected.
    pub count: u64,
    /// The unit of the count.
    pub unit: String,
    /// `exact`, `approximate`, `embedder` or `injected`.
    pub fidelity: String,
    /// The signals that drive it, or the rule of an approximate one.
    pub driven_by: String,
}

/// An event that a chip has posted into memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Posted {
    /// The chip's number.
    pub chip: u32,
    /// The event.
    pub event: String,
    /// How much its cell holds, in events: the cell's value times the event's scale.
    pub count: u64,
}

/// Interrupts that one counter of one thread asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Interrupts {
    /// The hardware thread.
    pub thread: usize,
    /// The counter.
    pub counter: u32,
    /// How many.
    pub requested: u64,
}

/// Something that passed between a guest and its PMU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The hardware thread.
    pub thread: usize,
    /// Instructions that the thread had retired.
    pub instruction: u64,
    /// The address of the instruction; of the next one for an interrupt.
    pub address: u64,
    /// What passed.
    #[serde(flatten)]
    pub action: Action,
}

/// What passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Action {
    /// The guest wrote a register.
    Write {
        /// The manual's name.
        register: String,
        /// The value, as written.
        value: u64,
    },
    /// The guest read a register.
    Read {
        /// The manual's name.
        register: String,
        /// The value it got.
        value: u64,
    },
    /// The PMU asked for an interrupt.
    Interrupt,
}
