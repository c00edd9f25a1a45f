//! From a step of the IA-64 interpreter to a record of one instruction.

use vm_pmu::arch::feed::{Branch, BranchKind, ExecutionUnit, Memory, Occasion, Prediction, Record, Sample, Traits, Translation};
use vm_pmu::companion::Outcome;

use vm_pmu_engines::ia64::{Access, AccessKind, Branch as StepBranch, BranchKind as StepKind, Notice, Step, Unit};

/// The kind of a branch.
pub(super) fn kind(branch: &StepBranch) -> BranchKind {
    match (branch.kind, branch.indirect) {
        (StepKind::Return, _) => BranchKind::Return,
        (StepKind::Call, true) => BranchKind::IndirectCall,
        (StepKind::Call, false) => BranchKind::DirectCall,
        (_, true) => BranchKind::IndirectJump,
        (_, false) => BranchKind::Conditional,
    }
}

/// What a step did for which its record may be wanted. `outcome` contains what its fetch missed.
pub(super) fn occasion(step: &Step, outcome: Option<&Outcome>) -> Occasion {
    let transfer = transfer(step, Prediction::None);
    Occasion {
        branch: transfer.is_some(),
        taken: transfer.is_some_and(|branch| branch.taken),
        memory: step.access.is_some() || step.check.is_some(),
        fetch: outcome.is_some_and(|outcome| outcome.fetch.is_some()),
    }
}

/// The change of flow that the instruction made or did not make.
fn transfer(step: &Step, prediction: Prediction) -> Option<Branch> {
    if let Some(branch) = &step.branch {
        return Some(Branch { kind: kind(branch), taken: branch.taken, target: branch.target, prediction });
    }
    if step.returned {
        return Some(Branch { kind: BranchKind::Far, taken: true, target: step.next, prediction: Prediction::None });
    }
    let check = step.check.filter(|check| check.failed && !check.load)?;
    Some(Branch { kind: BranchKind::FailedCheck, taken: true, target: check.target, prediction: Prediction::None })
}

fn memory(access: &Access, outcome: &Outcome) -> Memory {
    use AccessKind::{CheckHit, Load, RegisterStackLoad, RegisterStackStore, Semaphore, Store};
    Memory {
        address: access.address,
        size: access.size,
        load: matches!(access.kind, Load | Semaphore | RegisterStackLoad | CheckHit),
        store: matches!(access.kind, Store | Semaphore | RegisterStackStore),
        latency: outcome.latency,
        source: outcome.source,
        translation: if access.kind == CheckHit { Translation::Unknown } else { outcome.translation },
    }
}

/// The record of an instruction. What an interpreter cannot know is the companion's `outcome`, and unknown without one.
pub(super) fn record(step: &Step, outcome: Option<&Outcome>) -> Record {
    let outcome = outcome.copied().unwrap_or_default();
    Record {
        address: step.ip,
        slot: step.slot,
        encoding: step.encoding,
        cycles: outcome.cycles.unwrap_or(step.cycles),
        branch: transfer(step, outcome.prediction),
        memory: step.access.as_ref().map(|access| memory(access, &outcome)),
        fetch: outcome.fetch,
        sample: Sample { unit: unit(step), traits: traits(step, &outcome), ..Sample::default() },
    }
}

/// The record of an access of the register stack engine, while `step` waits for it.
pub(super) fn of_register_stack(step: &Step, access: &Access) -> Record {
    let outcome = Outcome::default();
    let sample = Sample { unit: ExecutionUnit::LoadStore, traits: Traits::REGISTER_STACK, ..Sample::default() };
    Record { slot: step.slot, memory: Some(memory(access, &outcome)), sample, cycles: 0, ..Record::at(step.ip) }
}

/// The record of a fault or trap.
pub(super) fn of_interruption(notice: &Notice) -> Record {
    let branch = Branch { kind: BranchKind::Exception, taken: true, target: notice.target, prediction: Prediction::None };
    Record { slot: notice.slot, branch: Some(branch), cycles: notice.cycles, ..Record::at(notice.ip) }
}

fn unit(step: &Step) -> ExecutionUnit {
    match step.unit {
        Unit::M => ExecutionUnit::LoadStore,
        Unit::I => ExecutionUnit::FixedPoint,
        Unit::F => ExecutionUnit::VectorScalar,
        Unit::B => ExecutionUnit::Branch,
        Unit::X if step.branch.is_some() => ExecutionUnit::Branch,
        Unit::X => ExecutionUnit::FixedPoint,
    }
}

fn traits(step: &Step, outcome: &Outcome) -> Traits {
    let mut traits = Traits::empty();
    traits.set(Traits::ADVANCED_CHECK_FAILED, step.check.is_some_and(|check| check.advanced && check.failed));
    traits.set(Traits::FLOATING_POINT, step.access.is_some_and(|access| access.floating));
    traits.set(Traits::SEMAPHORE, step.access.is_some_and(|access| access.kind == AccessKind::Semaphore));
    let wrong = matches!(outcome.prediction, Prediction::WrongDirection | Prediction::WrongTarget);
    traits.set(Traits::FLUSHED, wrong && step.branch.is_some());
    traits
}
