//! Whether this host thread runs a function of the embedder under a lock of the library.

use std::cell::Cell;

use crate::status::{Failure, VmPmuStatus, misuse};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A function that the library calls under a lock runs on this host thread, as long as this lives.
#[cfg(feature = "memory")]
pub(crate) struct Inside(());

#[cfg(feature = "memory")]
impl Inside {
    pub(crate) fn enter() -> Inside {
        INSIDE.set(true);
        Inside(())
    }
}

#[cfg(feature = "memory")]
impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Refuses a call out of such a function: it would wait for the lock forever.
#[inline]
pub(crate) fn refuse() -> Result<(), Failure> {
    if INSIDE.get() { Err(refused()) } else { Ok(()) }
}

#[cold]
fn refused() -> Failure {
    let message = "a function of VmPmuMemory called the library, which holds a lock while it runs: note the call and make it afterwards";
    misuse(VmPmuStatus::ErrorReentered, message)
}
