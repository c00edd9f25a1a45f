//! What a machine's CPUs share in addition to memory.

mod amd;
mod intel;

use std::fmt::Debug;
use std::sync::Arc;

use vm_pmu::Part;
use vm_pmu::arch::knl::CPUID_0A;
use vm_pmu::arch::model::CpuidIdentity;
use vm_pmu::companion::parts;

use intel::Processor;
use vm_pmu_engines::x86::{CpuidResult, DmaAccess, MachineBus, PciFunction, PerformanceMask};

use super::Devices;

/// How CPUID spells the vendor of Intel's processors.
const INTEL: [u8; 12] = *b"GenuineIntel";

/// The leaf of architectural performance monitoring.
const PERFORMANCE_MONITORING: u32 = 0xA;

/// What CPUID returns for one leaf, in place of any other result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The leaf, from EAX.
    pub leaf: u32,
    /// The subleaf, from ECX; `None` for any.
    pub subleaf: Option<u32>,
    /// The result.
    pub answer: CpuidResult,
}

impl Leaf {
    /// Leaf 0Ah, of architectural performance monitoring, as EAX, EBX, ECX and EDX.
    #[must_use]
    pub fn performance_monitoring([eax, ebx, ecx, edx]: [u32; 4]) -> Leaf {
        Leaf { leaf: PERFORMANCE_MONITORING, subleaf: None, answer: CpuidResult { eax, ebx, ecx, edx } }
    }
}

/// The functions in PCI configuration space.
pub trait ConfigurationSpace: Debug + Send + Sync {
    /// A read of `size` (1, 2 or 4) bytes by CPU `cpu`; functions that are absent return ones.
    fn read(&self, cpu: usize, at: PciFunction, offset: u16, size: u8) -> u32;

    /// A write of `size` (1, 2 or 4) bytes by CPU `cpu`.
    fn write(&self, cpu: usize, at: PciFunction, offset: u16, size: u8, value: u32);
}

/// Which CPUs share a core, and which a package of PMUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// CPUs of a core.
    pub core: usize,
    /// CPUs of a package.
    pub package: usize,
}

impl Topology {
    /// That of a machine with `cpus` CPUs of `part`. Where cores have several threads, a core has as many as the part has, and a package is
    /// the cores that share a second level of caches, on Knights Landing a tile. A package is whole even if the machine has fewer CPUs.
    /// CPUs that are a core each are one package.
    ///
    /// ```
    /// use vm_pmu::Part;
    /// use vm_pmu_board::x86::Topology;
    ///
    /// assert_eq!(Topology::of(Part::named("k8").unwrap(), 3), Topology { core: 1, package: 3 });
    /// ```
    #[must_use]
    pub fn of(part: Part, cpus: usize) -> Topology {
        match parts::named(part.name()) {
            Some(profile) if profile.threads > 1 => {
                let (cores, threads) = (usize::from(profile.cores), usize::from(profile.threads));
                Topology { core: threads, package: cores * threads }
            }
            _ => Topology { core: 1, package: cpus.max(1) },
        }
    }

    /// How many packages `cpus` CPUs are.
    #[must_use]
    pub fn packages(self, cpus: usize) -> usize {
        cpus.div_ceil(self.package).max(1)
    }
}

/// A board whose CPUs show themselves as the part that the PMU belongs to.
#[derive(Clone, Debug)]
pub struct Board {
    part: Part,
    cpus: usize,
    leaves: Vec<Leaf>,
    configuration: Option<Arc<dyn ConfigurationSpace>>,
    devices: Vec<Devices>,
}

impl Board {
    /// A board with `cpus` CPUs of `part`, which show the part's leaf of performance monitoring if it has one, and nothing in PCI
    /// configuration space.
    #[must_use]
    pub fn new(part: Part, cpus: usize) -> Board {
        let leaves = match part {
            Part::Knl(_) => vec![Leaf::performance_monitoring(CPUID_0A)],
            _ => Vec::new(),
        };
        Board { part, cpus, leaves, configuration: None, devices: Vec::new() }
    }

    /// CPUID returns `leaves`. Of two for the same leaf the later holds.
    #[must_use]
    pub fn with_leaves(mut self, leaves: impl IntoIterator<Item = Leaf>) -> Board {
        self.leaves.extend(leaves);
        self
    }

    /// PCI configuration space is `configuration`.
    #[must_use]
    pub fn with_configuration(self, configuration: Arc<dyn ConfigurationSpace>) -> Board {
        Board { configuration: Some(configuration), ..self }
    }

    /// What devices do with memory reaches `devices`, in addition to those that it has been given.
    #[must_use]
    pub fn with_devices(mut self, devices: Devices) -> Board {
        self.devices.push(devices);
        self
    }

    /// What the part's local APICs do to the performance counters' entry when they deliver by it: those of Intel mask it (SDM volume 3,
    /// section 10.5.1).
    #[must_use]
    pub fn performance_mask(&self) -> PerformanceMask {
        match self.part.cpuid() {
            Some(identity) if identity.vendor == INTEL => PerformanceMask::Set,
            _ => PerformanceMask::Keep,
        }
    }

    fn own(&self, cpu: usize, leaf: u32, subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let profile = parts::named(self.part.name());
        match self.part.cpuid() {
            None => answer,
            Some(identity) if identity.vendor == INTEL => {
                let topology = Topology::of(self.part, self.cpus);
                Processor { identity, cpu, cpus: self.cpus, topology, profile }.cpuid(leaf, subleaf, answer)
            }
            Some(identity) => match leaf {
                0 | 0x8000_0000 => vendor(identity, answer),
                1 | 0x8000_0001 => CpuidResult { eax: identity.signature, ..answer },
                0x8000_0005 | 0x8000_0006 => profile.map_or(answer, |profile| amd::caches(leaf, profile)),
                _ => answer,
            },
        }
    }
}

