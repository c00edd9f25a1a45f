//! The companion: signals that an emulator does not have.
//!
//! An emulator knows instructions, branches and addresses. Half of the events of every PMU count caches, translation buffers, predictors,
//! stalls and latencies. A [`Companion`] derives these from what the emulator knows: each thread's [`Follower`] receives what the thread
//! executes, models the caches, buffers and predictor of a CPU ([`Profile`]), and adds their events to the thread's totals.
//!
//! It is deterministic and bounded: nothing is allocated after construction, and no access loops beyond the number of sets, levels and
//! clusters. Random replacement draws from a seeded generator. All of its state can be saved and restored. A follower whose signals no
//! counter counts is not [active](Follower::is_active) and costs one comparison.
//!
//! ```
//! use vm_pmu::companion::{Access, Builder, Clock, Instruction, Untranslated};
//! use vm_pmu::topology;
//! use vm_pmu::Signal;
//!
//! let machine = topology::Builder::new("k8").unwrap().build(|_thread, _counter| {}).unwrap();
//! let pmu = machine.thread(0).unwrap();
//! // PerfCtr0 counts DATA_CACHE_MISSES, at level 0.
//! pmu.x86().wrmsr(0xC001_0000, 0x0042_0041).unwrap();
//!
//! let companion = Builder::new("k8").unwrap().build();
//! let mut follower = companion.follower(0).unwrap();
//! follower.sync(&pmu.demand());
//! assert!(follower.is_active());
//!
//! // Four loads from one line: the first one misses.
//! for address in [0x8000, 0x8008, 0x8010, 0x8018] {
//!     let accesses = [Access { address, physical: address, size: 8, ..Access::default() }];
//!     let load = Instruction { address: 0x1000, physical: 0x1000, length: 4, accesses: &accesses, ..Instruction::default() };
//!     follower.execute(&load, &mut Untranslated(12));
//! // The emulator adds its own events within the call.
//!     follower.deliver(&pmu, &[], |_| { pmu.totals().add(Signal::InstructionsRetired, 1); });
//! }
//! assert_eq!(pmu.x86().rdpmc(0).unwrap(), 1);
//! ```
//!
//! The book's chapter on the companion lists what is modelled, approximated and left out.
//!
//! The crate is above `vm-pmu-arch` and below `vm-pmu`, which exports it as `vm_pmu::companion` with its feature of that name, and whose
//! threads take what a follower delivers, as any [`Pmu`] can.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "k8", feature = "knl", feature = "power9", feature = "itanium", feature = "montecito")),
    allow(dead_code, reason = "shared code may serve another part")
)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;

#[macro_use]
mod registry;

mod block;
mod bundle;
mod bus;
mod bus_traffic;
mod bytes;
mod caches;
mod clock;
mod fabric;
mod follower;
pub mod ia64_register;
mod instruction;
mod outcome;
pub mod parts;
mod pipeline;
mod pmu;
mod predictor;
mod profile;
mod sets;
mod signals;
mod state;
mod tally;
mod translation;

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::die::Die;
use vm_pmu_arch::feed::{Signal, SignalSet};
use vm_pmu_arch::registry::UnknownPart;

pub use block::Block;
pub use bundle::Bundle;
pub use clock::Clock;
pub use fabric::devices::{DeviceOperation, DeviceRequest};
pub use fabric::interconnect::{Asked, CHANNELS, Carried, Interconnect, LINKS, Link, PORTS};
pub use fabric::io::IoRange;
pub use fabric::places::Place;
pub use fabric::routes::{LinkEnd, NODE_LINKS, NODES, Routes};
pub use follower::Follower;
pub use instruction::{Access, AccessKind, Class, Elements, Instruction, Operation, Register, Transfer};
pub use outcome::Outcome;
pub use pipeline::ThirdLevelMiss;
pub use pmu::Pmu;
pub use profile::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Prefetcher, Profile, Protocol, Replacement, SecondLevel, Translation, WritePolicy,
};
pub use state::{RestoreError, STATE_VERSION};
pub use translation::{Guest, Host, Invalidation, PageTables, Untranslated, Walk};
pub use vm_pmu_arch::feed::BranchKind;

use fabric::System;
use fabric::io::IoMap;
use fabric::layout::Layout;
use predictor::Tables;

