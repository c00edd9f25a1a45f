//! `sample`: where a loop in problem state is, by random and by continuous sampling.
//!
//! A turn of the loop is block A once, block B three times and a branch back: 8 + 24 + 1 instructions.

use vm_pmu::arch::power9::{Sier, spr};

use super::FC;
use super::fields::{before, mmcr0, mmcra, pmc, select};
use crate::power::{FRAME_ADDRESS, Kernel};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{
    AssembleError, CR0, Label, R1, R3, R4, R5, R6, R7, R14, R15, R20, R21, R22, R23, R24, R26, R27, R28, R29, R30, R31,
};
use vm_pmu_engines::power::registers::vector;

/// Instructions of a block.
const BLOCK: u64 = 8;
/// Places in the loop: two blocks and the branch back.
const PLACES: u64 = 2 * BLOCK + 1;
/// Times that block B is executed in a turn.
const REPEATS: u64 = 3;
/// Instructions of a turn.
const TURN: u64 = BLOCK + REPEATS * BLOCK + 1;
/// The load and the store of block A.
const LOAD_A: u64 = 2;
const STORE_A: u64 = 4;
/// The load and the store of block B.
const LOAD_B: u64 = BLOCK + 1;
const STORE_B: u64 = BLOCK + 4;
/// The distance of a block's store from its load.
const STORED: u64 = 8;

/// Cycles between two continuous samples: without a common divisor with [`TURN`], so that of as many samples as a turn has instructions one
/// falls on each.
const PERIOD: u64 = 61;
const ROUNDS: u64 = 10;

/// Random samples of any instruction, and of loads.
const ANY: u64 = 640;
const LOADS: u64 = 320;

/// A place's record: hits, hits with SDAR the store of block A, SDAR that is wanted or 0, SIER that is wanted.
const RECORD: u64 = 32;

/// The bits of SIER that are compared.
fn compared() -> u64 {
    let mut sier = Sier::default();
    sier.set_msr_pr(true);
    sier.set_msr_hv(true);
    sier.set_siar_valid(true);
    sier.set_sdar_valid(true);
    sier.set_kind(7);
    sier.set_cmpl(true);
    sier.bits()
}

/// SIER of a random sample at a place.
fn random_sier(place: u64) -> u64 {
    let mut sier = Sier::written(continuous_sier(place));
    sier.set_siar_valid(true);
    sier.set_cmpl(true);
    sier.set_sdar_valid(matches!(place, LOAD_A | STORE_A | LOAD_B | STORE_B));
    sier.bits()
}

/// SIER of a continuous sample at a place.
fn continuous_sier(place: u64) -> u64 {
    let mut sier = Sier::default();
    sier.set_msr_pr(true);
    sier.set_msr_hv(true);
    sier.set_kind(match place {
        LOAD_A | LOAD_B => 1,
        STORE_A | STORE_B => 2,
        place if place == 2 * BLOCK - 1 || place == 2 * BLOCK => 3,
        _ => 5,
    });
    sier.bits()
}

/// MMCR0 while the loop is sampled: the kernel is not counted.
fn running() -> u64 {
    mmcr0(|m| {
        m.set_pmae(true);
        m.set_fcece(true);
        m.set_fch(true);
        m.set_pmcjce(true);
    })
}

struct Loop {
    entry: Label,
    first: Label,
    end: Label,
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let data = k.reserve(256);
    let (a, b) = (data, data + 128);
    let records = k.reserve(PLACES * RECORD);
    let code = write_loop(&mut k, a, b);
    handler(&mut k, &code);
    k.main();

