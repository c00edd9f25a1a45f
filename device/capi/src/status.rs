//! What a call returns, and the message of the last failed one.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vm_pmu::Fault;
use vm_pmu::arch::access::Facility;

use crate::reentry::is_inside;

/// What a call returns: 0 for success, a positive number for a fault to deliver to the guest, a negative one for misuse.
///
/// A fault is not the caller's error: it is the processor's response to what the guest did. vm_pmu_last_error() describes a misuse. Neither
/// changes anything. Later versions may return faults and errors that are not listed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum VmPmuStatus {
    /// Success.
    Ok = 0,
    /// No register of this PMU has the address: it may belong to another component.
    FaultUnclaimed = 1,
    /// x86: a general-protection exception with error code 0, #GP(0).
    FaultGeneralProtection = 2,
    /// POWER: a facility unavailable interrupt, vector F60h, for the performance monitor: FSCR shows cause 3.
    FaultFacilityPerformanceMonitor = 3,
    /// POWER: the same for the branch history, cause 4.
    FaultFacilityBranchHistory = 4,
    /// POWER: the same for event-based branches, cause 7.
    FaultFacilityEventBasedBranch = 5,
    /// POWER: a hypervisor facility unavailable interrupt, vector F80h, for the performance monitor: HFSCR shows cause 3.
    FaultHypervisorFacilityPerformanceMonitor = 6,
    /// POWER: the same for the branch history, cause 4.
    FaultHypervisorFacilityBranchHistory = 7,
    /// POWER: the same for event-based branches, cause 7.
    FaultHypervisorFacilityEventBasedBranch = 8,
    /// POWER: a hypervisor emulation assistance interrupt, vector E40h; HEIR holds the instruction.
    FaultEmulationAssistance = 9,
    /// POWER: a program interrupt of the privileged-instruction type, vector 700h.
    FaultPrivilegedInstruction = 10,
    /// POWER: no interrupt; the instruction does nothing, and mfspr leaves its target register unchanged.
    FaultNoOperation = 11,
    /// IA-64: a privileged operation fault, a general exception at vector 5400h with ISR.code 10h.
    FaultPrivilegedOperation = 12,
    /// IA-64: a reserved register/field fault, a general exception at vector 5400h with ISR.code 30h.
    FaultReservedRegisterField = 13,
    /// A fault that this header has no name for.
    FaultOther = 255,
    /// A pointer is null or misaligned, or a number has no meaning.
    ErrorArgument = -1,
    /// There is no thread, package, event or box of that number.
    ErrorRange = -2,
    /// There is nothing of that name.
    ErrorName = -3,
    /// The part does not have what was requested.
    ErrorUnsupported = -4,
    /// The litmus file cannot be read.
    ErrorLitmusText = -5,
    /// An expectation of the litmus file failed.
    ErrorLitmusFailed = -6,
    /// The snapshot is damaged, or of another machine; the machine is unchanged.
    ErrorSnapshot = -7,
    /// A function of the caller stopped the call; what it was given before that stays valid.
    ErrorStopped = -8,
    /// A function of VmPmuMemory called the library, which holds a lock while it runs.
    ErrorReentered = -9,
    /// The bytes are no instruction, or end before it does.
    ErrorInstruction = -10,
    /// An internal failure of the library. The machine can still be used; please report the failure.
    ErrorInternal = -100,
}

impl From<Fault> for VmPmuStatus {
    fn from(fault: Fault) -> VmPmuStatus {
        match fault {
            Fault::Unclaimed => VmPmuStatus::FaultUnclaimed,
            Fault::GeneralProtection => VmPmuStatus::FaultGeneralProtection,
            Fault::FacilityUnavailable(Facility::PerformanceMonitor) => VmPmuStatus::FaultFacilityPerformanceMonitor,
            Fault::FacilityUnavailable(Facility::BranchHistory) => VmPmuStatus::FaultFacilityBranchHistory,
            Fault::FacilityUnavailable(Facility::EventBasedBranch) => VmPmuStatus::FaultFacilityEventBasedBranch,
            Fault::HypervisorFacilityUnavailable(Facility::PerformanceMonitor) => VmPmuStatus::FaultHypervisorFacilityPerformanceMonitor,
            Fault::HypervisorFacilityUnavailable(Facility::BranchHistory) => VmPmuStatus::FaultHypervisorFacilityBranchHistory,
            Fault::HypervisorFacilityUnavailable(Facility::EventBasedBranch) => VmPmuStatus::FaultHypervisorFacilityEventBasedBranch,
            Fault::EmulationAssistance => VmPmuStatus::FaultEmulationAssistance,
            Fault::PrivilegedInstruction => VmPmuStatus::FaultPrivilegedInstruction,
            Fault::NoOperation => VmPmuStatus::FaultNoOperation,
            Fault::PrivilegedOperation => VmPmuStatus::FaultPrivilegedOperation,
            Fault::ReservedRegisterField => VmPmuStatus::FaultReservedRegisterField,
            _ => VmPmuStatus::FaultOther,
        }
    }
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The processor's response to the guest.
    Fault(Fault),
    /// A mistake of the caller.
    Misuse(VmPmuStatus, Cow<'static, str>),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(fault)
    }
}

