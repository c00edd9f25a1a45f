//! Parallel integers: formats A9, A10, I1 to I6 and I8.

use super::Gr;
use super::op::{Op, Unit};

/// Bits `za` and `zb`, which say of how many bytes an element is.
const fn elements(bytes: u64) -> u64 {
    match bytes {
        1 => 0,
        2 => 1 << 33,
        _ => 1 << 36,
    }
}

macro_rules! alu {
    ($($name:ident $bytes:literal $x4:literal $x2b:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ", elements of ", $bytes, " bytes: r1, r2, r3. Format A9.")]
            pub fn $name(r1: Gr, r2: Gr, r3: Gr) -> Op {
                Op::new(Unit::A, 8, elements($bytes) | 1 << 34 | $x4 << 29 | $x2b << 27).r1(r1).r2(r2).r3(r3)
            }
        )*
    };
}

alu! {
    padd1 1 0 0 "Sums";
    padd1_sss 1 0 1 "Sums, signed and saturated";
    padd1_uuu 1 0 2 "Sums, unsigned and saturated";
    padd1_uus 1 0 3 "Sums of unsigned and signed, saturated as unsigned";
    padd2 2 0 0 "Sums";
    padd2_sss 2 0 1 "Sums, signed and saturated";
    padd2_uuu 2 0 2 "Sums, unsigned and saturated";
    padd2_uus 2 0 3 "Sums of unsigned and signed, saturated as unsigned";
    padd4 4 0 0 "Sums";
    psub1 1 1 0 "Differences";
    psub1_sss 1 1 1 "Differences, signed and saturated";
    psub1_uuu 1 1 2 "Differences, unsigned and saturated";
    psub1_uus 1 1 3 "Differences of unsigned and signed, saturated as unsigned";
    psub2 2 1 0 "Differences";
    psub2_sss 2 1 1 "Differences, signed and saturated";
    psub2_uuu 2 1 2 "Differences, unsigned and saturated";
    psub2_uus 2 1 3 "Differences of unsigned and signed, saturated as unsigned";
    psub4 4 1 0 "Differences";
    pavg1 1 2 2 "Means";
    pavg1_raz 1 2 3 "Means, rounded away from zero";
    pavg2 2 2 2 "Means";
    pavg2_raz 2 2 3 "Means, rounded away from zero";
    pavgsub1 1 3 2 "Halves of differences";
    pavgsub2 2 3 2 "Halves of differences";
    pcmp1_eq 1 9 0 "Ones where equal";
    pcmp2_eq 2 9 0 "Ones where equal";
    pcmp4_eq 4 9 0 "Ones where equal";
    pcmp1_gt 1 9 1 "Ones where greater, signed";
    pcmp2_gt 2 9 1 "Ones where greater, signed";
    pcmp4_gt 4 9 1 "Ones where greater, signed";
}

fn shifted(x4: u64, r1: Gr, r2: Gr, count: u64, r3: Gr) -> Op {
    let code = (1..=3).contains(&count).then(|| count - 1);
    Op::new(Unit::A, 8, elements(2) | 1 << 34 | x4 << 29).r1(r1).r2(r2).r3(r3).coded(count as i64, code, 27, 2)
}

/// Elements of two bytes of r2 shifted left by 1 to 3, those of r3 added, saturated: r1, r2, count, r3. Format A10.
pub fn pshladd2(r1: Gr, r2: Gr, count: u64, r3: Gr) -> Op {
    shifted(4, r1, r2, count, r3)
}

/// Elements of two bytes of r2 shifted right by 1 to 3, those of r3 added, saturated: r1, r2, count, r3. Format A10.
pub fn pshradd2(r1: Gr, r2: Gr, count: u64, r3: Gr) -> Op {
    shifted(6, r1, r2, count, r3)
}

fn product(x2b: u64, r1: Gr, r2: Gr, r3: Gr, count: u64) -> Op {
    let code = [0, 7, 15, 16].iter().position(|known| *known == count).map(|code| code as u64);
    Op::new(Unit::I, 7, elements(2) | x2b << 28).r1(r1).r2(r2).r3(r3).coded(count as i64, code, 30, 2)
}

/// Products of signed elements of two bytes, shifted right by 0, 7, 15 or 16: r1, r2, r3, count. Format I1.
pub fn pmpyshr2(r1: Gr, r2: Gr, r3: Gr, count: u64) -> Op {
    product(3, r1, r2, r3, count)
}

/// Products of unsigned elements of two bytes, shifted right by 0, 7, 15 or 16: r1, r2, r3, count. Format I1.
pub fn pmpyshr2_u(r1: Gr, r2: Gr, r3: Gr, count: u64) -> Op {
    product(1, r1, r2, r3, count)
}

macro_rules! pairs {
    ($($name:ident $bytes:literal $x2c:literal $x2b:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ", elements of ", $bytes, " bytes: r1, r2, r3. Format I2.")]
            pub fn $name(r1: Gr, r2: Gr, r3: Gr) -> Op {
                Op::new(Unit::I, 7, elements($bytes) | 2 << 34 | $x2c << 30 | $x2b << 28).r1(r1).r2(r2).r3(r3)
            }
        )*
    };
}

