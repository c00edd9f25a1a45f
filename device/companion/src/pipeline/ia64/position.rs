//! The position of the program among its bundles.

use crate::bundle::Bundle;
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::small;

/// The slot number after the last slot of a bundle.
const END: u8 = 3;

/// The bundle of the last instruction, and the slot after it, where known.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipeline) struct ProgramPosition {
    last: Option<(u64, u8)>,
}

impl ProgramPosition {
    /// Whether `slot` of bundle `number` is the next in sequence, as far as is known.
    pub(in crate::pipeline) fn follows(&self, number: u64, slot: u8) -> bool {
        self.last.is_none_or(|(last, next)| if next < END { (number, slot) == (last, next) } else { number == last + 1 })
    }

    /// Whether the bundle is entered at this slot.
    pub(in crate::pipeline) fn enters(&self, number: u64, slot: u8) -> bool {
        self.last.is_none_or(|(last, next)| last != number || next > slot)
    }

    /// Records that an instruction of bundle `number` was executed.
    pub(in crate::pipeline) fn went(&mut self, number: u64, bundle: Option<&Bundle>) {
        self.last = bundle.map(|bundle| (number, if bundle.is_last() { END } else { bundle.slot.min(2) + 1 }));
    }

    /// Records that execution continues elsewhere.
    pub(in crate::pipeline) fn leave(&mut self) {
        self.last = None;
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        let (number, next) = self.last.unwrap_or_default();
        writer.words(&[u64::from(self.last.is_some()), number, u64::from(next)]);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let (there, number, next) = (reader.word()?, reader.word()?, small(reader, usize::from(END))?);
        if number > u64::MAX >> 4 {
            return Err(Damaged);
        }
        self.last = (there & 1 == 1).then_some((number, next));
        Ok(())
    }
}
