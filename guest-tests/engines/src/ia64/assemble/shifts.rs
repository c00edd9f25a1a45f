//! Shifts, bit fields and extensions: formats I5, I7, I9 to I15 and I29.

use super::Gr;
use super::op::{Op, Unit, parts};

/// `len` of `bits` bits, less one.
fn length(op: Op, len: u64, bits: u32) -> Op {
    op.coded(len as i64, len.checked_sub(1).filter(|code| *code < 1 << bits), 27, bits)
}

/// `pos` as its complement.
fn complement(op: Op, pos: u64, at: u32) -> Op {
    op.coded(pos as i64, 63u64.checked_sub(pos), at, 6)
}

/// r3 shifted right, signed, by r2: r1, r3, r2. Format I5.
pub fn shr(r1: Gr, r3: Gr, r2: Gr) -> Op {
    Op::new(Unit::I, 7, 1 << 36 | 1 << 33 | 2 << 28).r1(r1).r3(r3).r2(r2)
}

/// r3 shifted right, unsigned, by r2: r1, r3, r2. Format I5.
pub fn shr_u(r1: Gr, r3: Gr, r2: Gr) -> Op {
    Op::new(Unit::I, 7, 1 << 36 | 1 << 33).r1(r1).r3(r3).r2(r2)
}

/// r2 shifted left by r3: r1, r2, r3. Format I7.
pub fn shl(r1: Gr, r2: Gr, r3: Gr) -> Op {
    Op::new(Unit::I, 7, 1 << 36 | 1 << 33 | 1 << 30).r1(r1).r2(r2).r3(r3)
}

/// How many ones r3 has: r1, r3. Format I9.
pub fn popcnt(r1: Gr, r3: Gr) -> Op {
    Op::new(Unit::I, 7, 1 << 34 | 1 << 33 | 2 << 30 | 1 << 28).r1(r1).r3(r3)
}

/// r2 and r3 as one number, shifted right by 0 to 63: r1, r2, r3, count. Format I10.
pub fn shrp(r1: Gr, r2: Gr, r3: Gr, count: u64) -> Op {
    Op::new(Unit::I, 5, 3 << 34).r1(r1).r2(r2).r3(r3).field(count, 27, 6)
}

/// A signed field of r3: r1, r3, position, length. Format I11.
pub fn extr(r1: Gr, r3: Gr, pos: u64, len: u64) -> Op {
    length(Op::new(Unit::I, 5, 1 << 34 | 1 << 13).r1(r1).r3(r3).field(pos, 14, 6), len, 6)
}

/// An unsigned field of r3: r1, r3, position, length. Format I11.
pub fn extr_u(r1: Gr, r3: Gr, pos: u64, len: u64) -> Op {
    length(Op::new(Unit::I, 5, 1 << 34).r1(r1).r3(r3).field(pos, 14, 6), len, 6)
}

/// The lowest bits of r2 at a position among zeros: r1, r2, position, length. Format I12.
pub fn dep_z(r1: Gr, r2: Gr, pos: u64, len: u64) -> Op {
    length(complement(Op::new(Unit::I, 5, 1 << 34 | 1 << 33).r1(r1).r2(r2), pos, 20), len, 6)
}

/// The lowest bits of a number of eight signed bits at a position among zeros: r1, number, position, length. Format I13.
pub fn dep_z_imm(r1: Gr, imm8: i64, pos: u64, len: u64) -> Op {
    length(complement(Op::new(Unit::I, 5, 1 << 34 | 1 << 33 | 1 << 26).r1(r1).signed(imm8, parts::EIGHT), pos, 20), len, 6)
}

/// Zeros, or with `ones` ones, into r3 at a position: r1, ones, r3, position, length. Format I14.
pub fn dep_imm(r1: Gr, ones: bool, r3: Gr, pos: u64, len: u64) -> Op {
    length(complement(Op::new(Unit::I, 5, 3 << 34 | 1 << 33).r1(r1).field(ones.into(), 36, 1).r3(r3), pos, 14), len, 6)
}

/// The lowest bits of r2, 1 to 16, into r3 at a position: r1, r2, r3, position, length. Format I15.
pub fn dep(r1: Gr, r2: Gr, r3: Gr, pos: u64, len: u64) -> Op {
    length(complement(Op::new(Unit::I, 4, 0).r1(r1).r2(r2).r3(r3), pos, 31), len, 4)
}

/// r2 shifted left by 0 to 63, by `dep.z`: r1, r2, count.
pub fn shl_imm(r1: Gr, r2: Gr, count: u64) -> Op {
    dep_z(r1, r2, count, 64u64.saturating_sub(count))
}

/// r3 shifted right, signed, by 0 to 63, by `extr`: r1, r3, count.
pub fn shr_imm(r1: Gr, r3: Gr, count: u64) -> Op {
    extr(r1, r3, count, 64u64.saturating_sub(count))
}

/// r3 shifted right, unsigned, by 0 to 63, by `extr.u`: r1, r3, count.
pub fn shr_u_imm(r1: Gr, r3: Gr, count: u64) -> Op {
    extr_u(r1, r3, count, 64u64.saturating_sub(count))
}

macro_rules! extensions {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": r1, r3. Format I29.")]
            pub fn $name(r1: Gr, r3: Gr) -> Op {
                Op::new(Unit::I, 0, $x6 << 27).r1(r1).r3(r3)
            }
        )*
    };
}

extensions! {
    zxt1 0x10 "The lowest byte, unsigned";
    zxt2 0x11 "The lowest two bytes, unsigned";
    zxt4 0x12 "The lowest four bytes, unsigned";
    sxt1 0x14 "The lowest byte, signed";
    sxt2 0x15 "The lowest two bytes, signed";
    sxt4 0x16 "The lowest four bytes, signed";
    czx1_l 0x18 "Which byte is zero, from the left";
    czx2_l 0x19 "Which pair of bytes is zero, from the left";
    czx1_r 0x1C "Which byte is zero, from the right";
    czx2_r 0x1D "Which pair of bytes is zero, from the right";
}
