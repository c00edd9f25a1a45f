//! The I/O of each package, and uncached accesses of cores.

use vm_pmu_arch::feed::Signal;

use crate::fabric::System;
use crate::fabric::gart::By;
use crate::fabric::hypertransport::Transaction;
use crate::fabric::memory::Traffic;
use crate::fabric::sized_commands::{self, LinePiece};
use crate::tally::Tally;

/// Number of ranges that a map can have: the K8's address map has as many pairs of base and limit.
const RANGES: usize = 8;

/// Physical addresses that are I/O of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct IoRange {
    /// The package that its devices are behind.
    pub package: usize,
    /// The first address.
    pub first: u64,
    /// Number of bytes.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct IoMap {
    ranges: [IoRange; RANGES],
    count: usize,
}

impl IoMap {
    /// Returns this map with one more range, if there is room.
    pub(crate) fn with(mut self, range: IoRange) -> IoMap {
        if let Some(place) = self.ranges.get_mut(self.count) {
            *place = range;
            self.count += 1;
        }
        self
    }

    fn package(&self, physical: u64) -> Option<usize> {
        let ranges = self.ranges.get(..self.count).unwrap_or(&[]);
        ranges.iter().find(|range| physical.wrapping_sub(range.first) < range.bytes).map(|range| range.package)
    }
}

impl System {
    /// Returns the package whose I/O a device's access goes to, unless it goes to memory.
    pub(super) fn io_of_device(&self, physical: u64) -> Option<usize> {
        self.layout.io.package(physical).map(|package| package.min(self.layout.packages.saturating_sub(1)))
    }

    /// Returns the package whose I/O an uncached access goes to, unless it goes to memory. Without any range, all of them go to I/O of the
    /// first package.
    fn io_of_core(&self, physical: u64) -> Option<usize> {
        if self.layout.io.count == 0 { Some(0) } else { self.io_of_device(physical) }
    }

    /// Counts requests of a core of `package` to the memory that has line `outer`.
    pub(super) fn count_memory_requests(&self, package: usize, outer: u64, requests: u64, tally: &mut Tally) {
        let is_local = self.home(outer) == package;
        tally.add(if is_local { Signal::MemoryRequestsLocal } else { Signal::MemoryRequestsRemote }, requests);
    }

    pub(crate) fn uncached(&self, from: usize, physical: u64, size: u64, stores: bool, tally: &mut Tally) {
        let bits = self.profile.caches.outer_line_bits.min(63);
        let package = self.package(from);
        let mut shared = self.shared.lock();
        let linked = self.counts_links(None);
        for piece in LinePiece::of(physical, size, bits).take(2) {
            if stores {
                sized_commands::count_store(piece, tally);
            } else {
                sized_commands::count_read(piece, tally);
            }
            self.relocate(&mut shared, package, piece.physical, By::Core, tally);
            let (written, read) = if stores { (piece.stored_doublewords(), 0) } else { (0, piece.doublewords()) };
            let target = self.io_of_core(piece.physical);
            if let Some(target) = target.filter(|_| linked) {
                self.reach_device(&mut shared, package, target, written, read, tally);
            }
            match target {
                Some(target) if target == package => tally.add(Signal::IoRequestsLocal, 1),
                Some(target) => {
                    tally.add(Signal::IoRequestsRemote, 1);
                    self.at(&mut shared, package, target, tally, |_, tally| tally.add(Signal::IoRequestsFromRemote, 1));
                }
                None => {
                    let outer = piece.physical >> bits;
                    self.count_memory_requests(package, outer, 1, tally);
                    let traffic = if stores { Traffic::Stream } else { Traffic::Read };
                    let home = self.home(outer);
                    self.at(&mut shared, package, home, tally, |memory, tally| self.moves(memory, outer, traffic, tally));
                    if linked {
                        let transaction = Transaction { source: package, target: home, written, read, owner: None };
                        self.transact(&mut shared, &transaction, tally);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_before_the_byte_behind_it() {
        let map = IoMap::default().with(IoRange { package: 1, first: 0x1000, bytes: 0x10 });
        assert_eq!([0xFFF, 0x1000, 0x100F, 0x1010].map(|physical| map.package(physical)), [None, Some(1), Some(1), None]);
    }

    #[test]
    fn a_ninth_range_has_no_room() {
        let map = (0..9).fold(IoMap::default(), |map, number| map.with(IoRange { package: 0, first: number << 12, bytes: 1 }));
        assert_eq!([0x7000, 0x8000].map(|physical| map.package(physical)), [Some(0), None]);
    }
}
