//! Floating-point arithmetic, compares and `xma`.

use super::Flow;
use super::compare::Write;
use crate::ia64::float::{Float, Precision, round};
use crate::ia64::interrupt::Fault;
use crate::ia64::registers::{ar, isr};
use crate::ia64::state::Core;
use crate::ia64::word::Word;

/// What is smaller is smaller than the smallest normal single even when it is rounded to the bits of one.
const TINY_SINGLE: f64 = f32::MIN_POSITIVE as f64 * (1.0 - 1.0 / (1 << 25) as f64);

/// The greatest exponents of singles, doubles, doubles with the range of extended numbers, and of registers.
const SINGLE: u32 = 127;
const DOUBLE: u32 = 1023;
const EXTENDED: u32 = 16_383;
const WIDEST: u32 = 65_535;

/// How many operations an instruction of an F slot is counted as (Montecito manual, 4.15, FP_OPS_RETIRED).
fn operations(w: Word) -> u8 {
    match (w.major(), w.x6()) {
        // frcpa, frsqrta and their parallel forms; minima, maxima and conversions to integers; compares.
        (0, _) if w.bit(33) => 1,
        (1, _) if w.bit(33) => 2,
        (0, 0x14..=0x1B) | (4, _) => 1,
        (1, 0x14..=0x1B | 0x30..=0x37) => 2,
        // If f0 is added or f1 is a factor, there is only one operation. Pairs count once for each, whatever the factors are.
        (9 | 0xB | 0xD, _) if w.bit(36) => {
            if w.r2() == 0 {
                2
            } else {
                4
            }
        }
        (8..=0xD, _) => {
            if w.r2() == 0 || w.f4() == 1 {
                1
            } else {
                2
            }
        }
        _ => 0,
    }
}

