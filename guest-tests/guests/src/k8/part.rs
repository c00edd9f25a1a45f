//! What the guests of every x86 part must know of this one.

use super::{CLOCKS, COUNTER, EN, INT, OS, SELECT, USR};
use crate::x86::Part;
use crate::x86::clock::Cycles;

/// The event of clocks, at every level.
const CYCLES: u64 = CLOCKS | USR | OS;

pub(super) static PART: Part = Part {
    select: SELECT,
    counter: COUNTER,
    width: 48,
    status: None,
    clock: Cycles {
        start: |k| {
            k.wrmsr(COUNTER + 1, 0)?;
            k.wrmsr(SELECT + 1, CYCLES | EN)
        },
        running: 1,
        stop: |k| k.wrmsr(SELECT + 1, CYCLES),
        arm: |k| k.wrmsr(SELECT, CYCLES | INT | EN),
        disarm: |k| k.wrmsr(SELECT, CYCLES | INT),
        absent: 4,
    },
};
