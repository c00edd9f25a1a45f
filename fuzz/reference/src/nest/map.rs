//! Where counts are posted: groups, cells, units (POWER9 PMU User's Guide 1.2, table 6-10; `docs/notes/power9-nest.md`, the table of memory,
//! N2, N11, N12, N37).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use vm_pmu_arch::event;

/// Where the region begins, in bytes from the home base.
pub(super) const REGION: u64 = 0x18_0000;
/// The bytes of the region.
pub(super) const REGION_SIZE: u64 = 0x4_0000;
/// Where the flexible postings begin, in bytes from the region.
pub(super) const FLEXIBLE: u32 = 0x1_0000;
/// The cells of one block of postings: seven groups of a count of updates, 32 counters and a count of updates.
pub(super) const CELLS: u32 = 7 * 34;
/// The bytes of a group.
const GROUP: u32 = 34 * 8;

/// The cell of the firmware's version, that of slots that came late, and those of the control block.
pub(super) const VERSION: u32 = 0x2_FC00;
pub(super) const LATE: u32 = 0x2_FC20;
pub(super) const STATUS: u32 = 0x3_FC00;
pub(super) const COMMAND: u32 = 0x3_FC08;
pub(super) const SPEED: u32 = 0x3_FC10;
pub(super) const AVAILABILITY: u32 = 0x3_FC18;
pub(super) const MODE: u32 = 0x3_FC20;
pub(super) const MODE_IN_FORCE: u32 = 0x3_FC28;

/// The count of updates in front of the counters of a group, and the one behind them.
pub(super) fn updates(group: u32) -> (u32, u32) {
    let head = (group - 1) * GROUP;
    (head, head + GROUP - 8)
}

/// What an availability vector says of a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// It is always there.
    Always,
    /// It is there if any of the bits from the first to the last is set; bit 0 is the most significant.
    Any(u32, u32),
}

impl Unit {
    pub(super) fn is_in(self, available: u64) -> bool {
        match self {
            Unit::Always => true,
            Unit::Any(first, last) => (first..=last).any(|bit| available >> (63 - bit) & 1 != 0),
        }
    }
}

/// What a register counts with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Four counters of 16 bits with prescalers, which is what a PMUlet is. A link's bus gives a pulse for 16 events.
    Pmulet { link: bool },
    /// A counter of 48 bits of a host bridge.
    Bridge,
    /// Two counters of 32 bits of a memory buffer.
    Buffer,
    /// The 32 bits of a memory buffer's clock, which counts every second one.
    BufferClock,
}

/// A register, by the cell to which its first counter is posted.
#[derive(Clone, Copy)]
pub(super) struct Register {
    pub(super) cell: u32,
    pub(super) kind: Kind,
    pub(super) unit: Unit,
    /// The group in whose turn it is posted.
    pub(super) group: u32,
    /// The turn of a group that posts its units in turns: links of group 2, pairs of host bridges of group 4.
    pub(super) turn: u32,
}

/// The turn of group 2 that posts A links, and the one that posts X links and the accelerator.
pub(super) const A_LINKS: u32 = 0;
pub(super) const X_LINKS: u32 = 1;

