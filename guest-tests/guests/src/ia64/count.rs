//! `count`: every event that the interpreter makes, over known instructions, as many at a time as there are counters.

use super::Kernel;
use super::part::{Facts, Monitor};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::image::Image;

/// A register's address that names no memory.
const NOWHERE: u64 = 1 << 45;
/// In a physical address: not to be cached.
const UNCACHEABLE: u64 = 1 << 63;

/// What is counted, by its names on Montecito and on the first Itanium, empty where there is no such event, and the right count.
type Right = (&'static str, &'static str, u64);

/// Instructions, and their counts.
struct Section {
    name: &'static str,
    /// What comes before the counters run: r16 is the address of 256 bytes of data, predicate 1 is 1 and 2 is 0.
    prepare: fn(&mut Kernel),
    body: fn(&mut Kernel),
    /// With the two no-operations after `sum`, and the `rum`.
    rights: &'static [Right],
}

const fn both(name: &'static str, right: u64) -> Right {
    (name, name, right)
}

const fn instructions(right: u64) -> Right {
    ("IA64_INST_RETIRED.THIS", "IA64_INST_RETIRED.ALL", right)
}

const fn cycles(right: u64) -> Right {
    ("CPU_OP_CYCLES.ALL", "CPU_CYCLES", right)
}