/// The vendor's spelling in EBX, EDX and ECX.
fn vendor(identity: CpuidIdentity, answer: CpuidResult) -> CpuidResult {
    let word = |at: usize| identity.vendor.iter().skip(at).take(4).rev().fold(0, |word, letter| word << 8 | u32::from(*letter));
    CpuidResult { ebx: word(0), edx: word(4), ecx: word(8), ..answer }
}

impl MachineBus for Board {
    fn pci_read(&self, cpu: usize, at: PciFunction, offset: u16, size: u8) -> u32 {
        self.configuration.as_ref().map_or(u32::MAX, |configuration| configuration.read(cpu, at, offset, size))
    }

    fn pci_write(&self, cpu: usize, at: PciFunction, offset: u16, size: u8, value: u32) {
        if let Some(configuration) = &self.configuration {
            configuration.write(cpu, at, offset, size, value);
        }
    }

    fn dma(&self, _cpu: usize, access: &DmaAccess) {
        self.devices.iter().for_each(|devices| devices.access(access));
    }

    fn cpuid(&self, cpu: usize, leaf: u32, subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let named = |one: &&Leaf| one.leaf == leaf && one.subleaf.is_none_or(|wanted| wanted == subleaf);
        match self.leaves.iter().rev().find(named) {
            Some(named) => named.answer,
            None => self.own(cpu, leaf, subleaf, answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::arch::knl::{THREADS_PER_CORE, THREADS_PER_TILE};

    use super::*;

    fn k8() -> Board {
        Board::new(Part::named("k8").expect("known"), 1)
    }

    #[test]
    fn the_caches_of_a_k8_are_those_of_an_opteron() {
        // As an Opteron 248 returns.
        let ask = |leaf| k8().cpuid(0, leaf, 0, CpuidResult::default());
        assert_eq!(ask(0x8000_0005), CpuidResult { eax: 0xFF08_FF08, ebx: 0xFF20_FF20, ecx: 0x4002_0140, edx: 0x4002_0140 });
        assert_eq!(ask(0x8000_0006), CpuidResult { eax: 0, ebx: 0x4200_4200, ecx: 0x0400_8140, edx: 0 });
    }

    #[test]
    fn a_leaf_of_the_board_takes_the_place_of_the_parts() {
        let words = CpuidResult { eax: 1, ebx: 2, ecx: 3, edx: 4 };
        let board = k8().with_leaves([
            Leaf { leaf: 1, subleaf: None, answer: CpuidResult::default() },
            Leaf { leaf: 1, subleaf: Some(7), answer: words },
            Leaf::performance_monitoring([0x0728_0203, 0, 0, 0x503]),
        ]);
        let ask = |leaf, subleaf| board.cpuid(0, leaf, subleaf, CpuidResult { eax: 99, ..CpuidResult::default() });
        assert_eq!(ask(1, 0), CpuidResult::default());
        assert_eq!(ask(1, 7), words);
        assert_eq!(ask(0xA, 3), CpuidResult { eax: 0x0728_0203, edx: 0x503, ..CpuidResult::default() });
        assert_eq!(ask(7, 0).eax, 99);
    }

    #[test]
    fn an_intel_processor_shows_its_monitoring_and_masks_the_counters_entry() {
        let board = Board::new(Part::named("knl").expect("known"), 8);
        let answer = board.cpuid(3, 0xA, 0, CpuidResult::default());
        assert_eq!(answer, CpuidResult { eax: 0x0728_0203, edx: 0x503, ..CpuidResult::default() });
        assert_eq!(board.cpuid(3, 0xB, 0, CpuidResult::default()).edx, 3);
        assert_eq!(board.performance_mask(), PerformanceMask::Set);
    }

    /// Returns the place and size of a read, and keeps writes.
    #[derive(Debug, Default)]
    struct Echo(std::sync::Mutex<Vec<(PciFunction, u16, u8, u32)>>);

    impl ConfigurationSpace for Echo {
        fn read(&self, _cpu: usize, at: PciFunction, offset: u16, size: u8) -> u32 {
            u32::from(at.device) << 24 | u32::from(offset) << 8 | u32::from(size)
        }

        fn write(&self, _cpu: usize, at: PciFunction, offset: u16, size: u8, value: u32) {
            self.0.lock().expect("whole").push((at, offset, size, value));
        }
    }

    #[test]
    fn configuration_space_is_what_the_board_was_given() {
        let at = PciFunction { bus: 1, device: 2, function: 3 };
        assert_eq!(k8().pci_read(0, at, 0, 4), u32::MAX);
        let echo = Arc::new(Echo::default());
        let board = k8().with_configuration(Arc::clone(&echo) as Arc<dyn ConfigurationSpace>);
        assert_eq!(board.pci_read(0, at, 0x408, 4), 0x0204_0804);
        board.pci_write(0, at, 0x430, 4, 0x10003);
        assert_eq!(*echo.0.lock().expect("whole"), [(at, 0x430, 4, 0x10003)]);
    }

    #[test]
    fn a_package_is_a_tile_of_two_cores_with_four_threads() {
        let topology = Topology::of(Part::named("knl").expect("known"), 9);
        assert_eq!(topology, Topology { core: THREADS_PER_CORE.into(), package: THREADS_PER_TILE.into() });
        assert_eq!([0, 1, 8, 9].map(|cpus| topology.packages(cpus)), [1, 1, 1, 2]);
    }

    #[test]
    fn an_amd_processor_does_not_mask_the_counters_entry() {
        assert_eq!(k8().performance_mask(), PerformanceMask::Keep);
    }
}
