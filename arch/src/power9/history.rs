//! The branch history rolling buffer, BHRB.
//!
//! The guide has its filters (MMCRA, appendix A.6) and nothing else; entries and filtering modes are those of Power ISA 3.0B, Book III,
//! sections 9.4.7 and 9.5, the depth is what Linux reads from a POWER9.

use super::Mmcra;
use crate::access::chosen;
use crate::feed::{Branch, BranchKind, Prediction, Record};

/// The bits of an entry that hold an address, 0:61.
const ADDRESS: u64 = !0b11;
/// The T bit, 62: the address is the target of the branch in the next older entry, or of one that was left out.
const TARGET: u64 = 0b10;
/// The P bit, 63: the direction of a branch, or a target, was predicted wrongly.
const MISPREDICTED: u64 = 0b01;

/// The branch history rolling buffer.
///
/// ```
/// use vm_pmu_arch::power9::History;
///
/// let history = History::default();
/// assert_eq!(history.read(0), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History {
    /// The entries, as mfbhrbe reads them; 0 where there is none.
    pub entries: [u64; History::ENTRIES],
    /// Where the next entry goes; taken modulo the number of entries.
    pub next: u8,
}

impl History {
    /// How many entries the buffer has.
    pub const ENTRIES: usize = 32;

    /// Enters a completed branch if it was taken and no filter keeps it out. Whether the thread's state lets the buffer record at all is
    /// not checked here.
    ///
    /// A branch whose encoding gives its target makes one entry, its own address. One to a register's content makes two, its own and then
    /// the newer one of its target. P of the branch's entry means that the branch was predicted wrongly, P of the target's entry that the
    /// target was. If the direction was wrong, so was the target.
    pub(super) fn enter(&mut self, record: &Record, mmcra: Mmcra) {
        let Some(branch) = record.branch.filter(|branch| branch.taken) else { return };
        let Some(form) = Form::of(record, &branch) else { return };
        let kept = form.kept(mmcra);
        let wrong_direction = branch.prediction == Prediction::WrongDirection;
        let wrong = wrong_direction || branch.prediction == Prediction::WrongTarget;
        if kept.branch {
            self.push(record.address & ADDRESS | prediction(if form.computed { wrong_direction } else { wrong }));
        }
        if kept.target {
            self.push(branch.target & ADDRESS | TARGET | prediction(wrong));
        }
    }

    /// What mfbhrbe reads of the entry of this number, 0 being the newest; 0 where there is none.
    #[must_use]
    pub fn read(&self, index: usize) -> u64 {
        if index >= Self::ENTRIES {
            return 0;
        }
        let cell = usize::from(self.next).wrapping_sub(1).wrapping_sub(index) % Self::ENTRIES;
        chosen(&self.entries, cell).copied().unwrap_or(0)
    }

    /// What clrbhrb does: no entry is left.
    pub(super) fn clear(&mut self) {
        *self = History::default();
    }

    fn push(&mut self, entry: u64) {
        let cell = usize::from(self.next) % Self::ENTRIES;
        if let Some(place) = self.entries.get_mut(cell) {
            *place = entry;
        }
        self.next = u8::try_from(cell.wrapping_add(1) % Self::ENTRIES).unwrap_or(0);
    }
}

/// The P bit.
fn prediction(wrong: bool) -> u64 {
    if wrong { MISPREDICTED } else { 0 }
}

/// Which entries a branch makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    branch: bool,
    target: bool,
}

/// What an instruction does as a branch: exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// It writes the link register.
    Call,
    /// It goes to the link register's content, and is not marked as doing so for another purpose.
    Return,
    /// Any other branch.
    Jump,
}

/// What the filters check of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// The target is a register's content: an XL-form instruction. The others are of I-form or B-form.
    computed: bool,
    /// The instruction has a field BO: it is of B-form or XL-form.
    options: bool,
    /// It branches always.
    always: bool,
    /// BO says that it does not depend on the condition register, or how it is expected to go.
    foreseen: bool,
    purpose: Purpose,
}

impl Form {
    /// From the encoding, if it is that of a branch; else from the kind, as the plain instruction of that name. A conditional branch to a
    /// register's content is recognised only by its encoding. `None` if it is no near branch.
    fn of(record: &Record, branch: &Branch) -> Option<Form> {
        if branch.kind.is_far() {
            return None;
        }
        Some(Form::encoded(record.encoding).unwrap_or_else(|| Form::of_kind(branch.kind)))
    }

