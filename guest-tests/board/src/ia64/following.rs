//! The companion of one thread: what the interpreter reports to it.

use vm_pmu::arch::feed::BranchKind;
use vm_pmu::companion::{Access, AccessKind, Bundle, Class, Instruction, Operation, PageTables, Transfer, Walk};

use super::Pmu;
use super::record::kind;
use crate::Lines;
use vm_pmu_engines::ia64::{Access as StepAccess, AccessKind as StepKind, Class as StepClass, Step, operands};

/// Bytes of a bundle.
const LENGTH: u8 = 16;
/// The binary logarithm of the pages that addresses are taken to lie in: the engine translates nothing, and Linux has pages of 16 KiB.
const PAGE_BITS: u8 = 14;

/// Every address is its own.
struct Identity;

impl PageTables for Identity {
    fn walk(&mut self, _address: u64) -> Walk {
        Walk::direct(PAGE_BITS)
    }
}

fn told(access: &StepAccess) -> Option<Access> {
    let kind = match access.kind {
        StepKind::Load => AccessKind::Load,
        StepKind::Store | StepKind::Semaphore => AccessKind::Store,
        StepKind::RegisterStackLoad => AccessKind::RegisterStackLoad,
        StepKind::RegisterStackStore => AccessKind::RegisterStackStore,
        StepKind::Prefetch => AccessKind::PrefetchLoad,
        StepKind::CheckHit => return None,
    };
    let locked = access.kind == StepKind::Semaphore;
    Some(Access { address: access.address, physical: access.physical, size: access.size, kind, locked, uncached: access.uncacheable })
}

/// Reports a step to the companion. `accesses` is kept from step to step, so that none needs an allocation.
pub(super) fn execute(pmu: &mut Pmu<'_, Lines>, step: &Step, accesses: &mut Vec<Access>) {
    accesses.clear();
    accesses.extend(step.access.iter().chain(&step.register_stack).filter_map(told));
    let operands = operands(step);
    let far = Transfer { kind: BranchKind::Far, taken: true, target: step.next };
    let branch = step.branch.map(|branch| Transfer { kind: kind(&branch), taken: branch.taken, target: branch.target });
    let instruction = Instruction {
        address: step.ip,
        physical: step.ip & !(0b111 << 61),
        length: LENGTH,
        class: operands.class,
        operation: Some(Operation { may_trap: step.unsafe_operand, ..operands.operation() }),
        floating_point: step.class == StepClass::Floating,
        accesses,
        transfer: branch.or(step.returned.then_some(far)),
        bundle: Some(Bundle { words: step.bundle, slot: step.slot, function_state: step.function_state }),
        ..Instruction::default()
    };
    pmu.execute(&instruction, &mut Identity);
}

/// Reports an interruption to the companion.
pub(super) fn interrupt(pmu: &mut Pmu<'_, Lines>) {
    pmu.execute(&Instruction { class: Class::Exception, ..Instruction::default() }, &mut Identity);
}
