//! Use of the bus by the pipeline (FB1 of the note on the fabric).

use vm_pmu_arch::feed::Signal;

use super::MontecitoPipeline;
use crate::caches::answered_snoops::Snoop;
use crate::pipeline::Findings;
use crate::pipeline::ia64::bus::Bus;
use crate::pipeline::ia64::snoops::SnoopTimes;
use crate::tally::Tally;

impl MontecitoPipeline {
    /// Carries the bus traffic for the code of an instruction, which is looked up now. Returns how much later the code arrives.
    pub(super) fn carry_code(&mut self, found: &Findings) -> u64 {
        if found.fetched.is_none() {
            return 0;
        }
        let begin = self.front.looks_up() + u64::from(found.translation);
        self.memory.bus.carry(found.fetched, begin, u64::from(found.line.max(found.translation)) + 1, self.clock)
    }

    pub(in crate::pipeline) fn bus_mut(&mut self) -> &mut Bus {
        &mut self.memory.bus
    }

    /// Handles a snoop that the caches have answered. Returns its times.
    pub(in crate::pipeline) fn met(&mut self, snoop: Snoop) -> SnoopTimes {
        let times = self.memory.bus.snoop(snoop, self.clock);
        if self.second.observed {
            self.second.snoop(snoop.line(), times.arrived);
        }
        times
    }

    /// Applies a changed demand.
    pub(in crate::pipeline) fn sync_bus(&mut self, wants: impl Fn(Signal) -> bool) {
        self.memory.bus.sync(self.reported() + 1, wants);
    }

    /// Counts the bus traffic in the clocks that have been reported.
    #[inline]
    pub(in crate::pipeline) fn settle_bus(&mut self, tally: &mut Tally) {
        let now = self.reported() + 1;
        self.memory.bus.settle(now, tally);
    }
}
