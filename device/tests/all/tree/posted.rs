//! The tree against the counters: what a driver finds is where chips post, and worth what it says.

use std::collections::BTreeMap;

use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
use vm_pmu::memory::{Availability, Chip, Event, FLEXIBLE, Guest, Nest, Platform};
use vm_pmu::tree::power9::{self, ImcCounters};

use super::driver::{self, Pmu, probe};
use super::tree;

/// OPAL_IMC_COUNTERS_START, of the nest.
const START: u64 = 150;
const NEST: u64 = 1;
/// Slots of the engine after which every group was posted several times.
const SLOTS: u32 = 100;

/// What stands at each described counter that counts no clock, by chip and offset.
fn read(memory: &GuestMemoryMmap<()>, pmus: &[Pmu]) -> BTreeMap<(u32, u32), u64> {
    let counters = pmus.iter().flat_map(|pmu| pmu.events.iter().map(move |event| (pmu, event)));
    let counters = counters.filter(|(_, event)| Event::at(event.value).is_some());
    let on = |chip: u32, (pmu, event): (&Pmu, &driver::Event)| {
        let address = pmu.address(chip, event).unwrap();
        let count = u64::from_be(memory.read_obj(GuestAddress(address)).unwrap());
        ((chip, event.value), count * event.scale.as_ref().unwrap().parse::<u64>().unwrap())
    };
    counters.flat_map(|counter| [on(0, counter), on(1, counter)]).collect()
}

/// How often an event happens on a chip: another number for each, and all multiples of what a count of a link is worth.
fn amount(chip: u32, offset: u32) -> u64 {
    u64::from(chip * 1000 + offset / 8 + 1) * 4096
}

#[test]
fn a_driver_reads_what_happened_on_each_chip() {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0xC0_0000)]).unwrap();
    let chip = |id: u32| Chip::new(id, Nest::new(u64::from(id + 1) << 22).with_units(Availability::EVERY));
    let platform = Platform::new(vec![chip(0), chip(1)], vec![0, 0x100]).unwrap();
    platform.boot(&Guest(&memory)).ok().unwrap();
    for pir in [0, 0x100] {
        assert_eq!(platform.call(START, [NEST, pir, 0], &Guest(&memory)).map(|outcome| outcome.value()), Some(0));
    }
    let pass = || {
        for _ in 0..SLOTS {
            platform.advance(platform.chips()[0].slot_cycles(), &Guest(&memory)).ok().unwrap();
        }
    };
    let chips: Vec<power9::Chip> = platform.chips().iter().map(power9::Chip::from).collect();
    let pmus = probe(&tree(&ImcCounters::of(&chips))).unwrap();

    pass();
    let before = read(&memory, &pmus);
    for chip in platform.chips() {
        for event in Event::all().filter(|event| event.offset() < FLEXIBLE) {
            chip.add(event, amount(chip.id(), event.offset()));
        }
    }
    pass();
    for (counter, count) in read(&memory, &pmus) {
        assert_eq!(count - before[&counter], amount(counter.0, counter.1), "{counter:x?}");
    }
    let events = Event::all().filter(|event| event.offset() < FLEXIBLE);
    assert_eq!(before.len(), 2 * events.count(), "every counter is described");
}

#[test]
fn the_control_block_that_a_driver_finds_says_that_the_engine_runs() {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x80_0000)]).unwrap();
    let platform = Platform::new(vec![Chip::new(0, Nest::new(0x40_0000))], vec![0]).unwrap();
    let chips: Vec<power9::Chip> = platform.chips().iter().map(power9::Chip::from).collect();
    let pmus = probe(&tree(&ImcCounters::of(&chips))).unwrap();
    let status = || u64::from_be(memory.read_obj(GuestAddress(pmus[0].memory[0].control)).unwrap());
    platform.boot(&Guest(&memory)).ok().unwrap();
    assert_eq!(status(), 2, "paused");
    platform.call(START, [NEST, 0, 0], &Guest(&memory)).unwrap();
    platform.advance(platform.chips()[0].slot_cycles(), &Guest(&memory)).ok().unwrap();
    assert_eq!(status(), 1, "running");
}
