//! Which operations KVM executes.

use crate::x86::flags::{AF, CF, OF, PF, SF, STATUS, ZF};
use crate::x86::op::Op;

/// Numbers of operations.
const OPS: usize = Op::Unsupported as usize + 1;

/// Operations that need no exit and end where a step ends: data, stack, strings, branches, vectors, and what bears on translations.
#[rustfmt::skip]
pub(super) const OFFERED: [Op; 91] = [
    Op::Mov, Op::Movzx, Op::Movsx, Op::Lea, Op::Xchg, Op::Push, Op::Pop, Op::Pushf, Op::Popf, Op::Lahf, Op::Sahf, Op::Cmov, Op::Set,
    Op::Bswap, Op::Movbe, Op::Xadd, Op::Cmpxchg, Op::Cmpxchg8b, Op::Cmpxchg16b, Op::Cbw, Op::Cwd, Op::Xlat, Op::Movnti,
    Op::Add, Op::Or, Op::Adc, Op::Sbb, Op::And, Op::Sub, Op::Xor, Op::Cmp, Op::Test, Op::Inc, Op::Dec, Op::Neg, Op::Not, Op::Andn,
    Op::Mul, Op::ImulOne, Op::Imul, Op::Imul3, Op::Div, Op::Idiv,
    Op::Shl, Op::Shr, Op::Sar, Op::Rol, Op::Ror, Op::Rcl, Op::Rcr, Op::Shld, Op::Shrd,
    Op::Bt, Op::Bts, Op::Btr, Op::Btc, Op::Bsf, Op::Bsr, Op::Popcnt, Op::Lzcnt, Op::Tzcnt, Op::Clc, Op::Stc, Op::Cmc, Op::Cld, Op::Std,
    Op::Jcc, Op::Jmp, Op::JmpIndirect, Op::Call, Op::CallIndirect, Op::Ret, Op::Loop, Op::Loope, Op::Loopne, Op::Jrcxz, Op::Leave,
    Op::Enter, Op::Movs, Op::Stos, Op::Lods, Op::Scas, Op::Cmps,
    Op::Nop, Op::UnitNop, Op::Pause, Op::Fence, Op::Invlpg, Op::MovToCr, Op::Prefetch, Op::Clflush,
];

/// Vector moves, apart as they need the vector registers.
pub(super) const VECTORS: [Op; 5] = [Op::MovX, Op::MovXLow, Op::MovXToGpr, Op::MovXFromGpr, Op::XorX];

/// Operations that only CPL 0 may use.
const PRIVILEGED: [Op; 2] = [Op::Invlpg, Op::MovToCr];

/// Operations without which KVM executes too little of a guest to be called its engine.
pub(super) const NEEDED: [Op; 11] = [Op::Mov, Op::Lea, Op::Add, Op::Sub, Op::Cmp, Op::Push, Op::Pop, Op::Jcc, Op::Jmp, Op::Call, Op::Ret];

/// A set of operations at CPL 0, and another at the other levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Able([[bool; OPS]; 2]);

impl Able {
    /// All that may be.
    pub(super) fn offered() -> Able {
        let mut able = Able([[false; OPS]; 2]);
        for op in OFFERED.into_iter().chain(VECTORS) {
            able.0.iter_mut().for_each(|level| level[op as usize] = true);
        }
        able
    }

    /// Whether the operation is in the set of the level.
    #[inline]
    pub(super) fn contains(&self, op: Op, cpl: u8) -> bool {
        self.0[usize::from(cpl != 0)][op as usize]
    }

    /// The operations that KVM was offered and cannot execute at the level, except those that the level must not execute.
    pub(super) fn missing(&self, cpl: u8) -> impl Iterator<Item = Op> {
        let possible = move |op: &Op| cpl == 0 || !PRIVILEGED.contains(op);
        OFFERED.into_iter().chain(VECTORS).filter(possible).filter(move |op| !self.contains(*op, cpl))
    }

    /// Keeps only the operations that `others` has too, with their levels.
    pub(super) fn retain(&mut self, others: &[(Op, u8)]) {
        for op in OFFERED.into_iter().chain(VECTORS) {
            for cpl in [0, 3].into_iter().filter(|cpl| !others.contains(&(op, *cpl))) {
                self.remove(op, cpl);
            }
        }
    }

    /// Removes an operation from the set of the level.
    pub(super) fn remove(&mut self, op: Op, cpl: u8) {
        self.0[usize::from(cpl != 0)][op as usize] = false;
    }
}

/// The flags that the manuals leave undefined after an operation, whatever its operands.
pub(super) fn undefined(op: Op) -> u64 {
    match op {
        Op::And | Op::Or | Op::Xor | Op::Test | Op::Andn => AF,
        Op::Shl | Op::Shr | Op::Sar | Op::Shld | Op::Shrd => AF | OF | CF,
        Op::Rol | Op::Ror | Op::Rcl | Op::Rcr => OF,
        Op::Mul | Op::ImulOne | Op::Imul | Op::Imul3 => SF | ZF | AF | PF,
        Op::Div | Op::Idiv => STATUS,
        Op::Bt | Op::Bts | Op::Btr | Op::Btc => OF | SF | AF | PF,
        Op::Bsf | Op::Bsr => CF | OF | SF | AF | PF,
        Op::Lzcnt | Op::Tzcnt => OF | SF | AF | PF,
        _ => 0,
    }
}
