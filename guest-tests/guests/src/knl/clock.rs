//! `clock`: cycles, whatever a cycle of the engine is.

use super::{
    CLOCKS, COUNTER, EN, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_USR, GLOBAL_CONTROL, INT, OS, OVERFLOW_CONTROL, RDPMC_FIXED, SELECT, USR,
};
use crate::clock::{self, Part};
use crate::runtime::Built;
use vm_pmu_engines::x86::Image;

/// At every level.
const CYCLES: u64 = CLOCKS | USR | OS;
/// IA32_PMC0, and the fixed counters of core clocks and reference clocks.
const USED: u64 = 6 << 32 | 1;

pub(super) fn build() -> Built<Image> {
    clock::build(&Part {
        start: |k| {
            k.wrmsr(FIXED + 1, 0)?;
            k.wrmsr(FIXED_CONTROL, (FIXED_OS | FIXED_USR) << 4 | (FIXED_OS | FIXED_USR) << 8)?;
            k.wrmsr(GLOBAL_CONTROL, USED)
        },
        running: RDPMC_FIXED + 1,
        stop: |k| k.wrmsr(FIXED_CONTROL, 0),
        arm: |k| k.wrmsr(SELECT, CYCLES | INT | EN),
        disarm: |k| {
            k.wrmsr(SELECT, CYCLES | INT)?;
            k.wrmsr(OVERFLOW_CONTROL, 1)
        },
        sampling: 0,
        register: COUNTER,
        width: 40,
        absent: 2,
    })
}
