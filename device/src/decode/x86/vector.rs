//! The class of an instruction of the floating-point and vector units: by opcode, which legacy, VEX and EVEX encodings share, and by mnemonic where there
//! is no such system.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::facts::{Facts, SimdClass};
use super::moves::{is_move, spreads};
use super::opcode::{Map, Opcode};
use super::shape::{moved, reads_memory, registers, shared_with_strings};
use crate::companion::Class;

/// The class of a move between registers: from one file to the other, or within the vector registers.
fn moved_between_registers(i: &Instruction) -> Class {
    match registers(i).position(|register| register.is_gpr()) {
        Some(0) => Class::FromVector,
        Some(_) => Class::ToVector,
        None => Class::FloatMove,
    }
}

/// The class of a vector instruction, MMX included.
pub(super) fn class(i: &Instruction, opcode: &Opcode, facts: &Facts) -> Class {
    if facts.simd == Some(SimdClass::X87) {
        return x87(i);
    }
    let shuffles = spreads(i.mnemonic()) || matches!(i.mnemonic(), Mnemonic::Movsldup | Mnemonic::Movshdup);
    if shuffles && !reads_memory(i) {
        return Class::VectorPermute;
    }
    if is_move(i, opcode) {
        let class = moved(i, || moved_between_registers(i));
        let halves = opcode.map == Map::Of3a && opcode.byte >= 0x18 && class == Class::FloatMove;
        return if halves { Class::VectorPermute } else { class };
    }
    match opcode.map {
        Map::Of => of(opcode, i),
        Map::Of38 => of38(opcode, i),
        Map::Of3a => of3a(opcode.byte),
        Map::One | Map::Other => other(i.mnemonic()),
    }
}

fn of(opcode: &Opcode, i: &Instruction) -> Class {
    match opcode.byte {
        0x77 if !opcode.extended => Class::Nop,
        0x0E if !opcode.extended => Class::Nop,
        0x2A | 0x2C | 0x2D | 0x5A | 0x5B | 0xE6 => Class::FloatConvert,
        0x78..=0x7B if opcode.evex => Class::FloatConvert,
        0x2E | 0x2F => Class::FloatCompare,
        0xC2 if !shared_with_strings(i) || i.mnemonic() == Mnemonic::Cmpsd => Class::FloatCompare,
        0x50 | 0xC5 | 0xD7 => Class::FromVector,
        0xC4 => Class::ToVector,
        0x51 => Class::FloatSquareRoot,
        0x52 | 0x53 => Class::FloatEstimate,
        0x58 | 0x5C | 0x5D | 0x5F | 0x7C | 0x7D | 0xD0 => Class::FloatAdd,
        0x59 => Class::FloatMultiply,
        0x5E => Class::FloatDivide,
        0x14 | 0x15 | 0x60..=0x6D | 0x70 | 0xC6 => Class::VectorPermute,
        0xD5 | 0xE4 | 0xE5 | 0xF4 | 0xF5 => Class::VectorMultiply,
        0xF7 => Class::Store,
        _ => Class::Vector,
    }
}

fn of38(opcode: &Opcode, i: &Instruction) -> Class {
    match opcode.byte {
        0x13 if matches!(i.mnemonic(), Mnemonic::Vcvtph2ps) => Class::FloatConvert,
        0x00 | 0x0C | 0x0D | 0x16 | 0x36 | 0x58..=0x5B | 0x78 | 0x79 => Class::VectorPermute,
        0x11..=0x13 | 0x18..=0x1B | 0x20..=0x25 | 0x30..=0x35 => Class::VectorPermute,
        // From a general register.
        0x7A..=0x7C => Class::ToVector,
        0x64..=0x66 | 0x75..=0x77 | 0x7D..=0x7F | 0x88..=0x8D => Class::VectorPermute,
        0x04 | 0x0B | 0x28 | 0x40 => Class::VectorMultiply,
        0x2C | 0x2D => Class::FloatMultiply,
        0x42 | 0x43 => Class::FloatConvert,
        0x4C..=0x4F => Class::FloatEstimate,
        0xC8..=0xCD if opcode.evex => Class::FloatEstimate,
        0xC8..=0xCD | 0xDB..=0xDF => Class::Crypto,
        // Prefetches of what a gather or scatter will access.
        0xC6 | 0xC7 => Class::Load,
        0x96..=0x9F | 0xA6..=0xAF | 0xB6..=0xBF => Class::FloatMultiplyAdd,
        0xB4 | 0xB5 => Class::VectorMultiply,
        _ => Class::Vector,
    }
}

