//! Snoops that a cluster has answered and that no pipeline has given a time yet.

use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::line::{Line, LineState};

/// Maximum number of snoops that are kept: the last ones.
pub(crate) const MOST: usize = 16;

/// The origin of a transaction that no cluster began.
const NO_CLUSTER: u16 = u16::MAX;

/// A snoop, and the answer of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snoop {
    /// The line, in the strongest state that a copy had.
    found: Line,
    /// The cluster that began the transaction.
    from: u16,
}

impl Snoop {
    const NONE: Snoop = Snoop { found: Line(0), from: NO_CLUSTER };

    pub(crate) fn line(self) -> u64 {
        self.found.number()
    }

    /// Whether the cluster had the line modified.
    pub(crate) fn finds_modified(self) -> bool {
        self.found.state().dirty()
    }

    /// Returns the cluster that began the transaction, if one did.
    pub(crate) fn from(self) -> Option<usize> {
        (self.from != NO_CLUSTER).then_some(usize::from(self.from))
    }
}

/// The last snoops, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snooped {
    all: [Snoop; MOST],
    /// The place of the next snoop, and the number of snoops.
    next: usize,
    count: usize,
}

impl Snooped {
    pub(crate) const NONE: Snooped = Snooped { all: [Snoop::NONE; MOST], next: 0, count: 0 };

    /// Records a snoop of `line` that the cluster has answered; its strongest copy was in state `found`.
    pub(super) fn note(&mut self, line: u64, found: LineState) {
        if let Some(place) = self.all.get_mut(self.next) {
            *place = Snoop { found: Line::new(line, found), from: NO_CLUSTER };
        }
        self.next = (self.next + 1) % MOST;
        self.count = (self.count + 1).min(MOST);
    }

    /// Records that the last snoop belongs to a transaction of cluster `from`.
    pub(super) fn begun_by(&mut self, from: usize) {
        if self.count != 0
            && let Some(last) = self.all.get_mut((self.next + MOST - 1) % MOST)
        {
            last.from = u16::try_from(from).unwrap_or(NO_CLUSTER);
        }
    }

    /// Returns the snoops, oldest first.
    pub(crate) fn all(&self) -> impl Iterator<Item = Snoop> + '_ {
        let first = self.next + MOST - self.count;
        (first..first + self.count).filter_map(|place| self.all.get(place % MOST)).copied()
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        let kept = self.all().chain(core::iter::repeat(Snoop::NONE)).take(MOST);
        kept.for_each(|snoop| writer.words(&[snoop.found.0, u64::from(snoop.from)]));
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<Snooped, Damaged> {
        let count = usize::try_from(reader.word()?).ok().filter(|count| *count <= MOST).ok_or(Damaged)?;
        let mut all = [Snoop::NONE; MOST];
        for snoop in &mut all {
            *snoop = Snoop { found: Line(reader.word()?), from: u16::try_from(reader.word()?).map_err(|_| Damaged)? };
        }
        Ok(Snooped { all, next: count % MOST, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_snoops_than_are_kept_the_last_ones_are() {
        let mut snooped = Snooped::NONE;
        (1..=MOST as u64 + 3).for_each(|line| snooped.note(line, LineState::Modified));
        assert!(snooped.all().map(Snoop::line).eq(4..=MOST as u64 + 3));
    }

    #[test]
    fn a_snoop_is_of_nobody_until_it_is_said_whose_it_is() {
        let mut snooped = Snooped::NONE;
        snooped.note(1, LineState::Shared);
        snooped.note(2, LineState::Shared);
        snooped.begun_by(5);
        assert!(snooped.all().map(Snoop::from).eq([None, Some(5)]));
    }
}
