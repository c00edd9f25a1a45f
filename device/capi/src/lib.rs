//! The C interface of vm-pmu.
//!
//! A shared library, a static one, and the header `include/vm_pmu.h`, which is made from this crate and documents every function for
//! those who write C or C++. Who writes Rust takes the crate `vm-pmu`.
//!
//! # Rules
//!
//! - A machine is an opaque pointer; its threads, packages and boxes are numbers within it.
//! - Every function that can fail returns a [`VmPmuStatus`](status::VmPmuStatus): 0, the fault that the guest must be given, or an error that
//!   leaves everything as it was. [`vm_pmu_last_error`](status::vm_pmu_last_error) has a line on the error.
//! - Structs that may grow begin with their size, which the caller sets. Zero in every other field means the usual. What a later header adds
//!   is zero for programs of an earlier one.
//! - Nothing unwinds into the caller.
//!
//! # Features
//!
//! Each part is a feature, and so are the groups of functions that not every emulator has a use for: `companion`, `litmus`, `memory` and `tree`.
//! All are on by default. A function of what is off is not in the library.
//!
//! # Pointers
//!
//! Null pointers, misaligned ones and lengths beyond all memory are refused. Beyond that a pointer is what the caller says: a machine is one
//! that [`vm_pmu_machine_create`](machine::vm_pmu_machine_create) made and nobody destroyed; a text ends with a zero byte; what is to be
//! written can be written, and nobody else uses it during the call.
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "companion", feature = "knl", feature = "memory")),
    allow(dead_code, reason = "what groups of functions share may serve one that is not there")
)]

pub mod catalogue;
pub mod cells;
#[cfg(feature = "companion")]
pub mod companion;
pub mod context;
#[cfg(feature = "memory")]
pub mod cores;
pub mod cpuid;
pub mod demand;
#[cfg(feature = "companion")]
pub mod follow;
#[cfg(feature = "litmus")]
pub mod litmus;
pub mod machine;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "companion")]
pub mod places;
#[cfg(feature = "memory")]
pub mod platform;
mod pointer;
pub mod record;
pub mod registers;
#[cfg(all(feature = "companion", feature = "knl"))]
pub mod requests;
pub mod snapshot;
pub mod status;
#[cfg(all(feature = "companion", feature = "memory"))]
pub mod traffic;
#[cfg(feature = "tree")]
pub mod tree;
#[cfg(feature = "knl")]
pub mod untile;
pub mod version;
pub mod vocabulary;
