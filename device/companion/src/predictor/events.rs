//! The events that a predicted branch counts.

use vm_pmu_arch::feed::{BranchKind, Prediction, Signal};

use crate::bundle::Target;
use crate::instruction::Transfer;
use crate::predictor::bundles::{Bundled, Multiway, Stage};
use crate::profile::{Bundles, PredictorGeometry};
use crate::tally::Tally;

/// Signals that every profile supplies from branches.
const OF_ALL: &[Signal] = &[
    Signal::BranchesMispredicted,
    Signal::BranchesTakenMispredicted,
    Signal::ConditionalBranchesTakenMispredicted,
    Signal::ConditionalBranchesNotTakenMispredicted,
    Signal::IndirectJumpsMispredicted,
    Signal::IndirectCallsMispredicted,
    Signal::NearReturnsMispredicted,
    Signal::ReturnStackHits,
    Signal::ReturnStackOverflows,
    Signal::PipelineFlushes,
    Signal::FrontEndResteers,
    Signal::RelativeBranchesNotTakenPredicted,
    Signal::RelativeBranchesNotTakenMispredicted,
    Signal::RelativeBranchesTakenPredicted,
    Signal::RelativeBranchesTakenMispredicted,
    Signal::ReturnBranchesTakenPredicted,
    Signal::ReturnBranchesTakenWrongTarget,
    Signal::IndirectBranchesTakenPredicted,
    Signal::IndirectBranchesTakenWrongTarget,
];

/// Without bundles.
const OF_KINDS: &[Signal] = &[Signal::FrontEndResteersConditional, Signal::BranchesWeaklyPredicted];

/// With bundles, where every branch may have a predicate.
const OF_BUNDLES: &[Signal] = &[
    Signal::RelativeBranchesTakenWrongTarget,
    Signal::ReturnBranchesNotTakenPredicted,
    Signal::ReturnBranchesNotTakenMispredicted,
    Signal::ReturnBranchesTakenMispredicted,
    Signal::IndirectBranchesNotTakenPredicted,
    Signal::IndirectBranchesNotTakenMispredicted,
    Signal::IndirectBranchesTakenMispredicted,
    Signal::EncodedBranchesCorrect,
    Signal::EncodedBranchesWrongPath,
    Signal::EncodedBranchesWrongTarget,
    Signal::OversubscribedBranchesCorrect,
    Signal::OversubscribedBranchesWrongPath,
    Signal::OversubscribedBranchesWrongTarget,
    Signal::ReturnFramesMispredicted,
    Signal::MultiwayTakenCorrect,
    Signal::MultiwayTakenWrongPath,
    Signal::MultiwayTakenWrongTarget,
    Signal::MultiwayNotTakenCorrect,
    Signal::MultiwayNotTakenWrongPath,
];

/// With one predictor, which knows nothing of the branches behind one that is predicted taken.
const OF_SINGLE: &[Signal] = &[
    Signal::UnknownRelativeBranchesNotTaken,
    Signal::UnknownRelativeBranchesTaken,
    Signal::UnknownReturnBranchesNotTaken,
    Signal::UnknownReturnBranchesTaken,
    Signal::UnknownIndirectBranchesNotTaken,
    Signal::UnknownIndirectBranchesTaken,
];

/// With three stages.
const OF_STAGES: &[Signal] = &[
    Signal::FirstStageBranchesNotTakenMispredicted,
    Signal::FirstStageBranchesTakenPredicted,
    Signal::FirstStageBranchesTakenWrongTarget,
    Signal::SecondStageBranchesNotTakenPredicted,
    Signal::SecondStageBranchesNotTakenMispredicted,
    Signal::SecondStageBranchesTakenPredicted,
    Signal::SecondStageBranchesTakenMispredicted,
    Signal::SecondStageBranchesTakenWrongTarget,
    Signal::ThirdStageBranchesNotTakenPredicted,
    Signal::ThirdStageBranchesNotTakenMispredicted,
    Signal::ThirdStageBranchesTakenPredicted,
    Signal::ThirdStageBranchesTakenMispredicted,
    Signal::ThirdStageBranchesTakenWrongTarget,
];

/// Returns the signals that a predictor supplies, in parts.
fn parts(bundles: Bundles) -> [&'static [Signal]; 3] {
    match bundles {
        Bundles::Absent => [OF_ALL, OF_KINDS, &[]],
        Bundles::Single => [OF_ALL, OF_BUNDLES, OF_SINGLE],
        Bundles::Stages { .. } => [OF_ALL, OF_BUNDLES, OF_STAGES],
    }
}

/// Whether `signal` is derived from branches alone.
pub(crate) fn supplies(geometry: &PredictorGeometry, signal: Signal) -> bool {
    signal == Signal::FrontEndResteersReturns && geometry.decoded_returns
        || parts(geometry.bundles).iter().any(|part| part.contains(&signal))
}

