//! Engines that execute guests.

pub mod image;
pub mod interp;
pub mod itanium;
pub mod memory;
pub mod pages;
pub mod power;
mod turn;
