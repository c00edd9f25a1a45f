//! Unit, latency and dispatch of each operation. `docs/notes/pipelines-power9.md`, 1.3 and 1.4, has the sources.

use super::reasons::Reason;
use crate::instruction::{Class, Instruction};

/// The places of a dispatch cycle that an internal operation takes (PP10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DispatchPlace {
    /// One place.
    Plain,
    /// One place, and its superslice takes one operation per slice.
    Restricted,
    /// A whole superslice.
    Even,
    /// One place of the branch unit.
    Branch,
}

/// The unit that executes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power9Unit {
    /// No unit: the operation finishes at dispatch (PP23).
    None,
    /// The execution port of its slice.
    Slice,
    /// The execution port of its slice, and a unit of the slice that is kept busy.
    Kept,
    /// Both execution ports of its superslice.
    Pair,
    /// Both execution ports of its superslice, and the divider of the superslice.
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
pub(super) struct Power9Row {
    pub(super) unit: Power9Unit,
    pub(super) place: DispatchPlace,
    /// Number of internal operations.
    pub(super) operations: u8,
    /// Cycles from issue to the use of the result.
    pub(super) latency: u8,
    /// Cycles until the kept unit accepts the next operation.
    pub(super) keeps: u8,
    /// The reason of a cycle that waits for this operation.
    pub(super) reason: Reason,
}

const fn row(unit: Power9Unit, latency: u8, reason: Reason) -> Power9Row {
    Power9Row { unit, place: DispatchPlace::Plain, operations: 1, latency, keeps: 1, reason }
}

const fn kept(unit: Power9Unit, latency: u8, keeps: u8, reason: Reason) -> Power9Row {
    Power9Row { unit, place: DispatchPlace::Restricted, operations: 1, latency, keeps, reason }
}

const fn restricted(latency: u8, reason: Reason) -> Power9Row {
    Power9Row { place: DispatchPlace::Restricted, ..row(Power9Unit::Slice, latency, reason) }
}

pub(super) const FIXED: Power9Row = row(Power9Unit::Slice, 2, Reason::Fixed);
pub(super) const BRANCH: Power9Row = Power9Row { place: DispatchPlace::Branch, ..row(Power9Unit::Branch, 2, Reason::Branch) };
pub(super) const MEMORY: Power9Row = row(Power9Unit::Memory, 4, Reason::LoadStoreOther);
pub(super) const STORE: Power9Row = Power9Row { place: DispatchPlace::Restricted, ..MEMORY };

/// Selects the row of a floating-point operation: scalar, vector or quad precision.
fn float(width: u8, packed: bool, scalar: Power9Row, vector: Power9Row, quad: Power9Row) -> Power9Row {
    match (packed, width) {
        (true, _) => vector,
        (false, 16..) => quad,
        (false, _) => scalar,
    }
}

