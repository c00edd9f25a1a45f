//! Loads, stores, semaphores, speculation and the ALAT.

use vm_pmu_engines::ia64::{AccessKind, Class, Deferral};

use super::support::*;

#[test]
fn loads_of_every_size_are_zero_extended() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, 0xF1E2_D3C4_B5A6_9788);
        a.put(st8(R14, R15));
        a.put(ld1(R8, R14));
        a.put(ld2(R9, R14));
        a.put(ld4(R10, R14));
        a.put(ld8(R11, R14));
    });
    assert_eq!([8, 9, 10, 11].map(|r| gr(&machine, r)), [0x88, 0x9788, 0xB5A6_9788, 0xF1E2_D3C4_B5A6_9788]);
}

#[test]
fn addresses_are_incremented_after_the_access() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, 0x77);
        a.load(R16, 0x20);
        a.put(st4(R14, R15).post(-256));
        a.put(mov(R8, R14));
        a.load(R14, DATA);
        a.put(ld4(R9, R14).post(255));
        a.put(mov(R10, R14));
        a.load(R14, DATA);
        a.put(ld4(R9, R14).post_reg(R16));
        a.put(mov(R11, R14));
    });
    assert_eq!([8, 9, 10, 11].map(|r| gr(&machine, r)), [DATA - 256, 0x77, DATA + 255, DATA + 0x20]);
}

#[test]
fn semaphores_return_what_was_there() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, 10);
        a.put(st8(R14, R15));
        a.put(fetchadd8_acq(R8, R14, -4));
        a.load(R15, 6);
        a.put(mov_to_ar_m(Ar::CCV, R15));
        a.load(R16, 99);
        a.put(cmpxchg8_acq(R9, R14, R16));
        // 99 is not 6: nothing is stored.
        a.put(cmpxchg8_acq(R10, R14, R15));
        a.put(xchg8(R11, R14, R15));
        a.put(ld8(R17, R14));
    });
    assert_eq!([8, 9, 10, 11, 17].map(|r| gr(&machine, r)), [10, 6, 99, 99, 6]);
}

#[test]
fn a_speculative_load_without_memory_is_a_nat_that_chk_s_finds() {
    let machine = run(|a| {
        let (recovery, over) = (a.label(), a.label());
        a.load(R14, 1 << 40);
        a.put(ld8_s(R8, R14));
        a.put(add(R9, R8, R14));
        a.put(chk_s_m(R9, recovery));
        a.put(br_cond(over));
        a.here(recovery);
        a.put(mov_imm(R10, 1));
        a.here(over);
    });
    assert!(nat(&machine, 8) && nat(&machine, 9));
    assert_eq!(gr(&machine, 10), 1);
    let step = recorded(&machine).steps.iter().find(|step| step.class == Class::Load).unwrap();
    assert!(step.deferred == Some(Deferral::Miss) && step.access.is_none());
    let check = recorded(&machine).steps.iter().find_map(|step| step.check).unwrap();
    assert!(check.failed && !check.advanced);
}

#[test]
fn storing_a_nat_is_a_nat_consumption_fault() {
    let machine = run(|a| {
        a.load(R14, 1 << 40);
        a.put(ld8_s(R8, R14));
        a.load(R14, DATA);
        a.put(st8(R14, R8));
    });
    assert_eq!(vectors(&machine), [0x5600]);
}

#[test]
fn a_nat_survives_a_spill_and_a_fill() {
    let machine = run(|a| {
        a.load(R14, 1 << 40);
        a.put(ld8_s(R8, R14));
        a.load(R14, DATA + 8);
        a.put(st8_spill(R14, R8));
        a.put(mov_from_ar_m(R9, Ar::UNAT));
        a.put(mov_imm(R8, 3));
        a.put(ld8_fill(R8, R14));
    });
    // Bits 8:3 of the address are 1.
    assert_eq!(gr(&machine, 9), 1 << ((DATA + 8) >> 3 & 63));
    assert!(nat(&machine, 8));
}

/// Whether `chk.a.nc` of r8 fails after an advanced load of eight bytes at DATA and a store of four at `store`.
fn advanced_load_lost(store: u64) -> bool {
    let machine = run(|a| {
        let recovery = a.label();
        a.load(R14, DATA);
        a.load(R15, store);
        a.put(ld8_a(R8, R14));
        a.put(st4(R15, R0));
        a.put(chk_a_nc(R8, recovery));
        a.put(mov_imm(R16, 1));
        a.here(recovery);
    });
    gr(&machine, 16) == 0
}

#[test]
fn a_store_that_overlaps_an_advanced_load_makes_its_check_fail() {
    assert!(advanced_load_lost(DATA + 4));
    assert!(!advanced_load_lost(DATA + 8));
}

#[test]
fn a_check_load_loads_only_if_it_must() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, 7);
        a.put(ld8_a(R8, R14));
        a.put(ld8_c_nc(R8, R14));
        a.put(st8(R14, R15));
        a.put(ld8_c_clr(R8, R14));
    });
    assert_eq!(gr(&machine, 8), 7);
    let checks: Vec<_> = recorded(&machine).steps.iter().filter_map(|step| Some((step.check?.failed, step.access?.kind))).collect();
    assert_eq!(checks, [(false, AccessKind::CheckHit), (true, AccessKind::Load)]);
}

#[test]
fn an_access_that_is_not_aligned_may_not_leave_its_line() {
    let inside = run(|a| {
        a.load(R14, DATA + 0x31);
        a.put(ld8(R8, R14));
    });
    assert!(vectors(&inside).is_empty());
    let across = run(|a| {
        a.load(R14, DATA + 0x3C);
        a.put(ld8(R8, R14));
    });
    assert_eq!(vectors(&across), [0x5A00]);
    let checked = run(|a| {
        a.put(sum(1 << 3));
        a.load(R14, DATA + 0x31);
        a.put(ld8(R8, R14));
    });
    assert_eq!(vectors(&checked), [0x5A00]);
}

#[test]
fn big_endian_data_are_swapped() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, 0x1122_3344);
        a.put(st4(R14, R15));
        a.put(sum(1 << 1));
        a.put(ld4(R8, R14));
        a.put(rum(1 << 1));
    });
    assert_eq!(gr(&machine, 8), 0x4433_2211);
}

#[test]
fn a_store_to_code_is_executed() {
    let machine = run(|a| {
        let patched = a.label();
        let source = a.label();
        a.load_address(R14, source);
        a.load_address(R15, patched);
        a.put(ld8(R16, R14).post(8));
        a.put(ld8(R17, R14));
        a.put(st8(R15, R16).post(8));
        a.put(st8(R15, R17));
        a.here(patched);
        a.put(mov_imm(R8, 1));
        let over = a.label();
        a.put(br_cond(over));
        a.here(source);
        a.put(mov_imm(R8, 2));
        a.here(over);
    });
    assert_eq!(gr(&machine, 8), 2);
}
