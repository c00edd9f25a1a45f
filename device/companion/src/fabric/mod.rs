//! The interconnection of clusters: probes, and the path to memory.

pub(crate) mod devices;
mod gart;
pub(crate) mod hypertransport;
mod injection;
pub(crate) mod interconnect;
pub(crate) mod io;
pub(crate) mod layout;
mod links;
mod memory;
mod package_answers;
pub(crate) mod places;
mod responses;
pub(crate) mod routes;
pub(crate) mod scope;
pub(crate) mod signals;
mod sized_commands;
mod snoops;
pub(crate) mod sources;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use vm_pmu_arch::feed::{DataSource, Signal, Supplier};
use vm_pmu_arch::lock::Mutex;

use crate::bus;
use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::line::{LineState, is_odd};
use crate::caches::lock::ClusterLock;
use crate::caches::remembered_hits::RememberedHits;
use crate::caches::streams::Written;
use crate::caches::{Ask, Cluster, Departures, Request};
use crate::fabric::gart::ApertureBuffer;
use crate::fabric::hypertransport::{LINE, Transaction};
use crate::fabric::interconnect::{Asked, Interconnect};
use crate::fabric::layout::Layout;
use crate::fabric::memory::{Moved, Near, PackageMemory, Traffic};
use crate::fabric::package_answers::Answers;
use crate::fabric::places::{Place, PlaceCounts};
use crate::fabric::responses::{count_request, count_response, of_probe};
use crate::fabric::routes::NODE_LINKS;
use crate::fabric::scope::{Reach, Scopes, Went};
use crate::fabric::sized_commands::SizedWrites;
use crate::pipeline;
use crate::pipeline::cores::Core;
use crate::profile::{Profile, Protocol};
use crate::tally::Tally;
use vm_pmu_arch::die::{ClusterMode, Spread};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) state: LineState,
    pub(crate) source: DataSource,
    pub(crate) latency: u32,
    /// The outcome in the memory-side cache.
    pub(crate) near: Near,
    /// The cluster that passed the line on.
    holder: usize,
    /// The distance that the request went, if that is predicted.
    pub(crate) went: Option<Went>,
}

/// The clusters, each behind its own lock, and the state that they share, behind one more.
///
/// A holder of the lock of the shared state may take clusters' locks, one at a time. A holder of a cluster's or a core's lock takes no
/// other. So there is no deadlock.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) profile: Profile,
    pub(crate) clusters: Box<[ClusterLock]>,
    /// The cores of all clusters, cluster by cluster. Empty if no threads compete.
    pub(crate) cores: Box<[Core]>,
    pub(crate) shared: Mutex<FabricState>,
    /// Whether each package has something in [`FabricState::abroad`].
    waiting: Box<[AtomicBool]>,
    /// Whether places and interconnects are watched, whether any place has counts, and whether any interconnect has.
    watched: AtomicBool,
    busy: AtomicBool,
    joined: AtomicBool,
    /// Number of followers made so far.
    pub(crate) followers: AtomicUsize,
    /// Number of followers that count link traffic, and of those that count idle slots.
    pub(crate) linked: AtomicUsize,
    pub(crate) idle_counted: AtomicUsize,
    /// The distribution of lines among agents and memory.
    spread: Spread,
    /// Lent clusters are the last of each package.
    pub(crate) clusters_per_package: usize,
    pub(crate) layout: Layout,
}

#[derive(Clone, Debug)]
pub(crate) struct FabricState {
    memories: Box<[PackageMemory]>,
    /// Counts of each package's memory for other packages, until one of its threads reports them. Empty if there is only one package.
    pub(crate) abroad: Box<[Tally]>,
    /// Doublewords that each link of each package has sent since idle slots were last counted, plus its backlog from before. Empty without
    /// such links.
    pub(crate) sent: Box<[[u64; NODE_LINKS]]>,
    /// The translations that each package's aperture caches. Empty without an aperture.
    relocated: Box<[ApertureBuffer]>,
    /// Each cluster's predictions of the scopes of its requests. Empty if requests have no scopes.
    scopes: Box<[Scopes]>,
}

