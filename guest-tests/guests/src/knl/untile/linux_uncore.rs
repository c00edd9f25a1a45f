//! `linux-uncore`: what Linux's driver does to each box, in its order.
//!
//! At probe: the box's control := 10003h. At a start: the box is frozen, the counter's start value read (it is never written), the
//! counter's control written, the box released. A read is one RDMSR, or two dwords, lower half first. The EDCs' and memory controllers'
//! boxes are released by a plain 0, the others by clearing the bit that froze them.

use iced_x86::code_asm::*;

use super::boxes::{At, Kind, Unit};
use super::{EN, FREEZE, INIT};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

/// Instructions between a release and the read of the counter.
const NOPS: u64 = 20;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    for unit in Unit::all() {
        unit.control().write(&mut k, INIT)?;
    }
    for unit in Unit::all() {
        general(&mut k, unit)?;
    }
    for unit in Unit::all() {
        fixed(&mut k, unit)?;
    }
    ubox(&mut k)?;
    for kind in [Kind::McUclk, Kind::McDclk, Kind::EdcUclk, Kind::EdcEclk, Kind::M2pcie, Kind::Irp] {
        if let Some(unit) = Unit::of(kind).last() {
            halves(&mut k, unit)?;
        }
    }
    k.a.ret()?;
    k.finish()
}

/// Freezes a box: its control with bit 8.
fn freeze(k: &mut Kernel, unit: Unit) -> Built<()> {
    unit.control().read(k)?;
    k.a.or(eax, FREEZE as i32)?;
    write_eax(k, unit.control())
}

/// Releases a box. The last instruction does it.
fn release(k: &mut Kernel, unit: Unit) -> Built<()> {
    if let Kind::McUclk | Kind::McDclk | Kind::EdcUclk | Kind::EdcEclk = unit.kind {
        return unit.control().write(k, 0);
    }
    unit.control().read(k)?;
    k.a.and(eax, !FREEZE as i32)?;
    write_eax(k, unit.control())
}

/// Writes EAX. By ports the function is still the one that was read. The last instruction does it.
fn write_eax(k: &mut Kernel, at: At) -> Built<()> {
    match at {
        At::Msr(number) => {
            k.a.mov(ecx, number)?;
            k.a.xor(edx, edx)?;
            k.a.wrmsr()
        }
        At::Pci(_, 0..0x100) => k.a.out(dx, eax),
        At::Pci(at, offset) => {
            k.a.mov(rcx, at.window_address(offset))?;
            k.a.mov(dword_ptr(rcx), eax)
        }
    }
}

/// The last general counter counts the box's clock.
fn general(k: &mut Kernel, unit: Unit) -> Built<()> {
    let n = unit.counters() - 1;
    let name = unit.name();
    let counter = unit.counter(n);
    freeze(k, unit)?;
    unit.control().read(k)?;
    k.check_is(&format!("{name}: control after init and freeze"), rax, 0x1_0100)?;
    counter.read_counter(k)?;
    k.a.mov(r12, rax)?;
    unit.counter_control(n).write(k, unit.clock().unwrap_or(0) | EN)?;
    release(k, unit)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    counter.read_counter(k)?;
    k.a.sub(rax, r12)?;
    // The write that released it, the NOPs, and what comes before the read. Nothing is reported to the power control unit.
    let right = if unit.clock().is_some() { 1 + NOPS + counter.before_read() } else { 0 };
    k.check_is(&format!("{name}: clocks"), rax, right)?;
    freeze(k, unit)?;
    counter.read_counter(k)?;
    k.a.mov(r13, rax)?;
    counter.read_counter(k)?;
    k.check_same(&format!("{name}: frozen, it stands still"), rax, r13)?;
    // Stopped as Linux stops an event: the control without the enable.
    unit.counter_control(n).write(k, unit.clock().unwrap_or(0))?;
    release(k, unit)?;
    counter.read_counter(k)?;
    k.check_same(&format!("{name}: stopped, it stands still"), rax, r13)
}

/// The fixed counter counts the box's clock: bit 0 starts it.
fn fixed(k: &mut Kernel, unit: Unit) -> Built<()> {
    let Some((counter, control)) = unit.fixed() else { return Ok(()) };
    counter.read_counter(k)?;
    k.a.mov(r12, rax)?;
    control.write(k, 1)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    control.write(k, 0)?;
    counter.read_counter(k)?;
    k.a.sub(rax, r12)?;
    // The write, the NOPs, and what comes before the other write.
    k.check_is(&format!("{}: clocks of the fixed counter", unit.name()), rax, 1 + NOPS + 1)
}

/// The UBox has no control; its fixed counter is started by bit 22.
fn ubox(k: &mut Kernel) -> Built<()> {
    let (counter, control) = (At::Msr(0x704), At::Msr(0x703));
    counter.read(k)?;
    k.a.mov(r12, rax)?;
    control.write(k, EN)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    control.write(k, 0)?;
    counter.read(k)?;
    k.a.sub(rax, r12)?;
    // The WRMSR, the NOPs, and the three instructions before the other one.
    k.check_is("UBox: clocks of the fixed counter", rax, 1 + NOPS + 3)?;
    k.rdmsr(0x702)?;
    k.check_is("UBox: how many CHAs there are", rax, 38)
}

/// A counter carries from its lower into its upper half, and wraps at 48 bits.
fn halves(k: &mut Kernel, unit: Unit) -> Built<()> {
    let (counter, control) = (unit.counter(0), unit.counter_control(0));
    let select = unit.clock().unwrap_or(0);
    let name = unit.name();
    // After the write that starts it the counter holds its former value plus the instructions up to the one that stops it.
    let stop = if matches!(control, At::Pci(_, 0..0x100)) { 5 } else { 1 };
    let ran = 1 + NOPS + stop;
    for (what, start, right) in [
        ("a carry into the upper half", 0x1234_FFFF_FFF0u64, 0x1235_0000_0000 - 0x10 + ran),
        ("a wrap at 48 bits", 0xFFFF_FFFF_FFF0, ran - 0x10),
    ] {
        counter.write_counter(k, start)?;
        counter.read_counter(k)?;
        k.check_is(&format!("{name}, {what}: as written"), rax, start)?;
        control.write(k, select | EN)?;
        for _ in 0..NOPS {
            k.a.nop()?;
        }
        control.write(k, select)?;
        counter.read_counter(k)?;
        k.check_is(&format!("{name}, {what}: counted on"), rax, right)?;
    }
    Ok(())
}
