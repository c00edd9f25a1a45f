//! The registers that an instruction works on, by iced-x86's tables.

use iced_x86::{CodeSize, Instruction, InstructionInfo, MemorySize, Mnemonic, OpAccess, OpKind, Register as Name, RflagsBits};

use super::facts::{Facts, SimdClass};
use super::register;
use super::shape::has_memory;
use crate::companion::{Class, Elements, Register};
use crate::decode::MOST_REGISTERS;

/// The operands of an x86 instruction. [`register`] has the numbers.
pub type Operands = crate::decode::Operands<MOST_REGISTERS>;

const FLAGS: Register = Register(register::FLAGS);
const DIRECTION: Register = Register(register::DIRECTION);

/// The flags that are one register.
const STATUS: u32 = RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF | RflagsBits::CF;

/// The operands of an instruction of this class, apart from their width.
pub(super) fn operands(i: &Instruction, class: Class, facts: &Facts, used: &InstructionInfo) -> Operands {
    let mut operands = Operands::new(class, 0);
    operands.packed = facts.simd == Some(SimdClass::PackedSse) || facts.simd == Some(SimdClass::Mmx) && i.memory_size().is_packed();
    operands.upper = super::moves::writes_upper(i);
    operands.elements = elements(i, facts);
    if class == Class::Nop {
        return operands;
    }
    let implied = used.used_memory().iter().flat_map(|memory| [memory.base(), memory.index(), memory.segment()]);
    // The address that LEA or a prefetch only computes is of no access.
    let named = has_memory(i).then(|| [i.memory_base(), i.memory_index()]);
    for name in implied.chain(named.into_iter().flatten()).filter(|name| addresses(*name, i.code_size())) {
        number_of(name).into_iter().for_each(|register| operands.address(register));
    }
    for used in used.used_registers() {
        let name = used.register();
        let Some(register) = number_of(name) else { continue };
        // The rest of the register is kept.
        let partial = name.is_gpr() && name.size() <= 2;
        let (reads, writes) = match used.access() {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write => (partial, true),
            OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            OpAccess::None | OpAccess::NoMemAccess => (false, false),
        };
        if reads {
            operands.read(register);
        }
        if writes {
            operands.write(register);
        }
    }
    // A vector register that is combined with itself waits for its former value all the same.
    if matches!(i.mnemonic(), Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd) && i.op0_kind() == OpKind::Register {
        number_of(i.op0_register()).into_iter().for_each(|register| operands.read(register));
    }
    for (flags, register) in [(STATUS, FLAGS), (RflagsBits::DF, DIRECTION)] {
        if i.rflags_read() & flags != 0 {
            operands.read(register);
        }
        if i.rflags_modified() & flags != 0 {
            operands.write(register);
        }
    }
    operands
}

/// The elements that a vector instruction names: those of its result if it converts.
fn elements(i: &Instruction, facts: &Facts) -> Elements {
    if !matches!(facts.simd, Some(SimdClass::PackedSse | SimdClass::ScalarSse)) {
        return Elements::Untold;
    }
    converted(i.mnemonic()).unwrap_or_else(|| match i.memory_size().element_type() {
        MemorySize::Float32 => Elements::Singles,
        MemorySize::Float64 => Elements::Doubles,
        _ => Elements::Integers,
    })
}

#[rustfmt::skip]
fn converted(mnemonic: Mnemonic) -> Option<Elements> {
    use Mnemonic as M;
    Some(match mnemonic {
        M::Cvtdq2ps | M::Cvtsi2ss | M::Cvtpi2ps | M::Cvtsd2ss | M::Cvtpd2ps | M::Vcvtdq2ps | M::Vcvtsi2ss | M::Vcvtsd2ss | M::Vcvtpd2ps
        | M::Vcvtph2ps | M::Vcvtudq2ps | M::Vcvtusi2ss => Elements::Singles,
        M::Cvtdq2pd | M::Cvtsi2sd | M::Cvtpi2pd | M::Cvtss2sd | M::Cvtps2pd | M::Vcvtdq2pd | M::Vcvtsi2sd | M::Vcvtss2sd | M::Vcvtps2pd
        | M::Vcvtudq2pd | M::Vcvtusi2sd => Elements::Doubles,
        M::Cvtps2dq | M::Cvttps2dq | M::Cvtpd2dq | M::Cvttpd2dq | M::Cvtss2si | M::Cvttss2si | M::Cvtsd2si | M::Cvttsd2si | M::Cvtps2pi
        | M::Cvttps2pi | M::Cvtpd2pi | M::Cvttpd2pi | M::Vcvtps2dq | M::Vcvttps2dq | M::Vcvtpd2dq | M::Vcvttpd2dq | M::Vcvtss2si
        | M::Vcvttss2si | M::Vcvtsd2si | M::Vcvttsd2si | M::Vcvtps2udq | M::Vcvttps2udq | M::Vcvtpd2udq | M::Vcvttpd2udq
        | M::Vcvtss2usi | M::Vcvttss2usi | M::Vcvtsd2usi | M::Vcvttsd2usi => Elements::Integers,
        _ => return None,
    })
}

/// Whether an address depends on this register: the bases of four of the segments are 0 in 64-bit mode.
fn addresses(name: Name, code: CodeSize) -> bool {
    let has_base = if code == CodeSize::Code64 { matches!(name, Name::FS | Name::GS) } else { name.is_segment_register() };
    name.is_gpr() || name.is_vector_register() || has_base
}

fn number_of(name: Name) -> Option<Register> {
    let first = match name {
        _ if name.is_gpr() => return Some(Register(register::GENERAL + name.full_register().number() as u16)),
        _ if name.is_segment_register() => register::SEGMENTS,
        _ if name.is_st() => register::X87,
        _ if name.is_mm() => register::MMX,
        _ if name.is_vector_register() => register::VECTORS,
        _ if name.is_k() => register::MASKS,
        _ if name.is_cr() => register::CONTROL,
        _ if name.is_dr() => register::DEBUG,
        _ => return None,
    };
    Some(Register(first + name.number() as u16))
}
