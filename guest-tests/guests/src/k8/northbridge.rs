//! `northbridge`: a counter with which one core counts northbridge events cannot be used by the other.
//!
//! The manual, section 10.2: when either core of a dual-core part selects a northbridge event, that PerfEvtSel and its PerfCtr cannot be
//! used by the other core. A core that holds a counter stops the other core's counter of the same number. There is no graphics aperture
//! here, so the counts themselves must stay at zero.

use iced_x86::code_asm::*;

use super::{COUNTER, EN, INSTRUCTIONS, OS, PART, SELECT, USR};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// GART, all of it.
const GART: u64 = 0x07EE | USR | OS;
const OWN: u64 = INSTRUCTIONS | OS;

struct Phases {
    counters: Vec<u64>,
}

impl Phases {
    fn pass(&self, k: &mut Kernel, phase: usize) -> Built<()> {
        k.barrier(self.counters.get(phase).copied().unwrap_or_default(), 2)
    }
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let phases = Phases { counters: (0..9).map(|_| k.reserve(8)).collect() };
    let mut second = k.a.create_label();
    k.main()?;
    k.a.test(rdi, rdi)?;
    k.a.jne(second)?;
    first_core(&mut k, &phases)?;
    k.a.ret()?;
    here(&mut k.a, &mut second)?;
    second_core(&mut k, &phases)?;
    k.a.ret()?;
    k.finish()
}

fn first_core(k: &mut Kernel, phases: &Phases) -> Built<()> {
    phases.pass(k, 0)?;
    k.wrmsr(COUNTER, 0)?;
    PART.enable(k, 0, GART)?;
    phases.pass(k, 1)?;
    phases.pass(k, 2)?;
    k.rdmsr(COUNTER)?;
    k.check_is("accesses through the aperture, which is not there", rax, 0)?;
    // A counter that was left with EN clear holds nothing.
    PART.disable(k, 0, GART)?;
    k.rdmsr(SELECT)?;
    k.check_is("core 0: the select left behind", rax, GART)?;
    phases.pass(k, 3)?;
    // Now core 1 holds counter 0.
    phases.pass(k, 4)?;
    k.wrmsr(COUNTER, 77)?;
    PART.enable(k, 0, OWN)?;
    still(k, "core 0, counter 0 held by core 1", true)?;
    k.wrmsr(COUNTER + 1, 0)?;
    PART.enable(k, 1, GART)?;
    k.rdmsr(SELECT + 1)?;
    k.check_is("core 0: another counter for the northbridge", rax, GART | EN)?;
    PART.disable(k, 1, 0)?;
    // Core 0 selects it too, and gets it when core 1 releases it.
    PART.enable(k, 0, GART)?;
    k.rdmsr(SELECT)?;
    k.check_is("core 0: a select that waits", rax, GART | EN)?;
    phases.pass(k, 5)?;
    phases.pass(k, 6)?;
    PART.disable(k, 0, 0)?;
    phases.pass(k, 7)?;
    phases.pass(k, 8)
}

fn second_core(k: &mut Kernel, phases: &Phases) -> Built<()> {
    k.wrmsr(COUNTER, 1000)?;
    PART.enable(k, 0, OWN)?;
    still(k, "core 1, before anybody uses the northbridge", false)?;
    phases.pass(k, 0)?;
    phases.pass(k, 1)?;
    still(k, "core 1, counter 0 held by core 0", true)?;
    k.wrmsr(COUNTER, 5000)?;
    k.a.nop()?;
    k.rdmsr(COUNTER)?;
    k.check_is("core 1: a counter of no use can be written", rax, 5000)?;
    k.rdmsr(SELECT)?;
    k.check_is("core 1: its select stays", rax, OWN | EN)?;
    k.wrmsr(COUNTER + 1, 0)?;
    PART.enable(k, 1, OWN)?;
    for _ in 0..10 {
        k.a.nop()?;
    }
    PART.disable(k, 1, 0)?;
    k.rdmsr(COUNTER + 1)?;
    k.check_is("core 1: its other counters count", rax, 14)?;
    phases.pass(k, 2)?;
    phases.pass(k, 3)?;
    still(k, "core 1, counter 0 let go by core 0", false)?;
    PART.disable(k, 0, 0)?;
    k.wrmsr(COUNTER, 0)?;
    PART.enable(k, 0, GART)?;
    phases.pass(k, 4)?;
    phases.pass(k, 5)?;
    k.rdmsr(COUNTER)?;
    k.check_is("core 1: accesses through the aperture, which is not there", rax, 0)?;
    // Releases it to core 0, which waits.
    PART.enable(k, 0, OWN)?;
    still(k, "core 1, counter 0 handed over to core 0", true)?;
    phases.pass(k, 6)?;
    phases.pass(k, 7)?;
    still(k, "core 1, counter 0 free again", false)?;
    PART.disable(k, 0, 0)?;
    phases.pass(k, 8)
}

/// Reads counter 0 twice: it is stopped, or has counted RDMSR, SHL, OR, MOV, 50 NOPs and MOV.
fn still(k: &mut Kernel, what: &str, stands: bool) -> Built<()> {
    k.rdmsr(COUNTER)?;
    k.a.mov(r12, rax)?;
    for _ in 0..50 {
        k.a.nop()?;
    }
    k.rdmsr(COUNTER)?;
    k.a.sub(rax, r12)?;
    k.check_is(what, rax, if stands { 0 } else { 55 })
}
