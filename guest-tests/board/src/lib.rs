//! The board between an engine and a PMU: what any emulator writes once.
//!
//! [`x86`], [`power`] and [`ia64`] have an observer of that engine's CPUs each. It adds what each step did to the thread's totals, services the
//! PMU at deadlines, passes on contexts and register accesses, and delivers interrupts. [`Lines`] is where the PMUs' requests arrive.
//! [`beside`] has a further PMU that counts from outside.
#![forbid(unsafe_code)]

pub mod beside;
mod deliveries;
pub mod ia64;
mod lines;
pub mod power;
mod refusal;
pub mod report;
pub mod trace;
mod usage;
pub mod x86;

pub use deliveries::{Deliveries, Storm};
pub use lines::{LineState, Lines};
pub use refusal::Refusal;
pub use usage::{CounterUse, Usage};
