//! `user-rdpmc`: RDPMC from ring 3.

use iced_x86::code_asm::*;

use super::Part;
use crate::runtime::{Built, EXPECT, Kernel, USER_DATA, User, cell, here};
use vm_pmu_engines::x86::Image;

/// CR4.PCE.
const PCE: i32 = 1 << 8;
/// What RAX and RDX hold where RDPMC faults.
const SENTINEL: u64 = 0x5A5A_5A5A;

/// A counter that RDPMC reads.
pub(crate) struct Counter {
    /// Its MSR, and its name in checks.
    pub(crate) register: u32,
    pub(crate) name: &'static str,
    /// What it holds: bits above its highest must read as zero.
    pub(crate) value: u64,
}

/// A counter that counts while ring 3 reads it.
pub(crate) struct Running {
    /// Its index for RDPMC, and its number among the counters.
    pub(crate) index: u32,
    pub(crate) counter: usize,
    /// What its checks' labels begin with.
    pub(crate) prefix: &'static str,
}

/// What RDPMC reads on a part.
pub(crate) struct Rdpmc {
    /// The counters.
    pub(crate) counters: &'static [Counter],
    /// What RCX holds, and the number of the counter that it names: the index is ECX alone.
    pub(crate) indices: &'static [(u64, Option<usize>)],
    /// Registers that ring 3 neither reads nor writes.
    pub(crate) privileged: &'static [u32],
    /// At most two counters that run, what has them count ring 3's instructions, and what stops them.
    pub(crate) running: &'static [Running],
    pub(crate) start: fn(&mut Kernel) -> Built<()>,
    pub(crate) stop: fn(&mut Kernel) -> Built<()>,
}

/// What ring 3 reads from each counter that runs, first and second.
const READ: [(AsmRegister64, AsmRegister64); 2] = [(r12, r13), (r14, r15)];

fn read_all(a: &mut CodeAssembler, rdpmc: &Rdpmc) -> Built<()> {
    for (n, (index, _)) in (0u64..).zip(rdpmc.indices) {
        a.mov(rcx, *index)?;
        a.mov(rax, SENTINEL)?;
        a.mov(rdx, SENTINEL)?;
        a.rdpmc()?;
        a.mov(qword_ptr(USER_DATA + 16 * n), rax)?;
        a.mov(qword_ptr(USER_DATA + 16 * n + 8), rdx)?;
    }
    Ok(())
}

pub(crate) fn build(part: &Part) -> Built<Image> {
    let rdpmc = &part.rdpmc;
    let mut user = User::new()?;
    let labels = [(); 3].map(|()| user.a.create_label());
    let [mut reads, mut running, mut registers] = labels;
    user.routine("read_all");
    here(&mut user.a, &mut reads)?;
    read_all(&mut user.a, rdpmc)?;
    user.a.syscall()?;
    user.routine("read_running");
    here(&mut user.a, &mut running)?;
    for (counter, (before, behind)) in rdpmc.running.iter().zip(READ) {
        user.a.mov(ecx, counter.index)?;
        user.a.rdpmc()?;
        user.a.mov(before, rax)?;
        user.a.rdpmc()?;
        user.a.mov(behind, rax)?;
    }
    user.a.syscall()?;
    user.routine("access_registers");
    here(&mut user.a, &mut registers)?;
    for msr in rdpmc.privileged {
        user.a.mov(ecx, *msr)?;
        user.a.rdmsr()?;
        user.a.wrmsr()?;
    }
    user.a.syscall()?;
    let (code, [reads, running, registers]) = user.finish([reads, running, registers])?;

    let mut k = Kernel::new(code)?;
    k.main()?;
    for counter in rdpmc.counters {
        k.wrmsr(counter.register, counter.value)?;
    }
    k.a.mov(cell(EXPECT), 1)?;

    k.enter_user(reads, 2)?;
    verify(&mut k, rdpmc, "ring 3 without PCE", false)?;
    k.a.mov(rax, cr4)?;
    k.a.or(rax, PCE)?;
    k.a.mov(cr4, rax)?;
    k.enter_user(reads, 2)?;
    verify(&mut k, rdpmc, "ring 3 with PCE", true)?;
    k.enter_user(registers, 2)?;
    k.check_faults("RDMSR and WRMSR in ring 3 with PCE: faults", 2 * rdpmc.privileged.len() as u64)?;
    for counter in rdpmc.counters {
        k.rdmsr(counter.register)?;
        k.check_is(&format!("{} afterwards", counter.name), rax, counter.value)?;
    }
    counting(&mut k, rdpmc, running)?;

    k.a.mov(rax, cr4)?;
    k.a.and(rax, !PCE)?;
    k.a.mov(cr4, rax)?;
    read_all(&mut k.a, rdpmc)?;
    verify(&mut k, rdpmc, "ring 0 without PCE", true)?;
    k.enter_user(reads, 2)?;
    verify(&mut k, rdpmc, "ring 3 with PCE clear again", false)?;
    k.a.ret()?;
    k.finish()
}

/// Ring 3 reads counters that count it: MOV, RDPMC, MOV, RDPMC, MOV for each, one after the other.
fn counting(k: &mut Kernel, rdpmc: &Rdpmc, running: u64) -> Built<()> {
    let counters = || rdpmc.running.iter().filter_map(|running| rdpmc.counters.get(running.counter));
    for counter in counters() {
        k.wrmsr(counter.register, 0)?;
    }
    (rdpmc.start)(k)?;
    k.enter_user(running, 2)?;
    (rdpmc.stop)(k)?;
    for ((n, Running { prefix, .. }), (before, behind)) in (0..).zip(rdpmc.running).zip(READ) {
        k.check_is(&format!("{prefix}instructions up to the first RDPMC"), before, 5 * n + 1)?;
        k.a.sub(behind, before)?;
        k.check_is(&format!("{prefix}instructions from one RDPMC to the next"), behind, 2)?;
    }
    for counter in counters() {
        k.wrmsr(counter.register, counter.value)?;
    }
    Ok(())
}

/// Checks what [`read_all`] read, and how often it faulted.
fn verify(k: &mut Kernel, rdpmc: &Rdpmc, what: &str, allowed: bool) -> Built<()> {
    let refused = rdpmc.indices.iter().filter(|(_, counter)| !allowed || counter.is_none());
    k.check_faults(&format!("{what}: faults"), refused.count() as u64)?;
    for (n, (index, counter)) in (0u64..).zip(rdpmc.indices) {
        let value = counter.filter(|_| allowed).and_then(|counter| rdpmc.counters.get(counter)).map(|counter| counter.value);
        let (low, high) = value.map_or((SENTINEL, SENTINEL), |value| (value & 0xFFFF_FFFF, value >> 32));
        k.a.mov(r12, qword_ptr(USER_DATA + 16 * n))?;
        k.check_is(&format!("{what}: RAX for index {index:X}h"), r12, low)?;
        k.a.mov(r12, qword_ptr(USER_DATA + 16 * n + 8))?;
        k.check_is(&format!("{what}: RDX for index {index:X}h"), r12, high)?;
    }
    Ok(())
}
