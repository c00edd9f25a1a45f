//! The operands of an instruction, in a form that a decoder keeps with it.

use crate::companion::{Class, Elements, Operation, Register};

/// The class of an instruction, the width of its operands, and its registers, of which all three lists together have at most `N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands<const N: usize> {
    /// Its class.
    pub class: Class,
    /// The width of its operands in bytes; 0 if it has none.
    pub width: u8,
    /// Whether it works on several elements at once.
    pub packed: bool,
    /// The type of its elements, of the vector unit.
    pub elements: Elements,
    /// Whether it writes the upper half of a vector register and keeps the lower one.
    pub upper: bool,
    /// How many legacy prefixes it has.
    pub prefixes: u8,
    /// The registers of addresses, then the others that are read, then those that are written.
    registers: [Register; N],
    addresses: u8,
    reads: u8,
    writes: u8,
}

impl<const N: usize> Default for Operands<N> {
    fn default() -> Self {
        Self::new(Class::Simple, 0)
    }
}

impl<const N: usize> Operands<N> {
    /// Operands without registers.
    #[must_use]
    pub const fn new(class: Class, width: u8) -> Self {
        let registers = [Register(0); N];
        Self {
            class,
            width,
            packed: false,
            elements: Elements::Untold,
            upper: false,
            prefixes: 0,
            registers,
            addresses: 0,
            reads: 0,
            writes: 0,
        }
    }

    /// Sets `packed`.
    #[must_use]
    pub const fn packed(self) -> Self {
        Self { packed: true, ..self }
    }

    /// The registers that addresses are computed from.
    #[must_use]
    pub fn addresses(&self) -> &[Register] {
        self.part(0, self.addresses)
    }

    /// The other registers that it reads.
    #[must_use]
    pub fn reads(&self) -> &[Register] {
        self.part(self.addresses, self.reads)
    }

    /// The registers that it writes.
    #[must_use]
    pub fn writes(&self) -> &[Register] {
        self.part(self.addresses + self.reads, self.writes)
    }

    /// The operands as a companion takes them.
    #[must_use]
    pub fn operation(&self) -> Operation<'_> {
        Operation {
            width: self.width,
            packed: self.packed,
            elements: self.elements,
            upper: self.upper,
            prefixes: self.prefixes,
            addresses: self.addresses(),
            reads: self.reads(),
            writes: self.writes(),
            ..Operation::default()
        }
    }

    /// An address is computed from this register. Addresses come before reads.
    pub fn address(&mut self, register: Register) {
        if !self.addresses().contains(&register) && self.insert(self.addresses, register) {
            self.addresses += 1;
        }
    }

    /// It reads this register, which is not listed again if an address is computed from it.
    pub fn read(&mut self, register: Register) {
        let listed = self.addresses().contains(&register) || self.reads().contains(&register);
        if !listed && self.insert(self.addresses + self.reads, register) {
            self.reads += 1;
        }
    }

    /// It writes this register.
    pub fn write(&mut self, register: Register) {
        if !self.writes().contains(&register) && self.insert(self.addresses + self.reads + self.writes, register) {
            self.writes += 1;
        }
    }

    fn part(&self, start: u8, count: u8) -> &[Register] {
        let start = usize::from(start);
        self.registers.get(start..start + usize::from(count)).unwrap_or(&[])
    }

    /// Makes room at `place`; whether there was any.
    fn insert(&mut self, place: u8, register: Register) -> bool {
        let (place, end) = (usize::from(place), usize::from(self.addresses + self.reads + self.writes));
        if end >= N {
            return false;
        }
        self.registers.copy_within(place..end, place + 1);
        self.registers[place] = register;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_keep_to_their_lists_in_whatever_order_they_come() {
        let mut operands = Operands::<4>::new(Class::Simple, 8);
        operands.write(Register(3));
        operands.address(Register(1));
        operands.read(Register(2));
        operands.read(Register(1));
        operands.write(Register(1));
        assert_eq!(operands.addresses(), [Register(1)]);
        assert_eq!(operands.reads(), [Register(2)]);
        assert_eq!(operands.writes(), [Register(3), Register(1)]);
    }

    #[test]
    fn a_register_beyond_the_last_place_is_left_out() {
        let mut operands = Operands::<1>::new(Class::Simple, 8);
        operands.read(Register(2));
        operands.write(Register(3));
        assert_eq!((operands.reads(), operands.writes()), ([Register(2)].as_slice(), [].as_slice()));
    }
}
