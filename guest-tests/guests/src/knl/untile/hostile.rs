//! `untile-hostile`: anything into every register of the untile, from two CPUs at once.

use iced_x86::code_asm::*;

use super::boxes::{At, BUS, CHA, GLOBAL_CONTROL, GLOBAL_STATUS, IRP_BUS, Kind, UNFREEZE_ALL, Unit};
use super::{EN, INIT, catch_up};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, EXPECT, Kernel, LVT_MASKED, cell, here};
use vm_pmu_engines::x86::{Image, PciFunction};

/// Numbers of model-specific registers: of the UBox and the power control unit, and of the CHAs, both a little beyond.
const RANGES: [(u32, u32); 2] = [(0x700, 0x721), (0xE00, 0xFC9)];
/// Those among them that are not there: 70Bh to 70Fh, 71Bh to 720h and FC8h.
const ABSENT: u64 = 5 + 6 + 1;
/// Registers of 32 bits: three and the filter of the UBox, its fixed control, then the power control unit's seven, and eight of each CHA.
const OF_32: u64 = 5 + 7 + 38 * 8;
/// Counters, which have 48: three of the UBox, four of the power control unit, four of each CHA.
const OF_48: u64 = 3 + 4 + 38 * 4;
/// 702h, which is read only.
const READ_ONLY: u64 = 1;

/// Values, and how many writes of them fault.
const VALUES: [(u64, u64); 6] = [
    (0, ABSENT + READ_ONLY),
    (0xFFFF_FFFF, ABSENT + READ_ONLY),
    (u64::MAX, ABSENT + READ_ONLY + OF_32 + OF_48),
    (0x1_0000_0000, ABSENT + READ_ONLY + OF_32),
    (0xFFFF_FFFF_FFFF, ABSENT + READ_ONLY + OF_32),
    (1 << 48, ABSENT + READ_ONLY + OF_32 + OF_48),
];

/// Instructions between a release and a read.
const NOPS: u64 = 20;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.handler(2)?;
    k.a.iretq()?;
    let (ready, done) = (k.reserve(64), k.reserve(64));
    // Configuration space of a function, of which R12 is the address: every dword, or every size.
    let (mut dwords, mut sizes) = (k.a.create_label(), k.a.create_label());
    configuration(&mut k, "write_dwords", &mut dwords, 4)?;
    every_size(&mut k, &mut sizes)?;
    k.main()?;
    k.a.mov(rbx, rdi)?;
    k.a.mov(cell(EXPECT), 1)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_MASKED)?;
    k.barrier(ready, 2)?;
    for (value, right) in VALUES {
        registers(&mut k, value)?;
        k.check_faults(&format!("writes of {value:X}h that fault"), right)?;
    }
    for unit in functions() {
        k.a.mov(r12, unit.window_address(0))?;
        k.a.call(dwords)?;
    }
    for kind in [Kind::McUclk, Kind::McDclk, Kind::EdcUclk, Kind::EdcEclk, Kind::M2pcie, Kind::Irp] {
        for (at, _) in Unit::of(kind).take(1).filter_map(Unit::function) {
            k.a.mov(r12, at.window_address(0))?;
            k.a.call(sizes)?;
        }
    }
    k.check_faults("accesses to configuration space that fault", 0)?;
    k.barrier(done, 2)?;
    let mut second = k.a.create_label();
    k.a.test(rbx, rbx)?;
    k.a.jne(second)?;
    kept(&mut k)?;
    still(&mut k)?;
    here(&mut k.a, &mut second)?;
    k.a.ret()?;
    k.finish()
}

/// Every function of the untile, and some that are not there.
fn functions() -> impl Iterator<Item = PciFunction> {
    let boxes = Unit::behind_pci().filter_map(Unit::function).map(|(at, _)| at);
    let firsts = [8, 9, 12, 24, 25, 26, 27, 28, 29, 30, 31].map(|device| PciFunction { bus: BUS, device, function: 0 });
    let others = [PciFunction { bus: IRP_BUS, device: 5, function: 0 }, PciFunction { bus: BUS, device: 1, function: 7 }];
    boxes.chain(firsts).chain(others)
}

/// Writes `value` to every number and reads it.
fn registers(k: &mut Kernel, value: u64) -> Built<()> {
    for (first, end) in RANGES {
        let mut again = k.a.create_label();
        k.a.mov(r12d, first)?;
        here(&mut k.a, &mut again)?;
        k.a.mov(ecx, r12d)?;
        k.a.mov(eax, value as u32)?;
        k.a.mov(edx, (value >> 32) as u32)?;
        k.a.wrmsr()?;
        k.a.inc(r12d)?;
        k.a.cmp(r12d, end as i32)?;
        k.a.jne(again)?;
    }
    Ok(())
}

