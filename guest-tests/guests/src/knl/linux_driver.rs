//! `linux-driver`: what Linux does with its counters, access by access, from the first event to the last.
//!
//! Clocks are sampled by IA32_FIXED_CTR1 while IA32_PMC0 counts branches for the longest period; then two counters overflow at once.

use iced_x86::code_asm::*;

use super::{ALL, COUNTER, FIXED, FIXED_CONTROL, GLOBAL_CONTROL, GLOBAL_STATUS, OVERFLOW_CONTROL, SELECT, before_overflow};
use crate::runtime::{APIC, APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, LVT_NMI, cell, here, own};
use vm_pmu_engines::x86::Image;

/// Branches, and instructions, of both levels with INT, enabled; stopped without EN.
const BRANCHES: u64 = 0x53_00C4;
const INSTRUCTIONS: u64 = 0x53_00C0;
const EN: u64 = 1 << 22;
/// IA32_FIXED_CTR1, its field of IA32_FIXED_CTR_CTRL for both levels with PMI.
const CLOCKS: u32 = FIXED + 1;
const CLOCKS_FIELD: u64 = 0xB0;
/// The longest period: 2^39 - 1.
const LONGEST: u64 = (1 << 39) - 1;

const PERIOD: u64 = 1000;
/// Rounds of two instructions.
const ROUNDS: u32 = 10_000;

const NMIS: u32 = own(0);
/// Overflows handled, by counter.
const BY_CLOCKS: u32 = own(1);
const BY_PMC0: u32 = own(2);
const BY_PMC1: u32 = own(3);
/// Times round the loop that checks the status.
const LOOKS: u32 = own(4);
/// NMIs that found the entry unmasked, or a status of zero.
const UNMASKED: u32 = own(5);
const EMPTY: u32 = own(6);

