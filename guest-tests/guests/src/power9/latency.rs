//! `latency`: how long loads take, by the threshold counter, and where their data come from, by SIER.
//!
//! The companion's latencies, from the issue of a load to its data: 4 cycles from the data cache, 15 from the L2, 36 from the L3, 340 from
//! memory and 100 more where another row of the bank is open. The pipeline finds a miss four cycles after the issue, and completes a load
//! two after it finishes, if all before it have finished. Each load here waits for the one before it.

use vm_pmu::arch::power9::{Mmcra, Sier, spr};

use super::FC;
use super::chain::{Chain, FIRST, MEMORY, SECOND, THIRD, chase};
use super::fields::{before, mmcr0, mmcra, pmc, select};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, Label, R3, R4, R5, R6, R14, R15, R16, R20, R21, R22, R23, R24, R25, R26, R27};
use vm_pmu_engines::power::registers::{spr as cpu, vector};

/// Codes of MMCRA\[THRESH_START, THRESH_END].
const ISSUED: u8 = 3;
const FINISHED: u8 = 4;
const COMPLETED: u8 = 5;
const FIRST_MISS: u8 = 6;
const RELOAD: u8 = 7;

/// PM_MRK_INST_CMPL, marked instructions completed, and PM_MRK_INST_DISP, dispatched.
const MARKED: u64 = 0x4_01E0;
const MARKED_DISPATCHED: u64 = 0x1_01E0;
const MET: u64 = 0x1_01EC;
const NOT_MET: u64 = 0x4_016E;
const EXCEEDED_32: u64 = 0x2_01E6;
const EXCEEDED_64: u64 = 0x3_01E8;
const EXCEEDED_256: u64 = 0x1_01E8;
const EXCEEDED_512: u64 = 0x2_01E8;

/// The most loads from one sample to the next.
const FARTHEST: u64 = 64;

/// What is sampled: loads, with run cycles from `start` to `end` compared with a mantissa and an exponent.
fn loads(start: u8, end: u8, (exponent, mantissa): (u8, u8)) -> u64 {
    mmcra(|m: &mut Mmcra| {
        m.set_sample_enable(true);
        m.set_rand_samp_elig(5);
        m.set_thresh_event_sel(1);
        m.set_thresh_start(start);
        m.set_thresh_end(end);
        m.set_thresh_cmp_exp(exponent);
        m.set_thresh_cmp_mantissa(mantissa);
    })
}

fn control(alerts: bool) -> u64 {
    mmcr0(|m| {
        m.set_pmae(alerts);
        m.set_fcece(alerts);
        m.set_pmcjce(alerts);
        m.set_fch(true);
    })
}

/// LDST and DATA_SRC of SIER, and the kind.
fn origin(place: u8, more: u8, kind: u8) -> u64 {
    let mut sier = Sier::default();
    sier.set_ldst(place);
    sier.set_data_src(more);
    sier.set_kind(kind);
    sier.bits()
}

/// A chain, how often it is followed, the stages between which a load is timed, the cycles between them, and LDST and DATA_SRC.
struct Row {
    chain: Chain,
    passes: u64,
    stages: (u8, u8),
    cycles: u64,
    place: (u8, u8),
}

const ROWS: [Row; 7] = [
    Row { chain: FIRST, passes: 64, stages: (ISSUED, FINISHED), cycles: 4, place: (1, 0) },
    Row { chain: FIRST, passes: 64, stages: (FINISHED, COMPLETED), cycles: 2, place: (1, 0) },
    Row { chain: SECOND, passes: 4, stages: (FIRST_MISS, RELOAD), cycles: 15 - 4, place: (2, 0) },
    Row { chain: SECOND, passes: 4, stages: (ISSUED, RELOAD), cycles: 15, place: (2, 0) },
    Row { chain: THIRD, passes: 1, stages: (FIRST_MISS, RELOAD), cycles: 36 - 4, place: (3, 0) },
    // Local memory is the second of the places in memory.
    Row { chain: MEMORY, passes: 40, stages: (FIRST_MISS, RELOAD), cycles: 440 - 4, place: (4, 1) },
    Row { chain: MEMORY, passes: 40, stages: (ISSUED, FINISHED), cycles: 440, place: (4, 1) },
];

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    handler(&mut k);
    let chase = chase(&mut k);
    k.main();
    // Run cycles are cycles with the run latch on.
    k.write(cpu::CTRL, 1);
    for row in &ROWS {
        sample(&mut k, chase, row);
    }
    THIRD.link(&mut k);
    THIRD.follow(&mut k, chase, 2);
    // 32 cycles: equality reaches the threshold.
    let third = |k: &mut Kernel, name, compare, codes, all, none| count(k, chase, (&THIRD, 1), name, compare, codes, all, none);
    third(&mut k, "32 cycles against 32", (0, 32), &[MET, EXCEEDED_32, EXCEEDED_64, MARKED], &[1, 2, 4], &[3]);
    third(&mut k, "32 cycles against 33", (0, 33), &[MARKED_DISPATCHED, EXCEEDED_32, NOT_MET], &[1, 2, 4], &[]);
    third(&mut k, "32 cycles against 32 again", (0, 32), &[MARKED_DISPATCHED, NOT_MET], &[1], &[4]);
    third(&mut k, "32 cycles against 33 again", (0, 33), &[MET, MARKED], &[4], &[1]);
    MEMORY.link(&mut k);
    MEMORY.follow(&mut k, chase, 4);
    let memory = |k: &mut Kernel, name, compare, codes, all, none| count(k, chase, (&MEMORY, 20), name, compare, codes, all, none);
    // 109 and 110 times four.
    memory(&mut k, "436 cycles against 436", (1, 109), &[MET, EXCEEDED_512, MARKED], &[1, 4], &[2]);
    memory(&mut k, "436 cycles against 440", (1, 110), &[EXCEEDED_256, EXCEEDED_64, NOT_MET], &[1, 3, 4], &[2]);
    k.end_main();
    k.finish()
}

