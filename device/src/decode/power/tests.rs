//! Words by hand: forms and opcodes are those of the Power ISA 3.0B, Books I to III.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use vm_pmu_arch::feed::{BranchKind, Signal};

use super::register::{CARRY, CONDITION, COUNT, FLOATING_STATUS, LINK, VECTORS};
use super::{Category, Instruction, decode};
use crate::companion::AccessKind::{Flush, Load, PrefetchLoad, PrefetchOnce, PrefetchStore, Store};
use crate::companion::{AccessKind, Class, Register};
use crate::decode::Undecoded;

const CR0: u16 = CONDITION;
const CR1: u16 = CONDITION + 1;
const CR6: u16 = CONDITION + 6;
const FPSCR: u16 = FLOATING_STATUS;

/// FPR or VSR `number`.
const fn f(number: u16) -> u16 {
    VECTORS + number
}

/// VR `number`.
const fn v(number: u16) -> u16 {
    VECTORS + 32 + number
}

/// A word of primary opcode `primary`, the fields RT, RA and RB, and what is behind them.
const fn word(primary: u32, t: u32, a: u32, b: u32, rest: u32) -> u32 {
    primary << 26 | t << 21 | a << 16 | b << 11 | rest
}

/// One of primary opcode 31 with extended opcode `extended`.
const fn x(extended: u32, t: u32, a: u32, b: u32) -> u32 {
    word(31, t, a, b, extended << 1)
}

/// One of primary opcode 60 with two sources and eight bits of extended opcode.
const fn xx3(extended: u32, t: u32, a: u32, b: u32) -> u32 {
    word(60, t, a, b, extended << 3)
}

/// One of primary opcode 60 with one source and nine bits of extended opcode.
const fn xx2(extended: u32, t: u32, b: u32) -> u32 {
    word(60, t, 0, b, extended << 2)
}

/// An instruction: its word, its text, its class and width, the registers of its address, the others that it reads, what it writes, and its accesses.
type Row<'a> = (u32, &'a str, Class, u8, &'a [u16], &'a [u16], &'a [u16], &'a [(AccessKind, u16)]);

fn of(word: u32) -> Instruction {
    decode(word, 0x1000).unwrap_or_else(|why| panic!("{word:#x}: {why}"))
}

fn sorted(registers: &[Register]) -> Vec<u16> {
    let mut numbers: Vec<u16> = registers.iter().map(|register| register.0).collect();
    numbers.sort_unstable();
    numbers
}

