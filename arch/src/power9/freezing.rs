//! When a counter is frozen.
//!
//! POWER9 PMU User's Guide, appendix A: MMCR0 with Table A-1, MMCR2, MMCRC. A counter counts while none of its freezes holds.

use super::registers::{CounterFreezes, Mmcr0, Mmcr2, Mmcrc, Msr, ThreadControl};

/// MSR\[TS]: no transaction.
const TS_NONE: u8 = 0b00;
/// MSR\[TS]: a transaction is suspended.
const TS_SUSPENDED: u8 = 0b01;
/// MSR\[TS]: a transaction is being executed.
const TS_TRANSACTIONAL: u8 = 0b10;

/// MMCR0\[PMCC]: PMC5 and PMC6 do not belong to the performance monitor.
pub(super) const FOUR_COUNTERS: u8 = 0b11;

/// All that freezes depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freezes {
    pub(super) mmcr0: Mmcr0,
    pub(super) mmcr2: Mmcr2,
    pub(super) mmcrc: Mmcrc,
    /// The thread's number in its core.
    pub(super) thread: u8,
    pub(super) msr: Msr,
    pub(super) control: ThreadControl,
}

impl Freezes {
    /// Whether a counter counts, in the thread's present state. PM_CYC `ignores_run_latch`.
    pub(super) fn admits(&self, index: usize, ignores_run_latch: bool) -> bool {
        let run_only = index >= 4;
        if run_only && self.mmcr0.pmcc() == FOUR_COUNTERS {
            return self.control.run();
        }
        let waits = !self.control.run() && !ignores_run_latch;
        !self.stopped(index)
            && !self.by_state(waits)
            && !self.by_counter(self.mmcr2.freezes(index), waits)
            && (!run_only || self.mmcr0.cc56run() || self.control.run())
    }

    /// Whether it is stopped whatever the thread's state.
    pub(super) fn stopped(&self, index: usize) -> bool {
        let run_only = index >= 4;
        if run_only && self.mmcr0.pmcc() == FOUR_COUNTERS {
            return false;
        }
        self.mmcr0.fc()
            || self.mmcrc.freezes(self.thread)
            || (if run_only { self.mmcr0.fc5_6() } else { self.mmcr0.fc1_4() })
            || (self.mmcr0.trigger() && index != 0)
    }

    /// The freezes of MMCR0 by the thread's state.
    fn by_state(&self, waits: bool) -> bool {
        let Freezes { mmcr0, msr, .. } = self;
        self.history()
            || (if msr.pmm() { mmcr0.fcm1() } else { mmcr0.fcm0() })
            || (if msr.ta() { mmcr0.fcta() } else { mmcr0.fcti() })
            || (mmcr0.fcwait() && waits)
            || match msr.ts() {
                TS_NONE => mmcr0.fcnts(),
                TS_SUSPENDED => mmcr0.fcss(),
                TS_TRANSACTIONAL => mmcr0.fctm(),
                _ => false,
            }
    }

    /// The nine freezes of MMCR2 for one counter.
    fn by_counter(&self, own: CounterFreezes, waits: bool) -> bool {
        self.by_privilege(own.fcs(), own.fcp(), own.fcpc(), own.fch())
            || (if self.msr.pmm() { own.fcm1() } else { own.fcm0() })
            || (if self.msr.ta() { own.fcta() } else { own.fcti() })
            || (own.fcwait() && waits)
    }

    /// Whether the branch history is frozen, which MMCR0 freezes by privilege alone.
    pub(super) fn history(&self) -> bool {
        let mmcr0 = self.mmcr0;
        self.by_privilege(mmcr0.fcs(), mmcr0.fcp(), mmcr0.fcpc(), mmcr0.fch())
    }

    /// Table A-1.
    fn by_privilege(&self, supervisor: bool, problem: bool, problem_condition: bool, hypervisor: bool) -> bool {
        match (self.msr.hv(), self.msr.pr()) {
            (false, false) => supervisor,
            (true, false) => hypervisor,
            // FCPC = 0: FCP freezes either problem state. FCPC = 1: FCP = 0 freezes the true one, FCP = 1 the adjunct.
            (adjunct, true) => {
                if problem_condition {
                    problem == adjunct
                } else {
                    problem
                }
            }
        }
    }
}
