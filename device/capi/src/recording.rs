//! Recordings: what is done with a machine, as the text of a litmus file.

use std::ffi::c_char;

use crate::handle::{self, Handle};
use crate::machine::{VmPmuMachine, machine};
use crate::pointer::{borrow, offer, put, writable};
use crate::snapshot::refused;
use crate::status::{VmPmuStatus, argument, guarded};

/// A recording, as text. Callers only get pointers to it.
pub struct VmPmuRecording {
    text: String,
    left_out: u64,
    is_cut: bool,
}

impl Handle for VmPmuRecording {
    const KIND: &'static str = "a recording";
}

/// Starts to record what is done with the machine, up to `most` statements: accesses, what is fed, contexts, injections, records and
/// requests, and what the guest sees. An earlier recording that was not stopped is dropped. A recording allocates memory as it grows, and
/// every call takes longer.
///
/// VM_PMU_STATUS_ERROR_SNAPSHOT when what the machine remembers cannot be saved: the recording begins with it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_recording_start(machine: *const VmPmuMachine, most: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::machine(machine) }?;
        whole.machine.start_recording(most).map_err(refused)
    })
}

/// Stops recording, and writes to `recording` what was recorded. It lives until vm_pmu_recording_destroy().
///
/// VM_PMU_STATUS_ERROR_ARGUMENT when the machine does not record.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_recording_stop(machine: *const VmPmuMachine, recording: *mut *mut VmPmuRecording) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::machine(machine) }?;
        writable(recording, "where the recording is to be written")?;
        let stopped = whole.machine.stop_recording();
        let recorded = stopped.ok_or_else(|| argument("the machine does not record: call vm_pmu_recording_start() first"))?;
        let text = recorded.litmus.to_string();
        let made = handle::hand_out(VmPmuRecording { text, left_out: recorded.left_out, is_cut: recorded.is_cut });
        // SAFETY: the caller's promise.
        unsafe { put(recording, made, "where the recording is to be written") }
    })
}

/// Writes to `text` and `length` where the text of the recording is, a litmus file without a byte of value 0 at its end, and how many bytes it
/// has. They are valid until the recording is destroyed. Writes to `left_out`, which may be null, how many calls it lacks, for which litmus
/// files have no statement, and to `is_cut`, which may be null, whether it ends early.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_recording_text(
    recording: *const VmPmuRecording,
    text: *mut *const c_char,
    length: *mut usize,
    left_out: *mut u64,
    is_cut: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let recorded = borrow(recording, "the recording")?;
            writable(length, "where the length is to be written")?;
            put(text, recorded.text.as_ptr().cast(), "where the place of the text is to be written")?;
            put(length, recorded.text.len(), "where the length is to be written")?;
            offer(left_out, recorded.left_out, "where the number of calls is to be written")?;
            offer(is_cut, recorded.is_cut, "where it is to be written whether it is cut")
        }
    })
}

/// Destroys a recording. Null is allowed and does nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a recording is one that vm_pmu_recording_stop() made and that has not been
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_recording_destroy(recording: *mut VmPmuRecording) -> VmPmuStatus {
    guarded(|| handle::destroy(recording))
}