fn check(rows: &[Row<'_>]) {
    for (word, name, class, width, addresses, reads, writes, accesses) in rows {
        let description = of(*word).description;
        let operands = description.operands;
        assert_eq!((operands.class, operands.width), (*class, *width), "{name}");
        let lists = [operands.addresses(), operands.reads(), operands.writes()].map(sorted);
        assert_eq!(lists, [*addresses, *reads, *writes], "addresses, reads and writes of {name}");
        let made: Vec<_> = description.accesses().iter().map(|access| (access.kind, access.bytes)).collect();
        assert_eq!(made, *accesses, "accesses of {name}");
    }
}

#[test]
fn fixed_point_instructions_access_nothing() {
    check(&[
        (x(266, 3, 4, 5) | 1, "add. r3,r4,r5", Class::Simple, 8, &[], &[4, 5], &[3, CR0], &[]),
        (x(138, 3, 4, 5), "adde r3,r4,r5", Class::AddWithCarry, 8, &[], &[4, 5, CARRY], &[3, CARRY], &[]),
        (x(235, 3, 4, 5), "mullw r3,r4,r5", Class::Multiply, 4, &[], &[4, 5], &[3], &[]),
        (x(457, 3, 4, 5), "divdu r3,r4,r5", Class::Divide, 8, &[], &[4, 5], &[3], &[]),
        (word(21, 4, 3, 2, 31 << 1), "rlwinm r3,r4,2,0,31", Class::Shift, 4, &[], &[4], &[3], &[]),
        (x(26, 4, 3, 0), "cntlzw r3,r4", Class::BitScan, 4, &[], &[4], &[3], &[]),
        (x(506, 4, 3, 0), "popcntd r3,r4", Class::PopulationCount, 8, &[], &[4], &[3], &[]),
        (x(15, 3, 4, 5) | 2 << 6, "isel r3,r4,r5,eq", Class::ConditionalMove, 8, &[], &[4, 5, CR0], &[3], &[]),
        (0x6000_0000, "nop", Class::Nop, 0, &[], &[], &[], &[]),
        (x(339, 3, 8, 0), "mflr r3", Class::System, 8, &[], &[LINK], &[3], &[]),
    ]);
}

#[test]
fn loads_and_stores_have_the_accesses_of_their_names() {
    check(&[
        (word(58, 3, 4, 0, 8), "ld r3,8(r4)", Class::Load, 8, &[4], &[], &[3], &[(Load, 8)]),
        (word(42, 3, 4, 0, 2), "lha r3,2(r4)", Class::Extend, 2, &[4], &[], &[3], &[(Load, 2)]),
        (word(62, 3, 1, 0, 0xFFC1), "stdu r3,-64(r1)", Class::Store, 8, &[1], &[3], &[1], &[(Store, 8)]),
        (word(48, 1, 4, 0, 4), "lfs f1,4(r4)", Class::FloatConvert, 4, &[4], &[], &[f(1)], &[(Load, 4)]),
        (word(54, 1, 4, 0, 8), "stfd f1,8(r4)", Class::Store, 8, &[4], &[f(1)], &[], &[(Store, 8)]),
        (x(84, 3, 0, 5), "ldarx r3,0,r5", Class::Load, 8, &[5], &[], &[3], &[(Load, 8)]),
        (x(150, 3, 4, 5) | 1, "stwcx. r3,r4,r5", Class::CompareExchange, 4, &[4, 5], &[3], &[CR0], &[(Store, 4)]),
        (x(1014, 0, 4, 5), "dcbz r4,r5", Class::Store, 8, &[4, 5], &[], &[], &[(Store, 128)]),
        (word(56, 4, 6, 0, 16), "lq r4,16(r6)", Class::Load, 16, &[6], &[], &[4, 5], &[(Load, 16)]),
        (word(62, 4, 6, 0, 18), "stq r4,16(r6)", Class::Store, 16, &[6], &[4, 5], &[], &[(Store, 16)]),
        (word(46, 30, 4, 0, 0), "lmw r30,0(r4)", Class::Microcode, 4, &[4], &[], &[30, 31], &[(Load, 4), (Load, 4)]),
        (x(614, 4, 6, 0), "ldat r4,r6,0", Class::Exchange, 8, &[6], &[5], &[4], &[(Load, 8), (Store, 8)]),
    ]);
}

#[test]
fn blocks_are_named_by_touches_and_flushes() {
    check(&[
        (x(278, 0, 4, 5), "dcbt r4,r5", Class::Load, 0, &[4, 5], &[], &[], &[(PrefetchLoad, 1)]),
        (x(278, 16, 4, 5), "dcbtt r4,r5", Class::Load, 0, &[4, 5], &[], &[], &[(PrefetchOnce, 1)]),
        (x(246, 0, 4, 5), "dcbtst r4,r5", Class::Load, 0, &[4, 5], &[], &[], &[(PrefetchStore, 1)]),
        (x(86, 0, 4, 5), "dcbf r4,r5", Class::CacheBlock, 0, &[4, 5], &[], &[], &[(Flush, 1)]),
        // TH=01010 describes a stream: its address is none of a line.
        (x(278, 10, 4, 5), "dcbt r4,r5,10", Class::Load, 0, &[4, 5], &[], &[], &[]),
    ]);
}

#[test]
fn vector_registers_are_loaded_and_stored() {
    check(&[
        (x(844, 1, 4, 5) | 1, "lxvd2x vs33,r4,r5", Class::Load, 16, &[4, 5], &[], &[f(33)], &[(Load, 16)]),
        (x(103, 2, 0, 5), "lvx v2,0,r5", Class::Load, 16, &[5], &[], &[v(2)], &[(Load, 16)]),
        (x(231, 2, 4, 5), "stvx v2,r4,r5", Class::Store, 16, &[4, 5], &[v(2)], &[], &[(Store, 16)]),
        (x(7, 2, 4, 5), "lvebx v2,r4,r5", Class::Load, 1, &[4, 5], &[], &[v(2)], &[(Load, 1)]),
        (x(38, 2, 4, 5), "lvsr v2,r4,r5", Class::VectorPermute, 16, &[4, 5], &[], &[v(2)], &[]),
        (x(588, 1, 4, 5), "lxsdx vs1,r4,r5", Class::Load, 8, &[4, 5], &[], &[f(1)], &[(Load, 8)]),
        (x(396, 1, 4, 5) | 1, "stxvx vs33,r4,r5", Class::Store, 16, &[4, 5], &[f(33)], &[], &[(Store, 16)]),
        (word(61, 1, 4, 0, 16 | 1 << 3 | 1), "lxv vs33,16(r4)", Class::Load, 16, &[4], &[], &[f(33)], &[(Load, 16)]),
        (word(61, 1, 4, 0, 16 | 5), "stxv vs1,16(r4)", Class::Store, 16, &[4], &[f(1)], &[], &[(Store, 16)]),
        (word(57, 1, 4, 0, 8 | 2), "lxsd v1,8(r4)", Class::Load, 8, &[4], &[], &[v(1)], &[(Load, 8)]),
        (word(57, 4, 6, 0, 16), "lfdp f4,16(r6)", Class::Load, 16, &[6], &[], &[f(4), f(5)], &[(Load, 16)]),
    ]);
}

#[test]
fn vectors_are_computed_in_their_own_registers() {
    check(&[
        (word(4, 1, 2, 3, 128), "vadduwm v1,v2,v3", Class::Vector, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 137), "vmuluwm v1,v2,v3", Class::VectorMultiply, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 4 << 6 | 43), "vsldoi v1,v2,v3,4", Class::VectorPermute, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 1028), "vand v1,v2,v3", Class::Vector, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 1024 | 6), "vcmpequb. v1,v2,v3", Class::Vector, 16, &[], &[v(2), v(3)], &[v(1), CR6], &[]),
        (word(4, 1, 2, 3, 1288), "vcipher v1,v2,v3", Class::Crypto, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 1032), "vpmsumb v1,v2,v3", Class::Crypto, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 3, 2, 652), "vspltw v1,v2,3", Class::VectorPermute, 16, &[], &[v(2)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 10), "vaddfp v1,v2,v3", Class::FloatAdd, 16, &[], &[v(2), v(3)], &[v(1)], &[]),
        (word(4, 1, 2, 3, 4 << 6 | 46), "vmaddfp v1,v2,v4,v3", Class::FloatMultiplyAdd, 16, &[], &[v(2), v(3), v(4)], &[v(1)], &[]),
        (word(4, 3, 4, 2, 1549), "vextublx r3,r4,v2", Class::FromVector, 16, &[], &[4, v(2)], &[3], &[]),
        (word(4, 1, 2, 3, 1025), "bcdadd. v1,v2,v3,0", Class::Decimal, 16, &[], &[v(2), v(3)], &[v(1), CR6], &[]),
        (x(51, 1, 3, 0), "mfvsrd r3,vs1", Class::FromVector, 8, &[], &[f(1)], &[3], &[]),
        (x(179, 1, 3, 0) | 1, "mtvsrd vs33,r3", Class::ToVector, 8, &[], &[3], &[f(33)], &[]),
    ]);
}

