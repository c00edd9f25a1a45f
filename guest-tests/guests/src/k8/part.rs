//! What the guests of every x86 part must know of this one.

use iced_x86::code_asm::*;

use super::{CLOCKS, COUNTER, EN, INSTRUCTIONS, INT, OS, SELECT, USR};
use crate::runtime::{APIC_LVT_PERFORMANCE, LVT_NMI};
use crate::x86::Part;
use crate::x86::clock::Cycles;
use crate::x86::nmi_watchdog::{PERIOD, Watchdog};
use crate::x86::user_rdpmc::{Counter, Rdpmc, Running};

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
    watchdog: Watchdog {
        index: 0,
        status: 0,
        // In the order of the watchdogs of Linux and Xen: zero, select without EN, a negative 64-bit count, the vector table entry, EN.
        start: |k| {
            k.wrmsr(SELECT, 0)?;
            k.wrmsr(COUNTER, 0)?;
            k.wrmsr(SELECT, CYCLES | INT)?;
            k.wrmsr(COUNTER, PERIOD.wrapping_neg())?;
            k.apic(APIC_LVT_PERFORMANCE, LVT_NMI)?;
            k.wrmsr(SELECT, CYCLES | INT | EN)
        },
        stop: |k| k.wrmsr(SELECT, 0),
        reload: |k| {
            k.a.mov(rax, PERIOD.wrapping_neg() as i64)?;
            k.a.mov(rdx, rax)?;
            k.a.shr(rdx, 32)?;
            k.a.mov(ecx, COUNTER)?;
            k.a.wrmsr()
        },
        loads: 4,
        time: 1,
        clocks: CYCLES,
    },
    rdpmc: Rdpmc {
        counters: &[
            Counter { register: COUNTER, name: "counter 0", value: 0x1111_2222_3333 },
            Counter { register: COUNTER + 1, name: "counter 1", value: 0x8000_0000_0001 },
            Counter { register: COUNTER + 2, name: "counter 2", value: 0xFFFF_FFFF_FFFF },
            Counter { register: COUNTER + 3, name: "counter 3", value: 0 },
        ],
        indices: &[
            (0, Some(0)),
            (1, Some(1)),
            (2, Some(2)),
            (3, Some(3)),
            (0xFFFF_FFFF_0000_0001, Some(1)),
            (4, None),
            (5, None),
            (0x4000_0000, None),
            (0x8000_0000, None),
            (0xFFFF_FFFF, None),
            (0xC001_0004, None),
            (SELECT as u64, None),
        ],
        privileged: &[SELECT, SELECT + 1, SELECT + 2, SELECT + 3, COUNTER, COUNTER + 1, COUNTER + 2, COUNTER + 3],
        running: &[Running { index: 2, counter: 2, prefix: "" }],
        start: |k| PART.enable(k, 2, INSTRUCTIONS | USR),
        stop: |k| PART.disable(k, 2, 0),
    },
};
