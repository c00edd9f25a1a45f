//! `branches`: every event of branches, in loops whose branches are predicted the same way in every turn.
//!
//! A loop is a procedure. It is called for 64 turns, in which the predictor learns it, and then for ten, which are counted. What is not a
//! matter of learning is fixed by hints: a branch that is always taken with `.spnt` is mispredicted in every turn.

use super::Kernel;
use super::part::{Facts, Monitor};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::image::Image;

/// An event by its names on Montecito and on the first Itanium, empty where there is no such event, and the right count.
type Right = (&'static str, &'static str, u64);

/// Where single branches of a loop go.
struct Places {
    /// The turn's begin: where branches go that are never taken.
    again: Label,
    /// In r22 and r23, which b4 gets in turn.
    even: Label,
    odd: Label,
    /// In b2, b3 and r25.
    fixed: Label,
    surprising: Label,
    elsewhere: Label,
}

/// A loop, and its counts. The call takes the loop in, nine of ten `br.cloop` are taken, and the procedure returns: all are predicted, of
/// the first Itanium's stages by the third, the second and the second; the last `br.cloop` is the third's too.
struct Section {
    name: &'static str,
    /// A turn: p1 is 1, p2 is 0, p3 and p4 change places every turn, p5 is 1 once.
    turn: fn(&mut Kernel, &Places),
    /// What a turn calls at its end, behind the loop.
    callees: Option<fn(&mut Kernel, &[Label; 4])>,
    rights: &'static [Right],
}