impl Core {
    /// All of F slots.
    pub(crate) fn float(&mut self, w: Word, p: bool) -> Result<Flow, Fault> {
        if p {
            self.step.floating_operations = operations(w);
        }
        match w.major() {
            4 => self.float_compare(w, p)?,
            5 => self.float_class(w, p)?,
            0 | 1 if w.bit(33) => self.approximate(w, p)?,
            _ if !p => {}
            0 => return self.float_0(w),
            1 => return Err(Fault::Unimplemented),
            8..=0xD => self.multiply_and_add(w)?,
            0xE if w.bit(36) => self.integer_multiply(w)?,
            0xE => {
                // fselect: f3 where f2 has ones, f4 elsewhere.
                let (a, b, mask) = (self.fr(w.r3()), self.fr(w.f4()), self.fr(w.r2()));
                let bits = a.significand & mask.significand | b.significand & !mask.significand;
                let nat = [a, b, mask].iter().any(|value| value.is_nat());
                self.put_float(w, if nat { Float::NAT } else { Float::integer(bits) }, &[w.r2(), w.r3(), w.f4()])?;
            }
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(Flow::Next)
    }

    /// Writes f1 of an instruction that reads `sources`.
    pub(crate) fn put_float(&mut self, w: Word, value: Float, sources: &[usize]) -> Result<(), Fault> {
        let target = Self::floating_fit(w.r1())?;
        self.floating_enabled(&[target])?;
        self.floating_enabled(sources)?;
        self.set_fr(target, value);
        Ok(())
    }

    /// fma, fms, fnma and their parallel forms: f3 times f4, plus or minus f2.
    fn multiply_and_add(&mut self, w: Word) -> Result<(), Fault> {
        let sources = [w.r2(), w.r3(), w.f4()];
        let (a, b, c) = (self.fr(w.r3()), self.fr(w.f4()), self.fr(w.r2()));
        let parallel = w.major() & 1 != 0 && w.bit(36);
        let (negate_product, negate_addend) = match w.major() {
            8 | 9 => (false, false),
            0xA | 0xB => (false, true),
            _ => (true, false),
        };
        if [a, b, c].iter().any(|value| value.is_nat()) {
            return self.put_float(w, Float::NAT, &sources);
        }
        self.step.unsafe_operand = self.is_unsafe(w, parallel, [a, b, c]);
        if parallel {
            let lane = |value: Float, at: u32| f32::from_bits((value.significand >> (32 * at)) as u32);
            let each = |at: u32| {
                let (x, y, z) = (lane(a, at), lane(b, at), lane(c, at));
                let x = if negate_product { -x } else { x };
                let z = if negate_addend { -z } else { z };
                let result = if w.r2() == 0 { x * y } else { x.mul_add(y, z) };
                (result, result.is_subnormal() || result == 0.0 && x != 0.0 && y != 0.0 && (w.r2() == 0 || z == 0.0))
            };
            let both = [each(0), each(1)];
            let flush = both.iter().any(|(_, tiny)| *tiny) && self.flushes(w);
            let [low, high] = both.map(|(result, tiny)| if tiny && flush { 0.0f32.copysign(result) } else { result });
            return self.put_float(w, Float::integer(u64::from(high.to_bits()) << 32 | u64::from(low.to_bits())), &sources);
        }
        let a = Float { negative: a.negative ^ negate_product, ..a };
        let precision = if w.major() & 1 == 0 && w.bit(36) { Precision::Single } else { Precision::Double };
        let product = a.to_f64() * b.to_f64();
        let addend = if negate_addend { -c.to_f64() } else { c.to_f64() };
        let exact = if w.r2() == 0 { product } else { a.to_f64().mul_add(b.to_f64(), addend) };
        let lost = exact == 0.0 && !a.is_zero() && !b.is_zero() && (w.r2() == 0 || addend == 0.0);
        // Where the status field chooses the precision, its range is wider than that of the engine's arithmetic.
        let limit = match (w.major() & 1 != 0, precision) {
            (true, _) => f64::MIN_POSITIVE,
            (false, Precision::Single) => TINY_SINGLE,
            (false, Precision::Double) => 0.0,
        };
        let tiny = limit != 0.0 && (lost || exact != 0.0 && exact.abs() < limit);
        if tiny && self.flushes(w) {
            return self.put_float(w, Float { negative: exact.is_sign_negative(), ..Float::ZERO }, &sources);
        }
        let finite = [a, b, c].iter().all(|value| value.to_f64().is_finite());
        let huge = finite && if limit == TINY_SINGLE { (exact as f32).is_infinite() } else { limit != 0.0 && exact.is_infinite() };
        if (huge || tiny) && self.traps(w, huge) {
            self.step.float_trap = if huge { isr::OVERFLOW } else { isr::UNDERFLOW };
        }
        self.put_float(w, round(exact, precision), &sources)
    }

    /// Whether a result that is too large, or tiny, traps. A field with the widest range of exponents has neither.
    fn traps(&self, w: Word, huge: bool) -> bool {
        let (controls, disabled) = (self.controls(w), self.ar[ar::FPSR] >> if huge { 3 } else { 4 } & 1 != 0);
        controls >> 1 & 1 == 0 && controls >> 6 & 1 == 0 && !disabled
    }

    /// Safe instruction recognition: an operand whose exponent is in the middle half of the result's range leads to no overflow and no
    /// underflow, whatever the others are.
    fn is_unsafe(&self, w: Word, parallel: bool, [a, b, c]: [Float; 3]) -> bool {
        let greatest = match (w.major() & 1 != 0, w.bit(36)) {
            _ if parallel => SINGLE,
            (true, _) => DOUBLE,
            (false, true) => SINGLE,
            (false, false) if self.controls(w) >> 1 & 1 != 0 => WIDEST,
            (false, false) => EXTENDED,
        };
        let beyond = |value: Float| {
            let lanes = [0, 32].map(|at| Float::from_single((value.significand >> at) as u32));
            let values = if parallel { lanes } else { [value; 2] };
            values.iter().any(|value| value.is_beyond(greatest / 2))
        };
        beyond(a) || beyond(b) || w.r2() != 0 && beyond(c)
    }

    /// The controls of the status field that an instruction names: flush to zero in bit 0, the widest range in bit 1, no traps in bit 6.
    fn controls(&self, w: Word) -> u64 {
        self.ar[ar::FPSR] >> (6 + 13 * w.bits(34, 2))
    }

    /// A result is tiny: whether it becomes zero. It does where the status field asks for it and no underflow trap is enabled; a field with the
    /// widest range of exponents has no tiny results.
    fn flushes(&mut self, w: Word) -> bool {
        let (fpsr, controls) = (self.ar[ar::FPSR], self.controls(w));
        let (flush, widest, no_traps) = (controls & 1 != 0, controls >> 1 & 1 != 0, controls >> 6 & 1 != 0 || fpsr >> 4 & 1 != 0);
        self.step.tiny = !widest && no_traps;
        self.step.flushed_to_zero = self.step.tiny && flush;
        self.step.flushed_to_zero
    }

    /// `xma`: f3 times f4 plus f2, integers in the significands.
    fn integer_multiply(&mut self, w: Word) -> Result<(), Fault> {
        let sources = [w.r2(), w.r3(), w.f4()];
        let (a, b, c) = (self.fr(w.r3()), self.fr(w.f4()), self.fr(w.r2()));
        if [a, b, c].iter().any(|value| value.is_nat()) {
            return self.put_float(w, Float::NAT, &sources);
        }
        let unsigned = (u128::from(a.significand) * u128::from(b.significand)).wrapping_add(u128::from(c.significand));
        let result = match w.bits(34, 2) {
            0 => unsigned as u64,
            2 => (unsigned >> 64) as u64,
            3 => {
                let product = i128::from(a.significand as i64) * i128::from(b.significand as i64);
                (product.wrapping_add(i128::from(c.significand)) >> 64) as u64
            }
            _ => return Err(Fault::IllegalOperation),
        };
        self.put_float(w, Float::integer(result), &sources)
    }

    fn float_compare(&mut self, w: Word, p: bool) -> Result<(), Fault> {
        let write = if w.bit(12) { Write::Unconditional } else { Write::Normal };
        if !p {
            return self.skip_predicates(w, write);
        }
        Self::distinct(w)?;
        self.floating_enabled(&[w.r2(), w.r3()])?;
        let (a, b) = (self.fr(w.r2()), self.fr(w.r3()));
        let nat = a.is_nat() || b.is_nat();
        let (x, y) = (a.to_f64(), b.to_f64());
        let result = match (w.bit(33), w.bit(36)) {
            (false, false) => x == y,
            (false, true) => x < y,
            (true, false) => x <= y,
            (true, true) => x.is_nan() || y.is_nan(),
        };
        self.put_predicates(w, write, result, nat);
        Ok(())
    }
}
