//! The POWER9 nest where memory is not as it should be (`docs/notes/power9-nest.md`).

use std::cell::{Cell as Shared, RefCell};
use std::collections::BTreeMap;

use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Nest, REGION, REGION_SIZE, Totals};

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
    (0..slots).map(|_| nest.pass(nest.until_slot(), totals, memory).refused).sum()
}

#[test]
fn a_region_does_not_go_on_at_the_beginning_of_memory() {
    // The last address of the first is that of the region's last cell; of the others the region begins near the end, at it, and behind it.
    let last = u64::MAX - 7;
    for (home, fits) in [(last - (REGION + REGION_SIZE - 8), true), (last - REGION, false), (last - REGION + 8, false), (last, false)] {
        let (memory, totals, mut nest) = (Everywhere::default(), Totals::new(), Nest::new(home));
        let refused = slots(&mut nest, 8, &totals, &memory);
        assert_eq!(refused == 0, fits, "{home:#x}");
        assert!(memory.cells.borrow().keys().all(|address| *address >= home), "{home:#x}");
    }
}
