//! Which instructions Unicorn executes, and what is known of each before it runs.

use crate::power::exec::float;
use crate::power::exec::memory::{self, Access};
use crate::power::exec::storage;
use crate::power::op::Op;
use crate::power::registers::spr;
use crate::power::word::Word;
use crate::power::{Barrier, Branch, Class, Marks, Step, Through, Touch, Touched};

/// An instruction that only computes, moves data or branches: Unicorn executes it.
pub(super) struct Plain {
    /// What a step of it contains; of an access, a branch and what is touched, only what the encoding alone determines.
    pub(super) step: Step,
    /// The access to memory, if it is one.
    pub(super) access: Option<Access>,
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
    let step = Step { address, encoding: word, cycles: 1, ..Step::default() };
    let mut plain = Plain { step, access: None, floating: false, changes_xer: changes_xer(op, w), ends_block: false };
    let step = &mut plain.step;
    if let Some(access) = memory::described(op) {
        step.class = if access.store { Class::Store } else { Class::Load };
        plain.floating = access.is_floating();
        return access.is_valid(w).then_some(Plain { access: Some(access), ..plain });
    }
    if let Some(floating) = float::kind(op) {
        step.class = Class::Floating;
        step.floating = Some(floating);
        step.marks.long_latency = floating.is_slow();
        plain.floating = true;
        let status = matches!(op, Op::Fcmpu | Op::Fcmpo | Op::Mffs | Op::Mtfsf) || w.record();
        // Unicorn rounds these twice.
        let twice = matches!(op, Op::Fmadds | Op::Fmsubs | Op::Fnmadds | Op::Fnmsubs);
        // And these it does not clamp.
        let to_integer = matches!(op, Op::Fctid | Op::Fctidz | Op::Fctiwz);
        return (!status && !twice && !to_integer).then_some(plain);
    }
    if let Some(why) = storage::touch(op, w) {
        step.class = Class::Cache;
        step.touched = Some(Touched { address: 0, why });
        return (!matches!(why, Touch::Translation | Touch::LocalTranslation | Touch::Segment)).then_some(plain);
    }
    match op {
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr => step.branch = Some(branch(op, w, address)?),
        Op::Sync if word >> 21 & 3 == 0 => step.barrier = Some(Barrier::Heavyweight),
        Op::Sync if word >> 21 & 3 == 1 => step.barrier = Some(Barrier::Lightweight),
        Op::Eieio => step.barrier = Some(Barrier::Eieio),
        Op::Isync => step.barrier = Some(Barrier::Instruction),
        Op::Mfspr if matches!(w.spr(), spr::LR | spr::CTR | spr::XER) => {}
        Op::Mtspr if w.spr() == spr::LR => {}
        Op::Mtspr if w.spr() == spr::CTR => step.marks = Marks { count_register: true, long_latency: true, ..Marks::default() },
        // The forms with three times the same register ask for priorities.
        Op::Or if w.rt() == w.ra() && w.rt() == w.rb() => return None,
        Op::And => step.marks.probe = matches!(word, 0x7C00_0038 | 0x7C21_0838),
        Op::Crand | Op::Crandc | Op::Creqv | Op::Crnand | Op::Crnor | Op::Cror | Op::Crorc | Op::Crxor | Op::Mcrf => {
            step.class = Class::Condition;
        }
        // Moves of one field: what the others read, and a move that names several, are undefined.
        Op::Mfcr if word & 1 << 20 != 0 => return None,
        Op::Mtcrf if word & 1 << 20 != 0 && !w.fxm().is_power_of_two() => return None,
        _ if multiplies(op) => step.marks = Marks { multiply: true, long_latency: true, ..Marks::default() },
        _ if divides(op) => step.marks = Marks { divide: true, long_latency: true, ..Marks::default() },
        _ if computes(op) => {}
        _ => return None,
    }
    plain.ends_block = step.branch.is_some() || op == Op::Isync;
    if step.branch.is_some() {
        step.class = Class::Branch;
        step.marks.long_latency = w.record();
    } else if step.barrier.is_some() {
        step.class = Class::Synchronize;
    }
    Some(plain)
}

/// What the encoding of a branch determines: its target if the instruction has it, and that it is taken.
fn branch(op: Op, w: Word, address: u64) -> Option<Branch> {
    let (through, displacement) = match op {
        Op::B => (Through::Immediate, w.li()),
        Op::Bc => (Through::Immediate, w.ds()),
        Op::Bclr => (Through::Lr, 0),
        _ => (Through::Ctr, 0),
    };
    let bo = if op == Op::B { 0b1_0100 } else { w.rt() };
    let (on_condition, on_count) = (bo & 0b1_0000 == 0, bo & 0b0_0100 == 0);
    let conditional = on_condition || on_count;
    // A branch to CTR that counts CTR down is an invalid form. Where LR gets an address and is also the target of a branch that may not be
    // taken, the target is unknown afterwards.
    if through == Through::Ctr && on_count || through == Through::Lr && w.record() && conditional {
        return None;
    }
    let immediate = through == Through::Immediate;
    let base = if immediate && !w.absolute() { address } else { 0 };
    let hint = if immediate { 0 } else { (w.rb() & 3) as u8 };
    let target = base.wrapping_add(displacement);
    Some(Branch { through, conditional, on_condition, on_count, link: w.record(), hint, taken: true, target })
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
    carries || w.0 >> 26 == 31 && w.oe() && (matches!(op, Op::Add | Op::Subf | Op::Neg) || multiplies(op) || divides(op))
}

fn multiplies(op: Op) -> bool {
    matches!(
        op,
        Op::Mulli | Op::Mullw | Op::Mulld | Op::Mulhd | Op::Mulhdu | Op::Mulhw | Op::Mulhwu | Op::Maddld | Op::Maddhd | Op::Maddhdu
    )
}

fn divides(op: Op) -> bool {
    matches!(
        op,
        Op::Divd
            | Op::Divdu
            | Op::Divde
            | Op::Divdeu
            | Op::Divw
            | Op::Divwu
            | Op::Divwe
            | Op::Divweu
            | Op::Modsd
            | Op::Modud
            | Op::Modsw
            | Op::Moduw
    )
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
        Op::Andc
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
