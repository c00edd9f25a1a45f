//! Which handles live. A caller that destroys one twice, or as something that it is not, is refused: the address is looked up, and what is
//! there is not touched.

use std::collections::BTreeMap;

use crate::lock::{Mutex, MutexGuard};
use crate::pointer::writable;
use crate::status::{Failure, argument};

/// What callers hold by an opaque pointer.
pub(crate) trait Handle: Sized {
    /// What messages call it, after an article.
    const KIND: &'static str;

    /// Refuses to be destroyed while a call uses it, as far as it knows.
    fn may_go(&self) -> Result<(), Failure> {
        Ok(())
    }
}

/// The kinds of those that live, by address.
static LIVING: Mutex<BTreeMap<usize, &'static str>> = Mutex::new(BTreeMap::new());

fn living() -> MutexGuard<'static, BTreeMap<usize, &'static str>> {
    LIVING.lock()
}

/// Hands out `made`, for the caller to destroy.
pub(crate) fn hand_out<T: Handle>(made: T) -> *mut T {
    let pointer = Box::into_raw(Box::new(made));
    living().insert(pointer.addr(), T::KIND);
    pointer
}

/// Destroys what was handed out; null does nothing. Of several calls at once with the same handle, one destroys it.
pub(crate) fn destroy<T: Handle>(pointer: *mut T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Ok(());
    }
    writable(pointer, T::KIND)?;
    let handle = {
        let mut living = living();
        match living.get(&pointer.addr()) {
            Some(kind) if *kind == T::KIND => {}
            Some(kind) => return Err(argument(format!("the handle is of {kind}: {} is needed", T::KIND))),
            None => return Err(argument(format!("the handle is of nothing that lives: {} that was not destroyed is needed", T::KIND))),
        }
        // SAFETY: a handle of this kind was handed out for this address and not taken back, so a `T` is there.
        unsafe { &*pointer }.may_go()?;
        living.remove(&pointer.addr());
        // SAFETY: it was made from a box, and no other call takes it back: it no longer lives.
        unsafe { Box::from_raw(pointer) }
    };
    drop(handle);
    Ok(())
}
