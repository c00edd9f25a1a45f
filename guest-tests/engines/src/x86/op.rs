//! Instructions in the form the engine executes.

use super::state::ZERO;
use super::step::InstructionInfo;

/// What to execute. The names are the manuals' mnemonics; forms of one mnemonic that differ in
/// more than operands have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(crate) enum Op {
    // Data movement.
    Mov, Movzx, Movsx, Lea, Xchg, Push, Pop, Pushf, Popf, Lahf, Sahf, Cmov, Set, Bswap, Movbe,
    Xadd, Cmpxchg, Cmpxchg8b, Cmpxchg16b, Cbw, Cwd, Xlat, Movnti,
    // Arithmetic and logic.
    Add, Or, Adc, Sbb, And, Sub, Xor, Cmp, Test, Inc, Dec, Neg, Not, Andn,
    Mul, ImulOne, Imul, Imul3, Div, Idiv,
    Shl, Shr, Sar, Rol, Ror, Rcl, Rcr, Shld, Shrd,
    Bt, Bts, Btr, Btc, Bsf, Bsr, Popcnt, Lzcnt, Tzcnt,
    Clc, Stc, Cmc, Cld, Std,
    // Control transfer.
    Jcc, Jmp, JmpIndirect, Call, CallIndirect, Ret, Loop, Loope, Loopne, Jrcxz, Leave, Enter,
    JmpFar, CallFar, Retf, Iret, Int, Int3, Into, Ud, Syscall, Sysret, Sysenter, Sysexit,
    // Strings.
    Movs, Stos, Lods, Scas, Cmps, Ins, Outs,
    // System.
    Nop, UnitNop, Pause, Fence, Hlt, Cli, Sti, Clts, Invlpg, Wbinvd, Swapgs, Cpuid, Rdtsc, Rdtscp, Rdpid,
    Rdmsr, Wrmsr, Rdpmc, In, Out, Lgdt, Lidt, Sgdt, Sidt, Lldt, Sldt, Ltr, Str, Lmsw, Smsw,
    MovToCr, MovFromCr, MovToDr, MovFromDr, MovToSeg, MovFromSeg, PushSeg, PopSeg,
    Rdfsbase, Rdgsbase, Wrfsbase, Wrgsbase, Prefetch, Clflush,
    // Vector moves.
    MovX, MovXLow, MovXToGpr, MovXFromGpr, XorX,
    // Valid, but not executed.
    Unsupported,
}

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    None,
    /// Register by number: general-purpose, segment, control, debug or XMM, depending on the operation.
    Reg(u8),
    /// AH, CH, DH or BH, by the number of the full register.
    High(u8),
    /// The memory operand.
    Mem,
    /// The immediate.
    Imm,
}

/// Repeat prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    No,
    /// REP, REPE.
    Equal,
    /// REPNE.
    NotEqual,
}

/// One decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub(crate) op: Op,
    /// Bytes of the first operand, or of what the operation works on.
    pub(crate) size: u8,
    /// Bytes of the second operand.
    pub(crate) source_size: u8,
    pub(crate) dst: Operand,
    pub(crate) src: Operand,
    /// The condition, the number of an implied register, or nothing.
    pub(crate) code: u8,
    pub(crate) lock: bool,
    pub(crate) repeat: Repeat,
    /// A 67h prefix: addresses and counts have 32 bits.
    pub(crate) address32: bool,
    /// The memory operand is in the stack segment, or the stack is an implied operand.
    pub(crate) stack: bool,
    pub(crate) base: u8,
    pub(crate) index: u8,
    /// Shift of the index.
    pub(crate) scale: u8,
    /// 0 no base, 1 FS, 2 GS.
    pub(crate) segment: u8,
    pub(crate) displacement: u64,
    /// The immediate, sign-extended; branch targets relative to the next instruction.
    pub(crate) immediate: u64,
    pub(crate) info: InstructionInfo,
}

impl Decoded {
    pub(crate) fn new(op: Op, info: InstructionInfo) -> Self {
        Self {
            op,
            size: 8,
            source_size: 8,
            dst: Operand::None,
            src: Operand::None,
            code: 0,
            lock: false,
            repeat: Repeat::No,
            address32: false,
            stack: false,
            base: ZERO,
            index: ZERO,
            scale: 0,
            segment: 0,
            displacement: 0,
            immediate: 0,
            info,
        }
    }

    /// Whether there is a memory operand.
    pub(crate) fn has_memory(&self) -> bool {
        self.dst == Operand::Mem || self.src == Operand::Mem
    }
}
