//! A virtual machine of KVM with the guest's RAM, and its vCPUs.

use std::sync::Arc;

use kvm_bindings::{KVM_MAX_CPUID_ENTRIES, KVM_MSR_EXIT_REASON_INVAL, KVM_MSR_EXIT_REASON_UNKNOWN};
use kvm_ioctls::{Cap, Kvm, MsrFilterDefaultAction, MsrFilterRange, MsrFilterRangeFlags, VcpuFd, VmFd};
use vm_pmu::Part;
use vm_pmu::kvm::{self, FilterRange, MsrFilter};

use super::unchecked;
use crate::memory::Memory;

/// Where KVM may keep the task-state segment of real mode, on hosts whose processors need one. No guest's RAM is there.
const REAL_MODE_TASK: usize = 0xFFFB_D000;

/// The register of the local APIC's address.
const APIC_BASE: u32 = 0x1B;
/// Leaf 1, ECX: x2APIC, and the timer's TSC-deadline mode. The engine's local APIC has neither.
const X2APIC: u32 = 1 << 21;
const TSC_DEADLINE: u32 = 1 << 24;

/// A virtual machine, as long as one of its vCPUs is there.
#[derive(Debug)]
pub(super) struct Host {
    kvm: Kvm,
    vm: VmFd,
    // Dropped after the virtual machine, which uses it to the end.
    memory: Arc<Memory>,
}

impl Host {
    /// Makes one whose RAM is `memory`, or returns in one line why there is none.
    pub(super) fn new(memory: &Arc<Memory>) -> Result<Host, String> {
        let kvm = Kvm::new().map_err(|error| format!("/dev/kvm does not open: {error}"))?;
        for needed in [Cap::SetGuestDebug, Cap::SyncRegs, Cap::UserMemory, Cap::VcpuEvents, Cap::Xsave, Cap::ExtCpuid] {
            if !kvm.check_extension(needed) {
                return Err(format!("this KVM has no {needed:?}"));
            }
        }
        let vm = kvm.create_vm().map_err(|error| format!("KVM makes no virtual machine: {error}"))?;
        // Refused by hosts that need none.
        let _ = vm.set_tss_address(REAL_MODE_TASK);
        let host = Host { kvm, vm, memory: Arc::clone(memory) };
        unchecked::share(&host.vm, &host.memory)?;
        Ok(host)
    }

    /// The same, in which accesses to the PMU of `part`, to APIC_BASE and to what KVM does not know are exits.
    pub(super) fn with_pmu_of(part: Part, memory: &Arc<Memory>) -> Result<Host, String> {
        let host = Host::new(memory)?;
        for needed in [Cap::X86UserSpaceMsr, Cap::X86MsrFilter, Cap::GetTscKhz] {
            if !host.kvm.check_extension(needed) {
                return Err(format!("this KVM has no {needed:?}"));
            }
        }
        // Refused where the host has no PMU for guests, which is just as good.
        let _ = host.vm.enable_cap(&kvm::without_host_pmu());
        let mut exits = kvm::user_space_msrs();
        exits.args[0] |= u64::from(KVM_MSR_EXIT_REASON_UNKNOWN | KVM_MSR_EXIT_REASON_INVAL);
        host.vm.enable_cap(&exits).map_err(|error| format!("KVM leaves no registers to the engine: {error}"))?;
        let filter = MsrFilter::of(part).map_err(|error| error.to_string())?;
        fn range(range: &FilterRange) -> MsrFilterRange<'_> {
            let flags = MsrFilterRangeFlags::from_bits_truncate(range.flags());
            MsrFilterRange { flags, base: range.base(), msr_count: range.count(), bitmap: range.bitmap() }
        }
        let both = MsrFilterRangeFlags::READ | MsrFilterRangeFlags::WRITE;
        let apic_base = MsrFilterRange { flags: both, base: APIC_BASE, msr_count: 1, bitmap: &[0; 8] };
        let ranges: Vec<_> = filter.ranges().iter().map(range).chain([apic_base]).collect();
        host.vm
            .set_msr_filter(MsrFilterDefaultAction::ALLOW, &ranges)
            .map_err(|error| format!("KVM refuses the filter of registers: {error}"))?;
        Ok(host)
    }

    /// The guest's RAM.
    pub(super) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Makes the vCPU of this number, which finds the PMU of `part` and the engine's local APIC.
    pub(super) fn vcpu_of(&self, number: usize, part: Part) -> Result<VcpuFd, String> {
        let vcpu = self.vm.create_vcpu(number as u64).map_err(|error| format!("KVM makes no vCPU {number}: {error}"))?;
        let host = self.kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES).map_err(|error| format!("KVM has no CPUID: {error}"))?;
        let mut cpuid = kvm::cpuid(part, &host).map_err(|error| error.to_string())?;
        for entry in cpuid.as_mut_slice().iter_mut().filter(|entry| entry.function == 1) {
            entry.ecx &= !(X2APIC | TSC_DEADLINE);
            entry.ebx = entry.ebx & 0x00FF_FFFF | (number as u32) << 24;
        }
        vcpu.set_cpuid2(&cpuid).map_err(|error| format!("KVM refuses the CPUID of {part}: {error}"))?;
        Ok(vcpu)
    }

    /// Makes the vCPU of this number, which has all that KVM can give it.
    pub(super) fn vcpu(&self, number: usize) -> Result<VcpuFd, String> {
        let vcpu = self.vm.create_vcpu(number as u64).map_err(|error| format!("KVM makes no vCPU {number}: {error}"))?;
        let cpuid = self.kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES).map_err(|error| format!("KVM has no CPUID: {error}"))?;
        vcpu.set_cpuid2(&cpuid).map_err(|error| format!("KVM refuses its own CPUID: {error}"))?;
        Ok(vcpu)
    }
}
