//! A-type instructions, and I slots.

use vm_pmu::companion::Class;

use super::{List, Name};

impl List<'_> {
    fn r2(&self) -> Name {
        Name::General(self.w.r2())
    }

    fn r3(&self) -> Name {
        Name::General(self.w.r3())
    }

    /// r1 from `sources`.
    fn of(&mut self, sources: &[Name]) {
        self.reads(sources);
        self.result();
    }

    /// A-type instructions: majors 8 and 9, and compares.
    pub(super) fn arithmetic(&mut self) {
        let w = self.w;
        self.is(Class::Simple, 8);
        match (w.major(), w.bits(34, 2)) {
            (8, 0) if matches!(w.bits(29, 4), 0x9 | 0xB) => self.of(&[self.r3()]),
            (8, 0) => self.of(&[self.r2(), self.r3()]),
            (8, 1) => {
                self.is_packed(Class::Vector);
                self.of(&[self.r2(), self.r3()]);
            }
            (8, _) => self.of(&[self.r3()]),
            // addl has two bits for r3.
            (9, _) => self.of(&[Name::General(w.bits(20, 2) as usize)]),
            (0xC..=0xE, _) => self.compare(),
            _ => self.is(Class::Simple, 0),
        }
    }

    fn compare(&mut self) {
        let w = self.w;
        let (immediate, narrow) = (w.bit(35), w.bit(34));
        let with_zero = w.bit(36) && !immediate;
        self.is(Class::Simple, if narrow { 4 } else { 8 });
        if !immediate && !with_zero {
            self.reads(&[self.r2()]);
        }
        self.reads(&[self.r3()]);
        self.predicates(w.bit(12) && !with_zero && !w.bit(33));
    }

    /// I slots, except A-type instructions.
    pub(super) fn integer(&mut self) {
        match self.w.major() {
            0 => self.integer_0(),
            // dep
            4 => {
                self.is(Class::Shift, 8);
                self.of(&[self.r2(), self.r3()]);
            }
            5 => self.fields(),
            7 => self.multimedia(),
            _ => {}
        }
    }

    fn integer_0(&mut self) {
        let w = self.w;
        match w.x3() {
            0 => self.miscellaneous(),
            // chk.s
            1 => self.reads(&[self.r2()]),
            2 => {
                self.is(Class::Simple, 8);
                (16..64).for_each(|number| self.writes(&[Name::Unrotated(number)]));
            }
            3 => {
                self.is(Class::Simple, 8);
                self.reads(&[self.r2()]);
                let mask = w.predicate_mask();
                (1..64).filter(|number| mask >> number & 1 != 0).for_each(|number| self.writes(&[Name::Unrotated(number)]));
            }
            7 => {
                self.is(Class::Simple, 8);
                self.reads(&[self.r2()]);
                self.writes(&[Name::Branch(w.b1())]);
            }
            _ => {}
        }
    }

    fn miscellaneous(&mut self) {
        let w = self.w;
        match w.x6() {
            0x00 | 0x01 => self.is(Class::Nop, 0),
            // zxt and sxt
            x6 @ (0x10..=0x12 | 0x14..=0x16) => {
                self.is(Class::Extend, 1 << (x6 & 3));
                self.of(&[self.r3()]);
            }
            // czx
            0x18 | 0x19 | 0x1C | 0x1D => {
                self.is_packed(Class::Vector);
                self.of(&[self.r3()]);
            }
            0x0A => self.writes_application(&[]),
            0x2A => self.writes_application(&[self.r2()]),
            0x32 => self.reads_application(),
            // mov =ip, =b2 and =pr
            x6 @ (0x30 | 0x31 | 0x33) => {
                self.is(Class::Simple, 8);
                match x6 {
                    0x31 => self.reads(&[Name::Branch(w.b2())]),
                    0x33 => (1..64).for_each(|number| self.reads(&[Name::Unrotated(number)])),
                    _ => {}
                }
                self.result();
            }
            _ => {}
        }
    }

    /// Major 5: tests, and fields of bits.
    fn fields(&mut self) {
        let w = self.w;
        match (w.bits(34, 2), w.bit(33)) {
            (0, parallel) => {
                self.is(Class::Simple, 8);
                // tf tests no register.
                if !(w.bit(13) && w.bit(19)) {
                    self.reads(&[self.r3()]);
                }
                self.predicates(w.bit(12) && !parallel && !w.bit(36));
            }
            (3, false) => {
                self.is(Class::DoubleShift, 8);
                self.of(&[self.r2(), self.r3()]);
            }
            (1 | 3, deposits) => {
                self.is(Class::Shift, 8);
                match (deposits, w.bits(34, 2)) {
                    // dep.z of a number
                    (true, 1) if w.bit(26) => self.of(&[]),
                    (true, 1) => self.of(&[self.r2()]),
                    _ => self.of(&[self.r3()]),
                }
            }
            _ => {}
        }
    }

    /// Major 7: variable shifts, counts of bits, and parallel integers.
    fn multimedia(&mut self) {
        let w = self.w;
        let shape = (w.bits(34, 2), w.bits(28, 2), w.bits(30, 2));
        let whole = w.bit(36) && w.bit(33);
        let both = [self.r2(), self.r3()];
        match (whole, w.bit(32), shape) {
            (_, true, _) => {}
            (true, _, (0, 0 | 2, 0) | (0, 0, 1)) => {
                self.is(Class::Shift, 8);
                self.of(&both);
            }
            (true, ..) => {}
            (.., (1, 1, 2)) => {
                self.is(Class::PopulationCount, 8);
                self.of(&[self.r3()]);
            }
            (.., (1, 1, 3)) => {
                self.is(Class::BitScan, 8);
                self.of(&[self.r3()]);
            }
            // mpy4 and mpyshl4
            (.., (0, 1 | 3, 3)) if w.bit(36) => {
                self.is(Class::Multiply, 4);
                self.of(&both);
            }
            // pmpyshr2 and pmpy2
            (.., (0, 1 | 3, _) | (2, 1 | 3, 3)) => {
                self.is_packed(Class::VectorMultiply);
                self.of(&both);
            }
            // pack, unpack and mix
            (.., (2, 0 | 2, 0..=2)) => {
                self.is_packed(Class::VectorPermute);
                self.of(&both);
            }
            (.., (3, 2, 2)) => {
                self.is_packed(Class::VectorPermute);
                self.of(&[self.r2()]);
            }
            // Shifts by a number, to the right and to the left.
            (.., (1, 1 | 3, 0)) => {
                self.is_packed(Class::Vector);
                self.of(&[self.r3()]);
            }
            (.., (3, 1, 1)) => {
                self.is_packed(Class::Vector);
                self.of(&[self.r2()]);
            }
            // Shifts by a register; pmin, pmax and psad.
            (.., (0, 0 | 2, 0) | (0, 0, 1) | (2, 1, 0 | 1) | (2, 3, 0..=2)) => {
                self.is_packed(Class::Vector);
                self.of(&both);
            }
            _ => {}
        }
    }
}
