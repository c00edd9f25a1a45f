//! From a step of the interpreter to a record of one instruction.

use vm_pmu::arch::feed::{Branch, BranchKind, Memory, Occasion, Record, Records, Sample};
use vm_pmu::companion::Outcome;

use vm_pmu_engines::x86::{BranchKind as Kind, Step};

/// What a step did for which its record may be wanted. What it fetched, the interpreter does not know.
#[must_use]
pub(super) fn occasion(step: &Step) -> Occasion {
    let taken = step.branch.is_some_and(|branch| branch.taken);
    Occasion { branch: step.branch.is_some(), taken, memory: !step.accesses().is_empty(), fetch: false }
}

/// The record of a retired instruction, if `wanted` asks for one of it. What an interpreter cannot know (latencies, where data came
/// from, what a predictor made of a branch) is the companion's `outcome`, and unknown without one.
#[must_use]
pub fn record(step: &Step, wanted: Records, outcome: Option<&Outcome>) -> Option<Record> {
    let asked = wanted.wants(true, occasion(step));
    let outcome = outcome.copied().unwrap_or_default();
    (asked && step.retired()).then(|| Record {
        address: step.rip,
        slot: 0,
        encoding: step.instruction.encoding,
        cycles: outcome.cycles.unwrap_or(step.cycles),
        branch: step.branch.map(|branch| Branch {
            kind: match branch.kind {
                Kind::Conditional => BranchKind::Conditional,
                Kind::Direct => BranchKind::DirectJump,
                Kind::Indirect => BranchKind::IndirectJump,
                Kind::DirectCall => BranchKind::DirectCall,
                Kind::IndirectCall => BranchKind::IndirectCall,
                Kind::Return => BranchKind::Return,
                Kind::Far => BranchKind::Far,
            },
            taken: branch.taken,
            target: branch.target,
            prediction: outcome.prediction,
        }),
        memory: step.accesses().first().map(|access| Memory {
            address: access.address,
            size: access.size,
            load: step.loads != 0,
            store: step.stores != 0,
            latency: outcome.latency,
            source: outcome.source,
            translation: outcome.translation,
        }),
        fetch: None,
        sample: Sample::default(),
    })
}
