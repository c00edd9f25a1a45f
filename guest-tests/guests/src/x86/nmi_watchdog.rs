//! `nmi-watchdog`: an NMI every so many clocks that are not halted, as a watchdog wants it.

use iced_x86::code_asm::*;

use super::{Part, leave};
use crate::runtime::{APIC_LVT_TIMER, APIC_TIMER_COUNT, APIC_TIMER_DIVIDE, Built, Kernel, cell, here, own};
use vm_pmu_engines::x86::Image;

const TIMER: u8 = 0x63;
pub(crate) const PERIOD: u64 = 5000;
const HALTED: u32 = 20_000;

const NMIS: u32 = own(0);
const BEFORE: u32 = own(1);
const SHORTEST: u32 = own(2);
const LONGEST: u32 = own(3);
const STRANGE: u32 = own(4);

/// The counters of a part's watchdog.
pub(crate) struct Watchdog {
    /// The counter that interrupts: its index for RDPMC, and its bit in the status.
    pub(crate) index: u32,
    pub(crate) status: u64,
    /// Starts it for the first time, with the entry of the local vector table, and stops it.
    pub(crate) start: fn(&mut Kernel) -> Built<()>,
    pub(crate) stop: fn(&mut Kernel) -> Built<()>,
    /// Has it wrap after [`PERIOD`], with so many instructions before the WRMSR.
    pub(crate) reload: fn(&mut Kernel) -> Built<()>,
    pub(crate) loads: u64,
    /// The general counter that measures the time, and what it selects: clocks not halted.
    pub(crate) time: u32,
    pub(crate) clocks: u64,
}

/// Instructions of the handler before the WRMSR that reloads: three PUSHes; two to unmask; MOV, RDPMC, BT, JB; four to acknowledge; MOV,
/// RDPMC, PUSH; those that load the registers.
fn latency(part: &Part) -> u64 {
    let (unmask, acknowledge) = if part.status.is_some() { (2, 4) } else { (0, 0) };
    3 + unmask + 4 + acknowledge + 3 + part.watchdog.loads
}

pub(crate) fn build(part: &Part) -> Built<Image> {
    let watchdog = &part.watchdog;
    let latency = latency(part);
    let mut k = Kernel::new(Vec::new())?;
    handler(&mut k, part)?;
    k.plain_handler(TIMER)?;

    k.main()?;
    k.a.mov(cell(SHORTEST), -1)?;
    k.wrmsr(part.counter + watchdog.time, 0)?;
    part.enable(&mut k, watchdog.time, watchdog.clocks)?;
    (watchdog.start)(&mut k)?;
    spin(&mut k, 11)?;
    k.a.mov(r12, cell(STRANGE))?;
    k.check_is("NMIs while the counter had not wrapped", r12, 0)?;
    // A reload, its period, the delivery, the handler up to the next reload.
    k.a.mov(r12, cell(SHORTEST))?;
    k.check_is("least clocks from NMI to NMI", r12, PERIOD + 1 + latency)?;
    k.a.mov(r12, cell(LONGEST))?;
    k.check_is("most clocks from NMI to NMI", r12, PERIOD + 1 + latency)?;

    halt(&mut k, watchdog)?;

    // Off: no NMI comes any more.
    (watchdog.stop)(&mut k)?;
    k.a.mov(rbx, cell(NMIS))?;
    let mut again = k.a.create_label();
    k.a.mov(ecx, 10_000)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(ecx)?;
    k.a.jne(again)?;
    k.a.mov(r12, cell(NMIS))?;
    k.check_same("NMIs after the end", r12, rbx)?;
    part.disable(&mut k, watchdog.time, 0)?;
    k.a.ret()?;
    k.finish()
}

/// Is it ours, that is, is the highest bit clear? Then acknowledge and reload. After the reload: how long it has been.
fn handler(k: &mut Kernel, part: &Part) -> Built<()> {
    let watchdog = &part.watchdog;
    k.handler(2)?;
    let [mut strange, mut out, mut first, mut not_least] = [(); 4].map(|()| k.a.create_label());
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    part.unmask(k)?;
    k.a.mov(ecx, watchdog.index)?;
    k.a.rdpmc()?;
    k.a.bt(edx, part.width - 33)?;
    k.a.jb(strange)?;
    if let Some(status) = &part.status {
        k.wrmsr(status.clear, watchdog.status)?;
    }
    k.a.mov(ecx, watchdog.time)?;
    k.a.rdpmc()?;
    k.a.push(rax)?;
    (watchdog.reload)(k)?;
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
    leave(k, 2)
}

/// Computes until there were `nmis`.
fn spin(k: &mut Kernel, nmis: i32) -> Built<()> {
    let mut again = k.a.create_label();
    here(&mut k.a, &mut again)?;
    k.a.inc(rbx)?;
    k.a.cmp(cell(NMIS), nmis)?;
    k.a.jb(again)
}

/// Halts four periods long, by the local APIC's timer. The clock that is counted is stopped, so no NMI comes.
fn halt(k: &mut Kernel, watchdog: &Watchdog) -> Built<()> {
    k.apic(APIC_TIMER_DIVIDE, 0xB)?;
    k.apic(APIC_LVT_TIMER, u32::from(TIMER))?;
    (watchdog.reload)(k)?;
    k.a.mov(rbx, cell(NMIS))?;
    k.rdtsc()?;
    k.a.mov(r14, rax)?;
    k.rdpmc(watchdog.time)?;
    k.a.mov(r12, rax)?;
    k.apic(APIC_TIMER_COUNT, HALTED)?;
    k.a.sti()?;
    k.a.hlt()?;
    k.a.cli()?;
    k.rdpmc(watchdog.time)?;
    k.a.mov(r13, rax)?;
    k.rdtsc()?;
    k.a.sub(rax, r14)?;
    k.a.mov(r14, rax)?;
    k.a.sub(r13, r12)?;
    // RDPMC, SHL, OR, MOV; two to start the timer; STI, HLT; the interrupt, PUSH, two, POP, IRETQ; CLI, MOV.
    k.check_is("clocks counted while halted, those around it included", r13, 4 + 2 + 2 + 6 + 2)?;
    k.check("time-stamp ticks in between", r14, u64::from(HALTED), u64::MAX)?;
    k.a.mov(r12, cell(NMIS))?;
    k.check_same("NMIs while halted", r12, rbx)
}