    fn encoded(encoding: u64) -> Option<Form> {
        let word = u32::try_from(encoding).ok()?;
        let links = word & 1 == 1;
        let options = word >> 21 & 0x1F;
        // 1z1zz branches always; 1xxxx does not depend on the condition register; x01at has a hint where a, the bit of value 2, is set.
        let always = options & 0b10100 == 0b10100;
        let foreseen = options & 0b10000 != 0 || options & 0b00110 == 0b00110;
        let purpose = if links { Purpose::Call } else { Purpose::Jump };
        match word >> 26 {
            18 => Some(Form { computed: false, options: false, always: true, foreseen: true, purpose }),
            16 => Some(Form { computed: false, options: true, always, foreseen, purpose }),
            19 => {
                // bclr with a hint BH of 0 returns from a subroutine.
                let returns = match word >> 1 & 0x3FF {
                    16 => word >> 11 & 0b11 == 0,
                    528 | 560 => false,
                    _ => return None,
                };
                let purpose = if returns && !links { Purpose::Return } else { purpose };
                Some(Form { computed: true, options: true, always, foreseen, purpose })
            }
            _ => None,
        }
    }

    fn of_kind(kind: BranchKind) -> Form {
        let jump = Form { computed: false, options: false, always: true, foreseen: true, purpose: Purpose::Jump };
        match kind {
            BranchKind::Conditional => Form { options: true, always: false, foreseen: false, ..jump },
            BranchKind::DirectJump | BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck => jump,
            BranchKind::DirectCall => Form { purpose: Purpose::Call, ..jump },
            BranchKind::IndirectJump => Form { computed: true, options: true, ..jump },
            BranchKind::IndirectCall => Form { computed: true, options: true, purpose: Purpose::Call, ..jump },
            BranchKind::Return => Form { computed: true, options: true, purpose: Purpose::Return, ..jump },
        }
    }

