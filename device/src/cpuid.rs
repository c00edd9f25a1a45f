//! What CPUID must say so that the guest finds the PMU.

use vm_pmu_arch::model::CpuidIdentity;
use vm_pmu_arch::registry::Part;

/// Intel's vendor string in CPUID.
pub(crate) const INTEL: [u8; 12] = *b"GenuineIntel";

/// Leaf 0Ah: architectural performance monitoring.
pub(crate) const MONITORING: u32 = 0xA;
/// Leaves of other PMUs: last-branch records of the architecture, its later performance monitoring, and AMD's of later families.
pub(crate) const OTHERS: [u32; 3] = [0x1C, 0x23, 0x8000_0022];

/// Leaf 1, EDX: model-specific registers, a local APIC, a debug store.
const MSR: u32 = 1 << 5;
const APIC: u32 = 1 << 9;
const DEBUG_STORE: u32 = 1 << 21;
/// Leaf 1, ECX: a debug store of 64 bits, one qualified by privilege level; IA32_PERF_CAPABILITIES.
const DEBUG_STORE_64: u32 = 1 << 2;
const DEBUG_STORE_LEVELS: u32 = 1 << 4;
const CAPABILITIES: u32 = 1 << 15;
/// Leaf 7, EDX: cores of several kinds, each with its PMU; last-branch records of the architecture. Its subleaf 1, EAX: leaf 23h.
const HYBRID: u32 = 1 << 15;
const LAST_BRANCHES: u32 = 1 << 19;
const LATER_MONITORING: u32 = 1 << 8;
/// Leaf 8000_0001h, ECX: counters of later families, of the core, of the northbridge and of the last level of caches.
const LATER_COUNTERS: u32 = 1 << 23 | 1 << 24 | 1 << 28;

/// What CPUID returns in EAX, EBX, ECX and EDX.
pub type Registers = [u32; 4];

/// What CPUID must return in `leaf` and `subleaf` for the guest to find the PMU of `part` and no other, if it would otherwise return
/// `registers`. `None` for a part without CPUID.
///
/// Vendor and signature become the part's, as drivers choose by them. Leaf 0Ah and the bits that belong to it become what the part has
/// there, and bits that announce a PMU of other processors are cleared. Everything else stays: features, caches and topology.
///
/// ```
/// use vm_pmu::Part;
/// use vm_pmu::cpuid::answer;
///
/// let part = Part::named("knl").unwrap();
/// assert_eq!(answer(part, 0xA, 0, [0; 4]).unwrap()[0], 0x0728_0203);
/// assert_eq!(answer(part, 1, 0, [0x000A_06D1, 0, 0, 0]).unwrap()[0], 0x0005_0671);
/// ```
#[must_use]
pub fn answer(part: Part, leaf: u32, subleaf: u32, registers: Registers) -> Option<Registers> {
    let identity = part.cpuid()?;
    let is_intel = identity.vendor == INTEL;
    let [mut eax, mut ebx, mut ecx, mut edx] = registers;
    match (leaf, subleaf) {
        (0, _) => {
            // A smaller maximum would hide leaf 0Ah.
            return Some(spelled(identity, eax.max(if is_intel { MONITORING } else { 1 })));
        }
        (1, _) => {
            eax = identity.signature;
            ecx &= !(DEBUG_STORE_64 | DEBUG_STORE_LEVELS | CAPABILITIES);
            ecx |= if is_intel { CAPABILITIES } else { 0 };
            edx = (edx | MSR | APIC) & !DEBUG_STORE;
        }
        (7, 0) => edx &= !(HYBRID | LAST_BRANCHES),
        (7, 1) => eax &= !LATER_MONITORING,
        (0x8000_0000, _) => {
            eax = eax.max(0x8000_0001);
            // Intel has its vendor and signature in the basic leaves only.
            if !is_intel {
                return Some(spelled(identity, eax));
            }
            (ebx, ecx, edx) = (0, 0, 0);
        }
        (0x8000_0001, _) => {
            eax = if is_intel { 0 } else { identity.signature };
            ecx &= !LATER_COUNTERS;
        }
        (MONITORING, _) => return Some(identity.monitoring.unwrap_or_default()),
        (leaf, _) if OTHERS.contains(&leaf) => return Some([0; 4]),
        _ => {}
    }
    Some([eax, ebx, ecx, edx])
}

/// A leaf with the vendor's letters in EBX, EDX and ECX.
fn spelled(identity: CpuidIdentity, eax: u32) -> Registers {
    let word = |at: usize| identity.vendor.iter().skip(at).take(4).rev().fold(0, |word, letter| word << 8 | u32::from(*letter));
    [eax, word(0), word(8), word(4)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_announces_other_units_is_taken_away() {
        let part = Part::named("k8").expect("known");
        assert_eq!(answer(part, 0xA, 0, [7, 7, 7, 7]), Some([0; 4]));
        assert_eq!(answer(part, 0x8000_0022, 0, [7, 7, 7, 7]), Some([0; 4]));
        assert_eq!(answer(part, 4, 0, [7, 7, 7, 7]), Some([7; 4]), "caches stay");
    }

    #[test]
    fn a_part_without_cpuid_has_no_answer() {
        assert_eq!(answer(Part::named("power9").expect("known"), 0, 0, [0; 4]), None);
    }
}
