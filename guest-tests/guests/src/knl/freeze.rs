//! `freeze`: FREEZE_PERFMON_ON_PMI.

use iced_x86::code_asm::*;

use super::{
    ALL, CLOCKS, COUNTER, DEBUG_CONTROL, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_PMI, GLOBAL_CONTROL, GLOBAL_STATUS, INSTRUCTIONS, INT, OS,
    OVERFLOW_CONTROL, PART, before_overflow,
};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, LVT_NMI, cell, own};
use crate::x86::leave;
use vm_pmu_engines::x86::Image;

const FREEZE_PERFMON_ON_PMI: u64 = 1 << 12;

const NMIS: u32 = own(0);
/// What IA32_PERF_GLOBAL_CTRL held in the handler.
const CONTROL: u32 = own(1);

/// The counter that overflows does so at this instruction, of which the WRMSR that starts all is the first.
const N: u64 = 10;
const NOPS: u64 = 30;
/// What is counted where nothing freezes, and no handler runs: WRMSR, the NOPs, three MOVs.
const COUNTED: u64 = 1 + NOPS + 3;

/// Who overflows.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Instructions,
    Clocks,
    Fixed,
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.handler(2)?;
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    k.a.inc(cell(NMIS))?;
    k.rdmsr(GLOBAL_CONTROL)?;
    k.a.mov(cell(CONTROL), rax)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    leave(&mut k, 2)?;

    k.main()?;
    k.wrmsr(DEBUG_CONTROL, FREEZE_PERFMON_ON_PMI)?;
    for (what, by, status) in [
        ("IA32_PMC0 by instructions", By::Instructions, 1),
        ("IA32_PMC0 by clocks", By::Clocks, 1),
        ("IA32_FIXED_CTR0", By::Fixed, 1 << 32),
    ] {
        frozen(&mut k, what, by, status, LVT_NMI)?;
    }
    frozen(&mut k, "the entry masked", By::Instructions, 1, LVT_MASKED | LVT_NMI)?;
    without_interrupt(&mut k)?;
    k.rdmsr(DEBUG_CONTROL)?;
    k.check_is("IA32_DEBUGCTL at the end", rax, FREEZE_PERFMON_ON_PMI)?;
    not_asked_for(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// IA32_PMC1 and the fixed clocks count from zero, in addition to the one that overflows. All start at one write, then come NOPs.
fn start(k: &mut Kernel, by: By, int: bool, entry: u32) -> Built<()> {
    k.a.mov(cell(NMIS), 0)?;
    k.a.mov(cell(CONTROL), -1)?;
    k.apic(APIC_LVT_PERFORMANCE, entry)?;
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    k.wrmsr(OVERFLOW_CONTROL, ALL)?;
    let (general, fixed) = if by == By::Fixed { (0, before_overflow(N)) } else { (before_overflow(N), 0) };
    for (msr, value) in [(COUNTER, general), (COUNTER + 1, 0), (FIXED, fixed), (FIXED + 1, 0), (FIXED + 2, 0)] {
        k.wrmsr(msr, value)?;
    }
    let event = if by == By::Clocks { CLOCKS } else { INSTRUCTIONS };
    PART.enable(k, 0, event | OS | if int && by != By::Fixed { INT } else { 0 })?;
    PART.enable(k, 1, INSTRUCTIONS | OS)?;
    let pmi = if int && by == By::Fixed { FIXED_PMI } else { 0 };
    k.wrmsr(FIXED_CONTROL, (FIXED_OS * 0x111) | pmi)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    Ok(())
}

fn shows(k: &mut Kernel, what: &str, values: &[(&str, u32, u64)]) -> Built<()> {
    for (name, msr, right) in values {
        k.rdmsr(*msr)?;
        k.check_is(&format!("{what}: {name}"), rax, *right)?;
    }
    Ok(())
}

/// Every counter stops at the event that overflowed; the handler finds them all disabled, and so does what follows. Enabled again, they
/// continue from there.
fn frozen(k: &mut Kernel, what: &str, by: By, status: u64, entry: u32) -> Built<()> {
    start(k, by, true, entry)?;
    let (general, fixed) = if by == By::Fixed { (N, 0) } else { (0, N) };
    let shown = |more| {
        [
            ("IA32_PMC0", COUNTER, general + more),
            ("IA32_PMC1", COUNTER + 1, N + more),
            ("IA32_FIXED_CTR0", FIXED, fixed + more),
            ("IA32_FIXED_CTR1", FIXED + 1, N + more),
            ("IA32_FIXED_CTR2", FIXED + 2, N + more),
            ("IA32_PERF_GLOBAL_CTRL", GLOBAL_CONTROL, 0),
            ("IA32_PERF_GLOBAL_STATUS", GLOBAL_STATUS, status),
        ]
    };
    shows(k, &format!("frozen, {what}"), &shown(0))?;
    let delivered = entry == LVT_NMI;
    k.a.mov(r12, cell(NMIS))?;
    k.check_is(&format!("frozen, {what}: NMIs"), r12, u64::from(delivered))?;
    if delivered {
        k.a.mov(r12, cell(CONTROL))?;
        k.check_is(&format!("frozen, {what}: IA32_PERF_GLOBAL_CTRL in the handler"), r12, 0)?;
    }
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    shows(k, &format!("frozen and started again, {what}"), &shown(COUNTED))
}

/// An overflow without an interrupt freezes nothing.
fn without_interrupt(k: &mut Kernel) -> Built<()> {
    start(k, By::Instructions, false, LVT_NMI)?;
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    let shown = [
        ("IA32_PMC0", COUNTER, COUNTED - N),
        ("IA32_PMC1", COUNTER + 1, COUNTED),
        ("IA32_FIXED_CTR0", FIXED, COUNTED),
        ("IA32_PERF_GLOBAL_STATUS", GLOBAL_STATUS, 1),
    ];
    shows(k, "without INT", &shown)
}

/// Without FREEZE_PERFMON_ON_PMI the handler finds everything counting.
fn not_asked_for(k: &mut Kernel) -> Built<()> {
    k.wrmsr(DEBUG_CONTROL, 0)?;
    start(k, By::Instructions, true, LVT_NMI)?;
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    k.a.mov(r12, cell(CONTROL))?;
    k.check_is("not asked for: IA32_PERF_GLOBAL_CTRL in the handler", r12, ALL)?;
    k.rdmsr(COUNTER + 1)?;
    k.a.mov(r12, rax)?;
    k.rdmsr(COUNTER)?;
    // Both count the handler too, one from zero and one that wrapped at N.
    k.a.add(rax, N as i32)?;
    k.check_same("not asked for: IA32_PMC0 goes on as IA32_PMC1 does", rax, r12)?;
    k.check("not asked for: IA32_PMC1 counts the handler too", r12, COUNTED + 1, COUNTED + 30)
}