/// Of each period, what the handler's end takes: the WRMSR that starts all again, four POPs, IRETQ.
const END: u64 = 1 + 4 + 1;
/// What is executed while clocks are sampled, after the WRMSR that starts: MOV, the rounds, three MOVs to stop.
const EXECUTED: u64 = 1 + 2 * ROUNDS as u64 + 3;
/// The first period has the WRMSR that starts, the others the handler's end.
const SAMPLES: u64 = 1 + (EXECUTED - (PERIOD - 1)) / (PERIOD - END);

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    handler(&mut k)?;
    k.main()?;
    sample(&mut k)?;
    both(&mut k)?;
    reset(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// LVTPC first of all, then everything is stopped; the status is read, acknowledged and handled until it is empty; then everything is
/// started again.
fn handler(k: &mut Kernel) -> Built<()> {
    k.handler(2)?;
    let [mut masked, mut again, mut found, mut out] = [(); 4].map(|()| k.a.create_label());
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    k.a.push(rbx)?;
    k.a.mov(eax, APIC)?;
    k.a.test(dword_ptr(rax + APIC_LVT_PERFORMANCE), LVT_MASKED as i32)?;
    k.a.jne(masked)?;
    k.a.inc(cell(UNMASKED))?;
    here(&mut k.a, &mut masked)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    k.a.inc(cell(NMIS))?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.a.test(rax, rax)?;
    k.a.jne(found)?;
    k.a.inc(cell(EMPTY))?;
    k.a.jmp(out)?;
    here(&mut k.a, &mut again)?;
    here(&mut k.a, &mut found)?;
    k.a.inc(cell(LOOKS))?;
    k.a.mov(rbx, rax)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.mov(ecx, OVERFLOW_CONTROL)?;
    k.a.wrmsr()?;
    for (bit, offset, counter, start) in [
        (33, BY_CLOCKS, CLOCKS, before_overflow(PERIOD)),
        (0, BY_PMC0, COUNTER, before_overflow(LONGEST)),
        (1, BY_PMC1, COUNTER + 1, before_overflow(LONGEST)),
    ] {
        let mut next = k.a.create_label();
        k.a.bt(rbx, bit)?;
        k.a.jae(next)?;
        k.a.inc(cell(offset))?;
        k.rdmsr(counter)?;
        k.wrmsr(counter, start)?;
        here(&mut k.a, &mut next)?;
    }
    k.rdmsr(GLOBAL_STATUS)?;
    k.a.test(rax, rax)?;
    k.a.jne(again)?;
    here(&mut k.a, &mut out)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    k.a.pop(rbx)?;
    k.a.pop(rdx)?;
    k.a.pop(rcx)?;
    k.a.pop(rax)?;
    k.a.iretq()
}

fn shows(k: &mut Kernel, what: &str, cells: &[(&str, u32, u64)]) -> Built<()> {
    for (name, offset, right) in cells {
        k.a.mov(r12, cell(*offset))?;
        k.a.mov(cell(*offset), 0)?;
        k.check_is(&format!("{what}: {name}"), r12, *right)?;
    }
    Ok(())
}

fn sample(k: &mut Kernel) -> Built<()> {
    let mut again = k.a.create_label();
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    k.wrmsr(COUNTER, before_overflow(LONGEST))?;
    k.wrmsr(SELECT, BRANCHES)?;
    k.wrmsr(CLOCKS, before_overflow(PERIOD))?;
    k.wrmsr(FIXED_CONTROL, CLOCKS_FIELD)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    k.a.mov(ecx, ROUNDS)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(ecx)?;
    k.a.jne(again)?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    k.wrmsr(SELECT, BRANCHES & !EN)?;
    let cells = [
        ("NMIs", NMIS, SAMPLES),
        ("samples", BY_CLOCKS, SAMPLES),
        ("overflows of IA32_PMC0", BY_PMC0, 0),
        ("overflows of IA32_PMC1", BY_PMC1, 0),
        ("looks at the status", LOOKS, SAMPLES),
        ("NMIs that find the entry unmasked", UNMASKED, 0),
        ("NMIs that find nothing", EMPTY, 0),
    ];
    shows(k, "sampling clocks every 1000", &cells)?;
    // JNZ of each round; of each handler its JNE before everything is stopped and its IRETQ after.
    k.rdmsr(COUNTER)?;
    k.a.mov(rcx, before_overflow(LONGEST))?;
    k.a.sub(rax, rcx)?;
    k.check_is("branches counted beside", rax, u64::from(ROUNDS) + 2 * SAMPLES)
}

/// Two counters wrap at one instruction: one NMI finds and handles both.
fn both(k: &mut Kernel) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    for n in 0..2 {
        k.wrmsr(COUNTER + n, before_overflow(50))?;
        k.wrmsr(SELECT + n, INSTRUCTIONS)?;
    }
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for _ in 0..100 {
        k.a.nop()?;
    }
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    let cells = [
        ("NMIs", NMIS, 1),
        ("overflows of IA32_PMC0", BY_PMC0, 1),
        ("overflows of IA32_PMC1", BY_PMC1, 1),
        ("overflows of IA32_FIXED_CTR1", BY_CLOCKS, 0),
        ("looks at the status", LOOKS, 1),
        ("NMIs that find the entry unmasked", UNMASKED, 0),
        ("NMIs that find nothing", EMPTY, 0),
    ];
    shows(k, "two at once", &cells)?;
    // Started again from the longest period: WRMSR, four POPs, IRETQ; of the 100 NOPs 49 came before; three MOVs.
    k.rdmsr(COUNTER + 1)?;
    k.a.mov(rcx, before_overflow(LONGEST))?;
    k.a.sub(rax, rcx)?;
    k.check_is("two at once: instructions since", rax, END + 51 + 3)
}

/// What Linux does when the status does not become empty: everything is cleared, and stays so.
fn reset(k: &mut Kernel) -> Built<()> {
    // An overflow that was not handled: IA32_PMC0 without INT.
    k.wrmsr(COUNTER, before_overflow(1))?;
    k.wrmsr(SELECT, INSTRUCTIONS & !(1 << 20))?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    k.a.nop()?;
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    for n in 0..2 {
        k.wrmsr(SELECT + n, 0)?;
        k.wrmsr(COUNTER + n, 0)?;
    }
    for n in 0..3 {
        k.wrmsr(FIXED + n, 0)?;
    }
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("reset: the status before", rax, 1)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.mov(ecx, OVERFLOW_CONTROL)?;
    k.a.wrmsr()?;
    for (what, msr) in [("IA32_PERF_GLOBAL_STATUS", GLOBAL_STATUS), ("IA32_PERF_GLOBAL_CTRL", GLOBAL_CONTROL), ("IA32_PMC0", COUNTER)] {
        k.rdmsr(msr)?;
        k.check_is(&format!("reset: {what} afterwards"), rax, 0)?;
    }
    k.a.mov(r12, cell(NMIS))?;
    k.check_is("reset: NMIs", r12, 0)
}
