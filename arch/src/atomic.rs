//! The atomic cells of 64 bits in which totals, deadlines and the like are kept.
//!
//! On targets that have such cells they are those of `core`. On others they are those of the crate `portable-atomic`, with the feature of
//! that name: an access takes a lock there. Generated code cannot do that, and calls the crate to add to a total.

#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::AtomicU64;

#[cfg(all(not(target_has_atomic = "64"), feature = "portable-atomic"))]
pub use portable_atomic::AtomicU64;

#[cfg(not(any(target_has_atomic = "64", feature = "portable-atomic")))]
compile_error!("this target has no atomic cells of 64 bits: enable the feature `portable-atomic`");
