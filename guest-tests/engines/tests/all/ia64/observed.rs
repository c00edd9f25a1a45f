//! What the observer is notified of for instructions.

use vm_pmu_engines::ia64::{AccessKind, Class, Unit, operands};

use super::support::*;

#[test]
fn slots_units_and_encodings_are_those_of_the_bundle() {
    let machine = run(|a| a.bundle(Template::MFI_S, [nop(0), nop(0), nop(0)]));
    let recorded: Vec<_> =
        recorded(&machine).steps[..3].iter().map(|step| (step.ip, step.slot, step.unit, step.encoding, step.nop)).collect();
    // nop.m, nop.f and nop.i have x4 or x6 = 1 at bit 27.
    let nop = 1 << 27;
    assert_eq!(recorded, [(BASE, 0, Unit::M, nop, true), (BASE, 1, Unit::F, nop, true), (BASE, 2, Unit::I, nop, true)]);
}

#[test]
fn a_long_instruction_is_one_in_slot_one() {
    let machine = run(|a| a.load(R14, 0x8000_0000_0000_0001));
    let step = &recorded(&machine).steps[1];
    // movl r14: major 6, i=1, imm7b=1; the L slot has no bit of the number.
    assert_eq!((step.slot, step.unit, step.encoding, step.upper), (1, Unit::X, 6 << 37 | 1 << 36 | 1 << 13 | 14 << 6, 0));
    assert_eq!(recorded(&machine).steps[2].ip, BASE + 16);
}

#[test]
fn a_bundle_is_one_cycle_of_its_first_instruction() {
    let machine = run(|a| a.bundle(Template::MII_S, [nop(0), nop(0), nop(0)]));
    let cycles: Vec<_> = recorded(&machine).steps[..3].iter().map(|step| (step.cycles, step.first, step.stop)).collect();
    assert_eq!(cycles, [(1, true, false), (0, false, false), (0, false, true)]);
}

#[test]
fn instructions_that_are_predicated_off_are_told() {
    let machine = run(|a| {
        let over = a.label();
        a.put(st8(R14, R15).when(P6));
        a.put(br_cond(over).when(P6));
        a.here(over);
    });
    let off: Vec<_> = recorded(&machine).steps.iter().filter(|step| !step.predicate).collect();
    assert_eq!((off[0].class, off[0].access), (Class::Store, None));
    assert!(!off[1].branch.unwrap().taken);
}

#[test]
fn hints_are_no_nops() {
    let machine = run(|a| {
        a.put(hint(1));
        a.put(nop(1));
    });
    let recorded: Vec<_> = recorded(&machine).steps.iter().filter(|step| step.encoding >> 6 & 1 == 1 && step.class == Class::Nop).collect();
    assert_eq!((recorded[0].nop, recorded[1].nop), (false, true));
}

#[test]
fn accesses_have_addresses_sizes_and_kinds() {
    let machine = run(|a| {
        a.load(R14, DATA | 1 << 61);
        a.put(ld4(R15, R14));
        a.put(stfd(R14, F0));
        a.put(fetchadd4_acq(R15, R14, 1));
        a.put(lfetch(R14));
    });
    let accesses: Vec<_> = recorded(&machine).steps.iter().filter_map(|step| step.access).collect();
    let short: Vec<_> = accesses.iter().map(|access| (access.kind, access.size, access.floating)).collect();
    assert_eq!(
        short[..4],
        [(AccessKind::Load, 4, false), (AccessKind::Store, 8, true), (AccessKind::Semaphore, 4, false), (AccessKind::Prefetch, 1, false)]
    );
    assert_eq!((accesses[0].address, accesses[0].physical), (DATA | 1 << 61, DATA));
}

#[test]
fn the_levels_of_the_register_stack_are_those_before_the_instruction() {
    let machine = run(|a| {
        let next = a.label();
        a.put(alloc(R32, 0, 3, 1, 0));
        a.put(br_call(B0, next));
        a.here(next);
        a.put(alloc(R33, 1, 2, 0, 0));
    });
    let levels: Vec<_> =
        recorded(&machine).steps.iter().filter_map(|step| step.stack_level.map(|level| (level.current, level.dirty))).collect();
    assert_eq!(levels, [(0, 0), (4, 0), (1, 3)]);
}

#[test]
fn a_register_has_one_number_in_the_frames_that_share_it() {
    let machine = run(|a| {
        let callee = a.label();
        a.put(alloc(R32, 0, 2, 1, 0));
        a.put(adds(R34, 5, R0));
        a.put(br_call(B0, callee));
        a.here(callee);
        a.put(adds(R8, 1, R32));
    });
    // The output of the caller, r34, is r32 of the callee.
    let sums: Vec<_> = recorded(&machine).steps.iter().filter(|step| step.encoding >> 37 == 8).map(operands).collect();
    assert_eq!(sums[0].writes(), sums[1].reads());
    assert_eq!(sums[1].writes()[0].0, 8);
}

#[test]
fn a_register_that_rotates_keeps_its_number() {
    let machine = run(|a| {
        let next = a.label();
        a.put(alloc(R14, 0, 8, 0, 8));
        a.put(mov_to_ar_i_imm(Ar::LC, 1));
        a.put(adds(R32, 5, R0));
        a.put(br_ctop(next));
        a.here(next);
        a.put(adds(R8, 1, R33));
    });
    // What was r32 is r33 after the loop's branch.
    let sums: Vec<_> = recorded(&machine).steps.iter().filter(|step| step.encoding >> 37 == 8).map(operands).collect();
    assert_eq!(sums[0].writes(), sums[1].reads());
}

#[test]
fn serializations_are_told() {
    let machine = run(|a| {
        a.put(srlz_i());
        a.put(srlz_d());
    });
    assert_eq!(recorded(&machine).steps.iter().filter(|step| step.serialize_instruction).count(), 1);
}

#[test]
fn words_of_memory_are_read_by_their_physical_address_where_there_are_any() {
    let machine = run(|a| {
        a.load(R14, DATA);
        a.load(R15, 0x1122_3344_5566_7788);
        a.put(st8(R14, R15));
    });
    let cpu = machine.cpu(0).unwrap();
    // Bit 63 is no address bit; the other two are unaligned and behind memory.
    let words = [DATA, DATA | 1 << 63, DATA + 4, 1 << 40].map(|address| cpu.peek(address));
    assert_eq!(words, [Some(0x1122_3344_5566_7788), Some(0x1122_3344_5566_7788), None, None]);
}
