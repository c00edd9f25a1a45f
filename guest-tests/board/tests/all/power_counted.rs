//! Events that single instructions make, read from the counters of a PMU of POWER9. Codes are those of the POWER9 PMU User's Guide 1.2.

use vm_pmu::arch::access::Address;
use vm_pmu::arch::power9::{Mmcr1, spr as pmu};
use vm_pmu::topology::Builder;
use vm_pmu_board::Lines;
use vm_pmu_board::power::Cpu;

#[path = "../../../engines/tests/all/power/support.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of the engine use all of it")]
mod support;

use support::*;

/// PMC1, PMC4 and PMC3 of each of two CPUs when the program of CPU 0 is over; the other CPU does nothing but branch.
fn counted(select: impl Fn(&mut Mmcr1), build: impl FnOnce(&mut Assembler)) -> [[u64; 3]; 2] {
    counted_beside(select, build, |_| {})
}

/// The same, while the other CPU first does something else. The CPUs do an instruction each in turn.
fn counted_beside(select: impl Fn(&mut Mmcr1), build: impl FnOnce(&mut Assembler), beside: impl FnOnce(&mut Assembler)) -> [[u64; 3]; 2] {
    let program = image(true, |a| {
        let first = a.label();
        a.load(R4, msr::FP | msr::VSX | msr::TM);
        a.mfmsr(R5);
        a.or(R4, R4, R5);
        a.mtmsrd(R4, false);
        a.mfspr(R3, spr::PIR);
        a.cmpdi(CR0, R3, 0);
        a.load(R6, DATA);
        a.beq(first);
        beside(a);
        let ever = a.label();
        a.here(ever);
        a.b(ever);
        a.here(first);
        a.load(R3, 1);
        a.mtspr(spr::CTRL, R3);
        build(a);
    });
    let config = Config { ram: 4 << 20, cpus: 2, ..Config::default() };
    let pmus = Builder::new("power9").expect("a part").threads(2).build(Lines::new(2)).unwrap();
    let mut mmcr1 = Mmcr1::default();
    select(&mut mmcr1);
    let attach = |index: usize| {
        let thread = pmus.thread(index).expect("a thread");
        thread.write(Address::Spr(pmu::MMCR1), mmcr1.bits()).expect("hypervisor state");
        thread.write(Address::Spr(pmu::MMCR0), 0).expect("hypervisor state");
        let mut cpu = Cpu::new(thread, config.time_base);
        cpu.broadcast_to(pmus.thread(1 - index).into_iter().collect());
        cpu
    };
    let mut machine = Machine::new(&config, &program, attach).expect("a machine");
    let exit = machine.run(Limits::steps(200_000));
    assert!(matches!(exit, Exit::Status { .. }), "{exit}");
    [0, 1].map(|cpu| {
        let thread = pmus.thread(cpu).expect("a thread");
        [pmu::PMC1, pmu::PMC1 + 3, pmu::PMC1 + 2].map(|number| thread.read(Address::Spr(number)).expect("hypervisor state"))
    })
}

/// PMC4 of the CPU that runs the program, which counts the direct event of this unit and selector.
fn fourth(unit: u8, selector: u8, build: impl FnOnce(&mut Assembler)) -> u64 {
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc4unit(unit);
        mmcr1.set_pmc4sel(selector);
    };
    counted(select, build)[0][1]
}

/// Two loads and three stores of vectors, one of them of the upper half of the registers.
fn moves(a: &mut Assembler) {
    a.lxvd2x(1, R0, R6);
    a.lxvd2x(33, R0, R6);
    for register in [1, 33, 33] {
        a.stxvd2x(register, R0, R6);
    }
}

/// Of additions one in doubles and two in singles, of fused ones three and four.
fn arithmetic(a: &mut Assembler) {
    a.xvadddp(1, 2, 3);
    (0..2).for_each(|_| a.xvaddsp(1, 2, 3));
    (0..3).for_each(|_| a.xvmaddadp(1, 2, 3));
    (0..4).for_each(|_| a.xvmaddasp(1, 2, 3));
    // One flop, and three that are none.
    a.fneg(F1, F2);
    a.fmr(F1, F2);
    a.frsp(F1, F2);
    a.fctid(F1, F2);
}

