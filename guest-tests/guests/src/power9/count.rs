//! `count`: a known mix of instructions on every counter.
//!
//! Every event of the list that is exact and that the engine drives is counted over the same mix, as many at a time as
//! [`encode`](vm_pmu::arch::power9::encode) puts together; then PMC5 and PMC6 with the run latch on and off, and all counters are read by
//! both their numbers.

use vm_pmu::arch::power9::encode::{EventCode, Options, encode};
use vm_pmu::arch::power9::spr;

use super::counting::{
    COUNTERS, INSTRUCTIONS, ZERO, check_counter, check_counters, counted, in_state, mmcr0, nops, pmc, repeat, run_latch,
};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, F1, F2, F3, R2, R3, R5, R6, R7, R12, R16, R31};
use vm_pmu_engines::power::registers::{msr, spr as cpu};

/// What the matching facility is to match: `xoris 5,5,0x1234`.
const MATCHED: u32 = 27 << 26 | 5 << 21 | 5 << 16 | 0x1234;
/// The cycles of the mix that are not spent at normal priority: very low, medium low and high.
const PRIORITIES: [u64; 3] = [3, 2, 4];
/// Instructions of the mix, piece by piece as [`mix`] has them, with the `mtspr` that begins to count. All take one cycle.
const ALL: u64 = 1 + 5 + 3 + 3 + 6 + 10 + 3 + 2 + 4 + 1 + 2 + 11 + 4 + 4;
/// Branches: the four of the loop, three that are taken once, one that is not; one after a transaction that commits, two where one is given
/// up.
const BRANCHES: u64 = 4 + 3 + 1 + 1 + 2;
/// Of the loop three are taken; then jump, call and return; then the one after the transaction that was given up.
const TAKEN: u64 = 3 + 3 + 1;
/// The loop's, and the call, whose target comes before it.
const BACKWARD: u64 = 4 + 1;
/// What begins in transactional state: a branch, a no-operation and `tend.`, a branch and `tabort.`.
const TRANSACTIONAL: u64 = 3 + 2;

/// The events and what they count over the mix.
const EVENTS: [(u64, &str, u64); 53] = [
    (0x1_0002, "PM_INST_CMPL on PMC1", ALL),
    (0x2_0002, "PM_INST_CMPL on PMC2", ALL),
    (0x3_0002, "PM_INST_CMPL on PMC3", ALL),
    (0x4_0002, "PM_INST_CMPL on PMC4", ALL),
    (0x1_001E, "PM_CYC on PMC1", ALL),
    (0x2_001E, "PM_CYC on PMC2", ALL),
    (0x3_001E, "PM_CYC on PMC3", ALL),
    (0x4_001E, "PM_CYC on PMC4", ALL),
    (0x1_00FE, "PM_INST_CMPL, architected", ALL),
    (0x1_00F0, "PM_CYC, architected", ALL),
    (0x1_0000, "PM_SUSPENDED on PMC1", 0),
    (0x2_0000, "PM_SUSPENDED on PMC2", 0),
    (0x3_0000, "PM_SUSPENDED on PMC3", 0),
    (0x4_0000, "PM_SUSPENDED on PMC4", 0),
    (0x4_001C, "PM_INST_IMC_MATCH_CMPL", 2),
    (0x4_00FA, "PM_RUN_INST_CMPL", ALL),
    (0x2_00F4, "PM_RUN_CYC", ALL),
    (0x1_00FA, "PM_ANY_THRD_RUN_CYC", ALL),
    (0x2_000C, "PM_THRD_ALL_RUN_CYC", ALL),
    (0x1_006C, "PM_RUN_CYC_ST_MODE", ALL),
    (0x2_006C, "PM_RUN_CYC_SMT4_MODE", 0),
    (0x2_000A, "PM_HV_CYC", ALL),
    (0x40BC, "PM_THRD_PRIO_0_1_CYC", PRIORITIES[0]),
    (0x48BC, "PM_THRD_PRIO_2_3_CYC", PRIORITIES[1]),
    (0x5080, "PM_THRD_PRIO_4_5_CYC", ALL - PRIORITIES[0] - PRIORITIES[1] - PRIORITIES[2]),
    (0x5880, "PM_THRD_PRIO_6_7_CYC", PRIORITIES[2]),
    (0x2_505E, "PM_BACK_BR_CMPL", BACKWARD),
    (0x2_00FA, "PM_BR_TAKEN_CMPL", TAKEN),
    (0x4_D05E, "PM_BR_CMPL", BRANCHES),
    // The engine has no external interrupt.
    (0x2080, "PM_EE_OFF_EXT_INT", 0),
    (0x2884, "PM_ISYNC", 2),
    // The mix has no vector instructions: of these events it shows the scalar part.
    (0x4_D056, "PM_NON_FMA_FLOP_CMPL", 3),
    (0x4_5054, "PM_FMA_CMPL", 3),
    (0x4_5056, "PM_SCALAR_FLOP_CMPL", 6),
    (0x4_505C, "PM_MATH_FLOP_CMPL", 6),
    (0x4_5050, "PM_1FLOP_CMPL", 2),
    (0x4_D04E, "PM_VSU_FSQRT_FDIV", 1),
    (0x3_D058, "PM_VSU_DP_FSQRT_FDIV", 0),
    (0x4_505A, "PM_SP_FLOP_CMPL", 1),
    (0x4_D05C, "PM_DP_QP_FLOP_CMPL", 5),
    (0x1_E058, "PM_STCX_FAIL", 1),
    (0xC8BC, "PM_STCX_SUCCESS_CMPL", 1),
    (0x3_0058, "PM_TLBIE_FIN", 1),
    // Three, and the one that reserves.
    (0x4_003E, "PM_LD_CMPL", 4),
    (0xE880, "PM_L1_SW_PREF", 3),
    (0xF098, "PM_XLATE_HPT_MODE", ALL),
    (0xF898, "PM_XLATE_RADIX_MODE", 0),
    (0x2094, "PM_TM_OUTER_TBEGIN", 2),
    (0x2894, "PM_TM_OUTER_TEND", 1),
    (0x2_E052, "PM_TM_PASSED", 1),
    (0x3_0056, "PM_TM_ABORTS", 1),
    (0x1_0060, "PM_TM_TRANS_RUN_CYC", TRANSACTIONAL),
    (0x3_0060, "PM_TM_TRANS_RUN_INST", TRANSACTIONAL),
];

