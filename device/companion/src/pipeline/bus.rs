//! Information for a pipeline about the bus, on parts whose bus is modelled in time.

use super::super::bus::{Carried, Lines};
use super::super::snooped::Snooped;
use super::super::tally::Tally;
use super::ia64::bus::Bus;
use super::{Core, Pipeline};

impl Core {
    /// Returns the bus, if the part models it in time.
    fn bus_mut(&mut self) -> Option<&mut Bus> {
        match self {
            Core::Montecito(core) => Some(core.bus_mut()),
            Core::Itanium(core) => Some(core.bus_mut()),
            Core::K8(_) | Core::Knl(_) | Core::Power9(_) => None,
        }
    }
}

impl Pipeline {
    /// Adds bus traffic `carried` for `lines`. It belongs to the code of the instruction if `fetched`, otherwise to its current access, or
    /// to the instruction itself if it has made none.
    pub(in super::super) fn carried(&mut self, carried: Carried, lines: Lines, fetched: bool) {
        let carried = self.core.bus_mut().map_or(carried, |bus| carried.at(bus.know(lines)));
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
    pub(in super::super) fn met(&mut self, snooped: &Snooped, mut late: impl FnMut(usize, u64)) {
        for snoop in snooped.all() {
            let times = match &mut self.core {
                Core::Montecito(core) => core.met(snoop),
                Core::Itanium(core) => core.met(snoop),
                Core::K8(_) | Core::Knl(_) | Core::Power9(_) => return,
            };
            snoop.from().filter(|_| times.stalled != 0).into_iter().for_each(|from| late(from, times.stalled));
        }
    }

    /// Counts the occupancy of the bus queues in the cycles that have been reported.
    #[inline]
    pub(in super::super) fn settle_bus(&mut self, tally: &mut Tally) {
        match &mut self.core {
            Core::Montecito(core) => core.settle_bus(tally),
            Core::Itanium(core) => core.settle_bus(tally),
            Core::K8(_) | Core::Knl(_) | Core::Power9(_) => {}
        }
    }
}
