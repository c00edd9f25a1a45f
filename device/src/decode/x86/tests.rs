//! Instructions by hand: bytes, registers and accesses are those of their pages in AMD's manual, volumes 3 to 5, and in Intel's, volume 2.

use std::vec::Vec;

use proptest::prelude::*;
use vm_pmu_arch::feed::{BranchKind, Signal};

use super::register::{DIRECTION, FLAGS as F, MASKS, MMX, SEGMENTS, VECTORS, X87};
use super::{Instruction, Mode, decode};
use crate::companion::AccessKind::{Flush, Load, PrefetchLoad, PrefetchOnce, PrefetchStore, Store, StreamingStore};
use crate::companion::{AccessKind, Class, Elements, Register};
use crate::decode::Undecoded;

const AX: u16 = 0;
const CX: u16 = 1;
const DX: u16 = 2;
const BX: u16 = 3;
const SP: u16 = 4;
const BP: u16 = 5;
const SI: u16 = 6;
const DI: u16 = 7;
const R8: u16 = 8;
const SS: u16 = SEGMENTS + 2;
const DS: u16 = SEGMENTS + 3;
const FS: u16 = SEGMENTS + 4;
const D: u16 = DIRECTION;
const X0: u16 = VECTORS;
const X1: u16 = VECTORS + 1;
const X2: u16 = VECTORS + 2;
const ST0: u16 = X87;
const MM0: u16 = MMX;
const MM1: u16 = MMX + 1;

/// An instruction: its bytes, its class and width, the registers of its address, the others that it reads, those that it writes, and its accesses.
type Row<'a> = (&'a [u8], Class, u8, &'a [u16], &'a [u16], &'a [u16], &'a [(AccessKind, u16)]);

fn of(bytes: &[u8], mode: Mode) -> Instruction {
    decode(bytes, mode, 0x1000).unwrap_or_else(|why| panic!("{bytes:02x?}: {why}"))
}

fn sorted(registers: &[Register]) -> Vec<u16> {
    let mut numbers: Vec<u16> = registers.iter().map(|register| register.0).collect();
    numbers.sort_unstable();
    numbers
}

