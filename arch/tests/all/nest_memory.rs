//! The POWER9 nest where memory refuses accesses (`docs/notes/power9-nest.md`).

use std::cell::{Cell as Shared, RefCell};
use std::collections::BTreeMap;

use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Availability, Command, ControlCell, Event, Nest, REGION, REGION_SIZE, Status, Totals};

/// Memory at every multiple of 8, zero until it is written; refuses everything else, and everything while it is away.
#[derive(Default)]
struct Everywhere {
    cells: RefCell<BTreeMap<u64, u64>>,
    is_away: Shared<bool>,
}

impl Everywhere {
    fn check(&self, address: u64) -> Result<(), u64> {
        if self.is_away.get() || !address.is_multiple_of(8) { Err(address) } else { Ok(()) }
    }

    fn at(&self, address: u64) -> u64 {
        self.cells.borrow().get(&address).copied().unwrap_or(0)
    }
}

impl Memory for Everywhere {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        self.check(address).map(|()| self.at(address))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.check(address)?;
        self.cells.borrow_mut().insert(address, value);
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        self.store(address, self.load(address)?.wrapping_add(amount))
    }
}

fn slots<M: Memory>(nest: &mut Nest, slots: u32, totals: &Totals, memory: &M) -> u32 {
    (0..slots).map(|_| nest.advance(nest.until_slot(), totals, memory).refused).sum()
}

#[test]
fn a_region_does_not_go_on_at_the_beginning_of_memory() {
    // In the first case the region's last cell is the last of memory. In the others the region does not fit: the home is too near the end
    // of memory.
    let last = u64::MAX - 7;
    for (home, fits) in [(last - (REGION + REGION_SIZE - 8), true), (last - REGION, false), (last - REGION + 8, false), (last, false)] {
        let (memory, totals, mut nest) = (Everywhere::default(), Totals::new(), Nest::new(home));
        let refused = slots(&mut nest, 8, &totals, &memory);
        assert_eq!(refused == 0, fits, "{home:#x}");
        assert!(memory.cells.borrow().keys().all(|address| *address >= home), "{home:#x}");
    }
}

#[test]
fn what_memory_refused_of_the_engine_is_reported_when_it_is_there() {
    let (memory, totals, mut nest) = (Everywhere::default(), Totals::new(), Nest::new(0));
    let at = |cell: ControlCell| memory.at(cell.address(0));
    memory.is_away.set(true);
    slots(&mut nest, 10, &totals, &memory);
    memory.is_away.set(false);
    assert_eq!(slots(&mut nest, 1, &totals, &memory), 0);
    assert_eq!(at(ControlCell::Status), Status::Running.value());
    assert_eq!(at(ControlCell::Availability), Availability::GUIDE.0);
    assert_eq!(memory.at(REGION + 0x2_FC00) >> 60, 2, "the version's major number");
    // Host firmware refuses to command an engine whose status is 0.
    assert_eq!(Command::Pause.give(0, &memory), Ok(true));
}

#[test]
fn what_memory_refused_to_take_is_posted_when_it_is_there() {
    let (memory, totals, mut nest) = (Everywhere::default(), Totals::new(), Nest::new(0));
    memory.is_away.set(true);
    slots(&mut nest, 4, &totals, &memory);
    totals.add(Event::at(0x50).unwrap(), 5 << 8);
    slots(&mut nest, 8, &totals, &memory);
    memory.is_away.set(false);
    // Group 1 is posted every second slot.
    slots(&mut nest, 2, &totals, &memory);
    assert_eq!(memory.at(REGION + 0x50), 5);
}

#[test]
fn a_cell_that_holds_what_the_engine_reported_is_not_written_again() {
    let (memory, totals, mut nest) = (Everywhere::default(), Totals::new(), Nest::new(0));
    slots(&mut nest, 10, &totals, &memory);
    memory.store(ControlCell::Status.address(0), 7).unwrap();
    slots(&mut nest, 10, &totals, &memory);
    assert_eq!(memory.at(ControlCell::Status.address(0)), 7);
}
