//! The first things that pass between a guest and its PMU.

use vm_pmu::arch::access::Address;
use vm_pmu::arch::model::RegisterDescription;

use crate::report::{Action, Trace};

/// Keeps so many entries and no more.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    most: usize,
    kept: Vec<Trace>,
}

impl Recorder {
    pub(super) fn new(most: usize) -> Recorder {
        Recorder { most, kept: Vec::new() }
    }

    pub(super) fn kept(&self) -> &[Trace] {
        &self.kept
    }

    /// Continues from what another has kept.
    pub(super) fn go_on(&mut self, kept: &[Trace]) {
        self.kept = kept.iter().take(self.most).cloned().collect();
    }

    /// Keeps `action`, while there is room.
    #[inline]
    pub(super) fn keep(&mut self, thread: usize, instruction: u64, address: u64, action: impl FnOnce() -> Option<Action>) {
        if self.kept.len() < self.most {
            self.kept.extend(action().map(|action| Trace { thread, instruction, address, action }));
        }
    }
}

/// An access by the manual's name of the register; `None` for a register that is not the PMU's.
pub(super) fn access(registers: &[RegisterDescription], address: Address, value: u64, wrote: bool) -> Option<Action> {
    let register = match address {
        Address::Rdpmc(index) => format!("RDPMC {index}"),
        address => registers.iter().find(|register| register.address == address)?.name.to_owned(),
    };
    Some(if wrote { Action::Write { register, value } } else { Action::Read { register, value } })
}
