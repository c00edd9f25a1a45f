//! Moves between registers of different kinds, and long numbers: formats I21 to I28, M29 to M31, X2.

use super::op::{Label, Op, Unit, Use, parts};
use super::{Ar, Br, Gr, Whether};

/// A number into a `movl`.
pub(super) fn long(op: Op, value: u64) -> Op {
    let op = op.spread(value, &[(13, 7), (27, 9), (22, 5), (21, 1)]).spread(value >> 63, &[(36, 1)]);
    Op { long: (value >> 22) & ((1 << 41) - 1), ..op }
}

/// A number of 64 bits: r1, number. Takes two slots. Format X2.
pub fn movl(r1: Gr, value: u64) -> Op {
    long(Op::new(Unit::X, 6, 0).r1(r1), value)
}

/// The address of a label, by `movl`: r1, label. Takes two slots. Format X2.
pub fn movl_label(r1: Gr, label: Label) -> Op {
    Op::new(Unit::X, 6, 0).r1(r1).label(label, Use::Address)
}

/// To a branch register, with no hint: b1, r2. Format I21.
pub fn mov_to_br(b1: Br, r2: Gr) -> Op {
    Op::new(Unit::I, 0, 7 << 33 | 1 << 20).field(b1.bits(), 6, 3).r2(r2)
}

/// To a branch register that a return will use, with no hint: b1, r2. Format I21.
pub fn mov_ret_to_br(b1: Br, r2: Gr) -> Op {
    Op::new(Unit::I, 0, 7 << 33 | 1 << 22 | 1 << 20).field(b1.bits(), 6, 3).r2(r2)
}

/// To a branch register, with what the branch at `tag` will do, taken and static or dynamic: b1, r2, hint, tag. Format I21.
pub fn mov_to_br_hint(b1: Br, r2: Gr, hint: Whether, tag: Label) -> Op {
    let code = matches!(hint, Whether::Sptk | Whether::Dptk).then_some(hint as u64);
    let op = Op::new(Unit::I, 0, 7 << 33).field(b1.bits(), 6, 3).r2(r2);
    op.coded(hint as i64, code, 20, 2).label(tag, Use::Distance(&[(24, 9)]))
}

/// From a branch register: r1, b2. Format I22.
pub fn mov_from_br(r1: Gr, b2: Br) -> Op {
    Op::new(Unit::I, 0, 0x31 << 27).r1(r1).field(b2.bits(), 13, 3)
}

/// To the predicates that a mask of 17 bits names, its lowest bit 0: r2, mask. The highest bit stands for predicates 16 to 63.
/// Format I23.
pub fn mov_to_pr(r2: Gr, mask: u64) -> Op {
    let op = Op::new(Unit::I, 0, 3 << 33).r2(r2);
    let code = (mask & 1 == 0 && mask < 1 << 17).then_some(mask >> 1 & 0x7F);
    op.coded(mask as i64, code, 6, 7).field(mask >> 8 & 0xFF, 24, 8).field(mask >> 16 & 1, 36, 1)
}

/// To predicates 16 to 63 a number of 44 signed bits, whose lowest 16 are zeros. Format I24.
pub fn mov_to_pr_rot(imm44: i64) -> Op {
    let op = Op::new(Unit::I, 0, 2 << 33).signed(imm44 >> 16, &[(6, 27), (36, 1)]);
    op.coded(imm44, (imm44 & 0xFFFF == 0).then_some(0), 0, 1)
}

/// The address of the bundle: r1. Format I25.
pub fn mov_from_ip(r1: Gr) -> Op {
    Op::new(Unit::I, 0, 0x30 << 27).r1(r1)
}

/// All predicates: r1. Format I25.
pub fn mov_from_pr(r1: Gr) -> Op {
    Op::new(Unit::I, 0, 0x33 << 27).r1(r1)
}

/// To an application register of the I unit, 48 to 127: ar3, r2. Format I26.
pub fn mov_to_ar_i(ar3: Ar, r2: Gr) -> Op {
    Op::new(Unit::I, 0, 0x2A << 27).field(ar3.bits(), 20, 7).r2(r2)
}

/// To an application register of the I unit eight signed bits: ar3, number. Format I27.
pub fn mov_to_ar_i_imm(ar3: Ar, imm8: i64) -> Op {
    Op::new(Unit::I, 0, 0x0A << 27).field(ar3.bits(), 20, 7).signed(imm8, parts::EIGHT)
}

/// From an application register of the I unit: r1, ar3. Format I28.
pub fn mov_from_ar_i(r1: Gr, ar3: Ar) -> Op {
    Op::new(Unit::I, 0, 0x32 << 27).r1(r1).field(ar3.bits(), 20, 7)
}

/// To an application register of the M unit, 0 to 63: ar3, r2. Format M29.
pub fn mov_to_ar_m(ar3: Ar, r2: Gr) -> Op {
    Op::new(Unit::M, 1, 0x2A << 27).field(ar3.bits(), 20, 7).r2(r2)
}

/// To an application register of the M unit eight signed bits: ar3, number. Format M30.
pub fn mov_to_ar_m_imm(ar3: Ar, imm8: i64) -> Op {
    Op::new(Unit::M, 0, 2 << 31 | 8 << 27).field(ar3.bits(), 20, 7).signed(imm8, parts::EIGHT)
}

/// From an application register of the M unit: r1, ar3. Format M31.
pub fn mov_from_ar_m(r1: Gr, ar3: Ar) -> Op {
    Op::new(Unit::M, 1, 0x22 << 27).r1(r1).field(ar3.bits(), 20, 7)
}
