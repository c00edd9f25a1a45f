//! A PMU of the same part beside the guest's own: it counts what the same thread does, and the guest knows nothing of it.
//!
//! It is a second machine of PMUs whose threads are attached to the same steps by the same glue, with a companion of its own where the
//! guest's has one. Nothing of it returns to the engine, so the guest and its own PMU see no difference. The host programs it by register
//! writes, as [`Group`] has them.

mod bank;
mod frames;
mod host;
mod plan;

pub(crate) use bank::Bank;
pub(crate) use frames::{MOST_CALLERS, callers};
pub(crate) use host::as_host;
pub use plan::{Counter, Found, Group, Plan, Sample};

/// The glue of a thread of that PMU, and its counters.
#[derive(Debug)]
pub(crate) struct Beside<'a, C> {
    pub(crate) cpu: C,
    pub(crate) bank: Bank<'a>,
}
