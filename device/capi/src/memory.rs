//! The guest's memory, for counters that post themselves into it.

use std::ffi::c_void;

use vm_pmu::memory::{Memory, Passed};

use crate::pointer::{Growing, fill, take};
use crate::reentry::Inside;
use crate::status::{Failure, argument};

/// The guest's memory: three functions of the embedder, for POWER9's counters that post themselves into it.
///
/// A cell is eight bytes at an address that is a multiple of 8, and big-endian in the guest's memory; the functions take and give its value
/// as a number. They return false if the guest has no memory there, or the address is not a multiple of 8: the amount is then kept, and
/// added when memory takes it. They are called on the host thread that called the library. While a core posts they may call it. While
/// a chip posts, the chip is locked: a call returns VM_PMU_STATUS_ERROR_REENTERED and does nothing, and waiting for another host thread
/// that calls the library for the chip has no end. They must return: no C++ exception and no longjmp may leave them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuMemory {
    /// sizeof(VmPmuMemory).
    pub size: usize,
    /// Passed to the functions.
    pub user: *mut c_void,
    /// Writes the value of the cell at `address` to `value`.
    pub load: Option<unsafe extern "C" fn(user: *mut c_void, address: u64, value: *mut u64) -> bool>,
    /// Stores `value` in the cell at `address`.
    pub store: Option<unsafe extern "C" fn(user: *mut c_void, address: u64, value: u64) -> bool>,
    /// Adds `amount` to the cell at `address`, atomically with respect to CPUs of the guest; a sum beyond 64 bits wraps.
    pub add: Option<unsafe extern "C" fn(user: *mut c_void, address: u64, amount: u64) -> bool>,
}

// SAFETY: `repr(C)`, `size` first; a pointer that is only passed on, and functions that may be absent.
unsafe impl Growing for VmPmuMemory {
    const NAME: &'static str = "VmPmuMemory";
    const FIRST: usize = std::mem::offset_of!(VmPmuMemory, add) + size_of::<usize>();
}

/// The functions of a [`VmPmuMemory`], none of them null.
pub(crate) struct Functions {
    user: *mut c_void,
    load: unsafe extern "C" fn(*mut c_void, u64, *mut u64) -> bool,
    store: unsafe extern "C" fn(*mut c_void, u64, u64) -> bool,
    add: unsafe extern "C" fn(*mut c_void, u64, u64) -> bool,
    /// Whether a lock is held while they run.
    locked: bool,
}

impl Functions {
    /// The same, for what posts without a lock.
    pub(crate) fn unlocked(self) -> Functions {
        Functions { locked: false, ..self }
    }
}

/// The memory at `pointer`.
///
/// # Safety
/// The rules for pointers hold, and the functions are what [`VmPmuMemory`] says.
pub(crate) unsafe fn memory(pointer: *const VmPmuMemory) -> Result<Functions, Failure> {
    // SAFETY: the caller's promise.
    let given = unsafe { take(pointer) }?;
    match (given.load, given.store, given.add) {
        (Some(load), Some(store), Some(add)) => Ok(Functions { user: given.user, load, store, add, locked: true }),
        _ => Err(argument("a function of VmPmuMemory is null: load, store and add are all needed")),
    }
}

/// `Ok`, or the address that memory does not have.
fn had(taken: bool, address: u64) -> Result<(), u64> {
    if taken { Ok(()) } else { Err(address) }
}

impl Memory for Functions {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        let mut value = 0;
        let _inside = self.locked.then(Inside::enter);
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        had(unsafe { (self.load)(self.user, address, &raw mut value) }, address).map(|()| value)
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        let _inside = self.locked.then(Inside::enter);
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        had(unsafe { (self.store)(self.user, address, value) }, address)
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        let _inside = self.locked.then(Inside::enter);
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        had(unsafe { (self.add)(self.user, address, amount) }, address)
    }
}

/// What posting did.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuPassed {
    /// sizeof(VmPmuPassed).
    pub size: usize,
    /// The address of the first access that memory refused, if any.
    pub refused_address: u64,
    /// The slots that the engine missed, because too many were due at once; for a core, the postings that are combined into one.
    pub late: u64,
    /// The slots that the engine ran; for a core, the postings that were made: 0 or 1.
    pub slots: u32,
    /// How many accesses memory refused.
    pub refused: u32,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuPassed {
    const NAME: &'static str = "VmPmuPassed";
    const FIRST: usize = std::mem::offset_of!(VmPmuPassed, refused) + 4;
}

/// Fills in what posting did, if `pointer` is not null.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn tell(pointer: *mut VmPmuPassed, passed: &Passed<u64>) -> Result<(), Failure> {
    if pointer.is_null() {
        return Ok(());
    }
    let told = VmPmuPassed {
        size: size_of::<VmPmuPassed>(),
        refused_address: passed.error.unwrap_or(0),
        late: passed.late,
        slots: passed.slots,
        refused: passed.refused,
    };
    // SAFETY: the caller's promise.
    unsafe { fill(pointer, told) }
}
