//! What takes lines from every cache: flushes, and accesses by devices.

use vm_pmu_arch::feed::Signal;

use super::answers::Answers;
use super::bus::{self, Transfer};
use super::cluster::{Departures, Request};
use super::line::LineState;
use super::memory::{Memory, Traffic};
use super::profile::Protocol;
use super::reach::Reach;
use super::responses::{Found, of_probe};
use super::system::System;
use super::tally::Tally;

impl System {
    /// Cluster `from` flushes line `outer` from every cache. Returns whether it was written to memory.
    pub(super) fn flush(&self, from: usize, outer: u64, tally: &mut Tally) -> bool {
        let mut shared = self.shared.lock();
        let mut out = Departures::default();
        let package = from / self.clusters_per_package;
        bus::transact(Signal::BusInvalidations, tally);
        let take = |_: &mut Memory, tally: &mut Tally| self.take_everywhere(Some(from), package, outer, false, tally);
        let found = self.at_home(&mut shared, from, outer, tally, take).unwrap_or_default();
        if found.dirty_elsewhere {
            tally.add(Signal::BusInvalidationsHitModified, 1);
        }
        self.begins(&mut shared, package, outer, found.farthest.max(self.reach(package, self.home(outer))));
        if found.dirty.is_some() {
            out.push(outer);
        }
        let written = !out.is_empty();
        self.depart(&mut shared, from, &mut out, tally);
        written
    }

    /// A device reads or writes in line `outer`, or writes all of it.
    pub(super) fn device(&self, outer: u64, writes: bool, whole: bool, tally: &mut Tally) {
        let mut shared = self.shared.lock();
        let home = self.home(outer);
        // No cluster is the requester: all are probed. The device belongs to the package that has the memory.
        let transfer = Transfer::of(writes, whole);
        transfer.count(tally);
        let found = if writes {
            self.take_everywhere(None, home, outer, whole, tally)
        } else {
            self.read_everywhere(home, outer, transfer == Transfer::Current, tally)
        };
        if let Some(signal) = transfer.modified().filter(|_| writes && found.dirty_elsewhere) {
            tally.add(signal, 1);
        }
        self.begins(&mut shared, home, outer, found.farthest);
        if writes && !whole {
            self.asks(&mut shared, outer, |asked| asked.partly_written = asked.partly_written.wrapping_add(1));
        }
        // A read gets the line from its holder; a line that is written back moves to memory as well.
        self.carries(&mut shared, found.dirty.filter(|_| !writes).unwrap_or(home), home, outer);
        let written_back = if writes { !whole } else { self.profile.caches.protocol != Protocol::Moesi };
        if let Some(holder) = found.dirty.filter(|_| written_back) {
            self.carries(&mut shared, holder, home, outer);
        }
        let Some(memory) = shared.memories.get_mut(home) else { return };
        match (writes, found.dirty.is_some()) {
            (true, true) if !whole => {
                self.moves(memory, outer, Traffic::WriteBack, tally);
                self.moves(memory, outer, Traffic::Stream, tally);
            }
            (true, _) => {
                self.moves(memory, outer, Traffic::Stream, tally);
            }
            // The holder supplies the line instead of memory. Without an owned state, memory gets the line.
            (false, true) if self.profile.caches.protocol != Protocol::Moesi => {
                self.moves(memory, outer, Traffic::WriteBack, tally);
            }
            (false, true) => {}
            (false, false) => {
                self.moves(memory, outer, Traffic::Read, tally);
            }
        }
    }

    /// A device has an atomic operation done at the memory that has line `outer`, which reads the line, changes it and writes it.
    pub(super) fn device_atomic(&self, outer: u64, tally: &mut Tally) {
        let mut shared = self.shared.lock();
        let home = self.home(outer);
        Transfer::Change.count(tally);
        let found = self.take_everywhere(None, home, outer, false, tally);
        if found.dirty_elsewhere {
            tally.add(Signal::BusOwnershipReadsHitModified, 1);
        }
        self.begins(&mut shared, home, outer, found.farthest);
        self.asks(&mut shared, outer, |asked| asked.atomics = asked.atomics.wrapping_add(1));
        if let Some(holder) = found.dirty {
            self.carries(&mut shared, holder, home, outer);
        }
        let Some(memory) = shared.memories.get_mut(home) else { return };
        if found.dirty.is_some() {
            self.moves(memory, outer, Traffic::WriteBack, tally);
        }
        self.moves(memory, outer, Traffic::Read, tally);
        self.moves(memory, outer, Traffic::Stream, tally);
    }

    /// Every cluster answers a read of line `outer` by a device of `package`, which keeps the line unless it reads all of it.
    fn read_everywhere(&self, package: usize, outer: u64, whole: bool, tally: &mut Tally) -> Found {
        let mut all = Found::default();
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

    /// Takes line `outer` from every cache, probing those of other clusters. A line that is written `whole` needs no data: a dirty line
    /// counts as a clean one. The requester belongs to `package`, and is cluster `from` if it is a cluster.
    pub(super) fn take_everywhere(&self, from: Option<usize>, package: usize, outer: u64, whole: bool, tally: &mut Tally) -> Found {
        let mut all = Found::default();
        let mut answers = Answers::NONE;
        for (number, cluster) in self.clusters.iter().enumerate() {
            if Some(number) == from {
                all.take(package, Reach::Chip, true, cluster.lock().flush(outer));
                continue;
            }
            let found = cluster.lock().probe(outer, true);
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
