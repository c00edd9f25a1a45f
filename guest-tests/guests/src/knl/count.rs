//! `count`: known code, counted by every event that is exact, and every way to read and write a counter.

use iced_x86::code_asm::*;

use super::{
    ALL, CLOCKS, COUNTER, COUNTER_MASK, FIXED, FIXED_CONTROL, FIXED_OS, GLOBAL_CONTROL, INSTRUCTIONS, LEGACY, OS, PART, RDPMC_FIXED,
};
use crate::runtime::{Built, EXPECT, FAULTS, Kernel, cell, here};
use vm_pmu_engines::x86::Image;

/// Bytes of a cache line.
const LINE: u64 = 64;

/// Event, unit mask, and its count over the mix.
///
/// The measured stretch is: the enabling WRMSR, CALL, the mix, three MOVs. By hand:
///
/// | part | instructions | near branches | that load | that store |
/// | --- | --- | --- | --- | --- |
/// | MOV, then 10 times ADD from memory, DEC, JNZ | 31 | 10 | 10 | |
/// | CALL; NOP, RET | 3 | 2 | 1 | 1 |
/// | a load and a store that cross from line to line | 2 | | 1 | 1 |
/// | LOCK INC, XCHG with memory | 2 | | 2 | 2 |
/// | XOR, CPUID | 2 | | | |
/// | RET | 1 | 1 | 1 | |
/// | around it: WRMSR, CALL, three MOVs | 5 | 1 | | 1 |
/// | sum | 46 | 14 | 15 | 5 |
const EVENTS: &[(&str, u64, u64)] = &[
    ("INST_RETIRED.ANY_P", INSTRUCTIONS, 46),
    ("CPU_CLK_UNHALTED.THREAD_P", CLOCKS, 46),
    ("CPU_CLK_UNHALTED.REF", 0x013C, 46),
    ("BR_INST_RETIRED.ALL_BRANCHES", 0x00C4, 14),
    ("MEM_UOPS_RETIRED.ALL_LOADS", 0x4004, 15),
    ("MEM_UOPS_RETIRED.ALL_STORES", 0x8004, 5),
    ("RECYCLEQ.LD_SPLITS", 0x0803, 1),
    ("RECYCLEQ.ST_SPLITS", 0x0403, 1),
    ("RECYCLEQ.LOCK", 0x1003, 2),
    // Bits of the mask add up.
    ("RECYCLEQ splits and locks together", 0x1C03, 4),
    // More than two instructions retire in no clock: with inversion that is every clock.
    ("clocks by INST_RETIRED.ANY_P, inverted, with a counter mask of 16", 0x1080_00C0, 46),
    ("INST_RETIRED.ANY_P with a counter mask of 16", 0x1000_00C0, 0),
    // Inversion without a counter mask has no effect.
    ("INST_RETIRED.ANY_P, inverted", 0x0080_00C0, 46),
];

