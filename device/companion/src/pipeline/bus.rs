//! Information for a pipeline about the bus, on parts whose bus is modelled in time.

use super::Pipeline;
use super::part::Part;
use crate::bus_traffic::{BusTraffic, Lines};
use crate::caches::answered_snoops::Snooped;
use crate::tally::Tally;

impl Pipeline {
    /// Adds bus traffic `carried` for `lines`. It belongs to the code of the instruction if `fetched`, otherwise to its current access, or
    /// to the instruction itself if it has made none.
    pub(crate) fn carried(&mut self, carried: BusTraffic, lines: Lines, fetched: bool) {
        let carried = each!(&mut self.of_part, part => part.carries(carried, lines));
        let found = &mut self.found;
        let place = match found.touches.get_mut(found.count.wrapping_sub(1)) {
            _ if fetched => &mut found.fetched,
            Some(touch) => &mut touch.carried,
            None => &mut found.carried,
        };
        place.join(carried);
    }

    /// Takes the snoops that the caches of the core have answered. `late` is called with each cluster whose transaction waited for the
    /// answer, and for how many clocks of the bus.
    pub(crate) fn met(&mut self, snooped: &Snooped, mut late: impl FnMut(usize, u64)) {
        for snoop in snooped.all() {
            let stalled = each!(&mut self.of_part, part => Part::met(&mut **part, snoop));
            snoop.from().filter(|_| stalled != 0).into_iter().for_each(|from| late(from, stalled));
        }
    }

    /// Counts the occupancy of the bus queues in the cycles that have been reported.
    #[inline]
    pub(crate) fn settle_bus(&mut self, tally: &mut Tally) {
        each!(&mut self.of_part, part => part.settle_bus(tally));
    }
}
