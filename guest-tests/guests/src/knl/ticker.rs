//! A handler that follows a loop in ring 3 from interrupt to interrupt and knows where each must come.
//!
//! The loop has `LOOP` instructions: one-byte NOPs and a JMP back, so instruction `n` is at the loop's address plus `n`. Counting
//! ring 3 alone, nothing of the handler counts, and every interrupt comes the same number of instructions after the one before.
//!
//! The handler does what this part asks for: it unmasks the entry of the local vector table, which delivery has masked, and acknowledges
//! what IA32_PERF_GLOBAL_STATUS shows.

use iced_x86::code_asm::*;

use super::{COUNTER, FIXED, FIXED_CONTROL, FIXED_PMI, FIXED_USR, GLOBAL_STATUS, INSTRUCTIONS, INT, OVERFLOW_CONTROL, PART, SELECT, USR};
use crate::runtime::{APIC, APIC_EOI, APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, User, cell, here, own};

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
const WRONG: u32 = own(8);
const DONE: u32 = own(9);
/// The MSR numbers of the counter and of what disables it.
const COUNTER_AT: u32 = own(10);
const CONTROL_AT: u32 = own(11);
/// What the handler writes into the local vector table's entry.
pub(super) const ENTRY: u32 = own(12);
/// What IA32_PERF_GLOBAL_STATUS showed to the last interrupt, and is to show to each.
pub(super) const STATUS: u32 = own(13);
pub(super) const EXPECTED: u32 = own(14);
/// How many interrupts found another status.
pub(super) const ODD: u32 = own(15);
/// How many found the entry unmasked.
pub(super) const UNMASKED: u32 = own(16);

/// Instructions of the handler up to the one that unmasks the entry.
pub(super) const UNMASKS: u64 = 9;

/// The counter that is followed.
#[derive(Clone, Copy)]
pub(super) enum Which {
    /// A general one.
    General(u32),
    /// IA32_FIXED_CTR0.
    FixedInstructions,
}

impl Which {
    /// The MSR of the counter, the one that disables it, and its bit in the global registers.
    fn place(self) -> (u32, u32, u64) {
        match self {
            Which::General(number) => (COUNTER + number, SELECT + number, 1 << number),
            Which::FixedInstructions => (FIXED, FIXED_CONTROL, 1 << 32),
        }
    }
}

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

/// A handler for `vector` that notes where it came and what it found and, while a loop is followed, checks that and rearms the counter.
pub(super) fn handler(k: &mut Kernel, vector: u8) -> Built<()> {
    k.handler(vector)?;
    let [mut masked, mut known, mut out, mut right, mut rearm] = [(); 5].map(|()| k.a.create_label());
    let a = &mut k.a;
    a.push(rax)?;
    a.push(rcx)?;
    a.push(rdx)?;
    a.mov(eax, APIC)?;
    a.mov(edx, dword_ptr(rax + APIC_LVT_PERFORMANCE))?;
    a.test(edx, LVT_MASKED as i32)?;
    a.jne(masked)?;
    a.inc(cell(UNMASKED))?;
    here(a, &mut masked)?;
    a.mov(rdx, cell(ENTRY))?;
    a.mov(dword_ptr(rax + APIC_LVT_PERFORMANCE), edx)?;
    a.mov(rax, qword_ptr(rsp + 24))?;
    a.mov(cell(LAST), rax)?;
    a.inc(cell(COUNT))?;
    k.rdmsr(GLOBAL_STATUS)?;
    let a = &mut k.a;
    a.mov(cell(STATUS), rax)?;
    a.cmp(rax, cell(EXPECTED))?;
    a.je(known)?;
    a.inc(cell(ODD))?;
    here(a, &mut known)?;
    a.mov(rdx, rax)?;
    a.shr(rdx, 32)?;
    a.mov(ecx, OVERFLOW_CONTROL)?;
    a.wrmsr()?;
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
    a.mov(rcx, cell(CONTROL_AT))?;
    a.xor(eax, eax)?;
    a.xor(edx, edx)?;
    a.wrmsr()?;
    a.jmp(out)?;
    here(a, &mut rearm)?;
    // 40 bits of minus the period.
    a.mov(rax, cell(PERIOD))?;
    a.neg(rax)?;
    a.mov(rdx, rax)?;
    a.shl(rdx, 24)?;
    a.shr(rdx, 56)?;
    a.mov(rcx, cell(COUNTER_AT))?;
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

/// What the handler is to find and to write from now on; its counts begin at zero.
pub(super) fn expect(k: &mut Kernel, status: u64, entry: u32) -> Built<()> {
    k.a.mov(rax, status)?;
    k.a.mov(cell(EXPECTED), rax)?;
    for (offset, value) in [(ENTRY, entry as i32), (COUNT, 0), (ODD, 0), (UNMASKED, 0), (FOLLOWING, 0)] {
        k.a.mov(cell(offset), value)?;
    }
    Ok(())
}

/// Follows the loop for `interrupts` interrupts, `period` instructions apart, and checks how many came and where.
pub(super) fn follow(
    k: &mut Kernel,
    what: &str,
    addresses: [u64; 2],
    which: Which,
    entry: u32,
    (period, interrupts): (u64, u64),
    rflags: u64,
) -> Built<()> {
    let [first, done] = addresses;
    let (counter, control, status) = which.place();
    expect(k, status, entry)?;
    let cells = [
        (FOLLOWING, 1),
        (POSITION, 0),
        (PERIOD, period),
        (LENGTH, LOOP),
        (BASE, first),
        (LEFT, interrupts),
        (WRONG, 0),
        (DONE, done),
        (COUNTER_AT, counter.into()),
        (CONTROL_AT, control.into()),
    ];
    for (offset, value) in cells {
        k.a.mov(cell(offset), value as i32)?;
    }
    k.apic(APIC_LVT_PERFORMANCE, entry)?;
    k.wrmsr(counter, super::before_overflow(period))?;
    match which {
        Which::General(number) => PART.enable(k, number, INSTRUCTIONS | USR | INT)?,
        Which::FixedInstructions => k.wrmsr(FIXED_CONTROL, FIXED_USR | FIXED_PMI)?,
    }
    k.enter_user(first, rflags)?;
    for (name, offset, right) in [
        ("interrupts", COUNT, interrupts),
        ("interrupts at a wrong instruction", WRONG, 0),
        ("interrupts that find another status", ODD, 0),
        ("interrupts that find the entry unmasked", UNMASKED, 0),
    ] {
        k.a.mov(r12, cell(offset))?;
        k.check_is(&format!("{what}: {name}"), r12, right)?;
    }
    Ok(())
}
