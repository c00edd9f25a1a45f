//! What connects clusters: probes, and the path to memory.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use spin::Mutex;
use vm_pmu_arch::feed::{DataSource, Signal, Supplier};

use super::bytes::{Damaged, Reader, Writer};
use super::cluster::{Ask, Cluster, Departures, Request};
use super::cores::Core;
use super::interconnect::{Asked, Interconnect};
use super::layout::Layout;
use super::line::LineState;
use super::memory::{self, Memory, Moved, Near, Traffic};
use super::pipeline;
use super::places::{self, Place};
use super::profile::{Profile, Protocol};
use super::reach::{Reach, Scopes, Went, is_odd};
use super::responses::{Found, count_probe, count_request, count_response};
use super::signals;
use super::tally::Tally;

/// The response of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) state: LineState,
    pub(super) source: DataSource,
    pub(super) latency: u32,
    /// What the memory-side cache did.
    pub(super) near: Near,
    /// The cluster that passed it on.
    holder: usize,
    /// How far the request went, where that is predicted.
    pub(super) went: Option<Went>,
}

/// The clusters, each behind its own lock, and what they share, behind one more.
///
/// A holder of the shared part's lock may take clusters' locks, one at a time. A holder of a cluster's lock or of a core's takes no other. So
/// there is no deadlock.
#[derive(Debug)]
pub(super) struct System {
    pub(super) profile: Profile,
    pub(super) clusters: Box<[Mutex<Cluster>]>,
    /// The cores of every cluster, one cluster after the other. Empty if no threads compete.
    pub(super) cores: Box<[Core]>,
    pub(super) shared: Mutex<Shared>,
    /// Packages with something in [`Shared::abroad`].
    waiting: Box<[AtomicBool]>,
    /// Whether places and interconnects are watched; whether any place has counted; and whether any interconnect has.
    watched: AtomicBool,
    busy: AtomicBool,
    joined: AtomicBool,
    /// Lines of a package's memory-side cache.
    near_lines: u64,
    /// Those that are lent are the last of each package.
    pub(super) clusters_per_package: usize,
    pub(super) layout: Layout,
}

#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) memories: Box<[Memory]>,
    /// What each package's memory did for others, until one of its threads reports it. Empty if there is only one package.
    abroad: Box<[Tally]>,
    /// What each cluster predicts of the scopes of its requests. Empty if they have none.
    pub(super) scopes: Box<[Scopes]>,
}

impl System {
    pub(super) fn new(profile: &Profile, layout: Layout, seed: u64) -> System {
        let (packages, clusters) = (layout.packages, layout.clusters + layout.lent);
        let number = packages * clusters;
        let cluster = |number: usize| {
            let lends = number % clusters.max(1) >= layout.clusters;
            let casts_out_laterally = layout.lent != 0 && !lends;
            Mutex::new(Cluster { casts_out_laterally, ..Cluster::new(profile, seed.wrapping_add(number as u64)) })
        };
        let compete = profile.threads > 1 && pipeline::competes(profile.pipeline);
        let cores = if compete { number * usize::from(profile.cores.max(1)) } else { 0 };
        let memories = (0..packages).map(|_| Memory::new(&profile.memory, profile.caches.outer_line_bits));
        System {
            profile: *profile,
            clusters: (0..number).map(cluster).collect::<Vec<_>>().into_boxed_slice(),
            cores: (0..cores).map(|_| Core::new(profile.pipeline)).collect::<Vec<_>>().into_boxed_slice(),
            shared: Mutex::new(Shared {
                memories: memories.collect::<Vec<_>>().into_boxed_slice(),
                abroad: (0..if packages > 1 { packages } else { 0 }).map(|_| Tally::new()).collect::<Vec<_>>().into_boxed_slice(),
                scopes: (0..if profile.mesh.scopes { number } else { 0 }).map(|_| Scopes::default()).collect::<Vec<_>>().into_boxed_slice(),
            }),
            waiting: (0..packages).map(|_| AtomicBool::new(false)).collect::<Vec<_>>().into_boxed_slice(),
            watched: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            joined: AtomicBool::new(false),
            near_lines: memory::near_lines(&profile.memory, profile.caches.outer_line_bits),
            clusters_per_package: clusters.max(1),
            layout,
        }
    }

