//! Floating-point classes, conversions, merges, logic, and where divisions begin.

use super::Flow;
use super::compare::Write;
use crate::ia64::float::Float;
use crate::ia64::interrupt::Fault;
use crate::ia64::registers::ar;
use crate::ia64::state::Core;
use crate::ia64::step::Check;
use crate::ia64::word::Word;

/// The integer that a number beyond the range, or none, becomes.
const INDEFINITE: u64 = 1 << 63;

fn to_signed(value: f64) -> u64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 as u64 } else { INDEFINITE }
}

fn to_unsigned(value: f64) -> u64 {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    if value > -1.0 && value < LIMIT { value as u64 } else { INDEFINITE }
}

/// The nine bits of a class that `fclass` tests.
fn classes(value: Float) -> u64 {
    if value.is_nat() {
        return 0x100;
    }
    let sign = if value.negative { 2 } else { 1 };
    let kind = if value.is_nan() {
        return if value.significand >> 62 & 1 != 0 { 0x80 } else { 0x40 };
    } else if value.is_infinite() {
        0x20
    } else if value.is_zero() {
        0x04
    } else if value.significand >> 63 == 0 {
        0x08
    } else {
        0x10
    };
    sign | kind
}

impl Core {
    /// `fclass.m`.
    pub(crate) fn float_class(&mut self, w: Word, p: bool) -> Result<(), Fault> {
        let write = if w.bit(12) { Write::Unconditional } else { Write::Normal };
        if !p {
            return self.skip_predicates(w, write);
        }
        Self::distinct(w)?;
        self.floating_enabled(&[w.r2()])?;
        let wanted = w.bits(20, 7) << 2 | w.bits(33, 2);
        let value = self.fr(w.r2());
        let found = classes(value);
        // A sign and a kind must both be wanted; NaNs and the NaT have no sign here.
        let member = if found >= 0x40 { wanted & found != 0 } else { wanted & found & 3 != 0 && wanted & found & 0x3C != 0 };
        self.put_predicates(w, write, member, value.is_nat() && wanted & 0x100 == 0);
        Ok(())
    }

    /// `frcpa` and `frsqrta`: here the reciprocal is as exact as a double.
    pub(crate) fn approximate(&mut self, w: Word, p: bool) -> Result<(), Fault> {
        if !p {
            self.set_predicate(w.p2(), false);
            return Ok(());
        }
        if w.major() == 1 {
            return Err(Fault::Unimplemented);
        }
        let root = w.bit(36);
        let sources = if root { [w.r3(), w.r3()] } else { [w.r2(), w.r3()] };
        let (numerator, denominator) = (self.fr(w.r2()), self.fr(w.r3()));
        let (n, d) = (numerator.to_f64(), denominator.to_f64());
        let nat = denominator.is_nat() || !root && numerator.is_nat();
        // Where a special case has its result at once, the predicate keeps the iteration away.
        let plain = !nat && d.is_finite() && d != 0.0 && if root { d > 0.0 } else { n.is_finite() && n != 0.0 };
        let value = match (plain, root) {
            _ if nat => Float::NAT,
            (true, false) => Float::from_f64(1.0 / d),
            (true, true) => Float::from_f64(1.0 / d.sqrt()),
            (false, false) => Float::from_f64(n / d),
            (false, true) => Float::from_f64(d.sqrt()),
        };
        self.put_float(w, value, &sources)?;
        self.set_predicate(w.p2(), plain);
        Ok(())
    }

