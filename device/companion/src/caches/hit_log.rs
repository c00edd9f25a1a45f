//! Accesses that hit without the lock of their cluster, until the next holder of the lock marks what they used.

use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use vm_pmu_arch::atomic::AtomicU64;

/// Maximum number of accesses that wait in a log.
const LOGGED: usize = 32;
/// Number of neighbouring accesses among which another use of a page is looked for, and another use of a line.
const RECENT: usize = 8;
const RECENT_LINES: usize = 2;
/// A value in place of a line: the access only uses the translation of its page.
const NO_LINE: u64 = u64::MAX;

/// Accesses of one follower that hit the first level without the lock, in order. The next thread that takes the lock marks what they used.
#[derive(Debug)]
pub(super) struct Log {
    count: AtomicUsize,
    /// An address in the page of each access, always the same one for a page, and the number of its line.
    accesses: [[AtomicU64; 2]; LOGGED],
}

impl Log {
    fn empty() -> Log {
        Log { count: AtomicUsize::new(0), accesses: core::array::from_fn(|_| [const { AtomicU64::new(0) }; 2]) }
    }

    /// Whether no access waits.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    /// Adds an access. Returns whether there was room.
    fn push(&self, address: u64, line: u64) -> bool {
        let count = self.count.load(Relaxed);
        let Some(place) = self.accesses.get(count) else { return false };
        place[0].store(address, Relaxed);
        place[1].store(line, Relaxed);
        self.count.store(count + 1, Release);
        true
    }

    /// Adds a use of the translation of a page. If the page is among the last ones, it moves to the end and those behind it move up:
    /// translations are kept in the order of their last use, whatever lines are used meanwhile.
    fn push_page(&self, page: u64) -> bool {
        let count = self.count.load(Relaxed);
        let recent = self.accesses.get(count.saturating_sub(RECENT)..count).unwrap_or(&[]);
        let Some(behind) = recent.iter().rev().position(|place| place[0].load(Relaxed) == page) else {
            return self.push(page, NO_LINE);
        };
        let mut last = page;
        for place in recent.iter().rev().take(behind + 1) {
            let moved = place[0].load(Relaxed);
            place[0].store(last, Relaxed);
            last = moved;
        }
        true
    }

    /// Removes all accesses and passes their pages and lines to `mark`. Of several uses of one that are close to each other, only the last
    /// is passed, because the first level keeps the order of last use.
    pub(super) fn drain(&self, mut mark: impl FnMut(Option<u64>, Option<u64>)) {
        let used = self.accesses.get(..self.count.load(Acquire)).unwrap_or(&[]);
        let last = |number: usize, field: usize, among: usize| {
            let (place, later) = used.get(number..).and_then(|used| used.split_first())?;
            let what = place.get(field)?.load(Relaxed);
            let again = later.iter().take(among).any(|place| place.get(field).is_some_and(|used| used.load(Relaxed) == what));
            (!again && what != NO_LINE).then_some(what)
        };
        for number in 0..used.len() {
            mark(last(number, 0, RECENT), last(number, 1, RECENT_LINES));
        }
        self.count.store(0, Relaxed);
    }
}

/// The state of one core of a cluster that needs no lock.
#[derive(Debug)]
pub(crate) struct Local {
    changes: AtomicUsize,
    /// The accesses that wait, of code and of data.
    pub(super) logs: [Log; 2],
}

impl Local {
    pub(super) fn new() -> Local {
        Local { changes: AtomicUsize::new(0), logs: [Log::empty(), Log::empty()] }
    }

    /// Returns how often something may have changed in the core's caches, apart from changes that its finder was told of.
    #[inline]
    pub(crate) fn changes(&self) -> usize {
        self.changes.load(Relaxed)
    }

    /// Records that a holder of the lock has changed something, or is about to.
    #[inline]
    pub(super) fn change(&self) {
        self.changes.store(self.changes().wrapping_add(1), Relaxed);
    }

    /// Logs an access of a side that hits without the lock, by the core's last finder: to a line in a page, or, without `line`, to the most
    /// recently used line of its set. A page is given by any address in it, always the same one. Returns whether there was room.
    #[inline]
    pub(super) fn log(&self, side: usize, page: u64, line: Option<u64>) -> bool {
        self.logs.get(side).is_some_and(|log| match line {
            Some(line) => log.push(page, line),
            None => log.push_page(page),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Returns the items used, in the order of their last use.
    fn in_order(uses: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut order = Vec::new();
        for used in uses {
            order.retain(|other| *other != used);
            order.push(used);
        }
        order
    }

    #[test]
    fn what_is_logged_leaves_pages_and_lines_in_the_order_of_their_last_use() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for pages in [2, 3, 7, 12] {
            for _ in 0..200 {
                let (log, mut made, mut marked) = (Log::empty(), Vec::new(), Vec::new());
                for _ in 0..draw(60) {
                    let page = 0x1000 * draw(pages);
                    let line = (draw(2) == 0).then(|| page / 64 + draw(3));
                    if line.map_or_else(|| log.push_page(page), |line| log.push(page, line)) {
                        made.push((page, line));
                    }
                }
                log.drain(|page, line| marked.push((page, line)));
                assert_eq!(in_order(marked.iter().filter_map(|(page, _)| *page)), in_order(made.iter().map(|(page, _)| *page)));
                assert_eq!(in_order(marked.iter().filter_map(|(_, line)| *line)), in_order(made.iter().filter_map(|(_, line)| *line)));
                log.drain(|_, _| unreachable!("it is empty"));
            }
        }
    }
}
