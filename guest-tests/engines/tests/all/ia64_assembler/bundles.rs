//! How instructions get their slots and labels their addresses, and what cannot be assembled.

use vm_pmu_engines::ia64::assemble::*;

const BASE: u64 = 0x10_0000;

/// Templates of the bundles and their slots.
fn slots(build: impl FnOnce(&mut Assembler)) -> Vec<(u8, [u64; 3])> {
    let mut a = Assembler::new(BASE);
    build(&mut a);
    let code = a.finish().unwrap();
    let bundles = code.chunks(16).map(|bundle| u128::from_le_bytes(bundle.try_into().unwrap()));
    let slot = |bundle: u128, n: u32| (bundle >> (5 + 41 * n)) as u64 & ((1 << 41) - 1);
    bundles.map(|bundle| ((bundle & 0x1F) as u8, [0, 1, 2].map(|n| slot(bundle, n)))).collect()
}

fn templates(build: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    slots(build).into_iter().map(|(template, _)| template).collect()
}

fn error(build: impl FnOnce(&mut Assembler)) -> AssembleError {
    let mut a = Assembler::new(BASE);
    build(&mut a);
    a.finish().unwrap_err()
}

/// A no-operation of M, I and F: x6 or x4 of 1 in bits 27 on. Of B: major opcode 2.
const NOP: u64 = 1 << 27;
const NOP_B: u64 = 2 << 37;
/// `add r1=r2,r3`: major opcode 8, r3 in bits 20 on, r2 in bits 13 on, r1 in bits 6 on.
const ADD: u64 = 8 << 37 | 3 << 20 | 2 << 13 | 1 << 6;
/// `cover`: x6 of 2 in bits 27 on.
const COVER: u64 = 2 << 27;

#[test]
fn an_instruction_alone_has_a_bundle_of_no_operations_with_a_stop() {
    assert_eq!(slots(|a| a.put(add(R1, R2, R3))), [(0x01, [ADD, NOP, NOP])]);
    assert_eq!(slots(|a| a.put(nop(0))), [(0x01, [NOP, NOP, NOP])]);
    assert_eq!(slots(|a| a.put(cover())), [(0x11, [NOP, NOP, COVER])]);
    assert_eq!(templates(|a| a.put(shl(R1, R2, R3))), [0x01]);
    assert_eq!(templates(|a| a.put(fadd(F6, F7, F8))), [0x0D]);
    assert_eq!(templates(|a| a.put(movl(R1, 5))), [0x05]);
}

#[test]
fn what_ends_its_group_has_a_stop_behind_it() {
    assert_eq!(templates(|a| a.put(itc_d(R1))), [0x0B]);
    assert_eq!(templates(|a| a.group([add(R1, R2, R3), ptc_ga(R1, R2)])), [0x00, 0x0B]);
}

#[test]
fn a_group_takes_as_few_bundles_as_its_order_allows() {
    // MII takes all three.
    assert_eq!(templates(|a| a.group([ld8(R4, R5), add(R1, R2, R3), shl(R6, R7, R8)])), [0x01]);
    // MIB, with a no-operation between.
    assert_eq!(slots(|a| a.group([add(R1, R2, R3), cover()])), [(0x11, [ADD, NOP, COVER])]);
    // MMI takes three, MII the fourth.
    assert_eq!(templates(|a| a.group([ld8(R4, R5), ld8(R6, R7), add(R1, R2, R3), add(R8, R2, R3)])), [0x08, 0x01]);
    // MFB takes a floating-point instruction and a branch.
    assert_eq!(templates(|a| a.group([ld8(R4, R5), fadd(F6, F7, F8), cover()])), [0x1D]);
    // MLX takes two.
    assert_eq!(templates(|a| a.group([ld8(R4, R5), movl(R1, 5)])), [0x05]);
    // An instruction that fits no bundle together with the one before.
    assert_eq!(templates(|a| a.group([cover(), add(R1, R2, R3)])), [0x10, 0x01]);
    assert!(templates(|a| a.group([])).is_empty());
}

#[test]
fn a_given_template_is_kept() {
    assert_eq!(slots(|a| a.bundle(Template::BBB, [nop(0), nop(0), cover()])), [(0x16, [NOP_B, NOP_B, COVER])]);
    assert_eq!(slots(|a| a.bundle(Template::M_S_MI_S, [add(R1, R2, R3), nop(0), add(R1, R2, R3)])), [(0x0B, [ADD, NOP, ADD])]);
}

