//! Queues of a pipeline, represented by the times at which their entries become free.

use super::time;
use crate::bytes::{Damaged, Reader, Writer};

/// A queue whose entries become free in any order.
///
/// The cycles in which each of its `COUNT` entries becomes free, sorted, are a section of a ring of `PLACES`, a power of two. The section
/// moves on by one place when an entry is taken. The newly taken entry is mostly the last to become free, so few places move.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Entries<const COUNT: usize, const PLACES: usize = COUNT> {
    free: [u64; PLACES],
    first: usize,
}

impl<const COUNT: usize, const PLACES: usize> Entries<COUNT, PLACES> {
    pub(in crate::pipeline) const fn new() -> Self {
        const { assert!(PLACES.is_power_of_two() && PLACES >= COUNT, "the ring has a power of two places, and one for each entry") }
        Entries { free: [0; PLACES], first: 0 }
    }

    /// Returns when the entry becomes free that has `number` others before it.
    #[inline]
    fn at(&self, number: usize) -> u64 {
        self.free.get(self.first.wrapping_add(number) & (PLACES - 1)).copied().unwrap_or(0)
    }

    #[inline]
    fn set(&mut self, number: usize, until: u64) {
        if let Some(cell) = self.free.get_mut(self.first.wrapping_add(number) & (PLACES - 1)) {
            *cell = until;
        }
    }

    /// Returns the first cycle in which an entry is free.
    #[inline]
    pub(in crate::pipeline) fn room(&self) -> u64 {
        self.at(0)
    }

    /// Returns the first cycle in which fewer than `share` entries are taken.
    #[inline]
    pub(in crate::pipeline) fn room_within(&self, share: usize) -> u64 {
        self.at(COUNT - share.clamp(1, COUNT))
    }

    /// Returns the number of entries that are taken in cycle `now`.
    #[inline]
    pub(in crate::pipeline) fn taken(&self, now: u64) -> usize {
        let mut free = COUNT;
        while free != 0 && self.at(free - 1) > now {
            free -= 1;
        }
        COUNT - free
    }

    /// Takes the entry that is free first, until `until`.
    #[inline]
    pub(in crate::pipeline) fn take(&mut self, until: u64) {
        self.first = self.first.wrapping_add(1);
        let mut number = COUNT - 1;
        while number != 0 {
            let before = self.at(number - 1);
            if before <= until {
                break;
            }
            self.set(number, before);
            number -= 1;
        }
        self.set(number, until);
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        (0..COUNT).for_each(|number| writer.word(self.at(number)));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.first = 0;
        for cell in self.free.iter_mut().take(COUNT) {
            *cell = time(reader, now)?;
        }
        if let Some(entries) = self.free.get_mut(..COUNT) {
            entries.sort_unstable();
        }
        Ok(())
    }
}

/// A queue whose entries become free in order.
///
/// The last `COUNT` cycles written to a ring of `PLACES`, a power of two, are those in which the entries become free.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Ring<const COUNT: usize, const PLACES: usize = COUNT> {
    free: [u64; PLACES],
    next: usize,
}

impl<const COUNT: usize, const PLACES: usize> Ring<COUNT, PLACES> {
    pub(in crate::pipeline) const fn new() -> Self {
        const { assert!(PLACES.is_power_of_two() && PLACES >= COUNT, "the ring has a power of two places, and one for each entry") }
        Ring { free: [0; PLACES], next: 0 }
    }

    /// Returns the value written `places` places back; 1 is the last.
    #[inline]
    fn back(&self, places: usize) -> u64 {
        self.free.get(self.next.wrapping_sub(places) & (PLACES - 1)).copied().unwrap_or(0)
    }

    #[inline]
    fn set_back(&mut self, places: usize, until: u64) {
        if let Some(cell) = self.free.get_mut(self.next.wrapping_sub(places) & (PLACES - 1)) {
            *cell = until;
        }
    }

    /// Returns the first cycle in which `entries` more are free. If there are fewer entries, all must be free.
    #[inline]
    pub(in crate::pipeline) fn room(&self, entries: usize) -> u64 {
        self.room_within(entries, COUNT)
    }

