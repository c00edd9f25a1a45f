//! What the threads of a package share.

use vm_pmu_arch::feed::Feed;
use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::model::{Shared, SharedState};

/// What a package has once, as of the last change.
#[derive(Debug)]
pub(super) struct Common {
    state: Mutex<State>,
    threads: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    register: u64,
    running: u32,
    user: u32,
}

impl State {
    /// Sets the bits of the thread itself.
    fn set_own(&mut self, shared: Shared) {
        let own = bit(shared.thread);
        let marked = |bits: u32, mark: bool| if mark { bits | own } else { bits & !own };
        (self.running, self.user) = (marked(self.running, runs(shared)), marked(self.user, is_user(shared)));
    }
}

/// The bit of thread `number` among those that run; none beyond 32 threads.
fn bit(number: u8) -> u32 {
    1u32.checked_shl(u32::from(number)).unwrap_or(0)
}

/// Whether the thread itself runs.
fn runs(shared: Shared) -> bool {
    shared.running & bit(shared.thread) != 0
}

/// Whether the thread itself has its bit among [`Shared::user`]: on x86 a privilege level above 0, on Montecito a constraint.
fn is_user(shared: Shared) -> bool {
    shared.user & bit(shared.thread) != 0
}

impl Common {
    /// What `threads` threads share; only the first 255 of them know of each other.
    pub(super) fn new(threads: usize) -> Common {
        Common { state: Mutex::default(), threads: u8::try_from(threads).unwrap_or(u8::MAX) }
    }

    /// Takes over what the threads know, in the order of their numbers; the register of the first holds for all.
    pub(super) fn gather(&self, known: impl Iterator<Item = Shared>) {
        let mut state = State::default();
        for (number, shared) in (0u8..=u8::MAX).zip(known) {
            if number == 0 {
                state.register = shared.register;
            }
            if runs(shared) {
                state.running |= bit(number);
            }
            if is_user(shared) {
                state.user |= bit(number);
            }
        }
        *self.state.lock() = state;
    }

    /// A thread changed `before` to `after`. Returns whether the other threads must be notified. Called before the thread's PMU is
    /// unlocked, so that changes arrive in the order in which they were made.
    pub(super) fn note(&self, before: Shared, after: Shared) -> bool {
        if before == after {
            return false;
        }
        let mut state = self.state.lock();
        if before.register != after.register {
            state.register = after.register;
        }
        state.set_own(after);
        true
    }

    /// Replaces what was noted of a thread: it may have changed while no thread followed it. Called with the thread's PMU locked, as
    /// [`note`](Common::note) is.
    pub(super) fn note_own(&self, shared: Shared) {
        self.state.lock().set_own(shared);
    }

    /// Updates `model`, which is thread `number` of the package, if what it knows of the others is out of date.
    pub(super) fn update(&self, number: usize, model: &mut impl SharedState, feed: &impl Feed) {
        let State { register, running, user } = *self.state.lock();
        let shared = Shared { register, running, user, thread: u8::try_from(number).unwrap_or(u8::MAX), threads: self.threads };
        if model.shared() != shared {
            model.set_shared(shared, feed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Shared = Shared { register: 0, thread: 0, threads: 4, running: 0b0001, user: 0 };

    fn now(common: &Common) -> (u64, u32) {
        let state = common.state.lock();
        (state.register, state.running)
    }

    #[test]
    fn an_unchanged_state_notifies_no_thread() {
        let common = Common::new(4);
        assert!(!common.note(FIRST, FIRST));
    }

    #[test]
    fn what_a_thread_forgets_of_the_others_does_not_change_it() {
        let common = Common::new(4);
        let known = Shared { running: 0b1111, ..FIRST };
        common.gather((0..4).map(|thread| Shared { thread, ..known }));
        // It must be notified again.
        assert!(common.note(known, FIRST));
        assert_eq!(now(&common), (0, 0b1111));
    }

    #[test]
    fn a_register_that_one_thread_wrote_holds_for_all() {
        let common = Common::new(4);
        assert!(common.note(FIRST, Shared { register: 5, ..FIRST }));
        let third = Shared { thread: 2, running: 0, ..FIRST };
        assert!(common.note(third, Shared { register: 9, ..third }));
        assert_eq!(now(&common).0, 9);
    }

    #[test]
    fn each_thread_reports_its_own_run_latch_only() {
        let common = Common::new(4);
        common.gather([FIRST, Shared { thread: 1, running: 0b10, ..FIRST }].into_iter());
        assert_eq!(now(&common), (0, 0b11));
        // Thread 1 stops. It does not know of thread 0, whose bit stays.
        let second = Shared { thread: 1, running: 0b10, ..FIRST };
        assert!(common.note(second, Shared { running: 0, ..second }));
        assert_eq!(now(&common), (0, 0b01));
    }

    #[test]
    fn gathering_goes_by_the_place_of_a_thread_not_by_what_it_took_itself_for() {
        // New models do not know their number yet: each takes itself for thread 0.
        let common = Common::new(2);
        common.gather([Shared::ALONE, Shared { running: 1, ..Shared::ALONE }].into_iter());
        assert_eq!(now(&common), (0, 0b10));
    }
}