const SECTIONS: &[Section] = &[
    Section {
        name: "directions",
        turn: directions,
        callees: None,
        // In each turn one is taken and one not, as learned; one is taken and one not, against their hints; one is taken by half; and one
        // is taken in one turn of ten, for which four turns before do not prepare.
        rights: &[
            ("BR_MISPRED_DETAIL.ALL.ALL_PRED", "BRANCH_PREDICTOR.ALL.ALL_PREDICTIONS", 60 + 12),
            ("BR_MISPRED_DETAIL.ALL.CORRECT_PRED", "BRANCH_PREDICTOR.ALL.CORRECT_PREDICTIONS", 10 + 10 + 5 + 9 + 12),
            ("BR_MISPRED_DETAIL.ALL.WRONG_PATH", "BRANCH_PREDICTOR.ALL.WRONG_PATH", 10 + 10 + 5 + 1),
            ("BR_MISPRED_DETAIL.ALL.WRONG_TARGET", "BRANCH_PREDICTOR.ALL.WRONG_TARGET", 0),
            ("BR_PATH_PRED.ALL.MISPRED_NOTTAKEN", "BRANCH_PATH.ALL.NT_OUTCOMES_INCORRECTLY_PREDICTED", 10 + 5),
            ("BR_PATH_PRED.ALL.MISPRED_TAKEN", "BRANCH_PATH.ALL.TK_OUTCOMES_INCORRECTLY_PREDICTED", 10 + 1),
            ("BR_PATH_PRED.ALL.OKPRED_NOTTAKEN", "BRANCH_PATH.ALL.NT_OUTCOMES_CORRECTLY_PREDICTED", 10 + 9 + 1),
            ("BR_PATH_PRED.ALL.OKPRED_TAKEN", "BRANCH_PATH.ALL.TK_OUTCOMES_CORRECTLY_PREDICTED", 10 + 5 + 11),
            ("BR_PATH_PRED.IPREL.MISPRED_NOTTAKEN", "", 10 + 5),
            ("", "BRANCH_PATH.2ND_STAGE.NT_OUTCOMES_INCORRECTLY_PREDICTED", 5),
            ("BR_PATH_PRED.IPREL.MISPRED_TAKEN", "", 10 + 1),
            ("BR_PATH_PRED.IPREL.OKPRED_NOTTAKEN", "", 10 + 9 + 1),
            ("BR_PATH_PRED.IPREL.OKPRED_TAKEN", "", 10 + 5 + 10),
            ("BR_MISPRED_DETAIL.IPREL.ALL_PRED", "", 60 + 11),
            ("BR_MISPRED_DETAIL.IPREL.CORRECT_PRED", "", 10 + 10 + 5 + 9 + 11),
            ("BR_MISPRED_DETAIL.IPREL.WRONG_PATH", "", 10 + 10 + 5 + 1),
            ("BR_PATH_PRED.RETURN.OKPRED_TAKEN", "", 1),
            ("", "BRANCH_PATH.2ND_STAGE.TK_OUTCOMES_INCORRECTLY_PREDICTED", 1),
            ("", "BRANCH_PATH.2ND_STAGE.NT_OUTCOMES_CORRECTLY_PREDICTED", 10 + 9),
            ("", "BRANCH_PATH.2ND_STAGE.TK_OUTCOMES_CORRECTLY_PREDICTED", 10 + 5 + 10),
            ("", "BRANCH_PATH.3RD_STAGE.NT_OUTCOMES_INCORRECTLY_PREDICTED", 10),
            ("", "BRANCH_PATH.3RD_STAGE.TK_OUTCOMES_INCORRECTLY_PREDICTED", 10),
            ("", "BRANCH_PATH.3RD_STAGE.NT_OUTCOMES_CORRECTLY_PREDICTED", 1),
            ("", "BRANCH_PATH.3RD_STAGE.TK_OUTCOMES_CORRECTLY_PREDICTED", 1),
            ("", "BRANCH_TAKEN_SLOT.2", 10 + 10 + 5 + 1 + 11),
            ("", "BRANCH_TAKEN_SLOT.NOT_TAKEN", 10 + 10 + 5 + 9 + 1),
        ],
    },
    Section {
        name: "registers and returns",
        turn: indirect,
        callees: Some(procedures),
        // In each turn, through registers: one is taken and one not, as predicted; one is taken and one not, against their hints; one goes
        // where it did not go last. Four calls. Returns: one not taken as predicted, one against its hint; four are taken, one against its
        // hint, one to another address than the call's, one with another function state.
        rights: &[
            ("BR_MISPRED_DETAIL.ALL.ALL_PRED", "BRANCH_PREDICTOR.ALL.ALL_PREDICTIONS", 150 + 12),
            ("BR_MISPRED_DETAIL.ALL.WRONG_PATH", "BRANCH_PREDICTOR.ALL.WRONG_PATH", 20 + 20),
            ("BR_MISPRED_DETAIL.ALL.WRONG_TARGET", "BRANCH_PREDICTOR.ALL.WRONG_TARGET", 10 + 10),
            ("BR_PATH_PRED.NRETIND.MISPRED_NOTTAKEN", "", 10),
            ("BR_PATH_PRED.NRETIND.MISPRED_TAKEN", "", 10),
            ("BR_PATH_PRED.NRETIND.OKPRED_NOTTAKEN", "", 10),
            ("BR_PATH_PRED.NRETIND.OKPRED_TAKEN", "", 10 + 10),
            ("BR_MISPRED_DETAIL.NRETIND.ALL_PRED", "", 50),
            ("BR_MISPRED_DETAIL.NRETIND.CORRECT_PRED", "", 20),
            ("BR_MISPRED_DETAIL.NRETIND.WRONG_PATH", "", 20),
            ("BR_MISPRED_DETAIL.NRETIND.WRONG_TARGET", "", 10),
            ("BR_PATH_PRED.RETURN.MISPRED_NOTTAKEN", "", 10),
            ("BR_PATH_PRED.RETURN.MISPRED_TAKEN", "", 10),
            ("BR_PATH_PRED.RETURN.OKPRED_NOTTAKEN", "", 10),
            ("BR_PATH_PRED.RETURN.OKPRED_TAKEN", "", 30 + 1),
            ("BR_MISPRED_DETAIL.RETURN.ALL_PRED", "", 60 + 1),
            ("BR_MISPRED_DETAIL.RETURN.CORRECT_PRED", "", 30 + 1),
            ("BR_MISPRED_DETAIL.RETURN.WRONG_PATH", "", 20),
            ("BR_MISPRED_DETAIL.RETURN.WRONG_TARGET", "", 10),
            ("BE_BR_MISPRED_DETAIL.PFS", "", 10),
            ("BE_BR_MISPRED_DETAIL.ANY", "", 10),
            ("", "BRANCH_PREDICTOR.2ND_STAGE.ALL_PREDICTIONS", 120 + 10),
            ("", "BRANCH_PREDICTOR.2ND_STAGE.CORRECT_PREDICTIONS", 10 + 40 + 30 + 10),
            ("", "BRANCH_PREDICTOR.2ND_STAGE.WRONG_PATH", 20),
            ("", "BRANCH_PREDICTOR.2ND_STAGE.WRONG_TARGET", 20),
            ("", "BRANCH_PREDICTOR.3RD_STAGE.ALL_PREDICTIONS", 30 + 2),
            ("", "BRANCH_PREDICTOR.3RD_STAGE.CORRECT_PREDICTIONS", 10 + 2),
            ("", "BRANCH_PREDICTOR.3RD_STAGE.WRONG_PATH", 20),
        ],
    },
    Section {
        name: "bundles",
        turn: bundles,
        callees: None,
        // In each turn bundles of: not taken and taken; not taken against its hint and taken behind it; one alone in the first slot; two
        // not taken; one not taken against its hint and one behind it; not taken and taken to another target than last; one not taken
        // and, in the same group, not taken and taken.
        rights: &[
            ("BR_MISPRED_DETAIL.ALL.ALL_PRED", "BRANCH_PREDICTOR.ALL.ALL_PREDICTIONS", 140 + 12),
            ("BR_PATH_PRED.IPREL.OKPRED_NOTTAKEN", "", 70 + 1),
            ("BR_PATH_PRED.IPREL.MISPRED_NOTTAKEN", "", 20),
            ("BR_PATH_PRED.IPREL.OKPRED_TAKEN", "", 30 + 10),
            // Behind one that was expected to be taken, it is not predicted.
            ("BR_PATH_PRED.IPREL.MISPRED_TAKEN", "", 10),
            ("BR_PATH_PRED2.IPREL.UNKNOWNPRED_TAKEN", "", 10),
            ("BR_PATH_PRED2.IPREL.UNKNOWNPRED_NOTTAKEN", "", 10),
            ("BR_PATH_PRED2.ALL.UNKNOWNPRED_TAKEN", "", 10),
            ("BR_PATH_PRED2.ALL.UNKNOWNPRED_NOTTAKEN", "", 10),
            ("BR_MISPRED_DETAIL2.ALL.ALL_UNKNOWN_PRED", "", 20),
            ("BR_MISPRED_DETAIL2.IPREL.ALL_UNKNOWN_PRED", "", 20),
            ("BR_MISPRED_DETAIL2.IPREL.UNKNOWN_PATH_CORRECT_PRED", "", 10),
            ("BR_MISPRED_DETAIL2.IPREL.UNKNOWN_PATH_WRONG_PATH", "", 10),
            ("ENCBR_MISPRED_DETAIL.ALL.ALL_PRED", "", 70),
            ("ENCBR_MISPRED_DETAIL.ALL.CORRECT_PRED", "", 50),
            ("ENCBR_MISPRED_DETAIL.ALL.WRONG_PATH", "", 20),
            ("ENCBR_MISPRED_DETAIL.OVERSUB.ALL_PRED", "", 20),
            ("ENCBR_MISPRED_DETAIL.OVERSUB.CORRECT_PRED", "", 20),
            ("ENCBR_MISPRED_DETAIL.ALL2.ALL_PRED", "", 70),
            ("", "BRANCH_MULTIWAY.ALL_PATHS.ALL_PREDICTIONS", 60),
            ("", "BRANCH_MULTIWAY.ALL_PATHS.CORRECT_PREDICTIONS", 30),
            ("", "BRANCH_MULTIWAY.ALL_PATHS.WRONG_PATH", 20),
            ("", "BRANCH_MULTIWAY.ALL_PATHS.WRONG_TARGET", 10),
            ("", "BRANCH_MULTIWAY.TAKEN.ALL_PREDICTIONS", 40),
            ("", "BRANCH_MULTIWAY.TAKEN.CORRECT_PREDICTIONS", 20),
            ("", "BRANCH_MULTIWAY.TAKEN.WRONG_PATH", 10),
            ("", "BRANCH_MULTIWAY.TAKEN.WRONG_TARGET", 10),
            ("", "BRANCH_MULTIWAY.NOT_TAKEN.ALL_PREDICTIONS", 20),
            ("", "BRANCH_MULTIWAY.NOT_TAKEN.CORRECT_PREDICTIONS", 10),
            ("", "BRANCH_MULTIWAY.NOT_TAKEN.WRONG_PATH", 10),
            ("", "BRANCH_TAKEN_SLOT.0", 10),
            ("", "BRANCH_TAKEN_SLOT.1", 30),
            ("", "BRANCH_TAKEN_SLOT.2", 10 + 11),
            ("", "BRANCH_TAKEN_SLOT.NOT_TAKEN", 30 + 1),
        ],
    },
    Section {
        name: "announced",
        turn: announced,
        callees: None,
        // Three are announced in each turn: one goes there, one is not taken, and one goes elsewhere.
        rights: &[
            ("", "BRANCH_PREDICTOR.1ST_STAGE.ALL_PREDICTIONS", 30),
            ("", "BRANCH_PREDICTOR.1ST_STAGE.CORRECT_PREDICTIONS", 10),
            ("", "BRANCH_PREDICTOR.1ST_STAGE.WRONG_PATH", 10),
            ("", "BRANCH_PREDICTOR.1ST_STAGE.WRONG_TARGET", 10),
            ("", "BRANCH_PATH.1ST_STAGE.NT_OUTCOMES_INCORRECTLY_PREDICTED", 10),
            ("", "BRANCH_PATH.1ST_STAGE.TK_OUTCOMES_CORRECTLY_PREDICTED", 20),
            ("", "BRANCH_PREDICTOR.2ND_STAGE.CORRECT_PREDICTIONS", 10),
        ],
    },
];

