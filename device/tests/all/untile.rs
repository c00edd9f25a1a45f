//! The boxes of a whole part: what they cost, and that nobody waits for ever.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use vm_pmu::arch::feed::{Request, RequestKind, Supplier};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::untile::{Domain, Frequencies, Kind, Stage, Transaction, UnitId};
use vm_pmu::{Address, Part};

/// 64 cores in 32 tiles, with every box.
fn part<L: vm_pmu::irq::InterruptLine>(line: L) -> Machine<L> {
    Builder::of(Part::named("knl").unwrap()).packages(32).threads(8).build(line).unwrap()
}

#[test]
fn a_whole_part_takes_less_than_sixteen_mebibytes() {
    let machine = part(|_thread: usize, _counter: u32| {});
    assert_eq!(machine.threads(), 256);
    let bytes = machine.footprint();
    assert!(bytes < 16 << 20, "{bytes} bytes");
}

#[test]
fn an_overflow_freezes_every_box_at_its_clock_and_interrupts_the_chosen_tiles() {
    let raised = AtomicU64::new(0);
    let machine = part(|thread: usize, counter: u32| {
        assert_eq!(counter, 5);
        raised.fetch_or(1 << thread, Ordering::Relaxed);
    });
    let untile = machine.untile().unwrap();
    let cpu = machine.thread(0).unwrap();
    // Tile 1; CHA 3's clock in counter 2, with ov_en, 1,000 before its wrap; CHA 4's clock in counter 0.
    cpu.x86().wrmsr(0x700, 0b10).unwrap();
    cpu.x86().wrmsr(0xE00 + 36 + 10, (1 << 48) - 1000).unwrap();
    cpu.x86().wrmsr(0xE00 + 36 + 3, 0x0050_0000).unwrap();
    cpu.x86().wrmsr(0xE00 + 48 + 1, 0x0040_0000).unwrap();
    untile.tick(Domain::Uclk, 1_000_000);
    assert_eq!(cpu.x86().rdmsr(0xE00 + 36 + 10), Ok(0));
    assert_eq!(cpu.x86().rdmsr(0xE00 + 48 + 8), Ok(1000));
    assert_eq!(cpu.x86().rdmsr(0xE00 + 36 + 7), Ok(0b100));
    assert_eq!(cpu.x86().rdmsr(0x701), Ok(1 << 6));
    assert_eq!(raised.load(Ordering::Relaxed), 0xFF00);
    assert_eq!(machine.thread(8).unwrap().x86().rdmsr(0x38E), Ok(1 << 61));
}

#[test]
fn what_an_overflow_freezes_has_come_as_far_as_it_by_every_clock() {
    // A CHA's counter 3, a channel's and an EDC's counter 1, 1,000 clocks before their wraps; by MSR, or by bus FFh, device, function, offset.
    for culprit in 0..3 {
        let machine = part(|_thread: usize, _counter: u32| {});
        let (untile, cpu) = (machine.untile().unwrap(), machine.thread(0).unwrap());
        cpu.x86().wrmsr(0xE00 + 1, 0x0040_0000).unwrap();
        let places = [(8, 2, 0xB00), (24, 2, 0xA00)];
        for (device, function, base) in places {
            untile.pci_write(0xFF, device, function, base + 0x20, 4, 0x0040_0000);
        }
        match places.get(culprit) {
            None => {
                cpu.x86().wrmsr(0xE00 + 11, (1 << 48) - 1000).unwrap();
                cpu.x86().wrmsr(0xE00 + 4, 0x0050_0000).unwrap();
            }
            Some(&(device, function, base)) => {
                untile.pci_write(0xFF, device, function, base + 8, 4, 0u32.wrapping_sub(1000));
                untile.pci_write(0xFF, device, function, base + 12, 4, 0xFFFF);
                untile.pci_write(0xFF, device, function, base + 0x24, 4, 0x0050_0000);
            }
        }
        untile.tick_all(1_000_000);
        assert_eq!(cpu.x86().rdmsr(0xE00 + 8), Ok(1000));
        assert_eq!(places.map(|(device, function, base)| untile.pci_read(0xFF, device, function, base, 4)), [1000; 2]);
        assert_eq!(Domain::ALL.map(|domain| untile.clocks(domain)), [1_000_000; 3]);
    }
}