impl System {
    pub(crate) fn new(profile: &Profile, layout: Layout, seed: u64) -> System {
        let (packages, clusters) = (layout.packages, layout.clusters + layout.lent);
        let number = packages * clusters;
        let cluster = |number: usize| {
            let lends = number % clusters.max(1) >= layout.clusters;
            let casts_out_laterally = layout.lent != 0 && !lends;
            ClusterLock::new(Cluster { casts_out_laterally, ..Cluster::new(profile, seed.wrapping_add(number as u64)) })
        };
        let compete = profile.threads > 1 && pipeline::competes(profile.pipeline);
        let cores = if compete { number * usize::from(profile.cores.max(1)) } else { 0 };
        let bits = profile.caches.outer_line_bits;
        let spread = match layout.die {
            Some(die) => Spread::of(&die, bits),
            None => Spread::undivided(profile.memory.near_bytes, bits),
        };
        let memories = (0..packages).map(|_| PackageMemory::new(&profile.memory, bits, spread));
        System {
            profile: *profile,
            clusters: (0..number).map(cluster).collect::<Vec<_>>().into_boxed_slice(),
            cores: (0..cores).map(|_| Core::new(profile.pipeline)).collect::<Vec<_>>().into_boxed_slice(),
            shared: Mutex::new(FabricState {
                memories: memories.collect::<Vec<_>>().into_boxed_slice(),
                abroad: (0..if packages > 1 { packages } else { 0 }).map(|_| Tally::new()).collect::<Vec<_>>().into_boxed_slice(),
                relocated: (0..layout.aperture.map_or(0, |_| packages))
                    .map(|_| ApertureBuffer::default())
                    .collect::<Vec<_>>()
                    .into_boxed_slice(),
                sent: (0..layout.routes.map_or(0, |_| packages)).map(|_| [0; NODE_LINKS]).collect::<Vec<_>>().into_boxed_slice(),
                scopes: (0..if profile.mesh.scopes { number } else { 0 }).map(|_| Scopes::default()).collect::<Vec<_>>().into_boxed_slice(),
            }),
            waiting: (0..packages).map(|_| AtomicBool::new(false)).collect::<Vec<_>>().into_boxed_slice(),
            watched: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            joined: AtomicBool::new(false),
            followers: AtomicUsize::new(0),
            linked: AtomicUsize::new(0),
            idle_counted: AtomicUsize::new(0),
            spread,
            clusters_per_package: clusters.max(1),
            layout,
        }
    }

    pub(crate) fn nothing_found(&self, cluster: usize) -> RememberedHits {
        self.clusters.get(cluster).map(ClusterLock::nothing_found).unwrap_or_default()
    }

    /// Returns the package whose memory holds line `outer`.
    fn home(&self, outer: u64) -> usize {
        let packages = self.clusters.len() / self.clusters_per_package;
        let address = outer << self.profile.caches.outer_line_bits.min(63);
        address.checked_div(self.layout.memory_per_package).map_or(0, |package| (package as usize).min(packages.saturating_sub(1)))
    }

    pub(crate) fn agent(&self, outer: u64) -> u16 {
        self.spread.agent(outer, u64::from(self.profile.mesh.agents)) as u16
    }

    /// Whether cluster `cluster` is in another quadrant than line `outer`.
    fn is_far(&self, cluster: usize, outer: u64) -> bool {
        self.quadrant(cluster) != self.spread.memory(outer, u64::from(self.profile.mesh.quadrants))
    }

    /// Returns the quadrant of a cluster: that of its place on the die, if it is known. Otherwise clusters fill one quadrant after the
    /// other.
    fn quadrant(&self, cluster: usize) -> u64 {
        let place = self.layout.die.and_then(|die| die.tiles.place(u8::try_from(cluster).ok()?));
        if let Some(place) = place {
            return u64::from(place) * u64::from(self.profile.mesh.quadrants) / u64::from(self.profile.mesh.agents.max(1));
        }
        cluster as u64 * u64::from(self.profile.mesh.quadrants) / (self.clusters.len() as u64).max(1)
    }

    /// Returns the number that distinguishes near tiles from far ones: the half of the die in SNC2, otherwise the quadrant.
    fn node(&self, cluster: usize) -> u64 {
        let halves = self.layout.die.is_some_and(|die| die.cluster == ClusterMode::Snc2);
        if halves { self.quadrant(cluster) / 2 } else { self.quadrant(cluster) }
    }

