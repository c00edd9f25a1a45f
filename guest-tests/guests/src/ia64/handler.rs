//! A handler of the monitors' interrupt that keeps what it saw.

use super::{FRAME_IIP, FRAME_IPSR, Kernel, own};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::vector;

/// The vector that Linux gives the monitors.
pub(super) const VECTOR: u8 = 0xEE;
/// The bit of [`VECTOR`] in IRR3.
pub(super) const REQUESTED: u64 = 1 << (VECTOR - 192);

/// In an entry: PMC0.
pub(super) const PMC0: i64 = 0;
/// In an entry: the bundle where the interrupted code continues.
pub(super) const IIP: i64 = 8;
/// In an entry: PSR of the interrupted code.
pub(super) const IPSR: i64 = 16;
/// Counters that an entry has.
const KEPT: std::ops::RangeInclusive<u8> = 4..=7;
/// Bytes of an entry.
const ENTRY: i64 = 64;

/// In the own area: how many of the monitors' interrupts there were.
pub(super) const TAKEN: i64 = own(0);
const NEXT: i64 = own(1);
/// In the own area: how many other interrupts there were.
pub(super) const OTHERS: i64 = own(2);

/// In an entry: PMD of counter `number`, 4 to 7.
#[must_use]
pub(super) const fn counter(number: u8) -> i64 {
    24 + 8 * (number as i64 - 4)
}

/// In the own area: what PMD of counter `number`, 4 to 7, becomes when it overflowed; 0 leaves it as it is.
#[must_use]
pub(super) const fn reload(number: u8) -> i64 {
    own(number as i64)
}

/// The handler: every interrupt of [`VECTOR`] makes an entry. Then PMC0 becomes 0.
pub(super) struct Handler {
    entries: u64,
}

impl Handler {
    /// Adds it; before [`Kernel::main`]. `entries` are as many as may come between two calls of [`Handler::begin`].
    pub(super) fn new(k: &mut Kernel, entries: u64) -> Handler {
        let handler = Handler { entries: k.reserve(entries * ENTRY as u64) };
        let (known, over) = (k.a.label(), k.a.label());
        k.handler(vector::EXTERNAL_INTERRUPT);
        k.accept_interrupt(R18);
        k.a.load(R19, VECTOR.into());
        k.a.put(cmp_eq(P6, P7, R18, R19));
        k.a.put(br_cond(known).when(P6));
        k.count_own(OTHERS);
        k.a.put(br_cond(over));
        k.a.here(known);
        k.count_own(TAKEN);
        k.load_own(R21, NEXT);
        k.read_pmc(R22, 0);
        k.a.put(st8(R21, R22).post(8));
        for cell in [FRAME_IIP, FRAME_IPSR] {
            k.load_own(R23, cell);
            k.a.put(st8(R21, R23).post(8));
        }
        for number in KEPT {
            k.read_pmd(R23, number);
            k.a.put(st8(R21, R23).post(8));
        }
        k.a.put(adds(R21, 8, R21));
        k.store_own(NEXT, R21);
        for number in KEPT {
            let next = k.a.label();
            k.load_own(R23, reload(number));
            k.a.put(cmp_eq(P6, P7, R23, R0));
            k.a.put(br_cond(next).when(P6));
            k.a.put(tbit_nz(P6, P7, R22, number.into()));
            k.a.put(br_cond(next).when(P7));
            k.a.put(mov_imm(R2, number.into()));
            k.a.put(mov_to_pmd(R2, R23));
            k.a.here(next);
        }
        k.write_pmc(0, 0);
        k.a.put(srlz_d());
        k.a.here(over);
        k.end_interrupt();
        k.end_handler();
        handler
    }

    /// Forgets all entries, and what counters become.
    pub(super) fn begin(&self, k: &mut Kernel) {
        for cell in [TAKEN, OTHERS].into_iter().chain(KEPT.map(reload)) {
            k.store_own(cell, R0);
        }
        k.a.load(R3, self.entries);
        k.store_own(NEXT, R3);
    }

    /// A cell of entry `index` into r9.
    pub(super) fn load(&self, k: &mut Kernel, index: u64, cell: i64) {
        k.a.load(R2, self.entries.wrapping_add(index * ENTRY as u64).wrapping_add_signed(cell));
        k.a.put(ld8(R9, R2));
    }

    /// Checks a cell of entry `index`.
    pub(super) fn check(&self, k: &mut Kernel, label: &str, index: u64, cell: i64, right: u64) {
        self.load(k, index, cell);
        k.check_is(label, R9, right);
    }

    /// Checks how many of the monitors' interrupts there were since [`Handler::begin`], and that there were no others.
    pub(super) fn check_taken(k: &mut Kernel, label: &str, right: u64) {
        k.load_own(R9, TAKEN);
        k.check_is(label, R9, right);
        k.load_own(R9, OTHERS);
        k.check_is(&format!("{label}: others"), R9, 0);
    }
}

impl Kernel {
    /// Adds 1 to a cell of the own area. Changes r2 and r3.
    pub(super) fn count_own(&mut self, cell: i64) {
        self.load_own(R3, cell);
        self.a.put(adds(R3, 1, R3));
        self.store_own(cell, R3);
    }
}