/// A builder of a [`Companion`].
///
/// ```
/// use vm_pmu::companion::{Builder, Clock};
///
/// // Two packages of two cores each, whose cycles come from the pipeline.
/// let companion = Builder::new("k8").unwrap().packages(2).threads(2).clock(Clock::Companion).build();
/// assert_eq!(companion.threads(), 4);
/// assert!(Builder::new("z80").is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    profile: Profile,
    packages: usize,
    threads: usize,
    clock: Clock,
    always: bool,
    seed: u64,
    memory_per_package: u64,
    packages_per_group: usize,
    lent: usize,
    io: IoMap,
    routes: Option<Routes>,
    aperture: Option<(u64, u64)>,
    die: Option<Die>,
}

impl Builder {
    /// Returns a builder for one package with one thread of the named part.
    ///
    /// # Errors
    /// [`UnknownPart`] when no part of this build has the name.
    pub fn new(name: &str) -> Result<Builder, UnknownPart> {
        parts::named(name).map(Builder::of).ok_or_else(|| UnknownPart::new(name))
    }

    /// Returns a builder for one package with one thread of this CPU. Impossible numbers, such as a cache without ways, are replaced by the
    /// nearest possible ones.
    #[must_use]
    pub fn of(profile: &Profile) -> Builder {
        Builder {
            profile: profile.in_range(),
            packages: 1,
            threads: 1,
            clock: Clock::Embedder,
            always: false,
            seed: 1,
            memory_per_package: 0,
            packages_per_group: usize::MAX,
            lent: 0,
            io: IoMap::default(),
            routes: None,
            aperture: None,
            die: None,
        }
    }

    /// Sets the number of packages, clamped to 1 to 65,535.
    #[must_use]
    pub fn packages(self, packages: usize) -> Builder {
        Builder { packages: packages.clamp(1, usize::from(u16::MAX)), ..self }
    }

    /// Sets the number of threads per package, clamped to 1 to 65,535. They fill one core after the other.
    #[must_use]
    pub fn threads(self, threads: usize) -> Builder {
        Builder { threads: threads.clamp(1, usize::from(u16::MAX)), ..self }
    }

    /// Sets the number of threads per core, if it has fewer than it could. It is clamped to 1 to the part's own number, which is the
    /// default. Threads that a core does not have take no numbers.
    ///
    /// ```
    /// use vm_pmu::companion::Builder;
    ///
    /// // Four cores of POWER9 with two threads each, not two with four.
    /// let companion = Builder::new("power9").unwrap().core_threads(2).threads(8).build();
    /// assert_eq!(companion.profile().threads, 2);
    /// ```
    #[must_use]
    pub fn core_threads(mut self, threads: usize) -> Builder {
        let most = self.profile.threads.max(1);
        self.profile.threads = u8::try_from(threads).unwrap_or(u8::MAX).clamp(1, most);
        self
    }

