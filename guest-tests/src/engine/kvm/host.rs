//! A virtual machine of KVM with the guest's RAM, and its vCPUs.

use std::sync::Arc;

use kvm_bindings::KVM_MAX_CPUID_ENTRIES;
use kvm_ioctls::{Cap, Kvm, VcpuFd, VmFd};

use super::unchecked;
use crate::engine::memory::Memory;

/// Where KVM may keep the task-state segment of real mode, on hosts whose processors need one. No guest's RAM is there.
const REAL_MODE_TASK: usize = 0xFFFB_D000;

/// A virtual machine, as long as one of its vCPUs is there.
#[derive(Debug)]
pub(super) struct Host {
    kvm: Kvm,
    vm: VmFd,
    // Behind the virtual machine, which has a use of it as long as it is there.
    memory: Arc<Memory>,
}

impl Host {
    /// Makes one whose RAM is `memory`. The reason in one line if there is none to be had.
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

    /// Makes the vCPU of this number, which has all that KVM can give it.
    pub(super) fn vcpu(&self, number: usize) -> Result<VcpuFd, String> {
        let vcpu = self.vm.create_vcpu(number as u64).map_err(|error| format!("KVM makes no vCPU {number}: {error}"))?;
        let cpuid = self.kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES).map_err(|error| format!("KVM has no CPUID: {error}"))?;
        vcpu.set_cpuid2(&cpuid).map_err(|error| format!("KVM refuses its own CPUID: {error}"))?;
        Ok(vcpu)
    }
}
