//! Exits and instructions of the guest that access the PMU's registers.

use kvm_bindings::{kvm_regs, kvm_sregs, kvm_vcpu_events};
use vm_pmu_arch::access::Fault;
use vm_pmu_arch::feed::Context;

use crate::irq::InterruptLine;
use crate::topology::Thread;

/// What became of an exit for a model-specific register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an access without an answer reads as whatever KVM left there"]
pub enum Answer {
    /// It is done: run the vCPU on.
    Done,
    /// The PMU refuses it: `error` is set, and KVM raises #GP when the vCPU runs on.
    Refused,
    /// The register is not the PMU's, and nothing was changed: the hypervisor answers the exit itself.
    Unclaimed,
}

/// Answers `KVM_EXIT_X86_RDMSR`: `index` is read into `data`, or `error` is set. All three are fields of the exit, `kvm_run.msr`.
///
/// The context must be that of the guest, at privilege level 0: KVM lets no access of another level come so far.
///
/// ```
/// use vm_pmu::kvm::{Answer, rdmsr};
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("k8").unwrap().build(|_, _| {}).unwrap();
/// let cpu = machine.thread(0).unwrap();
/// cpu.x86().wrmsr(0xC001_0004, 42).unwrap();
/// let (mut data, mut error) = (0, 0);
/// assert_eq!(rdmsr(cpu, 0xC001_0004, &mut data, &mut error), Answer::Done);
/// assert_eq!((data, error), (42, 0));
/// // EFER is not the PMU's.
/// assert_eq!(rdmsr(cpu, 0xC000_0080, &mut data, &mut error), Answer::Unclaimed);
/// ```
pub fn rdmsr<L: InterruptLine>(thread: Thread<'_, L>, index: u32, data: &mut u64, error: &mut u8) -> Answer {
    let read = thread.x86().rdmsr(index);
    if let Ok(value) = read {
        *data = value;
    }
    answer(read, error)
}

/// Answers `KVM_EXIT_X86_WRMSR`: `data` is written to `index`, or `error` is set. All three are fields of the exit, `kvm_run.msr`.
///
/// The context must be that of the guest, as for [`rdmsr`]. Afterwards check the demand again, and the [requests](super::Requests).
pub fn wrmsr<L: InterruptLine>(thread: Thread<'_, L>, index: u32, data: u64, error: &mut u8) -> Answer {
    answer(thread.x86().wrmsr(index, data), error)
}

fn answer<T>(access: Result<T, Fault>, error: &mut u8) -> Answer {
    match access {
        Ok(_) => {
            *error = 0;
            Answer::Done
        }
        Err(Fault::Unclaimed) => Answer::Unclaimed,
        Err(_) => {
            *error = 1;
            Answer::Refused
        }
    }
}

/// The encoding of RDPMC, which has no operands.
pub const RDPMC: [u8; 2] = [0x0F, 0x33];

/// Executes an RDPMC without prefixes at the vCPU's RIP: ECX selects the counter, EDX:EAX receives it, and RIP moves past the instruction.
///
/// KVM has no exit for this instruction, and faults it where the host's own PMU is not shown. A hypervisor stops at it by single-stepping
/// or by a breakpoint (`KVM_SET_GUEST_DEBUG`).
///
/// # Errors
/// The [`Fault`], always #GP on an x86 part: then `regs` are unchanged, and [`inject_general_protection`] delivers it.
pub fn rdpmc<L: InterruptLine>(thread: Thread<'_, L>, regs: &mut kvm_regs) -> Result<(), Fault> {
    let value = thread.x86().rdpmc(regs.rcx as u32)?;
    (regs.rax, regs.rdx) = (value & u64::from(u32::MAX), value >> 32);
    regs.rip = regs.rip.wrapping_add(RDPMC.len() as u64);
    Ok(())
}

/// The vector of the general-protection exception.
const GENERAL_PROTECTION: u8 = 13;

/// Makes the vCPU take #GP(0) when it runs on: for `KVM_SET_VCPU_EVENTS`, with what `KVM_GET_VCPU_EVENTS` returned.
pub fn inject_general_protection(events: &mut kvm_vcpu_events) {
    events.exception.injected = 1;
    events.exception.pending = 0;
    events.exception.nr = GENERAL_PROTECTION;
    events.exception.has_error_code = 1;
    events.exception.error_code = 0;
    events.exception_has_payload = 0;
}

/// CR0.PE and RFLAGS.VM.
const PROTECTED: u64 = 1;
const VIRTUAL_8086: u64 = 1 << 17;

