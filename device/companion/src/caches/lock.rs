//! A cluster behind its lock, and the work of its threads without the lock.

use alloc::boxed::Box;
use vm_pmu_arch::lock::{Mutex, MutexGuard};

use crate::caches::Cluster;
use crate::caches::hit_log::Local;
use crate::caches::remembered_hits::{Finder, RememberedHits};
use crate::translation::{CODE, DATA};

/// A cluster behind its lock.
///
/// A thread that repeats a [hit](RememberedHits) changes nothing but the order of use. So it needs no lock as long as nobody else has changed
/// anything of its core. `changes` tells: whoever may change anything of a core, except by the core's own accesses, increments it under the
/// lock. The follower [forgets](ClusterLock::settle) line by line what its own accesses change. Uses of anything but the most recently used
/// of a set or buffer wait in one of the core's logs.
#[derive(Debug)]
pub(crate) struct ClusterLock {
    cluster: Mutex<Cluster>,
    /// One per core.
    locals: Box<[Local]>,
}

impl ClusterLock {
    pub(crate) fn new(cluster: Cluster) -> ClusterLock {
        let locals = cluster.cores.iter().map(|_| Local::new()).collect();
        ClusterLock { cluster: Mutex::new(cluster), locals }
    }

    pub(crate) fn nothing_found(&self) -> RememberedHits {
        RememberedHits::nothing(&self.take())
    }

    pub(crate) fn local(&self, core: usize) -> Option<&Local> {
        self.locals.get(core)
    }

    /// Takes the lock, in order to change anything.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Cluster> {
        let cluster = self.take();
        self.change();
        cluster
    }

    /// Takes the lock for a follower of a core: to look up hits and mark them as used, or to change something by an access of its own,
    /// which it [settles](ClusterLock::settle) before it releases the lock.
    #[inline]
    pub(crate) fn lock_for(&self, core: usize, finder: Finder) -> MutexGuard<'_, Cluster> {
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
                if !log.is_empty() {
                    log.drain(|page, line| caches.mark(side, page, line));
                }
            }
        }
        cluster
    }

    /// Makes the follower of a core, which holds the lock, forget the hits that its access has changed. If the access changed lines of
    /// another core, that core's change count is incremented.
    pub(crate) fn settle(&self, cluster: &mut Cluster, core: usize, found: &mut RememberedHits) {
        // Stores that are written through depend on the order of use of the second level.
        let through = cluster.stores_through();
        for (number, local) in self.locals.iter().enumerate() {
            let Some(caches) = cluster.cores.get_mut(number) else { continue };
            let known = [CODE, DATA].into_iter().fold(true, |known, side| {
                let (lines, translations) = caches.take_changed(side);
                known
                    & if number == core {
                        found.forget(side, &lines, translations)
                    } else {
                        lines.keys() == Some(&[]) && translations.is_none()
                    }
            });
            if !known || through && number != core {
                local.change();
            }
        }
    }

    /// Records that a holder of the lock has changed something of any core, or is about to.
    #[inline]
    pub(crate) fn change(&self) {
        self.locals.iter().for_each(Local::change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts;
    use crate::profile::Replacement;

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
