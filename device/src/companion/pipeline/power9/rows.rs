//! Which unit and latency an operation has, and how it is dispatched. `docs/notes/pipelines-power9.md`, 1.3 and 1.4, has the sources.

use super::super::super::instruction::{Class, Instruction};
use super::reasons::Reason;

/// Which places of a dispatch cycle an internal operation takes (PP10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One.
    Plain,
    /// One, and its superslice takes one operation for each slice.
    Restricted,
    /// A superslice.
    Even,
    /// One of the branch unit.
    Branch,
}

/// What executes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing: it finishes at dispatch (PP23).
    None,
    /// The execution port of its slice.
    Slice,
    /// The same, and a unit of the slice that is kept.
    Kept,
    /// Both execution ports of its superslice.
    Pair,
    /// The same, and the divider of the superslice.
    Divider,
    /// The unit of decimal and quad-precision operations.
    Decimal,
    /// The unit of cryptography.
    Crypto,
    /// The branch unit.
    Branch,
    /// The load/store slices.
    Memory,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) unit: Unit,
    pub(super) place: Place,
    /// Internal operations.
    pub(super) operations: u8,
    /// From issue to the use of the result, in cycles.
    pub(super) latency: u8,
    /// The unit that is kept takes the next operation so many cycles later.
    pub(super) keeps: u8,
    /// What a cycle counts in which this is waited for.
    pub(super) reason: Reason,
}

const fn row(unit: Unit, latency: u8, reason: Reason) -> Row {
    Row { unit, place: Place::Plain, operations: 1, latency, keeps: 1, reason }
}

const fn kept(unit: Unit, latency: u8, keeps: u8, reason: Reason) -> Row {
    Row { unit, place: Place::Restricted, operations: 1, latency, keeps, reason }
}

const fn restricted(latency: u8, reason: Reason) -> Row {
    Row { place: Place::Restricted, ..row(Unit::Slice, latency, reason) }
}

pub(super) const FIXED: Row = row(Unit::Slice, 2, Reason::Fixed);
const MEMORY: Row = row(Unit::Memory, 4, Reason::LoadStoreOther);

/// The row of a floating-point operation with these latencies: of a scalar, of a vector and of quad precision.
fn float(width: u8, packed: bool, scalar: Row, vector: Row, quad: Row) -> Row {
    match (packed, width) {
        (true, _) => vector,
        (false, 16..) => quad,
        (false, _) => scalar,
    }
}

