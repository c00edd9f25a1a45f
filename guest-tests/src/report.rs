//! What a run of a guest showed, whatever engine ran it.

use serde::{Deserialize, Serialize};

/// One run of one guest.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The guest's name, or the path of its file.
    pub guest: String,
    /// The PMU's name.
    pub pmu: String,
    /// The engine's name.
    pub engine: String,
    /// What the companion made: `events`, `events and time`, or nothing if it was `off`.
    pub companion: String,
    /// Whether the guest ended by itself with status 0 and every check of its own passed.
    pub passed: bool,
    /// How the run ended, in one line.
    pub ending: String,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Cycles of the time-stamp counter that all threads ran or were halted for, where nobody knew what they executed. Then there are no
    /// instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// What the guest wrote to its console.
    pub console: String,
    /// What the guest checked.
    pub checks: Vec<Check>,
    /// What was counted, over the whole run.
    pub counts: Vec<Count>,
    /// What chips have posted into memory, where there are such: whatever the cells hold at the end that is not zero.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<Posted>,
    /// Interrupts taken.
    pub interrupts: Vec<Interrupts>,
    /// What passed between the guest and its PMU, from the start, as far as it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Trace>,
    /// Where samples fell, if the guest took any.
    pub samples: Vec<Sample>,
    /// The registers at the end.
    pub registers: Vec<Register>,
}

/// Something a guest looked at and what it had to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is.
    pub name: String,
    /// What the guest saw.
    pub seen: u64,
    /// The least that is right.
    pub least: u64,
    /// The most that is right.
    pub most: u64,
}

impl Check {
    /// Whether what was seen is right.
    #[must_use]
    pub fn passed(&self) -> bool {
        (self.least..=self.most).contains(&self.seen)
    }
}

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
    /// How much its cell holds, in events: what it holds times the event's scale.
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

/// How often samples fell on one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The interrupted instruction's address.
    pub address: u64,
    /// The name of the place, where the guest gave one.
    pub label: String,
    /// How often.
    pub hits: u64,
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

/// A register at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// The hardware thread.
    pub thread: usize,
    /// The manual's name.
    pub name: String,
    /// Its value.
    pub value: u64,
}
