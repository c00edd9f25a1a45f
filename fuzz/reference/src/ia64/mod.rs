//! What the references of IA-64 processors have in common: fields of PSR, breakpoint registers, types of instructions, counters and their
//! overflow, and what captures choose and enter (Itanium
//! Architecture Software Developer's Manual, volume 2, 3.3.2, 7.1 and 7.2).

mod branches;
mod breakpoints;
mod counters;
mod loads;
mod opcodes;
mod ring;

use vm_pmu_arch::feed::Signal;

pub(crate) use branches::{Branches, Source};
pub(crate) use breakpoints::Breakpoints;
pub(crate) use counters::{Added, Counters, FREEZE};
pub(crate) use loads::Loads;
pub(crate) use opcodes::Slot;
pub(crate) use ring::Ring;

/// Bits of PSR (SDM volume 2, 3.3.2).
pub(crate) const USER_MONITOR: u64 = 1 << 2;
pub(crate) const SECURE: u64 = 1 << 20;
pub(crate) const PRIVILEGED_MONITOR: u64 = 1 << 21;
pub(crate) const DEBUGGED: u64 = 1 << 24;
pub(crate) const INSTRUCTION_SET: u64 = 1 << 34;

/// How much a counter adds; `None` is not known.
pub(crate) type Amount = Option<u128>;

/// How much a signal grows in a step.
pub(crate) fn of(signals: &[(Signal, u64)], signal: Signal) -> u64 {
    signals.iter().filter(|(told, _)| *told == signal).map(|(_, amount)| *amount).sum()
}
