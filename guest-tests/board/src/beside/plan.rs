//! What the counters beside the guest's are to do.

use serde::{Deserialize, Serialize};
use vm_pmu::arch::access::Address;

/// Events that are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The register writes that set them up and start them, in order.
    pub writes: Vec<(Address, u64)>,
    /// The register writes that take them out of their counters again.
    pub stops: Vec<(Address, u64)>,
    /// The counters to read, one for each event.
    pub counters: Vec<Counter>,
}

/// A counter of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its register; of one that is read in doublewords, the lower one and the upper one.
    pub registers: Vec<Address>,
    /// How many bits it has.
    pub bits: u32,
    /// What it counts is the same in so many threads, from a multiple of that on: 1 if each has its own. Only the first is read.
    pub shared_by: usize,
}

/// What counters beside the guest's do during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The first group counts from the beginning to the end.
    Count(Group),
    /// Groups take turns of so many cycles of each thread.
    Multiplex {
        /// The groups.
        groups: Vec<Group>,
        /// The cycles of a turn.
        cycles: u64,
    },
    /// The first counter of the group takes a sample whenever it has counted so many.
    Sample {
        /// The group, with a counter that overflows after `period`, and raises an interrupt or a line.
        group: Group,
        /// The period.
        period: u64,
        /// The most samples that are kept of a thread.
        most: usize,
    },
    /// The guest's own register accesses are repeated, which shows that this PMU counts as the guest's own does.
    Repeat,
}

impl Plan {
    /// The groups.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        match self {
            Plan::Count(group) | Plan::Sample { group, .. } => std::slice::from_ref(group),
            Plan::Multiplex { groups, .. } => groups,
            Plan::Repeat => &[],
        }
    }
}

/// What a thread's counters beside the guest's have found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The count of each event of each group.
    pub counts: Vec<Vec<u64>>,
    /// The cycles in which each group counted.
    pub counting: Vec<u64>,
    /// All cycles of the thread.
    pub cycles: u64,
    /// The samples.
    pub samples: Vec<Sample>,
    /// Samples beyond those that are kept.
    pub dropped: u64,
    /// The state of the thread's PMU is that of the guest's own.
    pub is_alike: bool,
}

/// A sample: where a thread was when its counter overflowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The hardware thread.
    pub thread: usize,
    /// The address of the instruction in which the counter overflowed. On IA-64 its lowest two bits are the slot.
    pub address: u64,
    /// The privilege level it ran at; on POWER 0 is hypervisor, 1 privileged and 3 problem state.
    pub privilege: u8,
    /// Instructions that the thread had retired, this one included.
    pub instructions: u64,
    /// Cycles of the thread before this instruction.
    pub cycles: u64,
    /// The events that it stands for.
    pub period: u64,
    /// The return addresses, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u64>,
}
