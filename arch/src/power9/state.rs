//! What a POWER9 PMU remembers, and the PMU that remembers it.

use super::registers::{Bescr, COUNTERS, Ldbar, Mmcr0, Mmcr1, Mmcr2, Mmcra, Mmcrc, Sier};
use super::sampled::Present;
use super::selection::Selected;
use super::{History, Power9, Revision, Sampler, ThresholdCounter};
use crate::counter::Detector;
use crate::feed::{Context, Feed, Scope, Signal};
use crate::model::{Model, Shared};

/// What a POWER9 PMU remembers, in the terms of its registers: enough to build the same PMU elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The revision of the part.
    pub revision: Revision,
    /// PMC1-6.
    pub counters: [u32; COUNTERS],
    /// MMCR0.
    pub mmcr0: u64,
    /// MMCR1.
    pub mmcr1: u64,
    /// MMCR2.
    pub mmcr2: u64,
    /// MMCRA, without the threshold counter.
    pub mmcra: u64,
    /// SIER.
    pub sier: u64,
    /// SIAR.
    pub siar: u64,
    /// SDAR.
    pub sdar: u64,
    /// BESCR.
    pub bescr: u64,
    /// The instruction match array.
    pub imc: u64,
    /// LDBAR.
    pub ldbar: u64,
    /// MMCRC, and what is known of the core's other threads.
    pub shared: Shared,
    /// The thread's context, with the value of the time base as its `time_base`: the totals of another machine begin elsewhere.
    pub context: Context,
    /// What each of PMC1-4 knows of single cycles.
    pub detectors: [Detector; 4],
    /// The counters that are stopped until the present cycle is over, one bit each.
    pub suspended: u8,
    /// The enabled conditions that released the trigger and have held since, one bit per counter.
    pub excused: u8,
    /// The machine of random sampling.
    pub sampler: Sampler,
    /// The threshold counter.
    pub threshold: ThresholdCounter,
    /// The branch history.
    pub history: History,
    /// The data address that continuous sampling saw last.
    pub last_data: Option<u64>,
    /// The address of the last instruction whose record came, while it may still alert.
    pub present: Option<u64>,
    /// SIER's TYPE of that instruction. States of versions without it have 0.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_reserved"))]
    pub present_type: u8,
    /// The address of its data, where SDAR has that of the instruction at an alert. States of versions without it have none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub present_data: Option<u64>,
}

/// Whether nothing has to be saved of a TYPE.
#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_reserved(kind: &u8) -> bool {
    *kind == 0
}

impl Power9 {
    /// What the PMU remembers, with everything counted up to now. Alerts that this raises are reported here, not by the restored PMU: the
    /// embedder takes them before it saves the interrupt controller.
    pub fn state(&mut self, feed: &impl Feed) -> State {
        self.service(feed);
        let mut detectors = [Detector::default(); 4];
        for (detector, unit) in detectors.iter_mut().zip(&self.units) {
            *detector = unit.tap.detector();
        }
        State {
            revision: self.revision,
            counters: self.units.map(|unit| unit.value),
            mmcr0: self.mmcr0.bits(),
            mmcr1: self.mmcr1.bits(),
            mmcr2: self.mmcr2.bits(),
            mmcra: self.mmcra.bits(),
            sier: self.sier.bits(),
            siar: self.siar,
            sdar: self.sdar,
            bescr: self.bescr.bits(),
            imc: self.imc,
            ldbar: self.ldbar.bits(),
            shared: self.shared,
            context: Context { time_base: self.context.time_base.wrapping_add(self.ticks_seen), ..self.context },
            detectors,
            suspended: self.suspended,
            excused: self.excused,
            sampler: self.sampler,
            threshold: self.threshold,
            history: self.history,
            last_data: self.last_data,
            present: self.present.map(|present| present.address),
            present_type: self.present.map_or(0, |present| present.kind),
            present_data: self.present.and_then(|present| present.data),
        }
    }

    /// The PMU that remembers `state`, attached to `feed`: it counts from now on. Bits that no register keeps are
    /// dropped. Lines that are raised are reported anew, with the first alerts.
    #[must_use]
    pub fn from_state(state: &State, feed: &impl Feed) -> Power9 {
        let mut pmu = Power9::new(state.revision);
        pmu.mmcr0 = Mmcr0::written(state.mmcr0);
        pmu.mmcr1 = Mmcr1::written(state.mmcr1);
        pmu.mmcr2 = Mmcr2::written(state.mmcr2);
        pmu.mmcra = Mmcra::written(state.mmcra);
        pmu.sier = Sier::written(state.sier);
        (pmu.siar, pmu.sdar, pmu.imc) = (state.siar, state.sdar, state.imc);
        pmu.ldbar = Ldbar::written(state.ldbar);
        pmu.bescr = Bescr::of(state.bescr);
        pmu.shared =
            Shared { register: Mmcrc::written(state.shared.register).bits(), threads: state.shared.threads.max(1), ..state.shared };
        let ticks = feed.total(Signal::TimeBaseTicks, Scope::Thread);
        pmu.context = Context { time_base: state.context.time_base.wrapping_sub(ticks), ..state.context };
        pmu.shared.running = pmu.running();
        (pmu.sampler, pmu.threshold, pmu.history) = (state.sampler, state.threshold, state.history);
        (pmu.last_data, pmu.excused) = (state.last_data, state.excused);
        pmu.present = state.present.map(|address| Present { address, kind: state.present_type & 0b111, data: state.present_data });
        pmu.suspended = state.suspended & super::PROGRAMMABLE;
        pmu.suspended_at = feed.total(Signal::Cycles, Scope::Thread);
        pmu.ticks_seen = ticks;
        let (freezes, shared) = (pmu.freezes(), pmu.shared);
        for (index, (unit, value)) in pmu.units.iter_mut().zip(state.counters).enumerate() {
            unit.value = value;
            if let Some(detector) = state.detectors.get(index) {
                unit.selected = Selected::new(pmu.mmcr1, index);
                unit.lanes = unit.selected.lanes(freezes.msr, freezes.control, shared);
                unit.selected.connect(pmu.mmcr1, unit.lanes, &mut unit.tap);
                unit.tap.skip(feed);
                unit.tap.set_detector(*detector);
            } else {
                unit.tap.skip(feed);
            }
        }
        pmu.counting = pmu.admitted();
        pmu.following = pmu.following_edges(&freezes);
        pmu.connect_sampling(feed);
        pmu.update_ways();
        pmu.update_demand(feed);
        pmu.rearm(feed);
        pmu
    }
}
