//! `overflow`: an interrupt after exactly N.

use iced_x86::code_asm::*;

use super::{COUNTER, INSTRUCTIONS, INT, OS, PART};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, LVT_NMI, cell, here};
use crate::x86::ticker::{self, COUNT, LAST};
use vm_pmu_engines::x86::Image;

const VECTOR: u8 = 0x60;

/// One-byte NOPs that follow the enabling WRMSR.
const SLIDE: u64 = 120;

pub(super) fn build() -> Built<Image> {
    let (code, addresses) = ticker::user()?;
    let mut k = Kernel::new(code)?;
    ticker::handler(&mut k, &PART, 2)?;
    ticker::handler(&mut k, &PART, VECTOR)?;

    k.main()?;
    for n in [1, 2, 3, 10, 100, SLIDE] {
        at_ring_0(&mut k, n)?;
    }
    for period in [1, 2, 13, 97, 1000] {
        let (counter, rounds) = (PART.followed(0), (period, 200));
        ticker::follow(&mut k, &PART, &format!("NMI every {period}"), addresses, counter, LVT_NMI, rounds)?;
        ticker::follow(&mut k, &PART, &format!("vector every {period}"), addresses, counter, VECTOR.into(), rounds)?;
    }
    behind_the_mask(&mut k, false)?;
    behind_the_mask(&mut k, true)?;
    two_counters(&mut k, "at one instruction", 6, 1)?;
    two_counters(&mut k, "one in the handler of the other", 9, 2)?;
    lost(&mut k)?;
    silent(&mut k)?;
    written(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// Counts ring 0 from -n: the WRMSR that enables is the first, so the interrupt comes after `n - 1` NOPs.
fn at_ring_0(k: &mut Kernel, n: u64) -> Built<()> {
    let mut slide = k.a.create_label();
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.mov(cell(COUNT), 0)?;
    k.wrmsr(COUNTER, n.wrapping_neg())?;
    PART.enable(k, 0, INSTRUCTIONS | OS | INT)?;
    here(&mut k.a, &mut slide)?;
    for _ in 0..SLIDE {
        k.a.nop()?;
    }
    PART.disable(k, 0, 0)?;
    k.a.mov(r12, cell(COUNT))?;
    k.a.mov(r13, cell(LAST))?;
    k.a.lea(rax, ptr(slide))?;
    k.a.sub(r13, rax)?;
    k.check_is(&format!("ring 0, after {n}: NMIs"), r12, 1)?;
    k.check_is(&format!("ring 0, after {n}: NOPs executed before the NMI"), r13, n - 1)
}

/// Overflows while RFLAGS.IF is clear: the interrupt waits, even when the counter is disabled, and comes after the instruction that follows
/// STI.
fn behind_the_mask(k: &mut Kernel, disabled: bool) -> Built<()> {
    let mut behind = k.a.create_label();
    let what = if disabled { "disabled in the meantime" } else { "still enabled" };
    k.apic(APIC_LVT_PERFORMANCE, u32::from(VECTOR))?;
    k.a.mov(cell(COUNT), 0)?;
    k.wrmsr(COUNTER, 5u64.wrapping_neg())?;
    PART.enable(k, 0, INSTRUCTIONS | OS | INT)?;
    for _ in 0..20 {
        k.a.nop()?;
    }
    if disabled {
        PART.disable(k, 0, 0)?;
    }
    k.a.mov(r12, cell(COUNT))?;
    k.a.sti()?;
    k.a.nop()?;
    here(&mut k.a, &mut behind)?;
    k.a.nop()?;
    k.a.cli()?;
    PART.disable(k, 0, 0)?;
    k.check_is(&format!("vector behind CLI, {what}: before STI"), r12, 0)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is(&format!("vector behind CLI, {what}: after STI"), r12, 1)?;
    k.a.mov(r12, cell(LAST))?;
    k.a.lea(r13, ptr(behind))?;
    k.check_same(&format!("vector behind CLI, {what}: where"), r12, r13)
}

/// Two counters ask for an NMI. Counter 0 overflows 10 instructions after it was enabled, counter 1 was enabled 4 later. At one
/// instruction both requests are one NMI, as one can wait; while the handler of the first runs, the second waits for its IRETQ and
/// comes before another instruction.
fn two_counters(k: &mut Kernel, what: &str, second: u64, nmis: u64) -> Built<()> {
    let mut slide = k.a.create_label();
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.mov(cell(COUNT), 0)?;
    k.wrmsr(COUNTER + 1, second.wrapping_neg())?;
    k.wrmsr(COUNTER, 10u64.wrapping_neg())?;
    PART.enable(k, 0, INSTRUCTIONS | OS | INT)?;
    PART.enable(k, 1, INSTRUCTIONS | OS | INT)?;
    here(&mut k.a, &mut slide)?;
    for _ in 0..20 {
        k.a.nop()?;
    }
    PART.disable(k, 1, 0)?;
    PART.disable(k, 0, 0)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is(&format!("two counters, {what}: NMIs"), r12, nmis)?;
    k.a.mov(r12, cell(LAST))?;
    k.a.lea(rax, ptr(slide))?;
    k.a.sub(r12, rax)?;
    // WRMSR, three MOVs and WRMSR are five of the ten.
    k.check_is(&format!("two counters, {what}: NOPs executed before the last NMI"), r12, 5)?;
    for n in 0..2 {
        k.rdmsr(COUNTER + n)?;
        k.a.shr(rax, 47)?;
        k.check_is(&format!("two counters, {what}: counter {n} has wrapped"), rax, 0)?;
    }
    Ok(())
}

/// Overflows while the entry in the local vector table is masked: no interrupt comes, not later either.
fn lost(k: &mut Kernel) -> Built<()> {
    k.apic(APIC_LVT_PERFORMANCE, LVT_MASKED | LVT_NMI)?;
    k.a.mov(cell(COUNT), 0)?;
    k.wrmsr(COUNTER, 5u64.wrapping_neg())?;
    PART.enable(k, 0, INSTRUCTIONS | OS | INT)?;
    for _ in 0..20 {
        k.a.nop()?;
    }
    PART.disable(k, 0, 0)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.nop()?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("overflow with the vector table entry masked: interrupts", r12, 0)
}

/// Overflows with INT clear: the counter wraps and counts on. 20 NOPs, the WRMSR and three MOVs are 24, less 5.
fn silent(k: &mut Kernel) -> Built<()> {
    k.a.mov(cell(COUNT), 0)?;
    k.wrmsr(COUNTER, 5u64.wrapping_neg())?;
    PART.enable(k, 0, INSTRUCTIONS | OS)?;
    for _ in 0..20 {
        k.a.nop()?;
    }
    PART.disable(k, 0, 0)?;
    k.rdmsr(COUNTER)?;
    k.check_is("overflow with INT clear: the counter", rax, 19)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("overflow with INT clear: interrupts", r12, 0)
}

/// A write that takes a counter from all ones to zero is no overflow. CPUID instructions are counted, and there are none.
fn written(k: &mut Kernel) -> Built<()> {
    k.a.mov(cell(COUNT), 0)?;
    PART.enable(k, 0, 0x27 | OS | INT)?;
    k.wrmsr(COUNTER, u64::MAX)?;
    k.wrmsr(COUNTER, 0)?;
    k.wrmsr(COUNTER, 1 << 47)?;
    k.wrmsr(COUNTER, 0)?;
    PART.disable(k, 0, 0)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("writes of a counter: interrupts", r12, 0)
}
