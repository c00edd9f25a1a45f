//! From bytes to [`Decoded`], by way of iced-x86.

use iced_x86::{ConditionCode, Decoder, DecoderError, DecoderOptions, FastFormatter, Instruction, OpKind, Register};
use vm_pmu::decode::x86::Mode;

use super::mnemonic::{operation, refine};
use super::op::{Decoded, Operand, Repeat};
use super::state::{NEXT, ZERO};
use super::step::InstructionInfo;

/// What came out of decoding.
pub(crate) enum Outcome {
    Instruction(Box<Decoded>),
    /// More bytes are needed, or with 15 given, the instruction is too long.
    Short,
    /// #UD.
    Invalid,
}

/// The text of the instruction at the start of `bytes`, in Intel syntax.
pub(crate) fn text(bytes: &[u8], rip: u64) -> String {
    let instruction = Decoder::with_ip(64, bytes, rip, DecoderOptions::NONE).decode();
    let mut out = String::new();
    FastFormatter::new().format(&instruction, &mut out);
    out
}

/// Decodes the instruction at the start of `bytes`.
pub(crate) fn decode(bytes: &[u8], rip: u64) -> Outcome {
    let mut decoder = Decoder::with_ip(64, bytes, rip, DecoderOptions::NONE);
    let i = decoder.decode();
    if i.is_invalid() {
        return match decoder.last_error() {
            DecoderError::NoMoreBytes => Outcome::Short,
            _ => Outcome::Invalid,
        };
    }
    let Ok(described) = vm_pmu::decode::x86::decode(bytes, Mode::Bits64, rip) else { return Outcome::Invalid };
    let mut d = Decoded::new(operation(&i), InstructionInfo::of(&described, bytes));
    operands(&i, &mut d);
    d.repeat = if i.has_repne_prefix() {
        Repeat::NotEqual
    } else if i.has_rep_prefix() {
        Repeat::Equal
    } else {
        Repeat::No
    };
    d.lock = i.has_lock_prefix();
    if i.condition_code() != ConditionCode::None {
        d.code = i.condition_code() as u8 - 1;
    }
    refine(&i, &mut d);
    Outcome::Instruction(Box::new(d))
}

/// Number and size of a general-purpose register.
fn register(r: Register) -> Operand {
    match r {
        Register::AH => Operand::High(0),
        Register::CH => Operand::High(1),
        Register::DH => Operand::High(2),
        Register::BH => Operand::High(3),
        _ if r.is_gpr() => Operand::Reg(r.full_register().number() as u8),
        _ => Operand::Reg(r.number() as u8),
    }
}

fn bytes_of(size: usize) -> u8 {
    u8::try_from(size).unwrap_or(0)
}

fn operands(i: &Instruction, d: &mut Decoded) {
    for n in 0..i.op_count() {
        let (operand, size) = match i.op_kind(n) {
            OpKind::Register => {
                let r = i.op_register(n);
                (register(r), bytes_of(r.size()))
            }
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {
                d.immediate = i.near_branch_target().wrapping_sub(i.next_ip());
                (Operand::Imm, 8)
            }
            OpKind::Memory => {
                memory(i, d);
                (Operand::Mem, bytes_of(i.memory_size().size()))
            }
            OpKind::MemorySegESI | OpKind::MemoryESEDI | OpKind::MemorySegEDI => {
                d.address32 = true;
                string_segment(i, d);
                (Operand::None, bytes_of(i.memory_size().size()))
            }
            OpKind::MemorySegRSI | OpKind::MemoryESRDI | OpKind::MemorySegRDI => {
                string_segment(i, d);
                (Operand::None, bytes_of(i.memory_size().size()))
            }
            OpKind::Immediate8_2nd => {
                // ENTER's nesting level.
                d.code = i.immediate8_2nd();
                continue;
            }
            OpKind::FarBranch16 | OpKind::FarBranch32 => (Operand::None, 0),
            _ => {
                d.immediate = i.immediate(n);
                (Operand::Imm, 0)
            }
        };
        match n {
            0 => {
                d.dst = operand;
                d.size = size;
            }
            1 => {
                d.src = operand;
                d.source_size = size;
            }
            _ => {}
        }
    }
}

fn string_segment(i: &Instruction, d: &mut Decoded) {
    d.segment = match i.memory_segment() {
        Register::FS => 1,
        Register::GS => 2,
        _ => 0,
    };
}

fn memory(i: &Instruction, d: &mut Decoded) {
    let base = i.memory_base();
    let index = i.memory_index();
    d.displacement = i.memory_displacement64();
    d.base = match base {
        Register::None => ZERO,
        Register::RIP | Register::EIP => {
            d.displacement = d.displacement.wrapping_sub(i.next_ip());
            NEXT
        }
        r => r.full_register().number() as u8,
    };
    d.index = match index {
        Register::None => ZERO,
        r => r.full_register().number() as u8,
    };
    d.scale = i.memory_index_scale().trailing_zeros() as u8;
    let narrow = |r: Register| r == Register::EIP || (r.is_gpr() && r.size() == 4);
    d.address32 = narrow(base) || narrow(index) || (base == Register::None && index == Register::None && i.memory_displ_size() == 4);
    d.segment = match i.memory_segment() {
        Register::FS => 1,
        Register::GS => 2,
        _ => 0,
    };
    d.stack = i.memory_segment() == Register::SS && d.segment == 0;
}

#[cfg(test)]
mod tests;
