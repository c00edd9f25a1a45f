//! What guests share: stretches of code that are counted to the instruction, and states to run them in.

use vm_pmu::arch::power9::{Mmcr0, spr};

use crate::power::{Kernel, USER_MSR, USER_PC};
use vm_pmu_engines::power::assemble::{Gpr, R0, R3, R4, R5, R12, R13, R14, R15};
use vm_pmu_engines::power::registers::{msr, spr as cpu};

/// How many counters there are.
pub(super) const COUNTERS: u16 = 6;
/// Holds the MMCR0 that starts the counters, in [`counted`].
pub(super) const GO: Gpr = R14;
/// Holds MMCR0 that freezes them, in [`counted`].
pub(super) const HALT: Gpr = R15;

/// MMCR1 with PM_INST_CMPL on all four programmable counters (0x10002, 0x20002, 0x30002, 0x40002).
pub(super) const INSTRUCTIONS: u64 = 0x0202_0202;

/// The number of PMC`n`, 1 to 6.
pub(super) const fn pmc(n: u16) -> u16 {
    spr::PMC1 + n - 1
}

/// MMCR0 with the bits that `set` sets.
pub(super) fn mmcr0(set: impl FnOnce(&mut Mmcr0)) -> u64 {
    let mut value = Mmcr0::default();
    set(&mut value);
    value.bits()
}

/// Writes 0 to all counters.
pub(super) fn clear_counters(k: &mut Kernel) {
    k.a.load(R12, 0);
    for n in 1..=COUNTERS {
        k.a.mtspr(pmc(n), R12);
    }
}

/// Counts `body` from zero, with MMCR0 `go`: the `mtspr` that starts the counters and `body`, and no more.
pub(super) fn counted(k: &mut Kernel, go: u64, body: impl FnOnce(&mut Kernel)) {
    k.a.load(GO, go);
    k.a.load(HALT, go | super::FC);
    clear_counters(k);
    k.a.mtspr(spr::MMCR0, GO);
    body(k);
    k.a.mtspr(spr::MMCR0, HALT);
}

/// Checks that PMC`n` holds `right`.
pub(super) fn check_counter(k: &mut Kernel, label: &str, n: u16, right: u64) {
    k.a.mfspr(R3, pmc(n));
    k.check_is(label, R3, right);
}

/// Checks all six counters, each below 256, as one number: PMC1 is its lowest byte, PMC6 the sixth.
pub(super) fn check_counters(k: &mut Kernel, label: &str, right: [u64; 6]) {
    k.a.load(R5, 0);
    for n in 1..=COUNTERS {
        k.a.mfspr(R4, pmc(n));
        // Keeps the bits above a byte, so that a count that is too large is noticed.
        k.a.sldi(R4, R4, 8 * (u32::from(n) - 1));
        k.a.add(R5, R5, R4);
    }
    let packed = right.iter().rev().fold(0, |packed, count| packed << 8 | count);
    k.check_is(label, R5, packed);
}

/// The run latch. Changes GPR 12.
pub(super) fn run_latch(k: &mut Kernel, on: bool) {
    k.write(cpu::CTRL, u64::from(on));
}

/// No-operations.
pub(super) fn nops(k: &mut Kernel, count: u64) {
    for _ in 0..count {
        k.a.nop();
    }
}

/// Runs `body`, which must run to its end, in the state of MSR[HV, PR, TA, PMM] in `state`; from hypervisor state and back to it by `sc 1`.
/// GPR 1 is another stack there if `body` is in problem state.
pub(super) fn in_state(k: &mut Kernel, state: u64, body: impl FnOnce(&mut Kernel)) {
    let (there, back) = (k.a.label(), k.a.label());
    k.a.load_address(R3, there);
    k.a.std(R3, USER_PC, R13);
    k.a.mfmsr(R3);
    k.a.load(R4, msr::HV | msr::PR | msr::TA | msr::PMM);
    k.a.andc(R3, R3, R4);
    k.a.load(R4, state);
    k.a.or(R3, R3, R4);
    k.a.std(R3, USER_MSR, R13);
    k.resume_user();
    // An interrupt leaves MSR[TA] as it is.
    k.clear_state(msr::TA);
    k.a.b(back);
    k.a.here(there);
    body(k);
    k.a.hypercall();
    k.a.here(back);
}

/// Counts CTR down from `count` over `body`: 2 instructions, and in each turn those of `body` and one. Changes GPR 12.
pub(super) fn repeat(k: &mut Kernel, count: u64, body: impl FnOnce(&mut Kernel)) {
    k.a.load(R12, count);
    k.a.mtctr(R12);
    let again = k.a.mark();
    body(k);
    k.a.bdnz(again);
}

/// The register that index forms take as the number 0.
pub(super) const ZERO: Gpr = R0;
