//! Where each counter is posted: table 6-10 and the holes between its sheets.

use super::unit::{ClockDomain, Kind, Unit};

/// The region of in-memory collection, in bytes from the chip's home base.
pub const REGION: u64 = 0x18_0000;
/// The size of the region in bytes.
pub const REGION_SIZE: u64 = 0x4_0000;
/// The control block, in bytes from the start of the region.
pub const CONTROL_BLOCK: u64 = 0x3_FC00;
/// The postings of the flexible mode, in bytes from the start of the region.
pub const FLEXIBLE: u32 = 0x1_0000;
/// The cells of the postings of one mode, of 8 bytes.
pub const CELLS: usize = 238;

/// The address `offset` bytes from the start of the region, of a chip whose home base is `home`. Beyond the last address it is one that
/// is no multiple of 8, which memory refuses, and never one at the beginning of memory.
pub(super) const fn address(home: u64, offset: u64) -> u64 {
    home.saturating_add(REGION).saturating_add(offset)
}

/// The groups in which counters are posted.
pub const GROUPS: u8 = 7;
/// The cells of a group: a count of updates, 32 counters, a count of updates.
pub(super) const GROUP_CELLS: u16 = 34;

/// How counters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// Four counters of 16 bits in a register, each behind its prescaler, cleared as they are read.
    Prescaled,
    /// A register for each free-running counter of 48 bits.
    Counter48,
    /// Free-running counters of 32 bits, two in a register.
    Counter32,
}

/// The counters of a unit that are posted next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    /// The unit that they belong to; of the centralised ones, the one whose events they count.
    pub unit: Unit,
    /// The group with which they are posted, 1 to 7.
    pub group: u8,
    /// The offset of the first counter's cell from the start of the region, in bytes.
    pub offset: u32,
    /// How they are read.
    pub width: Width,
    /// The clocks, for the counters that count one.
    pub clocks: [Option<ClockDomain>; 4],
    /// The counters that count an event, one bit each, the first bit 0.
    pub used: u8,
    /// In the flexible mode, the counters that count what they count in the default mode.
    pub both: u8,
}

impl Bank {
    /// How many counters it has.
    #[must_use]
    pub const fn counters(&self) -> u16 {
        match self.width {
            Width::Prescaled | Width::Counter48 => 4,
            Width::Counter32 => 3,
        }
    }

    /// The events that it takes to give one pulse, as a power of two: a link's events come sixteen to a pulse, and memory clocks two.
    #[must_use]
    pub const fn pulse_bits(&self, counter: u16) -> u8 {
        match (self.unit.kind, self.width) {
            (Kind::XLink | Kind::ALink, _) => 4,
            (_, Width::Counter32) if counter == 2 => 1,
            _ => 0,
        }
    }

    /// How many bits a reading is shifted up before it is posted: memory clocks are posted in full.
    #[must_use]
    pub const fn posted_bits(&self, counter: u16) -> u8 {
        match self.width {
            Width::Counter32 if counter == 2 => 1,
            _ => 0,
        }
    }

    /// Whether the counter counts anything.
    #[must_use]
    pub const fn is_used(&self, counter: u16) -> bool {
        counter < self.counters() && self.used >> (counter & 7) & 1 != 0
    }

    /// Whether the counter, of the flexible mode, counts what it counts in the default mode.
    #[must_use]
    pub const fn is_of_both(&self, counter: u16) -> bool {
        self.both >> (counter & 7) & 1 != 0
    }

    /// The clock that the counter counts, if it counts one.
    #[must_use]
    pub const fn clock(&self, counter: u16) -> Option<ClockDomain> {
        let [first, second, third, fourth] = self.clocks;
        match counter {
            0 => first,
            1 => second,
            2 => third,
            3 => fourth,
            _ => None,
        }
    }

    /// The offset of a counter's cell from the start of the region, in bytes.
    #[must_use]
    pub const fn offset_of(&self, counter: u16) -> u32 {
        self.offset + 8 * counter as u32
    }
}

const fn unit(kind: Kind, number: u8) -> Unit {
    Unit { kind, number }
}

const fn bank(unit: Unit, group: u8, offset: u32, width: Width) -> Bank {
    let clock = Some(unit.kind.domain());
    let clocks = match unit.kind {
        Kind::XLink | Kind::Phb | Kind::Ntl => [clock, None, None, None],
        Kind::Mba => [None, None, clock, None],
        _ => [None; 4],
    };
    Bank { unit, group, offset, width, clocks, used: 0b1111, both: 0 }
}

const fn prescaled(kind: Kind, number: u8, group: u8, offset: u32) -> Bank {
    bank(unit(kind, number), group, offset, Width::Prescaled)
}

/// The last counter is one of PB's two clocks.
const fn with_clock(bank: Bank) -> Bank {
    Bank { clocks: [None, None, None, Some(ClockDomain::Nest)], ..bank }
}

const fn bridge(number: u8) -> Bank {
    bank(unit(Kind::Phb, number), 4, 0x338 + 0x20 * number as u32, Width::Counter48)
}

const fn port(number: u8) -> Bank {
    let (group, first) = if number < 4 { (5, 0x448) } else { (6, 0x558) };
    bank(unit(Kind::Mba, number), group, first + 0x18 * (number as u32 & 3), Width::Counter32)
}

