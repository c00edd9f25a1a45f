//! Engine for Itanium.

pub mod assemble;
