//! Cells of the nest that are watched while something is done: by how much each of them grows.

use super::NEST_UNIT;
use super::posted::{Waiting, load_double};
use super::tree::Walker;
use crate::power::Kernel;
use vm_pmu_engines::power::assemble::{Gpr, Label, R3, R4, R5, R6, R7, R15, R16, R17, R18};

/// Cells, by their numbers in the order in which they were added.
pub(super) struct Cells {
    /// How many there are.
    number: u64,
    added: u64,
    addresses: u64,
    before: u64,
    after: u64,
    grown: u64,
    measure: Label,
    snapshot: Label,
}

impl Cells {
    /// `number` cells, posted by the groups that begin so many bytes into the region at GPR 15, each of which has to be posted so often
    /// that all of its cells are.
    pub(super) fn new(k: &mut Kernel, number: u64, groups: &[(u64, u64)], waiting: &Waiting) -> Cells {
        let [addresses, before, after, grown] = [(); 4].map(|()| k.reserve(8 * number));
        let (measure, snapshot) = (k.a.label(), k.a.label());
        let cells = Cells { number, added: 0, addresses, before, after, grown, measure, snapshot };
        cells.snapshot_block(k);
        cells.measure_block(k, groups, waiting);
        cells
    }

    /// Stores what the cells hold to the array at GPR 3.
    fn snapshot_block(&self, k: &mut Kernel) {
        k.a.routine("snapshot");
        k.a.here(self.snapshot);
        k.a.load(R4, self.addresses);
        k.a.load(R5, self.number);
        k.a.mtctr(R5);
        let next = k.a.mark();
        k.a.ld(R6, 0, R4);
        load_double(k, R6, 0, R6);
        k.a.std(R6, 0, R3);
        k.a.addi(R3, R3, 8);
        k.a.addi(R4, R4, 8);
        k.a.bdnz(next);
        k.a.blr();
    }

    /// Calls the code at GPR 17 with the value of GPR 16 in GPR 3, and finds by how much each cell grows by that.
    fn measure_block(&self, k: &mut Kernel, groups: &[(u64, u64)], waiting: &Waiting) {
        k.a.routine("measure");
        k.a.here(self.measure);
        k.a.mflr(R18);
        for array in [self.before, self.after] {
            if array == self.after {
                k.a.mr(R3, R16);
                k.a.mtctr(R17);
                k.a.bctrl();
            }
            // Everything up to now is posted.
            for (first, times) in groups {
                k.a.addi(R3, R15, *first as i64);
                waiting.updates(k, *times);
            }
            k.a.load(R3, array);
            k.a.bl(self.snapshot);
        }
        for (register, array) in [(R3, self.before), (R4, self.after), (R5, self.grown)] {
            k.a.load(register, array);
        }
        k.a.load(R6, self.number);
        k.a.mtctr(R6);
        let next = k.a.mark();
        k.a.ld(R6, 0, R3);
        k.a.ld(R7, 0, R4);
        k.a.subf(R6, R6, R7);
        k.a.std(R6, 0, R5);
        for register in [R3, R4, R5] {
            k.a.addi(register, register, 8);
        }
        k.a.bdnz(next);
        k.a.mtlr(R18);
        k.a.blr();
    }

    /// The next cell is that of event `name` of the chip of index `chip`, whose scale is checked. Its unit has events that begin with
    /// `prefix`.
    pub(super) fn add(&mut self, k: &mut Kernel, tree: &Walker, (prefix, name): (&str, &str), chip: u64, scale: u64) {
        tree.unit(k, NEST_UNIT, prefix);
        tree.event(k, name, chip);
        k.a.load(R5, self.addresses);
        k.a.std(R3, 8 * self.added as i64, R5);
        k.check_is(&format!("the scale of {name}"), R4, scale);
        self.added += 1;
    }

    /// Measures what the code at `what` does with `argument` in GPR 3.
    pub(super) fn measure(&self, k: &mut Kernel, what: Label, argument: u64) {
        k.a.load(R16, argument);
        k.a.load_address(R17, what);
        k.a.bl(self.measure);
    }

    /// Checks by how much a cell has grown.
    pub(super) fn check(&self, k: &mut Kernel, label: &str, cell: u64, right: u64) {
        k.a.load(R5, self.grown);
        k.a.ld(R4, 8 * cell as i64, R5);
        k.check_is(label, R4, right);
    }

    /// Keeps what the cells hold, as what they held before.
    pub(super) fn keep_before(&self, k: &mut Kernel) {
        k.a.load(R3, self.before);
        k.a.bl(self.snapshot);
    }

    /// Keeps what the cells hold, as what they held after.
    pub(super) fn keep_after(&self, k: &mut Kernel) {
        k.a.load(R3, self.after);
        k.a.bl(self.snapshot);
    }

    /// What a cell held before goes to one register, and what it held after to another.
    pub(super) fn kept(&self, k: &mut Kernel, cell: u64, [before, after]: [Gpr; 2]) {
        for (register, array) in [(before, self.before), (after, self.after)] {
            k.a.load(R5, array);
            k.a.ld(register, 8 * cell as i64, R5);
        }
    }
}
