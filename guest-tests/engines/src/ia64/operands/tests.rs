//! Instructions are encoded by the formats of SDM volume 3, 4.2 to 4.7; what they read and write is on their pages in chapter 2 and among the
//! resources of 5.3.

mod decoder;

use proptest::prelude::*;
use vm_pmu::companion::{Class, Register};

use super::register::{APPLICATION, BANK_0, BRANCH, CONTROL, FLOATING, PREDICATES, STATUS};
use super::{MOST, Operands, operands};
use crate::ia64::registers::psr;
use crate::ia64::stack::Frame;
use crate::ia64::step::{Access, AccessKind, Step, Unit};

const RSC: u16 = APPLICATION + 16;
const BSP: u16 = APPLICATION + 17;
const BSPSTORE: u16 = APPLICATION + 18;
const RNAT: u16 = APPLICATION + 19;
const CSD: u16 = APPLICATION + 25;
const CCV: u16 = APPLICATION + 32;
const UNAT: u16 = APPLICATION + 36;
const FPSR: u16 = APPLICATION + 40;
const PFS: u16 = APPLICATION + 64;
const LC: u16 = APPLICATION + 65;
const EC: u16 = APPLICATION + 66;

const fn f(number: u16) -> u16 {
    FLOATING + number
}

const fn p(number: u16) -> u16 {
    PREDICATES + number
}

const fn b(number: u16) -> u16 {
    BRANCH + number
}

const fn cr(number: u16) -> u16 {
    CONTROL + number
}

/// An instruction: its unit, its 41 bits, its text, its class and width, the registers of its address, the others that it reads, and what it
/// writes.
type Row<'a> = (Unit, u64, &'static str, Class, u8, &'a [u16], &'a [u16], &'a [u16]);

/// All 96 stacked registers, without rotation: general registers have their own numbers.
const WHOLE: Frame = Frame { marker: 96, bottom: 0 };

/// A step of an instruction that is not predicated off, with the registers of bank 1.
fn step(unit: Unit, encoding: u64) -> Step {
    Step { unit, encoding, predicate: true, psr: psr::BN | psr::IC, frame: WHOLE, ..Step::default() }
}

fn sorted(registers: &[Register]) -> Vec<u16> {
    let mut numbers: Vec<u16> = registers.iter().map(|register| register.0).collect();
    numbers.sort_unstable();
    numbers
}

fn lists(operands: &Operands) -> [Vec<u16>; 3] {
    [operands.addresses(), operands.reads(), operands.writes()].map(sorted)
}