#[test]
fn vector_loads_and_stores_are_counted() {
    // 44054h, PM_VECTOR_LD_CMPL; 44056h, PM_VECTOR_ST_CMPL.
    assert_eq!([fourth(4, 0x54, moves), fourth(4, 0x56, moves)], [2, 3]);
}

#[test]
fn vector_arithmetic_is_counted_by_its_kind() {
    // 4D052h, PM_2FLOP_CMPL: xvadddp. 4D054h, PM_8FLOP_CMPL: xvmaddasp. 4D058h, PM_VECTOR_FLOP_CMPL: all ten. 45052h, PM_4FLOP_CMPL:
    // xvmaddadp and xvaddsp.
    let counts = [(0xD, 0x52), (0xD, 0x54), (0xD, 0x58), (5, 0x52)].map(|(unit, selector)| fourth(unit, selector, arithmetic));
    assert_eq!(counts, [1, 4, 10, 5]);
}

/// Of each kind of floating-point instruction another number: 1 to 9, with those of the first precision before the second.
fn of_each_kind(a: &mut Assembler) {
    // Scalar: one flop, fused, divisions; in double precision, but for the last of each.
    a.fadds(F1, F2, F3);
    a.fmadd(F1, F2, F3, F1);
    a.fmadds(F1, F2, F3, F1);
    (0..2).for_each(|_| a.fdiv(F1, F2, F3));
    a.fsqrts(F1, F2);
    // Vectors of double precision.
    (0..4).for_each(|_| a.xvadddp(1, 2, 3));
    (0..5).for_each(|_| a.xvmaddadp(1, 2, 3));
    (0..5).for_each(|_| a.xvdivdp(1, 2, 3));
    a.xvsqrtdp(1, 2);
    // Vectors of single precision.
    (0..7).for_each(|_| a.xvaddsp(1, 2, 3));
    (0..8).for_each(|_| a.xvmaddasp(1, 2, 3));
    (0..8).for_each(|_| a.xvdivsp(1, 2, 3));
    a.xvsqrtsp(1, 2);
    a.fmr(F1, F2);
}

#[test]
fn divisions_and_square_roots_are_counted_by_vector_and_scalar() {
    // 4D04Eh, PM_VSU_FSQRT_FDIV: two fdiv and fsqrts. 3D058h, PM_VSU_DP_FSQRT_FDIV: five xvdivdp and xvsqrtdp; none of single precision.
    let third = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc3unit(0xD);
        mmcr1.set_pmc3sel(0x58);
    };
    assert_eq!([fourth(0xD, 0x4E, of_each_kind), counted(third, of_each_kind)[0][2]], [3, 6]);
}

#[test]
fn operations_are_weighed_in_four_events() {
    // 45050h, PM_1FLOP_CMPL: fadds. 4D052h, PM_2FLOP_CMPL: four xvadddp and both scalar fused ones. 45052h, PM_4FLOP_CMPL: three scalar
    // divisions, five xvmaddadp, seven xvaddsp. 4D054h, PM_8FLOP_CMPL: six vector divisions of doubles, eight xvmaddasp.
    let counts = [(5, 0x50), (0xD, 0x52), (5, 0x52), (0xD, 0x54)].map(|(unit, selector)| fourth(unit, selector, of_each_kind));
    assert_eq!(counts, [1, 6, 15, 14]);
}

