//! Engines that execute guests: an interpreter for each architecture, the host's processor behind KVM, and Unicorn.
//!
//! [`x86`], [`power`] and [`ia64`] are built alike: a machine, its CPUs, and an observer that is notified of every step. `kvm` and
//! `unicorn` report the same steps.
// Engines outside Rust share the guest's memory, which takes a call that Rust cannot check: each is in its own file, with its reason.
#![cfg_attr(not(any(feature = "kvm", feature = "unicorn")), forbid(unsafe_code))]
#![deny(unsafe_code)]

pub mod blocks;
pub mod dma;
pub mod ia64;
pub mod image;
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
pub mod kvm;
pub mod memory;
pub mod pages;
pub mod power;
mod turn;
#[cfg(feature = "unicorn")]
pub mod unicorn;
pub mod x86;
