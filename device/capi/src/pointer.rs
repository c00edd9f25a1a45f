//! Arguments of a caller in C: checked, and converted to Rust.
//!
//! A pointer that is neither null nor misaligned is assumed to point to what the caller promises; no check can find out more.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use crate::status::{Failure, argument};

/// A struct of the interface that later versions may make longer.
///
/// # Safety
/// It is `repr(C)`, begins with `size: usize`, and every pattern of bits is a value of every field.
pub(crate) unsafe trait Growing: Copy {
    /// Its name.
    const NAME: &'static str;
    /// The length of its first version in bytes.
    const FIRST: usize;

    /// The struct at `pointer`.
    ///
    /// # Safety
    /// A struct is there, aligned.
    #[inline(always)]
    unsafe fn read(pointer: *const Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { pointer.read() }
    }
}

/// Far longer than any struct of this interface.
const LONGEST: usize = 4096;

#[inline(always)]
fn check<T>(pointer: *const T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(refused(pointer.cast(), align_of::<T>(), what));
    }
    Ok(())
}

/// The error for a null or misaligned pointer; out of line, as it is rare.
#[cold]
fn refused(pointer: *const u8, align: usize, what: &str) -> Failure {
    if pointer.is_null() {
        argument(format!("{what} is null: a pointer to it is needed"))
    } else {
        argument(format!("{what} is at {pointer:p}: a multiple of {align} is needed"))
    }
}

/// What is at `pointer`.
///
/// # Safety
/// If it is not null, a `T` is there that does not change for as long as `'a`.
#[inline(always)]
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    check(pointer, what)?;
    // SAFETY: neither null nor misaligned, and the rest is the caller's promise.
    Ok(unsafe { &*pointer })
}

/// Checks that something can be written to `pointer`, before work whose result could not be returned.
#[inline(always)]
pub(crate) fn writable<T>(pointer: *mut T, what: &str) -> Result<(), Failure> {
    check(pointer.cast_const(), what)
}

/// Writes `value` to `pointer`.
///
/// # Safety
/// If it is not null, a `T` may be written there.
#[inline(always)]
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Failure> {
    writable(pointer, what)?;
    // SAFETY: neither null nor misaligned, and the rest is the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Checks that an optional result can be written to `pointer`, or is not wanted (null), before work that cannot be undone.
pub(crate) fn offerable<T>(pointer: *mut T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() { Ok(()) } else { writable(pointer, what) }
}

/// Writes `value` to `pointer`, if it is not null: for optional results.
///
/// # Safety
/// As for [`put`].
pub(crate) unsafe fn offer<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the same promise.
    unsafe { put(pointer, value, what) }
}

/// `count` of them, one after the other; `pointer` may be null if there are none.
///
/// # Safety
/// If it is not null, `count` of `T` are there that do not change for as long as `'a`.
pub(crate) unsafe fn list<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer, what)?;
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(argument(format!("{what} has {count} elements: no memory has so many")));
    }
    // SAFETY: neither null nor misaligned, no longer than a slice may be, and the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// A text that ends with a zero byte.
///
/// # Safety
/// If it is not null, such a text is there that does not change for as long as `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    check(pointer, what)?;
    // SAFETY: not null, and the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| argument(format!("{what} is no UTF-8 text: names are ASCII")))
}

/// The length of the caller's struct.
///
/// # Safety
/// If it is not null, a struct is there whose first field says how long it is.
#[inline(always)]
unsafe fn length<T: Growing>(pointer: *const T) -> Result<usize, Failure> {
    check(pointer, T::NAME)?;
    // SAFETY: neither null nor misaligned, and the struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    if (T::FIRST..=LONGEST).contains(&size) { Ok(size) } else { Err(no_size(T::NAME, size, size_of::<T>())) }
}

#[cold]
fn no_size(name: &str, size: usize, right: usize) -> Failure {
    argument(format!("the size of {name} is {size}: it must be set to sizeof({name}), here {right}"))
}

/// Checks that the caller's struct can be filled, or is not wanted (null), before work whose result could not be returned.
///
/// # Safety
/// If it is not null, a struct is there whose first field says how long it is.
pub(crate) unsafe fn fillable<T: Growing>(pointer: *mut T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the same promise.
    unsafe { length(pointer.cast_const()) }.map(|_| ())
}

/// The caller's struct; fields that an older one does not have are zero.
///
/// # Safety
/// If it is not null, a struct is there whose first field says how long it is.
#[inline(always)]
pub(crate) unsafe fn take<T: Growing>(pointer: *const T) -> Result<T, Failure> {
    // SAFETY: the same promise.
    let size = unsafe { length(pointer) }?;
    if size == size_of::<T>() {
        // SAFETY: as many bytes are there, aligned.
        return Ok(unsafe { T::read(pointer) });
    }
    // SAFETY: the same promise.
    unsafe { take_other(pointer, size) }
}

/// The struct of an older or a later caller, `size` bytes long.
///
/// # Safety
/// `size` bytes are there.
#[cold]
unsafe fn take_other<T: Growing>(pointer: *const T, size: usize) -> Result<T, Failure> {
    let known = size.min(size_of::<T>());
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are there, and as many in `value`.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), known) };
    // SAFETY: `size` bytes are there, more than `known` or as many.
    let beyond = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if beyond.iter().any(|byte| *byte != 0) {
        let right = size_of::<T>();
        return Err(argument(format!(
            "{} has something set behind its first {right} bytes, which are all that this library knows",
            T::NAME
        )));
    }
    // SAFETY: all of it is zero or copied, and every pattern of bits is a value: the promise of the trait.
    Ok(unsafe { value.assume_init() })
}

/// Fills the caller's struct up to its length; fields that this library does not know become zero. Its size stays.
///
/// # Safety
/// If it is not null, a struct is there that may be written, and whose first field says how long it is.
pub(crate) unsafe fn fill<T: Growing>(pointer: *mut T, value: T) -> Result<(), Failure> {
    // SAFETY: the same promise.
    let size = unsafe { length(pointer.cast_const()) }?;
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes may be written there, of which `known` are no more than `value` has.
    unsafe {
        let bytes = pointer.cast::<u8>();
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes, known);
        bytes.add(known).write_bytes(0, size - known);
        pointer.cast::<usize>().write(size);
    }
    Ok(())
}
