//! Integer arithmetic and logic: formats A1 to A5.

use super::op::{Op, Unit, parts};
use super::{Gr, R0};

const MAJOR: u64 = 8;

fn alu(x4: u64, x2b: u64) -> Op {
    Op::new(Unit::A, MAJOR, x4 << 29 | x2b << 27)
}

macro_rules! registers {
    ($($name:ident $x4:literal $x2b:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": r1, r2, r3. Format A1.")]
            pub fn $name(r1: Gr, r2: Gr, r3: Gr) -> Op {
                alu($x4, $x2b).r1(r1).r2(r2).r3(r3)
            }
        )*
    };
}

macro_rules! immediates {
    ($($name:ident $x4:literal $x2b:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": r1, eight signed bits, r3. Format A3.")]
            pub fn $name(r1: Gr, imm8: i64, r3: Gr) -> Op {
                alu($x4, $x2b).r1(r1).signed(imm8, parts::EIGHT).r3(r3)
            }
        )*
    };
}

registers! {
    add 0 0 "Sum";
    add_one 0 1 "Sum and one, `add` with a third source of 1";
    sub 1 1 "Difference, r2 less r3";
    sub_one 1 0 "Difference less one, `sub` with a third source of 1";
    addp4 2 0 "Sum as a 32-bit pointer";
    and 3 0 "And";
    andcm 3 1 "And of r2 with the complement of r3";
    or 3 2 "Or";
    xor 3 3 "Exclusive or";
}

immediates! {
    sub_imm 9 1 "The number less r3";
    and_imm 11 0 "And";
    andcm_imm 11 1 "And of the number with the complement of r3";
    or_imm 11 2 "Or";
    xor_imm 11 3 "Exclusive or";
}

fn shifted(x4: u64, r1: Gr, r2: Gr, count: u64, r3: Gr) -> Op {
    let code = (1..=4).contains(&count).then(|| count - 1);
    alu(x4, 0).r1(r1).r2(r2).r3(r3).coded(count as i64, code, 27, 2)
}

/// r2 shifted left by 1 to 4, and r3 added: r1, r2, count, r3. Format A2.
pub fn shladd(r1: Gr, r2: Gr, count: u64, r3: Gr) -> Op {
    shifted(4, r1, r2, count, r3)
}

/// r2 shifted left by 1 to 4, and r3 added, as a 32-bit pointer: r1, r2, count, r3. Format A2.
pub fn shladdp4(r1: Gr, r2: Gr, count: u64, r3: Gr) -> Op {
    shifted(6, r1, r2, count, r3)
}

/// Sum with fourteen signed bits: r1, number, r3. Format A4.
pub fn adds(r1: Gr, imm14: i64, r3: Gr) -> Op {
    Op::new(Unit::A, MAJOR, 2 << 34).r1(r1).signed(imm14, &[(13, 7), (27, 6), (36, 1)]).r3(r3)
}

/// Sum with fourteen signed bits as a 32-bit pointer: r1, number, r3. Format A4.
pub fn addp4_imm(r1: Gr, imm14: i64, r3: Gr) -> Op {
    Op::new(Unit::A, MAJOR, 3 << 34).r1(r1).signed(imm14, &[(13, 7), (27, 6), (36, 1)]).r3(r3)
}

/// Sum with 22 signed bits: r1, number, r3, which is GR 0 to 3. Format A5.
pub fn addl(r1: Gr, imm22: i64, r3: Gr) -> Op {
    Op::new(Unit::A, 9, 0).r1(r1).signed(imm22, &[(13, 7), (27, 9), (22, 5), (36, 1)]).field(r3.bits(), 20, 2)
}

/// A copy, by `adds` of 0: r1, r3.
pub fn mov(r1: Gr, r3: Gr) -> Op {
    adds(r1, 0, r3)
}

/// A number of 22 signed bits, by `addl` to GR 0: r1, number.
pub fn mov_imm(r1: Gr, imm22: i64) -> Op {
    addl(r1, imm22, R0)
}
