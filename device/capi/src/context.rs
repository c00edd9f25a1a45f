//! The state of a thread, which filters what is counted, and resets.

use vm_pmu::{Context, Reset};

use crate::machine::{VmPmuMachine, levels, thread};
use crate::pointer::{Growing, fill, offer, offerable, put, take, writable};
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// In VmPmuContext::flags: the thread's clock is stopped (HLT, STPCLK); nothing of it counts.
pub const VM_PMU_CONTEXT_HALTED: u32 = 1 << 0;

/// In VmPmuContext::flags: the thread waits while its core executes another, where threads take turns (Montecito).
pub const VM_PMU_CONTEXT_BACKGROUND: u32 = 1 << 1;

/// In the control word of POWER: CTRL's run latch. PMC5 and PMC6 do not count without it.
pub const VM_PMU_POWER_RUN: u64 = 1 << 0;

/// In the control word of POWER: an external interrupt is pending.
pub const VM_PMU_POWER_EXTERNAL_PENDING: u64 = 1 << 1;

/// In the control word of POWER: addresses are translated by a radix tree.
pub const VM_PMU_POWER_RADIX: u64 = 1 << 2;

/// In the control word of POWER: the lowest bit of the thread's priority, the three bits of PPR\[PRI].
pub const VM_PMU_POWER_PRIORITY_SHIFT: u32 = 8;

/// In the control word of POWER: FSCR\[EBB] is 0.
pub const VM_PMU_POWER_NO_FSCR_EBB: u64 = 1 << 20;

/// In the control word of POWER: HFSCR\[EBB] is 0.
pub const VM_PMU_POWER_NO_HFSCR_EBB: u64 = 1 << 21;

/// In the control word of POWER: HFSCR\[BHRB] is 0.
pub const VM_PMU_POWER_NO_HFSCR_BHRB: u64 = 1 << 22;

/// In the control word of POWER: HFSCR\[PM] is 0.
pub const VM_PMU_POWER_NO_HFSCR_PM: u64 = 1 << 23;

/// The state of a thread that decides what is counted and which accesses are allowed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuContext {
    /// sizeof(VmPmuContext).
    pub size: usize,
    /// The privilege level, 0 being the most privileged. x86: CPL; IA-64: PSR.cpl; POWER: 0 hypervisor, 1 privileged, 3 problem state.
    pub privilege: u32,
    /// VM_PMU_CONTEXT_HALTED, VM_PMU_CONTEXT_BACKGROUND.
    pub flags: u32,
    /// x86: RFLAGS; POWER: MSR; IA-64: PSR.
    pub machine_state: u64,
    /// x86: CR4; POWER: VM_PMU_POWER_RUN and the others; IA-64: DCR.
    pub control: u64,
    /// POWER: the value of the guest's time base minus the total of the signal time_base_ticks.
    pub time_base: u64,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuContext {
    const NAME: &'static str = "VmPmuContext";
    const FIRST: usize = std::mem::offset_of!(VmPmuContext, time_base) + size_of::<u64>();

    #[inline(always)]
    unsafe fn read(pointer: *const VmPmuContext) -> VmPmuContext {
        // Field by field, as the caller has just written them: a wider load would wait for those stores. SAFETY: the caller's promise.
        unsafe {
            VmPmuContext {
                size: (&raw const (*pointer).size).read_volatile(),
                privilege: (&raw const (*pointer).privilege).read_volatile(),
                flags: (&raw const (*pointer).flags).read_volatile(),
                machine_state: (&raw const (*pointer).machine_state).read_volatile(),
                control: (&raw const (*pointer).control).read_volatile(),
                time_base: (&raw const (*pointer).time_base).read_volatile(),
            }
        }
    }
}

/// Why a context is refused.
#[cold]
fn no_context(unknown: u32, privilege: u32) -> Failure {
    if unknown != 0 {
        argument(format!("the context has flags {unknown:#x} that this library does not know: they must be zero"))
    } else {
        argument(format!("there is no privilege level {privilege}: 0 is the most privileged, 3 the least"))
    }
}

/// Converts a context of the caller.
#[inline(always)]
pub(crate) fn context(given: &VmPmuContext) -> Result<Context, Failure> {
    let unknown = given.flags & !(VM_PMU_CONTEXT_HALTED | VM_PMU_CONTEXT_BACKGROUND);
    if unknown != 0 || given.privilege > 3 {
        return Err(no_context(unknown, given.privilege));
    }
    Ok(Context {
        privilege: given.privilege as u8,
        halted: given.flags & VM_PMU_CONTEXT_HALTED != 0,
        foreground: given.flags & VM_PMU_CONTEXT_BACKGROUND == 0,
        machine_state: given.machine_state,
        control: given.control,
        time_base: given.time_base,
    })
}

/// Thread `thread` enters a new state. Events that were added to the totals before this call occurred in the old one.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_set_context(machine: *const VmPmuMachine, thread: u32, context: *const VmPmuContext) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (thread, given) = unsafe { (self::thread(machine, thread)?, take(context)?) };
        thread.set_context(self::context(&given)?);
        Ok(())
    })
}

