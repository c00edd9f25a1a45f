//! The execution trace buffer: PMC39, PMD38, PMD39, PMD48-63 (section 3.3.10.1).

use super::file::Captures;
use super::registers::{Pmc39, TraceEntry};
use crate::feed::{Branch, BranchKind, Prediction, Record, Traits};

/// slot of a source that was not taken.
const NOT_TAKEN: u8 = 0b11;
/// Bits of an entry's extension (Table 3-29).
const SECOND_BUNDLE: u8 = 1 << 0;
const FLUSHED: u8 = 1 << 1;

/// What was captured last, as far as the next capture depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Last {
    /// Nothing that matters.
    #[default]
    Nothing,
    /// A branch in this slot of this bundle, which was not taken: another of the bundle makes no entry of its own.
    NotTaken {
        /// The bundle's address.
        bundle: u64,
        /// The slot.
        slot: u8,
    },
    /// This bundle, as a target: a source in it takes the entry.
    Target {
        /// The bundle's address.
        bundle: u64,
    },
}

/// Whether PMC39 can capture anything (section 3.3.10.1.1): branches need more than a privilege level, other changes of flow do not.
pub(super) fn captures_anything(pmc39: Pmc39) -> bool {
    pmc39.plm() != 0 && !pmc39.ds()
}

/// Whether the filters of `pmc39` leave the branch (the equation of section 3.3.10.1.1, and brt).
///
/// Of a branch whose path was mispredicted no target prediction is recorded: only ptm 11, which does not look at it, leaves it.
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
/// opcode match of channel 0, which matter for branches only. Returns how many entries that brought.
pub(super) fn capture(pmc39: Pmc39, record: &Record, branch: &Branch, tagged: bool, last: &mut Last, captures: &mut Captures) -> u64 {
    let far = branch.kind.is_far();
    if !captures_anything(pmc39) || !far && !(tagged && is_wanted(pmc39, branch)) {
        *last = Last::Nothing;
        return 0;
    }
    let taken = branch.taken || far;
    let wrong = far || !matches!(branch.prediction, Prediction::None | Prediction::Right);
    let flushed = record.sample.traits.contains(Traits::FLUSHED);
    let second = record.sample.traits.contains(Traits::SECOND_BUNDLE);
    let bundle = record.address >> 4;
    let mut source = TraceEntry::default();
    source.set_s(true);
    source.set_mp(wrong || flushed);
    source.set_slot(if taken { record.slot.min(2) } else { NOT_TAKEN });
    source.set_bundle(bundle.wrapping_sub(u64::from(second)));
    let extension = if second { SECOND_BUNDLE } else { 0 } | if source.mp() && flushed { FLUSHED } else { 0 };
    let entries = enter(source, extension, record, *last, captures);
    if !taken {
        *last = Last::NotTaken { bundle: record.address, slot: record.slot };
        return entries;
    }
    let mut target = TraceEntry::default();
    target.set_mp(true);
    target.set_bundle(branch.target >> 4);
    captures.push(target.bits(), 0);
    *last = Last::Target { bundle: branch.target & !0xF };
    entries + 1
}

/// Enters a source: in place of the target that it lies in, into the entry of its bundle, or behind the last.
fn enter(source: TraceEntry, extension: u8, record: &Record, last: Last, captures: &mut Captures) -> u64 {
    match last {
        Last::Target { bundle } if bundle == record.address & !0xF => {
            captures.replace_last(source.bits(), extension);
            0
        }
        Last::NotTaken { bundle, slot } if bundle == record.address && slot < record.slot => {
            let (before, before_extension) = captures.last();
            let mut merged = source;
            merged.set_mp(source.mp() || before & TraceEntry::MISPREDICTED != 0);
            captures.replace_last(merged.bits(), extension | before_extension);
            0
        }
        _ => {
            captures.push(source.bits(), extension);
            1
        }
    }
}

impl TraceEntry {
    /// The bit mp.
    const MISPREDICTED: u64 = 1 << 1;
}
