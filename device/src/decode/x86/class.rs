//! The class of an instruction.

use iced_x86::{Instruction, MemorySize, Mnemonic, OpKind, Register};

use super::facts::Facts;
use super::opcode::Opcode;
use super::shape::{moved, shared_with_strings};
use crate::companion::Class;

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Segment,
    Control,
    Debug,
    Other,
}

fn operand(i: &Instruction, n: u32) -> Operand {
    match i.op_kind(n) {
        OpKind::Register => match i.op_register(n) {
            register if register.is_segment_register() => Operand::Segment,
            register if register.is_cr() => Operand::Control,
            register if register.is_dr() => Operand::Debug,
            _ => Operand::Other,
        },
        _ => Operand::Other,
    }
}

/// Whether a jump or call changes CS.
pub(super) fn is_far(i: &Instruction) -> bool {
    match i.op0_kind() {
        OpKind::FarBranch16 | OpKind::FarBranch32 => true,
        OpKind::Memory => matches!(i.memory_size(), MemorySize::SegPtr16 | MemorySize::SegPtr32 | MemorySize::SegPtr64),
        _ => false,
    }
}

/// Whether an instruction moves a value to a segment register.
pub(super) fn loads_segment(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Mov | Mnemonic::Pop) && operand(i, 0) == Operand::Segment
}

/// Whether an instruction moves a value to a control register.
pub(super) fn writes_control(i: &Instruction) -> bool {
    i.mnemonic() == Mnemonic::Mov && operand(i, 0) == Operand::Control
}

/// Whether an instruction moves a value between general registers and memory, and nothing else.
pub(super) fn is_plain_move(i: &Instruction) -> bool {
    i.mnemonic() == Mnemonic::Mov && operand(i, 0) == Operand::Other && operand(i, 1) == Operand::Other
}

/// Whether it is a string instruction.
#[rustfmt::skip]
pub(super) fn is_string(i: &Instruction) -> bool {
    use Mnemonic as M;
    match i.mnemonic() {
        M::Movsd | M::Cmpsd => !shared_with_strings(i),
        M::Movsb | M::Movsw | M::Movsq | M::Stosb | M::Stosw | M::Stosd | M::Stosq | M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq
        | M::Scasb | M::Scasw | M::Scasd | M::Scasq | M::Cmpsb | M::Cmpsw | M::Cmpsq | M::Insb | M::Insw | M::Insd
        | M::Outsb | M::Outsw | M::Outsd => true,
        _ => false,
    }
}

/// The class of a valid instruction.
pub(super) fn class(i: &Instruction, opcode: &Opcode, facts: &Facts) -> Class {
    if facts.simd.is_some() {
        return super::vector::class(i, opcode, facts);
    }
    if is_string(i) {
        return Class::String;
    }
    general(i)
}

