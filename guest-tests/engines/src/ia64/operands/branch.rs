//! B slots, and the long instructions.

use vm_pmu::companion::Class;

use super::{List, Name};
use crate::ia64::bundle::Unit;
use crate::ia64::registers::{ar, cr, psr};
use crate::ia64::word::Word;

/// The values of btype: the kinds of relative branches.
mod kind {
    pub(super) const CONDITIONAL: usize = 0;
    pub(super) const WEXIT: usize = 2;
    pub(super) const WTOP: usize = 3;
    pub(super) const CLOOP: usize = 5;
    pub(super) const CEXIT: usize = 6;
    pub(super) const CTOP: usize = 7;
}

/// Whether the instruction has a qualifying predicate: counted loops and `brp` have none.
pub(super) fn is_qualified(unit: Unit, w: Word) -> bool {
    match (unit, w.major()) {
        (Unit::B, 7) => false,
        (Unit::B, 2) => !matches!(w.x6(), 0x10 | 0x11),
        (Unit::B, 4) => !matches!(w.b1(), kind::CLOOP..=kind::CTOP),
        _ => true,
    }
}

const BSP: Name = Name::Application(ar::BSP);
const LC: Name = Name::Application(ar::LC);
const EC: Name = Name::Application(ar::EC);
const PFS: Name = Name::Application(ar::PFS);

impl List<'_> {
    /// B slots.
    pub(super) fn branch(&mut self) {
        match self.w.major() {
            0 => self.branch_0(),
            1 => {
                self.call();
                self.reads(&[Name::Branch(self.w.b2())]);
            }
            2 | 7 => self.is(Class::Nop, 0),
            4 => self.relative(),
            5 => self.call(),
            _ => {}
        }
    }

    fn branch_0(&mut self) {
        let w = self.w;
        let class = match w.x6() {
            0x20 => Class::Branch,
            0x21 => Class::Return,
            _ => Class::System,
        };
        self.is(class, 0);
        match w.x6() {
            0x20 => self.reads(&[Name::Branch(w.b2())]),
            0x21 => {
                self.reads(&[Name::Branch(w.b2()), PFS, BSP]);
                self.writes(&[EC, BSP]);
            }
            // cover
            0x02 => {
                self.reads(&[BSP]);
                self.writes(&[BSP]);
                if self.step.psr & psr::IC == 0 {
                    self.writes(&[Name::Control(cr::IFS)]);
                }
            }
            // rfi
            0x08 => {
                self.reads(&[Name::Control(cr::IPSR), Name::Control(cr::IIP), Name::Control(cr::IFS), BSP]);
                self.writes(&[Name::Status, BSP]);
            }
            // epc
            0x10 => self.reads(&[PFS]),
            _ => {}
        }
    }

    fn relative(&mut self) {
        self.is(Class::Branch, 0);
        let last = Name::Predicate(63);
        // The predicate of a loop that is scheduled in stages is a condition of it: nothing is predicated off.
        self.executed |= self.w.b1() != kind::CONDITIONAL;
        match self.w.b1() {
            kind::CLOOP => {
                self.reads(&[LC]);
                self.writes(&[LC]);
            }
            kind::CTOP | kind::CEXIT => {
                self.reads(&[LC, EC]);
                self.writes(&[LC, EC, last]);
            }
            kind::WTOP | kind::WEXIT => {
                self.reads(&[EC]);
                self.writes(&[EC, last]);
            }
            _ => {}
        }
    }

    fn call(&mut self) {
        self.is(Class::Call, 0);
        self.reads(&[EC, BSP]);
        self.writes(&[Name::Branch(self.w.b1()), PFS, BSP]);
    }

    /// `movl`, `brl` and the long no-operations.
    pub(super) fn long(&mut self) {
        match self.w.major() {
            0 => self.is(Class::Nop, 0),
            6 => {
                self.is(Class::Simple, 8);
                self.result();
            }
            0xC => self.is(Class::Branch, 0),
            0xD => self.call(),
            _ => {}
        }
    }
}
