//! A part of floating point (Power ISA 3.0B, Book I, 4.6): double and single arithmetic rounded to nearest, without exceptions. FPSCR
//! keeps what is written to it, and only its condition bits change by themselves.

use vm_pmu::decode::power::{Op, Word, is_single, scalar_work};

use crate::power::interrupt::Fault;
use crate::power::state::Core;

const SIGN: u64 = 1 << 63;
/// What an invalid operation makes.
const NAN: u64 = 0x7FF8_0000_0000_0000;
/// Of a NaN: it is quiet.
const QUIET: u64 = 1 << 51;
/// What a single has of a double's bits.
const SINGLE: u64 = !0x1FFF_FFFF;

/// The bits of a result of no NaN.
fn bits(value: f64) -> u64 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

fn rounded(value: u64) -> u64 {
    let number = f64::from_bits(value);
    if number.is_nan() { (value | QUIET) & SINGLE } else { f64::from(number as f32).to_bits() }
}

fn to_integer(value: f64, least: i64, most: i64) -> u64 {
    // Out of range, and NaN, become the nearest there is; NaN the least.
    if value.is_nan() { least as u64 } else { (value as i64).clamp(least, most) as u64 }
}

impl Core {
    fn number(&self, register: usize) -> f64 {
        f64::from_bits(self.fpr[register])
    }

    /// Executes `op` if it is one of these; returns whether it was.
    pub(super) fn float(&mut self, op: Op, w: Word) -> Result<bool, Fault> {
        let Some(floating) = scalar_work(op) else { return Ok(false) };
        self.need_floating()?;
        self.step.floating = Some(floating);
        let value = match op {
            Op::Fcmpu | Op::Fcmpo => {
                let ordering = self.number(w.ra()).partial_cmp(&self.number(w.rb()));
                let bits = match ordering {
                    Some(std::cmp::Ordering::Less) => 8,
                    Some(std::cmp::Ordering::Greater) => 4,
                    Some(std::cmp::Ordering::Equal) => 2,
                    None => 1,
                };
                self.set_field(w.bf(), bits);
                self.fpscr = self.fpscr & !0xF000 | u64::from(bits) << 12;
                return Ok(true);
            }
            Op::Mtfsf => {
                let fields = if w.0 & 1 << 25 != 0 { 0xFF } else { w.0 >> 17 & 0xFF };
                let mask = (0..8).filter(|n| fields >> n & 1 != 0).fold(0, |mask, n| mask | 0xF << (4 * n));
                self.fpscr = self.fpscr & !mask | self.fpr[w.rb()] & mask;
                self.record_floating(w);
                return Ok(true);
            }
            Op::Mffs => self.fpscr,
            Op::Fmr => self.fpr[w.rb()],
            Op::Fneg => self.fpr[w.rb()] ^ SIGN,
            Op::Fabs => self.fpr[w.rb()] & !SIGN,
            Op::Fnabs => self.fpr[w.rb()] | SIGN,
            Op::Frsp => rounded(self.fpr[w.rb()]),
            Op::Fsel => {
                let least = self.number(w.ra()) >= 0.0;
                self.fpr[if least { w.rc() } else { w.rb() }]
            }
            Op::Fcfid => bits(self.fpr[w.rb()] as i64 as f64),
            Op::Fctidz => to_integer(self.number(w.rb()), i64::MIN, i64::MAX),
            Op::Fctid => to_integer(self.number(w.rb()).round_ties_even(), i64::MIN, i64::MAX),
            Op::Fctiwz => to_integer(self.number(w.rb()), i32::MIN.into(), i32::MAX.into()) & 0xFFFF_FFFF,
            _ => self.arithmetic(op, w),
        };
        self.fpr[w.rt()] = value;
        self.record_floating(w);
        Ok(true)
    }

    fn record_floating(&mut self, w: Word) {
        if w.record() {
            self.set_field(1, (self.fpscr >> 28) as u32);
        }
    }

    fn arithmetic(&self, op: Op, w: Word) -> u64 {
        let (a, b, c) = (self.number(w.ra()), self.number(w.rb()), self.number(w.rc()));
        let single = is_single(op);
        // A NaN among the operands is the result: that of FRA before that of FRB before that of FRC.
        let (has_a, has_b, has_c) = match op {
            Op::Fsqrt | Op::Fsqrts => (false, true, false),
            Op::Fmul | Op::Fmuls => (true, false, true),
            Op::Fadd | Op::Fadds | Op::Fsub | Op::Fsubs | Op::Fdiv | Op::Fdivs => (true, true, false),
            _ => (true, true, true),
        };
        let operands = [(has_a, a), (has_b, b), (has_c, c)];
        if let Some((_, nan)) = operands.into_iter().find(|(has, operand)| *has && operand.is_nan()) {
            return (nan.to_bits() | QUIET) & if single { SINGLE } else { u64::MAX };
        }
        let value = match op {
            Op::Fadd | Op::Fadds => a + b,
            Op::Fsub | Op::Fsubs => a - b,
            Op::Fmul | Op::Fmuls => a * c,
            Op::Fdiv | Op::Fdivs => a / b,
            Op::Fsqrt | Op::Fsqrts => b.sqrt(),
            Op::Fmadd => a.mul_add(c, b),
            Op::Fmsub => a.mul_add(c, -b),
            Op::Fnmadd => -a.mul_add(c, b),
            Op::Fnmsub => -a.mul_add(c, -b),
            // In single format from the start: rounded once.
            Op::Fmadds => f64::from((a as f32).mul_add(c as f32, b as f32)),
            Op::Fmsubs => f64::from((a as f32).mul_add(c as f32, -b as f32)),
            Op::Fnmadds => -f64::from((a as f32).mul_add(c as f32, b as f32)),
            _ => -f64::from((a as f32).mul_add(c as f32, -b as f32)),
        };
        if single { rounded(bits(value)) } else { bits(value) }
    }
}
