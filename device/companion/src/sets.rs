//! Sets of entries, of which caches and translation buffers consist.

use alloc::boxed::Box;
use alloc::vec;

use crate::bytes::{Damaged, Reader, Writer};
use crate::profile::Replacement;

/// Bits below an entry's key: flags that belong to its owner.
const FLAGS: u32 = 4;

/// Returns the way with `key`. Words whose lowest three flags are clear count as absent.
#[inline]
fn find(set: &[u64], key: u64) -> Option<usize> {
    let there = |word: &u64| word >> FLAGS == key && word & 7 != 0;
    // A key that is present is mostly among the first. The others are compared eight at a time without branches, because mostly none of
    // them matches.
    let Some((first, others)) = set.split_at_checked(8) else { return set.iter().position(there) };
    first.iter().position(there).or_else(|| find_in_eights(others, key))
}

fn find_in_eights(set: &[u64], key: u64) -> Option<usize> {
    let there = |word: &u64| word >> FLAGS == key && word & 7 != 0;
    let (eights, rest) = set.as_chunks::<8>();
    for (number, eight) in eights.iter().enumerate() {
        let some = eight.iter().fold(false, |some, word| some | (word >> FLAGS == key));
        if some && let Some(way) = eight.iter().position(there) {
            return Some(8 * (number + 1) + way);
        }
    }
    rest.iter().position(there).map(|way| 8 * (eights.len() + 1) + way)
}

/// Returns the pointers of a tree over `ways` that a use of `way` leaves unchanged, and those that it sets.
fn path(way: usize, ways: usize) -> (u32, u32) {
    // Each node on the path points to the half that was not used: 1 is the right half.
    let (mut kept, mut set) = (u32::MAX, 0);
    let (mut node, mut low, mut span) = (1u32, 0, ways);
    while span > 1 {
        span /= 2;
        let right = way >= low + span;
        kept &= !(1 << node);
        set |= u32::from(!right) << node;
        low += if right { span } else { 0 };
        node = 2 * node + u32::from(right);
    }
    (kept, set)
}

/// Number of changes that are recorded separately.
const CHANGES: usize = 4;

/// The keys of words that have been removed or given other flags, unless there were more than are recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed {
    keys: [u64; CHANGES],
    /// More than there are places for, if there were too many.
    count: usize,
}

impl Changed {
    pub(crate) const NOTHING: Changed = Changed { keys: [0; CHANGES], count: 0 };
    pub(crate) const TOO_MUCH: Changed = Changed { keys: [0; CHANGES], count: CHANGES + 1 };

    #[inline]
    pub(crate) fn push(&mut self, key: u64) {
        if let Some(place) = self.keys.get_mut(self.count) {
            *place = key;
        }
        self.count = (self.count + 1).min(Changed::TOO_MUCH.count);
    }

    pub(crate) fn keys(&self) -> Option<&[u64]> {
        self.keys.get(..self.count)
    }
}

/// A set-associative array of words. The upper 60 bits of a word are its key, the lower four its owner's. Zero is an empty way.
///
/// A set that replaces the least recently used word keeps its words in the order of their use, so that a lookup mostly hits the first.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    words: Box<[u64]>,
    /// Pointers of the tree, or marks of use: one word per set.
    marks: Box<[u32]>,
    /// The pointers of a tree that a use of each way leaves unchanged, and those that it sets.
    paths: Box<[(u32, u32)]>,
    ways: usize,
    mask: u64,
    replacement: Replacement,
    random: u64,
    /// The changes since this was last taken.
    pub(crate) changed: Changed,
}

impl Sets {
    /// Creates empty sets: `entries` in sets of `ways`, clamped to possible numbers.
    pub(crate) fn new(entries: u64, ways: u32, replacement: Replacement, seed: u64) -> Sets {
        let ways = ways.clamp(1, 128);
        let sets = (entries / u64::from(ways)).max(1);
        // Rounded down to a power of two.
        let sets = 1u64 << (63 - sets.leading_zeros());
        // Marks are 32 bits per set.
        let replacement = if ways > 32 && replacement != Replacement::Random { Replacement::LeastRecentlyUsed } else { replacement };
        let marked = matches!(replacement, Replacement::Tree | Replacement::NotRecentlyUsed);
        Sets {
            words: vec![0; sets as usize * ways as usize].into_boxed_slice(),
            marks: vec![0; if marked { sets as usize } else { 0 }].into_boxed_slice(),
            paths: (0..if replacement == Replacement::Tree { ways as usize } else { 0 }).map(|way| path(way, ways as usize)).collect(),
            ways: ways as usize,
            mask: sets - 1,
            replacement,
            random: seed | 1,
            changed: Changed::NOTHING,
        }
    }

    fn first(&self, index: u64) -> usize {
        (index & self.mask) as usize * self.ways
    }