/// Misuse of this kind, with a line that says what was wrong and what would be right.
pub(crate) fn misuse(status: VmPmuStatus, message: impl Into<Cow<'static, str>>) -> Failure {
    Failure::Misuse(status, message.into())
}

/// A number that has no meaning.
pub(crate) fn argument(message: impl Into<Cow<'static, str>>) -> Failure {
    misuse(VmPmuStatus::ErrorArgument, message)
}

thread_local! {
    static LAST: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
}

fn remember(message: Cow<'static, str>) {
    // A host thread that is ending has nowhere to keep it.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = message;
        }
    });
}

/// Does `work`; a panic in it does not unwind beyond this.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}

/// Refuses a call out of a function of the embedder that runs under a lock of the library: it would wait for the lock forever.
#[inline]
fn refuse() -> Result<(), Failure> {
    if is_inside() { Err(refused()) } else { Ok(()) }
}

#[cold]
fn refused() -> Failure {
    let message = "a function of VmPmuMemory called the library, which holds a lock while it runs: note the call and make it afterwards";
    misuse(VmPmuStatus::ErrorReentered, message)
}

/// The wrapper of every function that can fail: turns what `work` returns into a status, keeps the message of misuse, and lets nothing
/// unwind into the caller. A call out of a function that runs under a lock of the library does nothing.
#[inline]
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> VmPmuStatus {
    match caught(|| refuse().and_then(|()| work())) {
        Ok(Ok(())) => VmPmuStatus::Ok,
        unusual => failed(unusual),
    }
}

/// The status of a failed call.
#[cold]
fn failed(outcome: Result<Result<(), Failure>, Box<dyn Any + Send>>) -> VmPmuStatus {
    match outcome {
        Ok(Ok(())) => VmPmuStatus::Ok,
        Ok(Err(Failure::Fault(fault))) => fault.into(),
        Ok(Err(Failure::Misuse(status, message))) => {
            remember(message);
            status
        }
        Err(payload) => {
            // Dropping it could unwind again.
            std::mem::forget(payload);
            remember(Cow::Borrowed("the library failed in itself: please report what was called"));
            VmPmuStatus::ErrorInternal
        }
    }
}

/// Copies the message of this host thread's last call that returned an error, as one line that ends with a zero byte.
///
/// At most `size` bytes are written to `buffer`, including the zero byte; the rest is cut off. With `size` 0 nothing is written, and
/// `buffer` may be null. Returns the length of the whole message without the zero byte; 0 if no call has failed yet.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_last_error(buffer: *mut c_char, size: usize) -> usize {
    let message = caught(|| LAST.try_with(|last| last.try_borrow().map(|last| last.clone()).unwrap_or_default()).unwrap_or_default());
    let message = message.unwrap_or_else(|payload| {
        std::mem::forget(payload);
        Cow::Borrowed("")
    });
    if size != 0 && !buffer.is_null() {
        let mut end = message.len().min(size - 1);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the caller gives `size` bytes at `buffer`; `end` is less than that, and no more than the message has.
        unsafe {
            std::ptr::copy_nonoverlapping(message.as_ptr().cast(), buffer, end);
            buffer.add(end).write(0);
        }
    }
    message.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_a_number_of_its_own() {
        let mut seen: Vec<i32> = Fault::ALL.into_iter().map(|fault| VmPmuStatus::from(fault) as i32).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), Fault::ALL.len());
        assert!(seen.iter().all(|number| *number > 0 && *number != VmPmuStatus::FaultOther as i32));
    }

    #[test]
    fn nothing_unwinds_into_the_caller() {
        assert_eq!(guarded(|| std::panic::resume_unwind(Box::new("a defect"))), VmPmuStatus::ErrorInternal);
    }
}
