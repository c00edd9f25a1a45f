//! What a Knights Landing thread's PMU remembers, and the PMU that remembers it.

use super::{COUNTERS, DebugCtl, FixedCtrCtrl, GENERAL, GlobalCtrl, GlobalOvfCtrl, Knl, MiscEnable, OffcoreResp, PerfEvtSel, Revision};
use crate::counter::Detector;
use crate::feed::{Context, Feed};
use crate::model::{Model, Shared};

/// What the PMU of a Knights Landing thread remembers, in the terms of its registers: enough to build the same PMU elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The revision of the part.
    pub revision: Revision,
    /// IA32_PERFEVTSEL0-1.
    pub selects: [u64; GENERAL],
    /// IA32_PMC0-1 and IA32_FIXED_CTR0-2.
    pub counters: [u64; COUNTERS],
    /// What each counter knows of single cycles.
    pub detectors: [Detector; COUNTERS],
    /// IA32_FIXED_CTR_CTRL.
    pub fixed_ctr_ctrl: u64,
    /// IA32_PERF_GLOBAL_CTRL.
    pub global_ctrl: u64,
    /// IA32_PERF_GLOBAL_STATUS.
    pub global_status: u64,
    /// IA32_DEBUGCTL.
    pub debug_ctl: u64,
    /// IA32_MISC_ENABLE, without its read-only bits.
    pub misc_enable: u64,
    /// MSR_OFFCORE_RESP0-1.
    pub offcore: [u64; GENERAL],
    /// The thread's context.
    pub context: Context,
    /// What the thread knows of its tile.
    pub shared: Shared,
}

impl Knl {
    /// What the PMU remembers, with everything counted up to now. Alerts that this raises are reported here, not by the restored PMU: the
    /// embedder takes them before it saves the interrupt controller.
    pub fn state(&mut self, feed: &impl Feed) -> State {
        self.service(feed);
        State {
            revision: self.revision,
            selects: self.selects.map(PerfEvtSel::bits),
            counters: self.units.map(|unit| unit.counter.value()),
            detectors: self.units.map(|unit| unit.tap.detector()),
            fixed_ctr_ctrl: self.fixed_ctr_ctrl.bits(),
            global_ctrl: self.global_ctrl.bits(),
            global_status: self.global_status,
            debug_ctl: self.debug_ctl.bits(),
            misc_enable: self.misc_enable.bits(),
            offcore: self.offcore,
            context: self.context,
            shared: self.shared,
        }
    }

    /// The PMU that remembers `state`, attached to `feed`: it counts from now on. Bits that no register keeps are
    /// dropped.
    #[must_use]
    pub fn from_state(state: &State, feed: &impl Feed) -> Knl {
        let mut pmu = Knl::new(state.revision);
        pmu.shared = state.shared;
        pmu.selects = state.selects.map(PerfEvtSel::written);
        pmu.fixed_ctr_ctrl = FixedCtrCtrl::written(state.fixed_ctr_ctrl);
        pmu.global_ctrl = GlobalCtrl::written(state.global_ctrl);
        pmu.global_status = state.global_status & GlobalOvfCtrl::WRITABLE;
        pmu.debug_ctl = DebugCtl::written(state.debug_ctl);
        pmu.misc_enable = MiscEnable::written(state.misc_enable);
        pmu.offcore = state.offcore.map(|bits| OffcoreResp::written(bits).bits());
        for (number, value) in state.counters.iter().enumerate() {
            pmu.set_counter(number, *value);
        }
        pmu.connect_all(feed);
        pmu.context = state.context;
        pmu.show();
        pmu.changed(feed);
        for (unit, detector) in pmu.units.iter_mut().zip(&state.detectors) {
            unit.tap.set_detector(*detector);
        }
        pmu.arm(feed);
        pmu.update_demand(feed);
        pmu
    }
}
