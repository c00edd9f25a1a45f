//! What is reported to an observer of an instruction.

use super::support::*;

/// The step of the instruction `build` ends with.
fn step(build: impl FnOnce(&mut Assembler)) -> Step {
    let mut address = 0;
    let machine = run(|a| {
        build(a);
        address = a.address() - 4;
    });
    let steps = &machine.observer(0).expect("a CPU").steps;
    *steps.iter().rfind(|step| step.address == address).expect("it completed")
}

#[test]
fn a_step_tells_where_and_in_what_state() {
    let user = step(|a| {
        let user = a.label();
        go(a, user, 0, msr::PR);
        a.addi(R3, R3, 1);
    });
    assert!(user.problem());
    assert_eq!((user.encoding, user.category, user.next, user.cycles), (0x3863_0001, Category::Fixed, user.address + 4, 1));
    assert_eq!(user.real, user.address);
    assert!(!user.run);
    let run = step(|a| {
        a.load(R4, 1);
        a.mtspr(spr::CTRL, R4);
        a.nop();
    });
    assert!(run.run && !run.problem());
}

#[test]
fn branches_tell_their_kind_and_outcome() {
    let call = step(|a| {
        let next = a.label();
        a.bl(next);
        a.here(next);
    });
    let branch = call.branch.expect("a branch");
    assert_eq!(
        (branch.form.through, branch.form.is_conditional(), branch.form.link, branch.taken),
        (Through::Immediate, false, true, true)
    );
    assert_eq!((branch.target, call.next), (call.address + 4, call.address + 4));
    assert!(call.marks.long_latency);

    let not_taken = step(|a| {
        let next = a.label();
        a.cmpdi(CR0, R0, 0);
        a.bne(next);
        a.here(next);
    });
    let branch = not_taken.branch.expect("a branch");
    assert!(branch.form.is_conditional() && branch.form.on_condition && !branch.form.on_count && !branch.taken);

    let counted = step(|a| {
        a.load(R4, 1);
        a.mtctr(R4);
        let next = a.label();
        a.bdnz(next);
        a.here(next);
    });
    let branch = counted.branch.expect("a branch");
    assert!(branch.form.on_count && !branch.form.on_condition && !branch.taken);

    for (hint, is_return) in [(0, true), (1, false)] {
        let back = step(|a| {
            let next = a.address() + 12;
            a.load(R4, next + 4);
            a.mtlr(R4);
            // Two instructions load the address.
            a.bclr(20, 0, hint, false);
        });
        let branch = back.branch.expect("a branch");
        assert_eq!((branch.form.through, branch.form.hint, branch.form.is_return()), (Through::Lr, hint as u8, is_return));
    }
}

#[test]
fn accesses_tell_address_size_and_direction() {
    let load = step(|a| {
        a.load(R6, DATA);
        a.lhz(R3, 6, R6);
    });
    assert_eq!(load.category, Category::Load);
    let right = Access { address: DATA + 6, real: DATA + 6, size: 2, store: false, reserve: false };
    assert_eq!(load.access, Some(right));
    let store = step(|a| {
        a.load(R6, DATA);
        a.stbx(R3, R6, R3);
    });
    assert_eq!(store.category, Category::Store);
    assert_eq!(store.access, Some(Access { address: DATA, real: DATA, size: 1, store: true, reserve: false }));
    let failed = step(|a| {
        a.load(R6, DATA);
        a.stwcx_dot(R3, R0, R6);
    });
    assert_eq!((failed.access, failed.conditional), (None, Some(Conditional::Failed)));
    let stored = step(|a| {
        a.load(R6, DATA);
        a.lwarx(R3, R0, R6);
        a.stwcx_dot(R3, R0, R6);
    });
    assert_eq!(stored.conditional, Some(Conditional::Stored));
    assert!(stored.access.is_some_and(|access| access.reserve && access.store && access.size == 4));
}

#[test]
fn marks_tell_what_single_events_look_for() {
    assert!(step(|a| a.probe(false)).marks.probe && step(|a| a.probe(true)).marks.probe);
    assert!(!step(|a| a.and(R0, R1, R1)).marks.probe && !step(|a| a.and_dot(R0, R0, R0)).marks.probe);
    let divide = step(|a| a.divd(R3, R4, R5)).marks;
    assert!(divide.divide && divide.long_latency && !divide.multiply);
    let multiply = step(|a| a.mulli(R3, R4, 3)).marks;
    assert!(multiply.multiply && multiply.long_latency && !multiply.divide);
    let count = step(|a| a.mtctr(R3)).marks;
    assert!(count.count_register && count.long_latency);
    assert!(!step(|a| a.mtlr(R3)).marks.long_latency);
}

