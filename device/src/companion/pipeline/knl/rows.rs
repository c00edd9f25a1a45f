//! Which port, latency and flow an operation has. `docs/notes/pipelines-x86.md`, table 1.1 of part two, has the sources.

use super::super::super::instruction::{AccessKind, Class, Instruction};

/// What executes a micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// The memory station alone.
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

impl Unit {
    /// Whether it is a vector port.
    pub(super) fn is_vector(self) -> bool {
        matches!(self, Unit::Vector | Unit::Vector0)
    }

    /// The only port of the two that it can be.
    pub(super) fn only(self) -> Option<usize> {
        match self {
            Unit::Integer0 | Unit::Vector0 => Some(0),
            Unit::Integer1 => Some(1),
            Unit::None | Unit::Integer | Unit::Vector => None,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) unit: Unit,
    /// From issue to the use of the result, in cycles.
    pub(super) latency: u8,
    /// The port takes the next operation so many cycles later.
    pub(super) every: u8,
    /// Cycles of allocation that its flow of microcode has for itself; 0 without one.
    pub(super) flow: u8,
    /// The divider takes the next division so many cycles later; 0 if it is none.
    pub(super) divider: u8,
    /// It waits until everything before it has completed and every store is written.
    pub(super) serializes: bool,
}

const fn row(unit: Unit, latency: u8, every: u8) -> Row {
    Row { unit, latency, every, flow: 0, divider: 0, serializes: false }
}

/// One micro-operation of a cycle of a unit, or only of the memory station.
#[inline]
pub(super) const fn of_cycle(unit: Unit) -> Row {
    row(unit, !matches!(unit, Unit::None) as u8, 1)
}

/// A flow of microcode whose result takes as long as the front end is held.
const fn flow(cycles: u8) -> Row {
    Row { flow: cycles, ..row(Unit::Integer, cycles, 1) }
}

/// A flow of microcode that waits for everything before it.
const fn serializing(cycles: u8) -> Row {
    Row { flow: cycles, serializes: true, ..row(Unit::Integer, 1, 1) }
}

/// A division of integers has the front end for the shortest flow (PL4).
const fn division(latency: u8, divider: u8) -> Row {
    Row { flow: SHORTEST_FLOW, divider, ..row(Unit::Integer, latency, 1) }
}

/// A division or square root of the vector unit: in the divider if it is scalar or of x87, else in microcode (PL22).
const fn fraction(latency: u8, divider: u8) -> Row {
    Row { divider, ..row(Unit::Vector0, latency, 1) }
}

const fn packed(latency: u8, cycles: u8) -> Row {
    Row { flow: cycles, ..row(Unit::Vector, latency, 1) }
}

/// The width of x87's extended numbers.
const EXTENDED: u8 = 10;
/// The shortest flow of microcode.
const SHORTEST_FLOW: u8 = 7;
/// A flow of which nothing is known: as XADD or CLD.
const SOME_FLOW: u8 = 8;
/// A locked operation: 13 in a chain, of which the data take 6 from store to load, and the second try of the load one.
const LOCKED: Row = Row { flow: 13, ..row(Unit::Integer, 6, 1) };
/// XCHG with memory: 24 in a chain.
const LOCKED_EXCHANGE: Row = Row { flow: 24, ..row(Unit::Integer, 17, 1) };
/// A far transfer, an interrupt or an exception. Chosen.
const FAR: u8 = 90;
/// A load of a segment register. Chosen.
const SEGMENT: u8 = 10;
/// A vector load of so many elements is a gather.
const GATHER: usize = 4;

/// The row of an instruction.
pub(super) fn of(instruction: &Instruction<'_>, far: bool) -> Row {
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
        Class::Simple if instruction.floating_point => row(Unit::Vector, 2, 1),
        Class::Simple | Class::Nop | Class::BitTest => row(Unit::Integer, 1, 1),
        Class::Load if instruction.floating_point && accesses >= GATHER => packed(10, 9),
        Class::Load | Class::Store => row(Unit::None, 0, 1),
        // To or from memory.
        Class::Push if accesses > 1 => flow(8),
        Class::Pop if accesses > 1 => flow(9),
        Class::Push | Class::Pop => row(Unit::Integer, 1, 1),
        Class::Branch | Class::Call | Class::Return => row(Unit::Integer1, 1, 1),
        Class::Extend | Class::Address | Class::AddressScaled | Class::Multiply | Class::PopulationCount if sixteen => flow(SHORTEST_FLOW),
        Class::Shift | Class::Extend => row(Unit::Integer0, 1, 1),
        Class::Address => row(Unit::Integer1, 1, 1),
        // Of one register it has a scale, of two it is taken to have a displacement too.
        Class::AddressScaled => row(Unit::Integer1, operation.addresses.len().clamp(1, 2) as u8, 1),
        Class::ConditionalMove | Class::AddWithCarry => row(Unit::Integer, 2, 2),
        Class::Multiply if width > 4 => row(Unit::Integer1, 5, 2),
        Class::Multiply => row(Unit::Integer1, 3, 1),
        Class::PopulationCount => row(Unit::Integer0, 3, 1),
        Class::DoubleShift if width == 4 => row(Unit::Integer0, 2, 1),
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
        Class::FloatAdd | Class::FloatCompare if width == EXTENDED => row(Unit::Vector0, 6, 1),
        Class::FloatMultiply if width == EXTENDED => row(Unit::Vector0, 7, 2),
        Class::FloatAdd | Class::FloatMultiply | Class::FloatMultiplyAdd | Class::FloatCompare | Class::FloatConvert => {
            row(Unit::Vector, 6, 1)
        }
        Class::FloatEstimate | Class::VectorMultiply => row(Unit::Vector, 7, 2),
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
        Class::FloatMove | Class::Vector => row(Unit::Vector, 2, 1),
        Class::VectorPermute if operation.reads.len() > 1 => row(Unit::Vector0, 3, 2),
        Class::VectorPermute => row(Unit::Vector0, 2, 1),
        Class::ToVector => row(Unit::Vector0, 4, 1),
        Class::FromVector => row(Unit::Vector0, 5, 1),
    }
}
