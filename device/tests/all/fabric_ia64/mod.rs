//! The bus of Itanium processors, read through PMC and PMD: what was done is listed here, and what it counts is worked out by hand.

mod formulas;
mod in_time;
mod snoops;
mod system;

use vm_pmu::arch::event::{Catalogue, Entry, Fidelity};
use vm_pmu::arch::registry::Part;
use vm_pmu::companion::{AccessKind, Builder, Class, Clock, Companion, Profile, parts};

use system::{System, companion};

/// A physical address of the ports.
const PORT: u64 = 0x0FFF_FC00_0000;
/// Bytes of a line on the bus of Montecito.
const LINE: u64 = 128;

/// Each kind of transaction once or more, by the first core, by that of the other package and by a device.
fn everything(system: &mut System<'_>) {
    let other = system.followers.len() / 2;
    let mut lines = (0..).map(|number| 0x100_0000 + number * 0x1_0000);
    let mut line = || lines.next().unwrap();
    // Both have it.
    let shared = line();
    system.load(0, shared);
    system.load(other, shared);
    system.store(0, shared);
    // The other has it modified: it is read, read to write, flushed.
    for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Flush] {
        let line = line();
        system.store(other, line);
        system.access(0, kind, line, 8);
    }
    // The same of the first core, and a line that the other has unmodified.
    for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Flush] {
        let line = line();
        system.store(0, line);
        system.access(other, kind, line, 8);
    }
    let clean = line();
    system.load(other, clean);
    system.load(0, clean);
    for (physical, size, writes) in [(0x20_0000, 128, false), (0x21_0000, 8, false), (0x22_0000, 128, true), (0x23_0000, 8, true)] {
        system.device(physical, size, writes);
        system.store(0, physical);
        system.device(physical, size, writes);
        system.load(0, physical);
        system.device(physical, size, writes);
    }
    for kind in [AccessKind::Load, AccessKind::Store] {
        system.uncacheable(kind, 0x8000_0000);
        system.uncacheable(kind, PORT + 0x3F8);
    }
    combine(system);
    // More lines than the third level has, each second one modified.
    for number in 0..1_500 {
        let kind = if number % 2 == 0 { AccessKind::Load } else { AccessKind::Store };
        system.access(0, kind, 0x4000_0000 + number * LINE, 8);
    }
    // The first thread fills its third level with clean lines, and with modified ones, and asks for as many at once as it can.
    for kind in [AccessKind::Load, AccessKind::Store] {
        (0..512).for_each(|number| system.access(0, kind, 0x5000_0000 + number * LINE, 8));
        system.prefetch(0x6000_0000, 48, LINE);
        system.rest(2_000);
    }
    // Snoops meet lines that the first core gives up, and those that the other one does.
    for (owner, asker) in [(0, other), (other, 0)] {
        [AccessKind::Store, AccessKind::Load].into_iter().for_each(|kind| snoops::meet(system, owner, asker, kind));
    }
    // A line on the bus is flushed.
    snoops::flush_on_the_bus(system);
}

/// A whole line, and pieces of 32, 16, the first 8 and the second 8 bytes of another.
fn combine(system: &mut System<'_>) {
    for offset in (0..LINE).step_by(16) {
        system.access(0, AccessKind::StreamingStore, 0x9000_0000 + offset, 16);
    }
    for (offset, size) in [(0, 32), (32, 16), (64, 8), (104, 4)] {
        system.access(0, AccessKind::StreamingStore, 0x9001_0000 + offset, size);
    }
    system.run(0, Class::Fence, &[]);
}

fn catalogue(name: &str) -> &'static Catalogue {
    Part::named(name).unwrap().catalogue()
}