    /// The package whose memory holds line `outer`.
    fn home(&self, outer: u64) -> usize {
        let packages = self.clusters.len() / self.clusters_per_package;
        let address = outer << self.profile.caches.outer_line_bits.min(63);
        address.checked_div(self.layout.memory_per_package).map_or(0, |package| (package as usize).min(packages.saturating_sub(1)))
    }

    /// The number by which line `outer` is spread: lines that share a place of the memory-side cache share it too.
    fn spread(&self, outer: u64) -> u64 {
        if self.near_lines == 0 { outer } else { outer & (self.near_lines - 1) }
    }

    /// The agent that line `outer` belongs to.
    pub(super) fn agent(&self, outer: u64) -> u16 {
        places::share(self.spread(outer), u64::from(self.profile.mesh.agents)) as u16
    }

    /// Whether cluster `cluster` is in another quadrant than line `outer`.
    fn is_far(&self, cluster: usize, outer: u64) -> bool {
        self.quadrant(cluster) != places::share(self.spread(outer), u64::from(self.profile.mesh.quadrants))
    }

    /// The quadrant of a cluster: clusters fill one quadrant after the other.
    fn quadrant(&self, cluster: usize) -> u64 {
        cluster as u64 * u64::from(self.profile.mesh.quadrants) / (self.clusters.len() as u64).max(1)
    }

    /// The supplier of line `outer` to cluster `from`, which did not have it, whether it was modified there, and the cluster if it was one.
    pub(super) fn supplier(&self, from: usize, outer: u64, response: &Response) -> (Supplier, bool, Option<u16>) {
        let meshed = self.profile.mesh.quadrants > 1;
        let source = response.source;
        let abroad = source.is_of_another_package();
        if source.is_of_another_core() || source.is_of_another_packages_cache() {
            let far = if meshed { self.quadrant(from) != self.quadrant(response.holder) } else { abroad };
            return (Supplier::OtherCluster { far }, source.was_modified(), u16::try_from(response.holder).ok());
        }
        if matches!(source, DataSource::LocalMemory | DataSource::LocalL4) || source.is_of_another_packages_memory() {
            let far = if meshed { self.is_far(from, outer) } else { abroad };
            return (if response.near.hit { Supplier::NearMemory { far } } else { Supplier::Memory { far } }, false, None);
        }
        (Supplier::Unknown, false, None)
    }

