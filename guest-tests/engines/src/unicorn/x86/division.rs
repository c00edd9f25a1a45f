//! Which instructions Unicorn executes, and which addresses they access.
//!
//! What Unicorn does not execute, and why:
//!
//! - What it has no hook for, or completes by itself: RDMSR, WRMSR, RDPMC, CPUID, RDTSC, ports, HLT.
//! - What changes the privilege level, the interrupt flag, a segment, a control or a debug register, or a translation: the board checks
//!   each of these between instructions. POPF and PUSHF are among them, as Unicorn does not hold the flags of the system.
//! - String instructions with a REP prefix, of which each iteration is a step, and may be interrupted.
//! - What names memory without accessing it: prefetches and CLFLUSH.
//! - Moves of vectors that must be aligned and are not: Unicorn does not check.
//! - A conditional branch to the next instruction: whether it was taken could not be seen. PAUSE, which leaves Unicorn's loop.

use crate::x86::executor::inside::{Core, Decoded, Op, Operand, RBP, RDI, RSI, RSP, Repeat};

/// Whether Unicorn executes an instruction, as far as its encoding determines it.
pub(super) fn is_executed(d: &Decoded) -> bool {
    match d.op {
        Op::Mov | Op::Movzx | Op::Movsx | Op::Lea | Op::Xchg | Op::Push | Op::Lahf | Op::Sahf | Op::Cmov | Op::Set => true,
        Op::Bswap | Op::Movbe | Op::Xadd | Op::Cmpxchg | Op::Cmpxchg8b | Op::Cbw | Op::Cwd | Op::Movnti => true,
        Op::Add | Op::Or | Op::Adc | Op::Sbb | Op::And | Op::Sub | Op::Xor | Op::Cmp | Op::Test | Op::Inc | Op::Dec | Op::Neg => true,
        Op::Not | Op::Andn | Op::Mul | Op::ImulOne | Op::Imul | Op::Imul3 | Op::Div | Op::Idiv => true,
        Op::Shl | Op::Shr | Op::Sar | Op::Rol | Op::Ror | Op::Rcl | Op::Rcr | Op::Shld | Op::Shrd => true,
        Op::Bsf | Op::Bsr | Op::Popcnt | Op::Lzcnt | Op::Tzcnt => true,
        Op::Clc | Op::Stc | Op::Cmc | Op::Cld | Op::Std | Op::Nop | Op::Fence => true,
        Op::Jmp | Op::JmpIndirect | Op::Call | Op::CallIndirect | Op::Ret | Op::Leave => true,
        Op::Jcc | Op::Loop | Op::Loope | Op::Loopne | Op::Jrcxz => d.immediate != 0,
        // Addressed by RSP, it would use it after the pop.
        Op::Pop => d.dst != Operand::Mem,
        // With a register as the number of the bit, the address is elsewhere.
        Op::Bt | Op::Bts | Op::Btr | Op::Btc => d.dst != Operand::Mem,
        Op::Movs | Op::Stos | Op::Lods | Op::Scas | Op::Cmps => d.repeat == Repeat::No && !d.address32,
        Op::MovX | Op::XorX | Op::MovXLow | Op::MovXToGpr | Op::MovXFromGpr => true,
        _ => false,
    }
}

/// Whether an operand in memory must be aligned to 16 bytes.
pub(super) fn must_be_aligned(d: &Decoded) -> bool {
    let in_memory = d.dst == Operand::Mem || d.src == Operand::Mem;
    in_memory && (d.op == Op::XorX || d.op == Op::MovX && d.code == 1)
}

/// Whether an instruction transfers control.
pub(super) fn is_transfer(d: &Decoded) -> bool {
    is_conditional(d) || matches!(d.op, Op::Jmp | Op::JmpIndirect | Op::Call | Op::CallIndirect | Op::Ret)
}

/// Whether it may not.
pub(super) fn is_conditional(d: &Decoded) -> bool {
    matches!(d.op, Op::Jcc | Op::Loop | Op::Loope | Op::Loopne | Op::Jrcxz)
}

/// The linear address of an access of an instruction about to execute: its first or its second load, or its store.
pub(super) fn address(core: &Core, d: &Decoded, is_write: bool, second: bool) -> u64 {
    let [source, target] = [core.gpr[RSI].wrapping_add(core.bases[usize::from(d.segment) % 3]), core.gpr[RDI]];
    let stack = core.gpr[RSP];
    match (d.op, is_write) {
        (Op::Push, true) => stack.wrapping_sub(u64::from(d.size)),
        (Op::Call | Op::CallIndirect, true) => stack.wrapping_sub(8),
        (Op::Pop | Op::Ret, false) => stack,
        (Op::Leave, false) => core.gpr[RBP],
        (Op::Movs | Op::Lods, false) => source,
        (Op::Cmps, false) => [source, target][usize::from(second)],
        (Op::Scas, false) | (Op::Stos | Op::Movs, true) => target,
        _ => core.linear(d),
    }
}
