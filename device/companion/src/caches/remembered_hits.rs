//! Hits on code and data that a thread remembers, and can repeat without the lock of its cluster.

use alloc::boxed::Box;

use crate::caches::hit_log::Local;
use crate::caches::{Cluster, CoreCaches, Level};
use crate::sets::Changed;
use crate::translation::{CODE, DATA};

/// Maximum number of sets for which a line is remembered: more than any part has.
const MOST: u64 = 1024;
/// Number of lines, and of pages, that are remembered though they are no longer the most recently used of their set or buffer.
const KNOWN_LINES: usize = 256;
const KNOWN_PAGES: usize = 64;
/// After this many failures in a row, the number of skipped accesses grows no further.
const MOST_FAILURES: u8 = 4;

/// A remembered hit, valid as long as nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Twice its number, plus one if it may be written, or if the first level has it too.
    key: u64,
    /// The value of [`Local::changes`] when it was found.
    changes: usize,
}

impl Mark {
    const NEVER: Mark = Mark { key: 0, changes: usize::MAX };
}

/// The first-level hits of one side that a thread remembers: lines, and translations of their pages.
#[derive(Clone, Debug)]
struct Side {
    /// Its index among the sides of translations.
    number: usize,
    /// The most recently used line of each set.
    last: Box<[Mark]>,
    lines: Box<[Mark]>,
    /// The page that was translated last, and others whose translations the first level has.
    page: Mark,
    pages: Box<[Mark]>,
    page_bits: u8,
}

/// The first-level hits on code and data that a thread remembers, and its stores that were written through to the second level. They are
/// valid until [something changes](Local::changes).
#[derive(Clone, Debug)]
pub(crate) struct RememberedHits {
    code: Side,
    data: Side,
    /// The most recently used line of each set of the second level, if it was used by a store that was written through. Empty if the first
    /// level keeps stores.
    stores: Box<[Mark]>,
    /// The binary logarithm of the number of first-level lines per second-level line.
    inner_bits: u8,
    /// Number of searches in a row that found nothing, and number of accesses to skip before the next search.
    failures: u8,
    unsought: u8,
}

/// A follower that looks up hits. A thread has one at a time, but may have had others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Finder {
    /// Its serial number among all followers made; 0 means none.
    pub(crate) number: usize,
    /// The thread of its core.
    pub(crate) thread: u8,
}

/// An access that hits the first level, or a store that is written through to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Find {
    First {
        writes: bool,
    },
    /// A hit in the second level, and whether the first level has the line too.
    Second {
        first: bool,
    },
}

impl Find {
    pub(crate) fn level(self) -> Level {
        match self {
            Find::First { .. } => Level::First,
            Find::Second { .. } => Level::Second,
        }
    }
}

impl Side {
    fn nothing(number: usize, sets: u64, page_bits: u8) -> Side {
        Side {
            number,
            last: nothing_in(sets),
            lines: Box::new([Mark::NEVER; KNOWN_LINES]),
            page: Mark::NEVER,
            pages: Box::new([Mark::NEVER; KNOWN_PAGES]),
            page_bits,
        }
    }

    /// Whether a line and its translation are hit again, so that only the order of use changes.
    #[inline(always)]
    fn again(&mut self, local: &Local, line: u64, writes: bool, address: u64) -> bool {
        let changes = local.changes();
        let page = self.page_of(address, changes);
        match has(&mut self.last, line, line, writes, changes) {
            true => self.page == page || self.turns(local, page),
            false => self.returns(local, line, writes, page),
        }
    }

    #[inline]
    fn page_of(&self, address: u64, changes: usize) -> Mark {
        Mark { key: address >> self.page_bits << 1, changes }
    }

    fn knows(&mut self, page: Mark) -> bool {
        at(&mut self.pages, folded(page.key >> 1, KNOWN_PAGES)).is_some_and(|known| *known == page)
    }

    /// Handles a hit on the most recently used line of its set after another page was translated. Returns whether this page is known, and
    /// there is room in the log.
    #[inline(never)]
    fn turns(&mut self, local: &Local, page: Mark) -> bool {
        let done = self.knows(page) && local.log(self.number, page.key >> 1 << self.page_bits, None);
        if done {
            self.page = page;
        }
        done
    }

