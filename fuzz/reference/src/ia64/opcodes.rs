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
    /// That of an instruction, if it has one. Where nobody told, it follows from the branch or the access to memory.
    pub(crate) const fn of(record: &Record) -> Option<Slot> {
        Some(match record.sample.unit {
            ExecutionUnit::LoadStore => Slot::M,
            ExecutionUnit::Branch => Slot::B,
            ExecutionUnit::FixedPoint => Slot::I,
            ExecutionUnit::VectorScalar => Slot::F,
            ExecutionUnit::Fetch => return None,
            ExecutionUnit::Unknown if record.branch.is_some() => Slot::B,
            ExecutionUnit::Unknown if record.memory.is_some() => Slot::M,
            ExecutionUnit::Unknown => Slot::I,
        })
    }
}
