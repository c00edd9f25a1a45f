//! Which instructions Unicorn executes, and what is known of each before it runs.

use vm_pmu::decode::power::{
    LoadStore, Op, Through, Touch, Word, barrier, branch_form, category, direct_target, load_store, marks, scalar_work, touch,
};

use crate::power::registers::spr;
use crate::power::{Barrier, Branch, Step, Touched};

/// An instruction that only computes, moves data or branches: Unicorn executes it.
pub(super) struct Plain {
    /// What a step of it contains; of an access, a branch and what is touched, only what the encoding alone determines.
    pub(super) step: Step,
    /// The access to memory, if it is one.
    pub(super) access: Option<LoadStore>,
    /// It uses floating point.
    pub(super) floating: bool,
    /// It may change XER.
    pub(super) changes_xer: bool,
    /// What follows it may have changed: a branch, or `isync`.
    pub(super) ends_block: bool,
}

/// What is known of `word` at `address`, which is `op`, if Unicorn is to execute it.
///
/// Everything else is completed by the project's own engine: what changes or reads the machine state, special purpose registers except LR,
/// CTR and XER, reservations, transactions and traps; what depends on FPSCR, which Unicorn keeps in another way; multiply-add in single
/// precision and conversions to integers; and `dcbz`.
pub(super) fn plain(op: Op, word: u32, address: u64) -> Option<Plain> {
    let w = Word(word);
    let step = Step { address, encoding: word, cycles: 1, category: category(op, w), marks: marks(op, w), ..Step::default() };
    let mut plain = Plain { step, access: None, floating: false, changes_xer: changes_xer(op, w), ends_block: false };
    let step = &mut plain.step;
    if let Some(access) = load_store(op) {
        plain.floating = access.is_floating();
        return access.is_valid(w).then_some(Plain { access: Some(access), ..plain });
    }
    if let Some(floating) = scalar_work(op) {
        step.floating = Some(floating);
        plain.floating = true;
        let status = matches!(op, Op::Fcmpu | Op::Fcmpo | Op::Mffs | Op::Mtfsf) || w.record();
        // Unicorn rounds these twice.
        let twice = matches!(op, Op::Fmadds | Op::Fmsubs | Op::Fnmadds | Op::Fnmsubs);
        // And these it does not clamp.
        let to_integer = matches!(op, Op::Fctid | Op::Fctidz | Op::Fctiwz);
        return (!status && !twice && !to_integer).then_some(plain);
    }
    if let Some(why) = touch(op, w) {
        step.touched = Some(Touched { address: 0, why });
        return (!matches!(why, Touch::Translation | Touch::LocalTranslation | Touch::Segment)).then_some(plain);
    }
    step.barrier = barrier(op, w);
    match op {
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr => step.branch = Some(branch(op, w, address)?),
        Op::Sync | Op::Eieio | Op::Isync if step.barrier != Some(Barrier::PageTable) => {}
        Op::Mfspr if matches!(w.spr(), spr::LR | spr::CTR | spr::XER) => {}
        Op::Mtspr if matches!(w.spr(), spr::LR | spr::CTR) => {}
        // The forms with three times the same register ask for priorities.
        Op::Or if w.rt() == w.ra() && w.rt() == w.rb() => return None,
        Op::Crand | Op::Crandc | Op::Creqv | Op::Crnand | Op::Crnor | Op::Cror | Op::Crorc | Op::Crxor | Op::Mcrf => {}
        // Moves of one field: what the others read, and a move that names several, are undefined.
        Op::Mfcr if word & 1 << 20 != 0 => return None,
        Op::Mtcrf if word & 1 << 20 != 0 && !w.fxm().is_power_of_two() => return None,
        _ if step.marks.multiply || step.marks.divide || computes(op) => {}
        _ => return None,
    }
    plain.ends_block = step.branch.is_some() || op == Op::Isync;
    Some(plain)
}

/// What the encoding of a branch determines: its target if the instruction has it, and that it is taken.
fn branch(op: Op, w: Word, address: u64) -> Option<Branch> {
    let form = branch_form(op, w)?;
    // A branch to CTR that counts CTR down is an invalid form. Where LR gets an address and is also the target of a branch that may not be
    // taken, the target is unknown afterwards.
    if form.through == Through::Ctr && form.on_count || form.through == Through::Lr && form.link && form.is_conditional() {
        return None;
    }
    Some(Branch { form, taken: true, target: direct_target(op, w, address).unwrap_or_default() })
}

fn changes_xer(op: Op, w: Word) -> bool {
    let carries = matches!(
        op,
        Op::Addic
            | Op::AddicRecord
            | Op::Subfic
            | Op::Addc
            | Op::Subfc
            | Op::Adde
            | Op::Subfe
            | Op::Addme
            | Op::Subfme
            | Op::Addze
            | Op::Subfze
            | Op::Sraw
            | Op::Srawi
            | Op::Srad
            | Op::Sradi
    );
    let marks = marks(op, w);
    let multiplies_or_divides = marks.multiply || marks.divide;
    carries || w.0 >> 26 == 31 && w.oe() && (matches!(op, Op::Add | Op::Subf | Op::Neg) || multiplies_or_divides)
}

/// Fixed-point instructions of which nothing more has to be reported.
fn computes(op: Op) -> bool {
    let arithmetic = matches!(
        op,
        Op::Addi
            | Op::Addis
            | Op::Addpcis
            | Op::Addic
            | Op::AddicRecord
            | Op::Subfic
            | Op::Add
            | Op::Subf
            | Op::Addc
            | Op::Subfc
            | Op::Adde
            | Op::Subfe
            | Op::Addme
            | Op::Subfme
            | Op::Addze
            | Op::Subfze
            | Op::Neg
            | Op::Isel
            | Op::Cmp
            | Op::Cmpl
            | Op::Cmpi
            | Op::Cmpli
            | Op::Cmprb
            | Op::Cmpeqb
            | Op::Setb
            | Op::Mfcr
            | Op::Mtcrf
    );
    let logic = matches!(
        op,
        Op::And
            | Op::Andc
            | Op::Nand
            | Op::Or
            | Op::Orc
            | Op::Nor
            | Op::Xor
            | Op::Eqv
            | Op::Ori
            | Op::Oris
            | Op::Xori
            | Op::Xoris
            | Op::Andi
            | Op::Andis
            | Op::Extsb
            | Op::Extsh
            | Op::Extsw
            | Op::Cntlzw
            | Op::Cntlzd
            | Op::Cnttzw
            | Op::Cnttzd
            | Op::Popcntb
            | Op::Popcntw
            | Op::Popcntd
            | Op::Prtyd
            | Op::Prtyw
            | Op::Cmpb
            | Op::Bpermd
    );
    let shifts = matches!(
        op,
        Op::Rlwimi
            | Op::Rlwinm
            | Op::Rlwnm
            | Op::Rldicl
            | Op::Rldicr
            | Op::Rldic
            | Op::Rldimi
            | Op::Rldcl
            | Op::Rldcr
            | Op::Slw
            | Op::Srw
            | Op::Sld
            | Op::Srd
            | Op::Sraw
            | Op::Srawi
            | Op::Srad
            | Op::Sradi
            | Op::Extswsli
    );
    arithmetic || logic || shifts
}