/// The places of branches through b2 and b3, where the turn has none.
fn nowhere(k: &mut Kernel, places: &Places) {
    k.a.here(places.fixed);
    k.a.here(places.surprising);
}

/// A branch to the next bundle.
fn onward(k: &mut Kernel, branch: impl FnOnce(Label) -> Op) {
    let next = k.a.label();
    k.a.put(branch(next));
    k.a.here(next);
}

fn directions(k: &mut Kernel, places: &Places) {
    onward(k, |next| br_cond(next).when(P1).whether(Whether::Dptk));
    k.a.put(br_cond(places.again).when(P2).whether(Whether::Dptk));
    onward(k, |next| br_cond(next).when(P1).whether(Whether::Spnt));
    k.a.put(br_cond(places.again).when(P2));
    onward(k, |next| br_cond(next).when(P3));
    onward(k, |next| br_cond(next).when(P5).whether(Whether::Dpnt));
    k.a.here(places.even);
    k.a.here(places.odd);
    nowhere(k, places);
    k.a.here(places.elsewhere);
}

fn indirect(k: &mut Kernel, places: &Places) {
    k.a.put(br_cond_reg(B2));
    k.a.here(places.fixed);
    k.a.put(br_cond_reg(B2).when(P2).whether(Whether::Spnt));
    k.a.put(br_cond_reg(B2).when(P2));
    k.a.put(br_cond_reg(B3).when(P1).whether(Whether::Spnt));
    k.a.here(places.surprising);
    k.a.put(br_cond_reg(B4));
    k.a.here(places.odd);
    k.nops(1);
    k.a.here(places.even);
    k.a.put(br_ret(B5).when(P2).whether(Whether::Spnt));
    k.a.put(br_ret(B5).when(P2));
}

