//! Rotates and shifts (Power ISA 3.0B, Book I, 3.3.14).

use vm_pmu::decode::power::{Op, Word};

use crate::power::state::Core;

/// Ones from bit `first` to bit `last`, wrapping around if `first` is the higher number.
fn mask(first: u32, last: u32) -> u64 {
    let from = u64::MAX >> (first & 63);
    let to = u64::MAX << (63 - (last & 63));
    if first <= last { from & to } else { from | to }
}

/// The low word rotated, in both halves.
fn word_rotated(value: u64, by: u32) -> u64 {
    let word = u64::from((value as u32).rotate_left(by & 31));
    word | word << 32
}

impl Core {
    /// Executes `op` if it is one of these; returns whether it was.
    #[inline]
    pub(super) fn rotate(&mut self, op: Op, w: Word) -> bool {
        let (s, b, old) = (self.gpr[w.rt()], self.gpr[w.rb()], self.gpr[w.ra()]);
        let by = b as u32;
        let value = match op {
            Op::Rlwinm => word_rotated(s, w.rb() as u32) & mask(w.rc() as u32 + 32, w.me() + 32),
            Op::Rlwnm => word_rotated(s, by) & mask(w.rc() as u32 + 32, w.me() + 32),
            Op::Rlwimi => {
                let mask = mask(w.rc() as u32 + 32, w.me() + 32);
                word_rotated(s, w.rb() as u32) & mask | old & !mask
            }
            Op::Rldicl => s.rotate_left(w.sh()) & mask(w.mb(), 63),
            Op::Rldicr => s.rotate_left(w.sh()) & mask(0, w.mb()),
            Op::Rldic => s.rotate_left(w.sh()) & mask(w.mb(), 63 - w.sh()),
            Op::Rldimi => {
                let mask = mask(w.mb(), 63 - w.sh());
                s.rotate_left(w.sh()) & mask | old & !mask
            }
            Op::Rldcl => s.rotate_left(by & 63) & mask(w.mb(), 63),
            Op::Rldcr => s.rotate_left(by & 63) & mask(0, w.mb()),
            Op::Slw => u64::from((s as u32).checked_shl(by & 63).unwrap_or(0)),
            Op::Srw => u64::from((s as u32).checked_shr(by & 63).unwrap_or(0)),
            Op::Sld => s.checked_shl(by & 127).unwrap_or(0),
            Op::Srd => s.checked_shr(by & 127).unwrap_or(0),
            Op::Sraw => self.arithmetic_word(s, by & 63),
            Op::Srawi => self.arithmetic_word(s, w.rb() as u32),
            Op::Srad => self.arithmetic_doubleword(s, by & 127),
            Op::Sradi => self.arithmetic_doubleword(s, w.sh()),
            Op::Extswsli => (i64::from(s as i32) as u64) << w.sh(),
            _ => return false,
        };
        self.result(w.ra(), value, w.record());
        true
    }

    fn arithmetic_word(&mut self, value: u64, by: u32) -> u64 {
        let signed = value as i32;
        let lost = if by > 31 { signed } else { signed & !(u32::MAX << by) as i32 };
        let carry = signed < 0 && lost != 0;
        self.set_carry(carry, carry);
        i64::from(signed >> by.min(31)) as u64
    }

    fn arithmetic_doubleword(&mut self, value: u64, by: u32) -> u64 {
        let signed = value as i64;
        let lost = if by > 63 { value } else { value & !(u64::MAX << by) };
        let carry = signed < 0 && lost != 0;
        self.set_carry(carry, carry);
        (signed >> by.min(63)) as u64
    }
}