    let any = mmcra(|m| m.set_sample_enable(true));
    random(&mut k, &code, (records, a, b), any, ANY);
    // Five standard deviations of a binomial distribution on each side.
    for place in 0..PLACES {
        k.a.load(R3, records);
        k.a.ld(R14, (place * RECORD) as i64, R3);
        // Mean 640/33 = 19.4, deviation 4.3; three times as often 58.2 and 7.3.
        let (least, most) = if (BLOCK..2 * BLOCK).contains(&place) { (22, 95) } else { (1, 41) };
        k.check(&format!("samples at place {place}"), R14, least, most);
        k.a.load_address(R3, code.first);
        k.a.addi(R3, R3, 4 * place as i64);
        k.a.mr(R5, R14);
        k.sample(if place < BLOCK { "block A" } else { "block B" });
    }
    let loads = mmcra(|m| {
        m.set_sample_enable(true);
        m.set_rand_samp_elig(5);
    });
    random(&mut k, &code, (records, a, b), loads, LOADS);
    // Every fourth load is block A's: mean 80, deviation 7.7.
    k.a.load(R3, records);
    k.a.ld(R14, (LOAD_A * RECORD) as i64, R3);
    k.a.ld(R15, (LOAD_B * RECORD) as i64, R3);
    k.a.add(R15, R15, R14);
    k.check("sampled loads of block A", R14, 41, 119);
    k.check_is("sampled loads of both", R15, LOADS);

    continuous(&mut k, &code, (records, a, b));
    k.end_main();
    k.finish()
}

fn write_loop(k: &mut Kernel, a: u64, b: u64) -> Loop {
    let (first, end) = (k.a.label(), k.a.label());
    k.a.routine("sampled_loop");
    let entry = k.a.mark();
    k.a.load(R14, a);
    k.a.load(R15, b);
    k.a.here(first);
    k.a.addi(R6, R6, 1);
    k.a.addi(R7, R7, 1);
    k.a.ld(R5, 0, R14);
    k.a.addi(R6, R6, 1);
    k.a.std(R5, STORED as i64, R14);
    k.a.addi(R7, R7, 1);
    k.a.load(R4, REPEATS);
    k.a.mtctr(R4);
    let again = k.a.mark();
    k.a.addi(R6, R6, 1);
    k.a.ld(R5, 0, R15);
    k.a.addi(R6, R6, 1);
    k.a.addi(R7, R7, 1);
    k.a.std(R5, STORED as i64, R15);
    k.a.addi(R6, R6, 1);
    k.a.addi(R7, R7, 1);
    k.a.bdnz(again);
    k.a.b(first);
    k.a.here(end);
    k.a.sc();
    Loop { entry, first, end }
}

/// GPR 20 samples, 21 how many are wanted, 22 the records, 23 where the loop begins, 24 where block A stores, 26 samples that are wrong, 27
/// the counter's start, 28 its number, which is 4 if sampling is random, 29 the mask of SIER there, 30 MMCR0, 31 SIER.
fn handler(k: &mut Kernel, code: &Loop) {
    let (bad, counted, last, out, continuous) = (k.a.label(), k.a.label(), k.a.label(), k.a.label(), k.a.label());
    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.mfspr(R4, spr::SIAR);
    k.a.subf(R4, R23, R4);
    k.a.cmpldi(CR0, R4, 4 * PLACES as u32);
    k.a.bge(bad);
    // From 4 bytes to 32.
    k.a.sldi(R4, R4, 3);
    k.a.add(R4, R4, R22);
    k.a.ld(R5, 0, R4);
    k.a.addi(R5, R5, 1);
    k.a.std(R5, 0, R4);
    k.a.mfspr(R6, spr::SDAR);
    let elsewhere = k.a.label();
    k.a.cmpld(CR0, R6, R24);
    k.a.bne(elsewhere);
    k.a.ld(R5, 8, R4);
    k.a.addi(R5, R5, 1);
    k.a.std(R5, 8, R4);
    k.a.here(elsewhere);
    k.a.cmpdi(CR0, R28, 4);
    k.a.bne(continuous);
    let no_data = k.a.label();
    k.a.ld(R5, 16, R4);
    k.a.branch_if_zero(R5, no_data);
    k.a.cmpld(CR0, R5, R6);
    k.a.bne(bad);
    k.a.here(no_data);
    k.a.ld(R5, 24, R4);
    k.a.mfspr(R6, spr::SIER);
    k.a.and(R6, R6, R29);
    k.a.cmpld(CR0, R5, R6);
    k.a.beq(counted);
    k.a.b(bad);
    k.a.here(continuous);
    // SDAR is one of the two stores.
    k.a.ld(R5, 24, R4);
    k.a.mfspr(R31, spr::SIER);
    k.a.cmpld(CR0, R5, R31);
    k.a.bne(bad);
    k.a.cmpld(CR0, R6, R24);
    k.a.beq(counted);
    k.a.addi(R5, R24, 128);
    k.a.cmpld(CR0, R6, R5);
    k.a.beq(counted);
    k.a.here(bad);
    k.a.addi(R26, R26, 1);
    k.a.here(counted);
    k.a.addi(R20, R20, 1);
    k.a.cmpld(CR0, R20, R21);
    k.a.bge(last);
    let (random, go) = (k.a.label(), k.a.label());
    k.a.cmpdi(CR0, R28, 4);
    k.a.beq(random);
    k.a.mtspr(pmc(2), R27);
    k.a.b(go);
    k.a.here(random);
    k.a.mtspr(pmc(4), R27);
    k.a.here(go);
    k.a.mtspr(spr::MMCR0, R30);
    k.a.b(out);
    k.a.here(last);
    k.a.load(R3, FC);
    k.a.mtspr(spr::MMCR0, R3);
    k.a.load_address(R3, code.end);
    k.a.std(R3, FRAME_ADDRESS, R1);
    k.a.here(out);
    k.end_handler();
}