fn procedures(k: &mut Kernel, callees: &[Label; 4]) {
    let [plain, surprising, astray, altered] = *callees;
    k.a.here(plain);
    k.a.put(br_ret(B5));
    k.a.here(surprising);
    k.a.put(br_ret(B5).when(P1).whether(Whether::Spnt));
    k.a.here(astray);
    k.a.put(mov_to_br(B5, R25));
    k.a.put(br_ret(B5));
    // Another epilogue count.
    k.a.here(altered);
    k.a.put(mov_from_ar_i(R27, Ar::PFS));
    k.a.load(R24, 1 << 52);
    k.a.put(xor(R27, R27, R24));
    k.a.put(mov_to_ar_i(Ar::PFS, R27));
    k.a.put(br_ret(B5));
}

fn bundles(k: &mut Kernel, places: &Places) {
    let never = || br_cond(places.again).when(P2);
    let unexpected = || never().whether(Whether::Spnt);
    let mut three = |template, ops: &dyn Fn(Label) -> [Op; 3]| {
        let next = k.a.label();
        k.a.bundle(template, ops(next));
        k.a.here(next);
    };
    three(Template::BBB_S, &|next| [unexpected(), br_cond(next).when(P1), nop(0)]);
    three(Template::BBB_S, &|next| [never(), br_cond(next).when(P1), nop(0)]);
    three(Template::BBB_S, &|next| [br_cond(next).when(P1), nop(0), nop(0)]);
    three(Template::MBB_S, &|_| [nop(0), unexpected(), unexpected()]);
    three(Template::MBB_S, &|_| [nop(0), never(), unexpected()]);
    three(Template::MBB_S, &|_| [nop(0), unexpected(), br_cond_reg(B4)]);
    k.a.here(places.odd);
    k.nops(1);
    k.a.here(places.even);
    k.a.bundle(Template::MIB, [nop(0), nop(0), unexpected()]);
    let next = k.a.label();
    k.a.bundle(Template::BBB_S, [unexpected(), br_cond(next).when(P1), nop(0)]);
    k.a.here(next);
    nowhere(k, places);
    k.a.here(places.elsewhere);
}