/// What is posted in the default mode, in the order of the cells.
pub const DEFAULT_BANKS: [Bank; 53] = [
    prescaled(Kind::Pb, 0, 1, 0x08),
    prescaled(Kind::Pb, 0, 1, 0x28),
    prescaled(Kind::Mcs, 1, 1, 0x48),
    with_clock(prescaled(Kind::Mcs, 1, 1, 0x68)),
    prescaled(Kind::Pb, 0, 1, 0x88),
    prescaled(Kind::Pb, 0, 1, 0xA8),
    prescaled(Kind::Mcs, 0, 1, 0xC8),
    with_clock(prescaled(Kind::Mcs, 0, 1, 0xE8)),
    prescaled(Kind::XLink, 1, 2, 0x118),
    prescaled(Kind::XLink, 1, 2, 0x138),
    prescaled(Kind::XLink, 0, 2, 0x158),
    prescaled(Kind::XLink, 0, 2, 0x178),
    prescaled(Kind::XLink, 2, 2, 0x198),
    prescaled(Kind::XLink, 2, 2, 0x1B8),
    prescaled(Kind::Nx, 0, 2, 0x1D8),
    prescaled(Kind::Nx, 0, 2, 0x1F8),
    prescaled(Kind::Ntl, 0, 3, 0x228),
    prescaled(Kind::Ntl, 1, 3, 0x248),
    prescaled(Kind::Ntl, 2, 3, 0x268),
    prescaled(Kind::Ntl, 3, 3, 0x288),
    prescaled(Kind::Ntl, 4, 3, 0x2A8),
    prescaled(Kind::Ntl, 5, 3, 0x2C8),
    prescaled(Kind::Ats, 0, 3, 0x2E8),
    prescaled(Kind::Xts, 0, 3, 0x308),
    bridge(0),
    bridge(1),
    bridge(2),
    bridge(3),
    bridge(4),
    bridge(5),
    port(0),
    port(1),
    port(2),
    port(3),
    prescaled(Kind::ALink, 0, 2, 0x4A8),
    prescaled(Kind::ALink, 0, 2, 0x4C8),
    prescaled(Kind::ALink, 1, 2, 0x4E8),
    prescaled(Kind::ALink, 1, 2, 0x508),
    port(4),
    port(5),
    port(6),
    port(7),
    prescaled(Kind::ALink, 2, 2, 0x5B8),
    prescaled(Kind::ALink, 2, 2, 0x5D8),
    prescaled(Kind::ALink, 3, 2, 0x5F8),
    prescaled(Kind::ALink, 3, 2, 0x618),
    prescaled(Kind::Npcq, 0, 7, 0x668),
    prescaled(Kind::Npcq, 1, 7, 0x688),
    prescaled(Kind::Npcq, 2, 7, 0x6A8),
    prescaled(Kind::Capp, 0, 7, 0x6C8),
    prescaled(Kind::Capp, 0, 7, 0x6E8),
    prescaled(Kind::Capp, 1, 7, 0x708),
    prescaled(Kind::Capp, 1, 7, 0x728),
];

const fn flexible(bank: Bank, used: u8, both: u8) -> Bank {
    Bank { offset: FLEXIBLE + bank.offset, used, both, ..bank }
}

/// A half of an X link: its clock and its utilisation are counted in both modes.
const fn flexible_link(number: u8, offset: u32) -> Bank {
    flexible(prescaled(Kind::XLink, number, 2, offset), 0b1111, 0b1001)
}

/// The four prescaled counters of a DDR port; the first is its clock.
const fn flexible_port(number: u8) -> Bank {
    let (group, first) = if number < 4 { (5, 0x448) } else { (6, 0x558) };
    let offset = first + 0x20 * (number as u32 & 3);
    let clocks = [Some(ClockDomain::Memory), None, None, None];
    Bank { clocks, ..flexible(prescaled(Kind::Mba, number, group, offset), 0b1111, 0) }
}

/// What is posted in the flexible mode, in the order of the cells.
pub const FLEXIBLE_BANKS: [Bank; 21] = [
    flexible(prescaled(Kind::Pb, 0, 1, 0x08), 0b1111, 0b1111),
    flexible(prescaled(Kind::Pb, 0, 1, 0x28), 0b1111, 0b1111),
    flexible(prescaled(Kind::Mcs, 1, 1, 0x48), 0b1111, 0),
    flexible(with_clock(prescaled(Kind::Mcs, 1, 1, 0x68)), 0b1011, 0b1000),
    flexible(prescaled(Kind::Pb, 0, 1, 0xA8), 0b0111, 0b0011),
    flexible(prescaled(Kind::Mcs, 0, 1, 0xC8), 0b1111, 0),
    flexible(with_clock(prescaled(Kind::Mcs, 0, 1, 0xE8)), 0b1011, 0b1000),
    flexible_link(1, 0x118),
    flexible_link(1, 0x138),
    flexible_link(0, 0x158),
    flexible_link(0, 0x178),
    flexible_link(2, 0x198),
    flexible_link(2, 0x1B8),
    flexible_port(0),
    flexible_port(1),
    flexible_port(2),
    flexible_port(3),
    flexible_port(4),
    flexible_port(5),
    flexible_port(6),
    flexible_port(7),
];

/// The banks of a mode.
pub(super) const fn banks(flexible: bool) -> &'static [Bank] {
    if flexible { &FLEXIBLE_BANKS } else { &DEFAULT_BANKS }
}
