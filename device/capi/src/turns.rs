//! Threads of a core that take turns, as those of Montecito do: when one misses the third-level cache, and how it goes on afterwards.

use crate::companion::{VmPmuCompanion, companion};
use crate::pointer::{offer, offerable, put, writable};
use crate::status::{VmPmuStatus, guarded};

/// For vm_pmu_follow_report_at_most(): as many cycles as there are.
pub const VM_PMU_ALL_CYCLES: u64 = u64::MAX;

/// The embedder changes the threads of the core of thread `thread` when one misses the third-level cache, as Montecito does: with its
/// pipeline, vm_pmu_follow_deliver() then reports cycles only up to the one in which a miss is known. There the embedder asks for the miss
/// by vm_pmu_follow_third_level_miss(); the next delivery goes on. Off at first, and not part of what is saved.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_watch_third_level(companion: *const VmPmuCompanion, thread: u32, watched: bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.follower(thread)?.watch_third_level(watched);
        Ok(())
    })
}

/// Writes to `missed` whether the last delivery of thread `thread` ended at a miss of the third-level cache that has not been asked for,
/// and then to `returns`, which may be null, the cycles until its data come. Each miss is told once.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_third_level_miss(
    companion: *const VmPmuCompanion,
    thread: u32,
    missed: *mut bool,
    returns: *mut u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let mut follower = unsafe { self::companion(companion) }?.follower(thread)?;
        writable(missed, "where the answer is to be written")?;
        if !returns.is_null() {
            writable(returns, "where the cycles are to be written")?;
        }
        let miss = follower.third_level_miss();
        // SAFETY: the caller's promise.
        unsafe {
            put(missed, miss.is_some(), "where the answer is to be written")?;
            miss.map_or(Ok(()), |miss| offer(returns, miss.returns, "where the cycles are to be written"))
        }
    })
}

/// While misses of the third-level cache are watched, deliveries of thread `thread` report no more than so many cycles from now on, or as
/// many as there are with VM_PMU_ALL_CYCLES. What the thread waits for beyond is not over then, and may go on in the background.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_report_at_most(companion: *const VmPmuCompanion, thread: u32, cycles: u64) -> VmPmuStatus {
    guarded(|| {
        let most = (cycles != VM_PMU_ALL_CYCLES).then_some(cycles);
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.follower(thread)?.report_at_most(most);
        Ok(())
    })
}

/// Writes to `known` whether a pipeline that keeps time knows how many cycles ago, at the last delivery, thread `thread` completed an
/// instruction, and then to `cycles`, which may be null, how many.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_idle(
    companion: *const VmPmuCompanion,
    thread: u32,
    known: *mut bool,
    cycles: *mut u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let idle = unsafe { self::companion(companion) }?.follower(thread)?.idle();
        offerable(cycles, "where the cycles are to be written")?;
        // SAFETY: the caller's promise.
        unsafe {
            put(known, idle.is_some(), "where the answer is to be written")?;
            idle.map_or(Ok(()), |idle| offer(cycles, idle, "where the cycles are to be written"))
        }
    })
}

/// Thread `thread` comes back to the foreground of its core after `background` cycles, in which what it waited for went on. With a pipeline
/// the change itself takes the cycles that the part needs, before the next instruction. More than 2^32 cycles count as 2^32.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_resume(companion: *const VmPmuCompanion, thread: u32, background: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.follower(thread)?.resume(background);
        Ok(())
    })
}
