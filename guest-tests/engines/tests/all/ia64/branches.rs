//! Branches, frames, the register stack and modulo-scheduled loops.

use vm_pmu_engines::ia64::{AccessKind, BranchKind};

use super::support::*;

#[test]
fn a_counted_loop_runs_once_more_than_the_count() {
    let machine = run(|a| {
        a.load(R14, 9);
        a.put(mov_to_ar_i(Ar::LC, R14));
        let again = a.mark();
        a.put(adds(R8, 1, R8));
        a.put(br_cloop(again));
        a.put(mov_from_ar_i(R9, Ar::LC));
    });
    assert_eq!((gr(&machine, 8), gr(&machine, 9)), (10, 0));
    let taken = |taken| recorded(&machine).steps.iter().filter(|step| step.branch.is_some_and(|branch| branch.taken == taken)).count();
    assert_eq!((taken(true), taken(false)), (9, 1));
}

#[test]
fn a_callee_sees_the_outputs_as_its_inputs_and_a_return_restores_the_frame() {
    let machine = run(|a| {
        let (callee, over) = (a.label(), a.label());
        a.put(alloc(R32, 0, 3, 2, 0));
        a.put(mov_imm(R33, 5));
        a.put(mov_imm(R35, 40));
        a.put(mov_imm(R36, 2));
        a.put(br_call(B0, callee));
        a.put(mov(R9, R33));
        a.put(mov_to_ar_i(Ar::PFS, R32));
        a.put(br_cond(over));
        a.here(callee);
        a.put(alloc(R34, 2, 2, 0, 0));
        a.put(add(R8, R32, R33));
        a.put(mov_imm(R35, 77));
        a.put(mov_to_ar_i(Ar::PFS, R34));
        a.put(br_ret(B0));
        a.here(over);
    });
    assert_eq!((gr(&machine, 8), gr(&machine, 9)), (42, 5));
    // sof 5, sol 3.
    assert_eq!(machine.cpu(0).unwrap().cfm(), 5 | 3 << 7);
    let kinds: Vec<_> = recorded(&machine).steps.iter().filter_map(|step| step.branch.map(|branch| branch.kind)).collect();
    assert_eq!(kinds, [BranchKind::Call, BranchKind::Return, BranchKind::Conditional]);
}

/// Calls itself `depth` times with 20 locals each; every level checks its own on the way back, into r8.
fn recursion(depth: i64) -> impl FnOnce(&mut Assembler) {
    move |a| {
        let (function, over, leaf) = (a.label(), a.label(), a.label());
        a.put(alloc(R32, 0, 1, 1, 0));
        a.put(mov_imm(R33, depth));
        a.put(br_call(B0, function));
        a.put(br_cond(over));
        a.here(function);
        a.put(alloc(R33, 1, 19, 1, 0));
        a.put(mov_from_br(R34, B0));
        a.put(mov(R51, R32));
        a.put(cmp_eq(P6, P7, R0, R32));
        a.put(br_cond(leaf).when(P6));
        a.put(adds(R52, -1, R32));
        a.put(br_call(B0, function));
        a.here(leaf);
        a.put(cmp_eq(P6, P7, R51, R32));
        a.put(add(R8, R8, R51).when(P6));
        a.put(mov_to_ar_i(Ar::PFS, R33));
        a.put(mov_to_br(B0, R34));
        a.put(br_ret(B0));
        a.here(over);
    }
}

#[test]
fn deep_calls_spill_to_the_backing_store_and_come_back() {
    let machine = run(recursion(30));
    assert_eq!(gr(&machine, 8), 30 * 31 / 2);
    let kinds = |kind| {
        let steps = recorded(&machine).steps.iter();
        steps.flat_map(|step| &step.register_stack).filter(|access| access.kind == kind).count()
    };
    // 31 frames of 20 locals and the caller's one are 621 registers: 525 and more do not fit into 96, and all of those come back.
    assert!(kinds(AccessKind::RegisterStackStore) >= 525);
    assert_eq!(machine.cpu(0).unwrap().ar(17), machine.cpu(0).unwrap().ar(18));
    assert!(kinds(AccessKind::RegisterStackLoad) >= 525);
}

#[test]
fn shallow_calls_stay_in_the_register_file() {
    let machine = run(recursion(3));
    assert_eq!(gr(&machine, 8), 6);
    assert!(recorded(&machine).steps.iter().all(|step| step.register_stack.is_empty()));
}

#[test]
fn flushed_registers_are_in_memory_in_their_order() {
    let machine = run(|a| {
        a.put(mov_from_ar_m(R14, Ar::BSP));
        a.put(alloc(R32, 0, 3, 0, 0));
        a.put(mov_imm(R32, 11));
        a.put(mov_imm(R33, 22));
        a.put(mov_imm(R34, 33));
        a.put(cover());
        a.put(flushrs());
        a.put(mov_from_ar_m(R15, Ar::BSPSTORE));
        a.put(ld8(R8, R14).post(8));
        a.put(ld8(R9, R14).post(8));
        a.put(ld8(R10, R14).post(8));
        a.put(sub(R11, R15, R14));
    });
    assert_eq!([8, 9, 10, 11].map(|r| gr(&machine, r)), [11, 22, 33, 0]);
}