#[test]
fn cycles_cut_anyhow_tick_alike_and_interrupt_in_their_cycle() {
    // A clock faster than the CPUs', one that is as fast, one that is slower; the UBox's fixed counter 100 UCLK before its wrap. The 100th is at
    // 100 * 3 / 7 = 42.9 cycles, when ECLK is at 42 and DCLK, at 2/3, at 28.
    let frequencies = Frequencies { cpu: 3, uclk: 7, eclk: 3, dclk: 2 };
    for part in [1, 2, 5, 42, 43, 44, 300] {
        let raised = AtomicU64::new(0);
        let line = |_thread: usize, _counter: u32| {
            raised.fetch_add(1, Ordering::Relaxed);
        };
        let machine = Builder::of(Part::named("knl").unwrap()).threads(1).frequencies(frequencies).build(line).unwrap();
        let (untile, cpu) = (machine.untile().unwrap(), machine.thread(0).unwrap());
        cpu.x86().wrmsr(0x700, 1).unwrap();
        cpu.x86().wrmsr(0x704, (1 << 48) - 100).unwrap();
        cpu.x86().wrmsr(0x703, 0x0050_0000).unwrap();
        // Fixed counters of an EDC at ECLK and of a channel at DCLK.
        untile.pci_write(0xFF, 24, 2, 0xA44, 4, 1);
        untile.pci_write(0xFF, 8, 2, 0xB44, 4, 1);
        let mut gone = 0;
        while gone < 300 {
            assert_eq!(raised.load(Ordering::Relaxed), u64::from(gone >= 43), "after {gone} cycles, {part} at once");
            untile.advance(part.min(300 - gone));
            gone += part.min(300 - gone);
        }
        assert_eq!(cpu.x86().rdmsr(0x704), Ok(0));
        assert_eq!([(24, 0xA3C), (8, 0xB3C)].map(|(device, offset)| untile.pci_read(0xFF, device, 2, offset, 4)), [42, 28], "{part}");
        assert_eq!(Domain::ALL.map(|domain| untile.clocks(domain)), [700, 300, 200]);
    }
}

#[test]
fn a_restored_machine_ticks_on_where_the_saved_one_was() {
    let machine = part(|_thread: usize, _counter: u32| {});
    let untile = machine.untile().unwrap();
    untile.advance(5);
    let other = part(|_thread: usize, _counter: u32| {});
    let restored = other.untile().unwrap();
    assert!(restored.restore(&untile.state()));
    restored.advance(9);
    // After 5 cycles 6, 3 and 4 clocks had gone by, of 17, 9 and 12.
    assert_eq!(Domain::ALL.map(|domain| restored.clocks(domain)), [11, 6, 8]);
}

#[test]
fn threads_that_do_whatever_they_like_at_once_all_come_to_an_end() {
    let machine = part(|_thread: usize, _counter: u32| {});
    thread::scope(|scope| {
        for worker in 0..8u64 {
            let machine = &machine;
            scope.spawn(move || {
                let mut seed = worker + 1;
                let mut random = move || {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    seed >> 33
                };
                let untile = machine.untile().unwrap();
                let cpu = machine.thread(worker as usize * 8).unwrap();
                for _ in 0..20_000 {
                    let cha = (random() % 38) as u8;
                    let base = 0xE00 + u32::from(cha) * 12;
                    match random() % 12 {
                        0 => cpu.x86().wrmsr(0x700, random() << 40 | random()).unwrap(),
                        1 => cpu.x86().wrmsr(base + 1 + (random() % 4) as u32, 0x0050_0000 | random() & 0xFFFF).unwrap(),
                        2 => cpu.x86().wrmsr(base + 8 + (random() % 4) as u32, (1 << 48) - 1 - random() % 64).unwrap(),
                        3 => cpu.x86().wrmsr(base, random() & 0x103).unwrap(),
                        4 => cpu.x86().wrmsr(0x701, u64::MAX >> 32).unwrap(),
                        5 => untile.tick(Domain::ALL[(random() % 3) as usize], random() % 100),
                        9 => untile.tick_all(random() % 100),
                        10 => untile.advance(random() % 100),
                        11 => drop(untile.transact(cha, &Transaction::default(), [Stage::Enters, Stage::Leaves][(random() % 2) as usize])),
                        6 => drop(untile.transact(cha, &Transaction::default(), Stage::Served { clocks: random() % 50 })),
                        7 => drop(untile.inject(UnitId::new(Kind::Cha, cha).unwrap(), random() as u8, random() as u8, 1, random() % 9)),
                        _ => assert!(cpu.x86().rdmsr(base + (random() % 12) as u32).is_ok()),
                    }
                }
            });
        }
    });
}

