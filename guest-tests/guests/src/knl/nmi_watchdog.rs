//! `nmi-watchdog`: an NMI every so many core clocks that are not halted, by IA32_FIXED_CTR1.

use iced_x86::code_asm::*;

use super::{
    ALL, CLOCKS, COUNTER, EN, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_PMI, FIXED_USR, GLOBAL_CONTROL, OS, OVERFLOW_CONTROL, RDPMC_FIXED,
    SELECT, USR, before_overflow,
};
use crate::runtime::{
    APIC_EOI, APIC_LVT_PERFORMANCE, APIC_LVT_TIMER, APIC_TIMER_COUNT, APIC_TIMER_DIVIDE, Built, Kernel, LVT_NMI, cell, here, own,
};
use vm_pmu_engines::x86::Image;

const TIMER: u8 = 0x63;
const PERIOD: u64 = 5000;
const HALTED: u32 = 20_000;
/// IA32_FIXED_CTR1, and its bit in the global registers.
const CLOCK: u32 = FIXED + 1;
const STATUS: u64 = 1 << 33;

const NMIS: u32 = own(0);
const BEFORE: u32 = own(1);
const SHORTEST: u32 = own(2);
const LONGEST: u32 = own(3);
const STRANGE: u32 = own(4);

/// Instructions of the handler before the WRMSR that reloads: three PUSHes; two to unmask; MOV, RDPMC, BT, JB; four to acknowledge; MOV,
/// RDPMC, PUSH; three MOVs to load the registers.
const LATENCY: u64 = 3 + 2 + 4 + 4 + 3 + 3;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    handler(&mut k)?;
    k.handler(TIMER)?;
    k.a.push(rax)?;
    k.apic(APIC_EOI, 0)?;
    k.a.pop(rax)?;
    k.a.iretq()?;

    k.main()?;
    k.a.mov(cell(SHORTEST), -1)?;
    // Counter 0 tells the time: clocks not halted.
    k.wrmsr(COUNTER, 0)?;
    k.wrmsr(SELECT, CLOCKS | USR | OS | EN)?;
    k.wrmsr(CLOCK, before_overflow(PERIOD))?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(FIXED_CONTROL, (FIXED_OS | FIXED_USR | FIXED_PMI) << 4)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    spin(&mut k, 11)?;
    k.a.mov(r12, cell(STRANGE))?;
    k.check_is("NMIs while the counter had not wrapped", r12, 0)?;
    // A reload, its period, the delivery, the handler up to the next reload.
    k.a.mov(r12, cell(SHORTEST))?;
    k.check_is("least clocks from NMI to NMI", r12, PERIOD + 1 + LATENCY)?;
    k.a.mov(r12, cell(LONGEST))?;
    k.check_is("most clocks from NMI to NMI", r12, PERIOD + 1 + LATENCY)?;

    halt(&mut k)?;

    // Off: nothing comes any more.
    k.wrmsr(FIXED_CONTROL, 0)?;
    k.a.mov(rbx, cell(NMIS))?;
    let mut again = k.a.create_label();
    k.a.mov(ecx, 10_000)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(ecx)?;
    k.a.jne(again)?;
    k.a.mov(r12, cell(NMIS))?;
    k.check_same("NMIs after the end", r12, rbx)?;
    k.wrmsr(SELECT, 0)?;
    k.a.ret()?;
    k.finish()
}

/// Is it ours, that is bit 39 clear? Then acknowledge and reload. Behind the reload: how long it has been.
fn handler(k: &mut Kernel) -> Built<()> {
    k.handler(2)?;
    let [mut strange, mut out, mut first, mut not_least] = [(); 4].map(|()| k.a.create_label());
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.mov(ecx, RDPMC_FIXED + 1)?;
    k.a.rdpmc()?;
    k.a.bt(edx, 7)?;
    k.a.jb(strange)?;
    k.wrmsr(OVERFLOW_CONTROL, STATUS)?;
    k.a.mov(ecx, 0)?;
    k.a.rdpmc()?;
    k.a.push(rax)?;
    k.wrmsr(CLOCK, before_overflow(PERIOD))?;
    let a = &mut k.a;
    a.pop(rax)?;
    a.inc(cell(NMIS))?;
    a.mov(rcx, rax)?;
    a.sub(rax, cell(BEFORE))?;
    a.cmp(cell(BEFORE), 0)?;
    a.mov(cell(BEFORE), rcx)?;
    a.je(first)?;
    a.cmp(rax, cell(SHORTEST))?;
    a.jae(not_least)?;
    a.mov(cell(SHORTEST), rax)?;
    here(a, &mut not_least)?;
    a.cmp(rax, cell(LONGEST))?;
    a.jbe(first)?;
    a.mov(cell(LONGEST), rax)?;
    here(a, &mut first)?;
    a.jmp(out)?;
    here(a, &mut strange)?;
    a.inc(cell(STRANGE))?;
    here(a, &mut out)?;
    a.pop(rdx)?;
    a.pop(rcx)?;
    a.pop(rax)?;
    a.iretq()
}

/// Computes until there were `nmis`.
fn spin(k: &mut Kernel, nmis: i32) -> Built<()> {
    let mut again = k.a.create_label();
    here(&mut k.a, &mut again)?;
    k.a.inc(rbx)?;
    k.a.cmp(cell(NMIS), nmis)?;
    k.a.jb(again)
}

/// Halts four periods long, by the local APIC's timer. The clock that is counted stands still, so no NMI comes.
fn halt(k: &mut Kernel) -> Built<()> {
    k.apic(APIC_TIMER_DIVIDE, 0xB)?;
    k.apic(APIC_LVT_TIMER, u32::from(TIMER))?;
    k.wrmsr(CLOCK, before_overflow(PERIOD))?;
    k.a.mov(rbx, cell(NMIS))?;
    time(k)?;
    k.a.mov(r14, rax)?;
    k.rdpmc(0)?;
    k.a.mov(r12, rax)?;
    k.apic(APIC_TIMER_COUNT, HALTED)?;
    k.a.sti()?;
    k.a.hlt()?;
    k.a.cli()?;
    k.rdpmc(0)?;
    k.a.mov(r13, rax)?;
    time(k)?;
    k.a.sub(rax, r14)?;
    k.a.mov(r14, rax)?;
    k.a.sub(r13, r12)?;
    // RDPMC, SHL, OR, MOV; two to start the timer; STI, HLT; the interrupt, PUSH, two, POP, IRETQ; CLI, MOV.
    k.check_is("clocks counted while halted, those around it included", r13, 4 + 2 + 2 + 6 + 2)?;
    k.check("time-stamp ticks in between", r14, u64::from(HALTED), u64::MAX)?;
    k.a.mov(r12, cell(NMIS))?;
    k.check_same("NMIs while halted", r12, rbx)
}

/// The time-stamp counter in RAX.
fn time(k: &mut Kernel) -> Built<()> {
    k.a.rdtsc()?;
    k.a.shl(rdx, 32)?;
    k.a.or(rax, rdx)
}
