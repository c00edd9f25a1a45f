//! The operands of an instruction, whatever it does with them.

use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};

use crate::companion::Class;

/// Whether an operand is in memory, or is the address of something there.
pub(super) fn has_memory(i: &Instruction) -> bool {
    i.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Whether an operand other than the first is in memory.
pub(super) fn reads_memory(i: &Instruction) -> bool {
    i.op_kinds().skip(1).any(|kind| kind == OpKind::Memory)
}

/// The class of a move: to memory, from it, or else what `between` says of registers.
pub(super) fn moved(i: &Instruction, between: impl FnOnce() -> Class) -> Class {
    if i.op0_kind() == OpKind::Memory {
        Class::Store
    } else if reads_memory(i) {
        Class::Load
    } else {
        between()
    }
}

/// The registers among the operands.
pub(super) fn registers(i: &Instruction) -> impl Iterator<Item = Register> + '_ {
    (0..i.op_count()).filter(|n| i.op_kind(*n) == OpKind::Register).map(|n| i.op_register(n))
}

/// Whether an instruction is the one of a vector that shares its mnemonic with a string instruction.
pub(super) fn shared_with_strings(i: &Instruction) -> bool {
    match i.mnemonic() {
        Mnemonic::Movsd => i.code() != Code::Movsd_m32_m32,
        Mnemonic::Cmpsd => i.code() != Code::Cmpsd_m32_m32,
        _ => false,
    }
}
