//! The registers of each instruction are those of its page in Power ISA 3.0B.

use std::vec::Vec;

use crate::companion::{Class, Register};
use powerpc::{Argument, Extension, Extensions, Ins, Opcode};
use proptest::prelude::*;

use super::{Operands, operands};
use crate::decode::power::register::{CARRY, CONDITION, COUNT, FLOATING_STATUS, LINK, OVERFLOW, VECTORS};
use crate::decode::power::{Word, load_store, operation};

const CR0: u16 = CONDITION;
const CR1: u16 = CONDITION + 1;
const CR7: u16 = CONDITION + 7;
const F1: u16 = VECTORS + 1;
const F2: u16 = VECTORS + 2;
const F3: u16 = VECTORS + 3;
const F4: u16 = VECTORS + 4;
const V33: u16 = VECTORS + 33;
const FPSCR: u16 = FLOATING_STATUS;

/// An instruction: its word, its text, its class and width, the registers of its address, the others that it reads, and what it writes.
type Row = (u32, &'static str, Class, u8, &'static [u16], &'static [u16], &'static [u16]);

/// A word of primary opcode `primary`, the fields RT, RA and RB, and what is behind them.
const fn word(primary: u32, t: u32, a: u32, b: u32, rest: u32) -> u32 {
    primary << 26 | t << 21 | a << 16 | b << 11 | rest
}

/// One of primary opcode 31 with extended opcode `extended`.
const fn x(extended: u32, t: u32, a: u32, b: u32) -> u32 {
    word(31, t, a, b, extended << 1)
}

fn sorted(registers: &[Register]) -> Vec<u16> {
    let mut numbers: Vec<u16> = registers.iter().map(|register| register.0).collect();
    numbers.sort_unstable();
    numbers
}

fn lists(operands: &Operands) -> [Vec<u16>; 3] {
    [operands.addresses(), operands.reads(), operands.writes()].map(sorted)
}

fn check(rows: &[Row]) {
    for (word, name, class, width, addresses, reads, writes) in rows {
        let operands = operands(*word).expect(name);
        assert_eq!((operands.class, operands.width), (*class, *width), "{name}");
        assert_eq!(lists(&operands), [*addresses, *reads, *writes], "addresses, reads and writes of {name}");
    }
}

#[test]
fn arithmetic_reads_its_sources_and_writes_what_its_form_says() {
    check(&[
        (x(266, 3, 4, 5), "add r3,r4,r5", Class::Simple, 8, &[], &[4, 5], &[3]),
        (x(266, 3, 4, 5) | 1, "add. r3,r4,r5", Class::Simple, 8, &[], &[4, 5], &[3, CR0]),
        (x(266 + 512, 3, 4, 5), "addo r3,r4,r5", Class::Simple, 8, &[], &[4, 5], &[3, OVERFLOW]),
        (x(10, 3, 4, 5), "addc r3,r4,r5", Class::Simple, 8, &[], &[4, 5], &[3, CARRY]),
        (x(138, 3, 4, 5), "adde r3,r4,r5", Class::AddWithCarry, 8, &[], &[4, 5, CARRY], &[3, CARRY]),
        (x(202, 3, 4, 0), "addze r3,r4", Class::AddWithCarry, 8, &[], &[4, CARRY], &[3, CARRY]),
        (word(14, 3, 0, 0, 7), "li r3,7", Class::Simple, 8, &[], &[], &[3]),
        (word(14, 3, 4, 0, 7), "addi r3,r4,7", Class::Simple, 8, &[], &[4], &[3]),
        (word(13, 3, 0, 0, 7), "addic. r3,r0,7", Class::Simple, 8, &[], &[0], &[3, CR0, CARRY]),
        (word(24, 4, 3, 0, 7), "ori r3,r4,7", Class::Simple, 8, &[], &[4], &[3]),
        (word(28, 4, 3, 0, 7), "andi. r3,r4,7", Class::Simple, 8, &[], &[4], &[3, CR0]),
        (word(24, 0, 0, 0, 0), "nop", Class::Nop, 0, &[], &[], &[]),
        (x(104, 3, 4, 0), "neg r3,r4", Class::Simple, 8, &[], &[4], &[3]),
    ]);
}

#[test]
fn shifts_and_logic_have_their_result_in_ra() {
    check(&[
        (x(28, 4, 3, 5), "and r3,r4,r5", Class::Simple, 8, &[], &[4, 5], &[3]),
        (word(21, 4, 3, 2, 31 << 1 | 1), "rlwinm. r3,r4,2,0,31", Class::Shift, 4, &[], &[4], &[3, CR0]),
        (word(20, 4, 3, 2, 31 << 1), "rlwimi r3,r4,2,0,31", Class::Shift, 4, &[], &[3, 4], &[3]),
        (x(794, 4, 3, 5), "srad r3,r4,r5", Class::Shift, 8, &[], &[4, 5], &[3, CARRY]),
        (x(58, 4, 3, 0), "cntlzd r3,r4", Class::BitScan, 8, &[], &[4], &[3]),
        (x(954, 4, 3, 0), "extsb r3,r4", Class::Extend, 1, &[], &[4], &[3]),
    ]);
}

