//! Common parts of the in-order pipelines of bundles: classification of instructions, groups in flight, readiness of registers, position in
//! the program, and the instruction buffer.

#[cfg(test)]
pub(super) mod bench;
pub(super) mod branches;
pub(super) mod buffer;
pub(super) mod bus;
pub(super) mod code;
pub(super) mod course;
pub(super) mod flight;
pub(super) mod flush;
pub(super) mod group;
mod known;
mod live;
#[cfg(test)]
pub(super) mod programs;
pub(super) mod rows;
pub(super) mod snoops;
pub(super) mod values;
mod waiting;
