//! What CPUID must say so that the guest finds the PMU.

use alloc::vec::Vec;

use kvm_bindings::{CpuId, KVM_MAX_CPUID_ENTRIES, kvm_cpuid_entry2};
use vm_pmu_arch::registry::Part;

use super::Error;
use crate::cpuid::{MONITORING, OTHERS, answer};

/// The entries of `cpuid`, as returned by `KVM_GET_SUPPORTED_CPUID` or changed by a hypervisor, with the PMU of `part` and no other shown
/// to the guest: for `KVM_SET_CPUID2`.
///
/// Vendor and signature become the part's, as drivers choose by them. Leaf 0Ah and the bits that belong to it become what the part has
/// there, and bits that announce a PMU of other processors are cleared. Everything else stays: features, caches and topology.
///
/// # Errors
/// [`Error::NotX86`] for a part without CPUID; [`Error::TooManyEntries`] when there are more than KVM takes.
///
/// ```
/// use kvm_bindings::{CpuId, kvm_cpuid_entry2};
/// use vm_pmu::Part;
///
/// let host = CpuId::from_entries(&[kvm_cpuid_entry2 { function: 1, eax: 0x000A_06D1, ..Default::default() }]).unwrap();
/// let guest = vm_pmu::kvm::cpuid(Part::named("knl").unwrap(), &host).unwrap();
/// let signature = guest.as_slice().iter().find(|entry| entry.function == 1).unwrap().eax;
/// assert_eq!(signature, 0x0005_0671);
/// assert!(guest.as_slice().iter().any(|entry| entry.function == 0xA && entry.eax == 0x0728_0203));
/// ```
pub fn cpuid(part: Part, cpuid: &CpuId) -> Result<CpuId, Error> {
    let identity = part.cpuid().ok_or(Error::NotX86(part))?;
    let is_other = |entry: &&kvm_cpuid_entry2| entry.function != MONITORING && !OTHERS.contains(&entry.function);
    let mut entries: Vec<kvm_cpuid_entry2> = cpuid.as_slice().iter().filter(is_other).copied().collect();
    let has_monitoring = identity.monitoring.map(|_| MONITORING);
    for leaf in [0, 1, 0x8000_0000, 0x8000_0001].into_iter().chain(has_monitoring) {
        if !entries.iter().any(|entry| entry.function == leaf) {
            entries.push(kvm_cpuid_entry2 { function: leaf, ..kvm_cpuid_entry2::default() });
        }
    }
    for entry in &mut entries {
        let registers = [entry.eax, entry.ebx, entry.ecx, entry.edx];
        [entry.eax, entry.ebx, entry.ecx, entry.edx] = answer(part, entry.function, entry.index, registers).unwrap_or(registers);
    }
    let most = KVM_MAX_CPUID_ENTRIES;
    CpuId::from_entries(&entries).map_err(|_| Error::TooManyEntries { entries: entries.len(), most })
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::knl::CPUID_0A;

    use super::*;

    fn part(name: &str) -> Part {
        Part::named(name).expect("known")
    }

    /// Every bit set: a processor with every feature.
    fn host() -> CpuId {
        let all = |function, index| kvm_cpuid_entry2 {
            function,
            index,
            flags: u32::from(function == 7),
            eax: if function & !0x8000_0000 == 0 { function | 0x28 } else { u32::MAX },
            ebx: u32::MAX,
            ecx: u32::MAX,
            edx: u32::MAX,
            ..kvm_cpuid_entry2::default()
        };
        let leaves = [(0, 0), (1, 0), (7, 0), (7, 1), (0xA, 0), (0xB, 1), (0x1C, 0), (0x23, 0), (0x8000_0000, 0), (0x8000_0001, 0)];
        let entries: Vec<_> = leaves.into_iter().chain([(0x8000_0022, 0)]).map(|(leaf, subleaf)| all(leaf, subleaf)).collect();
        CpuId::from_entries(&entries).expect("short")
    }

    fn leaf(cpuid: &CpuId, function: u32, index: u32) -> Option<[u32; 4]> {
        let entry = cpuid.as_slice().iter().find(|entry| entry.function == function && entry.index == index)?;
        Some([entry.eax, entry.ebx, entry.ecx, entry.edx])
    }

    fn text(word: u32) -> [u8; 4] {
        word.to_le_bytes()
    }

    #[test]
    fn a_k8_is_found_by_vendor_and_signature_alone() {
        let guest = cpuid(part("k8"), &host()).expect("short");
        for (function, eax) in [(0, 0x28), (0x8000_0000, 0x8000_0028)] {
            let [last, ebx, ecx, edx] = leaf(&guest, function, 0).expect("there");
            assert_eq!((last, [text(ebx), text(edx), text(ecx)]), (eax, [*b"Auth", *b"enti", *b"cAMD"]));
        }
        let [signature, _, ecx, edx] = leaf(&guest, 1, 0).expect("there");
        assert_eq!((signature, ecx & 0x8014, edx & 0x0020_0220), (0x0002_0F32, 0, 0x220));
        let [signature, _, ecx, _] = leaf(&guest, 0x8000_0001, 0).expect("there");
        assert_eq!((signature, ecx), (0x0002_0F32, !0x1180_0000));
        for gone in [0xA, 0x1C, 0x23, 0x8000_0022] {
            assert_eq!(leaf(&guest, gone, 0), None);
        }
    }

    #[test]
    fn a_knights_landing_has_its_leaf_and_no_debug_store() {
        let guest = cpuid(part("knl"), &host()).expect("short");
        let [_, ebx, ecx, edx] = leaf(&guest, 0, 0).expect("there");
        assert_eq!([text(ebx), text(edx), text(ecx)], [*b"Genu", *b"ineI", *b"ntel"]);
        let [signature, _, ecx, edx] = leaf(&guest, 1, 0).expect("there");
        assert_eq!((signature, ecx & 0x8014, edx & 0x0020_0220), (0x0005_0671, 0x8000, 0x220));
        assert_eq!(leaf(&guest, 0xA, 0), Some(CPUID_0A));
        assert_eq!(leaf(&guest, 0x8000_0000, 0), Some([0x8000_0028, 0, 0, 0]));
        assert_eq!(leaf(&guest, 7, 0).expect("there")[3], !0x0008_8000);
        assert_eq!(leaf(&guest, 7, 1).expect("there")[0], !0x100);
    }

    #[test]
    fn what_is_no_matter_of_the_pmu_stays() {
        for name in ["k8", "knl"] {
            assert_eq!(leaf(&cpuid(part(name), &host()).expect("short"), 0xB, 1), Some([u32::MAX; 4]));
        }
    }

    #[test]
    fn leaves_that_are_missing_are_made() {
        let guest = cpuid(part("knl"), &CpuId::new(0).expect("short")).expect("short");
        assert_eq!(leaf(&guest, 0, 0).expect("made")[0], 0xA);
        assert_eq!(leaf(&guest, 1, 0).expect("made")[0], 0x0005_0671);
        assert_eq!(leaf(&guest, 0x8000_0000, 0), Some([0x8000_0001, 0, 0, 0]));
    }

    #[test]
    fn shown_twice_is_shown_once() {
        for name in ["k8", "knl"] {
            let guest = cpuid(part(name), &host()).expect("short");
            let again = cpuid(part(name), &guest).expect("short");
            assert_eq!(again.as_slice(), guest.as_slice());
        }
    }

    #[test]
    fn a_list_that_is_full_is_refused() {
        let full = CpuId::new(KVM_MAX_CPUID_ENTRIES).expect("as many as there may be");
        let refused = Error::TooManyEntries { entries: KVM_MAX_CPUID_ENTRIES + 4, most: KVM_MAX_CPUID_ENTRIES };
        assert_eq!(cpuid(part("knl"), &full).err(), Some(refused));
        assert_eq!(cpuid(part("power9"), &full).err(), Some(Error::NotX86(part("power9"))));
    }
}