#[test]
fn arithmetic_is_counted_by_precision_form_and_whether_it_is_fused() {
    // 4505Ah, PM_SP_FLOP_CMPL: fadds, fmadds, fsqrts, and 7 + 8 + 9 of vectors. 4D05Ch, PM_DP_QP_FLOP_CMPL: fmadd, two fdiv, and 4 + 5 + 6 of
    // vectors. 4505Ch, PM_MATH_FLOP_CMPL: both together. 4505Eh, PM_FLOP_CMPL: the move too. 45056h, PM_SCALAR_FLOP_CMPL: 1 + 2 + 3. 4D058h,
    // PM_VECTOR_FLOP_CMPL: 15 + 24. 4D056h, PM_NON_FMA_FLOP_CMPL: all but 2 + 5 + 8.
    let events = [(5, 0x5A), (0xD, 0x5C), (5, 0x5C), (5, 0x5E), (5, 0x56), (0xD, 0x58), (0xD, 0x56)];
    assert_eq!(events.map(|(unit, selector)| fourth(unit, selector, of_each_kind)), [27, 18, 45, 46, 6, 39, 30]);
}

#[test]
fn moves_are_no_arithmetic_and_changes_of_the_sign_are_one_flop() {
    // 4D05Ah, PM_NON_MATH_FLOP_CMPL; 45050h, PM_1FLOP_CMPL; 45056h, PM_SCALAR_FLOP_CMPL.
    let counts = [(0xD, 0x5A), (5, 0x50), (5, 0x56)].map(|(unit, selector)| fourth(unit, selector, arithmetic));
    assert_eq!(counts, [3, 1, 1]);
}

#[test]
fn instructions_that_abort_are_counted_whatever_comes_of_them() {
    // 2898h, PM_TM_TABORT_TRECLAIM, on PMC1: unit 2, the second bit of the bus at 98h. Without a transaction tabort. changes CR0 alone.
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1unit(2);
        mmcr1.set_pmc1comb(0b10);
        mmcr1.set_pmc1sel(0x98);
    };
    let counts = counted(select, |a| {
        let failed = a.label();
        a.load(R20, 1);
        a.tabort_dot(R20);
        a.tbegin_dot();
        a.beq(failed);
        a.tabort_dot(R20);
        a.here(failed);
    });
    assert_eq!(counts[0][0], 2);
}

/// PMC1 of the CPU that runs the program, which counts the event of the bus of unit 2 at this selector.
fn of_transactions(selector: u8, comb: u8, build: impl FnOnce(&mut Assembler)) -> u64 {
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1unit(2);
        mmcr1.set_pmc1comb(comb);
        mmcr1.set_pmc1sel(selector);
    };
    counted(select, build)[0][0]
}

#[test]
fn transactions_inside_others_and_suspensions_are_counted() {
    /// tend. and tsr. with L = 0 and 1, by their words: tend. 0, tsuspend., tresume.
    const TEND: u32 = 31 << 26 | 686 << 1 | 1;
    const SUSPEND: u32 = 31 << 26 | 750 << 1 | 1;
    const RESUME: u32 = SUSPEND | 1 << 21;
    let nested = |a: &mut Assembler| {
        let failed = a.label();
        a.tbegin_dot();
        a.beq(failed);
        // Three inside the first, and two suspensions; the last tresume. finds nothing suspended.
        (0..3).for_each(|_| a.tbegin_dot());
        for word in [SUSPEND, RESUME, SUSPEND, RESUME, RESUME, TEND, TEND, TEND, TEND] {
            a.word(word);
        }
        a.here(failed);
    };
    // 20A0h, PM_TM_NESTED_TBEGIN; 2098h, PM_TM_NESTED_TEND; 28A0h, PM_TM_TSUSPEND; 20A4h, PM_TM_TRESUME.
    let counts = [(0xA0, 0b00), (0x98, 0b00), (0xA0, 0b10), (0xA4, 0b00)].map(|(selector, comb)| of_transactions(selector, comb, nested));
    assert_eq!(counts, [3, 3, 2, 2]);
}

#[test]
fn a_store_that_outgrows_its_transaction_is_counted_as_an_abort() {
    // 20A8h, PM_TM_FAIL_FOOTPRINT_OVERFLOW; 4608Eh, PM_TM_CAP_OVERFLOW; 30056h, PM_TM_ABORTS.
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1unit(2);
        mmcr1.set_pmc1sel(0xA8);
        mmcr1.set_pmc4unit(6);
        mmcr1.set_pmc4sel(0x8E);
        mmcr1.set_pmc3sel(0x56);
    };
    let counts = counted(select, |a| {
        let failed = a.label();
        a.tbegin_dot();
        a.beq(failed);
        // A transaction may store 8 KiB, which are 1024 doublewords.
        (0..1025).for_each(|_| a.std(R20, 0, R6));
        a.here(failed);
    });
    assert_eq!(counts[0], [1, 1, 1]);
}