#[test]
fn barriers_prefetches_and_invalidations_are_named() {
    let barriers: [(Build, Barrier); 5] = [
        (|a| a.sync(), Barrier::Heavyweight),
        (|a| a.lwsync(), Barrier::Lightweight),
        (|a| a.ptesync(), Barrier::PageTable),
        (|a| a.eieio(), Barrier::Eieio),
        (|a| a.isync(), Barrier::Instruction),
    ];
    for (build, barrier) in barriers {
        let step = step(build);
        assert_eq!((step.category, step.barrier), (Category::Synchronize, Some(barrier)));
    }
    let touches: [(Build, Touch); 8] = [
        (|a| a.dcbt(R0, R6), Touch::Load),
        (|a| a.dcbtst(R0, R6), Touch::Store),
        // TH is 01010.
        (|a| a.word(31 << 26 | 10 << 21 | 6 << 11 | 278 << 1), Touch::Stream),
        (|a| a.dcbf(R0, R6), Touch::Flush),
        (|a| a.icbi(R0, R6), Touch::InstructionBlock),
        (|a| a.tlbie(R6, R0), Touch::Translation),
        (|a| a.word(31 << 26 | 6 << 11 | 274 << 1), Touch::LocalTranslation),
        (|a| a.slbie(R6), Touch::Segment),
    ];
    for (build, why) in touches {
        let step = step(|a| {
            a.load(R6, DATA);
            build(a);
        });
        assert_eq!((step.touched, step.access), (Some(Touched { address: DATA, why }), None));
    }
}

#[test]
fn floating_point_kinds_are_apart() {
    // POWER9 PMU User's Guide, Table 5-4: PM_1FLOP_CMPL names compares, selections and changes of the sign, and none of the moves.
    // Divisions and square roots are slow, as they are weighed apart there.
    let math = |work, single, vector| Floating::Math { work, single, vector };
    let kinds: [(Build, Floating, bool); 22] = [
        (|a| a.fneg(F1, F2), math(Work::One, false, false), false),
        (|a| a.fabs(F1, F2), math(Work::One, false, false), false),
        (|a| a.word(63 << 26 | 1 << 21 | 2 << 11 | 136 << 1), math(Work::One, false, false), false),
        (|a| a.word(63 << 26 | 1 << 16 | 2 << 11), math(Work::One, false, false), false),
        (|a| a.fmr(F1, F2), Floating::Move, false),
        (|a| a.word(63 << 26 | 1 << 21 | 2 << 11 | 12 << 1), Floating::Move, false),
        (|a| a.word(63 << 26 | 1 << 21 | 2 << 11 | 814 << 1), Floating::Move, false),
        (|a| a.word(63 << 26 | 1 << 21 | 2 << 11 | 846 << 1), Floating::Move, false),
        (|a| a.word(63 << 26 | 1 << 21 | 583 << 1), Floating::Move, false),
        (|a| a.word(63 << 26 | 1 << 25 | 2 << 11 | 711 << 1), Floating::Move, false),
        (|a| a.fadd(F1, F2, F3), math(Work::One, false, false), false),
        (|a| a.fmadd(F1, F2, F3, F4), math(Work::Fused, false, false), false),
        (|a| a.fdiv(F1, F2, F3), math(Work::Divide, false, false), true),
        (|a| a.fsqrts(F1, F2), math(Work::Divide, true, false), true),
        (|a| a.xvadddp(1, 2, 3), math(Work::One, false, true), false),
        (|a| a.xvaddsp(1, 2, 3), math(Work::One, true, true), false),
        (|a| a.xvmaddadp(1, 2, 3), math(Work::Fused, false, true), false),
        (|a| a.xvmaddasp(1, 2, 3), math(Work::Fused, true, true), false),
        (|a| a.xvdivdp(1, 2, 3), math(Work::Divide, false, true), true),
        (|a| a.xvdivsp(1, 2, 3), math(Work::Divide, true, true), true),
        (|a| a.xvsqrtdp(1, 2), math(Work::Divide, false, true), true),
        (|a| a.xvsqrtsp(1, 2), math(Work::Divide, true, true), true),
    ];
    for (build, kind, slow) in kinds {
        let step = step(|a| {
            a.load(R4, msr::FP | msr::VSX);
            a.mfmsr(R5);
            a.or(R4, R4, R5);
            a.mtmsrd(R4, false);
            build(a);
        });
        assert_eq!((step.category, step.floating, step.marks.long_latency), (Category::Floating, Some(kind), slow));
    }
}

#[test]
fn a_context_is_told_for_every_change_and_no_other() {
    // One at the start of the run; HSPRG1, LR and a store change none, CTRL and the priority one each.
    let contexts = |build: fn(&mut Assembler)| run(build).observer(0).expect("a CPU").contexts;
    let none = contexts(|a| {
        a.mtlr(R3);
        a.mtspr(spr::SPRG1, R3);
    });
    assert_eq!(none, 1);
    let two = contexts(|a| {
        a.load(R4, 1);
        a.mtspr(spr::CTRL, R4);
        a.mtspr(spr::CTRL, R4);
        a.priority(R1);
    });
    assert_eq!(two, 3);
}
