//! The width of an instruction's operands.

use iced_x86::{Code, Instruction, Mnemonic, OpKind};

use super::Mode;
use super::class::{is_far, is_string};
use super::facts::{Facts, SimdClass};
use super::shape::registers;
use crate::companion::Class;

/// The width in bytes: of the whole vector if there are several elements, 10 of x87's extended numbers, 0 if there are no operands.
#[rustfmt::skip]
pub(super) fn width(i: &Instruction, mode: Mode, class: Class, facts: &Facts) -> u8 {
    use Mnemonic as M;
    let stack = match mode {
        Mode::Bits16 => 2,
        Mode::Bits32 => 4,
        Mode::Bits64 => 8,
    };
    match i.mnemonic() {
        M::Clc | M::Stc | M::Cmc | M::Cld | M::Std | M::Cli | M::Sti | M::Clts | M::Pause | M::Hlt | M::Clflush | M::Clflushopt | M::Clwb
        | M::Invlpg | M::Wbinvd | M::Invd | M::Cpuid | M::Rdtsc | M::Rdtscp | M::Rdmsr | M::Wrmsr | M::Rdpmc | M::Swapgs | M::Int | M::Int1
        | M::Int3 | M::Into | M::Ud0 | M::Ud1 | M::Ud2 | M::Syscall | M::Sysret | M::Sysretq | M::Sysenter | M::Sysexit | M::Sysexitq => 0,
        M::Jmp | M::Call if is_far(i) => size_of_first(i).saturating_sub(2),
        // Of 64 bits, whatever the operand's prefix says.
        M::Jmp if class == Class::Branch && is_indirect(i) => stack,
        M::Call | M::Ret => stack,
        M::Push | M::Pop | M::Pushf | M::Pushfd | M::Pushfq | M::Popf | M::Popfd | M::Popfq => bytes(i.stack_pointer_increment().unsigned_abs() as usize),
        M::Leave => if i.code() == Code::Leavew { 2 } else { stack },
        M::Enter => if i.code() == Code::Enterw_imm16_imm8 { 2 } else { stack },
        M::Retf => match i.code() {
            Code::Retfw | Code::Retfw_imm16 => 2,
            Code::Retfd | Code::Retfd_imm16 => 4,
            _ => 8,
        },
        M::Iret => 2,
        M::Iretd => 4,
        M::Iretq => 8,
        M::Cbw | M::Cwd => 2,
        M::Cwde | M::Cdq => 4,
        M::Cdqe | M::Cqo => 8,
        M::In => bytes(i.op0_register().size()),
        M::Out => bytes(i.op1_register().size()),
        // What moves to and from a segment register in memory has 16 bits.
        M::Mov if facts.segments != 0 && i.op1_kind() == OpKind::Memory => 2,
        _ if matches!(class, Class::Branch | Class::Nop | Class::Fence) || facts.prefetch.is_some() => 0,
        _ if is_string(i) => bytes(i.memory_size().size()),
        _ => match facts.simd {
            Some(simd) => of_vectors(i, simd, class),
            None if i.op_count() == 0 => stack,
            None => size_of_first(i),
        },
    }
}

fn is_indirect(i: &Instruction) -> bool {
    matches!(i.op0_kind(), OpKind::Register | OpKind::Memory)
}

fn bytes(size: usize) -> u8 {
    u8::try_from(size).unwrap_or(0)
}

/// The size of the first operand.
fn size_of_first(i: &Instruction) -> u8 {
    match i.op0_kind() {
        OpKind::Register => bytes(i.op0_register().size()),
        OpKind::Memory => bytes(i.memory_size().size()),
        _ => 0,
    }
}

fn of_vectors(i: &Instruction, simd: SimdClass, class: Class) -> u8 {
    let in_memory = bytes(i.memory_size().size());
    let named = registers(i).map(|register| bytes(register.size())).max().unwrap_or(0);
    match simd {
        SimdClass::X87 if in_memory != 0 => in_memory,
        SimdClass::X87 => 10,
        SimdClass::ScalarSse => in_memory,
        SimdClass::Mmx | SimdClass::PackedSse if matches!(class, Class::Load | Class::Store) && in_memory != 0 => in_memory,
        SimdClass::Mmx | SimdClass::PackedSse => named,
    }
}
