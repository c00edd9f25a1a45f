//! The branch trace buffer: PMC12, PMD8-16 (section 6.2.8).

use super::file::Captures;
use super::registers::Pmc12;
use crate::feed::{Branch, Prediction, Record, Traits};
use crate::ia64::{Last, Source, enter};

/// ptm or ppm of this value admits wrong predictions of its kind; both together admit every branch with a wrong prediction.
const WRONG: u8 = 0b01;
/// ptm of this value ignores the target's prediction.
const EITHER: u8 = 0b11;

/// Whether the settings of `pmc12` leave anything to capture, at the levels that it names.
pub(super) fn captures_anything(pmc12: Pmc12) -> bool {
    pmc12.tm() != 0 && pmc12.ptm() != 0 && pmc12.ppm() != 0 && (pmc12.tar() || pmc12.bpt() || pmc12.bac())
}

/// Whether the predictor that served the branch of `record` is one of those that `pmc12` names. A branch without a reported stage was
/// served by the last.
fn is_predicted_by(pmc12: Pmc12, record: &Record) -> bool {
    let traits = record.sample.traits;
    if traits.contains(Traits::PREDICTED_FIRST) {
        pmc12.tar()
    } else if traits.contains(Traits::PREDICTED_SECOND) {
        pmc12.bpt()
    } else {
        pmc12.bac()
    }
}

/// Whether ptm and ppm admit the outcome of the prediction. With a wrong path no target was predicted.
fn is_prediction_wanted(pmc12: Pmc12, prediction: Prediction) -> bool {
    let (ptm, ppm) = (pmc12.ptm(), pmc12.ppm());
    if ptm == WRONG && ppm == WRONG {
        return is_wrong(prediction);
    }
    match prediction {
        Prediction::None | Prediction::Right => ppm & 0b10 != 0 && ptm & 0b10 != 0,
        Prediction::WrongTarget => ppm & 0b10 != 0 && ptm & 0b01 != 0,
        Prediction::WrongDirection => ppm & 0b01 != 0 && ptm == EITHER,
    }
}

fn is_wrong(prediction: Prediction) -> bool {
    matches!(prediction, Prediction::WrongTarget | Prediction::WrongDirection)
}

/// How a branch was predicted, as far as it is judged: one that is not taken goes to no target that could be wrong.
const fn judged(branch: &Branch) -> Prediction {
    match branch.prediction {
        Prediction::WrongTarget if !branch.taken => Prediction::Right,
        prediction => prediction,
    }
}

