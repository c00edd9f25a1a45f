//! What a machine's CPUs share beside memory.

use vm_pmu::Part;

use crate::engine::interp::{CpuidResult, MachineBus};

/// A board whose CPUs show themselves as the part that the PMU belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    part: Part,
}

impl Board {
    /// A board of `part`.
    #[must_use]
    pub fn new(part: Part) -> Board {
        Board { part }
    }
}

impl MachineBus for Board {
    fn cpuid(&self, _cpu: usize, leaf: u32, _subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let Some(identity) = self.part.cpuid() else { return answer };
        let word = |at: usize| identity.vendor.iter().skip(at).take(4).rev().fold(0, |word, letter| word << 8 | u32::from(*letter));
        match leaf {
            0 | 0x8000_0000 => CpuidResult { ebx: word(0), edx: word(4), ecx: word(8), ..answer },
            1 | 0x8000_0001 => CpuidResult { eax: identity.signature, ..answer },
            _ => answer,
        }
    }
}