#[test]
fn an_instruction_in_a_slot_of_another_unit_is_refused() {
    assert_eq!(error(|a| a.bundle(Template::MII, [cover(), nop(0), nop(0)])), AssembleError::Slot { address: BASE, slot: 0 });
    assert_eq!(error(|a| a.bundle(Template::MFI, [nop(0), ld8(R4, R5), nop(0)])), AssembleError::Slot { address: BASE, slot: 1 });
    assert_eq!(error(|a| a.bundle(Template::MLX, [nop(0), movl(R4, 1), nop(0)])), AssembleError::Slot { address: BASE, slot: 3 });
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    for (op, value) in [
        (adds(R1, 8192, R2), 8192),
        (addl(R1, 5, R4), 4),
        (ld8(R1, R2).post(256), 256),
        (st8(R1, R2).post(-257), -257),
        (ldfpd(F2, F3, R4).post(8), 8),
        (fetchadd8_acq(R1, R2, 2), 2),
        (shladd(R1, R2, 5, R3), 5),
        (dep_z(R1, R2, 64, 1), 64),
        (dep(R1, R2, R3, 0, 17), 17),
        (extr(R1, R2, 0, 65), 65),
        (alloc(R1, 90, 5, 2, 0), 97),
        (alloc(R1, 10, 5, 2, 12), 12),
        (mov_to_pr(R1, 1), 1),
        (mov_to_pr_rot(0x1_0001), 0x1_0001),
        (tf_z(P1, P2, 31), 31),
        (sum(1 << 24), 1 << 24),
        (nop(1 << 21), 1 << 21),
    ] {
        assert_eq!(error(|a| a.put(op)), AssembleError::Operand { address: BASE, value });
    }
}

#[test]
fn what_an_instruction_has_not_is_refused() {
    for (op, value) in [
        (cover().when(P3), 3),
        (alloc(R1, 0, 0, 0, 0).when(P3), 3),
        (add(R1, R2, R3).post(8), 8),
        (st8(R1, R2).post_reg(R5), 5),
        (ld8(R1, R2).post(8).post(16), 16),
        (add(R1, R2, R3).locality(Locality::Nta), 3),
        (xma_l(F1, F2, F3, F4).sf(1), 1),
        (rfi().whether(Whether::Dptk), 2),
    ] {
        assert_eq!(error(|a| a.put(op)), AssembleError::Operand { address: BASE, value });
    }
}

#[test]
fn labels_are_addresses_of_bundles() {
    let mut a = Assembler::new(BASE);
    let back = a.mark();
    a.put(nop(0));
    let ahead = a.label();
    a.put(br_cond(ahead));
    a.put(br_cond(back));
    a.here(ahead);
    a.put(movl_label(R1, ahead));
    a.address_of(ahead);
    let (code, addresses) = a.finish_with(&[back, ahead]).unwrap();
    assert_eq!(addresses, [BASE, BASE + 0x30]);
    assert_eq!(code[0x40..], (BASE + 0x30).to_le_bytes());
    let branch = |at: usize| u128::from_le_bytes(code[at..at + 16].try_into().unwrap()) >> 87;
    // Two bundles ahead: imm20b in bits 13 on. Two back: with the sign in bit 36.
    assert_eq!(branch(0x10), 4 << 37 | 2 << 13);
    assert_eq!(branch(0x20), 4 << 37 | 1 << 36 | 0xF_FFFE << 13);
}

#[test]
fn a_bundle_is_at_a_multiple_of_its_size() {
    assert_eq!(
        error(|a| {
            a.doubleword(1);
            a.put(nop(0));
        }),
        AssembleError::Alignment { address: BASE + 8 }
    );
    assert_eq!(
        slots(|a| {
            a.bytes(&[0; 3]);
            a.align(16);
            a.put(add(R1, R2, R3));
        })
        .len(),
        2
    );
}

#[test]
fn labels_out_of_reach_or_nowhere_or_at_two_places_are_refused() {
    let nowhere = |a: &mut Assembler| {
        let label = a.label();
        a.put(br_cond(label));
    };
    assert_eq!(error(nowhere), AssembleError::Nowhere { address: BASE });
    let twice = |a: &mut Assembler| {
        let label = a.mark();
        a.put(nop(0));
        a.here(label);
    };
    assert_eq!(error(twice), AssembleError::Twice { address: BASE + 16 });
    // A branch reaches 2^20 bundles, 16 MiB, ahead less one.
    let far = |a: &mut Assembler| {
        let label = a.label();
        a.put(br_cond(label));
        a.skip_to(BASE + (16 << 20));
        a.here(label);
    };
    assert_eq!(error(far), AssembleError::TooFar { address: BASE, target: BASE + (16 << 20) });
    let odd = |a: &mut Assembler| {
        let label = a.label();
        a.put(br_cond(label));
        a.doubleword(0);
        a.here(label);
    };
    assert_eq!(error(odd), AssembleError::TooFar { address: BASE, target: BASE + 24 });
}
