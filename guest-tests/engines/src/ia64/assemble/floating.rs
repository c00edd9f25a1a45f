//! Floating point: formats F1 to F14.

use super::op::Label;
use super::op::{Allows, Op, Unit, Use, parts};
use super::{F0, F1, Fr, Pr};

/// What names a status field.
const STATUS: Allows = Allows { always: false, number: None, register: false, locality: false, status_field: true, branch: None };

fn floating(major: u64, bits: u64) -> Op {
    Op::new(Unit::F, major, bits)
}

impl Op {
    fn f1(self, register: Fr) -> Self {
        self.field(register.bits(), 6, 7)
    }

    fn f2(self, register: Fr) -> Self {
        self.field(register.bits(), 13, 7)
    }

    fn f3(self, register: Fr) -> Self {
        self.field(register.bits(), 20, 7)
    }

    fn f4(self, register: Fr) -> Self {
        self.field(register.bits(), 27, 7)
    }

    fn p1_p2(self, p1: Pr, p2: Pr) -> Self {
        self.field(p1.bits(), 6, 6).field(p2.bits(), 27, 6)
    }
}

/// Bit `x`.
const X: u64 = 1 << 36;

macro_rules! multiply {
    ($($name:ident $major:literal $bits:expr, $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, f3, f4, f2. May name a status field. Format F1.")]
            pub fn $name(f1: Fr, f3: Fr, f4: Fr, f2: Fr) -> Op {
                floating($major, $bits).f1(f1).f3(f3).f4(f4).f2(f2).allowing(STATUS)
            }
        )*
    };
}

multiply! {
    fma 0x8 0, "f3 times f4 plus f2";
    fma_s 0x8 X, "f3 times f4 plus f2, rounded to single";
    fma_d 0x9 0, "f3 times f4 plus f2, rounded to double";
    fpma 0x9 X, "f3 times f4 plus f2, pairs of singles";
    fms 0xA 0, "f3 times f4 less f2";
    fms_s 0xA X, "f3 times f4 less f2, rounded to single";
    fms_d 0xB 0, "f3 times f4 less f2, rounded to double";
    fpms 0xB X, "f3 times f4 less f2, pairs of singles";
    fnma 0xC 0, "f2 less f3 times f4";
    fnma_s 0xC X, "f2 less f3 times f4, rounded to single";
    fnma_d 0xD 0, "f2 less f3 times f4, rounded to double";
    fpnma 0xD X, "f2 less f3 times f4, pairs of singles";
}

macro_rules! integers {
    ($($name:ident $bits:expr, $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, f3, f4, f2. Formats F2 and F3.")]
            pub fn $name(f1: Fr, f3: Fr, f4: Fr, f2: Fr) -> Op {
                floating(0xE, $bits).f1(f1).f3(f3).f4(f4).f2(f2)
            }
        )*
    };
}

integers! {
    xma_l X, "f3 times f4 plus f2 of integers, the low half";
    xma_hu X | 2 << 34, "f3 times f4 plus f2 of unsigned integers, the high half";
    xma_h X | 3 << 34, "f3 times f4 plus f2 of signed integers, the high half";
    fselect 0, "Bits of f3 where f2 has ones, of f4 where it has zeros";
}

macro_rules! compares {
    ($($name:ident $bits:expr, $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": p1, p2, f2, f3. May name a status field. Format F4.")]
            pub fn $name(p1: Pr, p2: Pr, f2: Fr, f3: Fr) -> Op {
                floating(4, $bits).p1_p2(p1, p2).f2(f2).f3(f3).allowing(STATUS)
            }
        )*
    };
}

/// Bit `ra` of compares.
const RA: u64 = 1 << 33;
/// Bit `rb` of compares.
const RB: u64 = 1 << 36;
/// Bit `ta` of compares.
const UNC: u64 = 1 << 12;

compares! {
    fcmp_eq 0, "Whether f2 is f3";
    fcmp_lt RB, "Whether f2 is less than f3";
    fcmp_le RA, "Whether f2 is at most f3";
    fcmp_unord RA | RB, "Whether f2 or f3 is no number";
    fcmp_eq_unc UNC, "Whether f2 is f3; both predicates 0 if the qualifying one is";
    fcmp_lt_unc RB | UNC, "Whether f2 is less than f3; both predicates 0 if the qualifying one is";
    fcmp_le_unc RA | UNC, "Whether f2 is at most f3; both predicates 0 if the qualifying one is";
    fcmp_unord_unc RA | RB | UNC, "Whether f2 or f3 is no number; both predicates 0 if the qualifying one is";
}

