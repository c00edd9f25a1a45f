//! The registers of each instruction are those of its page in the manuals' instruction reference.

use std::collections::BTreeSet;

use proptest::prelude::*;
use vm_pmu::companion::{Class, Elements, Register};
use vm_pmu::decode::x86::Operands;
use vm_pmu::decode::x86::register::{DIRECTION, FLAGS, SEGMENTS, VECTORS};
use yaxpeax_x86::long_mode::behavior::AccessVisitor;
use yaxpeax_x86::long_mode::{InstDecoder, RegSpec};

use super::super::op::{Decoded, Op, Operand, Repeat};
use super::{Outcome, decode, text};

const AX: u16 = 0;
const CX: u16 = 1;
const DX: u16 = 2;
const BX: u16 = 3;
const SP: u16 = 4;
const BP: u16 = 5;
const SI: u16 = 6;
const DI: u16 = 7;
const R8: u16 = 8;
const R9: u16 = 9;
const R11: u16 = 11;
const F: u16 = FLAGS;
const FS: u16 = SEGMENTS + 4;
const X0: u16 = VECTORS;
const X1: u16 = VECTORS + 1;

/// An instruction: its bytes, its text, its class and width, the registers of its address, the others that it reads, and what it writes.
type Row = (&'static [u8], &'static str, Class, u8, &'static [u16], &'static [u16], &'static [u16]);

fn decoded(bytes: &[u8]) -> Operands {
    match decode(bytes, 0x1000) {
        Outcome::Instruction(decoded) => decoded.info.operands,
        _ => panic!("{bytes:02x?} is no instruction"),
    }
}

fn sorted(registers: &[Register]) -> Vec<u16> {
    let mut numbers: Vec<u16> = registers.iter().map(|register| register.0).collect();
    numbers.sort_unstable();
    numbers
}

fn check(rows: &[Row]) {
    for (bytes, name, class, width, addresses, reads, writes) in rows {
        assert_eq!(text(bytes, 0x1000), *name);
        let operands = decoded(bytes);
        assert_eq!((operands.class, operands.width), (*class, *width), "{name}");
        let lists = [operands.addresses(), operands.reads(), operands.writes()].map(sorted);
        assert_eq!(lists, [*addresses, *reads, *writes], "addresses, reads and writes of {name}");
    }
}

#[test]
fn arithmetic_reads_its_operands_and_writes_the_flags() {
    check(&[
        (&[0x48, 0x01, 0xD8], "add rax,rbx", Class::Simple, 8, &[], &[AX, BX], &[AX, F]),
        (&[0x01, 0xD8], "add eax,ebx", Class::Simple, 4, &[], &[AX, BX], &[AX, F]),
        (&[0x48, 0x11, 0xD8], "adc rax,rbx", Class::AddWithCarry, 8, &[], &[AX, BX, F], &[AX, F]),
        (&[0x48, 0x39, 0xD8], "cmp rax,rbx", Class::Simple, 8, &[], &[AX, BX], &[F]),
        (&[0xFF, 0xC8], "dec eax", Class::Simple, 4, &[], &[AX], &[AX, F]),
        (&[0x48, 0xF7, 0xD0], "not rax", Class::Simple, 8, &[], &[AX], &[AX]),
        (&[0xD3, 0xE0], "shl eax,cl", Class::Shift, 4, &[], &[AX, CX], &[AX, F]),
        (&[0xD1, 0xD0], "rcl eax,1h", Class::Shift, 4, &[], &[AX, F], &[AX, F]),
        (&[0xD3, 0xD0], "rcl eax,cl", Class::RotateThroughCarry, 4, &[], &[AX, CX, F], &[AX, F]),
        (&[0x0F, 0xA4, 0xD8, 0x05], "shld eax,ebx,5h", Class::DoubleShift, 4, &[], &[AX, BX], &[AX, F]),
        (&[0x48, 0x0F, 0xBA, 0xE8, 0x03], "bts rax,3h", Class::BitTest, 8, &[], &[AX], &[AX, F]),
        (&[0x48, 0x0F, 0xA3, 0xD8], "bt rax,rbx", Class::Simple, 8, &[], &[AX, BX], &[F]),
        (&[0xF3, 0x48, 0x0F, 0xB8, 0xC3], "popcnt rax,rbx", Class::PopulationCount, 8, &[], &[BX], &[AX, F]),
        (&[0x0F, 0x94, 0xC0], "sete al", Class::Simple, 1, &[], &[AX, F], &[AX]),
        (&[0x48, 0x99], "cqo", Class::Simple, 8, &[], &[AX], &[DX]),
    ]);
}

#[test]
fn multiplications_and_divisions_have_registers_of_their_own() {
    check(&[
        (&[0x48, 0xF7, 0xE3], "mul rbx", Class::WideMultiply, 8, &[], &[AX, BX], &[AX, DX, F]),
        (&[0x48, 0x0F, 0xAF, 0xC3], "imul rax,rbx", Class::Multiply, 8, &[], &[AX, BX], &[AX, F]),
        (&[0x6B, 0xC3, 0x07], "imul eax,ebx,7h", Class::Multiply, 4, &[], &[BX], &[AX, F]),
        (&[0xF7, 0xF3], "div ebx", Class::Divide, 4, &[], &[AX, DX, BX], &[AX, DX, F]),
        (&[0x48, 0xF7, 0xFB], "idiv rbx", Class::SignedDivide, 8, &[], &[AX, DX, BX], &[AX, DX, F]),
        // The quotient and the remainder are parts of one register.
        (&[0xF6, 0xF3], "div bl", Class::Divide, 1, &[], &[AX, BX], &[AX, F]),
    ]);
}

#[test]
fn memory_operands_have_their_registers_in_the_address() {
    check(&[
        (&[0x48, 0x8B, 0x03], "mov rax,[rbx]", Class::Load, 8, &[BX], &[], &[AX]),
        (&[0x48, 0x89, 0x4C, 0xBB, 0x08], "mov [rbx+rdi*4+8h],rcx", Class::Store, 8, &[BX, DI], &[CX], &[]),
        (&[0x48, 0x03, 0x03], "add rax,[rbx]", Class::Simple, 8, &[BX], &[AX], &[AX, F]),
        (&[0x64, 0x48, 0x8B, 0x04, 0x25, 0x10, 0, 0, 0], "mov rax,fs:[10h]", Class::Load, 8, &[FS], &[], &[AX]),
        (&[0x0F, 0xB6, 0x03], "movzx eax,byte ptr [rbx]", Class::Extend, 4, &[BX], &[], &[AX]),
        (&[0x8A, 0x03], "mov al,[rbx]", Class::Load, 1, &[BX], &[AX], &[AX]),
        (&[0x0F, 0xC3, 0x03], "movnti [rbx],eax", Class::Store, 4, &[BX], &[AX], &[]),
        (&[0x0F, 0x18, 0x0B], "prefetcht0 [rbx]", Class::Load, 0, &[BX], &[], &[]),
        (&[0x0F, 0x1F, 0x03], "nop dword ptr [rbx]", Class::Nop, 0, &[], &[], &[]),
    ]);
}

#[test]
fn an_address_of_three_sources_or_with_a_scale_is_told_apart() {
    check(&[
        (&[0x48, 0x8D, 0x43, 0x08], "lea rax,[rbx+8h]", Class::Address, 8, &[BX], &[], &[AX]),
        (&[0x48, 0x8D, 0x04, 0x0B], "lea rax,[rbx+rcx]", Class::Address, 8, &[CX, BX], &[], &[AX]),
        (&[0x48, 0x8D, 0x44, 0x0B, 0x01], "lea rax,[rbx+rcx+1h]", Class::AddressScaled, 8, &[CX, BX], &[], &[AX]),
        (&[0x48, 0x8D, 0x04, 0x4B], "lea rax,[rbx+rcx*2]", Class::AddressScaled, 8, &[CX, BX], &[], &[AX]),
    ]);
}

#[test]
fn the_stack_pointer_is_an_address_that_is_written() {
    check(&[
        (&[0x53], "push rbx", Class::Push, 8, &[SP], &[BX], &[SP]),
        (&[0x5B], "pop rbx", Class::Pop, 8, &[SP], &[], &[BX, SP]),
        (&[0xE8, 0, 0, 0, 0], "call 1005h", Class::Call, 8, &[SP], &[], &[SP]),
        (&[0xFF, 0xD0], "call rax", Class::Call, 8, &[SP], &[AX], &[SP]),
        (&[0xC3], "ret", Class::Return, 8, &[SP], &[], &[SP]),
        (&[0xC9], "leave", Class::Pop, 8, &[BP], &[], &[SP, BP]),
        (&[0x9C], "pushfq", Class::Microcode, 8, &[SP], &[F, DIRECTION], &[SP]),
    ]);
}

#[test]
fn what_keeps_a_part_of_its_destination_reads_it() {
    check(&[
        (&[0xB0, 0x05], "mov al,5h", Class::Simple, 1, &[], &[AX], &[AX]),
        (&[0x66, 0x89, 0xD8], "mov ax,bx", Class::Simple, 2, &[], &[AX, BX], &[AX]),
        (&[0xB4, 0x05], "mov ah,5h", Class::Simple, 1, &[], &[AX], &[AX]),
        (&[0x89, 0xD8], "mov eax,ebx", Class::Simple, 4, &[], &[BX], &[AX]),
        (&[0x48, 0x0F, 0x44, 0xC3], "cmove rax,rbx", Class::ConditionalMove, 8, &[], &[AX, BX, F], &[AX]),
    ]);
}

#[test]
fn clearing_a_register_by_itself_waits_for_nothing() {
    check(&[
        (&[0x31, 0xC0], "xor eax,eax", Class::Simple, 4, &[], &[], &[AX, F]),
        (&[0x48, 0x29, 0xDB], "sub rbx,rbx", Class::Simple, 8, &[], &[], &[BX, F]),
        (&[0x66, 0x31, 0xC0], "xor ax,ax", Class::Simple, 2, &[], &[AX], &[AX, F]),
        (&[0x30, 0xC0], "xor al,al", Class::Simple, 1, &[], &[AX], &[AX, F]),
        (&[0x48, 0x19, 0xC0], "sbb rax,rax", Class::AddWithCarry, 8, &[], &[AX, F], &[AX, F]),
        (&[0x66, 0x0F, 0xEF, 0xC0], "pxor xmm0,xmm0", Class::Vector, 16, &[], &[X0], &[X0]),
    ]);
}

#[test]
fn exchanges_read_and_write_both_operands() {
    check(&[
        (&[0x48, 0x87, 0xC3], "xchg rbx,rax", Class::Exchange, 8, &[], &[AX, BX], &[AX, BX]),
        (&[0x4D, 0x0F, 0xC1, 0xC8], "xadd r8,r9", Class::Exchange, 8, &[], &[R8, R9], &[R8, R9, F]),
        (&[0xF0, 0x48, 0x0F, 0xB1, 0x0B], "lock cmpxchg [rbx],rcx", Class::CompareExchange, 8, &[BX], &[AX, CX], &[AX, F]),
        (
            &[0x64, 0x48, 0x0F, 0xC7, 0x0C, 0x0F],
            "cmpxchg16b fs:[rdi+rcx]",
            Class::CompareExchange,
            16,
            &[CX, DI, FS],
            &[AX, DX, BX],
            &[AX, DX, F],
        ),
    ]);
}

#[test]
fn iterations_of_strings_move_their_addresses() {
    check(&[
        (&[0x48, 0xA5], "movsq [rdi],[rsi]", Class::String, 8, &[SI, DI], &[DIRECTION], &[SI, DI]),
        (&[0xF3, 0xAA], "rep stosb [rdi],al", Class::String, 1, &[DI], &[AX, CX, DIRECTION], &[CX, DI]),
        (&[0xF3, 0xA6], "repe cmpsb [rsi],[rdi]", Class::String, 1, &[SI, DI], &[CX, DIRECTION], &[CX, SI, DI, F]),
    ]);
}

#[test]
fn branches_read_what_they_depend_on() {
    check(&[
        (&[0x74, 0x00], "je 1002h", Class::Branch, 0, &[], &[F], &[]),
        (&[0xEB, 0x00], "jmp 1002h", Class::Branch, 0, &[], &[], &[]),
        (&[0xFF, 0xE0], "jmp rax", Class::Branch, 8, &[], &[AX], &[]),
        (&[0xFF, 0x20], "jmp qword ptr [rax]", Class::Branch, 8, &[AX], &[], &[]),
        (&[0xE2, 0xFE], "loop 1000h", Class::Branch, 0, &[], &[CX], &[CX]),
        (&[0x0F, 0x05], "syscall", Class::Microcode, 0, &[], &[F, DIRECTION], &[CX, R11, F, DIRECTION]),
    ]);
}

#[test]
fn vector_moves_say_where_they_go() {
    check(&[
        (&[0x0F, 0x28, 0x03], "movaps xmm0,[rbx]", Class::Load, 16, &[BX], &[], &[X0]),
        (&[0x66, 0x0F, 0x7F, 0x03], "movdqa [rbx],xmm0", Class::Store, 16, &[BX], &[X0], &[]),
        (&[0x0F, 0x28, 0xC1], "movaps xmm0,xmm1", Class::FloatMove, 16, &[], &[X1], &[X0]),
        (&[0x66, 0x48, 0x0F, 0x6E, 0xC0], "movq xmm0,rax", Class::ToVector, 8, &[], &[AX], &[X0]),
        (&[0x66, 0x0F, 0x7E, 0xC0], "movd eax,xmm0", Class::FromVector, 4, &[], &[X0], &[AX]),
        (&[0xF3, 0x0F, 0x7E, 0x03], "movq xmm0,[rbx]", Class::Load, 8, &[BX], &[], &[X0]),
        (&[0x0F, 0x57, 0xC1], "xorps xmm0,xmm1", Class::Vector, 16, &[], &[X0, X1], &[X0]),
    ]);
    assert!(decoded(&[0x0F, 0x28, 0xC1]).packed);
    assert!(!decoded(&[0xF3, 0x0F, 0x7E, 0x03]).packed);
}

#[test]
fn elements_are_those_that_a_vector_instruction_names() {
    assert_eq!(decoded(&[0x0F, 0x28, 0x03]).elements, Elements::Singles);
    assert_eq!(decoded(&[0x66, 0x0F, 0x57, 0xC1]).elements, Elements::Doubles);
    assert_eq!(decoded(&[0x66, 0x0F, 0xEF, 0xC1]).elements, Elements::Integers);
    assert_eq!(decoded(&[0x48, 0x01, 0xD8]).elements, Elements::Untold);
}

#[test]
fn legacy_prefixes_are_counted_and_rex_is_none() {
    // lock add fs:[rax], rcx; movdqa; add rax, rbx
    assert_eq!(decoded(&[0xF0, 0x64, 0x48, 0x01, 0x08]).prefixes, 2);
    assert_eq!(decoded(&[0x66, 0x0F, 0x6F, 0xC1]).prefixes, 1);
    assert_eq!(decoded(&[0x48, 0x01, 0xD8]).prefixes, 0);
}

#[test]
fn the_system_is_told_from_what_serialises() {
    check(&[
        (&[0x0F, 0xA2], "cpuid", Class::Serializing, 0, &[], &[AX, CX], &[AX, CX, DX, BX]),
        (&[0x0F, 0x31], "rdtsc", Class::System, 0, &[], &[], &[AX, DX]),
        (&[0x0F, 0x32], "rdmsr", Class::System, 0, &[], &[CX], &[AX, DX]),
        (&[0x0F, 0x30], "wrmsr", Class::Serializing, 0, &[], &[AX, CX, DX], &[]),
        (&[0x0F, 0xAE, 0xF0], "mfence", Class::Fence, 0, &[], &[], &[]),
        (&[0xFD], "std", Class::Microcode, 0, &[], &[], &[DIRECTION]),
    ]);
}

/// What another disassembler says of general registers: which are read, for addresses too, and which are written.
#[derive(Default)]
struct Others {
    read: Vec<u16>,
    written: Vec<u16>,
    /// Those of which a part is written.
    partly: Vec<u16>,
}

/// The number of a general register, and whether it is less than 32 bits of one.
fn general(register: RegSpec) -> Option<(u16, bool)> {
    let number = u16::from(register.num());
    match register.class() {
        class if class == RegSpec::rax().class() || class == RegSpec::eax().class() => Some((number, false)),
        class if class == RegSpec::ax().class() || class == RegSpec::r8b().class() => Some((number, true)),
        // AL, CL, DL, BL, AH, CH, DH, BH.
        class if class == RegSpec::al().class() => Some((number & 3, true)),
        _ => None,
    }
}

impl AccessVisitor for Others {
    fn register_read(&mut self, register: RegSpec) {
        self.read.extend(general(register).map(|(number, _)| number));
    }

    fn register_write(&mut self, register: RegSpec) {
        let Some((number, partly)) = general(register) else { return };
        self.written.push(number);
        if partly {
            self.partly.push(number);
        }
    }

    fn memory_read(&mut self, _address: Option<u64>, _size: u32) {}

    fn memory_write(&mut self, _address: Option<u64>, _size: u32) {}
}

fn set(numbers: impl IntoIterator<Item = u16>) -> BTreeSet<u16> {
    numbers.into_iter().filter(|number| *number < FLAGS).collect()
}

/// Whether the other disassembler's lists are those of the manuals. It has moves, extensions, IMUL of three operands, LEAVE and POP read what they
/// only write, has CMOV not read its destination, JRCXZ write its counter and INS and OUTS write no pointer, forgets the counter of REP, and does
/// not know that XOR and SUB of a register with itself wait for nothing. Of prefetches, UD0, SYSRET and PAUSE it tells something else.
fn is_right(d: &Decoded) -> bool {
    match d.op {
        Op::Mov => d.dst == Operand::Mem,
        Op::MovFromCr | Op::MovFromDr | Op::MovFromSeg | Op::Movzx | Op::Movsx | Op::Imul3 | Op::Leave | Op::Pop => false,
        Op::Cmov | Op::Jrcxz | Op::Ins | Op::Outs | Op::Prefetch | Op::Ud | Op::Sysret | Op::Pause => false,
        Op::Movs | Op::Stos | Op::Lods | Op::Scas | Op::Cmps => d.repeat == Repeat::No,
        Op::Xor | Op::Sub => d.dst != d.src,
        Op::Unsupported | Op::Nop => false,
        _ => true,
    }
}

/// What most instructions begin with.
const PREFIXES: &[&[u8]] = &[&[], &[0x0F], &[0x48], &[0x48, 0x0F], &[0x66]];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn general_registers_are_what_another_disassembler_says(
        prefix in prop::sample::select(PREFIXES),
        rest in any::<[u8; 13]>(),
    ) {
        let bytes: Vec<u8> = prefix.iter().chain(&rest).copied().collect();
        let Outcome::Instruction(decoded) = decode(&bytes, 0x1000) else { return Ok(()) };
        let Ok(instruction) = InstDecoder::default().decode_slice(&bytes) else { return Ok(()) };
        let mut others = Others::default();
        if !is_right(&decoded) || instruction.behavior().visit_accesses(&mut others).is_err() {
            return Ok(());
        }
        let found = decoded.info.operands;
        let read = set(sorted(&[found.addresses(), found.reads()].concat()));
        let name = text(&bytes, 0x1000);
        prop_assert_eq!(read, set(others.read.into_iter().chain(others.partly)), "read by {}", name);
        prop_assert_eq!(set(sorted(found.writes())), set(others.written), "written by {}", name);
    }
}