#[test]
fn other_cpus_receive_the_invalidation_of_tlbie() {
    // F880h, PM_SNOOP_TLBIE, on PMC1: unit F, the second bit of the bus at 80h. tlbiel does not concern others.
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1unit(0xF);
        mmcr1.set_pmc1comb(0b10);
        mmcr1.set_pmc1sel(0x80);
    };
    let counts = counted(select, |a| {
        (0..3).for_each(|_| a.tlbie(R6, R0));
        a.word(31 << 26 | 6 << 11 | 274 << 1);
    });
    assert_eq!([counts[0][0], counts[1][0]], [0, 3]);
}

#[test]
fn the_utilisation_registers_tick_with_the_time_base_while_the_run_latch_is_on() {
    // 10008h, PM_RUN_SPURR; 400F4h, PM_RUN_PURR. One tick every eight cycles, one cycle an instruction: 800 make 100, and those around
    // them between none and two more.
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1sel(0x08);
        mmcr1.set_pmc4sel(0xF4);
    };
    let counts = counted(select, |a| (0..800).for_each(|_| a.addi(R7, R7, 1)));
    assert!(counts[0].iter().take(2).all(|count| (100..=102).contains(count)), "{counts:?}");
    assert_eq!(counts[1], [0, 0, 0], "its run latch is off");
}

#[test]
fn a_vector_is_loaded_computed_with_and_stored() {
    let machine = run(|a| {
        a.load(R4, msr::FP | msr::VSX);
        a.mfmsr(R5);
        a.or(R4, R4, R5);
        a.mtmsrd(R4, false);
        a.load(R6, DATA);
        for (offset, value) in [(0, 1.5f64), (8, -2.0)] {
            a.load(R3, value.to_bits());
            a.std(R3, offset, R6);
        }
        a.lxvd2x(34, R0, R6);
        // 1.5 + 1.5 and -2 - 2; then 1.5 times 1.5 plus 3 and 2 times 2 minus 4.
        a.xvadddp(3, 34, 34);
        a.xvmaddadp(3, 34, 34);
        a.stxvd2x(3, R0, R6);
    });
    assert_eq!([DATA, DATA + 8].map(|at| f64::from_bits(machine.memory().read(at, 8))), [5.25, 0.0]);
    let access = machine.observer(0).expect("a CPU").steps.iter().filter(|step| step.vector).map(|step| step.access);
    let of = |store| Some(Access { address: DATA, real: DATA, size: 16, store, reserve: false });
    assert_eq!(access.collect::<Vec<_>>(), [of(false), of(true)]);
}

/// A transaction, and what follows it or its failure.
fn within(a: &mut Assembler, body: impl FnOnce(&mut Assembler)) {
    let failed = a.label();
    a.tbegin_dot();
    a.beq(failed);
    body(a);
    a.tend_dot();
    a.here(failed);
}

/// A transaction of CPU 0 that stores to a line, loads from the next, and lasts until CPU 1 has done its part.
fn lasting(a: &mut Assembler) {
    within(a, |a| {
        a.std(R3, 0, R6);
        a.ld(R7, 128, R6);
        (0..40).for_each(|_| a.nop());
    });
}

/// PMC1 of both CPUs, of an event of the bus: unit, selector, which bit; while CPU 1 does something in the midst of such a transaction.
fn attacked((unit, selector, second): (u8, u8, bool), attack: impl FnOnce(&mut Assembler)) -> [u64; 2] {
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1unit(unit);
        mmcr1.set_pmc1comb(if second { 0b10 } else { 0 });
        mmcr1.set_pmc1sel(selector);
    };
    let counts = counted_beside(select, lasting, |a| {
        (0..20).for_each(|_| a.nop());
        attack(a);
    });
    [counts[0][0], counts[1][0]]
}

