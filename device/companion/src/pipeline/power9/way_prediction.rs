//! Way prediction of the data cache (PP92).

use crate::bytes::{Damaged, Reader, Writer};

/// The sets and ways of the data cache: 32 KiB in lines of 128 bytes.
const SETS: usize = 32;
const WAYS: usize = 8;

/// An entry: the number of a line in memory plus one, 0 if the entry is empty, and the number of the line in the address space.
type WayEntry = (u64, u64);

/// The way prediction table. It has one entry for each line of the data cache, found by the effective address through which the line was
/// last read.
#[derive(Clone, Debug)]
pub(super) struct WayPredictor {
    /// The most recently used entry of each set comes first.
    sets: [[WayEntry; WAYS]; SETS],
}

impl WayPredictor {
    pub(super) const fn new() -> WayPredictor {
        WayPredictor { sets: [[(0, 0); WAYS]; SETS] }
    }

    /// Records that a load reads `line` through line `effective` of its address space. Returns whether the line was last read through
    /// another.
    pub(super) fn read(&mut self, line: u64, effective: u64) -> bool {
        let Some(set) = self.sets.get_mut(line as usize % SETS) else { return false };
        let entry = (line.wrapping_add(1), effective);
        let place = set.iter().position(|(of, _)| *of == entry.0);
        let differs = place.and_then(|place| set.get(place)).is_some_and(|(_, through)| *through != effective);
        if let Some(used) = set.get_mut(..=place.unwrap_or(WAYS - 1)) {
            used.rotate_right(1);
        }
        if let Some(first) = set.first_mut() {
            *first = entry;
        }
        differs
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.sets.as_flattened().iter().for_each(|(line, effective)| writer.words(&[*line, *effective]));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for entry in self.sets.as_flattened_mut() {
            *entry = (reader.word()?, reader.word()?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_missed_when_it_is_read_through_another_address() {
        let mut ways = WayPredictor::new();
        let read = [(5, 5), (5, 5), (5, 37), (5, 37), (5, 5)].map(|(line, effective)| ways.read(line, effective));
        assert_eq!(read, [false, false, true, false, true]);
    }

    #[test]
    fn a_set_forgets_the_line_that_was_used_longest_ago() {
        let mut ways = WayPredictor::new();
        (0..9).for_each(|number| _ = ways.read(32 * number, 32 * number));
        // Nine lines of one set: the first has been evicted, the second has not.
        assert_eq!([32, 0].map(|line| ways.read(line, 1)), [true, false]);
    }
}
