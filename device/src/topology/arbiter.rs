//! Which thread holds a counter that several threads of a package could use.

use alloc::boxed::Box;
use alloc::vec;
use vm_pmu_arch::lock::Mutex;

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
    /// The claimant of `counter` with the lowest number.
    fn first_claimant(wanted: &[u32], counter: usize) -> Option<u16> {
        wanted.iter().position(|claims| claims >> counter & 1 == 1).and_then(|thread| u16::try_from(thread).ok())
    }

    /// A counter without a holder goes to the claimant with the lowest number.
    fn settle(&mut self) {
        for (counter, holder) in self.holders.iter_mut().enumerate().filter(|(_, holder)| holder.is_none()) {
            *holder = Claims::first_claimant(&self.wanted, counter);
        }
    }

    /// Thread `thread` has claimed or released the counters of `changed` and now claims those of `claims`, one bit each. A counter without a
    /// holder had no claimant before; only one that its holder releases needs a look at the other threads.
    fn pass_on(&mut self, thread: u16, changed: u32, claims: u32) {
        for (counter, holder) in self.holders.iter_mut().enumerate().filter(|(counter, _)| changed >> counter & 1 == 1) {
            if claims >> counter & 1 == 1 {
                holder.get_or_insert(thread);
            } else if *holder == Some(thread) {
                *holder = Claims::first_claimant(&self.wanted, counter);
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
        let (Some(wanted), Ok(number)) = (state.wanted.get_mut(thread), u16::try_from(thread)) else { return false };
        let changed = core::mem::replace(wanted, claims) ^ claims;
        let before = state.holders;
        state.pass_on(number, changed, claims);
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

    #[test]
    fn a_released_counter_goes_to_the_claimant_with_the_lowest_number() {
        let arbiter = Arbiter::new(4);
        assert!(arbiter.claim(2, 0b11));
        assert!(!arbiter.claim(3, 0b01));
        assert!(!arbiter.claim(1, 0b11));
        assert!(arbiter.claim(2, 0b10), "it keeps the other one");
        assert_eq!(arbiter.grants(1), Grants { granted: 0b01, blocked: 0b10 });
        assert_eq!(arbiter.grants(2), Grants { granted: 0b10, blocked: 0b01 });
        assert!(!arbiter.claim(3, 0), "who waits releases nothing");
    }
}
