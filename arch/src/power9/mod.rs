//! The PMU of one thread of a POWER9 core.

pub mod encode;
mod registers;

pub use registers::{Bescr, COUNTERS, CounterFreezes, Mmcr0, Mmcr1, Mmcr2, Mmcra, Mmcrc, Msr, Pmc, Sier, ThreadControl, spr};