/// Whether f2 is of one of the classes that nine bits name: p1, p2, f2, classes. Format F5.
pub fn fclass_m(p1: Pr, p2: Pr, f2: Fr, fclass9: u64) -> Op {
    floating(5, 0).p1_p2(p1, p2).f2(f2).unsigned(fclass9, &[(33, 2), (20, 7)])
}

/// Whether f2 is of one of the classes that nine bits name; both predicates 0 if the qualifying one is: p1, p2, f2, classes. Format F5.
pub fn fclass_m_unc(p1: Pr, p2: Pr, f2: Fr, fclass9: u64) -> Op {
    floating(5, UNC).p1_p2(p1, p2).f2(f2).unsigned(fclass9, &[(33, 2), (20, 7)])
}

/// An approximate reciprocal of f3, or f2 over f3 in special cases: f1, p2, f2, f3. May name a status field. Format F6.
pub fn frcpa(f1: Fr, p2: Pr, f2: Fr, f3: Fr) -> Op {
    floating(0, 1 << 33).f1(f1).field(p2.bits(), 27, 6).f2(f2).f3(f3).allowing(STATUS)
}

/// Approximate reciprocals of a pair of singles: f1, p2, f2, f3. May name a status field. Format F6.
pub fn fprcpa(f1: Fr, p2: Pr, f2: Fr, f3: Fr) -> Op {
    floating(1, 1 << 33).f1(f1).field(p2.bits(), 27, 6).f2(f2).f3(f3).allowing(STATUS)
}

/// An approximate reciprocal of the square root: f1, p2, f3. May name a status field. Format F7.
pub fn frsqrta(f1: Fr, p2: Pr, f3: Fr) -> Op {
    floating(0, 1 << 36 | 1 << 33).f1(f1).field(p2.bits(), 27, 6).f3(f3).allowing(STATUS)
}

/// Approximate reciprocals of the square roots of a pair of singles: f1, p2, f3. May name a status field. Format F7.
pub fn fprsqrta(f1: Fr, p2: Pr, f3: Fr) -> Op {
    floating(1, 1 << 36 | 1 << 33).f1(f1).field(p2.bits(), 27, 6).f3(f3).allowing(STATUS)
}

macro_rules! with_status {
    ($($name:ident $major:literal $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, f2, f3. May name a status field. Format F8.")]
            pub fn $name(f1: Fr, f2: Fr, f3: Fr) -> Op {
                floating($major, $x6 << 27).f1(f1).f2(f2).f3(f3).allowing(STATUS)
            }
        )*
    };
}

with_status! {
    fmin 0 0x14 "The lesser";
    fmax 0 0x15 "The greater";
    famin 0 0x16 "The lesser by magnitude";
    famax 0 0x17 "The greater by magnitude";
    fpmin 1 0x14 "The lesser, pairs of singles";
    fpmax 1 0x15 "The greater, pairs of singles";
    fpamin 1 0x16 "The lesser by magnitude, pairs of singles";
    fpamax 1 0x17 "The greater by magnitude, pairs of singles";
    fpcmp_eq 1 0x30 "Ones where equal, pairs of singles";
    fpcmp_lt 1 0x31 "Ones where f2 is less, pairs of singles";
    fpcmp_le 1 0x32 "Ones where f2 is at most f3, pairs of singles";
    fpcmp_unord 1 0x33 "Ones where one is no number, pairs of singles";
    fpcmp_neq 1 0x34 "Ones where not equal, pairs of singles";
    fpcmp_nlt 1 0x35 "Ones where f2 is not less, pairs of singles";
    fpcmp_nle 1 0x36 "Ones where f2 is not at most f3, pairs of singles";
    fpcmp_ord 1 0x37 "Ones where both are numbers, pairs of singles";
}

macro_rules! bits {
    ($($name:ident $major:literal $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, f2, f3. Format F9.")]
            pub fn $name(f1: Fr, f2: Fr, f3: Fr) -> Op {
                floating($major, $x6 << 27).f1(f1).f2(f2).f3(f3)
            }
        )*
    };
}

