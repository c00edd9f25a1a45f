//! `hostile`: anything into every register.

use iced_x86::code_asm::*;

use super::{
    ALL, COUNTER, DEBUG_CONTROL, EN, FIXED, FIXED_CONTROL, GLOBAL_CONTROL, GLOBAL_STATUS, INSTRUCTIONS, LEGACY, OS, OVERFLOW_CONTROL, PART,
    SELECT,
};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, EXPECT, Kernel, LVT_MASKED, LVT_NMI, User, cell, here, own};
use vm_pmu_engines::x86::Image;

const MISC_ENABLE: u32 = 0x1A0;
const OFFCORE_RESP: u32 = 0x1A6;
const PERF_CAPABILITIES: u32 = 0x345;

/// The registers and the bits that each takes; a one anywhere else faults. The old addresses of the general counters ignore what is above
/// bit 31.
const REGISTERS: [(u32, u64); 20] = [
    (LEGACY, u64::MAX),
    (LEGACY + 1, u64::MAX),
    (COUNTER, (1 << 40) - 1),
    (COUNTER + 1, (1 << 40) - 1),
    (FIXED, (1 << 40) - 1),
    (FIXED + 1, (1 << 40) - 1),
    (FIXED + 2, (1 << 40) - 1),
    (SELECT, 0xFFFF_FFFF),
    (SELECT + 1, 0xFFFF_FFFF),
    (FIXED_CONTROL, 0xFFF),
    (GLOBAL_STATUS, 0),
    (GLOBAL_CONTROL, ALL),
    // The five counters, the untile, the debug store's buffer and the changed condition.
    (OVERFLOW_CONTROL, 7 << 61 | ALL),
    // 13 to 6, 1, 0.
    (DEBUG_CONTROL, 0x3FC3),
    (PERF_CAPABILITIES, 0),
    // 38, 34, 23, 22, 18, 16, 3, 0; and the read-only bits: 12, 11, 7.
    (MISC_ENABLE, 1 << 38 | 1 << 34 | 1 << 23 | 1 << 22 | 1 << 18 | 1 << 16 | 1 << 12 | 1 << 11 | 1 << 7 | 1 << 3 | 1),
    (OFFCORE_RESP, (1 << 39) - 1),
    (OFFCORE_RESP + 1, (1 << 39) - 1),
    // Last branches: nothing is kept, nothing refused.
    (0x680, u64::MAX),
    (0x6C7, u64::MAX),
];

/// Registers that the part, or one without a debug store, does not have.
const ABSENT: &[u32] = &[0xC3, 0x188, 0x30C, 0x38C, 0x391, 0x3F1, 0x4C3, 0x600, 0xC001_0000, 0xFFFF_FFFF];
const BAD_INDICES: &[u32] = &[2, 3, 0x2000_0000, 0x3FFF_FFFF, 0x4000_0003, 0x8000_0000, 0xC000_0000, 0xFFFF_FFFF];

const ROUNDS: u32 = 4000;