    /// Sets whose clock counts.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Builder {
        Builder { clock, ..self }
    }

    /// Follows every thread even while nothing that the companion supplies is counted. Caches are then always as warm as they should be,
    /// and with [`Clock::Companion`] time keeps the same pace. By default, threads are followed only on demand.
    #[must_use]
    pub fn always(self) -> Builder {
        Builder { always: true, ..self }
    }

    /// Sets the seed of random replacement.
    #[must_use]
    pub fn seed(self, seed: u64) -> Builder {
        Builder { seed, ..self }
    }

    /// Sets the bytes of physical memory per package, from address 0 up. Memory beyond that of the last package belongs to the last. By
    /// default all memory belongs to the first.
    #[must_use]
    pub fn memory_per_package(self, bytes: u64) -> Builder {
        Builder { memory_per_package: bytes, ..self }
    }

    /// Adds physical addresses that are I/O behind a package, on a part that counts I/O per package: the K8, whose address map has eight
    /// such ranges. Further ones are ignored. Uncached accesses outside these ranges go to memory. Without any range, all uncached accesses
    /// go to I/O of the first package.
    #[must_use]
    pub fn io_range(self, range: IoRange) -> Builder {
        Builder { io: self.io.with(range), ..self }
    }

    /// Sets how packages are joined by HyperTransport links, on a part that has such links: the K8. The default is a
    /// [ladder](Routes::ladder). With more than [`NODES`] packages, no links are counted.
    #[must_use]
    pub fn routes(self, routes: Routes) -> Builder {
        Builder { routes: Some(routes), ..self }
    }

    fn links(&self) -> Option<Routes> {
        let joined = self.profile.mesh.hypertransport && self.packages <= NODES;
        joined.then(|| self.routes.unwrap_or_else(|| Routes::ladder(self.packages)))
    }

    /// Sets which tiles the die has, how lines are spread over agents and memory, and how MCDRAM is used, on a part with a mesh: Knights
    /// Landing. By default, clusters fill the quadrants one after the other, and the near memory of the profile is a cache.
    ///
    /// ```
    /// use vm_pmu::companion::Builder;
    /// use vm_pmu::die::{ClusterMode, Die};
    ///
    /// // Four nodes of a gibibyte: the first gibibyte belongs to CHAs 0 to 9.
    /// let die = Die { cluster: ClusterMode::Snc4, memory: 4 << 30, ..Die::default() };
    /// let companion = Builder::new("knl").unwrap().die(die).build();
    /// assert!((0..1000).all(|line| companion.home(64 * line) <= 9));
    /// ```
    #[must_use]
    pub fn die(self, die: Die) -> Builder {
        Builder { die: Some(die), ..self }
    }

    /// Sets the first address and the size of the graphics aperture, on a part that has one: the K8. By default there is none.
    ///
    /// ```
    /// use vm_pmu::companion::{Builder, DeviceRequest};
    /// use vm_pmu::topology;
    ///
    /// let machine = topology::Builder::new("k8").unwrap().build(|_thread, _counter| {}).unwrap();
    /// // EEh, accesses of devices and misses: two accesses to one page.
    /// machine.thread(0).unwrap().x86().wrmsr(0xC001_0000, 0x0043_06EE).unwrap();
    /// let companion = Builder::new("k8").unwrap().aperture(0xD000_0000, 64 << 20).build();
    /// let reads = DeviceRequest { physical: 0xD000_1000, size: 128, ..DeviceRequest::default() };
    /// companion.device(&reads, &machine.devices(0).unwrap().totals, &machine.device_demand(0).unwrap());
    /// assert_eq!(machine.thread(0).unwrap().x86().rdpmc(0), Ok(3));
    /// ```
    #[must_use]
    pub fn aperture(self, first: u64, bytes: u64) -> Builder {
        Builder { aperture: Some((first, bytes)), ..self }
    }

    /// Sets the number of packages per group, at least 1. Groups consist of consecutive packages. Packages of other groups are farther away
    /// than those of the same group. By default all packages form one group. On POWER9 six chips form a group, by table A-6 of its guide.
    #[must_use]
    pub fn packages_per_group(self, packages: usize) -> Builder {
        Builder { packages_per_group: packages.max(1), ..self }
    }

    /// Gives each memory channel a buffer with a cache, a fourth level, on a part that has such buffers: POWER9, with 16 MiB each. By
    /// default there are none.
    #[must_use]
    pub fn buffered(mut self) -> Builder {
        self.profile.memory = self.profile.memory.buffered();
        self
    }

    /// Adds up to 255 clusters per package whose cores are off, and whose third level takes in lines that the third levels of the others
    /// evict, on a part with a victim third level: POWER9, which calls this the extended cache option. By default there are none.
    #[must_use]
    pub fn lent_clusters(self, clusters: usize) -> Builder {
        let victims = matches!(self.profile.caches.third, Some((_, Fill::Victims)));
        Builder { lent: if victims { clusters.min(255) } else { 0 }, ..self }
    }

    /// Returns the signals that the companion supplies, in addition to those of the emulator. It can be called before the machine is built.
    ///
    /// ```
    /// use vm_pmu::{Signal, SignalSet, companion, topology};
    ///
    /// let companion = companion::Builder::new("k8").unwrap();
    /// let own = SignalSet::from_iter([Signal::Cycles, Signal::InstructionsRetired]);
    /// let machine = topology::Builder::new("k8").unwrap().supplies(own.union(&companion.supplied())).build(|_, _| {}).unwrap();
    /// assert!(machine.supplied().contains(Signal::DataCacheMisses));
    /// assert!(!machine.supplied().contains(Signal::PipelineResyncs));
    /// ```
    #[must_use]
    pub fn supplied(&self) -> SignalSet {
        signals::supplied(&self.profile, self.clock)
    }

    /// Builds the companion. Nothing is allocated afterwards except the bytes that [`Companion::save`] returns.
    #[must_use]
    pub fn build(self) -> Companion {
        let threads = usize::from(self.profile.threads.max(1));
        let per_cluster = threads * usize::from(self.profile.cores.max(1));
        let clusters = self.threads.div_ceil(per_cluster);
        let layout = Layout {
            packages: self.packages,
            clusters,
            lent: self.lent,
            packages_per_group: self.packages_per_group,
            memory_per_package: self.memory_per_package,
            io: self.io,
            routes: self.links(),
            aperture: self.aperture.filter(|_| self.profile.mesh.hypertransport),
            die: self.die.filter(|_| self.profile.mesh.quadrants > 1),
        };
        let system = System::new(&self.profile, layout, self.seed);
        let cores = self.packages * (clusters + self.lent) * usize::from(self.profile.cores.max(1));
        let tables = (0..cores).map(|_| Tables::new(&self.profile.predictor)).collect::<Vec<_>>().into_boxed_slice();
        Companion { system, tables, packages: self.packages, per_package: self.threads, clock: self.clock, always: self.always }
    }
}

