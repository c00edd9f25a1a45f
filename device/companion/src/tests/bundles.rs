//! Branches of bundles, each case worked out by hand.

use super::*;
use crate::{Bundle, Clock, parts};

const NOP: u64 = 2 << 37;
/// `br.cond` to a relative target, and through b2; `br.ret b1`; `br.call b1`; `br.cloop`.
const RELATIVE: u64 = 4 << 37;
const INDIRECT: u64 = 0x20 << 27 | 2 << 13;
const RETURN: u64 = 0x21 << 27 | 1 << 13 | 4 << 6;
const CALL: u64 = 5 << 37 | 1 << 6;
const COUNTED: u64 = 4 << 37 | 5 << 6;
/// The hints `spnt`, `dptk`, `dpnt`; without a hint it is `sptk`.
const SPNT: u64 = 1 << 33;
const DPTK: u64 = 2 << 33;
const DPNT: u64 = 3 << 33;
/// The qualifying predicate p6.
const P6: u64 = 6;

const MIB: u8 = 0x10;
const MBB: u8 = 0x12;
const BBB: u8 = 0x16;
const STOP: u8 = 1;

const HERE: u64 = 0x4000;
const THERE: u64 = 0x5000;

/// A processor of bundles that executes branches.
struct Processor<'a> {
    rig: Rig,
    follower: Follower<'a>,
}

