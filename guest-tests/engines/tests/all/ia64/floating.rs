//! Floating point.

use vm_pmu_engines::ia64::Machine;

use super::support::*;

/// The bits of the double in f8 after `op` with `x` in f9, `y` in f10, `z` in f11.
fn of_doubles(x: f64, y: f64, z: f64, op: Op) -> f64 {
    let machine = run(|a| {
        for (register, value) in [(F9, x), (F10, y), (F11, z)] {
            a.load(R14, value.to_bits());
            a.put(setf_d(register, R14));
        }
        a.put(op);
        a.put(getf_d(R8, F8));
    });
    f64::from_bits(gr(&machine, 8))
}

#[test]
fn products_and_sums_round_once() {
    assert_eq!(of_doubles(3.0, 4.0, 5.0, fma_d(F8, F9, F10, F11)), 17.0);
    assert_eq!(of_doubles(3.0, 4.0, 5.0, fms_d(F8, F9, F10, F11)), 7.0);
    assert_eq!(of_doubles(3.0, 4.0, 5.0, fnma_d(F8, F9, F10, F11)), -7.0);
    assert_eq!(of_doubles(0.5, 4.0, 0.0, fadd_d(F8, F9, F10)), 4.5);
    // (1+2^-52)^2 - 1 has 2^-104 left only if the product is not rounded: 2^-51 + 2^-104.
    let near = 1.0 + 2f64.powi(-52);
    assert_eq!(of_doubles(near, near, -1.0, fma_d(F8, F9, F10, F11)), 2f64.powi(-51) + 2f64.powi(-104));
}

#[test]
fn single_results_have_24_bits() {
    assert_eq!(of_doubles(1.0, 1.0 + 2f64.powi(-30), 0.0, fma_s(F8, F9, F10, F0)), 1.0);
}

#[test]
fn integers_multiply_in_the_significands() {
    let machine = run(|a| {
        a.load(R14, u64::MAX);
        a.load(R15, 10);
        a.put(setf_sig(F9, R14));
        a.put(setf_sig(F10, R15));
        a.put(xma_l(F8, F9, F10, F10));
        a.put(getf_sig(R8, F8));
        a.put(xma_h(F8, F9, F10, F0));
        a.put(getf_sig(R9, F8));
        a.put(xma_hu(F8, F9, F10, F0));
        a.put(getf_sig(R10, F8));
    });
    // -1 times 10 plus 10; -10 has an upper half of ones; (2^64-1) times 10 is 9 times 2^64 and more.
    assert_eq!([8, 9, 10].map(|r| gr(&machine, r)), [0, u64::MAX, 9]);
}

#[test]
fn integers_and_numbers_are_converted() {
    let machine = run(|a| {
        a.load(R14, (-7i64) as u64);
        a.put(setf_sig(F9, R14));
        a.put(fcvt_xf(F8, F9));
        a.put(getf_d(R8, F8));
        a.load(R14, 2.5f64.to_bits());
        a.put(setf_d(F9, R14));
        a.put(fcvt_fx(F8, F9));
        a.put(getf_sig(R9, F8));
        a.load(R14, (-2.9f64).to_bits());
        a.put(setf_d(F9, R14));
        a.put(fcvt_fx_trunc(F8, F9));
        a.put(getf_sig(R10, F8));
    });
    // Ties go to even.
    assert_eq!([8, 9, 10].map(|r| gr(&machine, r)), [(-7.0f64).to_bits(), 2, (-2i64) as u64]);
}

#[test]
fn numbers_are_compared() {
    let machine = run(|a| {
        a.load(R14, 1.5f64.to_bits());
        a.put(setf_d(F9, R14));
        a.put(fcmp_lt(P6, P7, F1, F9));
        a.put(fcmp_eq(P8, P9, F1, F9));
        a.load(R14, f64::NAN.to_bits());
        a.put(setf_d(F9, R14));
        a.put(fcmp_unord(P10, P11, F1, F9));
        a.put(fclass_m(P12, P13, F0, 0x7));
    });
    assert_eq!([6, 7, 8, 9, 10, 11, 12, 13].map(|p| pr(&machine, p)), [true, false, false, true, true, false, true, false]);
}

#[test]
fn memory_formats_keep_values() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, (-0.375f64).to_bits());
        a.put(setf_d(F9, R15));
        a.put(stfs(R14, F9));
        a.put(ld4(R8, R14));
        a.put(ldfs(F10, R14));
        a.put(stfe(R14, F10));
        a.put(ldfe(F11, R14));
        a.put(stf_spill(R14, F11));
        a.put(ldf_fill(F12, R14));
        a.put(stfd(R14, F12));
        a.put(ld8(R9, R14));
        a.put(ldf8(F13, R14));
        a.put(getf_sig(R10, F13));
    });
    let bits = (-0.375f64).to_bits();
    assert_eq!([8, 9, 10].map(|r| gr(&machine, r)), [u64::from((-0.375f32).to_bits()), bits, bits]);
}

#[test]
fn a_quotient_comes_from_the_approximation_and_its_corrections() {
    // q = a*y; r = a - b*q; q + r*y, under the predicate that frcpa sets.
    let machine = run(|a| {
        a.load(R14, 1.0f64.to_bits());
        a.load(R15, 3.0f64.to_bits());
        a.put(setf_d(F9, R14));
        a.put(setf_d(F10, R15));
        a.put(frcpa(F8, P8, F9, F10));
        a.put(fmpy_d(F11, F9, F8).when(P6));
        a.put(fnma_d(F12, F10, F11, F9).when(P6));
        a.put(fma_d(F8, F12, F8, F11).when(P6));
        a.put(getf_d(R8, F8));
        a.put(frcpa(F8, P7, F9, F0));
        a.put(getf_d(R9, F8));
    });
    assert_eq!(f64::from_bits(gr(&machine, 8)), 1.0 / 3.0);
    assert!(!pr(&machine, 7));
    assert_eq!(f64::from_bits(gr(&machine, 9)), f64::INFINITY);
}