    /// What the filters of `mmcra` keep of it.
    ///
    /// Of the four modes of IFM the guide prints two, without their codes: everything, and neither jumps nor returns, which is mode 01 of
    /// the ISA, calls alone. A jump is any branch that is neither call nor return, so the two are the same. Modes 10 and 11 leave out
    /// branches that a reader can work out or expect, but keep the target of a branch to a register's content.
    fn kept(&self, mmcra: Mmcra) -> Kept {
        const NOTHING: Kept = Kept { branch: false, target: false };
        let purpose = match self.purpose {
            Purpose::Call => mmcra.fc(),
            Purpose::Return => mmcra.fr(),
            Purpose::Jump => mmcra.fj(),
        };
        if purpose || mmcra.fd() && !self.computed || mmcra.fu() && self.always {
            return NOTHING;
        }
        let left_out = match mmcra.ifm() {
            0 => false,
            1 if self.purpose == Purpose::Call => false,
            1 => return NOTHING,
            2 => !self.options || self.always,
            _ => !self.options || self.always || self.foreseen,
        };
        Kept { branch: !left_out, target: self.computed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    const FD: u64 = 1 << 36;
    const FU: u64 = 1 << 35;
    const FC: u64 = 1 << 34;
    const FR: u64 = 1 << 33;
    const FJ: u64 = 1 << 32;
    const IFM: u32 = 30;

    /// Encodings, from the instruction formats of the ISA.
    const B: u64 = 0x4800_0000;
    const BL: u64 = 0x4800_0001;
    /// bc 12,2: BO 01100, no hint.
    const BEQ: u64 = 16 << 26 | 0b01100 << 21 | 2 << 16;
    /// The same with a hint, BO 01110.
    const BEQ_HINTED: u64 = 16 << 26 | 0b01110 << 21 | 2 << 16;
    /// bc 16,0: BO 10000, decrement and branch.
    const BDNZ: u64 = 16 << 26 | 0b10000 << 21;
    const BLR: u64 = 0x4E80_0020;
    const BCTR: u64 = 0x4E80_0420;
    const BCTRL: u64 = 0x4E80_0421;
    const BTAR: u64 = 19 << 26 | 20 << 21 | 560 << 1;
    /// bclr 12,2: a conditional return.
    const BEQLR: u64 = 19 << 26 | 0b01100 << 21 | 2 << 16 | 16 << 1;
    /// bclr 20,0,1: to the link register's content, but no return.
    const BLR_NO_RETURN: u64 = 0x4E80_0020 | 1 << 11;

    const AT: u64 = 0x1000;
    const TO: u64 = 0x2000;

    fn record(encoding: u64, kind: BranchKind, prediction: Prediction) -> Record {
        Record { encoding, branch: Some(Branch { kind, taken: true, target: TO, prediction }), ..Record::at(AT) }
    }

    /// What a branch of this encoding leaves in an empty buffer, newest first.
    fn left(record: Record, mmcra: u64) -> Vec<u64> {
        let mut history = History::default();
        history.enter(&record, Mmcra::written(mmcra));
        (0..History::ENTRIES).map(|index| history.read(index)).take_while(|entry| *entry != 0).collect()
    }

    fn encoded(encoding: u64, mmcra: u64) -> Vec<u64> {
        // The kind adds nothing to the encoding.
        left(record(encoding, BranchKind::Conditional, Prediction::Right), mmcra)
    }

    fn of_kind(kind: BranchKind, mmcra: u64) -> Vec<u64> {
        left(record(0, kind, Prediction::Right), mmcra)
    }

    #[test]
    fn a_branch_makes_one_entry_and_one_to_a_register_two() {
        for direct in [B, BL, BEQ, BEQ_HINTED, BDNZ] {
            assert_eq!(encoded(direct, 0), [AT], "{direct:x}");
        }
        for computed in [BLR, BCTR, BCTRL, BTAR, BEQLR, BLR_NO_RETURN] {
            assert_eq!(encoded(computed, 0), [TO | 2, AT], "{computed:x}");
        }
    }

    #[test]
    fn the_kind_decides_where_the_encoding_is_not_known() {
        use BranchKind::{Conditional, DirectCall, DirectJump, IndirectCall, IndirectJump, Return};
        for direct in [Conditional, DirectJump, DirectCall] {
            assert_eq!(of_kind(direct, 0), [AT], "{direct:?}");
        }
        for computed in [IndirectJump, IndirectCall, Return] {
            assert_eq!(of_kind(computed, 0), [TO | 2, AT], "{computed:?}");
        }
    }

    #[test]
    fn what_is_not_taken_or_not_near_is_not_entered() {
        let mut not_taken = record(BEQ, BranchKind::Conditional, Prediction::Right);
        not_taken.branch = not_taken.branch.map(|branch| Branch { taken: false, ..branch });
        assert!(left(not_taken, 0).is_empty());
        // sc
        assert!(left(record(0x4400_0002, BranchKind::Far, Prediction::None), 0).is_empty());
        assert!(left(Record::at(AT), 0).is_empty());
    }

    #[test]
    fn the_low_bits_of_an_address_are_not_entered() {
        let mut odd = record(BCTR, BranchKind::IndirectJump, Prediction::Right);
        odd.branch = odd.branch.map(|branch| Branch { target: TO | 3, ..branch });
        assert_eq!(left(odd, 0), [TO | 2, AT]);
    }

    #[test]
    fn a_misprediction_is_in_the_entry_of_what_was_wrong() {
        use Prediction::{WrongDirection, WrongTarget};
        let of = |encoding, prediction| left(record(encoding, BranchKind::Conditional, prediction), 0);
        assert_eq!(of(BEQ, WrongDirection), [AT | 1]);
        assert_eq!(of(B, WrongTarget), [AT | 1]);
        assert_eq!(of(BEQLR, WrongDirection), [TO | 3, AT | 1]);
        assert_eq!(of(BLR, WrongTarget), [TO | 3, AT]);
        assert_eq!(of(BLR, Prediction::None), [TO | 2, AT]);
    }

    #[test]
    fn each_filter_keeps_its_branches_out() {
        let all = [B, BL, BEQ, BEQ_HINTED, BDNZ, BLR, BCTR, BCTRL, BTAR, BEQLR, BLR_NO_RETURN];
        let rows: [(u64, &[u64]); 5] = [
            (FD, &[BLR, BCTR, BCTRL, BTAR, BEQLR, BLR_NO_RETURN]),
            (FU, &[BEQ, BEQ_HINTED, BDNZ, BEQLR]),
            (FC, &[B, BEQ, BEQ_HINTED, BDNZ, BLR, BCTR, BTAR, BEQLR, BLR_NO_RETURN]),
            (FR, &[B, BL, BEQ, BEQ_HINTED, BDNZ, BCTR, BCTRL, BTAR, BLR_NO_RETURN]),
            (FJ, &[BL, BLR, BCTRL, BEQLR]),
        ];
        for (filter, kept) in rows {
            let entered: Vec<u64> = all.into_iter().filter(|encoding| !encoded(*encoding, filter).is_empty()).collect();
            assert_eq!(entered, kept, "{filter:x}");
        }
    }

    #[test]
    fn filters_of_kinds_are_those_of_their_instructions() {
        use BranchKind::{Conditional, DirectCall, DirectJump, IndirectCall, IndirectJump, Return};
        let pairs = [(Conditional, BEQ), (DirectJump, B), (DirectCall, BL), (IndirectJump, BCTR), (IndirectCall, BCTRL), (Return, BLR)];
        for (kind, encoding) in pairs {
            for mmcra in [0, FD, FU, FC, FR, FJ, 1 << IFM, 2 << IFM, 3 << IFM] {
                assert_eq!(of_kind(kind, mmcra), encoded(encoding, mmcra), "{kind:?} {mmcra:x}");
            }
        }
    }

    #[test]
    fn mode_one_enters_calls_alone() {
        for (encoding, entries) in [(BL, 1), (BCTRL, 2), (B, 0), (BEQ, 0), (BLR, 0), (BCTR, 0)] {
            assert_eq!(encoded(encoding, 1 << IFM).len(), entries, "{encoding:x}");
        }
    }

    #[test]
    fn mode_two_leaves_out_what_branches_always_but_keeps_computed_targets() {
        for gone in [B, BL] {
            assert!(encoded(gone, 2 << IFM).is_empty());
        }
        for kept in [BEQ, BEQ_HINTED, BDNZ] {
            assert_eq!(encoded(kept, 2 << IFM), [AT]);
        }
        for target in [BLR, BCTR, BCTRL, BTAR] {
            assert_eq!(encoded(target, 2 << IFM), [TO | 2]);
        }
        assert_eq!(encoded(BEQLR, 2 << IFM), [TO | 2, AT]);
    }

    #[test]
    fn mode_three_leaves_out_what_is_expected_too() {
        for gone in [B, BL, BDNZ, BEQ_HINTED] {
            assert!(encoded(gone, 3 << IFM).is_empty(), "{gone:x}");
        }
        assert_eq!(encoded(BEQ, 3 << IFM), [AT]);
        assert_eq!(encoded(BLR, 3 << IFM), [TO | 2]);
        assert_eq!(encoded(BEQLR, 3 << IFM), [TO | 2, AT]);
    }

    #[test]
    fn a_cleared_buffer_is_empty() {
        let mut history = History::default();
        history.enter(&record(BLR, BranchKind::Return, Prediction::Right), Mmcra::default());
        history.clear();
        assert_eq!(history, History::default());
    }

    #[test]
    fn a_restored_position_of_any_value_is_taken() {
        let mut history = History { entries: [4; History::ENTRIES], next: 255 };
        assert_eq!((history.read(31), history.read(32), history.read(usize::MAX)), (4, 0, 0));
        history.enter(&record(B, BranchKind::DirectJump, Prediction::Right), Mmcra::default());
        assert_eq!((history.read(0), history.next), (AT, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        /// The buffer is a list to which entries are added and of which the last 32 are read.
        #[test]
        fn the_buffer_holds_the_newest_entries(branches in proptest::collection::vec((1..1u64 << 40, any::<bool>()), 0..80)) {
            let mut history = History::default();
            let mut list = Vec::new();
            for (word, computed) in branches {
                let address = word << 2;
                let kind = if computed { BranchKind::IndirectJump } else { BranchKind::DirectJump };
                let branch = Branch { kind, taken: true, target: address + 64, prediction: Prediction::Right };
                history.enter(&Record { branch: Some(branch), ..Record::at(address) }, Mmcra::default());
                list.push(address);
                if computed {
                    list.push((address + 64) | 2);
                }
            }
            for index in 0..40 {
                let expected = if index < 32 { list.iter().rev().nth(index).copied().unwrap_or(0) } else { 0 };
                prop_assert_eq!(history.read(index), expected);
            }
        }
    }
}
