//! A handler that follows a loop in ring 3 from interrupt to interrupt and knows where each must come.
//!
//! The loop has `LOOP` instructions: one-byte NOPs and a JMP back, so instruction `n` is at the loop's address plus `n`. Counting
//! ring 3 alone, nothing of the handler counts, and every interrupt comes the same number of instructions after the one before.
//!
//! On a part that shows overflows, the handler also unmasks the entry of the local vector table, which delivery has masked, and
//! acknowledges what is shown.

use iced_x86::code_asm::*;

use super::{EN, INSTRUCTIONS, INT, Part, USR, leave};
use crate::runtime::{APIC, APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, LVT_NMI, User, UserCode, cell, here, own};

/// Instructions in the loop.
const LOOP: u64 = 7;

/// Where the last interrupt came.
pub(crate) const LAST: u32 = own(0);
/// How many came.
pub(crate) const COUNT: u32 = own(1);
const FOLLOWING: u32 = own(2);
const POSITION: u32 = own(3);
const PERIOD: u32 = own(4);
const LENGTH: u32 = own(5);
const BASE: u32 = own(6);
const LEFT: u32 = own(7);
/// How many came elsewhere than expected.
const WRONG: u32 = own(8);
const DONE: u32 = own(9);
/// The MSR numbers of the counter and of the register that disables it, and the value that rearms the counter.
const COUNTER_AT: u32 = own(10);
const CONTROL_AT: u32 = own(11);
const RELOAD: u32 = own(17);
/// What the handler writes into the local vector table's entry.
pub(crate) const ENTRY: u32 = own(12);
/// The status at the last interrupt, and the one that each must find.
pub(crate) const STATUS: u32 = own(13);
pub(crate) const EXPECTED: u32 = own(14);
/// How many interrupts found another status.
pub(crate) const ODD: u32 = own(15);
/// How many found the entry unmasked.
pub(crate) const UNMASKED: u32 = own(16);

/// Instructions of the handler up to the one that unmasks the entry.
pub(crate) const UNMASKS: u64 = 9;

/// The counter that is followed.
#[derive(Clone, Copy)]
pub(crate) struct Followed {
    /// Its MSR.
    pub(crate) register: u32,
    /// The MSR that enables it, and its value while the counter counts ring 3's instructions and interrupts.
    pub(crate) control: u32,
    pub(crate) enabled: u64,
    /// Its bit in the status.
    pub(crate) status: u64,
}

impl Part {
    /// General counter `n`, to be followed.
    pub(crate) fn followed(&self, n: u32) -> Followed {
        Followed { register: self.counter + n, control: self.select + n, enabled: INSTRUCTIONS | USR | INT | EN, status: 1 << n }
    }
}

/// The loop's code and the addresses of its first instruction and of the one that ends it.
pub(crate) fn user() -> Built<(UserCode, [u64; 2])> {
    let mut user = User::new()?;
    let (mut first, mut done) = (user.a.create_label(), user.a.create_label());
    user.routine("ring_3_loop");
    here(&mut user.a, &mut first)?;
    for _ in 1..LOOP {
        user.a.nop()?;
    }
    user.a.jmp(first)?;
    here(&mut user.a, &mut done)?;
    user.a.syscall()?;
    user.finish([first, done])
}

/// A handler for `vector` that records where it came and what it found and, while a loop is followed, checks that and rearms the counter.
pub(crate) fn handler(k: &mut Kernel, part: &Part, vector: u8) -> Built<()> {
    k.handler(vector)?;
    let [mut masked, mut known, mut out, mut right, mut rearm] = [(); 5].map(|()| k.a.create_label());
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    if part.status.is_some() {
        k.a.mov(eax, APIC)?;
        k.a.mov(edx, dword_ptr(rax + APIC_LVT_PERFORMANCE))?;
        k.a.test(edx, LVT_MASKED as i32)?;
        k.a.jne(masked)?;
        k.a.inc(cell(UNMASKED))?;
        here(&mut k.a, &mut masked)?;
        k.a.mov(rdx, cell(ENTRY))?;
        k.a.mov(dword_ptr(rax + APIC_LVT_PERFORMANCE), edx)?;
    }
    k.a.mov(rax, qword_ptr(rsp + 24))?;
    k.a.mov(cell(LAST), rax)?;
    k.a.inc(cell(COUNT))?;
    if let Some(status) = &part.status {
        k.rdmsr(status.shown)?;
        k.a.mov(cell(STATUS), rax)?;
        k.a.cmp(rax, cell(EXPECTED))?;
        k.a.je(known)?;
        k.a.inc(cell(ODD))?;
        here(&mut k.a, &mut known)?;
        k.a.mov(rdx, rax)?;
        k.a.shr(rdx, 32)?;
        k.a.mov(ecx, status.clear)?;
        k.a.wrmsr()?;
    }
    let a = &mut k.a;
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
    a.mov(rax, cell(RELOAD))?;
    a.mov(rdx, rax)?;
    a.shr(rdx, 32)?;
    a.mov(rcx, cell(COUNTER_AT))?;
    a.wrmsr()?;
    here(a, &mut out)?;
    leave(k, vector)
}

/// What the handler is to find and to write from now on; its counts begin at zero.
pub(crate) fn expect(k: &mut Kernel, status: u64, entry: u32) -> Built<()> {
    k.a.mov(rax, status)?;
    k.a.mov(cell(EXPECTED), rax)?;
    for (offset, value) in [(ENTRY, entry as i32), (COUNT, 0), (ODD, 0), (UNMASKED, 0), (FOLLOWING, 0)] {
        k.a.mov(cell(offset), value)?;
    }
    Ok(())
}

/// Follows the loop by `followed` for `interrupts` interrupts, `period` instructions apart, which `entry` of the local vector table
/// delivers, and checks how many came, where, and what they found.
pub(crate) fn follow(
    k: &mut Kernel,
    part: &Part,
    what: &str,
    [first, done]: [u64; 2],
    followed: Followed,
    entry: u32,
    (period, interrupts): (u64, u64),
) -> Built<()> {
    expect(k, followed.status, entry)?;
    let cells = [
        (FOLLOWING, 1),
        (POSITION, 0),
        (PERIOD, period),
        (LENGTH, LOOP),
        (BASE, first),
        (LEFT, interrupts),
        (WRONG, 0),
        (DONE, done),
        (COUNTER_AT, followed.register.into()),
        (CONTROL_AT, followed.control.into()),
        (RELOAD, part.before_overflow(period)),
    ];
    for (offset, value) in cells {
        k.a.mov(rax, value)?;
        k.a.mov(cell(offset), rax)?;
    }
    k.apic(APIC_LVT_PERFORMANCE, entry)?;
    k.wrmsr(followed.register, part.before_overflow(period))?;
    k.wrmsr(followed.control, followed.enabled)?;
    // A vector comes only with IF set.
    k.enter_user(first, if entry == LVT_NMI { 0x002 } else { 0x202 })?;
    let mut checks = vec![("interrupts", COUNT, interrupts), ("interrupts at a wrong instruction", WRONG, 0)];
    if part.status.is_some() {
        checks.push(("interrupts that find another status", ODD, 0));
        checks.push(("interrupts that find the entry unmasked", UNMASKED, 0));
    }
    for (name, offset, right) in checks {
        k.a.mov(r12, cell(offset))?;
        k.check_is(&format!("{what}: {name}"), r12, right)?;
    }
    Ok(())
}