/// Captures a branch of IA-64 that the monitor of `pmc12` admits and the first opcode matcher tags, if its settings admit it. Returns
/// whether it did. Other changes of the flow of instructions are not captured.
pub(super) fn capture(pmc12: Pmc12, record: &Record, branch: &Branch, last: &mut Last, captures: &mut Captures) -> bool {
    let taken = pmc12.tm() >> u8::from(branch.taken) & 1 == 1;
    let prediction = judged(branch);
    let wanted = taken && is_prediction_wanted(pmc12, prediction) && is_predicted_by(pmc12, record);
    if branch.kind.is_far() || !wanted {
        *last = Last::Nothing;
        return false;
    }
    let source = Source {
        bundle: record.address >> 4,
        mispredicted: is_wrong(prediction),
        target: branch.taken.then_some(branch.target),
        extension: 0,
    };
    enter(source, record, last, captures);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::BranchKind;

    /// Every branch of every predictor, whatever was predicted.
    const ALL: u64 = 0xFF80;

    fn branch(taken: bool, prediction: Prediction) -> Branch {
        Branch { kind: BranchKind::Conditional, taken, target: 0x2000, prediction }
    }

    fn is_captured(pmc12: u64, branch: Branch, traits: Traits) -> bool {
        let mut record = Record { branch: Some(branch), slot: 2, ..Record::at(0x1000) };
        record.sample.traits = traits;
        capture(Pmc12::written(pmc12), &record, &branch, &mut Last::Nothing, &mut Captures::default())
    }

    #[test]
    fn a_taken_branch_is_followed_by_its_target() {
        let (mut last, mut captures) = (Last::Nothing, Captures::default());
        let taken = branch(true, Prediction::WrongTarget);
        let record = Record { branch: Some(taken), slot: 2, ..Record::at(0x1000) };
        assert!(capture(Pmc12::written(ALL), &record, &taken, &mut last, &mut captures));
        // Slot 2, mispredicted, a branch; then a valid target.
        assert_eq!([8, 9, 10].map(|number| captures.read(number)), [0x100B, 0x2002, 0]);
        assert_eq!(captures.read(16), 2);
    }

    #[test]
    fn a_branch_that_is_not_taken_has_slot_3_and_no_target() {
        let (mut last, mut captures) = (Last::Nothing, Captures::default());
        let passed = branch(false, Prediction::Right);
        let record = Record { branch: Some(passed), slot: 1, ..Record::at(0x1000) };
        assert!(capture(Pmc12::written(ALL), &record, &passed, &mut last, &mut captures));
        assert_eq!([8, 9].map(|number| captures.read(number)), [0x100D, 0]);
    }

    #[test]
    fn a_branch_in_the_bundle_of_a_target_takes_the_entry_of_the_target() {
        let (mut last, mut captures) = (Last::Nothing, Captures::default());
        let first = branch(true, Prediction::Right);
        let second = Branch { target: 0x3000, ..first };
        capture(Pmc12::written(ALL), &Record::at(0x1000), &first, &mut last, &mut captures);
        capture(Pmc12::written(ALL), &Record { slot: 1, ..Record::at(0x2000) }, &second, &mut last, &mut captures);
        assert_eq!([8, 9, 10, 11].map(|number| captures.read(number)), [0x1001, 0x2005, 0x3002, 0]);
    }

    #[test]
    fn the_taken_mask_chooses_between_taken_and_not() {
        let with = |tm: u64, taken| is_captured(ALL & !0x300 | tm << 8, branch(taken, Prediction::Right), Traits::empty());
        assert!(with(0b10, true) && !with(0b10, false));
        assert!(with(0b01, false) && !with(0b01, true));
    }

    #[test]
    fn both_masks_of_wrong_predictions_leave_every_mispredicted_branch() {
        let with = |prediction| is_captured(ALL & !0x3C00 | 0x1400, branch(true, prediction), Traits::empty());
        assert!(with(Prediction::WrongDirection) && with(Prediction::WrongTarget));
        assert!(!with(Prediction::Right) && !with(Prediction::None));
    }

    #[test]
    fn a_wrong_path_passes_only_where_targets_do_not_matter() {
        let with = |ptm: u64| is_captured(ALL & !0xC00 | ptm << 10, branch(true, Prediction::WrongDirection), Traits::empty());
        assert_eq!([0b00, 0b01, 0b10, 0b11].map(with), [false, false, false, true]);
    }

    #[test]
    fn the_target_of_a_branch_that_is_not_taken_is_right() {
        let with = |ptm: u64| is_captured(ALL & !0xC00 | ptm << 10, branch(false, Prediction::WrongTarget), Traits::empty());
        assert_eq!([0b00, 0b01, 0b10, 0b11].map(with), [false, false, true, true]);
    }

    #[test]
    fn each_predictor_has_its_own_bit() {
        let with = |pmc12, traits| is_captured(pmc12, branch(true, Prediction::Right), traits);
        let [tar, bpt, bac] = [0x3F80, 0x7F00, 0xBF00];
        let of = |traits| [tar, bpt, bac].map(|pmc12| with(pmc12, traits));
        assert_eq!(of(Traits::PREDICTED_FIRST), [true, false, false]);
        assert_eq!(of(Traits::PREDICTED_SECOND), [false, true, false]);
        assert_eq!(of(Traits::empty()), [false, false, true]);
    }

    #[test]
    fn returns_from_interruptions_are_not_captured() {
        let far = Branch { kind: BranchKind::Far, ..branch(true, Prediction::None) };
        assert!(!is_captured(ALL, far, Traits::empty()));
    }
}
