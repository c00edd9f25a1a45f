//! `untile-frequencies`: UCLK, ECLK and DCLK at 17, 9 and 12 clocks in the time of 14 of the core's cycles, as in a part of 1.4 GHz.

use iced_x86::code_asm::*;

use super::boxes::{At, FREEZE_ALL, GLOBAL_CONTROL, Kind, UNFREEZE_ALL, Unit};
use super::{EN, INIT};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Turns of a loop between release and freeze, each more than a cycle.
const TURNS: u64 = 1000;
/// A box's own clock, and that of its mesh stop.
const OWN: u32 = 0x00;
const MESH: u32 = 0xC0;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    let of = |kind| Unit::of(kind).next();
    let (Some(edc), Some(mc)) = (of(Kind::EdcEclk), of(Kind::McDclk)) else { return k.finish() };
    for unit in [edc, mc] {
        unit.control().write(&mut k, INIT)?;
        unit.counter_control(0).write(&mut k, OWN | EN)?;
        unit.counter_control(1).write(&mut k, MESH | EN)?;
    }
    let (fixed, control) = (At::Msr(0x704), At::Msr(0x703));
    control.write(&mut k, EN)?;
    k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
    let mut again = k.a.create_label();
    k.a.mov(rbx, TURNS)?;
    here(&mut k.a, &mut again)?;
    k.a.dec(rbx)?;
    k.a.jnz(again)?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    fixed.read(&mut k)?;
    k.a.mov(r12, rax)?;
    k.check("UCLK went on", r12, TURNS, u64::MAX >> 1)?;
    for unit in [edc, mc] {
        unit.counter(1).read_counter(&mut k)?;
        k.check_same(&format!("{}: the mesh stop goes by UCLK", unit.name()), rax, r12)?;
    }
    // In n cycles UCLK ticks 17n/14 times and another clock fn/14, each of them one more or less at most: f times the one and 17 times the
    // other are less than f + 17 apart.
    for (unit, name, frequency) in [(edc, "ECLK", 9), (mc, "DCLK", 12)] {
        unit.counter(0).read_counter(&mut k)?;
        k.a.imul_3(rax, rax, 17)?;
        k.a.imul_3(rcx, r12, frequency)?;
        k.a.sub(rax, rcx)?;
        k.a.add(rax, frequency + 16)?;
        k.check(&format!("{name} beside UCLK"), rax, 0, 2 * (frequency as u64 + 16))?;
    }
    k.a.ret()?;
    k.finish()
}