    fn set(&self, index: u64) -> &[u64] {
        let first = self.first(index);
        self.words.get(first..first + self.ways).unwrap_or(&[])
    }

    fn set_mut(&mut self, index: u64) -> &mut [u64] {
        let first = self.first(index);
        self.words.get_mut(first..first + self.ways).unwrap_or(&mut [])
    }

    /// Returns the word of `key`, without marking it as used. Words whose lowest three flags are clear count as absent.
    pub(crate) fn peek(&self, index: u64, key: u64) -> Option<u64> {
        let set = self.set(index);
        set.get(find(set, key)?).copied()
    }

    /// Returns the word of `key`, and marks it as used.
    #[inline]
    pub(crate) fn touch(&mut self, index: u64, key: u64) -> Option<u64> {
        let first = self.first(index);
        let ways = self.ways;
        let set = self.words.get_mut(first..first + ways)?;
        let front = *set.first()?;
        if front >> FLAGS == key && front & 7 != 0 && self.replacement == Replacement::LeastRecentlyUsed {
            return Some(front);
        }
        let way = find(set, key)?;
        let word = *set.get(way)?;
        match self.replacement {
            Replacement::LeastRecentlyUsed => {
                if let Some(used) = set.get_mut(..=way) {
                    used.rotate_right(1);
                }
            }
            _ => self.mark(index, way),
        }
        Some(word)
    }

    pub(crate) fn count(&self) -> u64 {
        self.mask + 1
    }

    #[inline]
    pub(crate) fn number(&self, index: u64) -> u64 {
        index & self.mask
    }

    /// Uses the second word of a set that replaces the least recently used word. It becomes the first.
    #[inline]
    pub(crate) fn swap_first(&mut self, index: u64) {
        if let [first, second, ..] = self.set_mut(index) {
            core::mem::swap(first, second);
        }
    }

    pub(crate) fn change(&mut self, index: u64, key: u64, flags: u64) {
        self.changed.push(key);
        let set = self.set_mut(index);
        if let Some(word) = find(set, key).and_then(|way| set.get_mut(way)) {
            *word = key << FLAGS | flags & 15;
        }
    }

    /// Removes the word of `key`. Its way is the next to be filled.
    pub(crate) fn remove(&mut self, index: u64, key: u64) -> Option<u64> {
        self.changed.push(key);
        let set = self.set_mut(index);
        let way = find(set, key)?;
        Some(core::mem::take(set.get_mut(way)?))
    }

    /// Inserts `word`, whose key is absent, as the most recently used. Returns the word that it replaces: 0 for an empty way.
    pub(crate) fn insert(&mut self, index: u64, word: u64) -> u64 {
        let replacement = self.replacement;
        let set = self.set_mut(index);
        let ways = set.len();
        let free = set.iter().position(|present| present & 7 == 0);
        let way = match (free, replacement) {
            (Some(way), _) => way,
            (None, Replacement::LeastRecentlyUsed) => ways - 1,
            (None, Replacement::Tree) => self.tree(index),
            (None, Replacement::NotRecentlyUsed) => self.unused(index),
            (None, Replacement::Random) => self.draw() as usize % ways,
        };
        let set = self.set_mut(index);
        let Some(place) = set.get_mut(way) else { return 0 };
        let victim = core::mem::replace(place, word);
        match replacement {
            Replacement::LeastRecentlyUsed => {
                if let Some(used) = set.get_mut(..=way) {
                    used.rotate_right(1);
                }
            }
            _ => self.mark(index, way),
        }
        if victim != 0 {
            self.changed.push(victim >> FLAGS);
        }
        victim
    }

    /// Inserts `word`, over one with the same key if there is one. Returns the word of another key that it replaces, or 0.
    pub(crate) fn put(&mut self, index: u64, word: u64) -> u64 {
        if self.touch(index, word >> FLAGS).is_some() {
            self.change(index, word >> FLAGS, word);
            return 0;
        }
        self.insert(index, word)
    }

    /// Empties every way for whose word `gone` returns true.
    pub(crate) fn discard(&mut self, gone: impl Fn(u64) -> bool) {
        self.changed = Changed::TOO_MUCH;
        let ordered = self.replacement == Replacement::LeastRecentlyUsed;
        for set in self.words.chunks_exact_mut(self.ways) {
            let mut kept = 0;
            for way in 0..set.len() {
                let Some(word) = set.get(way).copied() else { continue };
                let stays = word != 0 && !gone(word);
                if !stays && let Some(place) = set.get_mut(way) {
                    *place = 0;
                }
                if ordered && stays {
                    set.swap(kept, way);
                    kept += 1;
                }
            }
        }
    }

