//! The lock of what callers of the C interface share.
//!
//! With the feature `std` it is the standard library's, under which a thread that waits sleeps; a panic does not poison it. Without it, it
//! spins, and consists of nothing but atomic accesses that a tool such as ThreadSanitizer can follow.

#[cfg(feature = "std")]
use std::sync::{Mutex as Inner, MutexGuard as InnerGuard, PoisonError};

#[cfg(not(feature = "std"))]
use spin::mutex::{SpinMutex as Inner, SpinMutexGuard as InnerGuard};

/// The right to use what a [`Mutex`] guards, until it is dropped.
pub(crate) type MutexGuard<'a, T> = InnerGuard<'a, T>;

/// What one thread at a time may use.
#[derive(Default)]
pub(crate) struct Mutex<T>(Inner<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(Inner::new(value))
    }
}

#[cfg(feature = "std")]
impl<T> Mutex<T> {
    /// Waits until no other thread has the lock, and takes it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if no call has it.
    #[cfg(feature = "companion")]
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(not(feature = "std"))]
impl<T> Mutex<T> {
    /// Waits until no other thread has the lock, and takes it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }

    /// Takes the lock if no call has it.
    #[cfg(feature = "companion")]
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }
}
