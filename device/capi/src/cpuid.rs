//! What CPUID returns for a part.

use std::ffi::c_char;

use vm_pmu::cpuid::answer;

use crate::machine::part;
use crate::pointer::{borrow, put};
use crate::status::{VmPmuStatus, guarded, misuse};

/// Changes what CPUID returns in `leaf` and `subleaf`, so that the guest finds the PMU of the part of this name and no other. `registers`
/// are EAX, EBX, ECX and EDX as they would be otherwise. Leaf 0Ah, vendor and signature become the part's, and bits that announce a PMU of
/// other processors are cleared. VM_PMU_STATUS_ERROR_UNSUPPORTED for a part without CPUID.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpuid(part: *const c_char, leaf: u32, subleaf: u32, registers: *mut [u32; 4]) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (part, before) = unsafe { (self::part(part)?, borrow(registers.cast_const(), "the registers")?) };
        let Some(after) = answer(part, leaf, subleaf, *before) else {
            return Err(misuse(VmPmuStatus::ErrorUnsupported, format!("{part} has no CPUID: it is no part of x86")));
        };
        // SAFETY: the same.
        unsafe { put(registers, after, "the registers") }
    })
}
