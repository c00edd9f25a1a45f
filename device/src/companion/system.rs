//! What connects clusters: probes, and the path to memory.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use spin::Mutex;
use vm_pmu_arch::feed::{DataSource, Signal, Supplier};

use super::bytes::{Damaged, Reader, Writer};
use super::cluster::{Ask, Cluster, Departures, Request};
use super::cores::Core;
use super::interconnect::Interconnect;
use super::line::LineState;
use super::memory::{self, Memory, Moved, Traffic};
use super::pipeline;
use super::places::{self, Place};
use super::profile::{Profile, Protocol};
use super::signals;
use super::tally::Tally;

/// The response of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) state: LineState,
    pub(super) source: DataSource,
    pub(super) latency: u32,
    /// Whether the memory-side cache had it.
    near: bool,
    /// The cluster that passed it on.
    holder: usize,
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
    pub(super) clusters_per_package: usize,
    /// Bytes of physical memory that belong to each package; if 0, all belong to the first.
    pub(super) memory_per_package: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) memories: Box<[Memory]>,
    /// What each package's memory did for others, until one of its threads reports it. Empty if there is only one package.
    abroad: Box<[Tally]>,
}

impl System {
    pub(super) fn new(profile: &Profile, packages: usize, clusters: usize, memory_per_package: u64, seed: u64) -> System {
        let number = packages * clusters;
        let cluster = |number: usize| Mutex::new(Cluster::new(profile, seed.wrapping_add(number as u64)));
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
            }),
            waiting: (0..packages).map(|_| AtomicBool::new(false)).collect::<Vec<_>>().into_boxed_slice(),
            watched: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            joined: AtomicBool::new(false),
            near_lines: memory::near_lines(&profile.memory, profile.caches.outer_line_bits),
            clusters_per_package: clusters.max(1),
            memory_per_package,
        }
    }

    /// The package whose memory holds line `outer`.
    fn home(&self, outer: u64) -> usize {
        let packages = self.clusters.len() / self.clusters_per_package;
        let address = outer << self.profile.caches.outer_line_bits.min(63);
        address.checked_div(self.memory_per_package).map_or(0, |package| (package as usize).min(packages.saturating_sub(1)))
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

    /// The supplier of line `outer` to cluster `from`, which did not have it, and whether it was modified there.
    pub(super) fn supplier(&self, from: usize, outer: u64, response: &Response) -> (Supplier, bool) {
        let meshed = self.profile.mesh.quadrants > 1;
        match response.source {
            DataSource::OtherCore { modified } | DataSource::OtherPackage { modified } => {
                let abroad = matches!(response.source, DataSource::OtherPackage { .. });
                let far = if meshed { self.quadrant(from) != self.quadrant(response.holder) } else { abroad };
                (Supplier::OtherCluster { far }, modified)
            }
            DataSource::LocalMemory | DataSource::RemoteMemory => {
                let far = if meshed { self.is_far(from, outer) } else { response.source == DataSource::RemoteMemory };
                (if response.near { Supplier::NearMemory { far } } else { Supplier::Memory { far } }, false)
            }
            _ => (Supplier::Unknown, false),
        }
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

    /// `package` begins a request for line `outer`, which goes to other packages if `beyond`.
    fn begins(&self, shared: &mut Shared, package: usize, outer: u64, beyond: bool) {
        self.join(shared, [package], |interconnect| interconnect.request(outer, beyond));
    }

    /// A line moves from one package to another, or within one.
    fn carries(&self, shared: &mut Shared, from: usize, to: usize) {
        if from == to {
            self.join(shared, [from], |interconnect| interconnect.line(false));
        } else {
            self.join(shared, [from, to], |interconnect| interconnect.line(true));
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
        let (mut dirty, mut clean, mut forward, mut beyond) = (None, None, None, home != package);
        for (number, cluster) in self.clusters.iter().enumerate().filter(|(number, _)| *number != from) {
            let found = cluster.lock().probe(outer, takes);
            self.at_home(shared, from, outer, tally, |_, tally| count_probe(found, request, tally));
            beyond |= found != LineState::Invalid && number / self.clusters_per_package != package;
            if found.dirty() {
                dirty = Some(number);
            } else if found != LineState::Invalid {
                clean = Some(number);
                forward = forward.or((passes_on && found.passed_on()).then_some(number));
            }
        }
        self.begins(shared, package, outer, beyond);
        let state = match (takes, dirty.or(clean)) {
            (true, _) => LineState::Modified,
            (false, Some(_)) if passes_on => LineState::Forward,
            (false, Some(_)) => LineState::Shared,
            (false, None) => LineState::Exclusive,
        };
        if request == Request::Upgrade {
            // No line is transferred, unless an owner elsewhere had it.
            tally.add(Signal::SystemReadsModified, u64::from(dirty.is_some()));
            if let Some(holder) = dirty {
                self.carries(shared, holder / self.clusters_per_package, package);
            }
            let latency = u32::from(costs.other_cluster);
            return Response { state, source: DataSource::Cache(1), latency, near: false, holder: from };
        }
        let (source, latency, near) = match dirty.or(forward) {
            Some(holder) if holder / self.clusters_per_package == package => {
                (DataSource::OtherCore { modified: dirty.is_some() }, u32::from(costs.other_cluster), false)
            }
            Some(_) => {
                let latency = u32::from(costs.other_cluster) + u32::from(costs.remote);
                (DataSource::OtherPackage { modified: dirty.is_some() }, latency, false)
            }
            None => self.read_memory(shared, from, outer, tally),
        };
        let supplier = dirty.or(forward).map_or(home, |holder| holder / self.clusters_per_package);
        self.carries(shared, supplier, package);
        if dirty.is_some() && self.profile.caches.protocol != Protocol::Moesi && !takes {
            // Without an owned state, memory gets the modified line.
            self.carries(shared, supplier, home);
            self.write(shared, from, outer, tally);
        }
        count_response(ask, state, source, clean.is_some(), tally);
        Response { state, source, latency, near, holder: dirty.or(forward).unwrap_or(from) }
    }

    fn read_memory(&self, shared: &mut Shared, from: usize, outer: u64, tally: &mut Tally) -> (DataSource, u32, bool) {
        let read = |memory: &mut Memory, tally: &mut Tally| self.moves(memory, outer, Traffic::Read, tally);
        let Moved { latency, near } = self.at_home(shared, from, outer, tally, read).unwrap_or_default();
        if self.home(outer) == from / self.clusters_per_package {
            (DataSource::LocalMemory, latency, near)
        } else {
            (DataSource::RemoteMemory, latency + u32::from(self.profile.costs.remote), near)
        }
    }

    /// Line `outer` is written to memory.
    fn write(&self, shared: &mut Shared, from: usize, outer: u64, tally: &mut Tally) {
        self.at_home(shared, from, outer, tally, |memory, tally| self.moves(memory, outer, Traffic::WriteBack, tally));
    }

    /// Lines displaced from cluster `from` are written to memory.
    pub(super) fn depart(&self, shared: &mut Shared, from: usize, out: &mut Departures, tally: &mut Tally) {
        for outer in out.take() {
            tally.add(Signal::VictimBlocks, 1);
            tally.add(Signal::BusLineWrites, 1);
            tally.add(Signal::SystemQuadwordsWritten, 1 << self.profile.caches.outer_line_bits.saturating_sub(3).min(16));
            let (package, home) = (from / self.clusters_per_package, self.home(outer));
            self.begins(shared, package, outer, home != package);
            self.carries(shared, package, home);
            self.write(shared, from, outer, tally);
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
        self.begins(&mut shared, package, outer, home != package || found.is_some_and(|found| found.beyond));
        if let Some(holder) = found.and_then(|found| found.dirty).filter(|_| !whole) {
            self.carries(&mut shared, holder, home);
        }
        self.carries(&mut shared, package, home);
    }

    /// Cluster `from` flushes line `outer` from every cache. Returns whether it was written to memory.
    pub(super) fn flush(&self, from: usize, outer: u64, tally: &mut Tally) -> bool {
        let mut shared = self.shared.lock();
        let mut out = Departures::default();
        let package = from / self.clusters_per_package;
        let take = |_: &mut Memory, tally: &mut Tally| self.take_everywhere(Some(from), package, outer, false, tally);
        let found = self.at_home(&mut shared, from, outer, tally, take).unwrap_or_default();
        self.begins(&mut shared, package, outer, found.beyond || self.home(outer) != package);
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
        self.begins(&mut shared, home, outer, found.beyond);
        // A read gets the line from its holder; a line that is written back moves to memory as well.
        self.carries(&mut shared, found.dirty.filter(|_| !writes).unwrap_or(home), home);
        let written_back = if writes { !whole } else { self.profile.caches.protocol != Protocol::Moesi };
        if let Some(holder) = found.dirty.filter(|_| written_back) {
            self.carries(&mut shared, holder, home);
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

    /// Every cluster answers a read of line `outer` by a device of `package`.
    fn read_everywhere(&self, package: usize, outer: u64, tally: &mut Tally) -> Found {
        let mut all = Found::default();
        for (number, cluster) in self.clusters.iter().enumerate() {
            let found = cluster.lock().probe(outer, false);
            all.take(number / self.clusters_per_package, package, found != LineState::Invalid, found.dirty());
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
                all.take(package, package, true, cluster.lock().flush(outer));
                continue;
            }
            let found = cluster.lock().probe(outer, true);
            all.take(number / self.clusters_per_package, package, found != LineState::Invalid, found.dirty());
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

/// The result of probing all clusters for a line.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// The package of a cluster that had it dirty.
    dirty: Option<usize>,
    /// Whether a cluster of another package than the requester's had it.
    beyond: bool,
}

impl Found {
    /// A cluster of `package` answered a requester of package `asking`.
    fn take(&mut self, package: usize, asking: usize, had: bool, dirty: bool) {
        self.beyond |= had && package != asking;
        if dirty {
            self.dirty = Some(package);
        }
    }
}

fn count_request(ask: Ask, request: Request, tally: &mut Tally) {
    tally.add(Signal::BusTransactions, 1);
    let (block, bus) = match request {
        Request::Read => (Signal::ReadBlocks, Signal::BusLineReadsData),
        Request::ReadCode => (Signal::ReadBlocksShared, Signal::BusLineReadsInstruction),
        Request::ReadModified => (Signal::ReadBlocksModified, Signal::BusOwnershipReads),
        Request::Upgrade => (Signal::ChangesToDirty, Signal::BusInvalidations),
    };
    tally.add(block, 1);
    tally.add(bus, 1);
    tally.add(Signal::LoadsBeyondL2, u64::from(ask == Ask::Load));
    tally.add(Signal::LoadsBeyondL3, u64::from(ask == Ask::Load));
    tally.add(Signal::FetchesBeyondL3, u64::from(ask == Ask::Fetch));
}

fn count_probe(found: LineState, request: Request, tally: &mut Tally) {
    let (probe, bus) = match (found, request) {
        (LineState::Invalid, _) => (Signal::ProbeMisses, None),
        (LineState::Modified | LineState::Owned, Request::Upgrade) => (Signal::ProbeHitsDirty, Some(Signal::BusInvalidationsHitModified)),
        (LineState::Modified | LineState::Owned, Request::ReadModified) => {
            (Signal::ProbeHitsDirtyCancelled, Some(Signal::BusOwnershipReadsHitModified))
        }
        (LineState::Modified | LineState::Owned, _) => (Signal::ProbeHitsDirtyCancelled, Some(Signal::BusReadsHitModified)),
        (_, Request::Read | Request::ReadCode) => (Signal::ProbeHitsClean, Some(Signal::BusReadsHitClean)),
        _ => (Signal::ProbeHitsClean, None),
    };
    tally.add(probe, 1);
    if let Some(bus) = bus {
        tally.add(bus, 1);
    }
}

fn count_response(ask: Ask, state: LineState, source: DataSource, clean: bool, tally: &mut Tally) {
    tally.add(
        match state {
            LineState::Modified => Signal::SystemReadsModified,
            LineState::Exclusive => Signal::SystemReadsExclusive,
            _ => Signal::SystemReadsShared,
        },
        1,
    );
    let by_state = match (ask, source) {
        (Ask::Fetch, DataSource::OtherCore { modified: true }) => Some(Signal::FetchesFromOtherCoreModified),
        (Ask::Fetch, DataSource::OtherCore { modified: false }) => Some(Signal::FetchesFromOtherCoreClean),
        (Ask::Fetch, DataSource::OtherPackage { modified: true }) => Some(Signal::FetchesFromOtherPackageModified),
        (Ask::Fetch, DataSource::OtherPackage { modified: false }) => Some(Signal::FetchesFromOtherPackageClean),
        _ => None,
    };
    if let Some(signal) = by_state {
        tally.add(signal, 1);
    }
    let signal = match (ask, source) {
        (Ask::Load, DataSource::OtherCore { modified: true }) => Signal::LoadsFromOtherCoreModified,
        (Ask::Load, DataSource::OtherCore { modified: false }) => Signal::LoadsFromOtherCoreClean,
        (Ask::Load, DataSource::OtherPackage { modified: true }) => Signal::LoadsFromOtherPackageModified,
        (Ask::Load, DataSource::OtherPackage { modified: false }) => Signal::LoadsFromOtherPackageClean,
        (Ask::Load, DataSource::RemoteMemory) => Signal::LoadsFromRemoteMemory,
        (Ask::Load, _) if clean => Signal::LoadsFromOtherCoreClean,
        (Ask::Load, _) => Signal::LoadsFromLocalMemory,
        (Ask::Fetch, DataSource::OtherCore { .. }) => Signal::FetchesFromOtherCore,
        (Ask::Fetch, DataSource::OtherPackage { .. }) => Signal::FetchesFromOtherPackage,
        (Ask::Fetch, DataSource::RemoteMemory) => Signal::FetchesFromRemoteMemory,
        (Ask::Fetch, _) => Signal::FetchesFromLocalMemory,
        _ => return,
    };
    tally.add(signal, 1);
}
