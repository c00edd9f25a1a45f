//! What a thread has found of data, and finds again without the lock of its cluster.

use alloc::boxed::Box;

use super::cluster::{Cluster, Level};
use super::cluster_lock::ClusterLock;

/// The most sets of which a line is remembered: more than any part has.
const MOST: u64 = 1024;
/// How many lines, and how many pages, are remembered that are no longer the last of their set or buffer.
const KNOWN_LINES: usize = 256;
const KNOWN_PAGES: usize = 16;
/// After so many failures in a row no more accesses are left out than before.
const MOST_FAILURES: u8 = 4;

/// Something that was found, for as long as nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Twice its number, and one if it may be written, or stands in the first level too.
    key: u64,
    /// [`ClusterLock::changes`] when it was found.
    changes: usize,
}

impl Mark {
    const NEVER: Mark = Mark { key: 0, changes: usize::MAX };
}

/// What a thread has found of data in the first level, and what it has stored through to the second. All of it is true until
/// [something changes](ClusterLock::changes).
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The line that was last used in each set of the first level.
    last: Box<[Mark]>,
    /// Other lines of the first level.
    lines: Box<[Mark]>,
    /// The line that was last used in each set of the second level, if that was to store through to it. Empty if the first level keeps
    /// what is stored.
    stores: Box<[Mark]>,
    /// The binary logarithm of the lines of the first level in one of the second.
    inner_bits: u8,
    /// The page that was translated last, and others whose translations the first level has.
    page: Mark,
    pages: Box<[Mark]>,
    page_bits: u8,
    /// How many searches in a row have found nothing, and how many accesses are left out before the next search.
    failures: u8,
    unsought: u8,
}

/// A follower that finds what hits. A thread has one at a time, but may have had others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Finder {
    /// Which of all that have been made; 0 is none.
    pub(super) number: usize,
    /// The thread of its core.
    pub(super) thread: u8,
}

/// An access that finds its line in the first level, or a store that is written through to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    First {
        writes: bool,
    },
    /// The first level has the line too, or not.
    Second {
        first: bool,
    },
}

impl Find {
    /// The level that serves it.
    pub(super) fn level(self) -> Level {
        match self {
            Find::First { .. } => Level::First,
            Find::Second { .. } => Level::Second,
        }
    }
}

impl Default for Found {
    fn default() -> Found {
        Found {
            last: Box::default(),
            lines: Box::new([Mark::NEVER; KNOWN_LINES]),
            stores: Box::default(),
            inner_bits: 0,
            page: Mark::NEVER,
            pages: Box::new([Mark::NEVER; KNOWN_PAGES]),
            page_bits: 0,
            failures: 0,
            unsought: 0,
        }
    }
}

impl Found {
    /// Nothing, of these caches.
    pub(super) fn nothing(cluster: &Cluster) -> Found {
        let none = |sets: u64| (0..sets.min(MOST)).map(|_| Mark::NEVER).collect();
        let caches = cluster.cores.first();
        Found {
            last: none(caches.map_or(1, |caches| caches.data.count())),
            stores: none(if cluster.stores_through() { cluster.second.count() } else { 0 }),
            inner_bits: cluster.inner_bits(),
            page_bits: caches.map_or(0, |caches| caches.translations.data_bits()),
            ..Found::default()
        }
    }

    /// Whether a store finds its line in the second level, if it finds any.
    #[inline]
    pub(super) fn stores_through(&self) -> bool {
        !self.stores.is_empty()
    }

    /// Whether an access finds its line in the first level again, and its translation, so that only the order of use changes.
    #[inline]
    pub(super) fn again(&mut self, cluster: &ClusterLock, core: usize, line: u64, writes: bool, address: u64) -> bool {
        let changes = cluster.changes();
        let page = self.page_of(address, changes);
        let again = match has(&mut self.last, line, line, writes, changes) {
            true => self.page == page || self.turns(cluster, core, page),
            false => self.returns(cluster, core, line, writes, page),
        };
        if again {
            self.failures = 0;
        }
        again
    }

