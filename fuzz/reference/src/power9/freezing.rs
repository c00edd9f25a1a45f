//! When a counter stands still (POWER9 PMU User's Guide, A.2, A.3, A.5 and Table A-1).

use super::bits::{mmcr0, mmcr2, state};
use super::thread::{Surroundings, Thread};

/// The four bits that freeze by privilege.
struct ByPrivilege {
    system: bool,
    problem: bool,
    problem_condition: bool,
    hypervisor: bool,
}

impl ByPrivilege {
    /// Table A-1.
    fn freeze(&self, hv: bool, pr: bool) -> bool {
        match (hv, pr) {
            (false, false) => self.system,
            (true, false) => self.hypervisor,
            (false, true) if self.problem_condition => !self.problem,
            (_, true) => self.problem,
        }
    }
}

impl Thread {
    /// MSR\[HV], which the hypervisor's state implies.
    pub(super) fn hv(&self) -> bool {
        self.context.privilege == 0 || self.context.machine_state & state::HV != 0
    }

    /// MSR\[PR].
    pub(super) fn pr(&self) -> bool {
        self.context.privilege == 3
    }

    pub(super) fn runs(&self) -> bool {
        self.context.control & state::RUN != 0
    }

    /// Whether PMC5 and PMC6 are no part of the performance monitor.
    pub(super) fn without_fixed(&self) -> bool {
        mmcr0::pmcc(self.mmcr0) == 3
    }

    /// Whether MMCR0's bits by privilege freeze counters and branch history.
    pub(super) fn frozen_by_privilege(&self) -> bool {
        let has = |bit| self.mmcr0 & bit != 0;
        let bits = ByPrivilege {
            system: has(mmcr0::FCS),
            problem: has(mmcr0::FCP),
            problem_condition: has(mmcr0::FCPC),
            hypervisor: has(mmcr0::FCH),
        };
        bits.freeze(self.hv(), self.pr())
    }

    /// Whether MMCR0 freezes every counter in this state of the thread, whatever FC says. `cycles` is whether the counter counts PM_CYC,
    /// which does not look at the run latch.
    fn frozen_by_state(&self, cycles: bool) -> bool {
        let msr = self.context.machine_state;
        let (marked, tagged, ts) = (msr & state::PMM != 0, msr & state::TAGS != 0, state::ts(msr));
        let freezes = [
            (mmcr0::FCM1, marked),
            (mmcr0::FCM0, !marked),
            (mmcr0::FCTM, ts == 0b10),
            (mmcr0::FCNTS, ts == 0b00),
            (mmcr0::FCSS, ts == 0b01),
            (mmcr0::FCTI, !tagged),
            (mmcr0::FCTA, tagged),
            (mmcr0::FCWAIT, !self.runs() && !cycles),
        ];
        self.frozen_by_privilege() || freezes.iter().any(|(bit, holds)| self.mmcr0 & bit != 0 && *holds)
    }

    /// Whether the nine bits of MMCR2 for counter `number` freeze it.
    fn frozen_by_own(&self, number: u32, cycles: bool) -> bool {
        let own = mmcr2::of(self.mmcr2, number);
        let has = |bit| own & bit != 0;
        let bits = ByPrivilege {
            system: has(mmcr2::FCS),
            problem: has(mmcr2::FCP),
            problem_condition: has(mmcr2::FCPC),
            hypervisor: has(mmcr2::FCH),
        };
        let msr = self.context.machine_state;
        let (marked, tagged) = (msr & state::PMM != 0, msr & state::TAGS != 0);
        let freezes = [
            (mmcr2::FCM1, marked),
            (mmcr2::FCM0, !marked),
            (mmcr2::FCWAIT, !self.runs() && !cycles),
            (mmcr2::FCTI, !tagged),
            (mmcr2::FCTA, tagged),
        ];
        bits.freeze(self.hv(), self.pr()) || freezes.iter().any(|(bit, holds)| has(*bit) && *holds)
    }

    /// Whether counter `number`, from 0, stands still; `None` where that depends on what is not known.
    pub(super) fn frozen(&self, number: u32, around: &Surroundings) -> Option<bool> {
        let fixed = number >= 4;
        if fixed && self.without_fixed() {
            // Gated by the run latch alone (Table 1-2, P15).
            return Some(!self.runs());
        }
        let cycles = !fixed && self.counts_cycles(number);
        let group = if fixed { mmcr0::FC5_6 } else { mmcr0::FC1_4 };
        let waits = fixed && !self.runs() && self.mmcr0 & mmcr0::CC56RUN == 0;
        if around.frozen || self.mmcr0 & group != 0 || waits || self.frozen_by_state(cycles) || self.frozen_by_own(number, cycles) {
            return Some(true);
        }
        if self.lost {
            return None;
        }
        Some(self.mmcr0 & mmcr0::FC != 0 || number != 0 && self.mmcr0 & mmcr0::TRIGGER != 0)
    }
}
