//! How many micro-operations an instruction has, as an estimate for every x86.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::class::{is_far, is_plain_move, is_string, loads_segment, writes_control};
use super::facts::{Facts, SimdClass};
use super::shape::{has_memory, reads_memory};
use crate::companion::Class;

/// The estimate for what is microcode on every x86.
const MICROCODE: u8 = 8;

/// Whether an instruction of so many micro-operations is microcode on every x86. All of its micro-operations then are.
#[must_use]
pub const fn is_microcode(micro_ops: u8) -> bool {
    micro_ops >= MICROCODE
}

/// One; one more for a load that feeds an operation, two more for a read-modify-write of memory, one for each iteration of a string instruction and
/// each load and store of it, and [`MICROCODE`].
pub(super) fn micro_ops(i: &Instruction, class: Class, facts: &Facts) -> u8 {
    base(i) + memory(i, class, facts)
}

#[rustfmt::skip]
fn base(i: &Instruction) -> u8 {
    use Mnemonic as M;
    if loads_segment(i) || writes_control(i) {
        return MICROCODE;
    }
    match i.mnemonic() {
        M::Cpuid | M::Div | M::Idiv | M::Retf | M::Iret | M::Iretd | M::Iretq | M::Int | M::Int1 | M::Int3 | M::Into | M::Syscall | M::Sysret
        | M::Sysretq | M::Sysenter | M::Sysexit | M::Sysexitq | M::Rdmsr | M::Wrmsr | M::Rdpmc | M::Lgdt | M::Lidt | M::Ltr | M::Lldt
        | M::Invlpg | M::Wbinvd | M::Invd | M::Enter | M::Cmpxchg8b | M::Cmpxchg16b | M::In | M::Out => MICROCODE,
        M::Pusha | M::Pushad | M::Popa | M::Popad | M::Lds | M::Les | M::Lss | M::Lfs | M::Lgs | M::Fxsave | M::Fxsave64 | M::Fxrstor
        | M::Fxrstor64 | M::Fnsave | M::Frstor | M::Fsin | M::Fcos | M::Fsincos | M::Fptan | M::Fpatan | M::F2xm1 | M::Fyl2x
        | M::Fyl2xp1 | M::Fprem | M::Fprem1 | M::Fbld | M::Fbstp | M::Fscale | M::Fxtract => MICROCODE,
        M::Jmp | M::Call if is_far(i) => MICROCODE,
        M::Stosb | M::Stosw | M::Stosd | M::Stosq | M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq | M::Scasb | M::Scasw | M::Scasd | M::Scasq => 2,
        M::Call | M::Ret | M::Leave => 2,
        _ if is_string(i) => 3,
        _ => 1,
    }
}

fn memory(i: &Instruction, class: Class, facts: &Facts) -> u8 {
    use Mnemonic as M;
    match i.mnemonic() {
        M::Mov if is_plain_move(i) => 0,
        M::Movzx | M::Movsx | M::Movsxd | M::Lea | M::Push | M::Movnti | M::Clflush | M::Clflushopt | M::Clwb => 0,
        M::Pop if !loads_segment(i) => 0,
        M::Cmp | M::Test | M::Bt => u8::from(has_memory(i)),
        _ if class == Class::Nop || facts.prefetch.is_some() => 0,
        _ if is_set(i.mnemonic()) => u8::from(has_memory(i)),
        // MOVD and MOVQ are no whole moves of a register.
        M::Movd | M::Movq => written(i),
        _ if facts.simd.is_some() && matches!(class, Class::Load | Class::Store) => 0,
        _ if facts.simd == Some(SimdClass::X87) => u8::from(has_memory(i)),
        _ => written(i),
    }
}

fn written(i: &Instruction) -> u8 {
    if i.op0_kind() == OpKind::Memory || i.mnemonic() == Mnemonic::Xchg && has_memory(i) { 2 } else { u8::from(reads_memory(i)) }
}

#[rustfmt::skip]
fn is_set(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(mnemonic, M::Seto | M::Setno | M::Setb | M::Setae | M::Sete | M::Setne | M::Setbe | M::Seta | M::Sets | M::Setns | M::Setp
        | M::Setnp | M::Setl | M::Setge | M::Setle | M::Setg)
}
