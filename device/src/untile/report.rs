//! What the fabric reports to the boxes.

use vm_pmu_arch::knl::untile::UnitId;

use super::{Boxes, Tiles};

/// Takes what the fabric counts.
pub(super) trait Report {
    /// Whether any box may count an event by this select.
    fn demands(&self, select: u8) -> bool;

    /// Counts `amount` events, or clocks, by `select` and `umask` in a box, for a caller that knows that the select is demanded.
    fn add(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64);

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
    /// The tiles to interrupt.
    pub(super) tiles: Tiles,
}

impl Report for ToBoxes<'_> {
    fn demands(&self, select: u8) -> bool {
        self.boxes.demands(select)
    }

    fn add(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64) {
        self.tiles |= self.boxes.count(unit, select, umask, amount);
    }
}
