//! F slots.

use vm_pmu::companion::Class;

use super::{List, Name};
use crate::ia64::registers::ar;

/// Bytes of a number in the format of the registers.
const REGISTER: u8 = 10;

const FPSR: Name = Name::Application(ar::FPSR);

impl List<'_> {
    fn floating_result(&mut self) {
        self.writes(&[Name::Floating(self.w.r1())]);
    }

    /// F slots.
    pub(super) fn float(&mut self) {
        let w = self.w;
        let [f2, f3, f4] = [w.r2(), w.r3(), w.f4()].map(Name::Floating);
        match w.major() {
            0 | 1 if w.bit(33) => self.estimate(),
            0 => self.float_0(),
            1 => self.float_1(),
            // fcmp and fclass
            4 => {
                self.is(Class::FloatCompare, REGISTER);
                self.reads(&[f2, f3, FPSR]);
                self.predicates(w.bit(12));
            }
            5 => {
                self.is(Class::FloatCompare, REGISTER);
                self.reads(&[f2]);
                self.predicates(w.bit(12));
            }
            8..=0xD => {
                self.multiply_add();
                self.reads(&[f2, f3, f4, FPSR]);
                self.floating_result();
            }
            // xma, which multiplies integers, and fselect
            0xE => {
                self.is(if w.bit(36) { Class::Multiply } else { Class::FloatMove }, 8);
                self.reads(&[f2, f3, f4]);
                self.floating_result();
            }
            _ => {}
        }
    }

    /// What is multiplied and added: a sum has f1 as its second factor, a product f0 as its addend.
    fn multiply_add(&mut self) {
        let w = self.w;
        let (product, parallel) = (w.r2() == 0, w.major() & 1 != 0 && w.bit(36));
        let class = match (product, w.f4() == 1) {
            _ if parallel && product => Class::FloatMultiply,
            _ if parallel => Class::FloatMultiplyAdd,
            // fnorm
            (true, true) => Class::FloatConvert,
            (true, false) => Class::FloatMultiply,
            (false, true) => Class::FloatAdd,
            (false, false) => Class::FloatMultiplyAdd,
        };
        match (w.major() & 1 != 0, w.bit(36)) {
            (true, true) => self.is_packed(class),
            (true, false) => self.is(class, 8),
            (false, true) => self.is(class, 4),
            (false, false) => self.is(class, REGISTER),
        }
    }

    /// `frcpa`, `frsqrta` and their parallel forms, which clear their predicate when they are predicated off.
    fn estimate(&mut self) {
        let w = self.w;
        if w.major() == 0 {
            self.is(Class::FloatEstimate, REGISTER);
        } else {
            self.is_packed(Class::FloatEstimate);
        }
        if !w.bit(36) {
            self.reads(&[Name::Floating(w.r2())]);
        }
        self.reads(&[Name::Floating(w.r3()), FPSR]);
        self.floating_result();
        self.writes_always(&[Name::Predicate(w.p2())]);
    }

    fn float_0(&mut self) {
        let w = self.w;
        let both = [w.r2(), w.r3()].map(Name::Floating);
        match w.x6() {
            0x00 | 0x01 => return self.is(Class::Nop, 0),
            // fsetc and fclrf keep the other fields.
            0x04 | 0x05 => {
                self.is(Class::System, 0);
                self.reads(&[FPSR]);
                return self.writes(&[FPSR]);
            }
            // fchkf
            0x08 => return self.reads(&[FPSR]),
            0x10..=0x12 => {
                self.is(Class::FloatMove, REGISTER);
                self.reads(&both);
            }
            // fmin, fmax, famin and famax choose one of two.
            0x14..=0x17 => {
                self.is(Class::FloatMove, REGISTER);
                self.reads(&both);
                self.reads(&[FPSR]);
            }
            0x18..=0x1B => {
                self.is(Class::FloatConvert, 8);
                self.reads(&[both[0], FPSR]);
            }
            // fcvt.xf
            0x1C => {
                self.is(Class::FloatConvert, 8);
                self.reads(&both[..1]);
            }
            // fpack
            0x28 => {
                self.is_packed(Class::FloatConvert);
                self.reads(&both);
            }
            // fand, fandcm, for and fxor
            0x2C..=0x2F => {
                self.is(Class::Vector, 8);
                self.reads(&both);
            }
            // fswap, fmix and fsxt
            0x34..=0x36 | 0x39..=0x3D => {
                self.is_packed(Class::VectorPermute);
                self.reads(&both);
            }
            _ => return,
        }
        self.floating_result();
    }

    /// Major 1: pairs of singles.
    fn float_1(&mut self) {
        let w = self.w;
        let both = [w.r2(), w.r3()].map(Name::Floating);
        match w.x6() {
            0x10..=0x12 => {
                self.is_packed(Class::FloatMove);
                self.reads(&both);
            }
            0x14..=0x17 => {
                self.is_packed(Class::FloatMove);
                self.reads(&both);
                self.reads(&[FPSR]);
            }
            0x18..=0x1B => {
                self.is_packed(Class::FloatConvert);
                self.reads(&[both[0], FPSR]);
            }
            0x30..=0x37 => {
                self.is_packed(Class::FloatCompare);
                self.reads(&both);
                self.reads(&[FPSR]);
            }
            _ => return,
        }
        self.floating_result();
    }
}
