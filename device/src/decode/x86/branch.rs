//! The control transfer of an instruction.

use iced_x86::{FlowControl, Instruction, Mnemonic};
use vm_pmu_arch::feed::BranchKind;

use super::class::is_far;
use crate::decode::Branch;

/// The control transfer of an instruction, if it is one. INTO is none: whether it goes anywhere, the flags decide.
pub(super) fn branch(i: &Instruction) -> Option<Branch> {
    let (kind, is_direct) = match i.flow_control() {
        FlowControl::ConditionalBranch => (BranchKind::Conditional, true),
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::IndirectCall if is_far(i) => (BranchKind::Far, false),
        FlowControl::UnconditionalBranch => (BranchKind::DirectJump, true),
        FlowControl::IndirectBranch => (BranchKind::IndirectJump, false),
        FlowControl::Call if i.mnemonic() == Mnemonic::Call && !is_far(i) => (BranchKind::DirectCall, true),
        FlowControl::Call if matches!(i.mnemonic(), Mnemonic::Call | Mnemonic::Syscall | Mnemonic::Sysenter) => (BranchKind::Far, false),
        FlowControl::IndirectCall => (BranchKind::IndirectCall, false),
        FlowControl::Return if i.mnemonic() == Mnemonic::Ret => (BranchKind::Return, false),
        FlowControl::Return => (BranchKind::Far, false),
        FlowControl::Interrupt if i.mnemonic() != Mnemonic::Into => (BranchKind::Far, false),
        _ => return None,
    };
    Some(Branch { kind, target: is_direct.then(|| i.near_branch_target()) })
}