/// Counts a target that the decoder found.
pub(crate) fn count_resteer(transfer: &Transfer, tally: &mut Tally) {
    tally.add(Signal::FrontEndResteers, 1);
    match transfer.kind {
        BranchKind::Return => tally.add(Signal::FrontEndResteersReturns, 1),
        BranchKind::Conditional => tally.add(Signal::FrontEndResteersConditional, 1),
        _ => {}
    }
}

/// One of the five combinations of outcome and prediction.
#[derive(Clone, Copy)]
enum Cell {
    NotTakenPredicted,
    NotTakenMispredicted,
    TakenPredicted,
    TakenMispredicted,
    TakenWrongTarget,
}

impl Cell {
    fn of(taken: bool, prediction: Prediction) -> Cell {
        match (taken, prediction) {
            (false, Prediction::WrongDirection) => Cell::NotTakenMispredicted,
            (false, _) => Cell::NotTakenPredicted,
            (true, Prediction::WrongDirection) => Cell::TakenMispredicted,
            (true, Prediction::WrongTarget) => Cell::TakenWrongTarget,
            (true, _) => Cell::TakenPredicted,
        }
    }
}

/// Counts the prediction of a branch of which only the kind is known.
#[inline]
pub(crate) fn count(transfer: &Transfer, prediction: Prediction, tally: &mut Tally) {
    // Indexed by whether it was taken, and whether that was predicted.
    const RELATIVE: [[Signal; 2]; 2] = [
        [Signal::RelativeBranchesNotTakenMispredicted, Signal::RelativeBranchesNotTakenPredicted],
        [Signal::RelativeBranchesTakenMispredicted, Signal::RelativeBranchesTakenPredicted],
    ];
    const RETURN: [[Signal; 2]; 2] = [[Signal::ReturnBranchesTakenWrongTarget, Signal::ReturnBranchesTakenPredicted]; 2];
    const INDIRECT: [[Signal; 2]; 2] = [[Signal::IndirectBranchesTakenWrongTarget, Signal::IndirectBranchesTakenPredicted]; 2];
    let right = prediction == Prediction::Right;
    let details = match transfer.kind {
        BranchKind::Conditional | BranchKind::DirectJump | BranchKind::DirectCall => &RELATIVE,
        BranchKind::Return => &RETURN,
        _ => &INDIRECT,
    };
    tally.add(details[usize::from(transfer.taken)][usize::from(right)], 1);
    if !right {
        count_mispredicted(transfer, tally);
    }
}

fn count_mispredicted(transfer: &Transfer, tally: &mut Tally) {
    let taken = transfer.taken;
    tally.add(Signal::BranchesMispredicted, 1);
    tally.add(Signal::BranchesTakenMispredicted, u64::from(taken));
    let kind = match transfer.kind {
        BranchKind::Conditional if taken => Signal::ConditionalBranchesTakenMispredicted,
        BranchKind::Conditional => Signal::ConditionalBranchesNotTakenMispredicted,
        BranchKind::IndirectJump => Signal::IndirectJumpsMispredicted,
        BranchKind::IndirectCall => Signal::IndirectCallsMispredicted,
        BranchKind::Return => Signal::NearReturnsMispredicted,
        BranchKind::DirectJump => Signal::DirectJumpsMispredicted,
        BranchKind::DirectCall | BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck => Signal::DirectCallsMispredicted,
    };
    tally.add(kind, 1);
}

pub(crate) fn count_bundled(transfer: &Transfer, bundled: &Bundled, tally: &mut Tally) {
    let (taken, prediction) = (transfer.taken, bundled.verdict.prediction);
    let cell = Cell::of(taken, prediction);
    tally.add(by_target(bundled.target, cell), 1);
    if let Some(signal) = bundled.stage.and_then(|stage| by_stage(stage, cell)) {
        tally.add(signal, 1);
    }
    if bundled.unknown {
        tally.add(unknown(bundled.target, taken), 1);
    }
    let [correct, wrong_path, wrong_target] =
        [Signal::EncodedBranchesCorrect, Signal::EncodedBranchesWrongPath, Signal::EncodedBranchesWrongTarget];
    let [over_correct, over_wrong_path, over_wrong_target] =
        [Signal::OversubscribedBranchesCorrect, Signal::OversubscribedBranchesWrongPath, Signal::OversubscribedBranchesWrongTarget];
    let (encoded, oversubscribed) = match prediction {
        Prediction::WrongDirection => (wrong_path, over_wrong_path),
        Prediction::WrongTarget => (wrong_target, over_wrong_target),
        _ => (correct, over_correct),
    };
    tally.add(encoded, u64::from(bundled.encoded));
    tally.add(oversubscribed, u64::from(bundled.oversubscribed));
    tally.add(Signal::ReturnFramesMispredicted, u64::from(bundled.wrong_frame));
    if let Some(multiway) = bundled.multiway {
        tally.add(by_outcome(multiway), 1);
    }
    // A prediction that the front end corrects is no misprediction.
    if prediction != Prediction::Right && !bundled.verdict.bubble {
        count_mispredicted(transfer, tally);
    }
}