#[test]
fn multiplications_and_divisions_are_told_apart() {
    check(&[
        (x(235, 3, 4, 5), "mullw r3,r4,r5", Class::Multiply, 4, &[], &[4, 5], &[3]),
        (word(4, 3, 4, 5, 6 << 6 | 51), "maddld r3,r4,r5,r6", Class::Multiply, 8, &[], &[4, 5, 6], &[3]),
        (x(491, 3, 4, 5), "divw r3,r4,r5", Class::SignedDivide, 4, &[], &[4, 5], &[3]),
        (x(457, 3, 4, 5) | 1, "divdu. r3,r4,r5", Class::Divide, 8, &[], &[4, 5], &[3, CR0]),
        (x(425, 3, 4, 5), "divde r3,r4,r5", Class::SignedDivide, 16, &[], &[4, 5], &[3]),
    ]);
}

#[test]
fn loads_and_stores_have_their_registers_in_the_address() {
    check(&[
        (word(58, 3, 4, 0, 8), "ld r3,8(r4)", Class::Load, 8, &[4], &[], &[3]),
        (word(58, 3, 0, 0, 8), "ld r3,8(0)", Class::Load, 8, &[], &[], &[3]),
        (x(21, 3, 4, 0), "ldx r3,r4,r0", Class::Load, 8, &[0, 4], &[], &[3]),
        (x(55, 3, 4, 5), "lwzux r3,r4,r5", Class::Load, 4, &[4, 5], &[], &[3, 4]),
        (word(42, 3, 4, 0, 2), "lha r3,2(r4)", Class::Extend, 2, &[4], &[], &[3]),
        (word(62, 3, 1, 0, 0xFFC0 | 1), "stdu r3,-64(r1)", Class::Store, 8, &[1], &[3], &[1]),
        (word(48, 1, 4, 0, 4), "lfs f1,4(r4)", Class::FloatConvert, 4, &[4], &[], &[F1]),
        (word(54, 1, 4, 0, 8), "stfd f1,8(r4)", Class::Store, 8, &[4], &[F1], &[]),
        (x(84, 3, 0, 5), "ldarx r3,0,r5", Class::Load, 8, &[5], &[], &[3]),
        (x(214, 3, 4, 5) | 1, "stdcx. r3,r4,r5", Class::CompareExchange, 8, &[4, 5], &[3], &[CR0]),
        (x(844, 1, 4, 5) | 1, "lxvd2x vs33,r4,r5", Class::Load, 16, &[4, 5], &[], &[V33]),
        (x(278, 0, 4, 5), "dcbt r4,r5", Class::Load, 0, &[4, 5], &[], &[]),
    ]);
}

#[test]
fn branches_read_what_they_depend_on() {
    check(&[
        (18 << 26 | 8, "b .+8", Class::Branch, 0, &[], &[], &[]),
        (18 << 26 | 9, "bl .+8", Class::Call, 0, &[], &[], &[LINK]),
        (word(16, 12, 30, 0, 8), "beq cr7,.+8", Class::Branch, 0, &[], &[CR7], &[]),
        (word(16, 16, 0, 0, 8), "bdnz .+8", Class::Branch, 0, &[], &[COUNT], &[COUNT]),
        (word(19, 20, 0, 0, 16 << 1), "blr", Class::Return, 0, &[], &[LINK], &[]),
        (word(19, 20, 0, 0, 528 << 1 | 1), "bctrl", Class::Call, 0, &[], &[COUNT], &[LINK]),
    ]);
}

#[test]
fn condition_fields_are_registers() {
    check(&[
        (x(0, 7 << 2, 4, 5), "cmpw cr7,r4,r5", Class::Simple, 4, &[], &[4, 5], &[CR7]),
        (word(10, 1, 4, 0, 7), "cmpldi r4,7", Class::Simple, 8, &[], &[4], &[CR0]),
        // Bit 6 of field 1 from bits of fields 0 and 7.
        (word(19, 6, 2, 30, 257 << 1), "crand 6,2,30", Class::Simple, 0, &[], &[CR0, CR1, CR7], &[CR1]),
        (x(15, 3, 0, 5) | 2 << 6, "isel r3,0,r5,eq", Class::ConditionalMove, 8, &[], &[5, CR0], &[3]),
        (x(144, 3, 0, 0) | 0x181 << 12, "mtocrf 0x80,r3 and 0x01", Class::Simple, 8, &[], &[3], &[CR0, CR7]),
        (x(19, 3, 0, 0) | 0x101 << 12, "mfocrf r3,0x01", Class::Simple, 8, &[], &[CR7], &[3]),
    ]);
}

