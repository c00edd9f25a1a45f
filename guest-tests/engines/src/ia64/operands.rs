//! What an instruction works on: by the formats of SDM volume 3, 4.2 to 4.7, the resources of 5.3 there, and the frame that it ran in.

mod branch;
mod float;
mod integer;
mod memory;
mod system;

use vm_pmu::companion::{Class, Register};

use super::bundle::Unit;
use super::registers::psr;
use super::step::Step;
use super::word::Word;

/// The numbers of the registers.
///
/// Left out are r0, f0, f1 and p0; the frame marker and PSR.cpl, which rename and permit; DCR, PTA and PSR where an access to memory only
/// consults them; and the registers that a register names: RR, PKR, IBR, DBR, PMC, PMD, CPUID and MSR. Application registers that are
/// ignored have no number either, nor has what the register stack engine loads in the instruction that it works for. Of PSR the bits that
/// say which floating-point registers were written are left out.
///
/// Arithmetic reads FPSR and does not write it: that it adds to its sticky flags keeps no other operation waiting. `st8.spill` writes UNAT
/// without reading it, as each bit is a register of its own. `alloc` writes BSPSTORE and RNAT if it stored registers.
pub use vm_pmu::companion::ia64_register as register;

/// The most registers of an instruction: a move to PR reads a predicate and a general register and writes 63 predicates.
const MOST: usize = 65;

/// What an IA-64 instruction works on. [`register`] has the registers.
pub type Operands = vm_pmu::decode::Operands<MOST>;

/// What the instruction of `step` worked on.
///
/// One that is predicated off reads its predicate alone and writes nothing, except that `.unc` compares and `frcpa` and its like clear
/// predicates. Compares write both of their predicates, whatever their type and result; a check load that found its entry in the ALAT
/// writes no target.
#[must_use]
pub fn operands(step: &Step) -> Operands {
    let w = Word(step.encoding);
    let mut list = List { operands: Operands::new(Class::Simple, 0), step, w, executed: step.predicate };
    if branch::is_qualified(step.unit, w) {
        list.qualify();
    }
    match step.unit {
        Unit::M if w.major() < 2 => list.system(),
        Unit::M if w.major() < 8 => list.memory(),
        Unit::I if w.major() < 8 => list.integer(),
        Unit::M | Unit::I => list.arithmetic(),
        Unit::F => list.float(),
        Unit::B => list.branch(),
        Unit::X => list.long(),
    }
    // What is not executed waits for nothing.
    if !step.predicate && matches!(list.operands.class, Class::Fence | Class::Serializing) {
        list.operands.class = Class::System;
    }
    list.operands
}

/// A register as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    General(usize),
    Floating(usize),
    Predicate(usize),
    /// A predicate as moves of all of them name it: without rotation.
    Unrotated(usize),
    Branch(usize),
    Application(usize),
    Control(usize),
    Status,
}

/// What is being found out of an instruction.
struct List<'a> {
    operands: Operands,
    step: &'a Step,
    w: Word,
    /// It is not predicated off.
    executed: bool,
}

impl List<'_> {
    fn is(&mut self, class: Class, width: u8) {
        (self.operands.class, self.operands.width) = (class, width);
    }

    /// It works on the parts of registers of eight bytes.
    fn is_packed(&mut self, class: Class) {
        self.is(class, 8);
        self.operands.packed = true;
    }

    /// Where the register is; none if it always reads the same.
    fn number(&self, name: Name) -> Option<Register> {
        let frame = self.step.frame;
        let (first, number) = match name {
            Name::General(0) | Name::Floating(0 | 1) | Name::Predicate(0) | Name::Unrotated(0) => return None,
            Name::General(number @ 16..=31) if self.step.psr & psr::BN == 0 => (register::BANK_0, number - 16),
            Name::General(number @ 32..) => (register::GENERAL, 32 + frame.stacked(number)),
            Name::General(number) => (register::GENERAL, number),
            Name::Floating(number) => (register::FLOATING, frame.floating(number)),
            Name::Predicate(number) => (register::PREDICATES, frame.predicate(number)),
            Name::Unrotated(number) => (register::PREDICATES, number),
            Name::Branch(number) => (register::BRANCH, number),
            Name::Application(number @ (0..=47 | 64..=66)) => (register::APPLICATION, number),
            Name::Control(number @ 0..=81) => (register::CONTROL, number),
            Name::Application(_) | Name::Control(_) => return None,
            Name::Status => (register::STATUS, 0),
        };
        Some(Register(first + number as u16))
    }

    /// Where a register that is read is: outside the frame there is none.
    fn source(&self, name: Name) -> Option<Register> {
        let there = !matches!(name, Name::General(number) if !self.step.frame.holds(number));
        self.number(name).filter(|_| self.executed && there)
    }

    /// It reads its qualifying predicate, executed or not.
    fn qualify(&mut self) {
        if let Some(register) = self.number(Name::Predicate(self.w.qp())) {
            self.operands.read(register);
        }
    }

    /// The address of an access, in the general register of the field r3.
    fn address(&mut self) {
        if let Some(register) = self.source(Name::General(self.w.r3())) {
            self.operands.address(register);
        }
    }

    fn reads(&mut self, names: &[Name]) {
        for name in names {
            if let Some(register) = self.source(*name) {
                self.operands.read(register);
            }
        }
    }

    fn writes(&mut self, names: &[Name]) {
        if self.executed {
            self.writes_always(names);
        }
    }

    /// It writes these even if it is predicated off.
    fn writes_always(&mut self, names: &[Name]) {
        for name in names {
            if let Some(register) = self.number(*name) {
                self.operands.write(register);
            }
        }
    }

    /// The general register of the field r1 is written.
    fn result(&mut self) {
        self.writes(&[Name::General(self.w.r1())]);
    }

    /// Both predicates of a compare.
    fn predicates(&mut self, unconditional: bool) {
        let both = [Name::Predicate(self.w.p1()), Name::Predicate(self.w.p2())];
        if unconditional {
            self.writes_always(&both);
        } else {
            self.writes(&both);
        }
    }
}

#[cfg(test)]
mod tests;
