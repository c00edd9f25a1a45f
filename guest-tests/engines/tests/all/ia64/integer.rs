//! Arithmetic, logic, shifts, compares and predicates.

use super::support::*;

#[test]
fn sums_and_differences_wrap() {
    assert_eq!(of(u64::MAX, 3, add(R8, R14, R15)), 2);
    assert_eq!(of(3, 10, sub(R8, R14, R15)), (-7i64) as u64);
    assert_eq!(of(3, 10, add_one(R8, R14, R15)), 14);
    assert_eq!(of(3, 10, sub_one(R8, R14, R15)), (-8i64) as u64);
    assert_eq!(of(0, 7, sub_imm(R8, -128, R15)), (-135i64) as u64);
    assert_eq!(of(0, 1, adds(R8, -8192, R15)), (-8191i64) as u64);
    assert_eq!(of(0, 0, mov_imm(R8, -2_097_152)), (-2_097_152i64) as u64);
    assert_eq!(of(5, 100, shladd(R8, R14, 4, R15)), 180);
}

#[test]
fn logic_works_on_every_bit() {
    assert_eq!(of(0b1100, 0b1010, and(R8, R14, R15)), 0b1000);
    assert_eq!(of(0b1100, 0b1010, andcm(R8, R14, R15)), 0b0100);
    assert_eq!(of(0b1100, 0b1010, or(R8, R14, R15)), 0b1110);
    assert_eq!(of(0b1100, 0b1010, xor(R8, R14, R15)), 0b0110);
    assert_eq!(of(0, 0xFF, andcm_imm(R8, -1, R15)), !0xFF);
}

#[test]
fn a_32_bit_pointer_goes_to_the_region_of_its_upper_two_bits() {
    assert_eq!(of(0x10, 0xC000_0000, addp4(R8, R14, R15)), 0x6000_0000_C000_0010);
    assert_eq!(of(0, 0x8000_0000, addp4_imm(R8, -1, R15)), 0x4000_0000_7FFF_FFFF);
}

#[test]
fn shifts_of_64_and_more_leave_nothing_but_the_sign() {
    assert_eq!(of(1, 63, shl(R8, R14, R15)), 1 << 63);
    assert_eq!(of(1, 64, shl(R8, R14, R15)), 0);
    assert_eq!(of(1 << 63, 63, shr_u(R8, R14, R15)), 1);
    assert_eq!(of(1 << 63, 64, shr_u(R8, R14, R15)), 0);
    assert_eq!(of(1 << 63, 1 << 40, shr(R8, R14, R15)), u64::MAX);
}

#[test]
fn fields_are_extracted_and_deposited() {
    assert_eq!(of(0, 0xABCD, extr_u(R8, R15, 4, 8)), 0xBC);
    assert_eq!(of(0, 0xABCD, extr(R8, R15, 4, 8)), 0xFFFF_FFFF_FFFF_FFBC);
    // There is nothing beyond bit 63: the field is bits 63:60.
    assert_eq!(of(0, 0x8 << 60, extr(R8, R15, 60, 20)), 0xFFFF_FFFF_FFFF_FFF8);
    assert_eq!(of(0x3F, 0, dep_z(R8, R14, 8, 4)), 0xF00);
    assert_eq!(of(0, 0, dep_z_imm(R8, -1, 60, 10)), 0xF << 60);
    assert_eq!(of(0x5, 0xFFFF, dep(R8, R14, R15, 4, 8)), 0xF05F);
    assert_eq!(of(0, 0xFFFF, dep_imm(R8, false, R15, 4, 8)), 0xF00F);
    assert_eq!(of(0, 0, dep_imm(R8, true, R15, 63, 1)), 1 << 63);
    assert_eq!(of(0x1, 0x8000_0000_0000_0000, shrp(R8, R14, R15, 60)), 0x18);
}

#[test]
fn extensions_take_the_low_bytes() {
    assert_eq!(of(0, 0x1_8080, zxt1(R8, R15)), 0x80);
    assert_eq!(of(0, 0x1_8080, sxt1(R8, R15)), 0xFFFF_FFFF_FFFF_FF80);
    assert_eq!(of(0, 0x1_8080, zxt2(R8, R15)), 0x8080);
    assert_eq!(of(0, 0x1_8080, sxt2(R8, R15)), 0xFFFF_FFFF_FFFF_8080);
    assert_eq!(of(0, 0x1_8000_0000, sxt4(R8, R15)), 0xFFFF_FFFF_8000_0000);
    assert_eq!(of(0, 0x1_8000_0000, zxt4(R8, R15)), 0x8000_0000);
}

