//! Port, latency and flow of each operation. `docs/notes/pipelines-x86.md`, table 1.1 of part two, has the sources.

use crate::instruction::{AccessKind, Class, Instruction};

/// The unit that executes a micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnlUnit {
    /// The memory station only.
    None,
    /// Either integer port.
    Integer,
    /// The first integer port.
    Integer0,
    /// The second integer port.
    Integer1,
    /// Either vector port.
    Vector,
    /// The first vector port.
    Vector0,
}

impl KnlUnit {
    /// Returns whether it is a vector port.
    pub(super) fn is_vector(self) -> bool {
        matches!(self, KnlUnit::Vector | KnlUnit::Vector0)
    }

    /// Returns the only port that it can use, if it is restricted to one.
    pub(super) fn only(self) -> Option<usize> {
        match self {
            KnlUnit::Integer0 | KnlUnit::Vector0 => Some(0),
            KnlUnit::Integer1 => Some(1),
            KnlUnit::None | KnlUnit::Integer | KnlUnit::Vector => None,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnlRow {
    pub(super) unit: KnlUnit,
    /// Cycles from issue to the use of the result.
    pub(super) latency: u8,
    /// Cycles until the port accepts the next operation.
    pub(super) every: u8,
    /// Cycles of allocation that its microcode flow has for itself; 0 without a flow.
    pub(super) flow: u8,
    /// Cycles until the divider accepts the next division; 0 if it is not a division.
    pub(super) divider: u8,
    /// Whether it waits until everything before it has completed and every store is written.
    pub(super) serializes: bool,
}

const fn row(unit: KnlUnit, latency: u8, every: u8) -> KnlRow {
    KnlRow { unit, latency, every, flow: 0, divider: 0, serializes: false }
}

/// Returns the row of one single-cycle micro-operation of a unit, or of the memory station only.
#[inline]
pub(super) const fn of_cycle(unit: KnlUnit) -> KnlRow {
    row(unit, !matches!(unit, KnlUnit::None) as u8, 1)
}

/// Returns the row of a microcode flow whose result takes as long as the front end is held.
const fn flow(cycles: u8) -> KnlRow {
    KnlRow { flow: cycles, ..row(KnlUnit::Integer, cycles, 1) }
}

/// Returns the row of a microcode flow that waits for everything before it.
const fn serializing(cycles: u8) -> KnlRow {
    KnlRow { flow: cycles, serializes: true, ..row(KnlUnit::Integer, 1, 1) }
}

/// Returns the row of an integer division, which occupies the front end for the shortest flow (PL4).
const fn division(latency: u8, divider: u8) -> KnlRow {
    KnlRow { flow: SHORTEST_FLOW, divider, ..row(KnlUnit::Integer, latency, 1) }
}

/// Returns the row of a division or square root of the vector unit: in the divider if it is scalar or x87, otherwise in microcode (PL22).
const fn fraction(latency: u8, divider: u8) -> KnlRow {
    KnlRow { divider, ..row(KnlUnit::Vector0, latency, 1) }
}

const fn packed(latency: u8, cycles: u8) -> KnlRow {
    KnlRow { flow: cycles, ..row(KnlUnit::Vector, latency, 1) }
}

/// The width of x87's extended numbers in bytes.
const EXTENDED: u8 = 10;
/// The shortest microcode flow.
const SHORTEST_FLOW: u8 = 7;
/// A flow of unknown length: as XADD or CLD.
const SOME_FLOW: u8 = 8;
/// A locked operation: 13 in a chain, of which store-to-load forwarding takes 6 and the replay of the load one.
const LOCKED: KnlRow = KnlRow { flow: 13, ..row(KnlUnit::Integer, 6, 1) };
/// XCHG with memory: 24 in a chain.
const LOCKED_EXCHANGE: KnlRow = KnlRow { flow: 24, ..row(KnlUnit::Integer, 17, 1) };
/// Cycles of a far transfer, an interrupt or an exception. Chosen.
const FAR: u8 = 90;
/// Cycles of a load of a segment register. Chosen.
const SEGMENT: u8 = 10;
/// A vector load with at least this many elements is a gather.
const GATHER: usize = 4;

/// Whether an instruction without accesses is one micro-operation of a cycle of either integer port, whatever its width.
#[inline]
pub(super) fn is_plain(instruction: &Instruction<'_>) -> bool {
    let class = matches!(instruction.class, Class::Simple | Class::Nop | Class::BitTest);
    class && !instruction.floating_point && instruction.segment_loads == 0
}

/// Returns the unit of an instruction with at most one access, not locked, that is one micro-operation of a cycle, or of the memory station
/// only, whatever its width.
#[inline]
pub(super) fn short(instruction: &Instruction<'_>) -> Option<KnlUnit> {
    let usual = !instruction.floating_point && instruction.segment_loads == 0;
    match instruction.class {
        Class::Simple | Class::Nop | Class::BitTest | Class::Push | Class::Pop if usual => Some(KnlUnit::Integer),
        Class::Load | Class::Store if usual => Some(KnlUnit::None),
        Class::Branch | Class::Call | Class::Return if usual => Some(KnlUnit::Integer1),
        _ => None,
    }
}

/// Returns the row of an instruction.
pub(super) fn of(instruction: &Instruction<'_>, far: bool) -> KnlRow {
    if far {
        return serializing(FAR);
    }
    let operation = instruction.operation.unwrap_or_default();
    let (width, class) = (operation.width, instruction.class);
    if instruction.accesses.first().is_some_and(|access| access.locked) {
        return if class == Class::Exchange { LOCKED_EXCHANGE } else { LOCKED };
    }
    if instruction.segment_loads != 0 {
        return flow(SEGMENT);
    }
    let accesses = instruction.accesses.len();
    let sixteen = width == 2;
    match class {
        Class::Simple if instruction.floating_point => row(KnlUnit::Vector, 2, 1),
        Class::Simple | Class::Nop | Class::BitTest => row(KnlUnit::Integer, 1, 1),
        Class::Load if instruction.floating_point && accesses >= GATHER => packed(10, 9),
        Class::Load | Class::Store => row(KnlUnit::None, 0, 1),
        // To or from memory.
        Class::Push if accesses > 1 => flow(8),
        Class::Pop if accesses > 1 => flow(9),
        Class::Push | Class::Pop => row(KnlUnit::Integer, 1, 1),
        Class::Branch | Class::Call | Class::Return => row(KnlUnit::Integer1, 1, 1),
        Class::Extend | Class::Address | Class::AddressScaled | Class::Multiply | Class::PopulationCount if sixteen => flow(SHORTEST_FLOW),
        Class::Shift | Class::Extend => row(KnlUnit::Integer0, 1, 1),
        Class::Address => row(KnlUnit::Integer1, 1, 1),
        // With one register it has a scale; with two it is assumed to have a displacement too.
        Class::AddressScaled => row(KnlUnit::Integer1, operation.addresses.len().clamp(1, 2) as u8, 1),
        Class::ConditionalMove | Class::AddWithCarry => row(KnlUnit::Integer, 2, 2),
        Class::Multiply if width > 4 => row(KnlUnit::Integer1, 5, 2),
        Class::Multiply => row(KnlUnit::Integer1, 3, 1),
        Class::PopulationCount => row(KnlUnit::Integer0, 3, 1),
        Class::DoubleShift if width == 4 => row(KnlUnit::Integer0, 2, 1),
        Class::DoubleShift | Class::BitScan => flow(11),
        Class::RotateThroughCarry => flow(13),
        Class::WideMultiply | Class::Exchange => flow(8),
        Class::CompareExchange => flow(9),
        Class::String => flow(match instruction.accesses {
            [only] if only.kind == AccessKind::Store => 7,
            [_] => 8,
            _ => 9,
        }),
        Class::Divide => match width {
            1 => division(29, 29),
            2 => division(35, 34),
            8 => division(95, 95),
            _ => division(43, 42),
        },
        Class::SignedDivide => match width {
            1 => division(39, 38),
            2 => division(43, 41),
            8 => division(108, 107),
            _ => division(51, 49),
        },
        Class::System
        | Class::LightFence
        | Class::DeviceFence
        | Class::TranslationInvalidation
        | Class::SegmentInvalidation
        | Class::Paste
        | Class::TransactionBegin
        | Class::NestedTransactionBegin
        | Class::TransactionEnd
        | Class::NestedTransactionEnd
        | Class::StatusWrite
        | Class::CacheBlock
        | Class::MemoryRegister => flow(30),
        // Exceptions are far.
        Class::Microcode | Class::Decimal | Class::Crypto | Class::Exception => flow(SOME_FLOW),
        Class::Fence => serializing(17),
        Class::Serializing => serializing(63),
        Class::FloatAdd | Class::FloatCompare if width == EXTENDED => row(KnlUnit::Vector0, 6, 1),
        Class::FloatMultiply if width == EXTENDED => row(KnlUnit::Vector0, 7, 2),
        Class::FloatAdd | Class::FloatMultiply | Class::FloatMultiplyAdd | Class::FloatCompare | Class::FloatConvert => {
            row(KnlUnit::Vector, 6, 1)
        }
        Class::FloatEstimate | Class::VectorMultiply => row(KnlUnit::Vector, 7, 2),
        Class::FloatDivide if operation.packed => packed(32, 16),
        Class::FloatDivide => match width {
            EXTENDED => fraction(41, 37),
            4 => fraction(27, 17),
            _ => fraction(42, 32),
        },
        Class::FloatSquareRoot if operation.packed => packed(38, 16),
        Class::FloatSquareRoot => match width {
            EXTENDED => fraction(42, 40),
            4 => fraction(28, 18),
            _ => fraction(43, 33),
        },
        Class::FloatMove | Class::Vector => row(KnlUnit::Vector, 2, 1),
        Class::VectorPermute if operation.reads.len() > 1 => row(KnlUnit::Vector0, 3, 2),
        Class::VectorPermute => row(KnlUnit::Vector0, 2, 1),
        Class::ToVector => row(KnlUnit::Vector0, 4, 1),
        Class::FromVector => row(KnlUnit::Vector0, 5, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_instructions_have_the_row_of_one_operation_of_a_cycle() {
        for class in Class::ALL {
            let instruction = Instruction { class, ..Instruction::default() };
            let unit = short(&instruction);
            assert!(unit.is_none_or(|unit| of(&instruction, false) == of_cycle(unit)), "{class:?}");
            assert!(!is_plain(&instruction) || unit == Some(KnlUnit::Integer), "{class:?}");
        }
    }
}