/// 28A8h, PM_TM_FAIL_CONF_NON_TM; 20ACh, PM_TM_FAIL_CONF_TM; E0ACh, PM_TM_FAIL_TLBIE.
const OUTSIDE: (u8, u8, bool) = (2, 0xA8, true);
const INSIDE: (u8, u8, bool) = (2, 0xAC, false);
const INVALIDATED: (u8, u8, bool) = (0xE, 0xAC, false);

#[test]
fn an_access_outside_transactions_makes_the_transaction_fail_that_stored_there() {
    assert_eq!(attacked(OUTSIDE, |a| a.ld(R8, 0, R6)), [1, 0]);
    assert_eq!(attacked(OUTSIDE, |a| a.std(R8, 8, R6)), [1, 0]);
    // It may load what a transaction has only loaded.
    assert_eq!(attacked(OUTSIDE, |a| a.ld(R8, 128, R6)), [0, 0]);
    assert_eq!(attacked(INSIDE, |a| a.ld(R8, 0, R6)), [0, 0]);
}

#[test]
fn an_access_in_a_transaction_to_what_another_stored_fails_itself() {
    assert_eq!(attacked(INSIDE, |a| within(a, |a| a.ld(R8, 0, R6))), [0, 1]);
    assert_eq!(attacked(INSIDE, |a| within(a, |a| a.std(R8, 0, R6))), [0, 1]);
}

#[test]
fn a_store_in_a_transaction_to_what_another_loaded_makes_the_other_fail() {
    assert_eq!(attacked(INSIDE, |a| within(a, |a| a.std(R8, 128, R6))), [1, 0]);
}

#[test]
fn an_invalidation_makes_the_transaction_fail_that_used_the_translation() {
    assert_eq!(attacked(INVALIDATED, |a| a.tlbie(R6, R0)), [1, 0]);
    assert_eq!(attacked(INVALIDATED, |a| a.tlbie(R3, R0)), [0, 0], "of another page");
}

#[test]
fn the_second_level_counts_the_accesses_that_make_transactions_fail() {
    // 1608Eh, PM_ST_CAUSED_FAIL; 1688Eh, PM_TM_LD_CAUSED_FAIL: direct events of PMC1.
    let outside = [(6, 0x8E, false), (6, 0x8E, true)];
    let of = |attack: fn(&mut Assembler)| outside.map(|event| attacked(event, attack)[1]);
    assert_eq!([of(|a| a.std(R8, 0, R6)), of(|a| a.ld(R8, 0, R6))], [[1, 0], [0, 1]]);
}

#[test]
fn what_is_read_of_a_transaction_that_fails_is_what_was_there_before() {
    let program = image(true, |a| {
        let first = a.label();
        a.load(R4, msr::TM);
        a.mfmsr(R5);
        a.or(R4, R4, R5);
        a.mtmsrd(R4, false);
        a.mfspr(R3, spr::PIR);
        a.load(R6, DATA);
        a.cmpdi(CR0, R3, 0);
        a.beq(first);
        (0..20).for_each(|_| a.nop());
        a.ld(R8, 0, R6);
        let ever = a.mark();
        a.b(ever);
        a.here(first);
        a.load(R3, 7);
        lasting(a);
    });
    let mut machine = Machine::new(&Config { ram: 4 << 20, cpus: 2, ..Config::default() }, &program, |_| Recorder::default()).unwrap();
    machine.memory().write(DATA, 8, 5);
    machine.run(Limits::steps(1000));
    assert_eq!(machine.cpu(1).expect("a CPU").gpr(8), 5);
    // TEXASR bit 12, a conflict outside transactions; not exact.
    assert_eq!(machine.cpu(0).expect("a CPU").spr(spr::TEXASR), 1 << (63 - 12) | 1 << 27 | 2 << 28);
}

