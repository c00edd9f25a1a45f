//! Saving a machine, and restoring it here or elsewhere.

use crate::handle::{self, Handle};
use crate::machine::{VmPmuMachine, machine};
use crate::pointer::{borrow, list, put, writable};
use crate::status::{Failure, VmPmuStatus, guarded, misuse};

/// What a machine, a chip or a companion remembers, as bytes. Callers only get pointers to it.
pub struct VmPmuSnapshot {
    bytes: Vec<u8>,
}

impl Handle for VmPmuSnapshot {
    const KIND: &'static str = "a snapshot";
}

impl VmPmuSnapshot {
    /// A snapshot with these bytes, for the caller to destroy.
    pub(crate) fn handed_out(bytes: Vec<u8>) -> *mut VmPmuSnapshot {
        handle::hand_out(VmPmuSnapshot { bytes })
    }
}

pub(crate) fn refused(error: impl std::fmt::Display) -> Failure {
    misuse(VmPmuStatus::ErrorSnapshot, format!("{error}"))
}

/// Saves everything that the machine remembers: its PMUs, the boxes that they share, and what packages post into memory. Options, totals
/// and deadlines are not part of it. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
///
/// No thread of the guest may run meanwhile. An interrupt that becomes due by saving is raised before this returns: save the interrupt
/// controllers afterwards.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_save(machine: *const VmPmuMachine, snapshot: *mut *mut VmPmuSnapshot) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::machine(machine) }?;
        writable(snapshot, "where the snapshot is to be written")?;
        let saved = whole.machine.save().map_err(refused)?;
        // SAFETY: the caller's promise.
        unsafe { put(snapshot, VmPmuSnapshot::handed_out(saved), "where the snapshot is to be written") }
    })
}

/// Writes to `bytes` and `length` where the bytes of the snapshot are, and how many. They are valid until the snapshot is destroyed.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_snapshot_bytes(snapshot: *const VmPmuSnapshot, bytes: *mut *const u8, length: *mut usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let saved = borrow(snapshot, "the snapshot")?;
            writable(length, "where the length is to be written")?;
            put(bytes, saved.bytes.as_ptr(), "where the place of the bytes is to be written")?;
            put(length, saved.bytes.len(), "where the length is to be written")
        }
    })
}

/// Destroys a snapshot. Null is allowed and does nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a snapshot is one that vm_pmu_save() or a similar function made and that has not
/// been destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_snapshot_destroy(snapshot: *mut VmPmuSnapshot) -> VmPmuStatus {
    guarded(|| handle::destroy(snapshot))
}

/// Makes the machine remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a machine of the same part, packages and
/// threads, saved by this version of the library or an earlier one.
///
/// Events that were added to the totals before are not counted. No thread of the guest may run meanwhile. Check the demand and the lines
/// afterwards. VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged or of another machine: then nothing is changed.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_load(machine: *const VmPmuMachine, bytes: *const u8, length: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (whole, bytes) = unsafe { (self::machine(machine)?, list(bytes, length, "the snapshot")?) };
        whole.machine.load(bytes).map_err(refused)
    })
}
