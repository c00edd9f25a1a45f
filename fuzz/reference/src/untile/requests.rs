//! Requests at a CHA: which events each is, and which filters let it through (tables 1-2, 5-1, 5-2 and 5-16 to 5-18; N17 to N19, T19).

use vm_pmu_arch::knl::untile::{FilterState, Lookup, Source, Transaction};

/// RxR_OCCUPANCY.
const QUEUE: u8 = 0x11;
/// RxR_INSERTS.
const INSERTS: u8 = 0x13;
/// SF_LOOKUP.
pub(super) const LOOKUP: u8 = 0x34;
/// TOR_INSERTS.
const TABLE_INSERTS: u8 = 0x35;
/// TOR_OCCUPANCY.
pub(super) const TABLE: u8 = 0x36;

/// The filters of a CHA.
pub(super) type Filters = [u32; 2];

/// Whether it came from the thread that filter 0 names.
pub(super) fn is_of_thread(request: &Transaction, filters: Filters) -> bool {
    filters[0] & 0x1FF == u32::from(request.tile) << 3 | u32::from(request.thread)
}

/// Whether filter 1 lets it through: a group of bits that is not all zero must name it.
fn passes(request: &Transaction, filters: Filters) -> bool {
    let bit = |number: u32| filters[1] >> number & 1 == 1;
    let group =
        |names: &[(u32, bool)]| names.iter().all(|(number, _)| !bit(*number)) || names.iter().any(|(number, is)| bit(*number) && *is);
    let codes = [filters[1] >> 9 & 0x3FF, filters[1] >> 19 & 0x3FF];
    let any_code = bit(3) || codes == [0, 0];
    group(&[(0, !request.local), (1, request.local)])
        && group(&[(4, request.near_memory), (5, !request.near_memory)])
        && (any_code || codes.iter().any(|code| *code != 0 && *code == u32::from(request.opcode)))
        && group(&[(30, request.non_coherent), (31, request.isochronous)])
}

/// Whether a unit mask of the table's events takes it: by where it came from, and by its answer.
fn is_in_table(request: &Transaction, umask: u8) -> bool {
    let sources = match request.source {
        Source::Irq => 1,
        Source::Eviction => 2,
        Source::Prq => 1 | 4,
        Source::Ipq => 8,
    };
    let answer = if request.hit { 0x10 } else { 0x20 };
    umask & sources != 0 && umask & answer != 0
}

/// Whether a unit mask of the queues before the table takes it.
fn is_in_queue(request: &Transaction, umask: u8) -> bool {
    match request.source {
        Source::Irq => umask & 1 != 0,
        Source::Ipq => umask & 4 != 0,
        Source::Prq => umask & 0x10 != 0,
        Source::Eviction => false,
    }
}

/// Whether SF_LOOKUP counts it: bit 0 must be set, one bit says what is looked for or that all is, and filter 0 names its state.
fn is_looked_up(request: &Transaction, umask: u8, filters: Filters) -> bool {
    let kind = match request.lookup {
        Lookup::DataRead => 2,
        Lookup::Write => 4,
        Lookup::ExternalSnoop => 8,
        Lookup::Other => 0,
    };
    let state = match request.state {
        FilterState::Invalid => 0,
        FilterState::Shared => 1 << 18,
        FilterState::Exclusive => 1 << 19,
        FilterState::Modified => 1 << 20,
    };
    looks_for(umask, kind) && filters[0] & state != 0
}

/// The same of a look-up that is told by its code: it found a line in a state that filter 0 names, if that names any (N19).
pub(super) fn is_told_lookup(umask: u8, told: u8, filters: Filters) -> bool {
    looks_for(umask, told & 0x1E) && filters[0] & 0b111 << 18 != 0
}

fn looks_for(umask: u8, kind: u8) -> bool {
    umask & 1 != 0 && umask & (kind | 0x10) != 0
}

/// Whether a request that comes adds to a counter of this event select and unit mask; RxR_OCCUPANCY's queues have one code each.
pub(super) fn comes(request: &Transaction, select: u8, umask: u8, filters: Filters) -> bool {
    match select {
        QUEUE => umask.is_power_of_two() && is_in_queue(request, umask),
        INSERTS => is_in_queue(request, umask),
        LOOKUP => is_looked_up(request, umask, filters),
        TABLE_INSERTS => stays(request, umask, filters),
        _ => false,
    }
}

/// Whether an entry of the table is one that TOR_OCCUPANCY counts.
pub(super) fn stays(request: &Transaction, umask: u8, filters: Filters) -> bool {
    is_in_table(request, umask) && passes(request, filters)
}
