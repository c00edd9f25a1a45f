//! `probe`: what Linux reads and tests before it uses a PMU.

use iced_x86::code_asm::*;

use super::{COUNTER, DEBUG_CONTROL, EN, FIXED_CONTROL, GLOBAL_CONTROL, GLOBAL_STATUS, LEGACY, SELECT};
use crate::runtime::{Built, EXPECT, FAULTS, Kernel, cell};
use vm_pmu_engines::x86::Image;

const MISC_ENABLE: u32 = 0x1A0;
const PERF_CAPABILITIES: u32 = 0x345;
const OFFCORE_RESP: u32 = 0x1A6;
/// The first addresses of the two stacks of last branches, 8 deep.
const LAST_BRANCHES: [u32; 2] = [0x680, 0x6C0];
/// The two bits that Linux inverts to check whether an extra register is there.
const TURNED: i32 = 0x11;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    identity(&mut k)?;
    capabilities(&mut k)?;
    reset(&mut k)?;
    check_hw_exists(&mut k)?;
    processor_start(&mut k)?;
    extra_registers(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// CPUID of `leaf`, subleaf 0; its results are in R12 to R15.
fn cpuid(k: &mut Kernel, leaf: u32) -> Built<()> {
    let a = &mut k.a;
    a.mov(eax, leaf)?;
    a.xor(ecx, ecx)?;
    a.cpuid()?;
    a.mov(r12d, eax)?;
    a.mov(r13d, ebx)?;
    a.mov(r14d, ecx)?;
    a.mov(r15d, edx)
}

/// Bits `high` to `low` of `from`, in RAX.
fn field(k: &mut Kernel, from: AsmRegister64, high: u32, low: u32) -> Built<()> {
    k.a.mov(rax, from)?;
    k.a.shl(rax, 63 - high)?;
    k.a.shr(rax, 63 - high + low)
}

fn identity(k: &mut Kernel) -> Built<()> {
    cpuid(k, 0)?;
    k.check("CPUID has leaf 0AH", r12, 0xA, 0xFF)?;
    k.check_is("the vendor begins with Genu", r13, u64::from(u32::from_le_bytes(*b"Genu")))?;
    k.check_is("the vendor goes on with ineI", r15, u64::from(u32::from_le_bytes(*b"ineI")))?;
    k.check_is("the vendor ends with ntel", r14, u64::from(u32::from_le_bytes(*b"ntel")))?;
    cpuid(k, 1)?;
    for (what, register, high, low, right) in [
        ("family", r12, 11, 8, 6),
        ("model, low half", r12, 7, 4, 7),
        ("model, high half", r12, 19, 16, 5),
        ("PDCM: IA32_PERF_CAPABILITIES exists", r14, 15, 15, 1),
        ("DS: there is no debug store", r15, 21, 21, 0),
    ] {
        field(k, register, high, low)?;
        k.check_is(&format!("CPUID 1: {what}"), rax, right)?;
    }
    cpuid(k, 0xA)?;
    for (what, register, high, low, right) in [
        ("version", r12, 7, 0, 3),
        ("general counters", r12, 15, 8, 2),
        ("bits of a general counter", r12, 23, 16, 40),
        ("architectural events", r12, 31, 24, 7),
        ("events that are missing", r13, 31, 0, 0),
        ("fixed counters", r15, 4, 0, 3),
        ("bits of a fixed counter", r15, 12, 5, 40),
        ("AnyThread is not deprecated", r15, 15, 15, 0),
    ] {
        field(k, register, high, low)?;
        k.check_is(&format!("CPUID 0AH: {what}"), rax, right)?;
    }
    Ok(())
}

fn capabilities(k: &mut Kernel) -> Built<()> {
    k.rdmsr(MISC_ENABLE)?;
    k.a.mov(r12, rax)?;
    for (what, bit, right) in
        [("performance monitoring is there", 7, 1), ("branch trace store is not", 11, 1), ("precise sampling is not", 12, 1)]
    {
        field(k, r12, bit, bit)?;
        k.check_is(&format!("IA32_MISC_ENABLE: {what}"), rax, right)?;
    }
    k.rdmsr(PERF_CAPABILITIES)?;
    k.a.mov(r12, rax)?;
    for (what, high, low, right) in
        [("last-branch format", 5, 0, 0), ("record format of precise sampling", 11, 8, 0), ("full-width writes", 13, 13, 1)]
    {
        field(k, r12, high, low)?;
        k.check_is(&format!("IA32_PERF_CAPABILITIES: {what}"), rax, right)?;
    }
    Ok(())
}

/// The state after power-on: the general counters are enabled in the global control, and nothing is selected.
fn reset(k: &mut Kernel) -> Built<()> {
    for (what, msr, right) in [
        ("IA32_PERF_GLOBAL_CTRL", GLOBAL_CONTROL, 3),
        ("IA32_PERF_GLOBAL_STATUS", GLOBAL_STATUS, 0),
        ("IA32_PMC0", LEGACY, 0),
        ("IA32_PMC1", LEGACY + 1, 0),
        ("IA32_DEBUGCTL", DEBUG_CONTROL, 0),
        ("MSR_OFFCORE_RESP0", OFFCORE_RESP, 0),
        ("MSR_OFFCORE_RESP1", OFFCORE_RESP + 1, 0),
    ] {
        k.rdmsr(msr)?;
        k.check_is(&format!("{what} at power-on"), rax, right)?;
    }
    Ok(())
}

/// No counter is in use at boot, and the highest one keeps what is written.
fn check_hw_exists(k: &mut Kernel) -> Built<()> {
    for n in 0..2 {
        k.rdmsr(SELECT + n)?;
        k.a.and(rax, EN as i32)?;
        k.check_is(&format!("firmware left IA32_PERFEVTSEL{n}.EN clear"), rax, 0)?;
    }
    for n in 0..3 {
        k.rdmsr(FIXED_CONTROL)?;
        k.a.shr(rax, 4 * n)?;
        k.a.and(rax, 3)?;
        k.check_is(&format!("firmware left fixed counter {n} disabled"), rax, 0)?;
    }
    k.rdmsr(COUNTER + 1)?;
    k.a.xor(rax, 0xFFFF)?;
    k.a.mov(r12, rax)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.wrmsr()?;
    k.rdmsr(COUNTER + 1)?;
    k.check_same("the highest counter keeps what is written", rax, r12)?;
    k.rdmsr(LEGACY + 1)?;
    k.check_same("and shows it at its other address", rax, r12)
}

/// Linux clears the last branches of every processor that starts, unprobed, and reads IA32_DEBUGCTL.
fn processor_start(k: &mut Kernel) -> Built<()> {
    k.a.mov(cell(EXPECT), 1)?;
    for first in LAST_BRANCHES {
        for n in 0..8 {
            k.wrmsr(first + n, 0)?;
        }
    }
    k.rdmsr(DEBUG_CONTROL)?;
    k.a.mov(r12, cell(FAULTS))?;
    k.check_is("clearing the last branches does not fault", r12, 0)?;
    // As a guest under a monitor finds out whether there are any: a write has no effect.
    k.wrmsr(LAST_BRANCHES[0], 0x1234)?;
    k.rdmsr(LAST_BRANCHES[0])?;
    k.a.mov(cell(EXPECT), 0)?;
    k.check_is("the last branches keep nothing", rax, 0)
}

/// Two bits turned over must be read back, and be turned back.
fn extra_registers(k: &mut Kernel) -> Built<()> {
    for n in 0..2 {
        k.rdmsr(OFFCORE_RESP + n)?;
        k.a.mov(r12, rax)?;
        k.a.xor(rax, TURNED)?;
        k.a.mov(r13, rax)?;
        k.a.mov(rdx, rax)?;
        k.a.shr(rdx, 32)?;
        k.a.wrmsr()?;
        k.rdmsr(OFFCORE_RESP + n)?;
        k.check_same(&format!("MSR_OFFCORE_RESP{n} keeps two bits turned over"), rax, r13)?;
        k.a.mov(rax, r12)?;
        k.a.mov(rdx, r12)?;
        k.a.shr(rdx, 32)?;
        k.a.mov(ecx, OFFCORE_RESP + n)?;
        k.a.wrmsr()?;
    }
    Ok(())
}
