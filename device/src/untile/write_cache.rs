//! The write cache of the IRP: lines that devices asked for ahead of their writes. The IRP owns them until it writes them back or a snoop
//! takes them.
//!
//! What the IRP answers to a snoop (table 8-4) follows from when the snoop comes. It may overtake the grant of the line: then the IRP has
//! a place for the line, and no line (I). It may come before the device's data (E), or before these have left for the mesh (M), or while they
//! are on their way to the agent (a miss). That a snoop takes the line whatever it is for is as in the server parts, whose IRPs count lines that
//! a snoop took before the data of their write were there (uncore manual of the Xeon E5 and E7 v3, IRP, MISC1).

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use vm_pmu_arch::feed::RequestKind;

use super::home::Seeks;

/// Lines that it holds: Max Inc of WRITE_CACHE_TOTAL. The oldest makes room.
const ENTRIES: usize = 128;
/// When a device has not written yet.
const NEVER: u64 = u64::MAX;

/// A line, and when what happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Entry {
    /// Its number, plus one; 0 for a free place.
    line: u64,
    /// The agent took the request for it.
    asked: u64,
    /// The grant is there.
    owned: u64,
    /// The device's data are there.
    written: u64,
    /// They leave for the mesh.
    leaves: u64,
    /// The agent has them.
    back: u64,
}

/// How many words an entry is saved as.
const WORDS: usize = 6;

impl Entry {
    fn words(&mut self) -> [&mut u64; WORDS] {
        let Entry { line, asked, owned, written, leaves, back } = self;
        [line, asked, owned, written, leaves, back]
    }
}

/// How the IRP has a line that is snooped: the bits of table 8-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Not any more.
    Miss = 0x01,
    /// Not yet.
    Invalid = 0x02,
    /// Without data of the device.
    Exclusive = 0x04,
    /// With them.
    Modified = 0x08,
}

/// What a snoop is for, by the request that needs it: the bits of table 8-4.
pub(super) fn kind(request: RequestKind, seeks: Seeks) -> u8 {
    const CODE: u8 = 0x10;
    const DATA: u8 = 0x20;
    const INVALIDATES: u8 = 0x40;
    match (seeks, request) {
        (Seeks::Read, RequestKind::Code | RequestKind::CodePrefetch | RequestKind::CodeReadPrefetch) => CODE,
        (Seeks::Read, _) => DATA,
        _ => INVALIDATES,
    }
}

/// The lines, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct WriteCache {
    entries: Box<[Entry]>,
    used: usize,
}

