//! `overflow`: an interrupt after exactly N, and what the registers show.

use iced_x86::code_asm::*;

use super::{
    ALL, COUNTER, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_PMI, FIXED_USR, GLOBAL_CONTROL, GLOBAL_STATUS, INSTRUCTIONS, INT, OS,
    OVERFLOW_CONTROL, PART, before_overflow,
};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, LVT_NMI, cell, here};
use crate::x86::ticker::{self, COUNT, Followed, LAST, ODD, STATUS, UNMASKS};
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
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for n in [1, 2, 3, 10, 100, SLIDE] {
        at_ring_0(&mut k, n)?;
    }
    let fixed = Followed { register: FIXED, control: FIXED_CONTROL, enabled: FIXED_USR | FIXED_PMI, status: 1 << 32 };
    for (name, counter) in [("IA32_PMC0", PART.followed(0)), ("IA32_PMC1", PART.followed(1)), ("IA32_FIXED_CTR0", fixed)] {
        for period in [1, 2, 13, 97, 1000] {
            let rounds = (period, 100);
            let what = format!("{name}, NMI every {period}");
            ticker::follow(&mut k, &PART, &what, addresses, counter, LVT_NMI, rounds)?;
            let what = format!("{name}, vector every {period}");
            ticker::follow(&mut k, &PART, &what, addresses, counter, VECTOR.into(), rounds)?;
        }
    }
    behind_the_mask(&mut k)?;
    two_counters(&mut k, "at one instruction", 6, 1, 3)?;
    two_counters(&mut k, "one before the handler unmasks", 6 + 3, 1, 3)?;
    two_counters(&mut k, "one after the handler unmasks", 6 + UNMASKS + 1, 2, 0)?;
    lost(&mut k)?;
    left_masked(&mut k)?;
    silent(&mut k)?;
    written(&mut k)?;
    acknowledged(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// Clears the bits that the status shows.
fn acknowledge(k: &mut Kernel) -> Built<()> {
    k.wrmsr(OVERFLOW_CONTROL, ALL)
}

/// Makes counter 0 overflow at the fifth of the instructions that follow, 20 NOPs among them.
fn overflow(k: &mut Kernel, int: u64) -> Built<()> {
    k.wrmsr(COUNTER, before_overflow(5))?;
    PART.enable(k, 0, INSTRUCTIONS | OS | int)?;
    for _ in 0..20 {
        k.a.nop()?;
    }
    PART.disable(k, 0, 0)
}

/// Counts ring 0 from -n: the WRMSR that enables is the first, so the interrupt comes after `n - 1` NOPs.
fn at_ring_0(k: &mut Kernel, n: u64) -> Built<()> {
    let mut slide = k.a.create_label();
    ticker::expect(k, 1, LVT_NMI)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(COUNTER, before_overflow(n))?;
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
    k.check_is(&format!("ring 0, after {n}: NOPs executed before the NMI"), r13, n - 1)?;
    k.a.mov(r12, cell(STATUS))?;
    k.check_is(&format!("ring 0, after {n}: the status that the handler finds"), r12, 1)
}

/// Overflows while RFLAGS.IF is clear: the interrupt waits and comes after the instruction that follows STI; until then the entry is not
/// masked.
fn behind_the_mask(k: &mut Kernel) -> Built<()> {
    let mut behind = k.a.create_label();
    ticker::expect(k, 1, u32::from(VECTOR))?;
    k.apic(APIC_LVT_PERFORMANCE, u32::from(VECTOR))?;
    overflow(k, INT)?;
    k.a.mov(r12, cell(COUNT))?;
    k.a.sti()?;
    k.a.nop()?;
    here(&mut k.a, &mut behind)?;
    k.a.nop()?;
    k.a.cli()?;
    k.check_is("vector behind CLI: before STI", r12, 0)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("vector behind CLI: after STI", r12, 1)?;
    k.a.mov(r12, cell(LAST))?;
    k.a.lea(r13, ptr(behind))?;
    k.check_same("vector behind CLI: where", r12, r13)
}

/// Two counters ask for an NMI. Counter 0 overflows 10 instructions after it was enabled, counter 1 was enabled 4 later. Delivery of the
/// first masks the entry: a request before the handler unmasks it is lost, though its status bit is found with the other. One after that
/// waits for IRETQ, but by then the handler has seen and acknowledged both.
fn two_counters(k: &mut Kernel, what: &str, second: u64, nmis: u64, last: u64) -> Built<()> {
    let mut slide = k.a.create_label();
    ticker::expect(k, 3, LVT_NMI)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(COUNTER + 1, before_overflow(second))?;
    k.wrmsr(COUNTER, before_overflow(10))?;
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
    k.a.mov(r12, cell(ODD))?;
    k.check_is(&format!("two counters, {what}: NMIs that do not find both"), r12, nmis - 1)?;
    k.a.mov(r12, cell(STATUS))?;
    k.check_is(&format!("two counters, {what}: the status that the last NMI finds"), r12, last)?;
    k.a.mov(r12, cell(LAST))?;
    k.a.lea(rax, ptr(slide))?;
    k.a.sub(r12, rax)?;
    // WRMSR, three MOVs and WRMSR are five of the ten.
    k.check_is(&format!("two counters, {what}: NOPs executed before the last NMI"), r12, 5)
}

/// Overflows while the entry is masked: no interrupt comes, not later either, but the status shows the overflow. The bit that stays set
/// does not prevent further requests.
fn lost(k: &mut Kernel) -> Built<()> {
    ticker::expect(k, 1, LVT_NMI)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_MASKED | LVT_NMI)?;
    overflow(k, INT)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.nop()?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("overflow with the entry masked: interrupts", r12, 0)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("overflow with the entry masked: the status", rax, 1)?;
    overflow(k, INT)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("overflow while the status bit is still set: interrupts", r12, 1)
}