/// Fixed counters, of which the WRMSR that enables all is the first instruction and the one that disables them is not counted: the same
/// stretch.
const FIXED_EVENTS: [(&str, u64); 3] = [("INST_RETIRED.ANY", 46), ("CPU_CLK_UNHALTED.THREAD", 46), ("CPU_CLK_UNHALTED.REF_TSC", 46)];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let buffer = k.reserve(4 * LINE);
    let (mut mix, mut leaf, mut again) = (k.a.create_label(), k.a.create_label(), k.a.create_label());
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
    a.mov(rax, qword_ptr(buffer + LINE - 4))?;
    a.mov(qword_ptr(buffer + 2 * LINE - 4), rax)?;
    a.lock().inc(qword_ptr(buffer))?;
    a.xchg(qword_ptr(buffer), rax)?;
    a.xor(eax, eax)?;
    a.cpuid()?;
    a.ret()?;

    k.main()?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for (name, select, right) in EVENTS {
        for counter in 0..2 {
            k.wrmsr(COUNTER + counter, 0)?;
            PART.enable(&mut k, counter, select | OS)?;
            k.a.call(mix)?;
            PART.disable(&mut k, counter, select | OS)?;
            k.rdmsr(COUNTER + counter)?;
            k.a.mov(r12, rax)?;
            k.rdmsr(LEGACY + counter)?;
            k.a.mov(r13, rax)?;
            k.rdpmc(counter)?;
            k.a.mov(r14, rax)?;
            k.check_is(&format!("{name} on counter {counter}"), r12, *right)?;
            k.check_same(&format!("{name} on counter {counter} at its other address"), r13, r12)?;
            k.check_same(&format!("{name} on counter {counter} by RDPMC"), r14, r12)?;
        }
    }
    k.wrmsr(FIXED_CONTROL, FIXED_OS * 0x111)?;
    k.a.call(mix)?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    for (n, (name, right)) in (0..).zip(FIXED_EVENTS) {
        k.rdmsr(FIXED + n)?;
        k.a.mov(r12, rax)?;
        k.rdpmc(RDPMC_FIXED + n)?;
        k.a.mov(r13, rax)?;
        k.check_is(name, r12, right)?;
        k.check_same(&format!("{name} by RDPMC"), r13, r12)?;
    }
    repeats(&mut k, buffer)?;
    between_reads(&mut k)?;
    writes(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// A repeated instruction is one instruction, and its five rounds take five cycles of the machine: WRMSR; three set-ups; it; three MOVs.
fn repeats(k: &mut Kernel, buffer: u64) -> Built<()> {
    for (name, event, right) in [("instructions", INSTRUCTIONS, 8), ("clocks", CLOCKS, 12)] {
        k.wrmsr(COUNTER, 0)?;
        PART.enable(k, 0, event | OS)?;
        k.a.mov(esi, buffer as u32)?;
        k.a.mov(edi, (buffer + LINE) as u32)?;
        k.a.mov(ecx, 5)?;
        k.a.rep().movsb()?;
        PART.disable(k, 0, 0)?;
        k.rdmsr(COUNTER)?;
        k.check_is(&format!("{name} of REP MOVSB of five"), rax, right)?;
    }
    Ok(())
}

/// Two RDPMC while the counter runs: the first, SHL, OR, MOV and MOV are between one and the next.
fn between_reads(k: &mut Kernel) -> Built<()> {
    k.wrmsr(FIXED, 0)?;
    k.wrmsr(FIXED_CONTROL, FIXED_OS)?;
    k.rdpmc(RDPMC_FIXED)?;
    k.a.mov(r12, rax)?;
    k.rdpmc(RDPMC_FIXED)?;
    k.a.mov(r13, rax)?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    // The enabling WRMSR and MOV come before the first.
    k.check_is("instructions up to the first RDPMC", r12, 2)?;
    k.a.sub(r13, r12)?;
    k.check_is("instructions from one RDPMC to the next", r13, 5)
}

/// What a stopped counter shows after a write: 32 bits with their sign by the old address, 40 bits by the new one and of fixed counters,
/// where more bits fault and leave the counter alone.
fn writes(k: &mut Kernel) -> Built<()> {
    for (what, msr, value, right) in [
        ("IA32_PMC0, positive", LEGACY, 0x1234_5678, 0x1234_5678),
        ("IA32_PMC0, negative", LEGACY, 0x8000_0000, 0xFF_8000_0000),
        ("IA32_PMC1, bits 63:32 ignored", LEGACY + 1, 0x5555_5555_7FFF_FFFF, 0x7FFF_FFFF),
        ("IA32_PMC1, all ones", LEGACY + 1, u64::MAX, COUNTER_MASK),
        ("IA32_A_PMC0", COUNTER, 0x80_0000_0001, 0x80_0000_0001),
        ("IA32_A_PMC1", COUNTER + 1, COUNTER_MASK, COUNTER_MASK),
        ("IA32_FIXED_CTR0", FIXED, 0x12_3456_789A, 0x12_3456_789A),
        ("IA32_FIXED_CTR1", FIXED + 1, COUNTER_MASK, COUNTER_MASK),
        ("IA32_FIXED_CTR2", FIXED + 2, 0x80_0000_0000, 0x80_0000_0000),
    ] {
        k.wrmsr(msr, value)?;
        k.rdmsr(msr)?;
        k.check_is(&format!("{what}: what is read behind a write"), rax, right)?;
    }
    k.a.mov(cell(EXPECT), 1)?;
    for msr in [COUNTER, COUNTER + 1, FIXED, FIXED + 1, FIXED + 2] {
        k.wrmsr(msr, 7)?;
        k.wrmsr(msr, COUNTER_MASK + 1)?;
        k.rdmsr(msr)?;
        k.check_is(&format!("{msr:X}h after a write of bit 40 that faults"), rax, 7)?;
    }
    k.a.mov(cell(EXPECT), 0)?;
    k.a.mov(r12, cell(FAULTS))?;
    k.check_is("writes of bit 40: faults", r12, 5)
}
