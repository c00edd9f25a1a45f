//! The lock of what the host's threads share in the crates above: this one has no threads.
//!
//! Without the standard library it spins. A plain spin lock goes to whichever thread comes first when it is released, and a thread that has
//! just released it is nearest. So a thread that has waited for some time is overdue: others wait until it has had its turn. A queue would
//! be fairer still, but stands still while the host does not run the thread whose turn it is.
//!
//! With the feature `std` it is the standard library's lock, under which a thread that waits sleeps. A panic does not poison it: an access
//! does not fail because another thread's has.

use core::fmt;

#[cfg(feature = "std")]
use std::sync::{Mutex as Inner, MutexGuard as InnerGuard, PoisonError};

#[cfg(not(feature = "std"))]
use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};
#[cfg(not(feature = "std"))]
use spin::mutex::{SpinMutex as Inner, SpinMutexGuard as InnerGuard};

/// The right to use what a [`Mutex`] guards, until it is dropped.
pub type MutexGuard<'a, T> = InnerGuard<'a, T>;

/// How often a thread looks before it is overdue: about as long as a few register accesses take.
#[cfg(not(feature = "std"))]
const PATIENCE: u32 = 100;

/// What one thread at a time may use.
#[derive(Default)]
pub struct Mutex<T> {
    inner: Inner<T>,
    /// How many threads are overdue.
    #[cfg(not(feature = "std"))]
    overdue: AtomicU32,
}

impl<T> Mutex<T> {
    /// Guards `value`, which no thread uses yet.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            inner: Inner::new(value),
            #[cfg(not(feature = "std"))]
            overdue: AtomicU32::new(0),
        }
    }
}

#[cfg(feature = "std")]
impl<T> Mutex<T> {
    /// Waits until no other thread has the lock, and takes it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(not(feature = "std"))]
impl<T> Mutex<T> {
    /// Waits until no other thread has the lock, and takes it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.take_in_turn() {
            Some(guard) => guard,
            None => self.wait(),
        }
    }

    /// Takes the lock if it is free and no thread is overdue.
    #[inline]
    fn take_in_turn(&self) -> Option<MutexGuard<'_, T>> {
        if self.overdue.load(Relaxed) == 0 { self.inner.try_lock() } else { None }
    }

    /// Looks at the lock, and tries to take it only when it is free: whoever tries keeps its cell from the one who releases it.
    #[cold]
    fn wait(&self) -> MutexGuard<'_, T> {
        for _ in 0..PATIENCE {
            if !self.inner.is_locked()
                && let Some(guard) = self.take_in_turn()
            {
                return guard;
            }
            spin_loop();
        }
        self.overdue.fetch_add(1, Relaxed);
        let guard = loop {
            if !self.inner.is_locked()
                && let Some(guard) = self.inner.try_lock()
            {
                break guard;
            }
            spin_loop();
        };
        self.overdue.fetch_sub(1, Relaxed);
        guard
    }
}

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}
