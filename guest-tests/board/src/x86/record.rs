//! From a step of the interpreter to a record of one instruction.

use vm_pmu::arch::feed::{Branch, Memory, Occasion, Record};

use vm_pmu_engines::x86::Step;

/// What a step did for which its record may be wanted. What it fetched, the interpreter does not know.
#[must_use]
pub(super) fn occasion(step: &Step) -> Occasion {
    let taken = step.branch.is_some_and(|branch| branch.taken);
    Occasion { branch: step.branch.is_some(), taken, memory: !step.accesses().is_empty(), fetch: false }
}

/// The record of a retired instruction. What an interpreter cannot know (latencies, where data came from, what a predictor made of a branch) is
/// the companion's, and unknown here.
#[must_use]
pub fn record(step: &Step) -> Option<Record> {
    step.retired().then(|| Record {
        encoding: step.instruction.encoding,
        cycles: step.cycles,
        branch: step.branch.map(|branch| Branch::new(branch.kind, branch.taken, branch.target)),
        memory: step.accesses().first().map(|access| Memory {
            store: step.stores != 0,
            load: step.loads != 0,
            ..Memory::load(access.address, access.size)
        }),
        ..Record::at(step.rip)
    })
}