/// The row of an instruction, apart from its accesses.
#[inline]
pub(super) fn of(instruction: &Instruction<'_>) -> Row {
    let (width, packed) = instruction.operation.as_ref().map_or((8, false), |operation| (operation.width, operation.packed));
    let vector_float = row(Unit::Pair, 7, Reason::VectorFloat);
    let quad = kept(Unit::Decimal, 12, 1, Reason::Decimal);
    let plain = || float(width, packed, restricted(7, Reason::Float), vector_float, quad);
    match instruction.class {
        Class::Nop => row(Unit::None, 1, Reason::DispatchFinish),
        Class::Branch | Class::Call | Class::Return => Row { place: Place::Branch, ..row(Unit::Branch, 2, Reason::Branch) },
        Class::Load | Class::Fence | Class::Serializing => MEMORY,
        Class::Store => Row { place: Place::Restricted, ..MEMORY },
        Class::LightFence | Class::TransactionBegin | Class::NestedTransactionBegin | Class::NestedTransactionEnd | Class::CacheBlock => {
            MEMORY
        }
        Class::DeviceFence => Row { reason: Reason::OrderingBarrier, ..MEMORY },
        Class::TranslationInvalidation => Row { reason: Reason::Invalidation, ..MEMORY },
        Class::SegmentInvalidation => Row { reason: Reason::SegmentInvalidation, ..MEMORY },
        Class::Paste => Row { reason: Reason::Paste, ..MEMORY },
        Class::TransactionEnd => Row { reason: Reason::TransactionEnd, ..MEMORY },
        Class::MemoryRegister => Row { reason: Reason::LoadStoreRegister, ..MEMORY },
        Class::StatusWrite => row(Unit::Slice, 3, Reason::Float),
        Class::CompareExchange => Row { place: Place::Even, ..MEMORY },
        Class::Exception => row(Unit::None, 1, Reason::DispatchFinish),
        Class::BitScan | Class::PopulationCount => row(Unit::Slice, 3, Reason::Fixed),
        Class::Multiply | Class::WideMultiply => restricted(5, Reason::Fixed),
        Class::Divide | Class::SignedDivide => {
            let latency = match width {
                ..=4 => 16,
                5..=8 => 24,
                _ => 40,
            };
            Row { place: Place::Even, ..kept(Unit::Divider, latency, 8, Reason::FixedLong) }
        }
        Class::System => system(instruction),
        Class::Microcode | Class::String | Class::Push | Class::Pop => Row { operations: 3, ..FIXED },
        Class::DoubleShift | Class::RotateThroughCarry | Class::Exchange | Class::BitTest => Row { operations: 2, ..FIXED },
        Class::FloatAdd | Class::FloatMultiplyAdd | Class::FloatConvert | Class::FloatEstimate => plain(),
        Class::FloatMultiply => float(width, packed, plain(), vector_float, kept(Unit::Decimal, 24, 12, Reason::DecimalLong)),
        Class::FloatMove => float(width, packed, row(Unit::Slice, 2, Reason::Float), row(Unit::Pair, 2, Reason::VectorFixed), quad),
        Class::FloatCompare => float(width, packed, row(Unit::Slice, 3, Reason::Float), row(Unit::Pair, 3, Reason::VectorFloat), quad),
        Class::FloatDivide => float(
            width,
            packed,
            if width <= 4 { kept(Unit::Kept, 22, 5, Reason::FloatLong) } else { kept(Unit::Kept, 33, 8, Reason::FloatLong) },
            // The widths of elements are not told: those of double precision.
            kept(Unit::Pair, 33, 8, Reason::VectorFloatLong),
            kept(Unit::Decimal, 58, 44, Reason::DecimalLong),
        ),
        Class::FloatSquareRoot => float(
            width,
            packed,
            if width <= 4 { kept(Unit::Kept, 26, 5, Reason::FloatLong) } else { kept(Unit::Kept, 36, 10, Reason::FloatLong) },
            kept(Unit::Pair, 36, 10, Reason::VectorFloatLong),
            kept(Unit::Decimal, 76, 62, Reason::DecimalLong),
        ),
        Class::Decimal => kept(Unit::Decimal, 12, 1, Reason::Decimal),
        Class::Vector => row(Unit::Pair, 2, Reason::VectorFixed),
        Class::VectorMultiply => row(Unit::Pair, 7, Reason::VectorFixedLong),
        Class::VectorPermute => row(Unit::Pair, 3, Reason::Permute),
        Class::Crypto => row(Unit::Crypto, 6, Reason::Crypto),
        Class::Simple
        | Class::Shift
        | Class::Address
        | Class::AddressScaled
        | Class::Extend
        | Class::ConditionalMove
        | Class::AddWithCarry
        | Class::ToVector
        | Class::FromVector => FIXED,
    }
}

/// Moves to and from special registers: renamed ones, which both sides name, and others; and what only reaches the load/store unit.
fn system(instruction: &Instruction<'_>) -> Row {
    let Some(operation) = instruction.operation else { return Row { place: Place::Even, ..row(Unit::Pair, 12, Reason::Fixed) } };
    match (operation.reads, operation.writes) {
        ([], []) => MEMORY,
        ([_, ..], [_, ..]) => row(Unit::Slice, 5, Reason::Fixed),
        _ => Row { place: Place::Even, ..row(Unit::Pair, 12, Reason::Fixed) },
    }
}

/// PP15: whether an instruction waits until everything before it has completed. Of moves to special registers those that nothing renames.
pub(super) fn synchronizes(instruction: &Instruction<'_>) -> bool {
    match (instruction.class, instruction.operation) {
        (Class::Serializing | Class::Exception | Class::TranslationInvalidation, _) => true,
        (Class::System, Some(operation)) => !operation.reads.is_empty() && operation.writes.is_empty(),
        _ => false,
    }
}
