//! `user-rdpmc`: RDPMC from ring 3.

use iced_x86::code_asm::*;

use super::{COUNTER, INSTRUCTIONS, PART, SELECT, USR};
use crate::runtime::{Built, EXPECT, FAULTS, Kernel, USER_DATA, User, cell, here};
use vm_pmu_engines::x86::Image;

/// CR4.PCE.
const PCE: i32 = 1 << 8;
/// What RAX and RDX hold where RDPMC faults.
const SENTINEL: u64 = 0x5A5A_5A5A;

/// What RCX holds, and which counter it names: all of ECX is the index, what lies above is not looked at.
const INDICES: &[(u64, Option<u32>)] = &[
    (0, Some(0)),
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(3)),
    (0xFFFF_FFFF_0000_0001, Some(1)),
    (4, None),
    (5, None),
    (0x4000_0000, None),
    (0x8000_0000, None),
    (0xFFFF_FFFF, None),
    (0xC001_0004, None),
    (SELECT as u64, None),
];
const GOOD: u64 = 5;
const BAD: u64 = 7;

/// What the counters hold: bit 47 must not spread upwards.
const VALUES: [u64; 4] = [0x1111_2222_3333, 0x8000_0000_0001, 0xFFFF_FFFF_FFFF, 0];

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
    // While counting: RDPMC and MOV lie from one to the next.
    here(&mut user.a, &mut running)?;
    user.a.mov(ecx, 2)?;
    user.a.rdpmc()?;
    user.a.mov(r12, rax)?;
    user.a.rdpmc()?;
    user.a.mov(r13, rax)?;
    user.a.syscall()?;
    here(&mut user.a, &mut registers)?;
    for msr in SELECT..SELECT + 8 {
        user.a.mov(ecx, msr)?;
        user.a.rdmsr()?;
        user.a.wrmsr()?;
    }
    user.a.syscall()?;
    let (code, [reads, running, registers]) = user.finish([reads, running, registers])?;

    let mut k = Kernel::new(code)?;
    k.main()?;
    for (n, value) in (0u32..).zip(VALUES) {
        k.wrmsr(COUNTER + n, value)?;
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
    faults(&mut k, "RDMSR and WRMSR in ring 3 with PCE", 16)?;
    for (n, value) in (0u32..).zip(VALUES) {
        k.rdmsr(COUNTER + n)?;
        k.check_is(&format!("counter {n} afterwards"), rax, value)?;
    }

    k.wrmsr(COUNTER + 2, 0)?;
    PART.enable(&mut k, 2, INSTRUCTIONS | USR)?;
    k.enter_user(running, 2)?;
    PART.disable(&mut k, 2, 0)?;
    k.check_is("instructions up to the first RDPMC", r12, 1)?;
    k.a.sub(r13, r12)?;
    k.check_is("instructions from one RDPMC to the next", r13, 2)?;
    k.wrmsr(COUNTER + 2, VALUES[2])?;

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

/// The faults since they were last looked at.
fn faults(k: &mut Kernel, what: &str, right: u64) -> Built<()> {
    k.a.mov(r12, cell(FAULTS))?;
    k.a.mov(cell(FAULTS), 0)?;
    k.check_is(&format!("{what}: faults"), r12, right)
}

fn verify(k: &mut Kernel, what: &str, allowed: bool) -> Built<()> {
    faults(k, what, if allowed { BAD } else { GOOD + BAD })?;
    for (n, (index, counter)) in (0u64..).zip(INDICES) {
        let value = counter.filter(|_| allowed).and_then(|counter| VALUES.get(counter as usize));
        let (low, high) = value.map_or((SENTINEL, SENTINEL), |value| (value & 0xFFFF_FFFF, value >> 32));
        k.a.mov(r12, qword_ptr(USER_DATA + 16 * n))?;
        k.check_is(&format!("{what}: RAX for index {index:X}h"), r12, low)?;
        k.a.mov(r12, qword_ptr(USER_DATA + 16 * n + 8))?;
        k.check_is(&format!("{what}: RDX for index {index:X}h"), r12, high)?;
    }
    Ok(())
}