#[test]
fn nat_bits_are_collected_with_the_registers() {
    let machine = run(|a| {
        a.load(R14, 1 << 40);
        a.put(alloc(R32, 0, 2, 0, 0));
        a.put(ld8_s(R33, R14));
        a.put(cover());
        a.put(flushrs());
        a.put(mov_from_ar_m(R8, Ar::RNAT));
    });
    // The backing store starts at a multiple of 512: r33 has bit 1.
    assert_eq!(gr(&machine, 8), 2);
}

#[test]
fn a_nat_comes_back_from_the_backing_store() {
    let machine = run(|a| {
        let (function, leaf, over) = (a.label(), a.label(), a.label());
        a.load(R14, 1 << 40);
        a.put(alloc(R32, 0, 3, 1, 0));
        a.put(ld8_s(R33, R14));
        a.put(mov_imm(R34, 4));
        a.put(mov_imm(R35, 20));
        a.put(br_call(B0, function));
        a.put(tnat_z(P8, P9, R33));
        a.put(tnat_z(P10, P11, R34));
        a.put(br_cond(over));
        a.here(function);
        a.put(alloc(R33, 1, 19, 1, 0));
        a.put(mov_from_br(R34, B0));
        a.put(cmp_eq(P6, P7, R0, R32));
        a.put(br_cond(leaf).when(P6));
        a.put(adds(R52, -1, R32));
        a.put(br_call(B0, function));
        a.here(leaf);
        a.put(mov_to_ar_i(Ar::PFS, R33));
        a.put(mov_to_br(B0, R34));
        a.put(br_ret(B0));
        a.here(over);
    });
    assert_eq!([8, 9, 10, 11].map(|p| pr(&machine, p)), [false, true, true, false]);
}

#[test]
fn loadrs_leaves_just_the_registers_it_is_asked_for() {
    let machine = run(|a| {
        a.put(alloc(R32, 0, 3, 0, 0));
        a.put(cover());
        a.put(flushrs());
        a.load(R14, 16 << 16);
        a.put(mov_to_ar_m(Ar::RSC, R14));
        a.put(loadrs());
        a.put(mov_from_ar_m(R8, Ar::BSP));
        a.put(mov_from_ar_m(R9, Ar::BSPSTORE));
        a.put(sub(R10, R8, R9));
    });
    assert_eq!(gr(&machine, 10), 16);
    let loads = recorded(&machine).steps.iter().filter(|step| step.stack_level.is_some()).map(|step| step.register_stack.len());
    // alloc and cover move nothing, flushrs stores three; what loadrs asks for is still in the file.
    assert_eq!(loads.collect::<Vec<_>>(), [0, 0, 3, 0]);
}

#[test]
fn a_modulo_scheduled_loop_fills_and_drains() {
    // Three stages: p16 loads, p17 adds one, p18 sums up. Four iterations.
    let machine = run(|a| {
        a.put(alloc(R32, 0, 8, 0, 8));
        a.put(mov_to_ar_i_imm(Ar::LC, 3));
        a.put(mov_to_ar_i_imm(Ar::EC, 3));
        a.put(mov_to_pr_rot(0x1_0000));
        a.put(mov_imm(R14, 10));
        let again = a.mark();
        a.put(add(R8, R8, R34).when(P18));
        a.put(adds(R33, 1, R33).when(P17));
        a.put(mov(R32, R14).when(P16));
        a.put(adds(R14, 10, R14).when(P16));
        a.put(adds(R15, 1, R15));
        a.put(br_ctop(again));
        a.put(mov_from_ar_i(R10, Ar::EC));
    });
    // 11 + 21 + 31 + 41, in 4 + 3 - 1 passes.
    assert_eq!([8, 15, 10].map(|r| gr(&machine, r)), [104, 6, 0]);
}

#[test]
fn a_while_loop_goes_on_while_its_predicate_does() {
    let machine = run(|a| {
        a.put(mov_to_ar_i_imm(Ar::EC, 0));
        a.put(mov_imm(R14, 3));
        let again = a.mark();
        a.put(adds(R8, 1, R8));
        a.put(cmp_ltu(P6, P7, R8, R14));
        a.put(br_wtop(again).when(P6));
    });
    assert_eq!(gr(&machine, 8), 3);
}

#[test]
fn long_branches_reach_everywhere() {
    let mut far = Assembler::new(0x30_0000);
    far.put(mov_imm(R8, 6));
    far.put(br_cond_reg(B6));
    let bytes = far.finish().unwrap();
    let machine = finish(machine(&Default::default(), &[(0x30_0000, bytes)], |a| {
        a.load(R14, 0x30_0000);
        a.put(mov_to_br(B7, R14));
        a.put(br_call_reg(B6, B7));
        a.put(adds(R9, 1, R8));
    }));
    assert_eq!(gr(&machine, 9), 7);
}

#[test]
fn a_taken_branch_skips_the_rest_of_its_bundle() {
    let machine = run(|a| {
        let over = a.label();
        a.bundle(Template::MBB, [nop(0), br_cond(over), br_cond(over)]);
        a.here(over);
    });
    assert_eq!(recorded(&machine).steps.iter().filter(|step| step.branch.is_some()).count(), 1);
}