/// A handler that does not unmask the entry gets no second interrupt.
fn left_masked(k: &mut Kernel) -> Built<()> {
    ticker::expect(k, 1, LVT_MASKED | LVT_NMI)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    overflow(k, INT)?;
    overflow(k, INT)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("two overflows, the entry left masked after the first: interrupts", r12, 1)?;
    acknowledge(k)
}

/// Overflows with INT clear: the counter wraps and counts on, and the status shows it. 20 NOPs, the WRMSR and three MOVs are 24, less 5.
fn silent(k: &mut Kernel) -> Built<()> {
    ticker::expect(k, 1, LVT_NMI)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    overflow(k, 0)?;
    k.rdmsr(COUNTER)?;
    k.check_is("overflow with INT clear: the counter", rax, 19)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("overflow with INT clear: the status", rax, 1)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("overflow with INT clear: interrupts", r12, 0)?;
    acknowledge(k)
}

/// A write that takes a counter from all ones to zero is no overflow. Locked loads are counted, and there are none.
fn written(k: &mut Kernel) -> Built<()> {
    PART.enable(k, 0, 0x1003 | OS | INT)?;
    for value in [before_overflow(1), 0, 1 << 39, 0] {
        k.wrmsr(COUNTER, value)?;
    }
    PART.disable(k, 0, 0)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is("writes of a counter: interrupts", r12, 0)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("writes of a counter: the status", rax, 0)
}

/// All five overflow, and are acknowledged one by one.
fn acknowledged(k: &mut Kernel) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    for n in 0..2 {
        k.wrmsr(COUNTER + n, before_overflow(5))?;
        PART.enable(k, n, INSTRUCTIONS | OS)?;
    }
    for n in 0..3 {
        k.wrmsr(FIXED + n, before_overflow(5))?;
    }
    k.wrmsr(FIXED_CONTROL, FIXED_OS * 0x111)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for _ in 0..10 {
        k.a.nop()?;
    }
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    let mut left = ALL;
    for bit in [33, 0, 34, 1, 32] {
        k.rdmsr(GLOBAL_STATUS)?;
        k.check_is(&format!("the status before bit {bit} is acknowledged"), rax, left)?;
        k.wrmsr(OVERFLOW_CONTROL, 1 << bit)?;
        left &= !(1 << bit);
    }
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("the status when all is acknowledged", rax, 0)?;
    k.rdmsr(OVERFLOW_CONTROL)?;
    k.check_is("IA32_PERF_GLOBAL_OVF_CTRL reads as zero", rax, 0)
}
