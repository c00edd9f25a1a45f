//! Litmus files, replayed.

use std::ffi::c_char;

use vm_pmu::litmus::Case;

use crate::pointer::{list, offer};
use crate::status::{VmPmuStatus, argument, guarded, misuse};

/// Replays a litmus file, the `length` bytes at `text`, on a separate machine. Writes to `checked`, which may be null, how many
/// expectations it checked.
///
/// VM_PMU_STATUS_ERROR_LITMUS_TEXT when the file cannot be read, VM_PMU_STATUS_ERROR_LITMUS_FAILED when an expectation failed;
/// vm_pmu_last_error() then returns its line, what was observed, and what was expected.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_litmus_run(text: *const c_char, length: usize, checked: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { list(text.cast::<u8>(), length, "the litmus file") }?;
        let text = std::str::from_utf8(bytes).map_err(|_| argument("the litmus file is no UTF-8 text"))?;
        let cases = Case::of_file(text)
            .map_err(|errors| misuse(VmPmuStatus::ErrorLitmusText, errors.first().map(ToString::to_string).unwrap_or_default()))?;
        let mut came_true = 0;
        for case in &cases {
            came_true += case.run().map_err(|failure| misuse(VmPmuStatus::ErrorLitmusFailed, format!("{failure}")))?;
        }
        // SAFETY: the caller's promise.
        unsafe { offer(checked, u64::try_from(came_true).unwrap_or(u64::MAX), "where the number is to be written") }
    })
}