#[test]
fn floating_point_writes_its_status() {
    check(&[
        (word(63, 1, 2, 3, 21 << 1), "fadd f1,f2,f3", Class::FloatAdd, 8, &[], &[F2, F3], &[F1, FPSCR]),
        (word(59, 1, 2, 0, 4 << 6 | 25 << 1), "fmuls f1,f2,f4", Class::FloatMultiply, 4, &[], &[F2, F4], &[F1, FPSCR]),
        (word(63, 1, 2, 3, 4 << 6 | 29 << 1), "fmadd f1,f2,f4,f3", Class::FloatMultiplyAdd, 8, &[], &[F2, F3, F4], &[F1, FPSCR]),
        (word(63, 1, 0, 3, 72 << 1), "fmr f1,f3", Class::FloatMove, 8, &[], &[F3], &[F1]),
        (word(63, 1 << 2, 2, 3, 0), "fcmpu cr1,f2,f3", Class::FloatCompare, 8, &[], &[F2, F3], &[CR1, FPSCR]),
        (word(63, 1, 0, 0, 583 << 1), "mffs f1", Class::System, 8, &[], &[FPSCR], &[F1]),
    ]);
}

#[test]
fn special_purpose_registers_that_others_wait_for_have_numbers() {
    check(&[
        (x(339, 3, 8, 0), "mflr r3", Class::System, 8, &[], &[LINK], &[3]),
        (x(467, 3, 9, 0), "mtctr r3", Class::System, 8, &[], &[3], &[COUNT]),
        (x(467, 3, 1, 0), "mtxer r3", Class::System, 8, &[], &[3], &[CARRY, OVERFLOW]),
        (x(339, 3, 26, 0), "mfspr r3,SRR0", Class::System, 8, &[], &[], &[3]),
        (x(598, 0, 0, 0), "sync", Class::Fence, 0, &[], &[], &[]),
        (x(598, 1, 0, 0), "lwsync", Class::LightFence, 0, &[], &[], &[]),
        (x(854, 0, 0, 0), "eieio", Class::DeviceFence, 0, &[], &[], &[]),
        (x(654, 0, 0, 0) | 1, "tbegin.", Class::TransactionBegin, 0, &[], &[], &[CR0]),
        (x(686, 0, 0, 0) | 1, "tend.", Class::TransactionEnd, 0, &[], &[], &[CR0]),
        (x(339, 3, 19, 0), "mfspr r3,DAR", Class::MemoryRegister, 8, &[], &[], &[3]),
        (word(19, 0, 0, 0, 150 << 1), "isync", Class::Serializing, 0, &[], &[], &[]),
        (word(19, 0, 0, 0, 18 << 1), "rfid", Class::Serializing, 0, &[], &[], &[]),
    ]);
}

/// Whether the other disassembler's lists are those of the Power ISA. It takes RA for RS of `andi.`, `andis.`, `srd` and `srw`, RA of `rldimi` for a
/// target only, RA=0 of `ldarx` for GPR 0, RS of `stdx` for a target, and leaves out RA of `lwaux` and RS of `tlbie`.
fn is_right(op: Opcode) -> bool {
    use Opcode::{Andi_, Andis_, Ldarx, Lwaux, Rldimi, Srd, Srw, Stdx, Tlbie};
    !matches!(op, Opcode::Illegal | Andi_ | Andis_ | Ldarx | Lwaux | Rldimi | Srd | Srw | Stdx | Tlbie)
}

/// The general purpose and floating-point registers among arguments of the other disassembler.
fn numbers(arguments: &[Argument]) -> Vec<u16> {
    let mut numbers: Vec<u16> = arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::GPR(register) => Some(u16::from(register.0)),
            Argument::FPR(register) => Some(VECTORS + u16::from(register.0)),
            _ => None,
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn general_and_floating_registers_are_what_another_disassembler_says(
        primary in prop_oneof![4 => Just(31u32), 1 => Just(59), 2 => Just(63), 8 => 7u32..56],
        rest in any::<u32>(),
        sparse in any::<bool>(),
    ) {
        let fields = if sparse { rest & 0x03FF_F800 | rest & 0x7FE } else { rest & 0x03FF_FFFF };
        let word = primary << 26 | fields;
        let instruction = Ins::new(word, Extensions::from_extension(Extension::Ppc64));
        let Some(found) = operands(word).filter(|found| found.class != Class::Nop && is_right(instruction.op)) else { return Ok(()) };
        // An update form with RA=0 is invalid.
        if operation(word).and_then(load_store).is_some_and(|access| !access.is_valid(Word(word))) {
            return Ok(());
        }
        let of_units = |registers: &[Register]| registers.iter().copied().filter(|register| register.0 < CONDITION).collect::<Vec<_>>();
        let read = [found.addresses(), found.reads()].concat();
        let (mut read, written) = (sorted(&of_units(&read)), sorted(&of_units(found.writes())));
        read.dedup();
        prop_assert_eq!(numbers(&instruction.uses()), read, "read by {:#x} {:?}", word, instruction.op);
        prop_assert_eq!(numbers(&instruction.defs()), written, "written by {:#x} {:?}", word, instruction.op);
    }
}