/// Sets up the handler's registers; `counter` alerts after `period`, and `sier` is wanted at a place.
fn begin(k: &mut Kernel, code: &Loop, (records, a, b): (u64, u64, u64), (counter, period): (u16, u64), samples: u64, sier: fn(u64) -> u64) {
    k.a.load(R22, records);
    for place in 0..PLACES {
        let data = match place {
            LOAD_A => a,
            STORE_A => a + STORED,
            LOAD_B => b,
            STORE_B => b + STORED,
            _ => 0,
        };
        for (offset, value) in [(0, 0), (8, 0), (16, data), (24, sier(place))] {
            k.a.load(R3, value);
            k.a.std(R3, (place * RECORD) as i64 + offset, R22);
        }
    }
    k.a.load_address(R23, code.first);
    for (register, value) in [
        (R20, 0),
        (R21, samples),
        (R24, a + STORED),
        (R26, 0),
        (R27, before(period)),
        (R28, u64::from(counter)),
        (R29, compared()),
        (R30, running()),
    ] {
        k.a.load(register, value);
    }
    k.a.mtspr(pmc(counter), R27);
}

fn random(k: &mut Kernel, code: &Loop, data: (u64, u64, u64), mmcra: u64, samples: u64) {
    k.write(spr::MMCR1, select(&[0x4_01E0]));
    begin(k, code, data, (4, 1), samples, random_sier);
    k.a.mtspr(spr::MMCR0, R30);
    k.write(spr::MMCRA, mmcra);
    k.enter_user(code.entry, 0);
    k.write(spr::MMCRA, 0);
    k.check_is("random samples", R20, samples);
    k.check_is("random samples with a wrong place, SDAR or SIER", R26, 0);
}

fn continuous(k: &mut Kernel, code: &Loop, data: (u64, u64, u64)) {
    k.write(spr::MMCR1, select(&[0x2_001E]));
    k.write(pmc(4), 0);
    begin(k, code, data, (2, PERIOD), ROUNDS * TURN, continuous_sier);
    k.write(spr::MMCRA, mmcra(|m| m.set_sdar_mode(0b11)));
    k.a.mtspr(spr::MMCR0, R30);
    k.enter_user(code.entry, 0);
    k.check_is("continuous samples", R20, ROUNDS * TURN);
    k.check_is("continuous samples with a wrong place, SDAR or SIER", R26, 0);
    for place in 0..PLACES {
        let (hits, after_a) = match place {
            // The last store was block B's, or this one.
            0..STORE_A => (ROUNDS, 0),
            STORE_A..BLOCK => (ROUNDS, ROUNDS),
            // The first of three times comes after block A's store.
            BLOCK..STORE_B => (REPEATS * ROUNDS, ROUNDS),
            STORE_B..16 => (REPEATS * ROUNDS, 0),
            _ => (ROUNDS, 0),
        };
        for (offset, name, right) in [(0, "at place", hits), (8, "of block A's store, place", after_a)] {
            k.a.load(R3, data.0);
            k.a.ld(R14, (place * RECORD) as i64 + offset, R3);
            k.check_is(&format!("continuous samples {name} {place}"), R14, right);
        }
    }
}
