//! The core PMU of POWER9.

pub mod encode;