fn check(rows: &[Row<'_>]) {
    for (unit, encoding, name, class, width, addresses, reads, writes) in rows {
        let operands = operands(&step(*unit, *encoding));
        assert_eq!((operands.class, operands.width), (*class, *width), "{name}");
        assert_eq!(lists(&operands), [*addresses, *reads, *writes], "addresses, reads and writes of {name}");
    }
}

/// The major opcode and the fields r1, r2 and r3; f1, f2 and f3 are in the same places.
const fn word(major: u64, r1: u64, r2: u64, r3: u64) -> u64 {
    major << 37 | r3 << 20 | r2 << 13 | r1 << 6
}

/// The six bits of extension of most formats.
const fn x6(extension: u64) -> u64 {
    extension << 27
}

/// The three bits of extension beside them.
const fn x3(extension: u64) -> u64 {
    extension << 33
}

/// The six bits of extension of accesses.
const fn m(extension: u64) -> u64 {
    extension << 30
}

/// p1 and p2.
const fn both(p1: u64, p2: u64) -> u64 {
    p2 << 27 | p1 << 6
}

#[test]
fn arithmetic_reads_its_sources_and_writes_its_result() {
    check(&[
        // A1, with qp in the lowest six bits.
        (Unit::M, word(8, 8, 9, 10), "add r8=r9,r10", Class::Simple, 8, &[], &[9, 10], &[8]),
        (Unit::I, word(8, 8, 9, 10) | 6, "(p6) add r8=r9,r10", Class::Simple, 8, &[], &[9, 10, p(6)], &[8]),
        (Unit::I, word(8, 8, 0, 10) | 3 << 29, "and r8=r0,r10", Class::Simple, 8, &[], &[10], &[8]),
        // A2: x4 of 4 and the count less one.
        (Unit::I, word(8, 8, 9, 10) | 4 << 29 | 2 << 27, "shladd r8=r9,3,r10", Class::Simple, 8, &[], &[9, 10], &[8]),
        // A3: the place of r2 holds seven bits of the number.
        (Unit::I, word(8, 8, 5, 10) | 9 << 29 | 1 << 27, "sub r8=5,r10", Class::Simple, 8, &[], &[10], &[8]),
        (Unit::I, word(8, 8, 5, 10) | 0xB << 29 | 1 << 36, "and r8=-123,r10", Class::Simple, 8, &[], &[10], &[8]),
        // A4, A5
        (Unit::M, word(8, 8, 5, 10) | 2 << 34, "adds r8=5,r10", Class::Simple, 8, &[], &[10], &[8]),
        (Unit::M, word(9, 8, 5, 3) | 3 << 22, "addl r8=196613,r3", Class::Simple, 8, &[], &[3], &[8]),
        (Unit::M, word(9, 8, 5, 0), "mov r8=5", Class::Simple, 8, &[], &[], &[8]),
        // A9: elements of two bytes.
        (Unit::I, word(8, 8, 9, 10) | 1 << 34 | 1 << 33, "padd2 r8=r9,r10", Class::Vector, 8, &[], &[9, 10], &[8]),
        // X2
        (Unit::X, word(6, 8, 0, 0), "movl r8=0", Class::Simple, 8, &[], &[], &[8]),
    ]);
    assert!(operands(&step(Unit::I, word(8, 8, 9, 10) | 1 << 34)).packed);
    assert!(!operands(&step(Unit::I, word(8, 8, 9, 10))).packed);
}

#[test]
fn compares_and_tests_write_two_predicates() {
    check(&[
        // A6
        (Unit::M, word(0xC, 0, 9, 10) | both(6, 7), "cmp.lt p6,p7=r9,r10", Class::Simple, 8, &[], &[9, 10], &[p(6), p(7)]),
        (Unit::I, word(0xE, 0, 9, 10) | both(6, 0), "cmp.eq p6,p0=r9,r10", Class::Simple, 8, &[], &[9, 10], &[p(6)]),
        (
            Unit::I,
            word(0xC, 0, 9, 10) | both(6, 7) | 1 << 34 | 1 << 33,
            "cmp4.eq.and p6,p7=r9,r10",
            Class::Simple,
            4,
            &[],
            &[9, 10],
            &[p(6), p(7)],
        ),
        // A7: the other operand is r0.
        (Unit::I, word(0xD, 0, 0, 10) | both(6, 7) | 1 << 36, "cmp.gt.or p6,p7=r0,r10", Class::Simple, 8, &[], &[10], &[p(6), p(7)]),
        // A8
        (
            Unit::I,
            word(0xE, 0, 9, 10) | both(6, 7) | 2 << 34 | 1 << 36,
            "cmp.eq p6,p7=-119,r10",
            Class::Simple,
            8,
            &[],
            &[10],
            &[p(6), p(7)],
        ),
        // I16, I17, I30
        (Unit::I, word(5, 0, 4, 10) | both(6, 7), "tbit.z p6,p7=r10,2", Class::Simple, 8, &[], &[10], &[p(6), p(7)]),
        (Unit::I, word(5, 0, 1, 10) | both(6, 7), "tnat.z p6,p7=r10", Class::Simple, 8, &[], &[10], &[p(6), p(7)]),
        (Unit::I, word(5, 0, 1 | 1 << 6, 0) | both(6, 7), "tf.z p6,p7=32", Class::Simple, 8, &[], &[], &[p(6), p(7)]),
    ]);
}

#[test]
fn shifts_and_fields_have_their_sources() {
    check(&[
        // I5, I7: both bits of the size.
        (Unit::I, word(7, 8, 9, 10) | 1 << 36 | 1 << 33 | 2 << 28, "shr r8=r10,r9", Class::Shift, 8, &[], &[9, 10], &[8]),
        (Unit::I, word(7, 8, 9, 10) | 1 << 36 | 1 << 33 | 1 << 30, "shl r8=r9,r10", Class::Shift, 8, &[], &[9, 10], &[8]),
        // I10 to I15
        (Unit::I, word(5, 8, 9, 10) | 3 << 34 | x6(4), "shrp r8=r9,r10,4", Class::DoubleShift, 8, &[], &[9, 10], &[8]),
        (Unit::I, word(5, 8, 8, 10) | 1 << 34 | x6(7), "extr.u r8=r10,4,8", Class::Shift, 8, &[], &[10], &[8]),
        (Unit::I, word(5, 8, 9, 59) | 1 << 34 | 1 << 33 | x6(7), "dep.z r8=r9,4,8", Class::Shift, 8, &[], &[9], &[8]),
        (Unit::I, word(5, 8, 9, 59 | 1 << 6) | 1 << 34 | 1 << 33 | x6(7), "dep.z r8=9,4,8", Class::Shift, 8, &[], &[], &[8]),
        (Unit::I, word(5, 8, 59 << 1, 10) | 3 << 34 | 1 << 33 | x6(7), "dep r8=0,r10,4,8", Class::Shift, 8, &[], &[10], &[8]),
        (Unit::I, word(4, 8, 9, 10) | 59 << 31 | 7 << 27, "dep r8=r9,r10,4,8", Class::Shift, 8, &[], &[9, 10], &[8]),
        // I9, I29
        (Unit::I, word(7, 8, 0, 10) | 1 << 33 | 1 << 34 | 1 << 28 | 2 << 30, "popcnt r8=r10", Class::PopulationCount, 8, &[], &[10], &[8]),
        (Unit::I, word(0, 8, 0, 10) | x6(0x10), "zxt1 r8=r10", Class::Extend, 1, &[], &[10], &[8]),
        (Unit::I, word(0, 8, 0, 10) | x6(0x15), "sxt2 r8=r10", Class::Extend, 2, &[], &[10], &[8]),
        (Unit::I, word(0, 8, 0, 10) | x6(0x16), "sxt4 r8=r10", Class::Extend, 4, &[], &[10], &[8]),
        (Unit::I, word(0, 8, 0, 10) | x6(0x18), "czx1.l r8=r10", Class::Vector, 8, &[], &[10], &[8]),
    ]);
}

#[test]
fn parallel_integers_are_told_apart() {
    let two = 1 << 33;
    check(&[
        // I1, I2
        (Unit::I, word(7, 8, 9, 10) | two | 3 << 28, "pmpyshr2 r8=r9,r10,0", Class::VectorMultiply, 8, &[], &[9, 10], &[8]),
        (
            Unit::I,
            word(7, 8, 9, 10) | two | 2 << 34 | 3 << 30 | 1 << 28,
            "pmpy2.r r8=r9,r10",
            Class::VectorMultiply,
            8,
            &[],
            &[9, 10],
            &[8],
        ),
        (Unit::I, word(7, 8, 9, 10) | two | 2 << 34 | 2 << 30, "mix2.r r8=r9,r10", Class::VectorPermute, 8, &[], &[9, 10], &[8]),
        (Unit::I, word(7, 8, 9, 10) | two | 2 << 34 | 1 << 30 | 3 << 28, "pmax2 r8=r9,r10", Class::Vector, 8, &[], &[9, 10], &[8]),
        // I3: the place of r3 has the order.
        (Unit::I, word(7, 8, 9, 11) | 3 << 34 | 2 << 30 | 2 << 28, "mux1 r8=r9,@rev", Class::VectorPermute, 8, &[], &[9], &[8]),
        // I5, I6, I8: by a register, and by a number in the place of the other source.
        (Unit::I, word(7, 8, 9, 10) | two | 2 << 28, "pshr2 r8=r10,r9", Class::Vector, 8, &[], &[9, 10], &[8]),
        (Unit::I, word(7, 8, 4, 10) | two | 1 << 34 | 3 << 28, "pshr2 r8=r10,2", Class::Vector, 8, &[], &[10], &[8]),
        (Unit::I, word(7, 8, 9, 29) | two | 3 << 34 | 1 << 30 | 1 << 28, "pshl2 r8=r9,2", Class::Vector, 8, &[], &[9], &[8]),
    ]);
}

#[test]
fn moves_of_branch_registers_and_predicates_name_them() {
    check(&[
        // I21, I22
        (Unit::I, word(0, 6, 9, 0) | x3(7), "mov b6=r9", Class::Simple, 8, &[], &[9], &[b(6)]),
        (Unit::I, word(0, 8, 6, 0) | x6(0x31), "mov r8=b6", Class::Simple, 8, &[], &[b(6)], &[8]),
        // I23: the mask has p1 to p7 in bits 12:6 and p8 to p15 in bits 31:24.
        (Unit::I, word(0, 0b10, 9, 0) | x3(3) | 1 << 24, "mov pr=r9,0x104", Class::Simple, 8, &[], &[9], &[p(2), p(8)]),
        // I25
        (Unit::I, word(0, 8, 0, 0) | x6(0x30), "mov r8=ip", Class::Simple, 8, &[], &[], &[8]),
    ]);
    // I24, and I23 with the bit of all rotating predicates.
    let rotating: Vec<u16> = (16..64).map(p).collect();
    let moved = operands(&step(Unit::I, word(0, 0, 0, 0) | x3(2)));
    assert_eq!(lists(&moved), [vec![], vec![], rotating.clone()]);
    let moved = operands(&step(Unit::I, word(0, 0, 9, 0) | x3(3) | 1 << 36));
    assert_eq!(sorted(moved.writes()), rotating);
    // I25
    let all: Vec<u16> = (1..64).map(p).collect();
    let moved = operands(&step(Unit::I, word(0, 8, 0, 0) | x6(0x33)));
    assert_eq!(lists(&moved), [vec![], all.clone(), vec![8]]);
}

#[test]
fn the_longest_lists_have_room() {
    // (p6) mov pr=r9,-1: the whole mask.
    let moved = operands(&step(Unit::I, word(0, 0x7F, 9, 0) | x3(3) | 1 << 36 | 0xFF << 24 | 6));
    assert_eq!(moved.reads().len() + moved.writes().len(), MOST);
    // (p6) mov r8=pr
    let moved = operands(&step(Unit::I, word(0, 8, 0, 0) | x6(0x33) | 6));
    assert_eq!((moved.reads().len(), moved.writes().len()), (63, 1));
}

#[test]
fn loads_and_stores_have_their_base_as_address() {
    check(&[
        // M1, M2, M3
        (Unit::M, word(4, 8, 0, 10) | m(0x03), "ld8 r8=[r10]", Class::Load, 8, &[10], &[], &[8]),
        (Unit::M, word(4, 8, 9, 10) | m(0x02) | 1 << 36, "ld4 r8=[r10],r9", Class::Load, 4, &[10], &[9], &[8, 10]),
        (Unit::M, word(5, 8, 9, 10) | m(0x01) | 1 << 36, "ld2 r8=[r10],-247", Class::Load, 2, &[10], &[], &[8, 10]),
        (Unit::M, word(4, 8, 0, 10) | m(0x1B), "ld8.fill r8=[r10]", Class::Load, 8, &[10], &[UNAT], &[8]),
        (Unit::M, word(4, 8, 0, 10) | m(0x0C), "ld1.sa r8=[r10]", Class::Load, 1, &[10], &[], &[8]),
        // M4, M5: the place of r1 has seven bits of the number.
        (Unit::M, word(4, 0, 9, 10) | m(0x32), "st4 [r10]=r9", Class::Store, 4, &[10], &[9], &[]),
        (Unit::M, word(5, 8, 9, 10) | m(0x33), "st8 [r10]=r9,8", Class::Store, 8, &[10], &[9], &[10]),
        (Unit::M, word(4, 0, 9, 10) | m(0x3B), "st8.spill [r10]=r9", Class::Store, 8, &[10], &[9], &[UNAT]),
        (Unit::M, word(4, 0, 0, 10) | m(0x33), "st8 [r10]=r0", Class::Store, 8, &[10], &[], &[]),
        // M1 and M4 of sixteen bytes
        (Unit::M, word(4, 8, 0, 10) | m(0x28) | 1 << 27, "ld16 r8,ar.csd=[r10]", Class::Load, 16, &[10], &[], &[8, CSD]),
        (Unit::M, word(4, 0, 9, 10) | m(0x30) | 1 << 27, "st16 [r10]=r9,ar.csd", Class::Store, 16, &[10], &[9, CSD], &[]),
        // M13, M14, M15
        (Unit::M, word(6, 0, 0, 10) | m(0x2C), "lfetch [r10]", Class::Load, 0, &[10], &[], &[]),
        (Unit::M, word(6, 0, 9, 10) | m(0x2E) | 1 << 36, "lfetch.fault [r10],r9", Class::Load, 0, &[10], &[9], &[10]),
        (Unit::M, word(7, 0, 8, 10) | m(0x2D), "lfetch.excl [r10],8", Class::Load, 0, &[10], &[], &[10]),
    ]);
}

#[test]
fn semaphores_read_what_they_compare_with() {
    let x = 1 << 27;
    check(&[
        // M16, M17
        (Unit::M, word(4, 8, 9, 10) | m(0x02) | x, "cmpxchg4.acq r8=[r10],r9,ar.ccv", Class::CompareExchange, 4, &[10], &[9, CCV], &[8]),
        (
            Unit::M,
            word(4, 8, 9, 10) | m(0x20) | x,
            "cmp8xchg16.acq r8=[r10],r9,ar.csd,ar.ccv",
            Class::CompareExchange,
            16,
            &[10],
            &[9, CSD, CCV],
            &[8],
        ),
        (Unit::M, word(4, 8, 9, 10) | m(0x0B) | x, "xchg8 r8=[r10],r9", Class::Exchange, 8, &[10], &[9], &[8]),
        (Unit::M, word(4, 8, 3, 10) | m(0x12) | x, "fetchadd4.acq r8=[r10],1", Class::Exchange, 4, &[10], &[], &[8]),
    ]);
}

#[test]
fn floating_point_registers_are_loaded_stored_and_moved() {
    let x = 1 << 27;
    check(&[
        // M6, M7, M8
        (Unit::M, word(6, 8, 0, 10) | m(0x02), "ldfs f8=[r10]", Class::Load, 4, &[10], &[], &[f(8)]),
        (Unit::M, word(6, 8, 9, 10) | m(0x00) | 1 << 36, "ldfe f8=[r10],r9", Class::Load, 10, &[10], &[9], &[10, f(8)]),
        (Unit::M, word(7, 8, 9, 10) | m(0x03), "ldfd f8=[r10],9", Class::Load, 8, &[10], &[], &[10, f(8)]),
        (Unit::M, word(6, 8, 0, 10) | m(0x1B), "ldf.fill f8=[r10]", Class::Load, 16, &[10], &[], &[f(8)]),
        // M9, M10
        (Unit::M, word(6, 0, 9, 10) | m(0x31), "stf8 [r10]=f9", Class::Store, 8, &[10], &[f(9)], &[]),
        (Unit::M, word(7, 8, 9, 10) | m(0x3B), "stf.spill [r10]=f9,8", Class::Store, 16, &[10], &[f(9)], &[10]),
        (Unit::M, word(6, 0, 1, 10) | m(0x33), "stfd [r10]=f1", Class::Store, 8, &[10], &[], &[]),
        // M11, M12
        (Unit::M, word(6, 8, 9, 10) | m(0x02) | x, "ldfps f8,f9=[r10]", Class::Load, 8, &[10], &[], &[f(8), f(9)]),
        (Unit::M, word(6, 8, 9, 10) | m(0x03) | x | 1 << 36, "ldfpd f8,f9=[r10],16", Class::Load, 16, &[10], &[], &[10, f(8), f(9)]),
        // M18, M19
        (Unit::M, word(6, 8, 9, 0) | m(0x1C) | x, "setf.sig f8=r9", Class::ToVector, 8, &[], &[9], &[f(8)]),
        (Unit::M, word(4, 8, 9, 0) | m(0x1E) | x, "getf.s r8=f9", Class::FromVector, 4, &[], &[f(9)], &[8]),
    ]);
}

#[test]
fn floating_point_arithmetic_reads_its_status_and_not_its_constants() {
    let f4 = |number: u64| number << 27;
    check(&[
        // F1: f1 = f3 times f4 plus f2.
        (Unit::F, word(8, 6, 7, 8) | f4(9), "fma f6=f8,f9,f7", Class::FloatMultiplyAdd, 10, &[], &[f(7), f(8), f(9), FPSR], &[f(6)]),
        (Unit::F, word(8, 6, 7, 8) | f4(1) | 1 << 36, "fadd.s f6=f8,f7", Class::FloatAdd, 4, &[], &[f(7), f(8), FPSR], &[f(6)]),
        (Unit::F, word(9, 6, 0, 8) | f4(9), "fmpy.d f6=f8,f9", Class::FloatMultiply, 8, &[], &[f(8), f(9), FPSR], &[f(6)]),
        (Unit::F, word(8, 6, 0, 8) | f4(1), "fnorm f6=f8", Class::FloatConvert, 10, &[], &[f(8), FPSR], &[f(6)]),
        (
            Unit::F,
            word(0xD, 6, 7, 8) | f4(9) | 1 << 36,
            "fpnma f6=f8,f9,f7",
            Class::FloatMultiplyAdd,
            8,
            &[],
            &[f(7), f(8), f(9), FPSR],
            &[f(6)],
        ),
        // F2, F3
        (Unit::F, word(0xE, 6, 7, 8) | f4(9) | 1 << 36, "xma.l f6=f8,f9,f7", Class::Multiply, 8, &[], &[f(7), f(8), f(9)], &[f(6)]),
        (Unit::F, word(0xE, 6, 7, 8) | f4(9), "fselect f6=f8,f9,f7", Class::FloatMove, 8, &[], &[f(7), f(8), f(9)], &[f(6)]),
        // F4, F5
        (Unit::F, word(4, 0, 8, 9) | both(6, 7), "fcmp.eq p6,p7=f8,f9", Class::FloatCompare, 10, &[], &[f(8), f(9), FPSR], &[p(6), p(7)]),
        (Unit::F, word(5, 0, 8, 0x7F) | both(6, 7), "fclass.m p6,p7=f8,0x1fc", Class::FloatCompare, 10, &[], &[f(8)], &[p(6), p(7)]),
        // F6, F7
        (
            Unit::F,
            word(0, 6, 8, 9) | 1 << 33 | x6(7),
            "frcpa f6,p7=f8,f9",
            Class::FloatEstimate,
            10,
            &[],
            &[f(8), f(9), FPSR],
            &[f(6), p(7)],
        ),
        (
            Unit::F,
            word(0, 6, 0, 9) | 1 << 33 | 1 << 36 | x6(7),
            "frsqrta f6,p7=f9",
            Class::FloatEstimate,
            10,
            &[],
            &[f(9), FPSR],
            &[f(6), p(7)],
        ),
        // F8 to F11
        (Unit::F, word(0, 6, 8, 9) | x6(0x15), "fmax f6=f8,f9", Class::FloatMove, 10, &[], &[f(8), f(9), FPSR], &[f(6)]),
        (Unit::F, word(0, 6, 8, 9) | x6(0x10), "fmerge.s f6=f8,f9", Class::FloatMove, 10, &[], &[f(8), f(9)], &[f(6)]),
        (Unit::F, word(0, 6, 8, 9) | x6(0x2F), "fxor f6=f8,f9", Class::Vector, 8, &[], &[f(8), f(9)], &[f(6)]),
        (Unit::F, word(0, 6, 8, 0) | x6(0x1A), "fcvt.fx.trunc f6=f8", Class::FloatConvert, 8, &[], &[f(8), FPSR], &[f(6)]),
        (Unit::F, word(0, 6, 8, 0) | x6(0x1C), "fcvt.xf f6=f8", Class::FloatConvert, 8, &[], &[f(8)], &[f(6)]),
        (Unit::F, word(1, 6, 8, 9) | x6(0x31), "fpcmp.lt f6=f8,f9", Class::FloatCompare, 8, &[], &[f(8), f(9), FPSR], &[f(6)]),
        // F12, F13, F14
        (Unit::F, word(0, 0, 0, 0x40) | x6(4), "fsetc 0,0x40", Class::System, 0, &[], &[FPSR], &[FPSR]),
        (Unit::F, word(0, 0, 0, 0) | x6(5), "fclrf", Class::System, 0, &[], &[FPSR], &[FPSR]),
        (Unit::F, word(0, 0, 0, 0) | x6(8), "fchkf .", Class::Simple, 0, &[], &[FPSR], &[]),
    ]);
}

#[test]
fn branches_read_what_they_depend_on() {
    let indirect = x6(0x20);
    check(&[
        // B1 to B5; btype is in the place of r1.
        (Unit::B, word(4, 0, 2, 0) | 6, "(p6) br.cond .+32", Class::Branch, 0, &[], &[p(6)], &[]),
        (Unit::B, word(4, 5, 2, 0), "br.cloop .+32", Class::Branch, 0, &[], &[LC], &[LC]),
        (Unit::B, word(4, 7, 2, 0), "br.ctop .+32", Class::Branch, 0, &[], &[LC, EC], &[p(63), LC, EC]),
        (Unit::B, word(4, 2, 2, 0) | 6, "(p6) br.wexit .+32", Class::Branch, 0, &[], &[p(6), EC], &[p(63), EC]),
        (Unit::B, word(5, 3, 2, 0), "br.call b3=.+32", Class::Call, 0, &[], &[BSP, EC], &[b(3), BSP, PFS]),
        (Unit::B, word(0, 0, 6, 0) | indirect, "br.cond b6", Class::Branch, 0, &[], &[b(6)], &[]),
        (Unit::B, word(0, 4, 0, 0) | x6(0x21), "br.ret b0", Class::Return, 0, &[], &[b(0), BSP, PFS], &[BSP, EC]),
        (Unit::B, word(1, 3, 6, 0), "br.call b3=b6", Class::Call, 0, &[], &[b(6), BSP, EC], &[b(3), BSP, PFS]),
        // X3, X4
        (Unit::X, word(0xC, 0, 2, 0) | 6, "(p6) brl.cond .+32", Class::Branch, 0, &[], &[p(6)], &[]),
        (Unit::X, word(0xD, 3, 2, 0), "brl.call b3=.+32", Class::Call, 0, &[], &[BSP, EC], &[b(3), BSP, PFS]),
        // B8
        (Unit::B, word(0, 0, 0, 0) | x6(0x02), "cover", Class::System, 0, &[], &[BSP], &[BSP]),
        (Unit::B, word(0, 0, 0, 0) | x6(0x04), "clrrrb", Class::System, 0, &[], &[], &[]),
        (Unit::B, word(0, 0, 0, 0) | x6(0x08), "rfi", Class::System, 0, &[], &[BSP, cr(16), cr(19), cr(23)], &[BSP, STATUS]),
        (Unit::B, word(0, 0, 0, 0) | x6(0x10), "epc", Class::System, 0, &[], &[PFS], &[]),
    ]);
    // While interruptions are not collected, the frame goes to IFS.
    let cover = Step { psr: psr::BN, ..step(Unit::B, x6(0x02)) };
    assert_eq!(lists(&operands(&cover)), [vec![], vec![BSP], vec![BSP, cr(23)]]);
}

#[test]
fn no_operations_read_their_predicate() {
    check(&[
        (Unit::M, x6(1) | 6, "(p6) nop.m 0", Class::Nop, 0, &[], &[p(6)], &[]),
        (Unit::I, x6(1) | 1 << 26, "hint.i 0", Class::Nop, 0, &[], &[], &[]),
        (Unit::F, x6(1) | 6, "(p6) nop.f 0", Class::Nop, 0, &[], &[p(6)], &[]),
        (Unit::B, 2 << 37 | 6, "(p6) nop.b 0", Class::Nop, 0, &[], &[p(6)], &[]),
        (Unit::X, x6(1) | 6, "(p6) nop.x 0", Class::Nop, 0, &[], &[p(6)], &[]),
        // B6 and B7 have no predicate.
        (Unit::B, word(7, 1, 2, 0), "brp .+32,.+16", Class::Nop, 0, &[], &[], &[]),
        (Unit::B, word(2, 1, 6, 0) | x6(0x10), "brp b6,.+16", Class::Nop, 0, &[], &[], &[]),
    ]);
}

#[test]
fn application_and_control_registers_have_numbers() {
    let (to, from) = (x6(0x2A), x6(0x32));
    check(&[
        // I26, I27, I28
        (Unit::I, word(0, 0, 9, 65) | to, "mov ar.lc=r9", Class::System, 8, &[], &[9], &[LC]),
        (Unit::I, word(0, 0, 9, 66) | x6(0x0A), "mov ar.ec=9", Class::System, 8, &[], &[], &[EC]),
        (Unit::I, word(0, 8, 0, 64) | from, "mov r8=ar.pfs", Class::System, 8, &[], &[PFS], &[8]),
        // An ignored register always reads 0.
        (Unit::I, word(0, 8, 0, 112) | from, "mov r8=ar112", Class::System, 8, &[], &[], &[8]),
        // M29, M30, M31
        (Unit::M, word(1, 0, 9, 32) | to, "mov ar.ccv=r9", Class::System, 8, &[], &[9], &[CCV]),
        (Unit::M, word(0, 0, 9, 16) | x6(0x28), "mov ar.rsc=9", Class::System, 8, &[], &[], &[RSC]),
        (Unit::M, word(1, 0, 9, 18) | to, "mov ar.bspstore=r9", Class::System, 8, &[], &[9, RSC], &[BSP, BSPSTORE, RNAT]),
        (Unit::M, word(1, 8, 0, 19) | x6(0x22), "mov r8=ar.rnat", Class::System, 8, &[], &[RSC, RNAT], &[8]),
        // M32, M33
        (Unit::M, word(1, 0, 9, 20) | x6(0x2C), "mov cr.ifa=r9", Class::System, 8, &[], &[9], &[cr(20)]),
        (Unit::M, word(1, 8, 0, 81) | x6(0x24), "mov r8=cr.lrr1", Class::System, 8, &[], &[cr(81)], &[8]),
        // M35, M36, M44
        (Unit::M, word(1, 0, 9, 0) | x6(0x2D), "mov psr.l=r9", Class::System, 8, &[], &[9, STATUS], &[STATUS]),
        (Unit::M, word(1, 8, 0, 0) | x6(0x25), "mov r8=psr", Class::System, 8, &[], &[STATUS], &[8]),
        (Unit::M, word(0, 4, 0, 0) | x6(6), "ssm 4", Class::System, 0, &[], &[STATUS], &[STATUS]),
    ]);
}

#[test]
fn the_register_stack_and_the_system_are_told() {
    check(&[
        // M34: sof and sol in the places of r2 and r3.
        (Unit::M, word(1, 8, 5, 3) | x3(6), "alloc r8=0,3,2,0", Class::System, 8, &[], &[RSC, BSPSTORE, RNAT, PFS], &[8]),
        // M25
        (Unit::M, x6(0x0C), "flushrs", Class::System, 0, &[], &[RSC, BSP, BSPSTORE, RNAT], &[BSPSTORE, RNAT]),
        (Unit::M, x6(0x0A), "loadrs", Class::System, 0, &[], &[RSC, BSP, RNAT], &[BSPSTORE, RNAT]),
        // M24: x2 in bits 32:31, x4 in bits 30:27.
        (Unit::M, 2 << 31 | 2 << 27, "mf", Class::Fence, 0, &[], &[], &[]),
        (Unit::M, 3 << 31 | 1 << 27, "srlz.i", Class::Serializing, 0, &[], &[], &[]),
        (Unit::M, 1 << 31, "invala", Class::System, 0, &[], &[], &[]),
        // M20 to M22, I20: chk.a asks for the name of its register, not for its value.
        (Unit::M, word(1, 0, 9, 0) | x3(1), "chk.s.m r9,.", Class::Simple, 0, &[], &[9], &[]),
        (Unit::M, word(1, 0, 9, 0) | x3(3), "chk.s f9,.", Class::Simple, 0, &[], &[f(9)], &[]),
        (Unit::I, word(0, 0, 9, 0) | x3(1), "chk.s.i r9,.", Class::Simple, 0, &[], &[9], &[]),
        (Unit::M, word(0, 8, 0, 0) | x3(4), "chk.a.nc r8,.", Class::Simple, 0, &[], &[], &[]),
        // M28, M38 to M43, M45 to M47
        (Unit::M, word(1, 0, 0, 10) | x6(0x30), "fc r10", Class::System, 0, &[10], &[], &[]),
        (Unit::M, word(1, 8, 9, 10) | x6(0x38), "probe.r r8=r10,r9", Class::System, 8, &[10], &[9], &[8]),
        (Unit::M, word(1, 8, 3, 10) | x6(0x19), "probe.w r8=r10,3", Class::System, 8, &[10], &[], &[8]),
        (Unit::M, word(1, 0, 3, 10) | x6(0x32), "probe.r.fault r10,3", Class::System, 8, &[10], &[], &[]),
        (Unit::M, word(1, 0, 9, 0) | x6(0x2E), "itc.d r9", Class::System, 8, &[], &[9, cr(20), cr(21)], &[]),
        (Unit::M, word(1, 0, 9, 10) | x6(0x04), "mov pmc[r10]=r9", Class::System, 8, &[], &[9, 10], &[]),
        (Unit::M, word(1, 8, 0, 10) | x6(0x15), "mov r8=pmd[r10]", Class::System, 8, &[], &[10], &[8]),
        (Unit::M, word(1, 0, 9, 10) | x6(0x0A), "ptc.g r10,r9", Class::System, 8, &[], &[9, 10], &[]),
        (Unit::M, word(1, 8, 0, 10) | x6(0x1E), "tpa r8=r10", Class::System, 8, &[10], &[], &[8]),
    ]);
    let mut alloc = step(Unit::M, word(1, 8, 5, 3) | x3(6));
    alloc.register_stack.push(access(AccessKind::RegisterStackStore));
    assert_eq!(sorted(operands(&alloc).writes()), [8, BSPSTORE, RNAT]);
}

fn access(kind: AccessKind) -> Access {
    Access {
        kind,
        address: 0,
        physical: 0,
        size: 8,
        floating: false,
        misaligned: false,
        uncacheable: false,
        speculative: false,
        advanced: false,
    }
}

#[test]
fn a_check_load_that_holds_keeps_its_target() {
    // M3: ld8.c.clr r8=[r10],9, and M11: ldfpd.c.nc f8,f9=[r10].
    let found = |encoding: u64, kind: AccessKind| operands(&Step { access: Some(access(kind)), ..step(Unit::M, encoding) });
    let general = word(5, 8, 9, 10) | m(0x23);
    assert_eq!(lists(&found(general, AccessKind::CheckHit)), [vec![10], vec![], vec![10]]);
    assert_eq!(lists(&found(general, AccessKind::Load)), [vec![10], vec![], vec![8, 10]]);
    let pair = word(6, 8, 9, 10) | m(0x27) | 1 << 27;
    assert_eq!(lists(&found(pair, AccessKind::CheckHit)), [vec![10], vec![], vec![]]);
}

#[test]
fn what_is_predicated_off_reads_its_predicate_alone() {
    let off = |unit: Unit, encoding: u64| operands(&Step { predicate: false, ..step(unit, encoding | 6) });
    for (unit, encoding, name, class) in [
        (Unit::M, word(8, 8, 9, 10), "add r8=r9,r10", Class::Simple),
        (Unit::M, word(5, 8, 9, 10) | m(0x03), "ld8 r8=[r10],9", Class::Load),
        (Unit::M, word(5, 8, 9, 10) | m(0x33), "st8 [r10]=r9,8", Class::Store),
        (Unit::M, word(0xC, 0, 9, 10) | both(7, 8), "cmp.lt p7,p8=r9,r10", Class::Simple),
        (Unit::F, word(8, 6, 7, 8) | 9 << 27, "fma f6=f8,f9,f7", Class::FloatMultiplyAdd),
        (Unit::B, word(1, 3, 6, 0), "br.call b3=b6", Class::Call),
        (Unit::B, word(0, 4, 0, 0) | x6(0x21), "br.ret b0", Class::Return),
        // Nothing waits for stores, and nothing starts anew.
        (Unit::M, 2 << 31 | 2 << 27, "mf", Class::System),
        (Unit::M, 3 << 31 | 1 << 27, "srlz.i", Class::System),
    ] {
        let found = off(unit, encoding);
        assert_eq!((lists(&found), found.class), ([vec![], vec![p(6)], vec![]], class), "{name}");
    }
}

#[test]
fn unconditional_compares_and_estimates_clear_predicates_when_they_are_predicated_off() {
    let off = |unit: Unit, encoding: u64| lists(&operands(&Step { predicate: false, ..step(unit, encoding | 6) }));
    let unc = 1 << 12;
    assert_eq!(off(Unit::I, word(0xE, 0, 9, 10) | both(7, 8) | unc), [vec![], vec![p(6)], vec![p(7), p(8)]]);
    assert_eq!(off(Unit::I, word(5, 0, 4, 10) | both(7, 8) | unc), [vec![], vec![p(6)], vec![p(7), p(8)]]);
    assert_eq!(off(Unit::F, word(4, 0, 8, 9) | both(7, 8) | unc), [vec![], vec![p(6)], vec![p(7), p(8)]]);
    assert_eq!(off(Unit::F, word(5, 0, 8, 0x7F) | both(7, 8) | unc), [vec![], vec![p(6)], vec![p(7), p(8)]]);
    assert_eq!(off(Unit::F, word(0, 6, 8, 9) | 1 << 33 | x6(7)), [vec![], vec![p(6)], vec![p(7)]]);
    // With and, c is a part of the relation.
    assert_eq!(off(Unit::I, word(0xC, 0, 9, 10) | both(7, 8) | 1 << 33 | unc), [vec![], vec![p(6)], vec![]]);
}

#[test]
fn the_predicate_of_a_loop_in_stages_is_no_qualification() {
    let wtop = Step { predicate: false, ..step(Unit::B, word(4, 3, 2, 0) | 6) };
    assert_eq!(lists(&operands(&wtop)), [vec![], vec![p(6), EC], vec![p(63), EC]]);
}

#[test]
fn registers_are_where_the_frame_and_rotation_put_them() {
    // sof 20, sol 16, 16 rotating registers, rrb.gr 14, rrb.fr 95, rrb.pr 40; r32 in physical register 90 before rotation.
    let frame = Frame { marker: 20 | 16 << 7 | 2 << 14 | 14 << 18 | 95 << 25 | 40 << 32, bottom: 90 };
    let found = |unit: Unit, encoding: u64| lists(&operands(&Step { frame, ..step(unit, encoding) }));
    // r33 is 1 + 14 = 15 from the bottom: 90 + 15 - 96 = 9. r34 is 2 + 14 - 16 = 0: 90. r48 does not rotate: 90 + 16 - 96 = 10.
    assert_eq!(found(Unit::I, word(8, 33, 34, 48)), [vec![], vec![32 + 10, 32 + 90], vec![32 + 9]]);
    // The frame ends with r51: what is beyond has no contents.
    assert_eq!(found(Unit::I, word(8, 33, 52, 51)), [vec![], vec![32 + 13], vec![32 + 9]]);
    // f32 is 0 + 95: f127; f33 is 1 + 95 - 96: f32. f31 does not rotate.
    assert_eq!(found(Unit::F, word(0xE, 31, 32, 33) | 34 << 27), [vec![], vec![f(32), f(33), f(127)], vec![f(31)]]);
    // p16 is 0 + 40: p56; p24 is 8 + 40 - 48: p16. p15 does not rotate.
    assert_eq!(found(Unit::I, word(0xC, 0, 9, 10) | both(24, 15) | 16), [vec![], vec![9, 10, p(56)], vec![p(15), p(16)]]);
    // p63 of the loop is 47 + 40 - 48: p55.
    assert_eq!(found(Unit::B, word(4, 7, 2, 0))[2], [p(55), LC, EC]);
    // Moves of all predicates do not see rotation.
    assert_eq!(found(Unit::I, word(0, 0, 9, 0) | x3(3) | 1 << 31)[2], [p(15)]);
}

#[test]
fn banks_of_registers_are_apart() {
    let found = |psr: u64| lists(&operands(&Step { psr, ..step(Unit::I, word(8, 16, 15, 31)) }));
    assert_eq!(found(psr::BN), [vec![], vec![15, 31], vec![16]]);
    assert_eq!(found(0), [vec![], vec![15, BANK_0 + 15], vec![BANK_0]]);
}

/// Words whose opcodes are as likely as the rest.
fn any_step() -> impl Strategy<Value = Step> {
    let units = prop::sample::select(vec![Unit::M, Unit::I, Unit::F, Unit::B, Unit::X]);
    (units, 0..1u64 << 41, any::<(bool, bool, u64)>(), 0..1u64 << 38, 0..96u8).prop_map(|(unit, encoding, state, marker, bottom)| {
        let (predicate, bank, sparse) = state;
        let encoding = if sparse & 1 == 0 { encoding & !(0x1FF << 28) } else { encoding };
        Step { unit, encoding, predicate, psr: if bank { psr::BN } else { 0 }, frame: Frame { marker, bottom }, ..Step::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn every_encoding_in_every_frame_names_registers_that_hold_something(step in any_step()) {
        let found = operands(&step);
        for register in [found.addresses(), found.reads(), found.writes()].concat() {
            prop_assert!(usize::from(register.0) < Register::COUNT && register.0 <= STATUS, "{register:?} of {step:?}");
            prop_assert!(![0, f(0), f(1), p(0)].contains(&register.0), "{register:?} of {step:?}");
        }
    }
}
