//! What the fabric reports to the boxes.

use vm_pmu_arch::knl::untile::UnitId;

use super::{Boxes, Tiles};

/// Takes what the fabric counts.
pub(super) trait Report {
    /// Whether any box may count an event by this select.
    fn demands(&self, select: u8) -> bool;

    /// The same for all selects from 80h to BFh, one bit each.
    fn of_mesh(&self) -> u64;

    /// Counts `amount` events, or clocks, by `select` and `umask` in a box, for a caller that knows that the select is demanded.
    fn add(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64);

    /// The same in each of several boxes.
    fn add_to_each(&mut self, units: impl Iterator<Item = UnitId>, select: u8, umask: u8, amount: u64) {
        units.for_each(|unit| self.add(unit, select, umask, amount));
    }

    /// The same for any select.
    fn count(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64) {
        if amount != 0 && self.demands(select) {
            self.add(unit, select, umask, amount);
        }
    }
}

/// Counts in the boxes of a machine.
#[derive(Debug)]
pub(super) struct ToBoxes<'a> {
    pub(super) boxes: &'a Boxes,
    /// What is demanded of the mesh.
    of_mesh: u64,
    /// The tiles to interrupt.
    pub(super) tiles: Tiles,
}

impl<'a> ToBoxes<'a> {
    pub(super) fn new(boxes: &'a Boxes) -> ToBoxes<'a> {
        ToBoxes { boxes, of_mesh: boxes.demands_of_mesh(), tiles: 0 }
    }
}

impl Report for ToBoxes<'_> {
    fn demands(&self, select: u8) -> bool {
        self.boxes.demands(select)
    }

    fn of_mesh(&self) -> u64 {
        self.of_mesh
    }

    #[inline(never)]
    fn add(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64) {
        self.tiles |= self.boxes.count(unit, select, umask, amount);
    }

    fn add_to_each(&mut self, units: impl Iterator<Item = UnitId>, select: u8, umask: u8, amount: u64) {
        for unit in units {
            self.tiles |= self.boxes.count(unit, select, umask, amount);
        }
    }
}