impl<'a> Processor<'a> {
    fn new(companion: &'a Companion) -> Processor<'a> {
        Processor { rig: Rig::new(1), follower: follow(companion, 0) }
    }

    fn run(&mut self, address: u64, bundle: Bundle, transfer: Option<Transfer>) {
        let instruction = Instruction { address, physical: address, length: 16, transfer, bundle: Some(bundle), ..Instruction::default() };
        self.rig.run(&mut self.follower, &instruction);
    }

    /// Executes the branch in `slot` of the bundle at `address`. `to` is its target if it is taken.
    fn branch(&mut self, address: u64, bundle: Bundle, slot: u8, to: Option<u64>) {
        let bits = bundle.at(slot).words;
        let encoding = [bits[0] >> 5, bits[0] >> 46 | bits[1] << 18, bits[1] >> 23][usize::from(slot)] & ((1 << 41) - 1);
        let kind = match (encoding >> 37, encoding >> 27 & 0x3F) {
            (0, 0x21) => BranchKind::Return,
            (0, _) => BranchKind::IndirectJump,
            (1, _) => BranchKind::IndirectCall,
            (5, _) => BranchKind::DirectCall,
            _ => BranchKind::Conditional,
        };
        let transfer = Transfer { kind, taken: to.is_some(), target: to.unwrap_or(THERE) };
        self.run(address, bundle.at(slot), Some(transfer));
    }

    /// Executes a bundle whose only branch is in its last slot.
    fn single(&mut self, address: u64, branch: u64, to: Option<u64>) {
        self.branch(address, Bundle::new(MIB | STOP, [0, 0, branch]), 2, to);
    }

    fn get(&self, signal: Signal) -> u64 {
        self.rig.get(0, signal)
    }

    /// Returns the cells of a group of signals: not taken predicted and mispredicted, taken predicted, mispredicted, and with a wrong
    /// target.
    fn cells(&self, prefix: &str) -> [u64; 5] {
        ["not_taken_predicted", "not_taken_mispredicted", "taken_predicted", "taken_mispredicted", "taken_wrong_target"]
            .map(|cell| Signal::from_name(&alloc::format!("{prefix}_branches_{cell}")).map_or(0, |signal| self.get(signal)))
    }

    /// Returns the counts of correct predictions, wrong paths and wrong targets.
    fn verdicts(&self, prefix: &str) -> [u64; 3] {
        ["correct", "wrong_path", "wrong_target"]
            .map(|verdict| Signal::from_name(&alloc::format!("{prefix}_{verdict}")).map_or(0, |signal| self.get(signal)))
    }
}

fn of(profile: &crate::Profile) -> Companion {
    Builder::of(profile).build()
}

#[test]
fn fixed_hints_are_what_is_predicted() {
    for profile in [&parts::MONTECITO, &parts::ITANIUM] {
        for (branch, kind) in [(RELATIVE, "relative"), (INDIRECT, "indirect"), (RETURN, "return")] {
            let companion = of(profile);
            let mut processor = Processor::new(&companion);
            for _ in 0..4 {
                processor.single(HERE, branch | SPNT | P6, None);
                processor.single(HERE + 16, branch | P6, None);
                processor.single(HERE + 32, branch | SPNT | P6, Some(THERE));
            }
            assert_eq!(processor.cells(kind), [4, 4, 0, 4, 0], "{} {kind}", profile.name);
            assert_eq!(processor.get(Signal::PipelineFlushes), 8);
        }
    }
}

#[test]
fn dynamic_hints_are_what_prediction_begins_with() {
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    processor.single(HERE, RELATIVE | DPTK | P6, Some(THERE));
    processor.single(HERE + 16, RELATIVE | DPTK | P6, None);
    processor.single(HERE + 32, RELATIVE | DPNT | P6, Some(THERE));
    processor.single(HERE + 48, RELATIVE | DPNT | P6, None);
    assert_eq!(processor.cells("relative"), [1, 1, 1, 1, 0]);
}

#[test]
fn a_branch_without_a_predicate_is_predicted_taken_and_a_counted_loop_from_its_counter() {
    for profile in [&parts::MONTECITO, &parts::ITANIUM] {
        let companion = of(profile);
        let mut processor = Processor::new(&companion);
        processor.single(HERE, RELATIVE | SPNT, Some(HERE + 16));
        for _ in 0..9 {
            processor.single(HERE + 16, COUNTED, Some(HERE + 16));
        }
        processor.single(HERE + 16, COUNTED, None);
        assert_eq!(processor.cells("relative"), [1, 0, 10, 0, 0], "{}", profile.name);
        assert_eq!(processor.get(Signal::PipelineFlushes), 0);
    }
}

#[test]
fn a_relative_target_is_wrong_if_another_one_is_remembered() {
    // The code at an address changes. The front end corrects the prediction: no flush.
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    for target in [THERE, THERE, THERE + 32, THERE + 32] {
        processor.single(HERE, RELATIVE, Some(target));
    }
    assert_eq!(processor.cells("relative"), [0, 0, 3, 0, 1]);
    assert_eq!(processor.get(Signal::PipelineFlushes), 0);
    assert_eq!(processor.get(Signal::FrontEndResteers), 2);
}

#[test]
fn an_indirect_branch_goes_where_it_went_last() {
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    for target in [THERE, THERE, THERE + 32, THERE] {
        processor.single(HERE, INDIRECT, Some(target));
    }
    assert_eq!(processor.cells("indirect"), [0, 0, 1, 0, 3]);
}

#[test]
fn a_call_that_is_not_taken_leaves_nothing_for_a_return() {
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    processor.single(HERE, CALL, Some(THERE));
    processor.single(THERE, CALL | SPNT | P6, None);
    processor.single(THERE + 16, RETURN, Some(HERE + 16));
    processor.single(HERE + 32, RETURN, Some(THERE));
    assert_eq!(processor.cells("return"), [0, 0, 1, 0, 1]);
    assert_eq!(processor.get(Signal::ReturnStackHits), 1);
}

#[test]
fn a_return_that_restores_another_frame_than_was_saved_is_known_for_it() {
    for profile in [&parts::MONTECITO, &parts::ITANIUM] {
        let companion = of(profile);
        let mut processor = Processor::new(&companion);
        // The original state, another one, and an unreported one.
        for restored in [Some(7), Some(8), None] {
            let bundle = |branch, state| Bundle { function_state: state, ..Bundle::new(MIB | STOP, [0, 0, branch]) };
            processor.branch(HERE, bundle(CALL, Some(7)), 2, Some(THERE));
            processor.branch(THERE, bundle(RETURN, restored), 2, Some(HERE + 16));
        }
        assert_eq!(processor.get(Signal::ReturnFramesMispredicted), 1);
        assert_eq!(processor.cells("return"), [0, 0, 3, 0, 0]);
        assert_eq!(processor.get(Signal::PipelineFlushes), 1);
    }
}

#[test]
fn nothing_is_predicted_behind_a_branch_that_was_expected_to_be_taken() {
    // { .bbb (p6) br A; br B; nop.b }: the first is predicted taken and not taken, the second is taken. One flush for both.
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    let bundle = Bundle::new(BBB | STOP, [RELATIVE | P6, RELATIVE, NOP]);
    processor.branch(HERE, bundle, 0, None);
    processor.branch(HERE, bundle, 1, Some(THERE));
    assert_eq!(processor.cells("relative"), [0, 1, 0, 1, 0]);
    assert_eq!(processor.get(Signal::UnknownRelativeBranchesTaken), 1);
    assert_eq!(processor.get(Signal::UnknownRelativeBranchesNotTaken), 0);
    assert_eq!(processor.verdicts("encoded_branches"), [0, 2, 0]);
    assert_eq!(processor.get(Signal::PipelineFlushes), 1);
    // Entered again, its first branch is predicted by itself.
    processor.branch(HERE, bundle, 0, None);
    assert_eq!(processor.get(Signal::UnknownRelativeBranchesNotTaken), 0);
}

#[test]
fn unknown_predictions_are_told_by_type_and_outcome() {
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    for (branch, kind) in [(RELATIVE, "relative"), (INDIRECT, "indirect"), (RETURN, "return")] {
        for to in [None, None, Some(THERE)] {
            let bundle = Bundle::new(MBB | STOP, [0, RELATIVE | P6, branch | P6]);
            processor.branch(HERE, bundle, 1, None);
            processor.branch(HERE, bundle, 2, to);
        }
        let get = |outcome: &str| processor.get(Signal::from_name(&alloc::format!("unknown_{kind}_branches_{outcome}")).unwrap());
        assert_eq!([get("not_taken"), get("taken")], [2, 1], "{kind}");
    }
    // Each is predicted not taken: two right, one wrong; the branches before them are relative.
    assert_eq!(processor.cells("indirect"), [2, 0, 0, 1, 0]);
    assert_eq!(processor.cells("return"), [2, 0, 0, 1, 0]);
    assert_eq!(processor.cells("relative"), [2, 9, 0, 1, 0]);
    // On a part with three prediction stages every branch is predicted.
    let companion = of(&parts::ITANIUM);
    let mut processor = Processor::new(&companion);
    let bundle = Bundle::new(MBB | STOP, [0, RELATIVE | P6, RELATIVE]);
    processor.branch(HERE, bundle, 1, None);
    processor.branch(HERE, bundle, 2, Some(THERE));
    assert_eq!(processor.cells("relative"), [0, 1, 1, 0, 0]);
}

#[test]
fn a_bundle_that_begins_with_a_branch_is_encoded_and_behind_branches_oversubscribed() {
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    let encoded = Bundle::new(BBB, [RELATIVE | SPNT | P6, INDIRECT, NOP]);
    let mut round = |stop: u8, target: u64| {
        let before = Bundle::new(MIB | stop, [0, 0, RELATIVE | SPNT | P6]);
        processor.branch(HERE - 16, before, 2, None);
        processor.branch(HERE, encoded, 0, None);
        processor.branch(HERE, encoded, 1, Some(target));
    };
    // A stop separates the groups.
    round(STOP, THERE);
    round(0, THERE);
    round(0, THERE + 32);
    // Entered from elsewhere.
    processor.branch(HERE, encoded, 0, Some(THERE));
    assert_eq!(processor.verdicts("encoded_branches"), [4, 1, 2]);
    assert_eq!(processor.verdicts("oversubscribed_branches"), [3, 0, 1]);
    // Bundles whose first slot holds no branch.
    processor.branch(THERE, Bundle::new(MBB, [0, RELATIVE | SPNT | P6, NOP]), 1, None);
    processor.branch(THERE + 16, Bundle::new(BBB, [NOP, RELATIVE, NOP]), 1, Some(HERE));
    assert_eq!(processor.verdicts("encoded_branches"), [4, 1, 2]);
    // Predicted taken and not taken.
    processor.branch(THERE, Bundle::new(MBB, [0, RELATIVE | SPNT | P6, NOP]), 1, None);
    processor.branch(THERE + 16, Bundle::new(BBB, [RELATIVE | P6, NOP, NOP]), 0, None);
    assert_eq!(processor.verdicts("oversubscribed_branches"), [3, 1, 1]);
}

#[test]
fn a_bundle_of_several_branches_counts_once_by_its_outcome() {
    for profile in [&parts::MONTECITO, &parts::ITANIUM] {
        let companion = of(profile);
        let mut processor = Processor::new(&companion);
        // The first is not taken as predicted; the second is taken as predicted, not taken, and taken to another target.
        let bundle = Bundle::new(BBB | STOP, [RELATIVE | SPNT | P6, INDIRECT, NOP]);
        for target in [THERE, THERE, THERE + 32] {
            processor.branch(HERE, bundle, 0, None);
            processor.branch(HERE, bundle, 1, Some(target));
        }
        assert_eq!(processor.verdicts("multiway_taken"), [1, 0, 2], "{}", profile.name);
        // The first is taken although it was predicted not taken; the second is not reached.
        processor.branch(HERE, bundle, 0, Some(THERE));
        assert_eq!(processor.verdicts("multiway_taken"), [1, 1, 2]);
        let bundle = Bundle::new(MBB | STOP, [0, RELATIVE | SPNT | P6, RELATIVE | SPNT | P6]);
        processor.branch(HERE, bundle, 1, None);
        assert_eq!(processor.verdicts("multiway_not_taken"), [0, 0, 0]);
        processor.branch(HERE, bundle, 2, None);
        let bundle = Bundle::new(MBB | STOP, [0, RELATIVE | P6, RELATIVE | SPNT | P6]);
        processor.branch(HERE, bundle, 1, None);
        processor.branch(HERE, bundle, 2, None);
        assert_eq!(processor.verdicts("multiway_not_taken"), [1, 1, 0]);
        // A single branch is not a multiway bundle.
        processor.single(HERE, RELATIVE, Some(THERE));
        assert_eq!(processor.verdicts("multiway_taken"), [1, 1, 2]);
    }
}

#[test]
fn k16_the_second_branch_of_a_bundle_is_taken_as_predicted() {
    // PI-K16: { .bbb (p6) br; (p7) br; nop.b }, the first predicted not taken. One bundle, two branches, all right.
    let companion = of(&parts::ITANIUM);
    let mut processor = Processor::new(&companion);
    let bundle = Bundle::new(BBB | STOP, [RELATIVE | SPNT | P6, RELATIVE | 7, NOP]);
    processor.branch(HERE, bundle, 0, None);
    processor.branch(HERE, bundle, 1, Some(THERE));
    assert_eq!(processor.verdicts("multiway_taken"), [1, 0, 0]);
    assert_eq!(processor.cells("relative"), [1, 0, 1, 0, 0]);
    assert_eq!(processor.get(Signal::PipelineFlushes), 0);
}

#[test]
fn tables_predict_what_they_know_and_the_encoding_what_they_do_not() {
    let companion = of(&parts::ITANIUM);
    let mut processor = Processor::new(&companion);
    // First seen: predicted by the hint. Then the table has it and, once taken, its target.
    for to in [Some(THERE), Some(THERE), None] {
        processor.single(HERE, RELATIVE | DPTK | P6, to);
    }
    assert_eq!(processor.cells("third_stage"), [0, 0, 1, 0, 0]);
    assert_eq!(processor.cells("second_stage"), [0, 1, 1, 0, 0]);
    for to in [None, None, Some(THERE)] {
        processor.single(HERE + 16, RELATIVE | DPNT | P6, to);
    }
    assert_eq!(processor.cells("third_stage"), [1, 0, 1, 0, 0]);
    assert_eq!(processor.cells("second_stage"), [1, 1, 1, 1, 0]);
    // A fixed hint is not entered in the table; once the branch is taken, the target is.
    processor.single(HERE + 32, RELATIVE | P6, None);
    processor.single(HERE + 48, RELATIVE | SPNT | P6, Some(THERE));
    assert_eq!(processor.cells("third_stage"), [1, 1, 1, 1, 0]);
    // The encoding of an indirect branch has no target.
    for target in [THERE, THERE, THERE + 32] {
        processor.single(HERE + 64, INDIRECT, Some(target));
    }
    assert_eq!(processor.cells("third_stage"), [1, 1, 1, 1, 1]);
    assert_eq!(processor.cells("second_stage"), [1, 1, 2, 1, 1]);
    // A return is predicted by the second stage.
    processor.single(HERE + 80, CALL, Some(THERE));
    processor.single(THERE, RETURN, Some(HERE + 96));
    assert_eq!(processor.cells("second_stage"), [1, 1, 3, 1, 1]);
    assert_eq!(processor.cells("third_stage"), [1, 1, 2, 1, 1]);
    assert_eq!(processor.cells("first_stage"), [0; 5]);
}

/// Encodes `brp.sptk` with or without the hint *important*. The target and the branch's bundle are `target` and `tag` bundles away.
fn announce(important: bool, target: u64, tag: u64) -> u64 {
    7 << 37 | u64::from(important) << 35 | (tag >> 7 & 3) << 33 | (target & 0xF_FFFF) << 13 | (tag & 0x7F) << 6
}

#[test]
fn a_target_address_register_predicts_the_branch_that_was_announced() {
    let companion = of(&parts::ITANIUM);
    let mut processor = Processor::new(&companion);
    // THERE is 256 bundles after HERE.
    let mut announced = |important: bool, target: u64| {
        processor.run(HERE, Bundle::new(MIB | STOP, [0, 0, announce(important, target, 2)]).at(2), None);
    };
    announced(true, 256);
    let mut at = |to: Option<u64>| processor.single(HERE + 32, RELATIVE | SPNT | P6, to);
    at(Some(THERE));
    at(Some(THERE));
    at(None);
    at(Some(THERE + 32));
    assert_eq!(processor.cells("first_stage"), [0, 1, 2, 0, 1]);
    assert_eq!(processor.cells("relative"), [0, 1, 2, 0, 1]);
    // Another target for the same branch replaces the first.
    processor.run(HERE, Bundle::new(MIB | STOP, [0, 0, announce(true, 258, 2)]).at(2), None);
    processor.single(HERE + 32, RELATIVE | SPNT | P6, Some(THERE + 32));
    assert_eq!(processor.cells("first_stage"), [0, 1, 3, 0, 1]);
    // Without the hint nothing is stored.
    processor.run(HERE, Bundle::new(MIB | STOP, [0, 0, announce(false, 256, 3)]).at(2), None);
    processor.single(HERE + 48, RELATIVE, Some(THERE));
    assert_eq!(processor.cells("third_stage"), [0, 0, 1, 0, 0]);
    // Four more displace it.
    for tag in 4..8 {
        processor.run(HERE, Bundle::new(MIB | STOP, [0, 0, announce(true, 256, tag)]).at(2), None);
    }
    processor.single(HERE + 32, RELATIVE | SPNT | P6, None);
    assert_eq!(processor.cells("first_stage"), [0, 1, 3, 0, 1]);
    assert_eq!(processor.cells("third_stage"), [1, 0, 1, 0, 0]);
}

#[test]
fn a_taken_branch_costs_bubbles_by_the_stage_that_knew_its_target() {
    // PI21: two bubbles by the encoding from the last slot and three from another, one by the tables, none by a register. The cost of a
    // branch is known with the group after it.
    let companion = Builder::of(&parts::ITANIUM).clock(Clock::Companion).build();
    let mut processor = Processor::new(&companion);
    let bubbles = |processor: &Processor<'_>| processor.get(Signal::FrontEndEmptyBubbleCycles);
    let first = Bundle::new(BBB | STOP, [RELATIVE, NOP, NOP]);
    processor.single(HERE, RELATIVE, Some(THERE));
    processor.branch(THERE, first, 0, Some(HERE));
    assert_eq!(bubbles(&processor), 2);
    processor.single(HERE, RELATIVE, Some(THERE));
    assert_eq!(bubbles(&processor), 2 + 3);
    processor.branch(THERE, first, 0, Some(HERE));
    assert_eq!(bubbles(&processor), 2 + 3 + 1);
    // The branch after this bundle goes THERE, 256 bundles away.
    processor.run(HERE, Bundle::new(MIB | STOP, [0, 0, announce(true, 256, 1)]).at(2), None);
    assert_eq!(bubbles(&processor), 2 + 3 + 1 + 1);
    processor.single(HERE + 16, RELATIVE, Some(THERE));
    processor.branch(THERE, first, 0, Some(HERE));
    assert_eq!(bubbles(&processor), 2 + 3 + 1 + 1);
    assert_eq!([processor.cells("first_stage")[2], processor.cells("second_stage")[2], processor.cells("third_stage")[2]], [1, 3, 2]);
}

#[test]
fn the_counter_of_a_loop_corrects_the_register_at_its_end() {
    let companion = of(&parts::ITANIUM);
    let mut processor = Processor::new(&companion);
    processor.run(HERE, Bundle::new(MIB | STOP, [0, 0, announce(true, 2, 2)]).at(2), None);
    for _ in 0..9 {
        processor.single(HERE + 32, COUNTED, Some(HERE + 32));
    }
    processor.single(HERE + 32, COUNTED, None);
    assert_eq!(processor.cells("first_stage"), [0, 0, 9, 0, 0]);
    assert_eq!(processor.cells("third_stage"), [1, 0, 0, 0, 0]);
}

#[test]
fn without_its_bundle_a_branch_is_predicted_by_its_kind() {
    let companion = of(&parts::MONTECITO);
    let mut processor = Processor::new(&companion);
    let transfer = Transfer { kind: BranchKind::DirectJump, taken: true, target: THERE };
    let jump = Instruction { address: HERE, physical: HERE, length: 16, transfer: Some(transfer), ..Instruction::default() };
    processor.rig.run(&mut processor.follower, &jump);
    assert_eq!(processor.cells("relative"), [0, 0, 1, 0, 0]);
    assert_eq!(processor.verdicts("encoded_branches"), [0, 0, 0]);
}

/// Reports bundles of every kind to `report`, deterministically by seed.
pub(super) fn wander(seed: u64, bundles: usize, mut report: impl FnMut(&Instruction<'_>)) {
    const BRANCHES: [u64; 12] = [
        RELATIVE | P6,
        RELATIVE,
        RELATIVE | SPNT | P6,
        RELATIVE | DPTK | P6,
        RELATIVE | DPNT | P6,
        INDIRECT | P6,
        INDIRECT | SPNT | P6,
        INDIRECT,
        RETURN | P6,
        RETURN | SPNT | P6,
        CALL | P6,
        NOP,
    ];
    let mut noise = Noise::new(seed);
    let mut address = HERE;
    for _ in 0..bundles {
        // The code at an address is mostly stable.
        let place = (address >> 4) as usize + usize::from(noise.draw(8) == 0);
        let branch = |slot: usize| BRANCHES[(place * 5 + slot * 7) % BRANCHES.len()];
        let template = [MIB, MBB, BBB, MIB | STOP][place % 4];
        let last = if noise.draw(8) == 0 { announce(true, noise.draw(4), noise.draw(4)) } else { branch(2) };
        let whole = Bundle::new(template, [branch(0), branch(1), last]);
        let mut to = None;
        for slot in 0..3u8 {
            let state = (noise.draw(4) != 0).then(|| noise.draw(2));
            let bundle = Bundle { slot, function_state: state, ..whole };
            let target = HERE + 16 * noise.draw(12) + (noise.draw(2) << 28);
            let taken = noise.draw(3) == 0;
            let transfer = Transfer { kind: BranchKind::Conditional, taken, target };
            let transfer = Some(transfer).filter(|_| whole.branches() >> slot & 1 != 0);
            report(&Instruction { address, physical: address, length: 16, transfer, bundle: Some(bundle), ..Instruction::default() });
            to = transfer.filter(|transfer| transfer.taken);
            if to.is_some() {
                break;
            }
        }
        address = to.map_or(address + 16, |transfer| transfer.target);
        if address & 0xFFFF > HERE + 0x200 {
            address = HERE;
        }
    }
}

#[test]
fn restored_within_a_bundle_it_goes_on_as_if_nothing_had_been() {
    for profile in [&parts::MONTECITO, &parts::ITANIUM] {
        for bundles in [50, 51, 52, 200] {
            let (first, second) = (of(profile), of(profile));
            let mut here = Processor::new(&first);
            wander(bundles as u64, bundles, |instruction| here.rig.run(&mut here.follower, instruction));
            // In the middle of a bundle with a branch that was predicted taken.
            let bundle = Bundle::new(BBB, [RELATIVE | P6, RELATIVE | P6, RELATIVE]);
            here.branch(THERE, bundle, 0, None);
            let saved = first.save(&[&here.follower]).unwrap();
            let mut there = Processor::new(&second);
            second.restore(&saved, &mut [&mut there.follower]).unwrap();
            here.rig = Rig::new(1);
            for processor in [&mut here, &mut there] {
                processor.branch(THERE, bundle, 1, None);
                wander(9, 200, |instruction| processor.rig.run(&mut processor.follower, instruction));
            }
            assert!(here.rig.all() == there.rig.all(), "{}", profile.name);
        }
    }
}

#[test]
fn a_slot_that_no_bundle_has_is_taken_for_the_last_and_can_be_restored() {
    let (first, second) = (of(&parts::MONTECITO), of(&parts::MONTECITO));
    let mut here = Processor::new(&first);
    let transfer = Transfer { kind: BranchKind::Conditional, taken: false, target: 0 };
    here.run(THERE, Bundle::new(BBB, [RELATIVE | P6; 3]).at(200), Some(transfer));
    let saved = first.save(&[&here.follower]).unwrap();
    let mut there = Processor::new(&second);
    assert_eq!(second.restore(&saved, &mut [&mut there.follower]), Ok(()));
}