fn by_target(target: Target, cell: Cell) -> Signal {
    match (target, cell) {
        (Target::Relative, Cell::NotTakenPredicted) => Signal::RelativeBranchesNotTakenPredicted,
        (Target::Relative, Cell::NotTakenMispredicted) => Signal::RelativeBranchesNotTakenMispredicted,
        (Target::Relative, Cell::TakenPredicted) => Signal::RelativeBranchesTakenPredicted,
        (Target::Relative, Cell::TakenMispredicted) => Signal::RelativeBranchesTakenMispredicted,
        (Target::Relative, Cell::TakenWrongTarget) => Signal::RelativeBranchesTakenWrongTarget,
        (Target::Return, Cell::NotTakenPredicted) => Signal::ReturnBranchesNotTakenPredicted,
        (Target::Return, Cell::NotTakenMispredicted) => Signal::ReturnBranchesNotTakenMispredicted,
        (Target::Return, Cell::TakenPredicted) => Signal::ReturnBranchesTakenPredicted,
        (Target::Return, Cell::TakenMispredicted) => Signal::ReturnBranchesTakenMispredicted,
        (Target::Return, Cell::TakenWrongTarget) => Signal::ReturnBranchesTakenWrongTarget,
        (Target::Indirect, Cell::NotTakenPredicted) => Signal::IndirectBranchesNotTakenPredicted,
        (Target::Indirect, Cell::NotTakenMispredicted) => Signal::IndirectBranchesNotTakenMispredicted,
        (Target::Indirect, Cell::TakenPredicted) => Signal::IndirectBranchesTakenPredicted,
        (Target::Indirect, Cell::TakenMispredicted) => Signal::IndirectBranchesTakenMispredicted,
        (Target::Indirect, Cell::TakenWrongTarget) => Signal::IndirectBranchesTakenWrongTarget,
    }
}

/// Returns the signal of a stage. A target address register always predicts *taken*, so two of its outcomes cannot occur.
fn by_stage(stage: Stage, cell: Cell) -> Option<Signal> {
    Some(match (stage, cell) {
        (Stage::Register, Cell::NotTakenPredicted | Cell::TakenMispredicted) => return None,
        (Stage::Register, Cell::NotTakenMispredicted) => Signal::FirstStageBranchesNotTakenMispredicted,
        (Stage::Register, Cell::TakenPredicted) => Signal::FirstStageBranchesTakenPredicted,
        (Stage::Register, Cell::TakenWrongTarget) => Signal::FirstStageBranchesTakenWrongTarget,
        (Stage::Tables, Cell::NotTakenPredicted) => Signal::SecondStageBranchesNotTakenPredicted,
        (Stage::Tables, Cell::NotTakenMispredicted) => Signal::SecondStageBranchesNotTakenMispredicted,
        (Stage::Tables, Cell::TakenPredicted) => Signal::SecondStageBranchesTakenPredicted,
        (Stage::Tables, Cell::TakenMispredicted) => Signal::SecondStageBranchesTakenMispredicted,
        (Stage::Tables, Cell::TakenWrongTarget) => Signal::SecondStageBranchesTakenWrongTarget,
        (Stage::Encoding, Cell::NotTakenPredicted) => Signal::ThirdStageBranchesNotTakenPredicted,
        (Stage::Encoding, Cell::NotTakenMispredicted) => Signal::ThirdStageBranchesNotTakenMispredicted,
        (Stage::Encoding, Cell::TakenPredicted) => Signal::ThirdStageBranchesTakenPredicted,
        (Stage::Encoding, Cell::TakenMispredicted) => Signal::ThirdStageBranchesTakenMispredicted,
        (Stage::Encoding, Cell::TakenWrongTarget) => Signal::ThirdStageBranchesTakenWrongTarget,
    })
}

fn unknown(target: Target, taken: bool) -> Signal {
    match (target, taken) {
        (Target::Relative, false) => Signal::UnknownRelativeBranchesNotTaken,
        (Target::Relative, true) => Signal::UnknownRelativeBranchesTaken,
        (Target::Return, false) => Signal::UnknownReturnBranchesNotTaken,
        (Target::Return, true) => Signal::UnknownReturnBranchesTaken,
        (Target::Indirect, false) => Signal::UnknownIndirectBranchesNotTaken,
        (Target::Indirect, true) => Signal::UnknownIndirectBranchesTaken,
    }
}

fn by_outcome(multiway: Multiway) -> Signal {
    match (multiway.taken, multiway.prediction) {
        (true, Prediction::WrongDirection) => Signal::MultiwayTakenWrongPath,
        (true, Prediction::WrongTarget) => Signal::MultiwayTakenWrongTarget,
        (true, _) => Signal::MultiwayTakenCorrect,
        (false, Prediction::WrongDirection) => Signal::MultiwayNotTakenWrongPath,
        (false, _) => Signal::MultiwayNotTakenCorrect,
    }
}
