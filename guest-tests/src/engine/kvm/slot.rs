//! The one call that Rust cannot check: KVM gets the guest's RAM.

use kvm_bindings::kvm_userspace_memory_region;
use kvm_ioctls::VmFd;
use vm_memory::{GuestAddress, GuestMemoryBackend};

use crate::engine::memory::Memory;

/// The local APIC's page, which is not to lie in RAM: its accesses are the engine's.
const APIC: u64 = 0xFEE0_0000;

/// Gives `memory` to `vm`, whose owner keeps it as long as the virtual machine.
#[allow(unsafe_code)]
pub(super) fn share(vm: &VmFd, memory: &Memory) -> Result<(), String> {
    if memory.size() > APIC {
        return Err(format!("{:#x} bytes of RAM reach the local APIC: KVM's guests have less than {APIC:#x}", memory.size()));
    }
    let address = memory.guest_memory().get_host_address(GuestAddress(0)).map_err(|error| format!("RAM has no address: {error}"))?;
    let region = kvm_userspace_memory_region { memory_size: memory.size(), userspace_addr: address as u64, ..Default::default() };
    // SAFETY: the mapping is as long as said. It is nobody's but the guest's: this program reaches it by volatile and atomic accesses
    // only, as vm-memory does them. The owner of `vm` holds the `Arc` of `memory` in a field that is dropped behind `vm`, and every vCPU
    // holds that owner.
    unsafe { vm.set_user_memory_region(region) }.map_err(|error| format!("KVM refuses the RAM: {error}"))
}
