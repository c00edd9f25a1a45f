//! A cluster behind its lock, and what its threads do there without it.

use alloc::boxed::Box;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use vm_pmu_arch::atomic::AtomicU64;

use crate::lock::{Mutex, MutexGuard};

use super::cluster::Cluster;
use super::found::{Finder, Found};

/// How many accesses wait in a log at most.
const LOGGED: usize = 32;
/// Among how many of the last ones a page is looked for.
const RECENT: usize = 8;
/// In place of a line: the access only uses the translation of its page.
const NO_LINE: u64 = u64::MAX;

/// Accesses of one follower that hit the first level and that were made without the lock, in order. Whoever takes the lock next marks what they
/// used.
#[derive(Debug)]
struct Log {
    count: AtomicUsize,
    /// An address in the page of each, always the same of a page, and the number of its line.
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

    /// Adds a use of the translation of a page. If it is among the last, it leaves its place there, and those behind it move up: translations are
    /// kept in the order of their last use, whatever lines are used meanwhile.
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

    /// Removes all accesses, which `mark` marks.
    fn drain(&self, mut mark: impl FnMut(u64, Option<u64>)) {
        let count = self.count.load(Acquire);
        for place in self.accesses.iter().take(count) {
            let line = place[1].load(Relaxed);
            mark(place[0].load(Relaxed), (line != NO_LINE).then_some(line));
        }
        self.count.store(0, Relaxed);
    }
}

/// A cluster behind its lock.
///
/// A thread that hits what it has [found](Found) before changes nothing but the order of use. So it needs no lock while nobody else has done
/// anything here, which `changes` tells: whoever may change anything but by hits of its own adds one, under the lock. What is no longer last
/// in its set or in its buffer waits in the core's log.
#[derive(Debug)]
pub(super) struct ClusterLock {
    cluster: Mutex<Cluster>,
    changes: AtomicUsize,
    /// One of each core.
    logs: Box<[Log]>,
}

impl ClusterLock {
    pub(super) fn new(cluster: Cluster) -> ClusterLock {
        let logs = cluster.cores.iter().map(|_| Log::empty()).collect();
        ClusterLock { cluster: Mutex::new(cluster), changes: AtomicUsize::new(0), logs }
    }

    /// What a thread has found that has found nothing.
    pub(super) fn nothing_found(&self) -> Found {
        Found::nothing(&self.take())
    }

    /// Takes the lock, to change anything.
    pub(super) fn lock(&self) -> MutexGuard<'_, Cluster> {
        let cluster = self.take();
        self.change();
        cluster
    }

    /// Takes the lock for a follower of a core, to find what hits and mark it as used.
    #[inline]
    pub(super) fn lock_to_find(&self, core: usize, finder: Finder) -> MutexGuard<'_, Cluster> {
        let mut cluster = self.take();
        if let Some(caches) = cluster.cores.get_mut(core)
            && caches.finder != finder
        {
            caches.finder = finder;
            self.change();
        }
        cluster
    }

    /// Takes the lock, and marks what was used without it.
    #[inline]
    fn take(&self) -> MutexGuard<'_, Cluster> {
        let mut cluster = self.cluster.lock();
        for (caches, log) in cluster.cores.iter_mut().zip(&self.logs) {
            if log.count.load(Relaxed) != 0 {
                log.drain(|address, line| caches.mark_data(address, line));
            }
        }
        cluster
    }

    /// A holder of the lock has changed something, or is about to.
    #[inline]
    pub(super) fn change(&self) {
        self.changes.store(self.changes().wrapping_add(1), Relaxed);
    }

    /// How often anything may have changed.
    #[inline]
    pub(super) fn changes(&self) -> usize {
        self.changes.load(Relaxed)
    }

    /// The follower of a core that last found what hits makes an access of data that hits, without the lock: to a line in a page, or to the last line
    /// of its set. A page is told by any address in it, always the same. Returns whether there was room for it.
    #[inline]
    pub(super) fn log(&self, core: usize, page: u64, line: Option<u64>) -> bool {
        self.logs.get(core).is_some_and(|log| match line {
            Some(line) => log.push(page, line),
            None => log.push_page(page),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// What was used, the last use last.
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
                    let line = (draw(6) == 0).then(|| page / 64 + draw(3));
                    if line.map_or_else(|| log.push_page(page), |line| log.push(page, line)) {
                        made.push((page, line));
                    }
                }
                log.drain(|page, line| marked.push((page, line)));
                assert_eq!(in_order(marked.iter().map(|(page, _)| *page)), in_order(made.iter().map(|(page, _)| *page)));
                assert_eq!(in_order(marked.iter().filter_map(|(_, line)| *line)), in_order(made.iter().filter_map(|(_, line)| *line)));
                log.drain(|_, _| unreachable!("it is empty"));
            }
        }
    }
}
