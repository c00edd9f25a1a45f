//! Performance monitoring units that an emulator or hypervisor attaches.
//!
//! A [`Machine`] holds the PMUs of a machine's hardware threads. An emulator gives each of its CPUs a [`Cpu`], attached to one of the threads:
//! it reports what the CPU executes, in instructions, blocks or cycles; passes on RDMSR, WRMSR and RDPMC, or mfspr and mtspr, or the moves
//! from and to pmc, pmd, ibr and dbr ([`bus`]); reports the privilege level; and delivers the interrupts that arrive at its [`irq::InterruptLine`].
//!
//! ```
//! use vm_pmu::irq::Flags;
//! use vm_pmu::{Builder, Context, Cpu, Signal};
//!
//! // An AMD K8 of one core.
//! let machine = Builder::new("k8").unwrap().build(Flags::new(1)).unwrap();
//! let mut cpu = Cpu::new(machine.thread(0).unwrap());
//! cpu.set_context(Context::x86(0, 0x202, 0)); // CPL 0, RFLAGS with IF, CR4 without PCE
//!
//! // What the guest does with its registers: PerfCtr0 overflows after seven retired instructions.
//! cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(7))).unwrap();
//! cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0052_00C0)).unwrap();
//!
//! for instruction in 1..=10 {
//!     cpu.retire(&[Signal::InstructionsRetired], 1);
//!     assert_eq!(cpu.take_interrupt(), instruction == 7);
//! }
//! ```
//!
//! What a `Cpu` does can be done in pieces: a [`Thread`] has [`Totals`] to which the emulator adds, for the signals that the [`Demand`] names, and
//! [`Deadlines`] with which it compares them; a [`Countdown`] counts blocks.
//!
//! The register files themselves are the crate `vm-pmu-arch`, which is exported as [`arch`].
//!
//! For a monitor built on rust-vmm, [`pci`] and [`irq`] have what its buses and interrupts need.
//!
//! Each part is a feature of its name; without it, the part's registers, events and companion are left out. All are on by default.
//!
//! It logs through the crate `log`: at `trace` accesses to registers and overflows, at `debug` refused writes and signals that are counted but
//! not supplied, at `warn` interrupts that were lost. Of warnings that a guest can cause again and again few are logged, with how many were not.
//!
//! The crate needs an allocator, and no standard library except with the features `memory`, `kvm`, `vm-device`, `vm-superio` and `eventfd`,
//! whose crates need it, and with `std`, by which threads that wait for each other sleep instead of spinning.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// Links bring the chapters into the package, so that they are tested in an unpacked package too.
#[cfg(doctest)]
#[doc = include_str!("../book/overview.md")]
struct Overview;

// Their programs need the features that they are about.
#[cfg(all(
    doctest,
    feature = "vm-device",
    feature = "vm-superio",
    feature = "eventfd",
    feature = "companion",
    feature = "snapshot",
    any(target_os = "linux", target_os = "android")
))]
#[doc = include_str!("../book/embedding-hypervisors.md")]
struct MonitorsAndHypervisors;

#[cfg(all(doctest, feature = "companion"))]
#[doc = include_str!("../book/embedding.md")]
struct Embedding;

#[cfg(all(doctest, feature = "companion", feature = "snapshot"))]
#[doc = include_str!("../book/embedding-parts.md")]
struct EmbeddingParts;

#[cfg(doctest)]
#[doc = include_str!("../book/power9.md")]
struct Power9Chapter;

#[cfg(all(doctest, feature = "memory", feature = "tree"))]
#[doc = include_str!("../book/power9-nest.md")]
struct Power9NestChapter;

#[cfg(all(doctest, feature = "recording"))]
#[doc = include_str!("../book/litmus.md")]
struct LitmusFiles;

#[cfg(all(doctest, feature = "companion", feature = "decode"))]
#[doc = include_str!("../book/companion.md")]
struct CompanionChapter;

extern crate alloc;
#[cfg(any(test, all(feature = "eventfd", any(target_os = "linux", target_os = "android"))))]
extern crate std;

pub mod bus;
mod countdown;
pub mod cpu;
pub mod cpuid;
#[cfg(feature = "decode")]
pub mod decode;
pub mod irq;
#[cfg(all(feature = "kvm", target_arch = "x86_64"))]
pub mod kvm;
pub mod layout;
#[cfg(feature = "litmus")]
pub mod litmus;
#[cfg(feature = "knl")]
mod location;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "knl")]
pub mod pci;
#[cfg(feature = "recording")]
pub mod recording;
#[cfg(feature = "snapshot")]
pub mod snapshot;
pub mod topology;
#[cfg(feature = "tree")]
pub mod tree;
#[cfg(feature = "knl")]
pub mod untile;

pub use countdown::Countdown;
pub use cpu::Cpu;
pub use irq::InterruptLine;
pub use topology::{Builder, Machine, Thread};
pub use vm_pmu_arch as arch;
pub use vm_pmu_arch::access::{Address, Fault};
pub use vm_pmu_arch::alert::Lines;
pub use vm_pmu_arch::die;
pub use vm_pmu_arch::feed::{Context, Deadlines, Demand, Occasion, Pace, Record, Records, Signal, SignalSet, Supply, Totals};
pub use vm_pmu_arch::model::{Occurrence, Reset};
pub use vm_pmu_arch::registry::{Part, State};
#[cfg(feature = "companion")]
pub use vm_pmu_companion as companion;