/// GPR 20 samples, 21 and 22 the fewest and most cycles, 23 the mask of SIER, 24 what any of them had of it, 25 what all had, 26 the
/// counter's start, 27 MMCR0.
fn handler(k: &mut Kernel) {
    let (not_fewer, not_more) = (k.a.label(), k.a.label());
    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.addi(R20, R20, 1);
    k.a.mfspr(R3, spr::MMCRA);
    // THRESH_CTR_EXP, bits 34:36, and THRESH_CTR_MANTISSA, bits 38:44: the mantissa times four to the power of the exponent.
    k.a.rldicl(R4, R3, 37, 61);
    k.a.rldicl(R5, R3, 45, 57);
    k.a.add(R4, R4, R4);
    k.a.sld(R5, R5, R4);
    k.a.cmpld(CR0, R5, R21);
    k.a.bge(not_fewer);
    k.a.mr(R21, R5);
    k.a.here(not_fewer);
    k.a.cmpld(CR0, R5, R22);
    k.a.ble(not_more);
    k.a.mr(R22, R5);
    k.a.here(not_more);
    k.a.mfspr(R6, spr::SIER);
    k.a.and(R6, R6, R23);
    k.a.or(R24, R24, R6);
    k.a.and(R25, R25, R6);
    k.a.mtspr(pmc(4), R26);
    k.a.mtspr(spr::MMCR0, R27);
    k.end_handler();
}

fn sample(k: &mut Kernel, chase: Label, row: &Row) {
    let Row { chain, passes, stages, cycles, place } = row;
    let name = format!("{}, stages {} to {}", chain.name, stages.0, stages.1);
    chain.link(k);
    chain.follow(k, chase, 4);
    k.write(spr::MMCR1, select(&[MARKED]));
    for (register, value) in
        [(R20, 0), (R21, u64::MAX), (R22, 0), (R23, origin(7, 7, 7)), (R24, 0), (R25, u64::MAX), (R26, before(1)), (R27, control(true))]
    {
        k.a.load(register, value);
    }
    k.a.mtspr(pmc(4), R26);
    k.a.mtspr(spr::MMCR0, R27);
    k.write(spr::MMCRA, loads(stages.0, stages.1, (0, 1)));
    chain.follow(k, chase, *passes);
    k.write(spr::MMCR0, FC);
    k.write(spr::MMCRA, 0);
    let all = passes * chain.lines;
    // The kernel's loads are sampled too, and are not counted: fewer than half of all.
    k.check(&format!("{name}: samples"), R20, all / FARTHEST / 2, all);
    k.check_is(&format!("{name}: the fewest cycles"), R21, *cycles);
    k.check_is(&format!("{name}: the most cycles"), R22, *cycles);
    let right = origin(place.0, place.1, 1);
    k.check_is(&format!("{name}: TYPE, LDST and DATA_SRC that any has"), R24, right);
    k.check_is(&format!("{name}: TYPE, LDST and DATA_SRC that all have"), R25, right);
}

/// Counts without alerts: the counters `all` count each sample, `none` none.
#[expect(clippy::too_many_arguments, reason = "a row of a table")]
fn count(
    k: &mut Kernel,
    chase: Label,
    (chain, passes): (&Chain, u64),
    name: &str,
    compare: (u8, u8),
    codes: &[u64],
    all: &[u16],
    none: &[u16],
) {
    k.write(spr::MMCR1, select(codes));
    for number in 1..=4 {
        k.write(pmc(number), 0);
    }
    k.write(spr::MMCR0, control(false));
    k.write(spr::MMCRA, loads(FIRST_MISS, RELOAD, compare));
    chain.follow(k, chase, passes);
    k.write(spr::MMCR0, FC);
    k.write(spr::MMCRA, 0);
    let [first, others @ ..] = all else { return };
    k.a.mfspr(R14, pmc(*first));
    let loads = passes * chain.lines;
    k.check(&format!("{name}: PMC{first}"), R14, loads / FARTHEST / 2, loads);
    for number in others {
        k.a.mfspr(R15, pmc(*number));
        k.a.mr(R16, R14);
        k.check_same(&format!("{name}: PMC{number}, as many"), R15, R16);
    }
    for number in none {
        k.a.mfspr(R15, pmc(*number));
        k.check_is(&format!("{name}: PMC{number}, none"), R15, 0);
    }
}