fn announced(k: &mut Kernel, places: &Places) {
    let branches = [k.a.label(), k.a.label(), k.a.label()];
    let after = k.a.label();
    k.a.put(brp(branches[1], branches[0]).imp());
    k.a.put(brp(places.again, branches[1]).imp());
    k.a.put(brp(places.again, branches[2]).imp());
    k.a.here(branches[0]);
    k.a.put(br_cond(branches[1]).when(P1).whether(Whether::Spnt));
    k.a.here(branches[1]);
    k.a.put(br_cond(places.again).when(P2).whether(Whether::Spnt));
    k.a.here(branches[2]);
    k.a.put(br_cond(after).when(P1));
    k.a.here(after);
    k.a.here(places.even);
    k.a.here(places.odd);
    nowhere(k, places);
    k.a.here(places.elsewhere);
}

/// On to a multiple of 2 KiB, which tables that learn take for the same place.
fn align(k: &mut Kernel) {
    let over = k.a.label();
    k.a.put(br_cond(over));
    k.a.align(2048);
    k.a.here(over);
}

/// Calls the loop for `turns` turns. The call's place is one that no branch of the loop has, modulo 256 bytes.
fn call(k: &mut Kernel, turns: u64, place: Label) {
    k.a.load(R2, turns - 1);
    k.a.put(mov_to_ar_i(Ar::LC, R2));
    align(k);
    k.nops(1);
    k.user_monitors(true);
    k.a.put(br_call(B1, place));
    k.user_monitors(false);
}

/// The loop and what it calls. The first seven bundles hold no branch.
fn emit(k: &mut Kernel, section: &Section, place: Label, places: &Places) {
    k.a.here(place);
    k.a.put(mov_from_ar_i(R26, Ar::PFS));
    k.a.here(places.again);
    k.a.put(adds(R20, 1, R20));
    k.a.put(tbit_nz(P3, P4, R20, 0));
    k.a.put(mov_to_br(B4, R22).when(P3));
    k.a.put(mov_to_br(B4, R23).when(P4));
    k.a.put(mov_from_ar_i(R21, Ar::LC));
    k.a.put(cmp_eq_imm(P5, P16, 3, R21));
    (section.turn)(k, places);
}

/// One section with the counters of `placed`.
fn measure(k: &mut Kernel, part: &Facts, section: &Section, placed: &[(u8, &'static str)]) {
    for (counter, event) in placed {
        k.write_pmc(*counter, part.pmc(Monitor::of(event)));
    }
    let place = k.a.label();
    let callees = [k.a.label(), k.a.label(), k.a.label(), k.a.label()];
    let mut label = || k.a.label();
    let places = Places { again: label(), even: label(), odd: label(), fixed: label(), surprising: label(), elsewhere: label() };
    let over = k.a.label();
    k.a.put(br_cond(over));
    k.a.align(2048);
    emit(k, section, place, &places);
    if section.callees.is_some() {
        k.a.put(br_call(B5, callees[0]));
        k.a.put(br_call(B5, callees[1]));
        k.a.put(br_call(B5, callees[2]));
        k.nops(1);
        k.a.here(places.elsewhere);
        k.a.put(br_call(B5, callees[3]));
    }
    k.a.put(br_cloop(places.again));
    k.a.put(mov_to_ar_i(Ar::PFS, R26));
    k.a.put(br_ret(B1));
    if let Some(put) = section.callees {
        put(k, &callees);
    }
    k.a.here(over);
    for (register, label) in [(R22, places.odd), (R23, places.even), (R25, places.elsewhere), (R2, places.fixed), (R3, places.surprising)] {
        k.a.load_address(register, label);
    }
    k.a.put(mov_to_br(B2, R2));
    k.a.put(mov_to_br(B3, R3));
    k.a.load(R20, 0);
    k.a.put(cmp_eq(P1, P2, R0, R0));
    call(k, 64, place);
    for (counter, _) in placed {
        k.write_pmd(*counter, 0);
    }
    call(k, 10, place);
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
    k.main();
    for section in SECTIONS {
        let names = section.rights.iter().map(|(montecito, itanium, _)| if part.width == 47 { *montecito } else { *itanium });
        let mut left: Vec<&'static str> = names.filter(|name| !name.is_empty()).collect();
        while !left.is_empty() {
            let placed = part.place(&left);
            measure(&mut k, part, section, &placed);
            left.retain(|name| placed.iter().all(|(_, taken)| taken != name));
        }
    }
    k.end_main();
    k.finish()
}
