//! What the PMUs of IA-64 processors have in common: the architecture's part of them.
//!
//! Itanium Architecture Software Developer's Manual, volume 2, sections 3.3.2, 7.1 and 7.2. Each processor adds its own registers:
//! [`montecito`](crate::montecito).

mod breakpoint;
mod counters;
mod instruction;
mod monitor;
mod overflow;
mod pal;
mod psr;
mod register_stack;
mod selected;

pub use breakpoint::{Breakpoints, DataMask, InstructionMask, PAIRS};
pub use overflow::Overflow;
pub use pal::PerfMonInfo;
pub use psr::Psr;
pub use register_stack::register_stack_event;

pub(crate) use counters::{Counters, FIRST, Setting};
pub(crate) use instruction::{ENCODING, Types};
pub(crate) use monitor::{InstructionSets, Monitor, read_data};
pub(crate) use selected::{Choice, Qualifier, Selected};
