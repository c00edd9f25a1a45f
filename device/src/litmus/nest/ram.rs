//! The guest's memory in a litmus file: the regions of its chips, bytes in big-endian order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{REGION, REGION_SIZE};

/// Memory where a chip has its region, and nowhere else; all of it is zero at first.
#[derive(Debug, Default)]
pub(super) struct Ram {
    /// The bytes that are not zero.
    bytes: Mutex<BTreeMap<u64, u8>>,
    /// Where regions begin.
    regions: Vec<u64>,
    /// The start and the end of each hole.
    holes: Vec<(u64, u64)>,
}

impl Clone for Ram {
    fn clone(&self) -> Self {
        Ram { bytes: Mutex::new(self.bytes.lock().clone()), regions: self.regions.clone(), holes: self.holes.clone() }
    }
}

impl Ram {
    /// Adds memory for the region of the chip whose home base is `home`.
    pub(super) fn add_region(&mut self, home: u64) {
        let first = home.wrapping_add(REGION);
        if !self.regions.contains(&first) {
            self.regions.push(first);
        }
    }

    pub(super) fn add_hole(&mut self, from: u64, to: u64) {
        self.holes.push((from, to));
    }

    pub(super) fn fill_holes(&mut self) {
        self.holes.clear();
    }

    /// Whether all of the `size` bytes exist.
    fn has(&self, address: u64, size: u8) -> bool {
        (0..u64::from(size)).all(|at| {
            let address = address.wrapping_add(at);
            self.regions.iter().any(|first| address.wrapping_sub(*first) < REGION_SIZE)
                && !self.holes.iter().any(|(from, to)| (*from..*to).contains(&address))
        })
    }

    /// The value of `size` bytes, the first the most significant.
    pub(super) fn read(&self, address: u64, size: u8) -> Option<u64> {
        self.has(address, size).then(|| number(&self.bytes.lock(), address, size))
    }

    /// Stores the low `size` bytes of `value`; returns whether they exist.
    pub(super) fn write(&self, address: u64, size: u8, value: u64) -> bool {
        let has = self.has(address, size);
        if has {
            put(&mut self.bytes.lock(), address, size, value);
        }
        has
    }

    /// The bytes that are not zero, to compare memories.
    pub(super) fn each(&self, mut work: impl FnMut(u64, u8)) {
        self.bytes.lock().iter().for_each(|(address, byte)| work(*address, *byte));
    }

    fn reach<T>(&self, address: u64, work: impl FnOnce(&mut BTreeMap<u64, u8>) -> T) -> Result<T, u64> {
        if !address.is_multiple_of(8) || !self.has(address, 8) {
            return Err(address);
        }
        Ok(work(&mut self.bytes.lock()))
    }
}

fn number(bytes: &BTreeMap<u64, u8>, address: u64, size: u8) -> u64 {
    let byte = |at: u8| bytes.get(&address.wrapping_add(u64::from(at))).copied().unwrap_or(0);
    (0..size).fold(0, |number, at| number << 8 | u64::from(byte(at)))
}

fn put(bytes: &mut BTreeMap<u64, u8>, address: u64, size: u8, value: u64) {
    for at in 0..size {
        let place = address.wrapping_add(u64::from(at));
        match (value >> (8 * (size - 1 - at))) as u8 {
            0 => bytes.remove(&place),
            byte => bytes.insert(place, byte),
        };
    }
}

/// Its error is the refused address.
impl Memory for Ram {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        self.reach(address, |bytes| number(bytes, address, 8))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.reach(address, |bytes| put(bytes, address, 8, value))
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        self.reach(address, |bytes| put(bytes, address, 8, number(bytes, address, 8).wrapping_add(amount)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ram() -> Ram {
        let mut ram = Ram::default();
        ram.add_region(0);
        ram
    }

    #[test]
    fn the_first_byte_of_a_cell_is_the_most_significant() {
        let ram = ram();
        assert_eq!(ram.store(REGION, 0x0102_0304_0506_0708), Ok(()));
        assert_eq!((ram.read(REGION, 1), ram.read(REGION + 6, 2), ram.read(REGION + 1, 4)), (Some(1), Some(0x708), Some(0x0203_0405)));
    }

    #[test]
    fn nothing_is_outside_the_regions_or_in_a_hole() {
        let mut ram = ram();
        ram.add_hole(REGION + 8, REGION + 16);
        assert_eq!((ram.load(REGION - 8), ram.load(REGION + REGION_SIZE)), (Err(REGION - 8), Err(REGION + REGION_SIZE)));
        assert_eq!((ram.add(REGION + 8, 1), ram.add(REGION + 16, 1), ram.load(REGION)), (Err(REGION + 8), Ok(()), Ok(0)));
        assert_eq!(ram.read(REGION + 4, 8), None, "its second half");
    }

    #[test]
    fn cells_are_aligned() {
        assert_eq!(ram().store(REGION + 4, 1), Err(REGION + 4));
    }

    #[test]
    fn a_region_may_lie_across_the_end_of_addresses() {
        let mut ram = Ram::default();
        ram.add_region(u64::MAX - 7 - REGION);
        assert_eq!((ram.store(u64::MAX - 7, 1), ram.store(0, 2), ram.load(0)), (Ok(()), Ok(()), Ok(2)));
    }
}
