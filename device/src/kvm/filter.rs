//! Which model-specific registers KVM leaves to user space.

use alloc::vec::Vec;

use kvm_bindings::{
    KVM_CAP_PMU_CAPABILITY, KVM_CAP_X86_USER_SPACE_MSR, KVM_MSR_EXIT_REASON_FILTER, KVM_MSR_FILTER_DEFAULT_ALLOW, KVM_MSR_FILTER_READ,
    KVM_MSR_FILTER_WRITE, KVM_PMU_CAP_DISABLE, kvm_enable_cap, kvm_msr_filter, kvm_msr_filter_range,
};
use vm_pmu_arch::knl::untile;
use vm_pmu_arch::registry::Part;
use vm_pmu_arch::{k8, knl};

use super::Error;

/// The ranges in which processors have their registers: those that the permission maps of virtual machines cover.
const WINDOWS: [core::ops::RangeInclusive<u32>; 3] = [0..=0x1FFF, 0xC000_0000..=0xC000_1FFF, 0xC001_0000..=0xC001_1FFF];

/// Registers that are further apart than this go into two ranges: a longer list of ranges costs less than a bitmap of mostly unused bits.
const APART: u32 = 256;

/// KVM copies bitmaps in words of this many bytes, whatever the number of registers.
const WORD: usize = 8;

/// Whether model-specific register `index` is one of the part's PMU.
fn is_register(part: Part, index: u32) -> Result<bool, Error> {
    match part {
        Part::K8(_) => Ok(k8::Register::from_msr(index).is_some()),
        Part::Knl(_) => Ok(knl::Register::from_msr(index).is_some() || untile::at_msr(index).is_some()),
        #[allow(unreachable_patterns, reason = "there may be parts of x86 alone")]
        _ => Err(Error::NotX86(part)),
    }
}

/// A range of a filter: neighbouring registers, with a bit for each that says whether KVM may handle it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRange {
    base: u32,
    count: u32,
    bitmap: Vec<u8>,
}

impl FilterRange {
    fn at(index: u32) -> FilterRange {
        let mut range = FilterRange { base: index, count: 0, bitmap: Vec::new() };
        range.deny(index);
        range
    }

    /// Whether the range contains `index`, or ends so near below it that it may be extended.
    fn reaches(&self, index: u32) -> bool {
        index.checked_sub(self.base).is_some_and(|offset| offset < self.count.saturating_add(APART))
    }

    fn deny(&mut self, index: u32) {
        let offset = index.saturating_sub(self.base);
        self.count = self.count.max(offset.saturating_add(1));
        let bytes = (self.count as usize).div_ceil(8).next_multiple_of(WORD);
        self.bitmap.resize(bytes, 0xFF);
        if let Some(byte) = self.bitmap.get_mut(offset as usize / 8) {
            *byte &= !(1 << (offset % 8));
        }
    }

    /// The first register's number.
    #[must_use]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// How many registers the range covers.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Which accesses are filtered: reads and writes, `KVM_MSR_FILTER_READ` and `KVM_MSR_FILTER_WRITE`.
    #[must_use]
    pub fn flags(&self) -> u32 {
        KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE
    }

    /// A bit for each register, the lowest bit of the first byte for the first: 0 leaves it to user space, 1 to KVM. Its length is a
    /// multiple of eight bytes, as KVM copies whole words of 64 bits.
    #[must_use]
    pub fn bitmap(&self) -> &[u8] {
        &self.bitmap
    }

    fn denies(&self, index: u32) -> bool {
        let Some(offset) = index.checked_sub(self.base).filter(|offset| *offset < self.count) else { return false };
        self.bitmap.get(offset as usize / 8).is_some_and(|byte| byte & 1 << (offset % 8) == 0)
    }
}

/// The filter that makes KVM leave a part's PMU to user space: `KVM_X86_SET_MSR_FILTER`.
///
/// Every other register stays KVM's. Only one filter is active at a time: a hypervisor that filters other registers too adds its ranges to
/// these, 16 at most in total. If two ranges contain the same register, KVM uses the first.
///
/// ```
/// use vm_pmu::Part;
/// use vm_pmu::kvm::MsrFilter;
///
/// let filter = MsrFilter::of(Part::named("k8").unwrap()).unwrap();
/// let range = &filter.ranges()[0];
/// assert_eq!((range.base(), range.count()), (0xC001_0000, 8));
/// assert!(filter.denies(0xC001_0004) && !filter.denies(0xC000_0080));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MsrFilter {
    ranges: Vec<FilterRange>,
}

impl MsrFilter {
    /// The filter of `part`: every model-specific register of its threads and, on Knights Landing, of its untile. Six ranges at most.
    ///
    /// # Errors
    /// [`Error::NotX86`] for a part without such registers.
    pub fn of(part: Part) -> Result<MsrFilter, Error> {
        let mut ranges: Vec<FilterRange> = Vec::new();
        for index in WINDOWS.into_iter().flatten() {
            if !is_register(part, index)? {
                continue;
            }
            match ranges.last_mut().filter(|range| range.reaches(index)) {
                Some(range) => range.deny(index),
                None => ranges.push(FilterRange::at(index)),
            }
        }
        Ok(MsrFilter { ranges })
    }

    /// The ranges, from the lowest register up.
    #[must_use]
    pub fn ranges(&self) -> &[FilterRange] {
        &self.ranges
    }

    /// Whether an access to `index` comes to user space.
    #[must_use]
    pub fn denies(&self, index: u32) -> bool {
        self.ranges.iter().any(|range| range.denies(index))
    }

