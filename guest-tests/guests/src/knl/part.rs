//! What the guests of every x86 part must know of this one.

use super::{
    ALL, CLOCKS, COUNTER, EN, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_PMI, FIXED_USR, GLOBAL_CONTROL, GLOBAL_STATUS, INT, OS,
    OVERFLOW_CONTROL, RDPMC_FIXED, SELECT, USR, before_overflow,
};
use crate::runtime::{APIC_LVT_PERFORMANCE, LVT_NMI};
use crate::x86::clock::Cycles;
use crate::x86::nmi_watchdog::{PERIOD, Watchdog};
use crate::x86::{Part, Status};

/// The event of clocks, at every level.
const CYCLES: u64 = CLOCKS | USR | OS;

pub(super) static PART: Part = Part {
    select: SELECT,
    counter: COUNTER,
    width: 40,
    status: Some(Status { shown: GLOBAL_STATUS, clear: OVERFLOW_CONTROL }),
    clock: Cycles {
        start: |k| {
            k.wrmsr(FIXED + 1, 0)?;
            k.wrmsr(FIXED_CONTROL, (FIXED_OS | FIXED_USR) << 4 | (FIXED_OS | FIXED_USR) << 8)?;
            // IA32_PMC0, and the fixed counters of core clocks and reference clocks.
            k.wrmsr(GLOBAL_CONTROL, 6 << 32 | 1)
        },
        running: RDPMC_FIXED + 1,
        stop: |k| k.wrmsr(FIXED_CONTROL, 0),
        arm: |k| k.wrmsr(SELECT, CYCLES | INT | EN),
        disarm: |k| {
            k.wrmsr(SELECT, CYCLES | INT)?;
            k.wrmsr(OVERFLOW_CONTROL, 1)
        },
        absent: 2,
    },
    watchdog: Watchdog {
        // IA32_FIXED_CTR1.
        index: RDPMC_FIXED + 1,
        status: 1 << 33,
        start: |k| {
            k.wrmsr(FIXED + 1, before_overflow(PERIOD))?;
            k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
            k.wrmsr(FIXED_CONTROL, (FIXED_OS | FIXED_USR | FIXED_PMI) << 4)?;
            k.wrmsr(GLOBAL_CONTROL, ALL)
        },
        stop: |k| k.wrmsr(FIXED_CONTROL, 0),
        reload: |k| k.wrmsr(FIXED + 1, before_overflow(PERIOD)),
        loads: 3,
        time: 0,
        clocks: CYCLES,
    },
};