impl WriteCache {
    pub(super) fn new() -> WriteCache {
        WriteCache { entries: vec![Entry::default(); ENTRIES].into_boxed_slice(), used: 0 }
    }

    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.entries)
    }

    fn there(&mut self) -> &mut [Entry] {
        self.entries.get_mut(..self.used).unwrap_or_default()
    }

    fn find(&mut self, line: u64) -> Option<usize> {
        self.there().iter().position(|entry| entry.line == line.wrapping_add(1))
    }

    fn remove(&mut self, place: usize) {
        self.there().get_mut(place..).unwrap_or_default().rotate_left(1);
        self.used = self.used.saturating_sub(1);
    }

    /// A device prefetches `line`: the agent has taken the request at `asked`, and the grant is there at `owned`.
    pub(super) fn ask(&mut self, line: u64, asked: u64, owned: u64) {
        if let Some(place) = self.find(line) {
            self.remove(place);
        } else if self.used == ENTRIES {
            self.remove(0);
        }
        if let Some(entry) = self.entries.get_mut(self.used) {
            *entry = Entry { line: line.wrapping_add(1), asked, owned, written: NEVER, leaves: NEVER, back: NEVER };
            self.used += 1;
        }
    }

    /// When `line` was granted, if it is there and its data are not.
    pub(super) fn granted(&mut self, line: u64) -> Option<u64> {
        let place = self.find(line)?;
        self.there().get(place).filter(|entry| entry.written == NEVER).map(|entry| entry.owned)
    }

    /// The device's data for `line` are there at `written`, leave for the mesh at `leaves`, and are at the agent at `back`.
    pub(super) fn write(&mut self, line: u64, written: u64, leaves: u64, back: u64) {
        if let Some(entry) = self.find(line).and_then(|place| self.there().get_mut(place)) {
            *entry = Entry { written, leaves, back, ..*entry };
        }
    }

    /// Whether the agent, at `time`, has the IRP as the owner of `line`; and if so, whether the line is on its way back. An entry whose data are
    /// back is dropped.
    pub(super) fn owns(&mut self, line: u64, time: u64) -> Option<bool> {
        if self.used == 0 {
            return None;
        }
        let place = self.find(line)?;
        let entry = self.there().get(place).copied()?;
        if entry.back <= time {
            self.remove(place);
            return None;
        }
        (entry.asked <= time).then_some(entry.back != NEVER)
    }

    /// A snoop of `line` is there at `time`, and takes it.
    pub(super) fn snoop(&mut self, line: u64, time: u64) -> Answer {
        let Some(place) = self.find(line) else { return Answer::Miss };
        let entry = self.there().get(place).copied().unwrap_or_default();
        self.remove(place);
        match entry {
            Entry { leaves, .. } if time >= leaves => Answer::Miss,
            Entry { written, .. } if time >= written => Answer::Modified,
            Entry { owned, .. } if time >= owned => Answer::Exclusive,
            _ => Answer::Invalid,
        }
    }

    /// What it has: lines as they are, times from `now` on.
    pub(super) fn save(&self, now: u64) -> Vec<(u32, u64)> {
        let words = self.entries.iter().take(self.used).flat_map(|entry| {
            let mut entry = *entry;
            entry.words().map(|word| *word)
        });
        let relative = words.enumerate().map(|(place, word)| match (place % WORDS, word) {
            (0, line) => (place, line),
            (_, NEVER) => (place, NEVER),
            (_, time) => (place, time.saturating_sub(now)),
        });
        relative.filter(|(_, word)| *word != 0).filter_map(|(place, word)| Some((u32::try_from(place).ok()?, word))).collect()
    }

    pub(super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        self.entries.fill(Entry::default());
        for (place, word) in saved {
            let (entry, field) = (*place as usize / WORDS, *place as usize % WORDS);
            if let Some(entry) = self.entries.get_mut(entry) {
                let word = if field == 0 { *word } else { now.saturating_add(*word) };
                entry.words().into_iter().nth(field).into_iter().for_each(|place| *place = word);
            }
        }
        // What is damaged leaves no free place between lines.
        self.used = self.entries.iter().take_while(|entry| entry.line != 0).count();
        self.entries.get_mut(self.used..).unwrap_or_default().fill(Entry::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line 5, asked for at 10 and granted at 30, written at 50, gone at 60 and back at 80.
    fn written() -> WriteCache {
        let mut cache = WriteCache::new();
        cache.ask(5, 10, 30);
        cache.write(5, 50, 60, 80);
        cache
    }

    #[test]
    fn answers_follow_the_life_of_a_line() {
        let answers = [29, 30, 49, 50, 59, 60].map(|time| written().snoop(5, time));
        assert_eq!(answers, [Answer::Invalid, Answer::Exclusive, Answer::Exclusive, Answer::Modified, Answer::Modified, Answer::Miss]);
    }

    #[test]
    fn a_snooped_line_has_to_be_asked_for_again() {
        let mut cache = WriteCache::new();
        cache.ask(5, 10, 30);
        assert_eq!((cache.granted(5), cache.owns(5, 40)), (Some(30), Some(false)));
        assert_eq!(cache.snoop(5, 40), Answer::Exclusive);
        assert_eq!((cache.granted(5), cache.owns(5, 41), cache.snoop(5, 42)), (None, None, Answer::Miss));
    }

    #[test]
    fn the_agent_knows_the_owner_until_the_data_are_back() {
        assert_eq!([79, 80].map(|time| written().owns(5, time)), [Some(true), None]);
        assert_eq!(written().granted(5), None, "it is written already");
    }

    #[test]
    fn the_line_that_was_asked_for_first_makes_room() {
        let mut cache = WriteCache::new();
        (0..=ENTRIES as u64).for_each(|line| cache.ask(line, 0, 0));
        assert_eq!([0, 1, ENTRIES as u64].map(|line| cache.owns(line, 0)), [None, Some(false), Some(false)]);
    }

    #[test]
    fn a_restored_cache_answers_as_the_saved_one_at_another_time() {
        let mut cache = written();
        cache.ask(6, 45, 65);
        let mut restored = WriteCache::new();
        restored.load(&cache.save(55), 1055);
        assert_eq!(restored.save(1055), cache.save(55));
        assert_eq!([restored.clone().snoop(5, 1059), restored.snoop(6, 1064)], [Answer::Modified, Answer::Invalid]);
    }
}