/// The mix. GPR 16 points at a buffer.
fn mix(k: &mut Kernel) {
    let a = &mut k.a;
    // Three loads, two stores.
    a.ld(R5, 0, R16);
    a.lwz(R6, 8, R16);
    a.lbz(R7, 16, R16);
    a.std(R5, 24, R16);
    a.stb(R7, 32, R16);
    // Three prefetches.
    a.dcbt(ZERO, R16);
    a.dcbt(ZERO, R16);
    a.dcbtst(ZERO, R16);
    // A reservation that is used once and then missing.
    a.ldarx(R5, ZERO, R16);
    a.stdcx_dot(R5, ZERO, R16);
    a.stdcx_dot(R5, ZERO, R16);
    // Six of floating point, one of them of single precision.
    a.fadd(F1, F2, F3);
    a.fadds(F1, F2, F3);
    a.fmadd(F1, F2, F3, F1);
    a.fmadd(F1, F2, F3, F1);
    a.fmadd(F1, F2, F3, F1);
    a.fdiv(F1, F2, F3);
    // Two, and four turns of two.
    repeat(k, 4, |k| k.a.nop());
    // Jump, call, return.
    let a = &mut k.a;
    let (called, over) = (a.label(), a.label());
    a.b(over);
    a.here(called);
    a.blr();
    a.here(over);
    a.bl(called);
    // A branch that is not taken.
    let next = a.label();
    a.cmpdi(CR0, R16, 0);
    a.beq(next);
    a.here(next);
    // Context synchronization, and barriers that are no such.
    a.isync();
    a.isync();
    a.sync();
    a.lwsync();
    a.tlbie(R5, R6);
    // What the matching facility matches.
    a.word(MATCHED);
    a.word(MATCHED);
    // Eleven: the change of priority itself is made at the priority before.
    a.priority(R31);
    a.nop();
    a.nop();
    a.priority(R6);
    a.nop();
    a.priority(R3);
    a.nop();
    a.nop();
    a.nop();
    a.priority(R2);
    a.nop();
    // A transaction that commits.
    let failed = a.label();
    a.tbegin_dot();
    a.beq(failed);
    a.nop();
    a.tend_dot();
    // One that is given up: its branch is executed twice.
    a.tbegin_dot();
    a.beq(failed);
    a.tabort_dot(R5);
    a.here(failed);
}

/// Counts all events over the mix.
fn events(k: &mut Kernel) {
    let mut left: &[(u64, &str, u64)] = &EVENTS;
    while !left.is_empty() {
        let codes = |count: usize| -> Vec<EventCode> { left.iter().take(count).map(|event| EventCode::from_bits(event.0)).collect() };
        let together = (1..=left.len()).take_while(|count| encode(&codes(*count), Options::default()).is_ok()).count();
        let Ok(encoding) = encode(&codes(together), Options::default()) else { break };
        k.write(spr::MMCR1, encoding.mmcr1);
        k.write(spr::MMCR2, encoding.mmcr2);
        k.write(spr::MMCRA, encoding.mmcra);
        counted(k, encoding.mmcr0, mix);
        let (now, later) = left.split_at(together.max(1));
        for (index, (_, name, right)) in now.iter().enumerate() {
            check_counter(k, name, encoding.counter_of(index).map_or(0, u16::from), *right);
        }
        left = later;
    }
}

