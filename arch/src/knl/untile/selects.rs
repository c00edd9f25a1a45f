//! The selects of a CHA's events about requests, and the events that a counter with COUNTER0_OCCUPANCY takes.

use super::boxes::Kind;
use super::setting::{COUNTER0_OCCUPANCY, Choice, FIRST_OF_MESH};

/// Entries of a queue at the ingress, and how many came into it.
pub(super) const RXR_OCCUPANCY: u8 = 0x11;
pub(super) const RXR_INSERTS: u8 = 0x13;
/// Look-ups of the snoop filter.
pub(super) const SF_LOOKUP: u8 = 0x34;
/// Requests that came into the TOR, the table of requests, and those that are in it.
pub(super) const TOR_INSERTS: u8 = 0x35;
pub(super) const TOR_OCCUPANCY: u8 = 0x36;
/// The bits of the TOR's unit masks for requests that a cache answered, and for those that memory answered.
pub(super) const TOR_HIT: u8 = 0x10;
pub(super) const TOR_MISS: u8 = 0x20;
/// The bit of SF_LOOKUP's unit mask for any kind of request.
pub(super) const SF_LOOKUP_ANY: u8 = 0x10;

/// Whether a CHA counts more by this select and unit mask than the entries of requests in the IRQ and the PRQ.
pub(super) const fn is_of_agent(select: u8, umask: u8) -> bool {
    const OF_REQUESTS: u8 = 0x11;
    const OF_EVICTIONS_OR_SNOOPS: u8 = 0x0A;
    const LOOKUP_OF_SNOOP_OR_ANY: u8 = 0x18;
    match select {
        RXR_OCCUPANCY | RXR_INSERTS => umask & !OF_REQUESTS != 0,
        TOR_INSERTS | TOR_OCCUPANCY => umask & OF_EVICTIONS_OR_SNOOPS != 0,
        SF_LOOKUP => umask & LOOKUP_OF_SNOOP_OR_ANY != 0,
        _ => select != 0 && select < FIRST_OF_MESH,
    }
}

/// Whether the counter has COUNTER0_OCCUPANCY and continues with the queue that counter 0 followed.
pub(super) fn goes_on(kind: Kind, choice: &Choice, queue: (u8, u8)) -> bool {
    choice.select == COUNTER0_OCCUPANCY && kind == Kind::Cha && queue != (0, 0)
}

/// The select of the events that a counter takes.
pub(super) fn selected(kind: Kind, choice: &Choice, queue: (u8, u8)) -> u8 {
    if goes_on(kind, choice, queue) { queue.0 } else { choice.select }
}
