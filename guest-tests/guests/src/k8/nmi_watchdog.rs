//! `nmi-watchdog`: an NMI every so many clocks that are not halted, as the K7 watchdogs of Linux and Xen want it.

use iced_x86::code_asm::*;

use super::{COUNTER, SELECT};
use crate::runtime::{
    APIC_EOI, APIC_LVT_PERFORMANCE, APIC_LVT_TIMER, APIC_TIMER_COUNT, APIC_TIMER_DIVIDE, Built, Kernel, LVT_NMI, cell, here, own,
};
use vm_pmu_engines::x86::Image;

const TIMER: u8 = 0x63;
const PERIOD: u64 = 5000;
const HALTED: u32 = 20_000;

const NMIS: u32 = own(0);
const BEFORE: u32 = own(1);
const SHORTEST: u32 = own(2);
const LONGEST: u32 = own(3);
const STRANGE: u32 = own(4);

/// Instructions of the handler before the WRMSR that reloads: three PUSHes; MOV, RDPMC, BT, JB; MOV, RDPMC, PUSH; four MOVs and SHR
/// to load the registers less one.
const LATENCY: u64 = 3 + 4 + 3 + 4;

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
    // Counter 1 tells the time: clocks not halted.
    k.wrmsr(COUNTER + 1, 0)?;
    k.wrmsr(SELECT + 1, 0x43_0076)?;
    start(&mut k)?;
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
    k.wrmsr(SELECT, 0)?;
    k.a.mov(rbx, cell(NMIS))?;
    let mut again = k.a.create_label();
    k.a.mov(ecx, 10_000)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(ecx)?;
    k.a.jne(again)?;
    k.a.mov(r12, cell(NMIS))?;
    k.check_same("NMIs after the end", r12, rbx)?;
    k.wrmsr(SELECT + 1, 0)?;
    k.a.ret()?;
    k.finish()
}

/// In the order of the watchdogs: zero, select without EN, a negative 64-bit count, the vector table entry, EN.
fn start(k: &mut Kernel) -> Built<()> {
    k.wrmsr(SELECT, 0)?;
    k.wrmsr(COUNTER, 0)?;
    k.wrmsr(SELECT, 0x13_0076)?;
    k.wrmsr(COUNTER, PERIOD.wrapping_neg())?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(SELECT, 0x53_0076)
}

/// Is it ours, that is bit 47 clear? Then reload; the vector table entry is left alone. Behind the reload: how long it has been.
fn handler(k: &mut Kernel) -> Built<()> {
    k.handler(2)?;
    let [mut strange, mut out, mut first, mut not_least] = [(); 4].map(|()| k.a.create_label());
    let a = &mut k.a;
    a.push(rax)?;
    a.push(rcx)?;
    a.push(rdx)?;
    a.mov(ecx, 0)?;
    a.rdpmc()?;
    a.bt(edx, 15)?;
    a.jb(strange)?;
    a.mov(ecx, 1)?;
    a.rdpmc()?;
    a.push(rax)?;
    a.mov(rax, PERIOD.wrapping_neg() as i64)?;
    a.mov(rdx, rax)?;
    a.shr(rdx, 32)?;
    a.mov(ecx, COUNTER)?;
    a.wrmsr()?;
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
    k.wrmsr(COUNTER, PERIOD.wrapping_neg())?;
    k.a.mov(rbx, cell(NMIS))?;
    time(k)?;
    k.a.mov(r14, rax)?;
    k.rdpmc(1)?;
    k.a.mov(r12, rax)?;
    k.apic(APIC_TIMER_COUNT, HALTED)?;
    k.a.sti()?;
    k.a.hlt()?;
    k.a.cli()?;
    k.rdpmc(1)?;
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
