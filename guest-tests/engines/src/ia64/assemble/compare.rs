//! Compares, formats A6 to A8, and tests of a bit, formats I16, I17 and I30.

use super::op::{Op, Unit, parts};
use super::{Gr, Pr};

fn predicates(op: Op, p1: Pr, p2: Pr) -> Op {
    op.field(p1.bits(), 6, 6).field(p2.bits(), 27, 6)
}

/// Bit `tb`, which makes a compare one with 0 and a test one with `and`.
const TB: u64 = 1 << 36;
/// Bit `ta`, which makes a compare parallel and a test one with `or`; with `tb`, a test with `or.andcm`.
const TA: u64 = 1 << 33;
/// Bit `c`.
const C: u64 = 1 << 12;
/// Field `x2` of compares of the low words.
const LOW: u64 = 1 << 34;
/// Field `x2` of compares with a number.
const NUMBER: u64 = 2 << 34;

macro_rules! compares {
    ($($name:ident $immediate:ident $major:literal $bits:expr, $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": p1, p2, r2, r3. Format A6.")]
            pub fn $name(p1: Pr, p2: Pr, r2: Gr, r3: Gr) -> Op {
                predicates(Op::new(Unit::A, $major, $bits), p1, p2).r2(r2).r3(r3)
            }

            #[doc = concat!($what, ": p1, p2, eight signed bits for r2, r3. Format A8.")]
            pub fn $immediate(p1: Pr, p2: Pr, imm8: i64, r3: Gr) -> Op {
                predicates(Op::new(Unit::A, $major, $bits | NUMBER), p1, p2).signed(imm8, parts::EIGHT).r3(r3)
            }
        )*
    };
}

macro_rules! with_zero {
    ($($name:ident $major:literal $bits:expr, $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": p1, p2, r3. Format A7.")]
            pub fn $name(p1: Pr, p2: Pr, r3: Gr) -> Op {
                predicates(Op::new(Unit::A, $major, TB | $bits), p1, p2).r3(r3)
            }
        )*
    };
}

compares! {
    cmp_lt cmp_lt_imm 0xC 0, "Whether r2 is less than r3, signed";
    cmp_ltu cmp_ltu_imm 0xD 0, "Whether r2 is less than r3, unsigned";
    cmp_eq cmp_eq_imm 0xE 0, "Whether r2 is r3";
    cmp_lt_unc cmp_lt_unc_imm 0xC C, "Whether r2 is less than r3, signed; both predicates 0 if the qualifying one is";
    cmp_ltu_unc cmp_ltu_unc_imm 0xD C, "Whether r2 is less than r3, unsigned; both predicates 0 if the qualifying one is";
    cmp_eq_unc cmp_eq_unc_imm 0xE C, "Whether r2 is r3; both predicates 0 if the qualifying one is";
    cmp_eq_and cmp_eq_and_imm 0xC TA, "Both predicates 0 if r2 is not r3";
    cmp_eq_or cmp_eq_or_imm 0xD TA, "Both predicates 1 if r2 is r3";
    cmp_eq_or_andcm cmp_eq_or_andcm_imm 0xE TA, "p1 1 and p2 0 if r2 is r3";
    cmp_ne_and cmp_ne_and_imm 0xC TA | C, "Both predicates 0 if r2 is r3";
    cmp_ne_or cmp_ne_or_imm 0xD TA | C, "Both predicates 1 if r2 is not r3";
    cmp_ne_or_andcm cmp_ne_or_andcm_imm 0xE TA | C, "p1 1 and p2 0 if r2 is not r3";
    cmp4_lt cmp4_lt_imm 0xC LOW, "Whether the low word of r2 is less than that of r3, signed";
    cmp4_ltu cmp4_ltu_imm 0xD LOW, "Whether the low word of r2 is less than that of r3, unsigned";
    cmp4_eq cmp4_eq_imm 0xE LOW, "Whether the low word of r2 is that of r3";
    cmp4_lt_unc cmp4_lt_unc_imm 0xC LOW | C, "As `cmp4.lt`; both predicates 0 if the qualifying one is";
    cmp4_ltu_unc cmp4_ltu_unc_imm 0xD LOW | C, "As `cmp4.ltu`; both predicates 0 if the qualifying one is";
    cmp4_eq_unc cmp4_eq_unc_imm 0xE LOW | C, "As `cmp4.eq`; both predicates 0 if the qualifying one is";
    cmp4_eq_and cmp4_eq_and_imm 0xC LOW | TA, "Both predicates 0 if the low word of r2 is not that of r3";
    cmp4_eq_or cmp4_eq_or_imm 0xD LOW | TA, "Both predicates 1 if the low word of r2 is that of r3";
    cmp4_eq_or_andcm cmp4_eq_or_andcm_imm 0xE LOW | TA, "p1 1 and p2 0 if the low word of r2 is that of r3";
    cmp4_ne_and cmp4_ne_and_imm 0xC LOW | TA | C, "Both predicates 0 if the low word of r2 is that of r3";
    cmp4_ne_or cmp4_ne_or_imm 0xD LOW | TA | C, "Both predicates 1 if the low word of r2 is not that of r3";
    cmp4_ne_or_andcm cmp4_ne_or_andcm_imm 0xE LOW | TA | C, "p1 1 and p2 0 if the low word of r2 is not that of r3";
}

