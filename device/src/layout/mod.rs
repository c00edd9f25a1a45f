//! What a machine looks like, said once: its processors, their cores and threads, and the memory of each.
//!
//! An emulator builds PMUs, a companion, a device tree and the answers of CPUID. From one [`Layout`] they cannot disagree:
//!
//! ```
//! use vm_pmu::layout::Layout;
//!
//! // Two chips of four cores with four threads each.
//! let layout = Layout::new("power9")?.packages(2).cores(4).threads(4);
//! let pmus = layout.pmus().build(|_thread, _counter| {})?;
//! assert_eq!((layout.cpus(), pmus.threads()), (32, 32));
//! // The last thread of all: chip 8, core 3, thread 3.
//! assert_eq!(layout.pir(31), Some(8 << 8 | 3 << 2 | 3));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A package is what goes into a socket: a node of K8, a chip of POWER9. The packages of [`topology`](crate::topology), whose threads share
//! PMUs or counters, are smaller on some parts, and [`Layout::pmus`] knows them.

mod cpuid;
mod refusal;
#[cfg(test)]
mod tests;

use vm_pmu_arch::registry::Part;

use crate::topology::{Builder, UnknownPart};
pub use refusal::LayoutError;
use vm_pmu_arch::die::{ClusterMode, Die, MemoryMode, SCALED_MCDRAM, Tiles};

/// Bits of a POWER9's PIR: the thread in its core, the core on its chip, the chip in its group, and the group (skiboot, `include/chip.h`).
#[cfg(feature = "power9")]
mod pir {
    pub(super) const CORE: u32 = 2;
    pub(super) const CHIP: u32 = 8;
    /// In the number of a chip.
    pub(super) const GROUP: u32 = 3;
}

/// Where a CPU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The package.
    pub package: usize,
    /// The core in the package.
    pub core: usize,
    /// The thread in the core.
    pub thread: usize,
}

/// What a machine looks like. CPUs are counted through the threads of a core, then its cores, then its packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    part: Part,
    packages: usize,
    cores: usize,
    threads: usize,
    memory_per_package: u64,
    packages_per_group: Option<usize>,
    buffered: bool,
    lent_cores: usize,
    tiles: Option<Tiles>,
    cluster: Option<ClusterMode>,
    mode: Option<MemoryMode>,
    mcdram: Option<u64>,
}

impl Layout {
    /// The smallest machine of the part of this name.
    ///
    /// # Errors
    /// [`UnknownPart`] when no part of this build has the name.
    pub fn new(name: &str) -> Result<Layout, UnknownPart> {
        Part::named(name).map(Layout::of).ok_or_else(|| UnknownPart::new(name))
    }

    /// The smallest machine of a part: one package with one core of one thread. On Knights Landing it is a tile, of two cores with four
    /// threads each.
    #[must_use]
    pub fn of(part: Part) -> Layout {
        let (shape, cores) = (part.shape(), part.shape().package_cores.unwrap_or(1));
        Layout {
            part,
            packages: 1,
            cores,
            threads: if cores > 1 { shape.core_threads } else { 1 },
            memory_per_package: 0,
            packages_per_group: None,
            buffered: false,
            lent_cores: 0,
            tiles: None,
            cluster: None,
            mode: None,
            mcdram: None,
        }
    }

    /// A usual machine of a part: two K8 of two cores, a Knights Landing of 68 cores, two POWER9 of 22, two Montecito, two of the first
    /// Itanium, with all threads of each core.
    ///
    /// ```
    /// use vm_pmu::Part;
    /// use vm_pmu::layout::Layout;
    ///
    /// let names = ["k8", "knl", "power9", "montecito", "itanium"];
    /// assert_eq!(names.map(|name| Layout::usual(Part::named(name).unwrap()).cpus()), [4, 272, 176, 8, 2]);
    /// ```
    #[must_use]
    pub fn usual(part: Part) -> Layout {
        let shape = part.shape();
        let (packages, cores) = shape.usual;
        Layout { packages, cores, threads: shape.core_threads, ..Layout::of(part) }
    }

    /// How many packages.
    #[must_use]
    pub fn packages(self, packages: usize) -> Layout {
        Layout { packages, ..self }
    }

    /// How many cores each package has.
    #[must_use]
    pub fn cores(self, cores: usize) -> Layout {
        Layout { cores, ..self }
    }

    /// How many threads each core has.
    #[must_use]
    pub fn threads(self, threads: usize) -> Layout {
        Layout { threads, ..self }
    }

    /// How many bytes of physical memory belong to each package, from address 0 up. By default all memory belongs to the first.
    #[must_use]
    pub fn memory_per_package(self, bytes: u64) -> Layout {
        Layout { memory_per_package: bytes, ..self }
    }

