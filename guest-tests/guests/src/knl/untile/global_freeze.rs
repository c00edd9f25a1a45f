//! `global-freeze`: an overflow freezes every box at its clock and interrupts the chosen tile, until a driver has acknowledged it.
//!
//! In each round every box counts its clock, and one counter is 100 clocks from its overflow. So all counters except that one are at 100
//! afterwards, and that one is at 0, in whatever box it is.

use iced_x86::code_asm::*;

use super::boxes::{At, CHA, FREEZE_ALL, GLOBAL_CONTROL, GLOBAL_STATUS, Kind, UNFREEZE_ALL, Unit};
use super::traffic::{List, Traffic, list};
use super::{EN, FREEZE, INIT, OV_EN, RESET_COUNTERS};
use crate::runtime::{APIC_LVT_PERFORMANCE, Built, Kernel, LVT_MASKED, LVT_NMI, cell, here, own};
use vm_pmu_engines::x86::Image;

/// Clocks until the overflow, and instructions that are executed meanwhile and afterwards.
const DISTANCE: u64 = 100;
const NOPS: u64 = 150;
const START: u64 = (1 << 48) - DISTANCE;
/// In the global control: the threads of tile 0 are interrupted; those of a tile that is not there.
const TILE_0: u64 = 1;
const TILE_9: u64 = 1 << 9;
/// IA32_PERF_GLOBAL_STATUS and its bit for the overflow of a box, IA32_PERF_GLOBAL_OVF_CTRL.
const STATUS: u32 = 0x38E;
const OF_UNTILE: u64 = 1 << 61;
const ACKNOWLEDGE: u32 = 0x390;

/// Cells: NMIs so far, and what the status was in the last.
const COUNT: u32 = own(0);
const SEEN: u32 = own(1);

/// A counter that overflows.
struct Culprit {
    name: String,
    counter: At,
    control: At,
    /// What starts it, with a report of its overflow; what starts it alone.
    telling: u32,
    silent: u32,
    status: At,
    /// Its bits in its box's status and in the global status.
    bit: u32,
    global_bit: u32,
}

impl Culprit {
    fn general(kind: Kind, number: u8, n: u16, global_bit: u32) -> Culprit {
        let unit = Unit { kind, number };
        let silent = unit.clock().unwrap_or(0) | EN;
        Culprit {
            name: format!("{}, counter {n}", unit.name()),
            counter: unit.counter(n),
            control: unit.counter_control(n),
            telling: silent | OV_EN,
            silent,
            status: unit.status(),
            bit: u32::from(n) + u32::from(unit.fixed().is_some()),
            global_bit,
        }
    }

    fn fixed(kind: Kind, number: u8, global_bit: u32) -> Option<Culprit> {
        let unit = Unit { kind, number };
        let (counter, control) = unit.fixed()?;
        let name = format!("{}, fixed counter", unit.name());
        Some(Culprit { name, counter, control, telling: 1 | OV_EN, silent: 1, status: unit.status(), bit: 0, global_bit })
    }

    fn ubox() -> Culprit {
        let (name, counter, control) = ("UBox, fixed counter".to_owned(), At::Msr(0x704), At::Msr(0x703));
        Culprit { name, counter, control, telling: EN | OV_EN, silent: EN, status: At::Msr(0x708), bit: 0, global_bit: 0 }
    }
}

/// All boxes.
struct All {
    traffic: Traffic,
    /// Behind PCI: the controls, counters 0 and fixed counters.
    controls: List,
    counters: List,
    fixed: List,
}

/// Boxes behind PCI, those of them with a fixed counter, and CHAs.
const BEHIND_PCI: u64 = 26;
const WITH_FIXED: u64 = 24;
const CHAS: u64 = 38;

impl All {
    /// Every counter is zero.
    fn clear(&self, k: &mut Kernel) -> Built<()> {
        self.traffic.fill(k, self.controls, RESET_COUNTERS)?;
        self.traffic.fill_chas(k, CHA, RESET_COUNTERS)
    }

