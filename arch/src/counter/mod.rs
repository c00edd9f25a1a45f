//! What every counter of every PMU is made of: a width that wraps, sources to subtract, a gate between them.
//!
//! ```text
//!   Totals ──► Tap: base totals ──► Gate: sum | cycles past a threshold | edges ──► Counter: width, wrap, overflow
//! ```

mod gate;
mod limits;
mod probe;
mod rest;
mod tap;
mod width;

pub use gate::{Detector, Gate, Question, Threshold};
pub use limits::MAX_SOURCES;
pub use probe::Probe;
pub use tap::{Pending, Tap};
pub use width::{Counter, Width};