    /// Whether places and interconnects are watched.
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Relaxed)
    }

    /// Whether places have something to report.
    #[inline]
    pub(super) fn has_places(&self) -> bool {
        self.busy.load(Relaxed)
    }

    /// Whether interconnects have something to report.
    #[inline]
    pub(super) fn has_interconnects(&self) -> bool {
        self.joined.load(Relaxed)
    }

    pub(super) fn watch(&self, on: bool) {
        let mut shared = self.shared.lock();
        if self.watched.swap(on, Relaxed) != on {
            shared.memories.iter_mut().for_each(|memory| memory.places.forget());
            self.busy.store(false, Relaxed);
            self.joined.store(false, Relaxed);
        }
    }

    pub(super) fn take_places(&self, mut report: impl FnMut(Place, Signal, u64)) {
        if !self.has_places() {
            return;
        }
        let mut shared = self.shared.lock();
        self.busy.store(false, Relaxed);
        shared.memories.iter_mut().enumerate().for_each(|(package, memory)| memory.places.take(package, &mut report));
    }

    pub(super) fn take_interconnects(&self, mut report: impl FnMut(usize, &Interconnect)) {
        if !self.has_interconnects() {
            return;
        }
        let mut shared = self.shared.lock();
        self.joined.store(false, Relaxed);
        for (package, memory) in shared.memories.iter_mut().enumerate() {
            let did = core::mem::take(&mut memory.places.interconnect);
            if did.is_busy() {
                report(package, &did);
            }
        }
    }

    /// Does `work` with the interconnects of these packages, if they are watched.
    fn join<const N: usize>(&self, shared: &mut Shared, packages: [usize; N], work: impl Fn(&mut Interconnect)) {
        if self.is_watched() {
            self.joined.store(true, Relaxed);
            for package in packages {
                shared.memories.get_mut(package).into_iter().for_each(|memory| work(&mut memory.places.interconnect));
            }
        }
    }

    /// `package` sends a request for line `outer` as far as `reach`.
    fn begins(&self, shared: &mut Shared, package: usize, outer: u64, reach: Reach) {
        if self.is_watched() {
            self.join(shared, [package], |interconnect| interconnect.request(outer, reach));
            self.broadcast(shared, package, outer, reach);
        }
    }

    /// `package` makes a request of a cluster, which went as `went` says.
    fn begins_predicted(&self, shared: &mut Shared, package: usize, ask: Ask, request: Request, outer: u64, went: Went) {
        if !self.is_watched() {
            return;
        }
        went.sent().for_each(|reach| self.begins(shared, package, outer, reach));
        let home = self.home(outer);
        if self.reach(package, home) <= went.first.max(went.needed) {
            self.asks(shared, outer, |asked| {
                asked.owned = asked.owned.wrapping_add(u64::from(request == Request::ReadModified));
                asked.prefetched = asked.prefetched.wrapping_add(u64::from(matches!(ask, Ask::Hardware | Ask::HardwareStore)));
            });
        }
    }

    /// Does `work` with what the channel that has line `outer` is asked for, if that is watched.
    fn asks(&self, shared: &mut Shared, outer: u64, work: impl FnOnce(&mut Asked)) {
        if !self.is_watched() {
            return;
        }
        self.joined.store(true, Relaxed);
        if let Some(asked) = shared.memories.get_mut(self.home(outer)).and_then(|memory| memory.places.asked(outer)) {
            work(asked);
        }
    }

    /// Line `outer` moves from one package to another, or within one.
    fn carries(&self, shared: &mut Shared, from: usize, to: usize, outer: u64) {
        if from == to {
            self.join(shared, [from], |interconnect| interconnect.line(false));
        } else if self.is_watched() {
            self.join(shared, [from, to], |interconnect| interconnect.line(true));
            self.send_line(shared, from, to, outer);
        }
    }

    /// Moves line `outer`.
    fn moves(&self, memory: &mut Memory, outer: u64, traffic: Traffic, tally: &mut Tally) -> Moved {
        let watched = self.is_watched();
        if watched {
            self.busy.store(true, Relaxed);
        }
        memory.access(outer, traffic, &self.profile.costs, watched, tally)
    }

    /// Whether any follower of `package` is active.
    pub(super) fn is_followed(&self, package: usize) -> bool {
        let clusters = self.clusters.iter().skip(package * self.clusters_per_package).take(self.clusters_per_package);
        clusters.into_iter().any(|cluster| cluster.lock().listeners != 0)
    }

    /// Whether the memory of `package` has done something for others.
    #[inline]
    pub(super) fn has_worked_abroad(&self, package: usize) -> bool {
        self.waiting.get(package).is_some_and(|waiting| waiting.load(Relaxed))
    }

    /// Moves what the memory of `package` has done for others into `tally`, or drops it.
    pub(super) fn report_work_abroad(&self, package: usize, tally: Option<&mut Tally>) {
        let mut shared = self.shared.lock();
        if let (Some(waiting), Some(abroad)) = (self.waiting.get(package), shared.abroad.get_mut(package)) {
            waiting.store(false, Relaxed);
            match tally {
                Some(tally) => tally.take_over(abroad),
                None => *abroad = Tally::new(),
            }
        }
    }

    /// Does `work` with the memory of the package that has line `outer`, and with the tally of that package: `tally`, which is that of
    /// cluster `from`, or the one for work done for others.
    fn at_home<T>(
        &self,
        shared: &mut Shared,
        from: usize,
        outer: u64,
        tally: &mut Tally,
        work: impl FnOnce(&mut Memory, &mut Tally) -> T,
    ) -> Option<T> {
        let home = self.home(outer);
        let memory = shared.memories.get_mut(home)?;
        if home == from / self.clusters_per_package {
            return Some(work(memory, tally));
        }
        match (shared.abroad.get_mut(home), self.waiting.get(home)) {
            (Some(abroad), Some(waiting)) => {
                waiting.store(true, Relaxed);
                Some(work(memory, abroad))
            }
            _ => Some(work(memory, tally)),
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.clusters.iter().for_each(|cluster| cluster.lock().save(writer));
        self.cores.iter().for_each(|core| core.save(writer));
        let shared = self.shared.lock();
        shared.memories.iter().for_each(|memory| memory.save(writer));
        shared.scopes.iter().for_each(|scopes| scopes.save(writer));
        shared.abroad.iter().for_each(|abroad| signals::OF_MEMORY.iter().for_each(|signal| writer.word(abroad.get(*signal))));
    }

    pub(super) fn load(&self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for cluster in &self.clusters {
            cluster.lock().load(reader)?;
        }
        for core in &self.cores {
            core.load(reader)?;
        }
        let mut shared = self.shared.lock();
        let (mut busy, mut joined) = (false, false);
        for memory in &mut shared.memories {
            let pending = memory.load(reader)?;
            (busy, joined) = (busy | pending[0], joined | pending[1]);
        }
        for scopes in &mut shared.scopes {
            scopes.load(reader)?;
        }
        self.busy.store(busy, Relaxed);
        self.joined.store(joined, Relaxed);
        for (abroad, waiting) in shared.abroad.iter_mut().zip(&self.waiting) {
            *abroad = Tally::new();
            let mut some = false;
            for signal in signals::OF_MEMORY {
                let amount = reader.word()?;
                some |= amount != 0;
                abroad.add(*signal, amount);
            }
            waiting.store(some, Relaxed);
        }
        Ok(())
    }

    /// Cluster `from` requests line `outer`.
    pub(super) fn request(&self, shared: &mut Shared, from: usize, ask: Ask, request: Request, outer: u64, tally: &mut Tally) -> Response {
        let costs = &self.profile.costs;
        let package = from / self.clusters_per_package;
        let takes = matches!(request, Request::ReadModified | Request::Upgrade);
        count_request(ask, request, tally);
        let passes_on = self.profile.caches.protocol == Protocol::Mesif;
        let home = self.home(outer);
        let (mut dirty, mut clean, mut forward, mut farthest) = (None, false, None, Reach::Chip);
        for (number, cluster) in self.clusters.iter().enumerate().filter(|(number, _)| *number != from) {
            let (found, third) = {
                let mut cluster = cluster.lock();
                (cluster.probe(outer, takes), cluster.third_alone)
            };
            self.at_home(shared, from, outer, tally, |_, tally| count_probe(found, request, tally));
            if found == LineState::Invalid {
                continue;
            }
            farthest = farthest.max(self.reach(package, self.package(number)));
            if found.dirty() {
                dirty = Some((number, third));
            } else {
                clean = true;
                forward = forward.or((passes_on && found.passed_on()).then_some((number, third)));
            }
        }
        // Where that is not predicted, it goes to all that may have to do with the line.
        let to_all = Went::at_once(farthest.max(self.reach(package, home)));
        let state = match (takes, dirty.is_some() || clean) {
            (true, _) => LineState::Modified,
            (false, true) if passes_on => LineState::Forward,
            (false, true) => LineState::Shared,
            (false, false) => LineState::Exclusive,
        };
        if request == Request::Upgrade {
            // No line is transferred, unless an owner elsewhere had it.
            tally.add(Signal::SystemReadsModified, u64::from(dirty.is_some()));
            if let Some((holder, _)) = dirty {
                self.carries(shared, self.package(holder), package, outer);
            }
            let latency = u32::from(costs.other_cluster);
            let went = self.went(shared, from, ask, outer, farthest, tally);
            self.begins_predicted(shared, package, ask, request, outer, went.unwrap_or(to_all));
            return Response { state, source: DataSource::Cache(1), latency, near: Near::default(), holder: from, went };
        }
        let holder = dirty.or(forward);
        let supplier = holder.map_or(home, |(holder, _)| self.package(holder));
        let reach = self.reach(package, supplier);
        let (source, latency, near) = match holder {
            Some((holder, third)) => {
                let latency = u32::from(costs.other_cluster) + self.farther(reach);
                (self.given(package, holder, third, dirty.is_some()), latency, Near::default())
            }
            None => self.read_memory(shared, from, outer, reach, tally),
        };
        // Who is to write the line has to reach every other copy too.
        let went = self.went(shared, from, ask, outer, if takes { reach.max(farthest) } else { reach }, tally);
        self.begins_predicted(shared, package, ask, request, outer, went.unwrap_or(to_all));
        self.carries(shared, supplier, package, outer);
        if dirty.is_some() && self.profile.caches.protocol != Protocol::Moesi && !takes {
            // Without an owned state, memory gets the modified line.
            self.carries(shared, supplier, home, outer);
            self.write(shared, from, outer, tally);
        }
        // A part that tells third levels apart tells what memory gave too, whoever has it clean.
        count_response(ask, state, source, clean && !self.profile.mesh.scopes, tally);
        Response { state, source, latency, near, holder: holder.map_or(from, |(holder, _)| holder), went }
    }

    fn read_memory(&self, shared: &mut Shared, from: usize, outer: u64, reach: Reach, tally: &mut Tally) -> (DataSource, u32, Near) {
        let read = |memory: &mut Memory, tally: &mut Tally| self.moves(memory, outer, Traffic::Read, tally);
        let Moved { latency, near } = self.at_home(shared, from, outer, tally, read).unwrap_or_default();
        let source = match (reach, near.hit && self.profile.memory.is_buffered()) {
            (Reach::Chip, false) => DataSource::LocalMemory,
            (Reach::Chip, true) => DataSource::LocalL4,
            (Reach::Group, false) => DataSource::RemoteMemory,
            (Reach::Group, true) => DataSource::RemoteL4,
            (Reach::System, false) => DataSource::DistantMemory,
            (Reach::System, true) => DataSource::DistantL4,
        };
        (source, latency + self.farther(reach), near)
    }

    /// Line `outer` is written to memory.
    fn write(&self, shared: &mut Shared, from: usize, outer: u64, tally: &mut Tally) {
        self.at_home(shared, from, outer, tally, |memory, tally| self.moves(memory, outer, Traffic::WriteBack, tally));
    }

    /// Lines displaced from cluster `from` are written to memory.
    pub(super) fn depart(&self, shared: &mut Shared, from: usize, out: &mut Departures, tally: &mut Tally) {
        self.cast_out_laterally(from, out, tally);
        for outer in out.take() {
            tally.add(Signal::VictimBlocks, 1);
            tally.add(Signal::BusLineWrites, 1);
            tally.add(Signal::SystemQuadwordsWritten, 1 << self.profile.caches.outer_line_bits.saturating_sub(3).min(16));
            let (package, home) = (from / self.clusters_per_package, self.home(outer));
            self.begins(shared, package, outer, self.reach(package, home));
            self.carries(shared, package, home, outer);
            self.write(shared, from, outer, tally);
        }
    }

    /// Lines that the third level of cluster `from` gave up go to the lent ones of its package by turns, and what those give up in turn to
    /// memory.
    fn cast_out_laterally(&self, from: usize, out: &mut Departures, tally: &mut Tally) {
        let Layout { clusters, lent, .. } = self.layout;
        while let Some(line) = out.next_lateral() {
            let outer = line.number();
            let Some(turn) = outer.checked_rem(lent as u64) else { return };
            let taker = self.package(from) * self.clusters_per_package + clusters + turn as usize;
            let Some(cluster) = self.clusters.get(taker) else { return };
            let (had, displaced) = cluster.lock().take_in(line);
            let signal = match (had, is_odd(outer)) {
                (false, false) => Signal::L3CastoutsLateralDataEven,
                (false, true) => Signal::L3CastoutsLateralDataOdd,
                (true, false) => Signal::L3CastoutsLateralNoDataEven,
                (true, true) => Signal::L3CastoutsLateralNoDataOdd,
            };
            tally.add(signal, 1);
            if displaced.state().dirty() {
                out.push(displaced.number());
            }
        }
    }

    /// Cluster `from` writes out a write-combining buffer with `quadwords` pieces of line `outer`, all of them if `whole`: every cache
    /// loses the line.
    pub(super) fn stream(&self, from: usize, outer: u64, whole: bool, quadwords: u64, tally: &mut Tally) {
        let mut shared = self.shared.lock();
        tally.add(Signal::WriteCombiningFlushes, 1);
        tally.add(Signal::StreamingStoreFlushes, 1);
        tally.add(Signal::SystemQuadwordsWritten, quadwords);
        let package = from / self.clusters_per_package;
        let found = self.at_home(&mut shared, from, outer, tally, |memory, tally| {
            let found = self.take_everywhere(Some(from), package, outer, whole, tally);
            if found.dirty.is_some() && !whole {
                self.moves(memory, outer, Traffic::WriteBack, tally);
            }
            self.moves(memory, outer, Traffic::Stream, tally);
            found
        });
        let home = self.home(outer);
        let farthest = found.map_or(Reach::Chip, |found| found.farthest);
        self.begins(&mut shared, package, outer, farthest.max(self.reach(package, home)));
        if let Some(holder) = found.and_then(|found| found.dirty).filter(|_| !whole) {
            self.carries(&mut shared, holder, home, outer);
        }
        self.carries(&mut shared, package, home, outer);
    }

    /// Cluster `from` flushes line `outer` from every cache. Returns whether it was written to memory.
    pub(super) fn flush(&self, from: usize, outer: u64, tally: &mut Tally) -> bool {
        let mut shared = self.shared.lock();
        let mut out = Departures::default();
        let package = from / self.clusters_per_package;
        let take = |_: &mut Memory, tally: &mut Tally| self.take_everywhere(Some(from), package, outer, false, tally);
        let found = self.at_home(&mut shared, from, outer, tally, take).unwrap_or_default();
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
        let found = if writes { self.take_everywhere(None, home, outer, whole, tally) } else { self.read_everywhere(home, outer, tally) };
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
        let found = self.take_everywhere(None, home, outer, false, tally);
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

    /// Every cluster answers a read of line `outer` by a device of `package`.
    fn read_everywhere(&self, package: usize, outer: u64, tally: &mut Tally) -> Found {
        let mut all = Found::default();
        for (number, cluster) in self.clusters.iter().enumerate() {
            let found = cluster.lock().probe(outer, false);
            all.take(self.package(number), self.reach(package, self.package(number)), found != LineState::Invalid, found.dirty());
            count_probe(found, Request::Read, tally);
        }
        all
    }

    /// Takes line `outer` from every cache, probing those of other clusters. A line that is written `whole` needs no data: a dirty line
    /// counts as a clean one. The requester belongs to `package`, and is cluster `from` if it is a cluster.
    fn take_everywhere(&self, from: Option<usize>, package: usize, outer: u64, whole: bool, tally: &mut Tally) -> Found {
        let mut all = Found::default();
        for (number, cluster) in self.clusters.iter().enumerate() {
            if Some(number) == from {
                all.take(package, Reach::Chip, true, cluster.lock().flush(outer));
                continue;
            }
            let found = cluster.lock().probe(outer, true);
            all.take(self.package(number), self.reach(package, self.package(number)), found != LineState::Invalid, found.dirty());
            let signal = match found {
                LineState::Invalid => Signal::ProbeMisses,
                found if found.dirty() && !whole => Signal::ProbeHitsDirty,
                _ => Signal::ProbeHitsClean,
            };
            tally.add(signal, 1);
        }
        all
    }
}
