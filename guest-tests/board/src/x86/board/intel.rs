//! CPUID of an Intel processor (SDM volume 2A, CPUID).

use vm_pmu::arch::model::CpuidIdentity;
use vm_pmu::companion::{CacheGeometry, Fill, Profile, SecondLevel};

use super::{PERFORMANCE_MONITORING, Topology, vendor};
use vm_pmu_engines::x86::CpuidResult;

/// The last basic leaf: that of the topology.
const TOPOLOGY: u32 = 0xB;
/// In ECX of leaf 1: IA32_PERF_CAPABILITIES exists.
const PDCM: u32 = 1 << 15;
/// In EDX of leaf 1: the number of logical processors in EBX holds.
const HTT: u32 = 1 << 28;
/// In EDX of leaf 4: WBINVD need not reach the caches above of other threads; lower levels hold what is above.
const NOT_WRITTEN_BACK: u32 = 1;
const INCLUSIVE: u32 = 2;

/// One CPU of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor<'a> {
    pub(super) identity: CpuidIdentity,
    /// Its number, which is its APIC ID.
    pub(super) cpu: usize,
    pub(super) cpus: usize,
    pub(super) topology: Topology,
    pub(super) profile: Option<&'a Profile>,
}

impl Processor<'_> {
    /// The result, where the engine's own is `answer`. Features are the engine's: it knows best what it executes.
    pub(super) fn cpuid(&self, leaf: u32, subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let none = CpuidResult::default();
        match leaf {
            0 => vendor(self.identity, CpuidResult { eax: TOPOLOGY, ..none }),
            1 => {
                let several = if self.cpus > 1 { HTT } else { 0 };
                CpuidResult { eax: self.identity.signature, ecx: answer.ecx | PDCM, edx: answer.edx | several, ..answer }
            }
            // One descriptor: leaf 4 has the caches.
            2 => CpuidResult { eax: 0xFF01, ..none },
            4 => self.profile.map_or(none, |profile| self.cache(subleaf, profile)),
            PERFORMANCE_MONITORING => none,
            TOPOLOGY => self.level(subleaf),
            // Intel spells its vendor and its signature among the basic leaves only.
            0x8000_0000 => CpuidResult { eax: answer.eax, ..none },
            0x8000_0001 => CpuidResult { eax: 0, ebx: 0, ..answer },
            0x8000_0006 => self.profile.map_or(none, second),
            _ => answer,
        }
    }

    /// How many bits distinguish `processors`.
    fn shift(processors: usize) -> u32 {
        processors.max(1).next_power_of_two().trailing_zeros()
    }

    /// Leaf 0Bh: threads of a core, then processors of the machine.
    fn level(&self, subleaf: u32) -> CpuidResult {
        let edx = self.cpu as u32;
        let core = Self::shift(self.topology.core);
        match subleaf {
            0 => CpuidResult { eax: core, ebx: self.topology.core.min(self.cpus) as u32, ecx: 1 << 8, edx },
            1 => CpuidResult { eax: Self::shift(self.cpus).max(core), ebx: self.cpus as u32, ecx: 2 << 8 | 1, edx },
            _ => CpuidResult { ecx: subleaf & 0xFF, edx, ..CpuidResult::default() },
        }
    }

    /// Leaf 4: a core's caches for data and for instructions, then what a package of them shares.
    fn cache(&self, subleaf: u32, profile: &Profile) -> CpuidResult {
        let caches = &profile.caches;
        let (kind, level, geometry, bits, shared, edx) = match subleaf {
            0 => (1, 1, caches.data, caches.line_bits, self.topology.core, 0),
            1 => (2, 1, caches.instruction, caches.line_bits, self.topology.core, 0),
            2 => {
                let edx = NOT_WRITTEN_BACK | if caches.second_fill == Fill::Victims { 0 } else { INCLUSIVE };
                (3, 2, unified(profile), caches.outer_line_bits, self.topology.package, edx)
            }
            _ => return CpuidResult::default(),
        };
        let cores = 1 << (Self::shift(self.cpus).saturating_sub(Self::shift(self.topology.core)));
        let sets = (geometry.bytes >> bits) / u64::from(geometry.ways.max(1));
        CpuidResult {
            // Bit 8: it needs no initialisation.
            eax: kind | level << 5 | 1 << 8 | ((1 << Self::shift(shared)) - 1) << 14 | (cores - 1u32) << 26,
            ebx: (geometry.ways.max(1) - 1) << 22 | ((1 << bits) - 1),
            ecx: (sets as u32).saturating_sub(1),
            edx,
        }
    }
}

