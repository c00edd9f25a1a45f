//! A deterministic interpreter of 64-bit POWER for bare-metal guests.

mod access;
pub mod assemble;
mod cpu;
mod decode;
mod exec;
mod interrupt;
mod machine;
mod observer;
mod op;
pub mod registers;
mod state;
mod step;
mod transaction;
mod word;

pub use super::image::{Image, ImageError, Segment};
pub use super::memory::{Memory, MemoryError};
pub use machine::{Config, Exit, Limits, MAX_CPUS, Machine, MachineError, STACK_SIZE};
pub use observer::{Alerts, CpuView, EventBased, Observer, Pending, SprFault, Unobserved};
pub use state::{CONSOLE, DEVICES, EXIT, TimeBase};
pub use step::{
    Access, Barrier, Branch, Class, Conditional, Floating, Marks, Notice, Step, Taken, Through, Touch, Touched, Transaction,
};