fn check(mode: Mode, rows: &[Row<'_>]) {
    for (bytes, class, width, addresses, reads, writes, accesses) in rows {
        let description = of(bytes, mode).description;
        let operands = description.operands;
        assert_eq!(usize::from(description.length), bytes.len(), "length of {bytes:02x?}");
        assert_eq!((operands.class, operands.width), (*class, *width), "class and width of {bytes:02x?}");
        let lists = [operands.addresses(), operands.reads(), operands.writes()].map(sorted);
        assert_eq!(lists, [*addresses, *reads, *writes], "addresses, reads and writes of {bytes:02x?}");
        let made: Vec<_> = description.accesses().iter().map(|access| (access.kind, access.bytes)).collect();
        assert_eq!(made, *accesses, "accesses of {bytes:02x?}");
    }
}

#[test]
fn integers_are_computed_and_moved() {
    check(
        Mode::Bits64,
        &[
            // add rax,rbx; add eax,[rbx+8]; adc [rbx],rcx; cmp byte [rbx],5; inc dword [rbx]
            (&[0x48, 0x01, 0xD8], Class::Simple, 8, &[], &[AX, BX], &[AX, F], &[]),
            (&[0x03, 0x43, 0x08], Class::Simple, 4, &[BX], &[AX], &[AX, F], &[(Load, 4)]),
            (&[0x48, 0x11, 0x0B], Class::AddWithCarry, 8, &[BX], &[CX, F], &[F], &[(Load, 8), (Store, 8)]),
            (&[0x80, 0x3B, 0x05], Class::Simple, 1, &[BX], &[], &[F], &[(Load, 1)]),
            (&[0xFF, 0x03], Class::Simple, 4, &[BX], &[], &[F], &[(Load, 4), (Store, 4)]),
            // mov rax,[rbx+rcx*4]; mov [rbx],r8; mov eax,ebx; movzx eax,word [rbx]; movsxd rax,ebx
            (&[0x48, 0x8B, 0x04, 0x8B], Class::Load, 8, &[CX, BX], &[], &[AX], &[(Load, 8)]),
            (&[0x4C, 0x89, 0x03], Class::Store, 8, &[BX], &[R8], &[], &[(Store, 8)]),
            (&[0x89, 0xD8], Class::Simple, 4, &[], &[BX], &[AX], &[]),
            (&[0x0F, 0xB7, 0x03], Class::Extend, 4, &[BX], &[], &[AX], &[(Load, 2)]),
            (&[0x48, 0x63, 0xC3], Class::Extend, 8, &[], &[BX], &[AX], &[]),
            // lea rax,[rbx+rcx+1]; cmovne rax,[rbx]; bswap eax; sete [rbx]
            (&[0x48, 0x8D, 0x44, 0x0B, 0x01], Class::AddressScaled, 8, &[CX, BX], &[], &[AX], &[]),
            (&[0x48, 0x0F, 0x45, 0x03], Class::ConditionalMove, 8, &[BX], &[AX, F], &[AX], &[(Load, 8)]),
            (&[0x0F, 0xC8], Class::Simple, 4, &[], &[AX], &[AX], &[]),
            (&[0x0F, 0x94, 0x03], Class::Simple, 1, &[BX], &[F], &[], &[(Store, 1)]),
            // shl qword [rbx],cl; rcl eax,cl; shld eax,ebx,5; bts rax,3; bsr eax,ebx; popcnt rax,rbx
            (&[0x48, 0xD3, 0x23], Class::Shift, 8, &[BX], &[CX], &[F], &[(Load, 8), (Store, 8)]),
            (&[0xD3, 0xD0], Class::RotateThroughCarry, 4, &[], &[AX, CX, F], &[AX, F], &[]),
            (&[0x0F, 0xA4, 0xD8, 0x05], Class::DoubleShift, 4, &[], &[AX, BX], &[AX, F], &[]),
            (&[0x48, 0x0F, 0xBA, 0xE8, 0x03], Class::BitTest, 8, &[], &[AX], &[AX, F], &[]),
            (&[0xF3, 0x48, 0x0F, 0xB8, 0xC3], Class::PopulationCount, 8, &[], &[BX], &[AX, F], &[]),
            // mul rbx; imul eax,ebx,7; div ebx; idiv rbx
            (&[0x48, 0xF7, 0xE3], Class::WideMultiply, 8, &[], &[AX, BX], &[AX, DX, F], &[]),
            (&[0x6B, 0xC3, 0x07], Class::Multiply, 4, &[], &[BX], &[AX, F], &[]),
            (&[0xF7, 0xF3], Class::Divide, 4, &[], &[AX, DX, BX], &[AX, DX, F], &[]),
            (&[0x48, 0xF7, 0xFB], Class::SignedDivide, 8, &[], &[AX, DX, BX], &[AX, DX, F], &[]),
            // xchg [rbx],rax; nop; nop dword [rbx]
            (&[0x48, 0x87, 0x03], Class::Exchange, 8, &[BX], &[AX], &[AX], &[(Load, 8), (Store, 8)]),
            (&[0x90], Class::Nop, 0, &[], &[], &[], &[]),
            (&[0x0F, 0x1F, 0x03], Class::Nop, 0, &[], &[], &[], &[]),
        ],
    );
}

#[test]
fn the_stack_is_accessed_by_what_pushes_and_pops() {
    check(
        Mode::Bits64,
        &[
            // push rbx; push qword [rbx]; pop rbx; call [rbx]; ret; leave; pushfq
            (&[0x53], Class::Push, 8, &[SP], &[BX], &[SP], &[(Store, 8)]),
            (&[0xFF, 0x33], Class::Push, 8, &[BX, SP], &[], &[SP], &[(Load, 8), (Store, 8)]),
            (&[0x5B], Class::Pop, 8, &[SP], &[], &[BX, SP], &[(Load, 8)]),
            (&[0xFF, 0x13], Class::Call, 8, &[BX, SP], &[], &[SP], &[(Load, 8), (Store, 8)]),
            (&[0xC3], Class::Return, 8, &[SP], &[], &[SP], &[(Load, 8)]),
            (&[0xC9], Class::Pop, 8, &[BP], &[], &[SP, BP], &[(Load, 8)]),
            (&[0x9C], Class::Microcode, 8, &[SP], &[F, D], &[SP], &[(Store, 8)]),
        ],
    );
}

#[test]
fn vectors_are_moved_and_computed() {
    check(
        Mode::Bits64,
        &[
            // movaps xmm0,[rbx]; movdqa [rbx],xmm0; movq xmm0,rax; movd eax,xmm0; movntps [rbx],xmm1
            (&[0x0F, 0x28, 0x03], Class::Load, 16, &[BX], &[], &[X0], &[(Load, 16)]),
            (&[0x66, 0x0F, 0x7F, 0x03], Class::Store, 16, &[BX], &[X0], &[], &[(Store, 16)]),
            (&[0x66, 0x48, 0x0F, 0x6E, 0xC0], Class::ToVector, 8, &[], &[AX], &[X0], &[]),
            (&[0x66, 0x0F, 0x7E, 0xC0], Class::FromVector, 4, &[], &[X0], &[AX], &[]),
            (&[0x0F, 0x2B, 0x0B], Class::Store, 16, &[BX], &[X1], &[], &[(StreamingStore, 16)]),
            // addps xmm0,xmm1; mulsd xmm0,[rbx]; divps xmm1,xmm2; sqrtsd xmm0,xmm1; rcpps xmm0,xmm1; ucomisd xmm0,xmm1
            (&[0x0F, 0x58, 0xC1], Class::FloatAdd, 16, &[], &[X0, X1], &[X0], &[]),
            (&[0xF2, 0x0F, 0x59, 0x03], Class::FloatMultiply, 8, &[BX], &[X0], &[X0], &[(Load, 8)]),
            (&[0x0F, 0x5E, 0xCA], Class::FloatDivide, 16, &[], &[X1, X2], &[X1], &[]),
            (&[0x0F, 0x53, 0xC1], Class::FloatEstimate, 16, &[], &[X1], &[X0], &[]),
            (&[0x66, 0x0F, 0x2E, 0xC1], Class::FloatCompare, 8, &[], &[X0, X1], &[F], &[]),
            // cvtdq2ps xmm0,xmm1; pshufd xmm0,xmm1,1; pmulld xmm0,xmm1; paddd xmm0,xmm1; aesenc xmm0,xmm1; pmovmskb eax,xmm1
            (&[0x0F, 0x5B, 0xC1], Class::FloatConvert, 16, &[], &[X1], &[X0], &[]),
            (&[0x66, 0x0F, 0x70, 0xC1, 0x01], Class::VectorPermute, 16, &[], &[X1], &[X0], &[]),
            (&[0x66, 0x0F, 0x38, 0x40, 0xC1], Class::VectorMultiply, 16, &[], &[X0, X1], &[X0], &[]),
            (&[0x66, 0x0F, 0xFE, 0xC1], Class::Vector, 16, &[], &[X0, X1], &[X0], &[]),
            (&[0x66, 0x0F, 0x38, 0xDC, 0xC1], Class::Crypto, 16, &[], &[X0, X1], &[X0], &[]),
            (&[0x66, 0x0F, 0xD7, 0xC1], Class::FromVector, 16, &[], &[X1], &[AX], &[]),
            // vfmadd213ps zmm0,zmm1,zmm2; vaddps ymm0,ymm1,[rbx]; kandw k1,k2,k3
            (&[0x62, 0xF2, 0x75, 0x48, 0xA8, 0xC2], Class::FloatMultiplyAdd, 64, &[], &[X0, X1, X2], &[X0], &[]),
            (&[0xC5, 0xF4, 0x58, 0x03], Class::FloatAdd, 32, &[BX], &[X1], &[X0], &[(Load, 32)]),
            (&[0xC5, 0xEC, 0x41, 0xCB], Class::Vector, 8, &[], &[MASKS + 2, MASKS + 3], &[MASKS + 1], &[]),
            // paddb mm0,mm1; pfadd mm0,mm1
            (&[0x0F, 0xFC, 0xC1], Class::Vector, 8, &[], &[MM0, MM1], &[MM0], &[]),
            (&[0x0F, 0x0F, 0xC1, 0x9E], Class::FloatAdd, 8, &[], &[MM0, MM1], &[MM0], &[]),
        ],
    );
}

#[test]
fn x87_works_on_its_stack() {
    check(
        Mode::Bits64,
        &[
            // fadd st0,st1; fmul dword [rbx]; fsqrt; fchs
            (&[0xD8, 0xC1], Class::FloatAdd, 10, &[], &[ST0, ST0 + 1], &[ST0], &[]),
            (&[0xD8, 0x0B], Class::FloatMultiply, 4, &[BX], &[ST0], &[ST0], &[(Load, 4)]),
            (&[0xD9, 0xFA], Class::FloatSquareRoot, 10, &[], &[ST0], &[ST0], &[]),
            (&[0xD9, 0xE0], Class::FloatMove, 10, &[], &[ST0], &[ST0], &[]),
        ],
    );
}

#[test]
fn lines_are_named_by_prefetches_and_flushes() {
    check(
        Mode::Bits64,
        &[
            // prefetchnta [rbx]; prefetcht0 [rbx]; prefetchw [rbx]; clflush [rbx]; movnti [rbx],eax
            (&[0x0F, 0x18, 0x03], Class::Load, 0, &[BX], &[], &[], &[(PrefetchOnce, 1)]),
            (&[0x0F, 0x18, 0x0B], Class::Load, 0, &[BX], &[], &[], &[(PrefetchLoad, 1)]),
            (&[0x0F, 0x0D, 0x0B], Class::Load, 0, &[BX], &[], &[], &[(PrefetchStore, 1)]),
            (&[0x0F, 0xAE, 0x3B], Class::Microcode, 0, &[BX], &[], &[], &[(Flush, 1)]),
            (&[0x0F, 0xC3, 0x03], Class::Store, 4, &[BX], &[AX], &[], &[(StreamingStore, 4)]),
        ],
    );
}

#[test]
fn the_system_is_told_from_what_serialises() {
    check(
        Mode::Bits64,
        &[
            // cpuid; wrmsr; rdtsc; mfence; mov cr3,rax, which leaves the flags undefined; mov ds,eax; hlt
            (&[0x0F, 0xA2], Class::Serializing, 0, &[], &[AX, CX], &[AX, CX, DX, BX], &[]),
            (&[0x0F, 0x30], Class::Serializing, 0, &[], &[AX, CX, DX], &[], &[]),
            (&[0x0F, 0x31], Class::System, 0, &[], &[], &[AX, DX], &[]),
            (&[0x0F, 0xAE, 0xF0], Class::Fence, 0, &[], &[], &[], &[]),
            (&[0x0F, 0x22, 0xD8], Class::Serializing, 8, &[], &[AX], &[F, super::register::CONTROL + 3], &[]),
            (&[0x8E, 0xD8], Class::System, 2, &[], &[AX], &[DS], &[]),
            (&[0xF4], Class::System, 0, &[], &[], &[], &[]),
        ],
    );
}

#[test]
fn modes_change_what_the_same_bytes_are() {
    // 40h is INC EAX, INC AX, or REX. MOV with the address [BX+SI], [EAX] and [RAX].
    check(
        Mode::Bits16,
        &[
            (&[0x40], Class::Simple, 2, &[], &[AX], &[AX, F], &[]),
            (&[0x8B, 0x00], Class::Load, 2, &[BX, SI, DS], &[AX], &[AX], &[(Load, 2)]),
        ],
    );
    check(
        Mode::Bits32,
        &[(&[0x40], Class::Simple, 4, &[], &[AX], &[AX, F], &[]), (&[0x8B, 0x00], Class::Load, 4, &[AX, DS], &[], &[AX], &[(Load, 4)])],
    );
    check(Mode::Bits64, &[(&[0x40, 0x8B, 0x00], Class::Load, 4, &[AX], &[], &[AX], &[(Load, 4)])]);
    // push ebx; pop ds of 32-bit code
    check(Mode::Bits32, &[(&[0x53], Class::Push, 4, &[SP, SS], &[BX], &[SP], &[(Store, 4)])]);
    assert_eq!(of(&[0x1F], Mode::Bits32).description.segment_loads, 1);
    assert_eq!(decode(&[0x1F, 0], Mode::Bits64, 0), Err(Undecoded::Invalid));
}

#[test]
fn locked_accesses_are_marked() {
    // lock cmpxchg [rbx],rcx; xchg [rbx],rax; cmpxchg16b fs:[rdi+rcx], which is not locked
    for (bytes, locked) in
        [(&[0xF0, 0x48, 0x0F, 0xB1, 0x0B][..], true), (&[0x48, 0x87, 0x03], true), (&[0x64, 0x48, 0x0F, 0xC7, 0x0C, 0x0F], false)]
    {
        let accesses: Vec<_> = of(bytes, Mode::Bits64).description.accesses().iter().map(|access| (access.kind, access.locked)).collect();
        assert_eq!(accesses, [(Load, locked), (Store, locked)], "{bytes:02x?}");
    }
    let addresses = sorted(of(&[0x64, 0x48, 0x0F, 0xC7, 0x0C, 0x0F], Mode::Bits64).description.operands.addresses());
    assert_eq!(addresses, [CX, DI, FS]);
}

#[test]
fn string_instructions_repeat_with_their_prefix() {
    // movsq; rep stosb; repne scasb
    for (bytes, repeats, accesses) in [
        (&[0x48, 0xA5][..], false, &[(Load, 8), (Store, 8)][..]),
        (&[0xF3, 0xAA], true, &[(Store, 1)]),
        (&[0xF2, 0xAE], true, &[(Load, 1)]),
    ] {
        let description = of(bytes, Mode::Bits64).description;
        assert_eq!((description.operands.class, description.repeats), (Class::String, repeats), "{bytes:02x?}");
        assert!(description.accesses().iter().map(|access| (access.kind, access.bytes)).eq(accesses.iter().copied()), "{bytes:02x?}");
    }
}

#[test]
fn transfers_have_their_kind_and_those_with_a_displacement_their_target() {
    let rows: [(&[u8], BranchKind, Option<u64>); 12] = [
        // je, loop, jmp, call: two bytes or five behind 1000h, and a displacement.
        (&[0x74, 0x10], BranchKind::Conditional, Some(0x1012)),
        (&[0xE2, 0xFE], BranchKind::Conditional, Some(0x1000)),
        (&[0xEB, 0xF0], BranchKind::DirectJump, Some(0xFF2)),
        (&[0xE8, 0, 1, 0, 0], BranchKind::DirectCall, Some(0x1105)),
        // jmp rax; jmp [rax]; call rax; ret; jmp far [rax]; syscall; int 80h; iretq
        (&[0xFF, 0xE0], BranchKind::IndirectJump, None),
        (&[0xFF, 0x20], BranchKind::IndirectJump, None),
        (&[0xFF, 0xD0], BranchKind::IndirectCall, None),
        (&[0xC3], BranchKind::Return, None),
        (&[0xFF, 0x28], BranchKind::Far, None),
        (&[0x0F, 0x05], BranchKind::Far, None),
        (&[0xCD, 0x80], BranchKind::Far, None),
        (&[0x48, 0xCF], BranchKind::Far, None),
    ];
    for (bytes, kind, target) in rows {
        let branch = of(bytes, Mode::Bits64).description.branch;
        assert_eq!(branch.map(|branch| (branch.kind, branch.target)), Some((kind, target)), "{bytes:02x?}");
    }
    // ud2; hlt; INTO of 32-bit code, which the flags decide on
    assert_eq!(of(&[0x0F, 0x0B], Mode::Bits64).description.branch, None);
    assert_eq!(of(&[0xCE], Mode::Bits32).description.branch, None);
    // The target of 16-bit code wraps.
    let jump = decode(&[0xEB, 0x10], Mode::Bits16, 0xFFF0).expect("a jump").description.branch;
    assert_eq!(jump.and_then(|branch| branch.target), Some(0x0002));
}

#[test]
fn elements_are_those_of_the_result() {
    // addps; addpd; paddd; cvtdq2ps; cvttsd2si rax,xmm0; add
    for (bytes, elements, packed) in [
        (&[0x0F, 0x58, 0xC1][..], Elements::Singles, true),
        (&[0x66, 0x0F, 0x58, 0xC1], Elements::Doubles, true),
        (&[0x66, 0x0F, 0xFE, 0xC1], Elements::Integers, true),
        (&[0x0F, 0x5B, 0xC1], Elements::Singles, true),
        (&[0xF2, 0x48, 0x0F, 0x2C, 0xC0], Elements::Integers, false),
        (&[0xF2, 0x0F, 0x58, 0xC1], Elements::Doubles, false),
        (&[0x48, 0x01, 0xD8], Elements::Untold, false),
    ] {
        let operands = of(bytes, Mode::Bits64).description.operands;
        assert_eq!((operands.elements, operands.packed), (elements, packed), "{bytes:02x?}");
    }
}

#[test]
fn half_a_register_is_written_by_what_keeps_the_other() {
    // movhps xmm0,[rbx]; movhps [rbx],xmm0; movlhps xmm0,xmm1
    let upper = |bytes: &[u8]| of(bytes, Mode::Bits64).description.operation().upper;
    assert!(upper(&[0x0F, 0x16, 0x03]) && upper(&[0x0F, 0x16, 0xC1]));
    assert!(!upper(&[0x0F, 0x17, 0x03]));
}

#[test]
fn prefixes_are_counted_and_rex_is_none() {
    // lock add fs:[rax],rcx; movdqa xmm0,xmm1; add rax,rbx
    let prefixes = |bytes: &[u8]| of(bytes, Mode::Bits64).description.operands.prefixes;
    assert_eq!([prefixes(&[0xF0, 0x64, 0x48, 0x01, 0x08]), prefixes(&[0x66, 0x0F, 0x6F, 0xC1]), prefixes(&[0x48, 0x01, 0xD8])], [2, 1, 0]);
}

#[test]
fn micro_operations_grow_with_accesses_and_microcode() {
    // add rax,rbx; add rax,[rbx]; add [rbx],rax; mov rax,[rbx]; cpuid; addps xmm0,[rbx]; fadd dword [rbx]
    let micro_ops = |bytes: &[u8]| of(bytes, Mode::Bits64).description.micro_ops;
    let rows: [&[u8]; 7] = [
        &[0x48, 0x01, 0xD8],
        &[0x48, 0x03, 0x03],
        &[0x48, 0x01, 0x03],
        &[0x48, 0x8B, 0x03],
        &[0x0F, 0xA2],
        &[0x0F, 0x58, 0x03],
        &[0xD8, 0x03],
    ];
    assert_eq!(rows.map(micro_ops), [1, 2, 3, 1, 8, 2, 2]);
}

/// The signals that an instruction adds to, apart from those of every instruction.
fn added(bytes: &[u8]) -> Vec<(Signal, u64)> {
    let mut added = Vec::new();
    of(bytes, Mode::Bits64).signals(|signal, amount| added.push((signal, amount)));
    added.retain(|(signal, _)| !matches!(signal, Signal::InstructionsRetired | Signal::MicroOpsRetired));
    added
}

#[test]
fn signals_are_those_that_bytes_determine() {
    let one = |signals: &[Signal]| signals.iter().map(|signal| (*signal, 1)).collect::<Vec<_>>();
    // jmp rax; call; ret; je; syscall
    assert_eq!(added(&[0xFF, 0xE0]), one(&[Signal::BranchesRetired, Signal::BranchesTaken, Signal::IndirectJumps]));
    let call = [Signal::BranchesRetired, Signal::BranchesTaken, Signal::DirectCalls, Signal::Stores];
    assert_eq!(added(&[0xE8, 0, 0, 0, 0]), one(&call));
    assert_eq!(added(&[0xC3]), one(&[Signal::BranchesRetired, Signal::BranchesTaken, Signal::NearReturns, Signal::Loads]));
    assert_eq!(added(&[0x74, 0]), one(&[Signal::BranchesRetired]));
    // CPUID is microcode of eight.
    assert_eq!(added(&[0x0F, 0xA2]), [(Signal::MicrocodedOpsRetired, 8), (Signal::CpuidInstructions, 1)]);
    // addps; addsd; movaps xmm0,[rbx], which is no operation; paddb mm0,mm1; fadd st0,st1
    assert_eq!(added(&[0x0F, 0x58, 0xC1]), one(&[Signal::PackedVectorOpsRetired, Signal::PackedSseInstructions]));
    assert_eq!(added(&[0xF2, 0x0F, 0x58, 0xC1]), one(&[Signal::ScalarVectorOpsRetired, Signal::ScalarSseInstructions]));
    assert_eq!(added(&[0x0F, 0x28, 0x03]), one(&[Signal::Loads, Signal::PackedSseInstructions]));
    assert_eq!(added(&[0x0F, 0xFC, 0xC1]), one(&[Signal::MmxInstructions]));
    assert_eq!(added(&[0xD8, 0xC1]), one(&[Signal::X87Instructions]));
    // lock inc dword [rbx]; prefetchw [rbx]; clflush [rbx]; pop fs, of microcode; rep stosb, whose number of stores CX has
    assert_eq!(added(&[0xF0, 0xFF, 0x03]), one(&[Signal::Loads, Signal::Stores, Signal::LockedInstructions]));
    assert_eq!(added(&[0x0F, 0x0D, 0x0B]), one(&[Signal::PrefetchesForStore]));
    assert_eq!(added(&[0x0F, 0xAE, 0x3B]), one(&[Signal::CacheLineFlushes]));
    assert_eq!(added(&[0x0F, 0xA1]), [(Signal::MicrocodedOpsRetired, 8), (Signal::Loads, 1), (Signal::SegmentLoadsFs, 1)]);
    assert_eq!(added(&[0xF3, 0xAA]), []);
}

#[test]
fn bytes_that_end_early_are_told_from_those_that_are_no_instruction() {
    assert_eq!(decode(&[], Mode::Bits64, 0), Err(Undecoded::Short));
    assert_eq!(decode(&[0x48], Mode::Bits64, 0), Err(Undecoded::Short));
    // 06h is PUSH ES, which 64-bit mode does not have.
    assert_eq!(decode(&[0x06, 0], Mode::Bits64, 0), Err(Undecoded::Invalid));
    // Longer than 15 bytes.
    assert_eq!(decode(&[0x66; 20], Mode::Bits64, 0), Err(Undecoded::Invalid));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn any_bytes_are_described_within_their_bounds(
        bytes in prop::collection::vec(any::<u8>(), 0..20),
        address in any::<u64>(),
        mode in prop::sample::select(&[Mode::Bits16, Mode::Bits32, Mode::Bits64][..]),
    ) {
        if let Ok(Instruction { description, .. }) = decode(&bytes, mode, address) {
            prop_assert!((1..=bytes.len().min(super::LONGEST)).contains(&usize::from(description.length)));
            // What follows it does not matter.
            let alone = decode(&bytes[..usize::from(description.length)], mode, address).map(|instruction| instruction.description);
            prop_assert_eq!(alone, Ok(description));
            let operands = description.operands;
            let mut registers = operands.addresses().iter().chain(operands.reads()).chain(operands.writes());
            prop_assert!(registers.all(|register| usize::from(register.0) < Register::COUNT));
        }
    }

    #[test]
    fn no_signal_comes_twice(bytes in prop::collection::vec(any::<u8>(), 15)) {
        if let Ok(instruction) = decode(&bytes, Mode::Bits64, 0) {
            let mut signals = Vec::new();
            instruction.signals(|signal, amount| if amount != 0 { signals.push(signal) });
            let all = signals.len();
            signals.sort_unstable();
            signals.dedup();
            prop_assert_eq!(signals.len(), all);
        }
    }
}
