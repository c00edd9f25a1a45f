//! Requests that are passed on to one target per thread, which may fail to take them.

use alloc::boxed::Box;
use core::fmt::Debug;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

use vm_pmu_arch::atomic::AtomicU64;

use super::noise::Kind;

/// The target of one thread's requests.
#[derive(Debug)]
struct Taker<T> {
    target: T,
    /// Whether the interrupt line was last reported as raised.
    level: AtomicBool,
    failures: AtomicU64,
}

/// The targets of all threads' requests.
#[derive(Debug)]
pub(super) struct Requests<T> {
    takers: Box<[Taker<T>]>,
    failing: Kind,
}

impl<T> Requests<T> {
    pub(super) fn new(targets: impl IntoIterator<Item = T>) -> Requests<T> {
        let taker = |target| Taker { target, level: AtomicBool::new(false), failures: AtomicU64::new(0) };
        Requests { takers: targets.into_iter().map(taker).collect(), failing: Kind::default() }
    }

    pub(super) fn target(&self, thread: usize) -> Option<&T> {
        self.takers.get(thread).map(|taker| &taker.target)
    }

    /// How many requests the thread's target refused.
    pub(super) fn failures(&self, thread: usize) -> u64 {
        self.takers.get(thread).map_or(0, |taker| taker.failures.load(Relaxed))
    }

    /// How many threads have a target.
    pub(super) fn threads(&self) -> usize {
        self.takers.len()
    }

    /// Passes one request on. Returns whether it was taken.
    pub(super) fn advance<E: Debug>(&self, thread: usize, send: impl FnOnce(&T) -> Result<(), E>) -> bool {
        let Some(taker) = self.takers.get(thread) else { return false };
        match send(&taker.target) {
            Ok(()) => true,
            Err(error) => {
                if let Some(left_out) = self.failing.another() {
                    log::warn!("thread {thread} asks for an interrupt, but what should take it failed: {error:?}{left_out}");
                }
                taker.failures.fetch_add(1, Relaxed);
                false
            }
        }
    }

    /// The interrupt line of the thread has this level: passes a request on if it rises. If the request is not taken, the line counts as
    /// not risen, so that the next report of the same level tries again.
    pub(super) fn level<E: Debug>(&self, thread: usize, level: bool, send: impl FnOnce(&T) -> Result<(), E>) {
        let taker = self.takers.get(thread);
        let was = taker.is_some_and(|taker| taker.level.swap(level, AcqRel));
        if level
            && !was
            && !self.advance(thread, send)
            && let Some(taker) = taker
        {
            taker.level.store(false, Relaxed);
        }
    }
}