/// Writes a pattern to every `size` bytes of a function and reads them: R12 its address.
fn configuration(k: &mut Kernel, name: &str, label: &mut CodeLabel, size: u32) -> Built<()> {
    k.routine(name);
    here(&mut k.a, label)?;
    let mut again = k.a.create_label();
    k.a.lea(r13, qword_ptr(r12 + 0x1000))?;
    here(&mut k.a, &mut again)?;
    // All ones at every other place, else something that depends on the place.
    k.a.mov(rax, r12)?;
    k.a.imul_3(eax, eax, 0x0808_8405)?;
    k.a.sar(eax, 5)?;
    match size {
        4 => {
            k.a.mov(dword_ptr(r12), eax)?;
            k.a.mov(eax, dword_ptr(r12))?;
        }
        2 => {
            k.a.mov(word_ptr(r12), ax)?;
            k.a.mov(ax, word_ptr(r12))?;
        }
        _ => {
            k.a.mov(byte_ptr(r12), al)?;
            k.a.mov(al, byte_ptr(r12))?;
        }
    }
    k.a.add(r12, size as i32)?;
    k.a.cmp(r12, r13)?;
    k.a.jne(again)?;
    k.a.ret()
}

/// Every size at every place: R12 the function's address.
fn every_size(k: &mut Kernel, label: &mut CodeLabel) -> Built<()> {
    let sizes = [1, 2, 4];
    let mut each = sizes.map(|_| k.a.create_label());
    for (label, size) in each.iter_mut().zip(sizes) {
        configuration(k, &format!("write_every_{size}"), label, size)?;
    }
    k.routine("write_every_size");
    here(&mut k.a, label)?;
    for label in each {
        k.a.mov(r14, r12)?;
        k.a.call(label)?;
        k.a.mov(r12, r14)?;
    }
    k.a.ret()
}

/// What registers keep of all ones.
fn kept(k: &mut Kernel) -> Built<()> {
    let of = |kind| Unit { kind, number: 0 };
    let (cha, pcu, edc) = (of(Kind::Cha), of(Kind::Pcu), of(Kind::EdcUclk));
    k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
    for (what, at, right) in [
        ("control of a CHA", cha.control(), 0x3_0100),
        ("control of a counter of a CHA", cha.counter_control(0), 0xFFDC_FFFF),
        ("filter 0 of a CHA", At::Msr(CHA + 5), 0x1C_11FF),
        ("filter 1 of a CHA", At::Msr(CHA + 6), 0xDFFF_FE3B),
        ("control of the power control unit", pcu.control(), 0x3_0100),
        ("control of a counter of the power control unit", pcu.counter_control(0), 0xFFDC_C0FF),
        ("filter of the power control unit", At::Msr(0x715), 0xFFFF_FFFF),
        ("control of a counter of the UBox", At::Msr(0x705), 0x1FDC_FFFF),
        ("control of the fixed counter of the UBox", At::Msr(0x703), 0x50_0000),
        ("filter of the UBox", At::Msr(0x707), 0x1FF),
        ("control of an EDC", edc.control(), 0x3_0100),
        ("control of a counter of an EDC", edc.counter_control(0), 0xFFDC_FFFF),
        ("control of a counter of M2PCIe", of(Kind::M2pcie).counter_control(0), 0xFFDC_FFFF),
        ("control of a counter of the IRP", of(Kind::Irp).counter_control(0), 0xFFDC_FFFF),
        ("upper half of a counter of a channel", At::Pci(channel(), 0xB04), 0xFFFF),
    ] {
        at.write(k, u32::MAX)?;
        at.read(k)?;
        k.check_is(&format!("{what} written with ones"), rax, right)?;
        at.write(k, 0)?;
    }
    if let Some((_, control)) = edc.fixed() {
        control.write(k, u32::MAX)?;
        control.read(k)?;
        k.check_is("control of the fixed counter of an EDC written with ones", rax, 0x50_0001)?;
        control.write(k, 0)?;
    }
    Ok(())
}

/// The first channel.
const fn channel() -> PciFunction {
    PciFunction { bus: BUS, device: 8, function: 2 }
}

/// Put in order again, every box counts.
fn still(k: &mut Kernel) -> Built<()> {
    for unit in Unit::all() {
        unit.control().write(k, INIT)?;
        unit.status().write(k, u32::MAX)?;
        if let Some((_, control)) = unit.fixed() {
            control.write(k, 0)?;
        }
    }
    for register in [0x703, 0x705, 0x706, 0x707] {
        k.wrmsr(register, 0)?;
    }
    k.wrmsr(0x708, 0xFFFF_FFFF)?;
    k.wrmsr(GLOBAL_STATUS, u64::MAX)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is("global status of the untile, cleared", rax, 0)?;
    k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
    catch_up(k)?;
    for unit in Unit::all() {
        let Some(clock) = unit.clock() else { continue };
        let (counter, control) = (unit.counter(1), unit.counter_control(1));
        counter.write_counter(k, 0)?;
        control.write(k, clock | EN)?;
        for _ in 0..NOPS {
            k.a.nop()?;
        }
        counter.read_counter(k)?;
        k.check_is(&format!("{}: still counts", unit.name()), rax, 1 + NOPS + counter.before_read())?;
        control.write(k, 0)?;
    }
    Ok(())
}