fn of3a(byte: u8) -> Class {
    match byte {
        0x00 | 0x01 | 0x03..=0x06 | 0x0F | 0x18 | 0x1A | 0x21 | 0x23 | 0x38 | 0x3A | 0x43 | 0x46 => Class::VectorPermute,
        0x20 | 0x22 => Class::ToVector,
        0x08..=0x0B | 0x1D | 0x26 | 0x27 => Class::FloatConvert,
        0x40 | 0x41 => Class::FloatMultiplyAdd,
        0x44 | 0xDF => Class::Crypto,
        0x54 | 0x55 => Class::FloatMove,
        0x60..=0x63 => Class::Microcode,
        _ => Class::Vector,
    }
}

/// 3DNow!, by the suffix that is its opcode.
fn other(mnemonic: Mnemonic) -> Class {
    use Mnemonic as M;
    match mnemonic {
        M::Pfadd | M::Pfsub | M::Pfsubr | M::Pfacc | M::Pfnacc | M::Pfpnacc | M::Pfmax | M::Pfmin => Class::FloatAdd,
        M::Pfmul => Class::FloatMultiply,
        M::Pfcmpeq | M::Pfcmpge | M::Pfcmpgt => Class::FloatCompare,
        M::Pfrcp | M::Pfrcpit1 | M::Pfrcpit2 | M::Pfrsqrt | M::Pfrsqit1 => Class::FloatEstimate,
        M::Pi2fd | M::Pi2fw | M::Pf2id | M::Pf2iw => Class::FloatConvert,
        M::Pmulhrw => Class::VectorMultiply,
        M::Pswapd => Class::VectorPermute,
        _ => Class::Vector,
    }
}

#[rustfmt::skip]
fn x87(i: &Instruction) -> Class {
    use Mnemonic as M;
    match i.mnemonic() {
        M::Fnop | M::Wait => Class::Nop,
        M::Fadd | M::Faddp | M::Fiadd | M::Fsub | M::Fsubp | M::Fisub | M::Fsubr | M::Fsubrp | M::Fisubr => Class::FloatAdd,
        M::Fmul | M::Fmulp | M::Fimul => Class::FloatMultiply,
        M::Fdiv | M::Fdivp | M::Fidiv | M::Fdivr | M::Fdivrp | M::Fidivr => Class::FloatDivide,
        M::Fsqrt => Class::FloatSquareRoot,
        M::Fcom | M::Fcomp | M::Fcompp | M::Fucom | M::Fucomp | M::Fucompp | M::Fcomi | M::Fcomip | M::Fucomi | M::Fucomip | M::Ficom
        | M::Ficomp | M::Ftst | M::Fxam => Class::FloatCompare,
        M::Fild | M::Fist | M::Fistp | M::Fisttp | M::Frndint => Class::FloatConvert,
        M::Fld if i.op0_kind() == OpKind::Memory => Class::Load,
        M::Fst | M::Fstp if i.op0_kind() == OpKind::Memory => Class::Store,
        M::Fld | M::Fst | M::Fstp | M::Fstpnce | M::Fxch | M::Fchs | M::Fabs | M::Ffree | M::Ffreep | M::Fincstp | M::Fdecstp | M::Fld1
        | M::Fldz | M::Fldpi | M::Fldl2e | M::Fldl2t | M::Fldlg2 | M::Fldln2 | M::Fcmovb | M::Fcmove | M::Fcmovbe | M::Fcmovu
        | M::Fcmovnb | M::Fcmovne | M::Fcmovnbe | M::Fcmovnu => Class::FloatMove,
        M::Fldcw => Class::StatusWrite,
        M::Fnstcw | M::Fnstsw | M::Fnclex => Class::System,
        _ => Class::Microcode,
    }
}
