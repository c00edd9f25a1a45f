//! Requests that ask every cache for a line: flushes, and reads and writes of devices.

use vm_pmu_arch::feed::Signal;

use crate::bus;
use crate::caches::line::LineState;
use crate::caches::{Departures, Request};
use crate::fabric::System;
use crate::fabric::hypertransport::Transaction;
use crate::fabric::memory::PackageMemory;
use crate::fabric::package_answers::Answers;
use crate::fabric::responses::{ProbeResult, of_probe};
use crate::fabric::scope::Reach;
use crate::tally::Tally;

impl System {
    /// Records that the answer to a snoop of cluster `from` held up the bus for `clocks` bus clocks.
    pub(crate) fn stall(&self, from: usize, clocks: u64) {
        if let Some(cluster) = self.clusters.get(from) {
            let mail = &mut cluster.lock().mail;
            mail.stalled = mail.stalled.saturating_add(clocks);
        }
    }

    /// Flushes line `outer` from every cache, for cluster `from`. Returns whether it was written to memory.
    pub(crate) fn flush(&self, from: usize, outer: u64, tally: &mut Tally) -> bool {
        let mut shared = self.shared.lock();
        let mut out = Departures::default();
        let (package, target) = (from / self.clusters_per_package, self.home(outer));
        bus::transact(Signal::BusInvalidations, outer, tally);
        let take = |_: &mut PackageMemory, tally: &mut Tally| self.take_everywhere(Some(from), package, outer, false, tally);
        let found = self.at_home(&mut shared, from, outer, tally, take).unwrap_or_default();
        if found.dirty_elsewhere {
            tally.add(Signal::BusInvalidationsHitModified, 1);
        }
        self.begins(&mut shared, package, outer, found.farthest.max(self.reach(package, target)));
        if self.counts_links(None) {
            self.transact(&mut shared, &Transaction { source: package, target, written: 0, read: 0, owner: found.dirty }, tally);
        }
        if found.dirty.is_some() {
            out.push(outer);
        }
        let written = !out.is_empty();
        self.depart(&mut shared, from, &mut out, tally);
        written
    }

    /// Reads line `outer` for a device of `package`: every cluster answers. The device keeps the line unless it reads all of it.
    pub(super) fn read_everywhere(&self, package: usize, outer: u64, whole: bool, tally: &mut Tally) -> ProbeResult {
        let mut all = ProbeResult::default();
        let mut answers = Answers::NONE;
        for (number, cluster) in self.clusters.iter().enumerate() {
            let found = cluster.lock().probe(outer, false);
            all.take(self.package(number), self.reach(package, self.package(number)), found != LineState::Invalid, found.dirty());
            let (probe, answer) = of_probe(found, Request::Read);
            tally.add(probe, 1);
            answer.filter(|_| !whole).into_iter().for_each(|signal| tally.add(signal, 1));
            answers.take(self, self.package(number), found);
        }
        answers.end(self);
        all
    }

    /// Takes line `outer` from every cache, probing those of other clusters. A line that is written `whole` needs no data, so a dirty line
    /// counts as a clean one. The requester belongs to `package`, and is cluster `from` if it is a cluster.
    pub(super) fn take_everywhere(&self, from: Option<usize>, package: usize, outer: u64, whole: bool, tally: &mut Tally) -> ProbeResult {
        let mut all = ProbeResult::default();
        let mut answers = Answers::NONE;
        for (number, cluster) in self.clusters.iter().enumerate() {
            if Some(number) == from {
                all.take(package, Reach::Chip, true, cluster.lock().flush(outer));
                continue;
            }
            let found = cluster.lock().probe_of(from, outer, true, false);
            all.take(self.package(number), self.reach(package, self.package(number)), found != LineState::Invalid, found.dirty());
            all.dirty_elsewhere |= found.dirty();
            answers.take(self, self.package(number), found);
            let signal = match found {
                LineState::Invalid => Signal::ProbeMisses,
                found if found.dirty() && !whole => Signal::ProbeHitsDirty,
                _ => Signal::ProbeHitsClean,
            };
            tally.add(signal, 1);
        }
        answers.end(self);
        all
    }
}
