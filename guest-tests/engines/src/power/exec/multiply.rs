//! Multiplication and division (Power ISA 3.0B, Book I, 3.3.9).

use vm_pmu::decode::power::{Op, Word};

use crate::power::state::Core;

fn low_signed(value: u64) -> i64 {
    i64::from(value as i32)
}

fn low(value: u64) -> u64 {
    value & 0xFFFF_FFFF
}

/// A quotient that fits `bits`, or `None`: division by zero and overflow leave an undefined result, here 0.
fn signed_quotient(dividend: i128, divisor: i128, bits: u32) -> Option<u64> {
    let quotient = dividend.checked_div(divisor)?;
    let least = -1i128 << (bits - 1);
    (least..-least).contains(&quotient).then_some(quotient as u64)
}

fn unsigned_quotient(dividend: u128, divisor: u128, bits: u32) -> Option<u64> {
    let quotient = dividend.checked_div(divisor)?;
    (quotient >> bits == 0).then_some(quotient as u64)
}

fn high(product: i128) -> u64 {
    (product >> 64) as u64
}

impl Core {
    /// Executes `op` if it is one of these; returns whether it was.
    #[inline]
    pub(super) fn multiply(&mut self, op: Op, w: Word) -> bool {
        if let Some(value) = self.product(op, w) {
            let immediate = matches!(op, Op::Mulli | Op::Maddhd | Op::Maddhdu | Op::Maddld);
            self.result(w.rt(), value, !immediate && w.record());
        } else if let Some(quotient) = self.quotient(op, w) {
            if w.oe() {
                self.set_overflow(quotient.is_none(), quotient.is_none());
            }
            // A word's quotient in the low half; the high half is undefined, here 0.
            let word = matches!(op, Op::Divw | Op::Divwu | Op::Divwe | Op::Divweu);
            let value = quotient.unwrap_or(0);
            self.result(w.rt(), if word { low(value) } else { value }, w.record());
        } else if let Some(remainder) = self.remainder(op, w) {
            self.gpr[w.rt()] = remainder;
        } else {
            return false;
        }
        true
    }

    fn product(&mut self, op: Op, w: Word) -> Option<u64> {
        let (a, b) = (self.gpr[w.ra()], self.gpr[w.rb()]);
        let (signed_a, signed_b) = (i128::from(a as i64), i128::from(b as i64));
        Some(match op {
            Op::Mulli => a.wrapping_mul(w.si()),
            Op::Mullw => {
                let product = low_signed(a) * low_signed(b);
                let overflow = product != i64::from(product as i32);
                if w.oe() {
                    self.set_overflow(overflow, overflow);
                }
                product as u64
            }
            Op::Mulld => {
                let product = signed_a * signed_b;
                let overflow = product != i128::from(product as i64);
                if w.oe() {
                    self.set_overflow(overflow, overflow);
                }
                product as u64
            }
            Op::Mulhd => high(signed_a * signed_b),
            Op::Mulhdu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
            Op::Mulhw => low(((low_signed(a) * low_signed(b)) >> 32) as u64),
            Op::Mulhwu => (low(a) * low(b)) >> 32,
            Op::Maddld => a.wrapping_mul(b).wrapping_add(self.gpr[w.rc()]),
            Op::Maddhd => high(signed_a * signed_b + i128::from(self.gpr[w.rc()] as i64)),
            Op::Maddhdu => ((u128::from(a) * u128::from(b) + u128::from(self.gpr[w.rc()])) >> 64) as u64,
            _ => return None,
        })
    }

    fn quotient(&self, op: Op, w: Word) -> Option<Option<u64>> {
        let (a, b) = (self.gpr[w.ra()], self.gpr[w.rb()]);
        let wide = |value: i64| i128::from(value);
        Some(match op {
            Op::Divd => signed_quotient(wide(a as i64), wide(b as i64), 64),
            Op::Divw => signed_quotient(wide(low_signed(a)), wide(low_signed(b)), 32),
            Op::Divde => signed_quotient(wide(a as i64) << 64, wide(b as i64), 64),
            Op::Divwe => signed_quotient(wide(low_signed(a)) << 32, wide(low_signed(b)), 32),
            Op::Divdu => unsigned_quotient(a.into(), b.into(), 64),
            Op::Divwu => unsigned_quotient(low(a).into(), low(b).into(), 32),
            Op::Divdeu => unsigned_quotient(u128::from(a) << 64, b.into(), 64),
            Op::Divweu => unsigned_quotient(u128::from(low(a)) << 32, low(b).into(), 32),
            _ => return None,
        })
    }

    /// The remainder; 0 where it is undefined.
    fn remainder(&self, op: Op, w: Word) -> Option<u64> {
        let (a, b) = (self.gpr[w.ra()], self.gpr[w.rb()]);
        Some(match op {
            Op::Modsd => (a as i64).checked_rem(b as i64).unwrap_or(0) as u64,
            Op::Modud => a.checked_rem(b).unwrap_or(0),
            Op::Modsw => (a as i32).checked_rem(b as i32).unwrap_or(0) as u64,
            Op::Moduw => u64::from((a as u32).checked_rem(b as u32).unwrap_or(0)),
            _ => return None,
        })
    }
}
