//! `clock`: cycles, without relying on what a cycle of the engine is.
//!
//! Nothing here relies on how many cycles an instruction takes, nor on how soon an interrupt comes. What must hold on every processor is
//! checked: a counter never goes faster than the time-stamp counter, wraps before it interrupts, is stopped in HLT and when it is disabled,
//! and counts in ring 3.

use iced_x86::code_asm::*;

use super::{Part, leave};
use crate::runtime::{
    APIC_LVT_PERFORMANCE, APIC_LVT_TIMER, APIC_TIMER_COUNT, APIC_TIMER_DIVIDE, Built, EXPECT, FAULTS, Kernel, LVT_NMI, USER_DATA, User,
    UserCode, cell, here, own,
};
use vm_pmu_engines::x86::Image;

const VECTOR: u8 = 0x52;
const TIMER: u8 = 0x63;
/// Of the first interrupt; each waits twice as long as the one before, so that one comes when the handler of the last is done.
const PERIOD: u64 = 2000;
const NMIS: u32 = 4;
/// Ticks of the local APIC's timer for which the CPU halts.
const HALTED: u32 = 20_000_000;
/// How often the loops run.
const TURNS: u32 = 2000;
/// The least cycles of such a loop: a processor may run ahead of its time-stamp counter, but not so far.
const LEAST: u64 = TURNS as u64 / 10;
/// CR4.PCE.
const PCE: i32 = 1 << 8;

/// Interrupts left to be requested, the next period, interrupts taken, those before the counter had wrapped, those of ring 3.
const WANTED: u32 = own(0);
const NEXT: u32 = own(1);
const TAKEN: u32 = own(2);
const EARLY: u32 = own(3);
const OF_USER: u32 = own(4);
/// The most that the counter had reached when the handler read it.
const BEYOND: u32 = own(5);

/// In ring 3's data: cycles of its loop; not zero once it was interrupted.
const USER_CYCLES: u64 = USER_DATA;
const USER_DONE: u64 = USER_DATA + 8;

/// How a part counts cycles.
pub(crate) struct Cycles {
    /// Has a counter count at every level from here on; RDPMC of this index reads it.
    pub(crate) start: fn(&mut Kernel) -> Built<()>,
    pub(crate) running: u32,
    /// Disables it.
    pub(crate) stop: fn(&mut Kernel) -> Built<()>,
    /// Enables counter 0 with an interrupt.
    pub(crate) arm: fn(&mut Kernel) -> Built<()>,
    /// Disables that, and acknowledges its overflow.
    pub(crate) disarm: fn(&mut Kernel) -> Built<()>,
    /// An index that RDPMC refuses.
    pub(crate) absent: u32,
}

/// The guest of a part.
pub(crate) fn build(part: &Part) -> Built<Image> {
    let (code, entry) = ring_3(part)?;
    let mut k = Kernel::new(code)?;
    for vector in [2, VECTOR] {
        handler(&mut k, part, vector)?;
    }
    k.plain_handler(TIMER)?;

    k.main()?;
    (part.clock.start)(&mut k)?;
    runs(&mut k, part)?;
    interrupts(&mut k, part)?;
    held_off(&mut k, part)?;
    halts(&mut k, part)?;
    in_ring_3(&mut k, part, entry)?;
    refused(&mut k, part)?;
    (part.clock.stop)(&mut k)?;
    stands(&mut k, part)?;
    k.a.ret()?;
    k.finish()
}

/// A loop of [`TURNS`]; changes RCX.
fn turns(a: &mut CodeAssembler) -> Built<()> {
    let mut again = a.create_label();
    a.mov(ecx, TURNS)?;
    here(a, &mut again)?;
    a.dec(ecx)?;
    a.jne(again)
}

/// The counter and the time-stamp counter around each other.
fn runs(k: &mut Kernel, part: &Part) -> Built<()> {
    k.rdtsc()?;
    k.a.mov(r14, rax)?;
    k.rdpmc(part.clock.running)?;
    k.a.mov(r12, rax)?;
    turns(&mut k.a)?;
    k.rdpmc(part.clock.running)?;
    k.a.sub(rax, r12)?;
    k.a.mov(r13, rax)?;
    k.rdtsc()?;
    k.a.sub(rax, r14)?;
    k.a.sub(rax, r13)?;
    k.a.mov(r14, rax)?;
    k.check("cycles of a loop", r13, LEAST, i64::MAX as u64)?;
    k.check("time-stamp ticks around it beyond those", r14, 0, i64::MAX as u64)
}

