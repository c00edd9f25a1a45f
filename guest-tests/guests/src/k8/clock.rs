//! `clock`: cycles, whatever a cycle of the engine is.

use super::{CLOCKS, COUNTER, EN, INT, OS, SELECT, USR};
use crate::clock::{self, Part};
use crate::runtime::Built;
use vm_pmu_engines::x86::Image;

/// At every level.
const CYCLES: u64 = CLOCKS | USR | OS;

pub(super) fn build() -> Built<Image> {
    clock::build(&Part {
        start: |k| {
            k.wrmsr(COUNTER + 1, 0)?;
            k.wrmsr(SELECT + 1, CYCLES | EN)
        },
        running: 1,
        stop: |k| k.wrmsr(SELECT + 1, CYCLES),
        arm: |k| k.wrmsr(SELECT, CYCLES | INT | EN),
        disarm: |k| k.wrmsr(SELECT, CYCLES | INT),
        sampling: 0,
        register: COUNTER,
        width: 48,
        absent: 4,
    })
}