/// What counter 4 reads of the event of this name after `work`.
fn read(companion: &Companion, name: &str, work: impl Fn(&mut System<'_>)) -> u64 {
    let entry = catalogue(companion.profile().name).entries.iter().find(|entry| entry.name == name).unwrap();
    let mut system = System::new(companion, entry.select, entry.umask.unwrap_or(0));
    work(&mut system);
    system.count()
}

fn is_driven(entry: &Entry, units: &[&str]) -> bool {
    entry.fidelity == Fidelity::Approximate && units.contains(&entry.unit)
}

/// Every driven event of these units that counts nothing after everything has been done.
fn dead(part: &Profile, units: &[&str]) -> Vec<&'static str> {
    let catalogue = catalogue(part.name);
    let driven = catalogue.entries.iter().filter(|entry| is_driven(entry, units));
    let counts = driven.filter(|entry| !entry.signals.is_empty());
    let is_dead = |entry: &&Entry| {
        let companion = companion(part, 64 << 10);
        let mut system = System::new(&companion, entry.select, entry.umask.unwrap_or(0));
        everything(&mut system);
        system.count() == 0
    };
    counts.filter(is_dead).map(|entry| entry.name).collect()
}

#[test]
fn every_driven_event_of_the_bus_counts() {
    for part in [&parts::MONTECITO, &parts::ITANIUM] {
        assert_eq!(dead(part, &["bus"]), [""; 0], "{}", part.name);
    }
}

#[test]
fn combined_stores_are_written_in_aligned_pieces() {
    let companion = companion(&parts::MONTECITO, 12 << 20);
    // The first line is full: a write of a line. Of the second, 32 bytes, 16 bytes, and 8 bytes of either half of sixteen: 64 is the first
    // half, and 104 is 8 beyond 96.
    let expected = [("EWB", 1), ("WC32", 1), ("WC16", 1), ("WC1_8A", 1), ("WC1_8B", 1), ("IWB", 0), ("ALL", 5)];
    for (kind, count) in expected {
        assert_eq!(read(&companion, &format!("SI_WRITEQ_INSERTS.{kind}.SELF"), combine), count, "{kind}");
    }
    assert_eq!(read(&companion, "BUS_MEMORY.LT_128BYTE.SELF", combine), 4);
}

#[test]
fn a_device_makes_the_transactions_of_what_it_does() {
    let work = |system: &mut System<'_>| {
        // The first core has a line modified: all of another is read (BRC), a part of it is read (BRL, HITM), it is overwritten (BIL, BWL),
        // and a part of a third is written (BRIL, BWL).
        system.store(0, 0x20_0000);
        system.device(0x30_0000, LINE, false);
        system.device(0x20_0000, 8, false);
        system.device(0x20_0000, LINE, true);
        system.device(0x40_0000, 8, true);
    };
    let companion = || companion(&parts::MONTECITO, 12 << 20);
    for (name, count) in [
        ("MEM_READ_CURRENT.IO", 1),
        ("BUS_MEM_READ.BRL.IO", 1),
        ("BUS_RD_HITM.IO", 1),
        ("BUS_MEM_READ.BIL.IO", 1),
        ("BUS_MEM_READ.BRIL.IO", 1),
        ("BUS_WR_WB.EQ_128BYTE.IO", 2),
        ("BUS_ALL.IO", 6),
    ] {
        assert_eq!(read(&companion(), name, work), count, "{name}");
    }
}

#[test]
fn a_snoop_has_the_answer_of_the_core() {
    let work = |system: &mut System<'_>| {
        // The other package reads a line that the first core has, and one that it has modified.
        system.load(0, 0x20_0000);
        system.load(2, 0x20_0000);
        system.store(0, 0x30_0000);
        system.load(2, 0x30_0000);
    };
    let at = |name: &str| read(&companion(&parts::MONTECITO, 12 << 20), name, work);
    for answer in ["HIT", "HITM"] {
        assert_eq!(at(&format!("SI_SCB_INSERTS.{answer}.SELF")), 1);
        assert_eq!(at(&format!("SI_SCB_SIGNOFFS.{answer}")), 1);
    }
    assert_eq!(at("SI_SCB_INSERTS.ALL.SELF"), at("SI_SCB_INSERTS.MISS.SELF") + 2);
    assert_eq!(at("SI_WRITEQ_INSERTS.IWB.SELF"), 1);
}

