//! `count`: a known mix of instructions, counted by every event that is exact.

use iced_x86::code_asm::*;

use super::{CLOCKS, COUNTER, COUNTER_MASK, INSTRUCTIONS, OS, PART};
use crate::runtime::{Built, EXPECT, Kernel, cell, here};
use vm_pmu_engines::x86::Image;

/// CR4.OSFXSR: SSE instructions are allowed.
const OSFXSR: i32 = 1 << 9;

/// Event, unit mask, and its count over the mix.
///
/// The measured stretch is: the enabling WRMSR, CALL, the mix, three MOVs. By hand:
///
/// | part of the mix | instructions | near branches | taken | eight-byte accesses |
/// | --- | --- | --- | --- | --- |
/// | MOV, then 10 times ADD from memory, DEC, JNZ | 31 | 10 | 9 | 10 |
/// | CALL; NOP, RET | 3 | 2 | 2 | 2 |
/// | LEA, CALL by register; NOP, RET | 4 | 2 | 2 | 2 |
/// | LEA, JMP by register | 2 | 1 | 1 | |
/// | JMP | 1 | 1 | 1 | |
/// | misaligned load, misaligned store | 2 | | | 4 |
/// | LOCK INC, XCHG with memory | 2 | | | 4 |
/// | CLFLUSH, PREFETCHT0, PREFETCHNTA, PREFETCHW | 4 | | | |
/// | XOR, CPUID | 2 | | | |
/// | three set-ups, REP MOVSB of 5 | 4 | | | 10 |
/// | INT 81h; IRETQ | 2 | | | 10 |
/// | MOV from DS; MOV to ES; MOV to FS | 3 | | | |
/// | MOVDQU of 16 bytes, PXOR, MOVD, EMMS | 4 | | | 2 |
/// | RET | 1 | 1 | 1 | 1 |
/// | around it: WRMSR, CALL, three MOVs | 5 | 1 | 1 | 1 |
/// | sum | 70 | 18 | 17 | 46 |
///
/// INT and IRETQ are two far transfers, which count as branches, taken. REP MOVSB takes four cycles more than one instruction.
const EVENTS: &[(&str, u64, u64)] = &[
    ("RETIRED_INSTRUCTIONS", INSTRUCTIONS, 70),
    ("CPU_CLK_UNHALTED", CLOCKS, 74),
    ("RETIRED_BRANCH_INSTRUCTIONS", 0xC2, 20),
    ("RETIRED_TAKEN_BRANCH_INSTRUCTIONS", 0xC4, 19),
    ("RETIRED_FAR_CONTROL_TRANSFERS", 0xC6, 2),
    ("RETIRED_NEAR_RETURNS", 0xC8, 3),
    ("DATA_CACHE_ACCESSES", 0x40, 49),
    ("MISALIGNED_ACCESSES", 0x47, 2),
    ("LOCKED_OPS:EXECUTED", 0x0124, 2),
    ("RETIRED_CLFLUSH_INSTRUCTIONS", 0x26, 1),
    ("RETIRED_CPUID_INSTRUCTIONS", 0x27, 1),
    // A unit mask on an event that has none is ignored.
    ("RETIRED_CPUID_INSTRUCTIONS with a unit mask", 0x0727, 1),
    ("PREFETCH_INSTRUCTIONS_DISPATCHED:LOAD", 0x014B, 1),
    ("PREFETCH_INSTRUCTIONS_DISPATCHED:STORE", 0x024B, 1),
    ("PREFETCH_INSTRUCTIONS_DISPATCHED:NTA", 0x044B, 1),
    ("PREFETCH_INSTRUCTIONS_DISPATCHED, all", 0x074B, 3),
    // INT and IRETQ load CS, IRETQ loads SS.
    ("SEGMENT_REGISTER_LOADS:ES", 0x0120, 1),
    ("SEGMENT_REGISTER_LOADS:CS", 0x0220, 2),
    ("SEGMENT_REGISTER_LOADS:SS", 0x0420, 1),
    ("SEGMENT_REGISTER_LOADS:DS", 0x0820, 0),
    ("SEGMENT_REGISTER_LOADS:FS", 0x1020, 1),
    ("SEGMENT_REGISTER_LOADS, all", 0x7F20, 5),
    ("SEGMENT_REGISTER_LOADS, no unit mask", 0x0020, 0),
    ("RETIRED_MMX_AND_FP_INSTRUCTIONS:MMX_AND_3DNOW", 0x02CB, 1),
    ("RETIRED_MMX_AND_FP_INSTRUCTIONS:PACKED_SSE_AND_SSE2", 0x04CB, 2),
    ("RETIRED_MMX_AND_FP_INSTRUCTIONS:SCALAR_SSE_AND_SSE2", 0x08CB, 1),
    ("CYCLES_NO_FPU_OPS_RETIRED", 0x01, 70),
    // INT is an instruction, no hardware interrupt.
    ("INTERRUPTS_TAKEN", 0xCF, 0),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let buffer = k.reserve(256);
    k.handler(0x81)?;
    k.a.iretq()?;

    let (mut mix, mut leaf, mut again) = (k.a.create_label(), k.a.create_label(), k.a.create_label());
    let (mut there, mut next) = (k.a.create_label(), k.a.create_label());
    k.routine("leaf");
    let a = &mut k.a;
    here(a, &mut leaf)?;
    a.nop()?;
    a.ret()?;
    k.routine("mix");
    let a = &mut k.a;
    here(a, &mut mix)?;
    a.mov(ecx, 10)?;
    here(a, &mut again)?;
    a.add(rax, qword_ptr(buffer))?;
    a.dec(ecx)?;
    a.jne(again)?;
    a.call(leaf)?;
    a.lea(rdx, ptr(leaf))?;
    a.call(rdx)?;
    a.lea(rdx, ptr(there))?;
    a.jmp(rdx)?;
    here(a, &mut there)?;
    a.jmp(next)?;
    here(a, &mut next)?;
    a.mov(rax, qword_ptr(buffer + 5))?;
    a.mov(qword_ptr(buffer + 13), rax)?;
    a.lock().inc(qword_ptr(buffer))?;
    a.xchg(qword_ptr(buffer), rax)?;
    a.clflush(byte_ptr(buffer))?;
    a.prefetcht0(byte_ptr(buffer))?;
    a.prefetchnta(byte_ptr(buffer))?;
    a.prefetchw(byte_ptr(buffer))?;
    a.xor(eax, eax)?;
    a.cpuid()?;
    a.mov(esi, buffer as u32 + 64)?;
    a.mov(edi, buffer as u32 + 128)?;
    a.mov(ecx, 5)?;
    a.rep().movsb()?;
    a.int(0x81)?;
    a.mov(eax, ds)?;
    a.mov(es, eax)?;
    a.mov(fs, eax)?;
    a.movdqu(xmm0, xmmword_ptr(buffer))?;
    a.pxor(xmm1, xmm1)?;
    a.movd(xmm1, esi)?;
    a.emms()?;
    a.ret()?;

    k.main()?;
    k.a.mov(rax, cr4)?;
    k.a.or(rax, OSFXSR)?;
    k.a.mov(cr4, rax)?;
    for (n, (name, select, right)) in EVENTS.iter().enumerate() {
        let counter = n as u32 % 4;
        k.wrmsr(COUNTER + counter, 0)?;
        PART.enable(&mut k, counter, select | OS)?;
        k.a.call(mix)?;
        PART.disable(&mut k, counter, select | OS)?;
        k.rdmsr(COUNTER + counter)?;
        k.a.mov(r12, rax)?;
        k.rdpmc(counter)?;
        k.a.mov(r13, rax)?;
        k.check_is(name, r12, *right)?;
        k.check_same(&format!("{name} by RDPMC"), r13, r12)?;
    }
    between_reads(&mut k)?;
    over_a_fault(&mut k)?;
    // A counter that is not enabled keeps its value, 48 bits of it.
    k.wrmsr(COUNTER, u64::MAX - 41)?;
    k.a.call(mix)?;
    k.rdmsr(COUNTER)?;
    k.check_is("a disabled counter keeps what is written, without bits 63:48", rax, COUNTER_MASK - 41)?;
    k.a.ret()?;
    k.finish()
}