#[rustfmt::skip]
fn general(i: &Instruction) -> Class {
    use Mnemonic as M;
    match i.mnemonic() {
        M::Mov => match (operand(i, 0), operand(i, 1)) {
            (Operand::Segment, _) => Class::System,
            (Operand::Control | Operand::Debug, _) => Class::Serializing,
            (_, Operand::Control | Operand::Debug) => Class::System,
            _ => moved(i, || Class::Simple),
        },
        M::Movnti => Class::Store,
        M::Movzx | M::Movsx | M::Movsxd => Class::Extend,
        M::Lea => address(i),
        M::Xchg | M::Xadd => Class::Exchange,
        M::Cmpxchg | M::Cmpxchg8b | M::Cmpxchg16b => Class::CompareExchange,
        M::Push => Class::Push,
        M::Pop if operand(i, 0) == Operand::Segment => Class::System,
        M::Pop | M::Leave => Class::Pop,
        M::Cmovo | M::Cmovno | M::Cmovb | M::Cmovae | M::Cmove | M::Cmovne | M::Cmovbe | M::Cmova | M::Cmovs | M::Cmovns | M::Cmovp
        | M::Cmovnp | M::Cmovl | M::Cmovge | M::Cmovle | M::Cmovg => Class::ConditionalMove,
        M::Adc | M::Sbb | M::Adcx | M::Adox => Class::AddWithCarry,
        M::Add | M::Or | M::And | M::Sub | M::Xor | M::Cmp | M::Test | M::Inc | M::Dec | M::Neg | M::Not | M::Andn | M::Bt | M::Bswap
        | M::Movbe | M::Cbw | M::Cwde | M::Cdqe | M::Cwd | M::Cdq | M::Cqo | M::Lahf | M::Sahf | M::Clc | M::Stc | M::Cmc | M::Salc
        | M::Bextr | M::Blsi | M::Blsmsk | M::Blsr | M::Bzhi
        | M::Seto | M::Setno | M::Setb | M::Setae | M::Sete | M::Setne | M::Setbe | M::Seta | M::Sets | M::Setns | M::Setp | M::Setnp
        | M::Setl | M::Setge | M::Setle | M::Setg => Class::Simple,
        M::Mul | M::Mulx => Class::WideMultiply,
        M::Imul if i.op_count() == 1 => Class::WideMultiply,
        M::Imul => Class::Multiply,
        M::Div => Class::Divide,
        M::Idiv => Class::SignedDivide,
        M::Shl | M::Sal | M::Shr | M::Sar | M::Rol | M::Ror | M::Rorx | M::Sarx | M::Shlx | M::Shrx => Class::Shift,
        // By one bit they are as simple as other shifts.
        M::Rcl | M::Rcr if i.op1_kind() == OpKind::Immediate8 && i.immediate8() == 1 => Class::Shift,
        M::Rcl | M::Rcr => Class::RotateThroughCarry,
        M::Shld | M::Shrd => Class::DoubleShift,
        M::Bts | M::Btr | M::Btc => Class::BitTest,
        M::Bsf | M::Bsr | M::Lzcnt | M::Tzcnt => Class::BitScan,
        M::Popcnt => Class::PopulationCount,
        M::Crc32 => Class::Crypto,
        M::Jo | M::Jno | M::Jb | M::Jae | M::Je | M::Jne | M::Jbe | M::Ja | M::Js | M::Jns | M::Jp | M::Jnp | M::Jl | M::Jge | M::Jle
        | M::Jg | M::Loop | M::Loope | M::Loopne | M::Jrcxz | M::Jecxz | M::Jcxz => Class::Branch,
        M::Jmp if !is_far(i) => Class::Branch,
        M::Call if !is_far(i) => Class::Call,
        M::Ret => Class::Return,
        M::Nop | M::Endbr64 | M::Endbr32 | M::Reservednop => Class::Nop,
        M::Mfence | M::Lfence | M::Sfence => Class::Fence,
        // What serialises on AMD processors. AMD's manual does not except MOV to CR8.
        M::Cpuid | M::Iret | M::Iretd | M::Iretq | M::Wrmsr | M::Lgdt | M::Lidt | M::Lldt | M::Ltr | M::Wbinvd | M::Invd | M::Invlpg
        | M::Invpcid | M::Xsetbv | M::Rsm => Class::Serializing,
        M::Hlt | M::Cli | M::Sti | M::Clts | M::Clac | M::Stac | M::Swapgs | M::Rdtsc | M::Rdtscp | M::Rdpid | M::Rdmsr | M::Rdpmc | M::In
        | M::Out | M::Sgdt | M::Sidt | M::Sldt | M::Str | M::Lmsw | M::Smsw | M::Rdfsbase | M::Rdgsbase | M::Wrfsbase | M::Wrgsbase
        | M::Xgetbv | M::Lar | M::Lsl | M::Verr | M::Verw | M::Arpl | M::Stmxcsr | M::Lds | M::Les | M::Lss | M::Lfs | M::Lgs
            => Class::System,
        M::Ldmxcsr => Class::StatusWrite,
        // They take the way of a load, without a result.
        M::Prefetchnta | M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 | M::Prefetchw | M::Prefetchwt1 | M::Prefetch => Class::Load,
        _ => Class::Microcode,
    }
}

fn address(i: &Instruction) -> Class {
    let relative = i.is_ip_rel_memory_operand();
    let displacement = i.memory_displacement64().wrapping_sub(if relative { i.next_ip() } else { 0 });
    let indexed = i.memory_index() != Register::None;
    let three = i.memory_base() != Register::None && indexed && displacement != 0;
    if three || indexed && i.memory_index_scale() != 1 { Class::AddressScaled } else { Class::Address }
}
