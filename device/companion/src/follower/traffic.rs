//! The transfer of an instruction's bus traffic and cast-out lines to the pipeline, which knows their time.

use vm_pmu_arch::feed::Signal;

use crate::bus_traffic::{BusTraffic, Lines};
use crate::caches::answered_snoops::Snooped;
use crate::follower::Follower;

impl Follower<'_> {
    /// Passes on what the bus carried once the instruction has been fetched, has made an access, or has written something out.
    #[inline]
    pub(super) fn carry(&mut self, fetched: bool) {
        if !self.tally.carried.is_none() {
            self.carry_some(fetched);
        }
    }

    #[cold]
    fn carry_some(&mut self, fetched: bool) {
        let carried = core::mem::replace(&mut self.tally.carried, BusTraffic::NONE);
        let lines = core::mem::replace(&mut self.tally.lines, Lines::NONE);
        if let Some(pipeline) = self.pipeline() {
            pipeline.carried(carried, lines, fetched);
        }
    }

    /// Tells the core about snoops that its caches have answered.
    #[cold]
    pub(super) fn meet(&mut self, snooped: &Snooped) {
        let system = self.system;
        if let Some(pipeline) = self.pipeline() {
            pipeline.met(snooped, |from, clocks| system.stall(from, clocks));
        }
    }

    /// Returns how many lines have left the second level, how many of those were modified, and how many lines have left the third level,
    /// since these were last reported.
    #[inline]
    pub(super) fn castouts(&self) -> [u64; 3] {
        let modified = self.tally.get(Signal::L2CastoutsModified);
        [modified.wrapping_add(self.tally.get(Signal::L2CastoutsClean)), modified, self.tally.get(Signal::L3Castouts)]
    }

    /// Tells the pipeline how many lines have left since the counts were `before`.
    #[inline]
    pub(super) fn cast_out(&mut self, before: [u64; 3]) {
        let now = self.castouts();
        if now != before
            && let Some(pipeline) = self.pipeline()
        {
            let [second, modified, third] = core::array::from_fn(|level| {
                let of = |counts: [u64; 3]| counts.get(level).copied().unwrap_or(0);
                of(now).wrapping_sub(of(before)) as u32
            });
            pipeline.cast_out(second, modified, third);
        }
    }
}
