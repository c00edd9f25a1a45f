//! What the guests of every x86 part must know of this one.

use iced_x86::code_asm::*;

use super::{
    ALL, CLOCKS, COUNTER, EN, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_PMI, FIXED_USR, GLOBAL_CONTROL, GLOBAL_STATUS, INSTRUCTIONS, INT, OS,
    OVERFLOW_CONTROL, RDPMC_FIXED, SELECT, USR, before_overflow,
};
use crate::runtime::{APIC_LVT_PERFORMANCE, LVT_NMI};
use crate::x86::clock::Cycles;
use crate::x86::nmi_watchdog::{PERIOD, Watchdog};
use crate::x86::user_rdpmc::{Counter, Rdpmc, Running};
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
    rdpmc: Rdpmc {
        counters: &[
            Counter { register: COUNTER, name: "4C1h", value: 0x11_2222_3333 },
            Counter { register: COUNTER + 1, name: "4C2h", value: 0x80_0000_0001 },
            Counter { register: FIXED, name: "309h", value: 0xFF_FFFF_FFFF },
            Counter { register: FIXED + 1, name: "30Ah", value: 0 },
            Counter { register: FIXED + 2, name: "30Bh", value: 0x7F_8000_0000 },
        ],
        // Bit 30 selects the fixed counters.
        indices: &[
            (0, Some(0)),
            (1, Some(1)),
            (0x4000_0000, Some(2)),
            (0x4000_0001, Some(3)),
            (0x4000_0002, Some(4)),
            (0xFFFF_FFFF_0000_0001, Some(1)),
            (2, None),
            (3, None),
            (0x2000_0000, None),
            (0x4000_0003, None),
            // "Fast" reads of bits 31:0 are another family's.
            (0x8000_0000, None),
            (0xC000_0000, None),
            (0xFFFF_FFFF, None),
            (COUNTER as u64, None),
        ],
        privileged: &[COUNTER, COUNTER + 1, FIXED, FIXED + 1, FIXED + 2],
        running: &[
            Running { index: 1, counter: 1, prefix: "IA32_PMC1: " },
            Running { index: RDPMC_FIXED, counter: 2, prefix: "IA32_FIXED_CTR0: " },
        ],
        start: |k| {
            k.wrmsr(GLOBAL_CONTROL, ALL)?;
            k.wrmsr(FIXED_CONTROL, FIXED_USR)?;
            PART.enable(k, 1, INSTRUCTIONS | USR)
        },
        stop: |k| {
            PART.disable(k, 1, 0)?;
            k.wrmsr(FIXED_CONTROL, 0)?;
            k.rdmsr(SELECT + 1)?;
            k.check_is("IA32_PERFEVTSEL1 afterwards", rax, 0)
        },
    },
};
