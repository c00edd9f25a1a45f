//! A deterministic interpreter of IA-64.

mod access;
mod alat;
mod bundle;
mod cpu;
mod exec;
mod firmware;
mod float;
mod interrupt;
mod machine;
mod observer;
pub mod registers;
mod rse;
mod sapic;
mod stack;
mod state;
mod step;
mod threads;
mod unimplemented;
mod word;

pub use super::image::{Image, ImageError, Segment};
pub use super::memory::{Memory, MemoryError};
pub use firmware::{PAL_HALT_LIGHT, PAL_PERF_MON_INFO, PAL_VERSION};
pub use machine::{Config, Exit, Limits, MAX_CORES, MAX_THREADS, Machine, MachineError, STACK_SIZE};
pub use observer::{Alerts, CpuView, L3Miss, Observer, PerformanceMonitorInfo, RegisterFault, Unobserved};
pub use state::{CONSOLE, DEVICES, EXIT, PAL_ENTRY};
pub use step::{Access, AccessKind, Branch, BranchKind, Check, Class, Notice, StackLevel, Step, Switch, SwitchCause, Taken, Unit};
pub use threads::SWITCH_CYCLES;
pub use unimplemented::Unimplemented;
