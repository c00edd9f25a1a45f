//! A deterministic interpreter of 64-bit x86 for bare-metal guests.
//!
//! [`Machine`] runs an [`Image`] on one or more CPUs with local APICs; an [`Observer`] per CPU is notified of every step and performs
//! RDMSR, WRMSR and RDPMC; a [`MachineBus`] has the ports and device memory. One step is one instruction, one iteration of a REP string
//! instruction, or one taken interrupt or exception, and takes one cycle unless the observer returns another number, so a run on one host
//! thread is the same on every host.
//!
//! The engine knows 64-bit mode only. A valid instruction or mode it does not have ends the run with [`Stop::Unsupported`] or
//! [`Stop::UnsupportedMode`]; no guest can make it panic. SMEP, SMAP, PCID, x2APIC, alignment checks, x87 and most of SSE are absent.
//! Matches of the debug registers are in the step, but raise no #DB.
//!
//! Instruction fetch after a store by the same CPU sees the store at once. Code that another CPU
//! modifies in parallel is seen once the executing CPU has serialised, as the manuals ask.

mod access;
pub(crate) mod alu;
mod apic;
mod boot;
mod breakpoint;
mod bus;
pub(crate) mod cache;
pub(crate) mod cpu;
mod cpuid;
pub(crate) mod decode;
mod delivery;
pub(crate) mod exec;
pub(crate) mod executor;
pub(crate) mod fault;
pub(crate) mod flags;
pub(crate) mod machine;
pub(crate) mod mailbox;
pub(crate) mod mnemonic;
mod msr;
pub(crate) mod observer;
pub(crate) mod op;
pub(crate) mod paging;
mod pci;
#[cfg_attr(
    not(all(feature = "kvm", target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "the interpreter itself rehearses nothing")
)]
mod rehearsal;
mod restore;
pub(crate) mod saved;
pub(crate) mod state;
pub(crate) mod step;
mod timer;
pub(crate) mod tlb;

pub use super::dma::{DMA_MOST, DmaAccess, DmaCommand, DmaKind, DmaRegister, DmaState};
pub use super::image::{Image, ImageError, Segment};
pub use super::memory::{Memory, MemoryError};
pub use apic::{Apic, Delivery, LVT_PERFORMANCE_COUNTER, PerformanceMask};
pub use boot::{STACK_SIZE, selector};
pub use bus::{CONFIGURATION_ADDRESS, CONFIGURATION_DATA, CONFIGURATION_WINDOW, DMA_FUNCTION, EmptyBus, MachineBus, PciFunction};
pub use cpuid::CpuidResult;
pub use fault::Stop;
pub use machine::{Config, Exit, Limits, Machine, MachineError, Mode};
pub use mailbox::Interrupter;
pub use observer::{Alerts, CpuView, Gp, Observer, Unobserved};
pub use paging::PageWalk;
pub use restore::RestoreError;
pub use saved::{
    ApicState, CpuState, Fetching, MailState, MsrState, Saved, SegmentState, Shadow, TableState, TimerState, Translation, Turn,
};
pub use step::{Access, Branch, InstructionClass, InstructionInfo, Invalidation, SegmentSet, Step, StepKind, Touched};
pub use vm_pmu::arch::feed::BranchKind;
pub use vm_pmu::decode::x86::{Facts, Prefetch, SimdClass};
