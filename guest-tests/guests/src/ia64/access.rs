//! `access`: every number of a PMC and of a PMD, from every privilege level.

use super::part::{Expected, Facts};
use super::{CAUGHT, CAUGHT_ISR, EXPECT, FAULTS, Kernel};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{isr, psr, vector};
use vm_pmu_engines::image::Image;

/// What is done to a register, and its name.
type Access = (&'static str, fn() -> Op);

/// How many registers an index can name.
const NUMBERS: u64 = 256;

/// A table of what every register reads as.
fn table(registers: &[Expected], value: impl Fn(&Expected) -> u64) -> Vec<u64> {
    let right = |number: u64| registers.iter().find(|same| (u64::from(same.first)..=same.last.into()).contains(&number)).map_or(0, &value);
    (0..NUMBERS).map(right).collect()
}

fn place(k: &mut Kernel, values: &[u64]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    k.place(&bytes)
}

/// Does `body` for every index, in r16.
fn for_all(k: &mut Kernel, body: impl FnOnce(&mut Kernel)) {
    k.a.put(mov(R16, R0));
    let again = k.a.mark();
    body(k);
    k.a.put(adds(R16, 1, R16));
    k.a.load(R17, NUMBERS);
    k.a.put(cmp_ltu(P6, P7, R16, R17));
    k.a.put(br_cond(again).when(P6));
}

/// What r18 holds is compared with the table that r19 walks: r20 counts the differences, r21 is the last index with one.
fn compare(k: &mut Kernel) {
    k.a.put(ld8(R22, R19).post(8));
    k.a.put(cmp_eq(P6, P7, R18, R22));
    k.a.put(adds(R20, 1, R20).when(P7));
    k.a.put(mov(R21, R16).when(P7));
}

fn begin_compare(k: &mut Kernel, table: u64) {
    k.a.load(R19, table);
    k.a.put(mov(R20, R0));
    k.a.put(mov(R21, R0));
}

fn end_compare(k: &mut Kernel, label: &str) {
    k.check_is(&format!("{label}: which of them"), R21, 0);
    k.check_is(&format!("{label}: differ"), R20, 0);
}

/// One kind of registers: reset values, then ones and zeros written to each, which then gets back its former value.
fn kind(k: &mut Kernel, name: &str, registers: &[Expected], read: fn(Gr, Gr) -> Op, write: fn(Gr, Gr) -> Op) {
    let reset = place(k, &table(registers, |same| same.reset));
    begin_compare(k, reset);
    for_all(k, |k| {
        k.a.put(read(R18, R16));
        compare(k);
    });
    end_compare(k, &format!("{name} after reset"));
    for (what, value, right) in [("ones", u64::MAX, table(registers, |same| same.ones)), ("zeros", 0, table(registers, |same| same.zeros))]
    {
        let right = place(k, &right);
        begin_compare(k, right);
        for_all(k, |k| {
            k.a.put(read(R23, R16));
            k.a.load(R18, value);
            k.a.put(write(R16, R18));
            k.a.put(read(R18, R16));
            k.a.put(write(R16, R23));
            compare(k);
        });
        end_compare(k, &format!("{name} after {what}"));
    }
    // Only bits 7:0 of an index count.
    begin_compare(k, reset);
    for_all(k, |k| {
        k.a.load(R18, 0xABCD_0000_0000_1200);
        k.a.put(or(R18, R18, R16));
        k.a.put(read(R18, R18));
        compare(k);
    });
    end_compare(k, &format!("{name} with other bits in the index"));
}

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    // What users do: each access to all numbers, with a system call after each.
    let accesses: [Access; 3] =
        [("mov to PMC", || mov_to_pmc(R16, R18)), ("mov to PMD", || mov_to_pmd(R16, R18)), ("mov from PMC", || mov_from_pmc(R18, R16))];
    k.a.routine("user");
    let user = k.a.mark();
    for (_, access) in accesses {
        for_all(&mut k, |k| k.a.put(access()));
        k.system_call();
    }
    for_all(&mut k, |k| {
        k.a.put(mov_from_pmd(R18, R16));
        compare(k);
    });
    k.system_call();

    k.main();
    kind(&mut k, "PMCs", part.pmcs, mov_from_pmc, mov_to_pmc);
    kind(&mut k, "PMDs", part.pmds, mov_from_pmd, mov_to_pmd);
    let zeros = place(&mut k, &table(part.pmds, |_| 0));
    let ones = place(&mut k, &table(part.pmds, |same| same.ones));
    for_all(&mut k, |k| {
        k.a.load(R18, u64::MAX);
        k.a.put(mov_to_pmd(R16, R18));
    });
    for level in 1..=3 {
        for (state, what, right) in [(0, "", ones), (psr::SP, " with PSR.sp", zeros)] {
            for (number, (name, _)) in accesses.iter().enumerate() {
                k.expect_faults();
                k.a.load(R18, 0);
                if number == 0 {
                    k.enter_level(user, level, state);
                } else {
                    k.resume_user();
                }
                k.store_own(EXPECT, R0);
                for (cell, right) in [(FAULTS, NUMBERS), (CAUGHT, vector::GENERAL_EXCEPTION.into())] {
                    k.load_own(R9, cell);
                    k.check_is(&format!("{name} at level {level}{what}"), R9, right);
                }
                k.load_own(R9, CAUGHT_ISR);
                k.a.put(zxt2(R9, R9));
                k.check_is(&format!("{name} at level {level}{what}: the code"), R9, isr::PRIVILEGED_OPERATION);
            }
            begin_compare(&mut k, right);
            k.resume_user();
            end_compare(&mut k, &format!("PMDs at level {level}{what}"));
        }
    }
    k.end_main();
    k.finish()
}
