//! Classification of instructions on the first Itanium: their ports, the kind of their results, and their number of floating-point
//! operations. Section I1 and rules PI11 and PI29 of `docs/notes/pipelines-ia64.md` have the sources.

use crate::bundle::Unit;
use crate::ia64_register::{FLOATING, PREDICATES};
use crate::instruction::Instruction;
use crate::pipeline::ia64::rows::{self, CCV, Consumer, Ia64Row, Producer, Special, UNAT, field};

/// Ports that can take an instruction (PI11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItaniumPort {
    /// M0 and M1.
    Memory,
    /// M0.
    Memory0,
    /// I0 and I1.
    Integer,
    /// I0.
    Integer0,
    /// The F port of its bundle.
    Floating,
    /// F0.
    Floating0,
    /// An I port, together with the F port of its bundle.
    Long,
    /// A branch port, for a branch or for a nop in a B slot.
    Branch,
    BranchNop,
}

/// Returns the port and the row of an instruction with the given unit and 41 bits.
pub(super) fn of(instruction: &Instruction<'_>, encoding: Option<(Unit, u64)>) -> (ItaniumPort, Ia64Row) {
    let row = rows::of(instruction, encoding);
    let Some((unit, word)) = encoding else { return (port(&row, Unit::M, 0), row) };
    (port(&row, unit, word), refined(row, unit, word))
}

fn port(row: &Ia64Row, unit: Unit, word: u64) -> ItaniumPort {
    let semaphore = row.port == rows::BundlePort::Store && row.special == Special::Acquire;
    let stack = matches!(row.special, Special::Stack | Special::LoadStack);
    match row.port {
        rows::BundlePort::Any if unit == Unit::I => ItaniumPort::Integer,
        rows::BundlePort::Memory2 => ItaniumPort::Memory0,
        // flushrs and loadrs; mf, srlz and the like go to either.
        rows::BundlePort::Memory0 if stack => ItaniumPort::Memory0,
        rows::BundlePort::Store if semaphore => ItaniumPort::Memory0,
        rows::BundlePort::Any | rows::BundlePort::Memory | rows::BundlePort::Load | rows::BundlePort::Store | rows::BundlePort::Memory0 => {
            ItaniumPort::Memory
        }
        rows::BundlePort::Integer0 => ItaniumPort::Integer0,
        // extr, dep, shrp, tbit and tnat; and popcnt.
        rows::BundlePort::Integer if word >> 37 == 5 || is_population_count(word) => ItaniumPort::Integer0,
        rows::BundlePort::Integer => ItaniumPort::Integer,
        rows::BundlePort::Floating if matches!(kind_of_float(word), Float::Compare | Float::Other) => ItaniumPort::Floating0,
        rows::BundlePort::Floating => ItaniumPort::Floating,
        rows::BundlePort::Long => ItaniumPort::Long,
        rows::BundlePort::Branch => ItaniumPort::Branch,
        rows::BundlePort::BranchNop => ItaniumPort::BranchNop,
    }
}

fn is_population_count(word: u64) -> bool {
    const PLACES: u64 = 1 << 36 | 1 << 33 | 3 << 34 | 3 << 28 | 3 << 30;
    word >> 37 == 7 && word & PLACES == 1 << 33 | 1 << 34 | 1 << 28 | 2 << 30
}

/// Kinds of instructions in an F slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Float {
    /// `fma` and the like.
    Multiply,
    /// `xma`, and conversions to and from integers.
    Fixed,
    Compare,
    /// A nop.
    Nop,
    /// All others.
    Other,
}

fn kind_of_float(word: u64) -> Float {
    match (word >> 37, field(word, 33, 1), field(word, 27, 6)) {
        (8..=0xD, ..) => Float::Multiply,
        (0xE, ..) if field(word, 36, 1) == 1 => Float::Fixed,
        (4 | 5, ..) => Float::Compare,
        (0 | 1, 0, 0x18..=0x1C) => Float::Fixed,
        (0, 0, 0 | 1) => Float::Nop,
        _ => Float::Other,
    }
}

/// Refines the row where this part distinguishes more than Montecito, and for moves with different latencies.
fn refined(row: Ia64Row, unit: Unit, word: u64) -> Ia64Row {
    match row.producer {
        Producer::Integer if unit == Unit::I || is_logic(word) => row.makes(Producer::Slow),
        // `getf` is classified by its source; probes and translations take as long as other moves of system registers.
        Producer::Probe if row.consumer != Consumer::Getf => row.makes(Producer::Move12),
        Producer::MoveLoop | Producer::Move5 | Producer::Move12 => moved(row, unit, word),
        Producer::Float | Producer::FloatCompare => match kind_of_float(word) {
            Float::Fixed => row.makes(Producer::FloatFixed).uses(Consumer::FloatOther),
            Float::Other => row.makes(Producer::FloatOther).uses(Consumer::FloatOther),
            Float::Compare => row.uses(Consumer::FloatOther),
            Float::Multiply | Float::Nop => row,
        },
        _ => row,
    }
}

/// Whether it is an A-type logic instruction, which can be in M and I slots.
fn is_logic(word: u64) -> bool {
    word >> 37 == 8 && field(word, 33, 3) == 0 && matches!(field(word, 29, 4), 3 | 0xB)
}

/// Returns the row of a move of an application or control register.
fn moved(row: Ia64Row, unit: Unit, word: u64) -> Ia64Row {
    let reads = matches!((unit, field(word, 27, 6)), (Unit::M, 0x22) | (Unit::I, 0x32));
    match field(word, 20, 7) {
        UNAT | CCV if reads => row.makes(Producer::Move6),
        UNAT | CCV if row.producer == Producer::Move5 => row,
        _ => row.makes(Producer::Move12),
    }
}

/// Returns the number of floating-point operations of an instruction in an F slot (as on Montecito: manual 4.15, page of FP_OPS_RETIRED).
/// One that is predicated off has none: it uses no floating-point register.
pub(super) fn operations(instruction: &Instruction<'_>, unit: Unit, word: u64) -> u64 {
    if unit != Unit::F {
        return 0;
    }
    let works = instruction.operation.is_none_or(|operation| {
        operation.reads.iter().chain(operation.writes).any(|register| (FLOATING..PREDICATES).contains(&register.0))
    });
    if works || field(word, 0, 6) == 0 { of_encoding(word) } else { 0 }
}

fn of_encoding(word: u64) -> u64 {
    let (major, x6) = (word >> 37, field(word, 27, 6));
    // If f0 is added or f1 is a factor, there is only one operation; pairs have two of each, whatever the factors are.
    let (adds, multiplies) = (field(word, 13, 7) != 0, field(word, 27, 7) != 1);
    match major {
        0 if field(word, 33, 1) == 1 => 1,
        1 if field(word, 33, 1) == 1 => 2,
        0 if (0x14..=0x1B).contains(&x6) => 1,
        1 if matches!(x6, 0x14..=0x1B | 0x30..=0x37) => 2,
        4 => 1,
        9 | 0xB | 0xD if field(word, 36, 1) == 1 => 2 * (1 + u64::from(adds)),
        8..=0xD => 1 + u64::from(adds && multiplies),
        _ => 0,
    }
}