    /// Every counter 0 of a box, and every fixed one, is at `right`, except those of the boxes left out.
    fn check(&self, k: &mut Kernel, what: &str, right: u64, without_fixed: u64) -> Built<()> {
        self.traffic.sum(k, self.counters)?;
        k.check_is(&format!("{what}: counters 0 of all boxes behind PCI"), rax, BEHIND_PCI * right)?;
        self.traffic.sum(k, self.fixed)?;
        k.check_is(&format!("{what}: all other fixed counters"), rax, (WITH_FIXED - without_fixed) * right)?;
        self.traffic.sum_chas(k, CHA + 8)?;
        k.check_is(&format!("{what}: counters 0 of all CHAs"), rax, CHAS * right)
    }
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    handler(&mut k)?;
    let all = All {
        traffic,
        controls: list(&mut k, Unit::behind_pci().map(Unit::control)),
        counters: list(&mut k, Unit::behind_pci().map(|unit| unit.counter(0))),
        fixed: list(&mut k, Unit::behind_pci().filter_map(Unit::fixed).map(|(counter, _)| counter)),
    };
    let culprits = [
        Some(Culprit::general(Kind::Cha, 5, 2, 8)),
        Some(Culprit::general(Kind::Cha, 37, 3, 40)),
        Some(Culprit::general(Kind::McDclk, 4, 1, 42)),
        Some(Culprit::general(Kind::McUclk, 0, 3, 41)),
        Some(Culprit::general(Kind::EdcEclk, 7, 2, 50)),
        Some(Culprit::general(Kind::M2pcie, 0, 1, 51)),
        Some(Culprit::general(Kind::Irp, 0, 1, 52)),
        Culprit::fixed(Kind::EdcUclk, 3, 46),
        Culprit::fixed(Kind::McDclk, 2, 41),
        Some(Culprit::ubox()),
    ];
    let over = k.reserve(64);
    k.main()?;
    let mut second = k.a.create_label();
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.a.test(rdi, rdi)?;
    k.a.jne(second)?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    for unit in Unit::all() {
        unit.control().write(&mut k, INIT)?;
        if let Some(clock) = unit.clock() {
            unit.counter_control(0).write(&mut k, clock | EN)?;
        }
        if let Some((_, control)) = unit.fixed() {
            control.write(&mut k, 1)?;
        }
    }
    let mut interrupts = 0;
    for culprit in culprits.into_iter().flatten() {
        round(&mut k, &all, &culprit, interrupts)?;
        interrupts += 1;
        // Its fixed counter continues, as those of the others do.
        let stopped = if culprit.silent == 1 { 1 } else { 0 };
        culprit.control.write(&mut k, stopped)?;
    }
    let culprit = Culprit::general(Kind::Cha, 5, 2, 8);
    unheard(&mut k, &culprit, interrupts)?;
    by_hand(&mut k, &all)?;
    k.a.mov(dword_ptr(over), 1)?;
    k.a.ret()?;

    here(&mut k.a, &mut second)?;
    k.a.pause()?;
    k.a.cmp(dword_ptr(over), 1)?;
    k.a.jne(second)?;
    k.a.mov(rax, cell(COUNT))?;
    // That of the masked entry, which was CPU 0's alone, is one more.
    k.check_is("CPU 1, of the same tile: interrupts", rax, interrupts + 1)?;
    k.a.ret()?;
    k.finish()
}

/// The handler of a driver: it unmasks the entry that the delivery masked, reads the status and acknowledges it.
fn handler(k: &mut Kernel) -> Built<()> {
    k.handler(2)?;
    for register in [rax, rcx, rdx] {
        k.a.push(register)?;
    }
    k.a.inc(cell(COUNT))?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    k.rdmsr(STATUS)?;
    k.a.mov(cell(SEEN), rax)?;
    k.a.mov(rdx, rax)?;
    k.a.shr(rdx, 32)?;
    k.a.mov(ecx, ACKNOWLEDGE)?;
    k.a.wrmsr()?;
    for register in [rdx, rcx, rax] {
        k.a.pop(register)?;
    }
    k.a.iretq()
}

/// Everything counts, from a release of all boxes on, which selects the tiles to interrupt.
fn run(k: &mut Kernel, tiles: u64) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL | tiles)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    Ok(())
}

fn round(k: &mut Kernel, all: &All, culprit: &Culprit, interrupts: u64) -> Built<()> {
    let Culprit { name, counter, control, telling, status, bit, global_bit, .. } = culprit;
    let left_out = u64::from(culprit.silent == 1);
    all.clear(k)?;
    control.write(k, *telling)?;
    counter.write_counter(k, START)?;
    run(k, TILE_0)?;
    k.a.mov(rax, cell(COUNT))?;
    k.check_is(&format!("{name}: interrupts"), rax, interrupts + 1)?;
    k.a.mov(rax, cell(SEEN))?;
    k.check_is(&format!("{name}: global status of the thread in its handler"), rax, OF_UNTILE)?;
    k.rdmsr(STATUS)?;
    k.check_is(&format!("{name}: global status once acknowledged"), rax, 0)?;
    counter.read_counter(k)?;
    k.check_is(&format!("{name}: it has wrapped"), rax, 0)?;
    all.check(k, &format!("{name}: frozen at its clock"), DISTANCE, left_out)?;
    status.read(k)?;
    k.check_is(&format!("{name}: status of the box"), rax, 1 << bit)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is(&format!("{name}: global status of the untile"), rax, 1 << global_bit)?;

    // Not acknowledged there, the next overflow neither freezes nor interrupts.
    counter.write_counter(k, START)?;
    run(k, TILE_0)?;
    counter.read_counter(k)?;
    let right = 1 + NOPS + counter.before_read() - DISTANCE;
    k.check_is(&format!("{name}: not acknowledged, it counts on"), rax, right)?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    k.a.mov(rax, cell(COUNT))?;
    k.check_is(&format!("{name}: not acknowledged, it interrupts nobody"), rax, interrupts + 1)?;
    status.write(k, 1 << bit)?;
    status.read(k)?;
    k.check_is(&format!("{name}: status of the box, cleared by a one"), rax, 0)?;
    k.wrmsr(GLOBAL_STATUS, 1 << global_bit)?;
    k.rdmsr(GLOBAL_STATUS)?;
    k.check_is(&format!("{name}: global status of the untile, cleared by a one"), rax, 0)
}

