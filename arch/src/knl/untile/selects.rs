//! Selects of events that a CHA treats in ways of their own, and what a counter with COUNTER0_OCCUPANCY takes.

use super::boxes::Kind;
use super::setting::{COUNTER0_OCCUPANCY, Choice, FIRST_OF_MESH};

/// CHA: entries of a queue (11h), and how many came into it (13h).
pub(super) const INGRESS_OCCUPANCY: u8 = 0x11;
pub(super) const INGRESS_INSERTS: u8 = 0x13;
/// CHA: look-ups of the snoop filter.
pub(super) const FILTER_LOOKUP: u8 = 0x34;
/// CHA: what came into the table of requests (35h), and what is in it (36h).
pub(super) const TABLE_INSERTS: u8 = 0x35;
pub(super) const TABLE_OCCUPANCY: u8 = 0x36;
/// The bits of their unit masks that choose requests that a cache answered, and those that memory answered.
pub(super) const TABLE_HIT: u8 = 0x10;
pub(super) const TABLE_MISS: u8 = 0x20;

/// The bit of SF_LOOKUP's unit mask that means any kind.
pub(super) const LOOKUP_ANY: u8 = 0x10;

/// Whether a CHA counts something by this select and unit mask that no request's own entry is: it is neither of the IRQ nor of the PRQ.
pub(super) const fn is_of_agent(select: u8, umask: u8) -> bool {
    const OF_REQUESTS: u8 = 0x11;
    const OF_EVICTIONS_OR_SNOOPS: u8 = 0x0A;
    const LOOKUP_OF_SNOOP_OR_ANY: u8 = 0x18;
    match select {
        INGRESS_OCCUPANCY | INGRESS_INSERTS => umask & !OF_REQUESTS != 0,
        TABLE_INSERTS | TABLE_OCCUPANCY => umask & OF_EVICTIONS_OR_SNOOPS != 0,
        FILTER_LOOKUP => umask & LOOKUP_OF_SNOOP_OR_ANY != 0,
        _ => select != 0 && select < FIRST_OF_MESH,
    }
}

/// Whether it is COUNTER0_OCCUPANCY and goes on with a queue that counter 0 followed.
pub(super) fn goes_on(kind: Kind, choice: &Choice, queue: (u8, u8)) -> bool {
    choice.select == COUNTER0_OCCUPANCY && kind == Kind::Cha && queue != (0, 0)
}

/// The select of what a counter takes.
pub(super) fn selected(kind: Kind, choice: &Choice, queue: (u8, u8)) -> u8 {
    if goes_on(kind, choice, queue) { queue.0 } else { choice.select }
}
