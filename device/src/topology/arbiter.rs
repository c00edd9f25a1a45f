//! Which thread holds a counter that several threads of a package could use.

use crate::lock::Mutex;
use alloc::boxed::Box;
use alloc::vec;

/// The most counters of one thread.
const COUNTERS: usize = 32;

/// Counters shared by the threads of a package: the first to claim one holds it until it releases it. Then the claimant with the lowest
/// number gets it.
#[derive(Debug)]
pub(super) struct Arbiter {
    claims: Mutex<Claims>,
}

#[derive(Debug)]
struct Claims {
    /// For each counter, the thread that holds it.
    holders: [Option<u16>; COUNTERS],
    /// For each thread, the counters that it claims, one bit each.
    wanted: Box<[u32]>,
}

impl Claims {
    /// A thread that no longer claims a counter loses it; a counter without a holder goes to the claimant with the lowest number.
    fn settle(&mut self) {
        let wanted = &self.wanted;
        for (counter, holder) in self.holders.iter_mut().enumerate() {
            let wants = |thread: usize| wanted.get(thread).is_some_and(|claims| claims >> counter & 1 == 1);
            if holder.is_none_or(|holder| !wants(usize::from(holder))) {
                *holder = (0..wanted.len()).find(|thread| wants(*thread)).and_then(|thread| u16::try_from(thread).ok());
            }
        }
    }
}

/// What one thread may use, one bit per counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grants {
    pub(super) granted: u32,
    pub(super) blocked: u32,
}

impl Arbiter {
    pub(super) fn new(threads: usize) -> Arbiter {
        Arbiter { claims: Mutex::new(Claims { holders: [None; COUNTERS], wanted: vec![0; threads].into_boxed_slice() }) }
    }

    /// How many bytes it has allocated.
    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.claims.lock().wanted)
    }

    /// Thread `thread` now claims the counters in `claims`, and no others. Returns whether the grants of any thread changed.
    pub(super) fn claim(&self, thread: usize, claims: u32) -> bool {
        let mut state = self.claims.lock();
        let Some(wanted) = state.wanted.get_mut(thread) else { return false };
        if *wanted == claims {
            return false;
        }
        *wanted = claims;
        let before = state.holders;
        state.settle();
        before != state.holders
    }

    /// Forgets every claim, before each thread's is put back.
    pub(super) fn clear(&self) {
        let mut state = self.claims.lock();
        state.holders = [None; COUNTERS];
        state.wanted.fill(0);
    }

    /// Puts back which counters thread `thread` claims and which of them it was granted, one bit per counter.
    pub(super) fn put_back(&self, thread: usize, claimed: u32, granted: u32) {
        let mut state = self.claims.lock();
        let Some(wanted) = state.wanted.get_mut(thread) else { return };
        *wanted = claimed;
        for (counter, holder) in state.holders.iter_mut().enumerate() {
            if claimed & granted & 1 << counter != 0 && holder.is_none() {
                *holder = u16::try_from(thread).ok();
            }
        }
    }

    /// Grants the counters that are claimed and have no holder, after each thread's claims have been put back.
    pub(super) fn settle(&self) {
        self.claims.lock().settle();
    }

    /// The counters that thread `thread` holds, and those that others hold.
    pub(super) fn grants(&self, thread: usize) -> Grants {
        let state = self.claims.lock();
        let mut grants = Grants { granted: 0, blocked: 0 };
        for (counter, holder) in state.holders.iter().enumerate() {
            match holder {
                Some(holder) if usize::from(*holder) == thread => grants.granted |= 1 << counter,
                Some(_) => grants.blocked |= 1 << counter,
                None => {}
            }
        }
        grants
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_claimant_holds_a_counter_until_it_releases_it() {
        let arbiter = Arbiter::new(2);
        assert!(arbiter.claim(1, 0b01));
        assert!(!arbiter.claim(0, 0b01), "a later claim changes nothing");
        assert_eq!(arbiter.grants(1), Grants { granted: 0b01, blocked: 0 });
        assert_eq!(arbiter.grants(0), Grants { granted: 0, blocked: 0b01 });
        assert!(arbiter.claim(1, 0));
        assert_eq!(arbiter.grants(0), Grants { granted: 0b01, blocked: 0 });
        assert_eq!(arbiter.grants(1), Grants { granted: 0, blocked: 0b01 });
    }
}