    /// Major 0 of F slots except approximations.
    pub(crate) fn float_0(&mut self, w: Word) -> Result<Flow, Fault> {
        let (a, b) = (self.fr(w.r2()), self.fr(w.r3()));
        let sources = [w.r2(), w.r3()];
        let nat = a.is_nat() || b.is_nat();
        let (x, y) = (a.to_f64(), b.to_f64());
        let value = match w.x6() {
            0x00 => return Err(Fault::Break(w.imm21())),
            0x01 => {
                self.step.pause = w.bit(26) && w.imm21() == 0;
                return Ok(Flow::Next);
            }
            // Arithmetic sets no flag of a status field, so they are as software leaves them.
            0x04 | 0x05 => return self.float_status(w).map(|()| Flow::Next),
            0x08 => {
                let target = self.step.ip.wrapping_add(w.flag_check_displacement());
                let failed = self.has_new_flags(w);
                self.step.check = Some(Check { advanced: false, load: false, floating: true, flags: true, failed, target });
                return Ok(if failed { Flow::Taken(target) } else { Flow::Next });
            }
            0x10..=0x12 | 0x14..=0x17 | 0x28 | 0x2C..=0x2F | 0x34..=0x36 | 0x39..=0x3D if nat => Float::NAT,
            0x10 => Float { negative: a.negative, ..b },
            0x11 => Float { negative: !a.negative, ..b },
            0x12 => Float { negative: a.negative, exponent: a.exponent, ..b },
            0x14 => {
                if x < y {
                    a
                } else {
                    b
                }
            }
            0x15 => {
                if y < x {
                    a
                } else {
                    b
                }
            }
            0x16 => {
                if x.abs() < y.abs() {
                    a
                } else {
                    b
                }
            }
            0x17 => {
                if y.abs() < x.abs() {
                    a
                } else {
                    b
                }
            }
            0x18..=0x1C if a.is_nat() => Float::NAT,
            0x18 => Float::integer(to_signed(x.round_ties_even())),
            0x19 => Float::integer(to_unsigned(x.round_ties_even())),
            0x1A => Float::integer(to_signed(x.trunc())),
            0x1B => Float::integer(to_unsigned(x.trunc())),
            0x1C => normalized(a.significand as i64),
            0x28 => Float::integer(u64::from(a.to_single()) << 32 | u64::from(b.to_single())),
            0x2C => Float::integer(a.significand & b.significand),
            0x2D => Float::integer(a.significand & !b.significand),
            0x2E => Float::integer(a.significand | b.significand),
            0x2F => Float::integer(a.significand ^ b.significand),
            0x34 => Float::integer(b.significand << 32 | a.significand >> 32),
            0x39 => Float::integer(a.significand & HIGH | b.significand & LOW),
            0x3A => Float::integer(a.significand << 32 | b.significand & LOW),
            0x3B => Float::integer(a.significand & HIGH | b.significand >> 32),
            0x3C => Float::integer((if a.significand >> 31 & 1 != 0 { HIGH } else { 0 }) | b.significand & LOW),
            0x3D => Float::integer((if a.significand >> 63 != 0 { HIGH } else { 0 }) | b.significand >> 32),
            0x35 | 0x36 => return Err(Fault::Unimplemented),
            _ => return Err(Fault::IllegalOperation),
        };
        self.put_float(w, value, &sources)?;
        Ok(Flow::Next)
    }

    /// Whether a status field has a flag whose trap is enabled or that field 0 does not have: `fchkf` (SDM, volume 3).
    fn has_new_flags(&self, w: Word) -> bool {
        let fpsr = self.ar[ar::FPSR];
        let flags = |field: u64| fpsr >> (13 + 13 * field) & 0x3F;
        flags(w.bits(34, 2)) & (!fpsr | !flags(0)) & 0x3F != 0
    }

    /// `fsetc` sets the controls of a status field, `fclrf` clears its flags.
    fn float_status(&mut self, w: Word) -> Result<(), Fault> {
        let field = w.bits(34, 2);
        let base = 6 + 13 * field as u32;
        let fpsr = self.ar[ar::FPSR];
        self.ar[ar::FPSR] = if w.x6() == 0x04 {
            let controls = (fpsr >> 6 & 0x7F & w.bits(13, 7)) | w.bits(20, 7);
            fpsr & !(0x7F << base) | controls << base
        } else {
            fpsr & !(0x3F << (base + 7))
        };
        Ok(())
    }
}

const HIGH: u64 = 0xFFFF_FFFF_0000_0000;
const LOW: u64 = 0xFFFF_FFFF;

/// The number that an integer is, exactly.
fn normalized(value: i64) -> Float {
    if value == 0 {
        return Float::ZERO;
    }
    let magnitude = value.unsigned_abs();
    let shift = magnitude.leading_zeros();
    Float { negative: value < 0, exponent: 0x1_003E - shift, significand: magnitude << shift }
}
