//! `profile`: where ring 3 is, every 97 instructions.

use iced_x86::code_asm::*;

use super::{INSTRUCTIONS, INT, Part, USR, leave};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, Kernel, LVT_NMI, USER_CODE, User, cell, here, own};
use vm_pmu_engines::x86::Image;

const PERIOD: u64 = 97;
const ROUNDS: u32 = 3;

/// Functions and how often their loops of two instructions run; MOV and RET are two more.
const FUNCTIONS: [(&str, u32); 3] = [("alpha", 6000), ("beta", 3000), ("gamma", 1000)];

/// Ring 3 executes MOV; three times three CALLs, the functions, DEC, JNZ; SYSCALL.
///
/// 3 * (3 + 12002 + 6002 + 2002 + 2) + 2 = 60035, so 618 times 97. Some parts count the interrupt in ring 3 too; the handler reloads the
/// counter after that.
const SAMPLES: u64 = 618;
/// Shares of the functions: 36006, 18006 and 6006 instructions, of 97 each; each of three stretches one more or one less.
const SHARES: [(u64, u64); 3] = [(368, 374), (182, 188), (58, 64)];

const TAKEN: u32 = own(0);
const OUTSIDE: u32 = own(1);
/// Samples to which the status did not show counter 0 alone.
const STRANGE: u32 = own(2);
/// The most bytes of ring-3 code.
const CODE_BYTES: u32 = 256;

pub(crate) fn build(part: &Part) -> Built<Image> {
    let mut user = User::new()?;
    let mut labels = [(); 4].map(|()| user.a.create_label());
    let mut entry = user.a.create_label();
    for ((name, n), label) in FUNCTIONS.iter().zip(&mut labels) {
        user.routine(name);
        let a = &mut user.a;
        let mut again = a.create_label();
        here(a, label)?;
        a.mov(ecx, *n)?;
        here(a, &mut again)?;
        a.dec(ecx)?;
        a.jne(again)?;
        a.ret()?;
    }
    let [alpha, beta, gamma, mut end] = labels;
    user.routine("caller");
    let a = &mut user.a;
    here(a, &mut end)?;
    here(a, &mut entry)?;
    a.mov(ebx, ROUNDS)?;
    let mut again = a.create_label();
    here(a, &mut again)?;
    for function in [alpha, beta, gamma] {
        a.call(function)?;
    }
    a.dec(ebx)?;
    a.jne(again)?;
    a.syscall()?;
    let (code, [alpha, beta, gamma, end, entry]) = user.finish([alpha, beta, gamma, end, entry])?;

    let mut k = Kernel::new(code)?;
    let table = k.reserve(8 * u64::from(CODE_BYTES));
    handler(&mut k, part, table)?;
    k.main()?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.wrmsr(part.counter, part.before_overflow(PERIOD))?;
    part.enable(&mut k, 0, INSTRUCTIONS | USR | INT)?;
    k.enter_user(entry, 2)?;
    part.disable(&mut k, 0, 0)?;
    let mut cells = vec![("samples", TAKEN, SAMPLES), ("samples outside the code", OUTSIDE, 0)];
    if part.status.is_some() {
        cells.push(("samples of another counter", STRANGE, 0));
    }
    for (what, offset, right) in cells {
        k.a.mov(r12, cell(offset))?;
        k.check_is(what, r12, right)?;
    }
    let ranges = [(alpha, beta), (beta, gamma), (gamma, end)];
    for (((name, _), (from, to)), (least, most)) in FUNCTIONS.iter().zip(ranges).zip(SHARES) {
        report(&mut k, name, table, from, to)?;
        k.check(&format!("samples in {name}"), r13, least, most)?;
    }
    report(&mut k, "caller", table, end, USER_CODE + u64::from(CODE_BYTES))?;
    k.check("samples in the caller", r13, 0, 4)?;
    k.a.ret()?;
    k.finish()
}

fn handler(k: &mut Kernel, part: &Part, table: u64) -> Built<()> {
    k.handler(2)?;
    let [mut ours, mut outside, mut out] = [(); 3].map(|()| k.a.create_label());
    k.a.push(rax)?;
    k.a.push(rcx)?;
    k.a.push(rdx)?;
    part.unmask(k)?;
    k.a.inc(cell(TAKEN))?;
    if let Some(status) = &part.status {
        k.rdmsr(status.shown)?;
        k.a.cmp(rax, 1)?;
        k.a.je(ours)?;
        k.a.inc(cell(STRANGE))?;
        here(&mut k.a, &mut ours)?;
        k.wrmsr(status.clear, 1)?;
    }
    let a = &mut k.a;
    a.mov(rax, qword_ptr(rsp + 24))?;
    a.sub(rax, USER_CODE as i32)?;
    a.cmp(rax, CODE_BYTES as i32)?;
    a.jae(outside)?;
    a.inc(qword_ptr(rax * 8 + table))?;
    a.jmp(out)?;
    here(a, &mut outside)?;
    a.inc(cell(OUTSIDE))?;
    here(a, &mut out)?;
    k.wrmsr(part.counter, part.before_overflow(PERIOD))?;
    leave(k, 2)
}

/// Hands back the hits of the addresses from `from` to `to`; their sum is in R13.
fn report(k: &mut Kernel, name: &str, table: u64, from: u64, to: u64) -> Built<()> {
    let (mut again, mut none) = (k.a.create_label(), k.a.create_label());
    k.a.mov(ebx, (from - USER_CODE) as u32)?;
    k.a.xor(r13d, r13d)?;
    here(&mut k.a, &mut again)?;
    k.a.mov(rdx, qword_ptr(rbx * 8 + table))?;
    k.a.test(rdx, rdx)?;
    k.a.je(none)?;
    k.a.add(r13, rdx)?;
    k.a.lea(rdi, ptr(rbx + USER_CODE))?;
    k.sample(name)?;
    here(&mut k.a, &mut none)?;
    k.a.inc(rbx)?;
    k.a.cmp(rbx, (to - USER_CODE) as i32)?;
    k.a.jb(again)
}
