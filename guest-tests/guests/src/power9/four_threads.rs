//! `four-threads`: the four threads of a core, each with its own counters.

use vm_pmu::arch::power9::{Mmcrc, spr};

use super::FC;
use super::counting::{INSTRUCTIONS, check_counter, counted, in_state, mmcr0, nops, pmc, run_latch};
use super::handler::{Handler, TAKEN, overflows};
use crate::power::{CPU, Kernel};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, R3, R5, R13, R16, R17, R18, R19};
use vm_pmu_engines::power::registers::{msr, spr as cpu};

const THREADS: u64 = 4;

/// All four meet.
fn meet(k: &mut Kernel) {
    let counter = k.reserve(8);
    k.barrier(counter, THREADS as u32);
}

/// Runs what `body` emits on one thread alone.
fn on_thread(k: &mut Kernel, thread: u64, body: impl FnOnce(&mut Kernel)) {
    let others = k.a.label();
    k.a.ld(R17, CPU, R13);
    k.a.cmpdi(CR0, R17, thread as i64);
    k.a.bne(others);
    body(k);
    k.a.here(others);
}

/// Each counts a loop of as many turns as its number says.
fn own_counts(k: &mut Kernel) {
    meet(k);
    // 5 turns and one more for each thread's number.
    k.a.ld(R17, CPU, R13);
    k.a.addi(R16, R17, 5);
    counted(k, 0, |k| {
        k.a.mtctr(R16);
        let again = k.a.mark();
        k.a.nop();
        k.a.bdnz(again);
    });
    // The mtspr, the mtctr, two each turn.
    k.a.sldi(R18, R16, 1);
    k.a.addi(R18, R18, 2);
    for n in [1, 4, 5, 6] {
        k.a.mfspr(R3, pmc(n));
        k.check_same(&format!("own counts: PMC{n}"), R3, R18);
    }
}

/// Each takes as many interrupts as it has periods in problem state.
fn own_alerts(k: &mut Kernel, handler: &Handler) {
    const PERIOD: u64 = 50;
    let go = mmcr0(|m| {
        m.set_pmae(true);
        m.set_fcece(true);
        m.set_pmc1ce(true);
        m.set_pmcjce(true);
        m.set_fcs(true);
        m.set_fch(true);
    });
    meet(k);
    handler.begin(k, go, [PERIOD, 0, 0, 0, 0, 0]);
    // 100 turns and 25 more for each thread's number.
    k.a.ld(R17, CPU, R13);
    k.a.mulli(R16, R17, 25);
    k.a.addi(R16, R16, 100);
    k.write(spr::MMCR0, go);
    in_state(k, msr::PR, |k| {
        k.a.mtctr(R16);
        let again = k.a.mark();
        k.a.nop();
        k.a.bdnz(again);
    });
    k.write(spr::MMCR0, FC);
    // The mtctr, two each turn and the system call: 202, 252, 302 and 352 have 4, 5, 6 and 7 periods.
    k.a.ld(R17, CPU, R13);
    k.a.addi(R19, R17, 4);
    k.a.ld(R5, TAKEN, R13);
    k.check_same("own alerts: interrupts", R5, R19);
    k.a.ld(R5, overflows(1), R13);
    k.check_same("own alerts: PMC1 negative", R5, R19);
    k.a.mulli(R18, R17, 50);
    k.a.addi(R18, R18, 202);
    k.a.mfspr(R3, pmc(2));
    k.check_same("own alerts: PMC2", R3, R18);
}

/// MMCRC, which is one register of the core, freezes the threads that it names and no others.
fn frozen_by_core(k: &mut Kernel) {
    for named in [0b0000u64, 0b0001, 0b0010, 0b0100, 0b1000, 0b1010, 0b1111] {
        let mut mmcrc = Mmcrc::default();
        mmcrc.set_glob_frz_pmc_0(named & 1 != 0);
        mmcrc.set_glob_frz_pmc_1(named & 2 != 0);
        mmcrc.set_glob_frz_pmc_2(named & 4 != 0);
        mmcrc.set_glob_frz_pmc_3(named & 8 != 0);
        // Written by another thread each time.
        on_thread(k, named % THREADS, |k| k.write(spr::MMCRC, mmcrc.bits()));
        meet(k);
        counted(k, 0, |k| nops(k, 9));
        for thread in 0..THREADS {
            on_thread(k, thread, |k| {
                let right = if named >> thread & 1 == 0 { 10 } else { 0 };
                for n in [1, 6] {
                    check_counter(k, &format!("MMCRC names {named:04b}: PMC{n} of thread {thread}"), n, right);
                }
                k.a.mfspr(R3, spr::MMCRC);
                k.check_is(&format!("MMCRC names {named:04b}: read by thread {thread}"), R3, mmcrc.bits());
            });
        }
        meet(k);
    }
    on_thread(k, 0, |k| k.write(spr::MMCRC, 0));
    meet(k);
}