pairs! {
    pmpy2_r 2 3 1 "Products of the right ones of pairs";
    pmpy2_l 2 3 3 "Products of the left ones of pairs";
    mix1_r 1 2 0 "The right ones of pairs";
    mix2_r 2 2 0 "The right ones of pairs";
    mix4_r 4 2 0 "The right ones of pairs";
    mix1_l 1 2 2 "The left ones of pairs";
    mix2_l 2 2 2 "The left ones of pairs";
    mix4_l 4 2 2 "The left ones of pairs";
    pack2_uss 2 0 0 "Halved, saturated as unsigned";
    pack2_sss 2 0 2 "Halved, saturated as signed";
    pack4_sss 4 0 2 "Halved, saturated as signed";
    unpack1_h 1 1 0 "The high halves in turn";
    unpack2_h 2 1 0 "The high halves in turn";
    unpack4_h 4 1 0 "The high halves in turn";
    unpack1_l 1 1 2 "The low halves in turn";
    unpack2_l 2 1 2 "The low halves in turn";
    unpack4_l 4 1 2 "The low halves in turn";
    pmin1_u 1 0 1 "The lesser, unsigned";
    pmax1_u 1 1 1 "The greater, unsigned";
    pmin2 2 0 3 "The lesser, signed";
    pmax2 2 1 3 "The greater, signed";
    psad1 1 2 3 "The sum of the distances";
}

/// Bytes of r2 in another order: r1, r2, order, which is 0 for `@brcst`, 8 for `@mix`, 9 for `@shuf`, 10 for `@alt`, 11 for `@rev`.
/// Format I3.
pub fn mux1(r1: Gr, r2: Gr, order: u64) -> Op {
    Op::new(Unit::I, 7, elements(1) | 3 << 34 | 2 << 30 | 2 << 28).r1(r1).r2(r2).field(order, 20, 4)
}

/// Pairs of bytes of r2 in another order: r1, r2, two bits for each that say which, the lowest for the lowest. Format I4.
pub fn mux2(r1: Gr, r2: Gr, order: u64) -> Op {
    Op::new(Unit::I, 7, elements(2) | 3 << 34 | 2 << 30 | 2 << 28).r1(r1).r2(r2).field(order, 20, 8)
}

macro_rules! shifts {
    ($($name:ident $immediate:ident $bytes:literal $x2b:literal $what:literal;)*) => {
        $(
            #[doc = concat!("Elements of ", $bytes, " bytes of r3 shifted right, ", $what, ", by r2: r1, r3, r2. Format I5.")]
            pub fn $name(r1: Gr, r3: Gr, r2: Gr) -> Op {
                Op::new(Unit::I, 7, elements($bytes) | $x2b << 28).r1(r1).r3(r3).r2(r2)
            }

            #[doc = concat!("Elements of ", $bytes, " bytes of r3 shifted right, ", $what, ", by 0 to 31: r1, r3, count. Format I6.")]
            pub fn $immediate(r1: Gr, r3: Gr, count: u64) -> Op {
                Op::new(Unit::I, 7, elements($bytes) | 1 << 34 | ($x2b + 1) << 28).r1(r1).r3(r3).field(count, 14, 5)
            }
        )*
    };
}

shifts! {
    pshr2 pshr2_imm 2 2 "signed";
    pshr2_u pshr2_u_imm 2 0 "unsigned";
    pshr4 pshr4_imm 4 2 "signed";
    pshr4_u pshr4_u_imm 4 0 "unsigned";
}

fn left(bytes: u64, r1: Gr, r2: Gr, r3: Gr) -> Op {
    Op::new(Unit::I, 7, elements(bytes) | 1 << 30).r1(r1).r2(r2).r3(r3)
}

fn left_immediate(bytes: u64, r1: Gr, r2: Gr, count: u64) -> Op {
    let op = Op::new(Unit::I, 7, elements(bytes) | 3 << 34 | 1 << 30 | 1 << 28).r1(r1).r2(r2);
    op.coded(count as i64, 31u64.checked_sub(count), 20, 5)
}

/// Elements of two bytes of r2 shifted left by r3: r1, r2, r3. Format I7.
pub fn pshl2(r1: Gr, r2: Gr, r3: Gr) -> Op {
    left(2, r1, r2, r3)
}

/// Elements of four bytes of r2 shifted left by r3: r1, r2, r3. Format I7.
pub fn pshl4(r1: Gr, r2: Gr, r3: Gr) -> Op {
    left(4, r1, r2, r3)
}

/// Elements of two bytes of r2 shifted left by 0 to 31: r1, r2, count. Format I8.
pub fn pshl2_imm(r1: Gr, r2: Gr, count: u64) -> Op {
    left_immediate(2, r1, r2, count)
}

/// Elements of four bytes of r2 shifted left by 0 to 31: r1, r2, count. Format I8.
pub fn pshl4_imm(r1: Gr, r2: Gr, count: u64) -> Op {
    left_immediate(4, r1, r2, count)
}