#[test]
fn operations_are_counted_as_the_hardware_does() {
    let machine = run(|a| {
        a.put(fma_d(F8, F1, F9, F10));
        a.put(fmpy_d(F8, F9, F10));
        a.put(fadd_d(F8, F9, F10));
        a.put(fpma(F8, F9, F10, F11));
        a.put(fmov(F8, F9));
        a.put(fcmp_lt(P6, P7, F9, F10));
        a.put(fmax(F8, F9, F10));
        a.put(fcvt_fx(F8, F9));
        a.put(frcpa(F8, P8, F9, F10));
        a.put(fmax(F8, F9, F10).when(P6));
    });
    let counted: Vec<_> = recorded(&machine).steps.iter().map(|step| step.floating_operations).filter(|count| *count != 0).collect();
    assert_eq!(counted, [2, 1, 1, 4, 1, 1, 1, 1]);
}

/// The square of two to the power of `exponent` as a single, with these traps disabled in FPSR.
fn square(exponent: i64, disabled: u64) -> Machine<Recorder> {
    run(|a| {
        a.load(R14, ((1023 + exponent) as u64) << 52);
        a.put(setf_d(F6, R14));
        a.load(R14, disabled);
        a.put(mov_to_ar_m(Ar::FPSR, R14));
        a.put(fma_s(F8, F6, F6, F0));
    })
}

#[test]
fn results_that_overflow_or_underflow_trap_where_that_is_enabled() {
    // ISR says floating-point trap, overflow or underflow, the F slot, and that PSR.ic is off.
    for (exponent, enabled, told) in [(100, 1 << 3, 1 << 11), (-100, 1 << 4, 1 << 12)] {
        let trapped = square(exponent, 0x3F & !enabled);
        assert_eq!((vectors(&trapped), trapped.cpu(0).unwrap().cr(17)), (vec![0x5D00], 1 | told | 1 << 41 | 1 << 39));
        assert!(!vectors(&square(exponent, 0x3F)).contains(&0x5D00));
        assert!(!vectors(&square(exponent / 2, 0x3F & !enabled)).contains(&0x5D00));
    }
}

#[test]
fn operands_are_safe_in_the_middle_half_of_the_range_of_the_result() {
    let unsafe_operand = |machine: &Machine<Recorder>| recorded(machine).steps.iter().any(|step| step.unsafe_operand);
    // Singles have exponents up to 127, so the half ends at 63.
    for (exponent, right) in [(63, false), (64, true), (-63, false), (-64, true)] {
        assert_eq!(unsafe_operand(&square(exponent, 0x3F)), right, "{exponent}");
    }
}

#[test]
fn disabled_registers_fault_with_the_half_they_are_in() {
    let machine = run(|a| {
        a.put(ssm(1 << 19));
        a.put(fmov(F8, F1));
        a.put(fmov(F32, F1));
    });
    assert_eq!(vectors(&machine), [0x5500]);
    assert_eq!(machine.cpu(0).unwrap().cr(17) & 0xF, 2);
}

/// The significand of f8 after `op` with integers in f9, f10 and f11.
fn of_integers(x: u64, y: u64, z: u64, op: Op) -> u64 {
    let machine = run(|a| {
        for (register, value) in [(F9, x), (F10, y), (F11, z)] {
            a.load(R14, value);
            a.put(setf_sig(register, R14));
        }
        a.put(op);
        a.put(getf_sig(R8, F8));
    });
    gr(&machine, 8)
}

#[test]
fn significands_are_selected_and_mixed() {
    let (x, y) = (0x1111_1111_2222_2222, 0x3333_3333_4444_4444);
    // f3 where f2 has ones, f4 elsewhere.
    assert_eq!(of_integers(x, y, 0xFF, fselect(F8, F9, F10, F11)), 0x3333_3333_4444_4422);
    assert_eq!(of_integers(x, y, 0, fswap(F8, F9, F10)), 0x4444_4444_1111_1111);
    assert_eq!(of_integers(x, y, 0, fmix_lr(F8, F9, F10)), 0x1111_1111_4444_4444);
    assert_eq!(of_integers(x, y, 0, fmix_r(F8, F9, F10)), 0x2222_2222_4444_4444);
    assert_eq!(of_integers(x, y, 0, fmix_l(F8, F9, F10)), 0x1111_1111_3333_3333);
}

#[test]
fn the_smaller_and_the_larger_number_are_found() {
    assert_eq!(of_doubles(-3.0, 2.0, 0.0, fmin(F8, F9, F10)), -3.0);
    assert_eq!(of_doubles(-3.0, 2.0, 0.0, fmax(F8, F9, F10)), 2.0);
    assert_eq!(of_doubles(-3.0, 2.0, 0.0, famax(F8, F9, F10)), -3.0);
    assert_eq!(of_doubles(-3.0, 2.0, 0.0, fmerge_s(F8, F9, F10)), -2.0);
}

#[test]
fn rotating_registers_move_with_the_loop() {
    let machine = run(|a| {
        a.put(mov_to_ar_i_imm(Ar::LC, 2));
        a.put(mov_to_ar_i_imm(Ar::EC, 1));
        a.put(fmov(F32, F1));
        let again = a.mark();
        a.put(nop(0));
        a.put(br_ctop(again));
        a.put(getf_d(R8, F35));
    });
    // Three passes move f32 to f35.
    assert_eq!(f64::from_bits(gr(&machine, 8)), 1.0);
}
