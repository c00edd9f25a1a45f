//! I-type instructions except tests and parallel ones.

use super::Flow;
use crate::ia64::bundle::Unit;
use crate::ia64::interrupt::Fault;
use crate::ia64::state::Core;
use crate::ia64::step::Check;
use crate::ia64::word::{Word, sign_extend};

/// The lowest `length` bits, 1 to 64.
pub(crate) fn ones(length: u32) -> u64 {
    u64::MAX >> (64 - length)
}

/// `value`'s low bits put over `base` at `position`; what does not fit is cut off.
fn deposit(value: u64, base: u64, position: u32, length: u32) -> u64 {
    let mask = ones(length) << position;
    value << position & mask | base & !mask
}

impl Core {
    /// Majors 0, 4, 5 and 7 of I slots.
    pub(crate) fn integer(&mut self, w: Word) -> Result<Flow, Fault> {
        match w.major() {
            0 => return self.integer_0(w),
            4 => {
                let (value, a_nat) = self.gr(w.r2());
                let (base, nat) = self.gr(w.r3());
                let position = 63 - w.bits(31, 6) as u32;
                self.put(w.r1(), (deposit(value, base, position, w.bits(27, 4) as u32 + 1), a_nat || nat))?;
            }
            5 => self.extract_and_deposit(w)?,
            7 => self.variable_shift(w)?,
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(Flow::Next)
    }

    fn integer_0(&mut self, w: Word) -> Result<Flow, Fault> {
        match w.x3() {
            0 => self.miscellaneous(w)?,
            1 => return Ok(self.check_speculation(w)),
            2 => self.predicates = self.predicates & 0xFFFF | w.rotating_predicates() & !0xFFFF,
            3 => {
                let value = self.need(w.r2())?;
                let mask = w.predicate_mask();
                self.predicates = self.predicates & !mask | value & mask | 1;
            }
            7 => self.br[w.b1()] = self.need(w.r2())?,
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(Flow::Next)
    }

    fn miscellaneous(&mut self, w: Word) -> Result<(), Fault> {
        let (value, nat) = self.gr(w.r3());
        let zero_byte = |from_left: bool, bytes: u32| {
            let count = 8 / bytes;
            let zero = |element: u32| value >> (8 * bytes * element) & ones(8 * bytes) == 0;
            let found = if from_left { (0..count).find(|at| zero(count - 1 - at)) } else { (0..count).find(|at| zero(*at)) };
            u64::from(found.unwrap_or(count))
        };
        match w.x6() {
            0x00 => Err(Fault::Break(w.imm21())),
            0x01 => {
                self.step.pause = w.bit(26) && w.imm21() == 0;
                Ok(())
            }
            0x10 => self.put(w.r1(), (value & 0xFF, nat)),
            0x11 => self.put(w.r1(), (value & 0xFFFF, nat)),
            0x12 => self.put(w.r1(), (value & 0xFFFF_FFFF, nat)),
            0x14 => self.put(w.r1(), (sign_extend(value, 8), nat)),
            0x15 => self.put(w.r1(), (sign_extend(value, 16), nat)),
            0x16 => self.put(w.r1(), (sign_extend(value, 32), nat)),
            0x18 => self.put(w.r1(), (zero_byte(true, 1), nat)),
            0x19 => self.put(w.r1(), (zero_byte(true, 2), nat)),
            0x1C => self.put(w.r1(), (zero_byte(false, 1), nat)),
            0x1D => self.put(w.r1(), (zero_byte(false, 2), nat)),
            0x2A => {
                let value = self.need(w.r2())?;
                self.write_ar(Unit::I, w.r3(), value)
            }
            0x0A => self.write_ar(Unit::I, w.r3(), w.imm8()),
            0x32 => {
                let value = self.read_ar(Unit::I, w.r3())?;
                self.put(w.r1(), (value, false))
            }
            0x30 => self.put(w.r1(), (self.step.ip, false)),
            0x31 => self.put(w.r1(), (self.br[w.b2()], false)),
            0x33 => self.put(w.r1(), (self.predicates, false)),
            _ => Err(Fault::IllegalOperation),
        }
    }

    /// `chk.s` of a general register.
    pub(crate) fn check_speculation(&mut self, w: Word) -> Flow {
        let failed = self.gr(w.r2()).1;
        self.checked(w, failed, false)
    }

    /// The outcome of `chk.s`.
    pub(crate) fn checked(&mut self, w: Word, failed: bool, floating: bool) -> Flow {
        let target = self.step.ip.wrapping_add(w.check_displacement());
        self.step.check = Some(Check { advanced: false, load: false, floating, flags: false, failed, target });
        if failed { Flow::Taken(target) } else { Flow::Next }
    }

    fn extract_and_deposit(&mut self, w: Word) -> Result<(), Fault> {
        let length = w.bits(27, 6) as u32 + 1;
        let (value, nat) = self.gr(w.r3());
        let result = match (w.bits(34, 2), w.bit(33)) {
            (1, false) => {
                let position = w.bits(14, 6) as u32;
                let length = length.min(64 - position);
                let field = value >> position & ones(length);
                (if w.bit(13) { sign_extend(field, length) } else { field }, nat)
            }
            (1, true) => {
                let position = 63 - w.bits(20, 6) as u32;
                let (value, nat) = if w.bit(26) { (w.imm8(), false) } else { self.gr(w.r2()) };
                (deposit(value, 0, position, length), nat)
            }
            (3, false) => {
                let (high, high_nat) = self.gr(w.r2());
                let both = u128::from(high) << 64 | u128::from(value);
                ((both >> (length - 1)) as u64, nat || high_nat)
            }
            (3, true) => {
                let position = 63 - w.bits(14, 6) as u32;
                let bits = if w.bit(36) { u64::MAX } else { 0 };
                (deposit(bits, value, position, length), nat)
            }
            _ => return Err(Fault::IllegalOperation),
        };
        self.put(w.r1(), result)
    }

    /// Major 7: `shl`, `shr`, `popcnt`, `clz` and what works on parts of registers.
    fn variable_shift(&mut self, w: Word) -> Result<(), Fault> {
        let wide = w.bit(36) && w.bit(33);
        let shape = (w.bits(34, 2), w.bits(28, 2), w.bits(30, 2));
        let (a, a_nat) = self.gr(w.r2());
        let (b, b_nat) = self.gr(w.r3());
        let nats = a_nat || b_nat;
        let result = match (wide, w.bit(32), shape) {
            // The counts are unsigned, and 64 or more shifts all out.
            (true, false, (0, 0, 0)) => (if a > 63 { 0 } else { b >> a }, nats),
            (true, false, (0, 2, 0)) => ((b as i64 >> a.min(63)) as u64, nats),
            (true, false, (0, 0, 1)) => (if b > 63 { 0 } else { a << b }, nats),
            (false, false, (1, 1, 2)) if w.bit(33) => (u64::from(b.count_ones()), b_nat),
            (false, false, (1, 1, 3)) if w.bit(33) => (u64::from(b.leading_zeros()), b_nat),
            _ => return self.parallel(w),
        };
        self.put(w.r1(), result)
    }
}