#[test]
fn the_64_registers_have_scalars_and_vectors() {
    check(&[
        (xx3(32, 1, 2, 3), "xsadddp vs1,vs2,vs3", Class::FloatAdd, 8, &[], &[f(2), f(3)], &[f(1), FPSCR], &[]),
        (xx3(16, 1, 2, 3), "xsmulsp vs1,vs2,vs3", Class::FloatMultiply, 4, &[], &[f(2), f(3)], &[f(1), FPSCR], &[]),
        (xx3(33, 1, 2, 3), "xsmaddadp vs1,vs2,vs3", Class::FloatMultiplyAdd, 8, &[], &[f(1), f(2), f(3)], &[f(1), FPSCR], &[]),
        (xx3(112, 1, 2, 3), "xvmuldp vs1,vs2,vs3", Class::FloatMultiply, 16, &[], &[f(2), f(3)], &[f(1), FPSCR], &[]),
        // All three of the sixth bits: VSR 33, 34 and 35.
        (xx3(88, 1, 2, 3) | 7, "xvdivsp vs33,vs34,vs35", Class::FloatDivide, 16, &[], &[f(34), f(35)], &[f(33), FPSCR], &[]),
        (xx3(35, 1 << 2, 2, 3), "xscmpudp cr1,vs2,vs3", Class::FloatCompare, 8, &[], &[f(2), f(3)], &[CR1, FPSCR], &[]),
        (xx2(75, 1, 3), "xssqrtdp vs1,vs3", Class::FloatSquareRoot, 8, &[], &[f(3)], &[f(1), FPSCR], &[]),
        (xx2(344, 1, 3), "xscvdpsxds vs1,vs3", Class::FloatConvert, 8, &[], &[f(3)], &[f(1), FPSCR], &[]),
        (xx2(345, 1, 3), "xsabsdp vs1,vs3", Class::FloatMove, 8, &[], &[f(3)], &[f(1)], &[]),
        (xx2(90, 1, 3), "xsredp vs1,vs3", Class::FloatEstimate, 8, &[], &[f(3)], &[f(1), FPSCR], &[]),
        (xx3(10, 1, 2, 3), "xxpermdi vs1,vs2,vs3,0", Class::VectorPermute, 16, &[], &[f(2), f(3)], &[f(1)], &[]),
        (xx3(154, 1, 2, 3), "xxlxor vs1,vs2,vs3", Class::Vector, 16, &[], &[f(2), f(3)], &[f(1)], &[]),
        (word(60, 1, 2, 3, 4 << 6 | 3 << 4), "xxsel vs1,vs2,vs3,vs4", Class::Vector, 16, &[], &[f(2), f(3), f(4)], &[f(1)], &[]),
        (word(60, 1, 0, 0, 360 << 1), "xxspltib vs1,0", Class::VectorPermute, 16, &[], &[], &[f(1)], &[]),
    ]);
}

