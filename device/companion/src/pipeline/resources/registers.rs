//! The cycles in which the registers of a pipeline are ready.

use super::time;
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::{Class, Register};

/// A pseudo-register for the dependences between instructions that name no register.
pub(in crate::pipeline) const ANY: u16 = Register::COUNT as u16;

/// Whether an instruction of `class` changes the stack pointer in addition to its access.
#[inline]
pub(in crate::pipeline) fn moves_stack(class: Class) -> bool {
    matches!(class, Class::Push | Class::Pop | Class::Call | Class::Return | Class::String)
}

/// The registers, and [`ANY`].
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Registers {
    ready: [u64; Register::COUNT + 1],
}

impl Registers {
    pub(in crate::pipeline) const fn new() -> Registers {
        Registers { ready: [0; Register::COUNT + 1] }
    }

    /// Returns when all of these are ready.
    #[inline]
    pub(in crate::pipeline) fn ready(&self, registers: impl IntoIterator<Item = u16>) -> u64 {
        registers.into_iter().fold(0, |ready, register| ready.max(self.at(register)))
    }

    /// Returns when this register is ready.
    #[inline]
    pub(in crate::pipeline) fn at(&self, register: u16) -> u64 {
        self.ready.get(usize::from(register)).copied().unwrap_or(0)
    }

    /// Sets the cycle in which `register` is ready.
    #[inline]
    pub(in crate::pipeline) fn set(&mut self, register: u16, ready: u64) {
        if let Some(cell) = self.ready.get_mut(usize::from(register)) {
            *cell = ready;
        }
    }

    /// Returns when `register`, written by an instruction of `class`, is ready. The instruction was dispatched in cycle `at`, knew its
    /// address in cycle `address` and has its result in cycle `result`. `addresses`: the address was computed from this register.
    #[inline]
    pub(in crate::pipeline) fn written(&self, register: u16, class: Class, addresses: bool, (at, address, result): (u64, u64, u64)) -> u64 {
        match register {
            // As if through the shortest operation, whatever this one is.
            ANY => self.ready([ANY]).max(at + 1) + 1,
            _ if addresses && moves_stack(class) => address + 1,
            _ => result,
        }
    }

    /// Delays every register by `cycles`.
    pub(in crate::pipeline) fn shift(&mut self, cycles: u64) {
        self.ready.iter_mut().for_each(|ready| *ready += cycles);
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&self.ready);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for register in &mut self.ready {
            *register = time(reader, now)?;
        }
        Ok(())
    }
}
