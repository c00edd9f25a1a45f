//! Whether this host thread runs a function of the embedder under a lock of the library.

use std::cell::Cell;

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

/// Whether such a function runs on this host thread.
#[inline]
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}