    /// Returns the first cycle in which one more is free.
    #[inline]
    pub(in crate::pipeline) fn room_for_one(&self) -> u64 {
        self.back(COUNT)
    }

    /// Returns the first cycle in which `entries` more are free for a thread that has at most `share` of the entries.
    #[inline]
    pub(in crate::pipeline) fn room_within(&self, entries: usize, share: usize) -> u64 {
        let share = share.clamp(1, COUNT);
        match entries.min(share) {
            0 => 0,
            entries => self.back(share + 1 - entries),
        }
    }

    /// Returns in how many of the cycles from `begin` to `last` fewer than `entries` are free to a thread that has `share` of the entries,
    /// if it takes and keeps `entries` in each of the other cycles.
    pub(in crate::pipeline) fn full(&self, begin: u64, last: u64, entries: usize, share: usize) -> u64 {
        let (mut at, mut taken, mut full) = (begin, 0, 0);
        while at <= last && taken + entries <= share.min(COUNT) {
            let room = self.room_within(taken + entries, share).max(at);
            if room > last {
                break;
            }
            taken += entries;
            full += room - at;
            at = room + 1;
        }
        full + (last + 1).saturating_sub(at)
    }

    /// Takes the next entry, until `until`.
    #[inline]
    pub(in crate::pipeline) fn take(&mut self, until: u64) {
        self.next = self.next.wrapping_add(1);
        self.set_back(1, until);
    }

    /// Takes the entry that is free first, until `until`, which may be earlier than that of the last entry.
    #[inline]
    pub(in crate::pipeline) fn take_in_order(&mut self, until: u64) {
        self.next = self.next.wrapping_add(1);
        let mut place = 1;
        while place < COUNT {
            let earlier = self.back(place + 1);
            if earlier <= until {
                break;
            }
            self.set_back(place, earlier);
            place += 1;
        }
        self.set_back(place, until);
    }

    /// Delays every entry by `cycles`.
    pub(in crate::pipeline) fn shift(&mut self, cycles: u64) {
        self.free.iter_mut().for_each(|until| *until += cycles);
    }

    /// Saves the entries, beginning with the one that is taken next, and 0 as the place of that one.
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        (0..COUNT).for_each(|number| writer.word(self.back(COUNT - number)));
        writer.word(0);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for cell in self.free.iter_mut().take(COUNT) {
            *cell = time(reader, now)?;
        }
        let next = usize::try_from(reader.word()?).ok().filter(|next| *next < COUNT).ok_or(Damaged)?;
        if let Some(entries) = self.free.get_mut(..COUNT) {
            entries.rotate_left(next);
        }
        self.next = COUNT;
        Ok(())
    }
}

/// Number of runs that are kept apart.
const RUNS: usize = 64;

/// Cycles in which some condition holds, as ordered runs. Runs beyond `RUNS` are joined with the last.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Runs {
    /// The first cycle of each run, and the one after its last.
    runs: [(u64, u64); RUNS],
    first: usize,
    count: usize,
}

impl Runs {
    pub(in crate::pipeline) const fn new() -> Runs {
        Runs { runs: [(0, 0); RUNS], first: 0, count: 0 }
    }

    /// Adds a run from `from` up to `to`. No earlier run begins later.
    #[inline]
    pub(in crate::pipeline) fn add(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let last = (self.first + self.count).wrapping_sub(1) % RUNS;
        if let Some(cell) = self.runs.get_mut(last).filter(|_| self.count != 0)
            && from <= cell.1
        {
            cell.1 = cell.1.max(to);
            return;
        }
        if self.count == RUNS {
            if let Some(cell) = self.runs.get_mut(last) {
                cell.1 += to - from;
            }
            return;
        }
        if let Some(cell) = self.runs.get_mut((self.first + self.count) % RUNS) {
            *cell = (from, to);
            self.count += 1;
        }
    }

