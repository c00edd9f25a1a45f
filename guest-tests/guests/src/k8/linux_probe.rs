//! `linux-probe`: what Linux does with a K8, value by value.
//!
//! The boot-time check of the hardware, an event counted and stopped, and an event sampled by NMI, as the x86 perf driver does them.

use iced_x86::code_asm::*;

use super::{COUNTER, SELECT};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, Kernel, LVT_NMI, cell, here, own};
use vm_pmu_engines::x86::Image;

/// The generic events: cycles, instructions, cache references and misses, branches and their misses, stalls in the front end and the back
/// end.
const GENERIC: &[u64] = &[0x0076, 0x00C0, 0x077D, 0x077E, 0x00C2, 0x00C3, 0x00D0, 0x00D1];
/// USR, OS and INT, which the driver sets for every event.
const CONFIG: u64 = 0x13_0000;
const ENABLED: u64 = 1 << 22;
/// Written when an event stops, where virtualisation counts hosts only: reserved here.
const HOST_ONLY: u64 = 1 << 41;
/// Minus the longest period, 2^47 - 1, within 48 bits.
const LONGEST: u64 = 0x8000_0000_0001;

const PERIOD: u64 = 1000;
const NMIS: u32 = own(0);
const HANDLED: u32 = own(1);
const UNKNOWN: u32 = own(2);

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    handler(&mut k)?;
    k.main()?;
    check_hw_exists(&mut k)?;
    count(&mut k)?;
    for event in GENERIC {
        k.wrmsr(COUNTER + 2, LONGEST)?;
        k.wrmsr(SELECT + 2, event | CONFIG | ENABLED)?;
        k.rdmsr(SELECT + 2)?;
        k.check_is(&format!("event {event:04X}h reads back"), rax, event | CONFIG | ENABLED)?;
        k.wrmsr(SELECT + 2, event | CONFIG)?;
    }
    sample(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// No counter is in use at boot, and one that is not enabled holds what is written, all 64 bits compared.
fn check_hw_exists(k: &mut Kernel) -> Built<()> {
    for n in 0..4 {
        k.rdmsr(SELECT + n)?;
        k.a.and(rax, ENABLED as i32)?;
        k.check_is(&format!("PerfEvtSel{n}.EN at boot"), rax, 0)?;
    }
    k.rdmsr(COUNTER + 3)?;
    k.a.xor(rax, 0xFFFF)?;
    k.a.mov(r12, rax)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.wrmsr()?;
    k.rdmsr(COUNTER + 3)?;
    k.check_same("the probe reads back what it wrote", rax, r12)?;
    k.wrmsr(COUNTER, 0xABCD)?;
    k.rdmsr(COUNTER)?;
    k.check_is("the older probe reads back what it wrote", rax, 0xABCD)
}

/// A counting event: the longest period, started, read, stopped, read.
fn count(k: &mut Kernel) -> Built<()> {
    k.wrmsr(COUNTER, LONGEST)?;
    k.wrmsr(SELECT, 0x53_0076)?;
    read(k)?;
    k.a.mov(r12, rax)?;
    for _ in 0..100 {
        k.a.nop()?;
    }
    read(k)?;
    k.a.mov(r13, rax)?;
    // Stopped with the reserved bit that some kernels forgot to take away.
    k.wrmsr(SELECT, 0x13_0076 | HOST_ONLY)?;
    k.rdmsr(SELECT)?;
    k.check_is("an event stopped with bit 41 set: PerfEvtSel0", rax, 0x13_0076)?;
    read(k)?;
    k.a.mov(r14, rax)?;
    // From RDPMC to RDPMC: RDPMC, SHL, OR, SHL, MOV, 100 NOPs, MOV.
    k.a.sub(r13, r12)?;
    k.a.shr(r13, 16)?;
    k.check_is("cycles between two reads", r13, 106)?;
    // From the enabling WRMSR to the stopping one: WRMSR, MOV; twice RDPMC, SHL, OR, SHL, MOV and once 100 NOPs, MOV; three MOVs.
    k.a.mov(rax, (LONGEST << 16) as i64)?;
    k.a.sub(r14, rax)?;
    k.a.shr(r14, 16)?;
    k.check_is("cycles when stopped", r14, 2 + 5 + 101 + 5 + 3)?;
    k.rdpmc(0)?;
    k.a.mov(r13, rax)?;
    k.rdmsr(COUNTER)?;
    k.check_same("a stopped counter by RDMSR and RDPMC", rax, r13)
}

/// Counter 0 by RDPMC, moved up by 16 bits as the driver does to get rid of what lies above bit 47.
fn read(k: &mut Kernel) -> Built<()> {
    k.rdpmc(0)?;
    k.a.shl(rax, 16)
}

/// The NMI handler: unmasks the vector table entry again, checks both active counters, reloads those whose bit 47 is clear.
fn handler(k: &mut Kernel) -> Built<()> {
    k.handler(2)?;
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    k.a.push(rbx)?;
    k.a.inc(cell(NMIS))?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.xor(ebx, ebx)?;
    for (counter, reload) in [(0, PERIOD.wrapping_neg() & super::COUNTER_MASK), (1, LONGEST)] {
        let mut going = k.a.create_label();
        k.a.mov(ecx, counter)?;
        k.a.rdpmc()?;
        k.a.bt(edx, 15)?;
        k.a.jb(going)?;
        k.a.inc(ebx)?;
        k.wrmsr(COUNTER + counter, reload)?;
        here(&mut k.a, &mut going)?;
    }
    let (mut known, mut out) = (k.a.create_label(), k.a.create_label());
    let a = &mut k.a;
    a.test(ebx, ebx)?;
    a.jne(known)?;
    a.inc(cell(UNKNOWN))?;
    a.jmp(out)?;
    here(a, &mut known)?;
    a.add(cell(HANDLED), rbx)?;
    here(a, &mut out)?;
    a.pop(rbx)?;
    a.pop(rdx)?;
    a.pop(rcx)?;
    a.pop(rax)?;
    a.iretq()
}

/// Cycles sampled every 1000 over a loop of 20001 instructions, with instructions counted at the same time.
///
/// From the WRMSR that reloads to the handler's end are 20 instructions: WRMSR; MOV, RDPMC, BT, JB of the other counter; TEST, JNE,
/// ADD, four POPs, IRETQ are 13. So an interrupt comes every 987 instructions of what is sampled, of which there are 20001 and a few
/// that start and stop: 20 interrupts.
fn sample(k: &mut Kernel) -> Built<()> {
    let mut again = k.a.create_label();
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(COUNTER + 1, LONGEST)?;
    k.wrmsr(SELECT + 1, 0x53_00C0)?;
    k.wrmsr(COUNTER, PERIOD.wrapping_neg() & super::COUNTER_MASK)?;
    k.wrmsr(SELECT, 0x53_0076)?;
    k.a.mov(ecx, 10_000)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(ecx)?;
    k.a.jne(again)?;
    // Everything is stopped as the driver does it: read, clear EN, write.
    for n in 0..2 {
        k.rdmsr(SELECT + n)?;
        k.a.and(rax, !(ENABLED as i32))?;
        k.a.xor(edx, edx)?;
        k.a.wrmsr()?;
    }
    k.rdpmc(0)?;
    k.a.shr(rax, 47)?;
    k.check_is("no overflow waits after the stop", rax, 1)?;
    for (what, offset, right) in [("NMIs", NMIS, 20), ("samples", HANDLED, 20), ("NMIs nobody knows", UNKNOWN, 0)] {
        k.a.mov(r12, cell(offset))?;
        k.check_is(&format!("sampling every 1000 cycles: {what}"), r12, right)?;
    }
    Ok(())
}
