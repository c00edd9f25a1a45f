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

/// What a step did for which its record may be wanted. What its fetch missed, the companion knows.
pub(super) fn occasion(step: &Step) -> Occasion {
    let transfer = transfer(step);
    Occasion {
        branch: transfer.is_some(),
        taken: transfer.is_some_and(|branch| branch.taken),
        memory: step.access.is_some() || step.check.is_some(),
        fetch: false,
    }
}

/// The change of flow that the instruction made or did not make.
fn transfer(step: &Step) -> Option<Branch> {
    if let Some(branch) = &step.branch {
        return Some(Branch::new(kind(branch), branch.taken, branch.target));
    }
    if step.returned {
        return Some(Branch::new(BranchKind::Far, true, step.next));
    }
    let check = step.check.filter(|check| check.failed && !check.load)?;
    Some(Branch::new(BranchKind::FailedCheck, true, check.target))
}

fn memory(access: &Access) -> Memory {
    use AccessKind::{CheckHit, Load, RegisterStackLoad, RegisterStackStore, Semaphore, Store};
    Memory {
        load: matches!(access.kind, Load | Semaphore | RegisterStackLoad | CheckHit),
        store: matches!(access.kind, Store | Semaphore | RegisterStackStore),
        ..Memory::load(access.address, access.size)
    }
}

/// The record of an instruction. What an interpreter cannot know is the companion's, and [added](refine) afterwards.
pub(super) fn record(step: &Step) -> Record {
    Record {
        slot: step.slot,
        encoding: step.encoding,
        cycles: step.cycles,
        branch: transfer(step),
        memory: step.access.as_ref().map(memory),
        sample: Sample { unit: unit(step), traits: traits(step), ..Sample::default() },
        ..Record::at(step.ip)
    }
}

/// Adds what the companion knows. It knows of branches what it predicted, not of returns and checks; and a check that hits translates nothing.
pub(super) fn refine(record: &mut Record, step: &Step, outcome: &Outcome) {
    outcome.refine(record);
    if let Some(branch) = record.branch.as_mut().filter(|_| step.branch.is_none()) {
        branch.prediction = Prediction::None;
    }
    if let Some(memory) = &mut record.memory
        && step.access.is_some_and(|access| access.kind == AccessKind::CheckHit)
    {
        memory.translation = Translation::Unknown;
    }
    let wrong = matches!(outcome.prediction, Prediction::WrongDirection | Prediction::WrongTarget);
    record.sample.traits.set(Traits::FLUSHED, wrong && step.branch.is_some());
}

/// The record of an access of the register stack engine, while `step` waits for it.
pub(super) fn of_register_stack(step: &Step, access: &Access) -> Record {
    let sample = Sample { unit: ExecutionUnit::LoadStore, traits: Traits::REGISTER_STACK, ..Sample::default() };
    Record { slot: step.slot, memory: Some(memory(access)), sample, cycles: 0, ..Record::at(step.ip) }
}

/// The record of a fault or trap.
pub(super) fn of_interruption(notice: &Notice) -> Record {
    let branch = Branch::new(BranchKind::Exception, true, notice.target);
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

fn traits(step: &Step) -> Traits {
    let mut traits = Traits::empty();
    traits.set(Traits::ADVANCED_CHECK_FAILED, step.check.is_some_and(|check| check.advanced && check.failed));
    traits.set(Traits::FLOATING_POINT, step.access.is_some_and(|access| access.floating));
    traits.set(Traits::SEMAPHORE, step.access.is_some_and(|access| access.kind == AccessKind::Semaphore));
    traits
}