const SECTIONS: &[Section] = &[
    Section {
        name: "integer",
        prepare: |_| {},
        body: integer,
        // 11 bundles, two of them of two instructions; of those 2 after sum, and rum.
        rights: &[
            instructions(31 + 2 + 1),
            cycles(11 + 1),
            ("", "UNSTALLED_BACKEND_CYCLE", 11 + 1),
            both("NOPS_RETIRED", 16 + 2),
            both("PREDICATE_SQUASHED_RETIRED", 3),
            ("FP_OPS_RETIRED", "FP_OPS_RETIRED_LO", 0),
            ("BR_MISPRED_DETAIL.ALL.ALL_PRED", "BRANCH_PREDICTOR.ALL.ALL_PREDICTIONS", 1),
            ("SERIALIZATION_EVENTS", "", 3),
            both("LOADS_RETIRED", 0),
            both("STORES_RETIRED", 0),
        ],
    },
    Section {
        name: "floating point",
        prepare: |_| {},
        body: floating,
        // 14 bundles.
        rights: &[
            instructions(42 + 2 + 1),
            both("NOPS_RETIRED", 28 + 2),
            // On the first Itanium the four of one instruction are no low bits, and one of the upper.
            ("FP_OPS_RETIRED", "", 18),
            ("", "FP_OPS_RETIRED_LO", 14),
            ("", "FP_OPS_RETIRED_HI", 1),
            both("PREDICATE_SQUASHED_RETIRED", 1),
        ],
    },
    Section {
        name: "accesses",
        prepare: |_| {},
        body: accesses,
        // 12 integer and 6 floating-point loads, 12 stores, 3 semaphores, which are both.
        rights: &[
            both("LOADS_RETIRED", 12 + 6 + 3),
            both("STORES_RETIRED", 12 + 3),
            ("LOADS_RETIRED_INTG", "", 12 + 3),
            ("DATA_REFERENCES_SET0", "DATA_REFERENCES_RETIRED", 12 + 6 + 12 + 3),
            ("DATA_REFERENCES_SET1", "", 12 + 6 + 12 + 3),
            both("MISALIGNED_LOADS_RETIRED", 0),
            both("MISALIGNED_STORES_RETIRED", 0),
            both("UC_LOADS_RETIRED", 0),
            both("UC_STORES_RETIRED", 0),
            both("PREDICATE_SQUASHED_RETIRED", 2),
            instructions(35 * 3 + 2 + 1),
        ],
    },
    Section {
        name: "misaligned and uncacheable",
        prepare: |k| {
            for (register, address) in [(R17, 2), (R18, 4), (R19, 1)] {
                k.a.put(adds(register, address, R16));
            }
            k.a.load(R20, UNCACHEABLE);
            k.a.put(or(R20, R20, R16));
        },
        body: |k| {
            // Four bytes at 2, eight at 4, a double at 4; two bytes at 1, eight at 4.
            k.a.put(ld4(R21, R17));
            k.a.put(ld8(R21, R18));
            k.a.put(ldfd(F6, R18));
            k.a.put(st2(R19, R21));
            k.a.put(st8(R18, R21));
            k.a.put(ld8(R21, R20));
            k.a.put(ld4(R21, R20));
            k.a.put(st8(R20, R21));
        },
        rights: &[
            both("LOADS_RETIRED", 5),
            both("MISALIGNED_LOADS_RETIRED", 3),
            both("UC_LOADS_RETIRED", 2),
            both("STORES_RETIRED", 3),
            both("MISALIGNED_STORES_RETIRED", 2),
            both("UC_STORES_RETIRED", 1),
            ("LOADS_RETIRED_INTG", "", 4),
        ],
    },
    Section {
        name: "checks",
        prepare: |k| k.a.load(R22, NOWHERE),
        body: checks,
        rights: &[
            ("SPEC_LOADS_NATTED.ALL", "", 1),
            ("SPEC_LOADS_NATTED.DEF_TLB_MISS", "", 1),
            both("INST_FAILED_CHKS_RETIRED.INT", 1),
            both("INST_FAILED_CHKS_RETIRED.FP", 1),
            both("INST_FAILED_CHKS_RETIRED.ALL", 2),
            ("INST_CHKA_LDC_ALAT.INT", "ALAT_INST_CHKA_LDC.INT", 4),
            ("INST_CHKA_LDC_ALAT.FP", "ALAT_INST_CHKA_LDC.FP", 3),
            ("INST_CHKA_LDC_ALAT.ALL", "ALAT_INST_CHKA_LDC.ALL", 7),
            ("INST_FAILED_CHKA_LDC_ALAT.INT", "ALAT_INST_FAILED_CHKA_LDC.INT", 2),
            ("INST_FAILED_CHKA_LDC_ALAT.FP", "ALAT_INST_FAILED_CHKA_LDC.FP", 1),
            ("INST_FAILED_CHKA_LDC_ALAT.ALL", "ALAT_INST_FAILED_CHKA_LDC.ALL", 3),
        ],
    },
    Section {
        name: "places of advanced loads",
        prepare: |k| {
            k.a.put(invala_e(R17));
            k.a.put(invala_e_f(F17));
            k.a.put(invala_e_f(F33));
        },
        body: displacing,
        // Of the first Itanium 17 and 33 choose the same set of two.
        rights: &[("", "ALAT_REPLACEMENT.INT", 1), ("", "ALAT_REPLACEMENT.FP", 1), ("", "ALAT_REPLACEMENT.ALL", 2)],
    },
    Section {
        name: "tiny results",
        prepare: |k| {
            // 2^-100 and 2^-600; status field 0 has results become zero.
            for (register, exponent) in [(F6, 100), (F7, 600)] {
                k.a.load(R17, (1023 - exponent) << 52);
                k.a.put(setf_d(register, R17));
            }
            k.a.put(mov_from_ar_m(R20, Ar::FPSR));
            k.a.put(fsetc(0x7F, 1));
        },
        body: |k| {
            // The square of the first is less than the least single and no double is so small; that of the second is less than the least double.
            k.a.put(fma_s(F8, F6, F6, F0));
            k.a.put(fma_d(F9, F6, F6, F0));
            k.a.put(fma_d(F9, F7, F7, F0));
            k.a.put(fma_s(F10, F6, F1, F0));
            k.a.put(mov_to_ar_m(Ar::FPSR, R20));
        },
        // Safe is the square of the first as a double alone: its exponent is within half the range.
        rights: &[("FP_FLUSH_TO_ZERO.FTZ_REAL", "FP_FLUSH_TO_ZERO", 2), ("FP_FLUSH_TO_ZERO.FTZ_POSS", "", 2), ("FP_FALSE_SIRSTALL", "", 3)],
    },
    Section {
        name: "branches",
        prepare: |_| {},
        body: branches,
        rights: &[
            instructions(48 + 2 + 1),
            cycles(17 + 1),
            ("BR_MISPRED_DETAIL.ALL.ALL_PRED", "BRANCH_PREDICTOR.ALL.ALL_PREDICTIONS", 12),
            both("PREDICATE_SQUASHED_RETIRED", 0),
        ],
    },
    Section {
        name: "register stack",
        prepare: |k| {
            let store = k.reserve(1024);
            k.a.put(flushrs());
            k.a.put(mov_from_ar_m(R24, Ar::BSPSTORE));
            k.a.load(R25, store.next_multiple_of(512));
            k.a.put(mov_to_ar_m(Ar::BSPSTORE, R25));
        },
        body: register_stack,
        // The frames before the five events have 0, 96, 0, 50 and 96 registers, below them 0, 0, 96, 46 and 0 are dirty; 96 is 1.4.0
        // in octal, 50 is 0.6.2, 46 is 0.5.6. The 50 that the second frame has no room for are stored and loaded.
        rights: &[
            ("RSE_EVENT_RETIRED", "", 5),
            ("RSE_CURRENT_REGS_6", "", 1 + 1),
            ("RSE_CURRENT_REGS_5_TO_3", "", 4 + 6 + 4),
            ("RSE_CURRENT_REGS_2_TO_0", "", 2),
            ("RSE_DIRTY_REGS_6", "", 1),
            ("RSE_DIRTY_REGS_5_TO_3", "", 4 + 5),
            ("RSE_DIRTY_REGS_2_TO_0", "", 6),
            ("RSE_REFERENCES_RETIRED.LOAD", "RSE_LOADS_RETIRED", 50),
            ("RSE_REFERENCES_RETIRED.STORE", "", 50),
            ("RSE_REFERENCES_RETIRED.ALL", "RSE_REFERENCES_RETIRED", 100),
            both("LOADS_RETIRED", 50),
            both("STORES_RETIRED", 50),
            ("DATA_REFERENCES_SET0", "DATA_REFERENCES_RETIRED", 100),
            instructions(5 * 3 + 2 + 1),
        ],
    },
];