    /// Handles a line that is not the most recently used of its set. Returns whether the line and its page are known, and there is room in
    /// the log.
    #[inline(never)]
    fn returns(&mut self, local: &Local, line: u64, writes: bool, page: Mark) -> bool {
        let known = has(&mut self.lines, folded(line, KNOWN_LINES), line, writes, page.changes) && self.knows(page);
        if !known || !local.log(self.number, page.key >> 1 << self.page_bits, Some(line)) {
            return false;
        }
        self.page = page;
        if let (Some(last), Some(found)) = (at(&mut self.last, line), at(&mut self.lines, folded(line, KNOWN_LINES))) {
            *last = *found;
        }
        true
    }

    /// Forgets lines that have changed, and translations that were lost, if some have changed. Returns whether it was told which lines changed.
    fn forget(&mut self, lines: &Changed, translations: Option<Changed>) -> bool {
        if let Some(lost) = translations {
            self.page = Mark::NEVER;
            match lost.keys() {
                Some(pages) => pages.iter().for_each(|page| self.forget_page(*page)),
                None => self.pages.fill(Mark::NEVER),
            }
        }
        let keys = lines.keys();
        keys.unwrap_or(&[]).iter().for_each(|line| {
            self.forget_last(*line);
            if let Some(found) = at(&mut self.lines, folded(*line, KNOWN_LINES)).filter(|found| found.key >> 1 == *line) {
                *found = Mark::NEVER;
            }
        });
        keys.is_some()
    }

    /// Forgets the translation of a page, given by its number.
    fn forget_page(&mut self, page: u64) {
        if let Some(known) = at(&mut self.pages, folded(page, KNOWN_PAGES)).filter(|known| known.key >> 1 == page) {
            *known = Mark::NEVER;
        }
    }

    /// Forgets the most recently used line of a line's set.
    fn forget_last(&mut self, line: u64) {
        if let Some(last) = at(&mut self.last, line) {
            *last = Mark::NEVER;
        }
    }

    /// Remembers that the translation of an address has been found.
    #[inline]
    fn find_page(&mut self, changes: usize, address: u64) {
        self.page = self.page_of(address, changes);
        if let Some(known) = at(&mut self.pages, folded(self.page.key >> 1, KNOWN_PAGES)) {
            *known = self.page;
        }
    }

    /// Remembers that a line has been found, to be written or not.
    #[inline]
    fn find_line(&mut self, changes: usize, line: u64, writes: bool) {
        if let (Some(last), Some(found)) = (at(&mut self.last, line), at(&mut self.lines, folded(line, KNOWN_LINES))) {
            let writable = writes || found.changes == changes && found.key == line << 1 | 1;
            *found = Mark { key: line << 1 | u64::from(writable), changes };
            *last = *found;
        }
    }
}

impl Default for RememberedHits {
    fn default() -> RememberedHits {
        let side = |number| Side::nothing(number, 1, 0);
        RememberedHits { code: side(CODE), data: side(DATA), stores: Box::default(), inner_bits: 0, failures: 0, unsought: 0 }
    }
}

impl RememberedHits {
    pub(super) fn nothing(cluster: &Cluster) -> RememberedHits {
        let Some(CoreCaches { code, data, translations, .. }) = cluster.cores.first() else { return RememberedHits::default() };
        RememberedHits {
            code: Side::nothing(CODE, code.count(), translations.first_bits(CODE)),
            data: Side::nothing(DATA, data.count(), translations.first_bits(DATA)),
            stores: if cluster.stores_through() { nothing_in(cluster.second.count()) } else { Box::default() },
            inner_bits: cluster.inner_bits(),
            ..RememberedHits::default()
        }
    }

    /// Whether a store that hits does so in the second level.
    #[inline]
    pub(crate) fn stores_through(&self) -> bool {
        !self.stores.is_empty()
    }

    /// Whether a data access hits the first level again, with its translation, so that only the order of use changes.
    #[inline(always)]
    pub(crate) fn again(&mut self, local: &Local, line: u64, writes: bool, address: u64) -> bool {
        let again = self.data.again(local, line, writes, address);
        if again {
            self.failures = 0;
        }
        again
    }

    /// Whether a fetch of code hits again in this way.
    #[inline]
    pub(crate) fn code_again(&mut self, local: &Local, line: u64, address: u64) -> bool {
        self.code.again(local, line, false, address)
    }