with_zero! {
    cmp_gt_and 0xC 0, "Both predicates 0 if 0 is not greater than r3";
    cmp_gt_or 0xD 0, "Both predicates 1 if 0 is greater than r3";
    cmp_gt_or_andcm 0xE 0, "p1 1 and p2 0 if 0 is greater than r3";
    cmp_le_and 0xC C, "Both predicates 0 if 0 is greater than r3";
    cmp_le_or 0xD C, "Both predicates 1 if 0 is at most r3";
    cmp_le_or_andcm 0xE C, "p1 1 and p2 0 if 0 is at most r3";
    cmp_ge_and 0xC TA, "Both predicates 0 if 0 is less than r3";
    cmp_ge_or 0xD TA, "Both predicates 1 if 0 is at least r3";
    cmp_ge_or_andcm 0xE TA, "p1 1 and p2 0 if 0 is at least r3";
    cmp_lt_and 0xC TA | C, "Both predicates 0 if 0 is not less than r3";
    cmp_lt_or 0xD TA | C, "Both predicates 1 if 0 is less than r3";
    cmp_lt_or_andcm 0xE TA | C, "p1 1 and p2 0 if 0 is less than r3";
    cmp4_gt_and 0xC LOW, "Both predicates 0 if 0 is not greater than the low word of r3";
    cmp4_gt_or 0xD LOW, "Both predicates 1 if 0 is greater than the low word of r3";
    cmp4_gt_or_andcm 0xE LOW, "p1 1 and p2 0 if 0 is greater than the low word of r3";
    cmp4_le_and 0xC LOW | C, "Both predicates 0 if 0 is greater than the low word of r3";
    cmp4_le_or 0xD LOW | C, "Both predicates 1 if 0 is at most the low word of r3";
    cmp4_le_or_andcm 0xE LOW | C, "p1 1 and p2 0 if 0 is at most the low word of r3";
    cmp4_ge_and 0xC LOW | TA, "Both predicates 0 if 0 is less than the low word of r3";
    cmp4_ge_or 0xD LOW | TA, "Both predicates 1 if 0 is at least the low word of r3";
    cmp4_ge_or_andcm 0xE LOW | TA, "p1 1 and p2 0 if 0 is at least the low word of r3";
    cmp4_lt_and 0xC LOW | TA | C, "Both predicates 0 if 0 is not less than the low word of r3";
    cmp4_lt_or 0xD LOW | TA | C, "Both predicates 1 if 0 is less than the low word of r3";
    cmp4_lt_or_andcm 0xE LOW | TA | C, "p1 1 and p2 0 if 0 is less than the low word of r3";
}

