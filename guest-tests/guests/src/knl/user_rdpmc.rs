//! `user-rdpmc`: RDPMC from ring 3.

use iced_x86::code_asm::*;

use super::{ALL, COUNTER, FIXED, FIXED_CONTROL, FIXED_USR, GLOBAL_CONTROL, INSTRUCTIONS, PART, RDPMC_FIXED, SELECT, USR};
use crate::runtime::{Built, EXPECT, FAULTS, Kernel, USER_DATA, User, cell, here};
use vm_pmu_engines::x86::Image;

/// CR4.PCE.
const PCE: i32 = 1 << 8;
/// What RAX and RDX hold where RDPMC faults.
const SENTINEL: u64 = 0x5A5A_5A5A;

/// What the counters hold, general and fixed ones: bit 39 must not spread upwards.
const VALUES: [u64; 5] = [0x11_2222_3333, 0x80_0000_0001, 0xFF_FFFF_FFFF, 0, 0x7F_8000_0000];
const REGISTERS: [u32; 5] = [COUNTER, COUNTER + 1, FIXED, FIXED + 1, FIXED + 2];

/// What RCX holds, and which value it names: bit 30 of ECX says that the counter is a fixed one, and what lies above ECX is not looked at.
const INDICES: &[(u64, Option<usize>)] = &[
    (0, Some(0)),
    (1, Some(1)),
    (0x4000_0000, Some(2)),
    (0x4000_0001, Some(3)),
    (0x4000_0002, Some(4)),
    (0xFFFF_FFFF_0000_0001, Some(1)),
    (2, None),
    (3, None),
    (0x2000_0000, None),
    (0x4000_0003, None),
    // "Fast" reads of bits 31:0 are another family's.
    (0x8000_0000, None),
    (0xC000_0000, None),
    (0xFFFF_FFFF, None),
    (COUNTER as u64, None),
];
const GOOD: u64 = 6;
const BAD: u64 = 8;

fn read_all(a: &mut CodeAssembler) -> Built<()> {
    for (n, (index, _)) in (0u64..).zip(INDICES) {
        a.mov(rcx, *index)?;
        a.mov(rax, SENTINEL)?;
        a.mov(rdx, SENTINEL)?;
        a.rdpmc()?;
        a.mov(qword_ptr(USER_DATA + 16 * n), rax)?;
        a.mov(qword_ptr(USER_DATA + 16 * n + 8), rdx)?;
    }
    Ok(())
}

pub(super) fn build() -> Built<Image> {
    let mut user = User::new()?;
    let labels = [(); 3].map(|()| user.a.create_label());
    let [mut reads, mut running, mut registers] = labels;
    here(&mut user.a, &mut reads)?;
    read_all(&mut user.a)?;
    user.a.syscall()?;
    // While counting: RDPMC, MOV, MOV lie from one of a counter to its next; MOV before the first.
    here(&mut user.a, &mut running)?;
    for (index, before, behind) in [(1, r12, r13), (RDPMC_FIXED, r14, r15)] {
        user.a.mov(ecx, index)?;
        user.a.rdpmc()?;
        user.a.mov(before, rax)?;
        user.a.rdpmc()?;
        user.a.mov(behind, rax)?;
    }
    user.a.syscall()?;
    here(&mut user.a, &mut registers)?;
    for msr in REGISTERS {
        user.a.mov(ecx, msr)?;
        user.a.rdmsr()?;
        user.a.wrmsr()?;
    }
    user.a.syscall()?;
    let (code, [reads, running, registers]) = user.finish([reads, running, registers])?;

    let mut k = Kernel::new(code)?;
    k.main()?;
    for (msr, value) in REGISTERS.into_iter().zip(VALUES) {
        k.wrmsr(msr, value)?;
    }
    k.a.mov(cell(EXPECT), 1)?;

    k.enter_user(reads, 2)?;
    verify(&mut k, "ring 3 without PCE", false)?;
    k.a.mov(rax, cr4)?;
    k.a.or(rax, PCE)?;
    k.a.mov(cr4, rax)?;
    k.enter_user(reads, 2)?;
    verify(&mut k, "ring 3 with PCE", true)?;
    k.enter_user(registers, 2)?;
    faults(&mut k, "RDMSR and WRMSR in ring 3 with PCE", 2 * REGISTERS.len() as u64)?;
    for (msr, value) in REGISTERS.into_iter().zip(VALUES) {
        k.rdmsr(msr)?;
        k.check_is(&format!("{msr:X}h afterwards"), rax, value)?;
    }
    counting(&mut k, running)?;

    k.a.mov(rax, cr4)?;
    k.a.and(rax, !PCE)?;
    k.a.mov(cr4, rax)?;
    read_all(&mut k.a)?;
    verify(&mut k, "ring 0 without PCE", true)?;
    k.enter_user(reads, 2)?;
    verify(&mut k, "ring 3 with PCE clear again", false)?;
    k.a.ret()?;
    k.finish()
}

/// Ring 3 reads counters that count it: one MOV comes before the first read of counter 1, six instructions before that of the fixed one.
fn counting(k: &mut Kernel, running: u64) -> Built<()> {
    k.wrmsr(COUNTER + 1, 0)?;
    k.wrmsr(FIXED, 0)?;
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    k.wrmsr(FIXED_CONTROL, FIXED_USR)?;
    PART.enable(k, 1, INSTRUCTIONS | USR)?;
    k.enter_user(running, 2)?;
    PART.disable(k, 1, 0)?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    k.rdmsr(SELECT + 1)?;
    k.check_is("IA32_PERFEVTSEL1 afterwards", rax, 0)?;
    for (what, before, behind, first) in [("IA32_PMC1", r12, r13, 1), ("IA32_FIXED_CTR0", r14, r15, 6)] {
        k.check_is(&format!("{what}: instructions up to the first RDPMC"), before, first)?;
        k.a.sub(behind, before)?;
        k.check_is(&format!("{what}: instructions from one RDPMC to the next"), behind, 2)?;
    }
    k.wrmsr(COUNTER + 1, VALUES[1])?;
    k.wrmsr(FIXED, VALUES[2])
}

/// The faults since they were last looked at.
fn faults(k: &mut Kernel, what: &str, right: u64) -> Built<()> {
    k.a.mov(r12, cell(FAULTS))?;
    k.a.mov(cell(FAULTS), 0)?;
    k.check_is(&format!("{what}: faults"), r12, right)
}

fn verify(k: &mut Kernel, what: &str, allowed: bool) -> Built<()> {
    faults(k, what, if allowed { BAD } else { GOOD + BAD })?;
    for (n, (index, counter)) in (0u64..).zip(INDICES) {
        let value = counter.filter(|_| allowed).and_then(|counter| VALUES.get(counter));
        let (low, high) = value.map_or((SENTINEL, SENTINEL), |value| (value & 0xFFFF_FFFF, value >> 32));
        k.a.mov(r12, qword_ptr(USER_DATA + 16 * n))?;
        k.check_is(&format!("{what}: RAX for index {index:X}h"), r12, low)?;
        k.a.mov(r12, qword_ptr(USER_DATA + 16 * n + 8))?;
        k.check_is(&format!("{what}: RDX for index {index:X}h"), r12, high)?;
    }
    Ok(())
}