bits! {
    fmerge_s 0 0x10 "f3 with the sign of f2";
    fmerge_ns 0 0x11 "f3 with the other sign than f2";
    fmerge_se 0 0x12 "f3 with the sign and exponent of f2";
    fmix_lr 0 0x39 "The left single of f2 and the right one of f3";
    fmix_r 0 0x3A "The right singles";
    fmix_l 0 0x3B "The left singles";
    fsxt_r 0 0x3C "The right single of f3, with the sign of that of f2 before it";
    fsxt_l 0 0x3D "The left single of f3, with the sign of that of f2 before it";
    fpack 0 0x28 "Two singles from two registers";
    fswap 0 0x34 "The right single of f3 and the left one of f2";
    fswap_nl 0 0x35 "As `fswap`, with the left one negated";
    fswap_nr 0 0x36 "As `fswap`, with the right one negated";
    fand 0 0x2C "And of the significands";
    fandcm 0 0x2D "And of the significand of f2 with the complement of that of f3";
    for_ 0 0x2E "Or of the significands";
    fxor 0 0x2F "Exclusive or of the significands";
    fpmerge_s 1 0x10 "f3 with the signs of f2, pairs of singles";
    fpmerge_ns 1 0x11 "f3 with the other signs than f2, pairs of singles";
    fpmerge_se 1 0x12 "f3 with the signs and exponents of f2, pairs of singles";
}

macro_rules! conversions {
    ($($name:ident $major:literal $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, f2. May name a status field. Format F10.")]
            pub fn $name(f1: Fr, f2: Fr) -> Op {
                floating($major, $x6 << 27).f1(f1).f2(f2).allowing(STATUS)
            }
        )*
    };
}

conversions! {
    fcvt_fx 0 0x18 "To a signed integer";
    fcvt_fxu 0 0x19 "To an unsigned integer";
    fcvt_fx_trunc 0 0x1A "To a signed integer, towards zero";
    fcvt_fxu_trunc 0 0x1B "To an unsigned integer, towards zero";
    fpcvt_fx 1 0x18 "To a pair of signed integers";
    fpcvt_fxu 1 0x19 "To a pair of unsigned integers";
    fpcvt_fx_trunc 1 0x1A "To a pair of signed integers, towards zero";
    fpcvt_fxu_trunc 1 0x1B "To a pair of unsigned integers, towards zero";
}

/// From a signed integer: f1, f2. Format F11.
pub fn fcvt_xf(f1: Fr, f2: Fr) -> Op {
    floating(0, 0x1C << 27).f1(f1).f2(f2)
}

/// The controls of a status field from those of field 0, with masks of seven bits: and, or. May name a status field. Format F12.
pub fn fsetc(and: u64, or: u64) -> Op {
    floating(0, 0x04 << 27).field(and, 13, 7).field(or, 20, 7).allowing(STATUS)
}

/// Clear the flags of a status field. May name a status field. Format F13.
pub fn fclrf() -> Op {
    floating(0, 0x05 << 27).allowing(STATUS)
}

/// Branch if a status field has flags that neither field 0 nor its traps have: label. May name a status field. Format F14.
pub fn fchkf(target: Label) -> Op {
    floating(0, 0x08 << 27).label(target, Use::Distance(parts::LOW)).allowing(STATUS)
}

/// Sum, by `fma` with FR 1: f1, f3, f2.
pub fn fadd(f1: Fr, f3: Fr, f2: Fr) -> Op {
    fma(f1, f3, F1, f2)
}

/// Sum, rounded to double, by `fma.d` with FR 1: f1, f3, f2.
pub fn fadd_d(f1: Fr, f3: Fr, f2: Fr) -> Op {
    fma_d(f1, f3, F1, f2)
}

/// Difference, by `fms` with FR 1: f1, f3, f2.
pub fn fsub(f1: Fr, f3: Fr, f2: Fr) -> Op {
    fms(f1, f3, F1, f2)
}

/// Product, by `fma` with FR 0: f1, f3, f4.
pub fn fmpy(f1: Fr, f3: Fr, f4: Fr) -> Op {
    fma(f1, f3, f4, F0)
}

/// Product, rounded to double, by `fma.d` with FR 0: f1, f3, f4.
pub fn fmpy_d(f1: Fr, f3: Fr, f4: Fr) -> Op {
    fma_d(f1, f3, f4, F0)
}

/// Normalized, by `fma` with FR 1 and FR 0: f1, f3.
pub fn fnorm(f1: Fr, f3: Fr) -> Op {
    fma(f1, f3, F1, F0)
}

/// Product of integers, the low half, by `xma.l` with FR 0: f1, f3, f4.
pub fn xmpy_l(f1: Fr, f3: Fr, f4: Fr) -> Op {
    xma_l(f1, f3, f4, F0)
}

/// A copy, by `fmerge.s`: f1, f3.
pub fn fmov(f1: Fr, f3: Fr) -> Op {
    fmerge_s(f1, f3, f3)
}

/// The magnitude, by `fmerge.s` with FR 0: f1, f3.
pub fn fabs(f1: Fr, f3: Fr) -> Op {
    fmerge_s(f1, F0, f3)
}

/// The negative, by `fmerge.ns`: f1, f3.
pub fn fneg(f1: Fr, f3: Fr) -> Op {
    fmerge_ns(f1, f3, f3)
}
