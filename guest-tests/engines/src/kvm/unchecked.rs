//! The two calls that Rust cannot check: KVM gets the guest's RAM, and vector registers.
#![allow(unsafe_code)]

use kvm_bindings::kvm_userspace_memory_region;
use kvm_ioctls::{Cap, VcpuFd, VmFd};
use vm_memory::{GuestAddress, GuestMemoryBackend};

use crate::memory::Memory;

/// The local APIC's page, which is not to lie in RAM: its accesses are the engine's.
const APIC: u64 = 0xFEE0_0000;
/// Bytes of the area of XSAVE that `kvm-bindings` knows.
const XSAVE: i32 = 4096;

/// Words of that area: the control word of x87, MXCSR, XMM0, and which of its parts are in use.
const FCW: usize = 0;
const MXCSR: usize = 6;
const XMM: usize = 40;
const IN_USE: usize = 128;
/// Parts: x87 and SSE.
const X87_AND_SSE: u32 = 3;

/// Gives `memory` to `vm`, whose owner keeps it as long as the virtual machine.
pub(super) fn share(vm: &VmFd, memory: &Memory) -> Result<(), String> {
    if memory.size() > APIC {
        return Err(format!("{:#x} bytes of RAM reach the local APIC: KVM's guests have less than {APIC:#x}", memory.size()));
    }
    if vm.check_extension_int(Cap::Xsave2) > XSAVE {
        return Err(format!("vector registers take more than {XSAVE} bytes here: this program is not to ask the system for more of them"));
    }
    let address = memory.guest_memory().get_host_address(GuestAddress(0)).map_err(|error| format!("RAM has no address: {error}"))?;
    let region = kvm_userspace_memory_region { memory_size: memory.size(), userspace_addr: address as u64, ..Default::default() };
    // SAFETY: the mapping is as long as said. It belongs to the guest alone: this program reaches it by volatile and atomic accesses only,
    // as vm-memory does them. The owner of `vm` holds the `Arc` of `memory` in a field that is dropped after `vm`, and every vCPU holds
    // that owner.
    unsafe { vm.set_user_memory_region(region) }.map_err(|error| format!("KVM refuses the RAM: {error}"))
}

/// Gives a vCPU of a virtual machine that RAM was shared with its vector registers. KVM_SET_FPU would not do: it does not mark them as in
/// use, and those of a vCPU that has not used any stay zero.
pub(super) fn give_vectors(vcpu: &VcpuFd, xmm: &[u128; 16]) -> Result<(), String> {
    let mut area = vcpu.get_xsave().map_err(|error| format!("KVM shows no vector registers: {error}"))?;
    // As after a reset, unless the guest has set them otherwise.
    if area.region[IN_USE] & X87_AND_SSE == 0 {
        area.region[FCW] = 0x37F;
        area.region[MXCSR] = 0x1F80;
    }
    for (to, from) in area.region[XMM..].chunks_exact_mut(4).zip(xmm) {
        for (n, word) in to.iter_mut().enumerate() {
            *word = (from >> (32 * n)) as u32;
        }
    }
    area.region[IN_USE] |= X87_AND_SSE;
    // SAFETY: KVM reads as many bytes as the vCPU's area has, which were not more than the struct's when RAM was shared; only a request of
    // this program to the system for further registers could change that, and it makes none.
    unsafe { vcpu.set_xsave(&area) }.map_err(|error| format!("KVM refuses vector registers: {error}"))
}