    /// Marks a use of `way`, for the policies that keep marks.
    fn mark(&mut self, index: u64, way: usize) {
        let ways = self.ways;
        let set = (index & self.mask) as usize;
        let Some(marks) = self.marks.get_mut(set) else { return };
        match self.replacement {
            Replacement::Tree => {
                let (kept, set) = self.paths.get(way).copied().unwrap_or((u32::MAX, 0));
                *marks = *marks & kept | set;
            }
            Replacement::NotRecentlyUsed => {
                let all = if ways >= 32 { u32::MAX } else { (1 << ways) - 1 };
                *marks |= 1 << (way & 31);
                if *marks & all == all {
                    *marks = 1 << (way & 31);
                }
            }
            _ => {}
        }
    }

    /// Returns the way that the tree of a set points to.
    fn tree(&self, index: u64) -> usize {
        let marks = self.marks.get((index & self.mask) as usize).copied().unwrap_or(0);
        let (mut node, mut low, mut span) = (1u32, 0, self.ways);
        while span > 1 {
            span /= 2;
            let right = marks >> node & 1 == 1;
            low += if right { span } else { 0 };
            node = 2 * node + u32::from(right);
        }
        low
    }

    /// Returns the first way of a set that is not marked.
    fn unused(&self, index: u64) -> usize {
        let marks = self.marks.get((index & self.mask) as usize).copied().unwrap_or(0);
        (marks.trailing_ones() as usize).min(self.ways - 1)
    }

    /// Draws the next number of the seeded generator (xorshift).
    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }

    #[cfg(test)]
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied().filter(|word| word & 7 != 0)
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.words(&self.words);
        for marks in &self.marks {
            writer.word(u64::from(*marks));
        }
        writer.word(self.random);
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.changed = Changed::TOO_MUCH;
        reader.words(&mut self.words)?;
        for marks in &mut self.marks {
            *marks = reader.word()? as u32;
        }
        // The generator never reaches 0, and could never leave it.
        self.random = reader.word()?.max(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(replacement: Replacement) -> Sets {
        let mut sets = Sets::new(4, 4, replacement, 7);
        for key in 1..=4 {
            assert_eq!(sets.insert(0, key << 4 | 1), 0);
        }
        sets
    }

    #[test]
    fn least_recent_use_gives_up_the_entry_used_longest_ago() {
        let mut sets = filled(Replacement::LeastRecentlyUsed);
        sets.touch(0, 1);
        sets.touch(0, 3);
        assert_eq!(sets.insert(0, 5 << 4 | 1) >> 4, 2);
        assert_eq!(sets.insert(0, 6 << 4 | 1) >> 4, 4);
        assert_eq!(sets.insert(0, 7 << 4 | 1) >> 4, 1);
    }

    #[test]
    fn the_tree_points_away_from_what_was_used() {
        let mut sets = filled(Replacement::Tree);
        // Filled 0, 1, 2, 3: the root points left, the left half to way 0.
        assert_eq!(sets.insert(0, 5 << 4 | 1) >> 4, 1);
        // Now the root points right, there to way 2.
        assert_eq!(sets.insert(0, 6 << 4 | 1) >> 4, 3);
        sets.touch(0, 2);
        // Key 2 is in way 1: the root points right, there to way 3.
        assert_eq!(sets.insert(0, 7 << 4 | 1) >> 4, 4);
    }

    #[test]
    fn not_recent_use_takes_the_first_without_a_mark() {
        let mut sets = filled(Replacement::NotRecentlyUsed);
        // The fourth fill marked the last way and forgot the others.
        assert_eq!(sets.insert(0, 5 << 4 | 1) >> 4, 1);
        sets.touch(0, 2);
        assert_eq!(sets.insert(0, 6 << 4 | 1) >> 4, 3);
        // Now all had been used: only this last one is marked.
        assert_eq!(sets.insert(0, 7 << 4 | 1) >> 4, 5);
    }

    #[test]
    fn the_same_seed_draws_the_same_victims() {
        let victims = |seed| {
            let mut sets = Sets::new(4, 4, Replacement::Random, seed);
            (1..=40u64).map(|key| sets.insert(0, key << 4 | 1)).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(victims(3), victims(3));
        assert_ne!(victims(3), victims(99));
    }

    #[test]
    fn a_place_that_was_emptied_is_filled_first() {
        for replacement in [Replacement::LeastRecentlyUsed, Replacement::Tree, Replacement::NotRecentlyUsed, Replacement::Random] {
            let mut sets = filled(replacement);
            assert_eq!(sets.remove(0, 3).map(|word| word >> 4), Some(3));
            assert_eq!(sets.peek(0, 3), None);
            assert_eq!(sets.insert(0, 9 << 4 | 1), 0, "{replacement:?}");
            assert!([1, 2, 4, 9].iter().all(|key| sets.peek(0, *key).is_some()));
        }
    }
}
