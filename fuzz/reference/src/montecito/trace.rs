//! The execution trace: branches, and other changes of the flow (3.3.10.1, M36 to M39).

use vm_pmu_arch::feed::{Branch, BranchKind, Prediction, Record, Traits};

use super::buffer::Buffer;
use crate::ia64::{Branches, Source};

/// The state of the trace.
pub(super) struct Trace {
    branches: Branches,
}

/// Whether PMC39 wants such a branch (Table 3-26 and the equation after it).
fn wants(pmc39: u64, branch: &Branch) -> bool {
    let has = |bit: u32| pmc39 >> bit & 1 != 0;
    let path_wrong = branch.prediction == Prediction::WrongDirection;
    let target = match branch.prediction {
        // No prediction of the target is recorded then.
        Prediction::WrongDirection => has(11) && has(10),
        Prediction::WrongTarget => has(10),
        Prediction::None | Prediction::Right => has(11),
    };
    let kind = match pmc39 >> 14 & 3 {
        0b01 => matches!(branch.kind, BranchKind::Conditional | BranchKind::DirectJump | BranchKind::DirectCall),
        0b10 => branch.kind == BranchKind::Return,
        0b11 => matches!(branch.kind, BranchKind::IndirectJump | BranchKind::IndirectCall),
        _ => true,
    };
    let both_wrong_alone = pmc39 >> 10 & 0xF == 0b0101;
    has(if branch.taken { 9 } else { 8 }) && target && has(if path_wrong { 12 } else { 13 }) && kind && !both_wrong_alone
}

impl Trace {
    pub(super) fn new() -> Trace {
        Trace { branches: Branches::new() }
    }

    /// The next branch continues nothing.
    pub(super) fn interrupt(&mut self) {
        self.branches.interrupt();
    }

    /// An instruction of a thread whose trace is enabled: how many entries are new.
    pub(super) fn instruction(&mut self, pmc39: u64, record: &Record, tagged: bool, native: bool, buffer: &mut Buffer) -> u64 {
        let Some(branch) = record.branch else { return 0 };
        let is_selected = match branch.kind {
            BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck => true,
            _ => tagged && wants(pmc39, &branch),
        };
        // ds is reserved.
        if !is_selected || !native || pmc39 >> 7 & 1 != 0 {
            self.interrupt();
            return 0;
        }
        let traits = record.sample.traits;
        let (second, flushed) = (traits.contains(Traits::SECOND_BUNDLE), traits.contains(Traits::FLUSHED));
        let bundle = record.address & !0xF;
        let slot = record.slot.min(2);
        let wrong = flushed || branch.kind.is_far() || matches!(branch.prediction, Prediction::WrongDirection | Prediction::WrongTarget);
        // What is no branch of the program always leaves its place.
        let taken = branch.taken || branch.kind.is_far();
        let shown = if taken { slot } else { 3 };
        let source = bundle.wrapping_sub(if second { 16 } else { 0 }) | u64::from(shown) << 2 | u64::from(wrong) << 1 | 1;
        let nibble = u64::from(flushed) << 1 | u64::from(second);
        let target = branch.target & !0xF;
        let mut new = 0;
        match self.branches.capture(bundle, slot, taken.then_some(target)) {
            // One entry has the first that is taken; what was predicted wrongly in the bundle stays.
            Source::Joins => {
                buffer.amend(|entry, bits| (entry & !0b1100 | u64::from(shown) << 2 | source & 0b10, bits | nibble));
            }
            Source::Replaces => buffer.amend(|_, _| (source, nibble)),
            Source::New => {
                buffer.push(Some(source), nibble);
                new += 1;
            }
        }
        if taken {
            buffer.push(Some(target | 0b10), 0);
            new += 1;
        }
        new
    }
}