/// Overflows without a tile to interrupt freeze all the same; a masked entry keeps the status.
fn unheard(k: &mut Kernel, culprit: &Culprit, interrupts: u64) -> Built<()> {
    let Culprit { counter, control, telling, silent, status, bit, global_bit, .. } = culprit;
    for (what, tiles, control_value, wraps_to, told) in [
        ("no tile chosen", 0, *telling, 0, true),
        ("a tile that is not there", TILE_9, *telling, 0, true),
        ("a counter that tells nobody", TILE_0, *silent, 1 + NOPS + 1 - DISTANCE, false),
    ] {
        counter.write_counter(k, START)?;
        control.write(k, control_value)?;
        run(k, tiles)?;
        counter.read_counter(k)?;
        k.check_is(&format!("{what}: the counter"), rax, wraps_to)?;
        k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
        k.a.mov(rax, cell(COUNT))?;
        k.check_is(&format!("{what}: interrupts"), rax, interrupts)?;
        k.rdmsr(STATUS)?;
        k.check_is(&format!("{what}: global status of the thread"), rax, 0)?;
        status.read(k)?;
        k.check_is(&format!("{what}: status of the box"), rax, u64::from(told) << bit)?;
        status.write(k, 1 << bit)?;
        k.wrmsr(GLOBAL_STATUS, 1 << global_bit)?;
    }
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI | LVT_MASKED)?;
    counter.write_counter(k, START)?;
    control.write(k, *telling)?;
    run(k, TILE_0)?;
    k.a.mov(rax, cell(COUNT))?;
    k.check_is("a masked entry: interrupts", rax, interrupts)?;
    k.rdmsr(STATUS)?;
    k.check_is("a masked entry: global status of the thread", rax, OF_UNTILE)?;
    k.wrmsr(ACKNOWLEDGE, OF_UNTILE)?;
    k.rdmsr(STATUS)?;
    k.check_is("a masked entry: global status once acknowledged", rax, 0)?;
    k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
    control.write(k, 0)?;
    status.write(k, 1 << bit)?;
    k.wrmsr(GLOBAL_STATUS, 1 << global_bit)
}

/// Freezes and releases by software.
fn by_hand(k: &mut Kernel, all: &All) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    all.clear(k)?;
    // Neither bit: nothing changes. Both: it freezes.
    for (what, value, right) in [
        ("neither bit", 5, 5),
        ("both bits", FREEZE_ALL | UNFREEZE_ALL | 1 << 62 | TILE_9, 1 << 62 | TILE_9),
        ("one that names a tile far beyond", 1 << 59, 1 << 59),
    ] {
        k.wrmsr(GLOBAL_CONTROL, value)?;
        for _ in 0..NOPS {
            k.a.nop()?;
        }
        k.rdmsr(GLOBAL_CONTROL)?;
        k.check_is(&format!("{what}: global control"), rax, right)?;
        all.check(k, &format!("{what}: frozen as before"), 0, 0)?;
    }
    // What a box's own control freezes stays so.
    let cha = Unit { kind: Kind::Cha, number: 7 };
    cha.control().write(k, FREEZE)?;
    run(k, 0)?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    cha.counter(0).read_counter(k)?;
    k.check_is("a box frozen by itself: its counter", rax, 0)?;
    Unit { number: 8, ..cha }.counter(0).read_counter(k)?;
    k.check_is("a box frozen by itself: its neighbour's counter", rax, 1 + NOPS + 3)?;
    cha.control().write(k, 0)?;
    run(k, 0)?;
    k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
    cha.counter(0).read_counter(k)?;
    k.check_is("a box released by itself: its counter", rax, 1 + NOPS + 3)
}
