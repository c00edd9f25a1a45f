//! `any-thread`: AnyThread counts for the four threads of the core: what each does, and the clock while one of them runs.
//!
//! Eight CPUs are two cores. In ring 3 each executes its own number of instructions; what it does in ring 0 meanwhile is not counted. Later
//! CPUs 0 and 1 work and halt in turn, CPUs 2 and 3 are halted and those of the other core never rest.

use iced_x86::code_asm::*;

use super::{ALL, COUNTER, EN, FIXED, FIXED_CONTROL, GLOBAL_CONTROL, INSTRUCTIONS, OS, SELECT, USR};
use crate::runtime::{APIC_EOI, APIC_ICR, Built, Kernel, User, here};
use vm_pmu_engines::x86::Image;

/// In IA32_PERFEVTSEL.
const ANY: u64 = 1 << 21;
/// In IA32_FIXED_CTR_CTRL, for IA32_FIXED_CTR0: level 0, the levels above, every thread.
const LEVEL_0: u64 = 1;
const LEVELS_ABOVE: u64 = 2;
const ANY_FIXED: u64 = 4;

/// The interrupt command's high half, which names the destination.
const APIC_ICR_HIGH: u32 = 0x310;
/// The vector that has CPU 1 work, and the one that wakes CPU 0.
const WORK: u8 = 0x61;
const WAKE: u8 = 0x62;

const CPUS: u64 = 8;
/// CPU n goes round so many times in ring 3: two instructions each, and SYSCALL.
const fn rounds(cpu: u64) -> u64 {
    100 * (cpu + 1)
}
const fn in_ring_3(cpu: u64) -> u64 {
    2 * rounds(cpu) + 1
}

/// Rounds that CPU 1 works.
const ROUNDS: u64 = 1000;
/// Instructions of CPU 1 from interrupt to HLT: MOV, the rounds, four to wake CPU 0, two to end the interrupt, IRETQ; JMP and HLT.
const WORKED: u64 = 1 + 2 * ROUNDS + 4 + 2 + 1 + 2;
/// Rounds in which CPU 0 waits for CPU 1 to be halted again, or to begin with.
const SETTLE: u32 = 100;

pub(super) fn build() -> Built<Image> {
    let mut user = User::new()?;
    let mut entry = user.a.create_label();
    user.routine("ring_3_loop");
    here(&mut user.a, &mut entry)?;
    user.a.dec(r12)?;
    user.a.jne(entry)?;
    user.a.syscall()?;
    let (code, [entry]) = user.finish([entry])?;

    let mut k = Kernel::new(code)?;
    let [ready, done, seen] = [(); 3].map(|()| k.reserve(8));
    k.handler(WORK)?;
    spin(&mut k, ROUNDS as u32)?;
    send(&mut k, 0, WAKE)?;
    k.apic(APIC_EOI, 0)?;
    k.a.iretq()?;
    k.handler(WAKE)?;
    k.apic(APIC_EOI, 0)?;
    k.a.iretq()?;

    k.main()?;
    k.a.mov(rbp, rdi)?;
    in_user(&mut k, entry, [ready, done])?;
    k.barrier(seen, CPUS as i32)?;
    let [mut second, mut rest, mut busy] = [(); 3].map(|()| k.a.create_label());
    k.a.cmp(rbp, 1)?;
    k.a.je(second)?;
    k.a.cmp(rbp, 4)?;
    k.a.jae(busy)?;
    let mut first = k.a.create_label();
    k.a.test(rbp, rbp)?;
    k.a.je(first)?;
    k.a.ret()?;

    here(&mut k.a, &mut busy)?;
    k.a.pause()?;
    k.a.jmp(busy)?;
    here(&mut k.a, &mut second)?;
    k.a.sti()?;
    here(&mut k.a, &mut rest)?;
    k.a.hlt()?;
    k.a.jmp(rest)?;

    here(&mut k.a, &mut first)?;
    spin(&mut k, 10 * SETTLE)?;
    alone(&mut k)?;
    in_turn(&mut k)?;
    together(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// Goes round so many times: MOV, then two instructions each.
fn spin(k: &mut Kernel, rounds: u32) -> Built<()> {
    let mut again = k.a.create_label();
    k.a.mov(ecx, rounds)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(ecx)?;
    k.a.jne(again)
}

/// Sends a CPU a vector: four instructions.
fn send(k: &mut Kernel, cpu: u32, vector: u8) -> Built<()> {
    k.apic(APIC_ICR_HIGH, cpu << 24)?;
    k.apic(APIC_ICR, u32::from(vector))
}

/// CPUs of even number count ring 3 of their core, the others their own; the bit in an event select has no effect for instructions.
fn in_user(k: &mut Kernel, entry: u64, [ready, done]: [u64; 2]) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    k.wrmsr(SELECT, INSTRUCTIONS | USR | ANY | EN)?;
    let mut odd = k.a.create_label();
    k.wrmsr(FIXED_CONTROL, LEVELS_ABOVE)?;
    k.a.test(ebp, 1)?;
    k.a.jne(odd)?;
    k.wrmsr(FIXED_CONTROL, LEVELS_ABOVE | ANY_FIXED)?;
    here(&mut k.a, &mut odd)?;
    k.barrier(ready, CPUS as i32)?;
    k.a.lea(r12, ptr(rbp + 1))?;
    k.a.imul_3(r12, r12, rounds(0) as i32)?;
    k.enter_user(entry, 2)?;
    k.barrier(done, CPUS as i32)?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    k.wrmsr(SELECT, 0)?;
    for cpu in 0..CPUS {
        let mut skip = k.a.create_label();
        k.a.cmp(rbp, cpu as i32)?;
        k.a.jne(skip)?;
        let core = cpu / 4 * 4;
        let right = if cpu % 2 == 0 { (core..core + 4).map(in_ring_3).sum() } else { in_ring_3(cpu) };
        let whose = if cpu % 2 == 0 { "the core's" } else { "its own" };
        k.rdmsr(FIXED)?;
        k.check_is(&format!("CPU {cpu}, {whose} instructions of ring 3"), rax, right)?;
        k.rdmsr(COUNTER)?;
        k.check_is(&format!("CPU {cpu}, INST_RETIRED.ANY_P with AnyThread: its own"), rax, in_ring_3(cpu))?;
        here(&mut k.a, &mut skip)?;
    }
    Ok(())
}

/// Counts around `body`, all five started and stopped together: with AnyThread instructions in R12, clocks in R13 (by the fixed counter)
/// and R14 (by a general one); the thread's own clocks in R15. The thread knows its own instructions.
fn count(k: &mut Kernel, body: impl FnOnce(&mut Kernel) -> Built<()>) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    for msr in [COUNTER, COUNTER + 1, FIXED, FIXED + 1, FIXED + 2] {
        k.wrmsr(msr, 0)?;
    }
    k.wrmsr(FIXED_CONTROL, (LEVEL_0 | LEVELS_ABOVE | ANY_FIXED) * 0x11)?;
    k.wrmsr(SELECT, super::CLOCKS | OS | USR | ANY | EN)?;
    k.wrmsr(SELECT + 1, super::CLOCKS | OS | USR | EN)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    body(k)?;
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    for (register, msr) in [(r12, FIXED), (r13, FIXED + 1), (r14, COUNTER), (r15, COUNTER + 1)] {
        k.rdmsr(msr)?;
        k.a.mov(register, rax)?;
    }
    Ok(())
}