/// The registers of the default mode in the order in which they are posted.
pub(super) fn default_registers() -> &'static [Register] {
    static ALL: OnceLock<Vec<Register>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        let mut pmulets = |cell: u32, number: u32, unit: Unit, group: u32, turn: u32, link: bool| {
            (0..number).for_each(|at| all.push(Register { cell: cell + 0x20 * at, kind: Kind::Pmulet { link }, unit, group, turn }));
        };
        pmulets(0x08, 8, Unit::Always, 1, 0, false);
        // A links 0 and 1 stand in the cells of group 5, 2 and 3 in those of group 6.
        for (link, cell) in (41..).zip([0x4A8, 0x4E8, 0x5B8, 0x5F8]) {
            pmulets(cell, 2, Unit::Any(link, link), 2, A_LINKS, true);
        }
        // 118h is link 1, 158h link 0.
        for (link, cell) in [(26, 0x118), (25, 0x158), (27, 0x198)] {
            pmulets(cell, 2, Unit::Any(link, link), 2, X_LINKS, true);
        }
        pmulets(0x1D8, 2, Unit::Any(36, 36), 2, X_LINKS, false);
        for link in 0..6 {
            pmulets(0x228 + 0x20 * link, 1, Unit::Any(45 + link, 45 + link), 3, 0, false);
        }
        // ATS and XTS.
        pmulets(0x2E8, 2, Unit::Any(45, 50), 3, 0, false);
        for queue in 0..3 {
            pmulets(0x668 + 0x20 * queue, 1, Unit::Any(45 + 2 * queue, 46 + 2 * queue), 7, 0, false);
        }
        pmulets(0x6C8, 2, Unit::Any(37, 37), 7, 0, false);
        pmulets(0x708, 2, Unit::Any(38, 38), 7, 0, false);
        for at in 0..24 {
            let bridge = at / 4;
            let unit = Unit::Any(30 + bridge, 30 + bridge);
            all.push(Register { cell: 0x338 + 8 * at, kind: Kind::Bridge, unit, group: 4, turn: bridge / 2 });
        }
        for buffer in 0..8 {
            let (group, cell) = if buffer < 4 { (5, 0x448 + 0x18 * buffer) } else { (6, 0x558 + 0x18 * (buffer - 4)) };
            let unit = Unit::Any(9 + buffer, 9 + buffer);
            all.push(Register { cell, kind: Kind::Buffer, unit, group, turn: 0 });
            all.push(Register { cell: cell + 0x10, kind: Kind::BufferClock, unit, group, turn: 0 });
        }
        all
    })
}

/// The PMUlets of memory buffers, which the flexible mode alone posts, by their cells in its block.
pub(super) fn flexible_buffers() -> impl Iterator<Item = Register> {
    (0..8).map(|buffer| {
        let (group, cell) = if buffer < 4 { (5, 0x448 + 0x20 * buffer) } else { (6, 0x558 + 0x20 * (buffer - 4)) };
        Register { cell: FLEXIBLE + cell, kind: Kind::Pmulet { link: false }, unit: Unit::Any(9 + buffer, 9 + buffer), group, turn: 0 }
    })
}

/// The name of each event, by its cell.
pub(super) fn names() -> &'static BTreeMap<u32, &'static str> {
    static ALL: OnceLock<BTreeMap<u32, &'static str>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of_nest = event::POWER9.events().filter(|entry| entry.unit == "nest");
        of_nest.filter_map(|entry| Some((entry.offset?, entry.name))).collect()
    })
}

/// The cells of the event that is posted at `cell`: one, or one of each mode.
pub(super) fn cells_of_the_event_at(cell: u32) -> Vec<u32> {
    let Some(name) = names().get(&cell) else { return Vec::new() };
    names().iter().filter(|(_, other)| *other == name).map(|(cell, _)| *cell).collect()
}

/// What drives a cell that counts a clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Nest,
    Bridge,
    Memory,
}

/// The clock that is counted at `cell` (6.1.4, table 6-1): PB, X links, NVLinks, host bridges, and the flexible mode's memory buffers. The
/// default mode's memory buffers have [`Kind::BufferClock`].
pub(super) fn clock_at(cell: u32) -> Option<Clock> {
    let in_default = cell % FLEXIBLE;
    match in_default {
        0x80 | 0x100 => Some(Clock::Nest),
        0x118..0x1D8 if (in_default - 0x118).is_multiple_of(0x20) => Some(Clock::Nest),
        0x228..0x2E8 if (in_default - 0x228).is_multiple_of(0x20) && cell < FLEXIBLE => Some(Clock::Nest),
        0x338..0x3F8 if (in_default - 0x338).is_multiple_of(0x20) && cell < FLEXIBLE => Some(Clock::Bridge),
        0x448..0x4C8 if (in_default - 0x448).is_multiple_of(0x20) && cell >= FLEXIBLE => Some(Clock::Memory),
        0x558..0x5D8 if (in_default - 0x558).is_multiple_of(0x20) && cell >= FLEXIBLE => Some(Clock::Memory),
        _ => None,
    }
}
