//! What the nests of POWER9's chips count of the companion's traffic and of devices.

use std::collections::BTreeSet;

use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
use vm_pmu::arch::event::{Drive, Entry, Internal, POWER9};
use vm_pmu::arch::feed::{Demand, Totals};
use vm_pmu::companion::{Access, AccessKind, Builder, Instruction, Untranslated};
use vm_pmu::memory::{Chip, ControlCell, Event, FLEXIBLE, Guest, HostBridge, Mode, Nest, NvLink, REGION, Traffic, Translations};
use vm_pmu_board::power::scale;

/// Bytes of a chip's memory.
const MEMORY: u64 = 1 << 16;
/// Bytes of a line.
const LINE: u64 = 128;
/// Chips: two groups of four, each of which has links to all the others of its group.
const CHIPS: u64 = 8;

/// The events of the nest that the model makes from `internal` and that no chip has counted.
fn missing(chips: &[Chip], internal: Internal) -> BTreeSet<&'static str> {
    POWER9
        .events()
        .filter(|entry| entry.unit == "nest" && entry.drive == Drive::Internal(internal))
        .filter(|entry| {
            let event = entry.offset.and_then(Event::at).expect("what is posted has an offset");
            chips.iter().all(|chip| chip.totals().get(event) == 0)
        })
        .map(|entry| entry.name)
        .collect()
}

#[test]
fn every_event_of_traffic_is_counted_by_some_chip() {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x100_0000)]).unwrap();
    let chips: Vec<Chip> = (0..CHIPS as u32).map(|id| Chip::new(id, Nest::new(0x20_0000 * u64::from(id)))).collect();
    let companion = Builder::new("power9").unwrap().packages(8).packages_per_group(4).threads(8).memory_per_package(MEMORY).build();
    let traffic = Traffic::new(&companion, chips.len());
    for chip in &chips {
        chip.advance(4 * chip.slot_cycles(), &Guest(&memory)).ok().unwrap();
    }
    traffic.sync(&companion, &chips);
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&Demand::default());
    // Lines of every chip are stored to and driven out again.
    for line in 0..CHIPS * MEMORY / LINE {
        for kind in [AccessKind::Store, AccessKind::Flush] {
            let access = Access { address: line * LINE, physical: line * LINE, size: 8, kind, ..Access::default() };
            follower.execute(&Instruction { accesses: &[access], ..Instruction::default() }, &mut Untranslated(12));
        }
    }
    // A stream of loads, which the prefetcher follows.
    for line in 0..16 {
        let access = Access { address: line * LINE, physical: line * LINE, size: 8, ..Access::default() };
        follower.execute(&Instruction { accesses: &[access], ..Instruction::default() }, &mut Untranslated(12));
    }
    companion.device_access(0, 4096, false, &Totals::new(), &Demand::default());
    // Lines 0 and 1 are at ports 0 of the two controllers.
    for line in 0..2 {
        companion.device_access(line * LINE, 8, true, &Totals::new(), &Demand::default());
        companion.device_atomic(line * LINE, &Totals::new(), &Demand::default());
    }
    traffic.flush(&companion, &chips);
    assert_eq!(missing(&chips, Internal::Request), BTreeSet::new());
}

#[test]
fn every_event_of_devices_is_counted_by_the_model_of_its_unit() {
    let chips = [Chip::new(0, Nest::new(0))];
    for number in 0..6 {
        let bridge = HostBridge::new(number).unwrap();
        bridge.dma_read(&chips[0], 0, 4096);
        bridge.dma_write(&chips[0], 0, 4096);
        bridge.load_answered(&chips[0], 1);
        let link = NvLink::new(number).unwrap();
        link.reads(&chips[0], 0, 4096);
        link.writes(&chips[0], 0, 4096);
        link.gives_back(&chips[0], true);
    }
    let translations = Translations::new();
    for entry in [None, Some(1)] {
        translations.by_entry(&chips[0], 0, 0, || entry);
    }
    translations.bind(1, 1);
    translations.check_out(&chips[0], 1, 0, || Some(1));
    translations.invalidate(&chips[0], 1, None);
    assert_eq!(missing(&chips, Internal::Device), BTreeSet::new());
}

/// The events of requests and devices that a chip of the nest's `mode` does not post as they were added, each with what its cell holds and
/// should.
fn not_posted(mode: Mode) -> Vec<String> {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 4 << 20)]).unwrap();
    let chip = Chip::new(0, Nest::new(0));
    // One slot at a time: of many that come at once most are late.
    let advance = |slots: u64| (0..slots).for_each(|_| chip.advance(chip.slot_cycles(), &Guest(&memory)).ok().unwrap());
    let cell = |offset: u64| {
        let mut bytes = [0; 8];
        memory.read_slice(&mut bytes, GuestAddress(REGION + offset)).unwrap();
        u64::from_be_bytes(bytes)
    };
    advance(1);
    memory.write_slice(&(mode.value()).to_be_bytes(), GuestAddress(REGION + ControlCell::Mode.offset())).unwrap();
    // Rounds in which every group is posted: from a counter that runs on, the first reading is not.
    const ROUNDS: u64 = 2 * 24;
    advance(ROUNDS);
    assert_eq!(cell(ControlCell::ModeInForce.offset()), mode.value());
    // Whole steps of every prescaler, another number of them for each event.
    const STEP: u64 = 4096;
    let is_posted = |entry: &&Entry| {
        let driven = matches!(entry.drive, Drive::Internal(Internal::Request | Internal::Device));
        let flexible = entry.offset.is_some_and(|offset| offset >= FLEXIBLE);
        entry.unit == "nest" && driven && flexible == (mode == Mode::Flexible)
    };
    let events: Vec<(&Entry, u32, u64)> = POWER9
        .events()
        .filter(is_posted)
        .zip(1..)
        .filter_map(|(entry, steps)| entry.offset.map(|offset| (entry, offset, steps * STEP)))
        .collect();
    assert!(!events.is_empty());
    for (_, offset, amount) in &events {
        chip.add(Event::at(*offset).unwrap(), *amount);
    }
    advance(ROUNDS);
    let wrong = events.iter().map(|(entry, offset, amount)| (entry, cell(u64::from(*offset)) * scale(*offset), *amount));
    wrong.filter(|(_, seen, right)| seen != right).map(|(entry, seen, right)| format!("{}: {seen}, not {right}", entry.name)).collect()
}

#[test]
fn what_chips_count_of_requests_and_devices_is_read_from_memory() {
    assert_eq!(not_posted(Mode::Default), Vec::<String>::new());
    assert_eq!(not_posted(Mode::Flexible), Vec::<String>::new());
}
