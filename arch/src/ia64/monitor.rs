//! When a monitor counts, and who may read what it counted.

use super::psr::Psr;
use crate::feed::Context;

/// The instruction set mask that lets a monitor count IA-64 code: the one value that manuals define for every part.
const IA64_ONLY: u8 = 0b10;

/// The fields of a configuration register that say when its monitor counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Monitor {
    /// Privilege levels at which it counts, one bit each.
    pub(crate) plm: u8,
    /// It is a privileged monitor: PSR.pp enables it, not PSR.up.
    pub(crate) pm: bool,
    /// It counts code of the instruction set being executed, as far as its mask says so.
    pub(crate) sets: InstructionSets,
}

/// The instruction sets that a monitor counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InstructionSets {
    /// Whatever is executed: the register has no mask.
    #[default]
    Any,
    /// None: the mask has a value that is not to be used.
    None,
    /// Both kinds, distinguished by PSR.is: \[IA-64, IA-32\].
    Of([bool; 2]),
}

impl InstructionSets {
    /// Montecito's mask: '10, or nothing is counted (Table 3-5).
    pub(crate) const fn only(ism: u8) -> InstructionSets {
        if ism == IA64_ONLY { InstructionSets::Any } else { InstructionSets::None }
    }

    fn admits(self, psr: Psr) -> bool {
        match self {
            InstructionSets::Any => true,
            InstructionSets::None => false,
            InstructionSets::Of([ia64, ia32]) => {
                if psr.is() {
                    ia32
                } else {
                    ia64
                }
            }
        }
    }
}

impl Monitor {
    /// Whether it counts in this context while monitoring is not frozen (Montecito manual, section 3.3.1).
    #[inline]
    pub(crate) fn is_enabled(self, context: &Context) -> bool {
        let psr = Psr::of(context.machine_state);
        let enabled = if self.pm { psr.pp() } else { psr.up() };
        enabled && self.plm >> (context.privilege & 3) & 1 == 1 && self.sets.admits(psr)
    }

    /// Whether it counts in some context.
    pub(crate) const fn can_count(self) -> bool {
        self.plm != 0
            && match self.sets {
                InstructionSets::Any => true,
                InstructionSets::None => false,
                InstructionSets::Of([ia64, ia32]) => ia64 || ia32,
            }
    }
}

/// What a read returns of a data register that holds `value` and is governed by a monitor whose field pm is `pm`. At a level above 0 it
/// is zero while PSR.sp is set or the monitor is privileged.
pub(crate) fn read_data(value: u64, pm: bool, context: &Context) -> u64 {
    let hidden = context.privilege != 0 && (pm || Psr::of(context.machine_state).sp());
    if hidden { 0 } else { value }
}
