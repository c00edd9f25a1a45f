//! Cache injection: lines that devices put into a third level of victims instead of memory.

use crate::caches::line::{Line, LineState};
use crate::caches::{Cluster, Departures};
use crate::fabric::{FabricState, System};
use crate::profile::Fill;
use crate::tally::Tally;

impl Cluster {
    /// Accepts line `outer`, all of which a device writes, if the cluster has a copy, which it loses. Returns whether the copy was
    /// modified. Such a snoop does not count as one that finds a line.
    fn accept(&mut self, outer: u64) -> Option<bool> {
        let held = [Some(&self.second), self.third.as_ref()].into_iter().flatten().any(|sets| sets.peek(outer, outer).is_some());
        if !held {
            return None;
        }
        let before = self.mail;
        let state = self.probe(outer, true);
        self.mail.forget_findings(&before);
        self.mail.injected += 1;
        Some(state.dirty())
    }

    /// Puts the line into the third level, as modified. The line that is evicted for it leaves.
    fn place_injected(&mut self, outer: u64, out: &mut Departures) {
        let Some(third) = self.third.as_mut() else { return };
        let displaced = Line(third.put(outer, Line::new(outer, LineState::Modified).0));
        if displaced.0 == 0 {
            return;
        }
        if self.casts_out_laterally {
            out.push_lateral(displaced);
        } else if displaced.state().dirty() {
            out.push(displaced.number());
        }
    }
}

impl System {
    /// Returns the cluster that accepts line `outer` from a device that offers it to the caches, the first with a copy, and whether its
    /// copy was modified.
    pub(super) fn accept_injection(&self, outer: u64) -> Option<(usize, bool)> {
        let victims = self.profile.caches.third.is_some_and(|(_, fill)| fill == Fill::Victims);
        let mut clusters = self.clusters.iter().enumerate().filter(|_| victims);
        clusters.find_map(|(number, cluster)| cluster.lock().accept(outer).map(|modified| (number, modified)))
    }

    /// Puts the line that cluster `taker` has accepted into its third level.
    pub(super) fn inject(&self, shared: &mut FabricState, taker: usize, outer: u64, tally: &mut Tally) {
        let mut out = Departures::default();
        if let Some(cluster) = self.clusters.get(taker) {
            cluster.lock().place_injected(outer, &mut out);
        }
        if !out.is_empty() {
            self.depart(shared, taker, &mut out, tally);
        }
    }
}