fn integer(k: &mut Kernel) {
    // Four bundles of an instruction and two no-operations.
    k.a.put(add(R17, R18, R19));
    k.a.put(xor(R17, R17, R18));
    k.a.put(popcnt(R17, R18));
    k.a.put(srlz_i());
    // Two of one and a long one.
    k.a.load(R17, 0x1234_5678_9ABC_DEF0);
    k.a.load(R18, 1);
    // Three instructions.
    k.a.bundle(Template::MMI_S, [srlz_i(), adds(R17, 1, R17), adds(R18, 1, R18)]);
    // Predicated off: an addition, the middle one of three no-operations, and an addition next to a branch, which is not one of them.
    k.a.put(adds(R17, 1, R17).when(P2));
    k.a.bundle(Template::MFB_S, [nop(0), nop(0).when(P2), nop(0)]);
    let next = k.a.label();
    k.a.bundle(Template::MIB_S, [nop(0), adds(R17, 1, R17).when(P2), br_cond(next).when(P2)]);
    k.a.here(next);
    // A hint is no no-operation; nor is this one predicated off.
    k.a.bundle(Template::MII_S, [srlz_i(), nop(0), hint(1)]);
}

fn floating(k: &mut Kernel) {
    // Both in one: 2 each. By 1, or to 0: 1 each. Pairs: 4, and 2 without an addition.
    k.a.put(fma(F6, F7, F8, F9));
    k.a.put(fnma_d(F6, F7, F8, F9));
    k.a.put(fms_s(F6, F7, F8, F9));
    k.a.put(fmpy(F6, F7, F8));
    k.a.put(fadd(F6, F7, F9));
    k.a.put(fpma(F6, F7, F8, F9));
    k.a.put(fpma(F6, F7, F8, F0));
    // 1 each.
    k.a.put(fcmp_lt(P3, P4, F7, F8));
    k.a.put(frcpa(F6, P3, F7, F1));
    k.a.put(fmin(F6, F7, F8));
    k.a.put(fcvt_fx_trunc(F6, F7));
    // None.
    k.a.put(xma_l(F6, F7, F8, F9));
    k.a.put(fmov(F6, F7));
    k.a.put(fma(F6, F7, F8, F9).when(P2));
}

fn accesses(k: &mut Kernel) {
    // 12 integer loads.
    for op in [ld1(R21, R16), ld2(R21, R16), ld4(R21, R16), ld8(R21, R16), ld8_acq(R21, R16), ld4_bias(R21, R16), ld8_fill(R21, R16)] {
        k.a.put(op);
    }
    for op in [ld8(R21, R16).post(0), ld8_s(R21, R16), ld8_a(R21, R16), ld8_sa(R21, R16), ld16(R21, R16)] {
        k.a.put(op);
    }
    // 6 floating-point ones, the pair being one.
    for op in [ldfs(F6, R16), ldfd(F6, R16), ldf8(F6, R16), ldfe(F6, R16), ldf_fill(F6, R16), ldfpd(F6, F7, R16)] {
        k.a.put(op);
    }
    // 3 semaphores, the comparison of the last failing: there are zeros.
    k.a.put(xchg8(R21, R16, R0));
    k.a.put(fetchadd8_acq(R21, R16, 1));
    k.a.put(cmpxchg8_acq(R21, R16, R0));
    // 12 stores, 7 of general registers.
    for op in [st1(R16, R0), st2(R16, R0), st4(R16, R0), st8(R16, R0), st8_rel(R16, R0), st8_spill(R16, R0), st16(R16, R0)] {
        k.a.put(op);
    }
    for op in [stfs(R16, F0), stfd(R16, F0), stf8(R16, F0), stfe(R16, F0), stf_spill(R16, F0)] {
        k.a.put(op);
    }
    // None.
    k.a.put(ld8(R21, R16).when(P2));
    k.a.put(st8(R16, R21).when(P2));
}

/// A check that fails goes to what follows.
fn failing(k: &mut Kernel, check: impl FnOnce(Label) -> Op) {
    let next = k.a.label();
    k.a.put(check(next));
    k.a.here(next);
}