    /// The filter as the system call takes it. It points to the bitmaps in `self`, which must live until the call has returned.
    #[must_use]
    pub fn to_kvm(&self) -> kvm_msr_filter {
        let mut filter = kvm_msr_filter { flags: KVM_MSR_FILTER_DEFAULT_ALLOW, ..kvm_msr_filter::default() };
        for (to, range) in filter.ranges.iter_mut().zip(&self.ranges) {
            // KVM only reads the bitmap, but its header declares a pointer to mutable data.
            let bitmap = range.bitmap.as_ptr().cast_mut();
            *to = kvm_msr_filter_range { flags: range.flags(), nmsrs: range.count, base: range.base, bitmap };
        }
        filter
    }
}

/// What to enable so that filtered accesses come to user space, instead of faulting: `KVM_CAP_X86_USER_SPACE_MSR`, for the virtual machine.
#[must_use]
pub fn user_space_msrs() -> kvm_enable_cap {
    kvm_enable_cap { cap: KVM_CAP_X86_USER_SPACE_MSR, args: [u64::from(KVM_MSR_EXIT_REASON_FILTER), 0, 0, 0], ..kvm_enable_cap::default() }
}

/// What to enable so that the guest never sees the host's counters, whatever CPUID says: `KVM_CAP_PMU_CAPABILITY`, for the virtual machine,
/// before it has vCPUs. Without it RDPMC may read a counter of the host. A KVM that does not know it, or has no PMU to offer, refuses it:
/// then there is nothing to turn off.
#[must_use]
pub fn without_host_pmu() -> kvm_enable_cap {
    kvm_enable_cap { cap: KVM_CAP_PMU_CAPABILITY, args: [u64::from(KVM_PMU_CAP_DISABLE), 0, 0, 0], ..kvm_enable_cap::default() }
}

#[cfg(test)]
mod tests {
    use kvm_bindings::{KVM_MSR_FILTER_MAX_BITMAP_SIZE, KVM_MSR_FILTER_MAX_RANGES};
    use vm_pmu_arch::access::Fault;

    use super::*;
    use crate::topology::Builder;

    fn part(name: &str) -> Part {
        Part::named(name).expect("known")
    }

    #[test]
    fn exactly_what_the_machine_claims_comes_to_user_space() {
        for name in ["k8", "knl"] {
            let filter = MsrFilter::of(part(name)).expect("an x86");
            let machine = Builder::new(name).expect("known").build(|_, _| {}).unwrap();
            let cpu = machine.thread(0).expect("one thread");
            for index in (0..0x2_0000).chain(0x4000_0000..0x4000_1000).chain(0xC000_0000..0xC002_0000) {
                assert_eq!(filter.denies(index), cpu.x86().rdmsr(index) != Err(Fault::Unclaimed), "{name}: {index:#x}");
            }
        }
    }

    #[test]
    fn ranges_are_few_small_and_apart_from_what_kvm_never_filters() {
        for name in ["k8", "knl"] {
            let filter = MsrFilter::of(part(name)).expect("an x86");
            assert!(filter.ranges().len() <= 6 && filter.ranges().len() <= KVM_MSR_FILTER_MAX_RANGES as usize);
            for range in filter.ranges() {
                assert!(range.bitmap().len().is_multiple_of(8) && range.bitmap().len() * 8 >= range.count() as usize);
                assert!(range.bitmap().len() <= KVM_MSR_FILTER_MAX_BITMAP_SIZE as usize);
                // The registers of an x2APIC.
                assert!(range.base() + range.count() <= 0x800 || range.base() >= 0x900, "{name}: {:#x}", range.base());
            }
            assert!(filter.ranges().windows(2).all(|pair| pair[0].base() + pair[0].count() <= pair[1].base()));
        }
    }

    #[test]
    fn a_gap_in_a_range_stays_with_kvm() {
        let filter = MsrFilter::of(part("knl")).expect("an x86");
        // IA32_PERFEVTSEL1 and IA32_MISC_ENABLE, and the status of machine checks between them.
        assert!(filter.denies(0x187) && filter.denies(0x1A0) && !filter.denies(0x17A) && !filter.denies(0x19C));
        assert!(!filter.denies(0xC0) && !filter.denies(0xFC8) && !filter.denies(u32::MAX));
    }

    #[test]
    fn the_systems_form_points_to_the_same_ranges() {
        let filter = MsrFilter::of(part("knl")).expect("an x86");
        let raw = filter.to_kvm();
        assert_eq!(raw.flags, KVM_MSR_FILTER_DEFAULT_ALLOW);
        for (raw, range) in raw.ranges.iter().zip(filter.ranges()) {
            assert_eq!((raw.flags, raw.base, raw.nmsrs), (3, range.base(), range.count()));
            assert_eq!(raw.bitmap.cast_const(), range.bitmap().as_ptr());
        }
        assert!(raw.ranges.iter().skip(filter.ranges().len()).all(|unused| unused.nmsrs == 0));
    }

    #[test]
    fn parts_without_such_registers_are_refused() {
        for name in ["power9", "itanium", "montecito"] {
            assert_eq!(MsrFilter::of(part(name)), Err(Error::NotX86(part(name))));
        }
    }

    #[test]
    fn capabilities_are_those_of_the_interface() {
        let exits = user_space_msrs();
        assert_eq!((exits.cap, exits.args, exits.flags), (188, [4, 0, 0, 0], 0));
        let host = without_host_pmu();
        assert_eq!((host.cap, host.args, host.flags), (212, [1, 0, 0, 0], 0));
    }
}
