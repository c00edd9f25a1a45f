//! Lines of a core's first level that other processors took to write them.

use crate::bytes::{Damaged, Reader, Writer};

/// Maximum number of lines that are kept.
const MOST: usize = 8;

/// The first few lines that others took to write them, since a thread of the core last looked.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostLines {
    /// The number of the line in the first level, and whether it was in the instruction cache.
    lines: [(u64, bool); MOST],
    count: usize,
}

impl LostLines {
    /// Adds a line that was taken from the data cache or, with `code`, from the instruction cache.
    pub(super) fn push(&mut self, line: u64, code: bool) {
        if let Some(place) = self.lines.get_mut(self.count) {
            *place = (line, code);
            self.count += 1;
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn all(&self) -> &[(u64, bool)] {
        self.lines.get(..self.count).unwrap_or(&[])
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        self.all().iter().for_each(|(line, code)| writer.words(&[*line, u64::from(*code)]));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let count = usize::try_from(reader.word()?).ok().filter(|count| *count <= MOST).ok_or(Damaged)?;
        *self = LostLines::default();
        for _ in 0..count {
            let line = reader.word()?;
            self.push(line, reader.word()? & 1 == 1);
        }
        Ok(())
    }
}
