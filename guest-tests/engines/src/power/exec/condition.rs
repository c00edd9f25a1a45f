//! The condition register (Power ISA 3.0B, Book I, 2.5 and 3.3.19).

use vm_pmu::decode::power::{Op, Word};

use super::CA;
use super::fixed::{CA32, OV, OV32};
use crate::power::state::Core;

impl Core {
    fn cr_bit(&self, bit: usize) -> bool {
        self.cr >> (31 - (bit & 31)) & 1 != 0
    }

    /// Executes `op` if it is one of these; returns whether it was.
    pub(super) fn condition(&mut self, op: Op, w: Word) -> bool {
        if self.condition_move(op, w) {
            return true;
        }
        let (a, b) = (self.cr_bit(w.ra()), self.cr_bit(w.rb()));
        let value = match op {
            Op::Crand => a && b,
            Op::Crandc => a && !b,
            Op::Creqv => a == b,
            Op::Crnand => !(a && b),
            Op::Crnor => !(a || b),
            Op::Cror => a || b,
            Op::Crorc => a || !b,
            Op::Crxor => a != b,
            _ => return false,
        };
        let bit = 1 << (31 - w.rt());
        self.cr = if value { self.cr | bit } else { self.cr & !bit };
        true
    }

    fn condition_move(&mut self, op: Op, w: Word) -> bool {
        match op {
            Op::Mcrf => {
                let bits = self.cr >> (28 - 4 * w.bfa());
                self.set_field(w.bf(), bits);
            }
            // One field: the others of the result are undefined, here 0.
            Op::Mfcr if w.0 & 1 << 20 != 0 => self.gpr[w.rt()] = u64::from(self.cr & fields(lowest(w.fxm()))),
            Op::Mfcr => self.gpr[w.rt()] = u64::from(self.cr),
            Op::Mtcrf => {
                let one = w.0 & 1 << 20 != 0;
                let mask = fields(if one { lowest(w.fxm()) } else { w.fxm() });
                self.cr = self.cr & !mask | self.gpr[w.rt()] as u32 & mask;
            }
            Op::Setb => {
                let bits = self.cr >> (28 - 4 * w.bfa());
                self.gpr[w.rt()] = if bits & 8 != 0 { u64::MAX } else { u64::from(bits & 4 != 0) };
            }
            Op::Mcrxrx => {
                let bits = [OV, OV32, CA, CA32].iter().fold(0, |bits, bit| bits << 1 | u32::from(self.xer & bit != 0));
                self.set_field(w.bf(), bits);
            }
            _ => return false,
        }
        true
    }
}

/// The mask of the fields that FXM names.
fn fields(fxm: u32) -> u32 {
    (0..8).filter(|n| fxm >> n & 1 != 0).fold(0, |mask, n| mask | 0xF << (4 * n))
}

/// The one-field forms name one; of more, one is taken.
fn lowest(fxm: u32) -> u32 {
    fxm & fxm.wrapping_neg()
}
