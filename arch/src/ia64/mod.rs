//! What the PMUs of IA-64 processors have in common: the architecture's part of them.
//!
//! Itanium Architecture Software Developer's Manual, volume 2, sections 3.3.2, 7.1 and 7.2. Each processor adds its own registers:
//! [`itanium`](crate::itanium), [`montecito`](crate::montecito).

mod access;
mod breakpoint;
mod counters;
mod describe;
mod instruction;
mod load_tracker;
mod monitor;
mod overflow;
mod pal;
mod psr;
mod register_stack;
mod selected;
mod trace;

pub use breakpoint::{Breakpoints, DataMask, InstructionMask, PAIRS};
pub use load_tracker::LoadTracker;
pub use overflow::Overflow;
pub use pal::PerfMonInfo;
pub use psr::Psr;
pub use register_stack::register_stack_event;
pub use trace::Last;

pub(crate) use access::{Register, decode, sign_extended};
pub(crate) use counters::{Counters, FIRST, Setting};
pub(crate) use describe::{ADDRESS, describe};
pub(crate) use instruction::{ENCODING, Types, slot};
pub(crate) use monitor::{InstructionSets, Monitor, read_data};
pub(crate) use selected::{Choice, Qualifier, Selected};
pub(crate) use trace::{Buffer, Source, enter};