/// vm_pmu_set_context() for a running x86 thread with this CPL, RFLAGS and CR4. For one in HLT use vm_pmu_set_context() with
/// VM_PMU_CONTEXT_HALTED.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_set_context_x86(machine: *const VmPmuMachine, thread: u32, cpl: u32, rflags: u64, cr4: u64) -> VmPmuStatus {
    guarded(|| {
        if cpl > 3 {
            return Err(argument(format!("there is no CPL {cpl}: there are 0 to 3")));
        }
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.set_context(Context::x86(cpl as u8, rflags, cr4));
        Ok(())
    })
}

/// vm_pmu_set_context() for a running POWER thread with this MSR, from which the privilege follows. `control` and `time_base` are as in
/// VmPmuContext.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_set_context_power(
    machine: *const VmPmuMachine,
    thread: u32,
    msr: u64,
    control: u64,
    time_base: u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.set_context(Context { time_base, ..Context::power(msr, control) });
        Ok(())
    })
}

/// vm_pmu_set_context() for a running IA-64 thread in the foreground with this PSR, from which the privilege follows, and this DCR.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_set_context_ia64(machine: *const VmPmuMachine, thread: u32, psr: u64, dcr: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.set_context(Context::ia64(psr, dcr));
        Ok(())
    })
}

/// Fills `context` with the state of thread `thread` as its PMU knows it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_context(machine: *const VmPmuMachine, thread: u32, context: *mut VmPmuContext) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let known = unsafe { self::thread(machine, thread) }?.context();
        let halted = if known.halted { VM_PMU_CONTEXT_HALTED } else { 0 };
        let told = VmPmuContext {
            size: size_of::<VmPmuContext>(),
            privilege: known.privilege.into(),
            flags: halted | if known.foreground { 0 } else { VM_PMU_CONTEXT_BACKGROUND },
            machine_state: known.machine_state,
            control: known.control,
            time_base: known.time_base,
        };
        // SAFETY: the caller's promise.
        unsafe { fill(context, told) }
    })
}

/// Brings the registers of thread `thread` to their values after a reset: a warm one, with the power on (INIT), or a cold one. Report the
/// context afterwards.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_reset(machine: *const VmPmuMachine, thread: u32, warm: bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.reset(if warm { Reset::Warm } else { Reset::Cold });
        Ok(())
    })
}

/// Writes to `levels` which requests of thread `thread` stay raised until the guest removes their cause (VM_PMU_LINE_...).
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_lines(machine: *const VmPmuMachine, thread: u32, levels: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let lines = self::thread(machine, thread)?.lines();
            put(levels, self::levels(lines), "where the levels are to be written")
        }
    })
}

/// Sets a deadline at every toggle of these pins of thread `thread`, one bit each.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_watch_pins(machine: *const VmPmuMachine, thread: u32, pins: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.watch_pins(pins);
        Ok(())
    })
}

/// Writes to `toggles` how often pin `pin` of thread `thread` has toggled; its level is the lowest bit.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_pin_toggles(machine: *const VmPmuMachine, thread: u32, pin: u32, toggles: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let thread = unsafe { self::thread(machine, thread) }?;
        writable(toggles, "where the toggles are to be written")?;
        let told = thread.pin_toggles(pin);
        // SAFETY: the caller's promise.
        unsafe { put(toggles, told, "where the toggles are to be written") }
    })
}

/// Writes to `value` and `mask` which instructions the signal matched_instructions counts: those whose encoding is `value` in the bits of
/// `mask`. Writes to `any` whether it counts any. Each of the pointers may be null. When it changes, so does the epoch of the demand.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_instruction_match(
    machine: *const VmPmuMachine,
    thread: u32,
    any: *mut bool,
    value: *mut u64,
    mask: *mut u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let matched = self::thread(machine, thread)?.instruction_match();
            let (chosen, bits) = matched.unwrap_or_default();
            offerable(value, "where the value is to be written")?;
            offerable(mask, "where the mask is to be written")?;
            offer(any, matched.is_some(), "where the answer is to be written")?;
            offer(value, chosen, "where the value is to be written")?;
            offer(mask, bits, "where the mask is to be written")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_pmu::arch::power9::ThreadControl;

    #[test]
    fn the_control_word_of_power_is_that_of_the_library() {
        let mut all = ThreadControl::default();
        all.set_run(true);
        all.set_external_pending(true);
        all.set_radix(true);
        all.set_priority(5);
        all.set_fscr_no_ebb(true);
        all.set_hfscr_no_ebb(true);
        all.set_hfscr_no_bhrb(true);
        all.set_hfscr_no_pm(true);
        let withheld = VM_PMU_POWER_NO_FSCR_EBB | VM_PMU_POWER_NO_HFSCR_EBB | VM_PMU_POWER_NO_HFSCR_BHRB | VM_PMU_POWER_NO_HFSCR_PM;
        let state = VM_PMU_POWER_RUN | VM_PMU_POWER_EXTERNAL_PENDING | VM_PMU_POWER_RADIX | 5 << VM_PMU_POWER_PRIORITY_SHIFT;
        assert_eq!(all.bits(), withheld | state);
    }
}
