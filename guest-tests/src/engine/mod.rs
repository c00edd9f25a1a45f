//! Engines that execute guests.

pub mod blocks;
pub mod image;
pub mod interp;
pub mod itanium;
pub mod memory;
pub mod pages;
pub mod power;
mod turn;
#[cfg(feature = "unicorn")]
pub mod unicorn;
