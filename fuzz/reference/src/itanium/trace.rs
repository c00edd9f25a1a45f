//! The branch trace buffer: PMC12, PMD8 to PMD16 (docs/notes/itanium.md 1.7 and 2.7; M36, M37, M49, M52, M53, M55).

use vm_pmu_arch::feed::{Branch, Prediction, Record, Traits};

use super::bits::canonical;
use crate::ia64::{Branches, Ring, Source};

/// The entries, where they are known, and the branch before.
pub(super) struct Trace {
    ring: Ring<Option<u64>, 8>,
    branches: Branches,
}

/// What of a branch's prediction was wrong.
#[derive(Clone, Copy)]
struct Wrong {
    path: bool,
    target: bool,
}

impl Wrong {
    /// Only the target of a branch that is taken is judged.
    fn of(branch: &Branch) -> Wrong {
        Wrong {
            path: branch.prediction == Prediction::WrongDirection,
            target: branch.prediction == Prediction::WrongTarget && branch.taken,
        }
    }

    const fn any(self) -> bool {
        self.path || self.target
    }
}

/// Whether PMC12 wants a branch.
const fn wants(pmc12: u64, branch: &Branch, wrong: Wrong, traits: Traits) -> bool {
    let (tar, bpt, bac) = (pmc12 >> 7 & 1 != 0, pmc12 >> 14 & 1 != 0, pmc12 >> 15 & 1 != 0);
    let is_served = if traits.contains(Traits::PREDICTED_FIRST) {
        tar
    } else if traits.contains(Traits::PREDICTED_SECOND) {
        bpt
    } else {
        bac
    };
    let (tm, ptm, ppm) = (pmc12 >> 8 & 3, pmc12 >> 10 & 3, pmc12 >> 12 & 3);
    let is_predicted = if ptm == 0b01 && ppm == 0b01 {
        // pfmon's setting for all that is mispredicted.
        wrong.any()
    } else if wrong.path {
        // No prediction of the target is recorded then.
        ppm & 0b01 != 0 && ptm == 0b11
    } else {
        ppm & 0b10 != 0 && ptm & if wrong.target { 0b01 } else { 0b10 } != 0
    };
    is_served && tm & if branch.taken { 0b10 } else { 0b01 } != 0 && is_predicted
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
        let wrong = Wrong::of(branch);
        if !tagged || branch.kind.is_far() || !wants(pmc12, branch, wrong, record.sample.traits) {
            self.interrupt();
            return 0;
        }
        let slot = record.slot.min(2);
        let (bundle, target) = (record.address & !0xF, branch.target & !0xF);
        let shown = u64::from(if branch.taken { slot } else { 3 }) << 2;
        let mp = u64::from(wrong.any()) << 1;
        let source = canonical(bundle) | shown | mp | 1;
        match self.branches.capture(bundle, slot, branch.taken.then_some(target)) {
            Source::New => self.push(source),
            Source::Joins => match self.ring.last() {
                // One entry has the first that is taken; what was predicted wrongly in the bundle stays.
                Some(last) => *last = last.map(|last| last & !0b1100 | shown | mp),
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