#[test]
fn scalars_of_the_first_registers_have_their_classes() {
    check(&[
        (word(63, 1, 2, 3, 21 << 1), "fadd f1,f2,f3", Class::FloatAdd, 8, &[], &[f(2), f(3)], &[f(1), FPSCR], &[]),
        (word(59, 1, 0, 3, 24 << 1), "fres f1,f3", Class::FloatEstimate, 4, &[], &[f(3)], &[f(1), FPSCR], &[]),
        (word(63, 1, 0, 3, 392 << 1), "frin f1,f3", Class::FloatConvert, 8, &[], &[f(3)], &[f(1), FPSCR], &[]),
        (word(63, 1, 2, 3, 8 << 1), "fcpsgn f1,f2,f3", Class::FloatMove, 8, &[], &[f(2), f(3)], &[f(1)], &[]),
        (word(59, 1, 2, 3, 2 << 1), "dadd f1,f2,f3", Class::Decimal, 8, &[], &[f(2), f(3)], &[f(1), FPSCR], &[]),
        (word(63, 1, 2, 3, 4 << 1), "xsaddqp v1,v2,v3", Class::Decimal, 16, &[], &[v(2), v(3)], &[v(1), FPSCR], &[]),
        (word(63, 0, 0, 0, 711 << 1), "mtfsf 0,f0", Class::StatusWrite, 8, &[], &[f(0), FPSCR], &[FPSCR], &[]),
    ]);
}

#[test]
fn branches_have_their_kind_and_immediate_ones_their_target() {
    let rows = [
        (18 << 26 | 8, BranchKind::DirectJump, Some(0x1008)),
        (18 << 26 | 0x03FF_FFF8 | 1, BranchKind::DirectCall, Some(0xFF8)),
        // With AA=1 the target is absolute.
        (18 << 26 | 0x400 | 2, BranchKind::DirectJump, Some(0x400)),
        (word(16, 12, 2, 0, 0xFFF0), BranchKind::Conditional, Some(0xFF0)),
        // A condition decides on a return and a call too.
        (word(19, 12, 2, 0, 16 << 1), BranchKind::Conditional, None),
        (word(19, 20, 0, 0, 16 << 1), BranchKind::Return, None),
        // BH=1 of bclr: no return.
        (word(19, 20, 0, 1, 16 << 1), BranchKind::IndirectJump, None),
        (word(19, 20, 0, 0, 528 << 1), BranchKind::IndirectJump, None),
        (word(19, 20, 0, 0, 528 << 1 | 1), BranchKind::IndirectCall, None),
        (word(19, 20, 0, 0, 560 << 1), BranchKind::IndirectJump, None),
    ];
    for (word, kind, target) in rows {
        let branch = of(word).description.branch;
        assert_eq!(branch.map(|branch| (branch.kind, branch.target)), Some((kind, target)), "{word:#x}");
    }
    // sc and rfid are none.
    assert_eq!([0x4400_0002, word(19, 0, 0, 0, 18 << 1)].map(|word| of(word).description.branch), [None, None]);
    let counted = of(word(16, 16, 0, 0, 8)).description.operands;
    assert_eq!((sorted(counted.reads()), sorted(counted.writes())), (vec![COUNT], vec![COUNT]));
}

