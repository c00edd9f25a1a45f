//! From a step of the POWER interpreter to a record of one instruction.

use vm_pmu::arch::feed::{Branch, Memory, Occasion, Record, Sample, Traits};
use vm_pmu::decode::power::unit;

use vm_pmu_engines::power::{Conditional, Step, Transaction};

/// What a step did for which its record may be wanted. What it fetched, the interpreter does not know.
pub(super) fn occasion(step: &Step) -> Occasion {
    let taken = step.branch.is_some_and(|branch| branch.taken);
    Occasion { branch: step.branch.is_some(), taken, memory: step.access.is_some(), fetch: false }
}

/// The record of an instruction. What an interpreter cannot know (latencies, stages, where data came from, what a predictor made of a branch) is
/// the companion's, and unknown here.
pub(super) fn record(step: &Step) -> Record {
    Record {
        encoding: u64::from(step.encoding),
        cycles: step.cycles,
        branch: step.branch.map(|branch| Branch::new(branch.form.kind(), branch.taken, branch.target)),
        memory: step.access.map(|access| {
            let memory = if access.store { Memory::store } else { Memory::load };
            memory(access.address, access.size)
        }),
        sample: Sample {
            unit: unit(step.category, step.barrier),
            traits: traits(step),
            real_address: step.access.map_or(0, |access| access.real),
            ..Sample::default()
        },
        ..Record::at(step.address)
    }
}

fn traits(step: &Step) -> Traits {
    let mut traits = Traits::empty();
    traits.set(Traits::PROBE, step.marks.probe);
    traits.set(Traits::DIVIDE, step.marks.divide);
    traits.set(Traits::LONG_LATENCY, step.marks.long_latency);
    traits.set(Traits::LINK, step.branch.is_some_and(|branch| branch.form.link));
    traits.set(Traits::RESERVE, step.conditional.is_none() && step.access.is_some_and(|access| access.reserve));
    traits.set(Traits::CONDITIONAL, step.conditional.is_some());
    traits.set(Traits::CONDITIONAL_FAILED, step.conditional == Some(Conditional::Failed));
    traits.set(Traits::TRANSACTION_END, step.transaction == Some(Transaction::Commit) || ends_transaction(step.encoding));
    traits.set(Traits::TRANSACTION_FAILED, step.transaction == Some(Transaction::Abort));
    traits
}

/// Whether an instruction is `tend.`, whatever becomes of its transaction.
fn ends_transaction(encoding: u32) -> bool {
    encoding >> 26 == 31 && encoding >> 1 & 0x3FF == 686
}
