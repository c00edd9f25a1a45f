//! `speculation`: loads deferred by their reasons, the places of the table of advanced loads, checks of floating-point flags, tiny results, and traps of results.

use crate::ia64::Kernel;
use crate::ia64::part::{MONTECITO, Monitor};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{psr, vector};
use vm_pmu_engines::image::Image;

/// A register's address that names no memory.
const NOWHERE: u64 = 1 << 45;
/// In FPSR: the flag of an inexact result in status field 1.
const INEXACT_1: u64 = 1 << 31;
/// In FPSR: no traps of underflow.
const UNDERFLOW_DISABLED: u64 = 1 << 4;
/// The control of a status field by which tiny results become zero.
const FLUSH: u64 = 1;

/// Counts `rights` of the instructions in `body` at level 0. r16 is the address of data, of which there are 512 bytes.
fn measure(k: &mut Kernel, name: &str, data: u64, rights: &[(&'static str, u64)], body: impl FnOnce(&mut Kernel)) {
    let placed = program(k, rights, Monitor::of);
    k.a.load(R16, data);
    k.user_monitors(true);
    body(k);
    k.user_monitors(false);
    check(k, name, &placed);
}

/// Programs counters that hold 0: which of them, and what they will count.
fn program(k: &mut Kernel, rights: &[(&'static str, u64)], of: impl Fn(&'static str) -> Monitor) -> Vec<(u8, &'static str, u64)> {
    let placed: Vec<_> = MONTECITO.counters().zip(rights).map(|(counter, (event, right))| (counter, *event, *right)).collect();
    for (counter, event, _) in &placed {
        k.write_pmc(*counter, MONTECITO.pmc(of(event)));
        k.write_pmd(*counter, 0);
    }
    placed
}

fn check(k: &mut Kernel, name: &str, placed: &[(u8, &'static str, u64)]) {
    for (counter, event, right) in placed {
        k.read_pmd(R4, *counter);
        k.check_is(&format!("{name}: {event}"), R4, *right);
        k.write_pmc(*counter, MONTECITO.idle);
    }
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let data = k.reserve(512);
    let over = k.a.label();
    k.a.put(br_cond(over));
    // In user code: PSR.ed holds for the first load alone.
    k.a.routine("user");
    let user = k.a.mark();
    k.a.put(ld8_s(R17, R16));
    k.a.put(ld8_s(R18, R16));
    k.system_call();
    // What traps goes on.
    k.handler(vector::FLOATING_TRAP);
    k.end_handler();
    k.a.here(over);
    k.main();
    table(&mut k, data);
    deferred(&mut k, data, user);
    flags(&mut k, data);
    tiny(&mut k, data);
    traps(&mut k, data);
    k.end_main();
    k.finish()
}

/// The table has 32 places. Of the 15 general registers none counts; of 18 floating-point ones the 16th and 17th take the last two places, and
/// the 18th displaces the oldest, that of r17.
fn table(k: &mut Kernel, data: u64) {
    let [integer, float, both] = ["ALAT_CAPACITY_MISS.INT", "ALAT_CAPACITY_MISS.FP", "ALAT_CAPACITY_MISS.ALL"];
    let floats = [F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, F17, F18, F19, F20, F21, F22, F23];
    measure(k, "the last places", data, &[(integer, 0), (float, 3), (both, 3)], |k| {
        k.a.put(invala());
        for register in [R17, R18, R19, R20, R21, R22, R23, R24, R25, R26, R27, R28, R29, R30, R31] {
            k.a.put(ld8_a(register, R16));
        }
        for register in floats {
            k.a.put(ldfd_a(register, R16));
        }
    });
    // r31 has its entry. r17 has none: its check loads, and displaces r18.
    measure(k, "a full table", data, &[(integer, 1), (float, 0), (both, 1)], |k| {
        k.a.put(ld8_a(R31, R16));
        k.a.put(ld8_c_nc(R17, R16));
        k.a.put(ld8_c_nc(R17, R16));
        k.a.put(ld8_c_clr(R19, R16));
    });
}

fn deferred(k: &mut Kernel, data: u64, user: Label) {
    let reasons = ["SPEC_LOADS_NATTED.ALL", "SPEC_LOADS_NATTED.NAT_CNSM", "SPEC_LOADS_NATTED.DEF_PSR_ED"];
    // A load from nowhere, two by its NaT, and one for a floating-point register, which no reason counts.
    let missed = ("SPEC_LOADS_NATTED.DEF_TLB_MISS", 1);
    measure(k, "an address that is a NaT", data, &[(reasons[0], 4), (reasons[1], 2), (reasons[2], 0), missed], |k| {
        k.a.load(R17, NOWHERE);
        k.a.put(ld8_s(R17, R17));
        k.a.put(ld8_s(R18, R17));
        k.a.put(ld4_s(R18, R17));
        k.a.put(ldfd_s(F6, R17));
        k.a.put(ld8_s(R18, R16));
    });
    for (state, right) in [(psr::ED, 1), (0, 0)] {
        let rights = [(reasons[0], right), (reasons[1], 0), (reasons[2], right)];
        let placed = program(k, &rights, |event| Monitor::of(event).at(0b1000));
        k.a.load(R16, data);
        k.enter_user(user, psr::UP | state);
        check(k, if state == 0 { "PSR.ed is off" } else { "PSR.ed" }, &placed);
    }
}

/// A flag that status field 1 has and 0 has not fails the check, until it is cleared.
fn flags(k: &mut Kernel, data: u64) {
    k.a.put(mov_from_ar_m(R20, Ar::FPSR));
    k.a.load(R21, INEXACT_1);
    k.a.put(or(R21, R20, R21));
    measure(k, "flags", data, &[("FP_FAILED_FCHKF", 2), ("INST_FAILED_CHKS_RETIRED.ALL", 0)], |k| {
        k.a.put(mov_to_ar_m(Ar::FPSR, R21));
        for field in [1, 0, 1] {
            let next = k.a.label();
            k.a.put(fchkf(next).sf(field));
            k.a.here(next);
        }
        k.a.put(fclrf().sf(1));
        let next = k.a.label();
        k.a.put(fchkf(next).sf(1));
        k.a.here(next);
    });
    k.a.put(mov_to_ar_m(Ar::FPSR, R20));
}

/// Of 2^-100 the square is less than the least single and no double is so small; of 2^-600 it is less than the least double. Safe is the
/// first as a factor of doubles alone: its exponent is within half of their range.
fn tiny(k: &mut Kernel, data: u64) {
    let [real, possible, waited] = ["FP_FLUSH_TO_ZERO.FTZ_REAL", "FP_FLUSH_TO_ZERO.FTZ_POSS", "FP_FALSE_SIRSTALL"];
    k.a.load(R17, (1023 - 100) << 52);
    k.a.put(setf_d(F6, R17));
    k.a.load(R17, (1023 - 600) << 52);
    k.a.put(setf_d(F7, R17));
    k.a.put(mov_from_ar_m(R20, Ar::FPSR));
    let squares = |k: &mut Kernel| {
        k.a.put(fma_s(F8, F6, F6, F0));
        k.a.put(fma_d(F9, F6, F6, F0));
        k.a.put(fma_d(F9, F7, F7, F0));
        k.a.put(fma_s(F10, F6, F1, F0));
    };
    measure(k, "tiny results", data, &[(real, 0), (possible, 2), (waited, 3)], squares);
    k.a.put(fsetc(0x7F, FLUSH));
    measure(k, "tiny results that become zero", data, &[(real, 2), (possible, 2), (waited, 3)], squares);
    k.a.put(getf_d(R17, F8));
    k.check_is("what has become of one", R17, 0);
    k.a.put(mov_to_ar_m(Ar::FPSR, R20));
}

/// With traps of underflow the square of 2^-100 as a single traps. As a double it is safe; 2^-100 as a single is not, and passes.
fn traps(k: &mut Kernel, data: u64) {
    k.a.put(mov_from_ar_m(R20, Ar::FPSR));
    k.a.load(R21, UNDERFLOW_DISABLED);
    k.a.put(andcm(R21, R20, R21));
    let [trapped, waited] = ["FP_TRUE_SIRSTALL", "FP_FALSE_SIRSTALL"];
    measure(k, "traps of results", data, &[(trapped, 2), (waited, 1)], |k| {
        k.a.put(mov_to_ar_m(Ar::FPSR, R21));
        k.a.put(fma_s(F8, F6, F6, F0));
        k.a.put(fma_d(F9, F6, F6, F0));
        k.a.put(fma_s(F10, F6, F1, F0));
        k.a.put(fma_s(F8, F6, F6, F0));
    });
    k.a.put(mov_to_ar_m(Ar::FPSR, R20));
}
