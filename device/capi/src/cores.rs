//! What POWER9's cores and threads post into the guest's memory.

use vm_pmu::topology::CoreCollection;

use crate::machine::{Callbacks, VmPmuMachine, machine, package, thread};
use crate::memory::{VmPmuMemory, VmPmuPassed, memory, tell};
use crate::pointer::{fillable, offer, put};
use crate::status::{Failure, VmPmuStatus, guarded, misuse};

/// The collection of core `number` of the machine.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn core<'a>(pointer: *const VmPmuMachine, number: u32) -> Result<CoreCollection<'a, Callbacks>, Failure> {
    // SAFETY: the caller's promise.
    let (machine, number) = unsafe { package(pointer, number) }?;
    machine.collection(number).ok_or_else(|| {
        misuse(VmPmuStatus::ErrorUnsupported, format!("{} posts nothing into memory: cores of power9 do", machine.part().name()))
    })
}

/// Core `core` (a package of the machine) posts to memory from `address` on, and its engine is stopped, as by OPAL_IMC_COUNTERS_INIT.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_init(machine: *const VmPmuMachine, core: u32, address: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::core(machine, core) }?.init(address);
        Ok(())
    })
}

/// The engine of core `core` starts: events from now on are counted, and the demand of every thread of the core includes the signals that
/// they follow. Check the demand afterwards.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_start(machine: *const VmPmuMachine, core: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::core(machine, core) }?.start();
        Ok(())
    })
}

/// The engine of core `core` stops. To have all counts in memory, post them first by vm_pmu_core_post().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_stop(machine: *const VmPmuMachine, core: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::core(machine, core) }?.stop();
        Ok(())
    })
}

/// Writes to `running` whether the engine of core `core` runs.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_running(machine: *const VmPmuMachine, core: u32, running: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(running, self::core(machine, core)?.is_running(), "where the answer is to be written") }
    })
}

/// Core `core` posts every `cycles` of its cycles from now on, at least one.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_set_interval(machine: *const VmPmuMachine, core: u32, cycles: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::core(machine, core) }?.set_interval(cycles);
        Ok(())
    })
}

/// Writes to `cycles` how many cycles of core `core` there are to its next posting.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_until_posting(machine: *const VmPmuMachine, core: u32, cycles: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(cycles, self::core(machine, core)?.until_posting(), "where the cycles are to be written") }
    })
}

/// Lets `cycles` of core `core` go by, and posts to `memory` if that comes due. What that did is told in `passed`, which may be null.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_advance(
    machine: *const VmPmuMachine,
    core: u32,
    cycles: u64,
    memory: *const VmPmuMemory,
    passed: *mut VmPmuPassed,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (core, memory) = (self::core(machine, core)?, self::memory(memory)?.unlocked());
            fillable(passed)?;
            tell(passed, &core.advance(cycles, &memory))
        }
    })
}

/// Posts to `memory` everything that core `core` has counted up to now, if its engine runs. Fills `passed`, which may be null, with the
/// result.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_post(
    machine: *const VmPmuMachine,
    core: u32,
    memory: *const VmPmuMemory,
    passed: *mut VmPmuPassed,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (core, memory) = (self::core(machine, core)?, self::memory(memory)?.unlocked());
            fillable(passed)?;
            tell(passed, &core.post(&memory))
        }
    })
}

/// An event without a signal occurred `amount` times in thread `thread` of the machine: the event that its core posts `offset` bytes from
/// the start of its memory. Writes to `taken`, which may be null, whether it is counted.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_core_inject(
    machine: *const VmPmuMachine,
    thread: u32,
    offset: u32,
    amount: u64,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let cpu = self::thread(machine, thread)?;
            let core = self::core(machine, u32::try_from(cpu.package()).unwrap_or(u32::MAX))?;
            let whole = &self::machine(machine)?.machine;
            let place = cpu.number() % (whole.threads() / whole.packages().max(1)).max(1);
            offer(taken, core.inject(place, offset, amount), "where the answer is to be written")
        }
    })
}
