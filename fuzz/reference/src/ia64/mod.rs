//! What the references of IA-64 processors have in common: fields of PSR, breakpoint registers, types of instructions, counters and their
//! overflow, and what captures choose and enter (Itanium Architecture Software Developer's Manual, volume 2, 3.3.2, 7.1 and 7.2).

mod branches;
mod breakpoints;
mod counters;
mod loads;
mod opcodes;
mod ring;

pub(crate) use crate::clocks::amount_of as of;
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

/// The interrupts asked for since the last call, sorted: thread and counter. From now on they are known unless `unsure`.
pub(crate) fn take_sorted(asked: &mut Option<Vec<(usize, u32)>>, unsure: bool) -> Option<Vec<(usize, u32)>> {
    let mut taken = core::mem::replace(asked, (!unsure).then(Vec::new))?;
    taken.sort_unstable();
    Some(taken)
}
