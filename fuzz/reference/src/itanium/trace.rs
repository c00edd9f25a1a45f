//! The branch trace buffer: PMC12, PMD8 to PMD16 (docs/notes/itanium.md 1.7 and 2.7; M36, M37, M49, M52, M53, M55).

use vm_pmu_arch::feed::{Branch, Prediction, Record, Traits};

use super::thread::canonical;
use crate::ia64::{Branches, Ring, Source};

/// The entries, where they are known, and the branch before.
pub(super) struct Trace {
    ring: Ring<Option<u64>, 8>,
    branches: Branches,
}

/// Whether PMC12 wants a branch that this stage of the prediction served.
fn wants(pmc12: u64, branch: &Branch, traits: Traits) -> bool {
    let has = |bit: u32| pmc12 >> bit & 1 != 0;
    let is_served = if traits.contains(Traits::PREDICTED_FIRST) {
        has(7)
    } else if traits.contains(Traits::PREDICTED_SECOND) {
        has(14)
    } else {
        has(15)
    };
    let is_path_wrong = branch.prediction == Prediction::WrongDirection;
    // Only the target of a branch that is taken is judged.
    let is_target_wrong = branch.prediction == Prediction::WrongTarget && branch.taken;
    // pfmon's setting for all that is mispredicted.
    let is_predicted = if pmc12 >> 10 & 0xF == 0b0101 {
        is_path_wrong || is_target_wrong
    } else if is_path_wrong {
        // No prediction of the target is recorded then.
        has(12) && has(11) && has(10)
    } else {
        has(13) && has(if is_target_wrong { 10 } else { 11 })
    };
    is_served && has(if branch.taken { 9 } else { 8 }) && is_predicted
}

impl Trace {
    pub(super) const fn new() -> Trace {
        Trace { ring: Ring::new(Some(0)), branches: Branches::new() }
    }

    /// The next branch continues nothing.
    pub(super) const fn interrupt(&mut self) {
        self.branches.interrupt();
    }

    /// What was entered is not known.
    pub(super) const fn forget(&mut self) {
        self.ring.forget(None);
    }

    fn push(&mut self, entry: u64) {
        if self.ring.push(Some(entry)).is_none() {
            self.forget();
        }
    }

    /// A branch of a processor whose trace is enabled, tagged or not: how many are captured.
    pub(super) fn branch(&mut self, pmc12: u64, record: &Record, branch: &Branch, tagged: bool) -> u128 {
        if !tagged || branch.kind.is_far() || !wants(pmc12, branch, record.sample.traits) {
            self.interrupt();
            return 0;
        }
        let slot = record.slot.min(2);
        let (bundle, target) = (record.address & !0xF, branch.target & !0xF);
        let shown = u64::from(if branch.taken { slot } else { 3 }) << 2;
        let wrong = u64::from(matches!(branch.prediction, Prediction::WrongDirection | Prediction::WrongTarget)) << 1;
        let source = canonical(bundle) | shown | wrong | 1;
        match self.branches.capture(bundle, slot, branch.taken.then_some(target)) {
            Source::New => self.push(source),
            Source::Joins => match self.ring.last() {
                // One entry has the first that is taken; what was predicted wrongly in the bundle stays.
                Some(last) => *last = last.map(|last| last & !0b1100 | shown | wrong),
                None => self.forget(),
            },
            Source::Replaces => match self.ring.last() {
                Some(last) => *last = Some(source),
                None => self.forget(),
            },
        }
        if branch.taken {
            self.push(canonical(target) | 0b10);
        }
        1
    }

    /// PMD8 to 16.
    pub(super) fn read(&self, pmd: usize) -> Option<u64> {
        match pmd {
            16 => self.ring.index.map(|(next, full)| next as u64 | u64::from(full) << 3),
            _ => self.ring.entries[pmd - 8],
        }
    }

    pub(super) fn write(&mut self, pmd: usize, value: u64) {
        self.interrupt();
        match pmd {
            16 => self.ring.index = Some(((value & 7) as usize, value >> 3 & 1 != 0)),
            _ => self.ring.entries[pmd - 8] = Some(canonical(value)),
        }
    }
}