    /// The same of a store that is written through to the second level: whether the first has it too.
    #[inline]
    pub(super) fn stores_again(&mut self, cluster: &ClusterLock, core: usize, line: u64, address: u64) -> Option<bool> {
        let changes = cluster.changes();
        let page = self.page_of(address, changes);
        let first = has(&mut self.last, line, line, false, changes);
        let stored = Mark { key: line << 1 | u64::from(first), changes };
        let again = at(&mut self.stores, line >> self.inner_bits).is_some_and(|last| *last == stored);
        (again && (self.page == page || self.turns(cluster, core, page))).then_some(first)
    }

    /// What is remembered of a page.
    #[inline]
    fn page_of(&self, address: u64, changes: usize) -> Mark {
        Mark { key: address >> self.page_bits << 1, changes }
    }

    fn knows(&mut self, page: Mark) -> bool {
        at(&mut self.pages, folded(page.key >> 1, KNOWN_PAGES)).is_some_and(|known| *known == page)
    }

    /// The line is the last of its set, but another page was translated last: whether this one is known, and there is room in the log.
    #[inline(never)]
    fn turns(&mut self, cluster: &ClusterLock, core: usize, page: Mark) -> bool {
        let done = self.knows(page) && cluster.log(core, page.key >> 1 << self.page_bits, None);
        if done {
            self.page = page;
        }
        done
    }

    /// The line is not the last of its set: whether it is known, and its page too, and there is room in the log.
    #[inline(never)]
    fn returns(&mut self, cluster: &ClusterLock, core: usize, line: u64, writes: bool, page: Mark) -> bool {
        let known = has(&mut self.lines, folded(line, KNOWN_LINES), line, writes, page.changes) && self.knows(page);
        if !known || !cluster.log(core, page.key >> 1 << self.page_bits, Some(line)) {
            return false;
        }
        self.page = page;
        if let (Some(last), Some(found)) = (at(&mut self.last, line), at(&mut self.lines, folded(line, KNOWN_LINES))) {
            *last = *found;
        }
        true
    }

    /// Whether an access is searched for at all. Where one after another misses, most are not, as they would not be found.
    #[inline]
    pub(super) fn seeks(&mut self) -> bool {
        let seeks = self.unsought == 0;
        self.unsought = self.unsought.saturating_sub(1);
        seeks
    }

    /// A search has found nothing.
    pub(super) fn fail(&mut self) {
        self.failures = (self.failures + 1).min(MOST_FAILURES);
        self.unsought = (1 << self.failures) - 2;
    }

    /// A thread that holds the lock to find what hits has found the line of an address.
    #[inline]
    pub(super) fn find(&mut self, changes: usize, address: u64, line: u64, find: Find) {
        self.failures = 0;
        self.page = self.page_of(address, changes);
        if let Some(known) = at(&mut self.pages, folded(self.page.key >> 1, KNOWN_PAGES)) {
            *known = self.page;
        }
        let (first, writes) = match find {
            Find::First { writes } => (true, writes),
            Find::Second { first } => {
                if let Some(stored) = at(&mut self.stores, line >> self.inner_bits) {
                    *stored = Mark { key: line << 1 | u64::from(first), changes };
                }
                (first, false)
            }
        };
        if let (Some(last), Some(found)) = (at(&mut self.last, line).filter(|_| first), at(&mut self.lines, folded(line, KNOWN_LINES))) {
            let writable = writes || found.changes == changes && found.key == line << 1 | 1;
            *found = Mark { key: line << 1 | u64::from(writable), changes };
            *last = *found;
        }
    }
}

/// What is remembered at the place of a number.
#[inline]
fn at(marks: &mut [Mark], number: u64) -> Option<&mut Mark> {
    let last = marks.len().wrapping_sub(1);
    marks.get_mut(number as usize & last)
}

/// A place for a number, among a power of two of them, that numbers far apart seldom share.
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