/// Returns the row of an instruction, apart from its accesses.
#[inline]
pub(super) fn of(instruction: &Instruction<'_>) -> Power9Row {
    let (width, packed) = instruction.operation.as_ref().map_or((8, false), |operation| (operation.width, operation.packed));
    let vector_float = row(Power9Unit::Pair, 7, Reason::VectorFloat);
    let quad = kept(Power9Unit::Decimal, 12, 1, Reason::Decimal);
    let plain = || float(width, packed, restricted(7, Reason::Float), vector_float, quad);
    match instruction.class {
        Class::Nop => row(Power9Unit::None, 1, Reason::DispatchFinish),
        Class::Branch | Class::Call | Class::Return => BRANCH,
        Class::Load | Class::Fence | Class::Serializing => MEMORY,
        Class::Store => STORE,
        Class::LightFence | Class::TransactionBegin | Class::NestedTransactionBegin | Class::NestedTransactionEnd | Class::CacheBlock => {
            MEMORY
        }
        Class::DeviceFence => Power9Row { reason: Reason::OrderingBarrier, ..MEMORY },
        Class::TranslationInvalidation => Power9Row { reason: Reason::Invalidation, ..MEMORY },
        Class::SegmentInvalidation => Power9Row { reason: Reason::SegmentInvalidation, ..MEMORY },
        Class::Paste => Power9Row { reason: Reason::Paste, ..MEMORY },
        Class::TransactionEnd => Power9Row { reason: Reason::TransactionEnd, ..MEMORY },
        Class::MemoryRegister => Power9Row { reason: Reason::LoadStoreRegister, ..MEMORY },
        Class::StatusWrite => row(Power9Unit::Slice, 3, Reason::Float),
        Class::CompareExchange => Power9Row { place: DispatchPlace::Even, ..MEMORY },
        Class::Exception => row(Power9Unit::None, 1, Reason::DispatchFinish),
        Class::BitScan | Class::PopulationCount => row(Power9Unit::Slice, 3, Reason::Fixed),
        Class::Multiply | Class::WideMultiply => restricted(5, Reason::Fixed),
        Class::Divide | Class::SignedDivide => {
            let latency = match width {
                ..=4 => 16,
                5..=8 => 24,
                _ => 40,
            };
            Power9Row { place: DispatchPlace::Even, ..kept(Power9Unit::Divider, latency, 8, Reason::FixedLong) }
        }
        Class::System => system(instruction),
        Class::Microcode | Class::String | Class::Push | Class::Pop => Power9Row { operations: 3, ..FIXED },
        Class::DoubleShift | Class::RotateThroughCarry | Class::Exchange | Class::BitTest => Power9Row { operations: 2, ..FIXED },
        Class::FloatAdd | Class::FloatMultiplyAdd | Class::FloatConvert | Class::FloatEstimate => plain(),
        Class::FloatMultiply => float(width, packed, plain(), vector_float, kept(Power9Unit::Decimal, 24, 12, Reason::DecimalLong)),
        Class::FloatMove => {
            float(width, packed, row(Power9Unit::Slice, 2, Reason::Float), row(Power9Unit::Pair, 2, Reason::VectorFixed), quad)
        }
        Class::FloatCompare => {
            float(width, packed, row(Power9Unit::Slice, 3, Reason::Float), row(Power9Unit::Pair, 3, Reason::VectorFloat), quad)
        }
        Class::FloatDivide => float(
            width,
            packed,
            if width <= 4 { kept(Power9Unit::Kept, 22, 5, Reason::FloatLong) } else { kept(Power9Unit::Kept, 33, 8, Reason::FloatLong) },
            // The element width is not known; that of double precision is assumed.
            kept(Power9Unit::Pair, 33, 8, Reason::VectorFloatLong),
            kept(Power9Unit::Decimal, 58, 44, Reason::DecimalLong),
        ),
        Class::FloatSquareRoot => float(
            width,
            packed,
            if width <= 4 { kept(Power9Unit::Kept, 26, 5, Reason::FloatLong) } else { kept(Power9Unit::Kept, 36, 10, Reason::FloatLong) },
            kept(Power9Unit::Pair, 36, 10, Reason::VectorFloatLong),
            kept(Power9Unit::Decimal, 76, 62, Reason::DecimalLong),
        ),
        Class::Decimal => kept(Power9Unit::Decimal, 12, 1, Reason::Decimal),
        Class::Vector => row(Power9Unit::Pair, 2, Reason::VectorFixed),
        Class::VectorMultiply => row(Power9Unit::Pair, 7, Reason::VectorFixedLong),
        Class::VectorPermute => row(Power9Unit::Pair, 3, Reason::Permute),
        Class::Crypto => row(Power9Unit::Crypto, 6, Reason::Crypto),
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

/// Whether the row of an instruction of `class` is [`FIXED`], whatever its width.
#[inline]
pub(super) fn is_fixed(class: Class) -> bool {
    matches!(
        class,
        Class::Simple
            | Class::Shift
            | Class::Address
            | Class::AddressScaled
            | Class::Extend
            | Class::ConditionalMove
            | Class::AddWithCarry
            | Class::ToVector
            | Class::FromVector
    )
}

/// Returns the row of a move to or from a special register, renamed (which name registers on both sides) or not, or of an operation that
/// only reaches the load/store unit.
fn system(instruction: &Instruction<'_>) -> Power9Row {
    let Some(operation) = instruction.operation else {
        return Power9Row { place: DispatchPlace::Even, ..row(Power9Unit::Pair, 12, Reason::Fixed) };
    };
    match (operation.reads, operation.writes) {
        ([], []) => MEMORY,
        ([_, ..], [_, ..]) => row(Power9Unit::Slice, 5, Reason::Fixed),
        _ => Power9Row { place: DispatchPlace::Even, ..row(Power9Unit::Pair, 12, Reason::Fixed) },
    }
}

/// PP15: whether an instruction waits until everything before it has completed. Of moves to special registers, those that are not renamed
/// do.
pub(super) fn synchronizes(instruction: &Instruction<'_>) -> bool {
    match (instruction.class, instruction.operation) {
        (Class::Serializing | Class::Exception | Class::TranslationInvalidation, _) => true,
        (Class::System, Some(operation)) => !operation.reads.is_empty() && operation.writes.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_one_fixed_point_operation_are_known_by_themselves() {
        for class in Class::ALL {
            let row = of(&Instruction { class, ..Instruction::default() });
            assert_eq!(is_fixed(class), row == FIXED, "{class:?}");
        }
    }
}