    /// Returns the supplier of line `outer` to cluster `from`, which did not have it; whether it was modified there; and the cluster, if it
    /// was one.
    pub(crate) fn supplier(&self, from: usize, outer: u64, response: &Response) -> (Supplier, bool, Option<u16>) {
        let meshed = self.profile.mesh.quadrants > 1;
        let source = response.source;
        let abroad = source.is_of_another_package();
        if source.is_of_another_core() || source.is_of_another_packages_cache() {
            let far = if meshed { self.node(from) != self.node(response.holder) } else { abroad };
            return (Supplier::OtherCluster { far }, source.was_modified(), u16::try_from(response.holder).ok());
        }
        if matches!(source, DataSource::LocalMemory | DataSource::LocalL4) || source.is_of_another_packages_memory() {
            let far = if meshed { self.is_far(from, outer) } else { abroad };
            return (if response.near.hit { Supplier::NearMemory { far } } else { Supplier::Memory { far } }, false, None);
        }
        (Supplier::Unknown, false, None)
    }

    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watched.load(Relaxed)
    }

    #[inline]
    pub(crate) fn has_places(&self) -> bool {
        self.busy.load(Relaxed)
    }

    #[inline]
    pub(crate) fn has_interconnects(&self) -> bool {
        self.joined.load(Relaxed)
    }

    pub(crate) fn watch(&self, on: bool) {
        let mut shared = self.shared.lock();
        if self.watched.swap(on, Relaxed) != on {
            shared.memories.iter_mut().for_each(|memory| memory.places.forget());
            self.busy.store(false, Relaxed);
            self.joined.store(false, Relaxed);
        }
    }

    /// Reports the counts of places, package after package. No lock is held during a report, so `report` may call the companion.
    pub(crate) fn take_places(&self, mut report: impl FnMut(Place, Signal, u64)) {
        if !self.has_places() {
            return;
        }
        // Cleared first, so that counts that arrive during the report set it again.
        self.busy.store(false, Relaxed);
        for package in 0..self.waiting.len() {
            let mut from = 0;
            while let Some(taken) = self.take_place(package, from) {
                taken.report(&mut report);
                from = taken.next;
            }
        }
    }

    fn take_place(&self, package: usize, from: usize) -> Option<PlaceCounts> {
        self.shared.lock().memories.get_mut(package)?.places.take_next(package, from)
    }

    pub(crate) fn take_interconnects(&self, mut report: impl FnMut(usize, &Interconnect)) {
        if !self.has_interconnects() {
            return;
        }
        self.joined.store(false, Relaxed);
        for package in 0..self.waiting.len() {
            let did = self.take_interconnect(package);
            if did.is_busy() {
                report(package, &did);
            }
        }
    }

    fn take_interconnect(&self, package: usize) -> Interconnect {
        self.shared.lock().memories.get_mut(package).map(|memory| core::mem::take(&mut memory.places.interconnect)).unwrap_or_default()
    }

    /// Calls `work` on the interconnects of these packages, if they are watched.
    fn join<const N: usize>(&self, shared: &mut FabricState, packages: [usize; N], work: impl Fn(&mut Interconnect)) {
        if self.is_watched() {
            self.joined.store(true, Relaxed);
            for package in packages {
                shared.memories.get_mut(package).into_iter().for_each(|memory| work(&mut memory.places.interconnect));
            }
        }
    }

    /// Counts a request for line `outer` that `package` sends as far as `reach`.
    fn begins(&self, shared: &mut FabricState, package: usize, outer: u64, reach: Reach) {
        if self.is_watched() {
            self.join(shared, [package], |interconnect| interconnect.request(outer, reach));
            self.broadcast(shared, package, outer, reach);
        }
    }

    /// Counts a request of a cluster in `package`, which went as far as `went` says.
    fn begins_predicted(&self, shared: &mut FabricState, package: usize, ask: Ask, request: Request, outer: u64, went: Went) {
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

    /// Calls `work` on the counts of requests to the channel that has line `outer`, if they are watched.
    fn asks(&self, shared: &mut FabricState, outer: u64, work: impl FnOnce(&mut Asked)) {
        if !self.is_watched() {
            return;
        }
        self.joined.store(true, Relaxed);
        if let Some(asked) = shared.memories.get_mut(self.home(outer)).and_then(|memory| memory.places.asked(outer)) {
            work(asked);
        }
    }

    /// Counts line `outer` moving from one package to another, or within one.
    fn carries(&self, shared: &mut FabricState, from: usize, to: usize, outer: u64) {
        if from == to {
            self.join(shared, [from], |interconnect| interconnect.line(false));
        } else if self.is_watched() {
            self.join(shared, [from, to], |interconnect| interconnect.line(true));
            self.send_line(shared, from, to, outer);
        }
    }

    fn moves(&self, memory: &mut PackageMemory, outer: u64, traffic: Traffic, tally: &mut Tally) -> Moved {
        let watched = self.is_watched();
        if watched {
            self.busy.store(true, Relaxed);
        }
        memory.access(outer, traffic, &self.profile.costs, watched, tally)
    }

    pub(crate) fn is_followed(&self, package: usize) -> bool {
        let clusters = self.clusters.iter().skip(package * self.clusters_per_package).take(self.clusters_per_package);
        clusters.into_iter().any(|cluster| cluster.lock().listeners != 0)
    }

    /// Whether the memory of `package` has unreported work done for other packages.
    #[inline]
    pub(crate) fn has_worked_abroad(&self, package: usize) -> bool {
        self.waiting.get(package).is_some_and(|waiting| waiting.load(Relaxed))
    }

    /// Moves the counts of what the memory of `package` did for other packages into `tally`, or drops them.
    pub(crate) fn report_work_abroad(&self, package: usize, tally: Option<&mut Tally>) {
        let mut shared = self.shared.lock();
        if let (Some(waiting), Some(abroad)) = (self.waiting.get(package), shared.abroad.get_mut(package)) {
            waiting.store(false, Relaxed);
            match tally {
                Some(tally) => tally.take_over(abroad),
                None => *abroad = Tally::new(),
            }
        }
    }

    /// Calls `work` with the memory of the package that has line `outer`, and with that package's tally: `tally`, if it is the package of
    /// cluster `from`; otherwise the one for work done for others.
    fn at_home<T>(
        &self,
        shared: &mut FabricState,
        from: usize,
        outer: u64,
        tally: &mut Tally,
        work: impl FnOnce(&mut PackageMemory, &mut Tally) -> T,
    ) -> Option<T> {
        self.at(shared, from / self.clusters_per_package, self.home(outer), tally, work)
    }

    /// Calls `work` with the memory of package `there`, and with that package's tally: `tally`, if it is package `here`; otherwise the one
    /// for work done for others.
    fn at<T>(
        &self,
        shared: &mut FabricState,
        here: usize,
        there: usize,
        tally: &mut Tally,
        work: impl FnOnce(&mut PackageMemory, &mut Tally) -> T,
    ) -> Option<T> {
        let memory = shared.memories.get_mut(there)?;
        if here == there {
            return Some(work(memory, tally));
        }
        match (shared.abroad.get_mut(there), self.waiting.get(there)) {
            (Some(abroad), Some(waiting)) => {
                waiting.store(true, Relaxed);
                Some(work(memory, abroad))
            }
            _ => Some(work(memory, tally)),
        }
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        self.clusters.iter().for_each(|cluster| cluster.lock().save(writer));
        self.cores.iter().for_each(|core| core.save(writer));
        let shared = self.shared.lock();
        shared.memories.iter().for_each(|memory| memory.save(writer));
        shared.scopes.iter().for_each(|scopes| scopes.save(writer));
        shared.sent.iter().for_each(|links| writer.words(links));
        shared.relocated.iter().for_each(|buffer| buffer.save(writer));
        shared.abroad.iter().for_each(|abroad| signals::abroad().for_each(|signal| writer.word(abroad.get(signal))));
    }

    pub(crate) fn load(&self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
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
        for links in &mut shared.sent {
            reader.words(links)?;
        }
        for buffer in &mut shared.relocated {
            buffer.load(reader)?;
        }
        self.busy.store(busy, Relaxed);
        self.joined.store(joined, Relaxed);
        for (abroad, waiting) in shared.abroad.iter_mut().zip(&self.waiting) {
            *abroad = Tally::new();
            let mut some = false;
            for signal in signals::abroad() {
                let amount = reader.word()?;
                some |= amount != 0;
                abroad.add(signal, amount);
            }
            waiting.store(some, Relaxed);
        }
        Ok(())
    }

    pub(crate) fn request(
        &self,
        shared: &mut FabricState,
        from: usize,
        ask: Ask,
        request: Request,
        outer: u64,
        tally: &mut Tally,
    ) -> Response {
        let costs = &self.profile.costs;
        let package = from / self.clusters_per_package;
        let takes = matches!(request, Request::ReadModified | Request::Upgrade);
        count_request(ask, request, outer, tally);
        self.count_memory_requests(package, outer, 1, tally);
        self.relocate_line(shared, package, outer, tally);
        let passes_on = self.profile.caches.protocol == Protocol::Mesif;
        let home = self.home(outer);
        let (mut dirty, mut clean, mut forward, mut farthest) = (None, false, None, Reach::Chip);
        let mut answers = Answers::NONE;
        for (number, cluster) in self.clusters.iter().enumerate().filter(|(number, _)| *number != from) {
            let (found, third) = {
                let mut cluster = cluster.lock();
                (cluster.probe_of(Some(from), outer, takes, request == Request::ReadCode), cluster.third_alone)
            };
            let (probe, answer) = of_probe(found, request);
            self.at_home(shared, from, outer, tally, |_, tally| tally.add(probe, 1));
            // The requester sees the answer on the bus, wherever memory is.
            answer.into_iter().for_each(|signal| tally.add(signal, 1));
            answers.take(self, self.package(number), found);
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
        answers.end(self);
        if self.counts_links(None) {
            let owner = dirty.map(|(holder, _)| self.package(holder));
            let read = if request == Request::Upgrade { 0 } else { LINE };
            self.transact(shared, &Transaction { source: package, target: home, written: 0, read, owner }, tally);
        }
        // If that is not predicted, the request goes to all that may be concerned with the line.
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
        // A request to write the line has to reach every other copy too.
        let went = self.went(shared, from, ask, outer, if takes { reach.max(farthest) } else { reach }, tally);
        self.begins_predicted(shared, package, ask, request, outer, went.unwrap_or(to_all));
        self.carries(shared, supplier, package, outer);
        if dirty.is_some() && self.profile.caches.protocol != Protocol::Moesi && !takes {
            // Without an owned state, the modified line is written to memory.
            self.carries(shared, supplier, home, outer);
            self.write(shared, from, outer, tally);
        }
        // On a part that tells third levels apart, memory counts as the source even if a cluster has a clean copy.
        count_response(ask, state, source, clean && !self.profile.mesh.scopes, tally);
        Response { state, source, latency, near, holder: holder.map_or(from, |(holder, _)| holder), went }
    }

    fn read_memory(&self, shared: &mut FabricState, from: usize, outer: u64, reach: Reach, tally: &mut Tally) -> (DataSource, u32, Near) {
        let read = |memory: &mut PackageMemory, tally: &mut Tally| self.moves(memory, outer, Traffic::Read, tally);
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

    fn write(&self, shared: &mut FabricState, from: usize, outer: u64, tally: &mut Tally) {
        self.at_home(shared, from, outer, tally, |memory, tally| self.moves(memory, outer, Traffic::WriteBack, tally));
    }

    /// Writes lines evicted from cluster `from` to memory.
    pub(crate) fn depart(&self, shared: &mut FabricState, from: usize, out: &mut Departures, tally: &mut Tally) {
        self.cast_out_laterally(from, out, tally);
        for outer in out.take() {
            tally.add(Signal::VictimBlocks, 1);
            bus::transact(Signal::BusLineWrites, outer, tally);
            tally.add(Signal::SystemQuadwordsWritten, 1 << self.profile.caches.outer_line_bits.saturating_sub(3).min(16));
            let (package, home) = (from / self.clusters_per_package, self.home(outer));
            self.count_memory_requests(package, outer, 1, tally);
            self.relocate_line(shared, package, outer, tally);
            self.begins(shared, package, outer, self.reach(package, home));
            self.carries(shared, package, home, outer);
            if self.counts_links(None) {
                self.write_back(shared, package, home, tally);
            }
            self.write(shared, from, outer, tally);
        }
    }

    /// Moves lines that the third level of cluster `from` evicted to the lent clusters of its package in turn. Lines that those evict go to
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

    /// Writes out a write-combining buffer of cluster `from`. Every cache loses the line.
    pub(crate) fn stream(&self, from: usize, written: &Written, tally: &mut Tally) {
        let Written { line: outer, whole, quadwords, mask } = *written;
        let mut shared = self.shared.lock();
        tally.add(Signal::WriteCombiningFlushes, 1);
        tally.add(Signal::StreamingStoreFlushes, 1);
        tally.add(Signal::SystemQuadwordsWritten, quadwords);
        let sized = SizedWrites::posted(whole, mask);
        sized.count(tally);
        let package = from / self.clusters_per_package;
        self.count_memory_requests(package, outer, sized.commands(), tally);
        self.relocate_line(&mut shared, package, outer, tally);
        let found = self.at_home(&mut shared, from, outer, tally, |memory, tally| {
            let found = self.take_everywhere(Some(from), package, outer, whole, tally);
            if found.dirty.is_some() && !whole {
                self.moves(memory, outer, Traffic::WriteBack, tally);
            }
            self.moves(memory, outer, Traffic::Stream, tally);
            sized.count_target(tally);
            found
        });
        let home = self.home(outer);
        let farthest = found.map_or(Reach::Chip, |found| found.farthest);
        self.begins(&mut shared, package, outer, farthest.max(self.reach(package, home)));
        if let Some(holder) = found.and_then(|found| found.dirty).filter(|_| !whole) {
            self.carries(&mut shared, holder, home, outer);
        }
        self.carries(&mut shared, package, home, outer);
        if self.counts_links(None) {
            let owner = found.and_then(|found| found.dirty).filter(|_| !whole);
            for written in SizedWrites::data(whole, mask) {
                self.transact(&mut shared, &Transaction { source: package, target: home, written, read: 0, owner }, tally);
            }
        }
    }
}