#[test]
fn bits_and_zero_bytes_are_counted() {
    assert_eq!(of(0, 0xF0F0, popcnt(R8, R15)), 8);
    assert_eq!(of(0, 0x1111_0011_1111_1111, czx1_l(R8, R15)), 2);
    assert_eq!(of(0, 0x1111_0011_1111_1111, czx1_r(R8, R15)), 5);
    assert_eq!(of(0, u64::MAX, czx2_l(R8, R15)), 4);
}

#[test]
fn parts_of_registers_are_mixed_and_permuted() {
    let (x, y) = (0x0706_0504_0302_0100, 0x1716_1514_1312_1110);
    assert_eq!(of(x, y, mix1_l(R8, R14, R15)), 0x0717_0515_0313_0111);
    assert_eq!(of(x, y, mix4_r(R8, R14, R15)), 0x0302_0100_1312_1110);
    assert_eq!(of(x, y, unpack2_h(R8, R14, R15)), 0x0706_1716_0504_1514);
    assert_eq!(of(x, y, unpack4_l(R8, R14, R15)), 0x0302_0100_1312_1110);
    // @rev and the reversal of halfwords.
    assert_eq!(of(x, y, mux1(R8, R14, 0xB)), 0x0001_0203_0405_0607);
    assert_eq!(of(x, y, mux2(R8, R14, 0x1B)), 0x0100_0302_0504_0706);
    assert_eq!(of(0x00FF_0001, 0x0001_FFFF, padd2(R8, R14, R15)), 0x0100_0000);
}

/// What p6 and p7 are after `op` with them at 1 and 1, and 5 in r14, -1 in r15.
fn predicates(op: Op) -> (bool, bool) {
    let machine = run(|a| {
        a.load(R14, 5);
        a.load(R15, u64::MAX);
        a.load(R16, 0xC1);
        a.put(mov_to_pr(R16, 0xFE));
        a.put(op);
    });
    (pr(&machine, 6), pr(&machine, 7))
}

#[test]
fn compares_are_signed_or_unsigned_and_of_64_or_32_bits() {
    assert_eq!(predicates(cmp_lt(P6, P7, R15, R14)), (true, false));
    assert_eq!(predicates(cmp_ltu(P6, P7, R15, R14)), (false, true));
    assert_eq!(predicates(cmp_eq_imm(P6, P7, 5, R14)), (true, false));
    assert_eq!(predicates(cmp4_lt_imm(P6, P7, -2, R15)), (true, false));
}

#[test]
fn parallel_compares_write_only_one_way() {
    // and: false clears both, true leaves both; or: true sets both; or.andcm: true sets one and clears the other.
    assert_eq!(predicates(cmp_eq_and(P6, P7, R14, R15)), (false, false));
    assert_eq!(predicates(cmp_ne_and(P6, P7, R14, R15)), (true, true));
    assert_eq!(predicates(cmp_eq_or(P6, P7, R14, R15)), (true, true));
    assert_eq!(predicates(cmp_ne_or_andcm(P6, P7, R14, R15)), (true, false));
    assert_eq!(predicates(cmp_gt_and(P6, P7, R14)), (false, false));
    assert_eq!(predicates(cmp_le_and(P6, P7, R14)), (true, true));
}

#[test]
fn an_unconditional_compare_clears_its_predicates_when_it_is_off() {
    assert_eq!(predicates(cmp_eq_unc(P6, P7, R14, R14).when(P5)), (false, false));
    assert_eq!(predicates(cmp_eq(P6, P7, R14, R14).when(P5)), (true, true));
}

#[test]
fn bits_and_nats_are_tested() {
    assert_eq!(predicates(tbit_z(P6, P7, R14, 1)), (true, false));
    assert_eq!(predicates(tbit_z(P6, P7, R14, 2)), (false, true));
    assert_eq!(predicates(tbit_nz_and(P6, P7, R14, 1)), (false, false));
    assert_eq!(predicates(tbit_z_and(P6, P7, R14, 1)), (true, true));
    assert_eq!(predicates(tnat_z(P6, P7, R14)), (true, false));
}

#[test]
fn an_instruction_that_is_predicated_off_does_nothing() {
    assert_eq!(of(1, 2, add(R8, R14, R15).when(P6)), 0);
}

#[test]
fn all_predicates_move_through_a_mask() {
    let machine = run(|a| {
        a.load(R14, 0xFFFF_FFFF_FFFF_FFFF);
        a.put(mov_to_pr(R14, 0x40));
        a.put(mov_from_pr(R8));
        a.put(mov_to_pr_rot(0x3_0000));
        a.put(mov_from_pr(R9));
    });
    assert_eq!((gr(&machine, 8), gr(&machine, 9)), (0x41, 0x3_0041));
}

#[test]
fn writing_register_zero_or_one_outside_the_frame_is_illegal() {
    for op in [mov_imm(R0, 1), mov_imm(R32, 1)] {
        let machine = run(|a| a.put(op));
        assert_eq!(vectors(&machine), [0x5400]);
    }
}
