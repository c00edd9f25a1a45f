//! The register files of performance monitoring units, for emulators and hypervisors.
//!
//! This crate is the architecture: what each register holds, who may touch it, what counts, what overflows. It knows no bus, no
//! thread, no clock, and no memory except the cells that an embedder gives it; it allocates nothing, except for the errors of the feature
//! `alloc`, and it has no unsafe code. The crate `vm-pmu` attaches it to an emulator.
//!
//! | layer | what it knows | what it does not know |
//! | --- | --- | --- |
//! | [`feed`] | the totals so far ([`Totals`](feed::Totals)), when the model must be serviced ([`Deadlines`](feed::Deadlines)) | who counts it |
//! | [`event`] | what each PMU can count, and which signals drive it | registers |
//! | [`counter`] | widths, wraps, thresholds, edges | whose counter it is |
//! | [`k8`], [`knl`], [`power9`], [`itanium`], [`montecito`] | one part's registers and rules | who calls it |
//! | [`memory`] | cells of the guest's memory | where they are |
//! | [`model`] | what every part can do | which part |
//!
//! Every access returns a value or a typed fault; no input makes it panic or loop.
//!
//! Each part is a feature of its name, and all are on by default. What is off is not compiled: its folder, its events, its line in the
//! [`registry`]. Without the feature `descriptions` events keep their names and have no texts.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(every_part), allow(dead_code, unused_imports, unused_macros, reason = "shared code may serve another part"))]

#[cfg(all(doctest, feature = "k8"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "alloc")]
extern crate alloc;
// What derives `Arbitrary` names the standard library, whose lock is that of the feature `std`.
#[cfg(any(feature = "arbitrary", feature = "std"))]
extern crate std;

pub mod access;
pub mod alert;
pub mod atomic;
pub mod counter;
pub mod die;
pub mod event;
pub mod feed;
#[cfg(any(feature = "itanium", feature = "montecito"))]
pub mod ia64;
#[cfg(feature = "itanium")]
pub mod itanium;
#[cfg(feature = "k8")]
pub mod k8;
#[cfg(feature = "knl")]
pub mod knl;
pub mod layout;
#[cfg(feature = "lock")]
pub mod lock;
#[cfg(feature = "serde")]
pub mod long_array;
pub mod memory;
pub mod model;
#[cfg(feature = "montecito")]
pub mod montecito;
pub mod numbered;
#[cfg(feature = "power9")]
pub mod power9;
pub mod registry;
#[cfg(any(feature = "k8", feature = "knl"))]
mod x86;