/// A freeze of another thread comes while a thread counts: it stops there.
fn frozen_meanwhile(k: &mut Kernel) {
    let mut mmcrc = Mmcrc::default();
    mmcrc.set_glob_frz_pmc_3(true);
    on_thread(k, 3, |k| k.write(spr::MMCR0, 0));
    meet(k);
    on_thread(k, 1, |k| k.write(spr::MMCRC, mmcrc.bits()));
    meet(k);
    on_thread(k, 3, |k| {
        k.a.mfspr(R18, pmc(1));
        nops(k, 50);
        k.a.mfspr(R3, pmc(1));
        k.check_same("frozen by another thread: stands still", R3, R18);
        // The freeze of the core is not in MMCR0.
        k.a.mfspr(R3, spr::MMCR0);
        k.check_is("frozen by another thread: MMCR0", R3, 0);
    });
    meet(k);
    on_thread(k, 1, |k| k.write(spr::MMCRC, 0));
    meet(k);
    on_thread(k, 3, |k| {
        k.a.mfspr(R18, pmc(1));
        nops(k, 50);
        k.a.mfspr(R3, pmc(1));
        k.a.subf(R3, R18, R3);
        // The first mfspr and the no-operations.
        k.check_is("let go by another thread: counts", R3, 51);
        k.write(spr::MMCR0, FC);
    });
    meet(k);
}

/// Events that depend on the run latches of all threads, as thread 0 counts them.
fn run_latches(k: &mut Kernel) {
    // PM_ANY_THRD_RUN_CYC, PM_THRD_ALL_RUN_CYC, PM_THRD_CONC_RUN_INST, PM_RUN_INST_CMPL; then PM_RUN_CYC_ST_MODE, PM_RUN_CYC_SMT4_MODE.
    const CORE: u64 = 0xFA0C_F4FA;
    const MODES: u64 = 0x6C6C_0000;
    // The threads that run, and what the four events count over 21 instructions.
    const CASES: [(u64, [u64; 4]); 6] = [
        (0b0000, [0, 0, 0, 0]),
        (0b0001, [21, 0, 0, 21]),
        (0b0100, [21, 0, 0, 0]),
        (0b0111, [21, 0, 0, 21]),
        (0b1110, [21, 0, 0, 0]),
        (0b1111, [21, 21, 21, 21]),
    ];
    for (running, right) in CASES {
        for thread in 0..THREADS {
            on_thread(k, thread, |k| run_latch(k, running >> thread & 1 != 0));
        }
        meet(k);
        on_thread(k, 0, |k| {
            k.write(spr::MMCR1, CORE);
            counted(k, 0, |k| nops(k, 20));
            let names = ["PM_ANY_THRD_RUN_CYC", "PM_THRD_ALL_RUN_CYC", "PM_THRD_CONC_RUN_INST", "PM_RUN_INST_CMPL"];
            for ((n, name), count) in (1..).zip(names).zip(right) {
                check_counter(k, &format!("{running:04b} run: {name}"), n, count);
            }
            let own = if running & 1 == 0 { 0 } else { 21 };
            check_counter(k, &format!("{running:04b} run: PMC6"), 6, own);
            k.write(spr::MMCR1, MODES);
            counted(k, 0, |k| nops(k, 20));
            check_counter(k, &format!("{running:04b} run: PM_RUN_CYC_ST_MODE"), 1, 0);
            check_counter(k, &format!("{running:04b} run: PM_RUN_CYC_SMT4_MODE"), 2, own);
        });
        meet(k);
    }
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let handler = Handler::new(&mut k, THREADS);
    k.main();
    run_latch(&mut k, true);
    k.write(spr::MMCR1, INSTRUCTIONS);
    own_counts(&mut k);
    own_alerts(&mut k, &handler);
    frozen_by_core(&mut k);
    frozen_meanwhile(&mut k);
    run_latches(&mut k);
    // Each has only its own latch in CTRL, whatever the others did.
    k.a.mfspr(R3, cpu::CTRL_READ);
    k.check_is("the run latch is still on", R3, 1);
    meet(&mut k);
    k.end_main();
    k.finish()
}