#[test]
fn words_that_are_no_instruction_are_refused() {
    // Primary opcode 0; lwzu with RA=0; bcctr that counts CTR down; primary opcode 1, a prefix of later processors.
    for word in [0, word(33, 3, 0, 0, 8), word(19, 16, 0, 0, 528 << 1), 0x0400_0000] {
        assert_eq!(decode(word, 0x1000).map(|instruction| instruction.description), Err(Undecoded::Invalid), "{word:#x}");
    }
}

/// The signals that an instruction adds to, apart from those of every instruction.
fn added(word: u32) -> Vec<Signal> {
    let mut added = Vec::new();
    of(word).signals(|signal, amount| {
        assert_eq!(amount, 1);
        added.push(signal);
    });
    added.retain(|signal| !super::RETIREMENT.contains(signal));
    added
}

#[test]
fn signals_are_those_that_words_determine() {
    assert_eq!(added(18 << 26 | 8), [Signal::BranchesRetired, Signal::DirectJumps, Signal::BranchesTaken]);
    let call =
        [Signal::LongLatencyInstructions, Signal::BranchesRetired, Signal::DirectCalls, Signal::BranchesTaken, Signal::BranchesBackward];
    assert_eq!(added(18 << 26 | 0x03FF_FFF8 | 1), call);
    assert_eq!(added(word(16, 12, 2, 0, 8)), [Signal::BranchesRetired]);
    assert_eq!(added(word(19, 20, 0, 0, 16 << 1)), [Signal::BranchesRetired, Signal::NearReturns, Signal::BranchesTaken]);
    assert_eq!(added(x(266, 3, 4, 5)), [Signal::IntegerOps]);
    assert_eq!(added(x(28, 0, 0, 0)), [Signal::ProbeInstructions, Signal::IntegerOps]);
    assert_eq!(added(word(58, 3, 4, 0, 8)), [Signal::Loads]);
    assert_eq!(added(x(103, 2, 4, 5)), [Signal::Loads, Signal::VectorLoads]);
    assert_eq!(added(x(84, 3, 4, 5)), [Signal::LoadReserves, Signal::Loads]);
    // Whether it stores, the reservation decides.
    assert_eq!(added(x(214, 3, 4, 5) | 1), [Signal::StoreConditionals]);
    let floating = |kinds: &[Signal]| [&[Signal::FloatingPointOperations], kinds].concat();
    let addition = floating(&[Signal::FloatingPointDoubleOps, Signal::FloatingPointScalarOps]);
    assert_eq!(added(word(63, 1, 2, 3, 21 << 1)), addition);
    assert_eq!(added(xx3(32, 1, 2, 3)), addition);
    assert_eq!(added(word(63, 1, 0, 3, 72 << 1)), floating(&[Signal::FloatingPointMoves]));
    let vectors = floating(&[Signal::FloatingPointSingleOps, Signal::VectorOps, Signal::FloatingPointVectorSingleFusedOps]);
    assert_eq!(added(word(4, 1, 2, 3, 4 << 6 | 46)), vectors);
    assert_eq!(added(word(4, 1, 2, 3, 128)), [Signal::VectorOps]);
    assert_eq!(added(x(598, 1, 0, 0)), [Signal::BarriersLight]);
    assert_eq!(added(word(19, 0, 0, 0, 150 << 1)), [Signal::ContextSynchronizations]);
    assert_eq!(added(x(306, 3, 0, 5)), [Signal::TranslationInvalidations]);
    assert_eq!(added(x(278, 0, 4, 5)), [Signal::PrefetchesForLoad]);
}

#[test]
fn vectors_belong_to_the_floating_point_unit() {
    let units = [x(266, 3, 4, 5), word(4, 1, 2, 3, 128), xx3(32, 1, 2, 3)].map(|word| of(word).description.floating_point);
    assert_eq!(units, [false, true, true]);
    assert_eq!(of(word(4, 1, 2, 3, 128)).facts.category, Category::Vector);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn any_word_is_described_within_its_bounds(primary in 0u32..64, rest in any::<u32>(), address in any::<u64>()) {
        if let Ok(instruction) = decode(primary << 26 | rest >> 6, address) {
            let operands = instruction.description.operands;
            let mut registers = operands.addresses().iter().chain(operands.reads()).chain(operands.writes());
            prop_assert!(registers.all(|register| register.0 <= FLOATING_STATUS));
            let mut signals = Vec::new();
            instruction.signals(|signal, _| signals.push(signal));
            let all = signals.len();
            signals.sort_unstable();
            signals.dedup();
            prop_assert_eq!(signals.len(), all, "a signal came twice");
        }
    }
}
