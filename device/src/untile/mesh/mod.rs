//! The mesh that joins the boxes: stops at their places on the die, messages between them, and what each stop counts of a message
//! (chapter 6 of the manual).
//!
//! A message goes vertically first, then horizontally (Sodani and others, Knights Landing, Hot Chips 2015). It waits for credits, in the
//! queue of its agent and for free slots of the rings. How long is exact arithmetic on the times at which links, queues and credits are
//! free next; the numbers of credits and entries are chosen. All counts of a message are made when it sets out.

mod devices;
mod fabric;
mod message;
mod plan;
mod run;
mod times;

pub use devices::DeviceAccess;
pub(super) use devices::{Class, SNOOP_ANSWERS, SNOOPS, WRITE_CACHE, count, from_tile};
pub(super) use fabric::{AHEAD, Mesh, STARVED};
pub use message::{Agent, Message, Ring};
pub(super) use message::{Controllers, Home, steps, tile};
pub use plan::Stop;

#[cfg(test)]
mod tests;
