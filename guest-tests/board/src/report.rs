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
    /// Cycles that had passed for the thread, by the engine's or the companion's clock, before the instruction.
    pub cycle: u64,
    /// The address of the instruction; of the next one where something happened between two.
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
        /// What it held before, where that can be known.
        before: Option<u64>,
        /// The value, as written.
        value: u64,
        /// What it holds after it, where that is something else.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    },
    /// The guest read a register.
    Read {
        /// The manual's name.
        register: String,
        /// The value it got.
        value: u64,
    },
    /// An access was refused, with a fault.
    Fault {
        /// The manual's name.
        register: String,
        /// The value that was to be written; none of a read.
        wrote: Option<u64>,
    },
    /// The PMU asked for an interrupt, or for an event-based branch.
    Interrupt {
        /// The counters that asked, as far as that is known.
        counters: Vec<u32>,
    },
    /// The interrupt that was asked for, or the event-based branch, was taken.
    Taken,
    /// The PMU froze, or went on.
    Freeze {
        /// It froze.
        frozen: bool,
        /// By a write of the guest, and not by itself.
        written: bool,
    },
    /// The context of the thread is another.
    Context {
        /// The privilege level: 0 is the most privileged.
        privilege: u8,
        /// The thread's clock stands still.
        halted: bool,
        /// The core executes this thread, where threads take turns.
        foreground: bool,
        /// The address space or process, where the part has a register that says it: CR3, PIDR.
        process: Option<u64>,
    },
    /// A check of the guest failed.
    Check {
        /// What it is.
        name: String,
        /// What the guest saw.
        seen: u64,
        /// The least that is right.
        least: u64,
        /// The most that is right.
        most: u64,
    },
}

impl Action {
    /// The register that was accessed, or was to be.
    #[must_use]
    pub fn register(&self) -> Option<&str> {
        match self {
            Action::Write { register, .. } | Action::Read { register, .. } | Action::Fault { register, .. } => Some(register),
            _ => None,
        }
    }
}
