//! The branch history (POWER9 PMU User's Guide, A.6, FD to IFM; P35).

use vm_pmu_arch::feed::{BranchKind, Prediction, Record};

use super::bits::mmcra;

/// Bit 62 of an entry: it is the target of the branch in the next one. Bit 63: the prediction was wrong.
const TARGET: u64 = 2;
const MISPREDICTED: u64 = 1;
/// Bits 0:61: the address.
const ADDRESS: u64 = !3;

/// How many entries there are.
const ENTRIES: usize = 32;

/// The branch history rolling buffer.
#[derive(Clone, Default)]
pub(super) struct History {
    /// The newest first.
    entries: Vec<u64>,
    /// It may have other entries than these.
    is_unknown: bool,
}

impl History {
    /// A taken branch comes while the buffer takes entries.
    pub(super) fn enter(&mut self, record: &Record, register: u64) {
        use BranchKind::{Conditional, DirectCall, DirectJump, Exception, FailedCheck, Far, IndirectCall, IndirectJump, Return};
        let Some(branch) = record.branch.filter(|branch| branch.taken) else { return };
        let (is_direct, is_call, is_jump) = match branch.kind {
            Far | Exception | FailedCheck => return,
            Conditional => (true, false, true),
            DirectJump => (true, false, true),
            DirectCall => (true, true, false),
            IndirectJump => (false, false, true),
            IndirectCall => (false, true, false),
            Return => (false, false, false),
        };
        // Whether a computed branch is conditional is in its encoding alone. An encoding of another form (B, I, XL), or that links where the
        // kind does not, contradicts the kind: then neither filters nor entries are known.
        let (form, links) = (record.encoding >> 26 & 0x3F, record.encoding & 1 != 0);
        let has_form = match branch.kind {
            Conditional => form == 16,
            _ if is_direct => form == 16 || form == 18,
            _ => form == 19,
        };
        if record.encoding != 0 && (!has_form || links != is_call) {
            self.lose();
            return;
        }
        let filters = |bit: u64| register & bit != 0;
        let is_filtered = filters(mmcra::FD) && is_direct
            || filters(mmcra::FC) && is_call
            || filters(mmcra::FJ) && is_jump
            || filters(mmcra::FR) && branch.kind == Return
            // 01 keeps jumps and returns out.
            || mmcra::ifm(register) == 1 && !is_call;
        if is_filtered {
            return;
        }
        // 10 and 11 follow no source at hand; a direct branch has no target that could be wrong.
        let is_open = mmcra::ifm(register) > 1
            || is_direct && branch.prediction == Prediction::WrongTarget
            || filters(mmcra::FU) && !is_direct && record.encoding != 0;
        if is_open {
            self.lose();
            return;
        }
        if filters(mmcra::FU) && branch.kind != Conditional {
            return;
        }
        let mispredicted = |wrong: bool| if wrong { MISPREDICTED } else { 0 };
        let wrong_direction = branch.prediction == Prediction::WrongDirection;
        self.push(record.address & ADDRESS | mispredicted(wrong_direction));
        if !is_direct {
            let wrong = wrong_direction || branch.prediction == Prediction::WrongTarget;
            self.push(branch.target & ADDRESS | TARGET | mispredicted(wrong));
        }
    }

    fn push(&mut self, entry: u64) {
        self.entries.insert(0, entry);
        self.entries.truncate(ENTRIES);
    }

    /// It is not known what was entered.
    pub(super) fn lose(&mut self) {
        self.is_unknown = true;
    }

    pub(super) fn clear(&mut self) {
        *self = History::default();
    }

    /// Entry `number`. Beyond the last there is nothing.
    pub(super) fn read(&self, number: u16) -> Option<u64> {
        let number = usize::from(number);
        (!self.is_unknown || number >= ENTRIES).then(|| self.entries.get(number).copied().unwrap_or(0))
    }
}