fn unified(profile: &Profile) -> CacheGeometry {
    match profile.caches.second {
        SecondLevel::Unified(geometry) | SecondLevel::Split { data: geometry, .. } => geometry,
    }
}

/// Leaf 8000_0006h: KiB, associativity and line of the second level.
fn second(profile: &Profile) -> CpuidResult {
    let geometry = unified(profile);
    let ways = match geometry.ways {
        0..=2 => geometry.ways,
        3..=4 => 4,
        5..=8 => 6,
        _ => 8,
    };
    let ecx = ((geometry.bytes >> 10) as u32) << 16 | ways << 12 | 1 << profile.caches.outer_line_bits;
    CpuidResult { ecx, ..CpuidResult::default() }
}

#[cfg(test)]
mod tests {
    use vm_pmu::companion::parts;

    use super::*;

    /// CPU 5 of a tile, with a possible result of the engine.
    fn ask(leaf: u32, subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let identity = CpuidIdentity { vendor: *b"GenuineIntel", signature: 0x0005_0671, monitoring: None };
        let topology = Topology { core: 4, package: 8 };
        Processor { identity, cpu: 5, cpus: 8, topology, profile: parts::named("knl") }.cpuid(leaf, subleaf, answer)
    }

    fn bare(leaf: u32, subleaf: u32) -> CpuidResult {
        ask(leaf, subleaf, CpuidResult::default())
    }

    #[test]
    fn a_tile_is_of_family_6_model_57h_and_has_leaves_up_to_0bh() {
        assert_eq!(bare(0, 0), CpuidResult { eax: 0xB, ebx: 0x756E_6547, ecx: 0x6C65_746E, edx: 0x4965_6E69 });
        assert_eq!(bare(1, 0).eax, 0x0005_0671);
    }

    #[test]
    fn features_are_those_of_the_engine_with_perf_capabilities_and_without_a_debug_store() {
        let engine = CpuidResult { eax: 0xF00, ebx: 0x0508_0800, ecx: 1 << 23, edx: 1 << 9 };
        assert_eq!(ask(1, 0, engine), CpuidResult { eax: 0x0005_0671, ebx: 0x0508_0800, ecx: 1 << 23 | 1 << 15, edx: 1 << 9 | 1 << 28 });
    }

    #[test]
    fn four_threads_are_a_core_and_eight_the_machine() {
        assert_eq!(bare(0xB, 0), CpuidResult { eax: 2, ebx: 4, ecx: 0x100, edx: 5 });
        assert_eq!(bare(0xB, 1), CpuidResult { eax: 3, ebx: 8, ecx: 0x201, edx: 5 });
        assert_eq!(bare(0xB, 2), CpuidResult { eax: 0, ebx: 0, ecx: 2, edx: 5 });
    }

    #[test]
    fn four_threads_share_the_first_level_and_eight_the_second() {
        // Except for the cores of the whole part in bits 31:26 these are a Xeon Phi 7210's own results.
        assert_eq!(bare(4, 0), CpuidResult { eax: 0x0400_C121, ebx: 0x01C0_003F, ecx: 0x3F, edx: 0 });
        assert_eq!(bare(4, 1), CpuidResult { eax: 0x0400_C122, ebx: 0x01C0_003F, ecx: 0x3F, edx: 0 });
        assert_eq!(bare(4, 2), CpuidResult { eax: 0x0401_C143, ebx: 0x03C0_003F, ecx: 0x3FF, edx: 3 });
        assert_eq!(bare(4, 3), CpuidResult::default());
    }

    #[test]
    fn extended_leaves_name_no_vendor() {
        let engine = CpuidResult { eax: 0x8000_0008, ebx: 1, ecx: 2, edx: 3 };
        assert_eq!(ask(0x8000_0000, 0, engine), CpuidResult { eax: 0x8000_0008, ..CpuidResult::default() });
        assert_eq!(ask(0x8000_0001, 0, engine), CpuidResult { eax: 0, ebx: 0, ecx: 2, edx: 3 });
        // 1 MiB of 16 ways with lines of 64 bytes.
        assert_eq!(bare(0x8000_0006, 0), CpuidResult { ecx: 0x0400_8040, ..CpuidResult::default() });
    }

    #[test]
    fn nothing_is_said_of_performance_monitoring_unless_the_board_does() {
        assert_eq!(ask(0xA, 0, CpuidResult { eax: 7, ..CpuidResult::default() }), CpuidResult::default());
    }
}
