//! `untile-clocks`: every box counts its clock, by event and by fixed counter, from one release of all boxes to one freeze.

use iced_x86::code_asm::*;

use super::boxes::{At, FREEZE_ALL, GLOBAL_CONTROL, UNFREEZE_ALL, Unit};
use super::{EN, INIT};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

/// Instructions between release and freeze.
const NOPS: u64 = 60;
/// The clock of the mesh stop, which every box with a stop can count.
const MESH_CLOCK: u32 = 0xC0;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    let counting = || Unit::all().filter_map(|unit| unit.clock().map(|clock| (unit, clock)));
    for (unit, clock) in counting() {
        unit.control().write(&mut k, INIT)?;
        unit.counter_control(0).write(&mut k, clock | EN)?;
        unit.counter_control(1).write(&mut k, MESH_CLOCK | EN)?;
        if let Some((_, control)) = unit.fixed() {
            control.write(&mut k, 1)?;
        }
    }
    let (fixed, control) = (At::Msr(0x704), At::Msr(0x703));
    control.write(&mut k, EN)?;
    for round in 1..=2 {
        k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
        for _ in 0..NOPS {
            k.a.nop()?;
        }
        k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
        // The WRMSR that releases, the NOPs, and three instructions before the one that freezes.
        let right = round * (1 + NOPS + 3);
        for (unit, _) in counting() {
            let name = unit.name();
            unit.counter(0).read_counter(&mut k)?;
            k.check_is(&format!("{name}, round {round}: its clock"), rax, right)?;
            unit.counter(1).read_counter(&mut k)?;
            k.check_is(&format!("{name}, round {round}: the mesh stop's clock"), rax, right)?;
            if let Some((fixed, _)) = unit.fixed() {
                fixed.read_counter(&mut k)?;
                k.check_is(&format!("{name}, round {round}: the fixed counter"), rax, right)?;
            }
        }
        fixed.read(&mut k)?;
        k.check_is(&format!("UBox, round {round}: the fixed counter"), rax, right)?;
    }
    k.a.ret()?;
    k.finish()
}
