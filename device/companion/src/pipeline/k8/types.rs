//! The element types that the halves of vector registers were last written with (PK47).

use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::{Class, Elements, Operation, Register};
use crate::pipeline::resources::saving::number;

/// The width of half a vector register in bytes.
const HALF: u8 = 8;
/// Halves per register, and bits per half and registers per saved word.
const HALVES: usize = 2;
const ELEMENT_BITS: usize = 4;
const SAVED: usize = 64 / (HALVES * ELEMENT_BITS);

/// The elements of each register's lower half and upper half.
#[derive(Clone, Debug)]
pub(super) struct Types {
    halves: [[Elements; HALVES]; Register::COUNT],
}

/// Whether the halves have different known elements.
fn is_mixed([lower, upper]: [Elements; HALVES]) -> bool {
    lower != upper && lower != Elements::Untold && upper != Elements::Untold
}

impl Types {
    pub(super) const fn new() -> Types {
        Types { halves: [[Elements::Untold; HALVES]; Register::COUNT] }
    }

    fn of(&self, register: Register) -> [Elements; HALVES] {
        self.halves.get(usize::from(register.0) % Register::COUNT).copied().unwrap_or_default()
    }

    fn set(&mut self, register: Register, elements: [Elements; HALVES]) {
        if let Some(place) = self.halves.get_mut(usize::from(register.0) % Register::COUNT) {
            *place = elements;
        }
    }

    /// Executes an operation of the floating-point unit. Returns whether it computes with both halves of a register whose types differ;
    /// that register then has one type.
    pub(super) fn execute(&mut self, class: Class, operation: &Operation<'_>) -> bool {
        let (elements, whole) = (operation.elements, operation.packed && operation.width > HALF);
        // Moves do not depend on the type.
        let copied = operation.reads.first().copied().filter(|_| class == Class::FloatMove && operation.reads.len() == 1);
        let mut retyped = false;
        if whole && copied.is_none() && !matches!(class, Class::Load | Class::Store) {
            for register in operation.reads {
                if is_mixed(self.of(*register)) {
                    retyped = true;
                    self.set(*register, [elements; HALVES]);
                }
            }
        }
        for register in operation.writes {
            let written = match (self.of(*register), copied) {
                (_, Some(source)) if whole => self.of(source),
                ([lower, _], _) if operation.upper => [lower, elements],
                ([_, upper], _) if !whole && operation.reads.contains(register) => [elements, upper],
                _ => [elements; HALVES],
            };
            self.set(*register, written);
        }
        retyped
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        for registers in self.halves.chunks(SAVED) {
            let elements = registers.iter().flatten().enumerate();
            writer.word(elements.fold(0, |word, (place, elements)| word | number(&Elements::ALL, elements) << (ELEMENT_BITS * place)));
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for registers in self.halves.chunks_mut(SAVED) {
            let word = reader.word()?;
            for (place, elements) in registers.iter_mut().flatten().enumerate() {
                let number = (word >> (ELEMENT_BITS * place)) as usize % (1 << ELEMENT_BITS);
                *elements = *Elements::ALL.get(number).ok_or(Damaged)?;
            }
        }
        Ok(())
    }
}
