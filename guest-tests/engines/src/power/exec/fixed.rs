//! Fixed-point arithmetic, logic, compares and counts (Power ISA 3.0B, Book I, 3.3).

use vm_pmu::decode::power::{Op, Word};

use crate::power::registers::msr;
use crate::power::state::Core;

/// XER bit 32: summary overflow.
pub(crate) const SO: u64 = 1 << 31;
/// XER bit 33: overflow.
pub(crate) const OV: u64 = 1 << 30;
/// XER bit 34: carry.
pub(crate) const CA: u64 = 1 << 29;
/// XER bit 44: overflow of the low word.
pub(crate) const OV32: u64 = 1 << 19;
/// XER bit 45: carry of the low word.
pub(crate) const CA32: u64 = 1 << 18;

/// The four bits of a condition register field for how two numbers compare.
fn field(ordering: std::cmp::Ordering) -> u32 {
    match ordering {
        std::cmp::Ordering::Less => 8,
        std::cmp::Ordering::Greater => 4,
        std::cmp::Ordering::Equal => 2,
    }
}

impl Core {
    /// Sets field `number` of the condition register.
    pub(crate) fn set_field(&mut self, number: u32, bits: u32) {
        let shift = 28 - 4 * (number & 7);
        self.cr = self.cr & !(0xF << shift) | (bits & 0xF) << shift;
    }

    fn summary(&self) -> u32 {
        u32::from(self.xer & SO != 0)
    }

    /// Sets CR0 as the result of a record form.
    pub(crate) fn record(&mut self, value: u64) {
        let signed = if self.msr & msr::SF == 0 { i64::from(value as i32) } else { value as i64 };
        let bits = field(signed.cmp(&0)) | self.summary();
        self.set_field(0, bits);
    }

    /// Puts a result into a register, and into CR0 if it is a record form.
    pub(crate) fn result(&mut self, register: usize, value: u64, record: bool) {
        self.gpr[register] = value;
        if record {
            self.record(value);
        }
    }

    /// RA, or 0 for register 0.
    pub(crate) fn ra_or_zero(&self, w: Word) -> u64 {
        if w.ra() == 0 { 0 } else { self.gpr[w.ra()] }
    }

    fn set_xer(&mut self, bit: u64, on: bool) {
        self.xer = if on { self.xer | bit } else { self.xer & !bit };
    }

    pub(crate) fn set_overflow(&mut self, doubleword: bool, word: bool) {
        let overflow = if self.msr & msr::SF == 0 { word } else { doubleword };
        self.set_xer(OV, overflow);
        self.set_xer(OV32, word);
        if overflow {
            self.xer |= SO;
        }
    }

    pub(crate) fn set_carry(&mut self, doubleword: bool, word: bool) {
        let carry = if self.msr & msr::SF == 0 { word } else { doubleword };
        self.set_xer(CA, carry);
        self.set_xer(CA32, word);
    }

    /// `a + b + carry`; sets the carry if `carries`, and the overflow if the instruction has OE.
    fn sum(&mut self, w: Word, a: u64, b: u64, carry: u64, carries: bool) -> u64 {
        let wide = u128::from(a) + u128::from(b) + u128::from(carry);
        let value = wide as u64;
        if carries {
            self.set_carry(wide >> 64 != 0, (a ^ b ^ value) >> 32 & 1 != 0);
        }
        // Only the XO form has OE.
        if w.0 >> 26 == 31 && w.oe() {
            let overflow = (a ^ value) & (b ^ value);
            self.set_overflow(overflow >> 63 != 0, overflow >> 31 & 1 != 0);
        }
        value
    }

    fn carry(&self) -> u64 {
        u64::from(self.xer & CA != 0)
    }

    fn compare(&mut self, w: Word, b: u64, signed: bool) {
        let a = self.gpr[w.ra()];
        let ordering = match (w.doubleword(), signed) {
            (true, true) => (a as i64).cmp(&(b as i64)),
            (true, false) => a.cmp(&b),
            (false, true) => (a as i32).cmp(&(b as i32)),
            (false, false) => (a as u32).cmp(&(b as u32)),
        };
        let bits = field(ordering) | self.summary();
        self.set_field(w.bf(), bits);
    }

    fn select(&self, w: Word) -> u64 {
        let bit = self.cr >> (31 - w.rc() as u32) & 1;
        if bit != 0 { self.ra_or_zero(w) } else { self.gpr[w.rb()] }
    }

    /// Executes `op` if it is one of these; returns whether it was.
    #[inline]
    pub(super) fn fixed(&mut self, op: Op, w: Word) -> bool {
        if self.logic(op, w) || self.comparison(op, w) {
            return true;
        }
        let (a, b) = (self.gpr[w.ra()], self.gpr[w.rb()]);
        let ca = self.carry();
        let value = match op {
            Op::Addi => self.ra_or_zero(w).wrapping_add(w.si()),
            Op::Addis => self.ra_or_zero(w).wrapping_add(w.si() << 16),
            Op::Addpcis => self.next.wrapping_add(w.dx() << 16),
            Op::Isel => self.select(w),
            Op::Add => self.sum(w, a, b, 0, false),
            Op::Subf => self.sum(w, !a, b, 1, false),
            Op::Addc => self.sum(w, a, b, 0, true),
            Op::Subfc => self.sum(w, !a, b, 1, true),
            Op::Adde => self.sum(w, a, b, ca, true),
            Op::Subfe => self.sum(w, !a, b, ca, true),
            Op::Addme => self.sum(w, a, u64::MAX, ca, true),
            Op::Subfme => self.sum(w, !a, u64::MAX, ca, true),
            Op::Addze => self.sum(w, a, 0, ca, true),
            Op::Subfze => self.sum(w, !a, 0, ca, true),
            Op::Neg => self.sum(w, !a, 0, 1, false),
            Op::Addic | Op::AddicRecord => self.sum(w, a, w.si(), 0, true),
            Op::Subfic => self.sum(w, !a, w.si(), 1, true),
            _ => return false,
        };
        let record = match op {
            Op::AddicRecord => true,
            Op::Addi | Op::Addis | Op::Addpcis | Op::Isel | Op::Addic | Op::Subfic => false,
            _ => w.record(),
        };
        self.result(w.rt(), value, record);
        true
    }

