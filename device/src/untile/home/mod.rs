//! The caching and home agents: their queues, tables of requests, credits and snoop filters, and what they count of a request (chapter 5 of
//! the manual).
//!
//! A request comes into a queue, passes the agent's pipeline, and enters the table of requests if all is free that it needs: another entry
//! has not its line, its set of the snoop filter has a way, and the message that it sends has a credit. Otherwise it is rejected, waits in a
//! queue of its own and is tried again when that is free. Answers come by the ISMQ and need credits alike. How long is exact arithmetic on
//! the times at which everything is free next, as in the mesh; the numbers of entries and credits are chosen.

mod agents;
mod filter;
mod pass;

pub(super) use agents::{Credit, Homes};
pub(super) use filter::{Holds, Seeks};
pub(super) use pass::{Needs, Queue};

#[cfg(test)]
mod tests;
