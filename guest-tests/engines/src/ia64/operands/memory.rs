//! Loads, stores, semaphores, `lfetch`, `setf` and `getf`: majors 4 to 7 of M slots.

use vm_pmu::companion::Class;

use super::{List, Name};
use crate::ia64::exec::size_of;
use crate::ia64::registers::ar;
use crate::ia64::step::AccessKind;

const CCV: Name = Name::Application(ar::CCV);
const CSD: Name = Name::Application(ar::CSD);
const UNAT: Name = Name::Application(ar::UNAT);

/// The opcode extension of loads that restore a NaT bit too, or all of a floating-point register.
const FILL: u64 = 0x1B;
/// That of stores that save them.
const SPILL: u64 = 0x3B;

impl List<'_> {
    /// Majors 4 to 7 of M slots.
    pub(super) fn memory(&mut self) {
        let w = self.w;
        let (by_register, extended) = (w.bit(36), w.bit(27));
        match (w.major(), by_register, extended) {
            (4, false, true) => self.semaphore(),
            (..4, ..) | (4, true, true) => {}
            (6, false, true) if (0x1C..=0x1F).contains(&w.memory_x6()) => {
                self.is(Class::ToVector, moved_size(w.memory_x6()));
                self.reads(&[Name::General(w.r2())]);
                self.writes(&[Name::Floating(w.r1())]);
            }
            (6, _, true) => {
                self.is(Class::Load, 2 * size_of(w.memory_x6()));
                self.address();
                self.loaded(&[Name::Floating(w.r1()), Name::Floating(w.r2())]);
                self.increment(by_register, false);
            }
            (major, ..) => {
                if major < 6 {
                    self.general();
                } else {
                    self.floating();
                }
                self.increment(by_register || major & 1 != 0, by_register && major & 1 == 0);
            }
        }
    }

    /// The base register is changed, by a register or by a number.
    fn increment(&mut self, increments: bool, by_register: bool) {
        if by_register {
            self.reads(&[Name::General(self.w.r2())]);
        }
        if increments {
            self.writes(&[Name::General(self.w.r3())]);
        }
    }

    /// The targets of a load; a check load that holds leaves them as they are.
    fn loaded(&mut self, targets: &[Name]) {
        if self.step.access.is_none_or(|access| access.kind != AccessKind::CheckHit) {
            self.writes(targets);
        }
    }

    fn general(&mut self) {
        let w = self.w;
        let x6 = w.memory_x6();
        let width = if matches!(x6, FILL | SPILL) { 8 } else { 1 << (x6 & 3) };
        self.address();
        if x6 < 0x30 {
            self.is(Class::Load, width);
            if x6 == FILL {
                self.reads(&[UNAT]);
            }
            self.loaded(&[Name::General(w.r1())]);
        } else {
            self.is(Class::Store, width);
            self.reads(&[Name::General(w.r2())]);
            if x6 == SPILL {
                self.writes(&[UNAT]);
            }
        }
    }

    fn floating(&mut self) {
        let w = self.w;
        let x6 = w.memory_x6();
        let width = if matches!(x6, FILL | SPILL) { 16 } else { size_of(x6) };
        self.address();
        match x6 {
            // lfetch takes the way of a load, without a result.
            0x2C..=0x2F => self.is(Class::Load, 0),
            ..0x30 => {
                self.is(Class::Load, width);
                self.loaded(&[Name::Floating(w.r1())]);
            }
            _ => {
                self.is(Class::Store, width);
                self.reads(&[Name::Floating(w.r2())]);
            }
        }
    }

    /// Semaphores, 16-byte accesses and `getf`.
    fn semaphore(&mut self) {
        let w = self.w;
        let x6 = w.memory_x6();
        let r2 = Name::General(w.r2());
        if (0x1C..=0x1F).contains(&x6) {
            self.is(Class::FromVector, moved_size(x6));
            self.reads(&[Name::Floating(w.r2())]);
            return self.result();
        }
        self.address();
        match x6 {
            0x00..=0x07 => {
                self.is(Class::CompareExchange, 1 << (x6 & 3));
                self.reads(&[r2, CCV]);
            }
            0x08..=0x0B => {
                self.is(Class::Exchange, 1 << (x6 & 3));
                self.reads(&[r2]);
            }
            // fetchadd
            0x12 | 0x13 | 0x16 | 0x17 => self.is(Class::Exchange, 1 << (x6 & 3)),
            // cmp8xchg16
            0x20 | 0x24 => {
                self.is(Class::CompareExchange, 16);
                self.reads(&[r2, CCV, CSD]);
            }
            0x28 | 0x2C => {
                self.is(Class::Load, 16);
                self.writes(&[CSD]);
            }
            0x30 | 0x34 => {
                self.is(Class::Store, 16);
                return self.reads(&[r2, CSD]);
            }
            _ => return,
        }
        self.result();
    }
}

/// Bytes that `setf` and `getf` move: the significand, the exponent with the sign, a single, a double.
fn moved_size(x6: u64) -> u8 {
    if x6 == 0x1E { 4 } else { 8 }
}