/// Puts the next period into the sampling counter and enables it; changes RAX, RCX and RDX.
fn arm(k: &mut Kernel, part: &Part) -> Built<()> {
    let unused = 64 - part.width;
    k.a.mov(rax, cell(NEXT))?;
    k.a.shl(cell(NEXT), 1)?;
    k.a.neg(rax)?;
    k.a.shl(rax, unused)?;
    k.a.shr(rax, unused)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.mov(ecx, part.counter)?;
    k.a.wrmsr()?;
    (part.clock.arm)(k)
}

/// Requests so many interrupts, by this entry of the local vector table.
fn ask(k: &mut Kernel, part: &Part, entry: u32, wanted: u32) -> Built<()> {
    k.apic(APIC_LVT_PERFORMANCE, entry)?;
    k.a.mov(cell(WANTED), wanted as i32)?;
    k.a.mov(cell(TAKEN), 0)?;
    k.a.mov(cell(NEXT), PERIOD as i32)?;
    arm(k, part)
}

/// Stops the counter; has it wrapped? Then the next, if one is wanted.
fn handler(k: &mut Kernel, part: &Part, vector: u8) -> Built<()> {
    let [mut wrapped, mut looked, mut inside, mut out] = [(); 4].map(|()| k.a.create_label());
    k.handler(vector)?;
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    (part.clock.disarm)(k)?;
    k.a.inc(cell(TAKEN))?;
    k.rdpmc(0)?;
    k.a.bt(rax, part.width - 1)?;
    k.a.jae(wrapped)?;
    k.a.inc(cell(EARLY))?;
    k.a.jmp(looked)?;
    here(&mut k.a, &mut wrapped)?;
    k.a.cmp(rax, cell(BEYOND))?;
    k.a.jbe(looked)?;
    k.a.mov(cell(BEYOND), rax)?;
    here(&mut k.a, &mut looked)?;
    k.a.test(qword_ptr(rsp + 32), 3)?;
    k.a.je(inside)?;
    k.a.inc(cell(OF_USER))?;
    k.a.mov(qword_ptr(USER_DONE), 1)?;
    k.a.mov(cell(WANTED), 1)?;
    here(&mut k.a, &mut inside)?;
    k.a.dec(cell(WANTED))?;
    k.a.je(out)?;
    // Some parts mask the entry when it delivers.
    k.apic(APIC_LVT_PERFORMANCE, if vector == 2 { LVT_NMI } else { vector.into() })?;
    arm(k, part)?;
    here(&mut k.a, &mut out)?;
    leave(k, vector)
}

/// Waits until so many were taken.
fn wait(k: &mut Kernel, taken: u32) -> Built<()> {
    let mut again = k.a.create_label();
    here(&mut k.a, &mut again)?;
    k.a.pause()?;
    k.a.cmp(cell(TAKEN), taken as i32)?;
    k.a.jb(again)
}

fn interrupts(k: &mut Kernel, part: &Part) -> Built<()> {
    k.rdpmc(part.clock.running)?;
    k.a.mov(r13, rax)?;
    ask(k, part, LVT_NMI, NMIS)?;
    wait(k, NMIS)?;
    k.rdpmc(part.clock.running)?;
    k.a.sub(rax, r13)?;
    k.a.mov(r13, rax)?;
    k.check("cycles up to the last NMI", r13, PERIOD * ((1 << NMIS) - 1), i64::MAX as u64)?;
    k.a.mov(r12, cell(EARLY))?;
    k.check_is("NMIs while the counter had not wrapped", r12, 0)?;
    k.a.mov(r12, cell(BEYOND))?;
    k.check("most cycles from the wrap to where the handler stops the counter", r12, 1, i64::MAX as u64)
}