#[test]
fn the_sum_of_its_kinds_is_the_bus() {
    let all = |name: &str| read(&companion(&parts::MONTECITO, 64 << 10), name, everything);
    for who in ["SELF", "EITHER", "IO", "ANY"] {
        let [sum, memory, io] = ["BUS_ALL", "BUS_MEMORY.ALL", "BUS_IO"].map(|name| all(&format!("{name}.{who}")));
        assert_eq!(sum, memory + io, "{who}");
        let parts = ["EQ_128BYTE", "LT_128BYTE"].map(|kind| all(&format!("BUS_MEMORY.{kind}.{who}")));
        assert_eq!(parts.iter().sum::<u64>(), memory, "{who}");
    }
    let [any, either, io] = ["ANY", "EITHER", "IO"].map(|who| all(&format!("BUS_MEMORY.ALL.{who}")));
    assert!(any > either && io != 0 && any >= either + io);
}

#[test]
fn lines_and_parts_take_their_clocks_of_data() {
    let work = |system: &mut System<'_>| {
        // BRL: 4 clocks. BRIL: 4. BRP, BWP, and two of I/O: 1 each. Then BIL, a line that both have: 0, and 4 for each of the two reads of it.
        system.load(0, 0x20_0000);
        system.store(0, 0x30_0000);
        for physical in [0x8000_0000, PORT] {
            system.uncacheable(AccessKind::Load, physical);
            system.uncacheable(AccessKind::Store, physical);
        }
        system.load(2, 0x20_0000);
        system.store(0, 0x20_0000);
    };
    let at = |name: &str| read(&companion(&parts::MONTECITO, 12 << 20), name, work);
    // The code of the instructions, and what `count` asks for, are BRL too.
    let lines = at("BUS_MEM_READ.BRL.SELF") + at("BUS_MEM_READ.BRIL.SELF");
    assert_eq!(at("BUS_MEM_READ.BIL.SELF"), 1);
    // Data cycles are of both threads of the core, and `count` lets the second one fetch and load too.
    assert_eq!(at("BUS_DATA_CYCLE.SELF"), 4 * (lines + 2) + 4);
    // The reads, the permission, and of the others all but the posted store.
    assert_eq!(at("SI_RQ_INSERTS.SELF"), lines + 1 + 3);
    assert_eq!(at("ER_BRQ_REQ_INSERTED"), lines + 1 + 3);
}

#[test]
fn a_line_comes_into_the_second_level_in_a_state() {
    let work = |system: &mut System<'_>| {
        // Nobody has it; it is to be written; the other core has it.
        system.load(0, 0x20_0000);
        system.store(0, 0x30_0000);
        system.load(2, 0x40_0000);
        system.load(0, 0x40_0000);
    };
    let at = |name: &str| read(&companion(&parts::MONTECITO, 12 << 20), name, work);
    // `count` asks for one more line that nobody has.
    assert_eq!(["M", "E", "S"].map(|state| at(&format!("L2D_FILL_MESI_STATE.{state}"))), [1, 2, 1]);
}

#[test]
fn a_package_of_two_cores_gives_one_answer() {
    // Two packages with two cores of two threads each. The first core and the second have something, and the third asks.
    let montecito = &parts::MONTECITO;
    let work = |system: &mut System<'_>| {
        // The second core has a line modified that the first does not have; and both have another.
        system.store(2, 0x20_0000);
        system.load(4, 0x20_0000);
        system.load(0, 0x30_0000);
        system.load(2, 0x30_0000);
        system.load(4, 0x30_0000);
    };
    let at = |name: &str| {
        let companion = Builder::of(montecito).packages(2).threads(4).clock(Clock::Companion).always().build();
        read(&companion, name, work)
    };
    // The first core does not have the first line, which its package has modified.
    assert_eq!([at("SI_SCB_INSERTS.HITM.SELF"), at("SI_SCB_SIGNOFFS.HITM")], [0, 1]);
    // It has the second line when the second core asks, which is of its own package, and when the third does.
    assert_eq!([at("SI_SCB_INSERTS.HIT.SELF"), at("SI_SCB_SIGNOFFS.HIT")], [2, 2]);
}
