//! A cluster behind its lock, and the work of its threads without the lock.

use alloc::boxed::Box;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use vm_pmu_arch::atomic::AtomicU64;

use vm_pmu_arch::lock::{Mutex, MutexGuard};

use super::cluster::Cluster;
use super::found::{Finder, Found};
use super::translation::{CODE, DATA};

/// Maximum number of accesses that wait in a log.
const LOGGED: usize = 32;
/// Number of neighbouring accesses among which another use of a page is looked for, and another use of a line.
const RECENT: usize = 8;
const RECENT_LINES: usize = 2;
/// A value in place of a line: the access only uses the translation of its page.
const NO_LINE: u64 = u64::MAX;

/// Accesses of one follower that hit the first level without the lock, in order. The next thread that takes the lock marks what they used.
#[derive(Debug)]
struct Log {
    count: AtomicUsize,
    /// An address in the page of each access, always the same one for a page, and the number of its line.
    accesses: [[AtomicU64; 2]; LOGGED],
}

impl Log {
    fn empty() -> Log {
        Log { count: AtomicUsize::new(0), accesses: core::array::from_fn(|_| [const { AtomicU64::new(0) }; 2]) }
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
    fn drain(&self, mut mark: impl FnMut(Option<u64>, Option<u64>)) {
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
pub(super) struct Local {
    changes: AtomicUsize,
    /// The accesses that wait, of code and of data.
    logs: [Log; 2],
}

impl Local {
    fn new() -> Local {
        Local { changes: AtomicUsize::new(0), logs: [Log::empty(), Log::empty()] }
    }

    /// Returns how often something may have changed in the core's caches, apart from changes that its finder was told of.
    #[inline]
    pub(super) fn changes(&self) -> usize {
        self.changes.load(Relaxed)
    }

    /// Records that a holder of the lock has changed something, or is about to.
    #[inline]
    fn change(&self) {
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

/// A cluster behind its lock.
///
/// A thread that repeats a [hit](Found) changes nothing but the order of use. So it needs no lock as long as nobody else has changed
/// anything of its core. `changes` tells: whoever may change anything of a core, except by the core's own accesses, increments it under the
/// lock. The follower [forgets](ClusterLock::settle) line by line what its own accesses change. Uses of anything but the most recently used
/// of a set or buffer wait in one of the core's logs.
#[derive(Debug)]
pub(super) struct ClusterLock {
    cluster: Mutex<Cluster>,
    /// One per core.
    locals: Box<[Local]>,
}

impl ClusterLock {
    pub(super) fn new(cluster: Cluster) -> ClusterLock {
        let locals = cluster.cores.iter().map(|_| Local::new()).collect();
        ClusterLock { cluster: Mutex::new(cluster), locals }
    }

    pub(super) fn nothing_found(&self) -> Found {
        Found::nothing(&self.take())
    }

    pub(super) fn local(&self, core: usize) -> Option<&Local> {
        self.locals.get(core)
    }

    /// Takes the lock, in order to change anything.
    pub(super) fn lock(&self) -> MutexGuard<'_, Cluster> {
        let cluster = self.take();
        self.change();
        cluster
    }

    /// Takes the lock for a follower of a core: to look up hits and mark them as used, or to change something by an access of its own,
    /// which it [settles](ClusterLock::settle) before it releases the lock.
    #[inline]
    pub(super) fn lock_for(&self, core: usize, finder: Finder) -> MutexGuard<'_, Cluster> {
        let mut cluster = self.take();
        if let Some((caches, local)) = cluster.cores.get_mut(core).zip(self.locals.get(core))
            && caches.finder != finder
        {
            caches.finder = finder;
            local.change();
        }
        cluster
    }

    /// Takes the lock, and marks what was used without it.
    #[inline]
    fn take(&self) -> MutexGuard<'_, Cluster> {
        let mut cluster = self.cluster.lock();
        for (caches, local) in cluster.cores.iter_mut().zip(&self.locals) {
            for (side, log) in local.logs.iter().enumerate() {
                if log.count.load(Relaxed) != 0 {
                    log.drain(|page, line| caches.mark(side, page, line));
                }
            }
        }
        cluster
    }

    /// Makes the follower of a core, which holds the lock, forget the hits that its access has changed. If the access changed lines of
    /// another core, that core's change count is incremented.
    pub(super) fn settle(&self, cluster: &mut Cluster, core: usize, found: &mut Found) {
        // Stores that are written through depend on the order of use of the second level.
        let through = cluster.stores_through();
        for (number, local) in self.locals.iter().enumerate() {
            let Some(caches) = cluster.cores.get_mut(number) else { continue };
            let known = [CODE, DATA].into_iter().fold(true, |known, side| {
                let (lines, translations) = caches.take_changed(side);
                known & if number == core { found.forget(side, &lines, translations) } else { lines.keys() == Some(&[]) && !translations }
            });
            if !known || through && number != core {
                local.change();
            }
        }
    }

    /// Records that a holder of the lock has changed something of any core, or is about to.
    #[inline]
    pub(super) fn change(&self) {
        self.locals.iter().for_each(Local::change);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::parts;
    use crate::profile::Replacement;

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

    /// Returns how often anything may have changed on the two cores of a Knights Landing cluster, after a follower of the first has taken
    /// this many lines from one of them.
    fn changes_after(lines: u64, taken_from: usize) -> [usize; 2] {
        let lock = ClusterLock::new(Cluster::new(&parts::KNL, 1));
        let (finder, mut found) = (Finder { number: 1, thread: 0 }, lock.nothing_found());
        drop(lock.lock_for(0, finder));
        let changes = || [0, 1].map(|core| lock.local(core).unwrap().changes());
        let before = changes();
        let mut cluster = lock.lock_for(0, finder);
        (0..lines).for_each(|line| {
            cluster.cores[taken_from].data.remove(line, line);
        });
        lock.settle(&mut cluster, 0, &mut found);
        core::array::from_fn(|core| changes()[core] - before[core])
    }

    #[test]
    fn what_has_been_found_stays_known_but_for_the_lines_that_an_access_of_its_own_changes() {
        assert_eq!(changes_after(1, 0), [0, 0]);
        assert_eq!(changes_after(4, 0), [0, 0]);
    }

    #[test]
    fn more_changes_than_are_told_apart_leave_nothing_known() {
        assert_eq!(changes_after(5, 0), [1, 0]);
    }

    #[test]
    fn a_change_of_another_core_leaves_nothing_known_to_that() {
        assert_eq!(changes_after(1, 1), [0, 1]);
    }

    #[test]
    fn the_first_level_of_every_part_keeps_the_order_of_last_use() {
        for part in parts::ALL {
            for geometry in [part.caches.instruction, part.caches.data] {
                assert!(matches!(geometry.replacement, Replacement::LeastRecentlyUsed | Replacement::Tree), "{}", part.name);
            }
        }
    }
}
