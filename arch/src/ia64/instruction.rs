//! What monitors see of an instruction.

use crate::feed::{ExecutionUnit, Record};

/// The bits of an instruction's encoding.
pub(crate) const ENCODING: u64 = (1 << 41) - 1;

/// The slot of an instruction in its bundle, 0 to 2; a higher number counts as 2.
pub(crate) fn slot(record: &Record) -> u8 {
    record.slot.min(2)
}

/// The types of the slots that an opcode matcher takes, as its fields m, i, f and b say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) m: bool,
    pub(crate) i: bool,
    pub(crate) f: bool,
    pub(crate) b: bool,
}

impl Types {
    /// Whether it takes every type.
    pub(crate) const fn is_all(self) -> bool {
        self.m && self.i && self.f && self.b
    }

    /// Whether it takes the slot of `record`. A type that is not reported follows from the branch and the access to memory.
    pub(crate) fn takes(self, record: &Record) -> bool {
        match record.sample.unit {
            ExecutionUnit::LoadStore => self.m,
            ExecutionUnit::FixedPoint => self.i,
            ExecutionUnit::VectorScalar => self.f,
            ExecutionUnit::Branch => self.b,
            ExecutionUnit::Unknown | ExecutionUnit::Fetch if record.branch.is_some() => self.b,
            ExecutionUnit::Unknown | ExecutionUnit::Fetch if record.memory.is_some() => self.m,
            ExecutionUnit::Unknown | ExecutionUnit::Fetch => self.i,
        }
    }
}
