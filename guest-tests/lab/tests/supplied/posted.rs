//! The companion's traffic, as the nests of two chips see it.

use std::collections::BTreeSet;

use vm_memory::{GuestAddress, GuestMemoryMmap};
use vm_pmu::arch::event::{Drive, Internal, POWER9};
use vm_pmu::arch::feed::{Demand, Totals};
use vm_pmu::companion::{Access, AccessKind, Builder, Instruction, Untranslated};
use vm_pmu::memory::{Chip, Event, Guest, Nest, Traffic};

/// Bytes of a chip's memory.
const MEMORY: u64 = 1 << 18;
/// Bytes of a line.
const LINE: u64 = 128;

#[test]
fn every_event_of_traffic_is_counted_by_some_chip() {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x100_0000)]).unwrap();
    let chips = [Chip::new(0, Nest::new(0x40_0000)), Chip::new(8, Nest::new(0x80_0000))];
    let companion = Builder::new("power9").unwrap().packages(2).threads(8).memory_per_package(MEMORY).build();
    let traffic = Traffic::new(&companion, chips.len());
    for chip in &chips {
        chip.advance(4 * chip.slot_cycles(), &Guest(&memory)).ok().unwrap();
    }
    traffic.sync(&companion, &chips);
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&Demand::default());
    // Lines of either chip are stored to and driven out again.
    for line in 0..2 * MEMORY / LINE {
        for kind in [AccessKind::Store, AccessKind::Flush] {
            let access = Access { address: line * LINE, physical: line * LINE, size: 8, kind, ..Access::default() };
            follower.execute(&Instruction { accesses: &[access], ..Instruction::default() }, &mut Untranslated(12));
        }
    }
    companion.device_access(0, MEMORY, false, &Totals::new(), &Demand::default());
    traffic.flush(&companion, &chips);
    let told = |entry: &&vm_pmu::arch::event::Entry| entry.unit == "nest" && entry.drive == Drive::Internal(Internal::Request);
    let missing: BTreeSet<&str> = POWER9
        .events()
        .filter(told)
        .filter(|entry| {
            let event = entry.offset.and_then(Event::at).expect("what is posted has an offset");
            chips.iter().all(|chip| chip.totals().get(event) == 0)
        })
        .map(|entry| entry.name)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
