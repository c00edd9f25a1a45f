//! Engines that execute guests.

pub mod blocks;
pub mod image;
pub mod interp;
pub mod itanium;
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
pub mod kvm;
pub mod memory;
pub mod pages;
pub mod power;
mod turn;
#[cfg(feature = "unicorn")]
pub mod unicorn;