    fn comparison(&mut self, op: Op, w: Word) -> bool {
        let b = self.gpr[w.rb()];
        match op {
            Op::Cmp => self.compare(w, b, true),
            Op::Cmpl => self.compare(w, b, false),
            Op::Cmpi => self.compare(w, w.si(), true),
            Op::Cmpli => self.compare(w, w.ui(), false),
            Op::Cmprb => {
                let (byte, ranges) = (self.gpr[w.ra()] as u8, b as u32);
                let within = |shift: u32| ((ranges >> shift) as u8..=(ranges >> (shift + 8)) as u8).contains(&byte);
                let inside = within(0) || w.doubleword() && within(16);
                self.set_field(w.bf(), if inside { 4 } else { 0 });
            }
            Op::Cmpeqb => {
                let byte = self.gpr[w.ra()] as u8;
                self.set_field(w.bf(), if b.to_le_bytes().contains(&byte) { 4 } else { 0 });
            }
            _ => return false,
        }
        true
    }

    fn logic(&mut self, op: Op, w: Word) -> bool {
        let (s, b) = (self.gpr[w.rt()], self.gpr[w.rb()]);
        let ui = w.ui();
        let value = match op {
            Op::And => s & b,
            Op::Andc => s & !b,
            Op::Nand => !(s & b),
            Op::Or => s | b,
            Op::Orc => s | !b,
            Op::Nor => !(s | b),
            Op::Xor => s ^ b,
            Op::Eqv => !(s ^ b),
            Op::Ori => s | ui,
            Op::Oris => s | ui << 16,
            Op::Xori => s ^ ui,
            Op::Xoris => s ^ ui << 16,
            Op::Andi => s & ui,
            Op::Andis => s & ui << 16,
            Op::Extsb => i64::from(s as i8) as u64,
            Op::Extsh => i64::from(s as i16) as u64,
            Op::Extsw => i64::from(s as i32) as u64,
            Op::Cntlzw => u64::from((s as u32).leading_zeros()),
            Op::Cntlzd => u64::from(s.leading_zeros()),
            Op::Cnttzw => u64::from((s as u32).trailing_zeros()),
            Op::Cnttzd => u64::from(s.trailing_zeros()),
            Op::Popcntb => u64::from_le_bytes(s.to_le_bytes().map(|byte| byte.count_ones() as u8)),
            Op::Popcntw => u64::from((s as u32).count_ones()) | u64::from(((s >> 32) as u32).count_ones()) << 32,
            Op::Popcntd => u64::from(s.count_ones()),
            Op::Prtyd => u64::from((s & 0x0101_0101_0101_0101).count_ones() & 1),
            Op::Prtyw => {
                let parity = |half: u64| u64::from((half & 0x0101_0101).count_ones() & 1);
                parity(s & 0xFFFF_FFFF) | parity(s >> 32) << 32
            }
            Op::Cmpb => {
                let same = s ^ b;
                u64::from_le_bytes(same.to_le_bytes().map(|byte| if byte == 0 { 0xFF } else { 0 }))
            }
            Op::Bpermd => permuted(s, b),
            _ => return false,
        };
        let record = match op {
            Op::Andi | Op::Andis => true,
            Op::Ori | Op::Oris | Op::Xori | Op::Xoris => false,
            Op::Popcntb | Op::Popcntw | Op::Popcntd | Op::Prtyd | Op::Prtyw | Op::Cmpb | Op::Bpermd => false,
            _ => w.record(),
        };
        self.priority_hint(op, w);
        self.result(w.ra(), value, record);
        true
    }

    /// `or x,x,x` asks for a priority of the thread (Power ISA 3.0B, Book II, 3.2; which state may ask for which is QEMU's `gen_or`).
    fn priority_hint(&mut self, op: Op, w: Word) {
        if op != Op::Or || w.record() || w.rt() != w.ra() || w.rt() != w.rb() {
            return;
        }
        let priority = match w.rt() {
            1 => 2,
            6 => 3,
            2 => 4,
            31 if !self.problem() => 1,
            5 if !self.problem() => 5,
            3 if !self.problem() => 6,
            7 if self.hypervisor() => 7,
            _ => return,
        };
        self.set_priority(priority);
    }
}

/// Bit n of the result, from the right, is the bit of `b` that byte n of `s`, from the left, names; 0 if it names none.
fn permuted(s: u64, b: u64) -> u64 {
    let mut value = 0;
    for (n, index) in s.to_le_bytes().into_iter().enumerate() {
        if index < 64 {
            value |= (b >> (63 - index) & 1) << n;
        }
    }
    value
}
