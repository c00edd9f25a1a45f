//! What is posted: big-endian doublewords, whatever the guest's byte order, and the counts of updates around each group.

use crate::power::Kernel;
use vm_pmu_engines::power::assemble::{CR0, Gpr, Label, R0, R3, R4, R5, R6, R7, R12};

/// Bytes from the count of updates at the head of a group to that at its tail.
pub(super) const TAIL: i64 = 0x108;
/// Bytes from a group's first cell to the next one's.
pub(super) const GROUP: u64 = 0x110;
/// Turns of a loop after which waiting is given up.
const PATIENCE: u64 = 1 << 16;

/// Loads a big-endian word. Changes GPR 12.
pub(super) fn load_word(k: &mut Kernel, to: Gpr, offset: i64, at: Gpr) {
    if k.a.little_endian() {
        k.a.addi(R12, at, offset);
        k.a.lwbrx(to, R0, R12);
    } else {
        k.a.lwz(to, offset, at);
    }
}

/// Loads a big-endian doubleword. Changes GPR 12.
pub(super) fn load_double(k: &mut Kernel, to: Gpr, offset: i64, at: Gpr) {
    if k.a.little_endian() {
        k.a.addi(R12, at, offset);
        k.a.ldbrx(to, R0, R12);
    } else {
        k.a.ld(to, offset, at);
    }
}

/// Stores a big-endian doubleword. Changes GPR 12.
pub(super) fn store_double(k: &mut Kernel, from: Gpr, offset: i64, at: Gpr) {
    if k.a.little_endian() {
        k.a.addi(R12, at, offset);
        k.a.stdbrx(from, R0, R12);
    } else {
        k.a.std(from, offset, at);
    }
}

/// Code that waits.
pub(super) struct Waiting {
    updates: Label,
    value: Label,
}

impl Waiting {
    pub(super) fn new(k: &mut Kernel) -> Waiting {
        Waiting { updates: updates(k), value: value(k) }
    }

    /// Waits until the group whose first cell is at GPR 3 has been posted `times` times from now on, and is whole. GPR 3 becomes how often
    /// it has been posted in all, or 0 if that takes too long.
    pub(super) fn updates(&self, k: &mut Kernel, times: u64) {
        k.a.load(R4, times);
        k.a.bl(self.updates);
    }

    /// Waits until the cell at GPR 3 holds `value`, or it takes too long. GPR 3 becomes what it holds.
    pub(super) fn value(&self, k: &mut Kernel, value: u64) {
        k.a.load(R4, value);
        k.a.bl(self.value);
    }
}

fn updates(k: &mut Kernel) -> Label {
    k.a.routine("updates");
    k.a.routine("value");
    let entry = k.a.mark();
    let end = k.a.label();
    load_double(k, R5, 0, R3);
    k.a.add(R4, R4, R5);
    k.a.load(R7, PATIENCE);
    k.a.mtctr(R7);
    let (again, less) = (k.a.mark(), k.a.label());
    load_double(k, R5, 0, R3);
    k.a.cmpld(CR0, R5, R4);
    k.a.blt(less);
    load_double(k, R6, TAIL, R3);
    k.a.cmpld(CR0, R5, R6);
    k.a.beq(end);
    k.a.here(less);
    k.a.bdnz(again);
    k.a.load(R5, 0);
    k.a.here(end);
    k.a.mr(R3, R5);
    k.a.blr();
    entry
}

fn value(k: &mut Kernel) -> Label {
    let entry = k.a.mark();
    let end = k.a.label();
    k.a.load(R7, PATIENCE);
    k.a.mtctr(R7);
    let again = k.a.mark();
    load_double(k, R5, 0, R3);
    k.a.cmpld(CR0, R5, R4);
    k.a.beq(end);
    k.a.bdnz(again);
    k.a.here(end);
    k.a.mr(R3, R5);
    k.a.blr();
    entry
}
