//! The execution trace buffer: PMC39, PMD38, PMD39, PMD48-63 (section 3.3.10.1).

use super::file::Captures;
use super::registers::Pmc39;
use crate::feed::{Branch, BranchKind, Prediction, Record, Traits};
use crate::ia64::{Last, Source, enter};

/// Bits of an entry's extension (Table 3-29).
const SECOND_BUNDLE: u8 = 1 << 0;
const FLUSHED: u8 = 1 << 1;

/// Whether PMC39 can capture anything (section 3.3.10.1.1): branches need more than a privilege level, other changes of flow do not.
pub(super) fn captures_anything(pmc39: Pmc39) -> bool {
    pmc39.plm() != 0 && !pmc39.ds()
}

/// Whether the filters of `pmc39` admit the branch (the equation of section 3.3.10.1.1, and brt).
///
/// For a branch whose path was mispredicted no target prediction is recorded: only ptm 11, which ignores it, admits the branch.
fn is_wanted(pmc39: Pmc39, branch: &Branch) -> bool {
    let taken = pmc39.tm() >> u8::from(branch.taken) & 1 == 1;
    let (path, target) = match branch.prediction {
        Prediction::None | Prediction::Right => (pmc39.ppm() & 0b10 != 0, pmc39.ptm() & 0b10 != 0),
        Prediction::WrongTarget => (pmc39.ppm() & 0b10 != 0, pmc39.ptm() & 0b01 != 0),
        Prediction::WrongDirection => (pmc39.ppm() & 0b01 != 0, pmc39.ptm() == 0b11),
    };
    let kind = match (pmc39.brt(), branch.kind) {
        (0b00, _) => true,
        (0b01, kind) => matches!(kind, BranchKind::Conditional | BranchKind::DirectJump | BranchKind::DirectCall),
        (0b10, kind) => kind == BranchKind::Return,
        (_, kind) => matches!(kind, BranchKind::IndirectJump | BranchKind::IndirectCall),
    };
    taken && path && target && kind
}

/// Captures a control transfer that the monitor of `pmc39` admits; `tagged` says whether the instruction is within address range and
/// opcode match of channel 0, which matter for branches only. Returns how many entries that added.
pub(super) fn capture(pmc39: Pmc39, record: &Record, branch: &Branch, tagged: bool, last: &mut Last, captures: &mut Captures) -> u64 {
    let far = branch.kind.is_far();
    let wanted = far || tagged && is_wanted(pmc39, branch);
    if !captures_anything(pmc39) || !wanted {
        *last = Last::Nothing;
        return 0;
    }
    let taken = branch.taken || far;
    let wrong = far || !matches!(branch.prediction, Prediction::None | Prediction::Right);
    let flushed = record.sample.traits.contains(Traits::FLUSHED);
    let second = record.sample.traits.contains(Traits::SECOND_BUNDLE);
    let mispredicted = wrong || flushed;
    let extension = if second { SECOND_BUNDLE } else { 0 } | if mispredicted && flushed { FLUSHED } else { 0 };
    let bundle = (record.address >> 4).wrapping_sub(u64::from(second));
    let source = Source { bundle, mispredicted, target: taken.then_some(branch.target), extension };
    enter(source, record, last, captures)
}