    /// Removes the cycles before `end` and returns their number.
    #[inline]
    pub(in crate::pipeline) fn take(&mut self, end: u64) -> u64 {
        let mut cycles = 0;
        while self.count != 0
            && let Some(run) = self.runs.get_mut(self.first)
            && run.0 < end
        {
            let to = run.1.min(end);
            cycles += to - run.0;
            if to < run.1 {
                run.0 = to;
                break;
            }
            self.first = (self.first + 1) % RUNS;
            self.count -= 1;
        }
        cycles
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.count as u64);
        for number in 0..RUNS {
            let (from, to) = self.runs.get((self.first + number) % RUNS).filter(|_| number < self.count).copied().unwrap_or((0, 0));
            writer.words(&[from, to]);
        }
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.first = 0;
        self.count = usize::try_from(reader.word()?).ok().filter(|count| *count <= RUNS).ok_or(Damaged)?;
        let mut before = 0;
        for (number, run) in self.runs.iter_mut().enumerate() {
            *run = (time(reader, now)?, time(reader, now)?);
            if number < self.count && (run.0 < before || run.0 >= run.1) {
                return Err(Damaged);
            }
            before = run.1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_is_free_first_is_taken() {
        let mut entries = Entries::<3, 4>::new();
        [9, 5, 7].into_iter().for_each(|until| entries.take(until));
        assert_eq!(entries.room(), 5);
        entries.take(20);
        assert_eq!(entries.room(), 7);
        entries.take(8);
        assert_eq!(entries.room(), 8);
    }

    #[test]
    fn a_ring_has_room_for_several_when_the_last_of_them_is_free() {
        let mut ring = Ring::<4>::new();
        [3, 5, 9, 9].into_iter().for_each(|until| ring.take(until));
        assert_eq!([1, 2, 3, 9].map(|entries| ring.room(entries)), [3, 5, 9, 9]);
    }

    #[test]
    fn entries_that_are_free_out_of_turn_are_taken_by_the_time() {
        let mut ring = Ring::<3, 4>::new();
        [9, 5, 7, 6].into_iter().for_each(|until| ring.take_in_order(until));
        assert_eq!([1, 2, 3].map(|entries| ring.room(entries)), [6, 7, 9]);
    }

    #[test]
    fn entries_are_taken_until_they_are_free() {
        let mut entries = Entries::<3, 4>::new();
        [9, 5].into_iter().for_each(|until| entries.take(until));
        assert_eq!([4, 5, 9].map(|now| entries.taken(now)), [2, 1, 0]);
    }

    #[test]
    fn a_ring_that_is_taken_and_kept_is_full_until_entries_are_free() {
        let mut ring = Ring::<4>::new();
        [0, 0, 20, 21].into_iter().for_each(|until| ring.take(until));
        // One per cycle: 10 and 11 take the free entries, 20 and 21 the others, and from 22 on there is none.
        assert_eq!(ring.full(10, 25, 1, 4), 8 + 4);
        // Two per cycle: the first two in 10, the others in 21.
        assert_eq!(ring.full(10, 25, 2, 4), 10 + 4);
    }

    #[test]
    fn a_share_of_a_queue_is_free_when_so_few_are_taken() {
        let (mut entries, mut ring) = (Entries::<4>::new(), Ring::<4>::new());
        for until in [10, 20, 30] {
            entries.take(until);
            ring.take(until);
        }
        // Of two entries one is free when only the last is taken.
        assert_eq!((entries.room_within(2), ring.room_within(1, 2)), (20, 20));
        assert_eq!((entries.room_within(4), ring.room_within(1, 4)), (0, 0));
        assert_eq!(ring.room_within(2, 2), 30);
    }

    #[test]
    fn runs_are_taken_up_to_a_cycle_within_them() {
        let mut runs = Runs::new();
        runs.add(10, 20);
        runs.add(15, 25);
        runs.add(30, 31);
        assert_eq!(runs.take(12), 2);
        assert_eq!(runs.take(12), 0);
        assert_eq!(runs.take(30), 13);
        assert_eq!(runs.take(100), 1);
    }

    #[test]
    fn no_cycle_of_a_run_is_lost_when_there_are_too_many() {
        let mut runs = Runs::new();
        (0..200u64).for_each(|number| runs.add(number * 10, number * 10 + 3));
        assert_eq!(runs.take(u64::MAX), 600);
    }
}