    /// Looks for a repeated hit of a store that is written through to the second level. Returns whether the first level has the line too.
    #[inline]
    pub(crate) fn stores_again(&mut self, local: &Local, line: u64, address: u64) -> Option<bool> {
        let changes = local.changes();
        let data = &mut self.data;
        let page = data.page_of(address, changes);
        let first = has(&mut data.last, line, line, false, changes);
        let stored = Mark { key: line << 1 | u64::from(first), changes };
        let again = at(&mut self.stores, line >> self.inner_bits).is_some_and(|last| *last == stored);
        (again && (data.page == page || data.turns(local, page))).then_some(first)
    }

    /// Forgets the most recently used lines of a line's sets, after a long-way request, which marks the line as used on each level.
    pub(crate) fn ask(&mut self, line: u64) {
        self.code.forget_last(line);
        self.data.forget_last(line);
        if let Some(stored) = at(&mut self.stores, line >> self.inner_bits) {
            *stored = Mark::NEVER;
        }
    }

    /// Remembers a line that the long way has found in the first level: of code, or of data, to be written or not.
    pub(crate) fn serve(&mut self, local: &Local, side: usize, line: u64, writes: bool) {
        let side = if side == CODE { &mut self.code } else { &mut self.data };
        side.find_line(local.changes(), line, writes);
    }

    /// Remembers a translation that the long way has found, or has put into the first level.
    pub(crate) fn translate(&mut self, local: &Local, side: usize, address: u64) {
        let side = if side == CODE { &mut self.code } else { &mut self.data };
        side.find_page(local.changes(), address);
    }

    /// Forgets changed lines of a side, and translations that were lost, if some have changed. Returns whether it was told which lines changed.
    pub(super) fn forget(&mut self, side: usize, lines: &Changed, translations: Option<Changed>) -> bool {
        let side = if side == CODE { &mut self.code } else { &mut self.data };
        side.forget(lines, translations)
    }

    /// Whether to search for an access at all. If one access after another misses, most are skipped, because the search would fail.
    #[inline]
    pub(crate) fn seeks(&mut self) -> bool {
        let seeks = self.unsought == 0;
        self.unsought = self.unsought.saturating_sub(1);
        seeks
    }

    /// Records a search that has found nothing.
    pub(crate) fn fail(&mut self) {
        self.failures = (self.failures + 1).min(MOST_FAILURES);
        self.unsought = (1 << self.failures) - 2;
    }

    /// Remembers the data line of an address that a thread has found while it held the lock.
    #[inline]
    pub(crate) fn find(&mut self, changes: usize, address: u64, line: u64, find: Find) {
        self.failures = 0;
        self.data.find_page(changes, address);
        match find {
            Find::First { writes } => self.data.find_line(changes, line, writes),
            Find::Second { first } => {
                if let Some(stored) = at(&mut self.stores, line >> self.inner_bits) {
                    *stored = Mark { key: line << 1 | u64::from(first), changes };
                }
                if first {
                    self.data.find_line(changes, line, false);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn find_code(&mut self, changes: usize, address: u64, line: u64) {
        self.code.find_page(changes, address);
        self.code.find_line(changes, line, false);
    }
}

fn nothing_in(sets: u64) -> Box<[Mark]> {
    (0..sets.min(MOST)).map(|_| Mark::NEVER).collect()
}

/// Returns the mark at the place of a number.
#[inline]
fn at(marks: &mut [Mark], number: u64) -> Option<&mut Mark> {
    let last = marks.len().wrapping_sub(1);
    marks.get_mut(number as usize & last)
}

/// Folds a number, for one of a power of two `places`, so that numbers far apart seldom share a place.
#[inline]
fn folded(number: u64, places: usize) -> u64 {
    let bits = places.trailing_zeros();
    number ^ number >> bits ^ number >> (2 * bits)
}

/// Whether a line is at a place, and may be written if the access writes it.
#[inline]
fn has(marks: &mut [Mark], place: u64, line: u64, writes: bool, changes: usize) -> bool {
    let either = u64::from(!writes);
    at(marks, place).is_some_and(|found| found.key | either == line << 1 | 1 && found.changes == changes)
}
