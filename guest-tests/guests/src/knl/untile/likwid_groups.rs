//! `likwid-groups`: what likwid does to the untile, in its order.
//!
//! It zeroes the boxes' controls, stops and starts everything by the UBox's global control alone, enables the overflow report of every
//! counter, writes counters upper half first, and leaves with a write of 2^59 to the global control. Its controls of the UBox have bit 16
//! set.

use iced_x86::code_asm::*;

use super::boxes::{At, FREEZE_ALL, GLOBAL_CONTROL, GLOBAL_STATUS, Kind, UNFREEZE_ALL, Unit};
use super::{EN, OV_EN};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

const NOPS: u64 = 40;
/// Clocks of an interval: the WRMSR that releases, the NOPs, and three instructions before the one that freezes.
const INTERVAL: u64 = 1 + NOPS + 3;
/// What it puts into filter 1 of a CHA if nothing else is asked for.
const FILTER1: u64 = 0x30;

/// The boxes of a group: a CHA, both halves of an EDC, a channel, its controller, M2PCIe and the IRP.
fn group() -> impl Iterator<Item = Unit> {
    [
        (Kind::Cha, 0),
        (Kind::Cha, 20),
        (Kind::EdcUclk, 2),
        (Kind::EdcEclk, 2),
        (Kind::McDclk, 5),
        (Kind::McUclk, 1),
        (Kind::M2pcie, 0),
        (Kind::Irp, 0),
    ]
    .into_iter()
    .map(|(kind, number)| Unit { kind, number })
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    // Setup.
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    for unit in group() {
        unit.counter_control(1).write(&mut k, unit.clock().unwrap_or(0) | EN | OV_EN)?;
        if let Some((_, control)) = unit.fixed() {
            control.write(&mut k, 1)?;
        }
    }
    for number in [0, 20] {
        k.wrmsr(0xE00 + 12 * number + 6, FILTER1)?;
    }
    k.wrmsr(0x703, u64::from(EN | OV_EN))?;
    k.wrmsr(0x705, u64::from(0xC0 | EN | 1 << 16))?;
    k.rdmsr(0x705)?;
    k.check_is("UBox: bit 16 of its control is not kept", rax, u64::from(0xC0 | EN))?;
    // Start.
    for unit in group() {
        unit.control().write(&mut k, 0)?;
        unit.counter(1).write_counter(&mut k, 0)?;
        if let Some((counter, _)) = unit.fixed() {
            counter.write_counter(&mut k, 0)?;
        }
    }
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    k.wrmsr(0x704, 0)?;
    k.wrmsr(0x709, 0)?;
    k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    for (turn, what) in (1..).zip(["first read", "second read", "stop"]) {
        k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
        read(&mut k, what, turn * INTERVAL)?;
        k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
        for _ in 0..NOPS {
            k.a.nop()?;
        }
    }
    // The end.
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    for unit in group() {
        unit.counter_control(1).write(&mut k, 0)?;
        if let Some((_, control)) = unit.fixed() {
            control.write(&mut k, 0)?;
        }
        unit.counter(1).read_counter(&mut k)?;
        k.check_is(&format!("the end: {}", unit.name()), rax, 4 * INTERVAL)?;
    }
    k.wrmsr(0x703, 0)?;
    k.wrmsr(0x705, 0)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("the end: nothing overflowed", rax, 0)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.mov(ecx, GLOBAL_STATUS)?;
    k.a.wrmsr()?;
    k.wrmsr(GLOBAL_CONTROL, 1 << 59)?;
    k.a.ret()?;
    k.finish()
}

fn read(k: &mut Kernel, what: &str, right: u64) -> Built<()> {
    for unit in group() {
        unit.counter(1).read_counter(k)?;
        k.check_is(&format!("{what}: {}", unit.name()), rax, right)?;
        unit.counter(1).read_counter(k)?;
        k.check_is(&format!("{what}: {}, once more", unit.name()), rax, right)?;
        if let Some((counter, _)) = unit.fixed() {
            counter.read_counter(k)?;
            k.check_is(&format!("{what}: {}, fixed counter", unit.name()), rax, right)?;
        }
    }
    for (name, register) in [("fixed counter", 0x704), ("clock of its mesh stop", 0x709)] {
        At::Msr(register).read(k)?;
        k.check_is(&format!("{what}: UBox, {name}"), rax, right)?;
    }
    Ok(())
}