#[test]
fn a_thread_makes_its_suspended_transaction_fail() {
    // 28ACh, PM_TM_FAIL_SELF.
    let disturbed = |offset: i64| {
        of_transactions(0xAC, 0b10, |a| {
            within(a, |a| {
                a.std(R3, 0, R6);
                a.tsuspend_dot();
                a.std(R3, offset, R6);
                a.tresume_dot();
            });
        })
    };
    assert_eq!([disturbed(8), disturbed(128)], [1, 0]);
}

#[test]
fn an_instruction_that_a_transaction_may_not_contain_counts_by_its_slice() {
    // E0B4h, E8B4h, E0B8h, E8B8h: PM_LS0_TM_DISALLOW to PM_LS3_TM_DISALLOW. dcbf at doublewords 1, 1 and 3.
    let slices = [(0xB4, 0), (0xB4, 0b10), (0xB8, 0), (0xB8, 0b10)].map(|(selector, comb)| {
        let select = |mmcr1: &mut Mmcr1| {
            mmcr1.set_pmc1unit(0xE);
            mmcr1.set_pmc1comb(comb);
            mmcr1.set_pmc1sel(selector);
        };
        let flush = |a: &mut Assembler, offset: i64| {
            a.addi(R7, R6, offset);
            within(a, |a| a.word(31 << 26 | 7 << 11 | 86 << 1));
        };
        counted(select, |a| [8, 8, 24].into_iter().for_each(|offset| flush(a, offset)))[0][0]
    });
    assert_eq!(slices, [0, 2, 0, 1]);
}

#[test]
fn a_commit_tells_how_long_its_transaction_was() {
    // 4E014h, PM_TM_TX_PASS_RUN_INST: beq, 10 nop and tend. of the first transaction; none of the second, which is given up.
    let program = |a: &mut Assembler| {
        within(a, |a| (0..10).for_each(|_| a.nop()));
        within(a, |a| {
            (0..10).for_each(|_| a.nop());
            a.tabort_dot(R3);
        });
    };
    assert_eq!(fourth(0xE, 0x14, program), 12);
}

#[test]
fn pairs_that_the_decoder_makes_one_are_counted() {
    // 48A8h, PM_DECODE_FUSION_LD_ST_DISP, and 48B4h, PM_DECODE_FUSION_CONST_GEN: the second bits of the bus of unit 4 at A8h and B4h.
    let of = |selector: u8| {
        let select = |mmcr1: &mut Mmcr1| {
            mmcr1.set_pmc1unit(4);
            mmcr1.set_pmc1comb(0b10);
            mmcr1.set_pmc1sel(selector);
        };
        counted(select, |a| {
            for _ in 0..3 {
                // addis 7,6,0 and ld 7,0(7); lis 8,1 and ori 8,8,2; ori alone.
                a.word(15 << 26 | 7 << 21 | 6 << 16);
                a.ld(R7, 0, R7);
                a.word(15 << 26 | 8 << 21 | 1);
                a.word(24 << 26 | 8 << 21 | 8 << 16 | 2);
                a.word(24 << 26 | 8 << 21 | 8 << 16 | 3);
            }
        })[0][0]
    };
    // The program around it loads constants too: that of the register which ends the run among them.
    assert_eq!(of(0xA8), 3);
    assert!((3..8).contains(&of(0xB4)), "{}", of(0xB4));
}

#[test]
fn the_streams_that_software_begins_are_counted() {
    // F8A4h, PM_DC_PREF_SW_ALLOC. dcbt 0,7 with TH=01010: GO is bit 32 of GPR 7; without it the instruction describes a stream.
    let select = |mmcr1: &mut Mmcr1| {
        mmcr1.set_pmc1unit(0xF);
        mmcr1.set_pmc1comb(0b10);
        mmcr1.set_pmc1sel(0xA4);
    };
    let counts = counted(select, |a| {
        for go in [0, 1u64 << 31, 1 << 31] {
            a.load(R7, go);
            a.word(31 << 26 | 0b01010 << 21 | 7 << 11 | 278 << 1);
        }
        a.dcbt(R0, R7);
    });
    assert_eq!(counts[0][0], 2);
}