fn checks(k: &mut Kernel) {
    k.a.put(ld8_s(R21, R22));
    k.a.put(setf_sig(F6, R21));
    failing(k, |next| chk_s_m(R21, next));
    failing(k, |next| chk_s_i(R16, next));
    failing(k, |next| chk_s_f(F6, next));
    failing(k, |next| chk_s_f(F1, next));
    // Of general registers 4 checks: one that holds, one after a store, a load that need not be done and one that must.
    k.a.put(ld8_a(R23, R16));
    failing(k, |next| chk_a_nc(R23, next));
    k.a.put(st8(R16, R0));
    failing(k, |next| chk_a_nc(R23, next));
    k.a.put(ld8_a(R23, R16));
    k.a.put(ld8_c_clr(R23, R16));
    k.a.put(ld8_c_clr(R23, R16));
    // Of floating-point ones 3: one that holds, a load that must be done, which counts as advanced, and one that need not.
    k.a.put(ldfd_a(F7, R16));
    failing(k, |next| chk_a_nc_f(F7, next));
    k.a.put(st8(R16, R0));
    k.a.put(ldfd_c_nc(F7, R16));
    k.a.put(ldfd_c_clr(F7, R16));
}

fn displacing(k: &mut Kernel) {
    // Two have places; the next takes that of the first, and the one after it that of the second. The last has a place of its own.
    k.a.put(ld8_a(R17, R16));
    k.a.put(ldfd_a(F17, R16));
    k.a.put(ldfd_a(F33, R16));
    k.a.put(ld8_a(R17, R16));
    k.a.put(ld8_a(R17, R16));
}

fn branches(k: &mut Kernel) {
    // 2 and 3 instructions, then 5 turns of 3.
    k.repeat(5, |_| {});
    // 3 each: taken and not taken.
    for predicate in [P1, P2] {
        let next = k.a.label();
        k.a.put(br_cond(next).when(predicate));
        k.a.here(next);
    }
    // 3 each: there, back, and over the procedure.
    let (procedure, over) = (k.a.label(), k.a.label());
    k.a.put(br_call(B1, procedure));
    k.a.put(br_cond(over));
    k.a.here(procedure);
    k.a.put(br_ret(B1));
    k.a.here(over);
    // 2, 3 and 3 through a register.
    let (indirect, long) = (k.a.label(), k.a.label());
    k.a.load_address(R17, indirect);
    k.a.put(mov_to_br(B2, R17));
    k.a.put(br_cond_reg(B2));
    k.a.here(indirect);
    // 2, and the 3 of a no-operation.
    k.a.put(brl_cond(long));
    k.a.here(long);
    k.nops(1);
}

/// Stops the counters itself, before the registers are stored again.
fn register_stack(k: &mut Kernel) {
    let (procedure, over) = (k.a.label(), k.a.label());
    k.a.put(alloc(R4, 0, 96, 0, 0));
    k.a.put(br_call(B1, procedure));
    k.a.put(alloc(R4, 0, 0, 0, 0));
    k.user_monitors(false);
    k.a.put(br_cond(over));
    k.a.here(procedure);
    k.a.put(alloc(R4, 0, 50, 0, 0));
    k.a.put(br_ret(B1));
    k.a.here(over);
    k.a.put(mov_to_ar_m(Ar::BSPSTORE, R24));
}

/// One section with the counters of `placed`.
fn measure(k: &mut Kernel, part: &Facts, section: &Section, data: u64, placed: &[(u8, &'static str)]) {
    for (counter, event) in placed {
        k.write_pmc(*counter, part.pmc(Monitor::of(event)));
    }
    // The first time translations may be missing, and their walks are loads.
    for _ in 0..2 {
        for (counter, _) in placed {
            k.write_pmd(*counter, 0);
        }
        k.a.load(R16, data);
        k.a.put(cmp_eq(P1, P2, R0, R0));
        (section.prepare)(k);
        k.user_monitors(true);
        (section.body)(k);
        k.user_monitors(false);
    }
    for (counter, event) in placed {
        let names = section.rights.iter().find(|(montecito, itanium, _)| montecito == event || itanium == event);
        let right = names.map_or(0, |(_, _, right)| *right);
        k.read_pmd(R4, *counter);
        k.check_is(&format!("{}: {event}", section.name), R4, right);
        k.write_pmc(*counter, part.idle);
    }
}

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let data = k.reserve(256);
    k.main();
    for section in SECTIONS {
        let names = section.rights.iter().map(|(montecito, itanium, _)| if part.width == 47 { *montecito } else { *itanium });
        let mut left: Vec<&'static str> = names.filter(|name| !name.is_empty()).collect();
        while !left.is_empty() {
            let placed = part.place(&left);
            measure(&mut k, part, section, data, &placed);
            left.retain(|name| placed.iter().all(|(_, taken)| taken != name));
        }
    }
    k.end_main();
    k.finish()
}
