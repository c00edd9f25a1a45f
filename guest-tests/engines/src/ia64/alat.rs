//! The advanced load address table: 32 entries in sets, the oldest of which makes room.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How many entries there are.
pub(crate) const ENTRIES: usize = 32;
/// The places whose taking counts as if an entry were displaced (Montecito manual, 4.15, ALAT_CAPACITY_MISS).
const LAST: usize = 2;

/// Whose load it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// A general register, by its physical number: 0 to 31 static, then the stacked ones.
    General(u8),
    /// A floating-point register, by its physical number.
    Floating(u8),
}

/// An advanced load that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvancedLoad {
    /// Whose load it was.
    pub target: Target,
    /// The physical address.
    pub physical: u64,
    /// Bytes.
    pub size: u8,
}

impl Target {
    fn number(self) -> u8 {
        match self {
            Target::General(number) | Target::Floating(number) => number,
        }
    }
}

/// The table of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Alat {
    entries: VecDeque<AdvancedLoad>,
    /// How many entries a set has. The lowest bits of a register's number choose the set.
    ways: usize,
}

impl Default for Alat {
    /// One set.
    fn default() -> Alat {
        Alat { entries: VecDeque::new(), ways: ENTRIES }
    }
}

impl Alat {
    /// An empty table with sets of so many entries, a power of two.
    pub(crate) fn of_ways(ways: usize) -> Alat {
        Alat { ways: ways.clamp(1, ENTRIES), ..Alat::default() }
    }

    /// The same table with these entries, the oldest first.
    pub(crate) fn with(&self, entries: &[AdvancedLoad]) -> Alat {
        Alat { entries: entries.iter().copied().collect(), ..*self }
    }

    /// Its entries, the oldest first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &AdvancedLoad> {
        self.entries.iter()
    }

    /// An advanced load of `size` bytes at `physical`. Returns whether another one lost its place; of a table of one set, whether it also took
    /// one of the last [`LAST`] places.
    pub(crate) fn insert(&mut self, target: Target, physical: u64, size: u8) -> bool {
        let last = self.ways == ENTRIES && !self.holds(target) && self.entries.len() + LAST >= ENTRIES;
        self.remove(target);
        let sets = ENTRIES / self.ways;
        let same = |entry: &AdvancedLoad| usize::from(entry.target.number()) % sets == usize::from(target.number()) % sets;
        let full = self.entries.iter().filter(|entry| same(entry)).count() >= self.ways;
        if full && let Some(oldest) = self.entries.iter().position(same) {
            self.entries.remove(oldest);
        }
        self.entries.push_back(AdvancedLoad { target, physical, size });
        full || last
    }

    pub(crate) fn remove(&mut self, target: Target) {
        self.entries.retain(|entry| entry.target != target);
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether the load of `target` still holds.
    pub(crate) fn holds(&self, target: Target) -> bool {
        self.entries.iter().any(|entry| entry.target == target)
    }

    /// Whether it still holds for a load of `size` bytes at `physical`.
    pub(crate) fn matches(&self, target: Target, physical: u64, size: u8) -> bool {
        self.entries.iter().any(|entry| entry.target == target && entry.physical == physical && entry.size == size)
    }

    /// A store of `size` bytes at `physical`, by whatever thread: what overlaps goes.
    pub(crate) fn stored(&mut self, physical: u64, size: u8) {
        if !self.entries.is_empty() {
            self.entries.retain(|entry| physical + u64::from(size) <= entry.physical || entry.physical + u64::from(entry.size) <= physical);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_thirty_three_entries_is_gone() {
        let mut alat = Alat::default();
        for register in 0..33 {
            alat.insert(Target::General(register), u64::from(register) * 8, 8);
        }
        assert!(!alat.holds(Target::General(0)));
        assert!(alat.holds(Target::General(1)) && alat.holds(Target::General(32)));
    }

    #[test]
    fn a_third_entry_of_a_set_of_two_takes_the_place_of_the_first() {
        let mut alat = Alat::of_ways(2);
        // Sixteen sets: numbers 4, 20 and 36 are of one, and 5 is of another.
        assert!(!alat.insert(Target::General(4), 0, 8));
        assert!(!alat.insert(Target::Floating(20), 8, 8));
        assert!(!alat.insert(Target::General(5), 16, 8));
        assert!(!alat.insert(Target::General(4), 24, 8), "its own place");
        assert!(alat.insert(Target::General(36), 32, 8));
        assert!(!alat.holds(Target::Floating(20)));
        assert!(alat.holds(Target::General(4)) && alat.holds(Target::General(5)) && alat.holds(Target::General(36)));
    }

    #[test]
    fn the_last_two_places_are_told_and_the_own_entry_of_a_register_is_not() {
        let mut alat = Alat::default();
        let mut insert = |register| alat.insert(Target::General(register), 0x1000, 8);
        assert!((0..30).all(|register| !insert(register)));
        assert!(insert(30) && insert(31) && insert(32));
        assert!(!insert(32) && !insert(1));
    }

    #[test]
    fn a_store_takes_only_what_it_overlaps() {
        let mut alat = Alat::default();
        alat.insert(Target::General(4), 0x100, 8);
        alat.insert(Target::Floating(4), 0x108, 8);
        alat.stored(0x107, 1);
        assert!(!alat.holds(Target::General(4)));
        assert!(alat.holds(Target::Floating(4)));
    }
}
