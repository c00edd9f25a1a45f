//! `hostile`: anything into every register.

use iced_x86::code_asm::*;

use super::{COUNTER, INSTRUCTIONS, OS, PART, SELECT};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, EXPECT, Kernel, LVT_MASKED, LVT_NMI, User, cell, here, own};
use vm_pmu_engines::x86::Image;

const ROUNDS: u32 = 5000;
/// The bits of PerfEvtSel that keep what is written: 31:0 except 21.
const SELECT_BITS: u32 = 0xFFDF_FFFF;
/// Registers that the part does not have.
const ABSENT: &[u32] = &[0xC000_FFFF, 0xC001_0008, 0xC001_0009, 0xC001_000F, 0xC001_0200, 0xC1, 0x186, 0x38F, 0xFFFF_FFFF];
const BAD_INDICES: &[u32] = &[4, 5, 0x7FFF_FFFF, 0x8000_0000, 0x4000_0003, 0xFFFF_FFFF];
/// The most a counter may have moved between a write and the read after it, one NMI in between included.
const MOVED: i32 = 64;

pub(super) fn build() -> Built<Image> {
    let mut user = User::new()?;
    let mut entry = user.a.create_label();
    user.routine("ring_3");
    here(&mut user.a, &mut entry)?;
    for msr in (SELECT..SELECT + 8).chain(ABSENT.iter().copied()) {
        user.a.mov(ecx, msr)?;
        user.a.rdmsr()?;
        user.a.wrmsr()?;
    }
    for index in (0..4).chain(BAD_INDICES.iter().copied()) {
        user.a.mov(ecx, index)?;
        user.a.rdpmc()?;
    }
    user.a.syscall()?;
    let (code, [entry]) = user.finish([entry])?;

    let mut k = Kernel::new(code)?;
    k.handler(2)?;
    k.a.inc(cell(own(0)))?;
    k.a.iretq()?;

    k.main()?;
    k.a.mov(cell(EXPECT), 1)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    random_writes(&mut k)?;
    k.check_faults("writes of every pattern: faults", 0)?;

    for msr in ABSENT {
        k.a.mov(ecx, *msr)?;
        k.a.rdmsr()?;
        k.a.wrmsr()?;
    }
    k.check_faults("RDMSR and WRMSR of absent registers: faults", 2 * ABSENT.len() as u64)?;
    for index in BAD_INDICES {
        k.a.mov(ecx, *index)?;
        k.a.rdpmc()?;
    }
    k.check_faults("RDPMC by bad indices: faults", BAD_INDICES.len() as u64)?;
    k.enter_user(entry, 2)?;
    let in_user = 2 * (8 + ABSENT.len()) + 4 + BAD_INDICES.len();
    k.check_faults("everything from ring 3: faults", in_user as u64)?;

    k.apic(APIC_LVT_PERFORMANCE, LVT_MASKED)?;
    for msr in SELECT..SELECT + 8 {
        k.wrmsr(msr, 0)?;
    }
    for msr in SELECT..SELECT + 8 {
        k.rdmsr(msr)?;
        k.check_is(&format!("{msr:X}h written 0"), rax, 0)?;
    }
    for n in 0..4 {
        PART.enable(&mut k, n, INSTRUCTIONS | OS)?;
        for _ in 0..10 {
            k.a.nop()?;
        }
        PART.disable(&mut k, n, 0)?;
        k.rdmsr(COUNTER + n)?;
        k.check_is(&format!("counter {n} still counts"), rax, 14)?;
    }
    k.a.ret()?;
    k.finish()
}

/// Writes and reads back registers in a random order with random values, every other one close to an overflow.
fn random_writes(k: &mut Kernel) -> Built<()> {
    let [mut again, mut plain, mut counter, mut low, mut next] = [(); 5].map(|()| k.a.create_label());
    let a = &mut k.a;
    a.mov(ebx, ROUNDS)?;
    a.mov(r12, 0x9E37_79B9_7F4A_7C15u64)?;
    a.xor(ebp, ebp)?;
    a.xor(r13d, r13d)?;
    here(a, &mut again)?;
    a.mov(rax, r12)?;
    a.shl(rax, 13)?;
    a.xor(r12, rax)?;
    a.mov(rax, r12)?;
    a.shr(rax, 7)?;
    a.xor(r12, rax)?;
    a.mov(rax, r12)?;
    a.shl(rax, 17)?;
    a.xor(r12, rax)?;
    a.mov(r14, r12)?;
    a.and(r14d, 7)?;
    a.mov(r15, r12)?;
    a.ror(r15, 23)?;
    a.test(r12d, 0x100)?;
    a.je(plain)?;
    a.cmp(r14d, 4)?;
    a.jb(plain)?;
    a.and(r15d, 0x3F)?;
    a.neg(r15)?;
    here(a, &mut plain)?;
    a.mov(ecx, r14d)?;
    a.add(ecx, SELECT as i32)?;
    a.mov(eax, r15d)?;
    a.mov(rdx, r15)?;
    a.shr(rdx, 32)?;
    a.wrmsr()?;
    a.rdmsr()?;
    a.shl(rdx, 32)?;
    a.or(rax, rdx)?;
    a.cmp(r14d, 4)?;
    a.jae(counter)?;
    a.mov(edx, r15d)?;
    a.and(edx, SELECT_BITS as i32)?;
    a.cmp(rax, rdx)?;
    a.je(next)?;
    a.inc(rbp)?;
    a.jmp(next)?;
    here(a, &mut counter)?;
    a.mov(rdx, rax)?;
    a.shr(rdx, 48)?;
    a.je(low)?;
    a.inc(r13)?;
    here(a, &mut low)?;
    a.sub(rax, r15)?;
    a.shl(rax, 16)?;
    a.shr(rax, 16)?;
    a.cmp(rax, MOVED)?;
    a.jbe(next)?;
    a.inc(r13)?;
    here(a, &mut next)?;
    a.dec(ebx)?;
    a.jne(again)?;
    k.check_is("selects that read back otherwise", rbp, 0)?;
    k.check_is("counters that read back otherwise", r13, 0)
}