#[test]
fn a_state_restores_every_box() {
    let machine = part(|_thread: usize, _counter: u32| {});
    let (untile, cpu) = (machine.untile().unwrap(), machine.thread(0).unwrap());
    for cha in 0..38u32 {
        cpu.x86().wrmsr(0xE00 + cha * 12 + 1, 0x0040_0000).unwrap();
        cpu.x86().wrmsr(0xE00 + cha * 12 + 5, u64::from(cha)).unwrap();
    }
    untile.tick(Domain::Uclk, 77);
    let state = untile.state();
    let other = part(|_thread: usize, _counter: u32| {});
    assert!(other.untile().unwrap().restore(&state));
    assert_eq!(other.untile().unwrap().state(), state);
    other.untile().unwrap().tick(Domain::Uclk, 3);
    assert_eq!(other.thread(0).unwrap().x86().rdmsr(0xE08), Ok(80));
}

#[test]
fn what_no_bus_does_reads_ones_and_writes_nothing() {
    let machine = part(|_thread: usize, _counter: u32| {});
    let untile = machine.untile().unwrap();
    // The control of counter 0 of the first EDC, at bus FFh, device 15, function 0.
    for (offset, size) in [(0x421, 2), (0x422, 4), (0x423, 2), (0x420, 3), (0x420, 8), (0x420, 0)] {
        untile.pci_write(0xFF, 15, 0, offset, size, u32::MAX);
        assert_eq!(untile.pci_read(0xFF, 15, 0, offset, size), u32::MAX, "{size} bytes at {offset:X}h");
    }
    assert_eq!(untile.pci_read(0xFF, 15, 0, 0x420, 4), 0);
    assert_eq!(untile.pci_read(0xFF, 15, 0, 0x1000, 4), u32::MAX, "behind the end");
}

#[test]
fn a_read_from_near_memory_uses_the_rings_of_every_stop_on_its_ways() {
    let machine = part(|_: usize, _: u32| {});
    let untile = machine.untile().unwrap();
    // Tile 0 is at row 1, column 0; CHA 8 at row 3, column 2; its MCDRAM controller, the second, at row 0, column 1. Down or right is bit 2,
    // with bit 3 where the run ends in an odd row or column; up or left bit 0, or bit 1. Data take two slots.
    let foretold = [
        // The request: down by CHA 3 to CHA 6 in row 3, right by CHA 7 to column 2.
        (3, 0xA6, 0x08, 1),
        (6, 0xA6, 0x08, 1),
        (7, 0xA7, 0x04, 1),
        (8, 0xA7, 0x04, 1),
        // To the controller: up by CHAs 5 and 2 to row 0.
        (5, 0xA6, 0x01, 1),
        (2, 0xA6, 0x01, 1),
        // The data: down to CHA 1 in row 1, left to column 0.
        (1, 0xAA, 0x08, 2),
        (0, 0xAB, 0x01, 2),
        // The controller's acknowledge: down by CHAs 1, 4 and 7 in row 3, right to column 2.
        (1, 0xA8, 0x08, 1),
        (4, 0xA8, 0x08, 1),
        (7, 0xA8, 0x08, 1),
        (8, 0xA9, 0x04, 1),
        // The CHA's acknowledge: up by CHAs 5 and 2 in row 1, left by CHA 1 to column 0.
        (5, 0xA8, 0x02, 1),
        (2, 0xA8, 0x02, 1),
        (1, 0xA9, 0x01, 1),
        (0, 0xA9, 0x01, 1),
        // No data go down column 0.
        (3, 0xAA, 0x0F, 0),
    ];
    // Each CHA has four counters.
    let mut used = [0; 9];
    let counters = foretold.map(|(cha, select, umask, _)| {
        let (base, number) = (0xE00 + 12 * cha as u32, used[cha]);
        used[cha] += 1;
        untile.write(Address::Msr(base + 1 + number), 1 << 22 | umask << 8 | select).unwrap();
        Address::Msr(base + 8 + number)
    });
    untile.carry_request(&Request { supplier: Supplier::NearMemory { far: false }, ..Request::of(RequestKind::DataRead) }, 0, 8);
    untile.tick_all(10);
    assert_eq!(counters.map(|counter| untile.read(counter).unwrap()), foretold.map(|(.., count)| count));
}

#[test]
fn messages_are_followed_while_a_counter_counts_them_and_no_longer() {
    let machine = part(|_: usize, _: u32| {});
    let untile = machine.untile().unwrap();
    let control = Address::Msr(0xE01);
    let listens = |value: u64| {
        untile.write(control, value).unwrap();
        untile.listens_to_mesh()
    };
    // VERT_RING_AD_IN_USE; it, once more; the clock of the mesh stop; an event of the CHA; nothing.
    assert_eq!([0x0040_0FA6, 0x0040_01A6, 0x0040_00C0, 0x0040_0135, 0].map(listens), [true, true, false, false, false]);
    // Every box is counted once, and a reset ends it.
    listens(0x0040_0FA6);
    untile.reset();
    assert!(!untile.listens_to_mesh());
}
