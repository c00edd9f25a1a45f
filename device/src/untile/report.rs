//! What the fabric reports to the boxes.

use vm_pmu_arch::knl::untile::UnitId;

use super::{Boxes, Tiles};

/// Takes what the fabric counts.
pub(super) trait Report {
    /// Whether any box may count an event by this select.
    fn demands(&self, select: u8) -> bool;

    /// Counts `amount` events, or clocks, by `select` and `umask` in a box.
    fn count(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64);
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

    fn count(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64) {
        if amount != 0 && self.demands(select) {
            self.tiles |= self.boxes.inject(unit, select, umask, 1, amount).1;
        }
    }
}
