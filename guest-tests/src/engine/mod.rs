//! Engines that execute guests.

pub mod interp;
