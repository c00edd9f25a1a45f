//! Loads ahead of their turn, which have their data before an older load does.

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::time;

/// Number of loads that are remembered.
const LOADS: usize = 16;

/// A load that has its data while an older one has not.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    line: u64,
    /// The cycle in which it has its data, and the one in which all older loads have theirs.
    here: u64,
    until: u64,
}

/// The last loads of a thread that were ahead of their turn.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Ahead {
    loads: [Load; LOADS],
    next: usize,
    /// The cycle in which all loads so far have their data.
    all: u64,
}

impl Ahead {
    pub(in crate::pipeline) const fn new() -> Ahead {
        Ahead { loads: [Load { line: 0, here: 0, until: 0 }; LOADS], next: 0, all: 0 }
    }

    /// Adds the next load, of `line`, which has its data in cycle `here`.
    #[inline]
    pub(in crate::pipeline) fn push(&mut self, line: u64, here: u64) {
        if here >= self.all {
            self.all = here;
            return;
        }
        if let Some(load) = self.loads.get_mut(self.next) {
            *load = Load { line, here, until: self.all };
        }
        self.next = (self.next + 1) % LOADS;
    }

    /// Whether a load of `line` is ahead of its turn in cycle `now`.
    pub(in crate::pipeline) fn has(&self, line: u64, now: u64) -> bool {
        self.all > now && self.loads.iter().any(|load| load.line == line && (load.here..load.until).contains(&now))
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.next as u64, self.all]);
        self.loads.iter().for_each(|load| writer.words(&[load.line, load.here, load.until]));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.next = usize::try_from(reader.word()?).ok().filter(|next| *next < LOADS).ok_or(Damaged)?;
        self.all = time(reader, now)?;
        for load in &mut self.loads {
            *load = Load { line: reader.word()?, here: time(reader, now)?, until: time(reader, now)? };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_ahead_from_its_data_to_those_of_the_older_ones() {
        let mut ahead = Ahead::new();
        [(1, 100), (2, 10), (3, 120)].into_iter().for_each(|(line, here)| ahead.push(line, here));
        assert_eq!([9, 10, 99, 100].map(|now| ahead.has(2, now)), [false, true, true, false]);
        assert!(!ahead.has(1, 50) && !ahead.has(3, 50));
    }
}