    /// How many packages make a group. By default all are one to the companion, and each is one of its own by the numbers of POWER9's
    /// chips, as in machines of two.
    #[must_use]
    pub fn packages_per_group(self, packages: usize) -> Layout {
        Layout { packages_per_group: Some(packages), ..self }
    }

    /// Memory has buffers with caches, on a part that has them.
    #[must_use]
    pub fn buffered(self) -> Layout {
        Layout { buffered: true, ..self }
    }

    /// How many more cores each package has that are off and lend their third level, on a part that does so. They come in clusters of
    /// as many as share caches.
    #[must_use]
    pub fn lent_cores(self, cores: usize) -> Layout {
        Layout { lent_cores: cores, ..self }
    }

    /// Which tiles a Knights Landing has, as many as its cores need. By default those of the [usual](Tiles::usual) part with so many.
    ///
    /// ```
    /// use vm_pmu::die::Tiles;
    /// use vm_pmu::layout::Layout;
    ///
    /// // The first tile is absent, so the first CPU is at the second place: its APIC ID is 8.
    /// let layout = Layout::new("knl").unwrap().cores(74).tiles(Tiles::ALL.without(0));
    /// assert_eq!((layout.check(), layout.apic_id(0)), (Ok(()), Some(8)));
    /// ```
    #[must_use]
    pub fn tiles(self, tiles: Tiles) -> Layout {
        Layout { tiles: Some(tiles), ..self }
    }

    /// How a Knights Landing shares lines among agents and memory. A mode of several nodes divides the
    /// [memory of the package](Layout::memory_per_package) among them.
    #[must_use]
    pub fn cluster_mode(self, cluster: ClusterMode) -> Layout {
        Layout { cluster: Some(cluster), ..self }
    }

    /// What a Knights Landing uses MCDRAM as. What of it is memory begins above the [memory of the package](Layout::memory_per_package), which is
    /// DDR alone; [`Die::memory_nodes`] says where each node of memory is.
    ///
    /// ```
    /// use vm_pmu::die::{MemoryKind, MemoryMode};
    /// use vm_pmu::layout::Layout;
    ///
    /// // 4 GiB of DDR, and half of 16 GiB of MCDRAM above them.
    /// let layout = Layout::new("knl").unwrap().cores(68).memory_per_package(4 << 30).memory_mode(MemoryMode::HybridHalf).mcdram(16 << 30);
    /// let node = layout.die().unwrap().memory_nodes().nth(1).unwrap();
    /// assert_eq!((node.kind, node.first, node.bytes), (MemoryKind::Mcdram, 4 << 30, 8 << 30));
    /// ```
    #[must_use]
    pub fn memory_mode(self, mode: MemoryMode) -> Layout {
        Layout { mode: Some(mode), ..self }
    }

    /// How many bytes of MCDRAM a Knights Landing has. By default those of a [scaled part](SCALED_MCDRAM). The companion takes eight bytes for each
    /// line of what is a cache.
    #[must_use]
    pub fn mcdram(self, bytes: u64) -> Layout {
        Layout { mcdram: Some(bytes), ..self }
    }

    /// What is chosen of the die of a Knights Landing. `None` for another part, and for a small machine of which nothing was chosen: its tiles
    /// are the first ones, and the companion divides them among the quadrants.
    #[must_use]
    pub fn die(&self) -> Option<Die> {
        let tiles = self.cores / self.part.shape().package_cores.filter(|cores| *cores > 1)?;
        (self.chooses_die() || Tiles::is_usual(tiles)).then(|| Die {
            tiles: self.tiles.unwrap_or(Tiles::usual(tiles)),
            cluster: self.cluster.unwrap_or_default(),
            mode: self.mode.unwrap_or_default(),
            memory: self.memory_per_package,
            mcdram: self.mcdram.unwrap_or(SCALED_MCDRAM),
        })
    }

    fn chooses_die(&self) -> bool {
        self.tiles.is_some() || self.cluster.is_some() || self.mode.is_some() || self.mcdram.is_some()
    }