/// WRMSR and three MOVs around every body.
const AROUND: u64 = 4;

/// The other threads of the core are halted: its clock is CPU 0's.
fn alone(k: &mut Kernel) -> Built<()> {
    count(k, |k| (0..20).try_for_each(|_| k.a.nop()))?;
    for (what, register) in [
        ("instructions of the core", r12),
        ("clocks of the core", r13),
        ("clocks of the core by a general counter", r14),
        ("clocks of the thread", r15),
    ] {
        k.check_is(&format!("alone: {what}"), register, AROUND + 20)?;
    }
    Ok(())
}

/// CPU 0 halts while CPU 1 works, and is woken by it. CPU 0 executes WRMSR, four to send, STI, HLT; the wake takes three; then it waits a
/// while for CPU 1 to be halted, and three MOVs. Its own clocks are these and the interrupt.
fn in_turn(k: &mut Kernel) -> Built<()> {
    const OWN: u64 = AROUND + 4 + 2 + 3 + 1 + 1 + 2 * SETTLE as u64;
    count(k, |k| {
        send(k, 1, WORK)?;
        k.a.sti()?;
        k.a.hlt()?;
        k.a.cli()?;
        spin(k, SETTLE)
    })?;
    k.check_is("in turn: instructions of the core", r12, OWN + WORKED)?;
    k.check_is("in turn: clocks of the thread", r15, OWN + 1)?;
    // The other thread's interrupt is a clock too. A clock in which both run counts once, a clock in which neither runs is not counted.
    k.check("in turn: clocks of the core", r13, WORKED, OWN + 1 + WORKED + 1)?;
    k.check_same("in turn: clocks of the core by both counters", r14, r13)
}

/// CPU 0 works longer than CPU 1 does at the same time: instructions add up, clocks do not.
fn together(k: &mut Kernel) -> Built<()> {
    const MORE: u64 = 100;
    const OWN: u64 = AROUND + 4 + 1 + 2 * (ROUNDS + MORE);
    count(k, |k| {
        send(k, 1, WORK)?;
        spin(k, (ROUNDS + MORE) as u32)
    })?;
    k.check_is("together: instructions of the core", r12, OWN + WORKED)?;
    k.check_is("together: clocks of the thread", r15, OWN)?;
    // As far as the threads' clocks are apart.
    k.check("together: clocks of the core", r13, OWN, OWN + 16)?;
    k.check_same("together: clocks of the core by both counters", r14, r13)
}
