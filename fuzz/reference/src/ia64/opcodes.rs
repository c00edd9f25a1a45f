//! The type of an instruction, at which opcode matchers look.

use vm_pmu_arch::feed::{ExecutionUnit, Record};

/// The type of the slot that an instruction is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    M,
    I,
    F,
    B,
}

impl Slot {
    /// That of an instruction. Where nobody told, it follows from the branch or the access to memory; nothing of IA-64 is finished by the
    /// fetch unit.
    pub(crate) const fn of(record: &Record) -> Slot {
        match record.sample.unit {
            ExecutionUnit::LoadStore => Slot::M,
            ExecutionUnit::Branch => Slot::B,
            ExecutionUnit::FixedPoint => Slot::I,
            ExecutionUnit::VectorScalar => Slot::F,
            _ if record.branch.is_some() => Slot::B,
            _ if record.memory.is_some() => Slot::M,
            _ => Slot::I,
        }
    }
}