pub(super) fn build() -> Built<Image> {
    let mut user = User::new()?;
    let mut entry = user.a.create_label();
    user.routine("ring_3");
    here(&mut user.a, &mut entry)?;
    for msr in REGISTERS.iter().map(|(msr, _)| *msr).chain(ABSENT.iter().copied()) {
        user.a.mov(ecx, msr)?;
        user.a.rdmsr()?;
        user.a.wrmsr()?;
    }
    for index in [0, 1, super::RDPMC_FIXED].into_iter().chain(BAD_INDICES.iter().copied()) {
        user.a.mov(ecx, index)?;
        user.a.rdpmc()?;
    }
    user.a.syscall()?;
    let (code, [entry]) = user.finish([entry])?;

    let mut k = Kernel::new(code)?;
    let table: Vec<u8> = REGISTERS.iter().flat_map(|(msr, bits)| [u64::from(*msr), *bits]).flat_map(u64::to_le_bytes).collect();
    let table = k.place(&table);
    k.handler(2)?;
    k.a.push(rax)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.inc(cell(own(0)))?;
    k.a.pop(rax)?;
    k.a.iretq()?;

    k.main()?;
    k.a.mov(cell(EXPECT), 1)?;
    for (msr, bits) in REGISTERS {
        single_bits(&mut k, msr, bits)?;
    }
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
    let in_user = 2 * (REGISTERS.len() + ABSENT.len()) + 3 + BAD_INDICES.len();
    k.check_faults("everything from ring 3: faults", in_user as u64)?;

    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    random_writes(&mut k, table)?;
    k.check_faults("writes of every pattern that is taken: faults", 0)?;
    afterwards(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// Each bit alone: those that the register does not take fault, and no others.
fn single_bits(k: &mut Kernel, msr: u32, bits: u64) -> Built<()> {
    let mut again = k.a.create_label();
    k.a.mov(r12d, 1)?;
    here(&mut k.a, &mut again)?;
    k.a.mov(ecx, msr)?;
    k.a.mov(eax, r12d)?;
    k.a.mov(rdx, r12)?;
    k.a.shr(rdx, 32)?;
    k.a.wrmsr()?;
    k.a.shl(r12, 1)?;
    k.a.jne(again)?;
    k.check_faults(&format!("{msr:X}h, each bit alone: faults"), u64::from(bits.count_zeros()))?;
    // Leaves no bit set.
    if bits != 0 {
        k.wrmsr(msr, 0)?;
    }
    Ok(())
}

/// Writes what registers take, otherwise at random, to registers at random; counters every other time close to an overflow.
fn random_writes(k: &mut Kernel, table: u64) -> Built<()> {
    let [mut again, mut plain, mut skip] = [(); 3].map(|()| k.a.create_label());
    let a = &mut k.a;
    a.mov(ebx, ROUNDS)?;
    a.mov(r12, 0x9E37_79B9_7F4A_7C15u64)?;
    here(a, &mut again)?;
    for (left, places) in [(true, 13), (false, 7), (true, 17)] {
        a.mov(rax, r12)?;
        if left {
            a.shl(rax, places)?
        } else {
            a.shr(rax, places)?
        }
        a.xor(r12, rax)?;
    }
    a.mov(rax, r12)?;
    a.xor(edx, edx)?;
    a.mov(ecx, REGISTERS.len() as u32)?;
    a.div(rcx)?;
    a.shl(rdx, 4)?;
    a.mov(rcx, qword_ptr(rdx + table))?;
    a.mov(r14, qword_ptr(rdx + (table + 8)))?;
    // A register that takes no bit is not written.
    a.test(r14, r14)?;
    a.je(skip)?;
    a.mov(r15, r12)?;
    a.ror(r15, 23)?;
    a.test(r12d, 0x100)?;
    a.je(plain)?;
    a.cmp(edx, 16 * 7)?;
    a.jae(plain)?;
    a.and(r15d, 0x3F)?;
    a.neg(r15)?;
    here(a, &mut plain)?;
    a.and(r15, r14)?;
    a.mov(eax, r15d)?;
    a.mov(rdx, r15)?;
    a.shr(rdx, 32)?;
    a.wrmsr()?;
    a.rdmsr()?;
    here(a, &mut skip)?;
    a.dec(ebx)?;
    a.jne(again)
}

/// Everything is put back, and counts as ever.
fn afterwards(k: &mut Kernel) -> Built<()> {
    k.apic(APIC_LVT_PERFORMANCE, LVT_MASKED)?;
    for (msr, bits) in REGISTERS.iter().filter(|(_, bits)| *bits != 0) {
        k.wrmsr(*msr, 0)?;
        let (right, read) = if *msr == MISC_ENABLE { (1 << 12 | 1 << 11 | 1 << 7, "only what reads") } else { (0, "0") };
        k.rdmsr(*msr)?;
        k.check_is(&format!("{msr:X}h, which takes {bits:X}h, written 0 reads {read}"), rax, right)?;
    }
    k.wrmsr(OVERFLOW_CONTROL, 7 << 61 | ALL)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("the status acknowledged", rax, 0)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for n in 0..2 {
        k.wrmsr(COUNTER + n, 0)?;
        PART.enable(k, n, INSTRUCTIONS | OS | EN)?;
        for _ in 0..10 {
            k.a.nop()?;
        }
        PART.disable(k, n, 0)?;
        k.rdmsr(COUNTER + n)?;
        k.check_is(&format!("counter {n} still counts"), rax, 14)?;
    }
    k.wrmsr(FIXED, 0)?;
    k.wrmsr(FIXED_CONTROL, 1)?;
    for _ in 0..10 {
        k.a.nop()?;
    }
    k.wrmsr(FIXED_CONTROL, 0)?;
    k.rdmsr(FIXED)?;
    k.check_is("IA32_FIXED_CTR0 still counts", rax, 14)
}
