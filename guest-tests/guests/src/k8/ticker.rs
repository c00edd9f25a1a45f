//! A handler that follows a loop in ring 3 from interrupt to interrupt and knows where each must come.
//!
//! The loop has `LOOP` instructions: one-byte NOPs and a JMP back, so instruction `n` is at the loop's address plus `n`. Counting
//! ring 3 alone, nothing of the handler counts, and every interrupt comes the same number of instructions after the one before.

use iced_x86::code_asm::*;

use super::{COUNTER, INSTRUCTIONS, INT, PART, SELECT, USR};
use crate::runtime::{APIC_EOI, Built, Kernel, User, cell, here, own};

/// Instructions in the loop.
pub(super) const LOOP: u64 = 7;

/// Where the last interrupt came.
pub(super) const LAST: u32 = own(0);
/// How many came.
pub(super) const COUNT: u32 = own(1);
const FOLLOWING: u32 = own(2);
const POSITION: u32 = own(3);
const PERIOD: u32 = own(4);
const LENGTH: u32 = own(5);
const BASE: u32 = own(6);
const LEFT: u32 = own(7);
/// How many came elsewhere than expected.
pub(super) const WRONG: u32 = own(8);
const DONE: u32 = own(9);

/// The loop's code and the addresses of its first instruction and of what ends it.
pub(super) fn user() -> Built<(Vec<u8>, [u64; 2])> {
    let mut user = User::new()?;
    let (mut first, mut done) = (user.a.create_label(), user.a.create_label());
    here(&mut user.a, &mut first)?;
    for _ in 1..LOOP {
        user.a.nop()?;
    }
    user.a.jmp(first)?;
    here(&mut user.a, &mut done)?;
    user.a.syscall()?;
    user.finish([first, done])
}

/// A handler for `vector` that notes where it came and, while a loop is followed, checks that and rearms counter `counter`.
pub(super) fn handler(k: &mut Kernel, vector: u8, counter: u32) -> Built<()> {
    k.handler(vector)?;
    let (mut out, mut right, mut rearm) = (k.a.create_label(), k.a.create_label(), k.a.create_label());
    let a = &mut k.a;
    a.push(rax)?;
    a.push(rcx)?;
    a.push(rdx)?;
    a.mov(rax, qword_ptr(rsp + 24))?;
    a.mov(cell(LAST), rax)?;
    a.inc(cell(COUNT))?;
    a.cmp(cell(FOLLOWING), 0)?;
    a.je(out)?;
    a.mov(rax, cell(POSITION))?;
    a.add(rax, cell(PERIOD))?;
    a.xor(edx, edx)?;
    a.div(cell(LENGTH))?;
    a.mov(cell(POSITION), rdx)?;
    a.add(rdx, cell(BASE))?;
    a.cmp(rdx, cell(LAST))?;
    a.je(right)?;
    a.inc(cell(WRONG))?;
    here(a, &mut right)?;
    a.dec(cell(LEFT))?;
    a.jne(rearm)?;
    a.mov(rax, cell(DONE))?;
    a.mov(qword_ptr(rsp + 24), rax)?;
    a.mov(cell(FOLLOWING), 0)?;
    a.mov(ecx, SELECT + counter)?;
    a.xor(eax, eax)?;
    a.xor(edx, edx)?;
    a.wrmsr()?;
    a.jmp(out)?;
    here(a, &mut rearm)?;
    a.mov(rax, cell(PERIOD))?;
    a.neg(rax)?;
    a.mov(rdx, rax)?;
    a.shr(rdx, 32)?;
    a.mov(ecx, COUNTER + counter)?;
    a.wrmsr()?;
    here(a, &mut out)?;
    if vector != 2 {
        k.apic(APIC_EOI, 0)?;
    }
    k.a.pop(rdx)?;
    k.a.pop(rcx)?;
    k.a.pop(rax)?;
    k.a.iretq()
}

/// Follows the loop for `interrupts` interrupts, `period` instructions apart, and checks how many came and where.
pub(super) fn follow(
    k: &mut Kernel,
    what: &str,
    addresses: [u64; 2],
    counter: u32,
    period: u64,
    interrupts: u64,
    rflags: u64,
) -> Built<()> {
    let [first, done] = addresses;
    let cells = [
        (COUNT, 0),
        (FOLLOWING, 1),
        (POSITION, 0),
        (PERIOD, period),
        (LENGTH, LOOP),
        (BASE, first),
        (LEFT, interrupts),
        (WRONG, 0),
        (DONE, done),
    ];
    for (offset, value) in cells {
        k.a.mov(cell(offset), value as i32)?;
    }
    k.wrmsr(COUNTER + counter, period.wrapping_neg())?;
    PART.enable(k, counter, INSTRUCTIONS | USR | INT)?;
    k.enter_user(first, rflags)?;
    k.a.mov(r12, cell(COUNT))?;
    k.check_is(&format!("{what}: interrupts"), r12, interrupts)?;
    k.a.mov(r12, cell(WRONG))?;
    k.check_is(&format!("{what}: interrupts at a wrong instruction"), r12, 0)
}