/// An interrupt by vector waits until the guest enables interrupts.
fn held_off(k: &mut Kernel, part: &Part) -> Built<()> {
    let mut again = k.a.create_label();
    ask(k, part, VECTOR.into(), 1)?;
    here(&mut k.a, &mut again)?;
    k.rdpmc(0)?;
    k.a.bt(rax, part.width - 1)?;
    k.a.jb(again)?;
    turns(&mut k.a)?;
    k.a.mov(r12, cell(TAKEN))?;
    k.check_is("interrupts with IF clear", r12, 0)?;
    k.a.sti()?;
    wait(k, 1)?;
    k.a.cli()?;
    k.a.mov(r12, cell(EARLY))?;
    k.check_is("interrupts while the counter had not wrapped", r12, 0)
}

/// The clock that is counted is stopped in HLT; the other continues.
fn halts(k: &mut Kernel, part: &Part) -> Built<()> {
    k.apic(APIC_TIMER_DIVIDE, 0xB)?;
    k.apic(APIC_LVT_TIMER, TIMER.into())?;
    k.rdtsc()?;
    k.a.mov(r14, rax)?;
    k.rdpmc(part.clock.running)?;
    k.a.mov(r13, rax)?;
    k.apic(APIC_TIMER_COUNT, HALTED)?;
    k.a.sti()?;
    k.a.hlt()?;
    k.a.cli()?;
    k.rdpmc(part.clock.running)?;
    k.a.sub(rax, r13)?;
    k.a.mov(r13, rax)?;
    k.rdtsc()?;
    k.a.sub(rax, r14)?;
    k.a.mov(r14, rax)?;
    k.check("time-stamp ticks of a halt", r14, HALTED.into(), i64::MAX as u64)?;
    k.check("cycles meanwhile", r13, 1, u64::from(HALTED) / 2)
}

/// Ring 3 measures a loop, and waits until it is interrupted.
fn ring_3(part: &Part) -> Built<(UserCode, u64)> {
    let mut user = User::new()?;
    user.routine("ring_3");
    let a = &mut user.a;
    let [mut entry, mut again] = [(); 2].map(|()| a.create_label());
    here(a, &mut entry)?;
    for last in [false, true] {
        a.mov(ecx, part.clock.running)?;
        a.rdpmc()?;
        a.shl(rdx, 32)?;
        a.or(rax, rdx)?;
        if !last {
            a.mov(r12, rax)?;
            turns(a)?;
        }
    }
    a.sub(rax, r12)?;
    a.mov(qword_ptr(USER_CYCLES), rax)?;
    here(a, &mut again)?;
    a.pause()?;
    a.cmp(qword_ptr(USER_DONE), 0)?;
    a.je(again)?;
    a.syscall()?;
    let (code, [entry]) = user.finish([entry])?;
    Ok((code, entry))
}

fn in_ring_3(k: &mut Kernel, part: &Part, entry: u64) -> Built<()> {
    k.a.mov(rax, cr4)?;
    k.a.or(eax, PCE)?;
    k.a.mov(cr4, rax)?;
    // As many as it takes.
    ask(k, part, LVT_NMI, u32::MAX >> 1)?;
    k.enter_user(entry, 2)?;
    (part.clock.disarm)(k)?;
    k.a.mov(r12, qword_ptr(USER_CYCLES))?;
    k.check("cycles of the loop in ring 3", r12, LEAST, i64::MAX as u64)?;
    k.a.mov(r12, cell(OF_USER))?;
    k.check_is("NMIs that came in ring 3", r12, 1)
}

fn refused(k: &mut Kernel, part: &Part) -> Built<()> {
    k.a.mov(cell(EXPECT), 1)?;
    k.a.mov(cell(FAULTS), 0)?;
    k.rdpmc(part.clock.absent)?;
    k.a.mov(cell(EXPECT), 0)?;
    k.a.mov(r12, cell(FAULTS))?;
    k.check_is("faults of RDPMC of a counter that is not there", r12, 1)
}

/// A counter that is disabled is stopped.
fn stands(k: &mut Kernel, part: &Part) -> Built<()> {
    k.rdpmc(part.clock.running)?;
    k.a.mov(r13, rax)?;
    turns(&mut k.a)?;
    k.rdpmc(part.clock.running)?;
    k.a.mov(r12, rax)?;
    k.check_same("the counter when it is disabled", r12, r13)
}