/// The context of a vCPU that runs: its level is that of its stack segment, 0 in real mode and 3 in virtual-8086 mode. For a vCPU in HLT
/// add [halted](Context::with_halted).
///
/// ```
/// use kvm_bindings::{kvm_regs, kvm_sregs};
///
/// let mut sregs = kvm_sregs { cr0: 1, cr4: 1 << 8, ..Default::default() };
/// sregs.ss.dpl = 3;
/// let context = vm_pmu::kvm::context(&kvm_regs { rflags: 0x202, ..Default::default() }, &sregs);
/// assert_eq!(context, vm_pmu::Context::x86(3, 0x202, 1 << 8));
/// ```
#[must_use]
pub fn context(regs: &kvm_regs, sregs: &kvm_sregs) -> Context {
    let level = match (sregs.cr0 & PROTECTED != 0, regs.rflags & VIRTUAL_8086 != 0) {
        (false, _) => 0,
        (true, true) => 3,
        (true, false) => sregs.ss.dpl,
    };
    Context::x86(level, regs.rflags, sregs.cr4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Builder;

    #[test]
    fn a_refused_access_sets_the_error_and_leaves_the_data() {
        let machine = Builder::new("knl").expect("known").build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("one thread");
        let mut error = 0;
        // Reserved bits of IA32_PERFEVTSEL0, and IA32_PERF_GLOBAL_STATUS, which is read only.
        assert_eq!(wrmsr(cpu, 0x186, 1 << 40, &mut error), Answer::Refused);
        assert_eq!(core::mem::take(&mut error), 1);
        assert_eq!(wrmsr(cpu, 0x38E, 0, &mut error), Answer::Refused);
        cpu.set_context(Context::x86(3, 0x202, 0));
        let mut data = 7;
        assert_eq!(rdmsr(cpu, 0x186, &mut data, &mut error), Answer::Refused);
        assert_eq!((data, error), (7, 1));
    }

    #[test]
    fn registers_of_the_untile_are_answered_by_any_thread() {
        let machine = Builder::new("knl").expect("known").threads(2).build(|_, _| {}).unwrap();
        let (mut data, mut error) = (0, 9);
        assert_eq!(wrmsr(machine.thread(0).expect("two"), 0xE08, 5, &mut error), Answer::Done);
        assert_eq!(rdmsr(machine.thread(1).expect("two"), 0xE08, &mut data, &mut error), Answer::Done);
        assert_eq!((data, error), (5, 0));
    }

    #[test]
    fn another_ones_register_is_not_touched() {
        let machine = Builder::new("k8").expect("known").build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("one thread");
        let mut error = 7;
        assert_eq!(wrmsr(cpu, 0x1B, 0, &mut error), Answer::Unclaimed);
        assert_eq!(error, 7);
    }

    #[test]
    fn rdpmc_goes_on_behind_itself_or_changes_nothing() {
        let machine = Builder::new("k8").expect("known").build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("one thread");
        cpu.x86().wrmsr(0xC001_0005, 0x1234_8765_4321).expect("level 0");
        let before = kvm_regs { rax: u64::MAX, rcx: 0xFF00_0000_0001, rdx: u64::MAX, rip: 0x1000, ..kvm_regs::default() };
        let mut regs = before;
        assert_eq!(rdpmc(cpu, &mut regs), Ok(()));
        assert_eq!(regs, kvm_regs { rax: 0x8765_4321, rdx: 0x1234, rip: 0x1002, ..before });
        let mut regs = kvm_regs { rcx: 4, ..before };
        assert_eq!(rdpmc(cpu, &mut regs), Err(Fault::GeneralProtection));
        assert_eq!(regs, kvm_regs { rcx: 4, ..before });
    }

    #[test]
    fn an_injected_fault_is_that_of_vector_13_with_an_error_code_of_0() {
        let mut events = kvm_vcpu_events { flags: 0xFF, exception_has_payload: 1, ..kvm_vcpu_events::default() };
        (events.exception.nr, events.exception.pending, events.exception.error_code) = (14, 1, 2);
        inject_general_protection(&mut events);
        let exception = events.exception;
        assert_eq!((exception.injected, exception.pending, exception.nr), (1, 0, 13));
        assert_eq!((exception.has_error_code, exception.error_code, events.exception_has_payload, events.flags), (1, 0, 0, 0xFF));
    }

    #[test]
    fn the_level_is_0_in_real_mode_and_3_in_virtual_8086_mode() {
        let mut sregs = kvm_sregs { cr0: 0x10, ..kvm_sregs::default() };
        sregs.ss.dpl = 3;
        let regs = kvm_regs { rflags: 2, ..kvm_regs::default() };
        assert_eq!(context(&regs, &sregs).privilege, 0);
        sregs.cr0 |= 1;
        assert_eq!(context(&regs, &sregs).privilege, 3);
        sregs.ss.dpl = 0;
        assert_eq!(context(&regs, &sregs).privilege, 0);
        assert_eq!(context(&kvm_regs { rflags: 1 << 17 | 2, ..regs }, &sregs).privilege, 3);
    }
}
