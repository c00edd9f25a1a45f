//! `two-cpus`: each CPU has its own PMU and local APIC.

use iced_x86::code_asm::*;

use super::{COUNTER, INSTRUCTIONS, OS, PART};
use crate::runtime::{Built, Kernel, LVT_NMI, here};
use crate::x86::ticker;
use vm_pmu_engines::x86::Image;

const VECTOR: u8 = 0x61;

pub(super) fn build() -> Built<Image> {
    let (code, addresses) = ticker::user()?;
    let mut k = Kernel::new(code)?;
    // CPU 0 uses counter 0 and NMIs, CPU 1 counter 3 and a vector.
    ticker::handler(&mut k, &PART, 2)?;
    ticker::handler(&mut k, &PART, VECTOR)?;
    let (ready, done) = (k.reserve(8), k.reserve(8));

    k.main()?;
    let mut second = k.a.create_label();
    let mut end = k.a.create_label();
    k.a.mov(rbx, rdi)?;
    k.barrier(ready, 2)?;
    k.a.test(rbx, rbx)?;
    k.a.jne(second)?;

    ticker::follow(&mut k, &PART, "CPU 0, NMI every 101", addresses, PART.followed(0), LVT_NMI, (101, 500))?;
    count(&mut k, "CPU 0", 50)?;
    k.a.jmp(end)?;

    here(&mut k.a, &mut second)?;
    ticker::follow(&mut k, &PART, "CPU 1, vector every 67", addresses, PART.followed(3), VECTOR.into(), (67, 700))?;
    count(&mut k, "CPU 1", 60)?;
    here(&mut k.a, &mut end)?;
    k.barrier(done, 2)?;
    k.a.ret()?;
    k.finish()
}

/// Counts in ring 0 while the other CPU does its own work: WRMSR, the NOPs and three MOVs.
fn count(k: &mut Kernel, what: &str, nops: u64) -> Built<()> {
    k.wrmsr(COUNTER + 1, 0)?;
    PART.enable(k, 1, INSTRUCTIONS | OS)?;
    for _ in 0..nops {
        k.a.nop()?;
    }
    PART.disable(k, 1, 0)?;
    k.rdmsr(COUNTER + 1)?;
    k.check_is(&format!("{what}: instructions of its own"), rax, nops + 4)
}
