//! `untile-eight-cpus`: eight CPUs program boxes at once.
//!
//! Each has its own boxes, whose four counters count the same clock between a release and a freeze by the box's control: whatever the
//! others do, all four must show the same, and their counts must add up. All of them write to one shared box, and read it back: a value
//! that is read must be one that one of them wrote. Meanwhile CPU 0 freezes and releases all boxes, which affects all counts of a box
//! alike.

use iced_x86::code_asm::*;

use super::boxes::{At, CHA, CHA_STRIDE, FREEZE_ALL, GLOBAL_CONTROL, Kind, UNFREEZE_ALL, Unit};
use super::{EN, FREEZE, catch_up};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

const CPUS: u64 = 8;
/// Rounds of each CPU, and instructions between release and freeze.
const ROUNDS: u32 = 40;
const NOPS: u64 = 10;
/// The CHA that all write to: the last.
const SHARED: u32 = CHA + CHA_STRIDE * 37;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let (ready, done, total) = (k.reserve(64), k.reserve(64), k.reserve(64));
    k.main()?;
    let mut ends: Vec<CodeLabel> = Vec::new();
    k.a.mov(rbx, rdi)?;
    k.barrier(ready, CPUS as i32)?;
    for cpu in 0..CPUS as u8 {
        let mut next = k.a.create_label();
        k.a.cmp(rbx, i32::from(cpu))?;
        k.a.jne(next)?;
        one(&mut k, cpu, total)?;
        let end = k.a.create_label();
        k.a.jmp(end)?;
        ends.push(end);
        here(&mut k.a, &mut next)?;
    }
    for end in &mut ends {
        here(&mut k.a, end)?;
    }
    k.barrier(done, CPUS as i32)?;
    k.a.test(rbx, rbx)?;
    let mut other = k.a.create_label();
    k.a.jne(other)?;
    // A CPU that runs after the furthest sees no clock elapse, but not all of them do.
    k.a.mov(rax, qword_ptr(total))?;
    k.check("their boxes have counted", rax, 1, u64::from(u32::MAX))?;
    // After all that every box still counts.
    k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
    catch_up(&mut k)?;
    for unit in Unit::all().filter(|unit| unit.clock().is_some()) {
        after(&mut k, unit)?;
    }
    here(&mut k.a, &mut other)?;
    k.a.ret()?;
    k.finish()
}

/// What CPU `cpu` does. Adds what its last box counted to `total`.
fn one(k: &mut Kernel, cpu: u8, total: u64) -> Built<()> {
    // A CHA and a box behind PCI.
    let own = [
        Unit { kind: Kind::Cha, number: cpu },
        Unit { kind: if cpu.is_multiple_of(2) { Kind::EdcEclk } else { Kind::EdcUclk }, number: cpu },
    ];
    for unit in own {
        unit.control().write(k, FREEZE | 3)?;
        for n in 0..4 {
            unit.counter_control(n).write(k, EN)?;
        }
    }
    let mut again = k.a.create_label();
    // R12 the differences between the counters, R13 the values that no CPU wrote, R14 the sum of the last box's counts, R15 its count.
    for register in [r12d, r13d, r14d, r15d] {
        k.a.xor(register, register)?;
    }
    k.a.mov(ebp, ROUNDS)?;
    here(&mut k.a, &mut again)?;
    for unit in own {
        turn(k, unit)?;
    }
    shared(k, cpu)?;
    if cpu == 0 {
        k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
        k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
    }
    k.a.dec(ebp)?;
    k.a.jne(again)?;
    k.check_is(&format!("CPU {cpu}: counters of one box that differ"), r12, 0)?;
    k.check_is(&format!("CPU {cpu}: values of the shared box that nobody wrote"), r13, 0)?;
    k.check_same(&format!("CPU {cpu}: its box's counts add up"), r15, r14)?;
    k.a.lock().add(qword_ptr(total), r15)
}

/// Releases a box for a moment.
fn turn(k: &mut Kernel, unit: Unit) -> Built<()> {
    unit.counter(0).read_counter(k)?;
    k.a.mov(r8, rax)?;
    unit.control().write(k, 0)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    unit.control().write(k, FREEZE)?;
    unit.counter(0).read_counter(k)?;
    k.a.mov(rdi, rax)?;
    if unit.kind != Kind::Cha {
        k.a.mov(r15, rax)?;
        k.a.sub(rax, r8)?;
        k.a.add(r14, rax)?;
    }
    for n in 1..4 {
        let mut same = k.a.create_label();
        unit.counter(n).read_counter(k)?;
        k.a.cmp(rax, rdi)?;
        k.a.je(same)?;
        k.a.inc(r12)?;
        here(&mut k.a, &mut same)?;
    }
    Ok(())
}

/// Writes its number to registers of the shared box and reads them back.
fn shared(k: &mut Kernel, cpu: u8) -> Built<()> {
    // Filter 0 takes nine bits, a counter 48.
    for (register, value) in [(SHARED + 5, u64::from(cpu)), (SHARED + 8, u64::from(cpu) << 44 | u64::from(cpu))] {
        let [mut bad, mut good] = [(); 2].map(|()| k.a.create_label());
        k.wrmsr(register, value)?;
        At::Msr(register).read(k)?;
        k.a.mov(rdx, rax)?;
        k.a.and(edx, 7)?;
        if register == SHARED + 8 {
            // Both parts of it are of the same CPU.
            k.a.mov(rcx, rax)?;
            k.a.shr(rcx, 44)?;
            k.a.cmp(rcx, rdx)?;
            k.a.jne(bad)?;
            k.a.shl(rax, 20)?;
            k.a.shr(rax, 20)?;
        }
        k.a.cmp(rax, rdx)?;
        k.a.je(good)?;
        here(&mut k.a, &mut bad)?;
        k.a.inc(r13)?;
        here(&mut k.a, &mut good)?;
    }
    Ok(())
}

/// A box still counts.
fn after(k: &mut Kernel, unit: Unit) -> Built<()> {
    unit.control().write(k, 3)?;
    unit.counter_control(0).write(k, unit.clock().unwrap_or(0) | EN)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    unit.counter(0).read_counter(k)?;
    let right = 1 + NOPS + unit.counter(0).before_read();
    k.check_is(&format!("{}: still counts", unit.name()), rax, right)?;
    unit.counter_control(0).write(k, 0)
}
