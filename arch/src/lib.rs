//! The register files of performance monitoring units, for emulators and hypervisors.
//!
//! This crate is the architecture: what each register holds, who may touch it, what counts, what overflows. It knows no bus, no
//! thread, no clock, and no memory but the cells that an embedder lends it; it allocates nothing, and it has no unsafe code. The crate
//! `vm-pmu` attaches it to an emulator.
//!
//! | layer | what it knows | what it refuses to know |
//! | --- | --- | --- |
//! | [`feed`] | what happened so far ([`Totals`](feed::Totals)), when to look ([`Deadlines`](feed::Deadlines)) | who counts it |
//! | [`event`] | what each PMU can count, and which signals drive it | registers |
//! | [`counter`] | widths, wraps, thresholds, edges | whose counter it is |
//! | [`k8`], [`knl`], [`power9`], [`itanium`], [`montecito`] | one part's registers and rules | who calls it |
//! | [`memory`] | cells of the guest's memory | where they are |
//! | [`model`] | what every part can do | which part |
//!
//! Every access returns a value or a typed fault; no input makes it panic or loop.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod access;
pub mod alert;
pub mod counter;
pub mod event;
pub mod feed;
pub mod ia64;
pub mod itanium;
pub mod k8;
pub mod knl;
pub mod layout;
#[cfg(feature = "serde")]
pub mod long_array;
pub mod memory;
pub mod model;
pub mod montecito;
pub mod power9;
pub mod registry;
mod x86;