/// Two RDPMC while the counter runs: the first, SHL, OR, MOV and MOV are between one and the next.
fn between_reads(k: &mut Kernel) -> Built<()> {
    k.wrmsr(COUNTER, 0)?;
    PART.enable(k, 0, INSTRUCTIONS | OS)?;
    k.rdpmc(0)?;
    k.a.mov(r12, rax)?;
    k.rdpmc(0)?;
    k.a.mov(r13, rax)?;
    PART.disable(k, 0, 0)?;
    // The enabling WRMSR and MOV come before the first.
    k.check_is("instructions up to the first RDPMC", r12, 2)?;
    k.a.sub(r13, r12)?;
    k.check_is("instructions from one RDPMC to the next", r13, 5)
}

/// Event, unit mask, and its count over a faulting RDMSR.
///
/// The stretch is WRMSR; MOV; RDMSR, which faults and does not complete; the exception; twelve instructions of the handler, of which
/// one JE is not taken, one is, and the last is IRETQ; three MOVs. The exception counts as an instruction and as a far transfer.
const FAULT: &[(&str, u64, u64)] = &[
    ("RETIRED_INSTRUCTIONS", INSTRUCTIONS, 1 + 1 + 1 + 12 + 3),
    ("RETIRED_BRANCH_INSTRUCTIONS", 0xC2, 4),
    ("RETIRED_TAKEN_BRANCH_INSTRUCTIONS", 0xC4, 3),
    ("RETIRED_FAR_CONTROL_TRANSFERS", 0xC6, 2),
    ("INTERRUPTS_TAKEN", 0xCF, 0),
];

fn over_a_fault(k: &mut Kernel) -> Built<()> {
    k.a.mov(cell(EXPECT), 1)?;
    for (name, select, right) in FAULT {
        k.wrmsr(COUNTER, 0)?;
        PART.enable(k, 0, select | OS)?;
        // Beyond the registers of the part.
        k.a.mov(ecx, COUNTER + 4)?;
        k.a.rdmsr()?;
        PART.disable(k, 0, 0)?;
        k.rdmsr(COUNTER)?;
        k.check_is(&format!("{name} over a fault"), rax, *right)?;
    }
    k.a.mov(cell(EXPECT), 0)
}
