//! Common parts of the in-order pipelines of bundles: classification of instructions, groups in flight, readiness of registers, position in
//! the program, and the instruction buffer.

#[cfg(test)]
pub(super) mod bench;
pub(super) mod branches;
pub(super) mod buffer;
pub(super) mod bus;
mod bus_lines;
pub(super) mod bus_timing;
pub(super) mod code;
pub(super) mod flight;
pub(super) mod flush;
pub(super) mod group;
mod low_priority;
pub(super) mod position;
#[cfg(test)]
pub(super) mod programs;
mod queue_levels;
pub(super) mod readiness;
pub(super) mod rows;
pub(super) mod snoops;
