//! The C interface of vm-pmu.
//!
//! A shared library, a static one, and the header `include/vm_pmu.h`, which is made from this crate and documents every function for C and
//! C++. For Rust use the crate `vm-pmu`.
//!
//! # Rules
//!
//! - A machine is an opaque pointer; its threads, packages and boxes are numbers within it.
//! - Every function that can fail returns a [`VmPmuStatus`](status::VmPmuStatus): 0, the fault to deliver to the guest, or an error that
//!   changes nothing. [`vm_pmu_last_error`](status::vm_pmu_last_error) returns a line on the error.
//! - Structs that may grow begin with their size, which the caller sets. Zero in every other field means the default. Fields that a later
//!   header adds are zero for programs of an earlier one.
//! - Nothing unwinds into the caller.
//!
//! # Features
//!
//! Each part is a feature, and so are the groups of functions that not every emulator needs: `companion`, `decode`, `litmus`, `memory` and `tree`.
//! All are on by default. Functions of a feature that is off are not in the library.
//!
//! # Pointers
//!
//! Null pointers, misaligned ones and lengths beyond all memory are refused; functions that destroy also refuse handles that do not live, are
//! of another kind or are in use by a callback. Otherwise the library relies on the caller: a machine was made
//! by [`vm_pmu_machine_create`](machine::vm_pmu_machine_create) and has not been destroyed; a text ends with a zero byte; an output can be
//! written, and nothing else uses it during the call.
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
pub mod cpu;
pub mod cpuid;
#[cfg(feature = "decode")]
pub mod decode;
pub mod demand;
#[cfg(feature = "companion")]
pub mod device_requests;
#[cfg(feature = "memory")]
pub mod devices;
pub mod die;
#[cfg(feature = "companion")]
pub mod follow;
mod handle;
#[cfg(feature = "companion")]
pub mod instruction;
pub mod layout;
#[cfg(feature = "companion")]
mod lists;
#[cfg(feature = "litmus")]
pub mod litmus;
mod lock;
pub mod machine;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "knl")]
pub mod mesh;
#[cfg(feature = "companion")]
pub mod nodes;
#[cfg(all(feature = "companion", feature = "knl"))]
pub mod place_events;
#[cfg(feature = "companion")]
pub mod places;
#[cfg(feature = "memory")]
pub mod platform;
mod pointer;
pub mod record;
#[cfg(feature = "litmus")]
pub mod recording;
pub mod records;
mod reentry;
pub mod registers;
#[cfg(all(feature = "companion", feature = "knl"))]
pub mod requests;
pub mod snapshot;
pub mod status;
#[cfg(feature = "companion")]
pub mod trace;
#[cfg(all(feature = "companion", feature = "memory"))]
pub mod traffic;
#[cfg(feature = "memory")]
pub mod translations;
#[cfg(feature = "tree")]
pub mod tree;
#[cfg(feature = "companion")]
pub mod turns;
#[cfg(feature = "knl")]
pub mod untile;
pub mod version;
pub mod vocabulary;
