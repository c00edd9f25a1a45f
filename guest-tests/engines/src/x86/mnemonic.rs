//! Which operation a mnemonic is, and what its operands mean.

use iced_x86::{Code, EncodingKind, Instruction, MemorySize, Mnemonic, OpKind};

use super::op::{Decoded, Op, Operand};

/// The operation of a valid instruction.
#[rustfmt::skip]
pub(crate) fn operation(i: &Instruction) -> Op {
    use Mnemonic as M;
    if i.encoding() != EncodingKind::Legacy {
        return if i.mnemonic() == M::Andn { Op::Andn } else { Op::Unsupported };
    }
    if shared_with_sse(i) {
        return Op::Unsupported;
    }
    match i.mnemonic() {
        M::Mov => match (class(i, 0), class(i, 1)) {
            (Class::Segment, _) => Op::MovToSeg,
            (_, Class::Segment) => Op::MovFromSeg,
            (Class::Control, _) => Op::MovToCr,
            (_, Class::Control) => Op::MovFromCr,
            (Class::Debug, _) => Op::MovToDr,
            (_, Class::Debug) => Op::MovFromDr,
            (Class::Other, _) | (_, Class::Other) => Op::Unsupported,
            _ => Op::Mov,
        },
        M::Push => if class(i, 0) == Class::Segment { Op::PushSeg } else { Op::Push },
        M::Pop => if class(i, 0) == Class::Segment { Op::PopSeg } else { Op::Pop },
        M::Movzx => Op::Movzx, M::Movsx | M::Movsxd => Op::Movsx, M::Lea => Op::Lea,
        M::Xchg => Op::Xchg, M::Pushf | M::Pushfq => Op::Pushf, M::Popf | M::Popfq => Op::Popf,
        M::Lahf => Op::Lahf, M::Sahf => Op::Sahf, M::Bswap => Op::Bswap, M::Movbe => Op::Movbe,
        M::Xadd => Op::Xadd, M::Cmpxchg => Op::Cmpxchg, M::Cmpxchg8b => Op::Cmpxchg8b,
        M::Cmpxchg16b => Op::Cmpxchg16b, M::Cbw | M::Cwde | M::Cdqe => Op::Cbw,
        M::Cwd | M::Cdq | M::Cqo => Op::Cwd, M::Xlatb => Op::Xlat, M::Movnti => Op::Movnti,
        M::Add => Op::Add, M::Or => Op::Or, M::Adc => Op::Adc, M::Sbb => Op::Sbb,
        M::And => Op::And, M::Sub => Op::Sub, M::Xor => Op::Xor, M::Cmp => Op::Cmp,
        M::Test => Op::Test, M::Inc => Op::Inc, M::Dec => Op::Dec, M::Neg => Op::Neg,
        M::Not => Op::Not, M::Mul => Op::Mul, M::Div => Op::Div, M::Idiv => Op::Idiv,
        M::Imul => match i.op_count() { 1 => Op::ImulOne, 2 => Op::Imul, _ => Op::Imul3 },
        M::Shl | M::Sal => Op::Shl, M::Shr => Op::Shr, M::Sar => Op::Sar, M::Rol => Op::Rol,
        M::Ror => Op::Ror, M::Rcl => Op::Rcl, M::Rcr => Op::Rcr, M::Shld => Op::Shld,
        M::Shrd => Op::Shrd, M::Bt => Op::Bt, M::Bts => Op::Bts, M::Btr => Op::Btr,
        M::Btc => Op::Btc, M::Bsf => Op::Bsf, M::Bsr => Op::Bsr, M::Popcnt => Op::Popcnt,
        M::Lzcnt => Op::Lzcnt, M::Tzcnt => Op::Tzcnt, M::Clc => Op::Clc, M::Stc => Op::Stc,
        M::Cmc => Op::Cmc, M::Cld => Op::Cld, M::Std => Op::Std,
        M::Cmovo | M::Cmovno | M::Cmovb | M::Cmovae | M::Cmove | M::Cmovne | M::Cmovbe
        | M::Cmova | M::Cmovs | M::Cmovns | M::Cmovp | M::Cmovnp | M::Cmovl | M::Cmovge
        | M::Cmovle | M::Cmovg => Op::Cmov,
        M::Seto | M::Setno | M::Setb | M::Setae | M::Sete | M::Setne | M::Setbe | M::Seta
        | M::Sets | M::Setns | M::Setp | M::Setnp | M::Setl | M::Setge | M::Setle
        | M::Setg => Op::Set,
        M::Jo | M::Jno | M::Jb | M::Jae | M::Je | M::Jne | M::Jbe | M::Ja | M::Js | M::Jns
        | M::Jp | M::Jnp | M::Jl | M::Jge | M::Jle | M::Jg => Op::Jcc,
        M::Jmp => match far_or_near(i) { Way::Direct => Op::Jmp, Way::Indirect => Op::JmpIndirect, Way::Far => Op::JmpFar },
        M::Call => match far_or_near(i) { Way::Direct => Op::Call, Way::Indirect => Op::CallIndirect, Way::Far => Op::CallFar },
        M::Ret => Op::Ret, M::Retf => Op::Retf, M::Loop => Op::Loop, M::Loope => Op::Loope,
        M::Loopne => Op::Loopne, M::Jrcxz | M::Jecxz => Op::Jrcxz, M::Leave => Op::Leave,
        M::Enter => Op::Enter, M::Iret | M::Iretd | M::Iretq => Op::Iret, M::Int => Op::Int,
        M::Int3 => Op::Int3, M::Into => Op::Into, M::Ud0 | M::Ud1 | M::Ud2 => Op::Ud,
        M::Syscall => Op::Syscall, M::Sysret | M::Sysretq => Op::Sysret,
        M::Sysenter => Op::Sysenter, M::Sysexit | M::Sysexitq => Op::Sysexit,
        M::Movsb | M::Movsw | M::Movsd | M::Movsq => Op::Movs,
        M::Stosb | M::Stosw | M::Stosd | M::Stosq => Op::Stos,
        M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq => Op::Lods,
        M::Scasb | M::Scasw | M::Scasd | M::Scasq => Op::Scas,
        M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq => Op::Cmps,
        M::Insb | M::Insw | M::Insd => Op::Ins, M::Outsb | M::Outsw | M::Outsd => Op::Outs,
        M::Nop | M::Endbr64 | M::Endbr32 | M::Reservednop => Op::Nop,
        M::Emms | M::Femms | M::Fnop | M::Wait => Op::UnitNop,
        M::Pause => Op::Pause, M::Mfence | M::Lfence | M::Sfence => Op::Fence, M::Hlt => Op::Hlt,
        M::Cli => Op::Cli, M::Sti => Op::Sti, M::Clts => Op::Clts, M::Invlpg => Op::Invlpg,
        M::Wbinvd | M::Invd => Op::Wbinvd, M::Swapgs => Op::Swapgs, M::Cpuid => Op::Cpuid,
        M::Rdtsc => Op::Rdtsc, M::Rdtscp => Op::Rdtscp, M::Rdpid => Op::Rdpid,
        M::Rdmsr => Op::Rdmsr, M::Wrmsr => Op::Wrmsr, M::Rdpmc => Op::Rdpmc, M::In => Op::In,
        M::Out => Op::Out, M::Lgdt => Op::Lgdt, M::Lidt => Op::Lidt, M::Sgdt => Op::Sgdt,
        M::Sidt => Op::Sidt, M::Lldt => Op::Lldt, M::Sldt => Op::Sldt, M::Ltr => Op::Ltr,
        M::Str => Op::Str, M::Lmsw => Op::Lmsw, M::Smsw => Op::Smsw,
        M::Rdfsbase => Op::Rdfsbase, M::Rdgsbase => Op::Rdgsbase, M::Wrfsbase => Op::Wrfsbase,
        M::Wrgsbase => Op::Wrgsbase,
        M::Prefetchnta | M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 | M::Prefetchw
        | M::Prefetchwt1 | M::Prefetch => Op::Prefetch,
        M::Clflush | M::Clflushopt | M::Clwb => Op::Clflush,
        M::Movaps | M::Movapd | M::Movdqa | M::Movups | M::Movupd | M::Movdqu
        | M::Movntps | M::Movntpd | M::Movntdq
            if xmm_pair(i) => Op::MovX,
        M::Pxor | M::Xorps | M::Xorpd if xmm_pair(i) => Op::XorX,
        M::Movq | M::Movd => match (class(i, 0), class(i, 1)) {
            (Class::Xmm, Class::General) => Op::MovXFromGpr,
            (Class::General, Class::Xmm) => Op::MovXToGpr,
            (Class::Xmm, Class::Xmm) => Op::MovXLow,
            (Class::Xmm, Class::Memory) => Op::MovXFromGpr,
            (Class::Memory, Class::Xmm) => Op::MovXToGpr,
            _ => Op::Unsupported,
        },
        _ => Op::Unsupported,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    General,
    Segment,
    Control,
    Debug,
    Xmm,
    Memory,
    Other,
    Absent,
}

fn class(i: &Instruction, n: u32) -> Class {
    if n >= i.op_count() {
        return Class::Absent;
    }
    match i.op_kind(n) {
        OpKind::Register => match i.op_register(n) {
            r if r.is_gpr() => Class::General,
            r if r.is_segment_register() => Class::Segment,
            r if r.is_cr() => Class::Control,
            r if r.is_dr() => Class::Debug,
            r if r.is_xmm() => Class::Xmm,
            _ => Class::Other,
        },
        OpKind::Memory => Class::Memory,
        _ => Class::Absent,
    }
}

fn xmm_pair(i: &Instruction) -> bool {
    matches!((class(i, 0), class(i, 1)), (Class::Xmm, Class::Xmm | Class::Memory) | (Class::Memory, Class::Xmm))
}

enum Way {
    Direct,
    Indirect,
    Far,
}

fn far_or_near(i: &Instruction) -> Way {
    match i.op_kind(0) {
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => Way::Direct,
        OpKind::Memory if matches!(i.memory_size(), MemorySize::SegPtr16 | MemorySize::SegPtr32 | MemorySize::SegPtr64) => Way::Far,
        OpKind::FarBranch16 | OpKind::FarBranch32 => Way::Far,
        _ => Way::Indirect,
    }
}

/// Completes what the operands alone do not determine.
pub(crate) fn refine(i: &Instruction, d: &mut Decoded) {
    sizes(i, d);
    stack_default(d);
}

fn sizes(i: &Instruction, d: &mut Decoded) {
    match d.op {
        Op::Xchg => {
            // The memory operand becomes the first, and is locked without a prefix.
            if d.src == Operand::Mem {
                std::mem::swap(&mut d.dst, &mut d.src);
            }
            d.lock = d.dst == Operand::Mem;
        }
        Op::Push | Op::Pop | Op::PushSeg | Op::PopSeg | Op::Pushf | Op::Popf | Op::Leave => {
            d.source_size = d.size;
            d.size = i.stack_pointer_increment().unsigned_abs() as u8;
            if d.op == Op::Leave {
                d.size = if i.code() == Code::Leavew { 2 } else { 8 };
            }
        }
        Op::Enter => d.size = if i.code() == Code::Enterw_imm16_imm8 { 2 } else { 8 },
        Op::Call | Op::CallIndirect | Op::Ret | Op::JmpIndirect
            if matches!(i.code(), Code::Retnw | Code::Retnw_imm16 | Code::Call_rm16 | Code::Jmp_rm16 | Code::Call_rel16) =>
        {
            unsupported(d);
        }
        // `size` is that of the offset in the far pointer.
        Op::JmpFar | Op::CallFar => d.size = d.size.saturating_sub(2),
        Op::Retf => {
            d.size = match i.code() {
                Code::Retfw | Code::Retfw_imm16 => 2,
                Code::Retfd | Code::Retfd_imm16 => 4,
                _ => 8,
            };
        }
        Op::Iret => {
            d.size = match i.code() {
                Code::Iretw => 2,
                Code::Iretd => 4,
                _ => 8,
            };
        }
        Op::Sysret => d.size = if i.code() == Code::Sysretq { 8 } else { 4 },
        Op::Sysexit => d.size = if i.code() == Code::Sysexitq { 8 } else { 4 },
        Op::Cbw | Op::Cwd => {
            d.size = match i.mnemonic() {
                Mnemonic::Cbw | Mnemonic::Cwd => 2,
                Mnemonic::Cwde | Mnemonic::Cdq => 4,
                _ => 8,
            };
        }
        Op::Movs | Op::Stos | Op::Lods | Op::Scas | Op::Cmps | Op::Ins | Op::Outs => {
            d.size = i.memory_size().size() as u8;
        }
        Op::Loop | Op::Loope | Op::Loopne | Op::Jrcxz => {
            d.address32 =
                matches!(i.code(), Code::Loop_rel8_64_ECX | Code::Loope_rel8_64_ECX | Code::Loopne_rel8_64_ECX | Code::Jecxz_rel8_64);
        }
        Op::In => d.size = i.op_register(0).size() as u8,
        Op::Out => d.size = i.op_register(1).size() as u8,
        Op::Shld | Op::Shrd => d.code = u8::from(i.op_kind(2) == OpKind::Register),
        Op::MovToSeg | Op::MovFromSeg if d.has_memory() => {
            d.size = 2;
            d.source_size = 2;
        }
        Op::Andn => d.code = i.op_register(2).full_register().number() as u8,
        Op::Lea if d.size == 0 => unsupported(d),
        _ => {}
    }
    if d.op == Op::Andn && i.op_kind(2) == OpKind::Memory {
        unsupported(d);
    }
    if d.op == Op::MovX {
        // The aligned forms fault on misaligned operands.
        let unaligned = matches!(i.mnemonic(), Mnemonic::Movups | Mnemonic::Movupd | Mnemonic::Movdqu);
        d.code = u8::from(!unaligned);
    }
    if d.op == Op::MovXLow {
        d.size = 8;
    }
}

fn stack_default(d: &mut Decoded) {
    let implied = matches!(d.op, Op::Ret | Op::Leave | Op::Enter | Op::Retf | Op::Iret);
    d.stack |= implied;
}

/// The number of a control or debug register.
#[must_use]
pub(crate) fn number(operand: Operand) -> u8 {
    match operand {
        Operand::Reg(n) | Operand::High(n) => n,
        _ => 0,
    }
}

/// Whether an instruction is the SSE form of a mnemonic it shares with a string instruction.
fn shared_with_sse(i: &Instruction) -> bool {
    match i.mnemonic() {
        Mnemonic::Movsd => i.code() != Code::Movsd_m32_m32,
        Mnemonic::Cmpsd => i.code() != Code::Cmpsd_m32_m32,
        _ => false,
    }
}

/// Marks an operand the decoder cannot express as an [`Op`].
fn unsupported(d: &mut Decoded) {
    d.op = Op::Unsupported;
}