/// The caches, translation buffers and predictors of a machine.
///
/// It is shared by the host threads that run the machine's CPUs; each of them owns the [`Follower`] of its CPU.
#[derive(Debug)]
pub struct Companion {
    system: System,
    /// One per core.
    tables: Box<[Tables]>,
    packages: usize,
    per_package: usize,
    clock: Clock,
    always: bool,
}

impl Companion {
    /// Returns the modelled CPU.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.system.profile
    }

    /// Returns the number of threads that it can follow.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.packages * self.per_package
    }

    /// Returns whose clock counts.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether it supplies `signal`. While the follower is active, the embedder must not add these signals too.
    #[must_use]
    pub fn supplies(&self, signal: Signal) -> bool {
        signals::supplies(&self.system.profile, self.clock, signal)
    }

    /// Whether an access by a device adds to `signal`.
    #[must_use]
    pub fn supplies_of_devices(&self, signal: Signal) -> bool {
        fabric::signals::of_devices(signal) && self.supplied().contains(signal)
    }

    /// Returns all signals that it [supplies](Companion::supplies), and those of [devices](Companion::device_access).
    #[must_use]
    pub fn supplied(&self) -> SignalSet {
        signals::supplied(&self.system.profile, self.clock)
    }

    /// Turns separate counts of memory controllers, memory channels and interconnects on or off, for
    /// [`take_places`](Companion::take_places) and [`take_interconnects`](Companion::take_interconnects). While they are on, every follower
    /// is active from its next [`sync`](Follower::sync) on; [`Follower::is_stale`] returns whether that is due. A change drops pending
    /// counts.
    pub fn watch_places(&self, on: bool) {
        self.system.watch(on);
    }

    /// Whether any place has something to report. It costs a load.
    #[must_use]
    #[inline]
    pub fn has_places(&self) -> bool {
        self.system.has_places()
    }

    /// Reports the counts of each place since the last call: the signal, and the amount in accesses, never 0. The order is fixed: package
    /// after package, near memory before channels, each place's signals in their order. These counts are in the totals too.
    ///
    /// ```
    /// use vm_pmu::companion::{Builder, Place};
    /// use vm_pmu::{Demand, Signal};
    /// use vm_pmu::arch::feed::Totals;
    ///
    /// let companion = Builder::new("knl").unwrap().threads(8).build();
    /// companion.watch_places(true);
    /// companion.device_access(0x8000, 64, false, &Totals::new(), &Demand::default());
    /// let mut reads = 0;
    /// companion.take_places(|place, signal, amount| {
    ///     if matches!(place, Place::Channel { .. }) && signal == Signal::MemoryReads {
    ///         reads += amount;
    ///     }
    /// });
    /// assert_eq!(reads, 1);
    /// assert!(!companion.has_places());
    /// ```
    pub fn take_places(&self, report: impl FnMut(Place, Signal, u64)) {
        self.system.take_places(report);
    }

    /// Whether any package's interconnect has something to report. It costs a load.
    #[must_use]
    #[inline]
    pub fn has_interconnects(&self) -> bool {
        self.system.has_interconnects()
    }

    /// Reports what the interconnect of each package did since the last call, in the order of packages, without idle ones. As with places,
    /// it is kept while they are [watched](Companion::watch_places), and dropped when that changes.
    pub fn take_interconnects(&self, report: impl FnMut(usize, &Interconnect)) {
        self.system.take_interconnects(report);
    }

    /// Returns the agent that orders accesses to the line with this physical address: the number of one of 38 CHAs on Knights Landing, 0 on
    /// other parts.
    #[must_use]
    pub fn home(&self, physical: u64) -> u16 {
        self.system.agent(physical >> self.system.profile.caches.outer_line_bits.min(63))
    }

    /// Creates a follower for thread `number`, counted through all packages; `None` if there are fewer threads.
    #[must_use]
    pub fn follower(&self, number: usize) -> Option<Follower<'_>> {
        if number >= self.threads() {
            return None;
        }
        let threads = usize::from(self.system.profile.threads.max(1));
        let cores = usize::from(self.system.profile.cores.max(1));
        // A package whose last cluster is not full leaves places unused.
        let place = number / self.per_package * self.system.clusters_per_package * cores * threads + number % self.per_package;
        let tables = self.tables.get(place / threads)?;
        Some(Follower::new(&self.system, tables, number, place, self.clock, self.always))
    }
}
