//! A handler of the performance monitor interrupt that does what Linux's does (`arch/powerpc/perf/core-book3s.c`), and a log of it.
//!
//! It reads SIER, SIAR, MMCR0 and all counters; every counter that is negative is written anew, with what is left of 0x80000000 by its
//! period or with 0 where it has none; one `mtspr` to MMCR0 then clears the alert, enables the next and starts the counters.

use vm_pmu::arch::power9::spr;

use super::counting::{COUNTERS, pmc};
use crate::power::{CPU, FRAME_ADDRESS, Kernel, own};
use vm_pmu_engines::power::assemble::{R1, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13};
use vm_pmu_engines::power::registers::{msr, vector};

/// In a CPU's own area: MMCR0 as the handler writes it.
const REARM: i64 = own(0);
/// In a CPU's own area: the entry of the log that is next.
const NEXT: i64 = own(7);
/// In a CPU's own area: how many interrupts there were.
pub(super) const TAKEN: i64 = own(8);

/// In a CPU's own area: the period of PMC`n`.
const fn period(n: u16) -> i64 {
    own(n as i64)
}

/// In a CPU's own area: how often PMC`n` was found negative.
pub(super) const fn overflows(n: u16) -> i64 {
    own(8 + n as i64)
}

/// Bytes of an entry of the log.
const ENTRY: u64 = 128;
/// Entries of each CPU.
const ENTRIES: u64 = 64;

/// In an entry: SIAR.
pub(super) const SIAR: i64 = 0;
/// In an entry: SIER.
pub(super) const SIER: i64 = 8;
/// In an entry: where the interrupted program continues.
pub(super) const GOES_ON: i64 = 16;
/// In an entry: MMCR0.
pub(super) const MMCR0: i64 = 24;
/// In an entry: the counters that were negative, bit `n` of the value (1 << n) for PMC`n`.
pub(super) const NEGATIVE: i64 = 32;

/// In an entry: PMC`n`.
pub(super) const fn counter(n: u16) -> i64 {
    32 + 8 * n as i64
}

/// The bit of PMC`n` in [`NEGATIVE`].
pub(super) const fn bit(n: u16) -> u64 {
    1 << n
}

/// The handler of a guest.
pub(super) struct Handler {
    log: u64,
    /// Instructions of the handler from the `mtspr` to MMCR0 to its return, both included.
    pub(super) tail: u64,
    /// Instructions from the vector to the read of PMC1, which is not one of them.
    before: u64,
}

impl Handler {
    /// Emits the handler, for `cpus` CPUs.
    pub(super) fn new(k: &mut Kernel, cpus: u64) -> Handler {
        let log = k.reserve(ENTRY * ENTRIES * cpus);
        let begin = k.a.address();
        k.handler(vector::PERFORMANCE_MONITOR);
        k.a.ld(R6, NEXT, R13);
        for (number, field) in [(spr::SIAR, SIAR), (spr::SIER, SIER), (spr::MMCR0, MMCR0)] {
            k.a.mfspr(R3, number);
            k.a.std(R3, field, R6);
        }
        k.a.ld(R3, FRAME_ADDRESS, R1);
        k.a.std(R3, GOES_ON, R6);
        // The branch at the vector leads here.
        let before = 1 + (k.a.address() - begin) / 4;
        for n in 1..=COUNTERS {
            k.a.mfspr(R3, pmc(n));
            k.a.std(R3, counter(n), R6);
        }
        k.a.load(R9, 0);
        for n in 1..=COUNTERS {
            let positive = k.a.label();
            k.a.ld(R3, counter(n), R6);
            k.a.srdi(R4, R3, 31);
            k.a.branch_if_zero(R4, positive);
            k.a.ori(R9, R9, bit(n) as u32);
            k.a.ld(R7, overflows(n), R13);
            k.a.addi(R7, R7, 1);
            k.a.std(R7, overflows(n), R13);
            Self::reload(k, n);
            k.a.here(positive);
        }
        k.a.std(R9, NEGATIVE, R6);
        k.a.ld(R7, TAKEN, R13);
        k.a.addi(R7, R7, 1);
        k.a.std(R7, TAKEN, R13);
        k.a.addi(R6, R6, ENTRY as i64);
        k.a.std(R6, NEXT, R13);
        k.a.ld(R3, REARM, R13);
        let rearm = k.a.address();
        k.a.mtspr(spr::MMCR0, R3);
        k.end_handler();
        Handler { log, tail: (k.a.address() - rearm) / 4, before }
    }

    /// Reloads PMC`n` for its period. Changes GPR 8, 10 to 12.
    fn reload(k: &mut Kernel, n: u16) {
        let write = k.a.label();
        k.a.load(R8, 0);
        k.a.ld(R10, period(n), R13);
        k.a.branch_if_zero(R10, write);
        k.a.load(R8, 1);
        k.a.sldi(R8, R8, 31);
        k.a.subf(R8, R10, R8);
        k.a.here(write);
        k.a.mtspr(pmc(n), R8);
    }

    /// Instructions from the vector to the read of PMC`n`, which is not one of them.
    pub(super) fn instructions_before(&self, n: u16) -> u64 {
        // Each is read and stored.
        self.before + 2 * (u64::from(n) - 1)
    }

    /// Begins anew: the log is empty, the counters start with `periods` (0 where PMC1 to PMC6 have none), the handler will write
    /// `rearm` to MMCR0. Changes GPR 8, 10 to 12.
    pub(super) fn begin(&self, k: &mut Kernel, rearm: u64, periods: [u64; 6]) {
        for (n, left) in (1..).zip(periods) {
            k.a.load(R12, left);
            k.a.std(R12, period(n), R13);
            Self::reload(k, n);
            k.a.load(R12, 0);
            k.a.std(R12, overflows(n), R13);
        }
        k.a.std(R12, TAKEN, R13);
        k.a.load(R12, rearm);
        k.a.std(R12, REARM, R13);
        // The log of this CPU.
        k.a.ld(R11, CPU, R13);
        k.a.mulli(R11, R11, (ENTRY * ENTRIES) as i64);
        k.a.load(R12, self.log);
        k.a.add(R12, R12, R11);
        k.a.std(R12, NEXT, R13);
    }

    /// Loads a field of entry `index` of CPU 0 to GPR 5. Changes GPR 12.
    pub(super) fn entry(&self, k: &mut Kernel, index: u64, field: i64) {
        k.a.load(R12, self.log + ENTRY * index);
        k.a.ld(R5, field, R12);
    }

    /// Checks a field of entry `index` of CPU 0.
    pub(super) fn check(&self, k: &mut Kernel, label: &str, index: u64, field: i64, right: u64) {
        self.entry(k, index, field);
        k.check_is(label, R5, right);
    }

    /// Checks how many interrupts this CPU took.
    pub(super) fn check_taken(k: &mut Kernel, label: &str, right: u64) {
        k.a.ld(R5, TAKEN, R13);
        k.check_is(label, R5, right);
    }

    /// Checks how often this CPU found PMC`n` negative.
    pub(super) fn check_overflows(k: &mut Kernel, label: &str, n: u16, right: u64) {
        k.a.ld(R5, overflows(n), R13);
        k.check_is(label, R5, right);
    }
}

/// External interrupts on or off, by MSR[EE] alone. Changes GPR 12.
pub(super) fn external(k: &mut Kernel, on: bool) {
    k.a.load(R12, if on { msr::EE | msr::RI } else { msr::RI });
    k.a.mtmsrd(R12, true);
}
