//! Path, unit and latency of each operation. `docs/notes/pipelines-x86.md`, table 1.1 of part one, has the sources.

use crate::instruction::{Class, Instruction};

/// The decoders' way of handling an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodePath {
    /// One macro-operation.
    Direct,
    /// Two macro-operations, which begin together.
    Double,
    /// Two macro-operations, of which the second needs the first.
    Chained,
    /// Microcode: a number of dispatch cycles of its own.
    Vector(u8),
}

/// The unit that executes a macro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum K8Unit {
    /// No unit, or only address generation and the load/store unit.
    None,
    /// The integer unit of its position.
    Integer,
    /// The address unit of its position, for an instruction that computes an address.
    Address,
    /// The multiplier, at position 0.
    Multiplier,
    /// FADD.
    Add,
    /// FMUL.
    Multiply,
    /// FSTORE.
    Store,
    /// FADD or FMUL.
    Either,
}

impl K8Unit {
    /// Returns whether it is a pipe of the floating-point unit.
    pub(super) fn is_floating(self) -> bool {
        matches!(self, K8Unit::Add | K8Unit::Multiply | K8Unit::Store | K8Unit::Either)
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct K8Row {
    pub(super) path: DecodePath,
    pub(super) unit: K8Unit,
    /// Cycles from issue to the use of the result.
    pub(super) latency: u8,
    /// Cycles until the unit accepts the next operation.
    pub(super) every: u8,
}

const fn row(path: DecodePath, unit: K8Unit, latency: u8, every: u8) -> K8Row {
    K8Row { path, unit, latency, every }
}

/// Returns a row of the floating-point unit, whose operations of 16 bytes are two.
const fn wide(width: u8, unit: K8Unit, latency: u8, every: u8) -> K8Row {
    row(if width > 8 && width != EXTENDED { DecodePath::Double } else { DecodePath::Direct }, unit, latency, every)
}

/// The width of x87's extended numbers in bytes.
const EXTENDED: u8 = 10;

/// An integer division occupies the front end for its latency less these cycles.
const DIVISION_OVERLAP: u8 = 6;

const fn division(latency: u8) -> K8Row {
    row(DecodePath::Vector(latency - DIVISION_OVERLAP), K8Unit::Integer, latency, latency)
}

impl K8Row {
    /// The row of a plain instruction.
    pub(super) const PLAIN: K8Row = row(DecodePath::Direct, K8Unit::Integer, 1, 1);
}

/// Number of prefixes that cost nothing. Every further group of as many costs a cycle.
const PREFIXES: u8 = 3;

/// Whether instructions of `class` need the integer unit of their position for a cycle.
#[inline]
fn is_integer(class: Class) -> bool {
    matches!(class, Class::Simple | Class::Shift | Class::Branch | Class::Extend | Class::ConditionalMove | Class::AddWithCarry)
}

/// Whether an instruction is plain: it needs an integer unit for a cycle, and nothing else.
#[inline]
pub(super) fn is_plain(instruction: &Instruction<'_>) -> bool {
    let floating = instruction.class == Class::Simple && instruction.floating_point;
    let quiet = instruction.segment_loads == 0 && instruction.accesses.is_empty() && prefixes(instruction) <= PREFIXES;
    is_integer(instruction.class) && !floating && quiet
}

/// Returns the row of an instruction that is short if its accesses hit: it needs an integer unit for a cycle, or only accesses memory. It has
/// at most one access, or stores what it has loaded, and is not locked.
#[inline]
pub(super) fn short(instruction: &Instruction<'_>) -> Option<K8Row> {
    let row = match instruction.class {
        class if is_integer(class) => K8Row::PLAIN,
        _ if instruction.accesses.len() != 1 => return None,
        Class::Load | Class::Store | Class::Push => row(DecodePath::Direct, K8Unit::None, 0, 1),
        Class::Pop => row(DecodePath::Double, K8Unit::None, 0, 1),
        Class::Call | Class::Return => row(DecodePath::Vector(1), K8Unit::Integer, 1, 1),
        _ => return None,
    };
    let usual = !instruction.floating_point && instruction.segment_loads == 0 && prefixes(instruction) <= PREFIXES;
    usual.then_some(row)
}

#[inline]
fn prefixes(instruction: &Instruction<'_>) -> u8 {
    instruction.operation.as_ref().map_or(0, |operation| operation.prefixes)
}

/// PK5: returns the decode cycles of an instruction's prefixes beyond the free ones.
pub(super) fn prefix_delay(instruction: &Instruction<'_>) -> u64 {
    u64::from(prefixes(instruction).saturating_sub(PREFIXES) / PREFIXES)
}

/// Returns the row of an instruction.
pub(super) fn of(instruction: &Instruction<'_>) -> K8Row {
    let (width, packed) = instruction.operation.as_ref().map_or((0, false), |operation| (operation.width, operation.packed));
    let vector = |lines, latency| row(DecodePath::Vector(lines), K8Unit::Integer, latency, 1);
    if instruction.segment_loads != 0 {
        return vector(1, 1);
    }
    if instruction.accesses.first().is_some_and(|access| access.locked) {
        return vector(1, 1);
    }
    match instruction.class {
        Class::Simple if instruction.floating_point => wide(width, K8Unit::Either, 2, 1),
        Class::Simple | Class::Shift | Class::Branch | Class::Extend | Class::ConditionalMove | Class::AddWithCarry => K8Row::PLAIN,
        Class::Nop => row(DecodePath::Direct, K8Unit::None, 0, 1),
        Class::Address => row(DecodePath::Direct, K8Unit::Address, 1, 1),
        Class::AddressScaled => row(DecodePath::Direct, K8Unit::Address, 2, 1),
        Class::Load if instruction.floating_point && (width > 8 && width != EXTENDED || !packed) => {
            row(DecodePath::Double, K8Unit::Store, 2, 1)
        }
        Class::Load | Class::Store if instruction.floating_point => wide(width, K8Unit::Store, 2, 1),
        Class::Load | Class::Store | Class::Push => row(DecodePath::Direct, K8Unit::None, 0, 1),
        Class::Pop => row(DecodePath::Double, K8Unit::None, 0, 1),
        Class::Call | Class::Return => vector(1, 1),
        Class::BitTest => row(DecodePath::Chained, K8Unit::Integer, 1, 1),
        Class::RotateThroughCarry => vector(3, 3),
        Class::DoubleShift => vector(2, 3),
        Class::BitScan => vector(8, 9),
        Class::Exchange => vector(1, 2),
        Class::CompareExchange => vector(2, 3),
        Class::Multiply if width > 4 => row(DecodePath::Direct, K8Unit::Multiplier, 4, 2),
        Class::Multiply => row(DecodePath::Direct, K8Unit::Multiplier, 3, 1),
        Class::WideMultiply if width > 4 => row(DecodePath::Vector(1), K8Unit::Multiplier, 5, 4),
        Class::WideMultiply => row(DecodePath::Vector(1), K8Unit::Multiplier, 3, 3),
        Class::Divide => division(match width {
            1 => 15,
            2 => 23,
            8 => 71,
            _ => 39,
        }),
        Class::SignedDivide => division(match width {
            1 => 17,
            2 => 24,
            8 => 72,
            _ => 40,
        }),
        Class::String => vector(2 + u8::from(instruction.accesses.len() > 1), 1),
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
        | Class::MemoryRegister => vector(37, 37),
        Class::Fence => vector(8, 8),
        Class::Serializing => vector(48, 48),
        Class::Exception => vector(1, 1),
        Class::Microcode | Class::PopulationCount | Class::Decimal | Class::Crypto => vector(3, 3),
        Class::FloatAdd | Class::FloatConvert => wide(width, K8Unit::Add, 4, 1),
        Class::FloatMultiply | Class::FloatMultiplyAdd => wide(width, K8Unit::Multiply, 4, 1),
        Class::FloatEstimate | Class::VectorMultiply => wide(width, K8Unit::Multiply, 3, 1),
        Class::FloatDivide => {
            let (latency, every) = match width {
                EXTENDED => (24, 21),
                4 => (16, 13),
                _ => (20, 17),
            };
            wide(width, K8Unit::Multiply, latency, every)
        }
        Class::FloatSquareRoot => {
            let (latency, every) = match width {
                EXTENDED => (35, 32),
                4 => (19, 16),
                _ => (27, 24),
            };
            wide(width, K8Unit::Multiply, latency, every)
        }
        Class::FloatCompare => row(DecodePath::Vector(1), K8Unit::Add, 3, 1),
        Class::FloatMove | Class::Vector | Class::VectorPermute => wide(width, K8Unit::Either, 2, 1),
        Class::ToVector => row(DecodePath::Vector(2), K8Unit::Store, 7, 2),
        Class::FromVector => row(DecodePath::Vector(2), K8Unit::Store, 7, 2),
    }
}