    /// How many packages, cores of each, and threads of each core.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.packages, self.cores, self.threads)
    }

    /// The part.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// How many CPUs: threads of all cores.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.packages.saturating_mul(self.per_package())
    }

    fn per_package(&self) -> usize {
        self.cores.saturating_mul(self.threads)
    }

    /// Where CPU `cpu` is, if there is one of that number.
    ///
    /// ```
    /// use vm_pmu::layout::{Layout, Place};
    ///
    /// let layout = Layout::new("montecito").unwrap().packages(2).cores(2).threads(2);
    /// assert_eq!(layout.place(6), Some(Place { package: 1, core: 1, thread: 0 }));
    /// assert_eq!(layout.place(8), None);
    /// ```
    #[must_use]
    pub fn place(&self, cpu: usize) -> Option<Place> {
        let there = cpu < self.cpus();
        there.then(|| Place {
            package: cpu / self.per_package(),
            core: cpu % self.per_package() / self.threads,
            thread: cpu % self.threads,
        })
    }

    /// Whether there are such machines.
    ///
    /// # Errors
    /// [`LayoutError`] says what the part does not have.
    pub fn check(&self) -> Result<(), LayoutError> {
        let shape = self.part.shape();
        if self.packages == 0 || self.cores == 0 {
            return Err(LayoutError::Empty { part: self.part });
        }
        let together = shape.package_cores.unwrap_or(1);
        let whole = together > 1;
        if self.threads == 0 || self.threads > shape.core_threads || whole && self.threads != shape.core_threads {
            return Err(LayoutError::Threads { part: self.part, threads: self.threads });
        }
        if !self.cores.is_multiple_of(together) {
            return Err(LayoutError::Cores { part: self.part, cores: self.cores });
        }
        match self.die() {
            None if self.chooses_die() => return Err(LayoutError::Die { part: self.part }),
            Some(die) if die.tiles.count() != self.cores / together.max(1) => {
                return Err(LayoutError::Tiles { tiles: die.tiles.count(), cores: self.cores });
            }
            Some(die) if die.cluster.nodes() > 1 && die.memory == 0 => return Err(LayoutError::Nodes),
            Some(die) if die.flat() != 0 && die.memory == 0 => return Err(LayoutError::Mcdram),
            _ => {}
        }
        self.pmus().check().map_err(LayoutError::Pmus)
    }

    /// How many packages of PMUs there are, and how many threads each has: for [`Builder::packages`] and [`Builder::threads`].
    #[must_use]
    pub fn pmu_packages(&self) -> (usize, usize) {
        let cores = self.part.shape().package_cores.unwrap_or(self.cores).max(1);
        (self.packages.saturating_mul(self.cores).div_ceil(cores), cores.saturating_mul(self.threads))
    }

    /// How the PMUs are built. CPU n is [thread](crate::topology::Machine::thread) n.
    #[must_use]
    pub fn pmus(&self) -> Builder {
        let (packages, threads) = self.pmu_packages();
        let builder = Builder::of(self.part).packages(packages).threads(threads);
        #[cfg(feature = "knl")]
        let builder = self.die().map_or(builder, |die| builder.die(die));
        builder
    }

    /// How the companion is built. CPU n is [followed](crate::companion::Companion::follower) as thread n. `None` for a part without a profile.
    #[cfg(feature = "companion")]
    #[must_use]
    pub fn companion(&self) -> Option<crate::companion::Builder> {
        use crate::companion::{Builder, parts};
        let profile = parts::named(self.part.name())?;
        let builder = Builder::of(profile).packages(self.packages).core_threads(self.threads).threads(self.per_package());
        let builder = builder.memory_per_package(self.memory_per_package);
        let builder = self.die().map_or(builder, |die| builder.die(die));
        let builder = builder.lent_clusters(self.lent_cores.div_ceil(usize::from(profile.cores.max(1))));
        let builder = if self.buffered { builder.buffered() } else { builder };
        Some(self.packages_per_group.map_or(builder, |packages| builder.packages_per_group(packages)))
    }

    /// The number of a package among the chips of a POWER9's machine, as its PIRs and its device tree have it: the group in bits 3 and up,
    /// and the chip in it.
    #[cfg(feature = "power9")]
    #[must_use]
    pub fn chip(&self, package: usize) -> u32 {
        let group = self.packages_per_group.unwrap_or(1).clamp(1, 1 << pir::GROUP);
        ((package / group) << pir::GROUP | (package % group)) as u32
    }

    /// What PIR reads in a CPU of POWER9. `None` for another part, or where there is no such CPU.
    #[cfg(feature = "power9")]
    #[must_use]
    pub fn pir(&self, cpu: usize) -> Option<u32> {
        let place = self.place(cpu).filter(|_| matches!(self.part, Part::Power9(_)))?;
        Some(self.chip(place.package) << pir::CHIP | (place.core << pir::CORE) as u32 | place.thread as u32)
    }

    /// The chips for [the device tree](crate::tree::power9), each with the memory at `home` of its package.
    #[cfg(feature = "tree")]
    #[must_use]
    pub fn chips(&self, home: impl Fn(usize) -> u64) -> alloc::vec::Vec<crate::tree::power9::Chip> {
        (0..self.packages).map(|package| crate::tree::power9::Chip::new(self.chip(package), home(package))).collect()
    }
}