/// Whether r2 is not r3, by `cmp.eq` with the predicates exchanged: p1, p2, r2, r3.
pub fn cmp_ne(p1: Pr, p2: Pr, r2: Gr, r3: Gr) -> Op {
    cmp_eq(p2, p1, r2, r3)
}

/// Whether a number is not r3, by `cmp.eq` with the predicates exchanged: p1, p2, eight signed bits, r3.
pub fn cmp_ne_imm(p1: Pr, p2: Pr, imm8: i64, r3: Gr) -> Op {
    cmp_eq_imm(p2, p1, imm8, r3)
}

/// Whether r2 is at least r3, signed, by `cmp.lt` with the predicates exchanged: p1, p2, r2, r3.
pub fn cmp_ge(p1: Pr, p2: Pr, r2: Gr, r3: Gr) -> Op {
    cmp_lt(p2, p1, r2, r3)
}

/// Whether r2 is at least r3, unsigned, by `cmp.ltu` with the predicates exchanged: p1, p2, r2, r3.
pub fn cmp_geu(p1: Pr, p2: Pr, r2: Gr, r3: Gr) -> Op {
    cmp_ltu(p2, p1, r2, r3)
}

fn test(bits: u64, p1: Pr, p2: Pr) -> Op {
    predicates(Op::new(Unit::I, 5, bits), p1, p2)
}

/// Bit `y` of `tnat` and `tf`.
const Y: u64 = 1 << 13;
/// Bit `x` of `tf`.
const X: u64 = 1 << 19;

macro_rules! tests {
    ($($bit:ident $nat:ident $feature:ident $bits:expr, $what:literal;)*) => {
        $(
            #[doc = concat!($what, " bit `pos` of r3: p1, p2, r3, pos. Format I16.")]
            pub fn $bit(p1: Pr, p2: Pr, r3: Gr, pos: u64) -> Op {
                test($bits, p1, p2).r3(r3).field(pos, 14, 6)
            }

            #[doc = concat!($what, " the NaT bit of r3: p1, p2, r3. Format I17.")]
            pub fn $nat(p1: Pr, p2: Pr, r3: Gr) -> Op {
                test($bits | Y, p1, p2).r3(r3)
            }

            #[doc = concat!($what, " the processor's feature of this number, 32 to 63: p1, p2, number. Format I30.")]
            pub fn $feature(p1: Pr, p2: Pr, number: u64) -> Op {
                let code = (32..64).contains(&number).then(|| number - 32);
                test($bits | Y | X, p1, p2).coded(number as i64, code, 14, 5)
            }
        )*
    };
}

tests! {
    tbit_z tnat_z tf_z 0, "p1 the complement and p2 the value of";
    tbit_z_unc tnat_z_unc tf_z_unc C, "p1 the complement and p2 the value, or both 0 if the qualifying predicate is, of";
    tbit_z_and tnat_z_and tf_z_and TB, "Both predicates 0 if 1 is the value of";
    tbit_nz_and tnat_nz_and tf_nz_and TB | C, "Both predicates 0 if 0 is the value of";
    tbit_z_or tnat_z_or tf_z_or TA, "Both predicates 1 if 0 is the value of";
    tbit_nz_or tnat_nz_or tf_nz_or TA | C, "Both predicates 1 if 1 is the value of";
    tbit_z_or_andcm tnat_z_or_andcm tf_z_or_andcm TB | TA, "p1 1 and p2 0 if 0 is the value of";
    tbit_nz_or_andcm tnat_nz_or_andcm tf_nz_or_andcm TB | TA | C, "p1 1 and p2 0 if 1 is the value of";
}

/// p1 the value and p2 the complement of bit `pos` of r3, by `tbit.z` with the predicates exchanged: p1, p2, r3, pos.
pub fn tbit_nz(p1: Pr, p2: Pr, r3: Gr, pos: u64) -> Op {
    tbit_z(p2, p1, r3, pos)
}
