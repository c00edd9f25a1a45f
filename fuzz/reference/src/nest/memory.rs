//! The memory into which a chip posts: bytes in big-endian order, where there is memory (`docs/notes/power9-nest.md`, N1; P50).

use std::collections::{BTreeMap, BTreeSet};

use super::map::{REGION, REGION_SIZE};

/// The memory of all chips. It is the guest's, so it outlasts every reset.
#[derive(Default)]
pub(super) struct Memory {
    /// The bytes that are not zero.
    bytes: BTreeMap<u64, u8>,
    /// The bytes that are not known.
    unknown: BTreeSet<u64>,
    /// Where regions begin.
    regions: Vec<u64>,
    holes: Vec<(u64, u64)>,
}

impl Memory {
    /// Memory for the region of a chip whose home base is `home`.
    pub(super) fn add_region(&mut self, home: u64) {
        self.regions.push(home.wrapping_add(REGION));
    }

    pub(super) fn add_hole(&mut self, from: u64, to: u64) {
        self.holes.push((from, to));
    }

    pub(super) fn fill_holes(&mut self) {
        self.holes.clear();
    }

    fn exists(&self, address: u64) -> bool {
        let in_region = self.regions.iter().any(|first| address.wrapping_sub(*first) < REGION_SIZE);
        in_region && !self.holes.iter().any(|(from, to)| (*from..*to).contains(&address))
    }

    /// The addresses of `size` bytes, if all of them exist.
    fn place(&self, address: u64, size: u8) -> Option<Vec<u64>> {
        let all: Vec<u64> = (0..u64::from(size)).map(|at| address.wrapping_add(at)).collect();
        all.iter().all(|address| self.exists(*address)).then_some(all)
    }

    /// What the guest loads: `None` where there is no memory, and within that `None` where the value is not known.
    pub(super) fn read(&self, address: u64, size: u8) -> Option<Option<u64>> {
        let place = self.place(address, size)?;
        if place.iter().any(|address| self.unknown.contains(address)) {
            return Some(None);
        }
        Some(Some(place.iter().fold(0, |value, address| value << 8 | u64::from(self.bytes.get(address).copied().unwrap_or(0)))))
    }

    /// What the guest stores; nothing where there is no memory.
    pub(super) fn write(&mut self, address: u64, size: u8, value: u64) {
        for (at, address) in self.place(address, size).unwrap_or_default().into_iter().rev().enumerate() {
            self.unknown.remove(&address);
            match (value >> (8 * at)) as u8 {
                0 => self.bytes.remove(&address),
                byte => self.bytes.insert(address, byte),
            };
        }
    }

    /// The engine adds to a cell what is not known. Returns whether memory took it.
    pub(super) fn forget(&mut self, address: u64) -> bool {
        let takes = self.load(address).is_some();
        if takes {
            self.unknown.extend(address..=address + 7);
        }
        takes
    }

    /// Whether the byte at `address` is known.
    pub(super) fn knows(&self, address: u64) -> bool {
        !self.unknown.contains(&address)
    }

    /// The bytes that are not zero.
    pub(super) fn bytes(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        self.bytes.iter().map(|(address, byte)| (*address, *byte))
    }

    /// The engine reads a cell: it is aligned, and there, or the access is refused.
    pub(super) fn load(&self, address: u64) -> Option<Option<u64>> {
        if address.is_multiple_of(8) { self.read(address, 8) } else { None }
    }

    /// The engine writes a cell. Returns whether memory took it.
    pub(super) fn store(&mut self, address: u64, value: u64) -> bool {
        let takes = self.load(address).is_some();
        if takes {
            self.write(address, 8, value);
        }
        takes
    }

    /// The engine adds to a cell, modulo 2^64. Returns whether memory took it.
    pub(super) fn add(&mut self, address: u64, amount: u64) -> bool {
        match self.load(address) {
            Some(Some(before)) => self.store(address, before.wrapping_add(amount)),
            Some(None) => true,
            None => false,
        }
    }
}