/// PMC5 and PMC6, and a programmable counter in addition.
fn run_latch_counts(k: &mut Kernel) {
    k.write(spr::MMCR1, INSTRUCTIONS);
    let cc56run = mmcr0(|m| m.set_cc56run(true));
    for (on, go, right) in [(true, 0, ALL), (false, 0, 0), (false, cc56run, ALL), (true, cc56run, ALL)] {
        run_latch(k, on);
        counted(k, go, mix);
        let said = format!("run latch {}, CC56RUN {}", if on { "on" } else { "off" }, u8::from(go != 0));
        check_counter(k, &format!("{said}: PMC1"), 1, ALL);
        check_counter(k, &format!("{said}: PMC5"), 5, right);
        check_counter(k, &format!("{said}: PMC6"), 6, right);
    }
    // The latch goes off and on again inside: the mtspr to CTRL belongs to the state before it.
    run_latch(k, true);
    counted(k, 0, |k| {
        nops(k, 5);
        run_latch(k, false);
        nops(k, 7);
        run_latch(k, true);
        nops(k, 3);
    });
    // In addition to 15 no-operations the mtspr to MMCR0, and twice a load and the mtspr to CTRL.
    check_counter(k, "latch going off and on: PMC1", 1, 1 + 5 + 2 + 7 + 2 + 3);
    check_counter(k, "latch going off and on: PMC5", 5, 1 + 5 + 2 + 3);
    check_counter(k, "latch going off and on: PMC6", 6, 1 + 5 + 2 + 3);
}

/// The counters by both their numbers, in privileged and in problem state.
fn numbers(k: &mut Kernel) {
    counted(k, 0, |k| nops(k, 9));
    check_counters(k, "PMC1 to PMC6 by the privileged numbers", [10; 6]);
    let check = |k: &mut Kernel, state: &str| {
        for n in 1..=COUNTERS {
            k.a.mfspr(R3, pmc(n) - spr::PRIVILEGED);
            k.check_is(&format!("PMC{n} by its user number in {state} state"), R3, 10);
        }
    };
    check(k, "hypervisor");
    in_state(k, 0, |k| check(k, "privileged"));
    in_state(k, msr::PR, |k| check(k, "problem"));
    // Both numbers are one register, of 32 bits.
    k.write(pmc(2) - spr::PRIVILEGED, 0x1_2345_6789);
    check_counter(k, "PMC2 written by its user number", 2, 0x2345_6789);
    // It runs on past 32 bits.
    k.write(pmc(2), 0xFFFF_FFFD);
    k.write(spr::MMCR0, 0);
    nops(k, 4);
    k.a.mfspr(R3, pmc(2));
    // The mtspr and four no-operations.
    k.check_is("PMC2 behind its end", R3, 2);
    k.write(spr::MMCR0, super::FC);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let buffer = k.reserve(128);
    k.main();
    k.set_state(msr::FP | msr::TM);
    k.a.load(R16, buffer);
    // Every bit is compared.
    k.a.load(R12, 0xFFFF_FFFF << 32 | u64::from(MATCHED));
    k.a.mtimc(0, R12);
    run_latch(&mut k, true);
    events(&mut k);
    // The same two again while the host translates by a radix tree (LPCR[HR], bit 43).
    k.a.mfspr(R3, cpu::LPCR);
    k.a.load(R12, 1 << (63 - 43));
    k.a.or(R3, R3, R12);
    k.a.mtspr(cpu::LPCR, R3);
    if let Ok(encoding) = encode(&[EventCode::from_bits(0xF098), EventCode::from_bits(0xF898)], Options::default()) {
        k.write(spr::MMCR1, encoding.mmcr1);
        counted(&mut k, 0, mix);
        check_counter(&mut k, "PM_XLATE_HPT_MODE with a radix tree", 1, 0);
        check_counter(&mut k, "PM_XLATE_RADIX_MODE with a radix tree", 2, ALL);
    }
    run_latch_counts(&mut k);
    numbers(&mut k);
    k.end_main();
    k.finish()
}

#[cfg(test)]
mod tests {
    use vm_pmu::arch::event::{Drive, Fidelity, POWER9};

    use super::EVENTS;
    use vm_pmu_board::power::supplies;

    /// What the tests of the engine read from counters (`tests/power/counted.rs`): vector instructions, invalidations by another thread and
    /// aborts, which the guest does not execute.
    const READ_BY_TESTS: [&str; 11] = [
        "PM_TM_TABORT_TRECLAIM",
        "PM_VECTOR_LD_CMPL",
        "PM_VECTOR_ST_CMPL",
        "PM_8FLOP_CMPL",
        "PM_VECTOR_FLOP_CMPL",
        "PM_NON_MATH_FLOP_CMPL",
        "PM_SNOOP_TLBIE",
        "PM_TM_NESTED_TBEGIN",
        "PM_TM_NESTED_TEND",
        "PM_TM_TSUSPEND",
        "PM_TM_TRESUME",
    ];

    #[test]
    fn every_exact_event_that_the_engine_drives_is_counted() {
        // An event that is posted into memory has no counter.
        let driven = POWER9.events().filter(|event| event.offset.is_none()).filter(|event| {
            event.fidelity == Fidelity::Exact && event.drive == Drive::Signals && event.signals.iter().any(|signal| supplies(*signal))
        });
        let counted = |select: u32| EVENTS.iter().any(|(code, ..)| *code == u64::from(select));
        let missing: Vec<&str> =
            driven.filter(|event| !counted(event.select) && !READ_BY_TESTS.contains(&event.name)).map(|event| event.name).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
