//! What a hypervisor on Linux' KVM needs to show its guest the PMU of another part: filters, exits, saved registers, interrupts, CPUID.
//!
//! KVM executes the guest; this crate's models are its PMU. This module translates between the two, in the types of the crate
//! `kvm-bindings`. It makes no system calls: the hypervisor decides which file descriptor to call, and when. It is for x86 parts on x86
//! hosts.
//!
//! | step | what to hand to KVM | made by |
//! | --- | --- | --- |
//! | the host's own PMU is hidden | `KVM_ENABLE_CAP`, before there are vCPUs | [`without_host_pmu`] |
//! | accesses come to user space | `KVM_ENABLE_CAP`, then `KVM_X86_SET_MSR_FILTER` | [`user_space_msrs`], [`MsrFilter`] |
//! | the guest finds the part | `KVM_SET_CPUID2` | [`cpuid`] |
//! | RDMSR, WRMSR | fields of `kvm_run` | [`rdmsr`], [`wrmsr`] |
//! | RDPMC | `kvm_regs`, `kvm_vcpu_events` | [`rdpmc`], [`inject_general_protection`] |
//! | levels of privilege | | [`context`] |
//! | overflow interrupts | `kvm_lapic_state`, `kvm_msi`, `KVM_NMI` | [`Requests`], [`deliver`], [`message`] |
//! | saving, restoring | `kvm_msrs` | [`save`], [`restore`] |
//!
//! KVM does not report what the guest executes. The section *On KVM* of the book's chapter *Attaching it to an emulator* describes what
//! adds to the totals, with a complete example.

mod cpuid;
mod exit;
mod filter;
mod lapic;
mod registers;

pub use cpuid::cpuid;
pub use exit::{Answer, RDPMC, context, inject_general_protection, rdmsr, rdpmc, wrmsr};
pub use filter::{FilterRange, MsrFilter, user_space_msrs, without_host_pmu};
pub use lapic::{Delivered, Delivery, Requests, deliver, delivery, message};
pub use registers::{indices, restore, save};

use vm_pmu_arch::registry::Part;

/// Why something was refused. Nothing has been changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The part has no model-specific registers and no CPUID.
    NotX86(Part),
    /// A list is longer than KVM takes.
    TooManyEntries {
        /// How many entries it would have.
        entries: usize,
        /// How many KVM takes.
        most: usize,
    },
    /// There are not as many lists of registers as threads.
    Threads {
        /// How many lists there are.
        saved: usize,
        /// How many threads the machine has.
        machine: usize,
    },
    /// A register of the PMU is not among those saved.
    Missing {
        /// The thread whose list it is.
        thread: usize,
        /// The model-specific register.
        index: u32,
    },
    /// A saved value has bits that the register never has.
    Refused {
        /// The thread whose list it is.
        thread: usize,
        /// The model-specific register.
        index: u32,
        /// The bits.
        bits: u64,
    },
}

impl core::fmt::Display for Error {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Error::NotX86(part) => write!(formatter, "{part} is no x86: take a part with model-specific registers"),
            Error::TooManyEntries { entries, most } => write!(formatter, "{entries} entries, and KVM takes {most}: leave some out"),
            Error::Threads { saved, machine } => {
                write!(formatter, "registers of {saved} threads were saved and the machine has {machine}: build one with as many")
            }
            Error::Missing { thread, index } => {
                write!(formatter, "MSR {index:#x} of thread {thread} was not saved: save all that kvm::indices names")
            }
            Error::Refused { thread, index, bits } => {
                write!(formatter, "MSR {index:#x} of thread {thread} has no bits {bits:#x}: they must be clear")
            }
        }
    }
}

impl core::error::Error for Error {}
